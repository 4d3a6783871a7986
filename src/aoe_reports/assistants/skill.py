"""What an assistant is told of the tools: a Markdown file that comes with the package."""

from __future__ import annotations

from importlib.resources import files

SKILL = (files("aoe_reports.assistants") / "SKILL.md").read_text("utf-8")
