"""What aoe takes by release and chip, and plans that make kernels of dumped operators."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from commandline import ROOT
from tuning.jobs import Bench
from tuning.test_preflight import kernels, plan, verdicts

from aoe_reports.model.errors import UsageError
from aoe_reports.simulation.tuning import BEFORE, write_profile
from aoe_reports.tuning.aoe.command import files_of_plan, stages_of_plan
from aoe_reports.tuning.aoe.preflight import untaken_options
from aoe_reports.tuning.aoe.releases import AOE_OPTIONS, OPTION_OF, installed_release, product_of, release_key
from aoe_reports.tuning.plan.plan import Job


def test_releases_come_in_their_order() -> None:
    releases = [
        "6.3.RC2",
        "7.0.RC1",
        "7.0.0",
        "8.0.RC1",
        "8.0.RC3",
        "8.0.0",
        "8.1.RC1",
        "8.5.0",
        "9.0.0",
        "9.2.0-beta1",
    ]
    assert sorted(releases, key=lambda one: release_key(one) or ()) == releases
    assert release_key("8.0.RC3.alpha003") == release_key("8.0.RC3")
    assert (release_key("CANN 8.1.RC1"), release_key("master")) == (release_key("8.1.RC1"), None)


def test_every_option_is_in_the_table_once_with_its_source() -> None:
    assert len(OPTION_OF) == sum(len(option.names) for option in AOE_OPTIONS)
    assert all(option.source for option in AOE_OPTIONS)


def test_the_docs_have_every_option_with_a_history_of_its_own() -> None:
    text = (ROOT / "docs" / "tuning.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| `--")]
    for option in AOE_OPTIONS:
        if option.since or option.products or option.refused_by:
            (row,) = [row for row in rows if all(f"`{name}`" in row for name in option.names)]
            assert {option.since, *(option.products or {}).values()} - {None, "8.1.RC1"} <= set(row.split()), row


@pytest.mark.parametrize(
    ("name", "release", "taken"),
    [
        ("--op_tune_mode", "6.3.RC2", False),
        ("--op_tune_mode", "7.0.0", True),
        ("--soc_version", "9.2.0-beta1", True),
        ("--Fop_format", "6.0.1", False),
        ("--Fop_format", None, None),
        ("--model", None, True),
        ("--precision_mode_v2", "7.0.RC1", False),
        ("--precision_mode_v2", "9.0.0", None),
    ],
)
def test_what_a_release_takes(name: str, release: str | None, taken: bool | None) -> None:
    assert OPTION_OF[name].taken_by(release) is taken


@pytest.mark.parametrize(
    ("soc", "product"),
    [
        ("Ascend910_9392", "A3"),
        ("Ascend910B4", "A2"),
        ("Ascend910B", "Atlas training"),
        ("Ascend310B1", None),
        (None, None),
    ],
)
def test_the_product_of_a_chip(soc: str | None, product: str | None) -> None:
    assert product_of(soc) == product


def test_the_installed_release_is_read_where_the_guide_says(tmp_path: Path) -> None:
    (tmp_path / "aarch64-linux").mkdir()
    path = tmp_path / "aarch64-linux" / "ascend_toolkit_install.info"
    assert installed_release({"ASCEND_HOME_PATH": str(tmp_path)}) is None
    path.write_text("package_name=Ascend-cann-toolkit\nversion=8.5.0\ninnerversion=V100R001C25\narch=aarch64\n")
    assert installed_release({"ASCEND_HOME_PATH": str(tmp_path)}) == "8.5.0"
    assert installed_release({}) is None


def test_kernels_are_made_without_a_model_and_without_a_list() -> None:
    made = kernels("static_kernel", "9.0.0")
    (stage,) = stages_of_plan(made)
    assert [argument.text for argument in stage.arguments] == [
        "aoe", "--job_type=2", "--op_tune_mode=static_kernel", "--op_tune_file=/dumped", "--precision_mode=must_keep_origin_dtype",
    ]  # fmt: skip
    assert "tune_ops.json" not in files_of_plan(made, "/plan")


def test_only_compiling_for_a_named_chip_needs_no_device() -> None:
    of_device = {"device-cores", "device-memory", "device-free"}
    assert of_device & verdicts(kernels("fast", "9.0.0")).keys() == set()
    assert of_device <= verdicts(kernels("static_kernel", "9.0.0")).keys()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--soc_version=Ascend910B3",), "--soc_version is accepted with --op_tune_mode=fast only"),
        (("--op_tune_mode=static_kernel", "--op_tune_file=/d", "--soc_version=Ascend910B3"), "=fast only"),
        (("--op_tune_mode=quick", "--op_tune_file=/d"), "expected one of static_kernel, fast"),
        (("--op_tune_mode=fast",), "needs --op_tune_file"),
        (("--op_tune_mode=fast", "--op_tune_file=d"), "expected an absolute path"),
        (("--op_tune_mode=fast", "--op_tune_file=/d", "--precision_mode=force_fp16"), "must_keep_origin_dtype"),
    ],
)
def test_what_aoe_documents_as_impossible_is_refused(options: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        stages_of_plan(plan(job=Job(model="/m.onnx", options=options)))


def test_a_plan_says_which_options_its_release_or_chip_does_not_take() -> None:
    assert untaken_options(kernels("fast", "9.0.0")) == []
    assert {text.split(":")[0] for text in untaken_options(kernels("fast", "6.3.RC2"))} == {
        "--op_tune_mode", "--op_tune_file", "--soc_version",
    }  # fmt: skip
    (virtual,) = untaken_options(plan(engine_version="9.0.0", job=Job(model="/m.onnx", options=("--virtual_type=1",))))
    assert virtual.startswith("--virtual_type: for Atlas inference only")
    (unknown,) = untaken_options(plan(job=Job(model="/m.onnx", options=("--fast_mode",))))
    assert unknown == "--fast_mode: no document of aoe has this option"


def test_aoe_ini_is_read_as_it_is_written(bench: Bench) -> None:
    bench.plan()
    root = bench.root / "cann"
    (root / "conf").mkdir(parents=True)
    for text, numbers in {
        "[COMMON]\nTUNING_PARALLEL_NUM = 64\n": (64, 10),
        "[COMMON]\nRUN_LOOP=99999\n": (8, 99999),
        "RUN_LOOP=many\nTUNING_PARALLEL_NUM=\n": ("", "many"),
    }.items():
        (root / "conf" / "aoe.ini").write_text(text)
        host = json.loads(bench.run("tune", "check", bench.folder, "--describe-host", ASCEND_HOME_PATH=str(root)).out)
        assert (host["tuning_parallel_num"], host["run_loop"]) == numbers


def test_a_plan_is_for_the_named_release_else_for_the_installed_one(bench: Bench) -> None:
    before = write_profile(bench.root / "before", BEFORE, random.Random(1))
    installed = bench.root / "cann" / "x86_64-linux" / "ascend_toolkit_install.info"
    installed.parent.mkdir(parents=True)
    installed.write_text("version=6.0.1\n")
    asked = (
        "--model",
        bench.root / "model.onnx",
        "--aoe-option=--Fop_format",
        "--soc",
        "Ascend910B3",
        "--format",
        "json",
    )
    for release, expected, said in (("9.0.0", "9.0.0", False), (None, "6.0.1", True)):
        named = () if release is None else ("--cann", release)
        place = bench.root / expected
        ended = bench.run("plan", before, "-o", place, *asked, *named, ASCEND_HOME_PATH=str(bench.root / "cann"))
        assert ended.code == 0, ended.err
        assert json.loads((place / "plan.json").read_text())["engine_version"] == expected
        assert ("plan-option" in ended.rules()) is said
    checked = bench.run(
        "tune", "check", bench.root / "9.0.0", "--format", "json", ASCEND_HOME_PATH=str(bench.root / "cann")
    )
    (row,) = (row for row in checked.json["rows"] if row["rule"] == "preflight-cann")
    assert (row["verdict"], row["seen"]) == ("warn", "CANN 6.0.1")
