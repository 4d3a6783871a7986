"""Words of the model: causes, groupings and errors as people and JSON have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from aoe_reports.model.errors import (
    AoeReportsError,
    LeftOutWarning,
    NoticeWarning,
    ReadError,
    StoreError,
    UsageError,
    WorkloadConflictError,
    of_the_system,
)
from aoe_reports.model.groupings import GROUPINGS, KEYS, LOCATIONS, TELLS, By, ComparedBy, LocatedBy
from aoe_reports.model.history.causes import causes_in_words, models_in_words, reason_words
from aoe_reports.model.history.changes import IncidentCause
from aoe_reports.model.report import BarChart, Chart, Grid, Report, Section
from aoe_reports.model.texts import Text, say


def test_reasons_of_operators_in_words() -> None:
    assert reason_words("slower-calls") == "calls are slower"
    assert isinstance(reason_words("slower-calls"), Text)
    assert reason_words("something-else") == "something-else"


CAUSE: dict[str, Any] = {
    "model": "net",
    "rank_id": None,
    "op_type": "Add",
    "op_name": "add_1",
    "followers": 3,
    "members": 3,
    "change": 0.0625,
    "step_share": None,
}


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        ({"kind": "operator"}, "operator add_1 (Add) +6.2%"),
        ({"kind": "operator", "rank_id": 0}, "operator add_1 (Add, rank 0) +6.2%"),
        ({"kind": "operator", "op_type": None, "change": -0.5}, "operator add_1 -50%"),
        ({"kind": "op-type"}, "operator type Add +6.2%"),
        ({"kind": "op-type", "rank_id": 3}, "operator type Add, rank 3 +6.2%"),
        ({"kind": "rank", "rank_id": 2}, "rank 2: all 3 operators +6.2%"),
        ({"kind": "rank", "rank_id": 2, "followers": 2}, "rank 2: 2 of 3 operators +6.2%"),
        ({"kind": "run"}, "all 3 operators +6.2%"),
        ({"kind": "run", "followers": 2}, "2 of 3 operators +6.2%"),
    ],
)
def test_a_cause_of_an_incident_in_words(cause: dict[str, Any], words: str) -> None:
    row = IncidentCause(**{**CAUSE, **cause})
    assert causes_in_words([row], ["net"], "net") == words
    assert causes_in_words([row], ["net", "other"]) == f"net: {words}"
    assert causes_in_words([row] * 5, ["net"]) == f"net: {words}; {words}; {words} and 2 more"


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.0204, " (at most 2.1% of a step)"),
        (0.069, " (at most 6.9% of a step)"),
        (0.00001, " (at most 0.1% of a step)"),
        (-0.5, " (at most 50.0% of a step)"),
        (0.0, " (at most 0.0% of a step)"),
    ],
)
def test_a_cause_says_what_it_costs_a_step_where_the_step_itself_is_not_told(share: float, words: str) -> None:
    row = IncidentCause(**{**CAUSE, "kind": "op-type", "step_share": share})
    assert causes_in_words([row], ["net"], "net") == f"operator type Add +6.2%{words}"
    assert causes_in_words([row], ["net"], "net", of_step=True) == "operator type Add +6.2%"


@pytest.mark.parametrize(
    ("models", "words"), [(["a"], "a"), (["a", "b", "c"], "a, b, c"), (["a", "b", "c", "d"], "a, b, c and 1 more")]
)
def test_models_in_words(models: list[str], words: str) -> None:
    assert models_in_words(models) == words


def test_what_makes_up_a_row() -> None:
    assert dict(GROUPINGS) == {
        "op_type": ("op_type", "task_type"),
        "op_name": ("op_type", "task_type", "op_name"),
        "shape": ("op_type", "task_type", "op_name", "input_shapes"),
        **dict.fromkeys(LOCATIONS, ("location", "told_by")),
    }
    assert set(LOCATIONS) == set(get_args(LocatedBy))
    assert dict(KEYS) == {**GROUPINGS, "communication": ("op_type",), **dict.fromkeys(LOCATIONS, ("location",))}
    assert dict(TELLS) == {
        "op_type": "op_type",
        "op_name": "op_name",
        "shape": "input_shapes",
        "communication": "op_type",
        **dict.fromkeys(LOCATIONS, "location"),
    }
    assert set(get_args(By)) == set(GROUPINGS)
    assert {*KEYS, "step"} == {*TELLS, "step"} == set(get_args(ComparedBy))


@pytest.mark.parametrize("kind", [AoeReportsError, StoreError, UsageError, NoticeWarning, LeftOutWarning])
def test_the_message_of_an_error_can_be_translated(kind: type[Exception]) -> None:
    said = str(kind(say("{count} rows", count=3)))
    assert said == "3 rows"
    assert (str(kind("plain")), str(kind("two", "parts")), str(kind())) == ("plain", "('two', 'parts')", "")
    assert isinstance(kind(say("{count} rows", count=3)).__str__(), Text)
    assert not isinstance(kind("plain").__str__(), Text)


def test_what_errors_end_with() -> None:
    assert (AoeReportsError.exit_code, StoreError.exit_code, UsageError.exit_code, ReadError.exit_code) == (3, 3, 2, 3)


def test_a_file_that_cannot_be_read_is_said_with_its_line() -> None:
    error = ReadError(Path("a"), "Is a directory", "expected a file")
    assert (str(error), error.line) == ("a: Is a directory; expected a file", None)
    assert isinstance(error.what, Text)
    error = ReadError(Path("a"), "odd", "expected a file", 0)
    assert str(error) == "a: line 0: odd; expected a file"
    assert not isinstance(error.what, Text)
    conflict = WorkloadConflictError("a", "is stored", "net")
    assert (str(conflict), conflict.what, conflict.stored_as) == ("a: is stored", "is stored", "net")


def test_usual_words_of_the_system_can_be_translated() -> None:
    usual = [
        "Bad file descriptor", "Device or resource busy", "Directory not empty", "Disk quota exceeded", "File exists",
        "File name too long", "File too large", "Input/output error", "Invalid argument", "Is a directory",
        "No space left on device", "No such file or directory", "No such device or address", "Not a directory",
        "Operation not permitted", "Permission denied", "Read-only file system", "Resource temporarily unavailable",
        "Stale file handle", "Too many levels of symbolic links", "Too many open files",
        "Transport endpoint is not connected",
    ]  # fmt: skip
    assert all(isinstance(of_the_system(words), Text) for words in usual)
    assert [of_the_system(words) for words in usual] == usual
    assert not isinstance(of_the_system("something else"), Text)


@pytest.mark.parametrize(("thing", "field"), [(Grid((), ()), "rows"), (Chart("t", (), {}, "ms", "d"), "unit"), (BarChart("t", (), {}, "ms", "d"), "unit"), (Section("t"), "title"), (Report("t", "h", ()), "title")])  # fmt: skip
def test_what_is_to_be_said_is_not_changed_by_who_says_it(thing: Any, field: str) -> None:
    with pytest.raises(AttributeError):
        setattr(thing, field, "other")


def test_a_section_is_bare_unless_told_otherwise() -> None:
    section, report = Section("t"), Report("t", "h", ())
    assert (section.sentences, section.grid, section.chart, section.lines, section.figure, section.link) == ((), None, None, (), "", "")  # fmt: skip
    assert report.language == "en"
    chart = Chart("t", (), {}, "ms", "d")
    assert (chart.marked, chart.subtitle, chart.levels) == (None, "", ())


@pytest.mark.parametrize(
    ("cause", "models", "words"),
    [
        ({"kind": "machine", "model": None}, ["net"], "whole machine (net): 2 of 3 operators +6.2%"),
        ({"kind": "run", "model": None}, ["net", "b"], "net, b: 2 of 3 operators +6.2%"),
        ({"kind": "rank", "model": None, "rank_id": 1}, ["net"], "net: rank 1: 2 of 3 operators +6.2%"),
    ],
)
def test_a_cause_of_all_models_names_them(cause: dict[str, Any], models: list[str], words: str) -> None:
    row = IncidentCause(**{**CAUSE, "followers": 2, **cause})
    assert causes_in_words([row], models) == words
