"""Copies of the package, in which tests follow the recipes of the documentation, and commands that run in one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from commandline import ROOT

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
"""What the recipes say."""


def modules_of_recipes() -> dict[str, str]:
    """The modules that stand in CONTRIBUTING as a whole, by their places below the root."""
    return dict(re.findall(r"^```python\n# (src/\S+)\n(.*?)^```$", CONTRIBUTING, re.MULTILINE | re.DOTALL))


def add_module_of_recipe(root: Path, name: str) -> None:
    """Writes a module of a recipe into the copy in `root`."""
    place = f"src/aoe_reports/{name}"
    (root / place).write_text(modules_of_recipes()[place])


def copied_package(root: Path) -> Path:
    """A copy of the package in `root`/src, the schemas beside src. It contains the compiled modules: only changed ones are compiled."""
    package = root / "src" / "aoe_reports"
    shutil.copytree(ROOT / "src" / "aoe_reports", package)
    shutil.copytree(ROOT / "schemas", root / "schemas")
    return package


def replace_once(path: Path, old: str, new: str) -> None:
    """Replaces a text that a file contains once."""
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def run_in_copy(root: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A command of the copy in `root`; one call compiles its new modules for the next."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "aoe_reports", *map(str, arguments)]
    environment = {**kept, "PYTHONPATH": str(root / "src")}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
