"""The page of a series: its history, its changes, what else changed then, what the step's change went on, what to do."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import orjson
from markupsafe import Markup

from aoe_reports.history.site_facts import Days, PlacedShift, Row, RunFacts, SeriesFacts
from aoe_reports.model.texts import N_
from aoe_reports.present.values import plain, show
from aoe_reports.site.cells import Columns, cell, changed, head, linked, stated
from aoe_reports.site.charts import Level, days_of, history_chart, waterfall
from aoe_reports.site.overview import interval
from aoe_reports.site.places import file_name
from aoe_reports.site.texts import Texts
from aoe_reports.site.triage import state_of

SHOWN_NIGHTS = 14
"""Nights in the page's own table: two weeks; its JSON has all."""
SHOWN_MEMBERS = 30
"""Series of one incident on the page of each; the JSON of the first page has all."""
SHOWN_COMMAND = 600
"""Characters of a command to copy; a longer one is made of names that nobody pastes."""


_TO_DO: Mapping[str, str] = N_(
    {
        "confirmed": "See below what changed on that night, and compare the runs on both sides:",
        "drift": "Look for what grows a little every night. Compare the ends:",
        "suspect": "Run the night again: a third night decides.",
        "recovered": "Nothing.",
        "acknowledged": "Nothing: the new level is accepted. What gets slower still is told again.",
        "improved": "Check whether the work is still the same:",
    }
)
"""What is to be done about a series, by its state."""
_RECORDED = N_(
    {
        ("first", "first-only"): "What else changed where the incident began: {facts}.",
        ("first-only",): "Of that, the nights now do not show: {facts}.",
        ("later",): "Seen there later than it was first recorded: {facts}.",
    }
)
"""What is said of changes that were recorded with an incident, by when they were seen."""


def differences_of(series: SeriesFacts, runs: Mapping[str, RunFacts]) -> list[dict[str, Any]]:
    """What the store knows of the runs before and at each change that differs."""
    found = []
    for shift in series.shifts:
        if shift.start == 0:
            continue
        prior, later = (runs.get(series.runs[place]) for place in (shift.start - 1, shift.start))
        if prior is None or later is None:
            continue
        for name in sorted({*prior.facts, *later.facts}):
            was, became = prior.facts.get(name), later.facts.get(name)
            if was != became:
                found.append({"night": series.nights[shift.start], "fact": name, "before": was, "after": became})
    return found


def levels_of(series: SeriesFacts) -> list[Level]:
    """The levels between changes of the nights that were judged; a drift is a slope. A suspicion is no level."""
    shifts = [shift for shift in series.shifts if shift.state != "suspect"]
    return _levels(shifts, len(series.nights) - series.watched, len(series.nights), series.level)


def hindsight_levels_of(series: SeriesFacts) -> list[Level]:
    """The levels of the whole history, looked at once."""
    return _levels(series.hindsight, 0, len(series.nights), series.hindsight_level)


def _levels(shifts: Sequence[PlacedShift], begin: int, count: int, newest: float | None) -> list[Level]:
    if newest is None or begin == count:
        return []
    edges = [begin, *(shift.start for shift in shifts), count]
    found = []
    for place, (start, until) in enumerate(pairwise(edges)):
        if until <= start:
            continue
        if place == 0:
            level = shifts[0].before if shifts else newest
            found.append(Level(start, until, level, level))
            continue
        shift = shifts[place - 1]
        found.append(Level(start, until, shift.before if shift.state == "drift" else shift.after, shift.after))
    return found


def together_with(series: SeriesFacts, incidents: Mapping[str, Row], accepted: Mapping[str, Row]) -> list[Row]:
    """The other series of the same incident, with who accepted that they are slower."""
    incident = incidents.get(series.row["incident"] or "")
    others = [] if incident is None else [one for one in incident["members"] if one["series_id"] != series.id]
    return [one if one["open"] else {**one, "acknowledged": accepted.get(one["series_id"])} for one in others]


def incident_of(series: SeriesFacts, incidents: Mapping[str, Row]) -> Row | None:
    """The incident of the newest change: as it was first recorded, and what the nights say otherwise now."""
    incident = incidents.get(series.row["incident"] or "")
    names = ("incident", "since", "since_run", "since_now", "metadata")
    return None if incident is None else {name: incident[name] for name in names}


def recorded_words(incident: Row | None, text: Texts) -> list[str]:
    """What else changed where an incident began, as it was first recorded; what is seen otherwise now comes after it."""
    if incident is None:
        return []
    said = []
    if incident["since_now"] is not None:
        said.append(
            text(
                "The incident was first recorded since {since}; the nights now say {now}.",
                since=incident["since"],
                now=incident["since_now"],
            )
        )
    for seen, words in _RECORDED.items():
        facts = [
            f"{one['name']} {one['before']} -> {one['after']}" for one in incident["metadata"] if one["seen"] in seen
        ]
        if facts:
            said.append(text(words, facts="; ".join(facts)))
    return said


def series_page(
    series: SeriesFacts,
    differences: list[dict[str, Any]],
    together: Sequence[Row],
    runs: Mapping[str, RunFacts],
    store: str,
    text: Texts,
) -> dict[str, Any]:
    """The context of the page of a series; `together` are the series that moved with it."""
    row = series.row
    state = state_of(row)
    levels = levels_of(series)
    days = days_of(series.nights)
    newest = min(SHOWN_NIGHTS, len(series.nights))
    shifts = list(series.shifts)
    older = series.watched < len(series.nights) or any(
        all(shift.start != one.start for one in series.shifts) for shift in series.hindsight
    )
    hindsight = hindsight_levels_of(series) if older else []
    todo = text(_TO_DO[state]) if row["state"] else ""
    return {
        "title": str(row["workload"]),
        "state_word": state,
        "said": " ".join(part for part in (_said(series, text), accepted_words(row, text)) if part),
        "facts": list(_facts(series, text)),
        "todo": todo,
        "command": _command(series, runs) if state in {"confirmed", "drift", "improved"} else "",
        "sides": list(_side_links(series, runs, text)) if state in {"confirmed", "drift", "improved"} else [],
        "accept": _accept(row, store),
        "charts": list(_charts(series, days, levels, text)),
        "banded": series.sigma is not None,
        "level_columns": _level_columns(text),
        "levels": [_level_cells(series, series.shifts, one, place, text) for place, one in enumerate(levels)],
        "hindsight_chart": _hindsight_chart(series, days, text) if hindsight else None,
        "hindsight": [_level_cells(series, series.hindsight, one, place, text) for place, one in enumerate(hindsight)],
        "newest_title": text("The newest {nights} nights", nights=newest),
        "newest_columns": [(text("Night"), "text"), (text("Time (ms)"), "number"), (text("Run"), "text")],
        "newest": [
            [
                _night_cell(series.nights[place]),
                cell(value, "ms"),
                _run_cell(series.runs[place], series.runs[place] in runs),
            ]
            for place, value in _newest(series, newest)
        ],
        "changed": bool(shifts),
        "difference_columns": [
            (name, "text")
            for name in (text("Since"), text("Fact"), text("Before"), text.sense("after a change", "Since"))
        ],
        "differences": [
            [head(one["night"]), cell(text.fact(one["fact"])), cell(one["before"]), cell(one["after"])]
            for one in differences
        ],
        "together_about": _together_about(row, together, text),
        "together_columns": [
            (text("What"), "text"),
            (text("State"), "text"),
            (text("Change"), "number"),
            (text("After, before (ms)"), "number"),
        ],
        "together": [_together_cells(one, text) for one in together[:SHOWN_MEMBERS]],
        "attribution": _attribution(row, text),
        "step": file_name(series.step_series) if series.step_series not in {None, series.id} else "",
        "data": _data(series, days, levels, text),
    }


def _newest(series: SeriesFacts, count: int) -> Iterator[tuple[int, float]]:
    """The newest nights with their times, the newest first."""
    last = len(series.nights) - 1
    values = series.values_ms[-count:].tolist()
    return ((last - back, values[-1 - back]) for back in range(count))


@lru_cache(maxsize=4096)
def _night_cell(night: str) -> str:
    return head(night)


@lru_cache(maxsize=65536)
def _run_cell(run_id: str, there: bool) -> str:
    return linked(run_id, f"../runs/{file_name(run_id)}.html" if there else None)


def _said(series: SeriesFacts, text: Texts) -> str:
    row = series.row
    if row["state"] is None:
        if row["reason"]:
            return text("{nights} nights have a time: too few to judge.", nights=row["nights"])
        if row["smallest_detectable"] is None:
            return text("No change in the last {nights} nights.", nights=row["nights"])
        return text(
            "No change in the last {nights} nights. A slow-down of {smallest} would be found within two weeks.",
            nights=row["nights"],
            smallest=show(row["smallest_detectable"], "percent"),
        )
    values = {
        name: show(row[key], "change") for name, key in (("change", "change"), ("low", "ci_low"), ("high", "ci_high"))
    }
    values |= {name: show(row[name], "ms") for name in ("before", "after")}
    if row["state"] != "suspect":  # the words say which way
        values["change"] = show(abs(row["change"]), "percent")
    if row["state"] == "suspect":
        return text(
            "Out of line since {since}: {before} ms became {after} ms ({change}). One or two nights prove nothing.",
            since=row["since"],
            **values,
        )
    if row["change"] > 0:
        return text(
            "{change} slower since {since} (95 % interval {low} to {high}): {before} ms became {after} ms.",
            since=row["since"],
            **values,
        )
    return text(
        "{change} quicker since {since} (95 % interval {low} to {high}): {before} ms became {after} ms.",
        since=row["since"],
        **values,
    )


def _facts(series: SeriesFacts, text: Texts) -> Iterator[tuple[str, str]]:
    row = series.row
    known = {
        "model": series.model, "scope": text.told(row["scope"]), "op_type": row["op_type"], "op_name": row["op_name"],
        "hardware": row["hardware"], "engine": series.engine, "rank": row["rank_id"], "device": row["device_id"],
    }  # fmt: skip
    yield from ((text.word(name), str(value)) for name, value in known.items() if value is not None)
    if series.share_of_step is not None and row["scope"] != "step":
        yield text("Share of the step"), show(series.share_of_step, "percent")
    if row["smallest_detectable"] is not None:
        yield text("Smallest detectable"), show(row["smallest_detectable"], "percent")


def accepted_words(row: Row, text: Texts) -> str:
    """Who accepted or announced a slow-down, when and why; nothing where nobody did."""
    told = row.get("acknowledged")
    if not told:
        return ""
    values = {"who": told["who"] or text("nobody named"), "when": told["when"][:10], "reason": told["reason"]}
    return (
        text("Accepted by {who} on {when}: {reason}", **values)
        if told["kind"] == "ack"
        else text("Announced by {who} on {when}: {reason}", **values)
    )


def _sides(series: SeriesFacts, runs: Mapping[str, RunFacts]) -> list[RunFacts]:
    """The runs on both sides of the newest change, as far as the store has them; of a drift its ends."""
    shift = series.shifts[-1] if series.shifts else None
    if shift is None or shift.start == 0:
        return []
    last = shift.until - 1 if shift.state == "drift" else shift.start
    return [side for place in (shift.start - 1, last) if (side := runs.get(series.runs[place])) is not None]


def _side_links(series: SeriesFacts, runs: Mapping[str, RunFacts], text: Texts) -> Iterator[tuple[str, str]]:
    """Where the runs on both sides are compared, and their pages."""
    sides = _sides(series, runs)
    if len(sides) != 2:  # noqa: PLR2004 -- both sides
        return
    names = [file_name(side.run_id) for side in sides]
    if all(side.kind != "tuning" for side in sides):
        said = text("Compare the runs of {before} and {after}", before=sides[0].night, after=sides[1].night)
        yield said, f"../compare.html#a={names[0]}&b={names[1]}"
    yield text("Run before, {night}", night=sides[0].night), f"../runs/{names[0]}.html"
    yield text("Run since, {night}", night=sides[1].night), f"../runs/{names[1]}.html"


def _command(series: SeriesFacts, runs: Mapping[str, RunFacts]) -> str:
    """The comparison of the runs on both sides of the newest change."""
    paths = [side.path for side in _sides(series, runs) if side.kind == "profile" and side.path]
    if len(paths) != 2:  # noqa: PLR2004 -- both sides
        return ""
    command = f"aoe-reports compare {' '.join(shlex.quote(plain(path)) for path in paths)}"
    return command if len(command) <= SHOWN_COMMAND else ""


def _accept(row: Row, store: str) -> str:
    """How somebody says that the new level is meant; nothing where there is nothing to accept, or somebody did."""
    if row["state"] not in {"confirmed", "drift"} or row["acknowledged"] is not None:
        return ""
    return f"aoe-reports ack {row['incident'] or row['series_id']} --reason 'TEXT' --store {shlex.quote(plain(store))}"


def _together_about(row: Row, together: Sequence[Row], text: Texts) -> str:
    said = text(
        "Incident {incident}: other series that changed on the same night: {count}.",
        incident=row["incident"] or "",
        count=len(together),
    )
    shown = min(SHOWN_MEMBERS, len(together))
    return said if shown == len(together) else f"{said} {text('The first {shown} are listed.', shown=shown)}"


def _together_cells(one: Row, text: Texts) -> list[str]:
    return [
        head(
            one["workload"],
            f"{file_name(one['series_id'])}.html",
            text("rank {rank}", rank=one["rank_id"]) if one["rank_id"] is not None else None,
        ),
        stated(state_of(one), text.word(state_of(one))),
        changed(one["change"]),
        cell(one["after"], "ms", show(one["before"], "ms")),
    ]


def _charts(series: SeriesFacts, days: Days, levels: list[Level], text: Texts) -> Iterator[dict[str, Any]]:
    """The nights that are watched."""
    begin = len(days) - series.watched
    if series.watched:
        marks = [shift.start for shift in series.shifts]
        title = text("The last {nights} nights", nights=series.watched)
        yield _chart(
            series=series,
            days=days,
            start=begin,
            levels=levels,
            marks=marks,
            sigma=series.sigma,
            title=title,
            text=text,
        )


def _hindsight_chart(series: SeriesFacts, days: Days, text: Texts) -> dict[str, Any]:
    """The whole history with what a look back over all of it shows."""
    marks = [shift.start for shift in series.hindsight]
    title = text("All {nights} nights", nights=len(days))
    return _chart(
        series=series,
        days=days,
        start=0,
        levels=hindsight_levels_of(series),
        marks=marks,
        sigma=None,
        title=title,
        text=text,
    )


def _chart(
    series: SeriesFacts, days: Days, start: int, levels: list[Level], marks: list[int], sigma: float | None,
    title: str, text: Texts,
) -> dict[str, Any]:  # fmt: skip
    values = series.values_ms[start:]
    inside = [Level(one.start - start, one.until - start, one.first, one.last) for one in levels]
    said = text(
        "Times of {count} nights from {first} to {last}, between {low} and {high} ms; {changes} changes of level.",
        count=len(days) - start,
        first=series.nights[start],
        last=series.nights[-1],
        low=show(float(values.min()), "ms"),
        high=show(float(values.max()), "ms"),
        changes=len(marks),
    )
    places = [place - start for place in marks]
    return {"title": title, "svg": history_chart(days[start:], values, inside, sigma, places, said)}


def _level_columns(text: Texts) -> Columns:
    return [
        (text("From"), "text"), (text("To"), "text"), (text("Nights"), "number"), (text("Level (ms)"), "number"),
        (text("Against the level before"), "number"), (text("95 % interval"), "text"), (text("State"), "text"),
    ]  # fmt: skip


def _level_cells(series: SeriesFacts, shifts: Sequence[PlacedShift], one: Level, place: int, text: Texts) -> list[str]:
    shift = next((shift for shift in shifts if shift.start == one.start and place), None)
    return [
        head(series.nights[one.start]),
        cell(series.nights[one.until - 1]),
        cell(one.until - one.start, "integer"),
        cell(one.last, "ms"),
        changed(None if shift is None else shift.change),
        cell("" if shift is None else interval(shift.ci_low, shift.ci_high)),
        cell("" if shift is None else text.word(shift.state)),
    ]


def _attribution(row: Row, text: Texts) -> dict[str, Any] | None:
    """A step's change over its parts, as a waterfall and as a table that adds up to the same."""
    told = row.get("attribution")
    if not told:
        return None
    operators = told["operators"]
    parts = [(one["op_name"] or one["op_type"] or "?", one["difference_us"]) for one in operators]
    sums = {
        "operators_rest": told["other_operators_us"],
        "communication_not_overlapped": told["communication_not_overlapped_us"],
        "free": told["free_us"],
        "unattributed": told["unattributed_us"],
    }
    parts += [(text.word(name), value) for name, value in sums.items() if value is not None]
    columns: Columns = [
        (text("Part"), "text"), (text("Difference (us a step)"), "number"), (text("Before (us)"), "number"),
        (text("After (us)"), "number"), (text("Why"), "text"),
    ]  # fmt: skip
    rows = [
        [
            head(one["op_name"] or one["op_type"] or "?", None, one["op_type"] if one["op_name"] else None),
            cell(one["difference_us"], "us"),
            cell(one["before_us"], "us", text("calls a step: {count}", count=f"{one['count_before']:g}")),
            cell(one["after_us"], "us", text("calls a step: {count}", count=f"{one['count_after']:g}")),
            cell(text.word(one["cause"]), "text", one["repository_run"]),
        ]
        for one in operators
    ]
    rows += [
        [head(text.word(name)), cell(value, "us"), cell(None, "us"), cell(None, "us"), cell(None)]
        for name, value in sums.items()
        if value is not None
    ]
    whole = [cell(told[name], "us") for name in ("total_us", "before_us", "after_us")]
    rows.append([head(text("the step")), *whole, cell(None)])
    amounts = {
        "total": told["total_us"], "operators": told["operators_us"],
        "communication": told["communication_not_overlapped_us"], "free": told["free_us"], "rest": told["unattributed_us"],
    }  # fmt: skip
    said = {name: text("not stored") if value is None else f"{value:+,.3f}" for name, value in amounts.items()}
    return {
        "about": text(
            "A step takes {total} us: operators {operators}, uncovered communication {communication}, free {free}, unattributed {rest}.",
            **said,
        ),
        "svg": waterfall(
            [(plain(name), size) for name, size in parts],
            (text("the step"), told["total_us"]),
            text("Change of a step in us, part by part"),
        ),
        "columns": columns,
        "rows": rows,
        "shifts": [
            text(
                "{sources} became {targets} ({moved} us moved).",
                sources=", ".join(s["from"]),
                targets=", ".join(s["to"]),
                moved=f"{s['moved_us']:,.3f}",
            )
            for s in told["shifts"]
        ]
        + (
            [text("Nights out of line, left out: {nights}.", nights=", ".join(told["left_out_nights"]))]
            if told["left_out_nights"]
            else []
        ),
    }


_EPOCH = date(1970, 1, 1).toordinal()


@lru_cache(maxsize=256)
def _spans(days: bytes) -> Sequence[tuple[int, int]]:
    """(first day, how many) of each run of dates: most series share them."""
    numbers = np.frombuffer(days, dtype=np.int64) - _EPOCH
    parts = np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1)
    return [(int(part[0]), len(part)) for part in parts if len(part)]


def _data(series: SeriesFacts, days: Days, levels: list[Level], text: Texts) -> Markup:
    """The history for the script that zooms: runs of dates, times with seven digits, levels, changes."""
    # seven digits: more than a screen shows, half of what a page would weigh
    scale = 10.0 ** (6 - np.floor(np.log10(np.maximum(np.abs(series.values_ms), 1e-300))))
    told = {
        "days": _spans(days.tobytes()),
        "values": np.round(series.values_ms * scale) / scale,
        "levels": [[one.start, one.until, one.first, one.last] for one in levels],
        "changes": [shift.start for shift in series.shifts],
        "band": None if series.sigma is None else float(np.exp(1.96 * series.sigma)),
        "watched": series.watched,
        "names": [text("Night"), text("Time (ms)"), text("level"), text("where 95 % of quiet nights lie")],
    }
    safe = (
        orjson.dumps(told, option=orjson.OPT_SERIALIZE_NUMPY).decode().replace("<", "\\u003c").replace("&", "\\u0026")
    )
    return Markup(safe)
