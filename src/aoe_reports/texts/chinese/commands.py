"""What commands say on their way, and errors of usage."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    "kept: {path}": "已保留：{path}",
    "plan: {path}": "计划：{path}",
    "measure again: {path}": "重新测量：{path}",
    "told to end: what is there is checked": "收到结束信号：已有的内容已检查",
    "told to end: `aoe-reports tune {folder} --resume` goes on": "收到结束信号：用 `aoe-reports tune {folder} --resume` 继续",
    "This is simulated data: operator {operator} was made 8 % slower from {night} on.": (
        "这是模拟数据：算子 {operator} 自 {night} 起被人为放慢 8 %。"
    ),
    "It was found.": "已被发现。",
    "It was NOT found.": "未被发现。",
    "`nightly` as a gate would have ended with exit code {code} ({reasons}).": (
        "`nightly` 作为门禁时的退出码为 {code}（{reasons}）。"
    ),
    "nothing": "无",
    "Report: {path}": "报告：{path}",
    "Pages: {path}": "页面：{path}",
    # titles of rows
    "Rules": "规则",
    "Tables": "表",
    "Hotspots": "热点",
    "Steps": "步",
    "Stored": "存入结果",
    "Acknowledgement": "接受记录",
    "Expectation": "预告",
    "Named run": "已命名的运行",
    "Site": "站点",
    "Configuration": "配置",
    # files
    "{path}: cannot be written: {why}": "{path}：无法写入：{why}",
    "output": "输出",
    # check, table, normalize, history, regressions, ack
    "check: --rules has no format {form}; expected text, json, csv, markdown or html": (
        "check：--rules 没有 {form} 格式；应为 text、json、csv、markdown 或 html"
    ),
    "check: expected a PATH, or --rules": "check：应给出 PATH 或 --rules",
    "check --watch: {path}: no such file or folder": "check --watch：{path}：没有该文件或目录",
    "check --watch: {path}: no AOE result, neither by its name nor by its content": (
        "check --watch：{path}：从名称和内容看都不是 AOE 结果"
    ),
    "check: no rule {name!r}; `aoe-reports check --rules` lists them": (
        "check：没有规则 {name!r}；可用 `aoe-reports check --rules` 列出"
    ),
    "table: expected a KIND and a PATH, or --list": "table：应给出 KIND 和 PATH，或 --list",
    "table --format parquet: expected -o FILE (Parquet is not for a terminal)": (
        "table --format parquet：应给出 -o FILE（Parquet 不适合在终端显示）"
    ),
    "table: no kind {kind!r}; expected one of {names}": "table：没有种类 {kind!r}；应为以下之一：{names}",
    "no {kind} here": "此处没有 {kind}",
    "timeline: {title}": "时间线：{title}",
    "-o {output}: expected a name that ends in .jsonl, .json or .parquet": (
        "-o {output}：应为以 .jsonl、.json 或 .parquet 结尾的名称"
    ),
    "--format jsonl gives whole records; expected `history records` without --last and --run": (
        "--format jsonl 给出完整的记录；应使用不带 --last 和 --run 的 `history records`"
    ),
    "--whole-history looks at all that ever changed; it goes with neither --baseline nor --record": (
        "--whole-history 查看所有曾经的变化；不能与 --baseline 或 --record 同时使用"
    ),
    "{what}: expected a text": "{what}：应为非空文本",
    "--tz {name!r}: there is no such time zone; expected a name such as Asia/Shanghai": (
        "--tz {name!r}：没有该时区；应为名称，例如 Asia/Shanghai"
    ),
    # progress
    "looking for files": "正在查找文件",
    "reading {number:,} of {count:,}: {path}": "正在读取第 {number:,} 个，共 {count:,} 个：{path}",
    "comparing with the history": "正在与历史比较",
    "writing the pages of {site}": "正在写出 {site} 的页面",
    # the site and its server
    "{folder}: the site cannot be written: {why}": "{folder}：无法写入站点：{why}",
    "{folder}: this is a file; expected a folder for the site": "{folder}：这是一个文件；站点应为目录",
    "{folder}: this folder holds {other} and is no site; expected a new or an empty folder, or a site": (
        "{folder}：该目录含有 {other} 且不是站点；应为新目录、空目录或站点"
    ),
    "{folder}: no index.html; expected a folder that `aoe-reports site` wrote": (
        "{folder}：没有 index.html；应为 `aoe-reports site` 写出的目录"
    ),
    "{host}:{port}: cannot be served: {why}": "{host}:{port}：无法提供服务：{why}",
    # the configuration file
    "--config names a file, --isolated wants none": "--config 指定了文件，而 --isolated 要求不使用文件",
    "stands on the command line only": "只能在命令行中给出",
    "a project's file sets no limit (it may have come with the data)": "项目的文件不能设置上限（该文件可能是随数据一起来的）",
    "a project's file names no URI (it may have come with the data)": (
        "项目的文件不能给出 URI（该文件可能是随数据一起来的）"
    ),
    "a project's file names places inside its own folder only (it may have come with the data)": (
        "项目的文件只能给出其所在目录之内的位置（该文件可能是随数据一起来的）"
    ),
    "{place} is no folder": "{place} 不是目录",
    "{place} is there already and was not written by aoe-reports": "{place} 已经存在，且不是 aoe-reports 写出的",
    "{link} is a link that leads out of the folder of the file": "{link} 是通向该文件所在目录之外的链接",
    "only the command line, a file that --config names and your own aoe-reports/aoe-reports.toml in $XDG_CONFIG_HOME (~/.config) may say this": (
        "只有命令行、--config 指定的文件以及您自己在 $XDG_CONFIG_HOME（~/.config）下的 aoe-reports/aoe-reports.toml 可以这样写"
    ),
    "no such option": "没有该选项",
    "no such option or command": "没有该选项或命令",
    "{what} stands on the command line only": "{what}只能在命令行中给出",
    "stands twice ({key})": "重复出现（{key}）",
    "stands in the table of a command: {names}": "应写在命令的表中：{names}",
    "expected {expected}, not {given}": "应为{expected}，而不是 {given}",
    "a list of words": "字符串列表",
    "true or false": " true 或 false",
    "a whole number": "整数",
    "a word in quotes": "带引号的字符串",
    "a table": "表（table）",
    "what is written where": "写入的位置",
    "what is forced": "强制执行的内容",
    "what is replaced": "替换的内容",
    "what is waited for": "等待的内容",
    "what else is shown": "额外显示的内容",
    "what is checked": "检查的内容",
    "help": "帮助",
    "what is gone on with": "继续执行的内容",
    "what is put away": "移走的内容",
    "what is not run": "不执行的内容",
    "what somebody vouches for": "由人担保的内容",
    "what is tuned": "调优的对象",
    "what is run": "运行的命令",
    "where it is run": "运行的位置",
    "what is compared": "比较的内容",
    "what is known": "已知的结果",
    "what is named": "命名的运行",
    "what is remembered": "记入存储的内容",
    # advice that is worked out when a profile is stored
    "no table of tasks with their operators here; task_time stands in (it tells no types, no counters)": (
        "此处没有带算子的任务表；以 task_time 代替（它没有类型，也没有计数器）"
    ),
    (
        "timelines, databases and tables of communication of {size_mb:,.0f} MB were not looked into; `advise` on the profile "
        "does"
    ): "共 {size_mb:,.0f} MB 的时间线、数据库和通信表未查看；对该性能数据执行 `advise` 会查看",
    "neither tasks nor steps here that advice could be on": "此处既没有任务也没有步，无从给出建议",
    "no plan could be made: {why}": "无法制定计划：{why}",
    "{message} [{rule}]": "{message} [{rule}]",
    "--run goes with runs, records and advice; {what} belong to no run": "--run 用于 runs、records 和 advice；{what} 不属于任何运行",
    "internal error ({kind}: {first}); this is a bug of aoe-reports: please report it with what --debug shows": "内部错误（{kind}：{first}）；这是 aoe-reports 的缺陷：请连同 --debug 的输出一并报告",
    "aoe-reports: interrupted": "aoe-reports：已中断",
    "there is not enough memory": "内存不足",
    "aoe-reports: warning: {message}": "aoe-reports：警告：{message}",
    "aoe-reports: warning: more is left out; `store verify` names all of it": "aoe-reports：警告：还有更多被略去；`store verify` 会全部列出",
    "aoe-reports: {message}": "aoe-reports：{message}",
    "{folder}: this file system has no locks: only one job at a time may write there": (
        "{folder}：该文件系统不支持锁：同一时间只能有一个任务写入"
    ),
    "another process": "另一个进程",
    "process {number}": "进程 {number}",
    "workload {own!r} begins a history of its own, and workload {model!r} has the same operators (last night "
    "{night}): if it is the same model, give both one name (--workload NAME, or --workload-from PATTERN)": (
        "workload {own!r} 开始自己的历史，而 workload {model!r} 具有相同的算子（最近一夜 {night}）：若为同一模型，请使用同一名称"
        "（--workload NAME 或 --workload-from PATTERN）"
    ),
    "a name that was inferred begins a history, and another workload has the same operators on other nights": (
        "推断出的名称开始新的历史，而另一 workload 在其他夜具有相同的算子"
    ),
    "no task here that computes: nothing of this capture is ranked": "此处没有计算任务：该采集不参与排名",
    "{folder}: {who} is writing there; waiting until it is done": "{folder}：{who} 正在其中工作；等待",
    "{path}: a run that was killed left this; it is deleted": "{path}：由被终止的运行遗留；已删除",
    "{path}: a run that was killed left this; the next run that writes {name} deletes it": (
        "{path}：由被终止的运行遗留；下一次写入 {name} 的运行会将其删除"
    ),
    "a request could not be answered: {why}": "有一个请求无法应答：{why}",
}
