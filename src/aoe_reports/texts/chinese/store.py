"""What the store and the look for regressions say."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    # the store and its files
    "{uri}: {count} compactions failed because others wrote at the same time": (
        "{uri}：{count} 次合并均失败，因为同时有其他进程在写入"
    ),
    "{uri}/{path}: cannot be deleted": "{uri}/{path}：无法删除",
    "{uri}/{path}: a commit cannot be read: {why}": "{uri}/{path}：提交无法读取：{why}",
    "{uri}: {count} commits failed because others wrote at the same time": (
        "{uri}：{count} 次提交均失败，因为同时有其他进程在写入"
    ),
    "{uri}: there is no run {run_id}; `history runs` lists them": "{uri}：没有运行 {run_id}；可用 `history runs` 列出",
    "this run is already stored as workload {model!r} (run {run_id}); storing it as {other!r} too would count it twice; "
    "`store undo {run_id}` takes it out, then it can be stored under the other name": (
        "该运行已以工作负载 {model!r} 存入（运行 {run_id}）；再以 {other!r} 存入会重复计数；"
        "用 `store undo {run_id}` 撤出后即可以另一名称存入"
    ),
    "{uri}: {why}": "{uri}：{why}",
    "{uri}: the store cannot be opened": "{uri}：无法打开存储",
    "{uri}: the store cannot be opened: {why}": "{uri}：无法打开存储：{why}",
    "{uri}: the store cannot be made: {why}": "{uri}：无法创建存储：{why}",
    "{uri}: the store cannot be read: {why}": "{uri}：无法读取存储：{why}",
    "{uri}: the store cannot be written: {why}": "{uri}：无法写入存储：{why}",
    "the store cannot be opened: {why}": "无法打开存储：{why}",
    "there is no store; expected one made by `aoe-reports ingest` or `nightly`": (
        "没有存储；应为 `aoe-reports ingest` 或 `nightly` 创建的存储"
    ),
    "{uri}: this folder is not empty and is no store; expected an empty or a new folder": (
        "{uri}：该目录非空且不是存储；应为空目录或新目录"
    ),
    "{uri}: this is a file; expected a folder or a URI for the store": "{uri}：这是一个文件；存储应为目录或 URI",
    "{uri}: Delta cannot keep a table in a path with {found}; expected one without": (
        "{uri}：Delta 无法在含有 {found} 的路径中保存表；请使用不含这些字符的路径"
    ),
    "{uri}: this is some other Delta table; expected a store of aoe-reports": (
        "{uri}：这是其他的 Delta 表；应为 aoe-reports 的存储"
    ),
    "{uri}: this store has format {written}, and this version of aoe-reports reads up to {known}; a newer version of "
    "aoe-reports is needed": (
        "{uri}：该存储的格式为 {written}，当前版本的 aoe-reports 最高只能读取 {known}；需要更新版本的 aoe-reports"
    ),
    "this commit is an empty file: what it said is lost": "该提交是空文件：其内容已丢失",
    "this commit is damaged or cut off: what it said is lost": "该提交已损坏或被截断：其内容已丢失",
    "this commit is cut off: it does not say what it is": "该提交被截断：没有说明自身的信息",
    "this commit is cut off: it says {told} {name} and has {found}": (
        "该提交被截断：声明 {name} 为 {told}，实际为 {found}"
    ),
    "{uri}/{path}: {problem}; see `store verify`": "{uri}/{path}：{problem}；参见 `store verify`",
    "{uri}/{path}: a file of the store cannot be read: {why}": "{uri}/{path}：存储的文件无法读取：{why}",
    "{uri}/{path}: the content is not what was written; see `store verify`": (
        "{uri}/{path}：内容与写入时不一致；参见 `store verify`"
    ),
    # verification of a store
    "the store cannot be opened as it is: what the last commits said is missing (after commit {version})": (
        "存储无法按现状打开：最后几次提交的内容缺失（提交 {version} 之后）"
    ),
    "this commit is missing": "该提交缺失",
    "{uri}: the table's log is damaged: the files in force are not those that commit {version} states; see `store verify`": (
        "{uri}：表的日志已损坏：当前生效的文件与提交 {version} 的声明不符；参见 `store verify`"
    ),
    "this commit is not what was written: the next one says that its hash was another one": (
        "该提交与写入时不一致：下一个提交所记录的哈希值不同"
    ),
    "the number is below zero": "该数小于零",
    "what this commit says of a file cannot be understood": "该提交对某个文件的描述无法理解",
    "it takes out {name}, which was not there": "它移除了 {name}，而该文件并不存在",
    "it adds {name}, which was there already": "它添加了 {name}，而该文件早已存在",
    "the files in force after this commit are not those that it states: this commit or an earlier one is damaged": (
        "该提交之后生效的文件与其声明不符：该提交或之前的某个提交已损坏"
    ),
    "this checkpoint holds other files than the commits up to it say": "该检查点中的文件与此前各提交所述不符",
    "this checkpoint describes the table otherwise than the commits up to it": "该检查点对表的描述与此前各提交不符",
    "the checkpoint that it names is not there, or is not as described": "它没有指向与写入时一致的检查点",
    "what Delta reads of the log cannot be used: {why}": "Delta 从日志中读到的内容无法使用：{why}",
    "Delta reads of the log that other files are in force than its commits say": (
        "Delta 从日志中读到的生效文件与各提交所述不符"
    ),
    "{count} commits (the last is {version}) were made by an older version or another program: they do not say what is in "
    "force after them, so not every change in the log up to there is seen": (
        "{count} 个提交（最后一个为 {version}）由较旧版本或其他程序写入：没有说明其后生效的文件，因此在此之前日志中的改动未必都能发现"
    ),
    "{count} runs were stored by an older version: they do not say how many rows they have": (
        "{count} 个运行由较旧版本存入：没有说明各有多少行"
    ),
    "{count} files were written by another program: they carry no hash, so not every change in them is seen": (
        "{count} 个文件由其他程序写入：没有哈希值，因此其中的改动未必都能发现"
    ),
    "run {run_id} has {found} rows of kind {kind}, and {told} were stored": (
        "运行 {run_id} 有 {found} 行 kind 为 {kind} 的数据，而存入时为 {told} 行"
    ),
    "this file has {found} bytes, and {written} were written": "该文件有 {found} 字节，而写入时为 {written} 字节",
    "the content of this file is not what was written: its hash is another one": (
        "该文件的内容与写入时不一致：哈希值不同"
    ),
    "this file is not there; with it {rows} rows of kind {kind} are lost": (
        "该文件不存在；随之丢失 {rows} 行 kind 为 {kind} 的数据"
    ),
    "this file cannot be read: {why}": "该文件无法读取：{why}",
    "the log tells of this file what is not in it: the log is damaged": "日志对该文件的描述与其内容不符：日志已损坏",
    "run {run_id} is there {count} times": "运行 {run_id} 出现 {count} 次",
    "a member of run {run_id} is in another run, too": "运行 {run_id} 的成员也属于另一个运行",
    "rows of run {run_id}, which is not there": "存在运行 {run_id} 的行，但该运行本身不存在",
    "what a row of kind {kind} about {about} holds beside its columns is no JSON object": (
        "kind 为 {kind}、关于 {about} 的行中列以外的内容不是 JSON 对象"
    ),
    "what a row of kind {kind} about {about} holds beside its columns is not as it was written: {names}": (
        "kind 为 {kind}、关于 {about} 的行中列以外的内容与写入时不符：{names}"
    ),
    # gates, baselines, budgets
    "--gate {why}": "--gate {why}",
    "{part!r}: expected FACT=VALUE, FACT!=VALUE or effect>=PERCENT%": (
        "{part!r}：应为 FACT=VALUE、FACT!=VALUE 或 effect>=PERCENT%"
    ),
    "{name!r}: expected effect, {names} or {last}": "{name!r}：应为 effect，{names} 或 {last}",
    "{part!r}: only effect takes >=": "{part!r}：只有 effect 可以使用 >=",
    "{part!r}: expected {name}=VALUE or {name}!=VALUE": "{part!r}：应为 {name}=VALUE 或 {name}!=VALUE",
    "{part!r}: expected one of {names}": "{part!r}：应为以下之一：{names}",
    "effect{sign}{value}: expected effect>=3% or effect>=0.03": "effect{sign}{value}：应为 effect>=3% 或 effect>=0.03",
    "--baseline {why}": "--baseline {why}",
    "{text!r}: expected {expected}": "{text!r}：应为 {expected}",
    "segment, run:RUN_ID, tag:NAME, window:YYYY-MM-DD..YYYY-MM-DD or nights:N": (
        "segment、run:RUN_ID、tag:NAME、window:YYYY-MM-DD..YYYY-MM-DD 或 nights:N"
    ),
    "{text!r}: expected a number of nights, 1 to {most}": "{text!r}：应为夜数，1 至 {most}",
    "{text!r}: expected two dates, the earlier one first: window:2026-01-01..2026-01-31": (
        "{text!r}：应为两个日期，较早的在前：window:2026-01-01..2026-01-31"
    ),
    "false alarms a year: {rate}; expected a number above 0": "每年误报数：{rate}；应为大于 0 的数",
    "values of {count} dimensions; expected (series, nights)": "数据为 {count} 维；应为（序列，夜）",
    # what changed in the stored nights
    "not enough nights yet ({nights} of {least}): no series can be judged; {count} series are stored": (
        "夜数还不够（{nights}/{least}）：没有可判定的序列；已存储 {count} 个序列"
    ),
    "workload {name!r}": "工作负载 {name!r}",
    "scope {name!r}": "范围 {name!r}",
    "these runs": "这些运行",
    "no series of {asked} is stored; {count} others are": "没有存储以下对象的序列：{asked}；已存储其他 {count} 个序列",
    "no series has {baseline} as its baseline and a newer level of three nights": (
        "没有序列既以 {baseline} 为基线，又有三夜以上的较新水平"
    ),
    ", rank {rank}": "，rank {rank}",
    "type unknown": "类型未知",
    "operator {name} ({kind}{rank})": "算子 {name}（{kind}{rank}）",
    "operator type {kind}{rank}": "算子类型 {kind}{rank}",
    "step of {model}{rank}": "{model} 的步{rank}",
    "{name}{rank}": "{name}{rank}",
    "{what} {change:+.1%}": "{what} {change:+.1%}",
    "--baseline {baseline}: {uri} has no night in it": "--baseline {baseline}：{uri} 在该范围内没有任何夜",
    "--baseline {baseline}: no run has this name; names are {names} (see `tag`)": (
        "--baseline {baseline}：没有运行使用该名称；已有名称：{names}（参见 `tag`）"
    ),
    "--baseline {baseline}: {uri} has no run {run}; `history runs` lists them": (
        "--baseline {baseline}：{uri} 中没有运行 {run}；可用 `history runs` 列出"
    ),
    "{workload} (series {series_id}): a change of {change:+.1%} since {since} was told on {found}; the nights that are "
    "there now do not bear it out (incident {incident})": (
        "{workload}（序列 {series_id}）：曾在 {found} 报告自 {since} 起变化 {change:+.1%}；现有的夜不支持该结论"
        "（事件 {incident}）"
    ),
    "run {run_id} of {model} says {night}, more than a year from all other nights of it: it is held against nothing "
    "(`store undo {run_id}` takes it out)": (
        "{model} 的运行 {run_id} 记录的时间为 {night}，与其他所有夜相差一年以上：不参与任何比较"
        "（`store undo {run_id}` 可将其取出）"
    ),
    "measured on {names}: nights on one are never held against nights on another": (
        "在 {names} 上测量：不同硬件上的夜从不相互比较"
    ),
    "{subject}: nothing is open here: no slow-down waits for an acknowledgement": (
        "{subject}：没有未处理的项：没有等待接受的变慢"
    ),
    "{subject}: no series and no incident of the store is called so; `regressions` shows them": (
        "{subject}：存储中没有该名称的序列或事件；可用 `regressions` 查看"
    ),
    "{subject}: no acknowledgement or expectation that stands is called so, or is about it": (
        "{subject}：没有该名称的、或与其相关的有效的接受或预告"
    ),
    "{name} {night!r}: expected a date such as 2026-01-31": "{name} {night!r}：应为日期，例如 2026-01-31",
    "--until {until} is before --from {since}": "--until {until} 早于 --from {since}",
    "--change {text!r}: expected 5% (slower or faster), 0..5% or -3%..5%": (
        "--change {text!r}：应为 5%（变慢或变快）、0..5% 或 -3%..5%"
    ),
    "--run {run}: there is no such run; `history runs` lists them": "--run {run}：没有该运行；可用 `history runs` 列出",
    # exports, imports and lists of a store
    "expected an export of `store export`: a folder of hive Parquet, or .jsonl": (
        "应为 `store export` 的导出：hive Parquet 目录或 .jsonl 文件"
    ),
    "{target}: expected a folder, or a name that ends in .jsonl or .csv": (
        "{target}：应为目录，或以 .jsonl 或 .csv 结尾的名称"
    ),
    "{target}: this is there already; expected a new or an empty folder": "{target}：已存在；应为新目录或空目录",
    "there is no row in it": "其中没有任何行",
    "run {run_id} has no row of kind run of its own that can be used": "运行 {run_id} 没有可用的 kind 为 run 的行",
    "this is neither a folder nor a .jsonl file": "既不是目录也不是 .jsonl 文件",
    "this Parquet file cannot be used: {why}": "该 Parquet 文件无法使用：{why}",
    "the rows of run {run_id} do not stand together": "运行 {run_id} 的行不相邻",
    "cannot be read: {why}": "无法读取：{why}",
    "columns that this version does not know: {names}": "当前版本不认识的列：{names}",
    "an export of a newer version needs that version": "较新版本的导出需要该版本才能导入",
    "--since {since!r}: expected a date such as 2026-01-31": "--since {since!r}：应为日期，例如 2026-01-31",
    "--days {days}: whoever still reads an older view of the store, or is writing into it, needs files of the last "
    "{kept} days; --force deletes them all the same": (
        "--days {days}：仍在读取存储旧视图或正在写入的进程需要最近 {kept} 天的文件；--force 仍会将其删除"
    ),
    # from files into the store
    "this ({kind}) is no run: nothing of it is stored; `check` looks at it": (
        "该文件（{kind}）不是运行：不会存入；可用 `check` 检查"
    ),
    "{count} of these runs are stored as an older version normalised them (see --renew)": (
        "其中 {count} 个运行是由较旧版本规范化后存入的（参见 --renew）"
    ),
    "small files were not merged: {message}": "小文件未合并：{message}",
    "the store has a more complete version of this run, or other ranks of it, and keeps that; to replace it, give the "
    "whole capture (all ranks)": (
        "存储中已有该运行更完整的版本或其他 rank，予以保留；如需替换，请给出完整的采集（所有 rank）"
    ),
    "a readable export was expected": "应为可读取的导出数据",
    "nothing here can be measured by this command; found {kinds}": "此处没有该命令可以度量的内容；找到 {kinds}",
    "no time in this capture can be used; expected tasks or steps in op_summary, kernel_details, op_statistic, "
    "task_time or step_trace": (
        "该采集中没有可用的时间；应在 op_summary、kernel_details、op_statistic、task_time 或 step_trace 中有 task 或步"
    ),
    "the file is empty; expected an export of {kind}": "文件为空；应为 {kind} 的导出",
    "neither content nor name tells when this was made; the time of the file itself is used": (
        "内容和名称都没有说明采集时间；使用文件自身的时间"
    ),
    "its time names no zone; taken as UTC (see --tz)": "时间没有时区；按 UTC 处理（参见 --tz）",
    "{count} operators beyond the {most} longest become no record (their types do)": (
        "除耗时最长的 {most} 个算子外，其余 {count} 个算子不生成记录（其算子类型会生成）"
    ),
    "{count} records carry no single times: there are more than {raw}, or only sums of them": (
        "{count} 条记录不含单次时间：超过 {raw} 个，或只有汇总值"
    ),
    "gradients are stored as a run without records: v0.1 cannot say them; its time is that of the file": (
        "梯度作为没有记录的运行存入：v0.1 无法表示梯度；其时间取文件的时间"
    ),
    "nothing tells what was measured; stored as workload 'unknown' (see --workload)": (
        "没有信息说明测量的对象；以工作负载 'unknown' 存入（参见 --workload）"
    ),
    "--workload-from {pattern!r} does not fit this path; the workload is named without it": (
        "--workload-from {pattern!r} 与该路径不匹配；工作负载的名称不由它给出"
    ),
    "--workload-from {text!r}: {why}": "--workload-from {text!r}：{why}",
    "longer than {most} characters": "长于 {most} 个字符",
    "expected `folder`, or a pattern of folders with one {name} in it, such as */{name}": (
        "应为 `folder`，或含有一个 {name} 的目录模式，例如 */{name}"
    ),
    "** stands for whole folders: between two slashes, by itself": "** 表示整级目录：须单独位于两个斜杠之间",
    "nothing tells where {name} ends and * begins: expected other characters between them": (
        "无法判断 {name} 到哪里结束、* 从哪里开始：两者之间应有其他字符"
    ),
    "runs that nothing here names ({count}) go on as workload {model!r}, as the store has them": (
        "此处无从得知名称的运行（{count} 个）沿用工作负载 {model!r}，与存储中一致"
    ),
    "runs that would be called {own!r} ({count}) go on as workload {model!r}, as the store has them; "
    "--workload {own} would begin a history of that name": (
        "本应名为 {own!r} 的运行（{count} 个）沿用工作负载 {model!r}，与存储中一致；--workload {own} 会以该名称另起历史"
    ),
    "what the store has of workload {model!r} cannot be read, so its operators were compared with nothing: {why}": (
        "存储中工作负载 {model!r} 的内容无法读取，因此其算子未与任何内容比较：{why}"
    ),
    "the store has these operators as workload 'unknown', and {names} of this job have them, too: nothing tells "
    "whose history that is, and none of them is stored. Give --workload NAME for one of them, or "
    "`--workload-from folder` to begin a history of each": (
        "存储中工作负载 'unknown' 有这些算子，而本次的 {names} 也有：无法判断那是谁的历史，因此都不存入。"
        "请用 --workload NAME 为其中之一命名，或用 `--workload-from folder` 为每个另起历史"
    ),
    "{operators}; it is stored all the same, as --workload says so (`store undo {run_id}` takes it out)": (
        "{operators}；因 --workload 如此指定，仍然存入（可用 `store undo {run_id}` 撤出）"
    ),
    "{operators}; it is not stored. Give each workload its name: --workload-from folder (or a pattern), or --workload "
    "NAME; if it is the same workload with new operators, --workload {model} says so": (
        "{operators}；不存入。请为每个工作负载命名：--workload-from folder（或模式），或 --workload NAME；"
        "若是同一工作负载换了新算子，请用 --workload {model} 指明"
    ),
    "{operators}; it is not stored. Give each workload its name: --workload-from folder (or a pattern), or each by "
    "itself with --workload NAME": (
        "{operators}；不存入。请为每个工作负载命名：--workload-from folder（或模式），或分别用 --workload NAME 单独读入"
    ),
    "only {agreed:.0%} of its operators agree with {other}, which is workload {model!r}, too (one workload: at least "
    "{least:.0%}): here {mine}, there {theirs}": (
        "其算子仅有 {agreed:.0%} 与 {other} 一致，而后者也是工作负载 {model!r}（同一工作负载：至少 {least:.0%}）："
        "此处为 {mine}，彼处为 {theirs}"
    ),
    "nothing else": "无其他算子",
    "other captures of this job would be workload {model!r}, too, and have other operators: {why}": (
        "本次的其他采集也会成为工作负载 {model!r}，而算子不同：{why}"
    ),
    "run {run_id} of the store ({path})": "存储中的运行 {run_id}（{path}）",
    "the store has workload 'unknown' with these operators and with others: several workloads share its series, and "
    "none of them goes on there; it is not stored. --workload {model} begins a history of its own": (
        "存储中工作负载 'unknown' 既有这些算子也有其他算子：多个工作负载共用其序列，都不再延续；不存入。"
        "--workload {model} 会另起自己的历史"
    ),
    "times of records name no zone; taken as UTC (see --tz)": "记录的时间没有时区；按 UTC 处理（参见 --tz）",
    "of {count} of these records the same stood here or in another file already; each is used once": (
        "其中 {count} 条记录在此处或其他文件中已出现；每条只使用一次"
    ),
    "these are the records of run {run_id}, which was read from its own files": (
        "这些是运行 {run_id} 的记录，该运行已从其自身的文件读取"
    ),
    "these are records of workload {model!r} (run {run_id}); they are not stored as {workload!r}": (
        "这些是工作负载 {model!r} 的记录（运行 {run_id}）；不会以 {workload!r} 存入"
    ),
    "some nights are of unknown hardware, others of {names}: they are never held against each other (see --hardware)": (
        "部分夜的硬件未知，其他夜为 {names}：两者从不相互比较（参见 --hardware）"
    ),
    "some nights of a workload name their hardware, others do not: they are series of their own, compared with nothing": (
        "某工作负载的部分夜注明了硬件，其他夜没有：它们各成序列，不与任何内容比较"
    ),
    "{column} of a row about {about} cannot be used and is left out: {why}": "关于 {about} 的行中，{column} 不可用，已略去：{why}",
    "there is no value": "没有值",
    "it is nested deeper than {most} levels": "嵌套超过 {most} 层",
    "a run has one member at least": "运行至少有一个成员",
    "{key} is not as it was written": "{key} 与写入时不符",
    "expected {words}": "应为 {words}",
    "{place}: a row of kind {kind} of run {run} cannot be used and is left out: {what}; `store undo {run}` takes the run out": "{place}：运行 {run} 的一行（类别 {kind}）不可用，已略去：{what}；`store undo {run}` 可移除该运行",
    "{place}: a row of kind {kind} cannot be used and is left out: {what}": "{place}：一行（类别 {kind}）不可用，已略去：{what}",
    "expected a date that exists, as YYYY-MM-DD": "应为存在的日期，格式 YYYY-MM-DD",
    "{column}: {why}": "{column}：{why}",
    "the number is not finite": "数值不是有限数",
    "and {count} more rows that cannot be used": "另有 {count} 行不可用",
    "run {run_id} is not imported: a run comes whole or not at all": "运行 {run_id} 未导入：运行要么完整导入，要么不导入",
    "rows of kind {kind} are none of a store": "类别 {kind} 的行不属于存储",
    "this line is no row of a store: {why}": "该行不是存储中的行：{why}",
    "a line of more than {most} bytes": "一行超过 {most} 字节",
    "the record": "记录",
    "a row of kind {kind} about {about}: {what}": "关于 {about} 的行（类别 {kind}）：{what}",
    "{uri}: a row of kind {kind} about {subject} is left out: its body is not as it was written ({why}); what is told of that series may be wrong until it is mended: `store export` writes .jsonl, `store import` leaves such rows out": "{uri}：关于 {subject} 的行（类别 {kind}）已略去：其内容与写入时不符（{why}）；修复之前，关于该序列的结论可能有误：`store export` 写出 .jsonl，`store import` 会略去这样的行",
    "a state that is not known": "未知的状态",
    "a duration outside the possible range": "不可能的时间",
}
