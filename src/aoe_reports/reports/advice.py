"""What `advise` found as a report: where to look first, then what could be gained, device by device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aoe_reports.reports.report import Column, Grid, Report, Section
from aoe_reports.reports.rows import shown_columns

SOURCES = {
    "step_trace_time": "the profiler's table of steps (step_trace_time)",
    "tasks": "unions of the tasks' intervals",
    "timeline": "a timeline",
    "durations": "the sum of the tasks' durations: nothing tells what ran beside what",
}

HOW = (
    "Bound is the most that following the advice could make a step shorter; it is no forecast, and bounds do not add up. "
    "Operators: their device time without the part in which cube or vector worked on all cores, and no more than the computing "
    "of a step that no communication runs beside. Launching: no more than the free time of a step. Bounds are means over "
    "the steps; without steps the capture is taken as one. Share is of all computing."
)


PARTS = {
    "computing": "computing_share",
    "communication that is not overlapped": "communication_not_overlapped_share",
    "free": "free_share",
}
"""What a step went on; what communication and computing do at once is part of computing."""

TOLD = frozenset({"step_us", "steps", "source", "overlapped_share", *PARTS.values()})
"""Evidence of rules on whole steps that stands above the table of each device."""


def advice_report(
    rows: Sequence[Mapping[str, Any]],
    headlines: Sequence[Mapping[str, Any]],
    reasons: Mapping[str, tuple[str, str]],
) -> Report:
    """A section for each device, one on what to do (once a rule), one for msprof's own advice, one on what bounds are.

    `reasons` has the title and the source of each rule.
    """
    ours = [row for row in rows if row["source"] != "prof_rule"]
    sections = [_device(headline, ours) for headline in headlines]
    if ours:
        sections.append(Section("What to do", lines=_what_to_do(ours, reasons)))
    stated = [row for row in rows if row["source"] == "prof_rule"]
    if stated:
        columns = (
            Column("run", "Run"),
            *shown_columns("advise", stated),
            Column("advice", "msprof says"),
        )
        sections.append(Section("msprof's own advice (prof_rule)", grid=Grid(columns, stated)))
    if ours:
        sections.append(Section("How bounds are meant", [HOW]))
    slowest = max(headlines, key=lambda row: row["step_us"] or 0.0, default=None)
    if slowest is None:
        return Report("Advice", "", sections)
    whose = f"The longest step is that of {_device_of(slowest)}: " if len(headlines) > 1 and slowest["step_us"] else ""
    return Report("Advice", _capital(f"{whose}{slowest['headline']}."), sections)


def _device(headline: Mapping[str, Any], ours: Sequence[Mapping[str, Any]]) -> Section:
    whose = ("run", "rank_id", "device_id")
    mine = [row for row in ours if all(row[name] == headline[name] for name in whose)]
    sentences = [_said_of_step(headline)]
    if not mine:
        return Section(_device_of(headline), [*sentences, "No rule has anything to say."])
    if len(mine) < headline["advice"]:
        sentences.append(f"The {len(mine)} with the largest bound of {headline['advice']}.")
    # names and numbers stand in the table; shapes, which are long, stand with the evidence
    columns = [column for column in shown_columns("advise", mine) if column.key not in {"input_shapes", "bound_by"}]
    return Section(_device_of(headline), sentences, Grid(tuple(columns), mine), lines=[*map(_evidence, mine)])


def _said_of_step(headline: Mapping[str, Any]) -> str:
    most = f"o tuning of operators can save more than {headline['bound_saving_us']:,.3f} us"
    source = SOURCES[headline["source"]]
    if headline["step_us"] is None:
        return f"{_capital(headline['headline'])}. N{most}. By {source}."
    mean = f" (mean of {headline['steps']})" if headline["steps"] > 1 else ""
    parts = [f"{name} {headline[key]:.1%}" for name, key in PARTS.items() if headline[key] is not None]
    went = f": {', '.join(parts)}" if parts else ""
    return f"A step takes {headline['step_us']:,.3f} us{mean}{went}; n{most} of it. By {source}."


def _device_of(row: Mapping[str, Any]) -> str:
    names = [("rank", row["rank_id"]), ("device", row["device_id"])]
    return ", ".join([str(row["run"]), *(f"{name} {value}" for name, value in names if value is not None)])


def _what_to_do(ours: Sequence[Mapping[str, Any]], reasons: Mapping[str, tuple[str, str]]) -> list[str]:
    """Each piece of advice once, the rule with the largest bound first."""
    said: dict[tuple[str, str], float] = {}
    for row in ours:
        key = (row["rule"], row["advice"])
        said[key] = max(said.get(key, 0.0), row["bound_share"] or 0.0)
    # bounds of captures of any length are compared by their part of a step
    ordered = sorted(said, key=lambda key: (-said[key], key))
    return [f"{rule} - {reasons[rule][0]}. {advice}. [{reasons[rule][1]}]" for rule, advice in ordered]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _evidence(row: Mapping[str, Any]) -> str:
    inputs = [] if row["input_shapes"] is None else [f"inputs {row['input_shapes']}"]
    words = ", ".join([*inputs, *([said] if (said := evidence_words(row)) else [])])
    return f"{row['position']}. {row['rule']}: {words or 'by the parts of the step above'}"


def evidence_words(row: Mapping[str, Any]) -> str:
    """By which numbers a rule says what it says, percent for shares and ratios; nothing where those are the step's parts."""
    shown: list[str] = []
    told = TOLD if "step_us" in row["evidence"] else frozenset()
    units: dict[str, float] = {}
    for key, value in row["evidence"].items():
        if key.endswith("_ratio") and isinstance(value, float):
            units[key.removesuffix("_ratio")] = value
        elif value is not None and key not in told:
            shown.append(_named(key, value))
    busy = [f"{unit} {value:.1%}" for unit, value in sorted(units.items(), key=lambda item: -item[1]) if value]
    idle = [unit for unit, value in units.items() if not value]
    shown += busy + ([f"{' '.join(idle)} 0%"] if idle else [])
    return ", ".join(shown)


def _named(key: str, value: Any) -> str:
    """`waited_us`: 12.5 is "waited 12.5 us"; shares are percent."""
    if isinstance(value, float) and "share" in key.split("_"):
        return f"{key.replace('_', ' ')} {value:.1%}"
    if isinstance(value, int | float):
        for suffix, unit in UNITS.items():
            if key.endswith(suffix):
                return f"{key.removesuffix(suffix).replace('_', ' ')} {_value(value)}{unit}"
    return f"{key.replace('_', ' ')} {_value(value)}"


UNITS = {"_us": " us", "_ns": " ns", "_bytes": " bytes", "_gb_per_s": " GB/s", "_mhz": " MHz"}
"""How names of evidence end, and what stands behind the value instead."""


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}" if abs(value) < 1 else f"{value:,.3f}".rstrip("0").rstrip(".")
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
