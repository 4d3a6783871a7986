"""What lies below a root: runs and captures, and files that are no capture's."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from aoe_reports.assistants.documents import Document, Hint, findings_table, plain_table
from aoe_reports.assistants.hints import MOST_HINTS, after_files
from aoe_reports.assistants.places import Places
from aoe_reports.assistants.words import neutral
from aoe_reports.engine.runs import find_runs, label_of
from aoe_reports.formats.discovery import discover
from aoe_reports.formats.found import FoundFile
from aoe_reports.model.documents import JsonObject


def files_below(path: Path) -> Document:
    """The captures below a path by run, and the kinds of the other files."""
    found = discover([path])
    runs: list[JsonObject] = []
    taken = set()
    for captures in find_runs(found):
        for capture in captures:
            taken |= {one.path for one in (*capture.files, *capture.superseded)}
            runs.append(
                {
                    "run": label_of(captures),
                    "rank_id": capture.info.rank_id,
                    "path": str(capture.root),
                    "profiler": capture.profiler or None,
                    "chip": capture.info.device_type,
                    "files": len(capture.files),
                    "kinds": [*sorted({one.name.kind for one in capture.files})],
                }
            )
    others = _by_kind([one for one in found.files if one.path not in taken])
    names = len({one["run"] for one in runs})
    return Document(
        answers="files",
        headline=f"{names:,} runs in {len(runs):,} captures, and {sum(int(str(one['files'])) for one in others):,} other files below {neutral(str(path), 300)}",
        tables=(
            plain_table("captures", runs, len(runs)),
            plain_table("others", others, len(others)),
            findings_table(found.findings),
        ),
        hints=tuple(after_files(runs, others, str(path))[:MOST_HINTS]),
    )


def _by_kind(files: list[FoundFile]) -> list[JsonObject]:
    kinds: dict[str, list[FoundFile]] = defaultdict(list)
    for one in files:
        kinds[one.name.kind].append(one)
    return [{"kind": kind, "files": len(those), "first": str(those[0].path)} for kind, those in sorted(kinds.items())]


def roots_of(places: Places, store: str | None) -> Document:
    """What may be read at all, and where to begin; of one root alone what lies below it."""
    if store is None and len(places.roots) == 1:
        return files_below(places.checked(places.roots[0]))
    hints = [] if store is None else [Hint("history", {}, "what got slower in the stored nights")]
    hints += [Hint("files", {"path": root}, "what lies here") for root in places.roots]
    rows: list[JsonObject] = [{"root": root} for root in places.roots]
    return Document(
        answers="files",
        headline=f"{len(rows):,} roots may be read" + ("" if store is None else ", and a store of nights"),
        tables=(plain_table("roots", rows, len(rows)),),
        hints=tuple(hints[:MOST_HINTS]),
    )
