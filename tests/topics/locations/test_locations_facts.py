from __future__ import annotations

import numpy as np
import pytest

from aoe_reports.topics.locations.facts import layers_of, lines_along, modules_along, scope_of, whole_paths
from aoe_reports.topics.locations.launch_sites import CallPaths


def _stack(*frames: str) -> CallPaths:
    count = len(frames)
    return CallPaths(np.arange(-1, count - 1), np.arange(count), frames)


def test_modules_are_the_frames_that_are_named_so() -> None:
    paths = _stack(
        "main.py(3): train", "nn.Module: Net_0", "torch/nn/modules/module.py(1501): _call_impl", "nn.Module: Linear_4"
    )
    assert modules_along(paths) == [(), ("Net_0",), ("Net_0",), ("Net_0", "Linear_4")]


@pytest.mark.parametrize(
    ("frames", "line"),
    [
        (("main.py(3): train", "model.py(8): forward", "torch/nn/functional.py(9): linear"), "model.py(8): forward"),
        (("a.py(1): f", "/opt/lib/site-packages/torch_npu/npu/streams.py(9): g", "<built-in method h>"), "a.py(1): f"),
        (("threading.py(890): _bootstrap", "torch/utils/data/dataloader.py(3): run"), "torch/utils/data/dataloader.py(3): run"),
        (("a.py(1): f", "nn.Module: Net_0"), "a.py(1): f"),
        (("a.py(1): f", "torchvision/models/alexnet.py(48): forward"), "torchvision/models/alexnet.py(48): forward"),
    ],
)  # fmt: skip
def test_the_line_of_a_stack_is_the_innermost_of_no_framework(frames: tuple[str, ...], line: str) -> None:
    assert lines_along(_stack(*frames))[-1] == line


@pytest.mark.parametrize(
    ("name", "scope"),
    [
        ("/model/layers.7/self_attn/MatMul", ("model", "layers.7", "self_attn")),
        ("bert/encoder/layer_7/attention/MatMul_1", ("bert", "encoder", "layer_7", "attention")),
        ("Default/network-Net/7-Layer/MatMul-op12", ("Default", "network-Net", "7-Layer")),
        ("Gradients/Default/network-Net/7-Layer/gradMatMul/MatMul-op3", ("Default", "network-Net", "7-Layer")),
        ("Default/network-Net/conv1-Conv2d/gradConv2D-expand/Mul-op1", ("Default", "network-Net", "conv1-Conv2d")),
        ("Default/GetNext-op6", None),
        ("StatelessDropOutGenMask/DSASTATELESSGENBITMASK", None),
        ("aclnnMm_MatMulV2", None),
        ("/", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_scope_of_an_operator_is_in_its_name(name: str, scope: tuple[str, ...] | None) -> None:
    assert scope_of(name) == scope


def test_a_layer_is_the_outermost_block_that_is_repeated_and_the_module_in_it() -> None:
    modules = [
        ("Net_0", "Embedding_0"),
        ("Net_0", "Block_0", "Attention_0", "Linear_0"),
        ("Net_0", "Block_0", "Attention_0", "Linear_1"),
        ("Net_0", "Block_1", "Attention_1", "Linear_2"),
        ("Net_0", "Block_1"),
        ("Net_0", "Head_0", "Linear_9"),
    ]
    told = layers_of(modules, whole=False)
    assert [told[one] for one in modules] == [
        "Net_0/Embedding_0",
        "Block_0/Attention",
        "Block_0/Attention",
        "Block_1/Attention",
        "Block_1",
        "Net_0/Head_0/Linear_9",
    ]


def test_blocks_of_scopes_are_told_apart_by_what_is_around_them() -> None:
    scopes = [(side, f"layer_{number}", "attention") for side in ("encoder", "decoder") for number in range(2)]
    assert sorted(layers_of(scopes, whole=True).values()) == [
        "decoder/layer_0/attention",
        "decoder/layer_1/attention",
        "encoder/layer_0/attention",
        "encoder/layer_1/attention",
    ]


def _blocks(around: str, first: int, attention: int) -> list[tuple[str, ...]]:
    """Three blocks, each with an attention and two norms, numbered from some offsets."""
    return [
        (around, f"Block_{first + block}", part)
        for block in range(3)
        for part in (f"Attention_{attention + block}", *(f"Norm_{2 * (first + block) + number}" for number in (0, 1)))
    ]


def test_what_else_is_of_a_class_shifts_no_layer() -> None:
    plain = layers_of(_blocks("Net_0", 0, 0), whole=False)
    shifted = layers_of([*_blocks("Net_0", 1, 7), ("Draft_0", "Block_0", "Attention_0")], whole=False)
    assert set(plain.values()) < set(shifted.values())
    assert set(shifted.values()) - set(plain.values()) == {"Draft_0/Block_0/Attention_0"}
    assert plain["Net_0", "Block_2", "Norm_5"] == "Block_2/Norm_1"


def test_a_class_that_is_repeated_in_two_places_or_stands_outside_keeps_its_numbers() -> None:
    two = layers_of([*_blocks("Encoder_0", 0, 0), *_blocks("Decoder_0", 3, 3)], whole=False)
    assert len(set(two.values())) == len(two)
    assert two["Decoder_0", "Block_3", "Attention_3"] == "Block_3/Attention"
    outside = layers_of([("Block_0", "Attention_0"), ("Block_0",), *_blocks("Net_0", 1, 1)], whole=False)
    assert len(set(outside.values())) == len(outside)


def test_numbers_of_thousands_of_digits_are_names() -> None:
    names = [("Net_0", f"Block_{'9' * 5000}{last}", "Linear_0") for last in (1, 2)]
    assert len(set(layers_of(names, whole=False).values())) == 2


def test_a_module_called_outside_of_what_holds_it_belongs_there_if_that_is_one_place() -> None:
    inside = ("Net_0", "Block_3", "Linear_5")
    assert whole_paths([inside, ("Block_3", "Linear_5"), ("Linear_5",)]) == {
        inside: inside,
        ("Block_3", "Linear_5"): inside,
        ("Linear_5",): inside,
    }
    assert whole_paths([("A_0", "Linear_5"), ("B_0", "Linear_5"), ("Linear_5",), ()])["Linear_5",] == ("Linear_5",)
    assert whole_paths([("A_0", "B_0"), ("B_0", "A_0")]) == {one: one for one in [("A_0", "B_0"), ("B_0", "A_0")]}


@pytest.mark.parametrize("wrapper", ["FullyShardedDataParallel", "CheckpointWrapper"])
def test_what_wraps_single_blocks_hides_no_layer(wrapper: str) -> None:
    wrapped = [("Net_0", f"{wrapper}_{number + 1}", f"Block_{number}", f"Attention_{number}") for number in range(3)]
    own = ("Net_0", f"{wrapper}_2")
    told = layers_of([*wrapped, own, (f"{wrapper}_0", "Net_0", "Linear_0")], whole=False)
    assert [told[one] for one in wrapped] == [f"Block_{number}/Attention" for number in range(3)]
    assert told[own] == f"Net_0/{wrapper}_2"


def test_modules_that_hold_none_are_no_layers() -> None:
    modules = [("Net_0", "Linear_0"), ("Net_0", "Linear_1")]
    assert set(layers_of(modules, whole=False).values()) == {"Net_0/Linear_0", "Net_0/Linear_1"}


def test_a_module_within_ten_thousand_others_counts_for_one_above() -> None:
    paths = _stack(*(f"nn.Module: M_{number}" for number in range(10_000)))
    assert modules_along(paths)[-1] == tuple(f"M_{number}" for number in range(64))
    assert layers_of(set(modules_along(paths)), whole=False)
