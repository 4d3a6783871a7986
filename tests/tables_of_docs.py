"""Tables of the docs as tests read them."""

from __future__ import annotations

from functools import cache

from commandline import ROOT


@cache
def rules_of_docs() -> dict[str, list[str]]:
    """Of each rule in docs/rules.md: severity, what it is on, reason and source."""
    rules = {}
    for section in (ROOT / "docs" / "rules.md").read_text(encoding="utf-8").split("\n## On ")[1:]:
        on, *lines = section.splitlines()
        for line in lines:
            if line.startswith("| `"):
                name, severity, reason, *source = (cell.strip() for cell in line.strip("|").split(" | "))
                rules[name.strip("`")] = [severity, on, reason, "".join(source)]
    return rules


@cache
def rows_of_advice(title: str) -> dict[str, list[str]]:
    """The rows of a section of docs/advice.md, each behind its name."""
    section = (ROOT / "docs" / "advice.md").read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    cells = [line.strip("|").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    return {name.strip(" `"): [cell.strip() for cell in rest] for name, *rest in cells}
