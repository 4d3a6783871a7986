"""A string of profiling_options held against what the collector takes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import jiter

from aoe_reports.formats.aoe.results import escape
from aoe_reports.formats.ascend.profiling.options import (
    ADAPTER,
    DEFAULTS,
    EXCLUSIVE_WITH_INSTR,
    MAX_BYTES,
    ONLY_2022,
    OPTIONS,
    Option,
)
from aoe_reports.formats.json.text import explain, locate, with_repeated_keys
from aoe_reports.formats.rules import JSON_DUPLICATE_KEY
from aoe_reports.model.documents import Json
from aoe_reports.model.findings import Finding, Severity
from aoe_reports.model.rows import column, row
from aoe_reports.model.rules import Scope
from aoe_reports.model.texts import join, say

PATH = "profiling_options"
"""What findings name where a file's path would stand."""

_OPTIONS = Scope("profiling_options")
OPTION_SYNTAX = _OPTIONS.rule("option-syntax", "error", "the string is not a JSON object")
OPTION_UNKNOWN = _OPTIONS.rule(
    "option-unknown", "error", "a key that the collector does not accept: profiling does not start"
)
OPTION_VALUE = _OPTIONS.rule(
    "option-value", "error", "a value that the collector does not accept (a warning for storage_limit)"
)
OPTION_WITHOUT_EFFECT = _OPTIONS.rule(
    "option-without-effect", "warning", "a key that has no effect with the current values of the other keys"
)
OPTION_TOO_LONG = _OPTIONS.rule("option-too-long", "error", "a string of 2048 bytes or more is read as an empty string")
OPTION_VERSIONS = _OPTIONS.rule("option-versions", "warning", "a key or value that some versions reject")
OPTION_CONFLICT = _OPTIONS.rule("option-conflict", "warning", "keys that cannot be enabled together on some versions")
OPTION_OUTPUT = _OPTIONS.rule("option-output", "warning", "no output location is set for the data")
OPTION_DEFAULT = _OPTIONS.rule("option-default", "info", "what is collected when a key is missing")

_SIZE = re.compile(r"(\d{1,12})MB")
_CUSTOM = re.compile(r"Custom:0x[0-9a-fA-F]+(,0x[0-9a-fA-F]+)*")


@row
class OptionInForce:
    """A key that is in force, and what it does."""

    key: str = column()
    value: str | int = column()
    default: str | int | None = column()
    files: Sequence[str] = column()
    note: str = column()
    source: str | None = column()


def check_options(text: str) -> tuple[list[OptionInForce], list[Finding]]:
    """(one row a key that is in force, what is wrong with the string)."""
    data = text.encode("utf-8", "replace")
    if not text.strip():
        message = say(
            "no options: the default set is collected; versions before 2022-02-24 stop, npu_resource_init raises "
            "an exception"
        )
        return _rows(DEFAULTS, ADAPTER), [OPTION_DEFAULT.found(PATH, message)]
    if len(data) >= MAX_BYTES:
        message = say("{count} bytes; {most} or more are read as an empty string", count=len(data), most=MAX_BYTES)
        return [], [OPTION_TOO_LONG.found(PATH, message)]
    try:
        document = jiter.from_json(data, allow_inf_nan=False)
    except ValueError as error:
        wrong = explain(str(error), data)
        return [], [OPTION_SYNTAX.found(PATH, say("not JSON: {why}", why=wrong.message), wrong.line, wrong.column)]
    if not isinstance(document, dict):
        return [], [OPTION_SYNTAX.found(PATH, say('not a JSON object; expected {"key":"value",…}'), 1, 1)]
    places = locate(data, {f"/{escape(key)}" for key in document})
    _, repeated = with_repeated_keys(data, float)
    findings = [
        JSON_DUPLICATE_KEY.found(PATH, say("{key} occurs twice; the last one is used", key=key), line, column)
        for _, key, line, column in repeated
    ]
    for key, value in document.items():
        found = _of_key(key, value)
        if found is not None:
            pointer = f"/{escape(key)}"
            line, column = places.get(pointer, (None, None))
            findings.append(replace(found, line=line, column=column, pointer=pointer))
    findings += [found for rule in _TOGETHER for found in rule(document)]
    return _rows(document), findings


def _rows(options: Mapping[str, Json], source: str | None = None) -> list[OptionInForce]:
    rows = []
    for key, value in options.items():
        option = OPTIONS.get(key)
        rows.append(
            OptionInForce(
                key=key,
                value=value if isinstance(value, str | int) else json.dumps(value),
                default=option.default if option else None,
                files=() if option is None or value == "off" else option.files,
                note=option.note if option else "",
                source=source or (option.source if option else None),
            )
        )
    return rows


def _of_key(key: str, value: Any) -> Finding | None:
    option = OPTIONS.get(key)
    if option is None:
        if key in ONLY_2022:
            return OPTION_VERSIONS.found(
                PATH, say("{key} was accepted in 2022; later collectors reject it and do not start", key=key)
            )
        return OPTION_UNKNOWN.found(
            PATH, say("{key} is not a key of profiling_options: profiling does not start", key=key)
        )
    if option.kind == "integer":
        return _of_integer(option, value)
    if not isinstance(value, str):
        return OPTION_VALUE.found(PATH, say("{key} takes a string, not {value}", key=key, value=json.dumps(value)))
    said = _VALUES[option.kind](option, value) if option.kind in _VALUES else None
    if said is None:
        told = say("{key}: l3 is accepted on some chips only", key=key)
        return OPTION_VERSIONS.found(PATH, told) if value == "l3" else None
    severity: Severity = "warning" if option.kind == "size" else "error"
    message = say("{key} is {value}; expected {expected}", key=key, value=json.dumps(value), expected=said)
    return OPTION_VALUE.found(PATH, message, severity=severity)


def _of_integer(option: Option, value: Any) -> Finding | None:
    if isinstance(value, bool) or not isinstance(value, int):
        message = say("{key} takes a whole number without quotes, not {value}", key=option.key, value=json.dumps(value))
        return OPTION_VALUE.found(PATH, message)
    if not option.least <= value <= option.most:
        return OPTION_VALUE.found(
            PATH,
            say(
                "{key} is {value}; expected {least} to {most}",
                key=option.key,
                value=value,
                least=option.least,
                most=option.most,
            ),
        )
    if option.key == "sys_hardware_mem_freq" and value > _OLD_MEMORY_FREQUENCY:
        return OPTION_VERSIONS.found(
            PATH,
            say(
                "{key} above {most} is accepted by newer versions only",
                key=option.key,
                most=_OLD_MEMORY_FREQUENCY,
            ),
        )
    return None


_OLD_MEMORY_FREQUENCY = 100


def _choice(option: Option, value: str) -> str | None:
    return None if value in option.values else say("one of {names}", names=join(", ", option.values))


def _metrics(option: Option, value: str) -> str | None:
    if value in {"", *option.values} or _CUSTOM.fullmatch(value):
        return None
    return say("one of {names}, or Custom:0x…,0x…", names=join(", ", option.values))


def _size(option: Option, value: str) -> str | None:
    found = _SIZE.fullmatch(value)
    if found and option.least <= int(found[1]) <= option.most:
        return None
    return say("a number from {least} to {most} followed by MB", least=option.least, most=option.most)


def _words(option: Option, value: str) -> str | None:
    words = value.split(",")
    if set(words) <= set(option.values):
        return None
    return say("one or more of {names}, separated by commas", names=",".join(option.values))


_VALUES: dict[str, Callable[[Option, str], str | None]] = {
    "choice": _choice,
    "metrics": _metrics,
    "size": _size,
    "list": _words,
}

_Found = list[Finding]


def _output(options: Mapping[str, Json]) -> _Found:
    if options.get("output"):
        return []
    message = say(
        "no output: the data are written to $ASCEND_WORK_PATH/profiling_data; if that variable is not set, "
        "profiling does not start"
    )
    return [OPTION_OUTPUT.found(PATH, message)]


def _traces(options: Mapping[str, Json]) -> _Found:
    found: _Found = []
    training = options.get("training_trace") == "on"
    if options.get("task_trace") == "off" and options.get("task_time", "on") != "off":
        message = say("task_trace=off alone is overridden by task_time, which is on unless set to off")
        found.append(OPTION_WITHOUT_EFFECT.found(PATH, message))
    points = [name for name in ("fp_point", "bp_point") if options.get(name)]
    if points and not training:
        message = say("{points} have an effect only with training_trace=on", points=join(" and ", points))
        found.append(OPTION_WITHOUT_EFFECT.found(PATH, message))
    if not training:
        found.append(OPTION_DEFAULT.found(PATH, say("training_trace is off: there will be no step_trace")))
        if options.get("task_trace") == "on":
            message = say("documents of 5.0.4 and 6.0.1 say that task_trace=on needs training_trace=on in training")
            found.append(OPTION_VERSIONS.found(PATH, message))
    return found


def _counters(options: Mapping[str, Json]) -> _Found:
    if "aic_metrics" not in options:
        return [OPTION_DEFAULT.found(PATH, say("no aic_metrics: op_summary will have no counter columns"))]
    return []


def _instructions(options: Mapping[str, Json]) -> _Found:
    if "instr_profiling_freq" not in options:
        return []
    beside = [key for key in EXCLUSIVE_WITH_INSTR if options.get(key) == "on"]
    beside += [key for key in ("aic_metrics", "aiv_metrics") if key in options]
    if not beside:
        return []
    message = say(
        "instr_profiling_freq together with {keys}: a collector of 2023 does not start", keys=join(", ", beside)
    )
    return [OPTION_CONFLICT.found(PATH, message)]


_TOGETHER: tuple[Callable[[Mapping[str, Json]], _Found], ...] = (_output, _traces, _counters, _instructions)
