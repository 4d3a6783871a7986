"""Peaks of chips: what the capture tells goes before the table, what is given before both."""

from __future__ import annotations

import numpy as np
import pytest
from commandline import ROOT

from aoe_reports.facts.bounds import CoreCounts
from aoe_reports.facts.clock import Clock
from aoe_reports.topics.roofline.chips import CHIPS, named, peaks_of
from aoe_reports.topics.roofline.flops import FORMULAS

NOTHING = CoreCounts()


def test_the_table_gives_the_peaks_that_cann_publishes() -> None:
    peaks = peaks_of("Ascend910B2", NOTHING, None)
    assert (
        peaks.cube["fp16"] == peaks.cube["bf16"] == pytest.approx(353.9e12, rel=1e-3)
    )  # CANN: 353 TFLOP/s of the cube
    assert peaks.vector["fp16"] == pytest.approx(22.1e12, rel=1e-2)  # CANN: 22 TFLOP/s
    assert peaks.cube["int8"] == 2 * peaks.cube["fp16"]
    assert (peaks.cube["hf32"], peaks.cube["fp32"]) == (peaks.cube["fp16"] / 2, peaks.cube["fp16"] / 4)
    assert (peaks.bytes_per_s, peaks.l2_bytes) == (1.6e12, 192 << 20)


def test_a_core_with_both_units_has_no_peak_of_fp32_in_its_cube() -> None:
    peaks = peaks_of("Ascend910A", NOTHING, None)
    assert peaks.cube["fp16"] == 32 * 8192 * 1e9
    assert "fp32" not in peaks.cube
    assert peaks.vector["fp16"] == 32 * 256 * 1e9
    assert peaks.bytes_per_s is None


def test_vector_cores_of_their_own_frequency_add_to_those_of_the_cube() -> None:
    peaks = peaks_of("Ascend310P3", NOTHING, None)
    assert peaks.cube["int8"] == pytest.approx(139e12, rel=1e-2)  # its data sheet: 140 TOPS
    assert peaks.vector["fp16"] == 256 * (8 * 1060 + 7 * 1000) * 1e6
    assert "fp32" not in peaks.cube


@pytest.mark.parametrize("name", ["ascend910b3", "Ascend 910B3", "ASCEND910B3"])
def test_a_chip_is_found_however_its_name_is_written(name: str) -> None:
    found = named(name)
    assert found is not None
    assert found[0] == "Ascend910B3"


def test_the_name_of_two_generations_is_none_of_the_table() -> None:
    assert named("Ascend910B") is None
    assert not peaks_of("Ascend910B", NOTHING, None).cube


def test_cores_and_frequency_of_the_capture_go_before_the_table() -> None:
    peaks = peaks_of("Ascend910B2", CoreCounts(cube=12, vector=24, rated_mhz=1000), None, split=True)
    assert peaks.cube["fp16"] == 12 * 8192 * 1e9
    assert peaks.bytes_per_s == 1.6e12  # which the capture does not tell


def clock(cores: int | None, mhz: float | None, vector: int | None = None) -> Clock:
    return Clock(np.zeros(0), mhz, rated=False, cube_cores=cores, vector_cores=vector)


def test_counters_tell_the_chip_of_a_family() -> None:
    seen = peaks_of("Ascend910B", NOTHING, clock(24, 1799.9, 48), split=True)
    assert (seen.chip, seen.bytes_per_s) == ("Ascend910B2", 1.6e12)
    assert peaks_of("Ascend910B", NOTHING, clock(24, 1850), split=True).chip == "Ascend910B1"
    assert peaks_of("Ascend910B", NOTHING, clock(23, 1800), split=True).chip is None
    unnamed = peaks_of(None, NOTHING, clock(24, 1800, 48), split=True)
    assert (unnamed.chip, unnamed.bytes_per_s) == (None, None)
    assert unnamed.cube == pytest.approx(peaks_of("Ascend910B2", NOTHING, None).cube)


def test_cores_that_were_seen_at_work_may_not_be_all() -> None:
    assert not peaks_of(None, NOTHING, clock(8, 1800, 16), split=True).is_certain
    assert not peaks_of("Ascend910B", NOTHING, clock(20, 1800), split=True).is_certain  # a 910B2, perhaps
    assert peaks_of("Ascend910B", NOTHING, clock(24, 1800), split=True).is_certain
    assert peaks_of("Ascend910B3", NOTHING, clock(8, 1800), split=True).is_certain
    assert peaks_of("Ascend910B", CoreCounts(cube=20, rated_mhz=1800), None, split=True).is_certain
    assert peaks_of(None, NOTHING, clock(8, 1800), split=True, tflops=300).is_certain


def test_what_is_given_goes_before_all() -> None:
    peaks = peaks_of("Ascend910B2", NOTHING, None, tflops=100, gb_per_s=500)
    assert (peaks.cube["fp16"], peaks.cube["fp32"], peaks.bytes_per_s) == (100e12, 25e12, 5e11)
    alone = peaks_of(None, NOTHING, None, tflops=100)
    assert (alone.cube["fp16"], "fp32" in alone.cube, alone.bytes_per_s) == (100e12, False, None)


def test_every_chip_has_whole_figures() -> None:
    for name, chip in CHIPS.items():
        peaks = peaks_of(name, NOTHING, None)
        assert 0 < peaks.cube["fp16"] < 1e15
        assert 0 < peaks.vector["fp32"] < peaks.cube["fp16"]
        assert chip.l2_bytes % (1 << 20) == 0


PAGE = (ROOT / "docs" / "roofline.md").read_text()


def test_the_page_has_every_chip_with_its_figures() -> None:
    for name, chip in CHIPS.items():
        cells = next(line for line in PAGE.splitlines() if line.startswith(f"| {name} |")).split("|")
        told = [cell.strip() for cell in cells[2:-1]]
        assert (told[0], told[2]) == (str(chip.cube_cores), str(chip.mhz))
        assert told[1].startswith(str(chip.vector_cores or "(the same)"))
        fp16 = peaks_of(name, NOTHING, None).cube["fp16"] / 1e12
        assert told[3:] == [
            f"{fp16:.1f}",
            str(chip.l2_bytes >> 20),
            "–" if chip.gb_per_s is None else str(chip.gb_per_s),
        ]


def test_the_page_has_every_type_with_a_formula() -> None:
    assert [name for name in FORMULAS if f"`{name}`" not in PAGE] == []
