"""What a store has names for, for whoever types one: read quickly, and not held against rules, as nothing is decided by it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from aoe_reports.model.options import Completes
from aoe_reports.store import History

MONTHS_READ = 2
"""Names of series and workloads are those of the newest months: a name that no night of these has is seldom asked for."""


def names_in(store: str, kind: Completes) -> list[str]:
    """The names of one kind, each once and in order. Raises StoreError."""
    return sorted({name for name in _READERS[kind](History.open(store)) if name})


def _workloads(history: History) -> Iterator[str]:
    yield from _column(history, "run", "model")
    yield from _newest(history, "workload")


def _runs(history: History) -> Iterator[str]:
    yield from _column(history, "run", "run_id")


def _nights(history: History) -> Iterator[str]:
    yield from _column(history, "run", "night")


def _baselines(history: History) -> Iterator[str]:
    yield from ("segment", "nights:", "window:")
    yield from (f"run:{run}" for run in _runs(history))
    rows = history.rows("ack", ["state", "subject"]).to_pylist()
    yield from (f"tag:{row['subject']}" for row in rows if row["state"] == "tagged")


def _subjects(history: History) -> Iterator[str]:
    """What an acknowledgement can be of: series, incidents, and acknowledgements themselves."""
    yield from _newest(history, "series_id")
    for kind, key in (("change", "incident"), ("ack", "id")):
        for body in history.rows(kind, ["body"])["body"].to_pylist():
            told = json.loads(body) if body else {}
            name = told.get(key) if isinstance(told, dict) else None
            yield from (name,) if isinstance(name, str) else ()


def _column(history: History, kind: str, name: str) -> Iterable[str]:
    found: list[str] = history.rows(kind, [name])[name].unique().to_pylist()
    return found


def _newest(history: History, name: str) -> Iterator[str]:
    """The values of a column of records in the newest months."""
    parts = history.log.parts("record")
    months = sorted({part.month for part in parts})[-MONTHS_READ:]
    for part in parts:
        if part.month in months:
            rows = history.log.folder.read(part, [name], coded=True)
            yield from rows[name].unique().to_pylist()


_READERS: Mapping[Completes, Callable[[History], Iterable[str]]] = {
    "workloads": _workloads,
    "runs": _runs,
    "nights": _nights,
    "baselines": _baselines,
    "subjects": _subjects,
}
