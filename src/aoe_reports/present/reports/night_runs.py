"""What ran, as sections: hotspots, advice, what AOE claims, verdicts, the runs themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from aoe_reports.model.documents import JsonObject
from aoe_reports.model.history.advice import StoredAdviceRow, StoredCandidate
from aoe_reports.model.history.listings import ListedVerdict
from aoe_reports.model.history.runs import IngestedRun, TuningClaim
from aoe_reports.model.report import Ranking, Section
from aoe_reports.model.texts import Text, count_of, join, say
from aoe_reports.present.answers import grid_of
from aoe_reports.present.reports.night_content import (
    Hotspots,
    Job,
    Night,
    StoredAdviceOfRun,
    StoredRun,
    TuningRun,
    TypeTime,
)
from aoe_reports.present.reports.night_words import in_lines, line_name, title_name, whole_name

SHOWN_HOTSPOTS = 10
SHOWN_CLAIMS = 10
SHOWN_ADVICE = 5
SHOWN_VERDICTS = 15
SHOWN_RUNS = 15


def hotspots_section(night: Night) -> Section:
    title, hot = "Device time breakdown", night.hotspots
    if hot is None:
        return Section(title, [say("No run of that night has operator data.")])
    about = say(
        "Compute tasks of run {run} ({model}) by operator type{ranks}, {total:,.3f} us in all",
        run=hot.run,
        model=whole_name(hot.model),
        ranks=_of_ranks(hot),
        total=hot.total_us,
    )
    shown = hot.types[:SHOWN_HOTSPOTS]
    if len(hot.types) > len(shown):
        about += say("; the first {shown} of {count} types", shown=len(shown), count=len(hot.types))
    rows = [replace(row, op_type=line_name(row.op_type)) for row in shown]
    chart = _hotspots_chart(hot, shown, about, night)
    return Section(title, [say("{text}.", text=about)], grid_of(TypeTime, rows, whole=True), chart, figure="hotspots")


def _of_ranks(hot: Hotspots) -> str:
    if hot.of_median:
        return say(", each on its median rank of {ranks:,}", ranks=hot.ranks)
    return say(", sum of {ranks} ranks", ranks=hot.ranks) if hot.ranks > 1 else ""


def _hotspots_chart(hot: Hotspots, shown: Sequence[TypeTime], about: str, night: Night) -> Ranking:
    listed = [
        say("{name} {total:,.3f} us", name=whole_name(row.op_type), total=row.total_us)
        + ("" if row.share is None else say(" ({share:.1%})", share=row.share))
        for row in shown
    ]
    subtitle = say(
        "Night {night}: {total:,.0f} us of compute tasks by operator type{ranks}",
        night=night.night,
        total=hot.total_us,
        ranks=_of_ranks(hot),
    )
    return Ranking(
        say("{model}: breakdown of device time", model=title_name(hot.model)),
        subtitle,
        [f"{row.op_type} ({row.task_type})" if row.task_type else str(row.op_type) for row in shown],
        [row.total_us for row in shown],
        [_bar_words(row) for row in shown],
        say("Bar chart, night {night}. {about}: {types}", night=night.night, about=about, types=join(", ", listed)),
    )


def _bar_words(row: TypeTime) -> str:
    tasks = count_of(row.count, "{number:,} task", "{number:,} tasks")
    share = "" if row.share is None else f"{row.share:.1%}   "
    return share + say("{total:,.1f} us, {tasks}", total=row.total_us, tasks=tasks)


def tuning_sections(night: Night) -> list[Section]:
    if not night.tunings:
        return []
    sentences: list[str] = [
        say(
            "These are AOE's own claims from its microbenchmarks: only profiles taken before and after tuning "
            "can confirm them."
        ),
        *_newest_only(night.tunings),
    ]
    sections = [Section("Claims by AOE", sentences, grid_of(TuningRun, night.tunings[-SHOWN_RUNS:], whole=True))]
    if night.claims:
        shown = [claim.row for claim in night.claims[:SHOWN_CLAIMS]]
        said = say(
            "The {shown} largest of {claims} on operators and subgraphs.",
            shown=len(shown),
            claims=count_of(len(night.claims), "{number:,} claim", "{number:,} claims"),
        )
        unmeasured = sum(claim.row.unmeasured for claim in night.claims)
        filled = count_of(
            unmeasured,
            "{number:,} gain is unmeasured: AOE filled it in.",
            "{number:,} gains are unmeasured: AOE filled them in.",
        )
        sections.append(
            Section(
                "Claimed for operators",
                [said, *([filled] if unmeasured else [])],
                grid_of(TuningClaim, shown, whole=True),
            )
        )
    return sections


def advice_sections(advised: StoredAdviceOfRun) -> Iterator[Section]:
    """What could be gained and what is worth tuning next, by what was stored with the run."""
    summary, title = advised.summary, "Potential gains"
    if summary.why_not is not None:
        why = _said(summary.why_not)
        yield Section(title, [say("No advice could be derived from run {run}: {why}.", run=advised.run, why=why)])
        return
    sentences = [_first_headline(advised)]
    shown = in_lines(advised.advice[:SHOWN_ADVICE])
    if shown:
        sentences.append(
            say(
                (
                    "The {shown} with the largest bound of {count:,}. Bound is the maximum by which a step could "
                    "become shorter; it is not a forecast, and bounds do not add up."
                ),
                shown=len(shown),
                count=summary.found,
            )
        )
    ours = dict.fromkeys((row.rule, row.advice) for row in shown)
    lines: list[str] = [say("{rule}: {advice}.", rule=rule, advice=said) for rule, said in ours]
    lines += [
        say("msprof (prof_rule), {rule}: {advice}", rule=row.rule, advice=row.advice)
        for row in advised.stated[:SHOWN_ADVICE]
    ]
    yield Section(title, sentences, grid_of(StoredAdviceRow, shown) if shown else None, lines=lines)
    if summary.plan is not None:
        yield _plan_section(summary.plan, in_lines(advised.candidates[:SHOWN_ADVICE]))


def _plan_section(plan: JsonObject, rows: Sequence[StoredCandidate]) -> Section:
    sentences = [_said(plan.get("headline"))]
    if rows:
        count = plan.get("candidates")
        sentences.append(
            say("The first {shown} of {count}; expected and bound are per step.", shown=len(rows), count=count)
        )
    return Section("Next tuning plan", sentences, grid_of(StoredCandidate, rows) if rows else None)


def _first_headline(advised: StoredAdviceOfRun) -> Text:
    """The run, and the headline of its longest step."""
    summary = advised.summary
    headlines, devices = summary.headlines, summary.devices
    of = {"run": advised.run, "model": whole_name(advised.model)}
    if not headlines:
        return say("Run {run} ({model}).", **of)
    first = _said(headlines[0].get("headline"))
    if devices > 1:
        return say(
            "Run {run} ({model}): {headline} (the longest step of {devices} devices).",
            headline=first,
            devices=devices,
            **of,
        )
    return say("Run {run} ({model}): {headline}.", headline=first, **of)


def _said(text: Any) -> str:
    """A stored sentence: one that can be translated stays one, any other is cut to what a report has room for."""
    return text if isinstance(text, Text) else whole_name(text)


def verdict_sections(verdicts: Sequence[ListedVerdict]) -> list[Section]:
    if not verdicts:
        return []
    shown = verdicts[:SHOWN_VERDICTS]
    said = say(
        "Measurements by `verify` of AOE's claims, from profiles before and after tuning; change is after/before - 1."
    )
    if len(verdicts) > len(shown):
        first = say("The first {shown} of {count} rows.", shown=len(shown), count=len(verdicts))
        said = join(" ", (said, first))
    grid = grid_of(ListedVerdict, in_lines(shown), without=("night", "input_shapes", "reason"))
    return [Section("Claimed vs measured", [said], grid)]


def run_sections(night: Night) -> list[Section]:
    """The runs of the night, as the store has them."""
    if night.night is None:
        return []
    sentences: list[str] = [
        say(
            "{runs} stored for {night}. The step time is that of the slowest rank.",
            runs=_counted_runs(len(night.runs)),
            night=night.night,
        ),
        *_cut_off(run.status for run in night.runs),
        *_newest_only(night.runs),
    ]
    if night.others:
        some = join(", ", map(whole_name, night.others[:SHOWN_RUNS]))
        sentences.append(
            say(
                "Other workloads with a run that night: {workloads}. Use `--workload` to report on one of them.",
                workloads=some,
            )
        )
    if night.later:
        later = count_of(len(night.later), "{number:,} later night", "{number:,} later nights")
        some = join(", ", night.later[-SHOWN_RUNS:])
        sentences.append(
            say("No measurements on {later} with a run: {nights}.", later=later, nights=some)
            if night.workload is None
            else say("No measurements of this workload on {later} with a run: {nights}.", later=later, nights=some)
        )
    return [Section("Runs of the night", sentences, grid_of(StoredRun, night.runs[-SHOWN_RUNS:], whole=True))]


def _newest_only(every: Sequence[Any]) -> Iterator[str]:
    if len(every) > SHOWN_RUNS:
        yield say("The newest {count} are listed.", count=SHOWN_RUNS)


def _cut_off(status: Iterable[Any]) -> Iterator[str]:
    cut = sum(one == "incomplete" for one in status)
    if cut:
        yield say("{runs} of them truncated: not compared.", runs=_counted_runs(cut))


def read_section(job: Job) -> Section:
    """The runs that a job read, and what the store did with them."""
    counts = Counter(row.outcome for row in job.read)
    said = [say("{count} {outcome}", count=count, outcome=say(outcome)) for outcome, count in sorted(counts.items())]
    sentences: list[str] = [
        say(
            "{runs} read: {outcomes}. The step time is that of the slowest rank.",
            runs=count_of(len(job.read), "{number} run", "{number} runs"),
            outcomes=join(", ", said) if said else say("none"),
        ),
        *_cut_off(row.status for row in job.read),
        *_newest_only(job.read),
    ]
    grid = grid_of(IngestedRun, job.read[-SHOWN_RUNS:], without=("path",), whole=True)
    return Section("Data read", sentences, grid if job.read else None)


def _counted_runs(number: int) -> str:
    return count_of(number, "{number:,} run", "{number:,} runs")
