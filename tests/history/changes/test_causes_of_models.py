"""Several models in one store and one job: what they share is told once, what is new is told first."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from captures import Kernel, Night, write_night
from commandline import Cli
from stores import store_at_once

from aoe_reports.topics.records.options import RecordOptions

BEFORE = 20
TYPES = ("MatMulV2", "TransData", "SoftmaxV2")
MODELS = ("bert", "llm")

Planted = Callable[[str, str, str], float]
"""By which factor an operator is longer: of its model, its type, its name."""


def quiet(_: str, __: str, ___: str) -> float:
    return 1.0


def write_models(folder: Path, number: int, planted: Planted = quiet, models: tuple[str, ...] = MODELS) -> Path:
    """A night of some models, each in a folder of its name; each model has four operators of each type."""
    for model in models:
        names = [(kind, f"{model}_{kind.lower()}_{one}") for kind in TYPES for one in range(4)]
        kernels = tuple(
            Kernel(name, kind, (100 + 10 * place) * planted(model, kind, name))
            for place, (kind, name) in enumerate(names)
        )
        write_night(folder / model, number, Night(kernels), hours=MODELS.index(model) if model in MODELS else 9)
    return folder


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of nights in which nothing changed."""
    folder = tmp_path_factory.mktemp("models")
    for number in range(BEFORE):
        write_models(folder / "first", number)
    store_at_once([folder / "first"], folder / "store", RecordOptions(workload_from="folder", engine_version="8.0.0"))
    return folder / "store"


@pytest.fixture
def told(cli: Cli, tmp_path: Path, before: Path) -> Callable[..., list[Any]]:
    """What `nightly` prints of each of some more nights."""

    def run(nights: list[Planted], *options: str, versions: Mapping[int, str] | None = None) -> list[Any]:
        copytree(before, tmp_path / "store")
        said = []
        for number, planted in enumerate(nights, BEFORE):
            folder = write_models(tmp_path / str(number), number, planted)
            version = (versions or {}).get(number - BEFORE, "8.0.0")
            asked = ("--workload-from", "folder", "--engine-version", version)
            said.append(cli("nightly", folder, "--store", tmp_path / "store", *asked, *options))
        return said

    return run


def incidents(cli: Cli, tmp_path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli("regressions", "--store", tmp_path / "store", "--format", "json").json[
        "incidents"
    ]
    return found


def test_an_upgrade_that_slows_one_type_in_all_models_is_one_incident(
    cli: Cli, tmp_path: Path, told: Callable[..., list[Any]]
) -> None:
    """Suspected on its first night, proved some nights later, open from then on; always with what changed in the environment."""

    def slow(_: str, kind: str, __: str) -> float:
        return 1.08 if kind == "TransData" else 1.0

    said = told([quiet, *[slow] * 5], versions=dict.fromkeys(range(1, 6), "8.2.RC1"))
    lines = [one.out.splitlines() for one in said]
    assert lines[0][0].startswith(("No regression: ", "No open regression: "))
    assert lines[0][-1] == "gate passed · 0 incidents open"
    upgrade = "with engine version 8.0.0 → 8.2.RC1"
    assert lines[1][0].startswith("Suspected since 2026-03-22: step of llm, rank 0 +1.9% (")
    assert "; bert, llm: operator type TransData +" in lines[1][0]
    assert lines[1][0].endswith(f", {upgrade} (run the night again).")
    proved = next(one for one in lines if one[0].startswith("Regression: "))
    assert "operator type TransData" in proved[0]
    assert "since 2026-03-22" in proved[0]
    assert upgrade in proved[0]
    assert proved[-1] == "gate failed · 1 incident open"
    assert lines[-1][0].startswith("No new regression. Open: ")
    assert "incidents are open" not in lines[-1][0]
    (incident,) = incidents(cli, tmp_path)
    assert (incident["model"], incident["models"]) == (None, ["bert", "llm"])
    assert incident["since"] == "2026-03-22"
    assert [(one["kind"], one["model"], one["op_type"], one["members"]) for one in incident["causes"]] == [
        ("op-type", None, "TransData", 8)
    ]
    assert [(one["name"], one["before"], one["after"]) for one in incident["metadata"]] == [
        ("engine_version", "8.0.0", "8.2.RC1")
    ]


def test_two_causes_of_one_night_in_two_models_are_two_incidents(
    cli: Cli, tmp_path: Path, told: Callable[..., list[Any]]
) -> None:
    def slow(model: str, kind: str, _: str) -> float:
        return 1.1 if (model, kind) in {("bert", "SoftmaxV2"), ("llm", "MatMulV2")} else 1.0

    told([slow] * 5)
    found = incidents(cli, tmp_path)
    assert sorted((*one["models"], *(cause["op_type"] for cause in one["causes"])) for one in found) == [
        ("bert", "SoftmaxV2"),
        ("llm", "MatMulV2"),
    ]


def test_a_slow_night_of_the_whole_machine_is_one_suspicion_and_past_the_night_after(
    cli: Cli, tmp_path: Path, told: Callable[..., list[Any]]
) -> None:
    first, second = told([lambda *_: 1.08, quiet], "--format", "json")
    (one,) = first.json["suspicions"]
    headline = first.json["headline"]
    assert headline.startswith("Suspected since 2026-03-21: step of llm, rank 0 +"), "what the step did comes first"
    assert "; whole machine (bert, llm): all 24 operators +" in headline
    assert (one["cause"]["kind"], one["cause"]["model"], one["past"]) == ("machine", None, False)
    assert one["cause"]["change"] == pytest.approx(0.08, abs=0.01)
    assert len(one["series"]) > 24, "the steps and operator types, too"
    assert second.json["headline"].startswith(("No regression", "No open regression"))
    assert all(one["past"] for one in second.json["suspicions"])
    report = cli("report", "--store", tmp_path / "store", "--night", "2026-03-21").out
    table = report[report.index("\nSuspected\n") :]
    assert "whole machine (bert, llm): all 24 operators" in table
    assert "In the newest night" in table


def test_a_suspicion_is_held_against_the_level_since_the_last_change(told: Callable[..., list[Any]]) -> None:
    """Everything became a third quicker some nights ago: what is slower than that tonight is not as it was before."""
    faster = 0.7
    said = told([*[lambda *_: faster] * 6, lambda *_: faster * 1.08], "--format", "json")
    (one,) = said[-1].json["suspicions"]
    assert one["cause"]["change"] == pytest.approx(0.08, abs=0.01)
    assert one["past"] is False
    headline = said[-1].json["headline"]
    assert headline.startswith("Suspected since 2026-03-27: step of ")
    assert "; whole machine (bert, llm): all 24 operators +" in headline


def test_what_got_quicker_is_news(told: Callable[..., list[Any]]) -> None:
    said = told([lambda model, *_: 0.9 if model == "bert" else 1.0] * 6)
    lines = [one.out.splitlines()[0] for one in said]
    assert lines[0].startswith("Suspected improvement since 2026-03-21: step of bert, rank 0 -7.0% (")
    assert "; all 12 operators -" in lines[0]
    (improved,) = (line for line in lines if line.startswith("Improved: "))
    assert "step of bert, rank 0 -" in improved
    assert "; all 12 operators -" in improved
    assert "since 2026-03-21" in improved
    assert lines[-1] == "No regression: nothing new."


def test_a_model_that_did_not_run_is_said(cli: Cli, tmp_path: Path) -> None:
    """By a job of several models: one of a single model waits for no other."""
    three = (*MODELS, "vision")
    asked = ("--store", tmp_path / "store", "--workload-from", "folder")
    first = cli("nightly", write_models(tmp_path / "0", 0, models=three), *asked)
    others = [
        cli("nightly", write_models(tmp_path / "job" / str(one), one, models=("x", "y")), *asked) for one in (0, 1)
    ]
    assert not any("Not measured" in one.out for one in others), "a job of another folder"
    second = cli("nightly", write_models(tmp_path / "1", 1, models=("bert", "llm")), *asked)
    store, site = tmp_path / "store", tmp_path / "site"
    assert cli("report", "--store", store).out.splitlines()[0].endswith(" Not measured: vision.")
    assert cli("report", "--store", store, "--format", "json").json["missing"] == ["vision"]
    assert cli("site", "--store", store, "-o", site).code == 0
    assert '<p class="lead">Not measured: vision.</p>' in (site / "index.html").read_text()
    assert json.loads((site / "index.json").read_text())["missing"] == ["vision"]
    third = cli("nightly", write_models(tmp_path / "2", 2, models=("llm",)), *asked)
    assert "Not measured" not in first.out
    assert second.out.splitlines()[0].endswith(" Not measured: vision.")
    assert "Not measured" not in third.out
    assert "Not measured" not in cli("report", "--store", store).out
    past = cli("report", "--store", store, "--night", "2026-03-02", "--format", "json").json
    assert past["missing"] == ["vision"], "as it was on that night"


def test_incidents_are_annotations_and_metrics(cli: Cli, tmp_path: Path, told: Callable[..., list[Any]]) -> None:
    """An error where the gate fails, else a warning; a notice for what is quicker; a suspicion is a warning."""

    def planted(model: str, kind: str, _: str) -> float:
        return {("llm", "TransData"): 1.1, ("bert", "SoftmaxV2"): 0.9}.get((model, kind), 1.0)

    told([planted] * 5)
    ask = ("regressions", "--store", tmp_path / "store", "--format")
    lines = cli(*ask, "github").out.splitlines()
    assert lines[0].startswith("::error title=Regression::")
    assert "operator type TransData +" in lines[0]
    assert "%25 since 2026-03-21 (incident 20260321-" in lines[0]
    assert lines[-2].startswith(("Regression: ", "No new regression. Open: "))
    assert lines[-1] == "gate failed · 1 incident open"
    passed = cli(*ask, "github", "--gate", "effect>=50%").out.splitlines()
    assert passed[0] == lines[0].replace("error title=Regression", "warning title=Open incident")
    told_again = cli("nightly", write_models(tmp_path / "x", 25, lambda *names: 1.2 * planted(*names)), "--store", tmp_path / "store", "--workload-from", "folder")  # fmt: skip
    assert "whole machine (bert, llm)" in told_again.out.splitlines()[0]
    suspected = [line for line in cli(*ask, "github").out.splitlines() if "title=Suspected change" in line]
    assert len(suspected) == 1
    assert suspected[0].startswith("::warning title=Suspected change::whole machine (bert, llm): all 24 operators +")
    assert suspected[0].endswith(" since 2026-03-26: run the night again")
    metrics = cli(*ask, "openmetrics").out
    assert "\naoe_reports_open_incidents 1\n" in metrics
    labels = 'models="llm",hardware="unknown",kind="op-type",op_type="TransData",op_name="",rank_id="",state="open"'
    assert f"{labels}}} 0." in metrics
    assert "aoe_reports_step_change_ratio{" in metrics


def test_the_last_line_says_whether_the_gates_let_it_pass(
    cli: Cli, tmp_path: Path, told: Callable[..., list[Any]]
) -> None:
    told([lambda model, *_: 1.1 if model == "llm" else 1.0] * 5)
    for gates, end in (
        (["--gate", "scope=step,effect>=50%"], "gate passed (scope=step,effect>=50%) · 1 incident open"),
        ([], "gate failed · 1 incident open"),
        (["--fail-on", "never"], "gate passed · 1 incident open"),
    ):
        answer = cli("regressions", "--store", tmp_path / "store", *gates)
        assert answer.out.splitlines()[-1] == end
        assert answer.code == (1 if "failed" in end else 0)
