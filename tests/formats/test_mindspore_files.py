"""What MindSpore's own profiler writes is called what it is: neither damage, nor an export of msprof, nor passed over."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from commandline import FIXTURES, ROOT, Cli

REAL = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data")) / "msprof" / "mindspore_profiler"
FILES = {
    "step_trace_raw_1_detail_time.csv": "step_num,start_point,end_point,total,fp_point,bp_point\n1,2,3,1,2,3\n",
    "step_trace_point_info.json": '{"fp_start": "a", "bp_end": "b"}',
    "aicore_intermediate_1_type.csv": "kernel_type,total_time,execution_frequency,percent\nGetNext,0.00015,3,0.00\n",
    "minddata_pipeline_raw_1.csv": "op_id,op_type\n0,Batch\n",
    "hccl_raw_0.csv": "step_num,communication_cost\n1,2\n",
    "flops_1.txt": "full_op_name, MFLOPs\n",
}
COMMANDS = ("hotspots", "steps", "breakdown", "communication", "advise", "normalize")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "profiler"
    home.mkdir()
    for name, text in FILES.items():
        (home / name).write_text(text)
    return home


def test_each_file_is_listed_with_its_kind_and_nothing_is_called_damage(cli: Cli, folder: Path) -> None:
    ended = cli("inspect", folder, "--format", "json")
    assert {(Path(row["path"]).name, row["kind"], row["source"], row["rank_id"]) for row in ended.json["rows"]} == {
        ("step_trace_raw_1_detail_time.csv", "step_trace_raw", "mindspore", 1),
        ("step_trace_point_info.json", "step_trace_point_info", "mindspore", None),
        ("aicore_intermediate_1_type.csv", "aicore_intermediate", "mindspore", 1),
        ("minddata_pipeline_raw_1.csv", "minddata_pipeline_raw", "mindspore", 1),
        ("hccl_raw_0.csv", "hccl_raw", "mindspore", 0),
        ("flops_1.txt", "flops", "mindspore", 1),
    }
    for command in ("inspect", "check"):
        (finding,) = cli(command, folder, "--format", "json").json["findings"]
        assert (finding["severity"], finding["rule"], finding["path"]) == ("warning", "not-read", str(folder))
        assert finding["message"] == (
            "6 files of MindSpore's own profiler (aicore_intermediate, flops, hccl_raw, minddata_pipeline_raw, "
            "step_trace_point_info, step_trace_raw), which are not msprof exports: recognised, but not read; "
            "no result uses them"
        )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_question_that_only_these_files_could_answer_is_not_answered_with_nothing(
    cli: Cli, folder: Path, command: str
) -> None:
    ended = cli(command, folder, *([] if command == "normalize" else ["--format", "json"]))
    assert ended.code == 1
    assert "not-read" in ended.out + ended.err
    assert "nothing-measured" in ended.out + ended.err


def test_a_night_that_only_these_files_tell_of_is_not_a_good_one(cli: Cli, folder: Path, tmp_path: Path) -> None:
    ended = cli("ingest", folder, "--store", tmp_path / "store", "--format", "json")
    assert ended.code == 1
    assert ended.rules() == {"not-read", "nothing-measured"}


def test_beside_exports_they_are_a_remark(cli: Cli, folder: Path) -> None:
    shutil.copytree(FIXTURES / "msprof/valid/mindspore", folder / "beside")
    ended = cli("check", folder, "--strict", "--format", "json")
    assert [(f["severity"], f["rule"]) for f in ended.json["findings"] if f["rule"] == "not-read"] == [
        ("info", "not-read")
    ]
    assert ended.code == 0


def test_one_of_them_that_is_named_is_recognised_whatever_its_ending(cli: Cli, folder: Path) -> None:
    for name in FILES:
        ended = cli("check", folder / name, "--format", "json")
        assert (ended.code, ended.rules()) == (0, {"not-read"})


@pytest.mark.skipif(not REAL.is_dir(), reason=f"no real files in {REAL}")
def test_every_real_file_is_named(cli: Cli) -> None:
    ended = cli("inspect", REAL, "--format", "json")
    every = {str(path) for path in REAL.rglob("*") if path.is_file()}
    assert {row["path"] for row in ended.json["rows"]} == every
    assert {row["source"] for row in ended.json["rows"]} == {"mindspore"}
    assert ended.rules() == {"not-read"}
