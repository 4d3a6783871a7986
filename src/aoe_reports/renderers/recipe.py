"""How to take a profile, as text and as Markdown: code stays code, to be copied."""

from __future__ import annotations

from aoe_reports.profiling.recipes import Recipe
from aoe_reports.renderers.markdown import escape


def render_text(recipe: Recipe) -> str:
    """The recipe for a terminal."""
    parts = [
        _title(recipe),
        _indented(recipe.snippet),
        *(["Then:", _indented("\n".join(recipe.after))] if recipe.after else []),
        "What it yields:\n" + "\n".join(f"  {line}" for line in _yields(recipe)),
        "To switch profiling off again:",
        _indented(recipe.switch_off),
        *recipe.notes,
        "Sources: " + "; ".join(recipe.sources) + ".",
    ]
    return "\n\n".join(parts) + "\n"


def render_markdown(recipe: Recipe) -> str:
    """The recipe as Markdown."""
    parts = [
        f"# {escape(_title(recipe))}",
        _fenced(recipe.snippet, recipe.language),
        *(["## Then", _fenced("\n".join(recipe.after), "shell")] if recipe.after else []),
        "## What it yields",
        "\n".join(f"- {escape(line)}" for line in _yields(recipe)),
        "## To switch profiling off again",
        _fenced(recipe.switch_off, recipe.language),
        "## Notes",
        "\n".join(f"- {escape(note)}" for note in recipe.notes),
        escape("Sources: " + "; ".join(recipe.sources) + "."),
    ]
    return "\n\n".join(parts) + "\n"


def _title(recipe: Recipe) -> str:
    return f"A profile for {recipe.question} with {recipe.framework}"


def _yields(recipe: Recipe) -> list[str]:
    return [
        f"{setting.key}={setting.value}: {', '.join(setting.files)}"
        if setting.files
        else f"{setting.key}={setting.value}"
        for setting in recipe.settings
    ]


def _indented(code: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in code.splitlines())


def _fenced(code: str, language: str) -> str:
    return f"```{language}\n{code}\n```"
