"""How many operations and bytes an operator needs, by its type and the shapes of its tensors.

A multiplication and an addition count as two. Bytes are those that must move at least: each input read once, each output
written once. So both are what the operator has to do, not what its kernel does: a kernel that reads a tensor twice, or
computes what it has padded, does more. Where the shapes allow of several answers, or of none, there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import prod
from typing import Literal

from aoe_reports.topics.roofline.tensors import (
    PLAIN,
    Dim,
    Image,
    Matrix,
    Tensor,
    bytes_of,
    image_of,
    matrix_of,
    tensors_of,
)

Engine = Literal["cube", "vector", "none"]
"""Which unit of the chip does it; `none` moves data only."""
Precision = Literal["fp16", "bf16", "hf32", "fp32", "int8", "int4", "fp8"]
Unknown = Literal[
    "not-ai-core",
    "no-type",
    "no-formula",
    "no-shapes",
    "shapes-disagree",
    "private-format",
    "sequences-unknown",
    "type-unknown",
]
"""Why nothing is known of an operator."""


@dataclass(frozen=True, slots=True)
class Work:
    """What one call of an operator has to do."""

    flops: int
    bytes_: int
    engine: Engine
    precision: Precision | None
    at_most: bool = False
    """Whether it may be less: a mask that is not told, sizes that are rounded up."""


@dataclass(frozen=True, slots=True)
class Call:
    """One operator as a table of tasks tells it."""

    op_type: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    hf32: bool | None = None
    """Whether float may be multiplied with the precision of HF32; null where that is not told."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many operations a formula counts; whether it may be less."""

    flops: int
    at_most: bool = False


Counter = Callable[[Call], "Count | Unknown"]
Origins = Mapping[Tensor, Tensor]
"""The logical form of tensors in private formats, where a conversion of the same capture tells it."""


def matmul(call: Call) -> Count | Unknown:
    """2·B·M·N·K for [B, M, K] x [B, K, N] -> [B, M, N], each matrix as it is or transposed; two operations for each product.

    Source: the definition of a matrix product; CANN operator library, MatMulV2 and BatchMatMulV2 (transpose_x1,
    transpose_x2). The output tells M and N; what fits the inputs in no way, or in ways that count differently, is unknown.
    """
    if len(call.inputs) < 2 or not call.outputs:  # noqa: PLR2004 -- of two matrices
        return "no-shapes"
    matrices = [matrix_of(one) for one in (*call.inputs[:2], call.outputs[0])]
    left, right, out = matrices
    if left is None or right is None or out is None:
        return _no_matrix((*call.inputs[:2], call.outputs[0]))
    if not _fits_batches(left.batch, right.batch, out.batch):
        return "shapes-disagree"
    found = {count for a in _turned(left) for b in _turned(right) if (count := _product(a, b, out)) is not None}
    if len(found) != 1:
        return "shapes-disagree"
    count = found.pop()
    return replace(count, flops=count.flops * prod(out.batch))


def _turned(matrix: Matrix) -> tuple[tuple[Dim, Dim], tuple[Dim, Dim]]:
    return (matrix.rows, matrix.columns), (matrix.columns, matrix.rows)


def _product(left: tuple[Dim, Dim], right: tuple[Dim, Dim], out: Matrix) -> Count | None:
    """The operations of one way to multiply; None where the sizes do not fit."""
    sizes = (left[0].matched(out.rows), right[1].matched(out.columns), left[1].matched(right[0]))
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return None
    return Count(2 * prod(size.value for size in known), not all(size.is_exact for size in known))


def _no_matrix(tensors: Iterable[Tensor]) -> Unknown:
    """Why one of some tensors is no matrix: vectors are none in any format."""
    return "shapes-disagree" if any(len(tensor.shape) < 2 for tensor in tensors) else "private-format"  # noqa: PLR2004


def _fits_batches(left: tuple[int, ...], right: tuple[int, ...], out: tuple[int, ...]) -> bool:
    """Whether the output has as many matrices as the inputs have when those of size 1 are repeated."""
    sizes = [set(told) for told in zip_longest(reversed(left), reversed(right), fillvalue=1)]
    # a size that is 1 on both sides stays 1; 0 and 1 give 0
    repeated = [(told - {1}) or told for told in sizes]
    return repeated == [{size} for size in reversed(out)]


def grouped_matmul(call: Call) -> Count | Unknown:
    """2·M·K·N for x [M, K] whose rows are multiplied by one of E matrices [K, N] each; of gradients 2·M·K·N for [M, K], [M, N] -> [E, K, N].

    Source: CANN operator library, GroupedMatmul (group_type 0 and 2). At most: rows that belong to no group are not told.
    """
    if len(call.inputs) < 2 or len(call.outputs) != 1:  # noqa: PLR2004 -- of two
        return "no-shapes"
    left, right, out = (matrix_of(one) for one in (*call.inputs[:2], call.outputs[0]))
    if left is None or right is None or out is None:
        return _no_matrix((*call.inputs[:2], call.outputs[0]))
    match len(left.batch), len(right.batch), len(out.batch):
        case 0, 1, 0:
            count = matmul(replace(call, inputs=(call.inputs[0], _first_of(call.inputs[1]))))
        case 0, 0, 1:
            count = matmul(replace(call, outputs=(_first_of(call.outputs[0]),)))
        case _:
            return "shapes-disagree"
    return replace(count, at_most=True) if isinstance(count, Count) else count


def _first_of(tensor: Tensor) -> Tensor:
    return tensor._replace(shape=tensor.shape[1:])


_Pick = Callable[[Call], "tuple[Tensor, Tensor, Tensor] | None"]
"""(image before, filter, image behind) of a convolution, whichever of them is computed."""


def _forward(call: Call) -> tuple[Tensor, Tensor, Tensor] | None:
    return (call.inputs[0], call.inputs[1], call.outputs[0]) if len(call.inputs) > 1 and call.outputs else None


def _of_input(call: Call) -> tuple[Tensor, Tensor, Tensor] | None:
    large = [one for one in call.inputs if len(one.shape) > 1]
    return (call.outputs[0], large[0], large[1]) if len(large) == 2 and call.outputs else None  # noqa: PLR2004


def _of_filter(call: Call) -> tuple[Tensor, Tensor, Tensor] | None:
    large = [one for one in call.inputs if len(one.shape) > 1]
    return (large[0], call.outputs[0], large[1]) if len(large) == 2 and call.outputs else None  # noqa: PLR2004


def convolution(pick: _Pick) -> Counter:
    """2·N·(sizes of the output)·Cout·(Cin/groups)·(sizes of the kernel); as many for either gradient.

    Source: the definition of a convolution: each of N·Cout·sizes outputs is a sum of Cin/groups·kernel products; CANN
    operator library, Conv2D, Conv2DBackpropInput, Conv2DBackpropFilter (whose products are the same ones, summed otherwise).
    """

    def count(call: Call) -> Count | Unknown:
        tensors = pick(call)
        if tensors is None:
            return "no-shapes"
        before, kernel, behind = tensors
        images = image_of(before), image_of(behind)
        if images[0] is None or images[1] is None:
            return "private-format"
        filters = _filter_of(kernel, images[0])
        if filters is None:
            return "private-format"
        outputs, products = filters
        channels = outputs.matched(images[1].channels)
        if channels is None or images[0].count != images[1].count or not _fits_groups(kernel, images[0], channels):
            return "shapes-disagree"
        dims = [Dim(one.shape[0]) for one in call.inputs[2:3] if len(one.shape) == 1]
        channels = next((exact for one in dims if (exact := channels.matched(one)) is not None), channels)
        if channels.value == channels.block > 1:
            return "private-format"  # one block of channels: it may hold a single one
        flops = 2 * images[1].count * prod(images[1].sizes) * channels.value * products.value
        return Count(flops, not (channels.is_exact and products.is_exact))

    return count


def _fits_groups(kernel: Tensor, before: Image, outputs: Dim) -> bool:
    """Whether the channels of a filter whose format tells them are those of one of several groups."""
    place = {"NCHW": 1, "NCDHW": 1, "NCL": 1, "NHWC": -1, "NDHWC": -1, "HWCN": -2, "DHWCN": -2}.get(kernel.format_)
    if place is None or not before.channels.is_exact or not outputs.is_exact:
        return True
    each = kernel.shape[place]
    groups = before.channels.value // each if each else 0
    return each * groups == before.channels.value and (groups == 0 or outputs.value % groups == 0)


def _filter_of(kernel: Tensor, before: Image) -> tuple[Dim, Dim] | None:
    """(output channels, products that each output is a sum of); null where that cannot be told.

    FRACTAL_Z keeps [Cout, Cin, H, W] as [ceil(Cin/C0)·H·W, ceil(Cout/N0), N0, C0] (CANN, data formats).
    """
    shape = kernel.shape
    match kernel.format_, len(shape):
        case ("NCHW", 4) | ("NCDHW", 5) | ("NCL", 3):
            return Dim(shape[0]), Dim(prod(shape[1:]))
        case ("NHWC", 4) | ("NDHWC", 5):
            return Dim(shape[0]), Dim(prod(shape[1:]))
        case ("HWCN", 4) | ("DHWCN", 5):
            return Dim(shape[-1]), Dim(prod(shape[:-1]))
        case ("FRACTAL_Z" | "FRACTAL_Z_3D", 4):
            blocks, outer, inner, block = shape
            channels = before.channels
            of_blocks = -(-channels.value // max(block, 1))
            if not of_blocks or blocks % of_blocks or (channels.value == channels.block > 1):
                return None
            products = blocks // of_blocks * channels.value
            return Dim(outer * inner, inner), Dim(products, channels.block)
    return None


def attention(by_key: int, by_value: int) -> Counter:
    """Forward 4·B·N·Sq·Skv·D (two products: Q·K^T and P·V); backward 10·B·N·Sq·Skv·D (five: S, dP, dV, dQ and dK).

    Of the products so many are as wide as a key's head, and so many as a value's. Source: Dao, FlashAttention-2 (2023),
    section 4.1: 4·seqlen²·head dimension·heads, the backward pass 2.5 times that; CANN operator library,
    FlashAttentionScore (layouts, softmax_max [B, N, Sq, 8]). At most: a causal mask halves it, and sparse_mode is not told.
    The lengths of packed sequences (TND) are not told either.
    """

    def count(call: Call) -> Count | Unknown:
        if len(call.inputs) < 3:  # noqa: PLR2004 -- query, key, value
            return "no-shapes"
        query, key, value = call.inputs[:3]
        length = _length_of_keys(call, query.shape, key.shape)
        if length is None:
            return "sequences-unknown"
        if value.shape[:-1] != key.shape[:-1] or not key.shape[-1]:
            return "shapes-disagree"
        wide = by_key * key.shape[-1] + by_value * value.shape[-1]
        return Count(2 * query.elements * length * wide // key.shape[-1], at_most=True)

    return count


def _is_place(query: tuple[int, ...], key: tuple[int, ...], place: int) -> bool:
    """Whether the sizes beside the sequence fit: the same batch, and heads of the query that share those of the key."""
    width = key[-1] > 0 and query[-1] % key[-1] == 0
    if len(query) == 3:  # noqa: PLR2004 -- [B, S, H] or [S, B, H]
        return width and query[1 - place] == key[1 - place]
    heads = 3 - place
    return query[-1] == key[-1] > 0 and query[0] == key[0] and key[heads] > 0 and query[heads] % key[heads] == 0


_STATISTICS = 8
"""FlashAttentionScore keeps the maximum and the sum of a row so many times."""


def _length_of_keys(call: Call, query: tuple[int, ...], key: tuple[int, ...]) -> int | None:
    """The length of the key's sequences: the place of the sequence among the query's sizes tells that among the key's."""
    if len(query) != len(key) or len(query) not in {3, 4}:
        return None
    places = _places_by_statistics(call, query)
    if places is None:
        places = _places_by_mask(call, query, key)
    lengths = {key[place] for place in places if _is_place(query, key, place)}
    return lengths.pop() if len(lengths) == 1 else None


def _places_by_statistics(call: Call, query: tuple[int, ...]) -> list[int] | None:
    """Where in the query its sequence stands, as softmax_max tells; null where it is not there with its four sizes."""
    told = [
        one.shape
        for one in (*call.outputs, *call.inputs[3:])
        if one.type_ == "FLOAT" and one.shape and one.shape[-1] == _STATISTICS and len(one.shape) in {3, 4}
    ]
    if not told:
        return None
    if len(told[0]) == 3:  # noqa: PLR2004 -- [T, N, 8]: packed sequences
        return []
    batch, heads, length, _ = told[0]
    if len(query) == 4:  # noqa: PLR2004 -- [B, N, S, D] or [B, S, N, D]
        return [place for place, other in ((2, 1), (1, 2)) if (query[place], query[other]) == (length, heads)]
    return [place for place, other in ((1, 0), (0, 1)) if (query[place], query[other]) == (length, batch)]


def _places_by_mask(call: Call, query: tuple[int, ...], key: tuple[int, ...]) -> list[int]:
    """The same as the mask [.., Sq, Skv] tells, where the statistics are told without their sizes."""
    masks = [one.shape[-2:] for one in call.inputs[4:] if len(one.shape) > 1]
    places = range(len(query) - 3, len(query) - 1)
    return [place for mask in masks for place in places if (query[place], key[place]) == mask]


def attention_over_cache(call: Call) -> Count | Unknown:
    """4·B·N·Sq·Skv·D over keys and values that are kept, whose sizes alone tell the layout: the one in which all of them fit.

    Source: CANN operator library, IncreFlashAttention (one query a sequence; BSH, BSND, BNSD) and FusedInferAttentionScore.
    At most: how much of the cache is filled is not told. Unknown where pages keep it (a block table is there), and where a
    part of the query is turned by position and kept apart.
    """
    if len(call.inputs) < 3:  # noqa: PLR2004 -- query, key, value
        return "no-shapes"
    query, key, value, *others = call.inputs
    is_paged = any(other.type_ == "INT32" and len(other.shape) == 2 for other in others)  # noqa: PLR2004 -- [B, pages]
    is_apart = any(
        other.type_ == query.type_ and other.shape[:-1] == query.shape[:-1] for other in others if other.shape
    )
    if is_paged or is_apart or len(query.shape) != len(key.shape):
        return "sequences-unknown"
    places = (1,) if len(query.shape) == 3 and query.shape[1] == 1 else (1, 2) if len(query.shape) == 4 else ()  # noqa: PLR2004
    lengths = {key.shape[place] for place in places if _is_place(query.shape, key.shape, place)}
    if len(lengths) != 1:
        return "sequences-unknown"
    if value.shape[:-1] != key.shape[:-1]:
        return "shapes-disagree"
    wide = key.shape[-1] + value.shape[-1]
    return Count(2 * query.elements * lengths.pop() * wide // key.shape[-1], at_most=True)


def of_packed(count: Counter) -> Counter:
    """The same for weights that are kept as INT32, each of which holds eight INT4 of a row.

    Source: CANN operator library, ConvertWeightToINT4Pack: the last size is an eighth.
    """

    def unpacked(call: Call) -> Count | Unknown:
        if len(call.inputs) < 2 or call.inputs[0].type_ == "INT32":  # noqa: PLR2004 -- of two matrices
            return count(call)
        weight = call.inputs[1]
        if weight.type_ == "INT32" and weight.shape and weight.format_ in PLAIN:
            wide = weight._replace(shape=(*weight.shape[:-1], 8 * weight.shape[-1]), type_="INT4")
            return count(replace(call, inputs=(call.inputs[0], wide, *call.inputs[2:])))
        return count(call)

    return unpacked


def of_outputs(each: int) -> Counter:
    """So many operations for each element of the output, as the operator is defined (one for most).

    Source: the definition of the operator in the CANN operator library; a function such as exp counts as one operation, and
    so does the derivative of one. Addcdiv and its kind are x + value·a/b, a linear interpolation x + weight·(y - x), the
    gradients of sigmoid and tanh dy·y·(1 - y) and dy·(1 - y²): 3.
    """

    def count(call: Call) -> Count | Unknown:
        return Count(each * sum(output.elements for output in call.outputs)) if call.outputs else "no-shapes"

    return count


def of_input(each: int) -> Counter:
    """So many operations for each element of the first input: reductions, normalisation, softmax and their gradients.

    Source: the definitions, operation by operation. A reduction 1 (an addition), a sum of squares 2. Softmax 5 (maximum, difference, exp, sum,
    quotient), with scale and mask 7, its gradient 4 (product, sum, difference, product). LayerNorm (Ba et al., 2016) 7: mean 1, variance 3,
    normalising 1, scale and shift 2; its gradient 13. RMSNorm (Zhang and Sennrich, 2019) 4: square, sum, product, scale; its
    gradient 11. With the addition of a residual before it, each has 1 more. Batch normalisation (Ioffe and Szegedy, 2015) as LayerNorm. Adam (Kingma and Ba, 2015, algorithm 1) 12, with
    decay (Loshchilov and Hutter, 2019) 14.
    """

    def count(call: Call) -> Count | Unknown:
        return Count(each * call.inputs[0].elements) if call.inputs else "no-shapes"

    return count


def movement(call: Call) -> Count | Unknown:
    """No operations: the operator moves, copies, converts or fills.

    Source: the definition of the operator in the CANN operator library.
    """
    return Count(0) if call.outputs else "no-shapes"


Moved = Callable[[Call], "int | None"]


def every_tensor(call: Call) -> int | None:
    """Each input once, each output once."""
    return bytes_of((*call.inputs, *call.outputs))


def twice_the_output(call: Call) -> int | None:
    """What is written, and as much that was read: the operator reads a part of its first input."""
    written = bytes_of(call.outputs)
    return None if written is None else 2 * written


def only_the_output(call: Call) -> int | None:
    """What is written."""
    return bytes_of(call.outputs)


@dataclass(frozen=True, slots=True)
class Formula:
    """How operations and bytes of a type of operators are counted."""

    count: Counter
    engine: Engine
    moved: Moved = every_tensor


def _cube(count: Counter, *types: str) -> dict[str, Formula]:
    return dict.fromkeys(types, Formula(count, "cube"))


def _vector(count: Counter, *types: str) -> dict[str, Formula]:
    return dict.fromkeys(types, Formula(count, "vector"))


def _moves(moved: Moved, *types: str) -> dict[str, Formula]:
    return dict.fromkeys(types, Formula(movement, "none", moved))


FORMULAS: Mapping[str, Formula] = {
    **_cube(
        matmul,
        "MatMul", "MatMulV2", "MatMulV3", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Gemm", "MatmulAllReduce",
    ),
    **_cube(
        of_packed(matmul), "QuantBatchMatmul", "QuantBatchMatmulV3", "QuantMatmul", "WeightQuantBatchMatmulV2",
    ),
    **_cube(of_packed(grouped_matmul), "GroupedMatmul", "GroupedMatMul"),
    **_cube(convolution(_forward), "Conv2D", "Conv2DV2", "Conv3D", "Conv3DV2"),
    **_cube(
        convolution(_of_input),
        "Conv2DBackpropInput", "Conv2DBackpropInputV2", "Conv2DBackpropInputD", "Conv3DBackpropInput",
        "Conv3DBackpropInputV2", "Conv3DBackpropInputD",
    ),
    **_cube(
        convolution(_of_filter),
        "Conv2DBackpropFilter", "Conv2DBackpropFilterV2", "Conv2DBackpropFilterV3", "Conv2DBackpropFilterD",
        "Conv3DBackpropFilter", "Conv3DBackpropFilterV2", "Conv3DBackpropFilterD",
    ),
    **_cube(attention(1, 1), "FlashAttentionScore", "PromptFlashAttention"),
    **_cube(attention_over_cache, "FusedInferAttentionScore", "IncreFlashAttention"),
    **_cube(attention(3, 2), "FlashAttentionScoreGrad"),
    **_vector(
        of_outputs(1),
        "Abs", "Add", "AddV2", "Adds", "Cos", "Div", "Equal", "Erf", "Exp", "FastGelu", "Gelu", "GeluV2", "Greater",
        "GreaterEqual", "LeakyRelu", "Less", "LessEqual", "Log", "LogicalAnd", "LogicalNot", "LogicalOr", "Maximum",
        "Minimum", "Mul", "Muls", "Neg", "NotEqual", "Pow", "RealDiv", "Reciprocal", "Relu", "ReluV2", "Rsqrt", "Select",
        "SelectV2", "Sigmoid", "Sin", "Sqrt", "Square", "Sub", "Swish", "Silu", "Tanh",
        "ForeachMulScalar", "ForeachAddScalar", "ForeachMulList", "ForeachDivList", "ForeachDivScalar", "ForeachSqrt",
    ),
    **_vector(
        of_outputs(2),
        "Axpy", "AxpyV2", "DropOutDoMask", "DropOutDoMaskV3", "FastGeluGrad", "ForeachAddList", "ForeachSubList", "GeluGrad",
        "GeluGradV2", "MulAdd", "ReluGrad", "ReluGradV2", "SiluGrad", "SwiGlu", "SwishGrad",
    ),
    **_vector(
        of_outputs(3),
        "Addcdiv", "Addcmul", "ForeachAddcdivList", "ForeachAddcmulList", "ForeachLerpScalar", "SigmoidGrad", "TanhGrad",
    ),
    **_vector(
        of_input(1),
        "ArgMaxV2", "ReduceAll", "ReduceAny", "ReduceMax", "ReduceMean", "ReduceMeanD", "ReduceMin", "ReduceSum",
        "ReduceSumD",
    ),
    **_vector(of_input(2), "L2Loss", "SquareSumV1"),
    **_vector(of_input(4), "SoftmaxGrad", "LogSoftmaxGrad", "RmsNorm"),
    **_vector(of_input(5), "SoftmaxV2", "LogSoftmaxV2", "AddRmsNorm"),
    **_vector(of_input(7), "ScaledMaskedSoftmax", "LayerNorm", "LayerNormV3", "LayerNormV4", "BatchNorm", "BatchNormV3"),
    **_vector(of_input(8), "AddLayerNorm"),
    **_vector(of_input(11), "RmsNormGrad"),
    **_vector(of_input(13), "LayerNormGrad", "LayerNormGradV3", "BatchNormGrad"),
    **_vector(of_input(12), "ApplyAdam", "ApplyAdamD", "ApplyAdamV2"),
    **_vector(of_input(14), "ApplyAdamW", "ApplyAdamWV2"),
    **_moves(
        every_tensor,
        "BroadcastTo", "Cast", "Concat", "ConcatD", "ConcatV2", "ConcatV2D", "Identity", "Pack", "Pad", "PadV3", "Split",
        "SplitD", "SplitV", "SplitVD", "TensorMove", "Tile", "TransData", "Transpose", "TransposeD", "Unpack", "ViewCopy",
    ),
    **_moves(twice_the_output, "Slice", "SliceD", "StridedSlice", "StridedSliceD", "AsStrided", "GatherV2", "GatherV3"),
    **_moves(only_the_output, "Fill", "FillD", "OnesLike", "Range", "ZerosLike"),
}  # fmt: skip
"""By the type of the operator. Pooling, sorting, indexed writes and random numbers have none: their shapes do not tell what they do."""

_PRECISIONS: Mapping[str, Precision] = {
    "FLOAT16": "fp16", "BF16": "bf16", "INT8": "int8", "UINT8": "int8", "INT4": "int4", "FLOAT8_E5M2": "fp8",
    "FLOAT8_E4M3FN": "fp8", "HIFLOAT8": "fp8",
}  # fmt: skip
_AS_WIDE: Mapping[str, Precision] = {"FLOAT16": "fp16", "INT16": "fp16", "UINT16": "fp16"}
"""Of the vector unit: what has two bytes there; bfloat16 is widened (Intrinsic_vadd and others have none, CANN platform_config)."""


def work_of(call: Call, origins: Origins) -> Work | Unknown:
    """What an operator has to do, or why that is not known; `origins` tell the logical form of private formats."""
    formula = FORMULAS.get(call.op_type)
    if formula is None:
        return "no-formula"
    count = formula.count(_with_origins(call, origins))
    if not isinstance(count, Count):
        return count
    moved = formula.moved(call)  # of what is kept in memory, padding and all
    precision = _precision(call, formula.engine)
    if moved is None or (precision is None and formula.engine == "cube"):
        return "type-unknown"
    return Work(count.flops, moved, formula.engine, precision, count.at_most)


def _precision(call: Call, engine: Engine) -> Precision | None:
    """With what precision the first large tensor of an operator is computed."""
    given = [one for one in (*call.inputs, *call.outputs) if one.is_given]
    large = [one for one in given if len(one.shape) > 1] or given
    if engine == "none" or not large:
        return None
    name = large[0].type_
    if engine == "vector":
        return _AS_WIDE.get(name, "fp32")
    if name == "FLOAT":
        # torch_npu's default where an export does not tell: convolutions may use HF32, matrix products may not
        return "hf32" if call.hf32 or (call.hf32 is None and call.op_type.startswith("Conv")) else "fp32"
    return _PRECISIONS.get(name)


def call_of(
    op_type: str | None,
    inputs: tuple[str | None, str | None, str | None],
    outputs: tuple[str | None, str | None, str | None],
    *,
    hf32: bool | None = None,
) -> Call | Unknown:
    """A call from the texts of a table (shapes, types, formats), or why it cannot be made."""
    if op_type is None:
        return "no-type"
    if op_type not in FORMULAS:
        return "no-formula"
    found = tensors_of(*inputs), tensors_of(*outputs)
    if found[0] is None or found[1] is None:
        return "no-shapes"
    return Call(op_type, found[0], found[1], hf32)


def origins_of(calls: Iterable[Call]) -> Origins:
    """What conversions between formats tell: of each tensor in a private format the only logical one that it is made of, or becomes."""
    found: dict[Tensor, set[Tensor]] = {}
    for call in calls:
        if call.op_type == "TransData" and len(call.inputs) == 1 and len(call.outputs) == 1:
            pair = call.inputs[0], call.outputs[0]
            for private, plain in (pair, pair[::-1]):
                if image_of(plain) is not None and plain.format_ in _LOGICAL and private.format_ not in _LOGICAL:
                    found.setdefault(private, set()).add(plain)
    return {private: next(iter(plain)) for private, plain in found.items() if len(plain) == 1}


_LOGICAL = frozenset({"NCHW", "NHWC", "NCDHW", "NDHWC"})


def _with_origins(call: Call, origins: Origins) -> Call:
    if not origins:
        return call
    inputs, outputs = (tuple(origins.get(one, one) for one in told) for told in (call.inputs, call.outputs))
    return replace(call, inputs=inputs, outputs=outputs)
