"""Peaks of memory before and after: differences of owners add up to that of the peak, and nothing is said where nothing changed."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from captures import QUIET, write_night
from commandline import FIXTURES, Cli
from hypothesis import given
from hypothesis import strategies as st
from memory_devices import a_device, an_owner
from memory_nights import MIB, write_memory_night

from aoe_reports import explain, plot
from aoe_reports.model.pictures.waterfall import WaterfallPicture
from aoe_reports.model.topics.memory import DeviceMemory, Level, Owner
from aoe_reports.topics.comparison.memory import ComparedMemory, compare_memory
from aoe_reports.topics.comparison.memory_words import with_memory

OWNERS = st.lists(
    st.builds(
        Owner,
        name=st.sampled_from(["mm", "add", None]),
        kind=st.sampled_from(["activation", "kv_cache", None]),
        module=st.sampled_from(["layer", None]),
        size_bytes=st.integers(-(2**40), 2**50),
        allocations=st.just(1),
        largest_bytes=st.just(0),
        since_before=st.booleans(),
        unexplained=st.booleans(),
    ),
    max_size=12,
)


def compared(before: list[DeviceMemory], after: list[DeviceMemory], top: int = 20) -> ComparedMemory:
    sides = [
        SimpleNamespace(label=label, memory=memory, of_memory=False) for label, memory in (("a", before), ("b", after))
    ]
    return compare_memory(sides[0], [sides[1]], top, [])


@given(before=OWNERS, after=OWNERS, top=st.integers(1, 20), more=st.integers(-5, 5))
def test_parts_add_up_to_the_difference_of_the_peaks(
    before: list[Owner], after: list[Owner], top: int, more: int
) -> None:
    found = compared([a_device(before)], [a_device(after, peak=sum(one.size_bytes for one in after) + more)], top)
    (peak,) = found.peaks
    assert peak.difference_bytes == peak.after_bytes - peak.before_bytes
    assert sum(part.difference_bytes for part in found.parts) == peak.difference_bytes
    assert all(part.difference_bytes == part.after_bytes - part.before_bytes for part in found.parts)
    assert len(found.parts) <= top + 1


@pytest.mark.parametrize(("ranks", "shown"), [(1, [0]), (2, [1, 0]), (5, [4, 2])])
def test_owners_are_those_of_the_ranks_with_the_largest_and_the_median_peak(ranks: int, shown: list[int]) -> None:
    sides = [[a_device([an_owner(size * (rank + 1))], rank) for rank in range(ranks)] for size in (100, 200)]
    found = compared(*sides)
    assert [peak.rank_id for peak in found.peaks] == list(range(ranks))
    assert [part.rank_id for part in found.parts] == shown


def test_peaks_of_different_components_are_not_compared() -> None:
    assert compared([a_device([an_owner(1)])], [a_device([an_owner(2)], component="PTA+GE")]) == ComparedMemory([], [])


def test_reserved_memory_is_compared_without_owners() -> None:
    before, after = ([a_device(peak=size, measure="reserved", component="APP")] for size in (100, 150))
    found = compared(before, after)
    assert [(peak.measure, peak.difference_bytes) for peak in found.peaks] == [("reserved", 50)]
    assert not found.parts
    assert with_memory("", found).startswith("Peak reserved memory on rank 0: ")
    assert compared([a_device([an_owner(100)], component="APP")], after) == ComparedMemory([], [])


def with_reserve(allocated: int, reserved: int, rank: int) -> DeviceMemory:
    device = a_device([an_owner(allocated)], rank)
    return replace(device, pool=replace(device.pool, reserved=Level(size_bytes=reserved, at_ns=0, step=None)))


def test_a_reserve_that_grows_beyond_use_is_said() -> None:
    before = [with_reserve(1000 * MIB, 1100 * MIB, rank) for rank in (0, 1)]
    after = [with_reserve(1000 * MIB, 1100 * MIB, 0), with_reserve(1000 * MIB, 1650 * MIB, 1)]
    said = with_memory("", compared(before, after))
    assert said == "Highest reserved memory on rank 1: +550.0 MiB, +50% (1.074 GiB → 1.611 GiB)."
    in_step = [with_reserve(1550 * MIB, 1650 * MIB, rank) for rank in (0, 1)]
    assert "reserved" not in with_memory("", compared(before, in_step))
    assert with_memory("", compared(before, before)) == ""


def with_process(allocator: int, **components: int) -> DeviceMemory:
    """A device whose process holds what its allocator reserves and what some components hold."""
    device, parts = with_reserve(allocator, allocator, 0), {"PTA": allocator, **components}
    held = [an_owner(size, name) for name, size in parts.items()]
    whole = Level(size_bytes=sum(parts.values()), at_ns=0, step=None)
    return replace(device, process=whole, process_parts=tuple(held))


def test_a_process_that_grows_beside_its_allocator_is_said_with_its_components() -> None:
    before = [with_process(4000 * MIB, HCCL=1000 * MIB, RUNTIME=100 * MIB)]
    after = [with_process(4000 * MIB, HCCL=3000 * MIB, RUNTIME=101 * MIB)]
    found = compared(before, after)
    change = "+1.954 GiB, +39% (4.980 GiB → 6.935 GiB)"
    assert with_memory("", found) == f"Memory of the process on rank 0: {change}; HCCL +1.953 GiB."
    assert [(peak.component, peak.difference_bytes) for peak in found.peaks] == [("PTA", 0), ("process", 2001 * MIB)]
    assert sum(part.difference_bytes for part in found.parts if part.component == "process") == 2001 * MIB
    larger = [with_process(6000 * MIB, HCCL=1000 * MIB, RUNTIME=100 * MIB)]
    assert "process" not in with_memory("", compared(before, larger))  # the peak says it
    assert with_memory("", compared(before, before)) == ""


def pair_of(folder: Path, reserve: int = 0, hccl: int = 0) -> list[Path]:
    """Two runs; the second reserves so much more, or HCCL takes so much more in it."""
    paths = []
    for number, name in enumerate(("before", "after")):
        held = {"HCCL": 4000 * MIB + number * hccl}
        home = write_memory_night(folder / name, number, [("cache", 1000 * MIB)], components=held)
        table = home / "ASCEND_PROFILER_OUTPUT" / "memory_record.csv"
        if number and reserve:
            more = rf"\1,{1100.0 + reserve / MIB},"
            table.write_text(re.sub(r"^(PTA,[^,]*,[^,]*),1100\.0,", more, table.read_text(), flags=re.MULTILINE))
        paths.append(home)
    return paths


@pytest.mark.parametrize("command", ["compare", "explain"])
def test_the_headline_has_what_is_only_reserved_more(cli: Cli, tmp_path: Path, command: str) -> None:
    pair = pair_of(tmp_path, reserve=550 * MIB)
    said = cli(command, *pair, "--force").out
    assert said.splitlines()[0].endswith("Highest reserved memory on rank 0: +550.0 MiB, +50% (1.074 GiB → 1.611 GiB).")
    assert "Peak memory\n" in said
    (peak, _) = cli(command, *pair, "--force", "--format", "json").json["memory_peaks"]
    assert (peak["difference_bytes"], peak["reserved_after_bytes"] - peak["reserved_before_bytes"]) == (0, 550 * MIB)


@pytest.mark.parametrize("command", ["compare", "explain"])
def test_the_headline_names_the_component_that_takes_more(cli: Cli, tmp_path: Path, command: str) -> None:
    pair = pair_of(tmp_path, hccl=2048 * MIB)
    said = cli(command, *pair, "--force").out
    change = "+2.000 GiB, +40% (4.980 GiB → 6.980 GiB)"
    assert said.splitlines()[0].endswith(f"Memory of the process on rank 0: {change}; HCCL +2.000 GiB.")
    answer = cli(command, *pair, "--force", "--format", "json").json
    assert [(peak["component"], peak["difference_bytes"]) for peak in answer["memory_peaks"]] == [
        ("PTA", 0), ("process", 2048 * MIB)
    ]  # fmt: skip
    parts = [(part["component"], part["name"], part["difference_bytes"]) for part in answer["memory"]]
    assert parts == [("process", "HCCL", 2048 * MIB)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two runs; the second holds 300 MiB more of a cache."""
    folder = tmp_path_factory.mktemp("runs")
    sizes = (1000 * MIB, 1300 * MIB)
    return [
        write_memory_night(folder / name, number, [("cache", size), ("aten::mm", 100 * MIB)])
        for number, (name, size) in enumerate(zip(("before", "after"), sizes, strict=True))
    ]


@pytest.mark.parametrize("command", ["compare", "explain"])
def test_the_headline_names_the_owner_of_a_larger_peak(cli: Cli, runs: list[Path], command: str) -> None:
    said = cli(command, *runs, "--force").out.splitlines()[0]
    assert said.endswith("Peak memory on rank 0: +300.0 MiB, +25% (1.172 GiB → 1.465 GiB); cache +300.0 MiB.")
    answer = cli(command, *runs, "--force", "--format", "json").json
    (peak,) = answer["memory_peaks"]
    assert (peak["before_bytes"], peak["after_bytes"]) == (1200 * MIB, 1500 * MIB)
    assert [(part["name"], part["difference_bytes"]) for part in answer["memory"]] == [("cache", 300 * MIB)]


@pytest.mark.parametrize("command", ["compare", "explain"])
def test_nothing_is_said_of_memory_where_it_is_the_same_or_not_recorded(
    cli: Cli, runs: list[Path], tmp_path: Path, command: str
) -> None:
    without = write_night(tmp_path, 0, QUIET)
    same = write_memory_night(tmp_path / "same", 0, [("cache", 1000 * MIB), ("aten::mm", 100 * MIB)])
    for pair in ([runs[0], same], [without, runs[1]], [runs[1], without]):
        text = cli(command, *pair, "--force").out
        assert "Peak memory" not in text
        assert "by owner" not in text


def test_the_change_of_the_peak_is_drawn_by_owner(cli: Cli, runs: list[Path]) -> None:
    answer = explain(runs, force=True)
    picture = answer.pictures[-1]
    assert isinstance(picture, WaterfallPicture)
    levels = [(str(bar.label), bar.start // MIB, bar.end // MIB) for bar in picture.bars]
    assert levels == [("before", 0, 1200), ("cache", 1200, 1500), ("after", 0, 1500)]
    title = "Peak memory on rank 0: +300.0 MiB, +25% (1.172 GiB → 1.465 GiB)"
    svg, html = (cli("explain", *runs, "--force", "--format", form).out for form in ("svg", "html"))
    assert f'<text class="head" x="0" y="-8">{title}</text>' in svg
    assert "<title>cache: +314,572,800 bytes</title>" in svg
    assert f'alt="{title}"' in html
    figure = plot(answer)
    assert "+300.0 MiB" in [text.get_text() for text in figure.axes[-1].texts]
    assert figure.axes[-1].get_xlabel() == "Peak memory (GiB; bars begin at 1.148 GiB)"
    assert title in figure.alt


def test_a_damaged_table_of_memory_is_a_warning_and_times_are_compared(
    cli: Cli, runs: list[Path], tmp_path: Path
) -> None:
    home = write_memory_night(tmp_path, 1, [("cache", 1000 * MIB)])
    table = home / "ASCEND_PROFILER_OUTPUT" / "memory_record.csv"
    table.write_text(table.read_text().replace("PTA,", "PTA,x", 1))
    ended = cli("compare", runs[0], home, "--force", "--format", "json")
    answer: dict[str, Any] = ended.json
    assert answer["rows"]
    assert answer["memory_peaks"] == []
    assert {finding["severity"] for finding in answer["findings"] if finding["path"] == str(table)} == {"warning"}


def test_real_captures_of_two_levels_add_up(cli: Cli) -> None:
    data = FIXTURES.parent.parent / "shared" / "data" / "msprof" / "torch_npu_2025-01" / "text"
    if not data.exists():
        pytest.skip("no real captures here")
    given = [data / level / "rank0_ascend_pt" for level in ("level1", "level2")]
    answer = cli("compare", *given, "--force", "--format", "json", "--top", 3).json
    assert {peak["component"] for peak in answer["memory_peaks"]} == {"PTA+GE", "process"}
    for peak in answer["memory_peaks"]:
        parts = [part for part in answer["memory"] if part["component"] == peak["component"]]
        assert sum(part["difference_bytes"] for part in parts) == peak["difference_bytes"]
