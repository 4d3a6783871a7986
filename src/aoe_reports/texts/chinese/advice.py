"""What analyses say: advice, bounds, communication, comparisons."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    # analysis.advice.overall
    "how long a step takes is not told here (no table of steps, no times of tasks): bounds are those of the operators' own time": (
        "无法得知一步的时长（没有步表，也没有任务时间）：上限按算子自身的时间计算"
    ),
    "computing is {computing} of the step; communication that is not overlapped is {share}": (
        "计算占一步的 {computing}；未重叠的通信占 {share}"
    ),
    "computing is {computing} of the step; free time is {share}": "计算占一步的 {computing}；空闲时间占 {share}",
    "{parts}: look there first": "{parts}：请先查看后者",
    "{parts}: computing weighs most, and nothing here stands out": "{parts}：计算占比最大，没有突出的问题",
    "{parts}: computing weighs most, look at its operators first": "{parts}：计算占比最大，请先查看其算子",
    "Communication stops the step: let it run beside computing (smaller buckets, gradients sent while the backward pass "
    "still computes), send less, or look for the rank or link that the others wait for": (
        "通信使一步停顿：让通信与计算并行（减小 bucket，在反向传播计算期间就发送梯度），减少发送量，"
        "或查找其他 rank 所等待的 rank 或链路"
    ),
    "The device has nothing to do: the host launches late (data loading, Python, synchronising calls, compilation of new "
    "shapes); `breakdown` names the longest gaps and what launched the tasks behind them": (
        "设备无事可做：host 下发过晚（数据加载、Python、同步调用、新 shape 的编译）；"
        "`breakdown` 会列出最长的空隙以及其后任务由什么下发"
    ),
    "The other ranks wait for this one in their communication: compare its operators and its gaps with another rank's": (
        "其他 rank 在通信中等待该 rank：请将其算子和空隙与另一个 rank 比较"
    ),
    "communication that nothing is computed beside": "没有与计算并行的通信",
    "the device neither computes nor communicates": "设备既不计算也不通信",
    "one rank has more to do than the others": "某个 rank 的工作量多于其他 rank",
    "CANN 6.0.RC1, msprof export summary: slow nodes (atlasprofiling_16_0139)": (
        "CANN 6.0.RC1，msprof export summary：慢节点（atlasprofiling_16_0139）"
    ),
    # analysis.advice.communicating
    "This link is slower than those that did the same: look at the card, the cable or the switch port at its ends, and at "
    "what else uses them": "该链路慢于执行相同工作的其他链路：请检查其两端的网卡、线缆或交换机端口，以及还有什么在使用它们",
    "The others wait for this rank before they send: compare its operators and its gaps with another rank's (uneven data, a "
    "slower host, a lower frequency)": (
        "其他 rank 在发送之前等待该 rank：请将其算子和空隙与另一个 rank 比较（数据不均、host 较慢、频率较低）"
    ),
    "All-reduce runs on when the backward pass has ended: gradient tuning (AOE_MODE=4) chooses segments of which more is "
    "reduced beside it; `communication --bank` shows those of a bank": (
        "反向传播结束后 all-reduce 仍在运行：梯度调优（AOE_MODE=4）会选择切分方式，使更多归约与反向传播并行；"
        "`communication --bank` 显示知识库中的切分"
    ),
    "a link that is slower than those that did the same": "慢于执行相同工作的其他链路的链路",
    "as `communication`: below 80 % of its likes in more than half of the comparisons (Ascend/msprof-analyze: slow link)": (
        "同 `communication`：在半数以上的比较中低于同类链路的 80 %（Ascend/msprof-analyze：慢链路）"
    ),
    "a rank that the others wait for before they send": "其他 rank 在发送之前等待的 rank",
    "as `communication`: in more than half of the operators, for more than half of the time (Ascend/msprof-analyze: slow "
    "rank)": "同 `communication`：在半数以上的算子中，占半数以上的时间（Ascend/msprof-analyze：慢卡）",
    "all-reduce behind the backward pass": "反向传播之后的 all-reduce",
    "AOE: gradient tuning (GDAT); step_trace: BP End, reduces": "AOE：梯度调优（GDAT）；step_trace：BP End、各次归约",
    # analysis.advice.computing
    "The cube unit works nearly all the time: less work (a smaller data type, fusing) or a better tiling helps, little "
    "else": "cube 单元几乎一直在工作：只有减少计算量（更小的数据类型、融合）或更好的 tiling 才有帮助",
    "The vector unit works nearly all the time: use a smaller data type, fuse element-wise operators, or check that its "
    "instructions repeat over long data": (
        "vector 单元几乎一直在工作：使用更小的数据类型，融合逐元素算子，或检查其指令是否对长数据重复执行"
    ),
    "Scalar work (addresses, loops, control) holds the other units up: larger tiles, or shapes that divide evenly; a tuned "
    "tiling (AOE) often helps": (
        "scalar 操作（地址、循环、控制）拖住了其他单元：使用更大的分块，或可整除的 shape；调优后的 tiling（AOE）通常有帮助"
    ),
    "Moving data from L1 into the cube's buffers holds it up: a tuned tiling (AOE) or an aligned inner dimension": (
        "从 L1 向 cube 缓冲区搬运数据成为瓶颈：使用调优后的 tiling（AOE）或对齐最内维"
    ),
    "Reading from memory holds it up: fuse it with its neighbours, keep data in cache, read long pieces; a tuned tiling "
    "(AOE) reads less twice": (
        "从内存读取成为瓶颈：与相邻算子融合，让数据留在缓存中，成段读取；调优后的 tiling（AOE）可减少重复读取"
    ),
    "Writing to memory holds it up: fuse it with what reads its output, write long pieces": (
        "向内存写入成为瓶颈：与读取其输出的算子融合，成段写入"
    ),
    "Writing results out of the cube's buffer holds it up: align the output's inner dimension (512 bytes), fuse what "
    "follows": "将结果写出 cube 缓冲区成为瓶颈：对齐输出的最内维（512 字节），融合后续算子",
    "Main memory is as busy as any operator here makes it: fuse it with its neighbours, or use a smaller data type": (
        "主存带宽已达到此处各算子的最高水平：与相邻算子融合，或使用更小的数据类型"
    ),
    "No unit works for most of the time: they wait for each other; a tuned tiling (AOE), double buffering or larger shapes "
    "let them overlap": "没有单元在大部分时间内工作：它们相互等待；调优后的 tiling（AOE）、双缓冲或更大的 shape 可使其重叠",
    "Its blocks do not fill the cores: a tuned tiling (AOE) cuts it into as many blocks as there are cores; so may a larger "
    "batch, or shapes that divide by the number of cores": (
        "其 block 没有占满核：调优后的 tiling（AOE）会切分出与核数相同的 block；更大的 batch 或可被核数整除的 shape 也可能有效"
    ),
    "It runs on the AI CPU, which is slower than the cores and not tuned by AOE: use a data type that the cores take (no "
    "double, no int64 where int32 does) or another operator, or take it out of the step": (
        "它在 AI CPU 上运行，比 AI Core 慢，且 AOE 不对其调优：使用 AI Core 支持的数据类型（不用 double，"
        "int32 够用时不用 int64）或其他算子，或将其移出该步"
    ),
    "Layout or data type is changed, nothing is computed: keep one layout and one data type over neighbouring operators "
    "(channels last, internal formats, mixed precision set at one place)": (
        "只转换格式或数据类型，没有计算：相邻算子保持同一格式和同一数据类型（channels last、内部格式、在一处设置混合精度）"
    ),
    "Accesses of the vector unit meet in one bank of its buffer: other strides or alignments; a tuned tiling (AOE)": (
        "vector 单元的访问集中在缓冲区的同一个 bank：改用其他步长或对齐方式；使用调优后的 tiling（AOE）"
    ),
    "The cores ran slower than they can: look for power and temperature limits (npu-smi info), and compare nights only at "
    "the same frequency": "核的运行频率低于其上限：请检查功耗和温度限制（npu-smi info），并且只在相同频率下比较各夜",
    "These calls take longer than others of the same type and inputs: look at what runs beside them (communication, "
    "copies), at the cache, and at other formats or attributes of this operator": (
        "这些调用比同类型、同输入的其他调用耗时更长：请查看与其并行的操作（通信、拷贝）、缓存，以及该算子的其他格式或属性"
    ),
    "The same inputs come again and again: one entry that AOE tunes serves all of these calls": (
        "相同的输入反复出现：AOE 调优的一个条目可用于所有这些调用"
    ),
    "CANN: op_summary, PipeUtilization; operator_bound_ratio of Ascend/msprof-analyze, advisor": (
        "CANN：op_summary，PipeUtilization；Ascend/msprof-analyze advisor 的 operator_bound_ratio"
    ),
    "CANN: op_summary, Memory": "CANN：op_summary，Memory",
    "the cube unit bounds it": "受限于 cube 单元",
    "the vector unit bounds it": "受限于 vector 单元",
    "scalar instructions bound it": "受限于 scalar 指令",
    "transfers from L1 to the cube's buffers bound it": "受限于从 L1 到 cube 缓冲区的传输",
    "reading from memory bounds it": "受限于内存读取",
    "writing to memory bounds it": "受限于内存写入",
    "writing out of the cube's buffer bounds it": "受限于从 cube 缓冲区写出",
    "the bandwidth of main memory bounds it": "受限于主存带宽",
    "no unit bounds it: every ratio is at most 0.8": "不受限于任何单元：各比率均不超过 0.8",
    "fewer blocks than cores, or a last round that does not fill them": "block 数少于核数，或最后一轮没有占满核",
    "Ascend/msprof-analyze, advisor: block dim; cores of info.json, else those that counters saw at work, else (as "
    "usual_blocks) the number of blocks that most of the time is run with": (
        "Ascend/msprof-analyze advisor：block dim；核数取自 info.json，否则为计数器观察到的工作核数，"
        "否则（即 usual_blocks）为大部分时间所用的 block 数"
    ),
    "an operator that runs on the AI CPU": "在 AI CPU 上运行的算子",
    "CANN 6.0.RC1, msprof export summary: AI CPU operators (atlasprofiling_16_0139)": (
        "CANN 6.0.RC1，msprof export summary：AI CPU 算子（atlasprofiling_16_0139）"
    ),
    "TransData, Cast, Transpose and the like": "TransData、Cast、Transpose 等",
    "CANN 6.0.RC1, msprof export summary: transData (atlasprofiling_16_0139)": (
        "CANN 6.0.RC1，msprof export summary：transData（atlasprofiling_16_0139）"
    ),
    "conflicts of banks in the vector unit's buffer": "vector 单元缓冲区的 bank 冲突",
    "CANN: op_summary, ResourceConflictRatio; CANN 6.0.RC1, msprof export summary (atlasprofiling_16_0139)": (
        "CANN：op_summary，ResourceConflictRatio；CANN 6.0.RC1，msprof export summary（atlasprofiling_16_0139）"
    ),
    "cores that ran below their highest frequency": "核的运行频率低于其最高频率",
    "Ascend/msprof-analyze, advisor: AI Core frequency; total_cycles / time / cores at work (1800.0 MHz on real exports)": (
        "Ascend/msprof-analyze advisor：AI Core 频率；total_cycles / 时间 / 工作核数（真实导出中为 1800.0 MHz）"
    ),
    "an operator that takes longer than others with the same inputs": "比相同输入的其他算子耗时更长的算子",
    "as the comparison of nights": "同各夜之间的比较",
    "a shape of a tunable operator that comes again and again": "可调优算子反复出现的 shape",
    "AOE: knowledge bank; Operator List of CANN 9.0 (AOE parameter reference)": (
        "AOE：知识库；CANN 9.0 的算子清单（AOE 参数参考）"
    ),
    # analysis.advice.launching
    "idle time by the tasks' intervals": "按任务区间得出的空闲时间",
    "Task Wait Time (communication may have run in it)": "Task Wait Time（其间可能有通信）",
    "The device is idle before this operator: it is launched late, or waits for the host; look at what the host does before "
    "it (a copy to the host, a printed value, data loading, compilation), `breakdown` names the call": (
        "设备在该算子之前空闲：它下发过晚，或在等待 host；请查看 host 在此之前做了什么（向 host 拷贝、打印数值、"
        "数据加载、编译），`breakdown` 会列出该调用"
    ),
    "Most kernels are so short that launching them takes as long as running them: fuse them, launch them as a graph, or give "
    "the device more work at once (a larger batch)": (
        "大多数 kernel 很短，下发与执行耗时相当：请融合它们、以图的方式下发，或让设备一次处理更多工作（更大的 batch）"
    ),
    "idle time before them, by the tasks' intervals": "按任务区间得出的其前空闲时间",
    "Task Wait Time of them (communication may have run in it)": "其 Task Wait Time（其间可能有通信）",
    "files of dynamic models (thread_group, ge_op_execute)": "动态模型的文件（thread_group、ge_op_execute）",
    "Shapes are not known before the run: the host works out tiling (or compiles) at each launch, and AOE tunes no such "
    "operator; fix the shapes (padding, buckets, jit_compile), then profile and tune again": (
        "运行之前 shape 未知：host 在每次下发时计算 tiling（或编译），AOE 不对此类算子调优；"
        "请固定 shape（padding、分桶、jit_compile），然后重新采集并调优"
    ),
    "Another shape than usual: it is compiled or looked up by itself, and what is tuned for the usual one does not serve it; "
    "drop or pad the odd batch": (
        "与平常不同的 shape：需要单独编译或查找，为平常 shape 调优的结果对其无效；请丢弃或填充该特殊 batch"
    ),
    "It has many shapes that come only now and then: each is compiled or looked up by itself; pad to a few sizes (buckets), "
    "so that tuned entries are found again": (
        "它有许多偶尔出现的 shape：每个都要单独编译或查找；请填充到少数几种大小（分桶），以便再次命中调优条目"
    ),
    "idle time in front of an operator": "算子之前的空闲时间",
    "CANN 6.0.RC1, msprof export summary: operators that wait longer than 10 us (atlasprofiling_16_0139)": (
        "CANN 6.0.RC1，msprof export summary：等待超过 10 微秒的算子（atlasprofiling_16_0139）"
    ),
    "most kernels are very short": "大多数 kernel 很短",
    "CANN 6.0.RC1, msprof export summary: 10 us between operators (atlasprofiling_16_0139)": (
        "CANN 6.0.RC1，msprof export summary：算子之间 10 微秒（atlasprofiling_16_0139）"
    ),
    "operators whose shapes are known only when they run": "运行时才能确定 shape 的算子",
    "CANN: op_summary, OP State; thread_group and ge_op_execute exist of dynamic models alone; AOE: static shapes": (
        "CANN：op_summary，OP State；只有动态模型才有 thread_group 和 ge_op_execute；AOE：静态 shape"
    ),
    "an operator that nearly always has one shape, and now and then another": "shape 几乎总是相同、偶尔不同的算子",
    "AOE: entries of the knowledge bank are of one shape": "AOE：知识库的每个条目对应一种 shape",
    "an operator type with many shapes that do not come in every step": "有许多 shape 且并非每步都出现的算子类型",
    # analysis.bounds
    "the most that counters saw at work": "计数器观察到的最大工作核数",
    "the number of blocks that most of the time is run with": "大部分时间所用的 block 数",
    # analysis.frames
    "compare_tasks: by {by!r}; expected one of {names}": "compare_tasks：by {by!r}；应为以下之一：{names}",
    "a frame of Arrow, pandas or polars was expected, not {name}": "应为 Arrow、pandas 或 polars 的 frame，而不是 {name}",
    "the frame has no column {names}; docs/tables.md names the columns": (
        "frame 中没有列 {names}；列名见 docs/tables.md"
    ),
    "{name}: {count} of {rows} values are missing": "{name}：{rows} 个值中缺少 {count} 个",
    "{name}: whole numbers were expected: {error}": "{name}：应为整数：{error}",
    # workflows: tables that stand in for others
    "no table of tasks with their operators here; {table} stands in ({what})": (
        "此处没有包含算子的任务表；由 {table} 代替（{what}）"
    ),
    "it tells no types, no counters": "其中没有类型和计数器",
    "it tells no inputs of calls": "其中没有调用的输入",
    "it tells no spread, no quantiles, no steps": "其中没有离散程度、分位数和步",
    "it tells no operator types": "其中没有算子类型",
    # what advise finds
    "nothing here that advice could be on": "此处没有可供给出建议的内容",
    "no table of tasks here: advice is on whole steps, nothing is said of operators": (
        "此处没有任务表：建议只针对整步，不涉及算子"
    ),
    "neither tasks nor steps nor a timeline here that could be used; found {kinds}": (
        "此处没有可用的任务、步或时间线；找到 {kinds}"
    ),
    # what communication finds
    "no communication here": "此处没有通信",
    "no communication here: no table of it, no timeline that shows any, no all-reduce in step_trace": (
        "此处没有通信：没有通信表，时间线中没有通信，step_trace 中没有 all-reduce"
    ),
    "the matrix tells of some operators only (of {rows} rows {examples} are the best, middle or worst of their type, without "
    "a total): volumes and times of links are of these": (
        "矩阵只包含部分算子（{rows} 行中有 {examples} 行是同类型中最好、中间或最差的，没有总计）：链路的数据量和时间即取自这些行"
    ),
    "no table of communication operators: the timeline tells how long they took, and of no waiting": (
        "没有通信算子表：时间线只说明其耗时，不说明等待"
    ),
    "no communication matrix: the timeline tells of links, and of RDMA no times": (
        "没有通信矩阵：时间线说明了链路，但没有 RDMA 的时间"
    ),
    "{count} tasks of communication with damaged arguments; they are in no sum of links": (
        "{count} 个通信任务的参数已损坏；不计入链路的总和"
    ),
    "{kind}: {op_name}, {transport}: {transit_bytes} bytes in {transit_ns} ns, but {bandwidth_gb_per_s} GB/s": (
        "{kind}：{op_name}，{transport}：{transit_ns} 纳秒传输 {transit_bytes} 字节，却为 {bandwidth_gb_per_s} GB/s"
    ),
    "{kind}: and {count} more of this kind": "{kind}：另有 {count} 个同类问题",
    "volume (counted as 0)": "数据量（按 0 计）",
    "transport (counted as unknown)": "传输方式（按未知计）",
    "{kind}: {count} rows without {what}": "{kind}：{count} 行没有{what}",
    "{what} of group {group}": "{what}（通信域 {group}）",
    "link {link} over {transport}: {share:.1%} of the bandwidth of links that did the same, out of line in {slow} of "
    "{compared} comparisons; it took {lost:.3f} us longer than they would have": (
        "链路 {link}（{transport}）：带宽为执行相同工作的链路的 {share:.1%}，在 {compared} 次比较中有 {slow} 次偏离；"
        "比这些链路多用 {lost:.3f} 微秒"
    ),
    "in {operators} of {of_operators} operators in which ranks wait, {waited:.3f} us together": (
        "在有 rank 等待的 {of_operators} 个算子中占 {operators} 个，共等待 {waited:.3f} 微秒"
    ),
    "always the same: the others wait for rank {rank} {times}": "总是同一个：其他 rank 等待 rank {rank}，{times}",
    "the others wait for rank {rank} {times}": "其他 rank 等待 rank {rank}，{times}",
    "all ranks that were read": "所有已读取的 rank",
    "{ranks} wait for one that was not read, or for no certain one, {times}": (
        "{ranks}都在等待一个未读取或无法确定的 rank，{times}"
    ),
    "{count} all-reduces of step_trace have no length: the tail behind the backward pass may be longer": (
        "step_trace 中有 {count} 个 all-reduce 没有时长：反向传播之后的尾部可能更长"
    ),
    "on average of {count} iterations {tail:.3f} us of all-reduce ({share:.1%} of the iteration) run behind the backward "
    "pass, {part:.1%} of all; tuning of gradients can save at most {bound:.3f} us": (
        "在 {count} 个迭代中平均有 {tail:.3f} 微秒的 all-reduce（占迭代的 {share:.1%}）在反向传播之后运行，"
        "占全部 all-reduce 的 {part:.1%}；梯度调优最多可节省 {bound:.3f} 微秒"
    ),
    "on average of {count} iterations {tail:.3f} us of all-reduce run behind the backward pass, {part:.1%} of all; tuning of "
    "gradients can save at most {bound:.3f} us": (
        "在 {count} 个迭代中平均有 {tail:.3f} 微秒的 all-reduce 在反向传播之后运行，占全部 all-reduce 的 {part:.1%}；"
        "梯度调优最多可节省 {bound:.3f} 微秒"
    ),
    # what breakdown finds
    "no timeline of the whole device here (trace_view, msprof) and no database that holds one": (
        "此处没有整个设备的时间线（trace_view、msprof），也没有包含它的数据库"
    ),
    "no task of a device in a timeline here": "此处的时间线中没有设备任务",
    "no task of a device in this timeline": "该时间线中没有设备任务",
    "several devices: which of them communication belongs to is not known; only computing is told": (
        "有多个设备：无法判断通信属于哪个设备；只给出计算"
    ),
    "in Overlap Analysis": "Overlap Analysis 中",
    "for step {step} in the table of steps": "步表的步 {step} 中",
    "{what}: {here:.3f} us by the tasks here, but {stated:.3f} us {where}: {apart:.3f} us apart, {explained:.3f} us are "
    "explained by rounding": (
        "{what}：此处按任务为 {here:.3f} 微秒，但{where}为 {stated:.3f} 微秒：相差 {apart:.3f} 微秒，"
        "其中 {explained:.3f} 微秒可由舍入解释"
    ),
    "its call": "其调用",
    "unnamed": "未命名",
    "host launched late: {call} began {late:.3f} us into it": "host 下发过晚：{call} 在空隙开始后 {late:.3f} 微秒才开始",
    "host launched late: {call} began {late:.3f} us into it, {behind:.3f} us behind the task: the clocks of host and device "
    "differ": (
        "host 下发过晚：{call} 在空隙开始后 {late:.3f} 微秒才开始，晚于任务 {behind:.3f} 微秒：host 与设备的时钟不一致"
    ),
    "{cause}: {share:.1%} of it, {call}": "{cause}：占空隙的 {share:.1%}，{call}",
    "waiting for communication: {share:.1%} of it, longest {longest}": "等待通信：占空隙的 {share:.1%}，最长的是 {longest}",
    # what compare finds
    "{path}: stands there twice; once is enough": "{path}：出现两次；一次即可",
    "{path}: holds {count} runs; name one of them (aoe-reports inspect tells where they lie)": (
        "{path}：包含 {count} 个运行；请指定其中一个（aoe-reports inspect 显示其位置）"
    ),
    "no profile here to compare": "此处没有可比较的性能数据",
    "no step to compare here": "此处没有可比较的步",
    "no task to compare here": "此处没有可比较的任务",
    "{what} ({asked})": "{what}（{asked}）",
    "device type": "设备类型",
    "CANN version": "CANN 版本",
    "profiler level": "采集级别",
    "set of AI Core metrics": "AI Core 指标集",
    "number of steps": "步数",
    "telling of shapes": "是否记录 shape",
    "told": "有",
    "not told": "无",
    "{what} ({before} before, {after} after)": "{what}（之前为 {before}，之后为 {after}）",
    "not known of both sides: {facts}; whether they compare in that cannot be told": (
        "两侧并非都有以下信息：{facts}；无法判断在这些方面是否可比"
    ),
    "not comparable with {baseline}: other {facts}": "与 {baseline} 不可比较：以下不同：{facts}",
    "--force compares nevertheless": "使用 --force 仍可比较",
    "another rank than in the baseline, or of unknown rank": "rank 与基线不同或未知",
    "not comparable with {baseline}: other ranks ({before} before, {after} after)": (
        "与 {baseline} 不可比较：rank 不同（之前为 {before}，之后为 {after}）"
    ),
    "its tasks do not tell their {column}: nothing to compare by {by}": "其任务没有 {column}：无法按 {by} 比较",
    "not comparable with {baseline}: no call has inputs that a call of the baseline has": (
        "与 {baseline} 不可比较：没有调用的输入与基线中的调用相同"
    ),
    "no step number of {baseline} stands here: steps are paired in their order, from 1": (
        "此处没有 {baseline} 的步编号：步从 1 起按顺序配对"
    ),
    # what hotspots finds
    "no task to rank here": "此处没有可排序的任务",
    "no table of tasks here (kernel_details, op_summary, op_statistic or task_time as CSV); found {kinds}": (
        "此处没有任务表（CSV 形式的 kernel_details、op_summary、op_statistic 或 task_time）；找到 {kinds}"
    ),
    # what steps finds
    "no step here": "此处没有步",
    "no table of steps here (step_trace, step_trace_time)": "此处没有步表（step_trace、step_trace_time）",
    "iterations without {point}: {numbers}": "迭代缺少{point}：{numbers}",
    "head (FP Start)": "开头（FP Start）",
    "tail (BP End)": "结尾（BP End）",
    "rank {rank}, step {step}: {here:.3f} us here, but {own:.3f} us in the rank's own table, which is used": (
        "rank {rank}，步 {step}：此处为 {here:.3f} 微秒，但该 rank 自身的表中为 {own:.3f} 微秒；采用后者"
    ),
    "all {count} steps: the slowest is always rank {rank}": "全部 {count} 步：最慢的始终是 rank {rank}",
    "all {count} steps: the slowest is not always the same ({ranks})": "全部 {count} 步：最慢的并不固定（{ranks}）",
    "rank {rank} in {count}": "rank {rank}：{count} 步",
    "step {step}": "步 {step}",
    "model {model}, iteration {step}": "模型 {model}，迭代 {step}",
    "{where}: all ranks take {time:.3f} us": "{where}：所有 rank 均为 {time:.3f} 微秒",
    "{time} ({share:.1%})": "{time}（{share:.1%}）",
    "{where}: rank {slowest} is the slowest with {time:.3f} us, {more} more than rank {fastest}": (
        "{where}：rank {slowest} 最慢，为 {time:.3f} 微秒，比 rank {fastest} 多 {more}"
    ),
    "rank {rank} computes longest": "rank {rank} 的计算时间最长",
    # how profiles are taken: profiling
    "collector of CANN (hicann/runtime 681ef761)": "CANN 采集器（hicann/runtime 681ef761）",
    "CANN guide to msprof, TensorFlow framework mode": "CANN msprof 指南，TensorFlow 框架模式",
    "TensorFlow adapter (Ascend/tensorflow 085a7b2e)": "TensorFlow 适配插件（Ascend/tensorflow 085a7b2e）",
    "torch_npu (Ascend/pytorch 9e73e70), its reference on hiascend.com, exports of level 0 to 2": (
        "torch_npu（Ascend/pytorch 9e73e70）、hiascend.com 上的参考文档、级别 0 至 2 的导出"
    ),
    "MindSpore API reference 2.6 to 2.10 (mindspore.profiler)": "MindSpore API 参考 2.6 至 2.10（mindspore.profiler）",
    "msprof command line (hicann/runtime 681ef761)": "msprof 命令行（hicann/runtime 681ef761）",
    "AOE guide, restrictions of tuning": "AOE 指南，调优约束",
    "{files} (until {month})": "{files}（{month} 之前）",
    "{files} (since {month})": "{files}（{month} 起）",
    "{files} (dynamic shapes, until {month})": "{files}（动态 shape，{month} 之前）",
    "{files} (training chips)": "{files}（训练芯片）",
    "{files} (hccl_statistic before 2025-02)": "{files}（2025-02 之前为 hccl_statistic）",
    "{files} (no operator types, no shapes)": "{files}（没有算子类型和 shape）",
    "columns of counters in {files}": "{files} 中的计数器列",
    "column Step Id of {files}": "{files} 的 Step Id 列",
    "switches its collector on by itself": "单独即可启用对应的采集",
    "$ASCEND_WORK_PATH/profiling_data where that is set, else an error": (
        "已设置时为 $ASCEND_WORK_PATH/profiling_data，否则报错"
    ),
    "created if missing; wins over ASCEND_WORK_PATH": "不存在时会创建；优先于 ASCEND_WORK_PATH",
    "a wrong value is only warned of; not set: documented as 90 % of the free disk": (
        "错误的值只会引起警告；未设置时：文档说明为可用磁盘空间的 90 %"
    ),
    "off: no step_trace": "off：没有 step_trace",
    "deprecated for task_time; l3 on some chips only": "已弃用，改用 task_time；l3 仅在部分芯片上可用",
    "on is l1; l0: durations only (no shapes, no counters, no operator types); l3 on some chips only": (
        "on 即 l1；l0：只有时长（没有 shape、计数器和算子类型）；l3 仅在部分芯片上可用"
    ),
    "deprecated": "已弃用",
    "not given: no counters; empty: PipeUtilization; which sets there are depends on the chip": (
        "未给出：没有计数器；为空：PipeUtilization；可用的集合取决于芯片"
    ),
    "an operator, or empty to have it searched; it may not be found": "算子名，或留空以自动查找；可能找不到",
    "above 100 on newer versions only": "大于 100 仅较新版本可用",
    "One option that is given replaces the whole default set: what is left out falls to the collector's own default.": (
        "只要给出一个选项，就会替换整个默认集合：未给出的选项取采集器自身的默认值。"
    ),
    "fp_point and bp_point may not be found, even if they are left empty to be searched: then FP to BP, refresh and data "
    "augmentation times are empty.": (
        "即使将 fp_point 和 bp_point 留空以自动查找，也可能找不到：此时前向到反向、迭代拖尾和数据增强拖尾的时间为空。"
    ),
    "Which release of CANN takes exactly these keys is not known: they are those of the collector of 2026 and of the guide's "
    "samples.": "无法确定哪个 CANN 版本恰好支持这些键：它们取自 2026 年的采集器和指南的示例。",
    "Online inference can be profiled in this mode only (sess.run).": "在线推理只能以此方式采集（sess.run）。",
    'Older versions take the application as --application="app args".': (
        '较旧的版本以 --application="app args" 指定应用程序。'
    ),
    "The command line always asks for iterations; whether the application has any is up to it.": (
        "命令行总是要求采集迭代；应用程序是否有迭代取决于其自身。"
    ),
    "How many steps to skip, warm up and record is an example: record steps that are alike.": (
        "跳过、预热和记录的步数仅为示例：请记录彼此相似的步。"
    ),
    "At Level0 aic_metrics are reset to none; values that are not valid are reset with a warning only.": (
        "在 Level0 下 aic_metrics 会被重置为无；无效的值只会在警告后被重置。"
    ),
    "Names are those of MindSpore 2.6 and later; mindspore.Profiler of earlier releases has not been looked at. That the "
    "files have the names that torch_npu gives them is expected, not seen.": (
        "名称取自 MindSpore 2.6 及后续版本；未查看更早版本的 mindspore.Profiler。"
        "文件名与 torch_npu 相同只是预期，尚未实际见到。"
    ),
    "prof.step() behind each step": "在每步之后调用 prof.step()",
    "record_op_args=True writes the arguments of operators for AOE into a folder beside the result; it is documented as not "
    "to be combined with other profiling. What it writes has not been checked.": (
        "record_op_args=True 会将供 AOE 使用的算子参数写入结果旁的文件夹；文档说明不可与其他采集同时使用。"
        "其写入的内容尚未核实。"
    ),
    "Switch profiling off before AOE tunes: it distorts what AOE measures.": (
        "AOE 调优之前请关闭采集：它会使 AOE 的测量失真。"
    ),
    "Static memory allocation has to be off, too (static_memory_policy = 0).": (
        "还必须关闭静态内存分配（static_memory_policy = 0）。"
    ),
    # renderers.recipe
    "A profile for {question} with {framework}": "使用 {framework} 为 {question} 采集性能数据",
    "Then:": "然后：",
    "Then": "然后",
    "What it yields:": "生成的内容：",
    "What it yields": "生成的内容",
    "To switch profiling off again:": "关闭采集：",
    "To switch profiling off again": "关闭采集",
    "Notes": "说明",
    "Sources: {sources}.": "来源：{sources}。",
    "{key}={value}": "{key}={value}",
    # cli.collect
    "collect: expected --framework, or --check": "collect：需要 --framework 或 --check",
}
