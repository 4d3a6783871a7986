"""The page of a run shows one step of it, as the store keeps it: with its tables, and nothing where nothing is kept."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from commandline import Cli
from dashboards import HOSTILE
from made_traces import Trace, dense

from aoe_reports.engine.question import Notes
from aoe_reports.formats.records.record import canonical_json
from aoe_reports.history.runs import advising, stored_picture
from aoe_reports.history.runs.ingest import ingest
from aoe_reports.model.pictures.blocks import read_blocks
from aoe_reports.model.pictures.step import MAX_BYTES
from aoe_reports.site.build import build_site
from aoe_reports.store import History
from aoe_reports.topics.records.options import IngestOptions


def kept(store: Path) -> list[dict[str, Any]]:
    rows = History.open(str(store)).rows("advice", ("state", "body")).to_pylist()
    return [json.loads(row["body"]) for row in rows if row["state"] == "picture"]


def page_of(cli: Cli, folder: Path, trace: Trace) -> tuple[str, dict[str, Any], Path]:
    """(the page of the one run, its JSON, the store)."""
    trace.write(folder / "capture")
    store = folder / "store"
    assert cli("ingest", folder / "capture", "--store", store, "--workload", "net").code in {0, 1}
    assert cli("site", "--store", store, "-o", folder / "site").code == 0
    (page,) = (folder / "site" / "runs").glob("2*.html")
    return page.read_text(encoding="utf-8"), json.loads(page.with_suffix(".json").read_bytes()), store


@pytest.fixture(scope="module")
def dense_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a capture, its store and its pages; nobody may write there."""
    folder = tmp_path_factory.mktemp("dense")
    dense().write(folder / "capture")
    ingest([folder / "capture"], str(folder / "store"), IngestOptions(workload="net"), Notes())
    build_site(str(folder / "store"), folder / "site")
    return folder


def test_a_step_is_kept_with_its_run_and_drawn_on_its_page(cli: Cli, dense_site: Path) -> None:
    (path,) = (dense_site / "site" / "runs").glob("2*.html")
    page, twin = path.read_text(encoding="utf-8"), json.loads(path.with_suffix(".json").read_bytes())
    store = dense_site / "store"
    (picture,) = kept(store)
    assert twin["picture"] == picture
    assert (picture["step"], picture["duration_ns"], picture["rank_id"], picture["device_id"]) == (7, 1_600_000, 0, 0)
    stream = next(one for one in picture["lanes"] if one["name"] == "Stream 3")
    assert (stream["count"], stream["busy_ns"]) == (400, 400_000)
    assert int(read_blocks(stream["cells"]).busy.sum()) == 400_000
    assert len(canonical_json(picture).encode()) <= MAX_BYTES
    assert page.count('<g class="lane"') == len(picture["lanes"])
    assert re.search(r"<title>matmul all-reduce, \+1,000\.000 us, 600\.000 us</title>", page)
    assert page.index("matmul all-reduce</th>") < page.index(">matmul</th>")  # the longest operator comes first
    assert 'src="../assets/step.js"' in page
    assert "style=" not in page
    told = json.loads(re.findall(r'id="step-data">(.*?)</script>', page)[0])
    assert told["lanes"] == [one["cells"] for one in picture["lanes"]]
    assert cli("store", "verify", "--store", store).code == 0
    assert [
        row["state"] for row in cli("store", "history", "advice", "--store", store, "--format", "json").json["rows"]
    ].count("picture") == 0


def test_names_of_operators_are_text(cli: Cli, tmp_path: Path) -> None:
    page, twin, store = page_of(cli, tmp_path, dense(HOSTILE))
    assert "<script>alert" not in page
    assert "\x1b" not in page
    assert "\\x1b[31mred" in page
    assert len(canonical_json(kept(store)[0]).encode()) <= MAX_BYTES
    assert twin["picture"]["lanes"]


def test_the_page_is_said_in_chinese(cli: Cli, dense_site: Path, tmp_path: Path) -> None:
    assert cli("site", "--store", dense_site / "store", "-o", tmp_path, "--lang", "zh").code == 0
    (path,) = (tmp_path / "runs").glob("2*.html")
    page = path.read_text(encoding="utf-8")
    assert "单 step 时间线" in page
    assert "Timeline of one step" not in page
    assert "on the critical path" not in page


def test_a_timeline_that_is_too_large_is_left_out_and_the_page_says_so(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_picture, "MAX_TIMELINE_BYTES", 1000)
    page, twin, store = page_of(cli, tmp_path, dense())
    assert "There is no picture: 0 MB of timelines were not read for it; `critical-path --format svg`" in page
    assert "step.js" not in page
    assert list(twin["picture"]) == ["why_not"]
    assert cli("store", "verify", "--store", store).code == 0
    assert cli("site", "--store", store, "-o", tmp_path / "zh", "--lang", "zh").code == 0
    (chinese,) = (tmp_path / "zh" / "runs").glob("2*.html")
    assert "没有图：" in chinese.read_text(encoding="utf-8")


def test_a_run_without_a_picture_has_a_page_that_says_nothing_of_one(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advising.Advising, "_rows_of_picture", lambda _: iter(()))  # as older versions stored it
    page, twin, _ = page_of(cli, tmp_path, dense())
    assert 'h-step"' not in page
    assert "step.js" not in page
    assert "picture" not in twin


@pytest.mark.parametrize(
    "change",
    [
        {"duration_ns": 10},
        {"duration_ns": 0},
        {"names": []},
        {"lanes": [{"role": "device", "name": "", "count": 1, "busy_ns": 1, "cells": "?"}]},
        {"lanes": [{"role": "odd", "name": "", "count": 1, "busy_ns": 1, "cells": ""}]},
        {"lanes": 7},
    ],
)
def test_a_picture_that_is_none_is_left_out_and_verify_names_it(dense_site: Path, change: dict[str, Any]) -> None:
    from aoe_reports.history.runs.stored_advice import unfit_names

    (picture,) = kept(dense_site / "store")
    row = {"state": "picture", "body": json.dumps({**picture, **change})}
    assert stored_picture.read_picture(row["body"], {}) is None
    assert unfit_names(row) == ["picture"]
    assert unfit_names({**row, "body": json.dumps(picture)}) == []


def test_the_same_picture_is_had_without_a_store(cli: Cli, dense_site: Path, tmp_path: Path) -> None:
    (path,) = (dense_site / "site" / "runs").glob("2*.html")
    page = path.read_text(encoding="utf-8")
    ended = cli("critical-path", dense_site / "capture", "--format", "svg", "-o", tmp_path / "step.svg")
    assert ended.code == 0
    drawn = (tmp_path / "step.svg").read_text(encoding="utf-8")
    lanes = re.findall(r'<g class="lane".*?</g>', drawn)
    assert lanes == re.findall(r'<g class="lane".*?</g>', page)
    assert "script" not in drawn
    none = cli("critical-path", dense_site / "capture", "--step", 99, "--format", "svg")
    assert "nothing here that can be drawn" in none.out
