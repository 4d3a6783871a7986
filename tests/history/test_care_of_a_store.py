"""Care of a store as its functions tell it: what is counted, what is damaged, what is kept from being deleted."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
from stores import store_at_once

from aoe_reports.engine.question import Notes
from aoe_reports.history.care import compact_store, store_info, undo_run, vacuum_store, verify_store, wrong_in
from aoe_reports.history.changes.regressions import find_regressions
from aoe_reports.history.options import RegressionOptions, VacuumOptions
from aoe_reports.history.runs.ingest import ingest
from aoe_reports.model.errors import LeftOutWarning, UsageError
from aoe_reports.store import History
from aoe_reports.store.layout import table_of
from aoe_reports.topics.records.options import IngestOptions, RecordOptions

NIGHTS = tuple(f"2026-01-{day:02}" for day in range(1, 13))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve nights, the newer half in a commit each; nobody may write there."""
    folder = tmp_path_factory.mktemp("care")
    for name, nights in (("old", NIGHTS[:6]), ("new", NIGHTS[6:])):
        lines = [
            {
                "workload": "net/step", "engine": "cann", "hardware": "npu", "runtime_ms_mean": 1.5, "runtime_ms_std": None,
                "timestamp": f"{night}T02:00:00Z", "schema_version": "0.1", "metadata": {},
            }
            for night in nights
        ]  # fmt: skip
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    store_at_once([folder / "old.jsonl"], folder / "store", RecordOptions(tz="UTC"))
    ingest([folder / "new.jsonl"], str(folder / "store"), IngestOptions(tz="UTC"), Notes())
    return folder / "store"


@pytest.fixture
def store(made: Path, tmp_path: Path) -> str:
    return str(shutil.copytree(made, tmp_path / "store"))


def row(kind: str, state: str, body: str | None, **more: Any) -> dict[str, Any]:
    at = 1_767_225_600 * 10**9
    return {
        "kind": kind, "month": "2026-01", "run_id": None, "timestamp_ns": at, "night": "2026-01-01", "model": "net",
        "scope": "step", "subject": "s1", "state": state, "body": body, **more,
    }  # fmt: skip


def test_small_files_are_merged_and_counted(store: str) -> None:
    before = store_info(store)
    merged = compact_store(store)
    after = store_info(store)
    assert (before.runs, after.runs, before.records, after.records) == (12, 12, 12, 12)
    assert merged.files_before == before.files > merged.files == after.files
    assert merged.rows_merged > 0
    again = compact_store(store)
    assert (again.files_before, again.files, again.rows_merged) == (merged.files, merged.files, 0)


@pytest.mark.parametrize(("days", "force", "refused"), [(7, False, False), (6, False, True), (6, True, False), (0, True, False)])  # fmt: skip
def test_files_of_the_last_week_are_deleted_by_force_only(store: str, days: int, force: bool, refused: bool) -> None:
    compact_store(store)
    options = VacuumOptions(days=days, force=force)
    if refused:
        with pytest.raises(UsageError) as said:
            vacuum_store(store, options)
        assert str(said.value) == (
            "--days 6: processes that read an older view of the store or write to the store need the files of the last 7 "
            "days; --force deletes them anyway"
        )
        return
    done = vacuum_store(store, options)
    assert done.days == days
    assert (done.files_deleted > 0, done.bytes_deleted > 0) == (days == 0, days == 0)


def test_a_run_that_is_taken_out_is_named(store: str) -> None:
    run = min(header.run_id for header in History.open(store).runs())
    gone = undo_run(store, run)
    assert (gone.night, gone.run, gone.workload, gone.state) == (NIGHTS[0], run, "net/step", "undone")
    assert gone.path.endswith("old.jsonl")
    assert store_info(store).runs == 11


def test_a_whole_store_has_nothing_to_say(store: str) -> None:
    verified, findings, unreadable = verify_store(store)
    assert (verified.files, verified.damaged, verified.unreadable) == (store_info(store).files, 0, 0)
    assert ([one.rule for one in findings if one.severity == "error"], unreadable) == ([], False)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("{", "are not a JSON object"),
        ("[1]", "are not a JSON object"),
        ('{"change": "x"}', "differ from what was written: "),
    ],
)
def test_a_word_on_a_change_that_nobody_of_us_wrote_is_named_and_left_out(store: str, body: str, said: str) -> None:
    History.open(store).add_extra(table_of([row("ack", "acknowledged", body)]))
    verified, findings, unreadable = verify_store(store)
    (wrong,) = (one for one in findings if one.severity == "error")
    assert (wrong.rule, verified.damaged, unreadable) == ("store-body", 1, False)
    start = "the data that a row of kind ack about s1 contains beside its columns "
    assert str(wrong.message).startswith(start + said)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        find_regressions(store, RegressionOptions())
    left_out = {str(one.message) for one in told if issubclass(one.category, LeftOutWarning)}
    (line,) = left_out
    assert line.startswith(
        f"{store}: a row of kind ack about s1 is left out: its content differs from what was written ("
    )
    assert line.endswith("results for that series may be wrong")


@pytest.mark.parametrize(("state", "subject", "about"), [(None, "s1", "s1"), (None, None, "?")])
def test_a_row_that_no_reader_can_use_is_named_by_verify_and_not_warned_of(
    store: str, state: str | None, subject: str | None, about: str
) -> None:
    History.open(store).add_extra(table_of([{**row("change", "", "{}"), "state": state, "subject": subject}]))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        verified, findings, unreadable = verify_store(store)
    assert [one for one in told if issubclass(one.category, LeftOutWarning)] == []
    wrong = [one for one in findings if one.severity == "error"]
    assert {one.rule for one in wrong} == {"store-row"}
    assert str(wrong[0].message).startswith(f"a row of kind change about {about}: ")
    assert (verified.damaged, verified.unreadable, unreadable) == (1, 0, False)


@pytest.mark.parametrize("kind", ["verdict", "advice", "finding", "change", "ack"])
def test_a_body_of_every_kind_is_looked_at(kind: str) -> None:
    state = {"advice": "summary", "ack": "acknowledged", "change": "confirmed"}.get(kind, "confirmed")
    odd = {**row(kind, state, "["), "run_id": "r1", "message": "m", "severity": "info", "rule": "x", "path": "p"}
    rows = table_of([odd])
    assert [rule.name for rule, _ in wrong_in(rows, kind)] == ["store-body"]
    ((_, message),) = wrong_in(rows, kind)
    assert message.startswith(f"the data that a row of kind {kind} about r1 contains beside its columns ")
