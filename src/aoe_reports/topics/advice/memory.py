"""Rules on the memory of a device: what is lost between blocks, what grows, what holds much of the peak. Effects are bytes, never a time."""

from __future__ import annotations

from collections.abc import Iterator

from aoe_reports.model.documents import Json
from aoe_reports.model.texts import say
from aoe_reports.model.topics.memory import Kind
from aoe_reports.topics.advice.advice import MAX_ROWS, Advice, Facts, Find, Rule
from aoe_reports.topics.advice.thresholds import Thresholds
from aoe_reports.topics.memory.actions import DONE


def _fragmentation(facts: Facts, thresholds: Thresholds) -> Iterator[Advice]:
    """What was reserved though enough was free, or cannot be returned; a pool that was larger once is no evidence."""
    found = None if facts.memory is None else facts.memory.fragmentation
    if found is None or not (found.reserved_by_fragmentation_bytes or found.unusable_bytes):
        return
    lost = found.excess_bytes if found.unusable_bytes is None else found.unusable_bytes
    if lost < thresholds.least_memory_share * found.reserved_bytes:
        return
    evidence: dict[str, Json] = {
        "reserved_bytes": found.reserved_bytes,
        "in_use_bytes": found.used_bytes,
        "unusable_bytes": found.unusable_bytes,
        "excess_bytes": found.excess_bytes,
        "reserved_by_fragmentation_bytes": found.reserved_by_fragmentation_bytes,
        "times": found.fragmentation_rises,
    }
    yield Advice("memory-fragmentation", evidence, say(DONE["reserved"]), None, size_bytes=lost)


def _leaks(facts: Facts, thresholds: Thresholds) -> Iterator[Advice]:
    """Owners that keep memory of each step; the pool where no owner is known for it."""
    del thresholds
    leaks = [growth for growth in facts.memory.growth if growth.meaning == "leak"] if facts.memory else []
    for growth in [growth for growth in leaks if growth.owner is not None] or leaks:
        evidence: dict[str, Json] = {
            "per_step_bytes": round(growth.bytes_per_step),
            "at_least_bytes": round(growth.low),
            "at_most_bytes": round(growth.high),
            "first_step": growth.first_step,
            "last_step": growth.last_step,
        }
        yield Advice(
            "memory-leak",
            evidence,
            say(DONE["leak"]),
            None,
            op_name=growth.owner,
            size_bytes=round(growth.bytes_per_step),
        )


def _repeated(facts: Facts, thresholds: Thresholds) -> Iterator[Advice]:
    """Equal allocations of every step, where the allocator does not serve them from what it has."""
    memory = facts.memory
    if (
        memory is None
        or not memory.repeated
        or memory.fragmentation is None
        or not memory.fragmentation.reserved_by_fragmentation_bytes
    ):
        return
    text = say(
        "The same size is allocated and released in every step while the allocator takes new segments: allocate it once, before training, and write "
        "into it (out=, copy_, add_)"
    )
    for repeated in memory.repeated[:MAX_ROWS]:
        size = repeated.size_bytes * repeated.at_once
        if size >= thresholds.least_memory_share * memory.peak.size_bytes:
            evidence: dict[str, Json] = {
                "size_bytes": repeated.size_bytes,
                "calls_a_step": repeated.per_step,
                "at_once": repeated.at_once,
                "steps": repeated.steps,
            }
            yield Advice("memory-repeated", evidence, text, None, op_name=repeated.owner, size_bytes=size)


_WORKSPACE = "WORKSPACE"
"""The component of torch_npu that serves workspaces alone."""


def _workspace_component(facts: Facts, thresholds: Thresholds) -> Iterator[Advice]:
    """An allocator of workspaces that took much from the device beside the peak, where no owner is of that kind."""
    memory = facts.memory
    if memory is None or any(owner.kind == "workspace" for owner in memory.owners):
        return
    pools = [pool for pool in memory.pools if pool.component == _WORKSPACE]
    levels = [level for pool in pools if (level := pool.reserved or pool.allocated) is not None]
    size = max((level.size_bytes for level in levels), default=0)
    if size and size >= thresholds.least_memory_share * memory.peak.size_bytes:
        evidence: dict[str, Json] = {
            "held_bytes": size,
            "share_of_peak": round(size / memory.peak.size_bytes, 4),
            "component": _WORKSPACE,
        }
        yield Advice("memory-workspace", evidence, _FEWER_WORKSPACES, None, size_bytes=size)


_FEWER_WORKSPACES = say(
    "Try TASK_QUEUE_ENABLE=1, which allocates workspaces one after another, or smaller inputs of the operators with the largest "
    "workspaces; no more than this is gained"
)


def _workspaces(facts: Facts, thresholds: Thresholds) -> Iterator[Advice]:
    """Owners of workspaces, else their allocator."""
    yield from _holds("memory-workspace", "workspace", _FEWER_WORKSPACES)(facts, thresholds)
    yield from _workspace_component(facts, thresholds)


def _holds(rule: str, kind: Kind, text: str) -> Find:
    """Owners of a kind that hold much of the peak together; only where the source says what kind memory is of."""

    def find(facts: Facts, thresholds: Thresholds) -> Iterator[Advice]:
        memory = facts.memory
        owners = [] if memory is None else [owner for owner in memory.owners if owner.kind == kind]
        held = sum(owner.size_bytes for owner in owners)
        if memory is None or not owners or held < thresholds.least_memory_share * memory.peak.size_bytes:
            return
        largest = max(owners, key=lambda owner: owner.size_bytes)
        evidence: dict[str, Json] = {
            "held_bytes": held,
            "share_of_peak": round(held / memory.peak.size_bytes, 4),
            "allocations": sum(owner.allocations for owner in owners),
            "largest_owner": largest.name,
            "of_largest_owner_bytes": largest.size_bytes,
            "place": largest.module,
        }
        yield Advice(rule, evidence, text, None, size_bytes=held)

    return find


MEMORY_RULES = (
    Rule(
        "memory-fragmentation",
        say("memory that is reserved and cannot be used"),
        "A request that fits into no free block takes a new segment, although as much is free in smaller blocks",
        say(
            "Ascend Extension for PyTorch, environment variables: PYTORCH_NPU_ALLOC_CONF; `memory` has the samples of reserved and active memory"
        ),
        ("least_memory_share",),
        _fragmentation,
    ),
    Rule(
        "memory-leak",
        say("memory that grows by the same in each step"),
        "What each step keeps adds up until nothing is left, however large the device is",
        say("same as `memory`: never released in any later step, at least 5 steps, 95% interval"),
        (),
        _leaks,
    ),
    Rule(
        "memory-repeated",
        say("equal allocations in every step beside fragmentation"),
        "A buffer that is allocated once and reused cannot be in the way of other blocks",
        say("same as `memory`: allocations of one owner and size that are released within their step"),
        ("least_memory_share",),
        _repeated,
    ),
    Rule(
        "memory-workspace",
        say("workspace that holds much of the peak"),
        "Operators keep their workspace until they have run, one for each that is queued",
        say(
            "CANN MindStudio 8.3, Pipeline Optimization: TASK_QUEUE_ENABLE=2 may raise the peak; kinds are those of the recording, or WORKSPACE of "
            "memory_record"
        ),
        ("least_memory_share",),
        _workspaces,
    ),
    Rule(
        "memory-recompute",
        say("activations that hold much of the peak"),
        "Activations are held from the forward pass to the backward pass; recomputing them takes time instead",
        say("kinds are those of the recording (msmemscope)"),
        ("least_memory_share",),
        _holds(
            "memory-recompute",
            "activation",
            say(
                "If memory is short, recompute activations in the backward pass (torch.utils.checkpoint) where they are largest; it costs another "
                "forward pass of what is recomputed, and saves no more than this"
            ),
        ),
    ),
)
