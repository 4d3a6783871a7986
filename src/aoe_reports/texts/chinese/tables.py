"""What declarations of tables say."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    # aicpu
    "operators on the AI CPU, by phase; ms until 2023-07, us since": (
        "AI CPU 上的算子，按阶段；2023-07 之前以毫秒计，此后以微秒计"
    ),
    "nodes of the AI CPU's data queues": "AI CPU 数据队列的节点",
    "data preprocessing: what was taken from which queue": "数据预处理：从哪个队列取了什么",
    # communication
    "communication operators: when, how long, how much of it waiting": "通信算子：何时、多久、其中等待多少",
    "communication operators by transport: volume, time, bandwidth": "通信算子，按传输方式：数据量、时间、带宽",
    "communication between each two ranks: transport, volume, time, bandwidth": (
        "每两个 rank 之间的通信：传输方式、数据量、时间、带宽"
    ),
    # fusion_op
    "fused operators, what they were made of, their memory": "融合算子，由哪些算子融合而成，占用的内存",
    # gradient_summary
    "gradients of a model that is tuned: size, group, the operators that make and reduce them": (
        "调优中模型的梯度：大小、分组、产生和归约梯度的算子"
    ),
    # host_api
    "calls of the host grouped by level and function": "host 的调用，按层级和函数汇总",
    "one row a layer of the software stack and inference": "软件栈的每一层和每次推理各一行",
    "calls of the Runtime grouped by function; stream and thread are those of any one call": (
        "Runtime 的调用，按函数汇总；stream 和线程取自其中任意一次调用"
    ),
    "every call of AscendCL": "AscendCL 的每次调用",
    "calls of AscendCL grouped by function": "AscendCL 的调用，按函数汇总",
    "what the host did for operators of dynamic shape": "host 为动态 shape 算子所做的工作",
    "calls of the operating system grouped by process, thread and function": "操作系统的调用，按进程、线程和函数汇总",
    # l2_cache
    "hit and victim rate of each task in the level 2 cache": "每个任务在 L2 cache 中的命中率和 victim 率",
    "reads, writes, victims and allocations of the level 2 cache, as l2_cache of 2022-11 to 2023-09 holds them": (
        "L2 cache 的读、写、victim 和分配次数，即 2022-11 至 2023-09 的 l2_cache 所含内容"
    ),
    # memory
    "memory of the device in use by the process and by all, over time": "进程和全部占用的 device 内存，随时间变化",
    "memory that components of CANN hold, over time": "CANN 各组件持有的内存，随时间变化",
    "memory that components hold and use, over time": "各组件持有和使用的内存，随时间变化",
    "memory that each operator took, and for how long": "每个算子占用的内存和占用时长",
    "memory of operators in graphs of static shape": "静态 shape 图中算子的内存",
    # msprof_tx
    "marks and ranges that users put into their code": "用户在代码中加入的标记和区间",
    "operators that PyTorch marked, with the calls that led there": "PyTorch 标记的算子，以及通向它们的调用",
    # op_statistic
    "tasks grouped by operator type and core type": "任务，按算子类型和核类型汇总",
    "communication operators grouped by type (hccl_statistic before 2025-02)": (
        "通信算子，按类型汇总（2025-02 之前为 hccl_statistic）"
    ),
    # op_summary
    "every task on the device, with shapes and PMU counters": "device 上的每个任务，含 shape 和 PMU 计数器",
    "every task on the device, as torch_npu writes it": "device 上的每个任务，由 torch_npu 写出",
    # operator_details
    "PyTorch's operators: shapes, call stack, time on the host and on the device": (
        "PyTorch 的算子：shape、调用栈、host 和 device 上的时间"
    ),
    # prof_rule
    "msprof's own advice: rule, suggestion, the operators it is about": "msprof 自己的建议：规则、建议、涉及的算子",
    # step_trace
    "training iterations: forward, backward, refresh, data augmentation, reduces": (
        "训练迭代：前向、反向、更新、数据增强、reduce"
    ),
    "steps: computing, communication, overlapped and free time": "step：计算、通信、重叠和空闲时间",
    "steps of every rank and every pipeline stage of a job": "作业中每个 rank 和每个流水线 stage 的 step",
    # system
    "bandwidth of the accelerators inside the device, a task": "device 内部加速器的带宽，按任务",
    "tasks of the hardware scheduler": "硬件调度器的任务",
    "bandwidth of the channels of the collective communication unit": "集合通信单元各通道的带宽",
    "instructions of the collective communication unit": "集合通信单元的指令",
    "load of the device's CPUs": "device 的 CPU 负载",
    "the image and video units": "图像和视频单元",
    "bandwidth of the DDR memory": "DDR 内存的带宽",
    "bandwidth of the high bandwidth memory": "高带宽内存 (HBM) 的带宽",
    "how many CPUs the host needs": "host 需要多少 CPU",
    "how much memory the host needs": "host 需要多少内存",
    "how fast a disk the host needs": "host 需要多快的磁盘",
    "how fast a network the host needs": "host 需要多快的网络",
    "bandwidth levels between chips": "芯片之间的带宽等级",
    "traffic of the network card": "网卡的流量",
    "traffic of the RoCE interface": "RoCE 接口的流量",
    "hardware counters of the AI CPU": "AI CPU 的硬件计数器",
    "hardware counters of the control CPU": "控制 CPU 的硬件计数器",
    "hardware counters of the task scheduler's CPU": "任务调度器 CPU 的硬件计数器",
    "functions that took the AI CPU longest": "AI CPU 上耗时最长的函数",
    "functions that took the control CPU longest": "控制 CPU 上耗时最长的函数",
    "load of the CPUs by process": "CPU 负载，按进程",
    "memory by process": "内存，按进程",
    "memory of the machine": "整机内存",
    "the address translation cache, a task": "地址转换缓存，按任务",
    "traffic of the unified bus, a port": "统一总线的流量，按端口",
    # task_time
    "every task on the device with start and stop": "device 上的每个任务及其起止时间",
    "tasks grouped by operator, as old exporters wrote task_time": "任务，按算子汇总，即旧版导出工具写出的 task_time",
    # timelines
    "host, device, communication and overlap in one timeline": "host、device、通信和重叠，在同一时间线中",
    "host (PyTorch and CANN), device, communication and overlap": "host（PyTorch 和 CANN）、device、通信和重叠",
    "tasks on the device, by stream": "device 上的任务，按 stream",
    "iterations with their forward, backward and refresh parts": "迭代及其前向、反向和更新部分",
    "communication operators and their tasks, by plane (until 2023-09)": "通信算子及其任务，按 plane（至 2023-09）",
    "one thread a layer of the software stack (until 2023-07)": "软件栈的每一层各一个线程（至 2023-07）",
    "AscendCL, GE and Runtime by thread of the host (until 2023-08)": (
        "AscendCL、GE 和 Runtime，按 host 的线程（至 2023-08）"
    ),
    "calls of the Runtime (until 2023-08)": "Runtime 的调用（至 2023-08）",
    "calls of AscendCL (until 2023-08)": "AscendCL 的调用（至 2023-08）",
    "input, inference and output of each model (until 2023-08)": "每个模型的输入、推理和输出（至 2023-08）",
    "operators of dynamic shape on the host (until 2023-08)": "host 上的动态 shape 算子（至 2023-08）",
    "calls of the host at every level (2023-06 to 2023-09)": "host 各层级的调用（2023-06 至 2023-09）",
    "events of the host (2023-06 to 2025-04)": "host 的事件（2023-06 至 2025-04）",
    "marks and ranges of users": "用户的标记和区间",
}
