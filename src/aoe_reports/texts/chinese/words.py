"""Separators, and single words that tables have in their cells: states, severities, yes and no."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    "": "",
    " ": "",
    ", ": "，",
    "; ": "；",
    ": ": "：",
    ". ": "。",
    " and ": "和",
    " or ": "或",
    # how findings and errors are written
    "{name}: {why}": "{name}：{why}",
    "{path}: {text}": "{path}：{text}",
    "{path}: {what}; {expected}": "{path}：{what}；{expected}",
    "{path}: line {line}: {what}; {expected}": "{path}：第 {line} 行：{what}；{expected}",
    "{place}: {severity}: {message} [{rule}]": "{place}：{severity}：{message} [{rule}]",
    "{place}: {severity}: {message} at {pointer} [{rule}]": "{place}：{severity}：{message}，位于 {pointer} [{rule}]",
    "aoe-reports: error: {message}": "aoe-reports：错误：{message}",
    "yes": "是",
    "no": "否",
    # how something ended, what a row says of itself
    "pass": "通过",
    "warn": "警告",
    "fail": "未通过",
    "error": "错误",
    "warning": "警告",
    "info": "提示",
    "ok": "正常",
    "confirmed": "已确认",
    "suspect": "疑似",
    "drift": "漂移",
    "recovered": "已恢复",
    "improved": "变快",
    "withdrawn": "已撤回",
    "unchanged": "未变",
    "new": "新增",
    "vanished": "消失",
    "changed": "已更改",
    "slower": "变慢",
    "faster": "变快",
    "successful": "成功",
    "failed": "失败",
    "damaged": "已损坏",
    "incomplete": "不完整",
    "unknown": "未知",
    "partly": "部分确认",
    "not-reproduced": "未重现",
    "regressed": "变慢",
    "not-comparable": "不可比较",
    # what typer says of itself in --help
    "Arguments": "参数",
    "Options": "选项",
    "Commands": "命令",
    "required": "必选",
    "Show this message and exit.": "显示本帮助后退出。",
    "Install completion for the current shell.": "为当前 shell 安装命令补全。",
    "Show completion for the current shell, to copy it or customize the installation.": (
        "显示当前 shell 的命令补全脚本，以便复制或定制安装。"
    ),
    "none": "无",
    # how a run of AOE ended, why a series is not held against a baseline
    "nothing tunable": "没有可调优的内容",
    "not tuned": "未调优",
    "tuned": "已调优",
    "no-baseline": "没有基线",
}
