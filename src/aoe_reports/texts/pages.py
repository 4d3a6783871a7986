"""Every text of the site by its key, in every language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aoe_reports.texts import Language, in_language

CATALOGUE: Mapping[str, tuple[str, str]] = {
    # every page
    "site": ("Nightly performance", "夜间性能"),
    "overview": ("Overview", "概览"),
    "all_series": ("Series", "序列"),
    "all_runs": ("Runs", "运行"),
    "skip": ("Skip to the content", "跳到正文"),
    "navigation": ("Pages", "页面"),
    "as_json": ("The same as JSON", "同样内容的 JSON"),
    "not_stored": ("not stored", "未保存"),
    "made_from": (
        "Made from the store's {runs} runs up to the night {night}. All times are UTC.",
        "由存储中截至 {night} 夜的 {runs} 次运行生成。所有时间均为 UTC。",
    ),
    "made_from_nothing": ("Made from a store without runs.", "由没有运行的存储生成。"),
    "colon": (": ", "："),
    "full_stop": ("{said}.", "{said}。"),
    "semicolon": ("; ", "；"),
    "caused": ("{part} ({cause})", "{part}（{cause}）"),
    "scroll": ("{what}: scrolls sideways", "{what}：可横向滚动"),
    # states
    "confirmed": ("slower", "变慢"),
    "drift": ("drift", "漂移"),
    "suspect": ("suspect", "疑似"),
    "recovered": ("recovered", "已恢复"),
    "improved": ("quicker", "变快"),
    "unchanged": ("unchanged", "无变化"),
    "too-few-nights": ("too few nights to judge", "夜数不足，无法判断"),
    "no-times": ("no times", "没有时间"),
    "acknowledged": ("acknowledged", "已接受"),
    # overview
    "headline_slower": ("{what} is {change} slower since {since}", "{what} 自 {since} 起慢了 {change}"),
    "headline_more": ("Slower series in all: {count}.", "变慢的序列共 {count} 个。"),
    "headline_suspect": (
        "Nothing is confirmed to be slower; {count} series are suspect.",
        "没有证实变慢的序列；{count} 个序列疑似异常。",
    ),
    "headline_quiet": ("Nothing got slower.", "没有变慢。"),
    "headline_accepted": ("Nothing got slower that nobody accepted.", "除已被接受的以外，没有变慢。"),
    "accepted_more": ("Slower and accepted: {count} series.", "变慢且已被接受的序列：{count} 个。"),
    "headline_young": (
        "Nothing can be judged yet: no series has {nights} nights.",
        "尚无法判断：还没有序列达到 {nights} 夜。",
    ),
    "headline_empty": ("The store is empty.", "存储为空。"),
    "empty_next": (
        "Store a first night: aoe-reports ingest PATH --store {store}",
        "先保存第一夜：aoe-reports ingest PATH --store {store}",
    ),
    "newest_night": ("Newest night", "最新一夜"),
    "series_judged": ("Series judged", "已判断的序列"),
    "of": ("{part} of {whole}", "{part} / {whole}"),
    "false_alarms": ("False alarms asked for", "允许的误报"),
    "a_year": ("{number} a year, all series together", "全部序列合计每年 {number} 次"),
    "triage": ("What changed", "变化"),
    "triage_order": (
        "Largest sure effect on the step first: the near end of the 95 % interval times the share of the step.",
        "按对单步耗时的确定影响从大到小排列：95 % 区间的近端乘以占单步耗时的份额。",
    ),
    "group_new": ("New", "新出现"),
    "group_ongoing": ("Ongoing", "持续中"),
    "group_acknowledged": ("Acknowledged", "已接受"),
    "group_recovered": ("Recovered", "已恢复"),
    "group_improved": ("Improved", "变快"),
    "group_suspect": ("Suspect", "疑似"),
    "about_new": (
        "Slower since one of the last {nights} nights. Find out what changed on that night.",
        "在最近 {nights} 夜内开始变慢。查明那一夜发生了什么变化。",
    ),
    "about_ongoing": (
        "Slower for longer. Somebody should be at work on these, or acknowledge them.",
        "变慢已有一段时间。应有人处理，或予以接受。",
    ),
    "about_acknowledged": ("Slower, and somebody said so.", "变慢，且已有人接受。"),
    "about_recovered": ("Back at the level before. Nothing to do.", "已回到之前的水平，无需处理。"),
    "about_improved": (
        "Quicker. See whether the work is still the same.",
        "变快。请检查工作内容是否仍相同。",
    ),
    "about_suspect": (
        "The newest one or two nights are out of line: run the night again before anybody is asked.",
        "最新一两夜异常：先重新运行一次，再追查。",
    ),
    "shown_of": (
        "The first {shown} of {count} are shown; the list of series has all.",
        "共 {count} 个，显示前 {shown} 个；全部见序列列表。",
    ),
    "what": ("What", "对象"),
    "state": ("State", "状态"),
    "since": ("Since", "自"),
    "before": ("Before (ms)", "之前 (ms)"),
    "after": ("After (ms)", "之后 (ms)"),
    "change": ("Change", "变化"),
    "interval": ("95 % interval", "95 % 区间"),
    "sure_effect": ("Sure effect on the step", "对单步耗时的确定影响"),
    "share_of_step": ("Share of the step", "占单步耗时份额"),
    "smallest": ("Smallest detectable", "可检测的最小变化"),
    "nights": ("Nights", "夜数"),
    "before_after": ("After, before (ms)", "之后、之前 (ms)"),
    "share_is": ("{share} of the step", "占单步耗时 {share}"),
    "share_unknown": ("share unknown", "份额未知"),
    "cause": ("Where it is", "所在"),
    "models": ("Models", "模型"),
    "model": ("Model", "模型"),
    "step_time": ("Step time", "单步耗时"),
    "step_now": ("Step (ms)", "单步耗时 (ms)"),
    "spark": (
        "{what}: {count} nights to {night}, between {low} and {high} ms, now {now} ms",
        "{what}：截至 {night} 的 {count} 夜，介于 {low} 与 {high} 毫秒之间，现为 {now} 毫秒",
    ),
    "aoe": ("Tuning (AOE)", "调优（AOE）"),
    "aoe_none": ("no tuning stored", "没有保存的调优"),
    "aoe_last": ("{kind} on {night}: {status}", "{kind}，{night}：{status}"),
    "aoe_claim": ("claims {gain}", "宣称 {gain}"),
    "aoe_verdict": ("measured: {verdict}", "实测：{verdict}"),
    "health": ("Run health", "运行状况"),
    "health_night": (
        "Read of the newest night, {night}: runs {runs}, errors {errors}, warnings {warnings}, remarks {infos}.",
        "最新一夜 {night}：{runs} 次运行，{errors} 个错误，{warnings} 个警告，{infos} 条提示。",
    ),
    "health_odd": (
        "Runs of the last {nights} nights that are not whole, and so compared with nothing, or in part: {count}.",
        "最近 {nights} 夜中不完整的运行（不参与比较，或仅部分参与）：{count} 次。",
    ),
    "not_whole_more": ("and {count} more", "以及另外 {count} 次"),
    "health_behind": ("{model}: no run since {night}.", "{model}：自 {night} 起没有运行。"),
    "health_missing": (
        "{model}: {missing} of the last {dates} dates have no run ({which}).",
        "{model}：最近 {dates} 天中有 {missing} 天没有运行（{which}）。",
    ),
    "health_whole": ("Every model ran every night.", "每个模型每夜都有运行。"),
    "and_more": ("{list} and {count} more", "{list} 以及另外 {count} 个"),
    "findings": ("Findings", "发现"),
    "no_findings": ("Nothing was found wrong with what was read.", "读取的内容没有发现问题。"),
    "finding": ("Finding", "发现"),
    "severity": ("Severity", "级别"),
    "rule": ("Rule", "规则"),
    "place": ("Where", "位置"),
    "error": ("error", "错误"),
    "warning": ("warning", "警告"),
    "info": ("remark", "提示"),
    # list of series, list of runs
    "series_title": ("All series", "全部序列"),
    "series_about": (
        "Every series with a time in the last {nights} nights: those that changed first.",
        "最近 {nights} 夜内有时间的全部序列：有变化的在前。",
    ),
    "no_series": ("No series is stored.", "没有保存的序列。"),
    "scope": ("Scope", "范围"),
    "hardware": ("Hardware", "硬件"),
    "rank": ("Rank", "Rank"),
    "device": ("Device", "设备"),
    "runs_title": ("All runs", "全部运行"),
    "runs_about": ("Every run of the store, the newest first.", "存储中的全部运行，最新的在前。"),
    "no_runs": ("No run is stored.", "没有保存的运行。"),
    "night": ("Night", "夜"),
    "run": ("Run", "运行"),
    "kind": ("Kind", "类别"),
    "status": ("Status", "状态"),
    "time": ("Time", "时间"),
    "filter": ("Show only rows with", "仅显示包含以下内容的行"),
    "older": ("Older", "更早"),
    "newer": ("Newer", "更新"),
    # a series
    "said_slower": (
        "{change} slower since {since} (95 % interval {low} to {high}): {before} ms became {after} ms.",
        "自 {since} 起慢了 {change}（95 % 区间 {low} 至 {high}）：{before} 毫秒变为 {after} 毫秒。",
    ),
    "said_quicker": (
        "{change} quicker since {since} (95 % interval {low} to {high}): {before} ms became {after} ms.",
        "自 {since} 起快了 {change}（95 % 区间 {low} 至 {high}）：{before} 毫秒变为 {after} 毫秒。",
    ),
    "said_suspect": (
        "Out of line since {since}: {before} ms became {after} ms ({change}). One or two nights prove nothing.",
        "自 {since} 起异常：{before} 毫秒变为 {after} 毫秒（{change}）。一两夜不足为证。",
    ),
    "said_nothing": (
        "No change in the last {nights} nights. A slow-down of {smallest} would be found within two weeks.",
        "最近 {nights} 夜没有变化。{smallest} 的变慢会在两周内被发现。",
    ),
    "said_blind": ("No change in the last {nights} nights.", "最近 {nights} 夜没有变化。"),
    "said_young": (
        "{nights} nights have a time: too few to judge.",
        "{nights} 夜有时间：不足以判断。",
    ),
    "todo": ("What to do", "怎么办"),
    "do_confirmed": (
        "See below what changed on that night, and compare the runs on both sides:",
        "先看下面那一夜的变化，再比较前后两次运行：",
    ),
    "do_drift": ("Look for what grows a little every night. Compare the ends:", "查找每夜略有增长的东西。比较两端："),
    "do_suspect": ("Run the night again: a third night decides.", "重新运行一次：第三夜决定。"),
    "do_recovered": ("Nothing.", "无需处理。"),
    "do_acknowledged": (
        "Nothing: the new level is accepted. What gets slower still is told again.",
        "无需处理：新的水平已被接受。若继续变慢，会再次提示。",
    ),
    "accepted_by": ("Accepted by {who} on {when}: {reason}", "{who} 于 {when} 接受：{reason}"),
    "announced_by": ("Announced by {who} on {when}: {reason}", "{who} 于 {when} 预告：{reason}"),
    "nobody_named": ("nobody named", "未具名者"),
    "do_improved": ("Check whether the work is still the same:", "检查工作内容是否仍相同："),
    "compare_sides": ("Compare the runs of {before} and {after}", "比较 {before} 与 {after} 的运行"),
    "run_before": ("Run before, {night}", "之前的运行，{night}"),
    "run_since": ("Run since, {night}", "之后的运行，{night}"),
    "accept": ("If the new level is meant, say so, and why:", "如果新的水平是预期的，请接受它并说明原因："),
    "together": ("What moved with it", "同时变化的序列"),
    "together_about": (
        "Incident {incident}: other series that changed on the same night: {count}.",
        "事件 {incident}：同一夜变化的其他序列：{count} 个。",
    ),
    "together_shown": ("The first {shown} are listed.", "列出前 {shown} 个。"),
    "rank_is": ("rank {rank}", "rank {rank}"),
    "night_report": ("The report of the last nightly job", "最近一次夜间任务的报告"),
    "history": ("History", "历史"),
    "last_nights": ("The last {nights} nights", "最近 {nights} 夜"),
    "whole_history": ("All {nights} nights", "全部 {nights} 夜"),
    "chart_series": (
        "Times of {count} nights from {first} to {last}, between {low} and {high} ms; {changes} changes of level.",
        "从 {first} 到 {last} 的 {count} 夜，介于 {low} 与 {high} 毫秒之间；{changes} 次水平变化。",
    ),
    "legend_night": ("a night", "一夜"),
    "legend_level": ("level", "水平"),
    "legend_band": ("where 95 % of quiet nights lie", "95 % 的正常夜所在范围"),
    "legend_change": ("change", "变化点"),
    "zoom_hint": (
        "Drag to zoom, double-click for all; arrow keys on the chart go from night to night.",
        "拖动缩放，双击显示全部；在图上按方向键逐夜移动。",
    ),
    "all_nights": ("All nights", "全部夜"),
    "levels": ("Levels", "水平"),
    "from_night": ("From", "从"),
    "to_night": ("To", "到"),
    "level": ("Level (ms)", "水平 (ms)"),
    "against_before": ("Against the level before", "与前一水平相比"),
    "hindsight": ("Looking back over all nights", "回顾全部夜"),
    "hindsight_about": (
        "All nights looked at once. This is history, not the watch above: it raises no alarm, and its thresholds are lower.",
        "一次性回顾全部夜。这是历史，而非上面的监视结果：不发出警报，阈值也更低。",
    ),
    "newest_nights": ("The newest {nights} nights", "最新 {nights} 夜"),
    "value": ("Time (ms)", "时间 (ms)"),
    "metadata": ("What else changed at that run", "那次运行的其他变化"),
    "recorded_since": (
        "The incident was first recorded since {since}; the nights now say {now}.",
        "该事件首次记录的起始日期为 {since}；按现有各夜数据为 {now}。",
    ),
    "recorded_facts": (
        "What else changed where the incident began: {facts}.",
        "事件开始时同时发生的其他变化：{facts}。",
    ),
    "recorded_only": ("Of that, the nights now do not show: {facts}.", "其中，按现有各夜数据已看不到：{facts}。"),
    "recorded_later": (
        "Seen there later than it was first recorded: {facts}.",
        "首次记录之后才看到的变化：{facts}。",
    ),
    "metadata_about": (
        "Facts of the runs before and at each change that differ.",
        "每次变化前后两次运行中不同的信息。",
    ),
    "metadata_same": (
        "Nothing that the store knows of the runs differs at the changes.",
        "就存储所知，变化前后的运行没有差异。",
    ),
    "fact": ("Fact", "信息"),
    "was": ("Before", "之前"),
    "became": ("Since", "之后"),
    "attribution": ("Where the change of the step is", "单步耗时变化的所在"),
    "attribution_about": (
        "A step takes {total} us: operators {operators}, uncovered communication {communication}, free {free}, unattributed {rest}.",
        "每步 {total} 微秒。算子：{operators}；未重叠的通信：{communication}；空闲：{free}；未归因：{rest}。",
    ),
    "attribution_chart": ("Change of a step in us, part by part", "每步变化（微秒），逐项"),
    "part": ("Part", "部分"),
    "difference_us": ("Difference (us a step)", "差值 (us/步)"),
    "why": ("Why", "原因"),
    "operators_rest": ("other operators", "其他算子"),
    "communication_not_overlapped": ("communication, not overlapped", "未重叠的通信"),
    "free": ("free time", "空闲"),
    "unattributed": ("unattributed", "未归因"),
    "total": ("the step", "整步"),
    "before_us": ("Before (us)", "之前 (us)"),
    "after_us": ("After (us)", "之后 (us)"),
    "calls": ("calls a step: {count}", "每步调用 {count} 次"),
    "left_out": ("Nights out of line, left out: {nights}.", "异常而未计入的夜：{nights}。"),
    "shift": ("{sources} became {targets} ({moved} us moved).", "{sources} 变为 {targets}（移动了 {moved} 微秒）。"),
    "same": ("the same", "相同"),
    "slower-calls": ("calls take longer", "调用变慢"),
    "faster-calls": ("calls take less", "调用变快"),
    "more-calls": ("more calls", "调用增多"),
    "fewer-calls": ("fewer calls", "调用减少"),
    "changed-shapes": ("other shapes", "形状变化"),
    "changed-formats": ("other formats", "格式变化"),
    "changed-data-types": ("other data types", "数据类型变化"),
    "changed-inputs": ("other inputs", "输入变化"),
    "changed-repository": ("other knowledge bank", "知识库变化"),
    "new": ("new", "新增"),
    "vanished": ("gone", "消失"),
    "step_of": ("The step that it is part of", "所属的步"),
    # a run
    "run_of": ("{model}, {night}", "{model}，{night}"),
    "facts": ("Facts", "信息"),
    "path": ("Path", "路径"),
    "runtime_config.profiler_level": ("Profiler level", "采集级别"),
    "runtime_config.aic_metrics": ("AI Core metrics", "AI Core 指标"),
    "engine": ("Engine", "引擎"),
    "engine_version": ("Version", "版本"),
    "hotspots": ("Where device time goes", "设备时间去向"),
    "hotspots_about": (
        "Compute tasks by operator type: {shown} of {count} types, {total} us in all.",
        "按算子类型的计算任务：{shown} / {count} 种，合计 {total} 微秒。",
    ),
    "hotspots_about_ranks": (
        (
            "Compute tasks by operator type, each rank and device by itself: the {shown} longest of {count} types on {ranks} devices, "
            "{total} us in all. Shares are of the computing of the same rank and device."
        ),
        "按算子类型的计算任务，各 rank 与设备分别列出：{ranks} 个设备上 {count} 种类型中最长的 {shown} 项，合计 {total} 微秒。份额以同一 rank 与设备的计算时间为整体。",
    ),
    "hotspots_chart": ("Share of computing by operator type", "各算子类型占计算的份额"),
    "operators": ("Operators", "算子"),
    "operators_about": ("The {shown} longest of {count}.", "共 {count} 个，显示最长的 {shown} 个。"),
    "operators_about_ranks": (
        "The {shown} longest of {count} operators on {ranks} devices, each rank and device by itself.",
        "{ranks} 个设备上 {count} 个算子中最长的 {shown} 项，各 rank 与设备分别列出。",
    ),
    "no_hotspots": ("No operator of this run is stored.", "没有保存这次运行的算子。"),
    "op_type": ("Operator type", "算子类型"),
    "op_name": ("Operator", "算子"),
    "core": ("Core", "核"),
    "count": ("Tasks", "任务数"),
    "total_us": ("Total (us)", "总计 (us)"),
    "mean_us": ("Mean (us)", "平均 (us)"),
    "share": ("Share", "份额"),
    "steps": ("What a step goes on", "单步耗时构成"),
    "steps_chart": (
        "A step of {what}: computing {computing}, communication that is not overlapped {communication}, free {free} (ms)",
        "{what} 的一步（毫秒）：计算：{computing}；未重叠的通信：{communication}；空闲：{free}",
    ),
    "no_parts": (
        "The store knows how long steps took, not what they went on: the profile had no table that says so.",
        "存储知道每步多久，但不知道构成：采集数据中没有相应的表。",
    ),
    "steps_by_tasks": (
        (
            "Where no table says what steps go on, the parts are worked out from when the tasks ran: all of the capture, gaps "
            "between steps included, divided by their number."
        ),
        "没有说明单步耗时构成的表时，各部分由任务的执行时间算出：整个采集（含各步之间的空隙）除以步数。",
    ),
    "by_tasks": ("by its tasks, steps: {steps}", "由任务算出，步数：{steps}"),
    "by_tasks_once": ("by its tasks, the whole capture", "由任务算出，整个采集"),
    "capture_chart": (
        "The capture of {what}: computing {computing}, communication that is not overlapped {communication}, free {free} (ms)",
        "{what} 的整个采集（毫秒）：计算：{computing}；未重叠的通信：{communication}；空闲：{free}",
    ),
    "no_steps": ("No step of this run is stored.", "没有保存这次运行的步。"),
    "step_ms": ("Step (ms)", "单步耗时 (ms)"),
    "std_ms": ("Std (ms)", "标准差 (ms)"),
    "computing": ("Computing (ms)", "计算 (ms)"),
    "communication": ("Communication, not overlapped (ms)", "未重叠的通信 (ms)"),
    "free_ms": ("Free (ms)", "空闲 (ms)"),
    "advice": ("Advice", "建议"),
    "advice_absent": (
        "No advice and no plan are stored with this run: ingest its profile again with --renew, or ask the profile itself.",
        "这次运行没有保存建议和计划：请用 --renew 重新导入其采集数据，或直接查询采集数据。",
    ),
    "advice_unknown": ("No advice could be worked out: {why}", "无法得出建议：{why}"),
    "advice_about": (
        (
            "The {shown} of {count} with the largest bound. Bound is the most by which a step could get shorter; it is no forecast, "
            "and bounds do not add up."
        ),
        "{count} 条中上限最大的 {shown} 条。上限是一步最多可缩短的时间；它不是预测，且不能相加。",
    ),
    "advice_none": ("No rule has anything to say.", "没有规则给出建议。"),
    "advice_device": ("{place}: {headline}.", "{place}：{headline}。"),
    "devices_of": ("The {shown} longest steps of {count} devices.", "{count} 个设备中单步最长的 {shown} 个。"),
    "the_step": ("the step", "整步"),
    "bound_us": ("Bound (us of a step)", "上限 (us/步)"),
    "bound_share": ("Of the step", "占单步耗时"),
    "evidence": ("Evidence", "依据"),
    "on_devices": ("on {count} devices", "{count} 个设备"),
    "what_to_do": ("What to do", "怎么办"),
    "stated": ("msprof's own advice (prof_rule)", "msprof 自身的建议（prof_rule）"),
    "stated_about": ("The first {shown} of {count}, in msprof's words.", "{count} 条中的前 {shown} 条，msprof 原文。"),
    "msprof_says": ("msprof says", "msprof 的建议"),
    "next_plan": ("Next tuning plan", "下一次调优计划"),
    "plan_about": (
        (
            "Worked out when the run was stored, without earlier results. Total is of the whole profile; expected and bound are us "
            "of one step. The first {shown} of {count} candidates."
        ),
        "保存这次运行时得出，未考虑以往结果。总计为整个采集；预期与上限为一步的微秒数。{count} 个候选中的前 {shown} 个。",
    ),
    "plan_none": ("No tasks of this run tell what could be tuned.", "这次运行没有任务说明可以调优什么。"),
    "plan_command": (
        "All advice, and the folder of the plan, from the profile:",
        "由采集数据得到全部建议，并生成计划文件夹：",
    ),
    "expected_us": ("Expected (us of a step)", "预期 (us/步)"),
    "cost_s": ("Tuning (s)", "调优耗时 (s)"),
    "plan_left_out": ("What is left out", "未列入的"),
    "operators_count": ("Operators", "算子数"),
    "meaning": ("Meaning", "含义"),
    "subgraphs": ("the model's subgraphs", "模型的子图"),
    "advice_notes": ("What was found on the way", "过程中的发现"),
    "tunings": ("AOE results of that night", "当夜的 AOE 结果"),
    "tuning": ("What AOE claims", "AOE 的宣称"),
    "no_tunings": ("No AOE result of this model is stored for that night.", "当夜没有保存该模型的 AOE 结果。"),
    "claims_about": (
        "AOE's own claims from its microbenchmarks; only a profile before and after proves them.",
        "AOE 基于自身微基准的宣称；只有前后的采集数据才能证明。",
    ),
    "claims_chart": ("Times before and after tuning, as AOE claims them", "AOE 宣称的调优前后时间"),
    "claimed_before": ("Claimed before (us)", "宣称之前 (us)"),
    "claimed_after": ("Claimed after (us)", "宣称之后 (us)"),
    "speed_up": ("Speed-up (before/after - 1)", "加速（之前/之后 - 1）"),
    "verified": ("Claims against the clock", "宣称与实测"),
    "measured_before": ("Measured before (us)", "实测之前 (us)"),
    "claimed_change": ("Claimed change (after/before - 1)", "宣称变化（之后/之前 - 1）"),
    "measured_after": ("Measured after (us)", "实测之后 (us)"),
    "measured_change": ("Measured change", "实测变化"),
    "verdict": ("Verdict", "结论"),
    "whole_model": ("the whole model", "整个模型"),
    "neighbours": ("The runs before and after", "前后的运行"),
    "previous": ("Before", "之前"),
    "next": ("After", "之后"),
    "changes_here": ("Series that changed with this run", "自这次运行起变化的序列"),
    # tuning
    "tuning_history": ("Tuning", "调优"),
    "tuning_title": ("Tuning jobs (AOE)", "调优任务（AOE）"),
    "tuning_about": (
        "What AOE did and claims, job by job. A claim comes from AOE's own microbenchmarks and proves nothing.",
        "AOE 逐个任务的工作与宣称。宣称来自 AOE 自身的微基准，不能作为证明。",
    ),
    "jobs": ("Jobs", "任务"),
    "no_jobs": ("No tuning job is stored.", "没有保存的调优任务。"),
    "jobs_about": (
        "The newest first. Proven is what verify --store stored under the same workload from two profiles; nothing else is.",
        "最新的在前。只有 verify --store 以同一工作负载名、依据两次采集保存的结果才算已证明。",
    ),
    "jobs_shown": (
        "The newest {shown} of {count} jobs; the JSON has all.",
        "{count} 个任务中最新的 {shown} 个；JSON 中有全部。",
    ),
    "names_shown": ("The first {shown} of {count}; the JSON has all.", "{count} 个中的前 {shown} 个；JSON 中有全部。"),
    "no_counts": ("The stored jobs tell no counts.", "所保存的任务没有计数。"),
    "added": ("Added", "新增"),
    "updated": ("Updated", "更新"),
    "hit": ("Hit", "命中"),
    "unsatisfied": ("Unsatisfied", "未满足"),
    "tuning_failures": ("Failed", "失败"),
    "claimed_speed_up": ("Claimed (before/after - 1)", "宣称（之前/之后 - 1）"),
    "proven": ("Proven", "已证明"),
    "not_proven": ("not verified", "未验证"),
    "step_changed": ("step {verdict}: {change} ({interval})", "单步耗时{verdict}：{change}（{interval}）"),
    "measured_step": ("Measured step (ms)", "实测单步耗时 (ms)"),
    "measured_about": (
        (
            "Step before and after: the model's step in the last night before a job and the first after it. It is no proof: "
            "anything else may have changed between them, and one night of each says little."
        ),
        "前后单步耗时：任务前最后一夜与任务后第一夜的单步耗时。这不是证明：其间其他内容也可能变化，且各只有一夜。",
    ),
    "never": ("Never improved", "从未改善"),
    "never_about": (
        (
            "Operators that AOE named and never made quicker. AOE names only what it changed or failed on: what it tried "
            "without success is in the counts of unsatisfied ones, without names."
        ),
        "AOE 提到名称但从未变快的算子。AOE 只列出它更改或失败的算子：尝试未果的只计入未满足数，没有名称。",
    ),
    "never_none": ("No such operator is stored.", "没有这样的算子。"),
    "tuning_failed": ("tuning failed, never changed", "调优失败，从未更改"),
    "no_gain": ("changed, no gain claimed", "已更改，未宣称收益"),
    "never_confirmed": ("a gain is claimed, verify never confirmed it", "宣称有收益，但从未被验证确认"),
    "jobs_failed": ("Jobs that failed on it", "失败的任务数"),
    "jobs_changed": ("Jobs that changed it", "更改它的任务数"),
    "growth": ("Growth of the knowledge banks", "知识库的增长"),
    "growth_about": (
        (
            "Entries that AOE says it added or updated, summed over all stored jobs. What was deleted from a bank, or put into "
            "it otherwise, is not stored."
        ),
        "AOE 称新增或更新的条目，按所有已保存任务累计。从知识库删除或以其他方式加入的条目未保存。",
    ),
    "growth_chart": (
        "Entries added and updated from {first} to {last}: {sum} in all.",
        "从 {first} 到 {last} 新增和更新的条目：共 {sum} 个。",
    ),
    "bank_sum": ("Added and updated so far", "累计新增与更新"),
    # comparisons
    "comparisons": ("Compare", "比较"),
    "compare_title": ("Compare two runs", "比较两次运行"),
    "compare_about": (
        "Choose two runs, or follow a link from the page of a run.",
        "选择两次运行，或从运行页面的链接进入。",
    ),
    "compare_signs": (
        "Difference is candidate - baseline, ratio is candidate / baseline: above 0 and above 1 is slower.",
        "差值为候选 - 基线，比值为候选 / 基线：大于 0、大于 1 表示更慢。",
    ),
    "compare_without": (
        "Choosing runs needs JavaScript. Without it, the models below have a page each; any two profiles are compared by:",
        "选择运行需要 JavaScript。没有时，下面每个模型有一页；任意两次采集可用以下命令比较：",
    ),
    "compare_models": ("The newest night against its baseline", "最新一夜与基线"),
    "compare_of": ("{model}, {night} against its baseline", "{model}，{night} 与基线"),
    "compare_segment": (
        "The baseline is the last run before the model's step changed, of the night {night}.",
        "基线是该模型单步耗时变化之前的最后一次运行（{night} 夜）。",
    ),
    "compare_night": (
        "The baseline is the night before, {night}: the model's step has not changed in the watched nights.",
        "基线是前一夜（{night}）：在监视的夜中该模型的单步耗时没有变化。",
    ),
    "compare_last_night": (
        "The baseline is the last night before with a run, {night}: the model's step has not changed in the watched nights.",
        "基线是此前最近有运行的一夜（{night}）：在监视的夜中该模型的单步耗时没有变化。",
    ),
    "not_comparable": ("These two runs are not comparable.", "这两次运行不可比较。"),
    "not_comparable_about": (
        "The command line refuses to compare them. What follows may come from how they were measured and not from the model.",
        "命令行拒绝比较它们。以下差异可能源于测量方式，而非模型本身。",
    ),
    "fact_differs": (
        "{fact}: {baseline} in the baseline, {candidate} in the candidate",
        "{fact}：基线为 {baseline}，候选为 {candidate}",
    ),
    "fact_hardware": ("Other hardware", "硬件不同"),
    "fact_engine_version": ("Other version of the engine", "引擎版本不同"),
    "fact_profiler_level": ("Other profiler level", "采集级别不同"),
    "fact_aic_metrics": ("Other set of AI Core metrics", "AI Core 指标集不同"),
    "fact_steps": ("Other number of steps", "步数不同"),
    "fact_ranks": ("Other ranks", "rank 不同"),
    "records_missing_baseline": (
        "No operator records of the baseline are stored; the candidate has {count}",
        "基线没有保存算子记录；候选有 {count} 条",
    ),
    "records_missing_candidate": (
        "No operator records of the candidate are stored; the baseline has {count}",
        "候选没有保存算子记录；基线有 {count} 条",
    ),
    "compare_one_side": (
        "The {shown} largest of {count}. In all (us), baseline: {baseline}; candidate: {candidate}.",
        "{count} 项中最大的 {shown} 项。合计（微秒），基线：{baseline}；候选：{candidate}。",
    ),
    "compare_previous": ("Compare with the run before", "与前一次运行比较"),
    "compare_op_type": ("Operator types", "算子类型"),
    "compare_op": ("Operators", "算子"),
    "compare_communication": ("Communication", "通信"),
    "compare_sums": (
        "The {shown} largest differences of {count}; in all {baseline} us became {candidate} us ({difference} us).",
        "{count} 项中差值最大的 {shown} 项；合计由 {baseline} 微秒变为 {candidate} 微秒（{difference} 微秒）。",
    ),
    "compare_metadata": ("What else differs", "其他差异"),
    "compare_same": ("Nothing that the store knows of the two runs differs.", "就存储所知，两次运行没有其他差异。"),
    "choose": ("Compare", "比较"),
    "chosen_missing": ("One of these runs is not in this folder.", "其中一次运行不在此文件夹中。"),
    "baseline": ("Baseline", "基线"),
    "candidate": ("Candidate", "候选"),
    "difference_us_c": ("Difference (us)", "差值 (us)"),
    "difference_ms_c": ("Difference (ms)", "差值 (ms)"),
    "ratio": ("Ratio", "比值"),
    "baseline_us": ("Baseline (us)", "基线 (us)"),
    "candidate_us": ("Candidate (us)", "候选 (us)"),
    "baseline_ms": ("Baseline (ms)", "基线 (ms)"),
    "candidate_ms": ("Candidate (ms)", "候选 (ms)"),
    "side": ("On which side", "所在一侧"),
    "both_sides": ("both", "两侧"),
    "only_baseline": ("baseline only", "仅基线"),
    "only_candidate": ("candidate only", "仅候选"),
    "part_step": ("a step", "一步"),
    "part_computing": ("computing", "计算"),
    "part_communication": ("communication, not overlapped", "未重叠的通信"),
    "part_free": ("free", "空闲"),
    "of_steps": ("mean, steps: {count}", "平均，步数：{count}"),
    "tasks_of": ("tasks: {count}", "任务：{count}"),
    "untimed": (
        "Records without a total, in no table: {baseline} in the baseline, {candidate} in the candidate.",
        "没有总时间、未列入表格的记录：基线 {baseline} 条，候选 {candidate} 条。",
    ),
}
"""Each text in English and in Chinese."""

_FACTS = frozenset({"engine", "engine_version", "runtime_config.profiler_level", "runtime_config.aic_metrics"})
_PLACE: Mapping[Language, int] = {"en": 0, "zh": 1}


@dataclass(frozen=True, slots=True)
class Texts:
    """The catalogue in one language."""

    language: Language = "en"

    def __call__(self, key: str, **values: Any) -> str:
        """A text, with values in it."""
        text = CATALOGUE[key][_PLACE[self.language]]
        return text.format(**values) if values else text

    def word(self, word: str) -> str:
        """A word of ours that the data use (a state, a severity, a cause); what is not in the catalogue stays what it is."""
        return CATALOGUE[word][_PLACE[self.language]] if word in CATALOGUE else word

    def told(self, value: Any) -> str:
        """A text, or a word that reports have in their tables (a status, a verdict); names stay what they are."""
        return in_language(value if isinstance(value, str) else str(value), self.language)

    def fact(self, name: str) -> str:
        """What a fact of a run is called; one that only its file names keeps that name."""
        return self(name) if name in _FACTS else name
