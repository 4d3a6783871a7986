"""Every dated header of the exporters, as data.

HISTORY is what the exporter's own configuration says (Ascend/msprof, analysis/**/msprof_export_data_config.py and .ini
before it), evaluated at every commit from 2022-03-25 to 2026-07-21: each kind with the days on which its header changed.
IN_CODE is a kind without a header there (a timeline, or a header that is written in code), REMOVED the day it went.
MORE holds headers that are written in code: those of the exporter's (same repository) and those of torch_npu
(Ascend/pytorch, torch_npu/profiler/analysis), dated by the commits and the files that show them. AOE holds those of AOE,
by the year that its code bears.
"""

from __future__ import annotations

from dataclasses import dataclass

IN_CODE = "(no static header)"
REMOVED = "<REMOVED>"

HISTORY: dict[str, tuple[tuple[str, str], ...]] = {
    "acc_pmu": (
        (
            "2022-05-24",
            "task_id,stream_id,acc_id,block_id,read_bandwidth,write_bandwidth,read_ost,write_ost,time_stamp,start_time,dur_time",
        ),
        (
            "2023-06-12",
            "task_id,stream_id,acc_id,block_id,read_bandwidth,write_bandwidth,read_ost,write_ost,time_stamp(us),start_time,dur_time",
        ),
    ),
    "acc_pmu_summary": (
        (
            "2022-03-25",
            "task_id,stream_id,acc_id,block_id,read_bandwidth,write_bandwidth,read_ost,write_ost,time_stamp,start_time,dur_time",
        ),
        ("2022-05-24", REMOVED),
    ),
    "acl": (
        ("2022-03-25", "Name,Type,Start Time,Duration(us),Process ID,Thread ID"),
        ("2023-08-16", REMOVED),
    ),
    "acl_statistic": (
        ("2022-03-25", "Name,Type,Time(%),Time(us),Count,Avg(us),Min(us),Max(us),Process ID,Thread ID"),
        ("2023-08-16", REMOVED),
    ),
    "acsq_task_statistic": (
        ("2022-03-25", "Stream Id,Task Id,AccId,Task Type,Start Time(us),End Time(us),Task Duration(us)"),
        ("2022-12-06", REMOVED),
    ),
    "ai_core_utilization": (("2022-03-25", IN_CODE),),
    "ai_cpu_pmu_events": (("2022-03-25", "Event,Name,Count"),),
    "ai_cpu_top_function": (("2022-03-25", "Function,Module,Cycles,Cycles(%)"),),
    "ai_stack_time": (
        ("2022-03-25", "Infer ID,Module,API,Start Time,Duration(ns)"),
        ("2023-07-10", REMOVED),
    ),
    "ai_vector_core_utilization": (("2022-03-25", IN_CODE),),
    "aicpu": (
        ("2022-03-25", IN_CODE),
        (
            "2024-05-06",
            "Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),Dispatch_time(us),Total_time(us),Stream ID,Task ID",
        ),
    ),
    "aicpu_mi": (
        ("2024-05-06", IN_CODE),
        ("2024-05-06", "Node Name,Start Time(us),End Time(us),Queue Size"),
    ),
    "api": (("2023-06-09", IN_CODE),),
    "api_statistic": (("2023-08-16", "Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance"),),
    "biu_perf": (
        ("2022-04-26", IN_CODE),
        ("2023-02-25", REMOVED),
    ),
    "block_detail": (("2025-12-22", IN_CODE),),
    "ccu_channel": (
        ("2025-12-22", "Channel Id,Timestamp(us),Max Bandwidth(MB/s),Min Bandwidth(MB/s),Avg Bandwidth(MB/s)"),
    ),
    "ccu_mission": (
        (
            "2025-12-22",
            "Stream ID,Task Id,Instruction ID,Instruction Start Time(us),Instruction Duration(us),Notify Instruction ID,Notify Rank ID,Notify Duration(us)",
        ),
    ),
    "communication": (("2025-02-19", IN_CODE),),
    "communication_statistic": (
        ("2025-02-19", "OP Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)"),
    ),
    "cpu_usage": (("2022-03-25", "Cpu Type,User(%),Sys(%),IoWait(%),Irq(%),Soft(%),Idle(%)"),),
    "ctrl_cpu_pmu_events": (("2022-03-25", "Event,Name,Count"),),
    "ctrl_cpu_top_function": (("2022-03-25", "Function,Module,Cycles,Cycles(%)"),),
    "ddr": (("2022-03-25", "Metric,Read(MB/s),Write(MB/s)"),),
    "dp": (
        ("2022-03-25", "Timestamp,Action,Source,Cached Buffer Size"),
        ("2023-08-31", "Timestamp(us),Action,Source,Cached Buffer Size"),
    ),
    "dpu": (("2026-04-29", IN_CODE),),
    "dvpp": (("2022-03-25", "Dvpp Id,Engine Type,Engine ID,All Time(us),All Frame,All Utilization(%)"),),
    "event": (
        ("2023-06-09", IN_CODE),
        ("2025-04-09", REMOVED),
    ),
    "ffts_sub_task_time": (("2022-03-25", IN_CODE),),
    "freq": (("2025-12-22", IN_CODE),),
    "fusion_op": (
        (
            "2022-03-25",
            "Model Name,Model ID,Fusion Op,Original Ops,Memory Input(Bytes),Memory Output(Bytes),Memory Weight(Bytes),Memory Workspace(Bytes),Memory Total(Bytes)",
        ),
        (
            "2023-08-31",
            "Model Name,Model ID,Fusion Op,Original Ops,Memory Input(KB),Memory Output(KB),Memory Weight(KB),Memory Workspace(KB),Memory Total(KB)",
        ),
    ),
    "fusion_task": (("2026-06-03", IN_CODE),),
    "ge": (
        ("2022-03-25", IN_CODE),
        ("2023-08-16", REMOVED),
    ),
    "ge_memory_record": (
        ("2023-06-09", "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type"),
        ("2023-06-21", REMOVED),
    ),
    "ge_op_execute": (
        ("2022-03-25", "Thread ID,OP Type,Event Type,Start Time,Duration(us)"),
        ("2022-12-13", "Thread ID,OP Name,OP Type,Event Type,Start Time,Duration(us)"),
        ("2023-08-16", REMOVED),
    ),
    "ge_operator_memory": (
        (
            "2023-06-09",
            "Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),Release Total Allocated(MB),Release Total Reserved(MB),Device Type",
        ),
        ("2023-06-21", REMOVED),
    ),
    "hbm": (("2022-03-25", "Metric,Read(MB/s),Write(MB/s)"),),
    "hccl": (
        ("2022-03-25", IN_CODE),
        ("2025-02-19", REMOVED),
    ),
    "hccl_statistic": (
        ("2023-08-03", "OP Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)"),
        ("2025-02-19", REMOVED),
    ),
    "hccs": (("2022-03-25", IN_CODE),),
    "host_cpu_usage": (
        ("2022-03-25", IN_CODE),
        ("2023-02-13", "Total Cpu Numbers, Occupied Cpu Numbers, Recommend Cpu Numbers"),
        ("2024-05-17", "Total Cpu Numbers,Occupied Cpu Numbers,Recommend Cpu Numbers"),
    ),
    "host_disk_usage": (
        ("2022-03-25", IN_CODE),
        (
            "2023-02-13",
            "Peak Disk Read(KB/s), Recommend Disk Read(KB/s), Peak Disk Write(KB/s), Recommend Disk Write(KB/s)",
        ),
        (
            "2024-05-17",
            "Peak Disk Read(KB/s),Recommend Disk Read(KB/s),Peak Disk Write(KB/s),Recommend Disk Write(KB/s)",
        ),
    ),
    "host_mem_usage": (
        ("2022-03-25", IN_CODE),
        ("2023-02-13", "Total Memory(KB), Peak Used Memory(KB), Recommend Memory(KB)"),
        ("2024-05-17", "Total Memory(KB),Peak Used Memory(KB),Recommend Memory(KB)"),
    ),
    "host_network_usage": (
        ("2022-03-25", IN_CODE),
        ("2023-02-13", "Netcard Speed(KB/s), Peak Used Speed(KB/s), Recommend Speed(KB/s)"),
        ("2024-05-17", "Netcard Speed(KB/s),Peak Used Speed(KB/s),Recommend Speed(KB/s)"),
    ),
    "instr": (("2023-02-25", IN_CODE),),
    "inter_soc_transmission": (("2022-03-25", "Metric,L2Buffer_bandwidth_level,MATA_bandwidth_level"),),
    "l2_cache": (
        ("2022-03-25", IN_CODE),
        ("2022-11-17", "read, write, allocate, victim"),
        ("2022-11-24", "Read,Write,Victim,Allocate"),
        ("2022-12-09", "Read,Write,Victim,Allocate,Timestamp(ns)"),
        ("2022-12-13", "Read,Write,Victim,Allocate"),
        ("2022-12-14", "Read,Write,Victim,Allocate,Timestamp(ns)"),
        ("2022-12-14", "Read,Write,Victim,Allocate"),
        ("2022-12-14", "Read,Write,Victim,Allocate,Timestamp(ns)"),
        ("2023-09-06", IN_CODE),
    ),
    "llc_aicpu": (("2022-03-25", IN_CODE),),
    "llc_bandwidth": (("2022-03-25", IN_CODE),),
    "llc_ctrlcpu": (("2022-03-25", IN_CODE),),
    "llc_read_write": (("2022-03-25", IN_CODE),),
    "low_power": (("2022-04-26", IN_CODE),),
    "memory_record": (("2023-06-21", "Component,Timestamp(us),Total Allocated(KB),Total Reserved(KB),Device"),),
    "msprof": (("2022-03-25", IN_CODE),),
    "msprof_tx": (
        (
            "2022-03-25",
            "pid, tid, category, event_type, payload_type, payload_value, Start_time(ns), End_time(ns), message_type, message",
        ),
        (
            "2023-02-02",
            "pid, tid, category, event_type, payload_type, payload_value, Start_time(ns), End_time(ns), message_type, message, call_trace",
        ),
        (
            "2023-02-15",
            "pid, tid, category, event_type, payload_type, payload_value, Start_time(ns), End_time(ns), message_type, message",
        ),
        (
            "2023-08-31",
            "pid, tid, category, event_type, payload_type, payload_value, Start_time(us), End_time(us), message_type, message",
        ),
        (
            "2024-09-27",
            "pid,tid,category,event_type,payload_type,payload_value,Start_time(us),End_time(us),message_type,message",
        ),
        (
            "2024-11-13",
            "pid,tid,category,event_type,payload_type,payload_value,Start_time(us),End_time(us),message_type,message,mark_id",
        ),
        (
            "2025-02-17",
            "pid,tid,category,event_type,payload_type,payload_value,Start_time(us),End_time(us),message_type,message,domain,mark_id",
        ),
    ),
    "nic": (
        (
            "2022-03-25",
            "Timestamp,Bandwidth(MB/s),Rx Bandwidth efficiency(%),rxPacket/s,rxError rate(%),rxDropped rate(%),Tx Bandwidth efficiency(%),txPacket/s,txError rate(%),txDropped rate(%),funcId",
        ),
        (
            "2023-08-31",
            "Timestamp(us),Bandwidth(MB/s),Rx Bandwidth efficiency(%),rxPacket/s,rxError rate(%),rxDropped rate(%),Tx Bandwidth efficiency(%),txPacket/s,txError rate(%),txDropped rate(%),funcId",
        ),
    ),
    "npu_mem": (("2023-03-15", "event,ddr(KB),hbm(KB),memory(KB),timestamp(us)"),),
    "npu_module_mem": (("2023-11-16", "Component,Timestamp(us),Total Reserved(KB),Device"),),
    "op_statistic": (
        (
            "2022-03-25",
            "Model Name,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)",
        ),
    ),
    "op_summary": (
        (
            "2022-03-25",
            "Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,Task Type,Task Start Time,Task Duration(us),Task Wait Time(us),Block Dim",
        ),
        (
            "2022-11-23",
            "Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,Task Type,Task Start Time,Task Duration(us),Task Wait Time(us),Block Dim,Mix Block Dim",
        ),
        (
            "2023-08-31",
            "Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Dim,Mix Block Dim",
        ),
        (
            "2023-09-14",
            "Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible",
        ),
        (
            "2024-02-19",
            "Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible",
        ),
        (
            "2026-01-28",
            "Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible",
        ),
    ),
    "operator_memory": (
        (
            "2023-06-21",
            "Name,Size(KB),Allocation Time(us),Duration(us),Allocation Total Allocated(KB),Allocation Total Reserved(KB),Release Total Allocated(KB),Release Total Reserved(KB),Device",
        ),
    ),
    "os_runtime_api": (("2022-03-25", IN_CODE),),
    "os_runtime_statistic": (
        ("2022-03-25", "Process ID,Thread ID,Name,Time(%),Time(us),Count,Avg(us),Max(us),Min(us)"),
    ),
    "pcie": (("2022-03-25", IN_CODE),),
    "process_cpu_usage": (("2022-03-25", "PID,Name,CPU(%)"),),
    "process_mem": (("2022-03-25", "PID,Name,Size(pages),Resident(pages),Shared(pages)"),),
    "pytorch_operator_view": (
        ("2023-02-15", "pid,tid,operator_name,call_stack"),
        ("2024-03-07", REMOVED),
    ),
    "qos": (("2024-05-07", IN_CODE),),
    "roce": (
        (
            "2022-03-25",
            "Timestamp,Bandwidth(MB/s),Rx Bandwidth efficiency(%),rxPacket/s,rxError rate(%),rxDropped rate(%),Tx Bandwidth efficiency(%),txPacket/s,txError rate(%),txDropped rate(%),funcId",
        ),
        (
            "2023-08-31",
            "Timestamp(us),Bandwidth(MB/s),Rx Bandwidth efficiency(%),rxPacket/s,rxError rate(%),rxDropped rate(%),Tx Bandwidth efficiency(%),txPacket/s,txError rate(%),txDropped rate(%),funcId",
        ),
    ),
    "runtime_api": (
        ("2022-03-25", "Name,Stream ID,Time(%),Time(ns),Calls,Avg(ns),Min(ns),Max(ns),Process ID,Thread ID"),
        ("2023-08-16", REMOVED),
    ),
    "sio": (("2024-03-06", IN_CODE),),
    "soc_pmu": (("2025-12-22", "Stream Id,Task Id,TLB Hit Rate,TLB Miss Rate"),),
    "stars_chip_trans": (("2022-03-25", IN_CODE),),
    "stars_soc": (("2022-03-25", IN_CODE),),
    "static_op_mem": (("2024-05-31", "Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)"),),
    "step_trace": (
        (
            "2022-03-25",
            "Iteration ID,FP Start,BP End,Iteration End,Iteration Time(us),FP to BP Time(us),Grad Refresh Bound(us),Data Aug Bound(us)",
        ),
        (
            "2022-04-26",
            "Iteration ID,FP Start,BP End,Iteration End,Iteration Time(us),FP to BP Time(us),Iteration Refresh(us),Data Aug Bound(us)",
        ),
        (
            "2023-08-31",
            "Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),Iteration Refresh(us),Data Aug Bound(us)",
        ),
    ),
    "sys_mem": (
        (
            "2022-03-25",
            "Memory Total,Memory Free,Buffers,Cached,Share Memory,Commit Limit,Committed AS,Huge Pages Total(pages),Huge Pages Free(pages)",
        ),
    ),
    "task_queue": (
        ("2023-03-21", IN_CODE),
        ("2024-03-07", REMOVED),
    ),
    "task_time": (
        (
            "2022-03-25",
            "Time(%),Time(us),Count,Avg(us),Min(us),Max(us),Waiting(us),Running(us),Pending(us),Type,API,Task ID,Op Name,Stream ID",
        ),
    ),
    "thread_group": (
        ("2022-03-25", IN_CODE),
        ("2023-08-16", REMOVED),
    ),
    "ts_cpu_pmu_events": (("2022-03-25", "Event,Name,Count"),),
    "ts_cpu_top_function": (("2022-03-25", IN_CODE),),
    "ub": (
        (
            "2025-12-22",
            "PortId,TimeStamp,UDMARxPortBandWidth(MB/s),UDMATxPortBandWidth(MB/s),UNICRxPortBandWidth(MB/s),UNICTxPortBandWidth(MB/s),UNICRxPacketRate(Packet/us),UNICRxBytes(Byte),UNICRxPackets(Packet),UNICRxErrors(Packet),UNICRxDropped(Packet),UNICTxPacketRate(Packet/us),UNICTxBytes(Byte),UNICTxPackets(Packet),UNICTxErrors(Packet),UNICTxDropped(Packet)",
        ),
        ("2026-03-23", "PortId,TimeStamp,UBRxPortBandWidth(MB/s),UBTxPortBandWidth(MB/s)"),
    ),
    "voltage": (("2025-12-22", IN_CODE),),
}

MERGED_SINCE = "2023-09-09"
"""The day from which one file holds all devices, with `Device_id` as its first column."""
TABS_SINCE = "2023-11-23"
"""The day from which points in time end in a tab."""

HOST_ONLY = frozenset({"acl", "acl_statistic", "ge_op_execute", "runtime_api", "ai_stack_time", "os_runtime_statistic"})
"""Kinds that were gone, or of the host alone, when exports were merged."""

GE_COLUMNS = "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats"

PMU: dict[str, str] = {
    "PipeUtilization": "aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,aic_scalar_time(us),aic_scalar_ratio,aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,aic_fixpipe_time(us),aic_fixpipe_ratio,aic_icache_miss_rate,aiv_time(us),aiv_total_cycles,aiv_vec_time(us),aiv_vec_ratio,aiv_scalar_time(us),aiv_scalar_ratio,aiv_mte2_time(us),aiv_mte2_ratio,aiv_mte3_time(us),aiv_mte3_ratio,aiv_icache_miss_rate,cube_utilization(%)",
    "ArithmeticUtilization": "aicore_time(us),aic_total_cycles,aic_mac_fp16_ratio,aic_mac_int8_ratio,aic_cube_fops,aiv_time(us),aiv_total_cycles,aiv_vec_fp32_ratio,aiv_vec_fp16_ratio,aiv_vec_int32_ratio,aiv_vec_misc_ratio,aiv_vector_fops",
    "ArithmeticUtilization, older": "aicore_time(us),aic_total_cycles,aic_mac_fp16_ratio,aic_mac_int8_ratio,aic_cube_fops,aic_vector_fops,aiv_time(us),aiv_total_cycles,aiv_vec_fp32_ratio,aiv_vec_fp16_ratio,aiv_vec_int32_ratio,aiv_vec_misc_ratio,aiv_cube_fops,aiv_vector_fops",
    "Memory": "aicore_time(us),aic_total_cycles,aic_l1_read_bw(GB/s),aic_l1_write_bw(GB/s),aic_main_mem_read_bw(GB/s),aic_main_mem_write_bw(GB/s),aic_l2_read_bw(GB/s),aic_l2_write_bw(GB/s),aiv_time(us),aiv_total_cycles,aiv_ub_read_bw(GB/s),aiv_ub_write_bw(GB/s),aiv_main_mem_read_bw(GB/s),aiv_main_mem_write_bw(GB/s),aiv_l2_read_bw(GB/s),aiv_l2_write_bw(GB/s)",
    "MemoryL0": "aicore_time(us),aic_total_cycles,aic_l0a_read_bw(GB/s),aic_l0a_write_bw(GB/s),aic_l0b_read_bw(GB/s),aic_l0b_write_bw(GB/s),aic_l0c_read_bw_cube(GB/s),aic_l0c_write_bw_cube(GB/s),aiv_time(us),aiv_total_cycles,aiv_l0c_read_bw(GB/s),aiv_l0c_write_bw(GB/s)",
    "MemoryUB": "aicore_time(us),aic_total_cycles,aic_ub_read_bw_scalar(GB/s),aic_ub_write_bw_scalar(GB/s),aiv_time(us),aiv_total_cycles,aiv_ub_read_bw_vector(GB/s),aiv_ub_write_bw_vector(GB/s),aiv_ub_read_bw_scalar(GB/s),aiv_ub_write_bw_scalar(GB/s)",
    "L2Cache": "aicore_time(us),aic_total_cycles,aic_write_cache_hit,aic_write_cache_miss_allocate,aic_r0_read_cache_hit,aic_r0_read_cache_miss_allocate,aic_r1_read_cache_hit,aic_r1_read_cache_miss_allocate,aiv_time(us),aiv_total_cycles,aiv_write_cache_hit,aiv_write_cache_miss_allocate,aiv_r0_read_cache_hit,aiv_r0_read_cache_miss_allocate,aiv_r1_read_cache_hit,aiv_r1_read_cache_miss_allocate",
    "ResourceConflictRatio": "aicore_time(us),aic_total_cycles,aiv_time(us),aiv_total_cycles,aiv_vec_bankgroup_cflt_ratio,aiv_vec_bank_cflt_ratio,aiv_vec_resc_cflt_ratio",
    "MemoryAccess": "aicore_time(us),aic_total_cycles,aic_read_main_memory_datas(KB),aic_write_main_memory_datas(KB),aic_GM_to_L1_datas(KB),aic_L0C_to_L1_datas(KB),aic_L0C_to_GM_datas(KB),aiv_time(us),aiv_total_cycles,aiv_GM_to_UB_datas(KB),aiv_UB_to_GM_datas(KB)",
}
"""Columns behind op_summary and kernel_details, by what was measured, on chips with two kinds of cores."""
PMU |= {
    "PipeUtilization, one core": "aicore_time(us),total_cycles,vec_time(us),vec_ratio,mac_time(us),mac_ratio,scalar_time(us),scalar_ratio,mte1_time(us),mte1_ratio,mte2_time(us),mte2_ratio,mte3_time(us),mte3_ratio,icache_miss_rate,memory_bound",
    **{
        f"{name}, one core": ",".join(
            dict.fromkeys(cell.removeprefix("aic_").removeprefix("aiv_") for cell in PMU[name].split(","))
        )
        for name in ("ArithmeticUtilization", "Memory", "MemoryL0", "MemoryUB", "ResourceConflictRatio")
    },
}
"""And on chips with one kind (310, 310P, 910): the same without `aic_` and `aiv_`."""


@dataclass(frozen=True)
class Exhibit:
    """One header as it was from a day on, and the table that it is of."""

    kind: str
    """What the file's name begins with."""
    since: str
    header: tuple[str, ...]
    table: str
    merged: bool = False
    torch_npu: bool = False
    aoe: bool = False
    note: str = ""

    def __str__(self) -> str:
        parts = (
            self.kind,
            self.table if self.table != self.kind else "",
            self.since,
            "merged" if self.merged else "",
            self.note,
        )
        return " ".join(part for part in parts if part).replace(" ", "-")


def _table_of(kind: str, header: str) -> str:
    """The table under which we know a kind; two kinds changed their shape, three their name."""
    if kind == "l2_cache":
        return "l2_cache" if "Hit Rate" in header else "l2_cache_counts"
    if kind == "task_time":
        return "task_time_statistic" if "Time(%)" in header else "task_time"
    renamed = {
        "acc_pmu_summary": "acc_pmu",
        "hccl_statistic": "communication_statistic",
        "ge_memory_record": "memory_record",
        "ge_operator_memory": "operator_memory",
    }
    return renamed.get(kind, kind)


_KERNELS = "Model ID,Task ID,Stream ID,Name,Type,{state}Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block {block},Mix Block {block},HF32 Eligible"
_KERNELS_2023 = _KERNELS.format(state="", block="Dim")
_KERNELS_2024 = _KERNELS.format(state="OP State,", block="Dim")
_KERNELS_2026 = _KERNELS.format(state="OP State,", block="Num")
_STEPS = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,Communication(Not Overlapped and Exclude Receive)"
_TASKS = "kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start({unit}),task_stop({unit})"
_TRACE_2022 = "Iteration ID,FP Start,BP End,Iteration End,Iteration Time(us),FP to BP Time(us),{refresh}(us),Data Aug Bound(us),Model ID"
_TRACE_2023 = "Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),Iteration Refresh(us),Data Aug Bound(us),Model ID"
_MEMORY_2023 = "Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),Release Total Allocated(MB),Release Total Reserved(MB),Device Type"
_MEMORY_2024 = "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type"

MORE: tuple[tuple[str, str, str, str], ...] = (
    # kind, day, header, note; the exporter's own, written in code
    ("aicpu", "2022-03-25", "Timestamp,Node,Compute_time(ms),Memcpy_time(ms),Task_time(ms),Dispatch_time(ms),Total_time(ms)", ""),
    ("aicpu", "2022-09-26", "Timestamp,Node,Compute_time(ms),Memcpy_time(ms),Task_time(ms),Dispatch_time(ms),Total_time(ms),Stream ID,Task ID", ""),
    ("aicpu", "2023-07-14", "Timestamp,Node,Compute_time(us),Memcpy_time(us),Task_time(us),Dispatch_time(us),Total_time(us),Stream ID,Task ID", ""),
    ("aicpu", "2023-08-31", "Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),Dispatch_time(us),Total_time(us),Stream ID,Task ID", ""),
    ("ai_core_utilization", "2022-03-25", "Core ID,vec_ratio,mac_ratio,scalar_ratio,mte1_ratio,mte2_ratio,mte3_ratio,icache_miss_rate,memory_bound", ""),
    ("ai_vector_core_utilization", "2022-03-25", "Core ID,vec_ratio,mac_ratio,scalar_ratio,mte1_ratio,mte2_ratio,mte3_ratio,icache_miss_rate,memory_bound", ""),
    ("task_time", "2022-03-25", _TASKS.format(unit="ns"), ""),
    ("task_time", "2023-08-31", _TASKS.format(unit="us"), ""),
    ("l2_cache", "2022-03-25", "Stream Id,Task Id,Hit Rate,Victim Rate,Op Name", ""),
    ("l2_cache", "2023-09-06", "Stream Id,Task Id,Hit Rate,Victim Rate,Op Name", ""),
    ("step_trace", "2022-03-25", _TRACE_2022.format(refresh="Grad Refresh Bound"), "model"),
    ("step_trace", "2022-04-26", _TRACE_2022.format(refresh="Iteration Refresh"), "model"),
    ("step_trace", "2022-04-26", _TRACE_2022.format(refresh="Iteration Refresh") + ",Reduce Start,Reduce Duration(us)" * 3, "reduces"),
    ("step_trace", "2023-08-31", _TRACE_2023, "model"),
    ("step_trace", "2023-08-31", _TRACE_2023 + ",Reduce Start(us),Reduce Duration(us)" * 2, "reduces"),
    ("op_summary", "2023-09-14", "Model ID,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Context ID", "communication only"),
    ("msprof_tx", "2025-02-17", "pid,tid,category,event_type,payload_type,payload_value,Start_time(us),End_time(us),message_type,message,domain,mark_id,Device Start_time(us),Device End_time(us)", "device"),
)  # fmt: skip

TORCH_NPU: tuple[tuple[str, str, str, str], ...] = (
    ("kernel_details", "2023-09-14", f"Step Id,{_KERNELS_2023},{GE_COLUMNS},Context ID,{PMU['MemoryL0']}", ""),
    ("kernel_details", "2023-09-14", f"{_KERNELS_2023}", "no steps"),
    ("kernel_details", "2023-09-14", "Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim", "level 0"),
    ("kernel_details", "2024-02-19", f"Step Id,{_KERNELS_2024},{GE_COLUMNS},Context ID,{PMU['PipeUtilization']}", ""),
    ("kernel_details", "2024-02-19", f"Step Id,Device_id,{_KERNELS_2024},{GE_COLUMNS},Context ID,{PMU['PipeUtilization']}", "device"),
    ("kernel_details", "2026-01-28", f"Step Id,Device_id,{_KERNELS_2026},{GE_COLUMNS},Context ID", "device"),
    ("memory_record", "2023-06-21", "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type", ""),
    ("memory_record", "2024-01-01", "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type", ""),
    ("operator_memory", "2023-06-21", _MEMORY_2023, ""),
    ("operator_memory", "2024-01-01", _MEMORY_2024, ""),
    ("npu_module_mem", "2023-11-16", "Component,Timestamp(us),Total Reserved(MB),Device", ""),
    ("step_trace_time", "2023-09-14", _STEPS, ""),
    ("step_trace_time", "2025-01-01", f"{_STEPS},Preparing", ""),
    ("step_trace_time", "2025-01-01", f"Device_id,{_STEPS},Preparing", "device"),
    ("cluster_step_trace_time", "2023-09-14", _STEPS.replace("Step,", "Step,Type,Index,"), ""),
    ("cluster_step_trace_time", "2025-01-01", _STEPS.replace("Step,", "Step,Type,Index,") + ",Preparing", ""),
    ("operator_details", "2023-09-14", "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),Device Self Duration(us),Device Total Duration(us),Device Self Duration With AICore(us),Device Total Duration With AICore(us)", ""),
    ("operator_details", "2023-09-14", "Name,Input Shapes,Host Self Duration(us),Host Total Duration(us),Device Self Duration(us),Device Total Duration(us),Device Self Duration With AICore(us),Device Total Duration With AICore(us)", "no stack"),
)  # fmt: skip


AOE: tuple[tuple[str, str, str], ...] = (
    ("gradient_summary", "2025", "No,gradient_size(byte),data_type,graph_id,group_name,gradient_node_name,trace_node_name,allreduce_node_name"),
)  # fmt: skip


def _exhibits() -> list[Exhibit]:
    found = []
    for kind, dated in HISTORY.items():
        for since, header in dated:
            if header not in {IN_CODE, REMOVED}:
                found.append(Exhibit(kind, since, tuple(header.split(",")), _table_of(kind, header)))
    found += [Exhibit(k, day, tuple(h.split(",")), _table_of(k, h), note=note) for k, day, h, note in MORE]
    found += [*_without_model(found), *_behind_op_summary(found)]
    found += [
        Exhibit(e.kind, e.since, ("Device_id", *e.header), e.table, merged=True, note=e.note)
        for e in found
        if e.since >= MERGED_SINCE and e.kind not in HOST_ONLY
    ]
    # what did not change after the day of merging was merged, too
    newest = {(e.kind, e.table): e for e in found if not e.merged and not e.note}
    found += [
        Exhibit(e.kind, MERGED_SINCE, ("Device_id", *e.header), e.table, merged=True)
        for e in newest.values()
        if e.since < MERGED_SINCE
        and e.kind not in HOST_ONLY
        and HISTORY[e.kind][-1][1] != REMOVED
        and e.table != "l2_cache_counts"
    ]
    found += [
        Exhibit(k, day, tuple(h.split(",")), k, torch_npu=True, note=f"torch {note}".strip())
        for k, day, h, note in TORCH_NPU
    ]
    found += [Exhibit(k, day, tuple(h.split(",")), k, aoe=True) for k, day, h in AOE]
    return found


def _without_model(found: list[Exhibit]) -> list[Exhibit]:
    """Outside of graphs the model's name and the inference have no column."""
    drop = {"Model Name", "Infer ID"}
    return [
        Exhibit(e.kind, e.since, tuple(cell for cell in e.header if cell not in drop), e.table, note="no graph")
        for e in found
        if e.kind in {"op_summary", "op_statistic"} and drop & set(e.header)
    ]


def _behind_op_summary(found: list[Exhibit]) -> list[Exhibit]:
    """What may stand behind the static part: data of GE, the context, counters; older chips have no mixed blocks."""
    more = []
    for e in [e for e in found if e.kind == "op_summary" and not e.note]:
        old = tuple(cell for cell in e.header if not cell.startswith("Mix Block"))
        whole = (*e.header, *GE_COLUMNS.split(","))
        more.append(Exhibit(e.kind, e.since, (*whole, "Context ID"), e.table, note="GE"))
        for name, columns in PMU.items():
            head = (*old, *GE_COLUMNS.split(",")) if "one core" in name else (*whole, "Context ID")
            more.append(Exhibit(e.kind, e.since, (*head, *columns.split(",")), e.table, note=name.replace(",", "")))
    return more


EXHIBITS = _exhibits()
