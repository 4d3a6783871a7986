"""Tensors of an operator as tables of tasks tell them, and their logical sizes where they are kept in a private format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import NamedTuple

BITS: Mapping[str, int] = {
    **dict.fromkeys(("INT4", "UINT4", "FLOAT4_E2M1", "FLOAT4_E1M2"), 4),
    **dict.fromkeys(("INT8", "UINT8", "BOOL", "QINT8", "QUINT8", "HIFLOAT8", "FLOAT8_E5M2", "FLOAT8_E4M3FN"), 8),
    **dict.fromkeys(("FLOAT16", "BF16", "INT16", "UINT16"), 16),
    **dict.fromkeys(("FLOAT", "INT32", "UINT32"), 32),
    **dict.fromkeys(("DOUBLE", "INT64", "UINT64", "COMPLEX64"), 64),
    "COMPLEX128": 128,
}
"""The bits of one element by type (CANN: aclDataType)."""
_OTHER_NAMES = {"BFLOAT16": "BF16", "FLOAT32": "FLOAT", "FLOAT64": "DOUBLE"}

PLAIN = frozenset({"ND", "NCHW", "NHWC", "NCL", "HWCN", "NCDHW", "NDHWC", "DHWCN"})
"""Formats whose sizes are the logical ones."""


_NOT_GIVEN = frozenset({"", "UNDEFINED", "NULL"})
"""The type of an optional input that is not given, in exports that do not tell the type it would have."""


class Tensor(NamedTuple):
    """One input or output; () is the shape of a scalar, and of an input that is not given."""

    shape: tuple[int, ...]
    type_: str
    format_: str

    @property
    def is_given(self) -> bool:
        """Whether it is there, as far as that is told."""
        return bool(self.shape) or self.type_ not in _NOT_GIVEN

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return prod(self.shape) if self.is_given else 0

    @property
    def bytes_(self) -> int | None:
        """How much memory it takes; null where the size of its type is not known."""
        if not self.is_given:
            return 0
        bits = BITS.get(self.type_)
        return None if bits is None else -(-self.elements * bits // 8)


class Dim(NamedTuple):
    """One logical size; one that was rounded up to a multiple of `block` is at most `block - 1` too large."""

    value: int
    block: int = 1

    @property
    def is_exact(self) -> bool:
        """Whether nothing was rounded up."""
        return self.block == 1

    def matched(self, other: Dim) -> Dim | None:
        """The size that both stand for, the exact one where one is; null where they cannot be the same."""
        exact, padded = (self, other) if self.is_exact else (other, self)
        if self.is_exact == other.is_exact:
            return self if self.value == other.value else None
        return exact if 0 <= padded.value - exact.value < padded.block else None


@dataclass(frozen=True, slots=True)
class Image:
    """What a convolution reads or writes: images, their channels, and the sizes of each."""

    count: int
    channels: Dim
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """The matrices of a tensor; `batch` counts them, dimension by dimension."""

    batch: tuple[int, ...]
    rows: Dim
    columns: Dim


@lru_cache(maxsize=4096)
def type_name(text: str) -> str:
    """The name of a type without the prefix of some exports: DT_BF16 is BF16."""
    name = text.strip().upper().removeprefix("DT_")
    return _OTHER_NAMES.get(name, name)


@lru_cache(maxsize=4096)
def format_name(text: str) -> str:
    """The name of a format without prefix and without a part that says nothing here: FORMAT_ND is ND, NC1HWC0:1 is NC1HWC0.

    Of FRACTAL_Z the part behind the colon is the number of groups, and stays.
    """
    name, _, sub = text.strip().upper().removeprefix("FORMAT_").partition(":")
    return f"{name}:{sub}" if name.startswith("FRACTAL_Z") and sub not in {"", "0", "1"} else name


def tensors_of(shapes: str | None, types: str | None, formats: str | None) -> tuple[Tensor, ...] | None:
    """The tensors that three texts of a table tell (`1,2;3`, `FLOAT;INT32`, `ND;ND`); null where these do not fit, or are not told."""
    if shapes is None or not types:
        return None
    parts = shapes.split(";")
    names = types.split(";")
    layouts = formats.split(";") if formats else ["ND"] * len(parts)
    if len(parts) != len(names) or len(parts) != len(layouts):
        return None
    found = []
    for part, name, layout in zip(parts, names, layouts, strict=True):
        shape = _shape(part)
        if shape is None:
            return None
        found.append(Tensor(shape, type_name(name), format_name(layout)))
    return tuple(found)


_MAX_ELEMENTS = 1 << 62
"""No memory holds more of them."""


@lru_cache(maxsize=65536)
def _shape(text: str) -> tuple[int, ...] | None:
    """The sizes of one tensor; null where one is not known (-1), or they are none."""
    if not text:
        return ()
    try:
        sizes = tuple(map(int, text.split(",")))
    except ValueError:
        return None
    return sizes if min(sizes) >= 0 and prod(sizes) < _MAX_ELEMENTS else None


def bytes_of(tensors: Iterable[Tensor]) -> int | None:
    """How much memory some tensors take; null where that of one is not known."""
    sizes = [tensor.bytes_ for tensor in tensors]
    return None if None in sizes else sum(size or 0 for size in sizes)


def matrix_of(tensor: Tensor) -> Matrix | None:
    """The matrices of a tensor; null where it is none, or in a format that does not tell.

    FRACTAL_NZ keeps [.., M, N] as [.., ceil(N/N0), ceil(M/M0), M0, N0] (CANN, data formats); with fewer dimensions the
    shape is the logical one.
    """
    shape = tensor.shape
    if tensor.format_ == "FRACTAL_NZ" and len(shape) >= 4:  # noqa: PLR2004 -- of its four last
        columns, rows, row_block, column_block = shape[-4:]
        return Matrix(shape[:-4], Dim(rows * row_block, row_block), Dim(columns * column_block, column_block))
    if len(shape) < 2 or not (tensor.format_ in PLAIN or tensor.format_ == "FRACTAL_NZ"):  # noqa: PLR2004
        return None
    return Matrix(shape[:-2], Dim(shape[-2]), Dim(shape[-1]))


def image_of(tensor: Tensor) -> Image | None:
    """The images of a tensor; null where its format does not tell which of its sizes is which."""
    shape = tensor.shape
    match tensor.format_, len(shape):
        case ("NCHW", 4) | ("NCDHW", 5) | ("NCL", 3):
            return Image(shape[0], Dim(shape[1]), shape[2:])
        case ("NHWC", 4) | ("NDHWC", 5):
            return Image(shape[0], Dim(shape[-1]), shape[1:-1])
        case "NC1HWC0", 5:
            return Image(shape[0], Dim(shape[1] * shape[4], shape[4]), shape[2:4])
        case "NDC1HWC0", 6:
            return Image(shape[0], Dim(shape[2] * shape[5], shape[5]), (shape[1], *shape[3:5]))
    return None
