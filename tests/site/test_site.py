"""`site` and `serve`: the same facts as `regressions`, whole or not at all, nothing written twice, names shown as text."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from commandline import Cli
from dashboards import HOSTILE, store_hostile_names
from stores import store_at_once

from aoe_reports.engine.question import Notes
from aoe_reports.history.runs.ingest import ingest
from aoe_reports.model.rank_spread import MIN_RANKS
from aoe_reports.model.shares import signed_percent
from aoe_reports.simulation.nights import MODEL
from aoe_reports.site.build import build_site
from aoe_reports.site.publish import Generation
from aoe_reports.topics.records.options import IngestOptions, RecordOptions


@pytest.fixture
def nights(simulated_nights: Path) -> Path:
    return simulated_nights


@pytest.fixture
def store(simulated_store: Path) -> Path:
    return simulated_store


@pytest.fixture(scope="module")
def site(simulated_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of all simulated nights; nobody may write there."""
    folder = tmp_path_factory.mktemp("site") / "site"
    build_site(str(simulated_store), folder)
    return folder


@pytest.fixture
def own_site(site: Path, tmp_path: Path) -> Path:
    """The same pages in a folder that may be written."""
    return Path(shutil.copytree(site, tmp_path / "site"))


def put(nights: Path, store: Path, first: int, until: int) -> None:
    store_at_once(sorted(nights.iterdir())[first:until], store, RecordOptions(workload=MODEL))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_hostile_names(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def hostile_site(hostile: Path) -> Path:
    """The pages of hostile names; nobody may write there."""
    build_site(str(hostile), hostile.with_name("site"))
    return hostile.with_name("site")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Page(HTMLParser):
    """What a page refers to, what it says, and what it would run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self._silent = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.tags.append((tag, known))
        self._silent = tag == "script"
        self.links += [str(known[name]) for name in ("href", "src") if name in known]
        if known.get("id"):
            self.ids.add(str(known["id"]))

    def handle_endtag(self, tag: str) -> None:
        self._silent = False

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.said.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.said).split())


def pages(folder: Path) -> Iterator[tuple[Path, Page]]:
    for path in sorted(folder.rglob("*.html")):
        yield path, Page(path.read_text())


def test_the_pages_say_what_regressions_says(cli: Cli, store: Path, site: Path) -> None:
    told = cli("regressions", "--store", store, "--format", "json").json
    index = json.loads((site / "index.json").read_text())
    assert (index["rows"], index["budget"]) == (told["rows"], told["budget"])
    (open_incidents,) = re.findall(r'<section id="open".*?</section>', (site / "index.html").read_text(), re.DOTALL)
    folded = re.findall(r'<li><a href="series/([^"]+)\.html"', open_incidents)
    assert folded == [member["series_id"] for member in told["incidents"][0]["members"]]
    every = cli("regressions", "--store", store, "--all", "--format", "json").json["rows"]
    twins = {path.stem: json.loads(path.read_text()) for path in (site / "series").glob("*.json")}
    del twins["index"]
    assert {name: twin["row"] for name, twin in twins.items()} == {row["series_id"]: row for row in every}
    for row in every:  # what the charts draw is what the rows tell
        newest = twins[row["series_id"]]["changes"][-1:]
        told_row = [(row["since"], row["since_run"], *(row[name] for name in ("state", "before", "after", "ci_low")))]
        drawn = [tuple(one[name] for name in ("night", "run", "state", "before", "after", "ci_low")) for one in newest]
        assert drawn == (told_row if row["state"] else [])
    records = cli("store", "history", "records", "--store", store, "--scope", "step", "--format", "json").json["rows"]
    (step,) = (row for row in every if row["scope"] == "step")
    assert [row["runtime_ms_mean"] for row in records] == twins[step["series_id"]]["values_ms"]
    page = Page((site / "series" / f"{step['series_id']}.html").read_text()).text
    told_levels = f"{signed_percent(step['change'])[1:]} slower since {step['since']}"
    assert told_levels in page
    assert "layer6/conv" in page
    assert f"{step['attribution']['total_us']:,.3f}" in page
    (incident,) = told["incidents"]
    others = [member["series_id"] for member in incident["members"] if member["series_id"] != step["series_id"]]
    assert twins[step["series_id"]]["together"] == others
    assert len(others) == 2
    links = Page((site / "series" / f"{step['series_id']}.html").read_text()).links
    assert {f"{other}.html" for other in others} <= set(links)
    since = next(row["since_run"] for row in every if row["series_id"] == step["series_id"])
    assert any(re.fullmatch(rf"\.\./compare\.html#a=[\w-]+&b={since}", link) for link in links)
    assert f"../runs/{since}.html" in links
    assert f"aoe-reports store ack {incident['incident']} --reason 'TEXT' --store {store}" in page
    front = Page((site / "index.html").read_text()).text
    assert f"1 of 1 models slower: {MODEL} {signed_percent(step['change'])}." in front
    assert "operator layer6/conv (Conv2D) +7.5%" in front


def test_what_is_accepted_is_shown_as_accepted(cli: Cli, store: Path, tmp_path: Path) -> None:
    mine, site = tmp_path / "store", tmp_path / "site"
    shutil.copytree(store, mine)
    (incident,) = cli("regressions", "--store", mine, "--format", "json").json["incidents"]
    said = ("--reason", "the <b>new</b> kernel is exact", "--who", "anna", "--store", mine)
    assert cli("store", "ack", incident["incident"], *said).code == 0
    assert cli("site", "--store", mine, "-o", site).code == 0
    (step,) = (one for one in incident["members"] if one["scope"] == "step")
    front = Page((site / "index.html").read_text())
    assert "No model is slower but for what is acknowledged." in front.text
    assert "Slower, and acknowledged." in front.text
    page = Page((site / "series" / f"{step['series_id']}.html").read_text())
    day = cli("store", "history", "acks", "--store", mine, "--format", "json").json["rows"][0]["when"][:10]
    assert f"Accepted by anna on {day}: the <b>new</b> kernel is exact" in page.text
    assert "Recommended actions Nothing: the new level is accepted." in page.text
    assert "aoe-reports ack" not in page.text
    run = Page((site / "runs" / f"{incident['since_run']}.html").read_text())
    for shown in (front, page, run, Page((site / "series" / "index.html").read_text())):
        states = {str(known.get("class")) for _, known in shown.tags if str(known.get("class")).startswith("state ")}
        assert "state acknowledged" in states
        assert not states & {"state confirmed", "state drift"}


def test_what_all_nights_show_when_looked_at_once_is_what_whole_history_says(
    cli: Cli, hostile: Path, tmp_path: Path
) -> None:
    """150 nights with a step in the first month: the watch has forgotten it, the look back has not; a gone series shares."""
    lines = []
    for night in range(150):
        for name in ("m/step", *(["m/gone"] if night < 20 else [])):
            when = datetime(2026, 1, 1, 2, tzinfo=UTC) + timedelta(days=night)
            time = (1.2 if night >= 20 else 1.0) * (1 + 0.002 * ((night * 7) % 5))
            lines.append(
                json.dumps({"workload": name, "engine": "e", "hardware": "h", "runtime_ms_mean": time, "runtime_ms_std": None,
                            "timestamp": when.timestamp(), "schema_version": "0.1", "metadata": {}})
            )  # fmt: skip
    (tmp_path / "years.jsonl").write_text("\n".join(lines) + "\n")
    store_at_once([tmp_path / "years.jsonl"], tmp_path / "years", RecordOptions())
    for place, store in enumerate((tmp_path / "years", hostile)):
        folder = tmp_path / f"site-{place}"
        assert cli("site", "--store", store, "-o", folder).code == 0
        told = cli("regressions", "--store", store, "--whole-history", "--format", "json").json["rows"]
        names = ("run", "state", "before", "after", "change", "ci_low", "ci_high")
        expected = [
            (row["series_id"], row["since"], row["since_run"], *(row[name] for name in names[1:])) for row in told
        ]
        seen = [
            (twin["row"]["series_id"], change["night"], *(change[name] for name in names))
            for path in (folder / "series").glob("*.json")
            if path.stem != "index"
            for twin in [json.loads(path.read_text())]
            for change in twin["hindsight"]["changes"]
        ]
        assert sorted(seen) == sorted(expected)
        assert seen
    (path,) = (path for path in (tmp_path / "site-0" / "series").glob("*.json") if path.stem != "index")
    twin = json.loads(path.read_text())
    assert (twin["changes"], [change["night"] for change in twin["hindsight"]["changes"]]) == ([], ["2026-01-21"])
    assert "Retrospective over all nights" in Page(path.with_suffix(".html").read_text()).text


def test_the_comparison_of_the_newest_night_is_what_compare_says(
    cli: Cli, nights: Path, store: Path, site: Path
) -> None:
    told = json.loads((site / f"compare-{MODEL}.json").read_text())
    runs = {
        row["run"]: row for row in cli("store", "history", "runs", "--store", store, "--format", "json").json["rows"]
    }
    sides = [runs[told[side]] for side in ("baseline", "candidate")]
    changed = cli("regressions", "--store", store, "--scope", "step", "--format", "json").json["rows"][0]
    before = max(row["night"] for row in runs.values() if row["kind"] == "profile" and row["night"] < changed["since"])
    assert [row["night"] for row in sides] == [before, max(row["night"] for row in runs.values())]
    paths = [nights / row["night"] for row in sides]
    for by, scope in (("op_type", "op_type"), ("op_name", "op")):
        rows = cli("compare", *paths, "--by", by, "--top", "10000", "--format", "json").json["rows"]
        names = ("op_type", "op_name") if scope == "op" else ("op_type",)
        parts = ("baseline_total_us", "candidate_total_us", "difference_us", "baseline_count", "candidate_count")
        expected = {tuple(row[name] for name in names): [row[part] for part in parts] for row in rows}
        seen = {tuple(row[name] for name in names): [row[part] for part in parts] for row in told[f"{scope}_rows"]}
        assert seen == expected
        sizes = [abs(row["difference_us"]) for row in told[f"{scope}_rows"]]
        assert sizes == sorted(sizes, reverse=True)
        assert told["totals"][scope]["difference_us"] == pytest.approx(sum(row["difference_us"] for row in rows))
    (step,) = told["steps"]
    series = json.loads((site / "series" / f"{changed['series_id']}.json").read_text())
    at = [series["nights"].index(row["night"]) for row in sides]
    assert [step["baseline_ms"], step["candidate_ms"]] == [series["values_ms"][place] for place in at]


def test_what_one_run_has_alone_is_a_row_of_its_own(cli: Cli, nights: Path, tmp_path: Path) -> None:
    """An operator under another name: both names stand there with all of their time, and neither has a ratio."""
    for night in sorted(nights.iterdir())[:2]:
        shutil.copytree(night, tmp_path / "two" / night.name)
    (table,) = (tmp_path / "two" / sorted(nights.iterdir())[1].name).rglob("op_summary*.csv")
    table.write_text(table.read_text().replace("layer6/conv", "fresh/conv"))
    ingest([tmp_path / "two"], str(tmp_path / "store"), IngestOptions(workload=MODEL), Notes())
    cli("site", "--store", tmp_path / "store", "-o", tmp_path / "site")
    told = json.loads((tmp_path / "site" / f"compare-{MODEL}.json").read_text())
    alone = {row["op_name"]: row for row in told["op_rows"] if row["side"] != "both"}
    assert {name: row["side"] for name, row in alone.items()} == {"layer6/conv": "baseline", "fresh/conv": "candidate"}
    assert alone["layer6/conv"]["difference_us"] == -alone["layer6/conv"]["baseline_total_us"]
    assert alone["fresh/conv"]["difference_us"] == alone["fresh/conv"]["candidate_total_us"]
    assert [row["ratio"] for row in alone.values()] == [None, None]
    assert told["why"] == "night"
    whole = sum(row["difference_us"] for row in told["op_rows"])
    assert whole == pytest.approx(told["totals"]["op"]["difference_us"])
    files_of_keys = list((tmp_path / "site" / "runs").glob("keys.*.js"))
    assert len(files_of_keys) == 2
    files_of_keys[0].unlink()  # a run's numbers are of no use without: they are made again
    cli("site", "--store", tmp_path / "store", "-o", tmp_path / "site")
    assert sorted((tmp_path / "site" / "runs").glob("keys.*.js")) == sorted(files_of_keys)


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs a browser")
def test_pages_warn_of_what_compare_refuses(cli: Cli, nights: Path, tmp_path: Path) -> None:
    """Another version and a night without operators: both pages say so, and that side's sums are no zero."""
    first, *_, last = sorted(nights.iterdir())[:4]
    for night, version in ((first, "8.0"), (last, "8.5")):
        shutil.copytree(night, tmp_path / version / night.name)
    for table in (tmp_path / "8.5").rglob("*.csv"):
        if not table.name.startswith("step_trace"):
            table.unlink()
    for version in ("8.0", "8.5"):
        ingest(
            [tmp_path / version],
            str(tmp_path / "store"),
            IngestOptions(workload=MODEL, engine_version=version),
            Notes(),
        )
    cli("site", "--store", tmp_path / "store", "-o", tmp_path / "site")
    told = json.loads((tmp_path / "site" / f"compare-{MODEL}.json").read_text())
    records, version = sorted(told["not_comparable"], key=lambda one: one["fact"] == "engine_version")
    assert version == {"fact": "engine_version", "baseline": "8.0", "candidate": "8.5"}
    assert (records["fact"], records["candidate"], records["baseline"] > 0) == ("operator_records", 0, True)
    whole = told["totals"]["op"]
    assert whole["baseline_total_us"] > 0
    assert (whole["candidate_total_us"], whole["difference_us"]) == (None, None)
    page = Page((tmp_path / "site" / f"compare-{MODEL}.html").read_text())
    warning = "Different engine version: 8.0 in the baseline, 8.5 in the candidate"
    address = f"{(tmp_path / 'site' / 'compare.html').as_uri()}#a={told['baseline']}&b={told['candidate']}"
    for shown in (page, Page(dump(address, tmp_path))):
        assert {"role": "note", "class": "warned"}.items() <= next(
            known.items() for _, known in shown.tags if known.get("role") == "note"
        )
        assert warning in shown.text
        assert f"the baseline has {records['baseline']}" in shown.text
        assert "candidate: not stored." in shown.text
    assert f"the last night before with a run, {first.name}" in page.text


def dump(address: str, folder: Path) -> str:
    """A page as chromium leaves it."""
    return subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'browser'}",
         "--virtual-time-budget=8000", "--dump-dom", address],
        capture_output=True, text=True, check=False, timeout=120,
    ).stdout  # fmt: skip


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs a browser")
def test_any_two_runs_are_compared_from_the_disk(site: Path, tmp_path: Path) -> None:
    told = json.loads((site / f"compare-{MODEL}.json").read_text())
    prebuilt = Page((site / f"compare-{MODEL}.html").read_text())
    address = f"{(site / 'compare.html').as_uri()}#a={told['baseline']}&b={told['candidate']}"
    shown = Page(dump(address, tmp_path)).text
    for start, end in (
        ("What the difference consists of", "minor difference"),
        ("Step breakdown", "Other differences"),
    ):
        wanted = prebuilt.text[prebuilt.text.index(start) : prebuilt.text.index(end)]
        seen = shown[shown.index(start) : shown.index(end, shown.index(start))]
        assert len(re.findall(r"\d\.\d", wanted)) > 5
        assert "".join(seen.split()) == "".join(wanted.split())


def test_a_run_says_how_its_model_was_and_leads_to_its_baseline(site: Path) -> None:
    told = json.loads((site / f"compare-{MODEL}.json").read_text())
    (since,) = {
        change["night"]
        for path in [site / "series" / f"{json.loads((site / 'index.json').read_text())['rows'][0]['series_id']}.json"]
        for change in json.loads(path.read_text())["changes"]
    }
    pages = {path.stem: path.read_text() for path in (site / "runs").glob("2*.html")}
    newest, baseline = pages[told["candidate"]], pages[told["baseline"]]
    assert f"Slower since {since}: step of {MODEL} +" in Page(newest).text
    assert f'href="../compare-{MODEL}.html">Compare with the baseline' in newest
    assert "since" not in Page(baseline).text[: Page(baseline).text.index("Step breakdown")]
    (first,) = (
        page for name, page in pages.items() if name.startswith(since.replace("-", "")) and "Slower since" in page
    )
    assert f'href="../compare.html#a={told["baseline"]}&amp;b=' in first


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs a browser")
def test_two_models_are_said_to_be_two(cli: Cli, nights: Path, tmp_path: Path) -> None:
    for model, night in zip(("here", "there"), sorted(nights.iterdir()), strict=False):
        ingest([night], str(tmp_path / "store"), IngestOptions(workload=model), Notes())
    cli("site", "--store", tmp_path / "store", "-o", tmp_path / "site")
    rows = json.loads((tmp_path / "site" / "runs" / "index.json").read_text())["rows"]
    names = {row["workload"]: row["run"] for row in rows}
    address = f"{(tmp_path / 'site' / 'compare.html').as_uri()}#a={names['here']}&b={names['there']}"
    shown = Page(dump(address, tmp_path)).text
    assert "These two runs are of different models" in shown
    assert "The two runs have no step in common; all compute tasks" in shown
    assert "No step is stored" not in shown
    assert "the step" not in shown
    assert f"here · 2026-01-01 · {names['here']}" in shown


def test_the_page_of_tuning_says_what_the_results_said(cli: Cli, store: Path, site: Path) -> None:
    told = json.loads((site / "tuning.json").read_text())
    runs = cli("store", "history", "runs", "--store", store, "--format", "json").json["rows"]
    assert [row["run"] for row in told["rows"]] == [row["run"] for row in reversed(runs) if row["kind"] == "tuning"]
    records = cli("store", "history", "records", "--store", store, "--scope", "model", "--format", "json").json["rows"]
    for row in told["rows"]:
        claimed = {r["phase"]: r["runtime_ms_mean"] for r in records if r["run"] == row["run"]}
        assert (row["claimed_before_ms"], row["claimed_after_ms"]) == (claimed["before"], claimed["after"])
        assert row["claimed_speed_up"] == claimed["before"] / claimed["after"] - 1
        assert row["proven"] is None
        assert row["measured"]["before_night"] <= row["night"] < row["measured"]["after_night"]
    growth = told["bank_growth"]
    assert growth[-1]["sum"] == sum(row["added"] + row["updated"] for row in told["rows"])
    assert sum(row["jobs"] for row in growth) == len(told["rows"])
    page = Page((site / "tuning.html").read_text()).text
    assert "not verified" in page
    assert "This is not proof" in page


def test_operators_that_tuning_never_improved_are_named(cli: Cli, aoe: Path, tmp_path: Path) -> None:
    cli("ingest", aoe.parent / "invalid" / "tuning-failed", "--store", tmp_path / "store", "--workload", "m")
    assert cli("site", "--store", tmp_path / "store", "-o", tmp_path / "site").code == 0
    told = json.loads((tmp_path / "site" / "tuning.json").read_text())
    never = {row["op_name"]: (row["reason"], row["failed"], row["changed"]) for row in told["never_improved"]}
    assert never["res4a_branch1"] == ("tuning_failed", 1, 0)
    assert "block1/conv" not in never
    assert [row["failed"] for row in told["rows"]] == [1]
    assert all(row["measured"] is None for row in told["rows"])  # no profile is stored, so nothing was measured


def test_a_runs_page_has_its_operators_and_what_aoe_claims(cli: Cli, store: Path, site: Path) -> None:
    runs = cli("store", "history", "runs", "--store", store, "--format", "json").json["rows"]
    listed = json.loads((site / "runs" / "index.json").read_text())["rows"]
    assert [row["run"] for row in listed] == [row["run"] for row in runs]
    (profile,) = (row for row in runs if row["night"] == "2026-02-11" and row["kind"] == "profile")
    twin = json.loads((site / "runs" / f"{profile['run']}.json").read_text())
    records = cli("store", "history", "records", "--store", store, "--since", "2026-02-11", "--format", "json").json[
        "rows"
    ]
    of_types = {r["op_type"]: r["total_ns"] for r in records if r["run"] == profile["run"] and r["scope"] == "op_type"}
    assert {row["op_type"]: row["total_us"] for row in twin["types"]} == {k: v / 1000 for k, v in of_types.items()}
    assert twin["computing_us"] == sum(of_types.values()) / 1000
    assert sum(row["share"] for row in twin["types"]) == pytest.approx(1)
    tunings = [row["run"] for row in runs if row["night"] == "2026-02-11" and row["kind"] == "tuning"]
    assert twin["tunings"] == tunings
    page = Page((site / "runs" / f"{profile['run']}.html").read_text()).text
    assert "advise" in page
    (step,) = twin["steps"]
    assert step["computing_ms"] is None  # no record says what a step goes on; its tasks do
    assert "computed from the start and end times of the tasks" in page
    summary = cli("store", "history", "advice", "--store", store, "--run", profile["run"], "--format", "json").json[
        "rows"
    ][0]
    (told,) = summary["summary"]["headlines"]
    (counted,) = twin["steps_by_tasks"]
    assert counted["step_ms"] * 1000 == pytest.approx(told["step_us"])
    assert counted["computing_ms"] / counted["step_ms"] == pytest.approx(told["computing_share"], abs=1e-6)
    assert sum(counted[f"{part}_ms"] for part in ("computing", "communication", "free")) == pytest.approx(
        counted["step_ms"], abs=1e-5
    )
    claims = Page((site / "runs" / f"{tunings[0]}.html").read_text()).text
    assert "the whole model" in claims


def test_what_a_step_goes_on_is_told_once(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    """By the table of steps where there is one, else by the tasks, else nothing but that it is not known."""
    cli("ingest", msprof, "--store", tmp_path / "store", "--workload", "m")
    cli("site", "--store", tmp_path / "store", "-o", tmp_path / "site")
    seen = set()
    for path in (tmp_path / "site" / "runs").glob("*.json"):
        if path.stem == "index":
            continue
        twin = json.loads(path.read_text())
        told = [
            (row["rank_id"], row["device_id"])
            for row in twin["steps"]
            if None not in {row["computing_ms"], row["free_ms"]}
        ]
        counted = [(row["rank_id"], row["device_id"]) for row in twin["steps_by_tasks"]]
        assert not {(rank, None) for rank, _ in told} & {(rank, None) for rank, _ in counted}
        assert len(counted) == len(set(counted))
        page = path.with_suffix(".html").read_text()
        text = Page(page).text
        timed = {row["rank_id"] for row in twin["steps"]}
        once = sum(row["steps_counted"] == 1 and row["rank_id"] not in timed for row in twin["steps_by_tasks"])
        assert page.count('aria-label="Capture of ') == once
        in_bars = len(told) + len(counted) - once
        assert page.count('aria-label="Step of ') == (in_bars if in_bars < MIN_RANKS else 3)
        assert ("the profile had no table for it" in text) == bool(twin["steps"] and not told and not counted)
        seen.add((bool(told), bool(counted)))
    assert seen >= {(True, False), (False, True)}


def test_shares_of_several_devices_are_each_devices_own(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    """As `hotspots` has them: each device's types make up all of its time, and a type of both is one type."""
    job = msprof / "two_devices_by_name"
    cli("ingest", job, "--store", tmp_path / "store", "--workload", "m")
    cli("site", "--store", tmp_path / "store", "-o", tmp_path / "site")
    (path,) = (path for path in (tmp_path / "site" / "runs").glob("*.json") if path.stem != "index")
    twin = json.loads(path.read_text())
    shares: dict[tuple[int, int], float] = {}
    for row in twin["types"]:
        place = row["rank_id"], row["device_id"]
        shares[place] = shares.get(place, 0.0) + row["share"]
    assert len(shares) == 2
    assert list(shares.values()) == [pytest.approx(1)] * 2
    assert twin["type_count"] == len({row["op_type"] for row in twin["types"]}) < len(twin["types"])
    shown = Page(path.with_suffix(".html").read_text()).text
    assert f"of {twin['type_count']} types" in shown
    assert "of 2 devices; a share is the largest of any device" in shown


def test_the_same_store_gives_the_same_bytes_however_the_folder_came_about(
    cli: Cli, nights: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    put(nights, store, 0, 44)
    cli("site", "--store", store, "-o", tmp_path / "grown")
    put(nights, store, 44, 45)
    ended = cli("site", "--store", store, "-o", tmp_path / "grown", "--format", "json")
    counts = {row["kind"]: row for row in ended.json["rows"]}
    # the new one, and those since the change of the step: each says by how much, which is surer now
    assert counts["run"]["written"] == 8
    assert counts["asset"]["written"] == 0
    cli("site", "--store", store, "-o", tmp_path / "fresh")
    assert files(tmp_path / "grown") == files(tmp_path / "fresh")


def test_what_did_not_change_stays_the_same_file(cli: Cli, store: Path, own_site: Path, tmp_path: Path) -> None:
    def seen() -> dict[str, tuple[int, int]]:
        found = {}
        for path in sorted((tmp_path / "site").rglob("*")):
            if path.is_file():
                found[str(path)] = (path.stat().st_ino, path.stat().st_mtime_ns)
        return found

    before = seen()
    ended = cli("site", "--store", store, "-o", tmp_path / "site", "--format", "json")
    assert sum(row["written"] for row in ended.json["rows"]) == 0
    assert seen() == before
    (tmp_path / "site" / "index.html").write_text("cut")
    shutil.rmtree(tmp_path / "site" / "series")
    counts = {
        row["kind"]: row["written"]
        for row in cli("site", "--store", store, "-o", tmp_path / "site", "--format", "json").json["rows"]
    }
    assert counts == {"overview": 2, "model": 0, "series": 36, "run": 0, "comparison": 0, "asset": 0}
    assert set(seen()) == set(before)


def test_a_build_that_fails_leaves_the_site_as_it_was(
    cli: Cli, store: Path, hostile_site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(hostile_site, tmp_path / "site")
    before = files(tmp_path / "site")
    left = [30]
    write = Generation.write

    def full(self: Generation, *args: Any) -> None:
        left[0] -= 1
        assert files(tmp_path / "site") == before  # nothing of the new one is seen while it is made
        if not left[0]:
            raise OSError(28, "No space left on device")
        write(self, *args)

    with monkeypatch.context() as patched:
        patched.setattr(Generation, "write", full)
        ended = cli("site", "--store", store, "-o", tmp_path / "site")
    assert (ended.code, "No space left" in ended.err) == (3, True)
    assert files(tmp_path / "site") == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    assert cli("site", "--store", store, "-o", tmp_path / "site").code == 0
    assert not set(files(tmp_path / "site")) & {
        name
        for name in before
        if name.startswith("series/") and not name.endswith(("index.html", "index.json", "list.js"))
    }


def test_where_the_folders_name_cannot_be_exchanged_the_first_page_comes_last(
    cli: Cli, store: Path, site: Path, hostile_site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(hostile_site, tmp_path / "site")
    inode = (tmp_path / "site").stat().st_ino
    (tmp_path / "site" / ".new-left").mkdir()  # of a build that was killed
    order = []
    replace = Path.replace

    def seen(self: Path, target: Path) -> Path:
        order.append(target.name)
        return replace(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(os.path, "ismount", lambda _: True)
        patched.setattr(Path, "replace", seen)
        assert cli("site", "--store", store, "-o", tmp_path / "site").code == 0
    assert files(tmp_path / "site") == files(site)
    assert (order[-2:], (tmp_path / "site").stat().st_ino) == (["index.html", "manifest.json"], inode)
    assert not (tmp_path / "site" / ".new-left").exists()


def test_the_folder_is_a_sites_own(cli: Cli, hostile: Path, tmp_path: Path) -> None:
    mine = tmp_path / "papers"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    assert cli("site", "--store", hostile, "-o", mine).code == 2
    assert files(mine) == {"thesis.txt": b"years of work"}
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "report.html").write_text("of nightly")
    assert cli("site", "--store", hostile, "-o", tmp_path / "site").code == 0
    (tmp_path / "site" / "notes").mkdir()
    (tmp_path / "site" / "notes" / "mine.txt").write_text("kept")
    (tmp_path / "site" / "elsewhere").symlink_to(mine)
    assert cli("site", "--store", hostile, "-o", tmp_path / "site").code == 0
    kept = files(tmp_path / "site")
    assert (kept["report.html"], kept["notes/mine.txt"]) == (b"of nightly", b"kept")
    assert (tmp_path / "site" / "elsewhere").readlink() == mine
    assert files(mine) == {"thesis.txt": b"years of work"}


def test_a_manifest_leads_nowhere_outside_the_folder(
    cli: Cli, hostile: Path, hostile_site: Path, tmp_path: Path
) -> None:
    shutil.copytree(hostile_site, tmp_path / "site")
    (tmp_path / "secret").write_text("mine")
    manifest = tmp_path / "site" / "manifest.json"
    told = json.loads(manifest.read_text())
    told["files"]["../secret"] = ["key", 4]
    manifest.write_text(json.dumps(told))
    assert cli("site", "--store", hostile, "-o", tmp_path / "site").code == 0
    assert (tmp_path / "secret").read_text() == "mine"
    assert "../secret" not in json.loads(manifest.read_text())["files"]


def test_every_link_leads_somewhere_and_nothing_leaves_the_folder(
    cli: Cli, site: Path, hostile: Path, tmp_path: Path
) -> None:
    assert cli("site", "--store", hostile, "-o", tmp_path / "zh", "--lang", "zh").code == 0
    for folder in (site, tmp_path / "zh"):
        found = dict(pages(folder))
        for path, page in found.items():
            policies = [
                known["content"] for tag, known in page.tags if known.get("http-equiv") == "Content-Security-Policy"
            ]
            assert [str(policy).startswith("default-src 'none';") for policy in policies] == [True]
            for tag, known in page.tags:
                assert "style" not in known, (path, tag)
                assert not [key for key in known if key.startswith("on")], (path, tag)
                assert tag != "script" or "src" in known or known["type"] == "application/json"
            for link in page.links:
                assert not re.match(r"[a-z]+:|//", link), link
                target, _, anchor = link.partition("#")
                there = (path.parent / target).resolve() if target else path
                assert there.is_file(), (path, link)
                assert (
                    not anchor
                    or "=" in anchor
                    or anchor in (found[there].ids if there in found else Page(there.read_text()).ids)
                )


def test_hostile_names_are_text(hostile_site: Path) -> None:
    series = json.loads((hostile_site / "series" / "index.json").read_text())["rows"]
    assert {row["workload"] for row in series} == set(HOSTILE)
    assert {row["state"] for row in series} == {"confirmed"}
    for path, page in pages(hostile_site):
        text = path.read_text()
        assert "<script>alert" not in text, path
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b]", text), path
        assert [known.get("src") for tag, known in page.tags if tag == "script" and "src" not in known] in ([], [None])
    for row in series:
        page = Page((hostile_site / "series" / f"{row['series_id']}.html").read_text())
        shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in row["workload"])
        assert shown in page.text
    assert all(re.fullmatch(r"[0-9A-Za-z_.-]+", path.name) for path in hostile_site.rglob("*"))


def test_a_store_of_nothing_and_one_of_a_single_night_have_a_site(cli: Cli, nights: Path, tmp_path: Path) -> None:
    from aoe_reports.store import History

    History.open(str(tmp_path / "empty"), create=True)
    assert cli("site", "--store", tmp_path / "empty", "-o", tmp_path / "site").code == 0
    assert "The store is empty: no run is stored." in Page((tmp_path / "site" / "index.html").read_text()).text
    put(nights, tmp_path / "one", 0, 1)
    assert cli("site", "--store", tmp_path / "one", "-o", tmp_path / "site").code == 0
    page = Page((tmp_path / "site" / "index.html").read_text()).text
    assert "Not enough nights yet (1 of 10): no series can be judged" in page
    assert len(list((tmp_path / "site" / "series").glob("*.html"))) == 36 + 1
    missing = cli("site", "--store", tmp_path / "none", "-o", tmp_path / "other")
    assert (missing.code, (tmp_path / "other").exists()) == (3, False)


@pytest.fixture
def served(site: Path, tmp_path: Path) -> Iterator[tuple[str, Path, subprocess.Popen[str]]]:
    shutil.copytree(site, tmp_path / "site")
    (tmp_path / "secret.html").write_text("secret")
    (tmp_path / "site" / "link.html").symlink_to(tmp_path / "secret.html")
    (tmp_path / "site" / "out").symlink_to(tmp_path)
    command = [sys.executable, "-m", "aoe_reports", "serve", str(tmp_path / "site"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), tmp_path, process
        finally:
            process.kill()


def asked(address: str, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    try:
        with urllib.request.urlopen(urllib.request.Request(address + path, headers=headers)) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def test_serve_gives_the_sites_files_and_no_others(served: tuple[str, Path, subprocess.Popen[str]]) -> None:
    address, folder, process = served
    assert address.startswith("http://127.0.0.1:")
    status, headers, content = asked(address, "")
    assert (status, content) == (200, (folder / "site" / "index.html").read_bytes())
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert asked(address, "assets/site.js?x=1#y")[1]["Content-Type"] == "text/javascript; charset=utf-8"
    assert asked(address, "series/index.json")[1]["Content-Type"] == "application/json"
    assert asked(address, "series/")[0] == 200
    for path in ("../secret.html", "%2e%2e/secret.html", "series/../../secret.html", "link.html", "out/secret.html",
                 "/etc/passwd", "series", "nothing.html", "%00", "%ff.html", ".hidden.html", "..%2fsecret.html"):  # fmt: skip
        status, headers, content = asked(address, path)
        assert (status, b"secret" in content.replace(path.encode(), b"")) == (404, False), path
        assert headers["X-Content-Type-Options"] == "nosniff"
    assert asked(address, "", Host="evil.example:80")[0] == 404
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 0


def test_serve_wants_a_site(cli: Cli, tmp_path: Path) -> None:
    assert cli("site", "--serve", tmp_path).code == 2
