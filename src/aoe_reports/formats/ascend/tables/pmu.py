"""The sets of AI Core metrics (`aic_metrics`), told by the counters that only one of them has."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SIGNS: tuple[tuple[str, str], ...] = (
    ("ArithmeticUtilization", r"mac_fp16_ratio|vec_fp32_ratio|arithmetic_?utilization"),
    ("PipeUtilization", r"(^|_)mac_ratio|mte2_ratio|pipe_?utilization"),
    ("MemoryL0", r"l0[abc]_read_bw|memory_?l0|l0b_and_width"),
    ("MemoryUB", r"ub_read_bw_(vector|scalar)|memory_?ub"),
    ("MemoryAccess", r"read_main_memory_datas|memory_?access"),
    ("Memory", r"main_mem_read_bw|memory(_bandwidth)?$"),
    ("L2Cache", r"write_cache_hit|l2_?cache"),
    ("ResourceConflictRatio", r"bankgroup_cflt_ratio|resource_?conflict_?ratio"),
    ("none", r"^acl_aicore_none$|^aicorenone$"),
)
"""(set, what only its columns or its name hold); in this order, since some hold the words of others."""


def metrics_set(words: Iterable[str]) -> str | None:
    """The set that the columns of op_summary, or its name in an info file, stand for; None where none of it is known."""
    lower = [word.casefold() for word in words]
    for name, sign in _SIGNS:
        if any(re.search(sign, word) for word in lower):
            return name
    return None
