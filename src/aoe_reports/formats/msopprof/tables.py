"""The tables of `msprof op`: one row for the kernel, and in the others a row for each core of each block of it.

Names and columns as its manual has them (msOpProf, performance data); every file ends its lines with a comma and writes NA for what was
not measured. Which counters a file has depends on the chip: they are numbers under their own names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoe_reports.formats.table import Derived, Table, duration, free_text, integer, number, text
from aoe_reports.model.texts import Text, say

if TYPE_CHECKING:
    import pyarrow as pa

NO_VALUE = ("NA",)


def _functions(kernels: pa.ChunkedArray) -> pa.ChunkedArray:
    from aoe_reports.formats.msopprof.kernels import functions_of  # noqa: PLC0415 -- to know a file takes no pyarrow

    return functions_of(kernels)


OP_BASIC_INFO = Table(
    name="op_basic_info",
    title=say("one kernel as `msprof op` measures it: its time, blocks and frequency"),
    facts="tasks",
    columns=(
        free_text("op_name", "Op Name"),
        text("core", "Op Type"),
        duration("task_duration", "Task Duration", needed=True),
        integer("block_num", "Block Dim"),
        integer("mix_block_num", "Mix Block Dim", optional=True),
        integer("device_id", "Device Id", optional=True),
        integer("pid", "Pid", optional=True),
        number("current_mhz", "Current Freq", optional=True),
        number("rated_mhz", "Rated Freq", optional=True),
    ),
    vintages=(),
    source="msopprof",
    called=("OpBasicInfo*.csv",),
    null_words=NO_VALUE,
    derived=(Derived(text("op_type"), ("op_name",), _functions),),
)


def _of_blocks(name: str, file: str, title: Text) -> Table:
    """Counters of each core of each block."""
    return Table(
        name=name,
        title=title,
        columns=(integer("block_id", "block_id", needed=True), text("sub_block_id", "sub_block_id")),
        vintages=(),
        source="msopprof",
        called=(f"{file}*.csv",),
        null_words=NO_VALUE,
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
