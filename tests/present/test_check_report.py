"""The report of `check` for people: what a tuning run brought, what was found, which files were read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES, Cli

from aoe_reports.model.errors import ReadError
from aoe_reports.present.reports import tuning

INVALID = FIXTURES / "aoe" / "invalid"
OVERVIEW = "Tuning tasks"
REPOSITORY = "Repository and result files"


def operator(name: str, before: float, after: float, said: str | None = None) -> dict[str, Any]:
    return {
        "op_name": name,
        "op_type": "conv2d",
        "performance_before_tune(us)": before,
        "performance_after_tune(us)": after,
        "performance_improvement": said or f"{before / after - 1:.2%}",
    }


def task(name: str = "net", status: str = "tuning successful", operators: Any = (), **body: Any) -> list[Any]:
    added = list(operators)
    return [
        {"basic": {"tuning_name": name, "tuning_time(s)": 60}},
        {
            "OPAT": {
                "opat_tuning_result": status,
                "repo_modified_operators": {"add_repo_operators": added},
                "repo_summary": {
                    "repo_add_num": len(added),
                    "repo_hit_num": 7,
                    "repo_reserved_num": 7,
                    "repo_unsatisfied_num": 3,
                    "repo_update_num": 0,
                    "total_num": len(added) + 10,
                },
                **body,
            }
        },
    ]


def model(before: float, after: float, said: str) -> dict[str, Any]:
    return {
        "model_baseline_performance(ms)": before,
        "model_result_performance(ms)": after,
        "model_performance_improvement": said,
    }


def write(folder: Path, document: Any, number: int = 1) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    path = folder / f"aoe_result_opat_2026010102030400{number}_pid4711.json"
    path.write_text(json.dumps(document))
    return path


def rows(markdown: str, section: str) -> list[dict[str, str]]:
    """The rows of the table in a section, by the words above them."""
    (text,) = re.findall(rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)", markdown, re.MULTILINE | re.DOTALL)
    head, _, *body = [
        [cell.strip().replace("\\", "") for cell in line.strip("|").split(" | ")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    return [dict(zip(head, row, strict=True)) for row in body]


def test_gains_are_worked_out_anew_and_stand_beside_the_claim(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path, task(operators=[operator("a", 150, 100)], **model(12, 8, "50.00%")))
    out = cli("check", tmp_path, "--format", "markdown").out
    (row,) = rows(out, OVERVIEW)
    assert row == {
        "#": "1",
        "Task": "net",
        "Tuned": "operators",
        "Status": "successful",
        "Model before (ms)": "12.00",
        "Model after (ms)": "8.000",
        "Speed-up (before/after - 1)": "+50.00%",
        "Time saved (1 - after/before)": "+33.33%",
        "Claimed by AOE": "50.00%",
        "Added": "1",
        "Updated": "0",
        "Failed": "0",
    }
    (entry,) = rows(out, "1. net")
    assert (entry["Operator"], entry["Change"], entry["Saved (us)"]) == ("a", "added", "50.00")
    assert (entry["Speed-up (before/after - 1)"], entry["Time saved (1 - after/before)"]) == ("+50.00%", "+33.33%")
    assert entry["Claimed by AOE"] == "50.00%"


def test_what_is_neither_added_nor_updated_counts_as_neither(cli: Cli) -> None:
    out = cli("check", FIXTURES / "aoe" / "invalid" / "update-mode", "--format", "markdown").out
    (row,) = rows(out, OVERVIEW)
    assert (row["Added"], row["Updated"]) == ("1", "0")
    assert "it counts as neither" in out
    assert "Operators in the repository: 1 added, 1 replace." in out


def test_the_counts_are_shown_and_explained(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, {"report_20260101020304_1": task(operators=[operator("a", 2, 1)])})
    out = cli("check", tmp_path, "--format", "markdown").out
    (row,) = rows(out, REPOSITORY)
    assert [row[word] for word in ("Total", "Hit", "Reserved", "Updated", "Added", "Unsatisfied")] == [
        "11", "7", "7", "0", "1", "3",
    ]  # fmt: skip
    assert row["File"] == f"{path}, report_20260101020304_1"
    for word in ("Total", "Hit", "Reserved", "Updated", "Added", "Unsatisfied"):
        assert f"\n- {word}: " in out


@pytest.mark.parametrize("form", ["markdown", "html"])
@pytest.mark.parametrize(
    ("status", "said"),
    [("tuning failed", "failed"), ("tuning incomplete", "incomplete: interrupted"), ("odd", "unknown")],
)
def test_what_did_not_end_well_is_no_gain(cli: Cli, tmp_path: Path, form: str, status: str, said: str) -> None:
    write(tmp_path, task("good", operators=[operator("a", 150, 100)], **model(12, 8, "50.00%")), 1)
    bad = task("bad", status, [operator("b", 7777, 1111)], **model(9000, 8642, "4.14%"), tuning_failed_operators=["f"])
    write(tmp_path, bad, 2)
    out = cli("check", tmp_path, "--format", form).out
    assert said in out
    assert "failed: f" in out.replace("\\", "")
    for times in ("8,642", "7,777", "1,111"):
        assert times not in out


def test_a_task_with_errors_is_no_gain(cli: Cli) -> None:
    (row,) = rows(cli("check", INVALID / "non-positive-time", "--format", "markdown").out, OVERVIEW)
    assert row["Status"] == "invalid: see findings"
    assert "Model after (ms)" not in row
    assert "Speed-up (before/after - 1)" not in row


def test_of_a_cut_file_the_whole_tasks_count(cli: Cli, tmp_path: Path) -> None:
    whole = task("whole", operators=[operator("a", 150, 100)], **model(12, 8, "50.00%"))
    cut = task("cut", operators=[operator("b", 7777, 1111)], **model(9000, 8642, "4.14%"))
    path = write(tmp_path, {"report_20260101020304_1": whole, "report_20260101020304_2": cut})
    path.write_text(path.read_text()[: -len('"total_num": 11}}}]}')])
    out = cli("check", tmp_path, "--format", "markdown").out
    assert [(row["Task"], row["Status"], row["Speed-up (before/after - 1)"]) for row in rows(out, OVERVIEW)] == [
        ("whole", "successful", "+50.00%"),
        ("cut", "incomplete: the file is truncated", "–"),
    ]


def test_what_has_nothing_to_tune_or_no_subgraphs_says_so(cli: Cli) -> None:
    said = {
        folder: rows(cli("check", INVALID / folder, "--format", "markdown").out, OVERVIEW)[0]["Status"]
        for folder in ("nothing-tunable", "nothing-improved", "subgraph-failed")
    }
    assert said == {
        "nothing-tunable": "nothing to tune",
        "nothing-improved": "successful: nothing better found",
        "subgraph-failed": "failed: no subgraph written",
    }


def test_the_largest_savings_come_first_and_the_rest_is_counted_exactly(cli: Cli, tmp_path: Path) -> None:
    operators = [operator(f"op{n}", round(10.05 + n / 10, 2), 10) for n in range(1, 24)]
    write(tmp_path, task(operators=operators))
    out = cli("check", tmp_path, "--format", "markdown").out
    listed = rows(out, "1. net")
    assert [row["Operator"] for row in listed] == [f"op{n}" for n in range(23, 3, -1)]
    assert "The 20 with the largest savings are listed; the other 3 save 0.75 us together." in out


def test_several_files_are_one_report(cli: Cli, tmp_path: Path) -> None:
    for number in (2, 1):
        tasks = {f"report_2026010102030{number}_{n}": task(f"net{number}{n}", **model(10, 8, "25.00%")) for n in (1, 2)}
        write(tmp_path / str(number), tasks, number)
    write(tmp_path / "3", [], 3).write_text('[{"basic"')
    out = cli("check", tmp_path, "--format", "markdown").out
    assert [(row["#"], row["Task"]) for row in rows(out, OVERVIEW)] == [
        ("1", "net11"),
        ("2", "net12"),
        ("3", "net21"),
        ("4", "net22"),
    ]
    assert "4 tuning tasks: 4 successful. 1 result file without a task that can be read" in out
    assert "Gains of several tasks are not added up" in out
    backwards = (tmp_path / name for name in ("3", "2", "1"))
    assert out == cli("check", *backwards, "--format", "markdown").out


def test_only_so_many_tasks_are_told_in_detail(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "SHOWN_TASKS", 2)
    write(tmp_path, {f"report_20260101020304_{n}": task(f"net{n}", operators=[operator("a", 2, 1)]) for n in range(5)})
    out = cli("check", tmp_path, "--format", "markdown").out
    assert len(rows(out, OVERVIEW)) == 5
    assert re.findall(r"^## \d\. .*", out, re.MULTILINE) == ["## 1. net0", "## 2. net1"]
    assert "3 more tasks have changes or failures" in out


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_findings_are_rows(cli: Cli, form: str) -> None:
    arguments = (FIXTURES / "msprof" / "invalid" / "csv-ragged-row", INVALID / "hit-sum")
    findings = cli("check", *arguments, "--format", "json").json["findings"]
    ended = cli("check", *arguments, "--format", form)
    assert ended.err == ""
    if form == "markdown":
        assert [(row["Severity"], row["Rule"], row["Message"]) for row in rows(ended.out, "Findings")] == [
            (finding["severity"], finding["rule"], finding["message"]) for finding in findings
        ]
    for finding in findings:
        assert finding["message"].replace("_", "\\_" if form == "markdown" else "_") in ended.out


NASTY = "<script>alert(1)</script><svg onload=x> \"' | \x1b[31m\u202e [x](y) {{ 7*7 }} \n# &amp;"


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_names_are_text(cli: Cli, tmp_path: Path, form: str) -> None:
    entry = {**operator(NASTY, 4, 2), "op_type": [NASTY]}
    write(tmp_path / NASTY.replace("/", ""), {NASTY: task(NASTY, operators=[entry])}, 1)
    write(tmp_path / "b", task(NASTY, NASTY, tuning_failed_operators=[NASTY]), 2)
    out = cli("check", tmp_path, "--format", form).out
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e]", out)
    assert "{{ 7*7 }}" in out.replace("\\", "")
    if form == "html":
        assert "<script" not in out
        assert not re.search(r"(?:src|href)=\"(?!data:)", out)
        assert set(re.findall(r"<svg [^>]*>", out)) == {
            '<svg class="cellbar two" viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">'
        }
    else:
        assert not re.search(r"(?<!\\)[<\[]", out)


def test_bars_are_as_long_as_times_last(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path, task(operators=[operator("a", 200, 50), operator("b", 100, 90)]))
    out = cli("check", tmp_path, "--format", "html").out
    assert re.findall(r'<rect class="(was|became)" y="(\d)" width="([\d.]+)"', out) == [
        ("was", "0", "100.00"),
        ("became", "8", "25.00"),
        ("was", "0", "50.00"),
        ("became", "8", "45.00"),
    ]


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_a_file_larger_than_allowed_is_read_in_no_format(form: str, aoe: Path, cli: Cli) -> None:
    path = next((aoe / "array_grouped").iterdir())
    size = path.stat().st_size
    assert cli("check", path, "--format", form, "--max-size", size).code == 0
    refused = cli("check", path, "--format", form, "--max-size", size - 1)
    assert refused.code == 1
    assert "json-too-large" in refused.out


def test_a_file_that_vanished_is_named_once(aoe: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(path: Path, _: int | None) -> bytes:
        raise ReadError(path, "No such file or directory", "an AOE result file was expected")

    monkeypatch.setattr("aoe_reports.topics.files.checked_files.read_bytes", gone)
    path = next((aoe / "array_grouped").iterdir())
    ended = cli("check", path, "--format", "json")
    (finding,) = ended.json["findings"]
    assert (ended.code, finding["rule"], finding["path"]) == (3, "unreadable", str(path))
    assert finding["message"] == "No such file or directory; an AOE result file was expected"


def test_lists_end_after_so_many_rows_and_say_how_many_there_are(cli: Cli) -> None:
    folder = FIXTURES / "aoe" / "valid"
    text = cli("check", folder, "--rows", "2").out
    count = len(cli("check", folder, "--format", "json").json["rows"])
    assert f"The first 2 of {count} rows are listed; `--rows {count}` lists all." in text
    assert text.count("  pass\n") == 2
    assert "rows are listed" not in cli("check", folder, "--rows", str(count)).out
    assert f"The first 2 of {count} rows" in cli("check", folder, "--rows", "2", "--format", "markdown").out
