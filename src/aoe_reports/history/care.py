"""Care of the store, as commands do it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from aoe_reports.formats.records import payloads
from aoe_reports.formats.records.payloads import NotDecodableError
from aoe_reports.history.changes.recorded import change_of, word_of
from aoe_reports.history.options import VacuumOptions
from aoe_reports.history.origin import origin_of
from aoe_reports.history.rules import STORE_BODY, STORE_ROW
from aoe_reports.history.runs import stored_advice
from aoe_reports.model.errors import LeftOutWarning, UsageError
from aoe_reports.model.findings import Finding, has, in_order
from aoe_reports.model.rows import column, row
from aoe_reports.model.rules import Rule
from aoe_reports.model.texts import join, say
from aoe_reports.store import History
from aoe_reports.store.care import KEPT_DAYS, Compacted, StoreInfo, Vacuumed, compact, info, vacuum
from aoe_reports.store.layout import ROWS, remade_message
from aoe_reports.store.rules import STORE_UNREADABLE
from aoe_reports.store.usable import unusable
from aoe_reports.store.verify import verify

Row = dict[str, Any]


@row
class Verified:
    """How many files were looked at, and how many are not as they were written."""

    files: int = column("Files", "integer")
    damaged: int = column("Damaged", "integer")
    unreadable: int = column()


@row
class Undone:
    """The run that was taken out."""

    night: str = column("Night")
    run: str = column("Run")
    workload: str = column("Workload")
    path: str = column("Path")
    state: str = column("State", "word")


def store_info(store: str) -> StoreInfo:
    """What the store holds."""
    return info(History.open(store).log)


def verify_store(store: str) -> tuple[Verified, list[Finding], bool]:
    """How much was looked at, what is damaged, and whether something could not be read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)  # what readers leave out is named here, file by file
        findings, files = verify(store, origin_of("store verify"))
        if not has(findings, "error"):
            findings = in_order(_check_rows(History.open(store))) or findings  # notes are for a store that is whole
    unreadable = {finding.path for finding in findings if finding.rule == STORE_UNREADABLE.name}
    damaged = {finding.path for finding in findings if finding.severity == "error"} - unreadable
    return Verified(files=files, damaged=len(damaged), unreadable=len(unreadable)), findings, bool(unreadable)


BODIES: Mapping[str, Callable[[Row], list[str] | None]] = {
    **dict.fromkeys(("run", "verdict"), lambda one: payloads.unfit_names(one["body"])),
    "advice": stored_advice.unfit_names,
    "finding": lambda one: ["message"] if one["body"] and remade_message(one) is None else [],
    "change": lambda one: _as_names(change_of, one),
    "ack": lambda one: _as_names(word_of, one),
}
"""What of the body of a row is not as it was written, kind by kind."""


def _as_names(read: Callable[[str, str | None], object], one: Row) -> list[str] | None:
    try:
        read(one["state"], one["body"])
    except NotDecodableError as error:
        return None if payloads.read_body(one["body"]) is None else [error.args[0]]
    return []


def _check_rows(history: History) -> Iterator[Finding]:
    """Rows with content that this program did not write; readers leave it out."""
    for part in history.log.parts():
        for rule, message in wrong_in(history.log.folder.read_all(part, ROWS.names), part.kind):
            yield rule.found(f"{history.uri}/{part.path}", message)


def wrong_in(rows: pa.Table, kind: str) -> Iterator[tuple[Rule, str]]:
    """(broken rule, in words) of rows of one kind, in their columns and in their bodies."""
    said: set[int] = set()
    runs, subjects = rows["run_id"], rows["subject"]
    for one in unusable(rows, kind):
        said.add(one.row)
        about = runs[one.row].as_py() or subjects[one.row].as_py() or "?"
        message = say("a row of kind {kind} about {about}: {what}", kind=kind, about=about, what=one.as_text())
        yield STORE_ROW, message
    for number, stored in enumerate(
        rows.select([*stored_advice.COLUMNS, "message", "subject"]).to_pylist() if kind in BODIES else ()
    ):
        if number not in said and (names := BODIES[kind](stored)) != []:
            about = stored["run_id"] or stored["subject"] or "?"
            yield STORE_BODY, _told_of(kind, about, names)


def _told_of(kind: str, about: str, names: Sequence[str] | None) -> str:
    if names is None:
        return say(
            "the data that a row of kind {kind} about {about} contains beside its columns are not a JSON object",
            kind=kind,
            about=about,
        )
    return say(
        "the data that a row of kind {kind} about {about} contains beside its columns differ from what was "
        "written: {names}",
        kind=kind,
        about=about,
        names=join(", ", sorted(names)),
    )


def compact_store(store: str) -> Compacted:
    """Merge and sort what the store holds; how many files there were and are."""
    return compact(History.open(store, origin=origin_of("store compact")).log)


def vacuum_store(store: str, chosen: VacuumOptions) -> Vacuumed:
    """Delete files that no longer belong to the store."""
    days = chosen.days
    if days < KEPT_DAYS and not chosen.force:
        raise UsageError(
            say(
                "--days {days}: processes that read an older view of the store or write to the store need the "
                "files of the last {kept} days; --force deletes them anyway",
                days=days,
                kept=KEPT_DAYS,
            )
        )
    return vacuum(History.open(store, origin=origin_of("store vacuum")).log, days)


def undo_run(store: str, run_id: str) -> Undone:
    """Take a run out of the store; who did it and when stands in the store from then on."""
    gone = History.open(store, origin=origin_of("store undo")).undo(run_id, time.time_ns())
    return Undone(night=gone.night, run=gone.run_id, workload=gone.model, path=gone.path, state="undone")
