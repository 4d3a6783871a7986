"""The recordings of memory that are tables: msMemScope's events and the blocks of MindSpore's tracker.

Columns of msMemScope as Ascend/msmemscope writes them (csrc/framework/config_info.h and csrc/analysis/data_handler.cpp, 2025 to 2026; the
stacks came in the spring of 2025). Those of the tracker are of MindSpore's mem_tracker.cpp from 2024 on; each of its lines ends with a comma.
"""

from __future__ import annotations

from aoe_reports.formats.memory_files.names import MEMSCOPE, MINDSPORE, MSMEMSCOPE, TRACKER
from aoe_reports.formats.table import Table, columns
from aoe_reports.model.texts import say

MEMSCOPE_DUMP = Table(
    name=MEMSCOPE,
    title=say("what msMemScope recorded: memory allocated and released, operators, marks"),
    columns=columns("""
        integer!: id = ID
        text: Event, Event Type
        free: Name
        timestamp! ns: timestamp = Timestamp
        integer: process_id = Process Id, thread_id = Thread Id
        text: device = Device Id | Device ID, address = Ptr
        free: attributes = Attr
        free?: python_stack = Call Stack(Python), c_stack = Call Stack(C)
    """),
    vintages=(("2025-05", "Call Stack(Python)"), ("2025-04", "Attr")),
    source=MSMEMSCOPE,
    files=("memscope_dump", "leaks_dump"),
    multiline=True,
)
MEMORY_BLOCK = Table(
    name=TRACKER,
    title=say("blocks of device memory, as MindSpore's memory tracker writes them"),
    columns=columns("""
        integer!: begin = start_time_stamp
        integer: end = end_time_stamp
        text: address = device_addr
        integer: stream = stream_id
        text: pool = pool_type
        size: size = size
        size?: used = actual_used_memory, peak = actual_peak_memory
        free: file_name
        integer: line_num
        text: kind = type
        integer: producer_task
        free: task_name, node_name, graph_name, user_tasks
        free?: last_user_task, python_stack
    """),
    vintages=(("2025-09", "actual_used_memory"), ("2024-09", "actual_peak_memory"), ("2024-06", "user_tasks")),
    source=MINDSPORE,
    multiline=True,
)
TABLES = {table.name: table for table in (MEMSCOPE_DUMP, MEMORY_BLOCK)}
