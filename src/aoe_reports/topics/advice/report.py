"""What `advise` found as a report: where to look first, then what could be gained, device by device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any

from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.history.causes import operator_words
from aoe_reports.model.report import Grid, Highlight, Section
from aoe_reports.model.rows import Column, columns_of, shown, telling_columns
from aoe_reports.model.size_units import size_words
from aoe_reports.model.texts import capital, join, say
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.topics.advice.advice import Evidence
from aoe_reports.topics.advice.advise import AdviceRow, Headline
from aoe_reports.topics.advice.folding import AgreedAdvice, agreed_advice
from aoe_reports.topics.advice.registry import RULES

SOURCES = {
    "step_trace_time": say("the profiler's table of steps (step_trace_time)"),
    "tasks": say("unions of the tasks' intervals"),
    "timeline": say("a timeline"),
    "memory": say("recordings of memory, which have no times of operators"),
    "durations": say("the sum of the tasks' durations: the data do not show which tasks ran in parallel"),
}

HOW = say(
    "Bound is the maximum by which following the advice could shorten a step. It is not a forecast, and bounds "
    "do not add up. Operators: their device time without the part in which the cube or vector unit worked on all "
    "cores, limited to the computing of a step that no communication overlaps. Launching: limited to the free "
    "time of a step; sequences of operators also to what is on the critical path. Bounds are means over the steps; without steps, the whole capture counts as one step. Share "
    "is of the durations of all computing tasks."
)


PARTS = {
    "computing_share": say("computing"),
    "communication_not_overlapped_share": say("communication that is not overlapped"),
    "free_share": say("free"),
}
"""What a step went on; what communication and computing do at once is part of computing."""

TOLD = frozenset({"step_us", "steps", "source", "overlapped_share", *PARTS})
"""Evidence of rules on whole steps that stands with the steps of each device."""


HIGHLIGHTS = 5
"""So many pieces of advice on a device are told by themselves."""


def headline_of(headlines: Sequence[Headline]) -> str:
    """What the longest step consists of, in one sentence."""
    slowest = max(headlines, key=lambda one: one.step_us or 0.0, default=None)
    if slowest is None:
        return ""
    if len(headlines) > 1 and slowest.step_us:
        several_runs = len({one.run for one in headlines}) > 1
        device = _device_of(slowest) if several_runs else join(", ", _names_of(slowest))
        return say("The longest step is that of {device}: {text}.", device=device, text=slowest.headline)
    return say("{text}.", text=capital(slowest.headline))


def highlights_of(rows: Sequence[AdviceRow]) -> list[Highlight]:
    """What is told of the first pieces of advice on each device by themselves; msprof's own has no bound."""
    return [_highlight(row) for row in rows if row.bound_us is not None and (row.position or 0) <= HIGHLIGHTS]


def _highlight(row: AdviceRow) -> Highlight:
    (bound,), unit = times_in_one_unit((row.bound_us or 0.0) * 1e3)
    share = "" if row.bound_share is None else say(", {share:.1%} of it", share=row.bound_share)
    what = operator_words(row.op_type, row.op_name) if row.op_type or row.op_name else say("the whole step")
    message = say(
        "{device}: {what}: at most {bound} {unit} of a step{share}",
        device=_device_of(row), what=what, bound=bound, unit=unit, share=share,
    )  # fmt: skip
    return Highlight("info", row.rule, message)


def sections_of(rows: Sequence[AdviceRow], headlines: Sequence[Headline], top: int) -> list[Section]:
    """The advice on each run, what its steps consist of, what to do (once a rule), msprof's own advice, what bounds are."""
    ours = lists_by_key((row.run, row) for row in rows if row.source != "prof_rule")
    sections: list[Section] = []
    for run, devices in lists_by_key((headline.run, headline) for headline in headlines).items():
        sections += _of_run(devices, ours.get(run, []), top)
    if ours:
        sections.append(
            Section(
                "Recommended actions",
                lines=_what_to_do([row for each in ours.values() for row in each if (row.position or 0) <= top]),
            )
        )
    stated = [shown(row) for row in rows if row.source == "prof_rule"]
    if stated:
        columns = (
            Column("run", "Run"),
            *telling_columns(columns_of(AdviceRow), stated),
            Column("advice", "msprof message", "sentence"),
        )
        sections.append(Section("msprof's own advice (prof_rule)", grid=Grid(columns, stated)))
    has_bounds = any(row.bound_us is not None for each in ours.values() for row in each)
    return [*sections, Section("How bounds are defined", [HOW])] if has_bounds else sections


def _of_run(devices: Sequence[Headline], ours: Sequence[AdviceRow], top: int) -> list[Section]:
    """The advice on one run, with what the step of its one device consists of, else a row for each device."""
    one_device = len(devices) == 1
    title = _device_of(devices[0]) if one_device else devices[0].run
    sentences = [_said_of_step(devices[0])] if one_device else []
    advice = agreed_advice(ours, _evidence, one_device=one_device)
    if not advice:
        sentences.append(say("No rule gives any advice."))
    if len(advice) > top:
        sentences.append(say("The {shown} with the largest bound of {count}.", shown=top, count=len(advice)))
    table = Section(title, sentences, _grid(advice[:top]) if advice else None)
    if one_device:
        return [table]
    steps = sorted(devices, key=lambda device: -(device.step_us or 0.0))
    sources = join("; ", dict.fromkeys(SOURCES[device.source] for device in devices))
    return [table, Section("Steps", [say("Source: {source}.", source=sources)], _grid(steps))]


def _grid(rows: Sequence[AgreedAdvice] | Sequence[Headline]) -> Grid:
    cells = [shown(row) for row in rows]
    return Grid(telling_columns(columns_of(type(rows[0])), cells), cells)


def _said_of_step(headline: Headline) -> str:
    source = SOURCES[headline.source]
    (bound,), unit = times_in_one_unit(headline.bound_saving_us * 1e3)
    if headline.source == "memory":
        return say("{text}. Source: {source}.", text=capital(headline.headline), source=source)
    if headline.step_us is None:
        return say(
            "{text}. Operator tuning can save at most {bound} {unit}. Source: {source}.",
            text=capital(headline.headline),
            bound=bound,
            unit=unit,
            source=source,
        )
    (time, bound), unit = times_in_one_unit(headline.step_us * 1e3, headline.bound_saving_us * 1e3)
    step = say("{time} {unit}", time=time, unit=unit)
    if headline.steps > 1:
        step = say("{step} (mean of {steps})", step=step, steps=headline.steps)
    parts = [
        say("{name} {share:.1%}", name=name, share=getattr(headline, key))
        for key, name in PARTS.items()
        if getattr(headline, key) is not None
    ]
    return say(
        "A step takes {step}; operator tuning can save at most {bound} {unit} of it. Source: {source}.",
        step=say("{step}: {parts}", step=step, parts=join(", ", parts)) if parts else step,
        bound=bound,
        unit=unit,
        source=source,
    )


def _device_of(row: Headline | AdviceRow) -> str:
    return join(", ", [str(row.run), *_names_of(row)])


def _names_of(row: Headline | AdviceRow) -> list[str]:
    names: list[str] = []
    if row.rank_id is not None:
        names.append(say("rank {rank}", rank=row.rank_id))
    if row.device_id is not None:
        names.append(say("device {device}", device=row.device_id))
    return names


def _what_to_do(ours: Sequence[AdviceRow]) -> list[str]:
    """Each piece of advice once, the rule with the largest bound first."""
    said: dict[tuple[str, str], float] = {}
    for row in ours:
        key = (row.rule, row.advice or "")
        said[key] = max(said.get(key, 0.0), row.bound_share or 0.0)
    # bounds of captures of any length are compared by their part of a step
    ordered = sorted(said, key=lambda key: (-said[key], key))
    return [
        say(
            "{rule} - {reason}. {advice}. [{source}]",
            rule=rule,
            reason=RULES[rule].title,
            advice=advice,
            source=RULES[rule].source,
        )
        for rule, advice in ordered
    ]


def _evidence(row: AdviceRow) -> str:
    """By which numbers a rule says it; the shapes, which may be long, last."""
    said = evidence_words(row.evidence)
    inputs = [] if row.input_shapes is None else [say("inputs {shapes}", shapes=row.input_shapes)]
    words = [*([said] if said else []), *inputs]
    return join(", ", words) if words else ""


def evidence_words(evidence: Evidence) -> str:
    """By which numbers a rule says what it says, percent for shares and ratios; nothing where those are the step's parts."""
    units = {key: value for key, value in evidence.items() if key.endswith("_ratio") and isinstance(value, float)}
    told = {"of_operators", *units, *(TOLD if "step_us" in evidence else ())}
    shown: list[str] = []
    for key, value in evidence.items():
        if key == "operators" and "of_operators" in evidence:
            of_all = evidence["of_operators"]
            shown.append(say("{count} of {all} operators", count=_value(value), all=_value(of_all)))
        elif value is not None and not (isinstance(value, Sized) and len(value) == 0) and key not in told:
            shown.append(_named(key, value))
    return join(", ", [*shown, *_ratios(units)])


def _ratios(units: Mapping[str, float]) -> list[str]:
    """What part of the cycles each unit worked, the busiest first; those that did not work stand together."""
    busy = sorted(((key, value) for key, value in units.items() if value), key=lambda item: -item[1])
    shown: list[str] = [
        say("{name} {value:.1%}", name=_words(key.removesuffix("_ratio")), value=value) for key, value in busy
    ]
    idle = [key.removesuffix("_ratio") for key, value in units.items() if not value]
    return [*shown, f"{' '.join(idle)} 0%"] if idle else shown


def _named(key: str, value: Any) -> str:
    """`waited_us`: 12.5 is "waited 12.5 us"; shares are percent."""
    if isinstance(value, float) and "share" in key.split("_"):
        return say("{name} {value:.1%}", name=_words(key), value=value)
    if isinstance(value, int | float):
        if key.endswith("_bytes") and value >= _LARGE:
            return say(
                "{name} {value}{unit}", name=_words(key.removesuffix("_bytes")), value=size_words(value), unit=""
            )
        for suffix, unit in UNITS.items():
            if key.endswith(suffix):
                return say(
                    "{name} {value}{unit}", name=_words(key.removesuffix(suffix)), value=_value(value), unit=unit
                )
    if key == "always_the_same":
        return say("always the same") if value else say("not always the same")
    if key == "source":
        return say("source: {value}", value=value)
    if key in _VOCABULARY and isinstance(value, str):
        value = say(value)
    return say("{name} {value}", name=_words(key), value=_value(value))


def _words(key: str) -> str:
    """A name of evidence in words; those of the cores' units stay what they are."""
    words = key.replace("_", " ")
    return say(words) if words in EVIDENCE else words


_VOCABULARY = frozenset({"bounded_by", "cause_of_longest_gap", "state"})
"""Evidence that is one of a few words of ours."""
EVIDENCE = frozenset(
    {
        "absent rank", "alike calls", "all reduce", "alone median", "always the same", "awaited rank", "bandwidth", "below", "beside median", "blocks",
        "bound source", "bounded by", "call", "calls", "calls a shape", "calls a step", "calls beside", "calls in first step",
        "cause of longest gap", "chip", "communication", "comparisons", "computing and free", "conflict", "cores", "cores source", "destination rank",
        "device time", "dynamic share of computing", "duration", "first", "fused operator", "group", "hidden", "highest", "highest is rated",
        "idle before", "iteration", "iterations", "kernels", "last", "least of all ranks", "longest", "longest gap", "longest waited",
        "lost", "lowest", "lowest share of highest", "main memory", "mean", "median of alike", "median of all ranks", "memory bound",
        "number in group", "on critical path", "on host", "op types", "operator", "operators", "out of line in", "peak", "place", "rank id", "ranks", "relative bandwidth",
        "rule description", "rule subtype", "rule type", "section", "sequence", "shapes", "share beside communication",
        "share of bandwidth", "share of compute peak", "share of communication", "share of computing", "share of roof", "share of time", "slower calls",
        "slower operators", "small kernels", "source", "source rank", "span", "step", "state", "steps", "tail", "task before longest gap",
        "task behind longest gap", "task type", "tasks", "times median", "identified by", "transport", "used cores share", "usual blocks", "usual calls",
        "usual mean", "usual shapes", "waited", "waited in call",
        # of memory
        "allocations", "at least", "at most", "at once", "component", "excess", "first step", "held", "in use", "largest owner", "last step", "of largest owner",
        "per step", "reserved", "reserved by fragmentation", "share of peak", "size", "times", "unusable",
    }
)  # fmt: skip
"""Names of evidence as people read them."""


_LARGE = 1 << 20
"""Bytes from which a size has a unit of its own: sizes of packets have not."""
UNITS = {"_us": say(" us"), "_ns": say(" ns"), "_bytes": say(" bytes"), "_gb_per_s": " GB/s", "_mhz": " MHz"}
"""How names of evidence end, and what stands behind the value instead."""


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return say("yes") if value else say("no")
    if isinstance(value, float):
        return f"{value:g}" if abs(value) < 1 else f"{value:,.3f}".rstrip("0").rstrip(".")
    if isinstance(value, str):
        return value
    return join(", ", map(str, value)) if isinstance(value, list) else str(value)
