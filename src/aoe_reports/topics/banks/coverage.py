"""Which operators, as a profile tells them, an operator bank has entries for.

CANN looks an entry up by chip and number of AI Cores (the name of the file), operator type, and a key that the operator makes of its
inputs and attributes (opbase, `runtime_bank_manager.cpp`). A profile tells inputs, not attributes: what that leaves open is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from aoe_reports.formats.aoe.operands import PLAIN_FORMATS, MatrixProduct
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.texts import join, say

Coverage = Literal["covered", "stale", "missing", "unclear"]
BANK_TYPES: Mapping[str, str] = {"MatMul": "MatMulV2", "BatchMatMul": "MatMulV2", "BatchMatMulV2": "MatMulV2"}
"""Under which type operators of some types are looked up (opbase, `OP_TYPE_MAP`); all others under their own."""
RUNTIME_TYPES = frozenset({
    "DynamicRNN", "MatMulV2", "Conv2DBackpropInput", "Conv2DBackpropFilter", "Conv2DTranspose", "Conv2D", "Conv3DBackpropInput",
    "Conv3DTranspose", "Conv3D", "BatchMatmulFixpipe", "FFN", "MatMulV3", "QuantBatchMatmulV3", "Conv2DV2", "Conv3DV2", "Mc2MatMulV3",
    "Mc2QuantBatchMatmulV3", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2",
})  # fmt: skip
"""The types that CANN tunes with runtime_kb banks (opbase, `kOpWhiteLists`)."""
_OPERANDS = 2
_Reading = tuple[int, int, int, bool, bool]
"""(m, k, n, whether the first operand lies transposed, whether the second does)."""


@dataclass(frozen=True, slots=True)
class CalledOperator:
    """An operator as a profile tells it; null is not told."""

    op_type: str | None
    input_shapes: str | None
    data_types: str | None
    formats: str | None
    output_types: str | None = None


@dataclass(frozen=True, slots=True)
class BankedOperator:
    """An entry of a bank, as far as it is told; an Auto Tune bank tells no type."""

    soc: str | None
    cores: int | None
    op_type: str | None
    product: MatrixProduct | None
    key: str = ""

    @property
    def chip(self) -> str:
        """What it is of, for people."""
        soc = self.soc or say("an unknown chip")
        return soc if self.cores is None else say("{soc} with {cores} AI Cores", soc=soc, cores=self.cores)


@dataclass(frozen=True, slots=True)
class Covered:
    """Whether an operator is covered, why that is said, and the entries for it on its chip."""

    status: Coverage
    reason: str = ""
    entries: tuple[BankedOperator, ...] = ()


class BankIndex:
    """The entries of banks, for the chip of a profile."""

    def __init__(self, entries: Iterable[BankedOperator], soc: str | None, cores: int | None) -> None:
        """`soc` and `cores` are the profile's; null is not known."""
        self._soc, self._cores = soc, cores
        self._by_type = lists_by_key((entry.op_type, entry) for entry in entries)

    def look_up(self, called: CalledOperator) -> Covered:
        """Whether the banks have what this operator is looked up by."""
        types = {called.op_type, BANK_TYPES.get(called.op_type or "")} - {None}
        every = [entry for op_type in sorted(map(str, types)) for entry in self._by_type.get(op_type, ())]
        if not types:
            return Covered("unclear", say("the profile does not give its type"))
        if self._soc is None and every:
            return Covered("unclear", say("the profile does not name its chip; specify it with --soc"))
        here = [entry for entry in every if self._is_here(entry)]
        readings = readings_of(called)
        if not every:
            found = Covered("missing", say("no entry of this type"))
        elif readings is None:
            found = self._untold(here, every)
        else:
            found = _compared(called, readings, here, [entry for entry in every if not self._is_here(entry)])
        if found.status == "missing":
            return self._missing(found, types.isdisjoint(RUNTIME_TYPES))
        return found

    def _is_here(self, entry: BankedOperator) -> bool:
        same_cores = self._cores is None or entry.cores in {None, self._cores}
        return self._soc is not None and (entry.soc or "").casefold() == self._soc.casefold() and same_cores

    def _untold(self, here: Sequence[BankedOperator], every: Sequence[BankedOperator]) -> Covered:
        """Of operators whose key is not told in a profile's words it is only known whether there are entries of the type."""
        if here:
            message = say(
                "{count} entries of this type; their keys cannot be compared with the profile", count=len(here)
            )
            return Covered("unclear", message)
        return Covered("missing", say("entries of this type are only for {chips}", chips=_chips(every)))

    def _missing(self, found: Covered, is_other: bool) -> Covered:
        """An entry may be missing because its type is not told, or because such banks hold none of its type."""
        if any(self._soc is None or self._is_here(entry) for entry in self._by_type.get(None, ())):
            return Covered("unclear", say("the Auto Tune bank does not record the operator types of its entries"))
        if is_other:
            return Covered("missing", say("CANN does not tune this type with runtime_kb banks"))
        return found


def readings_of(called: CalledOperator) -> list[_Reading] | None:
    """The matrix products that an operator with two inputs of these shapes may be; None where it cannot be one, or the shapes are padded."""
    shapes = [_sizes(shape) for shape in (called.input_shapes or "").split(";")]
    formats = _words(called.formats)[:_OPERANDS]
    if len(shapes) < _OPERANDS or any(form and form not in PLAIN_FORMATS for form in formats):
        return None
    first, second = shapes[:_OPERANDS]
    if first is None or second is None or len(first) != _OPERANDS or len(second) != _OPERANDS:
        return None
    found = []
    for is_first in (False, True):
        for is_second in (False, True):
            (m, k), (other_k, n) = (first[:: -1 if is_first else 1], second[:: -1 if is_second else 1])
            if k == other_k:
                found.append((m, k, n, is_first, is_second))
    return found or None


def _compared(
    called: CalledOperator, readings: Sequence[_Reading], here: Sequence[BankedOperator], away: Sequence[BankedOperator]
) -> Covered:
    """Whether each product that it may be has an entry."""
    bias = sum(bool(shape.strip()) for shape in (called.input_shapes or "").split(";")) > _OPERANDS
    fits = [entry for entry in here if _fits(entry, called, bias=bias)]
    entries = tuple(entry for entry in fits if _reading_of(entry) in readings)
    found = {_reading_of(entry) for entry in entries}
    if len(found) == len(readings):
        return Covered("covered", entries=entries)
    if found:
        message = say(
            "the profile does not record which operand is transposed: {found} of {count} possibilities have an entry",
            found=len(found),
            count=len(readings),
        )
        return Covered("unclear", message, entries)
    if any(entry.product is None for entry in here):
        return Covered("unclear", say("entries of this type have keys of an unknown form"))
    others = [entry for entry in away if _fits(entry, called, bias=bias) and _reading_of(entry) in readings]
    if others:
        return Covered("stale", say("its entry is for {chips}", chips=_chips(others)))
    if any(_reading_of(entry) in readings for entry in here):
        return Covered("missing", say("entries of these shapes have other data types, formats or bias"))
    return Covered("missing", say("no entry of these shapes"))


def _fits(entry: BankedOperator, called: CalledOperator, *, bias: bool) -> bool:
    """Whether all but the shapes agrees, as far as both tell it."""
    product = entry.product
    if product is None or not product.alone or product.bias != bias:
        return False
    pairs = [
        (product.output_type, _words(called.output_types)[0]),
        *zip(product.data_types, _words(called.data_types), strict=False),
        *zip(product.formats, _words(called.formats), strict=False),
    ]
    return all(mine is None or not theirs or _bare(mine) == theirs for mine, theirs in pairs)


def _reading_of(entry: BankedOperator) -> _Reading | None:
    product = entry.product
    if product is None or not product.alone:
        return None
    return (product.m, product.k, product.n, *product.transposes)


def _sizes(text: str) -> tuple[int, ...] | None:
    """The dimensions of one shape; None for none."""
    words = [word.strip() for word in text.strip('" ').split(",")]
    return tuple(map(int, words)) if all(word.isascii() and word.isdecimal() for word in words) else None


def _words(text: str | None) -> list[str]:
    """The types or formats of a profile; exporters since 2025 write FORMAT_ND, and DT_BF16 beside FLOAT16."""
    return [_bare(word.strip('" ')) for word in (text or "").split(";")]


def _bare(word: str) -> str:
    return word.removeprefix("FORMAT_").removeprefix("DT_")


def _chips(entries: Sequence[BankedOperator]) -> str:
    return join(", ", sorted({entry.chip for entry in entries}))
