"""`nightly --site` leaves the report and the pages of the store, in one folder."""

from __future__ import annotations

import json
import re
from pathlib import Path

from captures import QUIET, write_night
from commandline import Cli
from small_store import SLOW
from stores import store_at_once

from aoe_reports.simulation.nights import write_nights
from aoe_reports.topics.records.options import RecordOptions

REPORTS = {"report.html", "report.md", "report.json"}


def test_the_pages_are_those_of_site(cli: Cli, tmp_path: Path) -> None:
    nights = write_nights(tmp_path / "nights", nights=12)
    store, there, alone = (str(tmp_path / name) for name in ("history", "there", "alone"))
    cli("nightly", str(nights[0].parent), "--store", store, "--site", there, "--workload", "net")
    cli("site", "--store", store, "-o", alone)
    names = {str(path.relative_to(there)) for path in Path(there).rglob("*") if path.is_file()}
    assert names - REPORTS == {str(path.relative_to(alone)) for path in Path(alone).rglob("*") if path.is_file()}
    assert names >= REPORTS
    for name in names - REPORTS - {"index.html", "manifest.json"}:
        assert (Path(there) / name).read_bytes() == (Path(alone) / name).read_bytes(), name
    link = '<p><a href="report.html">The report of the last nightly job</a></p>'
    first = (Path(there) / "index.html").read_text()
    assert first.count(link) == 1
    assert first.replace(link, "") == (Path(alone) / "index.html").read_text()


def test_the_report_says_first_what_the_terminal_says_and_leads_to_the_pages(cli: Cli, tmp_path: Path) -> None:
    (night,) = write_nights(tmp_path / "nights", nights=1)
    site = tmp_path / "site"
    asked = ("nightly", night, "--store", tmp_path / "s", "--workload", "net")
    first = cli(*asked, "--site", site).out.splitlines()[0]
    page, text = (site / "report.html").read_text(), (site / "report.md").read_text()
    assert f"<h1>{first}</h1>" in page
    assert '<a href="index.html">All pages of the store</a>' in page
    assert text.splitlines()[0] == f"# {first}"
    assert "[All pages of the store](index.html)" in text
    assert "index.html" not in cli(*asked, "--format", "html").out, "no pages lie beside what is printed"
    assert cli("nightly", tmp_path / "nothing", "--store", tmp_path / "t", "--site", tmp_path / "u").code == 3
    assert "index.html" not in (tmp_path / "u" / "report.html").read_text(), "nothing was stored, so there is none"


def test_the_report_leads_to_the_pages_of_its_series_and_runs(cli: Cli, tmp_path: Path) -> None:
    """Every link of it leads somewhere: what is listed twice is linked twice, the run of the night, that of the change."""
    for number in range(17):
        write_night(tmp_path / "nights", number, QUIET if number < 12 else SLOW)
    store, site = tmp_path / "store", tmp_path / "site"
    store_at_once([tmp_path / "nights"], store, RecordOptions(workload="net"))
    night = write_night(tmp_path / "night", 17, SLOW)
    cli("nightly", night, "--store", store, "--workload", "net", "--site", site)
    links = dict(re.findall(r'<a href="([^"]+)">([^<]+)</a>', (site / "report.html").read_text()))
    assert all((site / href).is_file() for href in links)
    assert [words for href, words in links.items() if href.startswith("series/")].count("net/step") == 1
    nights = [words for href, words in links.items() if href.startswith("runs/")]
    assert "2026-03-13" in nights, "the run that the change began with"
    newest = cli("store", "history", "runs", "--store", store, "--last", "1", "--format", "json").json["rows"][0]["run"]
    assert links[f"runs/{newest}.html"] == newest


def test_of_several_ranks_the_slowest_is_shown_and_all_are_summed(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    ranks, store = msprof / "torch_npu_two_ranks", tmp_path / "history"
    said = " ".join(cli("nightly", ranks, "--store", store, "--workload", "net").out.split())
    rows = cli("store", "history", "records", "--store", store, "--scope", "step", "--format", "json").json["rows"]
    slowest = max(rows, key=lambda row: row["runtime_ms_mean"])
    assert len({row["runtime_ms_mean"] for row in rows}) == 2
    assert f"mean time of net/step, rank {slowest['rank_id']}, 1 night" in said
    hot = cli("report", "--store", store, "--format", "json").json["hotspots"]
    assert f"Compute tasks of run {hot['run']} (net) by operator type, sum of 2 ranks, " in said
    first = hot["types"][0]
    assert "# Operator type Core Tasks Total (ms) Mean (us) Share of computing " in said
    times = f"{first['total_us'] / 1000:#.4g} {first['mean_us']:#.4g}"
    assert f"1 {first['op_type']} {first['task_type']} {first['count']} {times} {first['share']:.1%} " in said


def test_the_hotspots_are_of_the_newest_profile_that_has_operators(cli: Cli, tmp_path: Path) -> None:
    nights = write_nights(tmp_path / "nights", nights=2)
    for path in nights[-1].rglob("*"):
        if path.is_file() and "step_trace" not in path.name and not path.name.endswith(".json"):
            path.unlink()
    ended = cli("nightly", tmp_path / "nights", "--store", tmp_path / "history", "--workload", "net")
    rows = cli("store", "history", "runs", "--store", tmp_path / "history", "--format", "json").json["rows"]
    first, _ = (row["run"] for row in rows if row["kind"] == "profile")
    assert f"Compute tasks of run {first} (net) " in ended.out


def test_the_next_night_takes_its_place_in_the_same_folder(cli: Cli, tmp_path: Path) -> None:
    nights = write_nights(tmp_path / "nights", nights=12)
    store, site = str(tmp_path / "history"), tmp_path / "site"
    for night in nights[-2:]:
        ended = cli("nightly", str(night), "--store", store, "--site", str(site), "--workload", "net", "--lang", "zh")
        assert ended.code == 0, ended.err
        assert json.loads((site / "report.json").read_text())["inputs"] == [str(night)]
    assert 'lang="zh' in (site / "index.html").read_text()
    assert nights[-1].name in (site / "index.html").read_text()


def test_a_folder_of_something_else_is_refused_before_anything_is_stored(cli: Cli, tmp_path: Path) -> None:
    (night,) = write_nights(tmp_path / "nights", nights=1)
    home = tmp_path / "home"
    home.mkdir()
    (home / "letters.txt").write_text("mine")
    ended = cli("nightly", str(night), "--store", str(tmp_path / "history"), "--site", str(home))
    assert ended.code == 2
    assert "letters.txt" in ended.err
    assert not (tmp_path / "history").exists()
    assert [path.name for path in home.iterdir()] == ["letters.txt"]


def test_nothing_to_store_leaves_a_report_and_no_pages(cli: Cli, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    cli("nightly", str(empty), "--store", str(tmp_path / "history"), "--site", str(tmp_path / "site"))
    assert {path.name for path in (tmp_path / "site").iterdir()} == REPORTS


def test_a_night_that_is_stored_already_is_judged_as_the_store_has_it(
    cli: Cli, simulated_nights: Path, tmp_path: Path
) -> None:
    store = str(tmp_path / "history")
    store_at_once([simulated_nights], tmp_path / "history", RecordOptions(workload="net", hardware="npu"))
    ended = cli("nightly", max(simulated_nights.iterdir()), "--store", store, "--workload", "net", "--format", "json")
    told = cli("regressions", "--store", store, "--format", "json").json
    assert ended.code == 1, ended.err
    changed, expected = ([row["series_id"] for row in rows] for rows in (ended.json["changes"], told["rows"]))
    assert changed == expected
    assert len(changed) == 3


def test_a_night_without_the_name_of_the_hardware_of_all_others_is_told(cli: Cli, tmp_path: Path) -> None:
    nights = write_nights(tmp_path / "nights", nights=12)
    store = str(tmp_path / "history")
    store_at_once(nights[:-1], tmp_path / "history", RecordOptions(workload="net", hardware="npu"))
    ended = cli("nightly", str(nights[-1]), "--store", store, "--workload", "net", "--format", "json")
    (finding,) = (one for one in ended.json["findings"] if one["rule"] == "hardware-unnamed")
    assert (finding["severity"], "others of npu" in finding["message"]) == ("warning", True)
