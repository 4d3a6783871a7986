"""What a chip can do at most: operations of its cube and vector cores, and the bandwidth of its memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from aoe_reports.facts.bounds import CoreCounts
from aoe_reports.facts.clock import Clock
from aoe_reports.model.texts import Text, say
from aoe_reports.topics.roofline.flops import Engine, Precision

_MACS = 16 * 16 * 16
CUBE_FLOPS_PER_CYCLE: Mapping[Precision, int] = {
    "fp16": 2 * _MACS,
    "bf16": 2 * _MACS,
    "int8": 4 * _MACS,
    "int4": 8 * _MACS,
}
"""Of one cube core, by type. Source: DtypeMKN in CANN's platform_config/*.ini (16x16x16, INT8 16x32x16, INT4 16x64x16)."""
SPLIT_CUBE_FLOPS_PER_CYCLE: Mapping[Precision, int] = {"hf32": _MACS, "fp32": _MACS // 2}
"""Of chips with cores of their own for cube and vector (Intrinsic_mmad has f32f32f32 and h322f32 there, and not on older ones).

Source: measured. On the public captures of Ascend/msinsight (test/data/pytorch) convolutions with HF32 reach 3,914 and matrix
products of FP32 1,989 operations in each cycle that aic_mac_ratio counts: 96 % and 97 % of these.
"""
_VECTOR_LANES = 128
"""Of two bytes each in one vector core; source: vec_calc_size in CANN's platform_config/*.ini."""
VECTOR_FLOPS_PER_CYCLE: Mapping[Precision, int] = {"fp16": 2 * _VECTOR_LANES, "fp32": _VECTOR_LANES}
"""Of one vector core; a multiplication with an addition counts as two (so CANN's guides reckon: 22 TFLOP/s of 48 cores at 1.8 GHz)."""


@dataclass(frozen=True, slots=True)
class Chip:
    """One entry of the table; frequencies in MHz. Null is what no public source tells."""

    cube_cores: int
    mhz: int
    vector_cores: int
    """0: the cores of the cube have a vector unit each."""
    l2_bytes: int
    family: str
    """What some exports call all chips of its kind."""
    gb_per_s: float | None = None
    vector_mhz: int | None = None
    """Of vector cores with a frequency of their own, which stand beside those of the cube."""


_MB = 1 << 20
CHIPS: Mapping[str, Chip] = {
    "Ascend910A": Chip(32, 1000, 0, 32 * _MB, "Ascend910"),
    "Ascend910B1": Chip(24, 1850, 48, 192 * _MB, "Ascend910B"),
    "Ascend910B2": Chip(24, 1800, 48, 192 * _MB, "Ascend910B", 1600),
    "Ascend910B2C": Chip(24, 1800, 48, 192 * _MB, "Ascend910B"),
    "Ascend910B3": Chip(20, 1800, 40, 192 * _MB, "Ascend910B"),
    "Ascend910B4": Chip(20, 1500, 40, 96 * _MB, "Ascend910B"),
    "Ascend910B4-1": Chip(20, 1500, 40, 168 * _MB, "Ascend910B"),
    "Ascend910_9372": Chip(20, 1800, 40, 192 * _MB, "Ascend910_93"),
    "Ascend910_9382": Chip(24, 1800, 48, 192 * _MB, "Ascend910_93"),
    "Ascend910_9391": Chip(24, 1850, 48, 192 * _MB, "Ascend910_93"),
    "Ascend910_9392": Chip(24, 1850, 48, 192 * _MB, "Ascend910_93"),
    "Ascend310P3": Chip(8, 1060, 7, 16 * _MB, "Ascend310P", 204, vector_mhz=1000),
}
"""Source of cores, frequencies and L2: CANN's own src/platform/platform_config/cann/NAME.ini (ai_core_cnt, cube_freq,
vector_core_cnt, vec_freq, l2_size), github.com/hicann/runtime, read in November 2026. That file calls a chip of the first
generation Ascend910B (30 cores), which exports of today call all of the second: that name alone is none of the table.
Source of bandwidths: 910B2 1.6 TB/s, CANN's guide to other platforms (gitcode.com/cann/ops-nn, docs/zh/develop/
cross_platform_migration_guide.md); 310P3 408 GB/s of the two chips of an Atlas 300I Duo, as the press reports. Of the others none is
public: `--peak-gb-per-s` sets it."""


@dataclass(frozen=True, slots=True)
class Peaks:
    """What one device can do at most."""

    cube: Mapping[Precision, float] = field(default_factory=dict)
    """FLOP/s by precision; a precision without a public figure is not there."""
    vector: Mapping[Precision, float] = field(default_factory=dict)
    bytes_per_s: float | None = None
    l2_bytes: int | None = None
    chip: str | None = None
    """The chip whose entry was used for any of it."""
    told_by: Text | str = ""
    is_certain: bool = True
    """Whether the chip cannot have more cores: counters show only those that were at work."""

    def flops_per_s(self, engine: Engine, precision: Precision | None) -> float | None:
        """The peak of one unit and precision; null where it is not known."""
        if precision is None:
            return None
        return (self.cube if engine == "cube" else self.vector).get(precision)


def peaks_of(
    chip: str | None,
    cores: CoreCounts,
    clock: Clock | None,
    *,
    split: bool = False,
    tflops: float | None = None,
    gb_per_s: float | None = None,
) -> Peaks:
    """The peaks of a device: as given, else by its info file, else by the chip's name, else by what counters saw at work.

    `chip` is the name as it is told, `split` says whether cube and vector have cores of their own; `tflops` is the peak of
    the cube in FP16, and `gb_per_s` that of the memory.
    """
    entry = named(chip) or _like(chip, cores, clock)
    split = split or (entry is not None and _is_split(entry[1]))
    peaks = _by_info(cores, split=split) or (
        _by_table(*entry) if entry is not None else _by_counters(clock, split=split)
    )
    if entry is not None:
        name, one = entry
        memory = None if one.gb_per_s is None else one.gb_per_s * 1e9
        told = named(chip) is not None or bool(cores.cube) or not _has_larger(one)
        peaks = replace(peaks, bytes_per_s=memory, l2_bytes=one.l2_bytes, chip=name, is_certain=told)
    if tflops is not None:
        cycles_per_s = tflops * 1e12 / CUBE_FLOPS_PER_CYCLE["fp16"]
        peaks = replace(peaks, cube=_scaled(cycles_per_s, split=split), told_by="--peak-tflops", is_certain=True)
    if gb_per_s is not None:
        peaks = replace(peaks, bytes_per_s=gb_per_s * 1e9)
    return peaks


def named(chip: str | None) -> tuple[str, Chip] | None:
    """The entry of a chip by its name, however it is written: Ascend 910B2, ascend910b2."""
    if chip is None:
        return None
    wanted = chip.replace(" ", "").casefold()
    return next(((name, one) for name, one in CHIPS.items() if name.casefold() == wanted), None)


def may_have_roof(chip: str | None) -> bool:
    """Whether a chip of this name, or of this family, is one whose compute and bandwidth are both known."""
    entry = named(chip)
    near = [entry[1]] if entry else [one for one in CHIPS.values() if chip and one.family.casefold() == chip.casefold()]
    return any(one.gb_per_s is not None for one in near)


def may_have_peak(chip: str | None, cores: CoreCounts) -> bool:
    """Whether any peak of a chip is more than what counters saw at work."""
    family = any(one.family.casefold() == chip.casefold() for one in CHIPS.values()) if chip else False
    return family or named(chip) is not None or bool(cores.cube and cores.rated_mhz)


def _like(family: str | None, cores: CoreCounts, clock: Clock | None) -> tuple[str, Chip] | None:
    """The first chip of a family with as many cores of the frequency that the capture tells."""
    count = cores.cube or (clock.cube_cores if clock else None)
    mhz = cores.rated_mhz or (clock.nominal_mhz if clock else None)
    if family is None or not count or not mhz:
        return None
    near = [
        (name, one)
        for name, one in CHIPS.items()
        if one.family.casefold() == family.casefold() and one.cube_cores == count and abs(one.mhz / mhz - 1) < _NEAR
    ]
    return near[0] if near else None


def _has_larger(seen: Chip) -> bool:
    """Whether the family has a chip with more cores of the same frequency, which then were not all at work."""
    return any(
        one.family == seen.family and one.mhz == seen.mhz and one.cube_cores > seen.cube_cores for one in CHIPS.values()
    )


_NEAR = 0.01
"""Frequencies that were counted agree to 0.03 % on real exports."""


def _is_split(chip: Chip) -> bool:
    return chip.vector_cores > 0 and chip.vector_mhz is None


def _by_info(cores: CoreCounts, *, split: bool) -> Peaks | None:
    if not cores.cube or not cores.rated_mhz:
        return None
    told = say("{cores} cores at {mhz:,.0f} MHz (info.json)", cores=cores.cube, mhz=cores.rated_mhz)
    return _of_cores(cores.cube, cores.vector, cores.rated_mhz, told, split=split)


def _by_counters(clock: Clock | None, *, split: bool) -> Peaks:
    """The chip may have more cores than those: then the peaks are too low, and shares of them too high."""
    if clock is None or not clock.cube_cores or not clock.nominal_mhz:
        return Peaks()
    told = say(
        "{cores} cores at {mhz:,.0f} MHz (the most that counters saw at work)",
        cores=clock.cube_cores,
        mhz=clock.nominal_mhz,
    )
    seen = _of_cores(clock.cube_cores, clock.vector_cores, clock.nominal_mhz, told, split=split)
    return replace(seen, is_certain=False)


def _of_cores(cube: int, vector: int | None, mhz: float, told_by: Text, *, split: bool) -> Peaks:
    """Where cube and vector are not split, each core has both."""
    units = (vector or 0) if split else cube
    rates = VECTOR_FLOPS_PER_CYCLE if units else {}
    return Peaks(
        _scaled(cube * mhz * 1e6, split=split),
        {name: flops * units * mhz * 1e6 for name, flops in rates.items()},
        told_by=told_by,
    )


def _by_table(name: str, chip: Chip) -> Peaks:
    told = say("{cores} cores at {mhz:,.0f} MHz ({chip})", cores=chip.cube_cores, mhz=chip.mhz, chip=name)
    if chip.vector_mhz is None:
        return _of_cores(chip.cube_cores, chip.vector_cores, chip.mhz, told, split=_is_split(chip))
    cycles = (chip.cube_cores * chip.mhz + chip.vector_cores * chip.vector_mhz) * 1e6
    vector = {precision: flops * cycles for precision, flops in VECTOR_FLOPS_PER_CYCLE.items()}
    return replace(_of_cores(chip.cube_cores, 0, chip.mhz, told, split=False), vector=vector)


def _scaled(cycles_per_s: float, *, split: bool) -> dict[Precision, float]:
    rates = {**CUBE_FLOPS_PER_CYCLE, **(SPLIT_CUBE_FLOPS_PER_CYCLE if split else {})}
    return {name: flops * cycles_per_s for name, flops in rates.items()}
