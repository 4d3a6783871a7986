"""Who made a step slower: planted causes in exported profiles, told apart by `regressions` from what `ingest` stored."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from commandline import Cli

FIRST = datetime(2026, 3, 1, 2, tzinfo=UTC)
BEFORE, AFTER, STEPS = 24, 6, 3
MODEL = "net"


@dataclass(frozen=True)
class Kernel:
    """An operator of a step: microseconds a call, calls a step, inputs."""

    name: str
    op_type: str
    us: float
    calls: int = 1
    shapes: str = "8,64;64,64"
    data_type: str = "FLOAT16"
    data_format: str = "ND"
    core: str = "AI_CORE"


@dataclass(frozen=True)
class Night:
    """What a step is made of."""

    kernels: tuple[Kernel, ...]
    uncovered_us: float = 300.0
    free_us: float = 500.0


QUIET = Night(
    (
        Kernel("conv", "Conv2D", 900.0),
        Kernel("relu", "Relu", 100.0, calls=4),
        Kernel("matmul", "MatMulV2", 600.0, calls=2),
        Kernel("softmax", "SoftmaxV2", 300.0),
        Kernel("hcom_allReduce__1", "hcom_allReduce_", 350.0, shapes="", core="HCCL"),
    )
)
HEADER = (
    "Step Id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),"
    "Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,"
    "Output Formats,Context ID"
)


def write_night(folder: Path, number: int, night: Night) -> Path:
    """A capture of one night as torch_npu exports it, with noise of 0.3 % an operator."""
    noise, start = random.Random(number), FIRST + timedelta(days=number)
    home = folder / f"host_{4711 + number}_{start:%Y%m%d%H%M%S}_ascend_pt"
    exports = home / "ASCEND_PROFILER_OUTPUT"
    exports.mkdir(parents=True)
    now = int(start.timestamp()) * 1_000_000_000
    ending = {"config": {}, "end_info": {"collectionTimeEnd": now + 10**9}, "rank_id": 0}
    (home / "profiler_info_0.json").write_text(json.dumps(ending))
    # by name: adding one operator changes the noise of no other
    means = {
        kernel.name: kernel.us * (1 + random.Random(f"{number}{kernel.name}").gauss(0, 0.003))
        for kernel in night.kernels
    }
    lines, steps = [HEADER], ["Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free"]
    for step in range(1, STEPS + 1):
        computing = 0
        for kernel in night.kernels:
            for _ in range(kernel.calls):
                took = round(means[kernel.name] * 1000)
                computing += 0 if kernel.core == "HCCL" else took
                inputs = f'"""{kernel.shapes}""",{kernel.data_type},{kernel.data_format}'
                lines.append(
                    f"{step},4294967295,{len(lines)},2,{kernel.name},{kernel.op_type},static,{kernel.core},{us(now)}\t,"
                    f'{us(took)},0.5,24,0,NO,{inputs},"""8,64""",FLOAT16,ND,N/A'
                )
                now += took + 500
        uncovered, free = (
            round(part * (1 + noise.gauss(0, 0.003)) * 1000) for part in (night.uncovered_us, night.free_us)
        )
        steps.append(f"{step},{us(computing)},{us(uncovered)},{us(50_000)},{us(uncovered + 50_000)},{us(free)}")
        now += free
    (exports / "kernel_details.csv").write_text("\n".join(lines) + "\n")
    (exports / "step_trace_time.csv").write_text("\n".join(steps) + "\n")
    return home


def us(ns: int) -> str:
    return f"{ns // 1000}.{ns % 1000:03d}"


def write_tuning(folder: Path, when: datetime, *names: str) -> Path:
    """A result of AOE in which it tuned operators."""
    tuned = [
        {
            "op_name": name,
            "op_type": "conv2d",
            "performance_after_tune(us)": 600.0,
            "performance_before_tune(us)": 900.0,
            "performance_improvement": "50.00%",
        }
        for name in names
    ]
    counts = {"add": len(tuned), "hit": 0, "reserved": 0, "unsatisfied": 0, "update": 0}
    body = {
        "opat_tuning_result": "tuning successful",
        "repo_modified_operators": {"add_repo_operators": tuned, "update_repo_operators": []},
        "repo_summary": {**{f"repo_{name}_num": count for name, count in counts.items()}, "total_num": len(tuned)},
    }
    path = folder / f"aoe_result_opat_{when:%Y%m%d%H%M%S}000_pid4711.json"
    path.write_text(json.dumps([{"basic": {"tuning_name": MODEL, "tuning_time(s)": 900}}, {"OPAT": body}]))
    return path


@pytest.fixture(scope="module")
def quiet_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The quiet nights, stored."""
    from aoe_reports.workflows.ingest import Gathered, ingest
    from aoe_reports.workflows.options import RunOptions

    folder = tmp_path_factory.mktemp("quiet")
    for number in range(BEFORE):
        write_night(folder / "nights", number, QUIET)
    ingest([folder / "nights"], str(folder / "store"), RunOptions(MODEL), Gathered())
    return folder / "store"


def changed(*kernels: Kernel, gone: Sequence[str] = (), **parts: float) -> Night:
    """The quiet night with some operators others, more or gone."""
    others = {kernel.name: kernel for kernel in kernels}
    kept = [others.pop(kernel.name, kernel) for kernel in QUIET.kernels if kernel.name not in gone]
    return replace(QUIET, kernels=(*kept, *others.values()), **parts)


def step_row(cli: Cli, store: Path) -> dict[str, Any]:
    """The row of the step, whose change has to be divided without a remainder."""
    rows = cli("regressions", "--store", store, "--scope", "step", "--format", "json").json["rows"]
    (row,) = rows
    told = row["attribution"]
    parts = ("operators_us", "communication_not_overlapped_us", "free_us", "unattributed_us")
    ns = {
        name: round(told[name] * 1000) for name in (*parts, "total_us", "before_us", "after_us", "other_operators_us")
    }
    assert sum(ns[part] for part in parts) == ns["total_us"] == ns["after_us"] - ns["before_us"]
    assert (
        sum(round(one["difference_us"] * 1000) for one in told["operators"]) + ns["other_operators_us"]
        == (ns["operators_us"])
    )
    for one in told["operators"]:
        split = sum(round(one[part] * 1000) for part in ("calls_us", "count_us", "inputs_us"))
        assert split == round(one["difference_us"] * 1000) == round((one["after_us"] - one["before_us"]) * 1000)
    # what these exports tell of adds up to the step itself: nothing is left over but rounding
    assert abs(ns["unattributed_us"]) <= len(QUIET.kernels) + 3
    return row


@pytest.fixture
def store_after(cli: Cli, quiet_store: Path, tmp_path: Path):
    """Makes a store in which so the later nights are."""

    def make(night: Night, *tunings: Path, model: str = MODEL) -> Path:
        shutil.copytree(quiet_store, tmp_path / "store")
        for number in range(BEFORE, BEFORE + AFTER):
            write_night(tmp_path / "nights", number, night)
        assert cli("ingest", tmp_path / "nights", "--store", tmp_path / "store", "--workload", MODEL).code == 0
        if tunings:
            assert cli("ingest", *tunings, "--store", tmp_path / "store", "--workload", model).code == 0
        return tmp_path / "store"

    return make


CONV = QUIET.kernels[0]
CASES = {
    "slower-calls": (changed(replace(CONV, us=1100.0)), "conv"),
    "faster-calls": (changed(replace(CONV, us=700.0)), "conv"),
    "more-calls": (changed(replace(QUIET.kernels[2], calls=3)), "matmul"),
    "fewer-calls": (changed(replace(QUIET.kernels[2], calls=1)), "matmul"),
    "changed-shapes": (changed(replace(CONV, us=1200.0, shapes="16,64;64,64")), "conv"),
    "changed-data-types": (changed(replace(CONV, us=1200.0, data_type="FLOAT")), "conv"),
    "changed-formats": (changed(replace(CONV, us=1200.0, data_format="NC1HWC0")), "conv"),
    "new": (changed(Kernel("cast", "Cast", 250.0)), "cast"),
    "vanished": (changed(gone=["softmax"]), "softmax"),
}


@pytest.mark.parametrize("cause", CASES)
def test_what_an_operator_did_is_told_by_its_cause(cli: Cli, store_after: Any, cause: str) -> None:
    night, name = CASES[cause]
    (told,) = step_row(cli, store_after(night))["attribution"]["operators"]
    assert (told["op_name"], told["cause"]) == (name, cause)
    assert (told["repository_run"], told["repository_night"]) == (None, None)
    kernels = {kernel.name: kernel for kernel in QUIET.kernels}, {kernel.name: kernel for kernel in night.kernels}
    calls = [side[name].calls if name in side else 0 for side in kernels]
    assert [told["count_before"], told["count_after"]] == calls


def test_uncovered_communication_is_told_apart(cli: Cli, store_after: Any) -> None:
    talk = replace(QUIET.kernels[-1], us=650.0)
    told = step_row(cli, store_after(changed(talk, uncovered_us=600.0)))["attribution"]
    assert told["operators"] == []
    assert told["communication_not_overlapped_us"] == pytest.approx(300, rel=0.02)
    assert abs(told["free_us"]) < 5
    (shown,) = told["communication"]
    assert (shown["op_type"], shown["cause"]) == ("hcom_allReduce_", "slower-calls")


def test_free_time_is_told_apart(cli: Cli, store_after: Any) -> None:
    told = step_row(cli, store_after(changed(free_us=800.0)))["attribution"]
    assert told["operators"] == told["communication"] == []
    assert told["free_us"] == pytest.approx(300, rel=0.02)
    assert abs(told["communication_not_overlapped_us"]) < 5


def test_time_that_moved_into_a_fused_operator_is_a_shift(cli: Cli, store_after: Any) -> None:
    fused = Kernel("conv_relu", "FusedConv2D", 1300.0)
    slower = replace(QUIET.kernels[2], us=700.0)
    told = step_row(cli, store_after(changed(fused, slower, gone=["conv", "relu"])))["attribution"]
    (shift,) = told["shifts"]
    assert (set(shift["from"]), shift["to"]) == ({"conv", "relu"}, ["conv_relu"])
    causes = {one["op_name"]: one["cause"] for one in told["operators"]}
    assert causes == {"conv": "vanished", "relu": "vanished", "conv_relu": "new", "matmul": "slower-calls"}


BETWEEN = FIRST + timedelta(days=BEFORE - 1, hours=12)
FASTER = changed(replace(CONV, us=600.0))


@pytest.mark.parametrize("name", ["conv", "conv_OPAT_0"])
def test_a_tuned_operator_changed_because_its_knowledge_did(
    cli: Cli, store_after: Any, tmp_path: Path, name: str
) -> None:
    store = store_after(FASTER, write_tuning(tmp_path, BETWEEN, name))
    (told,) = step_row(cli, store)["attribution"]["operators"]
    runs = cli("history", "runs", "--store", store, "--format", "json").json["rows"]
    (tuning,) = [run for run in runs if run["kind"] == "tuning"]
    assert (told["op_name"], told["cause"]) == ("conv", "changed-repository")
    assert (told["repository_run"], told["repository_night"]) == (tuning["run"], f"{BETWEEN:%Y-%m-%d}")
    assert f"AOE tuned conv in run {tuning['run']}" in cli("regressions", "--store", store).out


@pytest.mark.parametrize(
    ("when", "name", "model"),
    [
        (BETWEEN, "matmul", MODEL),
        (BETWEEN, "conv", "another-net"),
        (BETWEEN - timedelta(days=1), "conv", MODEL),
        (BETWEEN + timedelta(days=1), "conv", MODEL),
    ],
)
def test_other_tuning_is_no_evidence(
    cli: Cli, store_after: Any, tmp_path: Path, when: datetime, name: str, model: str
) -> None:
    store = store_after(FASTER, write_tuning(tmp_path, when, name), model=model)
    (told,) = step_row(cli, store)["attribution"]["operators"]
    assert (told["cause"], told["repository_run"]) == ("faster-calls", None)


def test_neither_threads_nor_the_order_of_ingesting_change_a_byte(cli: Cli, store_after: Any, tmp_path: Path) -> None:
    tuning = write_tuning(tmp_path, BETWEEN, "conv")
    store = store_after(changed(replace(CONV, us=600.0), gone=["softmax"]), tuning)
    nights = [*sorted((tmp_path / "nights").iterdir()), tuning]
    quiet = tmp_path / "quiet"
    nights += [write_night(quiet, number, QUIET) for number in range(BEFORE)]
    random.Random(3).shuffle(nights)
    for one in nights:
        assert cli("ingest", one, "--store", tmp_path / "other", "--workload", MODEL).code == 0
    told = set()
    for uri in (store, tmp_path / "other"):
        for threads in ("1", "2"):
            command = [sys.executable, "-m", "aoe_reports", "regressions", "--store", uri, "--all", "--format", "csv"]
            environment = {**os.environ, "POLARS_MAX_THREADS": threads}
            ended = subprocess.run(command, env=environment, capture_output=True, check=False)
            assert ended.stderr == b""
            told.add(ended.stdout)
    assert len(told) == 1
    assert b"changed-repository" in told.pop()
