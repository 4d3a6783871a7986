"""Series of modules, layers and phases: planted nights through the command line, and what a store keeps of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commandline import Cli, Ended
from planted_modules import LAYERS, Slow
from planted_nights import SINCE, night, write_serving, write_training

BUDGET = ("--max-false-alarms-per-year", "1")
SLOW = Slow(3, "Attention", 1.10)
LAYER = "net/layer/DecoderLayer_3/Attention"


def _judged(cli: Cli, nights: Path, option: str, *more: str) -> Ended:
    """What `regressions` says of nights that were ingested with an option."""
    store = nights / "store"
    assert cli("ingest", nights, "--store", store, "--workload", "net", option).code == 0
    return cli("regressions", "--store", store, "--format", "json", "--all", *BUDGET, *more)


def _changed(ended: Ended, scope: str) -> dict[str, Any]:
    return {row["workload"]: row for row in ended.json["rows"] if row["scope"] == scope and row["state"] is not None}


def test_a_layer_that_got_slower_is_told_and_fails_its_gate(cli: Cli, tmp_path: Path) -> None:
    gates = ("--gate", "scope=module,effect>=3%", "--gate", f"workload={LAYER},effect>=8%")
    ended = _judged(cli, write_training(tmp_path, "slow", SLOW), "--by-module", *gates)
    assert ended.code == 1
    told = _changed(ended, "layer")
    assert [*told] == [LAYER]
    row = told[LAYER]
    assert (row["since"], row["state"]) == (night(SINCE), "confirmed")
    assert row["change"] == pytest.approx(0.1, abs=0.01)
    assert row["fails"] == "regression"
    (module,) = _changed(ended, "module").values()
    assert module["workload"] == "net/module/DecoderLayer_*/Attention"
    assert module["change"] == pytest.approx(0.1 / LAYERS, abs=0.003)
    assert module["fails"] is None
    (incident,) = ended.json["incidents"]
    assert incident["title"].startswith("layer DecoderLayer_3/Attention of net, rank 0 +")
    first = cli("regressions", "--store", tmp_path / "store", *BUDGET).out.splitlines()[0]
    assert first.startswith("Regression: layer DecoderLayer_3/Attention of net, rank 0 +")
    assert f"since {night(SINCE)}" in first
    chinese = cli("regressions", "--store", tmp_path / "store", *BUDGET, "--lang", "zh").out.splitlines()[0]
    assert chinese.startswith("劣化：net 的层 DecoderLayer_3/Attention，rank 0 +")


def test_a_slower_step_is_told_with_its_layer_and_its_attribution_counts_operators_alone(
    cli: Cli, tmp_path: Path
) -> None:
    slow = Slow(5, "Attention", 1.6)
    ended = _judged(cli, write_training(tmp_path, "step", slow), "--by-module")
    (step,) = _changed(ended, "step").values()
    parts = step["attribution"]
    assert parts["operators_us"] == pytest.approx(parts["total_us"], rel=0.05)
    assert {one["op_type"] for one in parts["operators"]} == {"MatMulV2", "SoftmaxV2", "BatchMatMulV2"}
    first = cli("regressions", "--store", tmp_path / "store").out.splitlines()[0]
    assert first.startswith("Regression: step of net, rank 0 +")
    assert "; layer DecoderLayer_5/Attention of net, rank 0 +" in first


def test_healthy_nights_tell_nothing(cli: Cli, tmp_path: Path) -> None:
    ended = _judged(cli, write_training(tmp_path / "train", "healthy", None), "--by-module")
    assert ended.code == 0
    assert not [row for row in ended.json["rows"] if row["state"] is not None]
    served = _judged(cli, write_serving(tmp_path / "serve", 3, None), "--by-phase")
    assert not _changed(served, "phase")


def test_decode_got_slower_and_prefill_did_not(cli: Cli, tmp_path: Path) -> None:
    ended = _judged(cli, write_serving(tmp_path, 1, "decode"), "--by-phase", "--gate", "scope=phase,effect>=3%")
    assert ended.code == 1
    told = _changed(ended, "phase")
    assert [*told] == ["net/phase/decode"]
    assert told["net/phase/decode"]["since"] == night(SINCE)
    judged = {row["workload"]: row for row in ended.json["rows"] if row["scope"] == "phase"}
    assert [judged[f"net/phase/{phase}"]["reason"] for phase in ("prefill", "mixed")] == [None, None]
    first = cli("regressions", "--store", tmp_path / "store").out.splitlines()[0]
    assert first.startswith("Regression: decode iterations of net, rank 0 +")


def test_a_store_keeps_them_as_records_that_are_read_back(cli: Cli, tmp_path: Path) -> None:
    nights = write_training(tmp_path / "n", "one", None, nights=1)
    assert cli("ingest", "--dry-run", nights, "--by-module", "--workload", "net", "-o", tmp_path / "r.jsonl").code == 0
    assert cli("check", tmp_path / "r.jsonl").code == 0
    stored = []
    for place, given in (("captures", nights), ("records", tmp_path / "r.jsonl")):
        more = ("--by-module", "--workload", "net") if place == "captures" else ()
        assert cli("ingest", given, "--store", tmp_path / place, *more).code == 0
        listed = cli(
            "store", "history", "records", "--store", tmp_path / place, "--scope", "layer", "--format", "jsonl"
        ).out
        stored.append(sorted(json.loads(line)["workload"] for line in listed.splitlines()))
    assert stored[0] == stored[1]
    assert len(stored[0]) == 2 * LAYERS


def test_of_many_ranks_modules_are_told_over_all_and_count_once(cli: Cli, tmp_path: Path) -> None:
    nights = write_training(tmp_path / "n", "one", None, nights=1)
    options = ("--by-module", "--workload", "net", "--rank-series", "0")
    assert cli("ingest", nights, "--store", tmp_path / "s", *options).code == 0
    lines = cli("store", "history", "records", "--store", tmp_path / "s", "--format", "jsonl").out.splitlines()
    own = [json.loads(line)["metadata"]["aoe_reports"] for line in lines]
    totals = {
        scope: sum(one["total_ns"] for one in own if one["scope"] == scope)
        for scope in ("computing", "module", "op_type")
    }
    assert totals["computing"] == totals["module"] == totals["op_type"]
    assert all("rank_id" not in one for one in own if one["scope"] in {"module", "layer"})
