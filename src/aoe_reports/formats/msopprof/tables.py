"""The tables of `msprof op`: one row for the kernel, and in the others a row for each core of each block of it.

Names and columns as its manual has them (msOpProf, performance data); every file ends its lines with a comma and writes NA for what was
not measured. Which counters a file has depends on the chip: they are numbers under their own names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoe_reports.formats.table import Derived, Table, columns, integer, text
from aoe_reports.model.texts import Text, say

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = "OPPROF_"
"""How the name of a folder begins in which one or several kernels were measured."""
SIMULATOR = "simulator"
"""The folder of what a simulator computed, traces and instructions of each core: nothing in it was measured."""
RAW_FOLDERS = frozenset({"dump", SIMULATOR})
"""What such a folder has beside tables: raw data and the folder of a simulator."""
_NO_VALUE = ("NA",)
_PART = re.compile(r"_mix_ai[cv]$")


def _functions(kernels: pa.ChunkedArray) -> pa.ChunkedArray:
    """Kernel by kernel the name of its function: a compiler adds a part for each core (`main_kernel_mix_aic`)."""
    from aoe_reports.model.arrays.columns import words_told  # noqa: PLC0415 -- to know a file takes no pyarrow

    return words_told(kernels, lambda kernel: _PART.sub("", kernel))


OP_BASIC_INFO = Table(
    name="op_basic_info",
    title=say("one kernel as `msprof op` measures it: its time, blocks and frequency"),
    facts="tasks",
    columns=columns("""
        free: Op Name
        text: core = Op Type
        duration!: Task Duration
        integer: block_num = Block Dim
        integer?: mix_block_num = Mix Block Dim, Device Id, Pid
        number?: current_mhz = Current Freq, rated_mhz = Rated Freq
    """),
    vintages=(),
    source="msopprof",
    called=("OpBasicInfo*.csv",),
    null_words=_NO_VALUE,
    derived=(Derived(text("op_type"), ("op_name",), _functions),),
)


def _of_blocks(name: str, file: str, title: Text) -> Table:
    return Table(
        name=name,
        title=title,
        columns=(integer("block_id", "block_id", needed=True), text("sub_block_id", "sub_block_id")),
        vintages=(),
        source="msopprof",
        called=(f"{file}*.csv",),
        null_words=_NO_VALUE,
        identity=("block_id", "sub_block_id"),
    )


FILES = {
    "OpBasicInfo": OP_BASIC_INFO,
    "ArithmeticUtilization": _of_blocks(
        "op_arithmetic_utilization", "ArithmeticUtilization", say("one kernel: work of the cube and vector units, block by block")
    ),
    "L2Cache": _of_blocks("op_l2_cache", "L2Cache", say("one kernel: hits in the L2 cache, block by block")),
    "Memory": _of_blocks("op_memory", "Memory", say("one kernel: what is read and written where, block by block")),
    "MemoryL0": _of_blocks("op_memory_l0", "MemoryL0", say("one kernel: bandwidth of the L0 buffers, block by block")),
    "MemoryUB": _of_blocks("op_memory_ub", "MemoryUB", say("one kernel: bandwidth of the unified buffer, block by block")),
    "PipeUtilization": _of_blocks(
        "op_pipe_utilization", "PipeUtilization", say("one kernel: how long each of its units works, block by block")
    ),
    "ResourceConflictRatio": _of_blocks(
        "op_resource_conflicts", "ResourceConflictRatio", say("one kernel: units that wait for each other, block by block")
    ),
}  # fmt: skip
"""By the word that a file begins with."""
