"""What commands on a store answer, in one sentence each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from aoe_reports.history.care import Undone, Verified
from aoe_reports.model.history.runs import IngestedRun
from aoe_reports.model.texts import count_of, join, say
from aoe_reports.store.care import Compacted, StoreInfo, Vacuumed


def sentence_of(done: StoreInfo | Verified | Compacted | Vacuumed | Undone) -> str:
    """What a command on the whole store did, or saw."""
    match done:
        case StoreInfo():
            return say(
                "{runs} with {records} in {files} ({bytes:,} bytes).",
                runs=count_of(done.runs, "{number:,} run", "{number:,} runs"),
                records=count_of(done.records, "{number:,} record", "{number:,} records"),
                files=_files(done.files),
                bytes=done.bytes,
            )
        case Verified():
            bad = done.damaged + done.unreadable
            return say("{bad:,} of {files} damaged or unreadable.", bad=bad, files=_files(done.files))
        case Compacted():
            return say(
                "{before} before, {after} now; {rows} merged.",
                before=_files(done.files_before),
                after=f"{done.files:,}",
                rows=count_of(done.rows_merged, "{number:,} row", "{number:,} rows"),
            )
        case Vacuumed():
            return say("{files} deleted ({bytes:,} bytes).", files=_files(done.files_deleted), bytes=done.bytes_deleted)
        case Undone():
            return say("Run {run} of {night} removed.", run=done.run, night=done.night)


def _files(number: int) -> str:
    return count_of(number, "{number:,} file", "{number:,} files")


def sentence_on_ingested(runs: Sequence[IngestedRun]) -> str:
    """How many runs were read, by what came of them in the store."""
    if not runs:
        return ""
    outcomes = Counter(run.outcome for run in runs).most_common()
    counts = [say("{count:,} {outcome}", count=count, outcome=say(outcome)) for outcome, count in outcomes]
    return say(
        "{runs} with {records}: {counts}.",
        runs=count_of(len(runs), "{number:,} run", "{number:,} runs"),
        records=count_of(sum(run.records for run in runs), "{number:,} record", "{number:,} records"),
        counts=join(", ", counts),
    )


def sentence_on_listed(rows: Sequence[Any]) -> str:
    """How many entries of the store are listed, and from which night to which."""
    if not rows:
        return say("No entry of this kind.")
    nights = sorted(night for row in rows if (night := getattr(row, "night", None) or getattr(row, "since", None)))
    entries = count_of(len(rows), "{number:,} entry", "{number:,} entries")
    span = [*dict.fromkeys((nights[0], nights[-1]))] if nights else []
    words = say("{first} to {last}", first=span[0], last=span[-1]) if len(span) > 1 else join("", span)
    return say("{entries}, {nights}.", entries=entries, nights=words) if span else say("{text}.", text=entries)
