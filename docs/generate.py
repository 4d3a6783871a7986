"""Writes the generated parts of docs/ from the registries and from --help; `--check` only says what is out of date."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from aoe_reports.cli.main import COMMANDS, GROUPS
from aoe_reports.renderers import CHECK_RENDERERS, RENDERERS
from aoe_reports.tables import TABLES, TIMELINES
from aoe_reports.workflows.rules import list_rules

DOCS = Path(__file__).parent
NOTE = "<!-- written by docs/generate.py: change the source, then run `make docs` -->\n\n"


def tables() -> str:
    """Every table with its columns and headers."""
    parts = [
        NOTE,
        "# Tables\n\nEvery kind of table that is read, from the declarations in `src/aoe_reports/tables/`.\n",
    ]
    for table in TABLES.values():
        dates = ", ".join(sorted({date for date, _ in table.vintages}))
        writer = "msprof and torch_npu" if table.source == "both" else table.source
        files = ", ".join(f"`{word}*`" for word in table.file_kinds)
        parts.append(f"\n## {table.name}\n\n{table.title}. Files {files}, written by {writer}; headers of {dates}.\n\n")
        parts.append("| column | headers (newest first, without unit) | type | |\n|---|---|---|---|\n")
        for column in table.columns:
            headers = ", ".join(f"`{header}`" for header in column.headers)
            need = "needed in every row" if column.needed else "optional" if column.optional else ""
            parts.append(f"| `{column.field}` | {headers} | {column.type} | {need} |\n")
    parts.append("\n## Timelines\n\n| kind | holds | written by | events as a table |\n|---|---|---|---|\n")
    for name, kind in TIMELINES.items():
        asked = f"{name}_events" if name in TABLES else name
        parts.append(f"| {name} | {kind.title} | {kind.source} | `table {asked}` |\n")
    return "".join(parts)


def rules() -> str:
    """Every rule with severity and reason."""
    parts = [NOTE, "# Rules\n\nEvery rule that a finding can name; `aoe-reports check --rules` prints the same.\n\n"]
    parts.append("| rule | severity | on | reason | source |\n|---|---|---|---|---|\n")
    parts += [
        f"| `{r['rule']}` | {r['severity']} | {r['on']} | {r['reason']} | {r['source']} |\n" for r in list_rules()
    ]
    return "".join(parts)


def commands() -> str:
    """What --help says of every command."""
    formats, for_ci = (", ".join(f"`{name}`" for name in names) for names in (RENDERERS, CHECK_RENDERERS))
    forms = f"Reports are rendered as {formats}; rows also as `json` and `csv`; `check` also as {for_ci}."
    parts = [NOTE, f"# Commands\n\n{forms}\n"]
    for command in ("", *(function.__name__ for function in COMMANDS), *_of_groups()):
        title = f"aoe-reports {command}".strip()
        parts.append(f"\n## {title}\n\n```\n{_help(command)}```\n")
    return "".join(parts)


def _of_groups() -> list[str]:
    """Groups of commands, each followed by its commands."""
    groups = [(str(group.info.name), group.registered_commands) for group in GROUPS]
    return [
        name
        for group, commands in groups
        for name in (group, *(f"{group} {one.name or getattr(one.callback, '__name__', '')}" for one in commands))
    ]


def _help(command: str) -> str:
    environment = {**os.environ, "COLUMNS": "100", "TERM": "dumb"}
    environment.pop("AOE_REPORTS_STORE", None)
    arguments = [sys.executable, "-m", "aoe_reports", *command.split(), "--help"]
    ended = subprocess.run(arguments, capture_output=True, text=True, check=True, env=environment)
    return "".join(
        line.rstrip() + "\n" for line in ended.stdout.replace("python -m aoe_reports", "aoe-reports").splitlines()
    )


PAGES = {"tables.md": tables, "rules.md": rules, "commands.md": commands}


def main() -> int:
    """Write (or with --check compare) every page."""
    stale = []
    for name, page in PAGES.items():
        path, text = DOCS / name, page()
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    sys.stdout.write("".join(f"{'stale' if '--check' in sys.argv else 'written'}: docs/{name}\n" for name in stale))
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
