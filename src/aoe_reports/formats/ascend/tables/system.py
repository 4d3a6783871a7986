"""Counters of the whole machine: CPUs, memory, buses, network, the device's own units."""

from __future__ import annotations

from aoe_reports.formats.table import (
    UNIT_UNKNOWN,
    Column,
    Table,
    device,
    duration,
    free_text,
    integer,
    number,
    share,
    size,
    text,
    timestamp,
)
from aoe_reports.model.texts import say

_DEVICE = device()


def _counters(
    name: str,
    title: str,
    *columns: Column,
    since: str = "2022-03",
    mark: str,
    later: tuple[tuple[str, str], ...] = (),
    files: tuple[str, ...] = (),
) -> Table:
    return Table(name=name, title=title, columns=(_DEVICE, *columns), vintages=(*later, (since, mark)), files=files)


ACC_PMU = _counters(
    "acc_pmu",
    say("bandwidth of the accelerators inside the device, per task"),
    integer("task_id", "task_id"),
    integer("stream_id", "stream_id"),
    integer("acc_id", "acc_id"),
    integer("block_id", "block_id"),
    number("read_bandwidth", "read_bandwidth"),
    number("write_bandwidth", "write_bandwidth"),
    number("read_ost", "read_ost"),
    number("write_ost", "write_ost"),
    timestamp("timestamp", "time_stamp", unit=UNIT_UNKNOWN),
    number("start_time", "start_time"),
    number("dur_time", "dur_time"),
    mark="acc_id",
    later=(("2023-06", "time_stamp(us)"),),
    files=("acc_pmu", "acc_pmu_summary"),
)
ACSQ_TASK_STATISTIC = _counters(
    "acsq_task_statistic",
    say("tasks of the hardware scheduler"),
    integer("stream_id", "Stream Id"),
    integer("task_id", "Task Id"),
    integer("acc_id", "AccId"),
    text("task_type", "Task Type"),
    timestamp("start", "Start Time"),
    timestamp("end", "End Time"),
    duration("task_duration", "Task Duration", needed=True),
    mark="AccId",
)
CCU_CHANNEL = _counters(
    "ccu_channel",
    say("bandwidth of the channels of the collective communication unit"),
    integer("channel_id", "Channel Id"),
    timestamp("timestamp", "Timestamp"),
    number("max_bandwidth_mb_per_s", "Max Bandwidth(MB/s)"),
    number("min_bandwidth_mb_per_s", "Min Bandwidth(MB/s)"),
    number("avg_bandwidth_mb_per_s", "Avg Bandwidth(MB/s)"),
    since="2025-12",
    mark="Channel Id",
)
CCU_MISSION = _counters(
    "ccu_mission",
    say("instructions of the collective communication unit"),
    integer("stream_id", "Stream ID"),
    integer("task_id", "Task Id"),
    integer("instruction_id", "Instruction ID"),
    timestamp("instruction_start", "Instruction Start Time"),
    duration("instruction_duration", "Instruction Duration", needed=True),
    integer("notify_instruction_id", "Notify Instruction ID"),
    integer("notify_rank_id", "Notify Rank ID"),
    duration("notify_duration", "Notify Duration"),
    since="2025-12",
    mark="Instruction ID",
)
CPU_USAGE = _counters(
    "cpu_usage",
    say("load of the device's CPUs"),
    text("cpu_type", "Cpu Type"),
    share("user", "User"),
    share("system", "Sys"),
    share("io_wait", "IoWait"),
    share("interrupts", "Irq"),
    share("soft_interrupts", "Soft"),
    share("idle", "Idle"),
    mark="Cpu Type",
)
DVPP = _counters(
    "dvpp",
    say("the image and video units"),
    integer("dvpp_id", "Dvpp Id"),
    text("engine_type", "Engine Type"),
    integer("engine_id", "Engine ID"),
    duration("all_time", "All Time", needed=True),
    integer("all_frames", "All Frame"),
    share("all_utilization", "All Utilization"),
    mark="Dvpp Id",
)
DDR, HBM = (
    _counters(
        name,
        title,
        text("metric", "Metric"),
        number("read_mb_per_s", "Read(MB/s)"),
        number("write_mb_per_s", "Write(MB/s)"),
        mark="Metric",
    )
    for name, title in (
        ("ddr", say("bandwidth of the DDR memory")),
        ("hbm", say("bandwidth of the high bandwidth memory")),
    )
)
HOST_CPU_USAGE = _counters(
    "host_cpu_usage",
    say("number of CPUs that the host needs"),
    integer("total_cpus", "Total Cpu Numbers"),
    integer("occupied_cpus", "Occupied Cpu Numbers"),
    integer("recommended_cpus", "Recommend Cpu Numbers"),
    since="2023-02",
    mark="Total Cpu Numbers",
)
HOST_MEM_USAGE = _counters(
    "host_mem_usage",
    say("amount of memory that the host needs"),
    size("total", "Total Memory"),
    size("peak_used", "Peak Used Memory"),
    size("recommended", "Recommend Memory"),
    since="2023-02",
    mark="Total Memory(KB)",
)
HOST_DISK_USAGE = _counters(
    "host_disk_usage",
    say("disk speed that the host needs"),
    number("peak_read_kb_per_s", "Peak Disk Read(KB/s)"),
    number("recommended_read_kb_per_s", "Recommend Disk Read(KB/s)"),
    number("peak_write_kb_per_s", "Peak Disk Write(KB/s)"),
    number("recommended_write_kb_per_s", "Recommend Disk Write(KB/s)"),
    since="2023-02",
    mark="Peak Disk Read(KB/s)",
)
HOST_NETWORK_USAGE = _counters(
    "host_network_usage",
    say("network speed that the host needs"),
    number("netcard_kb_per_s", "Netcard Speed(KB/s)"),
    number("peak_used_kb_per_s", "Peak Used Speed(KB/s)"),
    number("recommended_kb_per_s", "Recommend Speed(KB/s)"),
    since="2023-02",
    mark="Netcard Speed(KB/s)",
)
INTER_SOC_TRANSMISSION = _counters(
    "inter_soc_transmission",
    say("bandwidth levels between chips"),
    text("metric", "Metric"),
    number("l2_buffer_bandwidth_level", "L2Buffer_bandwidth_level"),
    number("mata_bandwidth_level", "MATA_bandwidth_level"),
    mark="L2Buffer_bandwidth_level",
)
NIC, ROCE = (
    _counters(
        name,
        title,
        timestamp("timestamp", "Timestamp", unit=UNIT_UNKNOWN),
        number("bandwidth_mb_per_s", "Bandwidth(MB/s)"),
        share("receive_efficiency", "Rx Bandwidth efficiency"),
        number("receive_packets_per_s", "rxPacket/s"),
        share("receive_error_rate", "rxError rate"),
        share("receive_dropped_rate", "rxDropped rate"),
        share("transmit_efficiency", "Tx Bandwidth efficiency"),
        number("transmit_packets_per_s", "txPacket/s"),
        share("transmit_error_rate", "txError rate"),
        share("transmit_dropped_rate", "txDropped rate"),
        integer("function_id", "funcId"),
        mark="Timestamp",
        later=(("2023-08", "Timestamp(us)"),),
    )
    for name, title in (("nic", say("traffic of the network card")), ("roce", say("traffic of the RoCE interface")))
)
AI_CPU_PMU_EVENTS, CTRL_CPU_PMU_EVENTS, TS_CPU_PMU_EVENTS = (
    _counters(
        f"{name}_pmu_events",
        title,
        text("event", "Event"),
        text("name", "Name"),
        integer("count", "Count"),
        mark="Event",
    )
    for name, title in (
        ("ai_cpu", say("hardware counters of the AI CPU")),
        ("ctrl_cpu", say("hardware counters of the control CPU")),
        ("ts_cpu", say("hardware counters of the task scheduler's CPU")),
    )
)
AI_CPU_TOP_FUNCTION, CTRL_CPU_TOP_FUNCTION = (
    _counters(
        f"{name}_top_function",
        title,
        free_text("function", "Function"),
        text("module", "Module"),
        integer("cycles", "Cycles"),
        share("cycles_share", "Cycles(%)"),
        mark="Function",
    )
    for name, title in (
        ("ai_cpu", say("functions with the longest time on the AI CPU")),
        ("ctrl_cpu", say("functions with the longest time on the control CPU")),
    )
)
PROCESS_CPU_USAGE = _counters(
    "process_cpu_usage",
    say("load of the CPUs by process"),
    integer("process_id", "PID"),
    free_text("name", "Name"),
    share("cpu_share", "CPU"),
    mark="CPU(%)",
)
PROCESS_MEM = _counters(
    "process_mem",
    say("memory by process"),
    integer("process_id", "PID"),
    free_text("name", "Name"),
    integer("size_pages", "Size"),
    integer("resident_pages", "Resident"),
    integer("shared_pages", "Shared"),
    mark="Resident(pages)",
)
SYS_MEM = _counters(
    "sys_mem",
    say("memory of the machine"),
    number("memory_total", "Memory Total"),
    number("memory_free", "Memory Free"),
    number("buffers", "Buffers"),
    number("cached", "Cached"),
    number("shared_memory", "Share Memory"),
    number("commit_limit", "Commit Limit"),
    number("committed", "Committed AS"),
    integer("huge_pages_total", "Huge Pages Total"),
    integer("huge_pages_free", "Huge Pages Free"),
    mark="Memory Total",
)
SOC_PMU = _counters(
    "soc_pmu",
    say("address translation cache, per task"),
    integer("stream_id", "Stream Id"),
    integer("task_id", "Task Id"),
    number("tlb_hit_rate", "TLB Hit Rate"),
    number("tlb_miss_rate", "TLB Miss Rate"),
    since="2025-12",
    mark="TLB Hit Rate",
)
_UDMA = tuple(
    number(f"{unit.lower()}_{way}_bandwidth_mb_per_s", f"{unit}{code}PortBandWidth(MB/s)", optional=True)
    for unit in ("UDMA", "UNIC")
    for code, way in (("Rx", "receive"), ("Tx", "transmit"))
)
_UNIC = tuple(
    number(f"unic_{way}_{name}", f"UNIC{code}{header}", optional=True)
    for code, way in (("Rx", "receive"), ("Tx", "transmit"))
    for header, name in (
        ("PacketRate", "packets_per_us"),
        ("Bytes", "bytes"),
        ("Packets", "packets"),
        ("Errors", "errors"),
        ("Dropped", "dropped"),
    )
)
UB = _counters(
    "ub",
    say("traffic of the unified bus, per port"),
    integer("port_id", "PortId"),
    timestamp("timestamp", "TimeStamp", unit=UNIT_UNKNOWN),
    number("receive_bandwidth_mb_per_s", "UBRxPortBandWidth(MB/s)", optional=True),
    number("transmit_bandwidth_mb_per_s", "UBTxPortBandWidth(MB/s)", optional=True),
    *_UDMA,
    *_UNIC,
    since="2025-12",
    mark="PortId",
    later=(("2026-03", "UBRxPortBandWidth(MB/s)"),),
)

SYSTEM_TABLES = (
    ACC_PMU,
    ACSQ_TASK_STATISTIC,
    AI_CPU_PMU_EVENTS,
    AI_CPU_TOP_FUNCTION,
    CCU_CHANNEL,
    CCU_MISSION,
    CPU_USAGE,
    CTRL_CPU_PMU_EVENTS,
    CTRL_CPU_TOP_FUNCTION,
    DDR,
    DVPP,
    HBM,
    HOST_CPU_USAGE,
    HOST_DISK_USAGE,
    HOST_MEM_USAGE,
    HOST_NETWORK_USAGE,
    INTER_SOC_TRANSMISSION,
    NIC,
    PROCESS_CPU_USAGE,
    PROCESS_MEM,
    ROCE,
    SOC_PMU,
    SYS_MEM,
    TS_CPU_PMU_EVENTS,
    UB,
)
