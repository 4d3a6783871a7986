"""Options of the collector: every one at its limits, and what they say of each other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aoe_reports.formats.ascend.profiling import (
    ADAPTER,
    COLLECTOR,
    DEFAULTS,
    EXCLUSIVE_WITH_INSTR,
    MAX_BYTES,
    ONLY_2022,
    OPTIONS,
)
from aoe_reports.rules.profiling_options import check_options

SOUND: dict[str, Any] = {"output": "/d", "training_trace": "on", "aic_metrics": "Memory"}
"""Of these nothing is to be said."""


def said(options: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    """(rule, severity, pointer) of each finding."""
    _, findings = check_options(json.dumps(options))
    return [(finding.rule, finding.severity, finding.pointer) for finding in findings]


def said_of(key: str, value: Any) -> list[tuple[str, str]]:
    """(rule, severity) of what is said of a value, beside others that are sound."""
    return [(rule, severity) for rule, severity, pointer in said(SOUND | {key: value}) if pointer == f"/{key}"]


def test_of_sound_options_nothing_is_said() -> None:
    assert said(SOUND) == []


RANGES = [(option.key, option.least, option.most) for option in OPTIONS.values() if option.kind == "integer"]


@pytest.mark.parametrize(("key", "least", "most"), RANGES)
def test_a_frequency_is_taken_within_its_range(key: str, least: int, most: int) -> None:
    newer = [("option-versions", "warning")] if most == 10_000 else []
    assert said_of(key, least) == []
    assert said_of(key, most) == newer
    for value in (least - 1, most + 1, -most, str(least), float(least), True, None):
        assert said_of(key, value) == [("option-value", "error")], value


@pytest.mark.parametrize(("frequency", "fires"), [(100, []), (101, [("option-versions", "warning")])])
def test_a_memory_frequency_above_100_is_for_newer_versions(frequency: int, fires: list[tuple[str, str]]) -> None:
    assert said_of("sys_hardware_mem_freq", frequency) == fires


@pytest.mark.parametrize(
    ("limit", "is_taken"),
    [
        ("200MB", True),
        ("199MB", False),
        ("4294967295MB", True),
        ("4294967296MB", False),
        ("0000000000200MB", False),
        ("200", False),
        ("200GB", False),
        (" 200MB", False),
    ],
)
def test_a_limit_on_storage_is_a_number_of_megabytes(limit: str, is_taken: bool) -> None:
    assert said_of("storage_limit", limit) == ([] if is_taken else [("option-value", "warning")])


@pytest.mark.parametrize("option", [o for o in OPTIONS.values() if o.kind == "choice"], ids=lambda option: option.key)
def test_a_choice_takes_its_words_alone(option: Any) -> None:
    newer = [("option-versions", "warning")]
    for value in option.values:
        assert said_of(option.key, value) == (newer if value == "l3" else []), value
    for value in ("", "ON", "on,off", "l4", 1, True, None, ["on"]):
        assert said_of(option.key, value) == [("option-value", "error")], value


@pytest.mark.parametrize(
    ("value", "is_taken"),
    [
        ("", True),
        ("PipeUtilization", True),
        ("Custom:0x1", True),
        ("Custom:0x1,0xaF", True),
        ("Custom:", False),
        ("Custom:0x1,", False),
        ("Custom:1", False),
        ("Pipe", False),
    ],
)
def test_metrics_are_a_set_or_numbers_of_counters(value: str, is_taken: bool) -> None:
    assert said_of("aic_metrics", value) == ([] if is_taken else [("option-value", "error")])


@pytest.mark.parametrize(
    ("value", "is_taken"), [("cpu", True), ("cpu,mem", True), ("cpu,disc", False), ("cpu,", False), ("", False)]
)
def test_a_list_is_made_of_its_words(value: str, is_taken: bool) -> None:
    assert said_of("host_sys", value) == ([] if is_taken else [("option-value", "error")])


def test_a_text_may_say_anything() -> None:
    assert said_of("optype", "any, thing") == []
    assert said_of("optype", 3) == [("option-value", "error")]


@pytest.mark.parametrize("key", ONLY_2022)
def test_a_key_of_2022_is_named_as_one(key: str) -> None:
    assert said_of(key, "on") == [("option-versions", "warning")]


def test_a_key_that_nobody_knows_stops_the_collector() -> None:
    assert said_of("task_trac", "on") == [("option-unknown", "error")]


def test_a_finding_stands_at_its_value() -> None:
    _, (finding,) = check_options('{"output": "/d", "training_trace": "on", "aic_metrics": "",\n "sys_cpu_freq": 51}')
    assert (finding.line, finding.column, finding.pointer) == (2, 18, "/sys_cpu_freq")
    assert finding.message == "sys_cpu_freq is 51; expected 1 to 50"


DEFAULT = ("option-default", "info", None)
NO_EFFECT = ("option-without-effect", "warning", None)


@pytest.mark.parametrize(
    ("change", "fires"),
    [
        ({"output": ""}, [("option-output", "warning", None)]),
        ({"training_trace": "off"}, [DEFAULT]),
        ({"training_trace": "off", "task_trace": "on"}, [DEFAULT, ("option-versions", "warning", None)]),
        ({"training_trace": "off", "task_trace": "l1"}, [DEFAULT]),
        ({"training_trace": "on", "task_trace": "on"}, []),
        ({"task_trace": "off"}, [NO_EFFECT]),
        ({"task_trace": "off", "task_time": "l0"}, [NO_EFFECT]),
        ({"task_trace": "off", "task_time": "off"}, []),
        ({"task_trace": "on", "task_time": "off"}, []),
        ({"training_trace": "off", "fp_point": "a"}, [NO_EFFECT, DEFAULT]),
        ({"training_trace": "off", "bp_point": "b", "fp_point": "a"}, [NO_EFFECT, DEFAULT]),
        ({"training_trace": "off", "fp_point": ""}, [DEFAULT]),
        ({"fp_point": "a", "bp_point": "b"}, []),
    ],
)
def test_options_are_held_against_each_other(change: dict[str, Any], fires: list[Any]) -> None:
    assert said(SOUND | change) == fires


def test_what_is_not_given_is_told() -> None:
    assert said({}) == [("option-output", "warning", None), DEFAULT, DEFAULT]
    assert said({key: SOUND[key] for key in ("output", "training_trace")}) == [DEFAULT]


WITHOUT_CONFLICT = {"output": "/d", "instr_profiling_freq": 300}


@pytest.mark.parametrize("key", EXCLUSIVE_WITH_INSTR)
def test_what_cannot_run_beside_instructions(key: str) -> None:
    conflict = ("option-conflict", "warning", None)
    assert conflict in said(WITHOUT_CONFLICT | {key: "on"})
    assert conflict not in said(WITHOUT_CONFLICT | {key: "off"})
    assert conflict not in said({"output": "/d", key: "on"})


def test_counters_cannot_run_beside_instructions() -> None:
    _, findings = check_options(json.dumps(WITHOUT_CONFLICT | {"aicpu": "on", "aic_metrics": ""}))
    (message,) = (finding.message for finding in findings if finding.rule == "option-conflict")
    assert message == "instr_profiling_freq together with aicpu, aic_metrics: a collector of 2023 does not start"
    assert "option-conflict" not in [rule for rule, *_ in said(WITHOUT_CONFLICT)]


@pytest.mark.parametrize(("size", "fires"), [(MAX_BYTES - 1, False), (MAX_BYTES, True), (MAX_BYTES + 1, True)])
def test_a_string_is_read_up_to_its_longest(size: int, fires: bool) -> None:
    text = json.dumps(SOUND | {"optype": ""})
    for letter, bytes_of_letter in (("x", 1), ("é", 2)):
        filled = text.replace('"optype": ""', f'"optype": "{letter * ((size - len(text)) // bytes_of_letter)}"')
        filled += " " * (size - len(filled.encode()))
        rows, findings = check_options(filled)
        assert [finding.rule for finding in findings] == (["option-too-long"] if fires else [])
        assert bool(rows) is not fires


@pytest.mark.parametrize("text", ["", " \n"])
def test_no_options_are_those_of_the_adapter(text: str) -> None:
    rows, (finding,) = check_options(text)
    assert {row.key: row.value for row in rows} == DEFAULTS
    assert {row.source for row in rows} == {ADAPTER}
    assert (finding.rule, finding.severity) == ("option-default", "info")


def test_rows_tell_what_is_in_force() -> None:
    given = {"training_trace": "on", "aicpu": "off", "sys_cpu_freq": 10, "nobody": [1], "l2": "on"}
    rows, _ = check_options(json.dumps(given))
    assert [(row.key, row.value, row.default, row.source) for row in rows] == [
        ("training_trace", "on", "off", COLLECTOR),
        ("aicpu", "off", "off", COLLECTOR),
        ("sys_cpu_freq", 10, None, COLLECTOR),
        ("nobody", "[1]", None, None),
        ("l2", "on", "off", COLLECTOR),
    ]
    assert [tuple(row.files) for row in rows] == [OPTIONS["training_trace"].files, (), (), (), OPTIONS["l2"].files]
    assert rows[0].note == OPTIONS["training_trace"].note


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[]", 1, "not a JSON object"),
        ('{"a": NaN}', 1, "not JSON"),
        (
            '{\n"output":"/d", task_trace":"on"}',
            2,
            'expected a key in quotation marks near `"output":"/d", task_trace":"on`',
        ),
        ("{'output': '/d'}", 1, "expected a key in quotation marks"),
        ('{"output": "/d"', 1, "not JSON"),
    ],
)
def test_a_string_that_is_no_object(text: str, line: int, words: str) -> None:
    rows, (finding,) = check_options(text)
    assert rows == []
    assert (finding.rule, finding.severity, finding.line) == ("option-syntax", "error", line)
    assert words in finding.message


def test_of_a_key_that_occurs_twice_the_last_is_used() -> None:
    rows, findings = check_options(
        '{"output": "/d", "training_trace": "on", "aic_metrics": "", "l2": "on", "l2": "off"}'
    )
    assert [(finding.rule, finding.line) for finding in findings] == [("json-duplicate-key", 1)]
    assert {row.key: row.value for row in rows}["l2"] == "off"
