"""Counts the lines of each room: Python, SQL and Rust that users get, and the tests beside them (`make lines`)."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = "src/aoe_reports"
KINDS = {".py", ".pyi", ".sql", ".rs"}


def lines_of(folder: str) -> Counter[str]:
    """The lines of the files below a folder, by the folder or module directly below it."""
    counted: Counter[str] = Counter()
    for path in (ROOT / folder).rglob("*"):
        if path.suffix in KINDS and path.is_file() and "target" not in path.parts:
            inside = path.relative_to(ROOT / folder).parts
            counted[inside[0] if len(inside) > 1 else "."] += path.read_bytes().count(b"\n")
    return counted


def main() -> None:
    """Print one line for each room of the package, then the sums."""
    package, tests = lines_of(PACKAGE), lines_of("tests")
    native = lines_of("native").total()
    rows = [(name, package[name], tests[name]) for name in sorted(package)]
    rows.append(("native", native, 0))
    rows.append(("other tests", 0, sum(count for name, count in tests.items() if name not in package)))
    rows.append(("total", package.total() + native, tests.total()))
    sys.stdout.write(f"{'room':<12}{'source':>9}{'tests':>9}\n")
    sys.stdout.write("".join(f"{name:<12}{source:>9,}{tested:>9,}\n" for name, source, tested in rows))


if __name__ == "__main__":
    main()
