"""The page of a series: what it says of its newest change, and where it leads."""

from __future__ import annotations

import json
import re
from datetime import date, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from commandline import Cli
from stores import store_at_once

from aoe_reports.history.changes.acknowledge import acknowledge
from aoe_reports.history.changes.regressions import find_regressions
from aoe_reports.history.options import AckOptions, RegressionOptions
from aoe_reports.model.history.changes import SeriesChange
from aoe_reports.model.shares import signed_percent
from aoe_reports.site.build import build_site
from aoe_reports.site.places import file_name
from aoe_reports.topics.records.options import RecordOptions

FIRST = date(2026, 1, 1)
NIGHTS = 40
SHIFTS = {"up": (30, 0.1), "down": (30, -0.1), "quiet": (0, 0.0), "odd": (39, 0.3), "accepted": (30, 0.2)}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, SeriesChange]]:
    """A site of series that got slower, quicker, neither, odd in the newest night, accepted; and of five nights only."""
    folder = tmp_path_factory.mktemp("series")
    times = {
        name: [10.0 * (1 + 0.001 * ((7 * night + place) % 5)) * (1 + shift * (night >= at)) for night in range(NIGHTS)]
        for place, (name, (at, shift)) in enumerate(SHIFTS.items())
    }
    records = [
        {
            "workload": name, "engine": "cann", "hardware": "npu", "runtime_ms_mean": value, "runtime_ms_std": None,
            "timestamp": f"{FIRST + timedelta(days=night)}T02:00:00Z", "schema_version": "0.1", "metadata": {},
        }
        for name, values in {**times, "few": [5.0] * 5}.items()
        for night, value in enumerate(values)
    ]  # fmt: skip
    (folder / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    store = folder / "the store"
    store_at_once([folder / "records.jsonl"], store, RecordOptions(tz="UTC"))
    rows = find_regressions(str(store), RegressionOptions()).rows
    accepted = next(row.series_id for row in rows if row.workload == "accepted")
    acknowledge(str(store), accepted, AckOptions(reason="a better model", who="me"))
    build_site(str(store), folder / "site")
    every = find_regressions(str(store), RegressionOptions(every=True)).rows
    return folder, {row.workload: row for row in every}


def page_of(site: tuple[Path, dict[str, SeriesChange]], name: str) -> tuple[str, str]:
    """The words of a page, and its HTML."""
    folder, rows = site
    html = (folder / "site" / "series" / f"{file_name(rows[name].series_id)}.html").read_text()
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split()), html


@pytest.mark.parametrize(("name", "word"), [("up", "slower"), ("down", "faster"), ("accepted", "slower")])
def test_a_change_is_said_with_its_interval_and_its_times(
    site: tuple[Path, dict[str, SeriesChange]], name: str, word: str
) -> None:
    row: Any = site[1][name]
    assert (row.state, row.since) == ("improved" if name == "down" else "confirmed", "2026-01-31")
    assert (
        f"{signed_percent(abs(row.change))[1:]} {word} since 2026-01-31 "
        f"(95% interval {signed_percent(row.ci_low)} to {signed_percent(row.ci_high)}): "
        f"{row.before:.3f} ms became {row.after:.3f} ms."
    ) in page_of(site, name)[0]


def test_a_night_out_of_line_is_no_evidence(site: tuple[Path, dict[str, SeriesChange]]) -> None:
    row: Any = site[1]["odd"]
    assert (row.state, row.since) == ("suspect", "2026-02-09")
    assert (
        f"Outliers since 2026-02-09: {row.before:.3f} ms became {row.after:.3f} ms ({signed_percent(row.change)}). One or two nights "
        "are not sufficient evidence."
    ) in page_of(site, "odd")[0]


def test_a_quiet_series_says_what_would_be_seen_and_a_short_one_that_nothing_would(
    site: tuple[Path, dict[str, SeriesChange]],
) -> None:
    row: Any = site[1]["quiet"]
    said = f"No change in the last {NIGHTS} nights."
    if row.smallest_detectable is not None:
        said += f" A slow-down of {row.smallest_detectable:.1%} would be detected within two weeks."
    assert said in page_of(site, "quiet")[0]
    assert "5 nights have a time: too few to judge." in page_of(site, "few")[0]


def test_only_a_slow_down_that_nobody_accepted_can_be_accepted(site: tuple[Path, dict[str, SeriesChange]]) -> None:
    folder, rows = site
    command = f"aoe-reports store ack {rows['up'].incident} --reason 'TEXT' --store '{folder / 'the store'}'"
    assert command in page_of(site, "up")[0]
    for name in ("down", "quiet", "odd", "few", "accepted"):
        assert "aoe-reports ack" not in page_of(site, name)[0], name
    assert "a better model" in page_of(site, "accepted")[0]


def test_the_runs_on_both_sides_of_a_change_are_linked(site: tuple[Path, dict[str, SeriesChange]]) -> None:
    text, html = page_of(site, "up")
    assert "Compare the runs of 2026-01-30 and 2026-01-31" in text
    assert "Run before the change, 2026-01-30" in text
    assert "Run after the change, 2026-01-31" in text
    compared = re.search(r"\.\./compare\.html#a=([^&\"]+)&amp;b=([^\"]+)\"", html)
    assert compared is not None
    for run, night in zip(compared.groups(), ("20260130", "20260131"), strict=True):
        assert run.startswith(night)
        assert f"../runs/{run}.html" in html
    assert "Run before the change" not in page_of(site, "quiet")[0]
    assert "aoe-reports explain" not in text, "records have no captures that could be compared"


def test_the_newest_nights_come_first_with_their_runs(site: tuple[Path, dict[str, SeriesChange]]) -> None:
    text, html = page_of(site, "few")
    nights = [(FIRST + timedelta(days=night)).isoformat() for night in range(5)]
    listed = [one for one in re.findall(r'<th scope="row" class="text">(\d{4}-\d\d-\d\d)</th>', html) if one in nights]
    assert listed[-5:] == nights[::-1]
    assert text.count("5.000") >= 5


def test_the_sides_of_a_change_older_than_the_watch_are_linked_while_they_are_stored(cli: Cli, tmp_path: Path) -> None:
    """A slow-down that nobody accepted stays open: its runs can be compared, until they are taken out of the store."""
    store, site = tmp_path / "store", tmp_path / "site"

    def add(name: str, nights: range) -> None:
        records = [
            {
                "workload": "net", "engine": "cann", "hardware": "npu", "runtime_ms_std": None, "schema_version": "0.1",
                "runtime_ms_mean": 10.0 * (1 + 0.001 * (7 * night % 5)) * (1.1 if night >= 15 else 1.0),
                "timestamp": f"{FIRST + timedelta(days=night)}T02:00:00Z", "metadata": {},
            }
            for night in nights
        ]  # fmt: skip
        (tmp_path / name).write_text("".join(json.dumps(record) + "\n" for record in records))
        store_at_once([tmp_path / name], store, RecordOptions(tz="UTC"))

    def actions() -> str:
        build_site(str(store), site)
        (page,) = (path for path in (site / "series").glob("*.html") if path.name != "index.html")
        found = re.search(r'<section class="todo".*?</section>', page.read_text(), re.DOTALL)
        assert found is not None
        return found[0]

    add("first.jsonl", range(25))
    find_regressions(str(store), RegressionOptions(record=True))
    add("later.jsonl", range(25, 160))
    linked = actions()
    assert "compare the runs before and after the change" in linked
    for words in ("Compare the runs of 2026-01-15 and 2026-01-16", "Run before the change, 2026-01-15"):
        assert re.search(rf'<a href="[^"]+">{words}</a>', linked)
    runs = cli("store", "history", "runs", "--store", store, "--format", "json").json["rows"]
    for run in runs[:15]:
        assert cli("store", "undo", run["run"], "--store", store).code == 0
    listed = unescape(actions())
    assert f"recorded with run {runs[15]['run']} of 2026-01-16." in listed
    assert f"<code>aoe-reports store history runs --workload net --store {store}</code>" in listed
    assert "href" not in listed
