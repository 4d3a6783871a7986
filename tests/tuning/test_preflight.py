"""`preflight`: each rule's verdict on described hosts and on this one; what cannot be seen is never guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tuning.jobs import Bench

from aoe_reports.model.errors import UsageError
from aoe_reports.tuning.aoe.preflight import (
    GB,
    Declared,
    Host,
    bytes_of_text,
    check_host,
    declared_of_text,
    document_of_host,
    host_of_document,
)
from aoe_reports.tuning.plan.plan import Candidate, Job, Mode, Plan, Scenario

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
    "aoe_options": ["--framework", "--job_type", "--model", "--model_path", "--tune_ops_file", "--Fdeeper_opat"],
    "cube_cores": 20,
    "vector_cores": 40,
    "device_memory_free": [32 << 30, 16 << 30],
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
    given: dict[str, Any] = {"soc": "Ascend910A", "candidates": (Candidate(kind="operator", op_name="a"),), "job": job}
    given |= {"cube_blocks": 20, "cube_cores": 24, "vector_blocks": 256, "vector_cores": 40}
    given |= {"device_memory_used_bytes": 32 << 30}
    return Plan(scenario, mode, **{**given, **more})


KERNEL_OPTIONS = ("--op_tune_mode", "--op_tune_file", "--soc_version", "--precision_mode")


def kernels(mode: str, release: str, soc: str = "Ascend910B3", **more: str) -> Plan:
    """A plan that makes kernels of dumped operators."""
    given = {"--op_tune_mode": mode, "--op_tune_file": "/dumped", **({"--soc_version": soc} if mode == "fast" else {})}
    options = tuple(f"{name}={value}" for name, value in {**given, **more}.items())
    return plan(soc=soc, engine_version=release, job=Job(options=options))


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
        (plan(), {"aoe_options": ["--framework", "--job_type", "--model"]}, "aoe-options", "fail"),
        (plan(), {"aoe_options": None}, "aoe-options", "unknown"),
        (plan(job=Job(model="/m.onnx", options=("--precision_mode_v2=fp16",))), {}, "aoe-options", "fail"),
        (plan(), {"cube_cores": 19}, "device-cores", "fail"),
        (plan(), {"vector_cores": 39}, "device-cores", "fail"),
        (plan(), {"vector_cores": None}, "device-cores", "unknown"),
        (plan(), {"vector_cores": None, "cube_cores": 19}, "device-cores", "fail"),
        (plan(vector_blocks=None), {"vector_cores": None}, "device-cores", "ok"),
        (plan(cube_blocks=None, vector_blocks=None), {}, "device-cores", "unknown"),
        (plan(vector_cores=None), {}, "device-cores", "unknown"),
        (plan(vector_cores=None), {"vector_cores": 256}, "device-cores", "ok"),
        (plan(cube_cores=None), {}, "device-cores", "ok"),
        (plan(), {"device_memory_free": [(32 << 30) - 1]}, "device-memory", "fail"),
        (plan(), {"device_memory_free": None}, "device-memory", "unknown"),
        (plan(device_memory_used_bytes=None), {}, "device-memory", "unknown"),
        (plan(), {"environment": {"ASCEND_DEVICE_ID": "1"}}, "device-memory", "fail"),
        (plan(), {"environment": {"ASCEND_DEVICE_ID": "2"}}, "device-memory", "unknown"),
        (plan(), {"environment": {"ASCEND_RT_VISIBLE_DEVICES": "1"}}, "device-memory", "unknown"),
        (plan(job=Job(model="/m.onnx", device=1)), {}, "device-memory", "fail"),
        (plan(job=Job(model="/m.onnx", te_parallel=9)), {"environment": {"TE_PARALLEL_COMPILER": "10"}}, "te-parallel", "ok"),
        (plan(job=Job(model="/m.onnx", te_parallel=10)), {}, "te-parallel", "warn"),
        (plan(job=Job(model="/m.onnx", te_parallel=32)), {"cpu_count": 98, "usable_cpu_count": 98}, "cpus", "warn"),
        (plan(job=Job(model="/m.onnx", te_parallel=32)), {"cpu_count": 99, "usable_cpu_count": 99}, "cpus", "ok"),
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
        (plan("tf-training", soc="Ascend310P3"), {}, "mode", "ok"),
        (plan("tf-training", "gdat", soc="Ascend310P3"), {}, "mode", "fail"),
        (plan("tf-training", soc="Ascend310B4"), {}, "mode", "unknown"),
        (plan(soc="Ascend950PR_9579"), {}, "mode", "fail"),
        (plan(), {"run_loop": 2048}, "run-loop", "ok"),
        (plan(), {"run_loop": 2049}, "run-loop", "fail"),
        (plan(), {"run_loop": 0}, "run-loop", "fail"),
        (plan(), {"run_loop": "ten"}, "run-loop", "fail"),
        (plan(), {"tuning_parallel_num": "eight"}, "tuning-parallel", "fail"),
        (plan(engine_version="9.0.0"), {"cann": "9.0.0"}, "cann", "ok"),
        (plan(engine_version="8.1.RC1"), {"cann": "8.1.0"}, "cann", "warn"),
        (plan(engine_version="9.0.0"), {"cann": None}, "cann", "unknown"),
        (plan(engine_version="9.0.0"), {"aoe_options": None}, "aoe-options", "ok"),
        (kernels("fast", "6.3.RC2"), {"aoe_options": None}, "aoe-options", "fail"),
        (kernels("fast", "6.3.RC2"), {"aoe_options": [*KERNEL_OPTIONS, "--job_type"]}, "aoe-options", "ok"),
        (kernels("fast", "6.3.RC2"), {"aoe_options": None, "cann": "9.2.0-beta1"}, "aoe-options", "ok"),
        (kernels("fast", "9.0.0"), {}, "mode", "ok"),
        (kernels("fast", "9.0.0", soc="Ascend910A"), {}, "mode", "fail"),
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
        ("device_memory=1GiB", "device-memory", "ok"),
    ],
)
def test_what_is_declared_counts(said: str, rule: str, verdict: str) -> None:
    assert verdicts(plan("tf-training"), said=declared_of_text([said]))[rule] == verdict


def test_what_no_machine_shows_can_be_declared() -> None:
    made = plan(cube_blocks=None, vector_blocks=None, device_memory_used_bytes=None)
    host = {"cube_cores": None, "vector_cores": None, "device_memory_free": None, "aoe_options": None}
    for said, found in {
        "": ("unknown", "unknown", "unknown"),
        "cube_cores_used=20": ("unknown", "unknown", "unknown"),
        "cube_cores_used=20,cube_cores=20,device_memory_used=8GB,device_memory=8GB,aoe_options=yes": ("ok", "ok", "ok"),
        "cube_cores_used=21,cube_cores=20,device_memory_used=8GB,device_memory=7GB,aoe_options=no": ("fail",) * 3,
        "vector_cores_used=40,cube_cores=40": ("unknown", "unknown", "unknown"),
        "vector_cores_used=40,vector_cores=39": ("fail", "unknown", "unknown"),
    }.items():
        rules = verdicts(made, host, declared_of_text([said]))
        assert tuple(rules[name] for name in ("device-cores", "device-memory", "aoe-options")) == found, said


def test_blocks_in_rounds_prove_nothing_until_declared() -> None:
    """256 blocks on a chip whose cores nobody tells may have used 40 of them, one round behind the other."""
    made = plan(vector_cores=None)
    (check,) = (c for c in check_host(made, host_of_document(GOOD), Declared()) if c.rule == "preflight-device-cores")
    assert (check.verdict, check.declare) == ("unknown", "vector_cores_used=N")
    assert check.needed == "at least 20 cube cores, up to 256 vector cores"
    assert verdicts(made, said=declared_of_text(["vector_cores_used=40"]))["device-cores"] == "ok"
    assert verdicts(made, said=declared_of_text(["vector_cores_used=41"]))["device-cores"] == "fail"


TABLE = """
| npu-smi 24.1.0                   Version: 24.1.0                                               |
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B4               | OK            | 86.0        40                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          2828 / 32768         |
+===========================+===============+====================================================+
| 1     310P3               | OK            | NA          40                0    / 0             |
| 0       0                 | 0000:01:00.0  | 0           1573 / 21534                           |
+===========================+===============+====================================================+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
| 0       0                 | 1712733       | python3                  | 489                     |
"""


def test_free_memory_of_devices_is_read_from_npu_smi(bench: Bench) -> None:
    bench.plan(device_memory_used_bytes=(32768 - 2828 + 1) << 20)
    command = bench.root / "bin" / "npu-smi"
    command.write_text(f"#!/bin/sh\n[ \"$1\" = info ] || exit 1\ncat <<'END'\n{TABLE}END\n")
    command.chmod(0o755)
    host = json.loads(bench.run("tune", "check", bench.folder, "--describe-host").out)
    assert host["device_memory_free"] == [(32768 - 2828) << 20, (21534 - 1573) << 20]
    ended = bench.run("tune", "check", bench.folder, "--format", "json")
    (row,) = (row for row in ended.json["rows"] if row["rule"] == "preflight-device-memory")
    assert (row["verdict"], row["seen"], row["needed"]) == ("fail", "31.4 GB free", "at least 31.4 GB on the device")
    for broken in ("exit 1", "echo no devices", "cat /dev/zero", TABLE.replace("0 / 0", "")[:600].replace("|", "!")):
        command.write_text(f"#!/bin/sh\n: <<'END'\n{broken}\nEND\n" if "!" in broken else f"#!/bin/sh\n{broken}\n")
        assert json.loads(bench.run("tune", "check", bench.folder, "--describe-host").out)["device_memory_free"] is None


def test_an_option_that_the_installed_aoe_rejects_is_found_before_and_the_release_is_written_down(bench: Bench) -> None:
    """CANN 7.0.RC1 rejects --precision_mode_v2 with exit code 2."""
    model = bench.root / "model.onnx"
    bench.plan(job=Job(model=str(model), options=("--precision_mode_v2=fp16",)))

    def told(release: str) -> dict[str, Any]:
        ended = bench.run("tune", "check", bench.folder, "--format", "json", STAND_IN_RELEASE=release)
        return next(row for row in ended.json["rows"] if row["rule"] == "preflight-aoe-options")

    assert told("")["verdict"] == "ok"
    row = told("7.0.RC1")
    assert (row["verdict"], row["seen"]) == ("fail", "aoe --help does not list --precision_mode_v2")
    strict = bench.tune("--strict", STAND_IN_RELEASE="7.0.RC1")
    assert (strict.code, strict.json["status"], bench.notes("argv")) == (1, "not-run", [])
    failed = bench.tune(STAND_IN_RELEASE="7.0.RC1")
    assert (failed.code, failed.json["stages"][0]["exit_code"]) == (1, 2)
    assert "preflight-aoe-options" in failed.rules()
    first = bench.state()["aoe"]
    assert (first["path"], failed.json["aoe"]) == (str(bench.root / "bin" / "aoe"), first)
    ended = bench.tune("--resume")
    assert (ended.code, "tune-other-aoe" in ended.rules()) == (0, True)
    assert bench.state()["aoe"]["help_sha256"] not in {None, first["help_sha256"]}


def test_commands_of_a_relative_path_are_asked_where_they_are(bench: Bench) -> None:
    bench.plan()
    (bench.root / "bin" / "npu-smi").write_text(f"#!/bin/sh\ncat <<'END'\n{TABLE}\nEND\n")
    (bench.root / "bin" / "npu-smi").chmod(0o755)
    whole, relative = (
        json.loads(bench.run("tune", "check", bench.folder, "--describe-host", PATH=f"{place}:/usr/bin:/bin").out)
        for place in (bench.root / "bin", "bin")
    )
    assert relative["aoe"] == str(bench.root / "bin" / "aoe")
    assert relative["aoe_options"]
    assert relative["device_memory_free"]
    told = ("aoe", "aoe_options", "aoe_help_sha256", "device_memory_free")
    assert [relative[name] for name in told] == [whole[name] for name in told]


def test_an_aoe_that_tells_nothing_of_its_options_is_not_guessed_at(bench: Bench) -> None:
    bench.plan()
    for body in ("exit 2", "echo 'E10001: no such option --help'", "#!/nowhere"):
        (bench.root / "bin" / "aoe").write_text(f"#!/bin/sh\n{body}\n" if body != "#!/nowhere" else body)
        host = json.loads(bench.run("tune", "check", bench.folder, "--describe-host").out)
        assert (host["aoe_options"], host["aoe_help_sha256"]) == (None, None), body


def test_nothing_is_guessed() -> None:
    """On a host of which nothing is known no rule says more than that."""
    for scenario in ("offline", "tf-training", "pytorch", "mindspore"):
        blank = dict.fromkeys(
            ("cube_blocks", "vector_blocks", "cube_cores", "vector_cores", "device_memory_used_bytes")
        )
        checks = check_host(plan(scenario, soc=None, **blank), host_of_document({}), Declared())
        assert {check.verdict for check in checks} == {"unknown"}


def test_a_declared_chip_that_there_is_not_is_refused(bench: Bench) -> None:
    bench.plan()
    ended = bench.run("tune", "check", bench.folder, "--declare", "soc=Ascend910Z_1")
    assert ended.code == 2
    assert "--declare soc 'Ascend910Z_1' is not a known chip; expected AOE's name for it, as Ascend910" in ended.err


def test_what_has_to_be_declared_is_named_and_enough(bench: Bench) -> None:
    bench.plan(scenario="tf-training", job=Job(command=("x",)))
    path = bench.root / "host.json"
    path.write_text(json.dumps(GOOD | {"device_users": None}))
    ended = bench.run("tune", "check", bench.folder, "--host", path, "--format", "json")
    open_rows = [row for row in ended.json["rows"] if row["verdict"] == "unknown"]
    assert ended.code == 0, "not known is no failure, unless warnings are"
    assert bench.run("tune", "check", bench.folder, "--host", path, "--strict").code == 1
    said = [row["declare"] for row in open_rows if row["declare"]]
    assert {"processes=N", "model_memory=SIZE", "profiling=off", "static_memory_policy=0", "static_shapes=yes"} <= set(
        said
    )
    given = ",".join(text.replace("SIZE", "1GiB").replace("N", "1") for text in said)
    ended = bench.run("tune", "check", bench.folder, "--host", path, "--declare", given, "--strict", "--format", "json")
    assert [row for row in ended.json["rows"] if row["verdict"] != "ok"] == []
    assert (ended.code, ended.json["reasons"]) == (0, [])


def test_the_first_line_says_whether_the_machine_is_fit_and_the_last_what_is_next(bench: Bench) -> None:
    bench.plan(scenario="tf-training", job=Job(command=("x",)))
    path = bench.root / "host.json"

    def told(host: dict[str, Any], *more: object) -> tuple[str, str]:
        path.write_text(json.dumps(GOOD | host))
        lines = bench.run("tune", "check", bench.folder, "--host", path, *more).out.splitlines()
        return lines[0], lines[-1]

    first, last = told({})
    unknown = int(first.removeprefix("This machine meets every requirement that can be checked. ").split()[0])
    assert unknown >= 5
    assert first.endswith(" requirements could not be checked.")
    assert last.startswith(f"next: `aoe-reports tune run {bench.folder}`, or first declare what is unknown")
    first, last = told({"home_free_bytes": 1})
    assert first == (
        f"This machine is not fit for the job: preflight-home-disk. {unknown} requirements could not be checked."
    )
    assert last == f"next: mend what fails, then run `aoe-reports tune check {bench.folder}` again"
    rows = bench.run("tune", "check", bench.folder, "--host", path, "--format", "json").json["rows"]
    given = ",".join(row["declare"].replace("SIZE", "1GiB").replace("N", "1") for row in rows if row["declare"])
    assert told({}, "--declare", given) == (
        "This machine is fit for the job.",
        f"next: `aoe-reports tune run {bench.folder}`",
    )


def test_a_host_that_fails_ends_with_one(bench: Bench) -> None:
    bench.plan()
    path = bench.root / "host.json"
    path.write_text(json.dumps(GOOD | {"home_free_bytes": 1}))
    ended = bench.run("tune", "check", bench.folder, "--host", path, "--format", "json")
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
    ended = bench.run("tune", "check", bench.folder, "--describe-host", **environment)
    host = json.loads(ended.out)
    assert host["tuning_parallel_num"] == 4
    assert host["aoe"] == str(bench.root / "bin" / "aoe")
    assert host["cpu_count"] >= host["usable_cpu_count"] >= 1
    assert host["home_free_bytes"] > 0
    assert host["bank_access"] == "absent"
    assert "hunter2" not in ended.out
    path = bench.root / "host.json"
    path.write_text(ended.out)
    described = bench.run("tune", "check", bench.folder, "--host", path, "--format", "json")
    seen = bench.run("tune", "check", bench.folder, "--format", "json", **environment)
    moving = {"preflight-home-disk", "preflight-memory"}
    assert [r for r in described.json["rows"] if r["rule"] not in moving] == [
        r for r in seen.json["rows"] if r["rule"] not in moving
    ]


def test_a_described_host_comes_back_as_it_was() -> None:
    host = Host(**{key: tuple(value) if isinstance(value, list) else value for key, value in GOOD.items()})
    assert host_of_document(json.loads(json.dumps(document_of_host(host)))) == host


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"cpus": 3}',
        '{"aoe_options": "--model"}',
        '{"aoe_options": [1]}',
        '{"device_memory_free": [-1]}',
        '{"cpu_count": "3"}',
        '{"cpu_count": -1}',
        '{"cpu_count": true}',
        '{"environment": [1]}',
    ],
)
def test_a_description_that_is_none_is_refused(bench: Bench, text: str) -> None:
    bench.plan()
    path = bench.root / "host.json"
    path.write_text(text)
    ended = bench.run("tune", "check", bench.folder, "--host", path)
    assert (ended.code, "host.json" in ended.err) == (2, True)


def test_a_description_that_cannot_be_read_is_said(bench: Bench) -> None:
    bench.plan()
    path = bench.root / "host.json"
    assert bench.run("tune", "check", bench.folder, "--host", path).code == 3
    path.write_text("{")
    assert bench.run("tune", "check", bench.folder, "--host", path).code == 3


@pytest.mark.parametrize(
    "text", ["x", "x=1", "processes=0", "processes=two", "profiling=maybe", "static_shapes=1", "model_memory=big"]
)
def test_what_cannot_be_declared_is_refused(bench: Bench, text: str) -> None:
    bench.plan()
    ended = bench.run("tune", "check", bench.folder, "--declare", text)
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
    ended = bench.run("tune", "check", bench.folder, "--format", form)
    assert "home" in ended.out


def test_a_bank_that_is_named_and_not_there(bench: Bench, tmp_path: Path) -> None:
    bench.plan(bank=str(tmp_path / "nowhere"))
    ended = bench.run("tune", "check", bench.folder, "--format", "json")
    assert {"preflight-bank"} <= {row["rule"] for row in ended.json["rows"] if row["verdict"] == "fail"}


SAYS: list[tuple[Plan, dict[str, Any], Declared, str]] = [
    (plan(), {"aoe": None}, SAID, "aoe: fail: none | the command aoe on PATH"),
    (plan(), {"aoe_options": ["--framework", "--job_type", "--model"]}, SAID, "aoe-options: fail: aoe --help does not list --tune_ops_file | aoe takes --framework, --model, --job_type, --tune_ops_file"),
    (plan(), {"aoe_options": None}, SAID, "aoe-options: unknown: aoe --help could not be run | aoe takes --framework, --model, --job_type, --tune_ops_file | aoe_options=yes"),
    (plan(), {"aoe_options": None}, Declared(aoe_options=True), "aoe-options: ok: declared yes | aoe takes --framework, --model, --job_type, --tune_ops_file"),
    (plan(), {"aoe_options": None}, Declared(aoe_options=False), "aoe-options: fail: declared no | aoe takes --framework, --model, --job_type, --tune_ops_file"),
    (plan(), {"cube_cores": 19, "vector_cores": None}, SAID, "device-cores: fail: 19 cube cores | at least 20 cube cores, at least 40 vector cores"),
    (plan(vector_cores=None), {}, SAID, "device-cores: unknown: 20 cube cores, 40 vector cores | at least 20 cube cores, up to 256 vector cores | vector_cores_used=N"),
    (plan(cube_blocks=None, vector_blocks=None), {}, SAID, "device-cores: unknown: the profile does not contain block counts | at least as many cores as the operator with the highest core usage uses | cube_cores_used=N"),
    (plan(cube_blocks=None, vector_blocks=None), {}, Declared(cube_cores_used=21), "device-cores: fail: 20 cube cores | at least 21 cube cores"),
    (plan(cube_blocks=None, vector_blocks=None), {"vector_cores": None}, Declared(vector_cores_used=7, vector_cores=8), "device-cores: ok: 8 vector cores | at least 7 vector cores"),
    (plan(cube_blocks=20, vector_blocks=None), {"cube_cores": None}, Declared(), "device-cores: unknown: not known | at least 20 cube cores | cube_cores=N"),
    (plan(), {"device_memory_free": None}, SAID, "device-memory: unknown: not known | at least 34.4 GB on the device | device_memory=SIZE"),
    (plan(), {"device_memory_free": None}, Declared(device_memory=40 * GB), "device-memory: ok: 40.0 GB free | at least 34.4 GB on the device"),
    (plan(device_memory_used_bytes=None), {}, SAID, "device-memory: unknown: 34.4 GB free | at least as much as the model uses (not given in the profile) | device_memory_used=SIZE"),
    (plan(device_memory_used_bytes=None), {}, Declared(device_memory_used=2500000000), "device-memory: ok: 34.4 GB free | at least 2.5 GB on the device"),
    (plan(), {"environment": {"ASCEND_DEVICE_ID": "1"}}, SAID, "device-memory: fail: 17.2 GB free | at least 34.4 GB on the device"),
    (plan(), {"home_free_bytes": None}, SAID, "home-disk: unknown: not known | at least 20 GB free in the home folder"),
    (plan(), {"home": None}, SAID, "home-disk: ok: 20.0 GB | at least 20 GB free in the home folder"),
    (plan(), {"memory_available_bytes": None}, SAID, "memory: unknown: not known | at least 32 GB"),
    (plan(job=Job(model="/m.onnx", options=("--Fdeeper_opat",))), {}, SAID, "memory: ok: 64.0 GB available | at least 64 GB for --Fdeeper_opat"),
    (plan(job=Job(model="/m.onnx", options=("--tune_optimization_level=O1",))), {}, SAID, "memory: ok: 64.0 GB available | at least 64 GB for --tune_optimization_level=O1"),
    (plan("tf-training"), {"memory_available_bytes": None}, SAID, "memory: unknown: not known | 8.0 GB x 8 = 64.0 GB"),
    (plan("tf-training"), {"tuning_parallel_num": None}, Declared(model_memory=10**9), "memory: unknown: 64.0 GB available | the model's memory x TUNING_PARALLEL_NUM | tuning_parallel_num=N"),
    (plan(), {"cpu_count": None, "usable_cpu_count": None}, SAID, "cpus: unknown: not known | P + T + 1 + min(C/2, 8) + 50 (opat)"),
    (plan(), {"tuning_parallel_num": None}, SAID, "cpus: unknown: 96 CPUs | P + T + 1 + min(C/2, 8) + 50 (opat) | tuning_parallel_num=N"),
    (plan(), {"tuning_parallel_num": None}, Declared(tuning_parallel_num=4), "cpus: ok: 96 CPUs | 71 = P + T + 1 + min(C/2, 8) + 50 (opat) with P=8, T=4, C=96"),
    (plan("pytorch"), {}, SAID, "cpus: ok: 96 CPUs | 83 = P + T + 1 + min(C/2, 8) + 58 (opat) with P=8, T=8, C=96"),
    (plan(mode="sgat"), {}, SAID, "cpus: ok: 96 CPUs | 25 = 2T + P + 1 (sgat) with P=8, T=8, C=96"),
    (plan(mode="both"), {}, SAID, "cpus: ok: 96 CPUs | 75 = 2T + P + 1 (sgat) and P + T + 1 + min(C/2, 8) + 50 (opat) with P=8, T=8, C=96"),
    (plan("tf-training", "both"), {}, Declared(processes=2), "cpus: warn: 96 CPUs | 148 = N x (2T + P (sgat) and P + T + min(C/2, 8) + 50 (opat)) with P=8, T=8, C=96, N=2"),
    (plan(), {"usable_cpu_count": 9}, SAID, "cpus: warn: 9 CPUs | 71.5 = P + T + 1 + min(C/2, 8) + 50 (opat) with P=8, T=8, C=9"),
    (plan(), {"environment": {"TE_PARALLEL_COMPILER": "33"}}, SAID, "te-parallel: fail: 33 | 1 to 32, and at most 0.8 x cores / NPUs"),
    (plan(), {"environment": {"TE_PARALLEL_COMPILER": "eight"}}, SAID, "te-parallel: fail: 'eight' | 1 to 32, and at most 0.8 x cores / NPUs"),
    (plan(), {"environment": {"TE_PARALLEL_COMPILER": "0"}}, SAID, "te-parallel: fail: 0 | 1 to 32, and at most 0.8 x cores / NPUs"),
    (plan(job=Job(model="/m.onnx", te_parallel=9)), {}, SAID, "te-parallel: ok: 9 (set by the plan) | 1 to 32, and at most 0.8 x cores / NPUs = 9.6"),
    (plan(), {"npu_count": None}, SAID, "te-parallel: unknown: 8 (the default), on NPUs that are not visible | 1 to 32, and at most 0.8 x cores / NPUs | npus=N"),
    (plan(), {"npu_count": None}, Declared(npus=4), "te-parallel: ok: 8 (the default) | 1 to 32, and at most 0.8 x cores / NPUs = 19.2"),
    (plan(), {"cpu_count": None}, SAID, "te-parallel: unknown: 8 (the default) | 1 to 32, and at most 0.8 x cores / NPUs"),
    (plan(), {"environment_known": False}, SAID, "te-parallel: unknown: not known | 1 to 32, and at most 0.8 x cores / NPUs"),
    (plan(), {"tuning_parallel_num": 65}, SAID, "tuning-parallel: fail: 65 | 1 to 64; recommended: at most 2/3 of the cores"),
    (plan(), {"tuning_parallel_num": 0}, Declared(tuning_parallel_num=1), "tuning-parallel: fail: 0 in aoe.ini, declared 1 | 1 to 64; recommended: at most 2/3 of the cores"),
    (plan(), {"tuning_parallel_num": None}, SAID, "tuning-parallel: unknown: no aoe.ini was found | 1 to 64; recommended: at most 2/3 of the cores | tuning_parallel_num=N"),
    (plan(), {"tuning_parallel_num": 8}, Declared(tuning_parallel_num=9), "tuning-parallel: fail: 8 in aoe.ini, declared 9 | 1 to 64; recommended: at most 2/3 of the cores"),
    (plan(), {"cpu_count": None}, SAID, "tuning-parallel: unknown: 8 | 1 to 64; recommended: at most 2/3 of the cores"),
    (plan(), {"bank_access": None}, SAID, "bank: unknown: not known | a folder with the permission to read, write and enter it"),
    (plan(), {"bank_access": "absent"}, SAID, "bank: ok: /bank: does not exist | none, or a folder with the permission to read, write and enter it"),
    (plan(), {"bank_access": "absent", "bank": None, "environment": {"TUNE_BANK_PATH": "/b"}}, SAID, "bank: fail: the bank in use: does not exist | a folder with the permission to read, write and enter it"),
    (plan(), {"bank_access": "not a folder"}, SAID, "bank: fail: /bank: not a folder | a folder with the permission to read, write and enter it"),
    (plan(), {"folder": None}, SAID, "folder: unknown: not known | writable, and only letters, digits, _ - . / in its name"),
    (plan(), {"folder_writable": None}, SAID, "folder: unknown: not known | writable, and only letters, digits, _ - . / in its name"),
    (plan(), {"folder_writable": False}, SAID, "folder: fail: /plan: not writable | writable, and only letters, digits, _ - . / in its name"),
    (plan(), {"folder": "/my plan, ä(1)"}, SAID, "folder: warn: /my plan, ä(1): ' ' '(' ')' ',' | writable, and only letters, digits, _ - . / in its name"),
    (plan(), {"environment": {"PROFILING_MODE": "TRUE"}}, SAID, "profiling: fail: PROFILING_MODE=true | off, both in the environment and in the script"),
    (plan(), {"environment": {"PROFILING_MODE": "dynamic"}}, SAID, "profiling: fail: PROFILING_MODE=dynamic | off, both in the environment and in the script"),
    (plan(), {"environment": {"PROFILING_MODE": "false"}}, SAID, "profiling: ok: off | off, both in the environment and in the script"),
    (plan(), {}, Declared(profiling="on"), "profiling: fail: declared on | off, both in the environment and in the script"),
    (plan("pytorch"), {}, Declared(), "profiling: unknown: the script is not checked | off, both in the environment and in the script | profiling=off"),
    (plan(), {"environment_known": False}, SAID, "profiling: unknown: the environment is not known | off, both in the environment and in the script"),
    (plan("tf-training"), {}, Declared(static_memory_policy=1), "static-memory: fail: declared 1 | 0"),
    (plan(), {}, Declared(static_shapes=False), "static-shapes: fail: declared dynamic | static shapes only"),
    (plan("tf-training"), {"environment": {"RANK_SIZE": "8"}}, SAID, "devices: fail: RANK_SIZE=8 | one device"),
    (plan("tf-training"), {"environment": {"RANK_SIZE": "x", "WORLD_SIZE": "1"}}, SAID, "devices: ok: WORLD_SIZE=1 | one device"),
    (plan("tf-training"), {"environment": {"RANK_SIZE": "0"}}, Declared(devices=2), "devices: fail: declared 2 | one device"),
    (plan("tf-training", "gdat"), {}, Declared(), "devices: unknown: the script is not checked | more than one device (gradients of several are tuned) | devices=N"),
    (plan("tf-training", "gdat"), {}, Declared(devices=2), "devices: ok: declared 2 | more than one device (gradients of several are tuned)"),
    (plan(), {"usable_cpu_count": 95}, SAID, "cpu-binding: warn: 95 of 96 CPUs may be used | no CPU binding"),
    (plan(), {"usable_cpu_count": None}, SAID, "cpu-binding: unknown: not known | no CPU binding"),
    (plan("pytorch"), {}, Declared(cpu_binding=True), "cpu-binding: warn: declared | no CPU binding"),
    (plan(), {"device_users": 2}, SAID, "device-free: fail: 2 processes of other users hold a device open | no other user tunes on the device"),
    (plan(), {"device_users": None}, Declared(), "device-free: unknown: processes of other users cannot be inspected | no other user tunes on the device | device_free=yes"),
    (plan(), {}, Declared(), "device-free: ok: no process of another user uses a device | no other user tunes on the device"),
    (plan(), {"device_users": None}, Declared(device_free=False), "device-free: fail: declared in use | no other user tunes on the device"),
    (plan("tf-training", soc=None), {}, SAID, "mode: unknown: opat on a chip that the plan does not name | a mode that the product supports | soc=NAME"),
    (plan("tf-training", soc=None), {}, Declared(soc="Ascend910_9391"), "mode: ok: opat on Ascend910_9391 (A3) | opat in training"),
    (plan("tf-training", "both", soc="Ascend910_9391"), {}, SAID, "mode: fail: sgat/opat on Ascend910_9391 (A3) | opat in training"),
    (plan("tf-training", "gdat", soc="Ascend910B4"), {}, SAID, "mode: ok: gdat on Ascend910B4 (A2) | opat, gdat in training"),
    (plan("tf-training", "sgat", soc="Ascend910B1"), {}, SAID, "mode: fail: sgat on Ascend910B1 (A2) | opat, gdat in training"),
    (plan("tf-training", "sgat", soc="Ascend910B5"), {}, SAID, "mode: ok: sgat on Ascend910B5 (Atlas training) | sgat, opat, gdat in training"),
    (plan("pytorch", soc="Ascend310B4"), {}, SAID, "mode: unknown: opat on Ascend310B4 | a mode that the product supports (the modes of this chip are not known)"),
    (plan("tf-training"), {}, Declared(aoe_config_file=False), "config-file: warn: declared no | the script names aoe_config.json (else every operator is tuned)"),
]  # fmt: skip
"""A plan, what is other than GOOD on the host, what is declared, and what one rule says: verdict, what is there, what is needed, what to declare."""


def sentences(made: Plan, host: dict[str, Any], said: Declared) -> list[str]:
    """What each rule says, in a line."""
    checks = check_host(made, host_of_document({**GOOD, **host}), said)
    return [
        f"{check.rule.removeprefix('preflight-')}: {check.verdict}: {check.seen} | {check.needed}"
        + (f" | {check.declare}" if check.declare else "")
        for check in checks
    ]


@pytest.mark.parametrize(("made", "host", "said", "line"), SAYS)
def test_what_a_rule_says(made: Plan, host: dict[str, Any], said: Declared, line: str) -> None:
    rule = line.partition(":")[0]
    assert [one for one in sentences(made, host, said) if one.startswith(f"{rule}: ")] == [line]


WHOLE: list[tuple[Plan, Declared, str]] = [
    (plan(), SAID, """
        aoe: ok: /usr/local/Ascend/bin/aoe | the command aoe on PATH
        aoe-options: ok: aoe --help lists them, among 6 | aoe takes --framework, --model, --job_type, --tune_ops_file
        device-cores: ok: 20 cube cores, 40 vector cores | at least 20 cube cores, at least 40 vector cores
        device-memory: ok: 34.4 GB free | at least 34.4 GB on the device
        home-disk: ok: 20.0 GB in /home/me | at least 20 GB free in the home folder
        memory: ok: 64.0 GB available | at least 32 GB
        cpus: ok: 96 CPUs | 75 = P + T + 1 + min(C/2, 8) + 50 (opat) with P=8, T=8, C=96
        te-parallel: ok: 8 (the default) | 1 to 32, and at most 0.8 x cores / NPUs = 9.6
        tuning-parallel: ok: 8 | 1 to 64; recommended: at most 2/3 of the cores
        bank: ok: /bank: rwx | a folder with the permission to read, write and enter it
        folder: ok: /plan | writable, and only letters, digits, _ - . / in its name
        profiling: ok: off | off, both in the environment and in the script
        static-shapes: ok: declared static | static shapes only
        cpu-binding: ok: all 96 CPUs may be used | no CPU binding
        device-free: ok: declared free | no other user tunes on the device
    """),
    (plan("tf-training"), SAID, """
        device-cores: ok: 20 cube cores, 40 vector cores | at least 20 cube cores, at least 40 vector cores
        device-memory: ok: 34.4 GB free | at least 34.4 GB on the device
        home-disk: ok: 20.0 GB in /home/me | at least 20 GB free in the home folder
        memory: ok: 64.0 GB available | 8.0 GB x 8 = 64.0 GB
        cpus: ok: 96 CPUs | 74 = N x (P + T + min(C/2, 8) + 50 (opat)) with P=8, T=8, C=96, N=1
        te-parallel: ok: 8 (the default) | 1 to 32, and at most 0.8 x cores / NPUs = 9.6
        tuning-parallel: ok: 8 | 1 to 64; recommended: at most 2/3 of the cores
        bank: ok: /bank: rwx | a folder with the permission to read, write and enter it
        folder: ok: /plan | writable, and only letters, digits, _ - . / in its name
        profiling: ok: declared off | off, both in the environment and in the script
        static-memory: ok: declared 0 | 0
        static-shapes: ok: declared static | static shapes only
        devices: ok: declared 1 | one device
        cpu-binding: ok: all 96 CPUs may be used | no CPU binding
        device-free: ok: declared free | no other user tunes on the device
        mode: ok: opat on Ascend910A (Atlas training) | sgat, opat, gdat in training
        config-file: ok: declared yes | the script names aoe_config.json (else every operator is tuned)
    """),
    (plan(), Declared(), """
        aoe: ok: /usr/local/Ascend/bin/aoe | the command aoe on PATH
        aoe-options: ok: aoe --help lists them, among 6 | aoe takes --framework, --model, --job_type, --tune_ops_file
        device-cores: ok: 20 cube cores, 40 vector cores | at least 20 cube cores, at least 40 vector cores
        device-memory: ok: 34.4 GB free | at least 34.4 GB on the device
        home-disk: ok: 20.0 GB in /home/me | at least 20 GB free in the home folder
        memory: ok: 64.0 GB available | at least 32 GB
        cpus: ok: 96 CPUs | 75 = P + T + 1 + min(C/2, 8) + 50 (opat) with P=8, T=8, C=96
        te-parallel: ok: 8 (the default) | 1 to 32, and at most 0.8 x cores / NPUs = 9.6
        tuning-parallel: ok: 8 | 1 to 64; recommended: at most 2/3 of the cores
        bank: ok: /bank: rwx | a folder with the permission to read, write and enter it
        folder: ok: /plan | writable, and only letters, digits, _ - . / in its name
        profiling: ok: off | off, both in the environment and in the script
        static-shapes: unknown: the model is not checked | static shapes only | static_shapes=yes
        cpu-binding: ok: all 96 CPUs may be used | no CPU binding
        device-free: ok: no process of another user uses a device | no other user tunes on the device
    """),
    (plan("tf-training"), Declared(), """
        device-cores: ok: 20 cube cores, 40 vector cores | at least 20 cube cores, at least 40 vector cores
        device-memory: ok: 34.4 GB free | at least 34.4 GB on the device
        home-disk: ok: 20.0 GB in /home/me | at least 20 GB free in the home folder
        memory: unknown: 64.0 GB available | the model's memory x TUNING_PARALLEL_NUM | model_memory=SIZE
        cpus: unknown: 96 CPUs | N x (P + T + min(C/2, 8) + 50 (opat)) | processes=N
        te-parallel: ok: 8 (the default) | 1 to 32, and at most 0.8 x cores / NPUs = 9.6
        tuning-parallel: ok: 8 | 1 to 64; recommended: at most 2/3 of the cores
        bank: ok: /bank: rwx | a folder with the permission to read, write and enter it
        folder: ok: /plan | writable, and only letters, digits, _ - . / in its name
        profiling: unknown: the script is not checked | off, both in the environment and in the script | profiling=off
        static-memory: unknown: the script is not checked | 0 | static_memory_policy=0
        static-shapes: unknown: the model is not checked | static shapes only | static_shapes=yes
        devices: unknown: the script is not checked | one device | devices=1
        cpu-binding: unknown: the script is not checked | no CPU binding | cpu_binding=no
        device-free: ok: no process of another user uses a device | no other user tunes on the device
        mode: ok: opat on Ascend910A (Atlas training) | sgat, opat, gdat in training
        config-file: unknown: the script is not checked | the script names aoe_config.json (else every operator is tuned) | aoe_config_file=yes
    """),
    (plan("tf-training", "sgat"), SAID, """
        device-cores: ok: 20 cube cores, 40 vector cores | at least 20 cube cores, at least 40 vector cores
        device-memory: ok: 34.4 GB free | at least 34.4 GB on the device
        home-disk: ok: 20.0 GB in /home/me | at least 20 GB free in the home folder
        memory: ok: 64.0 GB available | 8.0 GB x 8 = 64.0 GB
        cpus: ok: 96 CPUs | 24 = N x (2T + P (sgat)) with P=8, T=8, C=96, N=1
        te-parallel: ok: 8 (the default) | 1 to 32, and at most 0.8 x cores / NPUs = 9.6
        tuning-parallel: ok: 8 | 1 to 64; recommended: at most 2/3 of the cores
        bank: ok: /bank: rwx | a folder with the permission to read, write and enter it
        folder: ok: /plan | writable, and only letters, digits, _ - . / in its name
        profiling: ok: declared off | off, both in the environment and in the script
        static-memory: ok: declared 0 | 0
        static-shapes: ok: declared static | static shapes only
        devices: ok: declared 1 | one device
        cpu-binding: ok: all 96 CPUs may be used | no CPU binding
        device-free: ok: declared free | no other user tunes on the device
        mode: ok: sgat on Ascend910A (Atlas training) | sgat, opat, gdat in training
    """),
]  # fmt: skip
"""A plan on the good host, what is declared, and all that is said."""


@pytest.mark.parametrize(("made", "said", "lines"), WHOLE)
def test_all_that_is_said_of_a_good_host(made: Plan, said: Declared, lines: str) -> None:
    assert sentences(made, {}, said) == [line.strip() for line in lines.strip().splitlines()]
