"""The advice that is stored with runs, read when it is asked for."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aoe_reports.formats.records.payloads import is_number, read_body
from aoe_reports.history.runs.stored_picture import PICTURE, read_picture
from aoe_reports.history.site_facts import RunAdvice, RunFacts
from aoe_reports.model.classes import without_none
from aoe_reports.model.history.advice import AdviceSummary, LeftOutRow, StoredAdviceRow, StoredCandidate, StoredLinks
from aoe_reports.model.history.listings import ListedAdvice
from aoe_reports.model.rows import fields_of
from aoe_reports.model.texts import from_fields, join
from aoe_reports.store import History, Where, equals

Row = dict[str, Any]

SAID = "said"
"""Where the body of a row has what its sentences were made of."""

COLUMNS = ("run_id", "state", "rule", "source", "op_type", "op_name", "rank_id", "device_id", "count", "body")
KINDS: Mapping[str, type[Any]] = {
    "advice": StoredAdviceRow,
    "msprof": StoredAdviceRow,
    "candidate": StoredCandidate,
    "left-out": LeftOutRow,
}
"""What the rows of each state are, in order."""
LINKS = "links"
"""The state of a row that holds the map of a group: nothing that is listed."""


@dataclass(slots=True)
class StoredAdvice:
    """The advice of some runs; those of a month are read together, when the first of them is asked for."""

    history: History
    runs: Sequence[RunFacts]
    _month: str | None = None
    _found: dict[str, RunAdvice] = field(default_factory=dict)

    def of(self, run: RunFacts) -> RunAdvice | None:
        """The advice of a run; None where none was stored."""
        month = run.night[:7]
        if month != self._month:
            asked = [one for one in self.runs if one.night[:7] == month and "advice" in one.body]
            self._month, self._found = month, read_advice(self.history, asked)
        return self._found.get(run.run_id)


FEW_RUNS = 8
"""So many runs are asked for by name; of more, everything of their nights is read."""


def read_advice(history: History, runs: Sequence[RunFacts]) -> dict[str, RunAdvice]:
    """The advice of each of these runs that has some."""
    if not runs:
        return {}
    where: Where = [
        equals("night", min(run.night for run in runs), ">="),
        equals("night", max(run.night for run in runs), "<="),
    ]
    if len(runs) <= FEW_RUNS:
        where = [*where, tuple(equals("run_id", run.run_id) for run in runs)]
    wanted = {run.run_id for run in runs}
    by_run: dict[str, list[Row]] = defaultdict(list)
    for row in history.rows("advice", COLUMNS, where).to_pylist():
        if row["run_id"] in wanted:
            by_run[row["run_id"]].append(row)
    return {run_id: _advice_of(rows) for run_id, rows in by_run.items()}


def cells_of_links(shares: Sequence[tuple[int, int, float]]) -> list[list[int]]:
    """The links of a map as they are stored: source, destination, thousandths of the median bandwidth."""
    return [[source, destination, round(share * 1000)] for source, destination, share in shares]


def _links_of(row: Mapping[str, Any]) -> StoredLinks:
    """A stored map; cells that are no link are left out."""
    body = body_of(row)
    group, transport, count, cells = (body.get(name) for name in ("group", "transport", "count", LINKS))
    found = [cell for cell in cells if _is_link(cell)] if isinstance(cells, list) else []
    return StoredLinks(
        group=group if isinstance(group, str) else None,
        transport=transport if isinstance(transport, str) else "",
        count=count if isinstance(count, int) and _is_whole(count) else 0,
        shares=[(source, destination, share / 1000) for source, destination, share in found],
    )


def _is_link(cell: Any) -> bool:
    return isinstance(cell, list) and len(cell) == 3 and all(map(_is_whole, cell))  # noqa: PLR2004 -- source, destination, share


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31


def _advice_of(rows: Sequence[Row]) -> RunAdvice:
    told: dict[str, list[Row]] = {state: [] for state in KINDS}
    summary, links, picture = AdviceSummary(), [], None
    for row in rows:
        if row["state"] == "summary":
            summary = AdviceSummary(**summary_of(row))
        elif row["state"] == LINKS:
            links.append(_links_of(row))
        elif row["state"] == PICTURE:
            picture = read_picture(row["body"], body_of(row))
        elif row["state"] in told:
            told[row["state"]].append(plain_row(row))
    for mine in told.values():
        mine.sort(key=lambda row: (row["position"] or 0, json.dumps(row, sort_keys=True)))
    links.sort(key=lambda one: (min((share for *_, share in one.shares), default=1.0), one.group or "", one.transport))
    advice, stated, candidates, left_out = ([kind(**row) for row in told[state]] for state, kind in KINDS.items())
    return RunAdvice(summary, advice, stated, candidates, left_out, links, picture)


def plain_row(row: Mapping[str, Any]) -> Row:
    """A stored row with what stands in its body, under the names of its state; what is not what it should be is null."""
    body, found = body_of(row), {}
    for one in fields_of(KINDS[row["state"]]):
        value = body.get(one.name)
        is_fit = isinstance(value, str) if without_none(one.type) is str else is_number(value)
        found[one.name] = row.get(one.name) if one.name in COLUMNS else value if is_fit else None
    return found


def unfit_names(row: Mapping[str, Any]) -> list[str] | None:
    """The names of what is read as nothing, for `store verify`; None where the whole body is."""
    if read_body(row["body"]) is None:
        return None
    if row["state"] not in {"summary", LINKS, PICTURE, *KINDS}:
        return ["state"]
    if row["state"] == PICTURE:
        return [] if read_picture(row["body"], body_of(row)) is not None else [PICTURE]
    if row["state"] == LINKS:
        body, links = body_of(row), _links_of(row)
        whole = body.get(LINKS) == cells_of_links(links.shares)
        told = {name: body.get(name) == getattr(links, name) for name in ("group", "transport", "count")}
        return sorted(name for name, fits in (told | {LINKS: whole}).items() if not fits)
    if row["state"] == "summary":
        body, told, least = body_of(row), summary_of(row), {"why_not"}
    else:
        body, told, least = body_of(row), plain_row(row), {"position"}
    differ = {name for name, value in told.items() if name in body and not _same(body[name], value)}
    return sorted(differ | (least - set(body)))


def _same(value: Any, told: Any) -> bool:
    """Whether two values are equal; 0 and false are not."""
    return bool(value == told) and isinstance(value, bool) == isinstance(told, bool)


def listed_rows(history: History, where: Where, workload: str | None) -> list[ListedAdvice]:
    """Everything that is stored of advice, oldest run first: of each run the summary, then the rows of each state in order."""
    found = []
    columns = ("night", "timestamp_ns", "model", *COLUMNS)
    order = ("summary", *KINDS)
    every = [one.name for kind in KINDS.values() for one in fields_of(kind)]
    for row in history.rows("advice", columns, where).to_pylist():
        if workload not in {None, row["model"]} or row["state"] not in order:
            continue
        names = {name: row[name] for name in ("night", "timestamp_ns", "state")}
        listed = {**names, "run": row["run_id"], "workload": row["model"], **dict.fromkeys([*every, "summary"])}
        if row["state"] == "summary":
            summary = summary_of(row)
            listed["advice"] = summary["why_not"] or join("; ", (_word(one) for one in summary["headlines"]))
            listed["reason"] = _word(summary["plan"]) if summary["plan"] is not None else None
            listed["summary"] = summary
        else:
            listed |= plain_row(row)
        found.append(listed)
    found.sort(
        key=lambda row: (row["timestamp_ns"], row["run"], order.index(row["state"]), row["position"] or 0, str(row))
    )
    return [ListedAdvice(**row) for row in found]


def summary_of(row: Mapping[str, Any]) -> Row:
    """The summary of a run's advice."""
    body = body_of(row)
    headlines = body.get("headlines") if isinstance(body.get("headlines"), list) else []
    notes = body.get("notes") if isinstance(body.get("notes"), list) else []
    plan = body.get("plan")
    return {
        "why_not": _as_text(body["why_not"]) if body.get("why_not") is not None else None,
        **{name: body[name] if is_number(body.get(name)) else 0 for name in ("found", "stated", "devices")},
        "headlines": [_headline(headline) for headline in headlines or () if isinstance(headline, dict)],
        "plan": _flat(plan) if isinstance(plan, dict) else None,
        "notes": [_as_text(note) for note in notes or ()],
    }


def _headline(row: Row) -> Row:
    """A device's step times; null where a number is expected and missing."""
    known = _flat(row)
    places = {name: known[name] for name in ("rank_id", "device_id") if name in known}
    numbers = {name: known[name] for name in _OF_STEPS if name in known}
    return {
        **known,
        **{name: value if is_number(value) else None for name, value in numbers.items()},
        **{name: value if isinstance(value, int) and is_number(value) else None for name, value in places.items()},
    }


_OF_STEPS = (
    "step_us", "steps", "computing_share", "communication_not_overlapped_share", "overlapped_share", "free_share",
    "bound_saving_us", "bound_saving_share",
)  # fmt: skip


def _flat(row: Row) -> Row:
    """Only texts and numbers: foreign content may be nested without end."""
    return {name: value for name, value in row.items() if _is_plain(value)}


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | bool) or is_number(value)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else str(value) if _is_plain(value) else type(value).__name__


def _word(row: Mapping[str, Any]) -> str:
    return _as_text(row.get("headline"))


def body_of(row: Mapping[str, Any]) -> Row:
    """What a row says beside its columns; nothing where that is damaged."""
    try:
        return _retold(read_body(row["body"]) or {})
    except RecursionError:
        return {}


def _retold(body: Row) -> Row:
    said = body.pop(SAID, None)
    told = {
        name: [_retold(one) if isinstance(one, dict) else one for one in value]
        if isinstance(value, list)
        else _retold(value)
        if isinstance(value, dict)
        else value
        for name, value in body.items()
    }
    for name, made in said.items() if isinstance(said, dict) else ():
        if isinstance(made, list):
            told[name] = _text_of(told.get(name), made)
    return told


def _text_of(value: Any, made: list[Any]) -> Any:
    if isinstance(value, str) and len(made) == 2:  # noqa: PLR2004 -- template, values
        return from_fields([value, *made])
    if isinstance(value, list) and len(value) == len(made):
        return [_text_of(one, mine) if isinstance(mine, list) else one for one, mine in zip(value, made, strict=True)]
    return value
