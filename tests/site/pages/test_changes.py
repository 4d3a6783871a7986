"""The difference of a step of two runs: parts that add up to it, each with its cause."""

from __future__ import annotations

from aoe_reports.history.site_facts import Groups, RunDetails
from aoe_reports.model.history.runs import StepTimes
from aoe_reports.site.pages.changes import ROUNDING_NS, SHOWN_PARTS, StepChange, change_of, has_picture, picture_of


def step(ms: float, *, rank: int | None = 0, free_ms: float | None = None, steps: int = 2) -> StepTimes:
    return StepTimes(
        rank_id=rank, device_id=None, series_id=None, workload="net/step", steps=steps, step_ms=ms, std_ms=None,
        computing_ms=None, communication_ms=None, free_ms=free_ms,
    )  # fmt: skip


def details(steps: list[StepTimes], operators: dict[str, tuple[int, int]], rank: int | None = 0) -> RunDetails:
    """A run with the count and total (ns) of each operator."""
    keys = tuple(("op", rank, 3, "Type", name, None) for name in operators)
    counts, totals = [count for count, _ in operators.values()], [total for _, total in operators.values()]
    return RunDetails(steps=steps, groups=Groups(keys, counts, totals))


def changed(before: RunDetails, after: RunDetails) -> StepChange:
    change = change_of(before, after)
    assert change is not None
    return change


def test_operators_free_time_and_the_rest_add_up_to_the_step() -> None:
    change = changed(
        details([step(1.0, free_ms=0.2)], {"conv": (2, 800_000), "relu": (2, 400_000), "old": (2, 20_000)}),
        details([step(1.25, free_ms=0.25)], {"conv": (2, 1_100_000), "relu": (4, 500_000), "new": (2, 30_000)}),
    )
    assert [(part.name or part.part, part.cause, part.difference_ns) for part in change.parts] == [
        ("conv", "slower-calls", 150_000),
        ("relu", "more-calls", 50_000),
        ("new", "new", 15_000),
        ("old", "vanished", -10_000),
        ("free", None, 50_000),
        ("unattributed", None, -5_000),
    ]
    assert sum(part.difference_ns for part in change.parts) == change.after_ns - change.before_ns


def test_each_bar_begins_where_the_one_before_ends() -> None:
    bars = picture_of(
        changed(details([step(1.0)], {"conv": (2, 800_000)}), details([step(0.8)], {"conv": (2, 400_000)}))
    ).bars
    assert [bar.kind for bar in bars] == ["whole", "shorter", "whole"]
    assert [bar.end for bar in bars[:-1]] == [bar.start for bar in bars[1:-1]] + [bars[-1].end]
    assert "calls are faster" in bars[1].label


def test_many_operators_share_a_bar() -> None:
    names = [f"op{number}" for number in range(SHOWN_PARTS + 3)]
    change = changed(
        details([step(1.0, steps=1)], dict.fromkeys(names, (1, 100_000))),
        details([step(1.1, steps=1)], dict.fromkeys(names, (1, 110_000))),
    )
    assert [part.part for part in change.parts] == [*["operator"] * SHOWN_PARTS, "others", "unattributed"]
    assert (change.parts[SHOWN_PARTS].difference_ns, change.parts[SHOWN_PARTS].count) == (30_000, 3)


def test_what_is_too_small_to_be_a_finding_shares_a_grey_bar_without_a_cause() -> None:
    """A part of 0.5% of the step is one; smaller ones are noise, whatever their number."""
    names = ("small1", "small2", "tiny")
    before = {"conv": (1, 500_000), **dict.fromkeys(names, (1, 100_000))}
    after = {"conv": (1, 505_000), "small1": (1, 104_999), "small2": (1, 95_002), "tiny": (1, 100_001)}
    change = changed(details([step(1.0, steps=1)], before), details([step(1.006, steps=1)], after))
    bars = picture_of(change).bars[1:-1]
    assert [(bar.label, bar.kind) for bar in bars] == [
        ("conv: calls are slower", "longer"),
        ("3 others, each less than 0.5% of the step", "minor"),
        ("unattributed", "minor"),
    ]


def test_of_a_step_that_is_the_same_nothing_has_a_colour_or_a_cause() -> None:
    before, after = {"conv": (1, 500_000), "relu": (1, 400_000)}, {"conv": (1, 530_000), "relu": (1, 374_000)}
    change = changed(details([step(1.0, steps=1)], before), details([step(1.004, steps=1)], after))
    assert (change.is_same, has_picture(change)) == (True, True)
    assert [(bar.label, bar.kind) for bar in picture_of(change).bars[1:-1]] == [("conv", "minor"), ("relu", "minor")]
    same = changed(RunDetails(steps=[step(1.0, free_ms=0.1)]), RunDetails(steps=[step(1.0, free_ms=0.100039)]))
    assert not has_picture(same)


def test_the_rank_whose_step_differs_most_is_shown() -> None:
    change = changed(
        RunDetails(steps=[step(1.0, rank=0), step(1.0, rank=1)]),
        RunDetails(steps=[step(1.01, rank=0), step(0.9, rank=1)]),
    )
    assert (change.rank_id, [part.part for part in change.parts]) == (1, ["unattributed"])


def test_without_steps_it_is_about_all_compute_tasks() -> None:
    change = changed(details([], {"conv": (2, 800)}), details([], {"conv": (2, 900)}))
    assert (change.of_step, change.before_ns, change.after_ns, len(change.parts)) == (False, 800, 900, 1)
    assert (picture_of(change).whole, change.has_steps) == ("all compute tasks", False)
    others = changed(details([step(1.0, rank=1)], {"conv": (2, 800)}), details([step(1.0)], {"conv": (2, 900)}))
    assert others.has_steps  # of other ranks
    assert change_of(details([], {"conv": (2, 800)}), RunDetails()) is None


def test_what_rounding_leaves_is_no_part() -> None:
    change = changed(
        RunDetails(steps=[step(1.0, free_ms=0.1)]), RunDetails(steps=[step(1.1 + ROUNDING_NS / 1e6, free_ms=0.2)])
    )
    assert [part.part for part in change.parts] == ["free"]
