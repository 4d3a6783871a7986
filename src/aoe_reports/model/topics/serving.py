"""An iteration of a server of language models, as `serving` lists it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from aoe_reports.model.rows import US, column, derived, row


def _spent_on(part: str) -> Callable[[Iteration], int | None]:
    """The time of a part of an iteration whose tasks are known."""

    def spent(iteration: Iteration) -> int | None:
        return None if iteration.tasks is None else iteration.parts.get(part, 0)

    return spent


@row
class Iteration:
    """One forward pass of the model, with what the server does around it; null what nothing records."""

    run: str = column(default="")
    rank_id: int | None = column(default=None)
    device_id: int | None = column(default=None)
    dp_rank: str | None = column(default=None)
    prof_id: str | None = column(default=None)
    number: int = column(default=0)
    phase: str = column()
    cut_by: str = column(default="")
    told_by: str | None = column(default=None)
    """What the phase is known by: annotations, batches (those of the service, by its profiler), shapes, graph replay (attention has shapes
    in other iterations, and none in this one) or operator types."""
    is_whole: bool = column(default=True)
    start_ns: int = column(default=0)
    """When the last task of the iteration before ended: the pause between both is this one's idle time."""
    duration_ns: int = column(unit=US, default=0)
    parts: Mapping[str, int] = field(default_factory=dict)
    """All of its time, part by part; without tasks the idle time alone is known."""

    @derived(unit=US)
    def computing_ns(self) -> int | None:
        """What is neither communication nor idle time."""
        return None if self.tasks is None else self.duration_ns - self.idle_ns - self.parts.get("communication", 0)

    communication_ns = derived(unit=US)(_spent_on("communication"))

    @derived(unit=US)
    def idle_ns(self) -> int:
        """Nothing runs."""
        return self.parts.get("idle", 0)

    sequences: int | None = column(default=None)
    sequences_by: str | None = column(default=None)
    """What they are known by: annotations, batches or shapes; tokens, too."""
    tokens: int | None = column(default=None)
    """New tokens: of prompts, and one (with drafts several) of each sequence that is decoded."""
    tokens_by: str | None = column(default=None)
    length: float | None = None

    @derived()
    def sequence_length(self) -> float | None:
        """The mean of its sequences."""
        return None if self.length is None else round(self.length, 3)

    longest_sequence: int | None = column(default=None)
    """Its tokens, with those of this pass."""
    lengths_by: str | None = column(default=None)
    """Batches or requests."""
    prompt_tokens: int | None = column(default=None)
    drafted: int | None = column(default=None)
    """New tokens of each sequence in a decode that verifies drafts; null in others."""
    context_at_most: int | None = column(default=None)
    """How many tokens of a sequence the cache can hold at most."""
    layers: int | None = column(default=None)
    tasks: int | None = column(default=None)
    """Null where no tasks were recorded, and a service records its batches alone."""
    attention_ns = derived(unit=US)(_spent_on("attention"))
    kv_cache_ns = derived(unit=US)(_spent_on("kv-cache"))
    products_ns = derived(unit=US)(_spent_on("products"))
    moe_ns = derived(unit=US)(_spent_on("moe"))
    normalisation_ns = derived(unit=US)(_spent_on("normalisation"))
    sampling_ns = derived(unit=US)(_spent_on("sampling"))
    other_ns = derived(unit=US)(_spent_on("other"))
