"""Titles, columns and sentences of reports."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    # columns that many tables have
    "About": "对象",
    "Added": "新增",
    "After (us a step)": "之后（us/步）",
    "After (us)": "之后 (us)",
    "After task": "前一任务",
    "Before": "之前",
    "Before (us a step)": "之前（us/步）",
    "Before (us)": "之前 (us)",
    "Before task": "后一任务",
    "Body": "主体",
    "Bound (us of a step)": "上限（us/步）",
    "Bound by": "瓶颈",
    "Bytes": "字节",
    "Bytes after": "之后字节数",
    "Bytes before": "之前字节数",
    "Cause": "原因",
    "Change": "变化",
    "Change (after/before - 1)": "变化（之后/之前 - 1）",
    "Changed": "已更改",
    "Changes": "变化",
    "Claimed after (us)": "宣称之后 (us)",
    "Claimed before (us)": "宣称之前 (us)",
    "Claim by AOE's times of": "宣称依据（AOE 的时间）",
    "Claimed change (after/before - 1)": "宣称变化（之后/之前 - 1）",
    "Command": "命令",
    "Communication": "通信",
    "Communication (us)": "通信 (us)",
    "Communication in it (us)": "其中通信 (us)",
    "Computing (us)": "计算 (us)",
    "Container": "容器",
    "Core": "核类型",
    "Count": "次数",
    "Count after": "之后次数",
    "Count before": "之前次数",
    "Cumulative": "累计占比",
    "Damaged": "损坏",
    "Data aug (us)": "数据增强拖尾 (us)",
    "Days kept": "保留天数",
    "Declare": "声明",
    "Device": "设备",
    "Difference (us a step)": "差值（us/步）",
    "Difference (us)": "差值 (us)",
    "Difference of means (us)": "均值之差 (us)",
    "Difference of totals (us)": "总计之差 (us)",
    "Duration (us)": "耗时 (us)",
    "End to end (us)": "端到端 (us)",
    "Entries added": "新增条目",
    "Entries lost": "丢失条目",
    "Expected (us of a step)": "预期（us/步）",
    "FP to BP (us)": "FP 到 BP (us)",
    "File": "文件",
    "Files": "文件",
    "Files before": "之前文件数",
    "Files deleted": "删除的文件",
    "Form": "形式",
    "Format": "格式",
    "Free (us)": "空闲 (us)",
    "From": "从",
    "Gap (us)": "空隙 (us)",
    "Gradients": "梯度",
    "Hardware": "硬件",
    "Headers of": "表头版本",
    "Id": "编号",
    "Impact on a run (ms)": "对一次运行的影响 (ms)",
    "Incident": "事件",
    "Input shapes": "输入形状",
    "Kind": "类别",
    "Largest (bytes)": "最大（字节）",
    "Last compaction": "上次合并",
    "Less complete": "较不完整",
    "Line": "行",
    "Max (us)": "最大 (us)",
    "Mean (ms)": "平均 (ms)",
    "Mean (us)": "平均 (us)",
    "Mean after (us)": "之后平均 (us)",
    "Mean before (us)": "之前平均 (us)",
    "Measured after (us)": "实测之后 (us)",
    "Measured before (us)": "实测之前 (us)",
    "Mode": "模式",
    "Model": "模型",
    "Models": "模型",
    "Name": "名称",
    "Needed": "要求",
    "New inputs": "新出现的输入",
    "Night": "夜",
    "Nights": "夜数",
    "Not judged": "未判断的原因",
    "Not overlapped (us)": "未重叠 (us)",
    "Of the step": "占单步耗时",
    "On": "适用于",
    "Operator": "算子",
    "Operator type": "算子类型",
    "Option": "选项",
    "Overlapped (us)": "重叠 (us)",
    "P95 (us)": "P95 (us)",
    "Pages": "页面",
    "Path": "路径",
    "Phase": "阶段",
    "Rank": "Rank",
    "Ratio": "比值",
    "Ratio of totals": "总计比值",
    "Reason": "理由",
    "Records": "记录数",
    "Refresh (us)": "迭代拖尾 (us)",
    "Remark": "备注",
    "Removed": "删除",
    "Rows": "行数",
    "Rows merged": "合并的行",
    "Rule": "规则",
    "Run": "运行",
    "Runs": "运行",
    "Said by": "来自",
    "Scope": "范围",
    "Seen": "所见",
    "Series": "序列",
    "Severity": "级别",
    "Share": "占比",
    "Share of computing": "占计算时间",
    "Share of the step": "占单步耗时",
    "Since": "自",
    "Size (bytes)": "大小（字节）",
    "Smallest detectable": "可检测的最小变化",
    "Source": "来源",
    "State": "状态",
    "Status": "状态",
    "Std (ms)": "标准差 (ms)",
    "Std (us)": "标准差 (us)",
    "Step": "步",
    "Step (ms)": "单步耗时 (ms)",
    "Steps after": "之后步数",
    "Steps before": "之前步数",
    "Store": "存储结果",
    "Subgraph": "子图",
    "Superseded": "被取代",
    "Task": "任务",
    "Tasks": "任务数",
    "Time (unit unknown)": "时间（单位未知）",
    "Told": "报告时间",
    "Total (us)": "总计 (us)",
    "Total after (us)": "之后总计 (us)",
    "Total before (us)": "之前总计 (us)",
    "Total in the profile (us)": "采集中总计 (us)",
    "Tuned by run": "调优运行",
    "Tuning (s)": "调优 (s)",
    "Unchanged": "未变",
    "Refused": "已拒绝",
    "Until": "至",
    "Value": "值",
    "Vanished inputs": "消失的输入",
    "Verdict": "结论",
    "Version": "版本",
    "Vintage": "版式",
    "Vocabulary": "用词",
    "What": "对象",
    "What it holds": "内容",
    "What of a step": "步的组成",
    "When": "时间",
    "Who": "谁",
    "Why": "原因",
    "Why so much": "预期依据",
    "Withdrawn": "撤回于",
    "Workload": "工作负载",
    "Written": "写入",
    "Written by": "写出者",
    "from": "下限",
    "from (us)": "下限 (us)",
    "in night": "所在夜",
    "to": "上限",
    "to (us)": "上限 (us)",
    # reports.rows
    "Between two tasks that compute; a device's longest first.": "两个计算任务之间的空隙；同一设备最长的在前。",
    "Breakdown": "耗时分解",
    "Longest gaps in computing": "计算中最长的空隙",
    "Run: {run}": "运行：{run}",
    # what several reports say
    "{name} {value}": "{name} {value}",
    "{name} {value:.1%}": "{name} {value:.1%}",
    "{name} {share:.1%}": "{name} {share:.1%}",
    "{name} {size:+,.3f}": "{name} {size:+,.3f}",
    "{number} error": "{number} 个错误",
    "{number} errors": "{number} 个错误",
    "{number} warning": "{number} 个警告",
    "{number} warnings": "{number} 个警告",
    "{number} remark": "{number} 个提示",
    "{number} remarks": "{number} 个提示",
    "{number} file": "{number} 个文件",
    "{number} files": "{number} 个文件",
    "{number} night": "{number} 夜",
    "{number} nights": "{number} 夜",
    "{number} run": "{number} 次运行",
    "{number} runs": "{number} 次运行",
    "{number} series": "{number} 个序列",
    "{number:,} error": "{number:,} 个错误",
    "{number:,} errors": "{number:,} 个错误",
    "{number:,} warning": "{number:,} 个警告",
    "{number:,} warnings": "{number:,} 个警告",
    "{number:,} remark": "{number:,} 个提示",
    "{number:,} remarks": "{number:,} 个提示",
    "{number:,} night": "{number:,} 夜",
    "{number:,} nights": "{number:,} 夜",
    "{number:,} run": "{number:,} 次运行",
    "{number:,} runs": "{number:,} 次运行",
    "{number:,} task": "{number:,} 个任务",
    "{number:,} tasks": "{number:,} 个任务",
    ", device {device}": "，设备 {device}",
    ", run {run}": "，运行 {run}",
    "rank {rank}": "Rank {rank}",
    "device {device}": "设备 {device}",
    " since {since}": "，自 {since} 起",
    "Findings": "发现",
    "History": "历史",
    "What changed": "变化",
    "Where device time goes": "设备时间去向",
    "What AOE claims": "AOE 的宣称",
    "Claimed speed-up (before/after - 1)": "宣称的加速（之前/之后 - 1）",
    "No series changed.": "没有序列变化。",
    "Change is after / before - 1: above 0 is slower.": "变化 = 之后 / 之前 - 1：大于 0 表示变慢。",
    "The newest {count} are listed.": "列出最新的 {count} 个。",
    "AOE tuned {operator} in run {run} of {night}.": "AOE 在 {night} 的运行 {run} 中调优了 {operator}。",
    "other operators": "其他算子",
    "communication that is not overlapped": "未重叠的通信",
    "communication, not overlapped": "未重叠的通信",
    "free time": "空闲",
    "unattributed": "未归因",
    # reports.nightly
    "Nightly report": "夜间报告",
    "Nightly report (simulated data)": "夜间报告（模拟数据）",
    "Slower: {what} by {change:.1%} since {since} ({before:.3f} us before, {after:.3f} us after)": (
        "变慢：{what}，自 {since} 起慢 {change:.1%}（之前 {before:.3f} 微秒，之后 {after:.3f} 微秒）"
    ),
    "Nothing was stored: {why}": "没有保存任何内容：{why}",
    "nothing was found": "没有找到任何内容",
    "Nothing to compare with yet": "尚无可比较的数据",
    "Nothing is confirmed to have got slower; {suspects} series suspect: run the night again": (
        "没有确认变慢；{suspects} 个序列疑似异常：请重新运行这一夜"
    ),
    "Nothing got slower": "没有变慢",
    "Nothing got slower that nobody accepted": "除已被接受的以外，没有变慢",
    "{text}; {errors} in what was read.": "{text}；读取的内容中有 {errors}。",
    "Nothing was measured.": "没有测量数据。",
    (
        "{eligible} of {series} series of the store have enough nights to be judged; together they may raise {alarms:g} false "
        "alarms a year. Change is after / before - 1; before is the level since the last accepted change, after the newest "
        "one; the impact is what all calls of a run take longer."
    ): (
        "存储的 {series} 个序列中有 {eligible} 个夜数足以判断；合计每年允许 {alarms:g} 次误报。变化 = 之后 / 之前 - 1；之前是上一次被接受"
        "的变化以来的水平，之后是最新的水平；影响是一次运行的全部调用多用的时间。"
    ),
    "The baseline was chosen: {baseline}.": "基线是指定的：{baseline}。",
    "{count} of the runs read are cut off: stored, but compared with nothing.": (
        "读取的运行中有 {count} 次被截断：已保存，但不参与比较。"
    ),
    "{count} series slower": "{count} 个序列变慢",
    "{count} suspect (run the night again)": "{count} 个疑似（请重新运行这一夜）",
    "{count} slower and accepted": "{count} 个变慢且已接受",
    "{count} quicker": "{count} 个变快",
    "{count} with a change that was told before and is settled": "{count} 个的变化此前已告知并已了结",
    "{count} more incidents: report.json has them all.": "另有 {count} 个事件：全部见 report.json。",
    "{name}: mean time in ms over {nights} from {first} to {last}, between {low:.6g} and {high:.6g} ms": (
        "{name}：{first} 至 {last} 共 {nights}的平均耗时，介于 {low:.6g} 与 {high:.6g} 毫秒之间"
    ),
    "; another level since {since}": "；自 {since} 起处于另一水平",
    "What was read": "读取的内容",
    "{runs} read: {outcomes}. Step is that of the slowest rank.": "读取了 {runs}：{outcomes}。单步耗时取最慢的 rank。",
    "Compute tasks of the newest profile, run {run}, by operator type{ranks}.": "最新一次采集（运行 {run}）的计算任务，按算子类型{ranks}。",
    "These are AOE's own claims from its microbenchmarks: only a new profile proves them.": (
        "这些是 AOE 基于自身微基准的宣称：只有新的采集才能证明。"
    ),
    "{model}: operator {name} ({kind}{rank})": "{model}：算子 {name}（{kind}{rank}）",
    "{model}: operator type {kind}{rank}": "{model}：算子类型 {kind}{rank}",
    # reports.morning
    "Report": "报告",
    "Report of {workload}": "{workload} 的报告",
    "{report}, night {night}": "{report}，{night} 夜",
    "The store is empty: no run is stored, so nothing can be said.": "存储为空：没有保存任何运行，无法给出结论。",
    "Too few nights are stored to tell a change from noise.": "保存的夜数太少，无法区分变化与噪声。",
    "Nothing is known to have changed by {night}.": "截至 {night} 没有已知的变化。",
    "Nothing is confirmed to be slower; {changed}. {level}.": "没有确认变慢；{changed}。{level}。",
    "no series changed": "没有序列变化",
    "{count} suspected of a change": "{count} 个疑似变化",
    "{count} recovered": "{count} 个已恢复",
    "{count} improved": "{count} 个变快",
    "Slower: {level}": "变慢：{level}",
    " (acknowledged, as all that is slower)": "（与全部变慢的一样，已接受）",
    "{number} other series is slower, too.": "另有 {number} 个序列也变慢。",
    "{number} other series are slower, too.": "另有 {number} 个序列也变慢。",
    "{what}: {state}": "{what}：{state}",
    " ({before:,.6g} ms before, {after:,.6g} ms after)": "（之前 {before:,.6g} 毫秒，之后 {after:,.6g} 毫秒）",
    "{what} by {change:.1%}{since}{levels}": "{what} 慢 {change:.1%}{since}{levels}",
    "{what}: {state}, {change:+.1%}{since}{levels}": "{what}：{state}，{change:+.1%}{since}{levels}",
    "{operator} {part:+,.3f} us of {total:+,.3f} us a step": "每步 {total:+,.3f} 微秒中，{operator}占 {part:+,.3f} 微秒",
    "{operator} by {change:.1%} since the same night": "自同一夜起，{operator}慢 {change:.1%}",
    "operator {name} ({kind})": "算子 {name}（{kind}）",
    "operator {name}": "算子 {name} ",
    "operator type {kind}": "算子类型 {kind} ",
    (
        "{eligible} of {series} series have enough nights to be judged; together they may raise {alarms:g} false alarms a "
        "year. Change is after / before - 1: above 0 is slower."
    ): (
        "{series} 个序列中有 {eligible} 个夜数足以判断；合计每年允许 {alarms:g} 次误报。变化 = 之后 / 之前 - 1：大于 0 表示变慢。"
    ),
    "The first {shown} of {count} are listed.": "共 {count} 个，列出前 {shown} 个。",
    "Acknowledged": "已接受",
    (
        "{what}, mean time in ms over {nights} from {first} to {last}, between {low:,.6g} and {high:,.6g} ms, {newest:,.6g} ms "
        "in the newest"
    ): (
        "{what}，{first} 至 {last} 共 {nights}的平均耗时，介于 {low:,.6g} 与 {high:,.6g} 毫秒之间，最新一夜 {newest:,.6g} 毫秒"
    ),
    "{what}: {change:+.1%}": "{what}：{change:+.1%}",
    "; {state}: {change:+.1%} since {since}, from {before:,.6g} to {after:,.6g} ms": (
        "；{state}：自 {since} 起 {change:+.1%}，由 {before:,.6g} 毫秒变为 {after:,.6g} 毫秒"
    ),
    "; no change is marked": "；没有标记变化",
    "; {state}": "；{state}",
    "too few nights to judge, {number} of {least}": "夜数不足，无法判断（{least} 夜中的 {number} 夜）",
    "no change": "没有变化",
    "Night {night}: {state}. Mean time of {nights}, lower is better": "{night} 夜：{state}。{nights}的平均耗时，越低越好",
    "Line chart: {what}": "折线图：{what}",
    "Where the change of {what} since {since} is, in us a step: {parts}; together {total:+,.3f}": (
        "{what} 自 {since} 起变化的构成（微秒/步）：{parts}；合计 {total:+,.3f}"
    ),
    "{what}: where {total:+,.1f} us a step are": "{what}：每步 {total:+,.1f} 微秒变化的构成",
    "Night {night}: change since {since}, {before:,.1f} us before, {after:,.1f} us after": (
        "{night} 夜：自 {since} 起的变化，之前 {before:,.1f} 微秒，之后 {after:,.1f} 微秒"
    ),
    "the step": "整步",
    "change of a step (us)": "每步变化 (us)",
    "Waterfall chart, night {night}. {what}": "瀑布图，{night} 夜。{what}",
    "{sources} became {targets} ({moved:,.3f} us moved).": "{sources} 变为 {targets}（移动了 {moved:,.3f} 微秒）。",
    "`regressions` divides {steps} in the same way.": "`regressions` 以同样方式分解{steps}。",
    "{number:,} other changed step": "另外 {number:,} 个变化的步",
    "{number:,} other changed steps": "另外 {number:,} 个变化的步",
    "Where the change is": "变化的构成",
    "No run of that night tells of operators.": "当夜没有运行包含算子数据。",
    ", sum of {ranks} ranks": "，{ranks} 个 rank 合计",
    "Compute tasks of run {run} ({model}) by operator type{ranks}, {total:,.3f} us in all": (
        "运行 {run}（{model}）的计算任务，按算子类型{ranks}，共 {total:,.3f} 微秒"
    ),
    "; the first {shown} of {count} types": "；列出 {count} 种中的前 {shown} 种",
    "{name} {total:,.3f} us": "{name} {total:,.3f} 微秒",
    " ({share:.1%})": "（{share:.1%}）",
    "{model}: where device time goes": "{model}：设备时间去向",
    "Night {night}: {total:,.0f} us of compute tasks by operator type{ranks}": (
        "{night} 夜：计算任务共 {total:,.0f} 微秒，按算子类型{ranks}"
    ),
    "{total:,.1f} us, {tasks}": "{total:,.1f} 微秒，{tasks}",
    "Bar chart, night {night}. {about}: {types}": "条形图，{night} 夜。{about}：{types}",
    "Model before, claimed (ms)": "宣称的模型调优前耗时 (ms)",
    "Model after, claimed (ms)": "宣称的模型调优后耗时 (ms)",
    "These are AOE's own claims from its microbenchmarks: only a profile before and after proves them.": (
        "这些是 AOE 基于自身微基准的宣称：只有前后的采集数据才能证明。"
    ),
    "Operator or subgraph": "算子或子图",
    "The {shown} largest of {claims} on operators and subgraphs.": "关于算子和子图的 {claims}中最大的 {shown} 条。",
    "{number:,} claim": "{number:,} 条宣称",
    "{number:,} claims": "{number:,} 条宣称",
    "Claimed of operators": "对算子的宣称",
    "Runs of the night": "当夜的运行",
    "{runs} stored of {night}. Step is that of the slowest rank.": "{night} 保存了 {runs}。单步耗时取最慢的 rank。",
    "{runs} of them cut off: compared with nothing.": "其中 {runs}被截断：不参与比较。",
    "Other workloads with a run that night: {workloads}. `--workload` makes the report one of them.": (
        "当夜还有运行的其他工作负载：{workloads}。用 `--workload` 可得到其中之一的报告。"
    ),
    "Nothing is measured on {later} with a run: {nights}.": "之后有运行但没有测量数据的有 {later}：{nights}。",
    "Nothing of this workload is measured on {later} with a run: {nights}.": (
        "之后有运行但没有该工作负载测量数据的有 {later}：{nights}。"
    ),
    "{number:,} later night": "{number:,} 夜",
    "{number:,} later nights": "{number:,} 夜",
    # renderers.figures, workflows.report
    "since {night}": "自 {night} 起",
    "{since}: {levels} {unit}": "{since}：{levels} {unit}",
    "--workload {workload!r}: no run of it is stored; {held}": "--workload {workload!r}：没有保存它的运行；{held}",
    "--night {night!r}: expected a date such as 2026-01-31; {held}": "--night {night!r}：应为日期，例如 2026-01-31；{held}",
    "the store has {count} from {first} to {last}": "存储中有 {first} 至 {last} 的 {count} 夜",
    "--night {night!r}: no run of that night is stored; {held}": "--night {night!r}：没有保存当夜的运行；{held}",
    "the store is empty": "存储为空",
    "the store has {count} from {first} to {last}, next to it {near}": (
        "存储中有 {first} 至 {last} 的 {count} 夜，与之最近的是 {near}"
    ),
    "the store has workload {names}": "存储中的工作负载为 {names}",
    "the store has workloads {names}": "存储中的工作负载为 {names}",
    "{path}: the figures cannot be written: {why}": "{path}：无法写入图片：{why}",
    "{path}: the figures are in English: no font for Chinese is installed": "{path}：图片为英文：没有安装中文字体",
    # workflows.nightly
    "{path}: the report cannot be written: {why}": "{path}：无法写入报告：{why}",
    # reports.regressions, reports.incidents
    "Regressions": "劣化",
    "{count} changes since the first night.": "自第一夜以来有 {count} 次变化。",
    "What an alarm is worth here": "告警的可信程度",
    "Slower: {workload} by {percent:.1f}%{since}; {count} series in all.": (
        "变慢：{workload} 慢 {percent:.1f}%{since}；变慢的序列共 {count} 个。"
    ),
    "Nothing is confirmed to have got slower.": "没有确认变慢。",
    "Nothing is confirmed to have got slower that nobody accepted.": "除已被接受的以外，没有确认变慢。",
    "A step takes {total:+,.3f} us: {parts}.": "每步变化 {total:+,.3f} 微秒：{parts}。",
    "{sources} became {targets} ({moved:,.3f} us).": "{sources} 变为 {targets}（{moved:,.3f} 微秒）。",
    "Where the change of {workload} is": "{workload} 变化的构成",
    "{eligible} of {series} series have enough nights to be judged; this look may show {alarms:g} false changes of them.": (
        "{series} 个序列中有 {eligible} 个夜数足以判断；此次回顾可能误判其中 {alarms:g} 个变化。"
    ),
    (
        "{eligible} of {series} series have enough nights to be judged; together they may raise {alarms:g} false alarms a year."
    ): "{series} 个序列中有 {eligible} 个夜数足以判断；合计每年允许 {alarms:g} 次误报。",
    (
        "Of the series shown, the smallest change that would be found is {median:.1f}% in the median, {most:.1f}% at worst."
    ): "在所列序列中，可检测的最小变化的中位数为 {median:.1f}%，最差为 {most:.1f}%。",
    "The first {shown} of {count} series are listed; the JSON form has them all.": (
        "共 {count} 个序列，列出前 {shown} 个；全部见 JSON 形式。"
    ),
    "{since}: {title}": "{since}：{title}",
    "Incident {incident} ({model} on {hardware}{run}): {series}. {state}": (
        "事件 {incident}（{hardware} 上的 {model}{run}）：{series}。{state}"
    ),
    "Open.": "未了结。",
    "Nothing of it is open.": "已全部了结。",
    "Acknowledged {when} by {who}: {reason}": "{who} 于 {when} 接受：{reason}",
    "Expected, announced {when} by {who}: {reason}": "预期内，{who} 于 {when} 预告：{reason}",
    "nobody named": "未具名者",
    "{workload} is held against the level before the first of its changes: {steps}.": (
        "{workload} 与其首次变化之前的水平比较：{steps}。"
    ),
    "{workload} (series {series}) is not measured any more since {night}.": (
        "{workload}（序列 {series}）自 {night} 起不再有测量数据。"
    ),
    "What else changed there: {facts}.": "同时发生的其他变化：{facts}。",
    "Of that, the nights now do not show: {facts}.": "其中，按现有各夜数据已看不到：{facts}。",
    "Seen there later than it was first recorded: {facts}.": "首次记录之后才看到的变化：{facts}。",
    "First recorded since {since}; the nights now say {now}.": "首次记录的起始日期为 {since}；按现有各夜数据为 {now}。",
    # reports.checked
    "Checked": "检查结果",
    "Message": "说明",
    "Place": "位置",
    "None.": "无。",
    "no findings": "没有发现",
    "{count} {verdict}": "{verdict} {count}",
    "{files}: {verdicts}": "{files}：{verdicts}",
    "{files}; {findings}.": "{files}；{findings}。",
    "{place} at {pointer}": "{place}，位于 {pointer}",
    # reports.compared
    "Comparison": "比较",
    "How it was compared": "比较方法",
    "{candidate} against {baseline}{rank}": "{candidate} 与 {baseline} 比较{rank}",
    "Before {before:,.3f} us, after {after:,.3f} us: difference {difference:+,.3f} us{ratio}.": (
        "之前 {before:,.3f} 微秒，之后 {after:,.3f} 微秒：差值 {difference:+,.3f} 微秒{ratio}。"
    ),
    ", ratio {ratio:.4f}": "，比值 {ratio:.4f}",
    "The {shown} rows with the largest change of {count}.": "{count} 行中变化最大的 {shown} 行。",
    (
        "Difference is candidate - baseline, ratio is candidate / baseline, of totals; the largest absolute change of a "
        "total stands first."
    ): "差值 = 候选 - 基线，比值 = 候选 / 基线，均按总计；总计变化绝对值最大的在前。",
    (
        "Difference is candidate - baseline, ratio is candidate / baseline. First what all steps took, by mean and total; "
        "then single steps, the largest absolute change first."
    ): "差值 = 候选 - 基线，比值 = 候选 / 基线。先列全部步的平均与总计，再列单个步，变化绝对值最大的在前。",
    (
        "From, to: {level:.0%} interval of candidate mean - baseline mean, by a percentile bootstrap with {resamples} "
        "resamples of the single values of each side (fixed seed); with more than {normal} values on a side by the normal "
        "distribution that such means approach; none with fewer than {least} values on a side. It tells of the spread "
        "inside of these captures, not of what another capture would show."
    ): (
        "下限、上限：候选均值 - 基线均值的 {level:.0%} 区间，对每一侧的单个值做 {resamples} 次重采样的百分位自助法（固定种子）；"
        "一侧多于 {normal} 个值时用此类均值趋近的正态分布；一侧少于 {least} 个值时不给出。它反映这些采集内部的离散，"
        "而不是另一次采集会显示的结果。"
    ),
    (
        "Cause names the largest of three parts that add up to the difference: calls with the same inputs (shapes, "
        "formats, data types) take longer or shorter; there are more or fewer of them; calls have inputs that the other "
        "side does not have."
    ): (
        "原因是合计等于差值的三个部分中最大的一个：输入（形状、格式、数据类型）相同的调用变慢或变快；此类调用增多或减少；"
        "调用的输入在另一侧没有。"
    ),
    # reports.communication
    "GB/s": "GB/s",
    "Elapsed (us)": "总耗时 (us)",
    "Transit (us)": "传输 (us)",
    "Wait (us)": "等待 (us)",
    "Synchronization (us)": "同步 (us)",
    "Idle (us)": "空闲 (us)",
    "Wait ratio": "等待占比",
    "Synchronization ratio": "同步占比",
    "Group": "通信域",
    "Transport": "传输方式",
    "Volume (bytes)": "数据量（字节）",
    "Type": "类型",
    "Operators": "算子数",
    "By rank, group and type of operator": "按 rank、通信域和算子类型",
    (
        "Wait ratio = wait / (wait + transit); synchronization is the waiting before the first transfer. As the profiler states "
        "them for one plane: what other planes wait for is in idle."
    ): (
        "等待占比 = 等待 / (等待 + 传输)；同步是首次传输之前的等待。按性能采集工具对单个平面的统计：其他平面的等待计入空闲。"
    ),
    "Longest operators": "耗时最长的算子",
    "By transport": "按传输方式",
    "SDMA is what HCCS, PCIE and SIO carried, once more.": "SDMA 是 HCCS、PCIE 和 SIO 所传输数据的再次统计。",
    "Links": "链路",
    (
        "Of the median of links of one transport that carried a like volume (at least 0.5 MB) in the same operators; slow: below "
        "80% of it, and out of line (more than 3 robust standard deviations) in more than half of the comparisons. Ranks are "
        "numbered within the group."
    ): (
        "与相同算子中传输量相近（至少 0.5 MB）的同类链路的中位数相比；慢：低于中位数的 80%，且在半数以上的比较中偏离"
        "（超过 3 个稳健标准差）。Rank 在通信域内编号。"
    ),
    "To": "到",
    "Of the median": "占中位数",
    "Out of line": "偏离次数",
    "Compared": "比较次数",
    "Longer by (us)": "多用 (us)",
    "Slow": "慢",
    "Ranks that others wait for": "被其他 rank 等待的 rank",
    (
        "By the peer that a rank waits for longest before the first transfer of an operator, where a timeline names it; else by the "
        "rank that waits least. Waiting for less than 20% of an operator is none."
    ): ("时间线给出对端时，取每个算子首次传输之前等待最久的对端；否则取等待最少的 rank。等待不足算子耗时的 20% 不计。"),
    "Of": "总数",
    "Others wait (us)": "其他 rank 等待 (us)",
    "All-reduce behind the backward pass": "反向传播之后的 all-reduce",
    (
        "What is reduced while gradients are still being computed is hidden. The bound is the most that tuning of gradients can "
        "save: the tail without what stays (with a bank: the last gradient's share), and no more than forward and backward pass "
        "have room for."
    ): (
        "梯度仍在计算时进行的归约是被掩盖的。上限是梯度调优最多能节省的时间：拖尾减去必须留下的部分（有知识库时为最后一个梯度的"
        "份额），且不超过前向和反向传播所能容纳的时间。"
    ),
    "Iteration (us)": "迭代 (us)",
    "All-reduces": "All-reduce 数",
    "Late": "反向之后",
    "All-reduce (us)": "All-reduce (us)",
    "Hidden (us)": "被掩盖 (us)",
    "Tail (us)": "拖尾 (us)",
    "Room (us)": "可容纳 (us)",
    "Stays (us)": "必留 (us)",
    "Bound (us)": "上限 (us)",
    "Gradients of the bank": "知识库中的梯度",
    (
        "In the two segments that they are reduced in where no strategy is set (96.54% and 3.46% of the bytes); the bank holds "
        "gradients, their segments are made when a graph is compiled. Time: how much of the time between the first and the last "
        "gradient has gone by when the segment is complete."
    ): (
        "按未设置策略时归约所用的两段划分（字节数的 96.54% 和 3.46%）；知识库保存的是梯度，分段在编译图时生成。时间：该段齐备时，"
        "首末梯度之间的时间已过去多少。"
    ),
    "Bank": "知识库",
    "Segment": "段",
    "First": "首个",
    "Last": "末个",
    "Time": "时间",
    # reports.advice
    "Advice": "建议",
    "the profiler's table of steps (step_trace_time)": "性能采集工具的步表（step_trace_time）",
    "unions of the tasks' intervals": "任务区间的并集",
    "the sum of the tasks' durations: nothing tells what ran beside what": "任务耗时之和：没有数据说明哪些任务并行",
    (
        "Bound is the most that following the advice could make a step shorter; it is no forecast, and bounds do not add up. "
        "Operators: their device time without the part in which cube or vector worked on all cores, and no more than the computing "
        "of a step that no communication runs beside. Launching: no more than the free time of a step. Bounds are means over "
        "the steps; without steps the capture is taken as one. Share is of all computing."
    ): (
        "上限是按建议处理最多能使一步缩短的时间；它不是预测，各上限也不能相加。算子：其设备时间减去 cube 或 vector 在全部核上工作的"
        "部分，且不超过一步中没有通信并行的计算时间。下发：不超过一步的空闲时间。上限是各步的平均；没有步时把整次采集当作一步。"
        "占比是占全部计算时间。"
    ),
    "msprof says": "msprof 的说明",
    "msprof's own advice (prof_rule)": "msprof 自身的建议（prof_rule）",
    "How bounds are meant": "上限的含义",
    "The longest step is that of {device}: {text}.": "{device} 的步最长：{text}。",
    "No rule has anything to say.": "没有规则给出建议。",
    "The {shown} with the largest bound of {count}.": "{count} 条中上限最大的 {shown} 条。",
    "{text}. No tuning of operators can save more than {bound:,.3f} us. By {source}.": (
        "{text}。算子调优最多能节省 {bound:,.3f} 微秒。依据：{source}。"
    ),
    "A step takes {step}; no tuning of operators can save more than {bound:,.3f} us of it. By {source}.": (
        "每步 {step}；其中算子调优最多能节省 {bound:,.3f} 微秒。依据：{source}。"
    ),
    "{step:,.3f} us": "{step:,.3f} 微秒",
    "{step} (mean of {steps})": "{step}（{steps} 步的平均）",
    "{step}: {parts}": "{step}：{parts}",
    "{rule} - {reason}. {advice}. [{source}]": "{rule} - {reason}。{advice}。[{source}]",
    "{position}. {rule}: {evidence}": "{position}. {rule}：{evidence}",
    "by the parts of the step above": "依据上面步的各部分",
    "inputs {shapes}": "输入 {shapes}",
    "{name} {value}{unit}": "{name} {value}{unit}",
    " us": " 微秒",
    " ns": " 纳秒",
    " bytes": " 字节",
    # names of evidence in reports.advice
    "alike calls": "同类调用",
    "all reduce": "all-reduce",
    "always the same": "始终是同一个",
    "not always the same": "并非始终是同一个",
    "{count} of {all} operators": "{count} / {all} 个算子",
    "source: {value}": "来源：{value}",
    "awaited rank": "被等待的 rank",
    "bandwidth": "带宽",
    "below": "低于",
    "blocks": "block 数",
    "bound source": "上限依据",
    "calls a shape": "每种形状的调用",
    "calls a step": "每步调用",
    "cause of longest gap": "最长空隙的原因",
    "computing and free": "计算与空闲",
    "conflict": "冲突",
    "cores": "核数",
    "cores source": "核数来源",
    "destination rank": "目的 rank",
    "device time": "设备时间",
    "dynamic share of computing": "动态形状占计算",
    "first": "最早",
    "group": "通信域",
    "hidden": "被掩盖",
    "highest": "最高",
    "highest is rated": "最高为额定",
    "idle before": "之前空闲",
    "iteration": "迭代",
    "iterations": "迭代数",
    "kernels": "核函数",
    "last": "最晚",
    "least of all ranks": "各 rank 最小",
    "longest": "最长",
    "longest gap": "最长空隙",
    "longest waited": "最长等待",
    "lost": "损失",
    "lowest": "最低",
    "lowest share of highest": "最低占最高",
    "main memory": "主存",
    "mean": "平均",
    "median of alike": "同类中位数",
    "median of all ranks": "各 rank 中位数",
    "memory bound": "内存瓶颈",
    "op types": "算子类型",
    "out of line in": "偏离次数",
    "peak": "峰值",
    "rank id": "rank 编号",
    "ranks": "rank 数",
    "relative bandwidth": "相对带宽",
    "rule description": "规则说明",
    "rule subtype": "规则子类",
    "rule type": "规则类型",
    "section": "段落",
    "shapes": "形状数",
    "share of computing": "占计算",
    "slower calls": "变慢的调用",
    "small kernels": "小核函数",
    "source": "来源",
    "source rank": "源 rank",
    "state": "状态",
    "steps": "步数",
    "tail": "拖尾",
    "task before longest gap": "最长空隙之前的任务",
    "task behind longest gap": "最长空隙之后的任务",
    "task type": "任务类型",
    "tasks": "任务数",
    "told by": "依据",
    "transport": "传输方式",
    "used cores share": "核利用率",
    "usual blocks": "通常 block 数",
    "usual calls": "通常调用",
    "usual mean": "通常平均",
    "usual shapes": "通常形状",
    "waited": "等待",
    # advice, plans and verdicts that are stored with runs
    "The first {shown} of {count} are listed; {whole} has them all.": "共 {count} 条，列出前 {shown} 条；{whole} 中有全部。",
    "What could be gained": "可能的收益",
    "No advice could be worked out of run {run}: {why}.": "无法为运行 {run} 得出建议：{why}。",
    "Of run {run} ({model}).": "运行 {run}（{model}）。",
    "Of run {run} ({model}): {headline}.": "运行 {run}（{model}）：{headline}。",
    "Of run {run} ({model}): {headline} (the longest step of {devices} devices).": (
        "运行 {run}（{model}）：{headline}（{devices} 个设备中单步最长者）。"
    ),
    (
        "The {shown} with the largest bound of {count:,}. Bound is the most by which a step could get shorter; it is no "
        "forecast, and bounds do not add up."
    ): "{count:,} 条中上限最大的 {shown} 条。上限是单步耗时最多能缩短的量；它不是预测，且各上限不能相加。",
    "{rule}: {advice}.": "{rule}：{advice}。",
    "msprof (prof_rule), {rule}: {advice}": "msprof（prof_rule），{rule}：{advice}",
    "Next tuning plan": "下一个调优计划",
    "The first {shown} of {count}; expected and bound are us of one step.": (
        "共 {count} 个，列出前 {shown} 个；预期与上限均为单步的微秒数。"
    ),
    "Claims against the clock": "宣称与实测",
    "What `verify` measured of AOE's claims with a profile before and after; change is after/before - 1.": (
        "`verify` 用前后两次性能数据对 AOE 宣称的实测；变化为 after/before - 1。"
    ),
    "The first {shown} of {count} rows.": "共 {count} 行，列出前 {shown} 行。",
    "Evidence": "依据",
    "Plan": "计划",
    "Row": "行",
    "Why not": "为何没有",
    # several reports
    "{text}.": "{text}。",
    "What to do": "怎么办",
    "Before (ms)": "之前 (ms)",
    "After (ms)": "之后 (ms)",
    "{count} {outcome}": "{count} 个{outcome}",
    "Model before (ms)": "模型之前 (ms)",
    "Model after (ms)": "模型之后 (ms)",
}
