"""`preflight`: each rule's verdict on described hosts and on this one; what cannot be seen is never guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tuning.jobs import Bench

from aoe_reports.errors import UsageError
from aoe_reports.tuning.plan import Candidate, Job, Mode, Plan, Scenario
from aoe_reports.tuning.preflight import (
    GB,
    PREFLIGHT_RULES,
    Declared,
    Host,
    bytes_of_text,
    check_host,
    declared_of_text,
    document_of_host,
    host_of_document,
)

GOOD: dict[str, Any] = {
    "home": "/home/me",
    "home_free_bytes": 20 * GB,
    "memory_available_bytes": 64 * GB,
    "cpu_count": 96,
    "usable_cpu_count": 96,
    "npu_count": 8,
    "device_users": 0,
    "environment": {},
    "tuning_parallel_num": 8,
    "aoe": "/usr/local/Ascend/bin/aoe",
    "bank": "/bank",
    "bank_access": "rwx",
    "folder": "/plan",
    "folder_writable": True,
}
SAID = Declared(
    processes=1,
    model_memory=8 * 10**9,
    profiling="off",
    static_memory_policy=0,
    static_shapes=True,
    devices=1,
    device_free=True,
    cpu_binding=False,
    aoe_config_file=True,
)


def plan(scenario: Scenario = "offline", mode: Mode = "opat", **more: Any) -> Plan:
    job = more.pop("job", Job(model="/m.onnx") if scenario in {"offline", "ir-graph"} else Job())
    given: dict[str, Any] = {"soc": "Ascend910A", "candidates": (Candidate("operator", "a"),), "job": job}
    return Plan(scenario, mode, **{**given, **more})


def verdicts(made: Plan, host: dict[str, Any] | None = None, said: Declared = SAID) -> dict[str, str]:
    checks = check_host(made, host_of_document({**GOOD, **(host or {})}), said)
    return {check.rule.removeprefix("preflight-"): check.verdict for check in checks}


@pytest.mark.parametrize(
    "scenario", ["offline", "tf-training", "tf-online-inference", "pytorch", "mindspore", "ir-graph"]
)
def test_a_good_host_is_good_for_every_scenario(scenario: Scenario) -> None:
    assert set(verdicts(plan(scenario)).values()) == {"ok"}


@pytest.mark.parametrize(
    ("made", "host", "rule", "verdict"),
    [
        (plan(), {"aoe": None}, "aoe", "fail"),
        (plan(), {"home_free_bytes": 20 * GB - 1}, "home-disk", "fail"),
        (plan(), {"home_free_bytes": None}, "home-disk", "unknown"),
        (plan(), {"memory_available_bytes": 32 * GB}, "memory", "ok"),
        (plan(), {"memory_available_bytes": 32 * GB - 1}, "memory", "fail"),
        (plan(job=Job(model="/m.onnx", options=("--Fdeeper_opat",))), {"memory_available_bytes": 63 * GB}, "memory", "fail"),
        (plan("tf-training"), {"memory_available_bytes": 64 * GB}, "memory", "ok"),
        (plan("tf-training"), {"memory_available_bytes": 64 * GB - 1}, "memory", "fail"),
        (plan(), {"memory_available_bytes": None}, "memory", "unknown"),
        (plan(), {"cpu_count": 75, "usable_cpu_count": 75}, "cpus", "ok"),
        (plan(), {"cpu_count": 74, "usable_cpu_count": 74}, "cpus", "warn"),
        (plan("pytorch"), {"cpu_count": 83, "usable_cpu_count": 83}, "cpus", "ok"),
        (plan("pytorch"), {"cpu_count": 82, "usable_cpu_count": 82}, "cpus", "warn"),
        (plan("tf-training"), {"cpu_count": 74, "usable_cpu_count": 74}, "cpus", "ok"),
        (plan("tf-training"), {"cpu_count": 73, "usable_cpu_count": 73}, "cpus", "warn"),
        (plan(mode="sgat"), {"cpu_count": 25, "usable_cpu_count": 25}, "cpus", "ok"),
        (plan(mode="sgat"), {"cpu_count": 24, "usable_cpu_count": 24}, "cpus", "warn"),
        (plan("tf-training", "sgat"), {"cpu_count": 24, "usable_cpu_count": 24}, "cpus", "ok"),
        (plan("tf-training", "sgat"), {"cpu_count": 23, "usable_cpu_count": 23}, "cpus", "warn"),
        (plan(mode="both"), {"cpu_count": 74, "usable_cpu_count": 74}, "cpus", "warn"),
        (plan(), {"tuning_parallel_num": None}, "cpus", "unknown"),
        (plan(), {"environment": {"TE_PARALLEL_COMPILER": "33"}}, "te-parallel", "fail"),
        (plan(), {"environment": {"TE_PARALLEL_COMPILER": "eight"}}, "te-parallel", "fail"),
        (plan(), {"environment": {"TE_PARALLEL_COMPILER": "10"}}, "te-parallel", "warn"),
        (plan(), {"npu_count": None}, "te-parallel", "unknown"),
        (plan(), {"tuning_parallel_num": 65}, "tuning-parallel", "fail"),
        (plan(), {"tuning_parallel_num": 64, "cpu_count": 96}, "tuning-parallel", "ok"),
        (plan(), {"tuning_parallel_num": 64, "cpu_count": 95}, "tuning-parallel", "warn"),
        (plan(), {"tuning_parallel_num": None}, "tuning-parallel", "unknown"),
        (plan(), {"bank_access": "r-x"}, "bank", "fail"),
        (plan(), {"bank_access": "absent"}, "bank", "ok"),
        (plan(), {"bank_access": "absent", "environment": {"TUNE_BANK_PATH": "/b"}}, "bank", "fail"),
        (plan(), {"bank_access": None}, "bank", "unknown"),
        (plan(), {"folder_writable": False}, "folder", "fail"),
        (plan(), {"folder": "/my plan"}, "folder", "warn"),
        (plan(), {"environment": {"PROFILING_MODE": "true"}}, "profiling", "fail"),
        (plan("tf-training"), {"environment": {"RANK_SIZE": "8"}}, "devices", "fail"),
        (plan("tf-training", "gdat"), {"environment": {"RANK_SIZE": "8"}}, "devices", "ok"),
        (plan("tf-training", "gdat"), {}, "devices", "fail"),
        (plan(), {"usable_cpu_count": 95}, "cpu-binding", "warn"),
        (plan(), {"device_users": 1}, "device-free", "fail"),
        (plan("tf-training", "sgat", soc="Ascend910B2"), {}, "mode", "fail"),
        (plan("tf-training", "opat", soc="Ascend910B2"), {}, "mode", "ok"),
        (plan("tf-training", "gdat", soc="Ascend910_9391"), {}, "mode", "fail"),
        (plan("tf-training", soc=None), {}, "mode", "unknown"),
        (plan("tf-training", soc="Ascend310P3"), {}, "mode", "unknown"),
    ],
)  # fmt: skip
def test_each_rule_at_its_limits(made: Plan, host: dict[str, Any], rule: str, verdict: str) -> None:
    assert verdicts(made, host)[rule] == verdict


@pytest.mark.parametrize(
    ("said", "rule", "verdict"),
    [
        ("profiling=on", "profiling", "fail"),
        ("static_memory_policy=1", "static-memory", "fail"),
        ("static_shapes=no", "static-shapes", "fail"),
        ("devices=8", "devices", "fail"),
        ("device_free=no", "device-free", "fail"),
        ("cpu_binding=yes", "cpu-binding", "warn"),
        ("aoe_config_file=no", "config-file", "warn"),
        ("processes=2,model_memory=8GB", "cpus", "warn"),
        ("tuning_parallel_num=4", "tuning-parallel", "fail"),
        ("model_memory=8GiB", "memory", "fail"),
    ],
)
def test_what_is_declared_counts(said: str, rule: str, verdict: str) -> None:
    assert verdicts(plan("tf-training"), said=declared_of_text([said]))[rule] == verdict


def test_nothing_is_guessed() -> None:
    """On a host of which nothing is known no rule says more than that."""
    for scenario in ("offline", "tf-training", "pytorch", "mindspore"):
        checks = check_host(plan(scenario, soc=None), host_of_document({}), Declared())
        assert {check.verdict for check in checks} == {"unknown"}


def test_what_has_to_be_declared_is_named_and_enough(bench: Bench) -> None:
    bench.plan(scenario="tf-training", job=Job(command=("x",)))
    path = bench.root / "host.json"
    path.write_text(json.dumps(GOOD | {"device_users": None}))
    ended = bench.run("preflight", bench.folder, "--host", path, "--format", "json")
    open_rows = [row for row in ended.json["rows"] if row["verdict"] == "unknown"]
    assert ended.code == 0, "not known is no failure, unless warnings are"
    assert bench.run("preflight", bench.folder, "--host", path, "--strict").code == 1
    said = [row["declare"] for row in open_rows if row["declare"]]
    assert {"processes=N", "model_memory=SIZE", "profiling=off", "static_memory_policy=0", "static_shapes=yes"} <= set(
        said
    )
    given = ",".join(text.replace("SIZE", "1GiB").replace("N", "1") for text in said)
    ended = bench.run("preflight", bench.folder, "--host", path, "--declare", given, "--strict", "--format", "json")
    assert [row for row in ended.json["rows"] if row["verdict"] != "ok"] == []
    assert (ended.code, ended.json["reasons"]) == (0, [])


def test_a_host_that_fails_ends_with_one(bench: Bench) -> None:
    bench.plan()
    path = bench.root / "host.json"
    path.write_text(json.dumps(GOOD | {"home_free_bytes": 1}))
    ended = bench.run("preflight", bench.folder, "--host", path, "--format", "json")
    assert (ended.code, ended.json["reasons"]) == (1, ["preflight"])
    (row,) = [row for row in ended.json["rows"] if row["verdict"] == "fail"]
    assert row["rule"] == "preflight-home-disk"
    assert row["seen"] == "0.0 GB in /home/me"
    assert row["needed"].startswith("at least 20 GB")
    assert row["source"]


def test_this_machine_is_looked_at_and_can_be_described(bench: Bench) -> None:
    bench.plan()
    install = bench.root / "toolkit" / "tools" / "aoe" / "conf"
    install.mkdir(parents=True)
    (install / "aoe.ini").write_text("RUN_LOOP = 10\nTUNING_PARALLEL_NUM = 4\n")
    environment = {"ASCEND_HOME_PATH": str(bench.root / "toolkit"), "MY_TOKEN": "hunter2-hunter2"}
    ended = bench.run("preflight", bench.folder, "--describe-host", **environment)
    host = json.loads(ended.out)
    assert host["tuning_parallel_num"] == 4
    assert host["aoe"] == str(bench.root / "bin" / "aoe")
    assert host["cpu_count"] >= host["usable_cpu_count"] >= 1
    assert host["home_free_bytes"] > 0
    assert host["bank_access"] == "absent"
    assert "hunter2" not in ended.out
    path = bench.root / "host.json"
    path.write_text(ended.out)
    described = bench.run("preflight", bench.folder, "--host", path, "--format", "json")
    seen = bench.run("preflight", bench.folder, "--format", "json", **environment)
    moving = {"preflight-home-disk", "preflight-memory"}
    assert [r for r in described.json["rows"] if r["rule"] not in moving] == [
        r for r in seen.json["rows"] if r["rule"] not in moving
    ]


def test_a_described_host_comes_back_as_it_was() -> None:
    host = Host(**GOOD)
    assert host_of_document(json.loads(json.dumps(document_of_host(host)))) == host


@pytest.mark.parametrize(
    "text",
    ["[]", '{"cpus": 3}', '{"cpu_count": "3"}', '{"cpu_count": -1}', '{"cpu_count": true}', '{"environment": [1]}'],
)
def test_a_description_that_is_none_is_refused(bench: Bench, text: str) -> None:
    bench.plan()
    path = bench.root / "host.json"
    path.write_text(text)
    ended = bench.run("preflight", bench.folder, "--host", path)
    assert (ended.code, "host.json" in ended.err) == (2, True)


def test_a_description_that_cannot_be_read_is_said(bench: Bench) -> None:
    bench.plan()
    path = bench.root / "host.json"
    assert bench.run("preflight", bench.folder, "--host", path).code == 3
    path.write_text("{")
    assert bench.run("preflight", bench.folder, "--host", path).code == 3


@pytest.mark.parametrize(
    "text", ["x", "x=1", "processes=0", "processes=two", "profiling=maybe", "static_shapes=1", "model_memory=big"]
)
def test_what_cannot_be_declared_is_refused(bench: Bench, text: str) -> None:
    bench.plan()
    ended = bench.run("preflight", bench.folder, "--declare", text)
    assert (ended.code, "expected" in ended.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "size"),
    [("8GiB", 8 << 30), ("8G", 8 * 10**9), ("8 GB", 8 * 10**9), ("1.5k", 1500), ("7", 7), ("7B", 7), ("1TiB", 1 << 40)],
)
def test_sizes(text: str, size: int) -> None:
    assert bytes_of_text(text) == size


def test_no_size() -> None:
    for text in ("", "GB", "-1", "1PB", "1e3"):
        with pytest.raises(UsageError):
            bytes_of_text(text)


@pytest.mark.parametrize("form", ["text", "csv", "markdown", "html"])
def test_every_form(bench: Bench, form: str) -> None:
    bench.plan()
    ended = bench.run("preflight", bench.folder, "--format", form)
    assert "home" in ended.out
    assert set(PREFLIGHT_RULES) >= {"preflight-aoe"}


def test_a_bank_that_is_named_and_not_there(bench: Bench, tmp_path: Path) -> None:
    bench.plan(bank=str(tmp_path / "nowhere"))
    ended = bench.run("preflight", bench.folder, "--format", "json")
    assert {"preflight-bank"} <= {row["rule"] for row in ended.json["rows"] if row["verdict"] == "fail"}
