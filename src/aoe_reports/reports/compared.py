"""What `compare` found as a report: the sums of each pair first, then what makes the difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aoe_reports.reports.causes import cause_words
from aoe_reports.reports.report import Grid, Report, Section
from aoe_reports.reports.rows import shown_columns
from aoe_reports.texts import say


def compare_report(
    rows: Sequence[Mapping[str, Any]], totals: Sequence[Mapping[str, Any]], method: Mapping[str, Any]
) -> Report:
    """One section for each candidate and rank, and one that says how it was done."""
    sections = []
    of_steps = any(row["metric"] is not None for row in rows)
    kind = "compare-steps" if of_steps else "compare"
    for total in totals:
        same = [
            {**row, "cause": cause_words(row["cause"])}
            for row in rows
            if all(row[key] == total[key] for key in ("candidate", "rank_id"))
        ]
        grid = Grid(shown_columns(kind, same), same) if same else None
        sections.append(
            Section(
                _title(total),
                _sentences(total, sum(row["metric"] is None or row["step"] is not None for row in same)),
                grid=grid,
            )
        )
    if totals:
        sections.append(Section("How it was compared", _how(method, of_steps=of_steps)))
    return Report("Comparison", "", sections)


def _title(total: Mapping[str, Any]) -> str:
    return say(
        "{candidate} against {baseline}{rank}",
        candidate=total["candidate"],
        baseline=total["baseline"],
        rank="" if total["rank_id"] is None else say(", rank {rank}", rank=total["rank_id"]),
    )


def _sentences(total: Mapping[str, Any], shown: int) -> list[str]:
    sums = say(
        "Before {before:,.3f} us, after {after:,.3f} us: difference {difference:+,.3f} us{ratio}.",
        before=total["baseline_total_us"],
        after=total["candidate_total_us"],
        difference=total["difference_us"],
        ratio="" if total["ratio"] is None else say(", ratio {ratio:.4f}", ratio=total["ratio"]),
    )
    if shown >= total["groups"]:
        return [sums]
    return [
        sums,
        say("The {shown} rows with the largest change of {count}.", shown=shown, count=total["groups"]),
    ]


def _how(method: Mapping[str, Any], *, of_steps: bool) -> list[str]:
    level, resamples, normal, least = (method[key] for key in ("level", "resamples", "normal_above", "least_values"))
    order = say(
        (
            "Difference is candidate - baseline, ratio is candidate / baseline. First what all steps took, by mean and total; "
            "then single steps, the largest absolute change first."
        )
        if of_steps
        else (
            "Difference is candidate - baseline, ratio is candidate / baseline, of totals; the largest absolute change of a "
            "total stands first."
        )
    )
    interval = say(
        (
            "From, to: {level:.0%} interval of candidate mean - baseline mean, by a percentile bootstrap with {resamples} "
            "resamples of the single values of each side (fixed seed); with more than {normal} values on a side by the normal "
            "distribution that such means approach; none with fewer than {least} values on a side. It tells of the spread "
            "inside of these captures, not of what another capture would show."
        ),
        level=level,
        resamples=resamples,
        normal=normal,
        least=least,
    )
    cause = say(
        "Cause names the largest of three parts that add up to the difference: calls with the same inputs (shapes, "
        "formats, data types) take longer or shorter; there are more or fewer of them; calls have inputs that the other "
        "side does not have."
    )
    return [order, interval] if of_steps else [order, interval, cause]
