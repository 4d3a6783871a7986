"""Sequences of tasks: what each fused operator is found by, and that no task is counted twice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from commandline import ROOT
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.facts.host_activity import Kernels
from aoe_reports.topics.host.fused_operators import (
    FUSED_OPERATORS,
    FusedOperator,
    base_type,
    fused_optimizer,
    type_in_name,
)
from aoe_reports.topics.host.sequences import MAX_GAP_NS, MIN_REPEATS, SHORT_NS, FoundSequence, find_sequences

LENGTH, PITCH = 10_000, 14_000


def _kernels(
    types: Sequence[str], *, step: Sequence[int] = (), stream: Sequence[int] = (), pitch: int = PITCH
) -> Kernels:
    start = np.arange(len(types), dtype=np.int64) * pitch
    zeros = np.zeros(len(types), dtype=np.int64)
    return Kernels(
        start=start,
        end=start + LENGTH,
        name=np.arange(len(types), dtype=np.int64),
        stream=np.asarray(stream, dtype=np.int64) if stream else zeros,
        step=np.asarray(step, dtype=np.int64) if step else zeros,
    )


def _found(types: Sequence[str], steps: int = 1, **more: Sequence[int]) -> list[FoundSequence]:
    words = [f"task{place}" for place in range(len(types))]
    return find_sequences(_kernels(types, **more), words, dict(zip(words, types, strict=True)), steps)


def _plainest(sequence: Sequence[str]) -> list[str]:
    return [step.split("|")[0] for step in sequence if not step.endswith("?")]


@pytest.mark.parametrize("operator", FUSED_OPERATORS, ids=lambda one: f"{one.api}-{len(one.sequence)}")
def test_each_is_found_by_its_sequence(operator: FusedOperator) -> None:
    sequence = _plainest(operator.sequence)
    types = ["Conv2D", *sequence, "Conv2D"]
    (one,) = _found(types)
    assert one.api == operator.api
    assert one.types == tuple(map(base_type, sequence))
    assert (one.count, one.tasks, one.first_start_ns) == (1, len(sequence), PITCH)
    assert one.total_ns == LENGTH * len(sequence)
    assert one.span_ns == PITCH * (len(sequence) - 1) + LENGTH
    assert one.saving_ns == one.span_ns - LENGTH


@pytest.mark.parametrize(
    "types",
    [
        ("Mul", "Add", "Mul", "Add"),
        ("MatMulV2", "Add"),
        ("SoftmaxV2", "BatchMatMulV2"),
        ("RmsNorm", "Add"),
        ("Swish", "Add"),
        ("RotaryMul", "SwiGlu", "AddRmsNorm", "FlashAttentionScore"),
    ],
)
def test_others_are_not(types: tuple[str, ...]) -> None:
    assert _found(types) == []


def test_a_sequence_ends_with_its_stream_its_step_and_a_long_gap() -> None:
    pair = ("Swish", "Mul")
    assert len(_found(pair)) == 1
    assert _found(pair, stream=(1, 2)) == []
    assert _found(pair, step=(1, 2)) == []
    words = list(pair)
    far = find_sequences(_kernels(pair, pitch=LENGTH + MAX_GAP_NS + 1), words, dict(zip(pair, pair, strict=True)), 1)
    assert far == []


def test_other_frequent_sequences_are_candidates_if_all_tasks_are_short() -> None:
    loop = ("Sub", "Abs", "Greater") * MIN_REPEATS
    (one,) = _found(loop)
    assert (one.api, one.types, one.count) == (None, ("Sub", "Abs", "Greater"), MIN_REPEATS)
    assert _found(loop, steps=2) == []
    assert LENGTH < SHORT_NS
    assert find_sequences(_long(loop), list(loop), dict(zip(loop, loop, strict=True)), 1) == []


def _long(types: Sequence[str]) -> Kernels:
    one = _kernels(types, pitch=2 * SHORT_NS)
    return Kernels(one.start, one.start + SHORT_NS, one.name, one.stream, one.step)


@given(
    st.lists(st.sampled_from(["Mul", "Add", "Swish", "Neg", "Slice", "ConcatD", "Cast", "RmsNorm", "Sub"]), max_size=60)
)
def test_no_task_is_in_two(types: list[str]) -> None:
    found = _found(types)
    assert sum(one.tasks for one in found) <= len(types)
    assert sum(one.total_ns for one in found) <= LENGTH * len(types)
    for one in found:
        assert one.count * 2 <= one.tasks
        assert 0 <= one.saving_ns < one.span_ns
        assert 0 <= one.launch_share < 1


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("aclnnMuls_MulAiCore_Mul", "Mul"),
        ("aclnnMm_MatMulV3Common_MatMulV3", "MatMul"),
        ("trans_TransData_12", "TransData"),
        ("Conv2D4", "Conv2D"),
        ("Conv2DBackpropInput5", "Conv2DBackpropInput"),
        ("算子", "算子"),
    ],
)
def test_types_are_told_by_names_where_nothing_else_does(name: str, told: str) -> None:
    assert base_type(type_in_name(name)) == told


@pytest.mark.parametrize(
    ("op_type", "base"),
    [
        ("MatMulV2", "MatMul"),
        ("ReduceMeanD", "ReduceMean"),
        ("TopKV2", "TopK"),
        ("Conv2D", "Conv2D"),
        ("ConcatD", "Concat"),
        ("Add", "Add"),
    ],
)
def test_a_type_stands_for_its_versions(op_type: str, base: str) -> None:
    assert base_type(op_type) == base


def test_optimizers_have_a_fused_form() -> None:
    assert fused_optimizer("Optimizer.step#AdamW.step") == "torch_npu.optim.NpuFusedAdamW"
    assert fused_optimizer("Optimizer.step#NpuFusedAdamW.step") is None
    assert fused_optimizer("Optimizer.zero_grad#SGD.zero_grad") is None


def test_the_page_names_every_fused_operator() -> None:
    page = (ROOT / "docs" / "host.md").read_text()
    assert [one.api for one in FUSED_OPERATORS if f"`{one.api}`" not in page] == []


def test_a_layer_norm_that_is_written_out_is_no_root_mean_square_norm() -> None:
    (one,) = _found(["ReduceMean", "Sub", "Square", "ReduceMean", "Add", "Rsqrt", "Mul", "Mul", "Add"])
    assert (one.api, one.tasks) == ("torch.nn.functional.layer_norm", 9)


def test_tasks_that_run_at_once_leave_no_time_between_them() -> None:
    (one,) = _found(["Add", "LayerNorm"], pitch=1000)
    assert (one.total_ns, one.span_ns, one.saving_ns, one.launch_share) == (20_000, 11_000, 1000, 0.0)
