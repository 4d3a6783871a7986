"""Which operators, as a profile tells them, an operator bank has entries for.

CANN looks an entry up by chip and number of AI Cores (the name of the file), operator type, and a key that the operator makes of its
inputs and attributes (opbase, `runtime_bank_manager.cpp`). A profile tells inputs, not attributes: what that leaves open is said.
Banks of other forms than `runtime_kb` are looked up for static shapes only (tbe/common of CANN 8.1.RC1: `DynamicManager`, `static_rl_bank.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import prod
from typing import Literal

from aoe_reports.formats.aoe.operands import PLAIN_FORMATS, Inputs, MatrixProduct, product_of
from aoe_reports.formats.aoe.operator_banks import BankForm, OperatorEntry
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
_PRODUCTS = "MatMulV2"
"""Under which type a product of a bank of tilings stands here: its type there, `matmul`, is that of all that `BANK_TYPES` has."""
ALTERNATIVE_CHIPS: Mapping[str, tuple[str, ...]] = {
    "Ascend910PremiumA": ("Ascend910ProA", "Ascend910A"), "Ascend910ProA": ("Ascend910A", "Ascend910PremiumA"),
    "Ascend910A": ("Ascend910ProA", "Ascend910PremiumA"), "Ascend910ProB": ("Ascend910B",), "Ascend910B": ("Ascend910ProB",),
    "Ascend910B1": ("Ascend910B2",), "Ascend910B2": ("Ascend910B1",), "Ascend910B2C": ("Ascend910B2", "Ascend910B1"),
    "Ascend910B3": ("Ascend910B4", "Ascend910B5"), "Ascend910B4": ("Ascend910B5", "Ascend910B3"),
    "Ascend910B4-1": ("Ascend910B4", "Ascend910B5", "Ascend910B3"), "Ascend910B5": ("Ascend910B4", "Ascend910B3"),
    "Ascend310B2": ("Ascend310B1",), "Ascend310B3": ("Ascend310B1",), "Ascend310B4": ("Ascend310B1",),
    "Ascend910_9391": ("Ascend910_9381", "Ascend910_9392", "Ascend910_9382", "Ascend910B1", "Ascend910B2"),
    "Ascend910_9381": ("Ascend910_9391", "Ascend910_9392", "Ascend910_9382", "Ascend910B1", "Ascend910B2"),
    "Ascend910_9392": ("Ascend910_9391", "Ascend910_9381", "Ascend910_9382", "Ascend910B1", "Ascend910B2"),
    "Ascend910_9382": ("Ascend910_9391", "Ascend910_9381", "Ascend910_9392", "Ascend910B1", "Ascend910B2"),
    "Ascend910_9372": ("Ascend910_9362", "Ascend910B3", "Ascend910B4"), "Ascend910_9362": ("Ascend910_9372", "Ascend910B3", "Ascend910B4"),
}  # fmt: skip
"""Whose unified banks CANN searches after those of a chip (base_manager.py of CANN 8.1.RC1, `SOC_ALTERNATIVE`)."""
_FRACTAL = "FRACTAL_NZ"
_FRACTAL_RANK = 4
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
    op_state: str | None = None
    """`static` or `dynamic`: for which shapes it was compiled."""


@dataclass(frozen=True, slots=True)
class BankedOperator:
    """An entry of a bank, as far as the bank says; most graphs of an Auto Tune bank name no type."""

    soc: str | None
    cores: int | None
    op_type: str | None
    product: MatrixProduct | None
    key: str = ""
    form: BankForm = "runtime_kb"
    inputs: Inputs | None = None
    cost_ns: int | None = None

    @property
    def chip(self) -> str:
        """What it is of, for people."""
        soc = self.soc or say("an unknown chip")
        return soc if self.cores is None else say("{soc} with {cores} AI Cores", soc=soc, cores=self.cores)

    @property
    def types(self) -> tuple[str | None, ...]:
        """Under which types of a profile it is looked up, in small letters; null where it names none."""
        if self.inputs is not None:
            return tuple({_looked_up_as(name).casefold(): None for name in self.inputs.types})
        if self.product is not None and self.product.blocks is not None:
            return (_PRODUCTS.casefold(),)
        return (None if self.op_type is None else self.op_type.casefold(),)

    @property
    def has_known_names(self) -> bool:
        """Whether the names of all types and formats of its key are known."""
        if self.inputs is not None:
            return None not in {*self.inputs.data_types, *self.inputs.output_types}
        return self.product is not None and self.product.has_known_names


def banked_operator(entry: OperatorEntry, form: BankForm, soc: str | None, cores: int | None) -> BankedOperator:
    """An entry of a bank of a form, chip and number of AI Cores, as operators are looked up."""
    product = product_of(entry.info)
    return BankedOperator(soc, cores, entry.op_type, product, entry.key, form, entry.inputs, entry.cost_ns)


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
        self._by_type = lists_by_key((op_type, entry) for entry in entries for op_type in entry.types)

    def look_up(self, called: CalledOperator) -> Covered:
        """Whether the banks have what this operator is looked up by."""
        types = {called.op_type, BANK_TYPES.get(called.op_type or "")} - {None}
        every = [e for name in sorted(map(str, types)) for e in self._by_type.get(name.casefold(), ())]
        if not types:
            return Covered("unclear", say("the profile does not give its type"))
        if self._soc is None and every:
            return Covered("unclear", say("the profile does not name its chip; specify it with --soc"))
        known = [entry for entry in every if entry.form == "runtime_kb" or called.op_state != "dynamic"]
        if every and not known:
            return Covered("missing", say("its entries are for static shapes; it was compiled for dynamic shapes"))
        groups = lists_by_key((_way_of(entry), entry) for entry in known)
        found = min((self._of_way(called, way, groups[way]) for way in sorted(groups)), key=_rank, default=None)
        found = found or Covered("missing", say("no entry of this type"))
        return found if found.status != "missing" else self._missing(found, called, types, every)

    def _missing(
        self, found: Covered, called: CalledOperator, types: AbstractSet[str | None], every: Sequence[BankedOperator]
    ) -> Covered:
        """An entry may be missing because an entry names no type, or because such banks hold none of its type."""
        if called.op_state != "dynamic" and self._has_unnamed():
            text = say("the Auto Tune bank has graphs that do not name their operators; one of them may be this")
            return Covered("unclear", text)
        if types.isdisjoint(RUNTIME_TYPES) and all(entry.form == "runtime_kb" for entry in every):
            return Covered("missing", say("CANN does not tune this type with runtime_kb banks"))
        return found

    def _has_unnamed(self) -> bool:
        """Whether there are entries for the chip that do not name their operators."""
        return any(self._soc is None or self._is_here(entry) for entry in self._by_type.get(None, ()))

    def _of_way(self, called: CalledOperator, way: str, every: Sequence[BankedOperator]) -> Covered:
        """Whether the entries that are compared in one way have it."""
        here, away = ([e for e in every if self._is_here(e) == is_here] for is_here in (True, False))
        if way == "inputs":
            return self._noting_chip(_compared_by_inputs(called, here, away))
        readings = readings_of(called, in_blocks=way == "blocks")
        if readings is None:
            return self._untold(here, every)
        return self._noting_chip(_compared(called, readings, here, away))

    def _is_here(self, entry: BankedOperator) -> bool:
        same_cores = self._cores is None or entry.cores in {None, self._cores}
        chips = {self._soc, *(ALTERNATIVE_CHIPS.get(self._soc or "", ()) if entry.form == "unified_bank" else ())}
        return same_cores and (entry.soc or "").casefold() in {chip.casefold() for chip in chips if chip}

    def _noting_chip(self, found: Covered) -> Covered:
        """Which other chip's bank has it, where none of this chip has."""
        chips = {entry.soc or "" for entry in found.entries}
        if found.status != "covered" or (self._soc or "").casefold() in {chip.casefold() for chip in chips}:
            return found
        text = say("in the bank of {chips}, which CANN searches next", chips=join(", ", sorted(chips)))
        return Covered(found.status, text, found.entries)

    def _untold(self, here: Sequence[BankedOperator], every: Sequence[BankedOperator]) -> Covered:
        """Of operators whose key is not told in a profile's words it is only known whether there are entries of the type."""
        if here:
            message = say(
                "{count} entries of this type; their keys cannot be compared with the profile", count=len(here)
            )
            return Covered("unclear", message)
        return Covered("missing", say("entries of this type are only for {chips}", chips=_chips(every)))


_RANKS: Mapping[Coverage, int] = {"covered": 0, "unclear": 1, "stale": 2, "missing": 3}
"""Which of several answers holds: the best."""


def _rank(found: Covered) -> int:
    return _RANKS[found.status]


def _way_of(entry: BankedOperator) -> str:
    """How an entry is compared with a profile."""
    if entry.inputs is not None:
        return "inputs"
    return "sizes" if entry.form in {"runtime_kb", "auto_tune"} else "blocks"


def _looked_up_as(op_type: str) -> str:
    return BANK_TYPES.get(op_type, op_type)


def _compared_by_inputs(
    called: CalledOperator, here: Sequence[BankedOperator], away: Sequence[BankedOperator]
) -> Covered:
    """Whether an entry has the inputs of an operator."""
    entries = tuple(entry for entry in here if _has_inputs(entry, called))
    if any(entry.inputs is not None and not entry.inputs.has_attributes for entry in entries):
        return Covered("covered", entries=tuple(e for e in entries if e.inputs and not e.inputs.has_attributes))
    if entries:
        return Covered("unclear", say("an entry has its inputs; its attributes are not in the profile"), entries)
    others = [entry for entry in away if _has_inputs(entry, called)]
    if others:
        return Covered("stale", say("its entry is for {chips}", chips=_chips(others)))
    if any(_has_as_many_elements(entry, called) for entry in here):
        return Covered("unclear", say("an entry has as many elements in other dimensions; CANN may merge dimensions"))
    return Covered("missing", say("no entry of these shapes and data types"))


def _inputs_of(called: CalledOperator) -> list[tuple[tuple[int, ...] | None, str]]:
    """(shape, data type) of each input of an operator that has one; the type is empty where the profile has none."""
    shapes, types = (called.input_shapes or "").split(";"), _words(called.data_types)
    padded = [*types, *[""] * (len(shapes) - len(types))]
    return [(_sizes(shape), word) for shape, word in zip(shapes, padded, strict=False) if shape.strip('" ')]


def _has_inputs(entry: BankedOperator, called: CalledOperator) -> bool:
    inputs, asked = entry.inputs, _inputs_of(called)
    if inputs is None or len(asked) != len(inputs.shapes):
        return False
    kept = [(shape, _bare(word or "")) for shape, word in zip(inputs.shapes, inputs.data_types, strict=True)]
    if not inputs.in_order:
        kept, asked = sorted(kept), sorted(asked, key=lambda one: (one[0] or (), one[1]))
    outputs = zip(inputs.output_types, _words(called.output_types), strict=False)
    formats = zip(inputs.formats, _words(called.formats), strict=False)
    return (
        all(mine == theirs and word in {"", other} for (mine, other), (theirs, word) in zip(kept, asked, strict=True))
        and all(not theirs or _bare(mine or "") == theirs for mine, theirs in outputs)
        and all(not theirs or mine == theirs for mine, theirs in formats)
    )


def _has_as_many_elements(entry: BankedOperator, called: CalledOperator) -> bool:
    """Whether each input has as many elements as one of an entry for which dimensions may have been merged."""
    inputs, asked = entry.inputs, _inputs_of(called)
    if inputs is None or inputs.in_order or any(shape is None for shape, _ in asked):
        return False
    kept = sorted(
        (prod(shape), _bare(word or "")) for shape, word in zip(inputs.shapes, inputs.data_types, strict=True)
    )
    return kept == sorted((prod(shape or ()), word) for shape, word in asked)


def readings_of(called: CalledOperator, *, in_blocks: bool = False) -> list[_Reading] | None:
    """The matrix products that an operator with two inputs of these shapes may be; None where it cannot be one, or the shapes are padded.

    `in_blocks`: padded shapes will do, because they are compared with sizes that are rounded up.
    """
    shapes = [_sizes(shape) for shape in (called.input_shapes or "").split(";")][:_OPERANDS]
    formats = [*_words(called.formats)[:_OPERANDS], "", ""]
    if len(shapes) < _OPERANDS:
        return None
    first, second = (_matrix(shape, form, in_blocks=in_blocks) for shape, form in zip(shapes, formats, strict=False))
    if first is None or second is None:
        return None
    found = []
    for is_first in (False, True):
        for is_second in (False, True):
            (m, k), (other_k, n) = (first[:: -1 if is_first else 1], second[:: -1 if is_second else 1])
            if k == other_k:
                found.append((m, k, n, is_first, is_second))
    return found or None


def _matrix(shape: tuple[int, ...] | None, form: str, *, in_blocks: bool) -> tuple[int, ...] | None:
    """The sizes of a matrix of this shape and format; None where it is none, or padded."""
    if shape is not None and in_blocks and form == _FRACTAL and len(shape) == _FRACTAL_RANK:
        columns, rows, height, width = shape
        return rows * height, columns * width
    is_plain = not form or form in PLAIN_FORMATS
    return shape if shape is not None and is_plain and len(shape) == _OPERANDS else None


def _compared(
    called: CalledOperator, readings: Sequence[_Reading], here: Sequence[BankedOperator], away: Sequence[BankedOperator]
) -> Covered:
    """Whether each product that it may be has an entry."""
    bias = sum(bool(shape.strip()) for shape in (called.input_shapes or "").split(";")) > _OPERANDS
    fits = [entry for entry in here if _fits(entry, called, bias=bias)]
    entries = tuple(entry for entry in fits if _is_read_as(entry, readings))
    found = {_reading_of(entry) for entry in entries}
    if found and len(found) == len({_rounded(reading, entries[0]) for reading in readings}):
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
    others = [entry for entry in away if _fits(entry, called, bias=bias) and _is_read_as(entry, readings)]
    if others:
        return Covered("stale", say("its entry is for {chips}", chips=_chips(others)))
    if any(_is_read_as(entry, readings) for entry in here):
        return Covered("missing", say("entries of these shapes have other data types, formats or bias"))
    return Covered("missing", say("no entry of these shapes"))


def _fits(entry: BankedOperator, called: CalledOperator, *, bias: bool) -> bool:
    """Whether all but the shapes agrees, as far as both tell it."""
    product = entry.product
    if product is None or not product.alone or product.bias != bias:
        return False
    pairs = [
        (product.output_type, _words(called.output_types)[0]),
        *zip((*product.data_types, product.bias_type), _words(called.data_types), strict=False),
        *zip(product.formats or (), _words(called.formats), strict=False),
    ]
    return all(mine is None or not theirs or _bare(mine) == theirs for mine, theirs in pairs)


def _reading_of(entry: BankedOperator) -> _Reading | None:
    product = entry.product
    if product is None or not product.alone:
        return None
    return (product.m, product.k, product.n, *product.transposes)


def _is_read_as(entry: BankedOperator, readings: Sequence[_Reading]) -> bool:
    return _reading_of(entry) in {_rounded(reading, entry) for reading in readings}


def _rounded(reading: _Reading, entry: BankedOperator) -> _Reading:
    """A product as the key of an entry has it: its sizes rounded up to blocks."""
    if entry.product is None or entry.product.blocks is None:
        return reading
    m, k, n = (-(-size // block) * block for size, block in zip(reading[:3], entry.product.blocks, strict=True))
    return (m, k, n, *reading[3:])


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
