"""Counters of the whole machine: CPUs, memory, buses, network, the device's own units."""

from __future__ import annotations

from functools import partial

from aoe_reports.formats.table import UNIT_UNKNOWN, Table, columns, timestamp
from aoe_reports.model.texts import say

_time = partial(timestamp, unit=UNIT_UNKNOWN)


def _counters(
    name: str,
    title: str,
    lines: str,
    *,
    since: str = "2022-03",
    mark: str,
    later: tuple[tuple[str, str], ...] = (),
    files: tuple[str, ...] = (),
) -> Table:
    declared = columns(f"device\n{lines}", time=_time)
    return Table(name=name, title=title, columns=declared, vintages=(*later, (since, mark)), files=files)


_METRIC = """
    text: Metric
    number: read_mb_per_s = Read(MB/s), write_mb_per_s = Write(MB/s)
"""
_EVENTS = """
    text: Event, Name
    integer: Count
"""
_FUNCTIONS = """
    free: Function
    text: Module
    integer: Cycles
    share: cycles_share = Cycles(%)
"""
_NETWORK = """
    time: Timestamp
    number: Bandwidth(MB/s)
    share: receive_efficiency = Rx Bandwidth efficiency
    number: receive_packets_per_s = rxPacket/s
    share: receive_error_rate = rxError rate, receive_dropped_rate = rxDropped rate
    share: transmit_efficiency = Tx Bandwidth efficiency
    number: transmit_packets_per_s = txPacket/s
    share: transmit_error_rate = txError rate, transmit_dropped_rate = txDropped rate
    integer: function_id = funcId
"""

SYSTEM_TABLES = (
    _counters(
        "acc_pmu",
        say("bandwidth of the accelerators inside the device, per task"),
        """
            integer: task_id, stream_id, acc_id, block_id
            number: read_bandwidth, write_bandwidth, read_ost, write_ost
            time: timestamp = time_stamp
            number: start_time, dur_time
        """,
        mark="acc_id",
        later=(("2023-06", "time_stamp(us)"),),
        files=("acc_pmu", "acc_pmu_summary"),
    ),
    _counters(
        "acsq_task_statistic",
        say("tasks of the hardware scheduler"),
        """
            integer: Stream Id, Task Id, acc_id = AccId
            text: Task Type
            timestamp: start = Start Time, end = End Time
            duration!: Task Duration
        """,
        mark="AccId",
    ),
    _counters("ai_cpu_pmu_events", say("hardware counters of the AI CPU"), _EVENTS, mark="Event"),
    _counters("ai_cpu_top_function", say("functions with the longest time on the AI CPU"), _FUNCTIONS, mark="Function"),
    _counters(
        "ccu_channel",
        say("bandwidth of the channels of the collective communication unit"),
        """
            integer: Channel Id
            timestamp: Timestamp
            number: Max Bandwidth(MB/s), Min Bandwidth(MB/s), Avg Bandwidth(MB/s)
        """,
        since="2025-12",
        mark="Channel Id",
    ),
    _counters(
        "ccu_mission",
        say("instructions of the collective communication unit"),
        """
            integer: Stream ID, Task Id, Instruction ID
            timestamp: instruction_start = Instruction Start Time
            duration!: Instruction Duration
            integer: Notify Instruction ID, Notify Rank ID
            duration: Notify Duration
        """,
        since="2025-12",
        mark="Instruction ID",
    ),
    _counters(
        "cpu_usage",
        say("load of the device's CPUs"),
        """
            text: Cpu Type
            share: User, system = Sys, io_wait = IoWait, interrupts = Irq, soft_interrupts = Soft, Idle
        """,
        mark="Cpu Type",
    ),
    _counters("ctrl_cpu_pmu_events", say("hardware counters of the control CPU"), _EVENTS, mark="Event"),
    _counters(
        "ctrl_cpu_top_function", say("functions with the longest time on the control CPU"), _FUNCTIONS, mark="Function"
    ),
    _counters("ddr", say("bandwidth of the DDR memory"), _METRIC, mark="Metric"),
    _counters(
        "dvpp",
        say("the image and video units"),
        """
            integer: Dvpp Id
            text: Engine Type
            integer: Engine ID
            duration!: All Time
            integer: all_frames = All Frame
            share: All Utilization
        """,
        mark="Dvpp Id",
    ),
    _counters("hbm", say("bandwidth of the high bandwidth memory"), _METRIC, mark="Metric"),
    _counters(
        "host_cpu_usage",
        say("number of CPUs that the host needs"),
        """
            integer: total_cpus = Total Cpu Numbers, occupied_cpus = Occupied Cpu Numbers
            integer: recommended_cpus = Recommend Cpu Numbers
        """,
        since="2023-02",
        mark="Total Cpu Numbers",
    ),
    _counters(
        "host_disk_usage",
        say("disk speed that the host needs"),
        """
            number: peak_read_kb_per_s = Peak Disk Read(KB/s), recommended_read_kb_per_s = Recommend Disk Read(KB/s)
            number: peak_write_kb_per_s = Peak Disk Write(KB/s), recommended_write_kb_per_s = Recommend Disk Write(KB/s)
        """,
        since="2023-02",
        mark="Peak Disk Read(KB/s)",
    ),
    _counters(
        "host_mem_usage",
        say("amount of memory that the host needs"),
        "size: total = Total Memory, peak_used = Peak Used Memory, recommended = Recommend Memory",
        since="2023-02",
        mark="Total Memory(KB)",
    ),
    _counters(
        "host_network_usage",
        say("network speed that the host needs"),
        """
            number: netcard_kb_per_s = Netcard Speed(KB/s), peak_used_kb_per_s = Peak Used Speed(KB/s)
            number: recommended_kb_per_s = Recommend Speed(KB/s)
        """,
        since="2023-02",
        mark="Netcard Speed(KB/s)",
    ),
    _counters(
        "inter_soc_transmission",
        say("bandwidth levels between chips"),
        """
            text: Metric
            number: l2_buffer_bandwidth_level = L2Buffer_bandwidth_level, MATA_bandwidth_level
        """,
        mark="L2Buffer_bandwidth_level",
    ),
    _counters(
        "nic",
        say("traffic of the network card"),
        _NETWORK,
        mark="Timestamp",
        later=(("2023-08", "Timestamp(us)"),),
    ),
    _counters(
        "process_cpu_usage",
        say("load of the CPUs by process"),
        """
            integer: process_id = PID
            free: Name
            share: cpu_share = CPU
        """,
        mark="CPU(%)",
    ),
    _counters(
        "process_mem",
        say("memory by process"),
        """
            integer: process_id = PID
            free: Name
            integer: size_pages = Size, resident_pages = Resident, shared_pages = Shared
        """,
        mark="Resident(pages)",
    ),
    _counters(
        "roce",
        say("traffic of the RoCE interface"),
        _NETWORK,
        mark="Timestamp",
        later=(("2023-08", "Timestamp(us)"),),
    ),
    _counters(
        "soc_pmu",
        say("address translation cache, per task"),
        """
            integer: Stream Id, Task Id
            number: TLB Hit Rate, TLB Miss Rate
        """,
        since="2025-12",
        mark="TLB Hit Rate",
    ),
    _counters(
        "sys_mem",
        say("memory of the machine"),
        """
            number: Memory Total, Memory Free, Buffers, Cached, shared_memory = Share Memory, Commit Limit
            number: committed = Committed AS
            integer: Huge Pages Total, Huge Pages Free
        """,
        mark="Memory Total",
    ),
    _counters("ts_cpu_pmu_events", say("hardware counters of the task scheduler's CPU"), _EVENTS, mark="Event"),
    _counters(
        "ub",
        say("traffic of the unified bus, per port"),
        """
            integer: port_id = PortId
            time: timestamp = TimeStamp
            number?: receive_bandwidth_mb_per_s = UBRxPortBandWidth(MB/s)
            number?: transmit_bandwidth_mb_per_s = UBTxPortBandWidth(MB/s)
            number?: udma_receive_bandwidth_mb_per_s = UDMARxPortBandWidth(MB/s)
            number?: udma_transmit_bandwidth_mb_per_s = UDMATxPortBandWidth(MB/s)
            number?: unic_receive_bandwidth_mb_per_s = UNICRxPortBandWidth(MB/s)
            number?: unic_transmit_bandwidth_mb_per_s = UNICTxPortBandWidth(MB/s)
            number?: unic_receive_packets_per_us = UNICRxPacketRate, unic_receive_bytes = UNICRxBytes
            number?: unic_receive_packets = UNICRxPackets, unic_receive_errors = UNICRxErrors
            number?: unic_receive_dropped = UNICRxDropped
            number?: unic_transmit_packets_per_us = UNICTxPacketRate, unic_transmit_bytes = UNICTxBytes
            number?: unic_transmit_packets = UNICTxPackets, unic_transmit_errors = UNICTxErrors
            number?: unic_transmit_dropped = UNICTxDropped
        """,
        since="2025-12",
        mark="PortId",
        later=(("2026-03", "UBRxPortBandWidth(MB/s)"),),
    ),
)
