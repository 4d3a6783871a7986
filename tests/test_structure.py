"""What the import contracts cannot see: which modules open files, and that nothing starts a shell."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path

import pytest

import aoe_reports
from aoe_reports.cli.menu import ROOT, Entry, every_command

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
    "topics/files/spool.py": "temporary rows of a check",
    "tuning/banks/adopt.py": "banks that are put into use",
    "tuning/banks/exchange.py": "banks that are put into use",
    "tuning/banks/bank.py": "banks",
    "tuning/job/guardian.py": "/proc",
    "tuning/job/job.py": "the folder of a job",
    "tuning/plan/folder.py": "the folder of a job",
    "tuning/job/runner.py": "the console of a job",
    "tuning/aoe": "results and machines of AOE",
    "history/runs/export.py": "records as files",
    "jobs/doctor": "whether temporary files can be written, and when a store was",
    "jobs/nightly.py": "the folder of a site",
    "jobs/notification.py": "what a receiver answers",
    "jobs/share.py": "the folder of copies",
    "jobs/report.py": "the folder of figures",
    "jobs/verify.py": "the folder of a job",
    "jobs/sign_off.py": "the files with claims",
    "present/streams.py": "Parquet",
    "present/style.py": "the style sheet",
    "assistants/places.py": "whether a link below a root leads out of it",
    "assistants/skill.py": "the skill that comes with the package",
    "cli/configuration_files.py": "configuration files",
    "cli/output.py": "the folder of an output",
    "cli/ending.py": "what a reader that went away leaves open",
}
"""Where files are opened, and why there."""
SHELLS = frozenset({"system", "popen", "execv", "execve", "execvp", "spawnv", "spawnve", "startfile", "eval", "exec"})


@cache
def _trees() -> dict[str, ast.Module]:
    """The package by module; parsed by the worker that runs these tests."""
    return {str(path.relative_to(SOURCE)): ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}


@cache
def _calls() -> list[tuple[str, int, str, str]]:
    """(module, line, what is called, of what) of every call in the package."""
    return list(_walked())


def _walked() -> Iterator[tuple[str, int, str, str]]:
    for module, tree in _trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                yield module, node.lineno, node.func.attr, ast.unparse(node.func.value)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield module, node.lineno, node.func.id, ""


@cache
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
    assert [one for one in found if one[0] != "tuning/job/guardian.py"] == []


def test_one_module_opens_connections() -> None:
    found = {
        module
        for module, tree in _trees().items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.ImportFrom) and node.module in {"urllib.request", "socket"})
        or (isinstance(node, ast.Import) and {one.name for one in node.names} & {"urllib.request", "socket"})
    }
    assert found == {"jobs/notification.py"}


def test_a_topic_never_imports_a_question_of_another() -> None:
    questions = {
        f"aoe_reports.{entry.place.partition(':')[0]}" for _, entry in every_command(ROOT) if isinstance(entry, Entry)
    }
    imported = [
        (module, node.module)
        for module, tree in _trees().items()
        if module.startswith("topics/")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in questions
        if module.split("/")[1] != node.module.split(".")[2]
    ]
    assert imported == []


def test_a_folder_holds_no_more_modules_than_one_can_look_over() -> None:
    counts = Counter(str(Path(module).parent) for module in _trees() if not module.endswith("__init__.py"))
    assert {folder: count for folder, count in counts.items() if count > 20} == {}


def test_public_values_cannot_be_changed() -> None:
    """But for a store, a capture that is read, and a result whose parts are added while it is read."""
    public = [one for name in aoe_reports.__all__ if is_dataclass(one := getattr(aoe_reports, name))]
    assert {one.__name__ for one in public if not one.__dataclass_params__.frozen} == {
        "History",
        "Profile",
        "TuningResult",
    }
