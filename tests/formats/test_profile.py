"""Files into captures, captures into runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from aoe_reports.formats.ascend.capture import capture_root, group_captures
from aoe_reports.formats.capture import group_runs
from aoe_reports.formats.sources.discovery import discover


def runs(*paths: Path):
    found = discover(paths)
    return group_runs(group_captures(found.files))


def test_two_ranks_of_one_job_are_one_run(msprof: Path) -> None:
    (run,) = runs(msprof / "torch_npu_two_ranks")
    assert [capture.info.rank_id for capture in run] == [0, 1]
    assert run[0].info.profiler_level == "Level1"
    assert run[0].profiler == "torch_npu"


def test_two_nights_of_one_rank_are_two_runs(msprof: Path, tmp_path: Path) -> None:
    for night in ("a", "b"):
        shutil.copytree(msprof / "torch_npu_two_ranks" / "rank0_ascend_pt", tmp_path / f"{night}_ascend_pt")
    assert [len(run) for run in runs(tmp_path)] == [1, 1]


def test_two_ranks_made_at_different_times_are_two_runs(msprof: Path, tmp_path: Path) -> None:
    shutil.copytree(msprof / "torch_npu_two_ranks", tmp_path, dirs_exist_ok=True)
    info = tmp_path / "rank1_ascend_pt" / "profiler_info_1.json"
    document = json.loads(info.read_text())
    document["end_info"]["collectionTimeEnd"] += 3600 * 10**9
    info.write_text(json.dumps(document))
    assert [len(run) for run in runs(tmp_path)] == [1, 1]


def test_the_newest_export_is_in_force_and_slices_are_in_order(msprof: Path) -> None:
    ((capture,),) = runs(msprof / "slices_and_reexport")
    assert [file.path.name for file in capture.preferred("op_summary").files] == [
        "op_summary_slice_0_20260607155140.csv",
        "op_summary_slice_1_20260607155141.csv",
    ]
    assert [file.path.name for file in capture.superseded] == ["op_summary_slice_0_20260607120000.csv"]


def test_info_files_of_msprof_are_read_despite_their_tail(msprof: Path) -> None:
    ((capture,),) = runs(msprof / "ten_iterations")
    assert capture.info.pid == 10036
    assert capture.info.hardware["ai_core_num"] == 32
    assert capture.info.start_ns == 1692340024324979000


def test_damaged_info_files_say_nothing_and_that_is_said(msprof: Path, tmp_path: Path) -> None:
    shutil.copytree(msprof / "torch_npu_two_ranks", tmp_path, dirs_exist_ok=True)
    for rank, text in enumerate(['{"rank_id": "x", "config": [], "end_info": 3}', "{"]):
        (tmp_path / f"rank{rank}_ascend_pt" / f"profiler_info_{rank}.json").write_text(text)
    found = [capture for run in runs(tmp_path) for capture in run]
    assert [(c.info.rank_id, c.info.end_ns, c.info.profiler_level) for c in found] == [
        (0, None, None),
        (1, None, None),
    ]
    assert [[finding.rule for finding in capture.findings] for capture in found] == [[], ["info-file"]]


PROF = "PROF_000001_20230818142704322_COJGGGCANRMICFBC"


def test_roots_of_captures() -> None:
    assert capture_root(Path("x/PROF_1_2_3/device_0/summary/op_summary_0.csv")) == Path("x/PROF_1_2_3")
    assert capture_root(Path("x_ascend_pt/PROF_1/mindstudio_profiler_output/a.csv")) == Path("x_ascend_pt")
    assert capture_root(Path("x/ASCEND_PROFILER_OUTPUT/kernel_details.csv")) == Path("x")
    assert capture_root(Path("x/y/op_summary.csv")) == Path("x/y")
    assert capture_root(Path(f"x/{PROF}/moved/here/op_summary_0.csv")) == Path(f"x/{PROF}")
    assert capture_root(Path(f"x/{PROF}/y/{PROF}/device_0/op_summary_0.csv")) == Path(f"x/{PROF}")
    assert capture_root(Path("a_ascend_pt/b_ascend_ms/PROF_1_2_3/a.csv")) == Path("a_ascend_pt/b_ascend_ms")
    assert capture_root(Path("x/y/host/summary/acl_0.csv")) == Path("x/y")
    assert capture_root(Path("x/y/device_0/timeline/msprof_0.json")) == Path("x/y")
    assert capture_root(Path("x/y/timeline/msprof_0.json")) == Path("x/y/timeline")
    assert capture_root(Path("x/y/device_0/op_summary_0.csv")) == Path("x/y")
    assert capture_root(Path("x/mindstudio_profiler_output/op_summary_0.csv")) == Path("x")
    assert capture_root(Path("op_summary.csv")) == Path.cwd()
    assert capture_root(Path("/PROF_1_2_3/device_0/op_summary_0.csv")) == Path("/PROF_1_2_3")
