"""What `--help` says."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    # the frame, which is typer's
    "Usage: ": "用法：",
    "{heading}:": "{heading}：",
    "default: {value}": "默认值：{value}",
    "env var: {value}": "环境变量：{value}",
    "Try '{command} {option}' for help.": "可用 '{command} {option}' 查看帮助。",
    "Error: {message}": "错误：{message}",
    "Missing option {name}.": "缺少选项 {name}。",
    "Missing argument {name}.": "缺少参数 {name}。",
    "Missing command.": "缺少命令。",
    "No such option: {name} (Possible options: {names})": "没有该选项：{name}（可能的选项：{names}）",
    "No such option: {name}": "没有该选项：{name}",
    "No such command {name}. Did you mean {names}?": "没有命令 {name}。是否指 {names}？",
    "No such command {name}.": "没有命令 {name}。",
    "Option {name} requires an argument.": "选项 {name} 需要一个值。",
    "Option {name} does not take a value.": "选项 {name} 不接受值。",
    "Got unexpected extra argument(s) ({names})": "多余的参数（{names}）",
    "Invalid value for {name}: {why}": "{name} 的值无效：{why}",
    "Invalid value: {why}": "值无效：{why}",
    "Value error, {why}": "{why}",
    "{value} is not one of {names}.": "{value} 不在 {names} 之中。",
    "Input should be a valid integer, unable to parse string as an integer": "应为整数",
    "Input should be a valid number, unable to parse string as a number": "应为数",
    "Input should be greater than or equal to {limit}": "应大于或等于 {limit}",
    "Input should be less than or equal to {limit}": "应小于或等于 {limit}",
    # the program itself
    "Read, check, store and compare what msprof and the Ascend Optimization Engine leave behind.": (
        "读取、检查、存储并比较 msprof 和 Ascend Optimization Engine（AOE）产生的数据。"
    ),
    "Show the version and exit.": "显示版本后退出。",
    "Show a traceback for an error.": "出错时显示调用栈。",
    "Take options from this file alone (docs/configuration.md).": "只从该文件读取选项（docs/configuration.md）。",
    "Take options from no file.": "不从任何文件读取选项。",
    # options of many commands
    "Files or folders (searched recursively).": "文件或目录（递归查找）。",
    "Files or folders.": "文件或目录。",
    "File or folder.": "文件或目录。",
    "Form of the output.": "输出格式。",
    "Form of what is printed.": "打印内容的格式。",
    "Write into this file instead of printing.": "写入该文件，而不是打印。",
    "Warnings, too, end with exit code 1.": "有警告时也以退出码 1 结束。",
    "Bytes to which one .gz file may expand (1 GiB and 200 times its size unless told).": (
        "单个 .gz 文件解压后的最大字节数（未指定时为 1 GiB，且不超过其大小的 200 倍）。"
    ),
    "Language of reports, pages and messages; JSON and CSV are always the same.": (
        "报告、页面和消息的语言；JSON 和 CSV 始终不变。"
    ),
    "Folder or URI of the store.": "存储的目录或 URI。",
    "Name of what was measured.": "测量对象的名称。",
    "Which folder names what was measured: `folder` (those below PATHS, without dates), or a pattern such as "
    "*/{workload} or /**/nights/{workload}.": (
        "由哪一级目录给出测量对象的名称：`folder`（PATHS 之下的目录，去掉日期），或模式，例如 */{workload} 或 /**/nights/{workload}。"
    ),
    "Name of the hardware.": "硬件名称。",
    "Version of CANN.": "CANN 版本。",
    "Time zone of times without one [default: UTC].": "没有时区的时间所用的时区 [默认值：UTC]。",
    "Keep every single time (runtime_raw) of records of at most so many tasks or steps; 0: of none.": (
        "task 或步不超过该数目的记录保留每次的时间（runtime_raw）；0：都不保留。"
    ),
    "Replace runs that an older version stored by what this one makes of them.": (
        "用当前版本的结果替换较旧版本存入的运行。"
    ),
    "Only this rank.": "只看该 rank。",
    "Only this device.": "只看该设备。",
    "Only this step.": "只看该步。",
    "Communication, events and copies, too.": "也包括通信、事件和拷贝。",
    "What makes up a row.": "每一行的单位。",
    "How many rows for each rank of each run.": "每个运行的每个 rank 显示多少行。",
    "How many rows for each device of each run.": "每个运行的每个设备显示多少行。",
    "How many rows for each rank of each candidate.": "每个候选的每个 rank 显示多少行。",
    "Compare even what is known not to be comparable.": "即使已知不可比较，也进行比较。",
    # files: inspect, table, check
    "Say what each file is: kind, source, vintage, run, rank, rows.": (
        "说明每个文件是什么：种类、来源、表头年代、运行、rank、行数。"
    ),
    "Print one table or timeline under canonical names and units (durations in us, time stamps in ns).": (
        "以规范的名称和单位打印一张表或时间线（时长为 us，时间戳为 ns）。"
    ),
    "Kind of table, as `--list` names it.": "表的种类，名称见 `--list`。",
    "List every kind that can be read.": "列出所有可读取的种类。",
    "Validate AOE results, gradient banks and records against schemas and rules, tables against their declarations.": (
        "按 schema 和规则校验 AOE 结果、梯度知识库和记录，按声明校验表。"
    ),
    "Only this rule (repeatable).": "只用该规则（可重复）。",
    "Not this rule (repeatable).": "不用该规则（可重复）。",
    "List every rule.": "列出所有规则。",
    "Bytes of the largest AOE result that is read (256 MiB unless told).": (
        "读取的 AOE 结果的最大字节数（未指定时为 256 MiB）。"
    ),
    "Follow a tuning run until all its results are there (or Ctrl-C), then check.": (
        "跟踪一次调优，直到结果齐全（或按 Ctrl-C），然后检查。"
    ),
    "Seconds between two looks of --watch.": "--watch 两次查看之间的秒数。",
    # profiles: hotspots, steps, breakdown, communication, compare, advise
    "Rank operator types, operators or shapes by device time; std is the sample's, shares are of all computing.": (
        "按设备时间排列算子类型、算子或 shape；std 为样本标准差，占比以全部计算为分母。"
    ),
    "List steps and iterations by rank: how long each took, on what, and which rank was the slowest.": (
        "按 rank 列出步和迭代：各自的耗时、时间用在何处、哪个 rank 最慢。"
    ),
    "Tell from timelines what each device did (a row without step is all of its time), and its longest gaps.": (
        "根据时间线说明每个设备的时间构成（没有步的行为全部时间），以及最长的空闲间隔。"
    ),
    "How many of the longest gaps of a device.": "每个设备显示多少个最长间隔。",
    "Form of the output; csv has no gaps.": "输出格式；csv 不含间隔。",
    "Tell of communication by group, link and rank: time, waiting, bandwidth; slow links, slow ranks, the gradients' "
    "tail.": "按通信域、链路和 rank 说明通信：时间、等待、带宽；慢链路、慢 rank、梯度的拖尾。",
    "A bank of gradient tuning (<soc>_gradient_fusion.json).": "梯度调优的知识库（<soc>_gradient_fusion.json）。",
    "How many operators and links of each run.": "每个运行显示多少个算子和链路。",
    "Form of the output; csv has the operators by rank, group and type.": (
        "输出格式；csv 为按 rank、通信域和类型的算子。"
    ),
    "Compare profiles: difference = candidate - baseline, ratio = candidate / baseline, the largest change first.": (
        "比较性能数据：差值 = 候选 - 基线，比值 = 候选 / 基线，变化最大的在前。"
    ),
    "What is compared with: one run.": "作为基线的一个运行。",
    "What is compared: one run each, against the baseline.": "与基线比较的候选：每个为一个运行。",
    "Say what could be gained at most, and how: communication, free time, what bounds operators; msprof's advice "
    "beside.": "说明最多能获得多少收益以及方法：通信、空闲时间、算子的瓶颈；并列出 msprof 的建议。",
    # tuning: collect, plan, preflight, tune, verify, adopt
    "Say how to take a profile: a snippet or command, the files that each key yields, how to switch profiling off.": (
        "说明如何采集性能数据：代码片段或命令、每个配置项产生的文件、如何关闭采集。"
    ),
    "What runs the model.": "运行模型的框架。",
    "What the profile is to tell.": "性能数据要回答的问题。",
    "Check a string of profiling_options (empty: the default set).": "检查 profiling_options 字符串（为空：默认配置）。",
    "Plan a tuning job from a profile: what is worth tuning, bounded by the whole step; what is left out, and why.": (
        "根据性能数据制定调优计划：哪些值得调优（以整步为上限）；哪些不调优以及原因。"
    ),
    "A profile: one run.": "性能数据：一个运行。",
    "What trains or infers, where that is what tunes (TensorFlow, MindSpore online).": (
        "训练或推理的命令，用于由其进行调优的场景（TensorFlow、MindSpore 在线）。"
    ),
    "The plan's folder.": "计划的目录。",
    "A plan's folder.": "计划的目录。",
    "Minutes that tuning may take.": "调优可用的分钟数。",
    "At most so many candidates.": "候选的最大数目。",
    "Least part of the step that an operator takes.": "算子至少占步的比例。",
    "Operators, subgraphs, one after the other, gradients.": "算子、子图、先后两者、梯度。",
    "How AOE gets at the model [default: pytorch or mindspore if their profiler wrote the profile, else offline].": (
        "AOE 获取模型的方式 [默认值：性能数据由 pytorch 或 mindspore 的 profiler 写出时为该框架，否则为 offline]。"
    ),
    "The model, for aoe.": "供 aoe 使用的模型。",
    "Its weights (Caffe).": "模型的权重（Caffe）。",
    "A folder of models or dumped graphs, for aoe.": "供 aoe 使用的模型目录或 dump 图目录。",
    "0 Caffe, 1 MindSpore, 3 TensorFlow, 5 ONNX [default: by the suffix].": (
        "0 Caffe，1 MindSpore，3 TensorFlow，5 ONNX [默认值：由后缀决定]。"
    ),
    "One more option for aoe (repeatable).": "传给 aoe 的其他选项（可重复）。",
    "Tune again what is banked.": "重新调优知识库中已有的内容。",
    "Take shapes for static where the export does not tell.": "导出数据未说明时，将 shape 视为静态。",
    "Folder or URI of the store: what tuning brought before.": "存储的目录或 URI：以往调优的收益。",
    "Earlier AOE results of this model: file or folder (repeatable).": (
        "该模型以往的 AOE 结果：文件或目录（可重复）。"
    ),
    "The bank in use, laid out as under TUNE_BANK_PATH [default: what the environment says].": (
        "正在使用的知识库，布局同 TUNE_BANK_PATH [默认值：环境变量所指]。"
    ),
    "The folder of a plan whose subgraphs were tuned before this profile.": (
        "在采集该性能数据之前已完成子图调优的计划目录。"
    ),
    "The chip, as AOE names it.": "芯片，使用 AOE 的名称。",
    "TE_PARALLEL_COMPILER: operators compiled at once.": "TE_PARALLEL_COMPILER：同时编译的算子数。",
    "ASCEND_DEVICE_ID to tune on.": "用于调优的 ASCEND_DEVICE_ID。",
    "Hold a machine against what a tuning job needs: seen, needed, verdict; what cannot be seen has to be declared.": (
        "对照调优任务的需求检查机器：所见、所需、结论；无法看到的必须声明。"
    ),
    "What no machine shows: processes, model_memory, tuning_parallel_num, profiling, static_memory_policy, "
    "static_shapes, devices, device_free, cpu_binding, aoe_config_file, npus, soc, cube_cores, vector_cores, "
    "cube_cores_used, vector_cores_used, device_memory, device_memory_used, aoe_options (repeatable).": (
        "机器无法显示的信息：processes、model_memory、tuning_parallel_num、profiling、static_memory_policy、"
        "static_shapes、devices、device_free、cpu_binding、aoe_config_file、npus、soc、cube_cores、vector_cores、cube_cores_used、vector_cores_used、device_memory、device_memory_used、aoe_options（可重复）。"
    ),
    "Check the host that a file describes, not this one.": "检查文件所描述的主机，而不是本机。",
    "Print the description of this host for --host.": "打印本机的描述，供 --host 使用。",
    "Run a planned tuning job on a private bank: what came of each operator, the tuned bank, how to measure again.": (
        "在私有知识库上执行计划的调优任务：每个算子的结果、调优后的知识库、如何重新测量。"
    ),
    "Where the command runs [default: a fresh folder].": "命令运行的目录 [默认值：新目录]。",
    "ASCEND_DEVICE_ID.": "ASCEND_DEVICE_ID。",
    "How the private bank begins [default: as the plan says, copy].": (
        "私有知识库的初始内容 [默认值：按计划所述，即 copy]。"
    ),
    "The chip, where the plan does not name it.": "芯片，用于计划未指明的情况。",
    "End it after 90s, 30m, 2h…": "在该时长后结束：90s、30m、2h……",
    "Seconds between asking processes to end and ending them.": "从请求进程结束到强制结束之间的秒数。",
    "Go on with a job that stopped.": "继续执行已停止的任务。",
    "Begin anew; what is there is put away.": "重新开始；已有内容会被移走。",
    "Only print what would be run.": "只打印将要运行的内容。",
    "Do not pass on what AOE prints.": "不转发 AOE 的输出。",
    "Hold AOE's claims against two profiles: confirmed, partly, not-reproduced, regressed, not-comparable; why, what "
    "next.": (
        "用两份性能数据核对 AOE 宣称的收益：confirmed、partly、not-reproduced、regressed、not-comparable；"
        "原因以及下一步。"
    ),
    "A profile with the tuned bank.": "使用调优后知识库的性能数据。",
    "A profile before tuning [default: the plan's].": "调优前的性能数据 [默认值：计划所用的]。",
    "AOE's results, where they are not in DIR (repeatable).": "AOE 的结果，用于不在 DIR 中的情况（可重复）。",
    "What passes: something confirmed, partly suffices, the step itself, every operator.": (
        "通过的条件：有收益得到确认、部分确认即可、步本身、每个算子。"
    ),
    "Folder or URI of the store for the verdicts.": "保存结论的存储的目录或 URI。",
    "Put a job's private bank into use, if `verify` has confirmed it: the old one is kept, nobody sees half of a bank.": (
        "将任务的私有知识库投入使用，前提是 `verify` 已确认：保留旧知识库，不会出现只有一半的知识库。"
    ),
    "The bank to be replaced, laid out as under TUNE_BANK_PATH [default: the one in use].": (
        "要替换的知识库，布局同 TUNE_BANK_PATH [默认值：正在使用的]。"
    ),
    "Even if no new profile has confirmed the gain.": "即使没有新的性能数据确认收益。",
    "Only say what would be replaced.": "只说明将要替换的内容。",
    # the store: normalize, ingest, history, regressions, ack, expect, tag, store
    "Print benchmark log records (schema v0.1) as JSON lines; -o FILE takes .jsonl, .json or .parquet.": (
        "以 JSON lines 打印基准测试日志记录（schema v0.1）；-o FILE 可为 .jsonl、.json 或 .parquet。"
    ),
    "Check, normalise and store every run; doing it twice adds nothing.": (
        "检查、规范化并存入每个运行；重复执行不会增加内容。"
    ),
    "List what is in the store, oldest first: runs, records, changes that were told, what people said of them, advice, verdicts.": (
        "列出存储的内容，最早的在前：运行、记录、报告过的变化、人员对其的说明、建议、实测结论。"
    ),
    "What to list.": "要列出的内容。",
    "Only this model, or this record's workload.": "只看该模型，或该工作负载的记录。",
    "Only records of this scope.": "只看该范围的记录。",
    "Only nights from this date on (YYYY-MM-DD).": "只看该日期起的夜（YYYY-MM-DD）。",
    "Only the newest N.": "只看最新的 N 个。",
    "Form of the output; jsonl: the records of v0.1 themselves, one a line.": (
        "输出格式；jsonl：v0.1 记录本身，每行一条。"
    ),
    "Say what got slower or faster in the stored nights, since when, by how much, and which operators did it.": (
        "说明存储的各夜中什么变慢或变快、从何时起、幅度多大、由哪些算子引起。"
    ),
    "Only this model, or workload.": "只看该模型或工作负载。",
    "Only series of this scope.": "只看该范围的序列。",
    "How many false alarms a year the whole store may raise; its series share them.": (
        "整个存储每年允许的误报数；由所有序列分担。"
    ),
    'Fail only on such changes: "scope=step,effect>=3%"; may be repeated.': (
        '只因这类变化而不通过："scope=step,effect>=3%"；可重复。'
    ),
    "Exit with 1 on what is confirmed; with suspect, with 5 on what is only suspected, too.": (
        "有已确认的变化时以 1 退出；为 suspect 时，仅有疑似变化也以 5 退出。"
    ),
    "Exit with 4 when no series has enough nights.": "没有序列具有足够的夜时以 4 退出。",
    "What the newest level is held against: segment (the level since the last accepted change), run:RUN_ID, tag:NAME, "
    "window:YYYY-MM-DD..YYYY-MM-DD, or nights:N (the N nights before the newest three).": (
        "最新水平的比较对象：segment（自上次被接受的变化以来的水平）、run:RUN_ID、tag:NAME、"
        "window:YYYY-MM-DD..YYYY-MM-DD 或 nights:N（最新三夜之前的 N 夜）。"
    ),
    "Remember in the store what changed, as `nightly` does.": "像 `nightly` 一样将变化记入存储。",
    "Series that did not change, or cannot be judged, too.": "也显示没有变化或无法判定的序列。",
    "Every change since the first night, looked at once; the false alarms are then those of this look. Fails on none.": (
        "一次查看自第一夜以来的所有变化；此时误报数为本次查看的误报数。不会因此不通过。"
    ),
    "Accept what got slower as the new level: the baseline moves there, and it fails no gate any more.": (
        "接受变慢后的水平作为新水平：基线移到该处，不再使任何门禁不通过。"
    ),
    "Id of a series or an incident, as `regressions` shows it; with --revoke also of an acknowledgement.": (
        "序列或事件的 id，见 `regressions`；与 --revoke 一起时也可为接受记录的 id。"
    ),
    "Why; it stands in the store, and in every report.": "原因；会记入存储和每份报告。",
    "Who says so; unless told, whom the CI system or $AOE_REPORTS_USER names.": (
        "由谁说明；未指定时为 CI 系统或 $AOE_REPORTS_USER 给出的名称。"
    ),
    "Take back what was acknowledged or expected instead.": "改为撤回已接受或已预告的内容。",
    "Announce a change: a slow-down of such a size that begins there is told as expected, and fails no gate.": (
        "预告变化：从该处开始、幅度相符的劣化会作为预期内的变化报告，不使任何门禁不通过。"
    ),
    "A model, a workload or what workloads are a part of: net, net/step.": "模型、工作负载或工作负载所属的部分：net、net/step。",
    "First night at which it may begin.": "可能开始的第一夜。",
    "How much slower or faster: 5% (either way), 0..5%, -3%..5%.": "变慢或变快的幅度：5%（两个方向）、0..5%、-3%..5%。",
    "Last night at which it may begin [default: 7 days later].": "可能开始的最后一夜 [默认值：7 天后]。",
    "Name a run, so that `--baseline tag:NAME` finds its night.": "为运行命名，使 `--baseline tag:NAME` 能找到其所在的夜。",
    "The name.": "名称。",
    "Id of a run, as `history runs` shows it.": "运行的 id，见 `history runs`。",
    "Care of the store: what it holds, whether it is whole, merging, deleting, undoing, export and import.": (
        "存储的维护：内容、完整性、合并、删除、撤销、导出和导入。"
    ),
    "Say what the store holds: runs, records, bytes, files, version, format, last compaction.": (
        "说明存储的内容：运行、记录、字节、文件、版本、格式、最近一次合并。"
    ),
    "Read every file and hold it against its hash and the log; exit 1 when something is damaged or missing, 3 when it "
    "cannot be read.": "读取每个文件，与其哈希值和日志核对；有损坏或缺失时以 1 退出，无法读取时以 3 退出。",
    "Merge small files and sort their rows; others may write meanwhile.": (
        "合并小文件并排序其中的行；期间其他进程可以写入。"
    ),
    "Delete files that are no part of the store any more.": "删除不再属于存储的文件。",
    "Keep what was in force in the last so many days.": "保留最近多少天内有效的内容。",
    "Fewer than 7 days; nobody may be writing meanwhile.": "允许少于 7 天；期间不得有进程写入。",
    "Take a run out of the store, and note who did and when; it can be ingested again.": (
        "从存储中取出一个运行，并记下操作者和时间；可以再次存入。"
    ),
    "Write every row into files that need no Delta reader.": "将所有行写入无需 Delta 即可读取的文件。",
    "A new folder (hive Parquet), .jsonl or .csv.": "新目录（hive Parquet）、.jsonl 或 .csv。",
    "Store what an export holds; doing it twice adds nothing. A run with a row that cannot be used is left out: exit 1.": (
        "存入导出的内容；重复执行不会增加内容。含有不可用行的运行会被略去：退出码 1。"
    ),
    "What `store export` wrote: folder or .jsonl.": "`store export` 写出的目录或 .jsonl。",
    # pages: report, site, serve, nightly, demo, config
    "Report one night from the stored history: what got slower, since when, which operator; hotspots, AOE's claims.": (
        "根据存储的历史报告一夜：什么变慢、从何时起、哪个算子；热点、AOE 宣称的收益。"
    ),
    "Only this workload.": "只看该工作负载。",
    "The night [default: the newest].": "要报告的夜 [默认值：最新的]。",
    "Write the figures as PNG files with alt text, too.": "同时将图写为带替代文本的 PNG 文件。",
    "Write a folder of static pages: what changed, since when, how much, which operator; every series, every run.": (
        "写出静态页面的目录：什么变化、从何时起、幅度多大、哪个算子；每个序列、每个运行。"
    ),
    "Folder of the site; it is replaced as a whole.": "站点的目录；会被整体替换。",
    "Serve the folder of a site on 127.0.0.1, for this machine alone, until Ctrl-C.": (
        "在 127.0.0.1 上提供站点目录，仅供本机访问，直到 Ctrl-C。"
    ),
    "Folder of the site.": "站点的目录。",
    "Port; 0: any that is free.": "端口；0：任一空闲端口。",
    "Check, normalise, store, compare with the history, report; exit 1 for damage or a regression.": (
        "检查、规范化、存入、与历史比较、报告；有损坏或劣化时以 1 退出。"
    ),
    "Folder for the pages of `site`, and for report.html, .md and .json.": (
        "存放 `site` 页面以及 report.html、.md 和 .json 的目录。"
    ),
    "Write 45 simulated nights, one operator slower from night 38 on, and do the main job over them.": (
        "写出 45 个模拟的夜，其中一个算子自第 38 夜起变慢，并对其执行主流程。"
    ),
    "Folder for nights, history and site.": "存放各夜数据、历史和站点的目录。",
    "Show which options of which command the configuration files or the environment set.": (
        "显示配置文件或环境变量设置了哪些命令的哪些选项。"
    ),
    "Options that nobody changed, too.": "也显示未更改的选项。",
    "Only this run, of runs, records or advice.": "仅此运行（用于 runs、records 或 advice）。",
}
