"""Fused operators of torch_npu, and the sequences of operator types that each replaces.

A sequence is written in steps: alternatives are joined with `|`, and a step that may be missing ends with `?`. A type stands for all of
its versions (`Softmax` for `SoftmaxV2`). Names, and what each replaces, are those of the API reference of the Ascend Extension for PyTorch
(op-plugin, torch_npu 2.1 to 2.10, `test/allowlist_for_publicAPI.json`) and of msprof-analyze's examples for replacing APIs
(`fused_operator_api_replacement_example`); the types are those under which these operators of PyTorch run on the device. What the
reference calls deprecated (`npu_confusion_transpose`, `npu_layer_norm_eval`, `npu_silu`) is not proposed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from aoe_reports.model.texts import say

_MUL, _ADD, _DIV = "Mul|Muls", "Add|Adds|AddV2|Axpy", "RealDiv|Div|Divs"
_SILU, _SOFTMAX = "Swish|Silu|SiLU", "Softmax"
_BATCH_MATMUL = "BatchMatMul"
_CAST, _SLICE = "Cast", "Slice|StridedSlice|Split|SplitV|SplitVD|SplitD"
_SQUARE, _MEAN = "Pow|Pows|Square|Mul", "ReduceMean|ReduceMeanD|Mean"


@dataclass(frozen=True, slots=True)
class FusedOperator:
    """One fused operator, and one sequence that it replaces."""

    api: str
    sequence: tuple[str, ...]
    note: str
    """What it computes, or what to know before it is used."""


FUSED_OPERATORS: tuple[FusedOperator, ...] = (
    FusedOperator(
        "torch_npu.npu_fusion_attention",
        (
            _BATCH_MATMUL,
            f"{_MUL}|{_DIV}?",
            f"{_ADD}|MaskedFill|SelectV2|Select?",
            f"{_CAST}?",
            _SOFTMAX,
            f"{_CAST}?",
            "DropOutDoMask?",
            _BATCH_MATMUL,
        ),
        say("attention as one operator; it does not store the scores, so it needs less memory, too"),
    ),
    FusedOperator(
        "torch_npu.npu_scaled_masked_softmax",
        (f"{_MUL}|{_DIV}?", "MaskedFill|SelectV2|Select", f"{_CAST}?", _SOFTMAX),
        say("a softmax of scaled scores under a mask"),
    ),
    FusedOperator(
        "torch_npu.npu_rotary_mul",
        (_MUL, f"{_SLICE}?", f"{_SLICE}?", "Neg", "ConcatD|Concat|ConcatV2|ConcatV2D", _MUL, "Add|AddV2"),
        say("rotary position embedding in the form with rotate_half"),
    ),
    FusedOperator(
        "torch_npu.npu_add_rms_norm",
        ("Add|AddV2", "RmsNorm"),
        say("the residual connection and the norm behind it; it returns both"),
    ),
    FusedOperator(
        "torch.nn.functional.layer_norm",
        (_MEAN, "Sub|Subs", _SQUARE, _MEAN, _ADD, "Sqrt|Rsqrt", f"{_DIV}|Mul", "Mul?", "Add?"),
        say("a layer norm that was written out; one operator (LayerNorm) does it"),
    ),
    FusedOperator(
        "torch_npu.npu_rms_norm",
        (f"{_CAST}?", _SQUARE, _MEAN, _ADD, "Rsqrt", "Mul", f"{_CAST}?", "Mul"),
        say("the root mean square norm with its weight"),
    ),
    FusedOperator(
        "torch_npu.npu_deep_norm",
        (_MUL, "Add|AddV2", "LayerNorm"),
        say("the scaled residual connection of DeepNet and the norm behind it"),
    ),
    FusedOperator(
        "torch_npu.npu_add_layer_norm",
        ("Add|AddV2", "LayerNorm"),
        say("the residual connection and the layer norm behind it"),
    ),
    FusedOperator(
        "torch_npu.npu_group_norm_silu", ("GroupNorm", _SILU), say("a group norm and the activation behind it")
    ),
    FusedOperator(
        "torch_npu.npu_swiglu",
        (f"{_SLICE}?", f"{_SLICE}?", _SILU, "Mul"),
        say("needs both halves in one tensor: join the two matrix products before it"),
    ),
    FusedOperator(
        "torch_npu.npu_swiglu",
        ("Sigmoid", "Mul", "Mul"),
        say("needs both halves in one tensor: join the two matrix products before it"),
    ),
    FusedOperator(
        "torch_npu.npu_geglu",
        (f"{_SLICE}?", f"{_SLICE}?", "Gelu", "Mul"),
        say("needs both halves in one tensor: join the two matrix products before it"),
    ),
    FusedOperator(
        "torch.nn.functional.gelu",
        ("Pow|Pows|Mul", _MUL, "Add|AddV2|Axpy", _MUL, "Tanh", _ADD, _MUL, "Mul|Muls?"),
        say("a GELU by tanh that was written out; approximate='tanh' does it"),
    ),
    FusedOperator(
        "torch_npu.npu_moe_gating_top_k_softmax", (_SOFTMAX, "TopK|TopKD"), say("the choice of experts of a mixture")
    ),
    FusedOperator(
        "torch_npu.npu_moe_token_permute",
        ("Sort|ArgSort|Argsort", f"{_CAST}?", f"{_CAST}?", "Sort|ArgSort|Argsort?", "Gather|GatherV|IndexSelect|Index"),
        say("puts tokens in the order of their experts"),
    ),
    FusedOperator(
        "torch_npu.npu_cross_entropy_loss",
        ("LogSoftmax", "NLLLoss"),
        say("a loss of logits; of gain where the vocabulary is large"),
    ),
    FusedOperator(
        "torch_npu.optim.NpuFusedAdamW",
        (_MUL, f"{_MUL}?", "Add|AddV2|Lerp|Axpy|Addcmul", _MUL, "Addcmul", "Sqrt", f"{_DIV}|{_MUL}?", _ADD, "Addcdiv"),
        say("the optimizer as one operator for all parameters; NpuFusedAdam for Adam"),
    ),
    FusedOperator(
        "torch.nn.functional.linear", ("MatMul", "BiasAdd"), say("a matrix product with its bias: pass the bias to it")
    ),
)
"""Those first that explain more tasks: a task belongs to one sequence only. Behind its mean a layer norm looks like a root mean square norm."""

FUSED_OPTIMIZERS: dict[str, str] = {
    name: f"torch_npu.optim.NpuFused{name}"
    for name in ("Adadelta", "Adam", "AdamP", "AdamW", "BertAdam", "Lamb", "RMSprop", "RMSpropTF", "SGD")
}
"""By the class of PyTorch's optimizer. Source: the same reference, torch_npu.optim."""

_STEP_OF_OPTIMIZER = re.compile(r"Optimizer\.step#(\w+)\.step", re.ASCII)
_VERSION = re.compile(r"(?<=[a-zK])(?:V\d+D?|D)$")
_KERNEL = re.compile(r"(?:.*_)?([A-Za-z][A-Za-z0-9]*?)(?:_\d+)?", re.ASCII)
_NUMBER = re.compile(r"(?<=[a-zD])\d+$")


def fused_optimizer(name: str) -> str | None:
    """The fused form of the optimizer whose step a range of PyTorch is; null where there is none, or it is one."""
    found = _STEP_OF_OPTIMIZER.fullmatch(name)
    return FUSED_OPTIMIZERS.get(found[1]) if found else None


def base_type(op_type: str) -> str:
    """A type without its version: `MatMulV3` is `MatMul`, `ReduceMeanD` is `ReduceMean`."""
    return _VERSION.sub("", op_type)


def type_in_name(op_name: str) -> str:
    """The type at the end of a kernel's name, for exports that tell no types (`aclnnMuls_MulAiCore_Mul` → `Mul`, `Conv2D4` → `Conv2D`)."""
    found = _KERNEL.fullmatch(op_name)
    return _NUMBER.sub("", found[1]) if found else op_name
