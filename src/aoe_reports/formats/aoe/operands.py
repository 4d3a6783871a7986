"""What the key of an entry in an operator bank says in the words of a profile: shapes, data types, formats of its inputs.

Sources: the struct that keys of matrix products are made of (`GemmInputArgs`, metadef and ops-nn of CANN), the numbers of data types
and formats as msprof prints them (`GeDataType`, `GeDataFormat` of Ascend/msprof); for keys with `A_shape` the code that makes them (canndev,
`gemm_schedule_v2.py`; tbe/common/tiling/op_param_encode/matmul_params_encoder.py of CANN 8.1.RC1), and for keys with `inputs`
tbe/common/utils/create_kb_query_key.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aoe_reports.model.documents import Json

DATA_TYPES: Mapping[int, str] = {
    0: "FLOAT", 1: "FLOAT16", 2: "INT8", 3: "INT32", 4: "UINT8", 6: "INT16", 7: "UINT16", 8: "UINT32", 9: "INT64",
    10: "UINT64", 11: "DOUBLE", 12: "BOOL", 27: "DT_BF16", 29: "DT_INT4",
}  # fmt: skip
"""The data types that operators are tuned with, by their numbers."""
FORMATS: Mapping[int, str] = {0: "NCHW", 1: "NHWC", 2: "ND", 3: "NC1HWC0", 4: "FRACTAL_Z", 29: "FRACTAL_NZ"}
"""The formats that operators are tuned with, by their numbers."""
PLAIN_FORMATS = frozenset({"NCHW", "NHWC", "ND"})
"""Formats whose shape is that of the operator: in all others dimensions are split and padded."""

_DATA_TYPES_OF_TVM = {
    "float32": "FLOAT", "float64": "DOUBLE", "bfloat16": "DT_BF16", "int4": "DT_INT4",
    **{name.lower(): name for name in ("FLOAT16", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "BOOL")},
}  # fmt: skip
"""The words of a profile for data types as operators of TBE are given them."""
_SIZES = ("m", "k", "n")
_BATCHES = tuple(f"batch_{side}{number}" for side in "ab" for number in range(1, 5))
_FUSED = ("l1_fused_num", "fused_double_operand_num")
_FLAGS = ("trans_a_flag", "trans_b_flag", "bias_flag")
_RANK = 5
"""Dimensions of `A_shape`, [batch, K/k0, M/m0, m0, k0], and of `B_shape`, [K, N/n0, 1, 1, n0]."""
_TRANSPOSES = {1: (False, False), 2: (True, False), 3: (False, True), 4: (True, True)}
"""Which operand lies transposed, by `dilationH`."""
_ALONE: Mapping[str, int] = {
    "batch_type": 0, "fused_double_operand_num": 0, "reduce_fusion": 0, "scalar_size": 0, "padl": 0, "padr": 0, "padu": 0, "padd": 0,
    "strideW": 1, "strideH_expand": 1, "strideW_expand": 1, "dilationW": 1, "group": 1, "fixpipe_flag": 1,
}  # fmt: skip
"""What the key of a product by itself says; `fixpipe_flag` is 1 where nothing is fused behind the product."""
_WRAPPED = 1 << 15
"""From so many blocks on CANN halves the number of rows that it looks up."""


@dataclass(frozen=True, slots=True)
class MatrixProduct:
    """The key of a matrix product: [m, k] times [k, n], each as it lies in memory."""

    m: int
    k: int
    n: int
    transposes: tuple[bool, bool]
    """Whether the first, and the second, operand lies in memory transposed."""
    bias: bool
    alone: bool
    """Whether it is one product by itself: no batches, whose order no source tells, and nothing fused with it."""
    data_types: tuple[str | None, str | None]
    """Of both operands; null for a number that is not known."""
    output_type: str | None
    formats: tuple[str | None, str | None] | None
    """Null where the key does not have them."""
    bias_type: str | None = None
    blocks: tuple[int, int, int] | None = None
    """What m, k and n are rounded up to, where the key has them so."""

    @property
    def has_known_names(self) -> bool:
        """Whether the names of all types and formats are known that the key has."""
        return None not in {*self.data_types, self.output_type, *(self.formats or ())}

    @property
    def shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The shapes of both operands, as a profile prints them."""
        first, second = self.transposes
        return ((self.k, self.m) if first else (self.m, self.k), (self.n, self.k) if second else (self.k, self.n))


@dataclass(frozen=True, slots=True)
class Inputs:
    """An operator by its inputs, as a profile has them."""

    types: tuple[str, ...]
    """What the operator may be called."""
    shapes: tuple[tuple[int, ...], ...]
    data_types: tuple[str | None, ...]
    output_types: tuple[str | None, ...]
    formats: tuple[str, ...] = ()
    """Empty where the key does not have them."""
    in_order: bool = True
    """Whether the inputs are in the order of the operator."""
    has_attributes: bool = False
    """Whether the key has attributes, too, which no profile has."""


def data_type_of(word: Json) -> str | None:
    """The word of a profile for a data type as operators of TBE are given it."""
    return _DATA_TYPES_OF_TVM.get(word) if isinstance(word, str) else None


def product_of(info: Mapping[str, Json] | None) -> MatrixProduct | None:
    """The matrix product that a key is of; None for a key of another operator."""
    if info is not None and info.get("op_type") == "matmul":
        return _blocked_product_of(info)
    if info is None or not all(type(info.get(name)) is int for name in (*_SIZES, *_BATCHES)):
        return None
    if not all(type(info.get(name)) is bool for name in _FLAGS):
        return None
    m, k, n = (int(str(info[name])) for name in _SIZES)
    first, second, bias = (info[name] is True for name in _FLAGS)
    return MatrixProduct(
        m=m,
        k=k,
        n=n,
        transposes=(first, second),
        bias=bias,
        alone=all(info[name] == 1 for name in _BATCHES) and not any(info.get(name) for name in _FUSED),
        output_type=_named(DATA_TYPES, info, "out_dtype"),
        data_types=(_named(DATA_TYPES, info, "a_dtype"), _named(DATA_TYPES, info, "b_dtype")),
        formats=(_named(FORMATS, info, "a_format"), _named(FORMATS, info, "b_format")),
    )


def _blocked_product_of(info: Mapping[str, Json]) -> MatrixProduct | None:
    """A product with its sizes in blocks, as tilings of GA tuning are looked up."""
    first, second = _sizes(info.get("A_shape")), _sizes(info.get("B_shape"))
    flag, bias = info.get("dilationH"), info.get("bias_flag")
    transposes = _TRANSPOSES.get(flag) if type(flag) is int else None
    if len(first) != _RANK or len(second) != _RANK or transposes is None or not isinstance(bias, bool | int):
        return None
    batches, k_blocks, m_blocks, m0, k0 = first
    k, n_blocks, _, _, n0 = second
    if k != k_blocks * k0 or 0 in {*first, *second}:
        return None
    is_alone = all(info.get(name, least) == least for name, least in _ALONE.items())
    return MatrixProduct(
        m=m_blocks * m0,
        k=k,
        n=n_blocks * n0,
        transposes=transposes,
        bias=bool(bias),
        alone=is_alone and batches == 1 and m_blocks < _WRAPPED,
        data_types=(data_type_of(info.get("A_dtype")), data_type_of(info.get("B_dtype"))),
        output_type=data_type_of(info.get("C_dtype")),
        formats=None,
        bias_type=data_type_of(info.get("bias_dtype")),
        blocks=(m0, k0, n0),
    )


def inputs_of(info: Mapping[str, Json]) -> Inputs | None:
    """The operator that a key with lists of inputs and outputs is of; None for any other key."""
    op_type, inputs, outputs = info.get("op_type"), _tensors(info.get("inputs")), _tensors(info.get("outputs"))
    if not isinstance(op_type, str) or not op_type or inputs is None or not inputs:
        return None
    formats = tuple(form for one in inputs if isinstance(form := one.get("format"), str))
    return Inputs(
        types=(op_type,),
        shapes=tuple(_sizes(one.get("shape")) for one in inputs),
        data_types=tuple(data_type_of(one.get("dtype")) for one in inputs),
        output_types=tuple(data_type_of(one.get("dtype")) for one in outputs or ()),
        formats=formats if len(formats) == len(inputs) else (),
        has_attributes=bool(info.get("attrs")),
    )


def _tensors(found: Json) -> list[Mapping[str, Json]] | None:
    """The tensors of a list, those of a list within it among them; one that is absent is left out."""
    if not isinstance(found, list):
        return None
    tensors = [one for some in found for one in (some if isinstance(some, list) else [some]) if one]
    return [one for one in tensors if isinstance(one, dict)] if all(isinstance(one, dict) for one in tensors) else None


def _sizes(found: Json) -> tuple[int, ...]:
    """A list of sizes; empty for anything else."""
    if not isinstance(found, list) or not all(type(one) is int and 0 <= one < 1 << 63 for one in found):
        return ()
    return tuple(one for one in found if isinstance(one, int))


def _named(names: Mapping[int, str], info: Mapping[str, Json], field: str) -> str | None:
    number = info.get(field)
    return names.get(number) if type(number) is int else None
