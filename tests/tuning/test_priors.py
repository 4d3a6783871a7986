"""What tuning may bring and cost before it is tried, and how noise widens what was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aoe_reports.tuning.aoe.bank import RUNTIME_KB
from aoe_reports.tuning.aoe.prior_jobs import read_prior_jobs
from aoe_reports.tuning.aoe.tuner import read_claims
from aoe_reports.tuning.plan.prior import Gain, PriorJobs, Priors, PriorSources, cost_of_summary, saved_share
from aoe_reports.tuning.verify.intervals import LEVEL, Interval, Noise, widened


@pytest.mark.parametrize(
    ("gains", "share", "source", "results"),
    [
        ([], 0.2612, "default", 0),
        ([Gain("MatMul", 0.5)], (0.5 + 0.2612) / 2, "claimed", 1),
        ([Gain("MatMul", 0.5), Gain("MatMul", 0.1, measured=True)], (0.1 + 0.2612) / 2, "measured", 1),
        ([Gain("MatMul", 0.5), Gain("MatMul", 0.3), Gain("Add", 0.9)], (0.8 + 0.2612) / 3, "claimed", 2),
        ([Gain("MatMul", -0.9)], 0.0, "claimed", 1),
    ],
)
def test_what_is_expected_of_a_type(gains: list[Gain], share: float, source: str, results: int) -> None:
    prior = Priors(gains).of_type("MatMul")
    assert (prior.saved_share, prior.source, prior.results) == (pytest.approx(share), source, results)
    assert prior.as_document() == {"saved_share": round(share, 6), "source": source, "results": results}


def test_subgraphs_have_an_expectation_of_their_own() -> None:
    priors = Priors([Gain(None, 0.1), Gain("MatMul", 0.9)], [10.0, 30.0, 20.0], [5.0, 7.0])
    assert priors.of_subgraphs().saved_share == pytest.approx((0.1 + 0.3553) / 2)
    assert (priors.cost_s, priors.cost_results, priors.subgraph_cost_s) == (20.0, 3, 6.0)
    unknown = Priors()
    assert (unknown.of_subgraphs().saved_share, unknown.cost_s, unknown.cost_results) == (0.3553, 26.0, 0)
    assert unknown.subgraph_cost_s == 48.5


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [(4, 3, 0.25), ("4", "5", -0.25), (4, 0, None), (0, 4, None), (4, -1, None), (-4, 1, None), (4, float("inf"), None), (None, 3, None), (4, None, None)],
)  # fmt: skip
def test_the_share_of_time_that_was_saved(before: object, after: object, share: float | None) -> None:
    assert saved_share(before, after) == share


@pytest.mark.parametrize(
    ("time", "counts", "cost"),
    [
        (30.0, {"add": 1, "update": 2, "unsatisfied": 3, "reserved": 4, "hit": 6}, 5.0),
        (30.0, {"reserved": 4, "hit": 4}, None),
        (30.0, {"unsatisfied": 2}, 15.0),
        (0.0, {"add": 1}, None),
        (-1.0, {"add": 1}, None),
        (None, {"add": 1}, None),
    ],
)
def test_what_an_operator_costs(time: float | None, counts: dict[str, int], cost: float | None) -> None:
    assert cost_of_summary(time, {f"repo_{name}_num": count for name, count in counts.items()}) == cost


@pytest.mark.parametrize(
    ("reach", "interval", "found"),
    [
        (None, None, None),
        (0.03, None, (-0.23, -0.17, None)),
        (None, Interval(-0.25, -0.1, "steps"), (-0.25, -0.1, "steps")),
        (0.0, Interval(-0.25, -0.1, "calls"), (-0.25, -0.1, "calls")),
        (0.03, Interval(-0.25, -0.1, "steps"), (-0.2 - (0.05**2 + 0.03**2) ** 0.5, -0.2 + (0.1**2 + 0.03**2) ** 0.5, "steps")),
        (None, Interval(-0.19, -0.1, "steps"), (-0.2, -0.1, "steps")),
    ],
)  # fmt: skip
def test_noise_widens_an_interval(
    reach: float | None, interval: Interval | None, found: tuple[float, float, str | None] | None
) -> None:
    told = widened(-0.2, interval, reach)
    assert (told is None) is (found is None)
    if told is not None and found is not None:
        assert (told.low, told.high, told.blocks) == (pytest.approx(found[0]), pytest.approx(found[1]), found[2])


def test_the_noise_of_operators_is_drift_and_spread_together() -> None:
    assert Noise(controls=9, drift=0.03, spread=0.04).of_operators == pytest.approx(0.05)
    assert Noise(controls=4).of_operators == 0.0
    assert LEVEL == 0.99


@pytest.mark.parametrize("controls", [5, 7, 10, 15, 26, 50, 200])
def test_noise_that_few_controls_tell_reaches_as_far_as_it_has_to(controls: int) -> None:
    """Of operators that nobody touched one in a hundred lies outside, whatever the number of controls."""
    drawn = np.random.default_rng(controls)
    size = 20_000
    changes, mine = drawn.normal(0, 0.01, (size, controls)), drawn.normal(0, 0.01, size)
    drift = np.median(changes, axis=1)
    spread = np.median(np.abs(changes - drift[:, None]), axis=1) * 1.4826
    reach = Noise(controls=controls).reach(1.0)
    assert reach is not None
    outside = np.mean(np.abs(mine) > reach * np.hypot(drift, spread))
    assert 0.006 <= outside <= 0.014
    assert Noise(controls=controls).reach(None) is None


STAMP = "aoe_result_{kind}_2026010102030{number}005_pid4711.json"


def result_file(folder: Path, number: int, kind: str = "opat", *, status: str = "tuning successful", **body: Any) -> Path:  # fmt: skip
    """A result of AOE; a later number is a later time."""
    words = {"opat": "operators", "sgat": "subgraphs"}[kind]
    segment = {f"repo_modified_{words}": {}, "repo_summary": COUNTS | body.pop("counts", {}), **body}
    if kind == "opat":
        segment["opat_tuning_result"] = status
    path = folder / STAMP.format(kind=kind, number=number)
    path.write_text(json.dumps([{"basic": {"tuning_name": "net", "tuning_time(s)": body.pop("time", 60)}}, {kind.upper(): segment}]))  # fmt: skip
    return path


COUNTS = dict.fromkeys(("repo_add_num", "repo_hit_num", "repo_reserved_num", "repo_unsatisfied_num", "repo_update_num", "total_num"), 0)  # fmt: skip


def improved(name: str, op_type: str | list[str] = "Add", before: float = 8, after: float = 6) -> dict[str, Any]:
    claim = f"{(before / after - 1) * 100:.2f}%"
    return {"op_name": name, "op_type": op_type, "performance_before_tune(us)": before, "performance_after_tune(us)": after, "performance_improvement": claim}  # fmt: skip


def read(*results: Path, bank: dict[str, Path] | None = None) -> PriorJobs:
    return read_prior_jobs(PriorSources(results=results, bank_files=bank or {}))


def test_a_later_result_has_the_last_word_on_an_operator(tmp_path: Path) -> None:
    one = result_file(tmp_path, 1, counts={"repo_add_num": 2, "total_num": 2}, repo_modified_operators={"add_repo_operators": [improved("a"), improved("b", ["add", "relu"], 10, 5)]})  # fmt: skip
    result_file(tmp_path, 2, status="tuning failed", tuning_failed_operators=["a", "c"])
    found = read(tmp_path)
    assert (found.banked, found.failed) == ({"b": one.name}, dict.fromkeys(["a", "c"], STAMP.format(kind="opat", number=2)))  # fmt: skip
    assert sorted((gain.op_type, gain.saved_share, gain.measured) for gain in found.gains) == [("Add", 0.25, False), ("add", 0.5, False), ("relu", 0.5, False)]  # fmt: skip
    assert (found.costs_s, found.subgraph_costs_s, found.unreadable) == ([30.0], [], False)
    result_file(tmp_path, 3, counts={"repo_add_num": 1, "total_num": 1}, repo_modified_operators={"add_repo_operators": [improved("c")]})  # fmt: skip
    found = read(tmp_path)
    assert (set(found.banked), set(found.failed)) == ({"b", "c"}, {"a"})


def test_subgraphs_tell_of_the_model(tmp_path: Path) -> None:
    times = {"model_baseline_performance(ms)": 10, "model_result_performance(ms)": 8, "model_performance_improvement": "25.00%"}  # fmt: skip
    key = {"repo_key": "1", "performance_before_tune(ms)": 10, "performance_after_tune(ms)": 8, "performance_improvement": "25.00%"}  # fmt: skip
    result_file(tmp_path, 1, "sgat", counts={"repo_add_num": 1, "total_num": 1}, repo_modified_subgraphs={"add_repo_subgraphs": [key]}, **times)  # fmt: skip
    found = read(tmp_path)
    assert [(gain.op_type, round(gain.saved_share, 6)) for gain in found.gains] == [(None, 0.2)]
    assert (found.costs_s, found.subgraph_costs_s, found.banked) == ([], [60.0], {})


@pytest.mark.parametrize("status", ["tuning incomplete", "tuning failed"])
def test_of_a_tuning_that_did_not_end_nothing_is_expected(tmp_path: Path, status: str) -> None:
    failed = {"tuning_failed_operators": ["z"]} if status == "tuning failed" else {}
    result_file(tmp_path, 1, status=status, counts={"repo_add_num": 1, "total_num": 1}, repo_modified_operators={"add_repo_operators": [improved("a")]}, **failed)  # fmt: skip
    found = read(tmp_path)
    assert (found.gains, found.costs_s) == ([], [])


@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_cannot_be_read_is_told_and_hides_no_other(tmp_path: Path, place: int) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "empty").mkdir()
    good = result_file(tmp_path / "a", 5, counts={"repo_add_num": 1, "total_num": 1}, repo_modified_operators={"add_repo_operators": [improved("a")]})  # fmt: skip
    damaged = result_file(tmp_path / "a", (3, 7)[place % 2])
    damaged.write_text("[")
    (tmp_path / "a" / STAMP.format(kind="opat", number=4)).symlink_to(tmp_path / "gone.json")
    paths = [tmp_path / "a", tmp_path / "empty"]
    paths.insert(place, tmp_path / "nowhere")
    found = read(*paths)
    assert found.banked == {"a": good.name}
    assert found.unreadable
    told = [(finding.rule, finding.path, finding.message) for finding in found.findings if finding.rule in {"unreadable", "nothing-found"}]  # fmt: skip
    assert ("unreadable", str(tmp_path / "nowhere"), "no such file or folder; expected a file or a folder") in told
    assert ("nothing-found", str(tmp_path / "empty"), "no AOE result here") in told
    assert {"json-truncated"} <= {finding.rule for finding in found.findings}
    claimed = read_claims([tmp_path / "nowhere", tmp_path / "a"])
    assert [claim.op_name for claim in claimed.claims.operators] == ["a"]


def test_entries_of_a_bank_are_counted_by_their_names(tmp_path: Path) -> None:
    lines = ['{"op": "add_1"}', "", '{"op": "add_1"}', "  ", '{"op": 5}', '{"op": ""}', "[1]", "{", '{"op": "Relu"}', "[" * 100_000]  # fmt: skip
    bank = {name: tmp_path / name for name in (f"a{RUNTIME_KB}", f"b{RUNTIME_KB}", f"c{RUNTIME_KB}", "other.json")}
    for name, path in bank.items():
        if not name.startswith("b"):
            path.write_text("\n".join(lines) if not name.startswith("c") else '{"op": "relu"}\n')
    found = read(bank=bank)
    assert found.bank_entries == {"add_1": 2, "Relu": 1, "relu": 1}
    said = "not a JSON object; an operator bank has one entry per line"
    assert [(one.line, one.message) for one in found.findings if one.rule == "bank-entry"] == [(8, said), (10, said)]
    assert [one.path for one in found.findings if one.rule == "unreadable"] == [str(tmp_path / f"b{RUNTIME_KB}")]
    assert found.unreadable
    known = found.known(["add_1", "add_2"], ["Relu", "Add"])
    assert known.banked == {"add_1": "it is named in an entry of the bank"}
    assert known.bank_types == {"Relu": 2}
