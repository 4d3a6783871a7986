"""Advice and the next plan are stored with a profile: what `advise` and `plan` say of it, shown, and gone with it."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commandline import ROOT, Cli
from stores import stored_rows
from unchecked import store_unchecked

from aoe_reports.engine.question import Notes
from aoe_reports.history.runs.advising import STORED_ADVICE, Advising, Advisor
from aoe_reports.history.runs.ingest import AdvisedRunReader
from aoe_reports.store import History, Run
from aoe_reports.topics.records.options import RecordOptions
from aoe_reports.topics.records.runs import read_runs

REAL = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data")) / "msprof"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason=f"no real exports in {REAL}")

HEADER = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
    "Task Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,"
    "Output Data Types,Output Formats,Context ID,aicore_time(us),aic_total_cycles,aic_mac_ratio,aic_mte2_ratio"
)
NIGHT = 1_767_232_800_000_000


def profile(folder: Path, names: list[str], op_type: str = "MatMulV2", night: int = 0) -> Path:
    """An export of msprof with static matrix products under these names, the first one the longest."""
    lines = [HEADER]
    for place, name in enumerate(names):
        start = NIGHT + night * 86_400_000_000 + place * 2000
        us = 1000 - 10 * place
        quoted = '"' + name.replace('"', '""') + '"'
        lines.append(
            f'0,4294967295,{place},1,{quoted},"{op_type}",static,AI_CORE,{start}.000\t,{us}.0,0.0,24,0,NO,"""8,8;8,8""",FLOAT16,ND,'
            f"8;8,FLOAT16,ND,0,{us}.0,{us * 1800 * 24},0.2,0.5"
        )
    at = folder / f"PROF_00000{night + 1}_2026010{night + 1}020000000_ABCDEFGHIJKLMNOP" / "mindstudio_profiler_output"
    at.mkdir(parents=True)
    (at / f"op_summary_2026010{night + 1}020000.csv").write_text("\n".join(lines) + "\n")
    return at.parent


def stored(cli: Cli, store: Path, *more: object) -> list[dict[str, Any]]:
    return cli("store", "history", "advice", "--store", store, "--format", "json", *more).json["rows"]


def of_state(rows: list[dict[str, Any]], state: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["state"] == state]


def ingested(cli: Cli, path: Path, store: Path, *more: object) -> list[dict[str, Any]]:
    ended = cli("ingest", path, "--store", store, "--workload", "net", "--format", "json", *more)
    assert ended.code in {0, 1}, ended.err
    return stored(cli, store)


def said(page: Path) -> str:
    """The words of a page, as a reader has them; code in `backticks`."""
    marked = re.sub(r"</?code>", "`", page.read_text(encoding="utf-8"))
    return html.unescape(re.sub(r"<[^>]+>", " ", marked))


SAME = (
    "rule",
    "op_type",
    "op_name",
    "input_shapes",
    "count",
    "bound_us",
    "bound_share",
    "advice",
    "rank_id",
    "device_id",
)


def asked(cli: Cli, path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(our advice, msprof's) as the command answers it."""
    rows = cli("advise", path, "--top", 1000, "--format", "json").json["rows"]
    return [row for row in rows if row["source"] != "prof_rule"], [row for row in rows if row["source"] == "prof_rule"]


@pytest.mark.parametrize("name", ["exports_of_2022", "merged_two_devices", "ten_iterations", "torch_npu_two_ranks"])
def test_what_is_stored_is_what_advise_and_plan_say(cli: Cli, msprof: Path, tmp_path: Path, name: str) -> None:
    holds_what_the_commands_say(cli, msprof / name, tmp_path)


@needs_real
@pytest.mark.parametrize("name", ["torch_npu_2025-01/text/level2", "torch_npu_2025-01/text/level0", "msprof_2023-08"])
def test_of_real_exports_too(cli: Cli, tmp_path: Path, name: str) -> None:
    holds_what_the_commands_say(cli, REAL / name, tmp_path)


def holds_what_the_commands_say(cli: Cli, path: Path, tmp_path: Path) -> None:
    rows = ingested(cli, path, tmp_path / "s")
    ours, msprofs = asked(cli, path)
    (summary,) = of_state(rows, "summary")
    kept = of_state(rows, "advice")
    told = {tuple(row[name] for name in SAME) for row in ours}
    assert {tuple(row[name] for name in SAME) for row in kept} <= told
    assert len(kept) == min(summary["summary"]["found"], STORED_ADVICE)
    bounds = [row["bound_us"] for row in ours if row["bound_us"] is not None]
    if bounds:
        assert kept[0]["bound_us"] == max(bounds)
    assert [row["advice"] for row in of_state(rows, "msprof")] == [row["advice"] for row in msprofs]
    planned = cli("plan", path, "-o", tmp_path / "plan", "--format", "json")
    names = ("op_type", "op_name", "input_shapes", "expected_saving_us", "bound_saving_us", "cost_s", "reason")
    assert [[row[name] for name in names] for row in of_state(rows, "candidate")] == [
        [row[name] for name in names] for row in planned.json["rows"][:20]
    ]
    document = json.loads((tmp_path / "plan" / "plan.json").read_text()) if planned.json["files"] else None
    if document is not None:
        words = {one["reason"].partition(":")[0] for one in document["rejected"]}
        assert {row["rule"] for row in of_state(rows, "left-out")} == words
        assert summary["summary"]["plan"]["bound_saving_us"] == document["bound_saving_us"]


def test_the_same_advice_on_several_devices_is_stored_once(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    path = msprof / "merged_two_devices"
    ours, _ = asked(cli, path)
    kept = of_state(ingested(cli, path, tmp_path / "s"), "advice")
    keys = [tuple(row[name] for name in ("rule", "op_type", "op_name", "input_shapes")) for row in kept]
    assert len(keys) == len(set(keys)) < len(ours)
    assert {row["devices"] for row in kept} == {1, 2} or {row["devices"] for row in kept} == {2}


def test_advice_goes_with_its_run(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    store = tmp_path / "s"
    rows = ingested(cli, msprof / "exports_of_2022", store)
    assert ingested(cli, msprof / "exports_of_2022", store) == rows
    more = ingested(cli, msprof / "merged_two_devices", store)
    assert cli("store", "compact", "--store", store).code == 0
    assert stored(cli, store) == more
    assert stored(cli, store, "--run", rows[0]["run"]) == rows
    assert stored(cli, store, "--workload", "other") == []
    assert cli("store", "undo", rows[0]["run"], "--store", store).code == 0
    assert stored(cli, store) == [row for row in more if row["run"] != rows[0]["run"]]
    assert cli("store", "verify", "--store", store).code == 0
    assert cli("store", "history", "acks", "--store", store, "--run", rows[0]["run"]).code == 2


def older(path: Path, store: Path) -> None:
    """Store a profile as a version did that knew of no advice."""
    history = History.open(str(store), create=True)
    for item in read_runs([path], RecordOptions(workload="net"), Notes()):
        assert not item.advice
        header = replace(item.header, normaliser_version=2)
        assert history.add(replace(item, header=header)) == "added"


def test_a_run_of_an_older_version_says_so_and_gets_advice_when_renewed(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    path, store, site = msprof / "exports_of_2022", tmp_path / "s", tmp_path / "site"
    older(path, store)
    assert stored(cli, store) == []
    assert cli("report", "--store", store).code == 0
    cli("site", "--store", store, "-o", site)
    (page,) = (site / "runs").glob("2*.html")
    assert "No advice and no plan are stored with this run" in said(page)
    assert f"aoe-reports advise {path}" in said(page)
    assert json.loads(page.with_suffix(".json").read_text())["advice"] is None
    rows = ingested(cli, path, store, "--renew")
    assert of_state(rows, "msprof")
    built = cli("site", "--store", store, "-o", site, "--format", "json").json["rows"]
    assert [row["written"] for row in built if row["kind"] == "run"] == [1]
    assert "No advice" not in said(page)
    again = cli("site", "--store", store, "-o", site, "--format", "json").json["rows"]
    assert [row["written"] for row in again if row["kind"] == "run"] == [0]


def bank(folder: Path, *names: str) -> Path:
    """A bank of operators that has entries of these names."""
    operators = folder / "Ascend910B"
    operators.mkdir(parents=True)
    (operators / "AiCore_runtime_kb.json").write_text("".join(json.dumps({"op": name}) + "\n" for name in names))
    return folder


def test_a_page_is_made_anew_when_the_advice_of_its_run_is_another(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, store, site = profile(tmp_path / "p", ["conv1", "conv2"]), tmp_path / "s", tmp_path / "site"
    written = []
    for names in ((), (), ("conv1",)):
        if rows := stored(cli, store) if store.exists() else []:
            assert cli("store", "undo", rows[0]["run"], "--store", store).code == 0
        if names:
            monkeypatch.setenv("TUNE_BANK_PATH", str(bank(tmp_path / "bank", *names)))
        ingested(cli, path, store)
        built = cli("site", "--store", store, "-o", site, "--format", "json").json["rows"]
        written += [row["written"] for row in built if row["kind"] == "run"]
    assert written == [1, 0, 1]
    (page,) = (site / "runs").glob("2*.html")
    assert "it is in a bank; AOE skips it" in said(page)


def test_what_is_banked_is_no_candidate_of_the_next_plan(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = profile(tmp_path / "p", ["conv1", "conv2"])
    first = of_state(ingested(cli, path, tmp_path / "a"), "candidate")
    assert [row["op_name"] for row in first] == ["conv1", "conv2"]
    monkeypatch.setenv("TUNE_BANK_PATH", str(bank(tmp_path / "bank", "conv1")))
    rows = ingested(cli, path, tmp_path / "b")
    assert [row["op_name"] for row in of_state(rows, "candidate")] == ["conv2"]
    assert [(row["rule"], row["operators"], row["total_us"]) for row in of_state(rows, "left-out")] == [
        ("banked", 1, 1000.0)
    ]


def digits(time_us: float) -> str:
    """Three digits that count: a page has times in the unit that fits them."""
    return f"{time_us:.3e}"[:4].replace(".", "")


def test_the_page_and_the_report_show_what_is_stored(cli: Cli, tmp_path: Path) -> None:
    store, site = tmp_path / "s", tmp_path / "site"
    rows = ingested(cli, profile(tmp_path / "p", ["conv1", "conv2"]), store)
    cli("site", "--store", store, "-o", site)
    (page,) = (site / "runs").glob("2*.html")
    words, twin = said(page), json.loads(page.with_suffix(".json").read_text())["advice"]
    only_digits = re.sub(r"[.,]", "", words)
    for row in of_state(rows, "advice"):
        assert row["advice"] in words
        assert "`" not in row["advice"] or "`" not in html.unescape(page.read_text(encoding="utf-8"))
        assert row["evidence"] is None or row["evidence"] in words
        assert digits(row["bound_us"]) in only_digits
    for row in of_state(rows, "candidate"):
        assert digits(row["expected_saving_us"]) in only_digits
        assert row["reason"] in words
    (summary,) = of_state(rows, "summary")
    assert summary["summary"]["plan"]["headline"] in words
    assert summary["summary"]["headlines"][0]["headline"] in words
    assert f"aoe-reports advise {tmp_path / 'p'}" in words
    assert f"aoe-reports plan {tmp_path / 'p'}" in words
    assert twin["summary"] == summary["summary"]
    assert [row["op_name"] for row in twin["candidates"]] == ["conv1", "conv2"]
    assert cli("site", "--store", store, "-o", tmp_path / "zh", "--lang", "zh").code == 0
    chinese = said(tmp_path / "zh" / "runs" / page.name)
    assert "下一次调优计划" in chinese
    assert of_state(rows, "advice")[0]["advice"] not in chinese
    assert "没有单元在大部分时间内工作" in chinese
    told = cli("report", "--store", store, "--format", "json").json
    assert told["advice"]["run"] == rows[0]["run"]
    assert told["advice"]["candidates"] == twin["candidates"]
    text = cli("report", "--store", store, "--format", "markdown").out
    assert "Potential gains" in text
    assert "Next tuning plan" in text
    assert summary["summary"]["plan"]["headline"] in text


def test_msprofs_advice_is_shown_as_its_own(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    store = tmp_path / "s"
    ingested(cli, msprof / "exports_of_2022", store)
    cli("site", "--store", store, "-o", tmp_path / "site")
    (page,) = (tmp_path / "site" / "runs").glob("2*.html")
    assert "msprof's own advice (prof_rule)" in said(page)
    assert "Fuse them with the operators before them" in said(page)
    assert "msprof (prof_rule), memory-bound: Fuse them" in cli("report", "--store", store).out


@pytest.mark.parametrize("form", ["text", "csv", "markdown", "html", "json"])
def test_every_form_lists_advice_and_verdicts(cli: Cli, tmp_path: Path, form: str) -> None:
    store = tmp_path / "s"
    ingested(cli, profile(tmp_path / "p", ["conv1", "conv2"]), store)
    assert "conv2" in cli("store", "history", "advice", "--store", store, "--format", form).out
    assert cli("store", "history", "verdicts", "--store", store, "--format", form).code == 0


HOSTILE = ("<script>alert(1)</script>", "right\u202eto left", "=1+1", "{{ 7 * 7 }}", "x" * 5000)


def test_hostile_names_are_text_and_long_ones_are_cut(cli: Cli, tmp_path: Path) -> None:
    store, site = tmp_path / "s", tmp_path / "site"
    rows = ingested(cli, profile(tmp_path / "p", list(HOSTILE), op_type="<b>MatMul</b>"), store)
    assert max(len(str(value)) for row in rows for name, value in row.items() if name != "summary") <= 500
    assert {row["op_name"] for row in of_state(rows, "candidate")} >= set(HOSTILE[:4])
    cli("site", "--store", store, "-o", site)
    (page,) = (site / "runs").glob("2*.html")
    text = page.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "<b>MatMul" not in text
    assert "\u202e" not in text
    assert "49" not in re.findall(r"<th[^>]*>([^<]*)", text)
    assert cli("report", "--store", store, "--format", "html").out.count("<script>alert") == 0


NESTED = "[" * 400 + "]" * 400
HUGE = "9" * 400
BODIES = {
    "list": "[1]",
    "cut": "{",
    "wrong types": '{"headlines": [3, {"headline": 5}], "plan": [], "notes": 1}',
    "position": '{"position": "x"}',
    "no float": f'{{"position": {HUGE}, "bound_us": {HUGE}, "found": {HUGE}, "plan": {{"candidates": {HUGE}}}}}',
    "no 64 bits": '{"bound_us": 9223372036854775808, "headlines": [{"step_us": 1e999}]}',
    "nested": f'{{"headlines": [{{"headline": {NESTED}}}], "plan": {{"headline": {NESTED}}}, "notes": [{NESTED}]}}',
    "nested reason": f'{{"why_not": {NESTED}}}',
    "made of no float": f'{{"advice": "x", "said": {{"advice": ["{{name}} {{value:.1%}}", {{"name": "a", "value": {HUGE}}}]}}}}',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_bodies_that_make_no_sense_break_no_page(cli: Cli, tmp_path: Path, body: str) -> None:
    store = tmp_path / "s"
    ingested(cli, profile(tmp_path / "p", ["conv1"]), store)
    lines = stored_rows(store)
    changed = [{**row, "body": body} if row["kind"] == "advice" else row for row in lines]
    other = tmp_path / "other"
    store_unchecked(changed, other)
    assert cli("site", "--store", other, "-o", tmp_path / "site").code == 0
    (page,) = (tmp_path / "site" / "runs").glob("2*.json")
    json.loads(page.read_text(), parse_constant=pytest.fail)
    for language in ("en", "zh"):
        assert cli("report", "--store", other, "--lang", language).code == 0
        assert cli("report", "--store", other, "--lang", language, "--format", "json").json["advice"]
        assert cli("store", "history", "advice", "--store", other, "--lang", language).code == 0
    assert len(stored(cli, other)) == len([row for row in lines if row["kind"] == "advice"])


def sums_alone(msprof: Path, folder: Path, timeline: bytes | None = None) -> Path:
    """A capture with op_statistic and no other operators, but a timeline where one is given; where that is."""
    shutil.copytree(msprof / "statistic_only", folder)
    (exports,) = {path.parent for path in folder.rglob("op_statistic*.csv")}
    for path in exports.glob("task_time*"):
        path.unlink()
    if timeline is not None:
        (exports / "msprof_20260606155111.json").write_bytes(timeline)
    return exports / "msprof_20260606155111.json"


def test_a_run_that_no_advice_is_on_is_stored_and_says_why(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    store = tmp_path / "s"
    sums_alone(msprof, tmp_path / "p")
    (summary,) = ingested(cli, tmp_path / "p", store)
    assert "no usable tasks, steps or timeline" in summary["summary"]["why_not"]
    cli("site", "--store", store, "-o", tmp_path / "site")
    (page,) = (tmp_path / "site" / "runs").glob("2*.html")
    assert "No advice could be derived: no usable tasks, steps or timeline" in said(page)
    assert "aoe-reports advise" in said(page)
    assert "No advice could be derived from run " in cli("report", "--store", store).out


def test_what_only_advice_cannot_read_keeps_no_run_out(msprof: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        profile(tmp_path / name, ["conv1"])
    timeline = sums_alone(msprof, tmp_path / "c", b"[]")
    notes, paths = Notes(), [tmp_path / name for name in ("a", "b", "c")]
    runs = read_runs(paths, RecordOptions(workload="net"), notes, reader=AdvisedRunReader(Advisor({})))
    first = next(runs).whole()
    timeline.unlink()  # it was there when the folder was looked through
    _, second = (run.whole() for run in runs)
    assert [row["state"] for row in second.advice] == ["summary", "picture"]
    assert json.loads(second.advice[1]["body"])["why_not"].startswith("the timeline cannot be used: ")
    assert "No such file" in json.loads(second.advice[0]["body"])["why_not"]
    assert len(first.advice) > 1
    assert second.records
    assert not notes.unreadable


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not read")
def test_a_bank_that_may_not_be_read_costs_the_plan_alone(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        profile(folder / "p", ["conv1"])
        (folder / "bank").mkdir(mode=0)
        # what Python loads only when it is needed may lie where nobody but root reads, and it never asks twice for a codec
        ingested(cli, folder / "p", folder / "first")
        monkeypatch.setenv("TUNE_BANK_PATH", str(folder / "bank"))
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
        try:
            rows = ingested(cli, folder / "p", folder / "s")
        finally:
            os.seteuid(0)
    (summary,) = of_state(rows, "summary")
    assert summary["summary"]["plan"] is None
    assert [note for note in summary["summary"]["notes"] if "Permission denied" in note and "plan-unknown" in note]
    assert of_state(rows, "advice")


def test_timelines_that_would_take_long_are_not_looked_into(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    timeline = sums_alone(msprof, tmp_path / "p", b"[]")
    os.truncate(timeline, 80_000_000)
    (summary,) = ingested(cli, tmp_path / "p", tmp_path / "s")
    (note,) = [note for note in summary["summary"]["notes"] if "advice-limited" in note]
    assert "80 MB of timelines and databases were not examined" in note


def test_a_run_that_is_there_already_costs_no_advice(
    cli: Cli, msprof: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worked_out = []
    rows = Advising.rows

    def counted(self: Advising) -> list[dict[str, Any]]:
        worked_out.append(self)
        return rows(self)

    monkeypatch.setattr(Advising, "rows", counted)
    for outcome in ("added", "unchanged", "unchanged"):
        made = cli(
            "ingest", msprof / "exports_of_2022", "--store", tmp_path / "store", "--workload", "net", "--format", "json"
        )
        assert [row["outcome"] for row in made.json["rows"]] == [outcome]
    assert len(worked_out) == 1
    assert of_state(stored(cli, tmp_path / "store"), "summary")


def test_normalize_makes_no_advice(cli: Cli, msprof: Path) -> None:
    (run,) = read_runs([msprof / "exports_of_2022"], RecordOptions(workload="net"), Notes())
    assert isinstance(run, Run)
    assert (run.advice, run.body) == ((), {"captures": 1})
    assert cli("ingest", "--dry-run", msprof / "exports_of_2022").code in {0, 1}


AT_PEAK_US = 2 * 4096**3 / (24 * 8192 * 1.8e9) * 1e6
"""What a product of such matrices takes at the peak of 24 cores of 1.8 GHz."""


@pytest.mark.slow
@pytest.mark.parametrize("names_hardware", [True, False])
def test_the_next_plan_leaves_out_what_is_near_the_roof_as_plan_does(
    cli: Cli, tmp_path: Path, *, names_hardware: bool
) -> None:
    path = profile(tmp_path / "p", ["near", "far"])
    table = next(path.rglob("op_summary*.csv"))
    header, near, far = table.read_text().splitlines()
    lines = [header]
    for line, us, columns in ((near, AT_PEAK_US / 0.82, 4096), (far, AT_PEAK_US, 2048)):
        tensors = f'"""4096,4096;4096,{columns}""",FLOAT16;FLOAT16,ND;ND,"""4096,{columns}""",FLOAT16,ND'
        changed = line.replace('"""8,8;8,8""",FLOAT16,ND,8;8,FLOAT16,ND', tensors)
        lines.append(changed.replace("1000.0" if "near" in line else "990.0", f"{us:.3f}"))
    table.write_text("\n".join(lines) + "\n")
    told = {"ai_core_num": 24, "aiv_num": 48, "aic_frequency": "1800"} if names_hardware else {}
    (path / "device_0").mkdir()
    (path / "device_0" / "info.json.0").write_text(json.dumps({"DeviceInfo": [told], "rank_id": 0}))
    holds_what_the_commands_say(cli, path, tmp_path)
    rows = stored(cli, tmp_path / "s")
    left = [row["rule"] for row in of_state(rows, "left-out")]
    assert [row["op_name"] for row in of_state(rows, "candidate")] == (["far"] if names_hardware else ["near", "far"])
    assert left == (["near-roof"] if names_hardware else [])
    again = ingested(cli, path, tmp_path / "two", "--jobs", 2)
    assert [row["rule"] for row in of_state(again, "left-out")] == left
