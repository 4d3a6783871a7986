"""One run of the detector over a store: which nights it reads, and what is odd about them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from aoe_reports.history.changes.gate import Gate
from aoe_reports.history.rules import HARDWARE_UNNAMED, SEVERAL_HARDWARE
from aoe_reports.history.runs.clocks import RunOfNight, clock_jumps
from aoe_reports.history.series.series import LABELS, Judged, histories_of, judge_histories
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.metrics import Declarations
from aoe_reports.model.texts import join, say
from aoe_reports.store import History, Where, equals
from aoe_reports.store.layout import ROWS
from aoe_reports.topics.records.context import UNKNOWN

_COLUMNS = (
    "series_id", "night", "run_id", "timestamp_ns", "runtime_ms_mean", "count", "total_ns", "workload_args", "metrics", *LABELS,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DetectorInput:
    """All that the verdicts of the detector depend on."""

    parts: frozenset[str]
    """The files of the store that hold runs and records: another content has another name."""
    false_alarms_per_year: float
    within: int | None
    """So many of the newest nights; None: all of them, in hindsight."""
    until: str | None
    """The newest night that is looked at; None: the newest there is."""
    chosen: tuple[str, ...] = ()
    """Nights of the baseline, however old they are."""
    gates: tuple[Gate, ...] = ()
    """Those with a budget of their own; how large an effect they want does not matter here."""
    declarations: Declarations = ()
    """What is said of metrics."""


@dataclass(frozen=True, slots=True)
class DetectorRun:
    """One run of the detector over a store: whoever asks the same store the same again need not run it again."""

    input: DetectorInput
    stored: pl.DataFrame
    """All records that were read."""
    records: pl.DataFrame
    """Those of them that were judged: not of runs whose clock was wrong."""
    jumps: Mapping[str, Finding]
    """What is said of runs whose clock was wrong, by run."""
    judged: Judged
    odd_metrics: Sequence[Finding] = ()
    """What is said of metrics, each under the name of its model."""


def run_detector(history: History, wanted: DetectorInput, runs: Sequence[RunOfNight]) -> DetectorRun:
    """Read the nights that are wanted, and run the detector over them."""
    stored = _records(history, wanted)
    jumps = clock_jumps(history, runs)
    records = stored.filter(~pl.col("run_id").is_in(list(jumps))) if jumps else stored
    histories, odd = histories_of(records, wanted.declarations)
    judged = judge_histories(histories, wanted.false_alarms_per_year, within=wanted.within, gates=wanted.gates)
    return DetectorRun(input=wanted, stored=stored, records=records, jumps=jumps, judged=judged, odd_metrics=odd)


def _records(history: History, wanted: DetectorInput) -> pl.DataFrame:
    """Records of the nights that are wanted; AOE's own measurements and cut-off captures are no nights."""
    by_then: Where = [] if wanted.until is None else [equals("night", wanted.until, "<=")]
    measured = [equals("run_kind", "tuning", "!="), equals("status", "incomplete", "!="), *by_then]
    nights = sorted(set(history.rows("run", ["night"], measured)["night"].to_pylist()))
    where: Where = [equals("source", "aoe", "!="), *by_then]
    if wanted.within is not None and len(nights) > wanted.within:
        first = equals("night", nights[-wanted.within], ">=")
        where = [*where, (first, *(equals("night", night) for night in wanted.chosen))]
    incomplete = history.rows("run", ["run_id"], [equals("status", "incomplete")])["run_id"].to_pylist()
    columns = [name for name in _COLUMNS if name in ROWS.names]
    records = read_coded(history, columns, where)
    return records.filter(~pl.col("run_id").is_in(incomplete)) if incomplete else records


def odd_nights(detected: DetectorRun, runs: Sequence[RunOfNight], series: Collection[str] | None) -> list[Finding]:
    """What is odd about the nights that were judged; of the workloads of `series` alone, where it is given."""
    mixed = [*_mixed_hardware(detected.judged), *detected.odd_metrics]
    if series is None:
        return [*detected.jumps.values(), *mixed]
    # what is odd about others' nights is not ours to answer for
    ours = detected.stored.filter(pl.col("series_id").is_in(list(series)))
    models = set(ours["model"].cast(pl.String))
    names = {run.run_id: run.model for run in runs}
    findings = [finding for run, finding in detected.jumps.items() if names[run] in models]
    return [*findings, *(finding for finding in mixed if finding.path in models)]


def _mixed_hardware(judged: Judged) -> list[Finding]:
    """Workloads that ran on several kinds of hardware: each kind has series of its own."""
    kinds: dict[str, set[str]] = {}
    for label in judged.histories.labels:
        kinds.setdefault(str(label.model), set()).add(str(label.hardware))
    return [_of_hardware(model, found) for model, found in sorted(kinds.items()) if len(found) > 1]


def _of_hardware(model: str, kinds: set[str]) -> Finding:
    """Nights of unknown hardware probably ran on a kind that is named."""
    names = join(", ", sorted(kinds - {UNKNOWN}))
    if UNKNOWN in kinds:
        message = say(
            "some nights are of unknown hardware, others of {names}: they are never compared with each other "
            "(see --hardware)",
            names=names,
        )
        return HARDWARE_UNNAMED.found(model, message)
    message = say("measured on {names}: nights on different hardware are never compared with each other", names=names)
    return SEVERAL_HARDWARE.found(model, message)


def read_coded(history: History, columns: Sequence[str], where: Where = ()) -> pl.DataFrame:
    """Records whose texts are enumerations in the order of their words, so that they sort and compare as texts do."""
    tables = list(history.coded_rows("record", columns, where))
    if not tables:
        return pl.DataFrame(pa.schema([ROWS.field(name) for name in columns]).empty_table())
    whole = pa.concat_tables(tables).unify_dictionaries()
    del tables
    found = []
    for name in columns:  # a column at a time: the chunks of one are all that is there twice
        column = whole[name].combine_chunks()
        whole = whole.drop_columns([name])
        found.append(_enumerated(name, column) if pa.types.is_dictionary(column.type) else pl.Series(name, column))
    return pl.DataFrame(found)


def _enumerated(name: str, column: Any) -> pl.Series:
    """A dictionary-encoded column as an enumeration; one without any word as null texts."""
    words = column.dictionary.to_pylist()
    if not words:
        return pl.repeat(None, len(column), dtype=pl.String, eager=True).alias(name)
    places = {word: place for place, word in enumerate(sorted(set(words)))}
    order = pl.Series(np.array([places[word] for word in words], dtype=np.uint32))
    return order.gather(pl.Series(column.indices)).alias(name).cat.to(pl.Enum(list(places)))
