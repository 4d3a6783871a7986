"""What a morning says is ordered by what it costs a step: a large operator before many small ones, a step before its operators."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from captures import Kernel, Night, write_night
from commandline import Cli
from stores import store_at_once
from talking import assistant

from aoe_reports.topics.records.options import RecordOptions

BEFORE = 24
SMALL = ("Cast", "Slice", "ZerosLike")
QUIET = Night(
    (
        Kernel("attention", "FlashAttentionScore", 600.0),
        *(Kernel(f"matmul_{number}", "MatMulV3", 1800.0 + 60 * number) for number in range(4)),
        *(Kernel(f"{kind}_{number}", kind, 2.0 + number) for kind in SMALL for number in range(3)),
    ),
    uncovered_us=300.0,
    free_us=500.0,
)
"""A step of 9.2 ms, of which the operators of each small type take a thousandth."""


def slower(night: Night = QUIET, everything: float = 1.0, **factors: float) -> Night:
    """A night on which operator types, or everything, take so many times as long."""
    kernels = tuple(replace(one, us=one.us * everything * factors.get(one.op_type, 1.0)) for one in night.kernels)
    return Night(kernels, night.uncovered_us * everything, night.free_us * everything)


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of quiet nights."""
    folder = tmp_path_factory.mktemp("effects")
    for number in range(BEFORE):
        write_night(folder / "nights", number, QUIET)
    store_at_once([folder / "nights"], folder / "store", RecordOptions(workload="net", hardware="npu"))
    return folder / "store"


@pytest.fixture
def store(quiet: Path, tmp_path: Path) -> Path:
    return shutil.copytree(quiet, tmp_path / "store")


@pytest.fixture
def mornings(cli: Cli, store: Path, tmp_path: Path) -> Callable[..., list[Any]]:
    """Runs `nightly` for the first and the last of some nights, and keeps what it answered; those between are stored."""

    def run(*nights: Night) -> list[Any]:
        answers = []
        for number, night in enumerate(nights, BEFORE):
            write_night(tmp_path / str(number), number, night)
            if number not in {BEFORE, BEFORE + len(nights) - 1}:
                store_at_once([tmp_path / str(number)], store, RecordOptions(workload="net", hardware="npu"))
                continue
            options = ("--store", store, "--workload", "net", "--hardware", "npu", "--format", "json")
            answers.append(cli("nightly", tmp_path / str(number), *options))
        return answers

    return run


def test_a_large_change_is_told_before_its_small_companions(
    cli: Cli, store: Path, mornings: Callable[..., list[Any]]
) -> None:
    """Attention costs a step 2.6 %, three small types with more series a thousandth of that: everywhere attention is first."""
    night = slower(FlashAttentionScore=1.41, **dict.fromkeys(SMALL, 1.05))
    answers = mornings(*[night] * 4)
    for answer in answers:
        headline = answer.json["headline"]
        assert "attention (FlashAttentionScore) +4" in headline
        assert not any(kind in headline for kind in SMALL)
    first, last = answers[0].json, answers[-1].json
    assert first["headline"].startswith("Suspected since 2026-03-25: step of net, rank 0 +")
    assert "FlashAttentionScore" in first["suspicions"][0]["title"]
    assert first["changes"][0]["workload"] == "net/step"
    assert "attention" in first["changes"][1]["workload"] or "FlashAttention" in first["changes"][1]["workload"]
    assert last["headline"].startswith("Regression: step of net, rank 0 +") or "Open: step of net" in last["headline"]
    assert "explains " in last["headline"]
    (incident,) = last["incidents"]
    assert incident["causes"][0]["op_type"] == "FlashAttentionScore"
    assert not any(kind in incident["title"] for kind in SMALL)
    assert [abs(one["step_share"]) for one in incident["causes"]] == sorted(
        (abs(one["step_share"]) for one in incident["causes"]), reverse=True
    )
    failing = [one["workload"] for one in last["changes"] if one["fails"]]
    assert not any(kind in one for kind in SMALL for one in failing)
    annotations = cli("regressions", "--store", store, "--format", "github").out.splitlines()
    assert "attention (FlashAttentionScore)" in annotations[0]


def test_an_improvement_is_no_suspected_regression(mornings: Callable[..., list[Any]]) -> None:
    (answer,) = mornings(slower(MatMulV3=0.93))
    headline = answer.json["headline"]
    assert headline.startswith("Suspected improvement since 2026-03-25: step of net, rank 0 -5.")
    assert "operator type MatMulV3 -" in headline
    assert " explains " in headline


def test_a_slow_night_is_told_by_its_step_and_leads_the_report(
    cli: Cli, store: Path, mornings: Callable[..., list[Any]]
) -> None:
    """Also where an operator that nobody notices is open from before."""
    small = slower(Cast=2.0)
    answers = mornings(small, small, small, small, slower(small, everything=1.077))
    said = answers[-1].json["headline"]
    assert said.startswith("Suspected since 2026-03-29: step of net, rank 0 +7.")
    assert "; all 14 operators +" in said
    report = cli("report", "--store", store, "--format", "json").json
    lead = next(one for one in report["rows"] if one["series_id"] == report["lead"])
    assert lead["workload"] == "net/step"
    with assistant("--store", store) as one:
        assert one("incident").content["headline"] == said


def test_a_thousandth_of_a_step_turns_no_morning_red(
    cli: Cli, store: Path, tmp_path: Path, mornings: Callable[..., list[Any]]
) -> None:
    answers = mornings(*[slower(Cast=2.0)] * 4)
    assert [answer.code for answer in answers] == [0, 0]
    last = answers[-1].json
    assert last["headline"].startswith("No regression that costs 0.5% of a step or more. ")
    assert "Cast" in last["headline"]
    confirmed = [one for one in last["changes"] if one["state"] == "confirmed"]
    assert confirmed
    assert all(0 < one["step_share"] < 0.005 for one in confirmed)
    assert cli("regressions", "--store", store, "--gate", "effect>=0%").code == 1, "who asks for all changes gets them"
    assert cli("regressions", "--store", store, "--gate", "share>=0.01%").code == 1
    assert cli("regressions", "--store", store, "--gate", "share>=1%").code == 0
    assert cli("site", "--store", store, "--output", tmp_path / "site").code == 0
    assert '<h1><span class="calm">No model is slower.' in (tmp_path / "site" / "index.html").read_text()


def test_a_gate_that_judged_nothing_has_not_passed(cli: Cli, store: Path, tmp_path: Path) -> None:
    """A workload that the store does not know is a mistake and fails; too few nights fail with --strict-data."""
    typo = cli("regressions", "--store", store, "--workload", "nett")
    assert typo.code == 4
    why = "no series of workload 'nett' is stored; the stored workload 'net' has a similar name"
    assert typo.out.splitlines()[-1] == f"gate not judged: {why} · 0 incidents open"
    told = cli("regressions", "--store", store, "--workload", "nett", "--format", "json").json
    assert (told["not_judged"], told["reasons"]) == ([why], ["nothing-selected"])
    assert told["findings"][-1]["rule"] == "nothing-selected"
    of_gate = cli("regressions", "--store", store, "--gate", "workload=nett/step")
    assert of_gate.code == 0
    assert of_gate.out.splitlines()[-1] == (
        "gate not judged (workload=nett/step): no series that workload=nett/step watches can be judged · 0 incidents open"
    )
    both = ("--gate", "scope=step", "--gate", "workload=nett/step")
    assert cli("regressions", "--store", store, *both).out.splitlines()[-1].startswith("gate passed (")
    assert ", not judged: no series that workload=nett/step" in cli("regressions", "--store", store, *both).out
    home = write_night(tmp_path / "night", 0, QUIET)
    few = cli("nightly", home, "--store", tmp_path / "new", "--workload", "net")
    assert few.code == 0
    assert few.out.splitlines()[-1].startswith("gate not judged: not enough nights yet (1 of ")
    assert cli("nightly", home, "--store", tmp_path / "new", "--workload", "net", "--strict-data").code == 4


def test_a_new_workload_that_resembles_a_known_one_is_a_warning_with_both_names(
    cli: Cli, store: Path, tmp_path: Path
) -> None:
    for name, number in (("nets", BEFORE), ("net2", BEFORE + 1), ("other", BEFORE + 2)):
        home = write_night(tmp_path / name, number, QUIET)
        answer = cli("ingest", home, "--store", store, "--workload", name, "--hardware", "npu", "--format", "json")
        found = [one["message"] for one in answer.json["findings"] if one["rule"] == "workload-resembles"]
        if name == "nets":
            (message,) = found
            assert "'nets'" in message
            assert "'net'" in message
        else:
            assert not found, "a number is a difference that somebody meant"
    assert json.loads(answer.out)["findings"] is not None
