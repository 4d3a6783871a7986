"""The first page: what changed, since when, by how much, which operator, what to do; and whether every night ran."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from markupsafe import Markup

from aoe_reports.renderers.values import show
from aoe_reports.site.cells import Columns, cell, changed, drawn, head, linked, short, stated
from aoe_reports.site.charts import sparkline
from aoe_reports.site.facts import RunFacts, SeriesFacts, StoreFacts
from aoe_reports.site.places import file_name
from aoe_reports.site.triage import NEW_NIGHTS, Group, by_effect, grouped, state_of, sure_effect
from aoe_reports.texts.pages import Texts

SHOWN = 25
"""Series of one group on the first page: more fit no screen, and the list of series has them."""
SHOWN_RUNS, SHOWN_FINDINGS, SHOWN_DATES = 30, 30, 5
SPARK_NIGHTS = 60


def overview(facts: StoreFacts, text: Texts) -> dict[str, Any]:
    """The context of the first page."""
    groups = grouped(facts)
    headline, more, tone = _headline(facts, groups, text)
    newest = facts.nights[-1] if facts.nights else None
    tonight = [run for run in facts.runs if run.night == newest]
    findings = [finding for run in tonight for finding in run.findings]
    odd = _not_whole(facts)
    return {
        "headline": headline,
        "more": more,
        "tone": tone,
        "facts": _facts(facts, text) if newest else [],
        "tiles": [
            {"key": key, "title": text(f"group_{key}"), "count": len(members)}
            for key, members in groups.items()
            if members or key != "acknowledged"
        ]
        if newest
        else [],
        "groups": [_group(key, members, text) for key, members in groups.items() if members],
        "model_columns": _model_columns(text),
        "models": [_model(model, facts, text) for model in _models(facts)],
        "health": list(_health(facts, tonight, text)),
        "not_whole": [
            (short(run.run_id), f"runs/{file_name(run.run_id)}.html", short(" · ".join(_why_not_whole(run, text))))
            for run in odd[:SHOWN_RUNS]
        ],
        "not_whole_said": text("health_odd", count=len(odd), nights=facts.watched_nights) if odd else "",
        "not_whole_more": text("not_whole_more", count=len(odd) - SHOWN_RUNS) if len(odd) > SHOWN_RUNS else "",
        "all_runs_shown": False,
        "run_columns": run_columns(text),
        "runs": [run_cells(run, "runs/", text) for run in tonight[:SHOWN_RUNS]],
        "finding_columns": finding_columns(text),
        "findings": [finding_cells(finding, text) for finding in _worst(findings)[:SHOWN_FINDINGS]],
    }


def _headline(facts: StoreFacts, groups: Mapping[Group, Sequence[SeriesFacts]], text: Texts) -> tuple[str, str, str]:
    """The answer in one sentence, what follows it, and how it looks."""
    slower, suspect = [*groups["new"], *groups["ongoing"]], len(groups["suspect"])
    if slower:
        steps = [one for one in slower if one.row["scope"] == "step"]
        first = min(steps or slower, key=by_effect)
        row = first.row
        said = text(
            "headline_slower",
            what=short(str(row["workload"])),
            change=show(row["change"], "percent"),
            since=row["since"],
        )
        more = [text("full_stop", said=operator) if (operator := cause_of(first, text)) else ""]
        more += [text("headline_more", count=len(slower))] if len(slower) > 1 else []
        return said, " ".join(part for part in more if part), "bad"
    if not facts.nights:
        return text("headline_empty"), text("empty_next", store="URI"), "calm"
    if suspect:
        return text("headline_suspect", count=suspect), "", "odd"
    if not facts.budget["eligible"]:
        return text("headline_young", nights=facts.least_nights), "", "calm"
    if groups["acknowledged"]:
        return text("headline_accepted"), text("accepted_more", count=len(groups["acknowledged"])), "calm"
    return text("headline_quiet"), "", "calm"


def _facts(facts: StoreFacts, text: Texts) -> list[tuple[str, str]]:
    budget = facts.budget
    return [
        (text("newest_night"), facts.nights[-1]),
        (text("models"), show(len(_models(facts)), "integer")),
        (
            text("series_judged"),
            text("of", part=show(budget["eligible"], "integer"), whole=show(budget["series"], "integer")),
        ),
        (text("false_alarms"), text("a_year", number=f"{budget['false_alarms_per_year']:g}")),
    ]


def cause_of(series: SeriesFacts, text: Texts) -> str:
    """The operators that a step's change went on, in a line; of what is no step nothing."""
    told = series.row.get("attribution")
    if not told:
        return ""
    named = [
        text(
            "caused",
            part=f"{short(one['op_name'] or one['op_type'] or '?')} {one['difference_us']:+,.1f} us",
            cause=text.word(one["cause"]),
        )
        for one in told["operators"][:2]
    ]
    rest = {"communication_not_overlapped": told["communication_not_overlapped_us"], "free": told["free_us"]}
    total = abs(told["total_us"])
    named += [
        f"{text(key)} {value:+,.1f} us"
        for key, value in rest.items()
        if value is not None and total and abs(value) >= total / 4
    ]
    return text("semicolon").join(named)


def _group(key: str, members: Sequence[SeriesFacts], text: Texts) -> dict[str, Any]:
    columns: Columns = [
        (text("what"), "text"), (text("change"), "number"), (text("since"), "text"), (text("sure_effect"), "number"),
        (text("before_after"), "number"), (text("cause"), "text"),
    ]  # fmt: skip
    shown = members[:SHOWN]
    return {
        "key": key,
        "title": text(f"group_{key}"),
        "about": text(f"about_{key}", nights=NEW_NIGHTS),
        "order": text("triage_order") if key in {"new", "ongoing"} else "",
        "shown_of": text("shown_of", shown=len(shown), count=len(members)) if len(shown) < len(members) else "",
        "columns": columns,
        "rows": [_changed_row(series, text) for series in shown],
    }


def _changed_row(series: SeriesFacts, text: Texts) -> list[str]:
    row = series.row
    share = 1.0 if row["scope"] == "step" else series.share_of_step
    part = text("share_is", share=show(share, "percent")) if share is not None else text("share_unknown")
    named = " ".join(part for part in (row["op_type"], row["op_name"]) if part)
    return [
        head(row["workload"], f"series/{file_name(series.id)}.html", _where(series, text)),
        changed(row["change"], interval(row)),
        linked(row["since"], f"runs/{file_name(row['since_run'])}.html" if row["since_run"] else None),
        cell(sure_effect(series), "change", part),
        cell(show(row["after"], "ms"), "ms", show(row["before"], "ms")),
        cell(cause_of(series, text) or named),
    ]


def _where(series: SeriesFacts, text: Texts) -> str:
    row = series.row
    parts = [text.told(row["scope"]), str(row["hardware"])]
    parts += [f"{text(name)} {row[f'{name}_id']}" for name in ("rank", "device") if row[f"{name}_id"] is not None]
    return " · ".join(parts)


def interval(row: Any) -> str:
    """The 95 % interval of a change."""
    if row["ci_low"] is None or row["ci_high"] is None:
        return ""
    return f"{show(row['ci_low'], 'change')} … {show(row['ci_high'], 'change')}"


def _models(facts: StoreFacts) -> list[str]:
    return sorted({run.model for run in facts.runs})


def _model_columns(text: Texts) -> Columns:
    return [
        (text("model"), "text"), (text("step_time"), "text"), (text("step_now"), "number"), (text("state"), "text"),
        (text("newest_night"), "text"), (text("aoe"), "text"),
    ]  # fmt: skip


def slowest_of(model: str, facts: StoreFacts) -> SeriesFacts | None:
    """The series of the longest step of a model, for want of steps of the whole model."""
    measured = [series for series in facts.series if series.model == model and series.nights]
    steps = [series for series in measured if series.row["scope"] == "step"]
    wholes = steps or [series for series in measured if series.row["scope"] == "model"]
    return max(wholes, key=lambda series: (series.values_ms[-1], series.id), default=None)


def _model(model: str, facts: StoreFacts, text: Texts) -> list[str]:
    runs = [run for run in facts.runs if run.model == model]
    slowest = slowest_of(model, facts)
    cells = [head(model)]
    if slowest is None:
        cells += [cell(None), cell(None, "ms"), cell(None)]
    else:
        row = slowest.row
        page = f"series/{file_name(slowest.id)}.html"
        cells[0] = head(model, page, _where(slowest, text))
        state = state_of(row)
        amount = show(row["change"], "change") if row["change"] is not None else ""
        cells += [
            drawn(_spark(slowest, text)),
            cell(float(slowest.values_ms[-1]), "ms"),
            stated(state, text.word(state), amount),
        ]
    return [*cells, cell(max(run.night for run in runs)), _aoe(model, runs, facts, text)]


def _spark(series: SeriesFacts, text: Texts) -> Markup:
    values = series.values_ms[-SPARK_NIGHTS:].tolist()
    offset = len(series.nights) - len(values)
    mark = next((leap.start - offset for leap in reversed(series.leaps) if leap.start >= offset), None)
    said = text(
        "spark",
        what=short(str(series.row["workload"])),
        count=len(values),
        night=series.nights[-1],
        low=show(min(values), "ms"),
        high=show(max(values), "ms"),
        now=show(values[-1], "ms"),
    )
    return sparkline(values, mark, said)


def _aoe(model: str, runs: Sequence[RunFacts], facts: StoreFacts, text: Texts) -> str:
    """The newest tuning of a model: what it claims, and what was measured."""
    tunings = [run for run in runs if run.kind == "tuning"]
    if not tunings:
        return cell(text("aoe_none"))
    last = tunings[-1]
    said = text(
        "aoe_last", kind=str(last.body.get("kind") or "?").upper(), night=last.night, status=text.told(last.status)
    )
    before, after = last.body.get("model_baseline_ms"), last.body.get("model_result_ms")
    more = [text("aoe_claim", gain=show(before / after - 1, "change"))] if before and after else []
    verdicts = [row for row in facts.verdicts if row["model"] == model and row.get("scope") == "step"]
    more += [text("aoe_verdict", verdict=text.told(verdicts[-1]["verdict"]))] if verdicts else []
    return linked(said, f"runs/{file_name(last.run_id)}.html", "; ".join(more))


def _not_whole(facts: StoreFacts) -> list[RunFacts]:
    """The runs of the watched nights that are not whole, the newest first."""
    watched = set(facts.nights[-facts.watched_nights :])
    return [run for run in reversed(facts.runs) if run.night in watched and run.status in {"incomplete", "damaged"}]


def _why_not_whole(run: RunFacts, text: Texts) -> Iterator[str]:
    """When it was, how it ended, and the worst that was found in it."""
    yield from (run.night, run.model, text.told(run.status))
    yield from (text.told(finding["message"]) for finding in _worst(run.findings)[:1])


def _health(facts: StoreFacts, tonight: Sequence[RunFacts], text: Texts) -> Iterator[str]:
    """What was read in the newest night, and which nights are missing."""
    if not facts.nights:
        return
    findings = [finding["severity"] for run in tonight for finding in run.findings]
    yield text(
        "health_night",
        night=facts.nights[-1],
        runs=len(tonight),
        errors=findings.count("error"),
        warnings=findings.count("warning"),
        infos=findings.count("info"),
    )
    watched = facts.nights[-facts.watched_nights :]
    gaps = [line for model in _models(facts) for line in _gaps(model, facts, watched[0], text)]
    yield from gaps or [text("health_whole")]


def _gaps(model: str, facts: StoreFacts, since: str, text: Texts) -> Iterator[str]:
    """Dates without a profile of a model, where it runs every night or nearly; and models that stopped."""
    nights = sorted(
        {run.night for run in facts.runs if run.model == model and run.kind != "tuning" and run.night >= since}
    )
    if not nights:
        return
    if nights[-1] < facts.nights[-1]:
        yield text("health_behind", model=short(model), night=nights[-1])
    first, last = date.fromisoformat(nights[0]), date.fromisoformat(nights[-1])
    dates = [(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)]
    missing = sorted(set(dates) - set(nights))
    if missing and 2 * len(missing) < len(dates):
        shown = ", ".join(missing[-SHOWN_DATES:])
        rest = len(missing) - SHOWN_DATES
        which = text("and_more", list=shown, count=rest) if rest > 0 else shown
        yield text("health_missing", model=short(model), missing=len(missing), dates=len(dates), which=which)


_SEVERITIES = ("error", "warning", "info")


def _worst(findings: Sequence[Any]) -> list[Any]:
    return sorted(findings, key=lambda finding: _SEVERITIES.index(finding["severity"]))


def finding_columns(text: Texts) -> Columns:
    """The columns of `finding_cells`."""
    return [(text("severity"), "text"), (text("finding"), "text"), (text("place"), "text"), (text("rule"), "text")]


def finding_cells(finding: Any, text: Texts) -> list[str]:
    """A finding as cells."""
    place = ":".join(str(part) for part in (finding["path"], finding["line"], finding["column"]) if part is not None)
    severity = stated(finding["severity"], text.word(finding["severity"]))
    return [
        severity,
        cell(text.told(finding["message"])),
        cell(place, "text", finding["pointer"]),
        cell(finding["rule"]),
    ]


def run_columns(text: Texts) -> Columns:
    """The columns of `run_cells`."""
    return [
        (text("run"), "text"), (text("night"), "text"), (text("kind"), "text"), (text("model"), "text"),
        (text("hardware"), "text"), (text("status"), "text"), (text("findings"), "number"),
    ]  # fmt: skip


def run_cells(run: RunFacts, lead: str, text: Texts) -> list[str]:
    """A run as cells."""
    return [
        head(run.run_id, f"{lead}{file_name(run.run_id)}.html"),
        cell(run.night),
        cell(text.told(run.kind)),
        cell(run.model),
        cell(run.hardware),
        stated(run.status, text.told(run.status)),
        cell(len(run.findings), "integer"),
    ]


def all_series(facts: StoreFacts, text: Texts) -> dict[str, Any]:
    """The context of the list of series."""
    columns: Columns = [
        (text("what"), "text"), (text("state"), "text"), (text("change"), "number"), (text("since"), "text"),
        (text("before"), "number"), (text("after"), "number"), (text("smallest"), "number"), (text("nights"), "number"),
    ]  # fmt: skip
    rows = []
    for series in facts.series:
        row = series.row
        state = state_of(row) if row["state"] or row["reason"] else None
        rows.append(
            [
                head(row["workload"], f"{file_name(series.id)}.html", _where(series, text)),
                stated(state, text.word(state)) if state else cell(None),
                changed(row["change"]),
                cell(row["since"]),
                cell(row["before"], "ms"),
                cell(row["after"] if row["after"] is not None else series.level, "ms"),
                cell(row["smallest_detectable"], "percent"),
                cell(row["nights"], "integer"),
            ]
        )
    about = text("series_about", nights=facts.watched_nights) if rows else text("no_series")
    return {"about": about, "columns": columns, "rows": rows}


def all_runs(facts: StoreFacts, text: Texts) -> dict[str, Any]:
    """The context of the list of runs, the newest first."""
    rows = [run_cells(run, "", text) for run in reversed(facts.runs)]
    return {"about": text("runs_about") if rows else text("no_runs"), "columns": run_columns(text), "rows": rows}
