"""Checks a string of profiling_options: what the collector takes, and what its keys mean for each other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import jiter

from aoe_reports.formats.aoe.results import escape
from aoe_reports.formats.ascend.profiling import (
    ADAPTER,
    COLLECTOR,
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
from aoe_reports.model.findings import Finding
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
_OLD_MEMORY_FREQUENCY = 100


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
        for found in _of_key(key, value):
            pointer = f"/{escape(key)}"
            line, column = places.get(pointer, (None, None))
            findings.append(replace(found, line=line, column=column, pointer=pointer))
    return _rows(document), [*findings, *_together(document)]


def _rows(options: Mapping[str, Json], source: str | None = None) -> list[OptionInForce]:
    return [
        OptionInForce(
            key=key,
            value=value if isinstance(value, str | int) else json.dumps(value),
            default=option.default,
            files=() if value == "off" else option.files,
            note=option.note,
            source=source or (COLLECTOR if key in OPTIONS else None),
        )
        for key, value in options.items()
        for option in [OPTIONS.get(key, Option(key))]
    ]


def _of_key(key: str, value: Any) -> Iterator[Finding]:
    option, shown, newer = OPTIONS.get(key), json.dumps(value), _OLD_MEMORY_FREQUENCY
    if key in ONLY_2022:
        message = say("{key} was accepted in 2022; later collectors reject it and do not start", key=key)
        yield OPTION_VERSIONS.found(PATH, message)
    elif option is None:
        message = say("{key} is not a key of profiling_options: profiling does not start", key=key)
        yield OPTION_UNKNOWN.found(PATH, message)
    elif option.kind == "integer" and type(value) is not int:
        message = say("{key} takes a whole number without quotes, not {value}", key=key, value=shown)
        yield OPTION_VALUE.found(PATH, message)
    elif option.kind != "integer" and not isinstance(value, str):
        yield OPTION_VALUE.found(PATH, say("{key} takes a string, not {value}", key=key, value=shown))
    elif expected := _expected(option, value):
        message = say("{key} is {value}; expected {expected}", key=key, value=shown, expected=expected)
        yield OPTION_VALUE.found(PATH, message, severity="warning" if option.kind == "size" else None)
    elif value == "l3":
        yield OPTION_VERSIONS.found(PATH, say("{key}: l3 is accepted on some chips only", key=key))
    elif key == "sys_hardware_mem_freq" and value > newer:
        yield OPTION_VERSIONS.found(
            PATH, say("{key} above {most} is accepted by newer versions only", key=key, most=newer)
        )


def _expected(option: Option, value: Any) -> str | None:
    names = join(", ", option.values)
    match option.kind:
        case "integer" if not option.least <= value <= option.most:
            return say("{least} to {most}", least=option.least, most=option.most)
        case "choice" if value not in option.values:
            return say("one of {names}", names=names)
        case "metrics" if value not in {"", *option.values} and not _CUSTOM.fullmatch(value):
            return say("one of {names}, or Custom:0x…,0x…", names=names)
        case "list" if not set(value.split(",")) <= set(option.values):
            return say("one or more of {names}, separated by commas", names=",".join(option.values))
        case "size" if not ((size := _SIZE.fullmatch(value)) and option.least <= int(size[1]) <= option.most):
            return say("a number from {least} to {most} followed by MB", least=option.least, most=option.most)
    return None


def _together(options: Mapping[str, Json]) -> Iterator[Finding]:
    """Conflicts between options, and missing ones."""
    if not options.get("output"):
        message = say(
            "no output: the data are written to $ASCEND_WORK_PATH/profiling_data; if that variable is not set, "
            "profiling does not start"
        )
        yield OPTION_OUTPUT.found(PATH, message)
    training = options.get("training_trace") == "on"
    if options.get("task_trace") == "off" and options.get("task_time", "on") != "off":
        message = say("task_trace=off alone is overridden by task_time, which is on unless set to off")
        yield OPTION_WITHOUT_EFFECT.found(PATH, message)
    points = [name for name in ("fp_point", "bp_point") if options.get(name)]
    if points and not training:
        message = say("{points} have an effect only with training_trace=on", points=join(" and ", points))
        yield OPTION_WITHOUT_EFFECT.found(PATH, message)
    if not training:
        yield OPTION_DEFAULT.found(PATH, say("training_trace is off: there will be no step_trace"))
    if not training and options.get("task_trace") == "on":
        message = say("documents of 5.0.4 and 6.0.1 say that task_trace=on needs training_trace=on in training")
        yield OPTION_VERSIONS.found(PATH, message)
    if "aic_metrics" not in options:
        yield OPTION_DEFAULT.found(PATH, say("no aic_metrics: op_summary will have no counter columns"))
    beside = [key for key in EXCLUSIVE_WITH_INSTR if options.get(key) == "on"]
    beside += [key for key in ("aic_metrics", "aiv_metrics") if key in options]
    if "instr_profiling_freq" in options and beside:
        message = say(
            "instr_profiling_freq together with {keys}: a collector of 2023 does not start", keys=join(", ", beside)
        )
        yield OPTION_CONFLICT.found(PATH, message)
