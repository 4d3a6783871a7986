"""What the last command of a case answers, computed once for all forms and languages of it: what is drawn of it, and said, differs.

Cases that differ in the form or the language alone ask the same question of the same files, and answering takes most of
their time. An answer is looked up by what was asked and by the lines before it, so that it is of the same files; only that
of a case's last line, since nobody looks at what that one wrote. Digests are written down without this (`run.py`).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from inspect import signature
from typing import Any

import pytest
from goldens.harness import Place

from aoe_reports.engine.question import Notes
from aoe_reports.history import care

ANSWERING = (
    "aoe_reports.engine.ask.ask",
    "aoe_reports.history.changes.acknowledge.acknowledge",
    "aoe_reports.history.runs.ingest.ingest",
    "aoe_reports.history.runs.listing.list_history",
    "aoe_reports.history.changes.regressions.find_regressions",
    "aoe_reports.jobs.nightly.run_nightly",
    "aoe_reports.jobs.report.report_night",
    "aoe_reports.jobs.verify.verify",
    "aoe_reports.jobs.verify_claims.check_claims",
    "aoe_reports.tuning.plan.planning.make_plan",
)
"""What commands ask, as they import it."""
ASIDE = frozenset({"executor", "language", "progress"})
"""Arguments that have no part in an answer; a language is that of pages, which nobody looks at after a last line."""


@contextmanager
def answered_once(place: Place) -> Iterator[None]:
    """Until the end, answers of last lines are computed once."""
    with pytest.MonkeyPatch.context() as patched:
        for path in ANSWERING:
            module, name = path.rsplit(".", 1)
            answer = getattr(import_module(module), name)
            patched.setattr(import_module(module), name, _once(answer, place))
        patched.setattr(care, "wrong_in", _looked_at_once(care.wrong_in))
        yield


def _looked_at_once(wrong_in: Callable[..., Any]) -> Callable[..., Any]:
    """The same rows of the same kind have the same faults, in whichever copy of a store they stand."""
    known: dict[bytes, list[Any]] = {}

    def look(rows: Any, kind: str) -> list[Any]:
        asked = pickle.dumps((rows, kind))
        if asked not in known:
            known[asked] = list(wrong_in(rows, kind))
        return known[asked]

    return look


def _once(answer: Callable[..., Any], place: Place) -> Callable[..., Any]:
    known: dict[bytes, bytes] = {}
    parameters = signature(answer)

    @wraps(answer)
    def look(*args: Any, **kwargs: Any) -> Any:
        if place.ready is None:
            return answer(*args, **kwargs)
        given = parameters.bind(*args, **kwargs).arguments
        notes: Notes | None = given.pop("notes", None)
        report = given.pop("report", None)
        asked = _pickled((place.ready, {name: what for name, what in given.items() if name not in ASIDE}))
        if asked is None or asked not in known:
            ready, place.ready = place.ready, None  # what this asks in turn it needs done, not only told
            try:
                found = answer(*args, **kwargs)
            finally:
                place.ready = ready
            kept = _pickled((found, notes))
            if asked is not None and kept is not None:
                known[asked] = kept
            return found
        found, noted = pickle.loads(known[asked])
        if notes is not None:
            notes.take(noted)
        if report is not None:
            report(found)
        return found

    return look


def _pickled(what: Any) -> bytes | None:
    """None where there is something in it that can be read once only."""
    try:
        return pickle.dumps(what)
    except (TypeError, AttributeError, pickle.PicklingError):
        return None
