"""The page that is signed: what it says of a change, a machine, files and a bank, and what it leaves to be filled in."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest
from commandline import FIXTURES, Cli
from tuning.jobs import write_bank

from aoe_reports.simulation.tuning import Outcome, write_loop
from aoe_reports.tuning.plan.folder import write_plan
from aoe_reports.tuning.plan.plan import Plan

TWO_RANKS = FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks"


def cells_of(page: str, title: str) -> list[list[str]]:
    """The rows of the table of a section before the details."""
    section = page.partition("<details>")[0].partition(f"<h2>{title}</h2>")[2].partition("</section>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", section)[1:]
    return [[re.sub("<.*?>", "", cell) for cell in re.findall(r"<td.*?>(.*?)</td>", row)] for row in rows]


def test_a_verified_job_has_its_changes_files_and_lines_to_sign(cli: Cli, tmp_path: Path) -> None:
    loop = write_loop(tmp_path / "loop", "faster", 3)
    write_plan(tmp_path / "plan", Plan("offline", "opat"))
    asked = ("verify", tmp_path / "plan", "--before", loop.before, "--after", loop.after, "--results", loop.result)
    page = cli(*asked, "--format", "html").out
    changes = cells_of(page, "Claimed and measured")
    assert [row[0] for row in changes[:2]] == ["Step", "All tuned operators"]
    assert {row[-1] for row in changes} <= {"confirmed", "partly", "not-reproduced", "regressed", "not-comparable"}
    files = {row[0]: row[1:] for row in cells_of(page, "Files")}
    assert files["Claims"] == [str(loop.result), hashlib.sha256(loop.result.read_bytes()).hexdigest()]
    assert files["Profile before"][0] == str(loop.before)
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for _, digest in files.values())
    facts = {row[0]: row[1:] for row in cells_of(page, "Environment")}
    assert facts["Driver"] == facts["Host"] == ["–", "–"]
    assert re.findall(r'<th scope="row">(.*?)</th>', page) == ["Measured by", "Approved by"]
    assert page.index("Approved by") < page.index("<details>") < page.index("<h2>Hotspots</h2>")
    kept = (tmp_path / "plan" / "verify.html").read_text(encoding="utf-8")
    assert cells_of(kept, "Files") == cells_of(page, "Files")


def test_what_info_files_record_of_a_machine_is_on_the_page(cli: Cli, tmp_path: Path) -> None:
    claims = tmp_path / "claims.csv"
    claims.write_text("operator,shapes,before_us,after_us\nx,,2,1\n")
    shutil.copytree(TWO_RANKS, tmp_path / "after")
    for path in (tmp_path / "after").glob("*/profiler_info_*.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "cann_version": "8.1.RC1"}))
    page = cli("verify", "--claims", claims, TWO_RANKS, tmp_path / "after", "--format", "html").out
    facts = {row[0]: row[1:] for row in cells_of(page, "Environment")}
    assert facts["CANN version"] == ["–", "8.1.RC1"]
    assert facts["Profiler level"] == ["Level1", "Level1"]
    assert "In use: not known" in page


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "\x1b[31mx"])
def test_names_of_operators_are_text(cli: Cli, tmp_path: Path, name: str) -> None:
    claims = tmp_path / "claims.csv"
    claims.write_text(f"operator,shapes,before_us,after_us\n{name},,2,1\n")
    page = cli("verify", "--claims", claims, TWO_RANKS, TWO_RANKS, "--format", "html").out
    assert "<script" not in page
    assert "\x1b" not in page


@pytest.mark.parametrize(
    ("kind", "said"), [("faster", "neither the profiles nor the bank"), ("bank-not-used", "doubtful")]
)
def test_whether_the_tuned_bank_was_in_use_is_said(cli: Cli, tmp_path: Path, kind: Outcome, said: str) -> None:
    loop = write_loop(tmp_path / "loop", kind, 3)
    write_plan(tmp_path / "plan", Plan("offline", "opat"))
    write_bank(tmp_path / "plan" / "bank", "Conv2D", ["x"])
    asked = ("verify", tmp_path / "plan", "--before", loop.before, "--after", loop.after, "--results", loop.result)
    page = cli(*asked, "--format", "html").out
    assert f"In use: {said}" in page
    assert [row[0] for row in cells_of(page, "Files")][-1] == "Private bank"
