"""The question `memory`: peaks, their owners to the byte, what the process holds, what does not add up."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES, REAL, Cli, needs_real
from planted_training import (
    HCCL,
    LARGE_STEP,
    LEAK,
    MIB,
    OPTIMIZER,
    OTHER,
    RUNTIME,
    STEPS,
    WEIGHTS,
    Training,
    owners_at,
    peak_of,
    write_training,
)

from aoe_reports import memory

TRAINING = FIXTURES / "memory" / "training"
VALID = FIXTURES / "msprof" / "valid"


def _planted(rank: int) -> Training:
    training = Training(rank)
    training.run()
    return training


def _by_owner(rows: list[dict[str, Any]]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for row in rows:
        sums[row["owner"]] = sums.get(row["owner"], 0) + row["size_bytes"]
    return sums


def test_the_fixture_is_what_is_planted(tmp_path: Path) -> None:
    write_training(tmp_path)
    written = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {path.relative_to(TRAINING): path.read_bytes() for path in TRAINING.rglob("*") if path.is_file()}


@pytest.mark.parametrize("step", [None, STEPS[0], LARGE_STEP])
@pytest.mark.parametrize("rank", [0, 1])
def test_a_peak_is_what_was_planted_and_its_owners_add_up_to_it(cli: Cli, rank: int, step: int | None) -> None:
    more = () if step is None else ("--step", step)
    found = cli("memory", TRAINING, "--rank", rank, *more, "--top", 100, "--format", "json").json
    training = _planted(rank)
    size, ns = peak_of(training, step)
    (device,) = found["devices"]
    assert (device["peak_bytes"], device["peak_ns"]) == (size, ns)
    assert device["step"] == (step or (LARGE_STEP if rank else STEPS[-1]))
    assert device["explained"] == 1
    assert sum(row["size_bytes"] for row in found["rows"]) == size
    owners = _by_owner(found["rows"])
    assert owners.pop("allocated before the recording") == device["before_bytes"]
    assert owners.pop("released, still counted by GE") == 6 * MIB
    assert owners == owners_at(training, ns)
    if step != STEPS[0]:
        assert device["before_bytes"] == WEIGHTS + OPTIMIZER


def test_what_was_allocated_in_a_module_names_it_and_what_ran_then_is_said(cli: Cli) -> None:
    found = cli("memory", TRAINING, "--rank", "1", "--format", "json").json
    layers = {row["module"]: row["size_bytes"] for row in found["rows"] if row["owner"] == "aten::addmm"}
    assert layers == {f"Linear_{layer}": (layer + 1) * 20 * MIB for layer in range(3)}
    running = ["train.py(12): train", "autograd::engine::evaluate_function: AddmmBackward0"]
    assert found["devices"][0]["running"] == running
    assert f"Rank 1: the host ran {' > '.join(running)} at the peak." in cli("memory", TRAINING).out


def test_the_first_sentence_answers(cli: Cli) -> None:
    first = cli("memory", TRAINING).out.splitlines()[0]
    assert first == (
        "Rank 1 peaks at 534.0 MiB in step 14: 54% allocated before the recording, 18% aten::mm, 11% aten::addmm; "
        "556.0 MiB is reserved. aten::clone retains 4.000 MiB per step (rank 0, steps 10 to 20)."
    )


def test_what_to_do_has_leaks_first_then_the_most_bytes(cli: Cli) -> None:
    found = cli("memory", TRAINING, "--format", "json").json
    leak, *others = found["actions"]
    assert (leak["topic"], leak["size_bytes"]) == ("leak", 11 * LEAK)
    sizes = [row["size_bytes"] for row in others]
    assert sizes == sorted(sizes, reverse=True)
    assert len(others) <= 2
    assert others[0]["topic"] == "before"
    assert "What is usually done" in cli("memory", TRAINING).out


def test_an_allocation_that_failed_leads(cli: Cli) -> None:
    snapshot = FIXTURES / "memory" / "invalid" / "memory-exhausted"
    out = cli("memory", snapshot).out
    assert out.startswith("Allocation of ")
    assert "Growth is not known: no steps with times are recorded; profile at least 6 steps with prof.step()." in out


@pytest.mark.parametrize(
    ("option", "said"),
    [(("--step", 99), "steps here: 10-21 (step 99)"), (("--device", 5), "devices here: 0-1 (device 5)")],
)
def test_what_is_here_is_said_where_nothing_is_found(cli: Cli, option: tuple[str, int], said: str) -> None:
    assert said in cli("memory", TRAINING, *option).err


def test_few_steps_tell_nothing_of_growth(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "rank0_ascend_pt"
    shutil.copytree(TRAINING / "rank0_ascend_pt", target)
    trace = next(target.rglob("trace_view.json"))
    for step in STEPS[5:]:
        trace.write_text(trace.read_text().replace(f'"ProfilerStep#{step}"', '"other"'))
    assert "Growth is not known: fewer than 6 steps are recorded" in cli("memory", tmp_path).out


def test_owners_are_not_named_where_allocations_contradict_the_sum(cli: Cli, tmp_path: Path) -> None:
    """The sums of memory_record are a thousand times too large, as in another unit."""
    target = tmp_path / "rank0_ascend_pt"
    shutil.copytree(TRAINING / "rank0_ascend_pt", target)
    records = next(target.rglob("memory_record.csv"))
    rows = list(csv.DictReader(io.StringIO(records.read_text())))
    with records.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        for row in rows:
            row["Total Allocated(MB)"] = str(1000 * float(row["Total Allocated(MB)"] or 0))
            writer.writerow(row)
    first = cli("memory", tmp_path).out.splitlines()[0]
    assert "Its owners are not named: recorded allocations explain" in first
    assert "aten::mm" not in first
    assert {row["share"] for row in cli("memory", tmp_path, "--format", "json").json["rows"]} == {None}


def test_of_many_ranks_the_one_that_leaks_is_named_and_growth_of_all_is_shown(cli: Cli, tmp_path: Path) -> None:
    for rank in range(5):
        target = tmp_path / f"rank{rank}_ascend_pt"
        shutil.copytree(TRAINING / f"rank{rank == 3:d}_ascend_pt", target)
        for info in target.glob("profiler_info_*.json"):
            info.unlink()
        (target / f"profiler_info_{rank}.json").write_text(f'{{"rank_id": {rank}}}')
    out = cli("memory", tmp_path).out
    growth = out.split("What grows from step to step")[1].split("\n\n")[0]
    assert [f"\n   {rank} " in growth for rank in range(5)] == [True] * 5
    open_ends = [
        row for row in cli("memory", tmp_path, "--format", "json").json["findings"] if row["rule"] == "memory-open"
    ]
    assert len(open_ends) <= 2


def test_what_grows_is_what_was_planted(cli: Cli) -> None:
    found = cli("memory", TRAINING, "--format", "json").json["growth"]
    assert {(row["owner"], row["meaning"], row["bytes_per_step"]) for row in found} == {
        ("PTA+GE as a whole", "leak", LEAK),
        ("aten::clone", "leak", LEAK),
    }


def test_the_process_is_taken_apart_to_the_byte(cli: Cli) -> None:
    found = cli("memory", TRAINING, "--rank", "0", "--format", "json").json
    process = {row["component"]: row["size_bytes"] for row in found["process"]}
    assert sum(process.values()) == found["devices"][0]["process_bytes"]
    assert process.pop("APP") > WEIGHTS + OPTIMIZER
    assert process == {"HCCL": HCCL, "RUNTIME": RUNTIME, "unexplained": OTHER}


@pytest.mark.parametrize("top", [1, 3, 100])
def test_the_others_are_one_row_so_that_rows_add_up(cli: Cli, top: int) -> None:
    found = cli("memory", TRAINING, "--top", top, "--format", "json").json
    for device in found["devices"]:
        mine = [row["size_bytes"] for row in found["rows"] if row["rank_id"] == device["rank_id"]]
        assert sum(mine) == device["peak_bytes"]
        assert len(mine) <= top + 3


def test_csv_has_the_owners_in_bytes(cli: Cli) -> None:
    rows = list(csv.DictReader(io.StringIO(cli("memory", TRAINING, "--format", "csv").out)))
    assert {row["rank_id"] for row in rows} == {"0", "1"}
    assert all(int(row["size_bytes"]) > 0 for row in rows)


def test_nothing_answers_for_a_step_or_a_rank_that_is_not_there(cli: Cli) -> None:
    for option, value in (("--step", "99"), ("--rank", "7"), ("--device", "5")):
        ended = cli("memory", TRAINING, option, value)
        assert ended.code == 1
        assert f"{option[2:]} {value}" in ended.err


def test_a_capture_without_tables_of_memory_has_no_answer(cli: Cli) -> None:
    ended = cli("memory", VALID / "torch_npu_two_ranks")
    assert ended.code == 1
    assert "no memory of a device is recorded here" in ended.err


def test_two_sources_that_disagree_are_named_with_both_numbers(cli: Cli) -> None:
    found = cli("memory", VALID / "exports_of_summer_2023", "--format", "json").json
    said = [one["message"] for one in found["findings"] if one["rule"] == "memory-disagrees"]
    assert said == [f"APP: the peak is {2160640 * 1024:,} bytes in memory_record, {1835008 * 1024:,} bytes in npu_mem"]


def _changed(tmp_path: Path, name: str, change: Any) -> Path:
    shutil.copytree(TRAINING / "rank0_ascend_pt", tmp_path / "rank0_ascend_pt")
    path = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / name
    header, *lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([header, *change(lines)]))
    return tmp_path


def test_allocations_that_are_missing_are_unexplained(cli: Cli, tmp_path: Path) -> None:
    """A recorded sum that rises without an allocation: never held since before, and said."""
    folder = _changed(tmp_path, "operator_memory.csv", lambda lines: [one for one in lines if b"aten::mm" not in one])
    found = cli("memory", folder, "--format", "json", "--top", 100).json
    (device,) = found["devices"]
    assert sum(row["size_bytes"] for row in found["rows"]) == device["peak_bytes"]
    owners = _by_owner(found["rows"])
    assert owners["unexplained"] == 96 * MIB
    assert device["explained"] < 0.8
    assert {"memory-unexplained"} <= {one["rule"] for one in found["findings"]}
    assert cli("memory", folder).code == 0
    assert cli("memory", folder, "--strict").code == 1


def test_sizes_that_exceed_the_recorded_sum_are_unexplained_below_zero(cli: Cli, tmp_path: Path) -> None:
    def twice(lines: list[bytes]) -> list[bytes]:
        return [one.replace(b",24576.0,", b",1024000.0,", 1) if b"Linear" not in one else one for one in lines]

    found = cli("memory", _changed(tmp_path, "operator_memory.csv", twice), "--format", "json", "--top", 100).json
    (device,) = found["devices"]
    assert sum(row["size_bytes"] for row in found["rows"]) == device["peak_bytes"]
    assert _by_owner(found["rows"])["unexplained"] < 0


def test_components_that_hold_more_than_the_process_are_said(cli: Cli, tmp_path: Path) -> None:
    def more(lines: list[bytes]) -> list[bytes]:
        return [one.replace(b",64.0,", b",640.0,") for one in lines]

    found = cli("memory", _changed(tmp_path, "npu_module_mem.csv", more), "--format", "json").json
    assert sum(row["size_bytes"] for row in found["process"]) == found["devices"][0]["process_bytes"]
    assert any(one["rule"] == "memory-disagrees" and "components hold" in one["message"] for one in found["findings"])


def test_without_samples_the_sums_beside_allocations_are_taken(tmp_path: Path) -> None:
    shutil.copytree(TRAINING / "rank0_ascend_pt", tmp_path / "rank0_ascend_pt")
    (tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "memory_record.csv").unlink()
    answer = memory([tmp_path])
    (device,) = answer.table("devices")
    assert (device.component, device.explained) == ("PTA", 1)
    assert device.peak_bytes == peak_of(_planted(0))[0] - 6 * MIB
    assert sum(row.size_bytes for row in answer.rows) == device.peak_bytes


def test_of_many_ranks_one_row_shows_the_least_and_the_most(cli: Cli, tmp_path: Path) -> None:
    for rank in range(5):
        source = TRAINING / f"rank{rank % 2}_ascend_pt"
        target = tmp_path / f"rank{rank}_ascend_pt"
        shutil.copytree(source, target)
        (target / f"profiler_info_{rank % 2}.json").rename(target / f"profiler_info_{rank}.json")
        (target / f"profiler_info_{rank}.json").write_text(f'{{"rank_id": {rank}}}')
    ended = cli("memory", tmp_path)
    assert "Worst on rank" in ended.out
    assert len(cli("memory", tmp_path, "--format", "json").json["devices"]) == 5


@needs_real
def test_csv_and_a_database_that_disagree_are_said_with_both_numbers(cli: Cli, tmp_path: Path) -> None:
    text, database = (REAL / "torch_npu_2025-01" / form / "level1" / "rank0_ascend_pt" for form in ("text", "db"))
    output = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    shutil.copy(text / "profiler_info_0.json", output.parent)
    for name in ("operator_memory.csv", "memory_record.csv", "kernel_details.csv"):
        shutil.copy(text / "ASCEND_PROFILER_OUTPUT" / name, output)
    shutil.copy(database / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db", output)
    changed = output / "operator_memory.csv"
    changed.write_text(changed.read_text().replace(",18816.5,", ",18817.5,", 1))
    said = _disagreements(cli, tmp_path)
    assert any(one.startswith("operator_memory, sum of sizes: ") for one in said)
    assert all("bytes" in one for one in said)


def _disagreements(cli: Cli, path: Path) -> list[str]:
    found = cli("memory", path, "--format", "json").json["findings"]
    return [one["message"] for one in found if one["rule"] == "memory-disagrees"]


@needs_real
def test_a_form_without_rows_disagrees_with_nothing(cli: Cli, tmp_path: Path) -> None:
    text, database = (REAL / "torch_npu_2025-01" / form / "level1" / "rank0_ascend_pt" for form in ("text", "db"))
    output = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    shutil.copy(text / "profiler_info_0.json", output.parent)
    for name in ("operator_memory.csv", "memory_record.csv"):
        header = (text / "ASCEND_PROFILER_OUTPUT" / name).read_text().splitlines()[0]
        (output / name).write_text(f"{header}\n")
    shutil.copy(database / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db", output)
    assert not _disagreements(cli, tmp_path)


def test_logs_and_recordings_of_others_stand_beside_captures(cli: Cli) -> None:
    logs = FIXTURES / "memory" / "valid" / "server_logs"
    found = cli("memory", logs, "--format", "json").json
    assert {Path(row["path"]).name for row in found["statements"]} == {"vllm.log", "sglang.log"}
    assert not found["devices"]
    assert cli("memory", logs).out.startswith(
        "Allocation of 1.500 GiB failed: 1.250 GiB left on the device (1 more failed). According to its logs: 15.25 GiB of weights, 37.00 GiB of KV cache."
    )
    every = cli("memory", FIXTURES / "memory", "--format", "json").json
    assert {row["component"] for row in every["devices"]} >= {"PTA+GE", "PTA", "MINDSPORE"}
    for device in every["devices"]:
        mine = [
            row["size_bytes"]
            for row in every["rows"]
            if (row["run"], row["rank_id"]) == (device["run"], device["rank_id"])
        ]
        assert sum(mine) == device["peak_bytes"]
