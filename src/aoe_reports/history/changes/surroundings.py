"""What else changed where incidents began: versions, drivers, configurations, runs of AOE."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from aoe_reports.formats.records.payloads import ChangedFact, object_in
from aoe_reports.history.changes.incidents import Incident, SeriesShift
from aoe_reports.history.changes.recorded import Recorded
from aoe_reports.history.runs.clocks import RunOfNight
from aoe_reports.history.series.baselines import JudgedSeries
from aoe_reports.model.history.changes import ToldFact
from aoe_reports.store import History, Where, equals

TUNINGS_NAMED = 5


@dataclass(frozen=True, slots=True)
class _Sides:
    """The last runs before an incident and the first ones since, of the series that names it."""

    lead: SeriesShift
    place: int
    before: Sequence[str]
    after: Sequence[str]


class Surroundings:
    """What else changed where incidents began; what was asked for once is remembered."""

    def __init__(
        self,
        history: History,
        series: Mapping[str, JudgedSeries],
        recorded: Recorded,
        tunings: Sequence[RunOfNight],
    ) -> None:
        self.history, self.series, self.recorded, self.tunings = history, series, recorded, tunings
        self._now: dict[str, list[ChangedFact] | None] = {}

    def now(self, incident: str) -> list[ChangedFact] | None:
        """What the nights say now of an incident that was read; None where they do not reach so far back."""
        return self._now[incident]

    def read(self, incidents: Iterable[Incident]) -> None:
        """Find what else changed where incidents began, from the nights of the series that names each; one query for all."""
        asked = [incident for incident in incidents if incident.id not in self._now]
        self._now |= dict.fromkeys(one.id for one in asked)
        self._now |= self.around({one.id: (one.lead, one.place) for one in asked})

    def around(self, wanted: Mapping[str, tuple[SeriesShift, int]]) -> dict[str, list[ChangedFact]]:
        """What else changed where a series is at a place, by name; none of those that have no night on one side."""
        sides = {name: found for name, one in wanted.items() if (found := self._sides(*one)) is not None}
        if not sides:
            return {}
        series = tuple(equals("series_id", name) for name in sorted({one.lead.series for one in sides.values()}))
        runs = sorted({run for one in sides.values() for run in (*one.before, *one.after)})
        where: Where = [series, tuple(equals("run_id", run) for run in runs)]
        rows = pl.DataFrame(self.history.records(("series_id", "run_id", *COLUMNS), where))
        told: dict[str, list[ChangedFact]] = {}
        for name, one in sides.items():
            mine = rows.filter(pl.col("series_id") == one.lead.series)
            before, after = (mine.filter(pl.col("run_id").is_in(side)) for side in (one.before, one.after))
            told[name] = [*changed_metadata(before, after), *self._tunings_around(one)]
        return told

    def _sides(self, lead: SeriesShift, place: int) -> _Sides | None:
        series = self.series[lead.series]
        before = [run for run in series.runs[:place] if run is not None][-NIGHTS:]
        after = [run for run in series.runs[place:] if run is not None][:NIGHTS]
        return _Sides(lead, place, before, after) if before and after else None

    def _tunings_around(self, sides: _Sides) -> Iterator[ChangedFact]:
        """Runs of AOE for the workload between the last night before a change and its first."""
        series, lead = self.series[sides.lead.series], sides.lead
        prior = [night for place, night in enumerate(series.nights[: sides.place]) if series.count(place, place + 1)]
        names = [
            run.run_id
            for run in self.tunings
            if run.model == lead.labels.model and prior[-1:] <= [run.night] <= [series.nights[sides.place]]
        ]
        if names:
            yield ChangedFact("tuning_runs", None, ", ".join(names[:TUNINGS_NAMED]))

    def facts_of(self, incident: str) -> list[ToldFact]:
        """What else changed there: as first recorded (`seen` is first; first-only: the nights now say otherwise), then what was seen later."""
        now = self._now[incident]
        seen = [one.metadata for _, one in self.recorded.incidents.get(incident, ()) if one.metadata is not None]
        first, *later = [*seen, now or []]
        rows = [fact_seen(fact, "first" if now is None or fact in now else "first-only") for fact in first]
        known = list(first)
        for fact in (one for facts in later for one in facts):
            if fact not in known:
                known.append(fact)
                rows.append(fact_seen(fact, "later"))
        return rows


def fact_seen(fact: ChangedFact, seen: str) -> ToldFact:
    """A fact as rows have it, and when it was seen."""
    return ToldFact(name=fact.name, before=fact.before, after=fact.after, seen=seen)


NIGHTS = 3
"""Nights on either side that are looked at: a fact that is not the same in all of them is none of a side."""
PLAIN = ("engine_version",)
CONFIGS = ("engine_config", "compilation_config", "software_config", "runtime_config", "hardware_config")
COLUMNS = (*PLAIN, *CONFIGS)
"""What is looked at of a record: a text, and objects as JSON texts."""
MAX_TOLD = 20
LONGEST_VALUE = 200


def changed_metadata(before: pl.DataFrame, after: pl.DataFrame) -> list[ChangedFact]:
    """Each fact that is one thing in all records before and another in all since.

    Both frames hold COLUMNS (those that are missing tell nothing). Names are `engine_version`, `software_config.driver`
    and so on; a fact that one side lacks is null there. Values are whatever somebody wrote: texts, cut at LONGEST_VALUE.
    """
    sides = [_facts(frame) for frame in (before, after)]
    if before.is_empty() or after.is_empty():
        return []
    found = []
    for name in sorted(sides[0].keys() | sides[1].keys()):
        values = [side.get(name, {None}) for side in sides]
        if all(len(value) == 1 for value in values) and values[0] != values[1]:
            found.append(ChangedFact(name, *(next(iter(value)) for value in values)))
    return found[:MAX_TOLD]


def _facts(frame: pl.DataFrame) -> dict[str, set[str | None]]:
    """Each fact with its values; a record that lacks one counts as None."""
    rows = frame.select([name for name in COLUMNS if name in frame.columns]).unique().to_dicts()
    flat = [dict(_flat(row)) for row in rows]
    names = {name for one in flat for name in one}
    return {name: {one.get(name) for one in flat} for name in names}


def _flat(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in PLAIN:
        if row.get(name) not in {None, "unknown"}:
            yield name, str(row[name])[:LONGEST_VALUE]
    for name in CONFIGS:
        for key, inner in object_in(row, name).items():
            yield from _leaves(f"{name}.{key}"[:LONGEST_VALUE], inner)


def _leaves(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """The leaves of nested objects to one level; deeper ones as JSON text."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield f"{name}.{key}"[:LONGEST_VALUE], _text(inner)
    elif value is not None:
        yield name, _text(value)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text[:LONGEST_VALUE]
