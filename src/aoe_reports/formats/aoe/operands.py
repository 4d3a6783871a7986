"""What the key of an entry in an operator bank says in the words of a profile: shapes, data types, formats of its inputs.

Sources: the struct that keys of matrix products are made of (`GemmInputArgs`, metadef and ops-nn of CANN), the numbers of data types
and formats as msprof prints them (`GeDataType`, `GeDataFormat` of Ascend/msprof).
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

_SIZES = ("m", "k", "n")
_BATCHES = tuple(f"batch_{side}{number}" for side in "ab" for number in range(1, 5))
_FUSED = ("l1_fused_num", "fused_double_operand_num")
_FLAGS = ("trans_a_flag", "trans_b_flag", "bias_flag")


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
    formats: tuple[str | None, str | None]

    @property
    def shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The shapes of both operands, as a profile prints them."""
        first, second = self.transposes
        return ((self.k, self.m) if first else (self.m, self.k), (self.n, self.k) if second else (self.k, self.n))


def product_of(info: Mapping[str, Json] | None) -> MatrixProduct | None:
    """The matrix product that a key is of; None for a key of another operator."""
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


def _named(names: Mapping[int, str], info: Mapping[str, Json], field: str) -> str | None:
    number = info.get(field)
    return names.get(number) if type(number) is int else None
