"""Writes the site that the documentation shows: the nights of `aoe-reports demo` beside ten more models, all of them simulated.

usage: python docs/example.py FOLDER [LANGUAGE]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from planted_dashboard import store_planted  # noqa: E402 -- it is there for the tests


def write_example(folder: Path, language: str = "en") -> None:
    """Write it into a new folder."""
    command = [sys.executable, "-m", "aoe_reports"]
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([*command, "demo", "-o", "demo"], check=True, stdout=subprocess.DEVNULL, cwd=made)
        store_planted(Path(made, "demo", "history"))
        site = [*command, "site", "--store", "demo/history", "-o", str(folder.absolute()), "--lang", language]
        subprocess.run(site, check=True, stdout=subprocess.DEVNULL, cwd=made)


if __name__ == "__main__":
    write_example(Path(sys.argv[1]), *sys.argv[2:])
