"""The steps of a run of many ranks: one row a step, and one row a part of a step, for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.rank_spread import RankSpread, spread_of
from aoe_reports.model.rows import column, fields_of, row
from aoe_reports.model.texts import say
from aoe_reports.model.topics.steps import Step


@row
class StepOfRanks:
    """The duration of one step on the ranks of a run."""

    model_id: int | None = column("Model", "integer")
    step: int | None = column("Step", "integer")
    spread: RankSpread = column()


@row
class PartOfRanks:
    """One part of a step on the ranks of a run: the mean of each rank's steps."""

    part: str = column("Part", "word")
    spread: RankSpread = column()


def tables_of_ranks(rows: Sequence[Step]) -> Iterator[tuple[str, Sequence[StepOfRanks | PartOfRanks]]]:
    """(title, rows) of both tables; where no part of a step is known, of the first."""
    steps = lists_by_key(((one.model_id, one.step), one) for one in rows)
    yield (
        say("Duration of each step"),
        [
            StepOfRanks(model_id=model, step=step, spread=_spread(of_step, "duration_ns"))
            for (model, step), of_step in steps.items()
        ],
    )
    names = PARTS if any(one.bubble_ns for one in rows) else PARTS[:-2]
    titles = {field.name: field.cell.title for field in fields_of(Step)}
    parts = [
        PartOfRanks(part=titles[name], spread=_spread(known, name))
        for name in names
        if (known := [one for one in rows if getattr(one, name) is not None])
    ]
    if parts:
        yield say("Parts of a step (mean of each rank)"), parts


PARTS = (
    "computing_ns", "communication_ns", "communication_not_overlapped_ns", "free_ns", "fp_bp_ns", "iteration_refresh_ns",
    "data_aug_bound_ns", "stage_ns", "bubble_ns",
)  # fmt: skip
"""What a step consists of, as far as it is known; the last two say something only where there are bubbles."""


def _spread(steps: Sequence[Step], name: str) -> RankSpread:
    """The mean of each rank; of several devices of a rank the longest."""
    devices = lists_by_key(((one.rank_id, one.device_id), getattr(one, name)) for one in steps)
    times: dict[int, int] = {}
    for (rank, _), values in devices.items():
        if rank is not None:
            times[rank] = max(times.get(rank, 0), round(sum(values) / len(values)))
    return spread_of(times)
