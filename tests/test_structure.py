"""What the import contracts cannot see: which modules open files, and that nothing starts a shell."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import aoe_reports

SOURCE = Path(aoe_reports.__file__).parent

OPENS = frozenset(
    {
        "open", "fdopen", "read_bytes", "read_text", "write_bytes", "write_text", "touch", "mkdir", "makedirs", "rmdir", "unlink",
        "rename", "symlink_to", "hardlink_to", "iterdir", "glob", "rglob", "scandir", "rmtree", "copy2", "copyfile", "copytree",
        "mkstemp", "mkdtemp", "NamedTemporaryFile", "TemporaryFile", "TemporaryDirectory",
    }
)  # fmt: skip
"""Names of calls that open a file or look into a folder."""
OURS = frozenset({"History", "Log"})
"""Classes of ours whose `open` is another."""
PLACES = {
    "__init__.py": "the list of public names",
    "formats": "files enter here",
    "store": "the Delta table",
    "engine": "partial results, locks, files that leave whole",
    "locale": "catalogues",
    "site": "pages leave here, are served, and are made of templates",
    "simulation": "made-up exports are written as exporters write them",
    "tuning/adopt.py": "banks that are put into use",
    "tuning/bank_exchange.py": "banks that are put into use",
    "tuning/bank_files.py": "banks",
    "tuning/guardian.py": "/proc",
    "tuning/job.py": "the folder of a job",
    "tuning/plan_folder.py": "the folder of a job",
    "tuning/runner.py": "the console of a job",
    "tuning/aoe": "results and machines of AOE",
    "history/export.py": "records as files",
    "jobs/doctor": "whether temporary files can be written, and when a store was",
    "jobs/nightly.py": "the folder of a site",
    "jobs/notification.py": "what a receiver answers",
    "jobs/share.py": "the folder of copies",
    "jobs/report.py": "the folder of figures",
    "jobs/verify.py": "the folder of a job",
    "present/streams.py": "Parquet",
    "assistants/places.py": "whether a link below a root leads out of it",
    "cli/configuration_files.py": "configuration files",
    "cli/commands/setup.py": "the skill that comes with the package",
    "cli/output.py": "the folder of an output",
    "cli/ending.py": "what a reader that went away leaves open",
}
"""Where files are opened, and why there."""
SHELLS = frozenset({"system", "popen", "execv", "execve", "execvp", "spawnv", "spawnve", "startfile", "eval", "exec"})


@cache
def _calls() -> list[tuple[str, int, str, str]]:
    """(module, line, what is called, of what) of every call in the package; looked for by the worker that runs these tests."""
    return list(_walked())


def _walked() -> Iterator[tuple[str, int, str, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                yield str(path.relative_to(SOURCE)), node.lineno, node.func.attr, ast.unparse(node.func.value)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield str(path.relative_to(SOURCE)), node.lineno, node.func.id, ""


def _opened() -> list[tuple[str, int, str]]:
    return [
        (module, line, name)
        for module, line, name, of in _calls()
        if name in OPENS
        and of not in OURS
        and (of or name == "open")  # else it is a function of ours, in another module
    ]


def _is_below(module: str, place: str) -> bool:
    return module == place or module.startswith(f"{place}/")


def test_files_are_opened_in_their_places_only() -> None:
    assert [one for one in _opened() if not any(_is_below(one[0], place) for place in PLACES)] == []


@pytest.mark.parametrize("place", PLACES)
def test_a_place_where_files_are_opened_opens_some(place: str) -> None:
    assert any(_is_below(module, place) for module, _, _ in _opened())


def test_nothing_starts_a_shell_or_runs_text_as_code() -> None:
    found = [
        (module, line, name) for module, line, name, of in _calls() if name in SHELLS and of in {"", "os", "posix"}
    ]
    assert [one for one in found if one[0] != "tuning/guardian.py"] == []


def test_one_module_opens_connections() -> None:
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.ImportFrom) and node.module in {"urllib.request", "socket"})
        or (isinstance(node, ast.Import) and {one.name for one in node.names} & {"urllib.request", "socket"})
    }
    assert found == {"jobs/notification.py"}
