"""Options that every question shares."""

from __future__ import annotations

from pathlib import Path

import pytest

from aoe_reports.engine.question import MAX_ID, Notes, RunOptions, all_tasks, only
from aoe_reports.model.errors import ReadError, UsageError
from aoe_reports.model.findings import Finding
from aoe_reports.model.options import check_options, declared, option, options


@options
class Asked(RunOptions):
    """Options of a question that asks for all that there is."""

    rank: int | None = only("rank")
    every: bool = all_tasks()
    name: str | None = option(default=None, help="A name.")


def test_options_of_every_question() -> None:
    told = {one.key: (one.default, one.option.minimum, one.option.maximum, one.option.help) for one in declared(Asked)}
    assert told == {
        "rank": (None, 0, 2**31 - 1, "Only this rank."),
        "all-tasks": (False, None, None, "Include communication, events and copies."),
        "name": (None, None, None, "A name."),
        "strict": (False, None, None, "Warnings also cause exit code 1."),
        "max-expanded": (None, 1, None, "Maximum expanded size of one .gz file or archive, in bytes (default: 1 GiB and 200 times its size, of an archive the larger)."),
        "jobs": (None, 1, None, "How many processes read captures (default: up to one per processor, where that is faster)."),
        "scheduler": (None, None, None, "Dask scheduler whose workers read captures, such as tcp://host:8786; dask://local starts one here."),
    }  # fmt: skip
    run = {one.key: one.option for one in declared(Asked) if one.option.scope == "run"}
    assert list(run) == ["strict", "max-expanded", "jobs", "scheduler"]
    assert all(one.shared for one in run.values())
    assert {key: one.protects for key, one in run.items()} == {
        "strict": False,
        "max-expanded": True,
        "jobs": True,
        "scheduler": True,
    }
    assert not any(one.option.shared or one.option.protects for one in declared(Asked) if one.key not in run)


@pytest.mark.parametrize(("chosen", "fits"), [({"rank": 0}, True), ({"rank": -1}, False), ({"rank": MAX_ID}, True), ({"rank": MAX_ID + 1}, False), ({"jobs": 1}, True), ({"jobs": 0}, False), ({"max_expanded": 1}, True), ({"max_expanded": 0}, False)])  # fmt: skip
def test_numbers_are_within_their_limits(chosen: dict[str, int], fits: bool) -> None:
    if fits:
        check_options(Asked(**chosen))  # type: ignore[arg-type]
    else:
        with pytest.raises(UsageError, match=r"is (less|more) than"):
            check_options(Asked(**chosen))  # type: ignore[arg-type]


def test_notes_keep_what_could_not_be_read() -> None:
    notes, other = Notes(), Notes()
    with notes.where_unreadable("a"):
        pass
    assert (notes.findings, notes.unreadable) == ([], False)
    notes.add([Finding("info", "b", "p", "m")])
    assert not notes.unreadable
    with other.where_unreadable("a"):
        raise ReadError(Path("a"), "odd", "expected a file")
    with pytest.raises(ZeroDivisionError), other.where_unreadable("a"):
        raise ZeroDivisionError
    assert other.unreadable
    notes.take(other)
    assert notes.unreadable
    assert [(one.rule, one.path, one.message) for one in notes.findings] == [("b", "p", "m"), ("unreadable", "a", "odd; expected a file")]  # fmt: skip
    other.take(Notes())
    assert other.unreadable
