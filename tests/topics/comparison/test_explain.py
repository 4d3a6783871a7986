"""`explain`: the planted cause of a change comes first, and the parts add up to it."""

from __future__ import annotations

import csv
import io
import json
import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from commandline import FIXTURES, Cli
from hypothesis_profiles import seeds
from planted_changes import BASE, Planted, planted, write_pair, write_run

from aoe_reports import explain

SEEDS = 7
"""Of 18 changes each: 126 pairs, of which each run tries some."""


@pytest.mark.slow
@pytest.mark.parametrize("place", range(18))
def test_the_planted_cause_is_named_first(tmp_path: Path, place: int) -> None:
    wrong = []
    for seed in seeds(SEEDS):
        change = planted(seed)[place]
        answer = explain([*write_pair(tmp_path / str(seed), change, seed * 100)])
        first, step = answer.rows[0], answer.table("steps")[0]
        assert sum(part.difference_ns for part in answer.rows) == step.difference_ns
        assert step.computing_ns + step.communication_ns + step.idle_ns == step.difference_ns
        assert answer.rows[-1].reached_ns == step.after_ns
        if (first.area, first.cause, first.name) != (change.area, change.cause, change.operator):
            wrong.append((change.name, first))
    assert wrong == []


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    return write_pair(tmp_path, next(one for one in planted(1) if one.name == "blocking copy"), 5)


def test_it_is_told_in_words(cli: Cli, pair: tuple[Path, Path]) -> None:
    text = cli("explain", *pair, "--top", 2).out
    headline = text.splitlines()[0]
    assert headline.startswith("A step on rank 0: +9.")
    assert "; the host synchronises +" in headline
    assert "A mean step: before 1,8" in text
    assert "(of 4 steps)" in text
    assert "all other parts" in text
    assert len([line for line in text.splitlines() if line[:3].strip().isdigit()]) == 3


def test_json_has_all_tables_and_csv_the_parts(cli: Cli, pair: tuple[Path, Path]) -> None:
    found = cli("explain", *pair, "--format", "json").json
    assert [found["steps"][0][name] for name in ("rank_id", "baseline_steps", "candidate_steps")] == [0, 4, 4]
    assert sum(round(row["difference_us"] * 1000) for row in found["rows"]) == round(
        found["steps"][0]["difference_us"] * 1000
    )
    rows = list(csv.DictReader(io.StringIO(cli("explain", *pair, "--format", "csv").out)))
    assert [row["cause"] for row in rows] == [row["cause"] for row in found["rows"]]


def test_a_waterfall_is_drawn(cli: Cli, pair: tuple[Path, Path]) -> None:
    drawn = ET.fromstring(cli("explain", *pair, "--top", 3, "--format", "svg").out)
    bars = [one for one in drawn.iter("{http://www.w3.org/2000/svg}rect") if one.find("{*}title") is not None]
    assert [one.get("class") for one in bars][:2] == ["whole", "longer"]
    assert len(bars) == 6
    rows = explain([*pair], top=3).rows
    titles = [one.findtext("{*}title") for one in bars]
    assert titles[1] == f"the host synchronises: {rows[0].difference_ns:+,} ns"
    step = explain([*pair]).table("steps")[0]
    assert (titles[0], titles[-1]) == (f"before: {step.before_ns:,} ns", f"after: {step.after_ns:,} ns")
    ends = [float(one.get("x", "")) + float(one.get("width", "")) for one in bars]
    assert ends[1] > ends[0], "it takes longer"
    assert float(bars[2].get("x", "")) <= ends[1] + 0.1
    assert "bars begin at" in cli("explain", *pair, "--format", "svg").out


def test_what_differs_between_the_runs_is_listed(cli: Cli, pair: tuple[Path, Path]) -> None:
    for path, version in zip(pair, ("2.1.0", "2.6.0"), strict=True):
        output = path / "rank0_ascend_pt"
        (output / "profiler_info_0.json").write_text(json.dumps({"cann_version": "8.0", "torch_npu_version": version}))
        stated = {"ENV_VARIABLES": {"HCCL_ALGO": "", "PATH_OF": "same"}, "commit": f"of {version}"}
        (output / "profiler_metadata.json").write_text(json.dumps(stated))
    text = cli("explain", *pair).out
    section = text[text.index("What differs") : text.index("A mean step")]
    assert "torch_npu_version  2.1.0" in section
    assert "of 2.6.0" in section
    assert "PATH_OF" not in section
    conditions = {row["what"]: row for row in cli("explain", *pair, "--format", "json").json["conditions"]}
    assert conditions["PATH_OF"] == {"what": "PATH_OF", "before": "same", "after": "same", "differs": False}
    assert "HCCL_ALGO" not in conditions


def test_runs_of_other_chips_are_explained_by_force_only(cli: Cli, pair: tuple[Path, Path]) -> None:
    for path, level in zip(pair, ("Level0", "Level1"), strict=True):
        stated = {"config": {"experimental_config": {"_profiler_level": level}}}
        (path / "rank0_ascend_pt" / "profiler_info_0.json").write_text(json.dumps(stated))
    result = cli("explain", *pair)
    assert result.code == 1
    assert "not-comparable" in result.err
    assert "A step" not in result.out
    assert "the host synchronises" in cli("explain", *pair, "--force").out


def test_a_timeline_alone_is_enough(pair: tuple[Path, Path], tmp_path: Path) -> None:
    for path, name in zip(pair, ("one", "two"), strict=True):
        (tmp_path / name).mkdir()
        source = path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
        shutil.copy(source, tmp_path / name)
    whole, alone = explain([*pair], top=100), explain([tmp_path / "one", tmp_path / "two"], top=100)
    assert alone.rows[0].cause == "synchronisation"
    assert alone.table("steps")[0].difference_ns == whole.table("steps")[0].difference_ns
    assert {part.name for part in alone.rows if part.area == "computing"} == {
        f"aclnn{kernel.op_type}" for kernel in BASE.kernels
    }


def test_a_damaged_timeline_is_not_held_against_a_whole_one(cli: Cli, pair: tuple[Path, Path]) -> None:
    trace = pair[1] / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    trace.write_bytes(trace.read_bytes()[:50_000])
    result = cli("explain", *pair, "--format", "json")
    assert result.code == 1
    assert {"json-truncated", "comparability-unknown"} <= result.rules()
    said = [one["message"] for one in result.json["findings"] if one["rule"] == "comparability-unknown"]
    assert any("the baseline comes from its timeline, this from its table of tasks" in message for message in said)
    assert (result.json["steps"][0]["baseline_told_by"], result.json["steps"][0]["candidate_told_by"]) == (
        "timeline",
        "tasks",
    )
    beside = [(row["area"], row["cause"]) for row in result.json["rows"] if row["area"] != "computing"]
    assert beside in ([("idle", "not-told")], [("idle", "not-told"), (None, "others")])


def test_another_number_of_steps_is_no_change(tmp_path: Path) -> None:
    slow = replace(BASE, load_us=800)
    fewer = Planted("fewer steps", replace(slow, steps=1), "", "", base=slow)
    step = explain([*write_pair(tmp_path, fewer, 3)]).table("steps")[0]
    assert (step.baseline_steps, step.candidate_steps) == (4, 1)
    assert abs(step.difference_ns) < 0.01 * step.before_ns


def test_names_of_a_timeline_are_not_held_against_types_of_a_table(cli: Cli, pair: tuple[Path, Path]) -> None:
    (pair[1] / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").unlink()
    found = cli("explain", *pair, "--format", "json").json
    assert [row["cause"] for row in found["rows"] if row["area"] == "computing"] == ["not-told"]
    assert any("--by op_name divides it" in finding["message"] for finding in found["findings"])
    by_name = cli("explain", *pair, "--by", "op_name", "--top", 100, "--format", "json").json["rows"]
    assert {row["cause"] for row in by_name if row["area"] == "computing"} <= {"slower-calls", "faster-calls"}


def test_a_table_that_is_cut_off_tells_no_kernels(cli: Cli, pair: tuple[Path, Path]) -> None:
    table = pair[1] / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    lines = table.read_text().splitlines(keepends=True)
    table.write_text("".join(lines[: len(lines) // 2]))
    found = cli("explain", *pair, "--format", "json").json
    assert [row["cause"] for row in found["rows"] if row["area"] == "computing"] == ["not-told"]
    assert any(
        "the table of tasks lists 73 kernels, the timeline shows 148" in one["message"] for one in found["findings"]
    )


def test_whom_others_wait_for_is_told_for_one_rank_too(cli: Cli, fixture_of_ranks: Path) -> None:
    for rank in ((), ("--rank", 3)):
        steps = cli("explain", fixture_of_ranks, fixture_of_ranks, *rank, "--format", "json").json["steps"]
        assert {step["awaited_after"] for step in steps} == {1}


@pytest.fixture
def fixture_of_ranks() -> Path:
    return FIXTURES / "msprof" / "valid" / "communication_of_four_ranks"


def test_a_table_of_tasks_is_enough(pair: tuple[Path, Path]) -> None:
    expected = explain([*pair]).table("steps")[0]
    for path in pair:
        (path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").unlink()
    answer = explain([*pair])
    assert (answer.rows[0].area, answer.rows[0].cause) == ("idle", "unknown")  # no host is there to tell
    assert answer.table("steps")[0].computing_ns == expected.computing_ns


def test_a_rank_is_chosen(pair: tuple[Path, Path]) -> None:
    assert explain([*pair], rank=0).rows
    assert explain([*pair], rank=3).rows == []
    assert "nothing-measured" in {finding.rule for finding in explain([*pair], rank=3).findings}


@pytest.mark.parametrize(
    ("name", "damage", "rule"),
    [
        ("profiler_info_0.json", '{"cann_version": "8.0"', "info-file"),
        ("ASCEND_PROFILER_OUTPUT/kernel_details.csv", "1,aclnnMul\n", "csv-ragged-row"),
    ],
)
def test_damage_of_a_file_beside_the_timeline_is_told(
    cli: Cli, pair: tuple[Path, Path], name: str, damage: str, rule: str
) -> None:
    path = pair[1] / "rank0_ascend_pt" / name
    path.write_text((path.read_text() if name.endswith("csv") else "") + damage)
    found = cli("explain", *pair, "--format", "json").json["findings"]
    assert (rule, str(path)) in {(one["rule"], one["path"]) for one in found}


def test_two_devices_of_different_ranks_are_explained_with_a_word(cli: Cli, pair: tuple[Path, Path]) -> None:
    info = pair[1] / "rank0_ascend_pt" / "profiler_info_0.json"
    info.rename(info.with_name("profiler_info_3.json"))
    found = cli("explain", *pair, "--format", "json").json
    assert [(step["rank_id"], step["baseline_steps"]) for step in found["steps"]] == [(3, 4)]
    said = {one["message"] for one in found["findings"] if one["rule"] == "comparability-unknown"}
    assert "the rank differs from the baseline or is unknown" in said


def test_runs_without_a_rank_in_common_are_not_comparable(cli: Cli, pair: tuple[Path, Path], tmp_path: Path) -> None:
    info = pair[1] / "rank0_ascend_pt" / "profiler_info_0.json"
    info.rename(info.with_name("profiler_info_3.json"))
    ended = cli("explain", ranks_without_tables(tmp_path / "two", 0.0), pair[1], "--format", "json")
    assert (ended.code, ended.json["steps"]) == (1, [])
    (said,) = (one["message"] for one in ended.json["findings"] if one["rule"] == "not-comparable")
    assert said.endswith("no rank is on both sides")


@pytest.mark.parametrize("unknown", [0, 1])
def test_steps_that_only_one_side_tells_are_said(cli: Cli, pair: tuple[Path, Path], unknown: int) -> None:
    for path in pair:
        (path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").unlink()
    output = pair[unknown] / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    with (output / "kernel_details.csv").open() as file:
        rows = list(csv.DictReader(file))
    with (output / "kernel_details.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [name for name in rows[0] if name != "Step Id"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    found = cli("explain", *pair, "--format", "json").json["findings"]
    said = [one["message"] for one in found if one["rule"] == "comparability-unknown"]
    assert "only one side has steps: the other counts as one step" in said


def test_nothing_changed_from_a_run_to_itself(cli: Cli, pair: tuple[Path, Path]) -> None:
    found = cli("explain", pair[0], pair[0], "--format", "json").json
    assert (found["rows"], found["steps"][0]["difference_us"]) == ([], 0)


def test_planted_changes_have_names_of_their_own() -> None:
    names = [change.name for change in planted(0)]
    assert len(set(names)) == len(names) == 18
    assert all(isinstance(change, Planted) for change in planted(0))


def test_waiting_is_told_by_the_ranks_where_nothing_else_does(cli: Cli, tmp_path: Path) -> None:
    """Rank 1 comes 300 us later to the all-reduce of each step: rank 0 takes as much longer, and transfers no slower."""
    runs = [ranks_without_tables(tmp_path / side, late) for side, late in (("before", 0.0), ("after", 300.0))]
    found = cli("explain", *runs, "--format", "json")
    first = next(row for row in found.json["rows"] if row["rank_id"] == 0)
    assert (first["area"], first["cause"], first["name"]) == ("communication", "more-waiting", "allreduce")
    assert abs(first["difference_us"] - 300) < 30
    said = [one["message"] for one in found.json["findings"] if one["rule"] == "stands-in"]
    assert sum("exceeds its shortest time on any rank counts as waiting" in message for message in said) == 2
    text = cli("explain", *runs).out
    assert "allreduce: waits longer for other ranks +" in text


def test_of_one_rank_calls_take_longer_with_their_waiting(cli: Cli, tmp_path: Path) -> None:
    runs = [ranks_without_tables(tmp_path / side, late) for side, late in (("before", 0.0), ("after", 300.0))]
    found = cli("explain", *runs, "--rank", 0, "--format", "json").json
    assert (found["rows"][0]["area"], found["rows"][0]["cause"]) == ("communication", "slower-calls")
    assert "allreduce: calls take longer, waiting included +" in cli("explain", *runs, "--rank", 0).out


@pytest.mark.parametrize("side", [0, 1])
def test_waiting_that_the_ranks_of_one_run_alone_tell_is_held_against_nothing(
    cli: Cli, tmp_path: Path, side: int
) -> None:
    runs = [ranks_without_tables(tmp_path / name, late) for name, late in (("before", 0.0), ("after", 300.0))]
    shutil.rmtree(runs[side] / "rank1_ascend_pt")
    found = cli("explain", *runs, "--format", "json").json
    absent = [(one["path"], one["message"]) for one in found["findings"] if one["rule"] == "expected-absent"]
    assert [(path, str(runs[1 - side]) in message) for path, message in absent] == [(str(runs[side]), True)]
    assert (found["rows"][0]["area"], found["rows"][0]["cause"]) == ("communication", "slower-calls")
    assert not any("counts as waiting" in one["message"] for one in found["findings"])


def ranks_without_tables(folder: Path, late_us: float) -> Path:
    """Two ranks of a run, of which nothing but timelines is there; the first waits for the other one."""
    base = replace(BASE, tables=False)
    for rank, program in enumerate((replace(base, wait_us=60 + late_us), base)):
        source = write_run(folder / "made", program, 7 + rank) / "rank0_ascend_pt"
        target = folder / f"rank{rank}_ascend_pt"
        shutil.move(source, target)
        (target / "profiler_info_0.json").rename(target / f"profiler_info_{rank}.json")
    return folder
