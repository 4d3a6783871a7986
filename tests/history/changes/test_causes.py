"""Who made a step slower: planted causes in exported profiles, told apart by `regressions` from what `ingest` stored."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from captures import AFTER, BEFORE, FIRST, MODEL, QUIET, Kernel, Night, changed, write_night, write_tuning
from commandline import Cli
from stores import store_at_once

from aoe_reports.topics.records.options import RecordOptions


@pytest.fixture(scope="module")
def quiet_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The quiet nights, stored."""
    folder = tmp_path_factory.mktemp("quiet")
    for number in range(BEFORE):
        write_night(folder / "nights", number, QUIET)
    store_at_once([folder / "nights"], folder / "store", RecordOptions(workload=MODEL))
    return folder / "store"


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
        store_at_once([tmp_path / "nights"], tmp_path / "store", RecordOptions(workload=MODEL))
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
    runs = cli("store", "history", "runs", "--store", store, "--format", "json").json["rows"]
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
