"""Claims of msKL, TileLang, PyPTO, AKG and tables of versions: what their files claim, and how `verify --claims` judges them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES, Cli, Ended
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.simulation.claim_forms import FORMS, ClaimedTimes, FormName
from aoe_reports.simulation.claims import write_kernel
from aoe_reports.tuning.akg.autotune import read_autotune
from aoe_reports.tuning.akg.profile import read_profile
from aoe_reports.tuning.akg.tuner import read_record
from aoe_reports.tuning.files_only import FileClaims
from aoe_reports.tuning.mskl.printed import read_printed
from aoe_reports.tuning.mskl.tuner import read_results
from aoe_reports.tuning.pypto.parameters import read_parameters
from aoe_reports.tuning.pypto.tuner import read_performance
from aoe_reports.tuning.tilelang import printed as tilelang_printed
from aoe_reports.tuning.tilelang.tuner import read_latency
from aoe_reports.tuning.tuner import Claim, tuner
from aoe_reports.tuning.versions import Versions, versions_of
from aoe_reports.tuning.versions.tuner import read_versions

MSKL_ROWS = "No.,Config,TaskDuration(us),Args\n0,A,64.0,x\n1,B,57.5,x\n"
RECORD = (
    "op_name: relu, task_id: {0}, unique_dir: Iteration{0}_Step1_verify, base_time: {1} us, generation_time: {2} us, "
    "speedup: 1.0x\n"
)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def only(read: FileClaims) -> Claim:
    (claim,) = read.claims
    return claim


def rules(read: FileClaims) -> list[str]:
    return [finding.rule for finding in read.findings]


def verdict_of(cli: Cli, *args: object) -> dict[str, Any]:
    ended: Ended = cli("verify", "--claims", *args, "--format", "json")
    rows = [row for row in ended.json["rows"] if row["scope"] == "operator"]
    assert len(rows) == 1, ended.json
    row: dict[str, Any] = rows[0]
    return row


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six captures of `kernel` on each side, 100 us before and 80 us after, and of `reference` (160 us)."""
    folder, drawn = tmp_path_factory.mktemp("sides"), random.Random(1)
    write_kernel(folder / "before", "kernel", 100, drawn)
    write_kernel(folder / "after", "kernel", 80, drawn)
    write_kernel(folder / "reference", "reference", 160, drawn)
    return folder


@pytest.mark.parametrize("form", FORMS)
def test_a_true_claim_in_the_form_of_each_tuner_is_confirmed(
    cli: Cli, tmp_path: Path, sides: Path, form: FormName
) -> None:
    file = FORMS[form].write(tmp_path, [ClaimedTimes("kernel", 100, 80)], random.Random(1))
    names = ("--operator", "kernel") if FORMS[form].alone else ()
    row = verdict_of(cli, file, sides / "before", sides / "after", *names)
    assert row["verdict"] == "confirmed"
    assert row["claimed_after_us"] == pytest.approx(80)


@pytest.mark.parametrize("form", ["tilelang", "akg"])
def test_the_time_of_a_reference_program_is_compared_with_that_program_only(
    cli: Cli, tmp_path: Path, sides: Path, form: FormName
) -> None:
    """160 us of the reference would be a claim of -50 % that the kernel, 100 us before tuning, never made."""
    file = FORMS[form].write(tmp_path, [ClaimedTimes("kernel", 160, 80)], random.Random(1))
    row = verdict_of(cli, file, sides / "before", sides / "after", "--operator", "kernel")
    assert (row["claimed_before_us"], row["verdict"]) == (None, "confirmed")
    names = ("--operator", "reference", "--operator", "kernel")
    row = verdict_of(cli, file, sides / "reference", sides / "after", *names)
    assert (row["claimed_before_us"], row["verdict"]) == (pytest.approx(160), "confirmed")
    assert row["claimed_change"] == pytest.approx(-0.5)


def test_a_configuration_is_no_operator_until_one_is_named(cli: Cli, tmp_path: Path, sides: Path) -> None:
    path = written(tmp_path, "MSKL_AUTOTUNE_RESULTS_20260110081500.csv", MSKL_ROWS)
    row = verdict_of(cli, path, sides / "before", sides / "after")
    assert (row["verdict"], row["op_name"]) == ("not-comparable", "B")
    assert "use --operator NAME" in row["reason"]


def test_two_files_with_the_same_best_configuration_are_two_claims(tmp_path: Path) -> None:
    written(tmp_path, "a/MSKL_AUTOTUNE_RESULTS_20260110081500.csv", MSKL_ROWS)
    written(tmp_path, "b/MSKL_AUTOTUNE_RESULTS_20260110081500.csv", MSKL_ROWS)
    assert len(tuner("mskl").read_results([tmp_path]).claims.operators) == 2


def test_mskl_prints_two_units_and_the_best(tmp_path: Path) -> None:
    lines = "[INFO] No.0: 64.081\u03bcs, {'L1': 'GemmShape<1, 2>'}\nNo.1: 57.5 us, {'L1': 'x'}\n"
    read = read_printed(written(tmp_path, "a.log", lines + "Best config: No.1\n"))
    assert (only(read).after_us, only(read).op_name, rules(read)) == (57.5, "{'L1': 'x'}", [])
    read = read_printed(written(tmp_path, "b.log", lines + "Best config: No.0\n"))
    assert (only(read).after_us, rules(read)) == (57.5, ["claims-no-best"])


def test_the_estimates_of_a_model_are_no_measurements(tmp_path: Path) -> None:
    text = "combination,time(us),is_real,accepted,mm1\ncombination_0,47.3,True,True,[1]\ncombination_1,31.0,False,True,[2]\n"
    read = read_performance(written(tmp_path, "config_perf.csv", text))
    assert (only(read).op_name, only(read).after_us) == ("combination_0 (mm1: [1])", 47.3)
    assert rules(read) == ["claims-not-measured"]


@pytest.mark.parametrize(
    ("latency", "config", "told"),
    [
        ('{"latency": 0.05, "ref_latency": null}', '{"block_M": 128}', (None, 50, [])),
        ('{"latency": 0.05, "ref_latency": 0.08}', '{"block_M": 128}', (80, 50, ["claims-reference"])),
        ('{"latency": 0.05, "ref_latency": 0.04}', '{"block_M": 128}', (None, 50, ["claims-no-gain"])),
        ('{"latency": 0.05, "ref_latency": null}', None, (None, 50, ["claims-no-best"])),
    ],
)
def test_what_tilelang_keeps_claims_the_time_of_the_best(
    tmp_path: Path, latency: str, config: str | None, told: tuple[float | None, float, list[str]]
) -> None:
    path = written(tmp_path, "autotuner/5f/latency.json", latency)
    if config is not None:
        written(tmp_path, "autotuner/5f/best_config.json", config)
    read = read_latency(path)
    assert (only(read).before_us, only(read).after_us, rules(read)) == told


@pytest.mark.parametrize("latency", ["0", "-1", "NaN", "Infinity", "null", '"0.05"', "true"])
def test_no_time_is_made_of_what_is_none(tmp_path: Path, latency: str) -> None:
    written(tmp_path, "5f/best_config.json", "{}")
    read = read_latency(written(tmp_path, "5f/latency.json", f'{{"latency": {latency}, "ref_latency": null}}'))
    assert (read.claims, rules(read)) == ((), ["claims-form"])


def test_another_latency_json_is_not_tilelangs(tmp_path: Path, cli: Cli) -> None:
    written(tmp_path, "latency.json", '{"p50": 3}')
    assert cli("check", tmp_path, "--format", "json").rules() == {"nothing-found"}


def test_the_fastest_kernel_of_a_search_is_claimed_with_whether_its_results_agreed(tmp_path: Path) -> None:
    text = RECORD.format(0, "80.0", "70.0") + "\n" + RECORD.format(1, "80.0", "60.0") + RECORD.format(2, "80.0", "inf")
    path = written(tmp_path, "logs/relu/profiling/speed_up_record.txt", text)
    read = read_record(path)
    assert (only(read).before_us, only(read).after_us, only(read).accuracy) == (80, 60, None)
    assert rules(read) == ["claims-not-measured", "claims-reference"]
    results = [{"verify_dir": f"/x/logs/relu/Iteration{n}_Step1_verify", "passed": n == 1} for n in (0, 1)]
    text = "\n\n".join(json.dumps(result, indent=2) for result in results)
    written(tmp_path, "logs/verification_results.jsonl", text + "\n\n{cut")
    assert only(read_record(path)).accuracy is True


def test_a_kernel_in_several_cases_is_not_attributed(tmp_path: Path) -> None:
    case = '{"k": [{"config": "B: 1", "timing_us": 12.5, "is_best": true, "rank": 1}, {"config": "B: 2", "timing_us": Infinity, "is_best": false, "rank": 2}]}'
    read = read_autotune(written(tmp_path, "autotune_info_case_0.json", case))
    assert (only(read).op_name, only(read).after_us, rules(read)) == ("k", 12.5, ["claims-not-measured"])
    written(tmp_path, "autotune_info_case_1.json", case)
    together = tuner("akg").read_results([tmp_path])
    assert together.claims.operators == ()
    assert "claims-several" in {finding.rule for finding in together.findings}


def test_the_pair_of_profiles_of_a_kernel_is_one_claim(tmp_path: Path) -> None:
    generation = written(
        tmp_path, "v/generation_profile_result.json", '{"execution_time_us": 50, "case_times": [0.05]}'
    )
    written(tmp_path, "v/base_profile_result.json", '{"avg_time_us": 80}')
    assert only(read_profile(generation)).unnamed
    written(tmp_path, "v/profile_relu_generation.py", "")
    assert (only(read_profile(generation)).op_name, only(read_profile(generation)).before_us) == ("relu", 80)
    read = read_profile(written(tmp_path, "v/base_profile_result.json", '{"execution_time_us": null, "error": "x"}'))
    assert (read.claims, rules(read)) == ((), ["claims-not-measured"])
    assert only(read_profile(generation)).before_us is None


@pytest.mark.parametrize(
    ("header", "labels"),
    [
        ("operator,v1(us),v2(us)", ["v1", "v2"]),
        ("算子,形状,优化前(us),优化后(us),提升", ["优化前", "优化后"]),
        ("OP Name,baseline_ms,r2_ms,speedup,remark", ["baseline", "r2"]),
        ("case,1.0\uff08us\uff09,1.1\uff08us\uff09", ["1.0", "1.1"]),
    ],
)
def test_versions_are_recognised_by_label_and_unit(header: str, labels: list[str]) -> None:
    found = versions_of(header.split(","))
    assert isinstance(found, Versions)
    assert list(found.columns) == labels


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ("operator,v1,v2", "no unit"),
        ("operator,v1(us),v2(us),Wait Time(us)", "Wait Time(us)"),
        ("operator,v1(us),v2(ms)", "one unit"),
        ("operator,v1(us)", None),
        ("operator,v1(us),v2(us),v2(us)", "each column once"),
        ("Op Name,Task Duration(us),Task Wait Time(us)", None),
        ("Device_id,v1(us),v2(us)", None),
        ("operator,before_us,after_us", None),
    ],
)
def test_any_other_header_is_refused_with_a_reason_where_it_is_near(header: str, why: str | None) -> None:
    found = versions_of(header.split(","))
    assert (found is None) == (why is None)
    assert why is None or why in str(found)


def test_a_pair_of_versions_can_be_chosen(cli: Cli, tmp_path: Path, sides: Path) -> None:
    text = "算子,v1(us),v2(us),v3(us)\nkernel,100,80,60\nother,-,3,2\n"
    path = written(tmp_path, "版本对比.csv", text)
    assert [claim.after_us for claim in read_versions(path).claims] == [60]
    row = verdict_of(cli, path, sides / "before", sides / "after", "--versions", "v1,v2")
    assert (row["claimed_after_us"], row["verdict"]) == (80, "confirmed")
    command = ("verify", "--claims", path, sides / "before", sides / "after", "--versions")
    assert "it has v1, v2, v3" in cli(*command, "v1,v9").err
    assert "--versions OLD,NEW" in cli(*command, "v1").err
    ended = cli(
        "verify", "--claims", written(tmp_path, "no.csv", text.replace("(us)", "")), sides / "before", sides / "after"
    )
    assert "its versions have no unit" in ended.out + ended.err


@given(st.one_of(st.binary(max_size=200), st.text(alphabet='a{}[]":,.0-9\n eIN', max_size=200).map(str.encode)))
def test_nothing_that_a_file_may_hold_raises(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x"
    for head, read in (
        (b"No.,Config,TaskDuration(us),Args\n", read_results),
        (b"No.1: ", read_printed),
        (b"Tuned Latency ", tilelang_printed.read_printed),
        (b'{"latency": ', read_latency),
        (b"combination,time(us)\n", read_performance),
        (b'[{"file": ', read_parameters),
        (b'{"k": [{"config": ', read_autotune),
        (b'{"execution_time_us": ', read_profile),
        (b"op_name: a, task_id: ", read_record),
        ("算子,v1(us),v2(us)\n".encode(), read_versions),
    ):
        path.write_bytes(head + content)
        read(path)


@pytest.mark.parametrize("name", ["mskl", "tilelang", "pypto", "akg", "versions"])
def test_a_sound_folder_is_checked_without_complaint(name: str, cli: Cli) -> None:
    ended = cli("check", FIXTURES / name / "valid", "--format", "json")
    assert ended.code == 0
    assert {finding["severity"] for finding in ended.json["findings"]} <= {"info"}
    assert {row["verdict"] for row in ended.json["rows"]} == {"pass"}
