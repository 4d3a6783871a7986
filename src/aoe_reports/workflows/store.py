"""Care of the store, as commands do it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from aoe_reports.errors import StoreError, UsageError
from aoe_reports.findings import Finding, has, in_order
from aoe_reports.store import History
from aoe_reports.store.care import KEPT_DAYS, compact, info, vacuum
from aoe_reports.store.layout import remade_message
from aoe_reports.store.replay import UNREADABLE
from aoe_reports.store.verify import verify
from aoe_reports.texts import join, say
from aoe_reports.workflows import bodies, stored_advice
from aoe_reports.workflows.origin import origin_of
from aoe_reports.workflows.told import read_told

Row = dict[str, Any]


def store_info(store: str) -> Row:
    """What the store holds, as one row."""
    return asdict(info(History.open(store).log))


def verify_store(store: str) -> tuple[list[Row], list[Finding], bool]:
    """How much was looked at, what is damaged, and whether something could not be read."""
    findings, files = verify(store, origin_of("store verify"))
    if not has(findings, "error"):
        findings = in_order([*findings, *_check_bodies(History.open(store))])
    unreadable = {finding.path for finding in findings if finding.rule == UNREADABLE}
    damaged = {finding.path for finding in findings if finding.severity == "error"} - unreadable
    return [{"files": files, "damaged": len(damaged), "unreadable": len(unreadable)}], findings, bool(unreadable)


_BODIES: Mapping[str, Callable[[Row], list[str] | None]] = {
    **dict.fromkeys(("run", "verdict"), lambda row: bodies.unfit_names(row["body"])),
    "advice": stored_advice.unfit_names,
    "finding": lambda row: ["message"] if row["body"] and remade_message(row) is None else [],
}
"""What of the body of a row is not as it was written, kind by kind."""


def _check_bodies(history: History) -> Iterator[Finding]:
    """Rows that say beside their columns what nobody of us wrote: pages and reports leave it out."""
    columns = (*stored_advice.COLUMNS, "message", "subject")
    for kind, unfit in _BODIES.items():
        for part in history.log.parts(kind):
            for row in history.log.folder.read(part, columns).to_pylist():
                names = unfit(row)
                if names != []:
                    about = row["run_id"] or row["subject"]
                    yield Finding("error", "store-body", f"{history.uri}/{part.path}", _told_of(kind, about, names))
    try:
        read_told(history)  # changes and acknowledgements: a baseline hangs on them, so one is enough
    except StoreError as error:
        yield Finding("error", "store-body", history.uri, error.args[0])


def _told_of(kind: str, about: str, names: Sequence[str] | None) -> str:
    if names is None:
        return say(
            "what a row of kind {kind} about {about} holds beside its columns is no JSON object", kind=kind, about=about
        )
    return say(
        "what a row of kind {kind} about {about} holds beside its columns is not as it was written: {names}",
        kind=kind,
        about=about,
        names=join(", ", sorted(names)),
    )


def compact_store(store: str) -> Row:
    """Merge and sort what the store holds; how many files there were and are."""
    done = compact(History.open(store, origin=origin_of("store compact")).log)
    return {"files_before": done.before, "files": done.after, "rows_merged": done.rows}


def vacuum_store(store: str, days: int, *, force: bool) -> Row:
    """Delete files that are no part of the store any more."""
    if days < KEPT_DAYS and not force:
        raise UsageError(
            say(
                "--days {days}: whoever still reads an older view of the store, or is writing into it, "
                "needs files of the last {kept} days; --force deletes them all the same",
                days=days,
                kept=KEPT_DAYS,
            )
        )
    done = vacuum(History.open(store, origin=origin_of("store vacuum")).log, days)
    return {"files_deleted": done.files, "bytes_deleted": done.bytes, "days": days}


def undo_run(store: str, run_id: str) -> Row:
    """Take a run out of the store; who did it and when stands in the store from then on."""
    gone = History.open(store, origin=origin_of("store undo")).undo(run_id, time.time_ns())
    return {"night": gone.night, "run": gone.run_id, "workload": gone.model, "path": gone.path, "state": "undone"}
