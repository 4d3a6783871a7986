"""The keys of profiling_options: values, defaults, and the files that each key yields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from aoe_reports.model.texts import say

COLLECTOR = say("collector of CANN (hicann/runtime 681ef761)")
GUIDE = say("CANN guide to msprof, TensorFlow framework mode")
ADAPTER = say("TensorFlow adapter (Ascend/tensorflow 085a7b2e)")

Kind = Literal["choice", "integer", "size", "metrics", "list", "text"]


@dataclass(frozen=True, slots=True)
class Option:
    """One key of profiling_options; `default` is what the collector takes where others are given and this is not."""

    key: str
    kind: Kind
    default: str | None
    values: tuple[str, ...] = ()
    least: int = 0
    most: int = 0
    files: tuple[str, ...] = ()
    note: str = ""
    source: str = COLLECTOR


SWITCH = ("on", "off")
LEVELS = ("on", "off", "l0", "l1", "l2")
METRICS = (
    "ArithmeticUtilization", "PipeUtilization", "Memory", "MemoryL0", "MemoryUB", "ResourceConflictRatio", "L2Cache",
    "MemoryAccess", "PipelineExecuteUtilization", "ScalarRatio", "PipeStallCycle",
)  # fmt: skip
"""Which of them a chip has differs."""


def _until(files: str, month: str) -> str:
    return say("{files} (until {month})", files=files, month=month)


def _dynamic(files: str, month: str) -> str:
    return say("{files} (dynamic shapes, until {month})", files=files, month=month)


_TASK_FILES = (
    "task_time_*.json", "task_time_*.csv", "op_summary_*.csv", "op_statistic_*.csv",
    _until("ge_*.json", "2023-08"), _dynamic("ge_op_execute_*", "2023-08"),
)  # fmt: skip


def _switch(key: str, *files: str, note: str = "") -> Option:
    return Option(key, "choice", "off", SWITCH, files=files, note=note)


_BY_ITSELF = say("enables its collector on its own")


def _frequency(key: str, least: int, most: int, note: str = _BY_ITSELF) -> Option:
    return Option(key, "integer", None, least=least, most=most, note=note)


OPTIONS: dict[str, Option] = {
    option.key: option
    for option in (
        Option(
            "output",
            "text",
            say("$ASCEND_WORK_PATH/profiling_data if it is set, otherwise an error"),
            note=say("created if missing; takes precedence over ASCEND_WORK_PATH"),
        ),
        Option(
            "storage_limit",
            "size",
            None,
            least=200,
            most=2**32 - 1,
            note=say(
                "a wrong value only causes a warning; if not set: 90% of the free disk space, according to "
                "the documentation"
            ),
        ),
        Option(
            "training_trace",
            "choice",
            "off",
            SWITCH,
            files=("step_trace_*.json", "step_trace_*.csv"),
            note=say("off: no step_trace"),
        ),
        Option(
            "task_trace",
            "choice",
            "on",
            (*LEVELS, "l3"),
            files=_TASK_FILES,
            note=say("deprecated, use task_time instead; l3 on some chips only"),
        ),
        Option(
            "task_time",
            "choice",
            "on",
            (*LEVELS, "l3"),
            files=_TASK_FILES,
            note=say(
                "on means l1; l0: durations only (no shapes, no counters, no operator types); l3 on some chips only"
            ),
        ),
        _switch("aicpu", "aicpu_*.csv", say("{files} (training chips)", files="dp_*.csv")),
        _switch("l2", "l2_cache_*.csv"),
        _switch(
            "hccl",
            "hccl_*.json",
            say("{files} (hccl_statistic before 2025-02)", files="communication_statistic_*.csv"),
            note=say("deprecated"),
        ),
        _switch("msproftx", "msprof_tx_*.json", "msprof_tx_*.csv"),
        _switch(
            "runtime_api",
            _until("runtime_api_*", "2023-08"),
            say("{files} (since {month})", files="api_statistic_*.csv", month="2023-08"),
            _until("ai_stack_time_*", "2023-07"),
            _dynamic("thread_group_*.json", "2023-08"),
        ),
        _switch("task_memory", "memory_record_*.csv", "operator_memory_*.csv"),
        _switch("task_tsfw"),
        _switch("instr_profiling"),
        Option("ge_api", "choice", "off", ("off", "l0", "l1")),
        Option("task_block", "choice", "off", ("on", "off", "all")),
        Option(
            "aic_metrics",
            "metrics",
            None,
            METRICS,
            files=(say("columns of counters in {files}", files="op_summary_*.csv"),),
            note=say("not given: no counters; empty: PipeUtilization; the available sets depend on the chip"),
        ),
        Option(
            "fp_point",
            "text",
            "",
            note=say("an operator name, or empty to search for it automatically; the search may fail"),
        ),
        Option(
            "bp_point",
            "text",
            "",
            note=say("an operator name, or empty to search for it automatically; the search may fail"),
        ),
        _frequency("instr_profiling_freq", 300, 30_000),
        _frequency("sys_hardware_mem_freq", 1, 10_000, say("above 100 only on newer versions")),
        _frequency("sys_io_sampling_freq", 1, 100),
        _frequency("sys_interconnection_freq", 1, 50),
        _frequency("sys_cpu_freq", 1, 50),
        _frequency("dvpp_freq", 1, 100),
        _frequency("host_sys_usage_freq", 1, 50),
        _frequency("sys_lp_freq", 1, 100),
        Option("llc_profiling", "choice", None, ("read", "write")),
        Option("host_sys", "list", None, ("cpu", "mem", "disk", "network", "osrt", "numa")),
        Option("host_sys_usage", "list", None, ("cpu", "mem")),
        Option("sys_mem_serviceflow", "text", None),
        Option("optype", "text", None),
    )
}
"""What the collector takes; every other key makes the whole start of profiling fail."""

ONLY_2022 = ("aiv_metrics", "biu_freq", "power")
"""Keys of the collector of 2022 that today's refuses."""

DEFAULTS: dict[str, str] = {
    "output": "./",
    "training_trace": "on",
    "task_trace": "on",
    "hccl": "on",
    "aicpu": "on",
    "aic_metrics": "PipeUtilization",
    "msproftx": "off",
}
"""What is collected where profiling is on and no option is given. One option given replaces all of it."""

MAX_BYTES = 2048
"""From this length on a string of options is read as an empty one."""
EXCLUSIVE_WITH_INSTR = ("task_time", "task_trace", "training_trace", "aicpu", "l2", "hccl", "runtime_api")
"""What may not be on beside instr_profiling_freq (a collector of 2023)."""
