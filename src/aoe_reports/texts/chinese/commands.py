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
}
