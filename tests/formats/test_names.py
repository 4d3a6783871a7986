"""File and folder names."""

from __future__ import annotations

import pytest

from aoe_reports.formats.ascend.names import capture_time, is_capture, parse_name


@pytest.mark.parametrize(
    ("name", "kind", "device", "model", "iteration", "slice_", "time"),
    [
        ("op_summary_0_2_1.csv", "op_summary", 0, 2, 1, None, None),
        ("op_summary_20230919172305.csv", "op_summary", None, None, None, None, "20230919172305"),
        ("op_summary_slice_1_20230919172305.csv", "op_summary", None, None, None, 1, "20230919172305"),
        ("op_summary_1_20230919172305.csv", "op_summary", 1, None, None, None, "20230919172305"),
        ("op_summary_3_1_7_slice_2_20230919172305.csv", "op_summary", 3, 1, 7, 2, "20230919172305"),
        ("step_trace_time.csv", "step_trace_time", None, None, None, None, None),
        ("aicpu_mi_0.csv", "aicpu_mi", 0, None, None, None, None),
        ("prof_rule_0.json", "prof_rule", 0, None, None, None, None),
    ],
)
def test_names_of_exports(name, kind, device, model, iteration, slice_, time) -> None:
    found = parse_name(name)
    assert found is not None
    assert (found.kind, found.device_id, found.model_id, found.iteration) == (kind, device, model, iteration)
    assert (found.slice, found.time) == (slice_, time)


def test_a_number_with_leading_zeros_is_no_device() -> None:
    found = parse_name("op_summary_001.csv")
    assert found is not None
    assert found.device_id is None
    assert found.other == "001"


@pytest.mark.parametrize("name", ["README.txt", "op_summaryX.csv", "model.json", "kernel_details.txt", ""])
def test_other_files_are_none_of_ours(name: str) -> None:
    assert parse_name(name) is None


@pytest.mark.parametrize(
    ("name", "time", "pid"),
    [
        ("aoe_result_opat_20260101020304005_pid4711.json", "20260101020304005", 4711),
        ("aoe_result_sgat_20260101_020304005_4711.json", "20260101_020304005", 4711),
    ],
)
def test_names_of_results(name: str, time: str, pid: int) -> None:
    found = parse_name(name)
    assert found is not None
    assert (found.source, found.time, found.pid) == ("aoe", time, pid)


def test_the_folder_tells_the_framework_from_msprof() -> None:
    assert parse_name("op_statistic.csv", "ASCEND_PROFILER_OUTPUT").source == "torch_npu"
    assert parse_name("op_statistic_20260101000000.csv", "mindstudio_profiler_output").source == "msprof"


def test_names_of_captures() -> None:
    assert is_capture("PROF_000001_20260605155111872_JDEKRCNERPBNJEGA")
    assert is_capture("host_123_20260605155111872_ascend_pt")
    assert not is_capture("OPPROF_20260605155111_JDEKRCNERPBNJEGA")
    assert capture_time("PROF_000001_20260605155111872_JDEKRCNERPBNJEGA") == "20260605155111872"
    assert capture_time("rank0_ascend_pt") is None


@pytest.mark.parametrize(
    ("name", "folder", "kind", "source", "rank"),
    [
        ("ascend_pytorch_profiler.db", "", "profiler_db", "torch_npu", None),
        ("ascend_pytorch_profiler_0.db", "", "profiler_db", "torch_npu", 0),
        ("ascend_mindspore_profiler.db", "", "profiler_db", "mindspore", None),
        ("ascend_mindspore_profiler_13.db", "", "profiler_db", "mindspore", 13),
        ("msprof_20260101000000.db", "", "profiler_db", "msprof", None),
        ("msprof_20260101000000.db", "ASCEND_PROFILER_OUTPUT", "profiler_db", "torch_npu", None),
        ("analysis.db", "", "analysis_db", "torch_npu", None),
        ("cluster_analysis.db", "", "analysis_db", "msprof", None),
        ("profiler_info_3.json", "", "profiler_info", "torch_npu", 3),
        ("profiler_info.json", "", "profiler_info", "torch_npu", None),
        ("profiler_metadata.json", "", "profiler_metadata", "torch_npu", None),
        ("communication_group.json", "", "communication_group", "torch_npu", None),
        ("trace_view.json", "", "trace_view", "torch_npu", None),
        ("msprof_20260101000000.json", "", "msprof", "msprof", None),
        ("kernel_details.csv", "", "kernel_details", "torch_npu", None),
        ("op_summary_20260101000000.csv", "", "op_summary", "msprof", None),
        ("api_statistic.csv", "ASCEND_PROFILER_OUTPUT", "api_statistic", "torch_npu", None),
    ],
)
def test_a_name_and_its_folder_tell_who_wrote_it(name: str, folder: str, kind: str, source: str, rank: int | None) -> None:  # fmt: skip
    found = parse_name(name, folder)
    assert found is not None
    assert (found.kind, found.source, found.rank_id) == (kind, source, rank)
    assert found.form == name.rpartition(".")[2]


@pytest.mark.parametrize("name", ["msprof_20260101000000.db.gz", "analysis.db.gz", "ascend_pytorch_profiler_1234567.db", "ascend_paddle_profiler.db"])  # fmt: skip
def test_a_database_that_is_packed_or_of_others_is_none_of_ours(name: str) -> None:
    assert parse_name(name) is None


@pytest.mark.parametrize("word", ["ai_core_utilization", "ai_vector_core_utilization"])
def test_sampled_counters_are_named_by_their_cores(word: str) -> None:
    for name in (f"{word}_0_1.csv", f"{word}_20250605155140.csv", f"{word}_slice_0_20250605155140.csv"):
        found = parse_name(name)
        assert found is not None
        assert (found.kind, found.form, found.source) == (word, "csv", "msprof")
