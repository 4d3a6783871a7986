"""Stores that somebody else exported: bodies of runs and verdicts that are not as they were written break nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from commandline import Cli
from stores import rows_of_paths
from unchecked import store_unchecked

NESTED = "[" * 1500 + "]" * 1500
DEEP = json.loads("[" * 400 + "]" * 400)
HUGE = 10**400
RUNS = {
    "list": "[1]",
    "number": "5",
    "cut": "{",
    "nested": NESTED,
    "huge": json.dumps({"advice": HUGE, "model_baseline_ms": HUGE, "soc": HUGE}),
    "wrong types": json.dumps(
        {
            "kind": "opat",
            "failed_operators": 5,
            "summary": [1],
            "modifications": [{}],
            "model_baseline_ms": "x",
            "modified": {},
        }
    ),
    "wrong types within": json.dumps(
        {"kind": "opat", "failed_operators": [5], "summary": {"repo_add_num": "x"}, "soc": DEEP}
    ),
}
VERDICTS = {
    "none": None,
    "list": "[1]",
    "cut": "{",
    "nested": NESTED,
    "huge": json.dumps(dict.fromkeys(("change", "ci_low", "ci_high", "claimed_before_us"), HUGE)),
    "texts": json.dumps(dict.fromkeys(("change", "ci_low", "ci_high", "measured_before_us", "scope"), "<script>")),
    "lists": json.dumps(dict.fromkeys(("change", "op_name", "verdict", "model", "night"), DEEP)),
    "infinite": '{"change": NaN, "ci_low": NaN, "ci_high": Infinity}',
}
CHANGES = {
    "none": None,
    "list": "[1]",
    "nested": NESTED,
    "texts": json.dumps({"position": "first", "before": "x", "change": "<script>"}),
    "lists": json.dumps(dict.fromkeys(("position", "since", "who", "reason", "change"), DEEP)),
    "infinite": '{"position": NaN, "change": Infinity}',
    "nothing": "{}",
    "incomplete": json.dumps({"position": 0, "since": "2026-01-01", "before": 1e99, "memory": 7}),
}
COMMANDS = (("report",), ("store", "history", "runs"), ("store", "history", "verdicts"))


def test_a_workload_of_odd_bytes_can_be_announced(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    cli("ingest", msprof / "exports_of_2022", "--store", tmp_path / "s", "--workload", "net")
    options = ("--from", "2026-02-10", "--change", "5%", "--reason", "x", "--store", tmp_path / "s")
    assert cli("store", "expect", "a\udcff", *options).code in {0, 2}
    assert cli("store", "verify", "--store", tmp_path / "s").code == 0


def nothing_breaks(cli: Cli, rows: Iterable[dict[str, Any]], folder: Path) -> None:
    """Store these rows, build the site, ask for every list."""
    store = folder / "hostile"
    store_unchecked(list(rows), store)
    assert cli("site", "--store", store, "-o", folder / "site", "--lang", "zh").code == 0
    for page in (folder / "site").rglob("*.json"):
        json.loads(page.read_text(), parse_constant=pytest.fail)
    assert not [page for page in (folder / "site").rglob("*.html") if "<script>" in page.read_text().split("<body")[1]]
    for command in COMMANDS:
        assert cli(*command, "--store", store).code in {0, 1}
        ended = cli(*command, "--store", store, "--format", "json")
        assert ended.code in {0, 1}
        assert ended.json


@pytest.mark.parametrize("body", RUNS.values(), ids=RUNS)
def test_bodies_of_runs(cli: Cli, msprof: Path, aoe: Path, tmp_path: Path, body: str) -> None:
    rows = rows_of_paths(msprof / "exports_of_2022", aoe)
    assert {row["run_kind"] for row in rows if row["kind"] == "run"} == {"profile", "tuning"}
    changed = [{**row, "body": body} if row["kind"] == "run" else row for row in rows]
    nothing_breaks(cli, changed, tmp_path)
    planned = cli("plan", msprof / "exports_of_2022", "--store", tmp_path / "hostile", "-o", tmp_path / "plan")
    assert planned.code in {0, 1}, planned.err
    verified = cli("store", "verify", "--store", tmp_path / "hostile", "--format", "json")
    assert (verified.code, verified.rules()) == (1, {"store-body"})


@pytest.mark.parametrize("body", VERDICTS.values(), ids=VERDICTS)
def test_bodies_of_verdicts(cli: Cli, msprof: Path, tmp_path: Path, body: str | None) -> None:
    rows = rows_of_paths(msprof / "exports_of_2022")
    common = {name: rows[0][name] for name in ("run_id", "timestamp_ns", "night")}
    about = {"model": "net", "scope": "operator", "op_type": "MatMulV2", "op_name": "x", "subject": "x"}
    verdict = {"kind": "verdict", **common, **about, "state": "confirmed", "body": body}
    nothing_breaks(cli, [*rows, verdict], tmp_path)
    (told,) = cli("store", "history", "verdicts", "--store", tmp_path / "hostile", "--format", "json").json["rows"]
    verified = cli("store", "verify", "--store", tmp_path / "hostile", "--format", "json")
    assert (verified.code, verified.rules()) == (1, {"store-body"})
    assert (told["workload"], told["verdict"]) == ("net", "confirmed")
    planned = cli("plan", msprof / "exports_of_2022", "--store", tmp_path / "hostile", "-o", tmp_path / "plan")
    assert planned.code in {0, 1}, planned.err


@pytest.mark.parametrize("kind", ["change", "ack"])
@pytest.mark.parametrize("body", CHANGES.values(), ids=CHANGES)
def test_bodies_of_changes_and_acknowledgements(
    cli: Cli, msprof: Path, tmp_path: Path, kind: str, body: str | None
) -> None:
    rows = rows_of_paths(msprof / "exports_of_2022")
    common = {name: rows[0][name] for name in ("run_id", "timestamp_ns", "night")}
    told = {"kind": kind, **common, "subject": "0" * 16, "state": "confirmed", "body": body}
    store = tmp_path / "hostile"
    store_unchecked([*rows, told], store)
    listed = cli("store", "history", f"{kind}s", "--store", store, "--format", "json")
    assert (listed.code, len(listed.json["rows"])) == (0, 1)
    assert cli("store", "history", f"{kind}s", "--store", store, "--lang", "zh").code == 0
    judged = cli("regressions", "--store", store)  # a baseline hangs on such rows
    assert (judged.code, "its content differs from what was written" in judged.err) == (3, True)
    assert "series" in judged.out
    assert "Traceback" not in judged.err
    verified = cli("store", "verify", "--store", store, "--format", "json")
    assert (verified.code, verified.rules()) == (1, {"store-body"})


@pytest.mark.parametrize(
    "body",
    [
        "[1]",
        "{",
        NESTED,
        "{}",
        '{"position": "first"}',
        '{"headlines": 5, "found": "x"}',
        '{"notes": [[]]}',
        json.dumps({"why_not": None, "found": False}),
        json.dumps({"why_not": None, "headlines": [{"source": "tasks", "step_us": "x"}]}),
        json.dumps({"why_not": None, "headlines": [{"source": "tasks", "rank_id": "r" * 9999}]}),
    ],
)
def test_bodies_of_advice(cli: Cli, msprof: Path, tmp_path: Path, body: str) -> None:
    rows = rows_of_paths(msprof / "exports_of_2022")
    assert [row for row in rows if row["kind"] == "advice"]
    nothing_breaks(cli, [{**row, "body": body} if row["kind"] == "advice" else row for row in rows], tmp_path)
    verified = cli("store", "verify", "--store", tmp_path / "hostile", "--format", "json")
    assert (verified.code, verified.rules()) == (1, {"store-body"})


SHARES = dict.fromkeys(("computing_share", "communication_not_overlapped_share", "free_share"), 0.25)


@pytest.mark.parametrize(
    "told",
    [
        {"step_us": 1e308, **SHARES, "computing_share": 1e308},
        {"step_us": 100.0, **SHARES, "computing_share": 5, "free_share": 9},
        {"step_us": 100.0, **SHARES, "free_share": -0.1},
        {"step_us": True, **SHARES},
        {"step_us": 100.0, **SHARES, "source": "step_trace_time"},
    ],
)
def test_what_a_step_goes_on_is_shown_of_a_whole_only(
    cli: Cli, msprof: Path, tmp_path: Path, told: dict[str, Any]
) -> None:
    rows = rows_of_paths(msprof / "exports_of_2022")
    good = {"source": "tasks", "steps": 1, "step_us": 100.0, **SHARES}
    many = [{**good, "device_id": number} for number in range(7, 3000)]
    body = json.dumps({"why_not": None, "headlines": [{"source": "tasks", **told, "device_id": 5}, *many]})
    nothing_breaks(cli, [{**row, "body": body} if row.get("state") == "summary" else row for row in rows], tmp_path)
    (page,) = (page for page in (tmp_path / "site" / "runs").glob("2*.json"))
    counted = json.loads(page.read_text())["steps_by_tasks"]
    assert [row["device_id"] for row in counted] == list(range(7, 23))
    assert not re.search(r"\b(inf|nan)\b", page.with_suffix(".html").read_text().split("<body")[1])


def test_numbers_beyond_64_bit_are_stored_and_whole(cli: Cli, aoe: Path, tmp_path: Path) -> None:
    bank = json.loads((aoe / "gradient_bank" / "Ascend910B_gradient_fusion.json").read_text())
    (tmp_path / "bank").mkdir()
    text = json.dumps(bank)
    size = re.search(r"\d{4,}", text)
    assert size is not None
    text = text[: size.start()] + str(2**63) + text[size.end() :]
    (tmp_path / "bank" / "Ascend910B_gradient_fusion.json").write_text(text)
    assert cli("ingest", tmp_path / "bank", "--store", tmp_path / "s", "--workload", "m").code in {0, 1}
    assert cli("store", "verify", "--store", tmp_path / "s").code == 0
    assert cli("site", "--store", tmp_path / "s", "-o", tmp_path / "site").code == 0


@pytest.mark.slow
def test_a_finding_that_is_made_of_something_else_is_told(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    rows = rows_of_paths(msprof.parent / "invalid")
    made = [row for row in rows if row["kind"] == "finding" and row.get("body")]
    assert made
    hostile = [{**row, "body": made[0]["body"]} if row["kind"] == "finding" else row for row in rows]
    nothing_breaks(cli, hostile, tmp_path)
    verified = cli("store", "verify", "--store", tmp_path / "hostile", "--format", "json")
    assert (verified.code, verified.rules()) == (1, {"store-body"})
    store_unchecked(list(rows), tmp_path / "s")
    assert cli("store", "verify", "--store", tmp_path / "s").code == 0


def test_an_entry_of_a_bank_that_is_nested_without_end_is_told(
    cli: Cli, msprof: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = tmp_path / "bank" / "Ascend910B"
    bank.mkdir(parents=True)
    (bank / "AiCore_runtime_kb.json").write_text("[" * 100_000 + '\n{"op": "a"}\n')
    monkeypatch.setenv("TUNE_BANK_PATH", str(tmp_path / "bank"))
    ended = cli("ingest", msprof / "exports_of_2022", "--store", tmp_path / "s", "--workload", "net")
    assert ended.code in {0, 1}
    rows = cli("store", "history", "advice", "--store", tmp_path / "s", "--format", "json").json["rows"]
    notes = [note for row in rows if row["summary"] for note in row["summary"]["notes"]]
    assert [note for note in notes if "bank-entry" in note]
