"""Which counters the profiler had on."""

from __future__ import annotations

import pytest

from aoe_reports.formats.ascend.tables.pmu import metrics_set


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["aic_mac_fp16_ratio", "aic_mac_ratio"], "ArithmeticUtilization"),
        (["aiv_vec_fp32_ratio"], "ArithmeticUtilization"),
        (["Aic_Mac_Ratio"], "PipeUtilization"), (["mac_ratio"], "PipeUtilization"), (["aiv_mte2_ratio"], "PipeUtilization"),
        (["aic_l0a_read_bw(GB/s)"], "MemoryL0"), (["l0c_read_bw"], "MemoryL0"), (["l0d_read_bw"], None),
        (["aiv_ub_read_bw_vector(GB/s)"], "MemoryUB"), (["ub_read_bw_scalar"], "MemoryUB"), (["ub_read_bw"], None),
        (["aic_read_main_memory_datas(KB)", "aic_main_mem_read_bw(GB/s)"], "MemoryAccess"),
        (["aic_main_mem_read_bw(GB/s)"], "Memory"),
        (["aic_write_cache_hit"], "L2Cache"),
        (["aiv_vec_bankgroup_cflt_ratio"], "ResourceConflictRatio"),
        (["aicore_time(us)", "Task Duration(us)"], None), ([], None),
        (["ACL_AICORE_ARITHMETIC_UTILIZATION"], "ArithmeticUtilization"),
        (["ACL_AICORE_PIPE_UTILIZATION"], "PipeUtilization"), (["PipeUtilization"], "PipeUtilization"),
        (["AiCoreMemoryL0"], "MemoryL0"), (["MemoryUB"], "MemoryUB"), (["MemoryAccess"], "MemoryAccess"),
        (["ACL_AICORE_MEMORY_BANDWIDTH"], "Memory"), (["AiCoreMemory"], "Memory"), (["Memory used"], None),
        (["L2Cache"], "L2Cache"), (["ACL_AICORE_L2_CACHE"], "L2Cache"),
        (["ResourceConflictRatio"], "ResourceConflictRatio"), (["ACL_AICORE_NONE"], "none"), (["AiCoreNone"], "none"),
        (["none"], None),
    ],
)  # fmt: skip
def test_columns_or_a_name_say_which_counters_were_on(words: list[str], expected: str | None) -> None:
    assert metrics_set(words) == expected
