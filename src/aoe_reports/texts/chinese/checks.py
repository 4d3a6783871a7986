"""What rules say of tables, results and records."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    # checks.bank
    "model {model}: {sizes} sizes and {times} times; which belong together is unknown": (
        "模型 {model}：{sizes} 个大小和 {times} 个时间；无法确定其对应关系"
    ),
    "model {model}: {count} zeros in both lists, as written before tuning": (
        "模型 {model}：两个列表中均为 {count} 个零，即调优前写入的内容"
    ),
    "the name tells no soc; a bank is looked for as <soc>_gradient_fusion.json": (
        "文件名中没有 soc；知识库按 <soc>_gradient_fusion.json 查找"
    ),
    "the code that writes banks (hcom_graph_adaptor of CANN's graph engine), and the banks that come with it": (
        "写知识库的代码（CANN 图引擎的 hcom_graph_adaptor）及其自带的知识库"
    ),
    "each gradient has a size and a time": "每个梯度都有大小和时间",
    "five zeros stand there until the model is tuned": "模型调优之前该处为五个零",
    "a bank is found by the soc in its name": "知识库按名称中的 soc 查找",
    # checks.forms
    "{core} of device {device}": "{core}（device {device}）",
    "{op_type} on {core}": "{op_type}（{core}）",
    "{time:.3f} us": "{time:.3f} 微秒",
    "{op_type} on {core}: {count} tasks, {time:.3f} us in the table of tasks, no row here": (
        "{op_type}（{core}）：任务表中有 {count} 个任务，{time:.3f} 微秒，此处没有对应的行"
    ),
    "counts tasks, but {file} holds none": "统计了任务，但 {file} 中没有任务",
    "iteration {number}: {here} here, {there} in {file}, which is used": (
        "迭代 {number}：此处为 {here}，{file} 中为 {there}；采用后者"
    ),
    "{operators}: {count} tasks, {time:.3f} us here, but {tasks} tasks, {of_tasks:.3f} us in the table of tasks": (
        "{operators}：此处为 {count} 个任务，{time:.3f} 微秒，但任务表中为 {tasks} 个任务，{of_tasks:.3f} 微秒"
    ),
    "{count} tasks, {time:.3f} us here, but {other_count} tasks, {other_time:.3f} us in {file}, which is used": (
        "此处为 {count} 个任务，{time:.3f} 微秒，但 {file} 中为 {other_count} 个任务，{other_time:.3f} 微秒；采用后者"
    ),
    "{count} operators, {time:.3f} us here, but {other_count} operators, {other_time:.3f} us in {file}": (
        "此处为 {count} 个算子，{time:.3f} 微秒，但 {file} 中为 {other_count} 个算子，{other_time:.3f} 微秒"
    ),
    "{count} operators, {time:.3f} us on the device here, but {other_count} operators, {other_time:.3f} us in {file}": (
        "此处设备上为 {count} 个算子，{time:.3f} 微秒，但 {file} 中为 {other_count} 个算子，{other_time:.3f} 微秒"
    ),
    "{thread}: {here:.3f} us in the process Overlap Analysis here, but {stated:.3f} us in the table of steps": (
        "{thread}：此处 Overlap Analysis 进程中为 {here:.3f} 微秒，但步表中为 {stated:.3f} 微秒"
    ),
    "step {step} has tasks, but no row here": "步 {step} 有任务，但此处没有对应的行",
    "step {step} has a row here, but no task": "步 {step} 在此处有一行，但没有任务",
    "{count} tasks belong to no step: the head of the first step or the tail of the last is missing": (
        "{count} 个任务不属于任何步：缺少第一步的开头或最后一步的结尾"
    ),
    "step {step}: computing takes {computing:.3f} us here, but all its tasks together {busy:.3f} us: tasks are missing": (
        "步 {step}：此处计算时间为 {computing:.3f} 微秒，但其全部任务合计为 {busy:.3f} 微秒：缺少任务"
    ),
    # checks.options
    "the string is no JSON object": "该字符串不是 JSON 对象",
    "a key that the collector does not take: profiling does not start": "采集器不接受的键：采集不会启动",
    "a value that the collector does not take (a warning for storage_limit)": "采集器不接受的值（对 storage_limit 为警告）",
    "a key that does nothing as the others stand": "在其他键的当前取值下不起作用的键",
    "a string of 2048 bytes or more is read as an empty one": "2048 字节及以上的字符串按空字符串处理",
    "a key or value that some versions refuse": "部分版本拒绝的键或值",
    "keys that do not start together on some versions": "在部分版本上不能同时启用的键",
    "nothing says where the data go": "没有指定数据的存放位置",
    "what is collected for want of a key": "缺少某个键时采集的内容",
    "no options: the default set is collected; versions before 2022-02-24 stop, npu_resource_init raises": (
        "没有选项：采集默认集合；2022-02-24 之前的版本会停止，npu_resource_init 抛出异常"
    ),
    "{count} bytes; {most} or more are read as an empty string": "{count} 字节；{most} 字节及以上按空字符串处理",
    'not a JSON object; expected {"key":"value",…}': '不是 JSON 对象；应为 {"key":"value",…}',
    "{key} stands twice; the last one counts": "{key} 出现两次；以最后一个为准",
    "no JSON: {why}": "不是 JSON：{why}",
    "the key {key} lacks its opening quote (so does one in the Estimator sample of the guide)": (
        "键 {key} 缺少前引号（指南的 Estimator 示例中也有此错误）"
    ),
    "JSON takes double quotes only": "JSON 只接受双引号",
    "{key} was taken in 2022; later collectors refuse it and do not start": (
        "{key} 在 2022 年可用；之后的采集器拒绝它，并且不会启动"
    ),
    "{key} is no key of profiling_options: profiling does not start": "{key} 不是 profiling_options 的键：采集不会启动",
    "{key} takes a string, not {value}": "{key} 的值应为字符串，而不是 {value}",
    "{key}: l3 is taken on some chips only": "{key}：l3 仅在部分芯片上可用",
    "{key} is {value}; expected {expected}": "{key} 为 {value}；应为{expected}",
    "{key} takes a whole number without quotes, not {value}": "{key} 的值应为不带引号的整数，而不是 {value}",
    "{key} is {value}; expected {least} to {most}": "{key} 为 {value}；应为 {least} 至 {most}",
    "{key} above {most} is taken by newer versions only": "{key} 大于 {most} 仅较新版本可用",
    "one of {names}": "以下之一：{names}",
    "one of {names}, or Custom:0x…,0x…": "以下之一：{names}，或 Custom:0x…,0x…",
    "a number from {least} to {most} with MB behind it": " {least} 至 {most} 之间的数字，后接 MB",
    "some of {names}, with commas between": "以下若干项：{names}，以逗号分隔",
    "no output: the data go to $ASCEND_WORK_PATH/profiling_data, or profiling does not start where that is not set": (
        "没有 output：数据写入 $ASCEND_WORK_PATH/profiling_data；未设置该变量时采集不会启动"
    ),
    "task_trace=off alone is overwritten by task_time, which is on unless it is off itself": (
        "仅设置 task_trace=off 会被 task_time 覆盖，后者默认为 on，除非显式设为 off"
    ),
    "{points} matter only with training_trace=on": "{points} 仅在 training_trace=on 时有效",
    "training_trace is off: there will be no step_trace": "training_trace 为 off：不会生成 step_trace",
    "documents of 5.0.4 and 6.0.1 say that task_trace=on needs training_trace=on in training": (
        "5.0.4 和 6.0.1 的文档说明，训练场景下 task_trace=on 需要 training_trace=on"
    ),
    "no aic_metrics: op_summary will have no columns of counters": "没有 aic_metrics：op_summary 中不会有计数器列",
    "instr_profiling_freq beside {keys}: a collector of 2023 does not start": (
        "instr_profiling_freq 与 {keys} 同时设置：2023 年的采集器不会启动"
    ),
    # checks.records
    "neither a record nor a list of records": "既不是记录，也不是记录列表",
    "{value} is no time in a form that is known; expected an epoch, YYYYMMDDHHMMSS or ISO-8601": (
        "{value} 不是已知格式的时间；应为 epoch、YYYYMMDDHHMMSS 或 ISO-8601"
    ),
    "a number that no float64 holds; the record could not be given back as it is": (
        "float64 无法表示的数字；该记录无法原样还原"
    ),
    "and {count} more findings on records": "另有 {count} 个关于记录的发现",
    # checks.schema
    "and {count} more places that the schema does not allow": "另有 {count} 处不符合 schema",
    "{name} is a required property": "缺少必需的属性 {name}",
    "{value} is not of type {type}": "{value} 的类型不是 {type}",
    "{value} is not of types {type}": "{value} 的类型不是 {type} 之一",
    "{value} is not one of {names}": "{value} 不是以下之一：{names}",
    "{value} was expected": "应为 {value}",
    "{value} does not match {pattern}": "{value} 不匹配 {pattern}",
    "{value} is less than the minimum of {least}": "{value} 小于最小值 {least}",
    "{value} is greater than the maximum of {most}": "{value} 大于最大值 {most}",
    "{value} has less than 1 item": "{value} 的元素少于 1 个",
    "{value} has less than 1 property": "{value} 的属性少于 1 个",
    "{value} is shorter than 1 character": "{value} 少于 1 个字符",
    "{value} is longer than {most} characters": "{value} 超过 {most} 个字符",
    # checks.validate
    "no schema {kind!r}; expected one of {names}": "没有 schema {kind!r}；应为以下之一：{names}",
    "no document that JSON could hold: {error}": "JSON 无法表示的文档：{error}",
    "the kind of the document cannot be told; expected one of {names}": "无法判断文档的类型；应为以下之一：{names}",
    # checks.tables
    "and {count} more: {message}": "另有 {count} 个：{message}",
    "{header} is negative; the row is left out": "{header} 为负；该行已忽略",
    "{header} is negative; the cell is empty in the table": "{header} 为负；表中该单元格留空",
    "Count is not above 0; the row is left out": "Count 不大于 0；该行已忽略",
    "the same row stands above already; this one is left out": "上方已有相同的行；该行已忽略",
    "{count} of these rows stand in another file of this kind, too; they are left out here": (
        "其中 {count} 行在另一个同类文件中也有；此处已忽略"
    ),
    "{table}, row {row}: {message}": "{table}，第 {row} 行：{message}",
    "this row ends before the one above it: rows are out of order, or one is damaged": (
        "该行早于上一行结束：行的顺序错乱，或其中一行已损坏"
    ),
    "Communication is not Overlapped + Communication(Not Overlapped)": (
        "Communication 不等于 Overlapped + Communication(Not Overlapped)"
    ),
    "Stage + Bubble is not Computing + Communication(Not Overlapped) + Free": (
        "Stage + Bubble 不等于 Computing + Communication(Not Overlapped) + Free"
    ),
    "Stage + Bubble is not Computing + Communication(Not Overlapped) + Free: one of them is wrong": (
        "Stage + Bubble 不等于 Computing + Communication(Not Overlapped) + Free：其中有一项是错的"
    ),
    "stop - start is not the task's time": "stop - start 不等于任务的时间",
    "Min, Avg, Max, Count and total do not fit together": "Min、Avg、Max、Count 与总和互不相符",
    "the shares add up to {share:.4%}: a row is missing or damaged": "各占比之和为 {share:.4%}：有行缺失或损坏",
    "{count} rows of task type {word!r}, which is not known here; taken as computing": (
        "{count} 行的任务类型为 {word!r}，此处未知；按计算处理"
    ),
    "iterations {numbers} are missing between {first} and {last}": "{first} 与 {last} 之间缺少迭代 {numbers}",
    "the first iteration here is number {number}: earlier ones were not recorded": (
        "此处第一个迭代的编号为 {number}：更早的迭代未被记录"
    ),
    # checks.results
    "{count} segments 'basic'; expected exactly one": "有 {count} 个 'basic' 段；应恰好为一个",
    "{opat} segments 'OPAT', {sgat} 'SGAT'; expected at most one of them": (
        "有 {opat} 个 'OPAT' 段、{sgat} 个 'SGAT' 段；两者合计最多一个"
    ),
    "the file is named {kind}, its segment is {segment}": "文件名为 {kind}，而其中的段为 {segment}",
    "words of CANN 6.0 ('tune ...') and of later versions ('tuning ...') in one task": (
        "同一任务中既有 CANN 6.0 的用词（'tune ...'），又有后续版本的用词（'tuning ...'）"
    ),
    "this task uses the words of '{words} ...', the one at {place} those of '{other} ...'": (
        "该任务使用 '{words} ...' 类用词，位于 {place} 的任务使用 '{other} ...' 类用词"
    ),
    "{key!r} in {segment}; expected {expected}": "{segment} 中为 {key!r}；应为 {expected}",
    "a number of a size that no time has (0 or 10^-9 to 10^15); it is not used": (
        "该数值不可能是时间（0 或 10^-9 至 10^15）；不予采用"
    ),
    "the key {key!r} is not known here; it is passed over": "键 {key!r} 在此处未知；已跳过",
    "the key {key!r} is not of the form report_<time>_<thread>": "键 {key!r} 不符合 report_<time>_<thread> 的格式",
    "{status!r} is no known status; expected one of {names}": "{status!r} 不是已知的状态；应为以下之一：{names}",
    "{status!r} is a slip of the documents; read as {meant}": "{status!r} 是文档中的笔误；按 {meant} 处理",
    "none named": "未列出",
    "tuning of {name!r} failed; operators: {operators}": "{name!r} 调优失败；算子：{operators}",
    "tuning of {name!r} was broken off; its numbers are not used": "{name!r} 的调优被中断；不采用其数值",
    "no tuning_time(s), as in a run that was broken off: is {name!r} complete?": (
        "没有 tuning_time(s)，与被中断的运行相同：{name!r} 是否完整？"
    ),
    "{key} is there, which a run that was broken off does not write": "存在 {key}，而被中断的运行不会写入它",
    "no tuning_time(s), although the status is {status!r}": "没有 tuning_time(s)，但状态为 {status!r}",
    "a baseline, and no {key}, although the status is {status!r}": "有基线但没有 {key}，而状态为 {status!r}",
    "no SGAT segment: subgraph tuning of {name!r} failed": "没有 SGAT 段：{name!r} 的子图调优失败",
    "no OPAT segment: {name!r} has no operator that can be tuned": "没有 OPAT 段：{name!r} 没有可调优的算子",
    "tuning of {name!r} found nothing better": "{name!r} 的调优没有找到更优的结果",
    "failed, but no operator is named as failed": "调优失败，但没有列出失败的算子",
    "operators are named as failed ({operators}), the status is {status!r}": (
        "列出了失败的算子（{operators}），而状态为 {status!r}"
    ),
    "repo_hit_num {hit} is not reserved {reserved} + update {update}": (
        "repo_hit_num {hit} 不等于 reserved {reserved} + update {update}"
    ),
    "total_num {total} is not hit {hit} + add {add} + unsatisfied {unsatisfied}": (
        "total_num {total} 不等于 hit {hit} + add {add} + unsatisfied {unsatisfied}"
    ),
    "repo_{mode}_num is {said}, but {count} entries are listed": "repo_{mode}_num 为 {said}，但列出了 {count} 个条目",
    "update_mode {mode!r} is neither 'add' nor 'update'; it counts as neither": (
        "update_mode {mode!r} 既不是 'add' 也不是 'update'；两者均不计入"
    ),
    "{name!r} stands here and at {place}": "{name!r} 出现在此处和 {place}",
    "{name!r} is named as failed and as modified": "{name!r} 既被列为失败，又被列为已修改",
    "{key} is {value}; expected a time above 0": "{key} 为 {value}；应为大于 0 的时间",
    "after tuning {after}, before {before}: not faster": "调优后为 {after}，调优前为 {before}：没有变快",
    "says {claim}; {before} before and {after} after are a speed-up (before/after - 1) of {gain}%": (
        "标称 {claim}；调优前 {before}、调优后 {after} 对应的加速比（before/after - 1）为 {gain}%"
    ),
    "{claim} is the time saved (1 - after/before)": "{claim} 是节省时间的比例（1 - after/before）",
    "repo_key {name!r} is no unsigned 64-bit number": "repo_key {name!r} 不是 64 位无符号数",
    "not in the published (incomplete) lists of operators that AOE tunes: {names}": (
        "不在已公开（不完整）的 AOE 可调优算子列表中：{names}"
    ),
    "the modified subgraphs save {parts} ms together, the model {whole} ms": (
        "已修改的子图共节省 {parts} 毫秒，模型节省 {whole} 毫秒"
    ),
    "the modified operators save {parts} ms together, the model {whole} ms": (
        "已修改的算子共节省 {parts} 毫秒，模型节省 {whole} 毫秒"
    ),
    "AOE results": "AOE 结果",
    "AOE results, tables": "AOE 结果、表",
    "AOE result documents, CANN 6.0 to 8.0": "AOE 结果文档，CANN 6.0 至 8.0",
    "measured on the five documented samples": "在五个文档示例上测得",
    "torch_npu's list of 112 types, Operator List of CANN 9.0": "torch_npu 的 112 种类型列表，CANN 9.0 的算子清单",
    "arithmetic": "算术",
    "the file name says opat, the segment SGAT, or the other way": "文件名为 opat 而段为 SGAT，或相反",
    "exactly one basic, at most one OPAT or SGAT": "恰好一个 basic，最多一个 OPAT 或 SGAT",
    "operators are in us, subgraphs in ms; columns in units that exporters write": (
        "算子以微秒计，子图以毫秒计；列使用导出工具所写的单位"
    ),
    "a key that no document names: the schema is open": "文档中没有的键：schema 是开放的",
    "one version of AOE writes one vocabulary": "同一版本的 AOE 只使用一套用词",
    "no tuning measures 31 years": "没有哪次调优会测量 31 年",
    "the key tells when the task was tuned": "键说明任务的调优时间",
    "only the documented statuses tell what happened": "只有文档中的状态才能说明发生了什么",
    "the English page prints 'tune tuning incomplete'": "英文页面写作 'tune tuning incomplete'",
    "a failed tuning must not pass as a result": "失败的调优不得当作结果",
    "an interrupted run proves nothing": "被中断的运行不能说明任何问题",
    "what an interrupted run leaves out is documented": "被中断的运行缺少哪些内容，文档中有说明",
    "SGAT has no status: failure is a missing segment": "SGAT 没有状态：失败表现为缺少段",
    "no OPAT segment means no operator to tune": "没有 OPAT 段表示没有可调优的算子",
    "legal, and no bank is then written": "合法，此时不写知识库",
    "failed operators are listed on failure": "失败时会列出失败的算子",
    "the list belongs to failures": "该列表只属于失败的情况",
    "hit = reserved + update": "应满足 hit = reserved + update",
    "total = hit + add + unsatisfied": "应满足 total = hit + add + unsatisfied",
    "the counts are those of the lists": "计数应与列表一致",
    "the documents show 'add'; the counts imply 'update'": "文档写作 'add'；计数表明应为 'update'",
    "one case has one outcome": "一种情况只有一个结果",
    "no operator takes no time": "没有不耗时的算子",
    "only a better policy is stored": "只存储更优的策略",
    "every sample is before/after - 1": "所有示例均为 before/after - 1",
    "the documents say 'time reduced' and print a speed-up": "文档写作“节省时间”，而给出的是加速比",
    "a 64-bit hash in decimal digits": "以十进制表示的 64 位哈希",
    "types outside of the list cannot be tuned": "列表之外的类型不能调优",
    "operators overlap and repeat; a gain from elsewhere would show here": (
        "算子会重叠和重复；来自其他方面的收益会在此处体现"
    ),
    # workflows.rules
    "all JSON files": "所有 JSON 文件",
    "AOE results, records": "AOE 结果、记录",
    "tables": "表",
    "all files": "所有文件",
    "timelines": "时间线",
    "databases": "数据库",
    "runs": "运行",
    "records": "记录",
    "comparisons": "比较",
    "the store": "存储",
    "gradient banks": "梯度知识库",
    "preflight": "预检",
    "tuning jobs": "调优任务",
    "tuning plans": "调优计划",
    "verifying": "验证",
    "adopting banks": "采用知识库",
    "not JSON, and not merely cut off": "不是 JSON，且并非仅被截断",
    "a key stands twice in one object; all are read (in tables: an error, nothing is)": (
        "同一对象中某个键出现两次；全部读取（在表中为错误，均不读取）"
    ),
    "not UTF-8 (read as GB18030; of a timeline nothing is used)": "不是 UTF-8（按 GB18030 读取；时间线则完全不采用）",
    "larger than is read (results 256 MiB, banks 64 MiB, documents 1 GiB, one event 16 MiB)": (
        "超过读取上限（结果 256 MiB，知识库 64 MiB，文档 1 GiB，单个事件 16 MiB）"
    ),
    "shape or type is not what the schema says": "结构或类型不符合 schema",
    "a row with more or fewer cells than the header": "行的单元格数多于或少于表头",
    "a row of the wrong length of which it is certain what the exporter meant": "行的长度有误，但可确定导出工具的本意",
    "a row over several lines: stray quotes swallow rows": "一行跨越多行：多余的引号会吞掉其他行",
    "a count of tasks that is not above 0": "任务数不大于 0",
    "the file does not end with a line end (a warning where its last row has all its cells and may be whole)": (
        "文件末尾没有换行符（最后一行单元格齐全且可能完整时为警告）"
    ),
    "files of MindSpore's own profiler: recognised, not read (a warning where nothing else is there)": (
        "MindSpore 自有性能分析工具的文件：已识别，不读取（没有其他文件时为警告）"
    ),
    "a cell that should be a number and is none": "单元格应为数字但不是",
    "not UTF-8 (read as GB18030; an error where it is neither)": "不是 UTF-8（按 GB18030 读取；两者都不是则为错误）",
    "cannot be taken apart into rows": "无法拆分成行",
    "a column that the kind has in every vintage is not there": "缺少该类表在所有版本中都有的列",
    "no value where the row is of no use without one": "缺少必需的值，该行因此无法使用",
    "nothing takes less than no time": "任何操作的耗时都不会为负",
    "a negative difference that the C++ exporter let wrap around 2**64": "C++ 导出工具使负的差值绕过 2**64 回绕",
    "a declared column stands in the header twice": "已声明的列在表头中出现两次",
    "columns in an order that no exporter writes: headers may have changed places": (
        "列的顺序与任何导出工具都不符：表头可能被调换"
    ),
    "a row that stands there twice would count twice": "重复的行会被重复计数",
    "an iteration that ends before the one above it": "迭代早于上一行的迭代结束",
    "Min, Avg, Max, Count and total of one row do not fit together": "同一行的 Min、Avg、Max、Count 与总和互不相符",
    "the shares of a whole statistic do not add up to 100 %": "整个统计的占比之和不为 100 %",
    "a task type that no exporter is known to write": "已知的导出工具都不会写出的任务类型",
    "communication.json: the operators do not add up to its own total": (
        "communication.json：各算子之和与其自身的总计不符"
    ),
    "a gap in the numbers of iterations, or tasks and steps that do not know each other": (
        "迭代编号不连续，或任务与步互不对应"
    ),
    "a gap in the numbers of slices: rows are missing": "分片编号不连续：缺少行",
    "op_statistic is not the tasks grouped by type: rows were lost or damaged": (
        "op_statistic 与按类型汇总的任务不符：有行丢失或损坏"
    ),
    "two forms of the same facts differ (tables, databases, timelines)": (
        "同一事实的两种形式不一致（表、数据库、时间线）"
    ),
    "an entry of a JSON summary or document that is no row": "JSON 汇总或文档中的条目不是一行",
    "0 bytes": "0 字节",
    "a path that is not there or cannot be opened (exit code 3)": "路径不存在或无法打开（退出码 3）",
    "a path with no file of a known kind": "路径下没有已知类型的文件",
    "a file that was named and is of no known kind": "指定的文件不属于任何已知类型",
    "a folder, pipe or device with the name of a file that is read here": "文件夹、管道或设备使用了此处读取的文件名",
    "a link that leads nowhere or in a circle": "链接没有目标或形成循环",
    "a compressed file that cannot be expanded to its end": "压缩文件无法完整解压",
    "a compressed file that expands further than allowed": "压缩文件解压后超过允许的大小",
    "a tar or zip archive; it has to be unpacked first": "tar 或 zip 归档；需要先解包",
    "every file of this kind holds the whole run; one is used": "此类文件每个都包含整个运行；只采用其中一个",
    "no database, cut off, or not sound": "不是数据库、被截断或不完好",
    "a value that is not of its column's type": "值与列的类型不符",
    "a number of a string that is not there": "字符串编号没有对应的字符串",
    "a journal beside it: what stands there is not read": "旁边有日志文件（journal）：其内容不会读取",
    "a time stamp whose last digits are lost (stored as a float)": "时间戳的末尾几位已丢失（以浮点数存储）",
    "tasks that exporters until 2023-05 wrote a second time, under their stage": (
        "2023-05 之前的导出工具在其阶段下重复写入的任务"
    ),
    "events of a phase that no profiler writes: no sum takes them": "性能采集工具不会写出的事件类型：不计入任何总和",
    "a size, share, number or time stamp below 0; the cell is empty in the table": (
        "大小、占比、编号或时间戳小于 0；表中该单元格留空"
    ),
    "a header that is one letter away from one that is not there": "表头与某个缺失的表头只差一个字母",
    "a table that every database of its kind has is not there, or cannot be used": (
        "缺少同类数据库都有的表，或该表无法使用"
    ),
    "an event without its times": "事件没有时间",
    "not a list of trace events": "不是 trace 事件列表",
    "two exports of one kind whose names tell no order; one is used": (
        "两个同类导出的名称无法区分先后；只采用其中一个"
    ),
    "an older export beside a newer one of the same kind": "较新的同类导出旁边有一个较旧的导出",
    "an info file that is no JSON: rank and time may be missing": "info 文件不是 JSON：可能缺少 rank 和时间",
    "the store has a more complete version of the run, and keeps it": "存储中已有该运行的更完整版本，予以保留",
    "runs in the store that an older version normalised (see --renew)": "存储中由旧版本规范化的运行（见 --renew）",
    "no table of tasks (communication: of operators): another form is used instead": (
        "没有任务表（communication：没有算子表）：改用另一种形式"
    ),
    "neither a timeline of the whole device nor a database that holds one": (
        "既没有整个设备的时间线，也没有包含它的数据库"
    ),
    "several devices, and nothing tells which of them communicates": "有多个设备，无法判断哪个设备在通信",
    "how far the ranks of a job are apart in a step, and which is the slowest": (
        "一个作业的各 rank 在一步中相差多少，以及哪个最慢"
    ),
    "a link to a folder that is read already, or holds the link": "指向已读取的文件夹或包含该链接的文件夹的链接",
    "a large text of which parts were never written: nothing of it is used": "较大的文本文件，其中一部分从未写入：其内容均未采用",
    "too many folders below one another; what is below is not read (exit code 3)": (
        "目录嵌套过深；更深处的内容未读取（退出码 3）"
    ),
    "too much behind links that lead out of the path given; the rest is not read (exit code 3)": (
        "通向给定路径之外的链接之后内容过多；其余未读取（退出码 3）"
    ),
    "a capture without one usable time": "采集中没有任何可用的时间",
    "a file that `check` reads, and of which no record is made": "`check` 会读取、但不生成记录的文件",
    "a run that v0.1 has no record for: what it says stands in the run's own row": (
        "v0.1 没有对应记录的运行：其内容位于该运行自己的行中"
    ),
    "a time in no form that is known: an epoch, YYYYMMDDHHMMSS, ISO-8601": (
        "时间不是已知的格式：epoch、YYYYMMDDHHMMSS、ISO-8601"
    ),
    "a number that no float64 holds": "float64 无法表示的数字",
    "a record that was read already: used once": "已读取过的记录：只采用一次",
    "nothing tells what was measured": "没有信息说明测量的对象",
    "the same content is stored under another workload, or a capture's operators are not those of the workload whose series it would share": (
        "相同的内容已存储在另一个 workload 下，或采集的算子与其将共用序列的 workload 的算子不同"
    ),
    "runs go on under the name that the store has for them, not under the one that is inferred now": (
        "运行沿用存储中已有的名称，而不是现在推断出的名称"
    ),
    "the operators are not those of the night before, and --workload says that it is the same workload": (
        "算子与前一夜不同，而 --workload 指明是同一个 workload"
    ),
    "the pattern of --workload-from does not fit the path": "--workload-from 的模式与路径不匹配",
    "what the store has of a workload cannot be read: nothing was compared with it": (
        "存储中某个 workload 的内容无法读取：没有与之比较"
    ),
    "nothing tells when it was made": "没有信息说明其生成时间",
    "a time without a zone was taken as UTC": "没有时区的时间按 UTC 处理",
    "records of more tasks or steps than --raw says: their single times are left out": (
        "记录的任务数或步数超过 --raw：不保留其单次时间"
    ),
    "what is known of two captures differs (a warning with --force): a difference of times would say little": (
        "两次采集的已知条件不同（使用 --force 时为警告）：时间之差没有多少意义"
    ),
    "what decides whether two captures compare is not known": "缺少判断两次采集是否可比的信息",
    "no step number is in both captures: steps are paired in their order": "两次采集没有共同的步编号：按顺序配对",
    "more operators than become records": "算子数超过生成记录的上限",
    "a file of the store is not there": "存储中缺少文件",
    "a file of the store has not the size that was written": "存储中的文件大小与写入时不同",
    "the system refuses to read a file: whether it is damaged is not known": ("系统拒绝读取文件：无法判断是否损坏"),
    "the content of a file is not what was written: a flipped bit is enough": (
        "文件内容与写入时不同：一个比特翻转即可造成"
    ),
    "a commit or a checkpoint of the table's log is empty, cut off, damaged, missing, or not what the others say": (
        "表日志的提交或检查点为空、被截断、损坏、缺失，或与其他提交所述不符"
    ),
    "a run, or a member of one, is there twice": "运行或其成员重复存在",
    "rows of a run that is not there, or a run that has not as many rows as its row says": (
        "存在某个运行的行，但该运行不存在；或运行的行数与其声明不符"
    ),
    "commits, files or rows of runs of an older version or another program: they carry nothing to be held against": (
        "较旧版本或其他程序的提交、文件或运行行：没有可供核对的内容"
    ),
    "what a row holds as JSON beside its columns is not as it was written; pages and reports leave it out, `regressions` leaves a change out and ends with 3": (
        "行中以 JSON 存放的内容与写入时不符；页面和报告不使用它，`regressions` 略去这样的变化并以 3 结束"
    ),
    "a value that the column cannot have; readers leave the row out and end with 3, `store import` leaves its run out": (
        "列中不可能有的值；读取时略去该行并以 3 结束，`store import` 略去其运行"
    ),
    "a run that `store import` leaves out: one of its rows cannot be used": "`store import` 略去的运行：其中一行不可用",
    "one or two nights more than a year from all others of the workload, which has at least ten: they are held against nothing": (
        "有一两夜与该 workload 的其他夜（至少十夜）相差一年以上：不与任何数据比较"
    ),
    "a workload measured on several kinds of hardware: each kind has series of its own": (
        "同一 workload 在多种硬件上测量：每种硬件有各自的序列"
    ),
    "a change that was told, and that the nights that are there now (filled in, undone) do not bear out": (
        "已报告的变化，但现有的夜（补充或撤销之后）不再支持它"
    ),
    "no series has so many nights that a change could be told from noise": "没有序列的夜数足以将变化与噪声区分开",
    "small files could not be merged: one of them is damaged": "小文件无法合并：其中一个已损坏",
    "below {share:.0%} of the median bandwidth of links that carried a like volume in the same operators (at least "
    "{least} MB), and out of line there in more than half of the comparisons": (
        "低于在相同算子中传输相近数据量（至少 {least} MB）的链路带宽中位数的 {share:.0%}，且在半数以上的比较中偏离"
    ),
    "the one rank that the others wait for, more than {share:.0%} of an operator, in more than half of the operators": (
        "在半数以上的算子中，其他 rank 都在等待的那个 rank，等待时间超过算子的 {share:.0%}"
    ),
    "all-reduce behind the backward pass: what tuning of gradients could hide": (
        "反向传播之后的 all-reduce：梯度调优可能掩盖的部分"
    ),
    "CANN, TensorFlow 1.15 migration: adjusting the gradient segmentation policy": (
        "CANN，TensorFlow 1.15 迁移：调整梯度切分策略"
    ),
    "the bandwidth of a row is not its volume by its time": "行中的带宽不等于数据量除以时间",
    "the exporter divides one by the other (real exports: to the printed digits)": (
        "导出工具以两者相除得出（真实导出：与打印的位数一致）"
    ),
    "a matrix without totals tells of the best, middle and worst operators only": (
        "没有总计的矩阵只包含最好、中间和最差的算子"
    ),
    "real exports since 2024": "2024 年以来的真实导出",
    "rows of links without volume or transport": "链路的行没有数据量或传输方式",
    "real exports have both": "真实导出两者都有",
    "a task of communication whose arguments are damaged": "通信任务的参数已损坏",
    "the exporters' timelines": "导出工具的时间线",
    "a capture that tells of no communication: one device alone has none": "采集中没有通信：单个设备本来就没有通信",
}
