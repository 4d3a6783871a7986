"""`bank --log`: which operators used a bank, as logs of CANN say it, and why one did not."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES, Cli, Ended
from documents import check_output_schema
from planted_logs import (
    HIT,
    MISSED,
    NOT_COUNTED,
    SUBGRAPH_HIT,
    SUBGRAPH_MISSED,
    formats,
    operator,
    subgraph,
    write_log,
)

BANKS = FIXTURES / "banks"


def asked(cli: Cli, log: Path, *more: object) -> dict[str, Any]:
    return cli("bank", *more, "--log", log, "--format", "json").json


def told(answer: dict[str, Any]) -> list[tuple[str, str, str, int, int]]:
    return [(one["kind"], one["name"], one["status"], one["process"], one["lines"]) for one in answer["uses"]]


def first_line(ended: Ended) -> str:
    return ended.out.splitlines()[0]


def test_what_did_not_use_the_bank_comes_first(cli: Cli, tmp_path: Path) -> None:
    lines = [
        operator("a/MatMul", HIT),
        operator("a/MatMul", HIT, graph="0_2_"),
        operator("b/MatMul_OPAT_3", MISSED, kernel="te_fused_op_add_mul_0a1b2c_1"),
        operator("c", NOT_COUNTED, kernel="MatMulV3_0a1b2c_mix__kernel0"),
        operator("plain", HIT, graph="", kernel=""),
        subgraph("partition0", SUBGRAPH_HIT),
        subgraph("partition1", SUBGRAPH_MISSED),
    ]
    log = write_log(tmp_path, lines)
    assert told(asked(cli, log)) == [
        ("operator", "b/MatMul", "missed", 7, 1),
        ("operator", "a/MatMul", "hit", 7, 1),
        ("operator", "a/MatMul", "hit", 7, 1),
        ("operator", "plain", "hit", 7, 1),
        ("operator", "c", "not-counted", 7, 1),
        ("subgraph", "partition1", "missed", 7, 1),
        ("subgraph", "partition0", "hit", 7, 1),
    ]
    kernels = {one["name"]: (one["graph"], one["fused_types"]) for one in asked(cli, log)["uses"]}
    assert kernels["b/MatMul"] == ("0_1", "add_mul")
    assert kernels["c"] == ("0_1", "MatMulV3")
    assert kernels["plain"] == (None, None)
    ended = cli("bank", "--log", log)
    assert ended.code == 0
    assert first_line(ended) == (
        "2 of 3 operators used the bank; 1 did not: b/MatMul; 1 not counted; subgraphs: 1 of 2."
    )
    check_output_schema(asked(cli, log))
    rows = cli("bank", "--log", log, "--format", "csv").out.splitlines()
    assert (len(rows), rows[1].split(",")[:3]) == (8, ["operator", "b/MatMul", "missed"])


def test_lines_that_contradict_each_other_are_said_and_count_as_neither(cli: Cli, tmp_path: Path) -> None:
    lines = [operator("a", HIT), operator("a", MISSED), operator("a", NOT_COUNTED), operator("b", HIT)]
    answer = asked(cli, write_log(tmp_path, lines))
    assert told(answer) == [("operator", "a", "mixed", 7, 3), ("operator", "b", "hit", 7, 1)]
    assert [(one["rule"], one["message"]) for one in answer["findings"]] == [
        ("bank-log-contradicts", "a: found in a bank by process 7, not found by process 7; it is counted as neither")
    ]
    assert first_line(cli("bank", "--log", tmp_path)) == "1 of 2 operators used the bank; 1 only in part: a."


def test_processes_are_told_apart_and_together_contradict_each_other(cli: Cli, tmp_path: Path) -> None:
    write_log(tmp_path, [operator("a", HIT), operator("a", MISSED, process=8), operator("b", HIT)])
    write_log(tmp_path, [operator("b", HIT, process=9)], "plog-9_20261209161022540.log")
    answer = asked(cli, tmp_path)
    assert told(answer) == [
        ("operator", "a", "missed", 8, 1), ("operator", "a", "hit", 7, 1), ("operator", "b", "hit", 7, 1), ("operator", "b", "hit", 9, 1),
    ]  # fmt: skip
    assert [one["message"] for one in answer["findings"]] == [
        "a: found in a bank by process 7, not found by process 8; it is counted as neither"
    ]
    assert first_line(cli("bank", "--log", tmp_path)) == "1 of 2 operators used the bank; 1 only in part: a."


def test_the_search_for_formats_is_another_one(cli: Cli, tmp_path: Path) -> None:
    log = write_log(tmp_path, [formats("a", MISSED), operator("a", HIT)])
    assert told(asked(cli, log)) == [("operator", "a", "hit", 7, 1), ("format", "a", "missed", 7, 1)]
    assert first_line(cli("bank", "--log", log)) == "1 of 1 operator used the bank."


@pytest.mark.parametrize("name", ["block[3]/add[op]", "x][1][y", "gr\u00fc\u00dfe", "\u5377\u79ef/conv", "1_x"])
def test_a_name_of_any_letters_is_whole(cli: Cli, tmp_path: Path, name: str) -> None:
    assert told(asked(cli, write_log(tmp_path, [operator(name, HIT)]))) == [("operator", name, "hit", 7, 1)]


def test_bytes_that_are_no_utf_8_are_iso_8859_1(cli: Cli, tmp_path: Path) -> None:
    log = write_log(tmp_path, [operator("gr\u00fc\u00dfe", MISSED)], encoding="iso-8859-1")
    assert told(asked(cli, log)) == [("operator", "gr\u00fc\u00dfe", "missed", 7, 1)]


def test_rotated_and_compressed_logs_are_read_once_and_others_are_not(cli: Cli, tmp_path: Path) -> None:
    write_log(tmp_path, [operator("a", HIT)])
    write_log(tmp_path, [operator("b", HIT)], "plog-7_20261209171022539.log.1")
    write_log(tmp_path, [operator("x", MISSED)], "device-7_20261209171022539.log")
    packed = tmp_path / "debug" / "plog" / "plog-7_20261209181022539.log.gz"
    packed.write_bytes(gzip.compress(operator("c", MISSED).encode()))
    assert [one[1:3] for one in told(asked(cli, tmp_path))] == [("c", "missed"), ("a", "hit"), ("b", "hit")]
    assert told(asked(cli, packed)) == [("operator", "c", "missed", 7, 1)]
    packed.write_bytes(gzip.compress(operator("c", MISSED).encode())[:-9])
    ended = cli("bank", "--log", packed)
    assert (ended.code, "internal" in ended.err) == (3, False)


def test_a_hostile_log_takes_no_memory_and_no_words(cli: Cli, tmp_path: Path) -> None:
    lines = [
        operator("a" * (1 << 20), HIT),
        "x" * (1 << 20) + operator("b", MISSED),
        operator("c", 2),
        operator("", HIT, graph=""),
        "[op_kb_hit][d][1][te_x_1_1]",
        f"[INFO] FE(7,x):1 {'[op_kb_hit][' * 3000}",
        operator("\x1b[31mred", HIT),
        "\x00\xff" * 40_000,
        operator("e", HIT)[: -len('_1]"')],
    ]
    log = write_log(tmp_path, lines)
    answer = asked(cli, log)
    assert [one[1:3] for one in told(answer)] == [("\x1b[31mred", "hit"), ("e", "hit")]
    assert [(one["rule"], one["line"], one["message"]) for one in answer["findings"]] == [
        ("bank-log-line", 2, "6 lines on banks cannot be read; they are left out")
    ]
    ended = cli("bank", "--log", log)
    assert (ended.code, "\x1b" in ended.out) == (0, False)


def test_a_log_that_says_nothing_of_banks_is_an_error(cli: Cli, tmp_path: Path) -> None:
    answer = cli("bank", "--log", write_log(tmp_path, []), "--format", "json")
    assert (answer.code, answer.rules()) == (1, {"bank-log-silent"})
    assert cli("bank", "--log", tmp_path / "none").code == 3
    os.mkfifo(tmp_path / "pipe")
    assert cli("bank", "--log", tmp_path / "pipe").code == 3
    assert "expected a bank" in cli("bank", "list").err


def test_a_profile_and_banks_tell_why_there_was_no_hit(cli: Cli, tmp_path: Path) -> None:
    names = {"a": HIT, "aclnnMatmul_a": MISSED, "aclnnMatmul_c": MISSED, "aclnnMatmul_e": MISSED, "elsewhere": MISSED}
    log = write_log(tmp_path, [operator(name, flag) for name, flag in names.items()])
    more = ("--profile", BANKS / "profile", "--soc", "Ascend910B3")
    why = {one["name"]: one["reason"] for one in asked(cli, log, BANKS / "after", *more)["uses"]}
    assert why == {
        "a": None,
        "aclnnMatmul_a": "a bank here has its entry: another bank was in use, or the kernel was not compiled again",
        "aclnnMatmul_c": "stale: its entry is for Ascend910B1 with 24 AI Cores",
        "aclnnMatmul_e": "missing: no entry of these shapes",
        "elsewhere": None,
    }
    shapes = {
        one["name"]: (one["op_type"], one["input_shapes"], one["reason"]) for one in asked(cli, log, *more)["uses"]
    }
    assert shapes["aclnnMatmul_e"] == ("MatMulV3", "64,640;640,48", None)
