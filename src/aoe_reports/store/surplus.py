"""Rows of a run that are in the store once more, because another program appended them: every reader leaves them out.

What this package writes is there once, as each of its commits is made of a view that it still holds against. Another program's
append is not, and its commit does not say what it repeats. A run's own row says how many rows of each kind belong to it: where
the files in order (those of this package first, then the older ones) have as many already, what further files have of it is surplus.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from aoe_reports.model.errors import LeftOutWarning
from aoe_reports.model.texts import join, say
from aoe_reports.store.layout import RUN_KINDS, counts_in
from aoe_reports.store.parts import Folder, StoredFile

Surplus = Mapping[str, Mapping[str, int]]
"""For the path of a file the runs that it repeats, each with how many rows."""
_SHOWN = 3
_RUN = "run"


def surplus_in(folder: Folder, parts_of_kind: Callable[[str], Sequence[StoredFile]], kinds: Iterable[str]) -> Surplus:
    """Rows that files of other programs repeat, with a warning for each file; `kinds` are the kinds of such files."""
    found: dict[str, Mapping[str, int]] = {}
    known: dict[str, Mapping[str, int]] = {}
    for kind in sorted(set(kinds) & set(RUN_KINDS)):
        parts = _in_question(parts_of_kind(kind))
        held = {part.path: _rows_by_run(folder, part) for part in parts}
        runs = {run for part in parts if part.hash is None for run in held[part.path]}
        if kind != _RUN and runs - set(known):
            known |= _counts(folder, parts_of_kind(_RUN))
        expected = {run: 1 if kind == _RUN else known.get(run, {}).get(kind) for run in runs}
        found |= _repeated(parts, held, expected)
    for path, repeated in found.items():
        _tell(f"{folder.uri}/{path}", repeated)
    return found


def without_surplus(part: StoredFile, surplus: Surplus) -> StoredFile:
    """A file as readers are to see it."""
    runs = surplus.get(part.path)
    return part if runs is None else replace(part, rows=part.rows - sum(runs.values()), surplus=frozenset(runs))


def _in_question(parts: Sequence[StoredFile]) -> list[StoredFile]:
    foreign = [part for part in parts if part.hash is None]
    chosen = {
        one.path: one
        for part in foreign
        for other in parts
        if other.path != part.path and _may_share(part, other)
        for one in (part, other)
    }
    return sorted(chosen.values(), key=lambda part: (part.hash is None, part.modified_ms, part.path))


def _may_share(file: StoredFile, other: StoredFile) -> bool:
    """Whether two files may share rows of a run, by the bounds in the log."""
    (low, high), (least, most) = (part.bounds.get("run_id", (None, None)) for part in (file, other))
    return None in {low, high, least, most} or (low <= most and least <= high)


def _rows_by_run(folder: Folder, part: StoredFile) -> Counter[str]:
    runs = folder.read_all(part, ("run_id",), coded=True)["run_id"].to_pylist()
    return Counter(run for run in runs if run is not None)


def _counts(folder: Folder, parts: Sequence[StoredFile]) -> dict[str, Mapping[str, int]]:
    """The number of rows of each kind and run; none for runs of older versions."""
    rows = (row for part in parts for row in folder.read_all(part, ("run_id", "body")).to_pylist())
    return {row["run_id"]: counts_in(row["body"]) or {} for row in rows if row["run_id"] is not None}


def _repeated(
    parts: Sequence[StoredFile], held: Mapping[str, Mapping[str, int]], expected: Mapping[str, int | None]
) -> dict[str, Mapping[str, int]]:
    """The runs of each file that are complete without it."""
    seen: Counter[str] = Counter()
    found: dict[str, Mapping[str, int]] = {}
    for part in parts:
        rows = held[part.path]
        repeated = {
            run: count
            for run, count in rows.items()
            if part.hash is None and (whole := expected[run]) is not None and seen[run] >= whole
        }
        seen.update({run: count for run, count in rows.items() if run not in repeated})
        if repeated:
            found[part.path] = repeated
    return found


def _tell(place: str, runs: Mapping[str, int]) -> None:
    names = sorted(runs)
    text = say(
        "{place}: another program appended {count} rows that are in the store already (run {runs}); they are left out",
        place=place,
        count=sum(runs.values()),
        runs=join(", ", [*names[:_SHOWN], *(["…"] if len(names) > _SHOWN else [])]),
    )
    warnings.warn(LeftOutWarning(text), stacklevel=2)
