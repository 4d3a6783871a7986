"""What a store knows of each model: found once for all pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from aoe_reports.history.site_facts import RunFacts, SeriesFacts, StoreFacts
from aoe_reports.model.history.changes import IncidentChange, SuspectedCause


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of a model, or of all of them."""

    series: Sequence[SeriesFacts] = ()
    incidents: Sequence[IncidentChange] = ()
    suspicions: Sequence[SuspectedCause] = ()
    runs: Sequence[RunFacts] = ()
    """Oldest first."""

    def last_night(self, nights: Iterable[str]) -> str | None:
        """The last of the nights on which it was measured: a tuning measures nothing, and a wrong clock tells no night."""
        known = frozenset(nights)
        return max((run.night for run in self.runs if not run.is_tuning and run.night in known), default=None)


def facts_by_model(facts: StoreFacts) -> Mapping[str, ModelFacts]:
    """The models of a store by name."""
    series: dict[str, list[SeriesFacts]] = defaultdict(list)
    runs: dict[str, list[RunFacts]] = defaultdict(list)
    incidents: dict[str, list[IncidentChange]] = defaultdict(list)
    suspicions: dict[str, list[SuspectedCause]] = defaultdict(list)
    for one_series in facts.series:
        series[one_series.model].append(one_series)
    for run in facts.runs:
        runs[run.model].append(run)
    for incident in facts.incidents.values():
        for model in incident.models:
            incidents[model].append(incident)
    for suspicion in facts.suspicions:
        for model in suspicion.models:
            suspicions[model].append(suspicion)
    return {
        model: ModelFacts(series[model], incidents[model], suspicions[model], runs[model]) for model in sorted(runs)
    }


def facts_of_all(facts: StoreFacts) -> ModelFacts:
    """Those of all models together."""
    return ModelFacts(facts.series, list(facts.incidents.values()), facts.suspicions, facts.runs)
