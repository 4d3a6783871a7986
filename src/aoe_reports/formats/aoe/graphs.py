"""Banks of Auto Tune (`<chip>_AiCore_<cores>_v<version>.json`): one JSON object, whose keys are graphs of operators.

The numbers in a key are those of `TAG_INDEX` and `DTYPE_INDEX` in tbe/common/rl_bank/bank_cfg.py of CANN 8.1.RC1; how a key is made is
in `gen_tensor_feature` (te, rl_bank.py): a node each tensor with its tag, its shape, its reduced axes, its data type and the nodes that read it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aoe_reports.formats.aoe.operands import Inputs
from aoe_reports.formats.aoe.operator_banks import NotAnEntryError, OperatorEntry, counted, digest_of, sizes_of
from aoe_reports.model.texts import say

TAGS = (
    "mem_copy", "elewise_single_log", "elewise_single_exp", "elewise_single_rec", "elewise_single_VS_add", "elewise_single_VS_mul",
    "elewise_single_abs", "elewise_single_relu", "elewise_single_not", "elewise_single_sqrt", "elewise_binary_add", "elewise_binary_sub",
    "elewise_binary_mul", "elewise_binary_min", "elewise_binary_max", "elewise_binary_or", "elewise_binary_and",
    "elewise_binary_scalar_axpy", "elewise_multiple_mla", "elewise_multiple_madd", "elewise_multiple_maddrelu", "reduce_sum",
    "reduce_sum_nist", "reduce_min", "reduce_min_nist", "reduce_max", "reduce_max_nist", "reduce_prod", "reduce_prod_nist",
    "broadcast_for_tensor", "elewise_single_cast", "elewise_single_round", "elewise_single_ceil", "elewise_single_floor",
    "elewise_single_trunc", "segment_sum", "load2d", "transpose_true", "matmul", "set_fmatrix", "im2col", "conv_mad", "out_to_l1",
    "vector_dup", "l1_to_l0", "mov_backup", "broadcast", "elewise_binary_div", "elewise_single_VS_max", "elewise_single_VS_min",
    "elewise_single_rsqrt", "elewise_binary_vcmpv_gt", "elewise_binary_vcmpv_ge", "elewise_binary_vcmpv_lt", "elewise_binary_vcmpv_le",
    "elewise_binary_vcmpv_eq", "elewise_binary_vcmpv_ne", "vector_auto", "emit_insn_elewise_multiple_sel",
    "emit_insn_elewise_binary_cmp", "elewise_binary_cmpsel", "elewise_single_VS_cond", "elewise_binary_logic",
    "elewise_binary_compare_lt", "elewise_binary_compare_gt", "elewise_single_VS_mul_with_reg_in_quant",
    "elewise_single_VS_adds_with_reg", "elewise_single_VS_mul_with_reg_sqrt_in_quant", "elewise_single_VS_mul_with_reg",
    "elewise_single_VS_add_with_reg", "elewise_single_diagonal", "tuple_reduce_sum", "concat", "elewise_empty_intrin",
    "strided_slice_d", "split_com", "write_select", "elewise_single_round_d", "elewise_single_lrelu", "elewise_binary_addrelu",
    "elewise_binary_subrelu", "elewise_binary_phony", "elewise_binary_cmpsel_eq", "elewise_binary_cmpsel_ne", "out_to_ub", "ub_to_out",
    "dequant_remove_pad", "dequant_vector", "conv_vector_remove_pad", "convolution_im2col_row_major", "convolution_row_major_reshape",
    "convolution__im2col_fractal", "convolution_c_col", "data_transfer", "requant_remove_pad", "requant_vector", "quant",
    "conv_l1fuse_reshape", "dequant_s16_vector", "dequant_s16_remove_pad", "requant_s16_vaddrelu", "requant_s16_vector",
    "conv_virtual_res", "res_remove_pad_u8", "res_remove_pad_s16", "res_out_fp16", "convolution_im2col_fractal",
    "requant_s16_data_transfer", "phony_insn", "elewise_binary_cmpsel_gt", "elewise_binary_cmpsel_ge", "elewise_multiple_sel",
    "empty_intrin", "unified_broadcast", "transpose", "unknown_broadcast", "set_value", "one_shape_broadcast", "one_rank_broadcast",
    "reduce_window_max", "pad_window", "elewise_binary_cmpsel_lt", "split",
)  # fmt: skip
"""What a node computes, by its number; the number 0 is that of inputs, too."""
DATA_TYPES = (
    None, "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64", "FLOAT16", "DT_BF16", "FLOAT", "DOUBLE", "BOOL",
    "UINT1",
)  # fmt: skip
"""The data types by their numbers, in the words of a profile."""
_MATRIX_PRODUCTS = ("MatMul", "MatMulV2", "BatchMatMul", "BatchMatMulV2")
_OPERATORS = {
    "elewise_single_log": ("Log",), "elewise_single_exp": ("Exp",), "elewise_single_rec": ("Reciprocal",),
    "elewise_single_VS_add": ("Adds",), "elewise_single_VS_mul": ("Muls",), "elewise_single_abs": ("Abs",),
    "elewise_single_relu": ("Relu",), "elewise_single_sqrt": ("Sqrt",), "elewise_binary_add": ("Add",), "elewise_binary_sub": ("Sub",),
    "elewise_binary_mul": ("Mul",), "elewise_binary_min": ("Minimum",), "elewise_binary_max": ("Maximum",),
    "elewise_single_cast": ("Cast",), "elewise_binary_div": ("RealDiv", "Div"), "elewise_single_rsqrt": ("Rsqrt",),
    "matmul": _MATRIX_PRODUCTS,
}  # fmt: skip
"""The operators of a profile that compute nothing but one such node."""
_NODE = 5
"""Members that each node has at least."""
_VALUE = 2
"""Members of a value: the schedule and a time in ticks; the name of what was tuned may follow."""


@dataclass(frozen=True, slots=True)
class _Node:
    tag: int
    shape: tuple[int, ...]
    data_type: int
    readers: tuple[int, ...]
    """The nodes of its graph that read it, by their places."""


def entry_of_graph(key: str, value: Any) -> OperatorEntry:
    """The entry of one member of an Auto Tune bank. Raises NotAnEntryError."""
    graphs = list(_graphs(key))
    nodes = [node for graph in graphs for node in graph]
    if not nodes:
        raise NotAnEntryError(say("its key is no graph of operators"))
    schedule, ticks, name = _parts_of(value)
    return OperatorEntry(
        shapes=tuple(dict.fromkeys(node.shape for node in nodes)),
        data_types=tuple(dict.fromkeys(_data_type(node) for node in nodes)),
        nodes=len(nodes),
        operators=counted([name for graph in graphs for name in _names(graph)]),
        inputs=_single(graphs[0]) if len(graphs) == 1 else None,
        kernel=name,
        raw_time=ticks,
        key=digest_of(key),
        value=digest_of(schedule),
    )


def _graphs(key: str) -> Iterator[list[_Node]]:
    """The graphs of a key: several stand one behind the other, nothing between."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(key):
        try:
            graph, at = decoder.raw_decode(key, at)
        except (ValueError, RecursionError) as error:
            raise NotAnEntryError(say("its key is no graph of operators")) from error
        if not isinstance(graph, list) or not graph:
            raise NotAnEntryError(say("its key is no graph of operators"))
        yield [_node(node) for node in graph]


def _node(node: Any) -> _Node:
    if isinstance(node, list) and len(node) >= _NODE:
        numbers, shape, readers = sizes_of([node[0], node[-2]]), sizes_of(node[-4]), sizes_of(node[-1])
        if numbers is not None and shape is not None and readers is not None:
            return _Node(numbers[0], shape, numbers[1], readers)
    raise NotAnEntryError(say("its key is no graph of operators"))


def _names(graph: list[_Node]) -> list[str]:
    """What each node computes; a number without a name stays a number."""
    read = {reader for node in graph for reader in node.readers}
    return [
        "input"
        if node.tag == 0 and place not in read
        else TAGS[node.tag]
        if 0 <= node.tag < len(TAGS)
        else str(node.tag)
        for place, node in enumerate(graph)
    ]


def _data_type(node: _Node) -> str:
    number = node.data_type
    return (DATA_TYPES[number] if 0 <= number < len(DATA_TYPES) else None) or str(number)


def _single(graph: list[_Node]) -> Inputs | None:
    """The operator that a graph of inputs and one node more is; None for any other graph."""
    read = {reader for node in graph for reader in node.readers}
    computed = [place for place in range(len(graph)) if place in read]
    if len(computed) != 1:
        return None
    (place,) = computed
    inputs = [node for at, node in enumerate(graph) if at != place]
    if graph[place].readers or any(node.tag or node.readers != (place,) for node in inputs):
        return None
    types = _OPERATORS.get(_names(graph)[place])
    if types is None:
        return None
    return Inputs(
        types=types,
        shapes=tuple(node.shape for node in inputs),
        data_types=tuple(_data_type(node) for node in inputs),
        output_types=(_data_type(graph[place]),),
        in_order=False,  # nodes are in the order in which the graph was walked
    )


def _parts_of(value: Any) -> tuple[Any, int | None, str | None]:
    """(the schedule, a time in ticks, what was tuned) of a value: a list, since Auto Tune of 2021 as JSON in a string."""
    try:
        parts = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value, None, None
    if not isinstance(parts, list) or len(parts) < _VALUE:
        return value, None, None
    ticks, name = parts[1], parts[_VALUE] if len(parts) > _VALUE else None
    is_time = type(ticks) is int and 0 < ticks < 1 << 63
    return parts[0], ticks if is_time else None, name if isinstance(name, str) and name else None
