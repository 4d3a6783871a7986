"""What `compare` says first, and what annotations of a CI system tell of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from commandline import Cli

HEADER = "Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes\n"
STEPS = (
    "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
    "Communication(Not Overlapped and Exclude Receive),Preparing\n"
)


def capture(folder: Path, times_us: Mapping[str, Sequence[float]], rank: int = 0) -> Path:
    """A capture of operators (name/type) with their calls."""
    exports = folder / f"host_{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    exports.mkdir(parents=True, exist_ok=True)
    (exports.parent / f"profiler_info_{rank}.json").write_text(f'{{"rank_id": {rank}}}')
    rows, start = [], 0.0
    for operator, calls in times_us.items():
        name, kind = operator.split("/")
        for call in calls:
            rows.append(f"1,0,{name},{kind},AI_CORE,{start:.1f},{call},1\n")
            start += call
    (exports / "kernel_details.csv").write_text(HEADER + "".join(rows))
    return folder


def steady(mean: float, count: int = 20) -> list[float]:
    """Calls that scatter by one in a thousand."""
    return [round(mean * (1 + 0.001 * (number % 3 - 1)), 3) for number in range(count)]


@pytest.fixture
def slower(tmp_path: Path) -> tuple[Path, Path]:
    """MatMul takes a tenth longer, Add a twentieth less; Cast has gone, Sub is new; Mul is as before."""
    before = {"mm/MatMul": steady(100), "add/Add": steady(50), "cast/Cast": steady(5), "mul/Mul": steady(10)}
    after = {"mm/MatMul": steady(110), "add/Add": steady(47.5), "sub/Sub": steady(4), "mul/Mul": steady(10)}
    return capture(tmp_path / "a", before), capture(tmp_path / "b", after)


def test_the_first_line_says_how_much_and_what_most(cli: Cli, slower: tuple[Path, Path]) -> None:
    ended = cli("compare", *slower)
    assert ended.code == 0
    assert ended.out.splitlines()[0] == (
        "Compared calls on rank 0: +3.9% (3.300 → 3.430 ms); largest change: operator type MatMul +200.0 us."
    )
    by_name = cli("compare", *slower, "--by", "op_name").out.splitlines()[0]
    assert by_name.endswith("; largest change: operator mm (MatMul) +200.0 us.")
    for form in ("markdown", "html"):
        assert "largest change: operator type MatMul +200.0 us." in cli("compare", *slower, "--format", form).out
    assert "MatMul +200.0 us" in cli("compare", *slower, "--lang", "zh").out.splitlines()[0]


def test_the_pair_that_changed_most_is_told_and_the_others_are_counted(cli: Cli, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for rank, factors in enumerate([(1, 1.01, 0.99), (1, 1.02, 0.9)]):
        for path, factor in zip(paths, factors, strict=True):
            capture(path, {"mm/MatMul": steady(100 * factor)}, rank)
    first = cli("compare", *paths).out.splitlines()[0]
    assert first == (
        "Compared calls on rank 1: -10% (2.000 → 1.800 ms); "
        "largest change: operator type MatMul -200.0 us. 3 other comparisons below."
    )
    assert cli("compare", *paths[:2]).out.splitlines()[0].endswith(" 1 other comparison below.")


def test_steps_are_told_by_their_mean(cli: Cli, tmp_path: Path) -> None:
    sides = []
    for name, steps in (("a", (1000, 1020, 1010)), ("b", (1100, 1130, 1115))):
        folder = capture(tmp_path / name, {"mm/MatMul": steady(10)})
        rows = [f"{number},{whole - 300},100,0,100,200,{whole},0,100,\n" for number, whole in enumerate(steps, start=1)]
        (folder / "host_0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv").write_text(
            STEPS + "".join(rows)
        )
        sides.append(folder)
    first = cli("compare", *sides, "--by", "step").out.splitlines()[0]
    assert first == "A step on rank 0: +10% (1.010 → 1.115 ms); largest change: computing +105.0 us."


def test_an_annotation_tells_what_is_more_than_scatter(cli: Cli, slower: tuple[Path, Path]) -> None:
    ended = cli("compare", *slower, "--format", "github")
    assert ended.code == 0
    commands = [line for line in ended.out.splitlines() if "comparability" not in line]
    assert commands == [
        "::warning title=Slower::operator type MatMul on rank 0 +10%25 (2.000 → 2.200 ms): calls are slower",
        "::notice title=Vanished::operator type Cast on rank 0: 100.0 us",
        "::warning title=New::operator type Sub on rank 0: 80.00 us",
        "::notice title=Faster::operator type Add on rank 0 -5.0%25 (1,000 → 950 us): calls are faster",
        (
            "::notice title=Comparison::Compared calls on rank 0: +3.9%25 (3.300 → 3.430 ms); "
            "largest change: operator type MatMul +200.0 us."
        ),
    ]


def test_a_change_that_few_calls_show_is_no_annotation(cli: Cli, tmp_path: Path) -> None:
    before = capture(tmp_path / "a", {"mm/MatMul": [100.0]})
    after = capture(tmp_path / "b", {"mm/MatMul": [130.0]})
    out = cli("compare", before, after, "--format", "github").out
    assert "title=Slower" not in out
    assert "::notice title=Comparison::Compared calls on rank 0: +30%25 (100.0 → 130.0 us)" in out


def test_equal_captures_have_no_largest_change(cli: Cli, tmp_path: Path) -> None:
    same = [capture(tmp_path / name, {"mm/MatMul": steady(100), "add/Add": steady(5)}) for name in ("a", "b")]
    assert cli("compare", *same).out.splitlines()[0] == "Compared calls on rank 0: unchanged (2.100 → 2.100 ms)."


def test_five_changes_are_told_by_themselves(cli: Cli, tmp_path: Path) -> None:
    before = capture(tmp_path / "a", {f"o{number}/T{number}": steady(100) for number in range(8)})
    after = capture(tmp_path / "b", {f"o{number}/T{number}": steady(110 + number) for number in range(8)})
    out = cli("compare", before, after, "--format", "github").out
    assert [line.split("type ")[1][:2] for line in out.splitlines() if "title=Slower" in line] == [
        "T7", "T6", "T5", "T4", "T3",
    ]  # fmt: skip


def test_what_cannot_be_compared_is_an_error_and_no_headline(cli: Cli, tmp_path: Path) -> None:
    before = capture(tmp_path / "a", {"mm/MatMul": steady(100)}, rank=0)
    after = capture(tmp_path / "b", {"mm/MatMul": steady(100)}, rank=0)
    capture(tmp_path / "b", {"mm/MatMul": steady(100)}, rank=1)
    ended = cli("compare", before, after, "--format", "github")
    assert ended.code == 1
    assert "::error " in ended.out
    assert "title=Comparison" not in ended.out
    assert cli("compare", before, after).out.startswith("Comparison")


def test_advice_is_annotated_by_its_bound(cli: Cli, slower: tuple[Path, Path]) -> None:
    ended = cli("advise", slower[0], "--format", "github")
    commands = ended.out.splitlines()
    assert commands[-1].startswith("::notice title=Advice::")
    told = [line for line in commands if ": at most " in line]
    assert told
    assert all(line.startswith("::notice title=") and " of a step" in line for line in told)
    assert cli("hotspots", slower[0], "--format", "github").code == 2
