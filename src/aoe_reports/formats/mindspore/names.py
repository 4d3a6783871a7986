"""The files that MindSpore's own profiler makes of msprof's raw data, by their names; none of them is an export of msprof."""

from __future__ import annotations

import re

from aoe_reports.formats.sources.found import FileName, Form

WRITER = "mindinsight"
"""Who writes them: MindSpore's profiler, for MindInsight. Exports that newer MindSpore makes through msprof are `mindspore`'s."""

COMMUNICATION = "HCCL"
"""The type of tasks that communicate, as msprof calls it; these files have no types of tasks."""

_RANK = r"_(?P<rank>\d{1,6})"
_TABLES = {
    "aicore_intermediate_detail": rf"aicore_intermediate{_RANK}_detail\.csv",
    "aicore_intermediate_type": rf"aicore_intermediate{_RANK}_type\.csv",
    "aicpu_intermediate": rf"aicpu_intermediate{_RANK}\.csv",
    "cluster_analyse": r"ascend_cluster_analyse_(?:pipeline|model)-parallel(?:_\d{1,6}){0,2}" + rf"{_RANK}\.csv",
    "kernel_flops": rf"flops{_RANK}\.txt",
    "framework_raw": rf"framework_raw{_RANK}\.csv",
    "hccl_raw": rf"hccl_raw{_RANK}\.csv",
    "minddata_pipeline_raw": rf"minddata_pipeline_raw{_RANK}\.csv",
    "output_timeline_data": rf"output_timeline_data{_RANK}\.txt",
    "step_trace_raw": rf"step_trace_raw{_RANK}_detail_time\.csv",
}
"""What tables are read of."""
_UNREAD = {
    "ascend_timeline": rf"ascend_timeline_(?:display|summary){_RANK}\.json",
    "cluster_analyse_steps": r"ascend_cluster_analyse_data-parallel(?:_\d{1,6}){0,2}" + rf"{_RANK}\.csv",
    "dataset_iterator_profiling": rf"dataset_iterator_profiling{_RANK}\.txt",
    "device_queue_profiling": rf"device_queue_profiling{_RANK}\.txt",
    "dynamic_shape_info": rf"dynamic_shape_info{_RANK}\.json",
    "flops_scope": rf"flops_scope{_RANK}\.json",
    "flops_summary": rf"flops_summary{_RANK}\.json",
    "min_cycle_counter": rf"min_cycle_counter{_RANK}\.txt",
    "minddata_aicpu": rf"minddata_aicpu{_RANK}\.txt",
    "minddata_cpu_utilization": rf"minddata_cpu_utilization{_RANK}\.json",
    "minddata_pipeline_summary": rf"minddata_pipeline_summary{_RANK}\.(?:csv|json)",
    "output_data_preprocess_aicpu": rf"output_data_preprocess_aicpu{_RANK}\.txt",
    "output_format_data_hwts": rf"output_format_data_hwts{_RANK}\.txt",
    "output_op_compute_time": rf"output_op_compute_time(?:_detail)?{_RANK}\.txt",
    "pipeline_profiling": rf"pipeline_profiling{_RANK}\.json",
    "step_trace_point_info": rf"step_trace_point_info(?:{_RANK})?\.json",
    "timeline_display": rf"timeline_display{_RANK}\.json",
    "timeline_summary": rf"timeline_summary{_RANK}\.json",
}
UNREAD_KINDS = frozenset(_UNREAD)
"""Files that are recognised and not read: means and sums of what the tables hold, their events once more,
and the queues and processors of the data pipeline."""
_NAMES = {kind: re.compile(f"^{name}$", re.ASCII) for kind, name in (_TABLES | _UNREAD).items()}


def parse_name(name: str, folder: str) -> FileName | None:  # noqa: ARG001 -- users choose where they lie
    """`step_trace_raw_0_detail_time.csv`: of which rank it is; where nobody told it a rank, of which device."""
    for kind, pattern in _NAMES.items():
        if found := pattern.match(name):
            form: Form = "json" if name.endswith("json") else "txt" if kind in UNREAD_KINDS else "csv"
            rank = found["rank"]
            return FileName(kind, form, WRITER, rank_id=None if rank is None else int(rank))
    return None
