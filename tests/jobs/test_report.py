"""`report`: the facts of `regressions` for one night, and figures that anybody can open, read and hear."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from commandline import Cli
from markdown_it import MarkdownIt
from PIL import Image
from stores import store_at_once

from aoe_reports.engine.question import Notes
from aoe_reports.history.runs.ingest import ingest
from aoe_reports.simulation.nights import MODEL
from aoe_reports.store import History
from aoe_reports.topics.records.options import IngestOptions, RecordOptions

NEWEST, SLOW = "2026-02-14", "2026-02-07"
TYPE = "$\\frac{1}{0}$ \u5377\u79ef \u202ecba & <b>"
NAME = "layer6/\x1b[31mred/$x_1$/" + "y" * 4096 + "/end"
WORKLOADS = (
    "<script>alert(1)</script>\"'&amp;</td>",
    "right\u202eto left\u2066 \u0645\u0631\u062d\u0628\u0627",
    "\x1b[31mred\x1b[0m\nline",
    "long/" + "x" * 4096 + "/end",
    "$\\frac{1}{0}$ ![x](y) \U0001f600 \U00013000 \u6a21\u578b",
)


def put(nights: Path, store: Path, first: int, until: int, model: str = MODEL, *, rename: bool = False) -> None:
    some = store.parent / f"nights-{first}-{until}"
    for night in sorted(nights.iterdir())[first:until]:
        shutil.copytree(night, some / night.name)
    for path in some.rglob("*.csv") if rename else ():
        path.write_text(path.read_text().replace("Conv2D", TYPE).replace("layer6/conv", NAME))
    store_at_once([some], store, RecordOptions(workload=model))


pytestmark = pytest.mark.usefixtures("pictures_drawn_once")


@pytest.fixture
def nights(simulated_nights: Path) -> Path:
    return simulated_nights


@pytest.fixture
def store(simulated_store: Path) -> Path:
    return simulated_store


@pytest.fixture(scope="module")
def hostile(simulated_nights: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Workloads, an operator and a type with names that nobody should be called by."""
    folder = tmp_path_factory.mktemp("hostile")
    put(simulated_nights, folder / "store", 24, 45, WORKLOADS[4], rename=True)
    lines = []
    for night in range(14):
        for place, name in enumerate(WORKLOADS):
            when = datetime(2026, 3, 1, 2, place, tzinfo=UTC) + timedelta(days=night)
            slow = 1.5 if night >= 9 else 1.0
            record = {
                "workload": name,
                "engine": "engine",
                "hardware": "hardware",
                "runtime_ms_mean": slow * (1 + 0.001 * ((night * 7 + place) % 5)),
                "runtime_ms_std": None,
                "timestamp": when.timestamp(),
                "schema_version": "0.1",
                "metadata": {},
            }
            lines.append(json.dumps(record))
    (folder / "records.jsonl").write_text("\n".join(lines) + "\n")
    store_at_once([folder / "records.jsonl"], folder / "store", RecordOptions())
    return folder / "store"


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    History.open(str(tmp_path / "empty"), create=True)
    return tmp_path / "empty"


def look(folder: Path) -> list[dict[str, Any]]:
    """The pictures that `figures.json` lists, held against their files by a reader that is not the writer."""
    told = json.loads((folder / "figures.json").read_text())
    assert {one["file"] for one in told["figures"]} == {path.name for path in folder.glob("*.png")}
    for one in told["figures"]:
        with Image.open(folder / one["file"]) as picture:
            picture.load()
            assert picture.size == (one["width"], one["height"]) == (1200, 600)
            assert picture.info["Description"] == one["alt"] != ""
            assert {"Software", "Creation Time"}.isdisjoint(picture.info)
            # drawn in every quarter: neither blank nor cut off
            for left, top in ((0, 0), (600, 0), (0, 300), (600, 300)):
                assert len(picture.convert("L").crop((left, top, left + 600, top + 300)).getcolors(256) or []) > 2
        assert one["alt"].isprintable()
    return told["figures"]


def test_rows_are_those_of_regressions(cli: Cli, store: Path) -> None:
    told = cli("regressions", "--store", store, "--format", "json").json
    made = cli("report", "--store", store, "--format", "json")
    report = made.json
    assert (made.code, report["command"], report["inputs"]) == (0, "report", [str(store)])
    assert (report["rows"], report["budget"]) == (told["rows"], told["budget"])
    assert report["rows"]
    assert (report["night"], report["reasons"]) == (NEWEST, [])
    assert cli("report", "--store", store, "--night", NEWEST, "--format", "json").out == made.out
    assert cli("report", "--store", store, "--workload", MODEL, "--format", "json").json["rows"] == told["rows"]
    budget = ("--max-false-alarms-per-year", "0.01", "--format", "json")
    strict = cli("regressions", "--store", store, *budget).json
    assert cli("report", "--store", store, *budget).json["rows"] == strict["rows"] != told["rows"]


def test_the_headline_names_what_got_slower_and_who_did_it(cli: Cli, store: Path) -> None:
    report = cli("report", "--store", store, "--format", "json").json
    assert report["headline"].startswith(f"Regression: step of {MODEL} +0.95% since {SLOW} (3.228 → 3.259 ms); ")
    assert "operator layer6/conv (Conv2D) +7.5% explains 28.13 of 30.58 us per step" in report["headline"]
    assert report["headline"] in cli("report", "--store", store).out


def test_the_history_and_the_hotspots_are_those_of_the_store(cli: Cli, store: Path) -> None:
    report = cli("report", "--store", store, "--format", "json").json
    records = cli("store", "history", "records", "--store", store, "--format", "json").json["rows"]
    steps = [row for row in records if row["scope"] == "step"]
    assert report["history"]["nights"] == [row["night"] for row in steps]
    assert report["history"]["values_ms"] == [row["runtime_ms_mean"] for row in steps]
    types = [row for row in records if row["scope"] == "op_type" and row["night"] == NEWEST]
    hot = report["hotspots"]["types"]
    assert {row["op_type"]: (row["count"], row["total_us"]) for row in hot} == {
        row["op_type"]: (row["count"], row["total_ns"] / 1000) for row in types
    }
    assert [row["position"] for row in hot] == list(range(1, len(hot) + 1))
    assert [row["total_us"] for row in hot] == sorted((row["total_us"] for row in hot), reverse=True)
    assert sum(row["share"] for row in hot) == pytest.approx(1)
    assert report["hotspots"]["total_us"] == pytest.approx(sum(row["total_us"] for row in hot))


@pytest.mark.slow
def test_an_earlier_night_is_reported_as_it_was(cli: Cli, store: Path, nights: Path, tmp_path: Path) -> None:
    put(nights, tmp_path / "then", 0, 42)  # 2026-02-11, when AOE ran twice
    pages = []
    for place, options in ((tmp_path / "then", ()), (store, ("--night", "2026-02-11"))):
        made = cli("report", "--store", place, *options, "--format", "json").json
        told = cli("report", "--store", place, *options, "--png", tmp_path / f"figures{len(pages)}").out
        for run in made["runs"]:
            del run["path"]
        for finding in made["findings"]:
            finding["path"] = Path(finding["path"]).name
        del made["inputs"]
        pages.append((made, told.partition("Runs of the night")[0]))
    assert pages[0] == pages[1]
    figures = [[path.read_bytes() for path in sorted((tmp_path / f"figures{n}").iterdir())] for n in (0, 1)]
    assert figures[0] == figures[1]
    report, text = pages[1]
    assert [row["state"] for row in report["rows"]] == ["confirmed"] * 3
    assert [run["kind"] for run in report["runs"]] == ["profile", "tuning", "tuning"]
    assert {finding["rule"] for finding in report["findings"]} >= {"time-zone-assumed"}
    assert "AOE's own claims" in text
    assert [row["speed_up"] for row in report["tunings"]] == pytest.approx(
        [row["before_ms"] / row["after_ms"] - 1 for row in report["tunings"]]
    )
    assert {one["run"] for one in report["claims"]} == {row["run"] for row in report["tunings"]}


def test_a_night_before_the_change_knows_nothing_of_it(cli: Cli, store: Path) -> None:
    report = cli("report", "--store", store, "--night", "2026-01-30", "--format", "json").json
    assert [row for row in report["rows"] if row["state"] == "confirmed"] == []
    assert report["headline"].startswith("No regression: ")
    assert report["history"]["workload"] == f"{MODEL}/step"
    assert max(report["history"]["nights"]) == "2026-01-30"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--night", "2026-02-15"), NEWEST),
        (("--night", "2025-12-31"), "2026-01-01"),
        (
            ("--night", "yesterday"),
            "expected a date such as 2026-01-31; the store has 45 from 2026-01-01 to 2026-02-14",
        ),
        (("--workload", "nothing"), MODEL),
        (("--workload", MODEL, "--night", "2027-01-01"), NEWEST),
        (("--max-false-alarms-per-year", "0"), ""),
        (("--format", "png"), ""),
    ],
)
def test_what_is_not_there_is_wrong_usage(cli: Cli, store: Path, options: tuple[str, ...], said: str) -> None:
    made = cli("report", "--store", store, *options)
    assert (made.code, made.out) == (2, "")
    assert said in made.err


def test_a_store_with_too_few_nights(cli: Cli, nights: Path, tmp_path: Path) -> None:
    put(nights, tmp_path / "store", 0, 3)
    made = cli("report", "--store", tmp_path / "store", "--format", "json", "--png", tmp_path / "figures")
    assert (made.code, made.rules() >= {"not-enough-data"}) == (0, True)
    assert made.json["headline"].startswith("Not enough nights yet (3 of 10)")
    drawn = look(tmp_path / "figures")
    assert [one["file"] for one in drawn] == ["history.png", "hotspots.png"]
    assert "; too few nights to judge, 3 of 10" in drawn[0]["alt"]
    strict = cli("report", "--store", tmp_path / "store", "--strict-data", "--format", "json")
    assert (strict.code, strict.json["reasons"]) == (4, ["not-enough-data"])
    earlier = cli("report", "--store", tmp_path / "store", "--night", "2026-01-02", "--strict-data")
    assert (earlier.code, "[not-enough-data]" in earlier.err) == (4, True)


@pytest.mark.parametrize("form", ["text", "markdown", "html", "json"])
def test_an_empty_store_has_a_report(cli: Cli, empty: Path, tmp_path: Path, form: str) -> None:
    made = cli("report", "--store", empty, "--format", form, "--png", tmp_path / "figures")
    assert made.code == 0
    assert "The store is empty" in made.out
    assert look(tmp_path / "figures") == []
    if form == "json":
        assert [(one["severity"], one["rule"]) for one in made.json["findings"]] == [("warning", "not-enough-data")]
    else:
        assert "[not-enough-data]" in made.err
    assert cli("report", "--store", empty, "--strict-data", "--format", form).code == 4
    refused = cli("report", "--store", empty, "--night", NEWEST)
    assert (refused.code, "the store is empty" in refused.err) == (2, True)


def test_no_store_and_no_place_to_write(cli: Cli, store: Path, tmp_path: Path) -> None:
    assert cli("report", "--store", tmp_path / "nothing").code == 3
    (tmp_path / "file").write_text("mine")
    for arguments in (("--png", tmp_path / "file"), ("--png", tmp_path / "file" / "below"), ("-o", tmp_path)):
        made = cli("report", "--store", store, *arguments)
        assert (made.code, made.out) == (3, ""), arguments
        assert made.err.count("\n") == 1
    assert (tmp_path / "file").read_text() == "mine"


def test_figures_are_pictures_with_words(cli: Cli, store: Path, tmp_path: Path) -> None:
    made = cli("report", "--store", store, "--format", "json", "--png", tmp_path / "figures")
    assert made.err == ""
    figures = look(tmp_path / "figures")
    assert figures == made.json["figures"]
    history, attribution, hotspots = figures
    assert [one["file"] for one in figures] == ["history.png", "attribution.png", "hotspots.png"]
    assert f"+0.95% since {SLOW}, from 3.228 ms to 3.259 ms" in history["alt"]
    assert "layer6/conv +28.132" in attribution["alt"]
    assert "total +30.581" in attribution["alt"]
    assert all(
        f"{row['op_type']} {row['total_us']:,.3f} us" in hotspots["alt"] for row in made.json["hotspots"]["types"]
    )


@pytest.mark.slow
def test_the_same_store_gives_the_same_bytes(cli: Cli, store: Path, tmp_path: Path) -> None:
    """Also at another time and place, under another seed of hashes, and beside settings of matplotlib in the current folder."""
    (tmp_path / "matplotlibrc").write_text("font.size: 40\nfigure.dpi: 33\nsavefig.bbox: tight\naxes.facecolor: red\n")
    arguments = ("report", "--store", store, "--format", "html", "--png")
    here = cli(*arguments, tmp_path / "here")
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-m", "aoe_reports", *arguments, tmp_path / "there"],
        capture_output=True,
        check=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": "0", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7"},
        cwd=tmp_path,
    )
    assert (here.out.encode(), here.err.encode()) == (ended.stdout, ended.stderr)
    assert ended.stderr == b""
    first, second = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("here", "there")
    )
    assert first == second


@pytest.mark.slow
def test_pictures_of_another_night_do_not_stay(cli: Cli, store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    assert cli("report", "--store", store, "--png", folder).code == 0
    (folder / "mine.png").write_bytes(b"mine")
    assert (folder / "attribution.png").exists()
    assert cli("report", "--store", store, "--night", "2026-01-05", "--png", folder).code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["figures.json", "history.png", "hotspots.png", "mine.png"]
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "attribution.png").write_bytes(b"not ours: no list names it")
    (folder / "figures.json").write_text('{"figures": [{"file": "../x"}, 3]}')
    assert cli("report", "--store", store, "--night", "2026-01-05", "--png", folder).code == 0
    assert (folder / "attribution.png").read_bytes() == b"not ours: no list names it"


def images(tokens: Any) -> list[tuple[str, str]]:
    return [
        (unquote(str(child.attrs["src"])), child.content)
        for token in tokens
        for child in token.children or ()
        if child.type == "image"
    ]


@pytest.mark.slow
def test_markdown_links_its_pictures(cli: Cli, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = MarkdownIt("commonmark").enable("table")
    folder = tmp_path / "pictures (of) today"
    page = tmp_path / "pages" / "report.md"
    assert cli("report", "--store", store, "--format", "markdown", "-o", page, "--png", folder).code == 0
    shown = images(reader.parse(page.read_text()))
    assert [(page.parent / link).resolve() for link, _ in shown] == [folder / one["file"] for one in look(folder)]
    assert [reader.renderInline(alt) for _, alt in shown] == [one["alt"] for one in look(folder)]
    monkeypatch.chdir(tmp_path)
    printed = cli("report", "--store", store, "--format", "markdown", "--png", "there").out
    assert [link for link, _ in images(reader.parse(printed))] == [
        "there/history.png", "there/attribution.png", "there/hotspots.png",
    ]  # fmt: skip
    assert images(reader.parse(cli("report", "--store", store, "--format", "markdown").out)) == []


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.slow
def test_html_is_one_file(cli: Cli, store: Path, tmp_path: Path) -> None:
    page = cli("report", "--store", store, "--format", "html").out
    tags = Tags(page).found
    pictures = [known for tag, known in tags if tag == "svg"]
    cli("report", "--store", store, "--png", tmp_path)
    assert [known["aria-label"] for known in pictures] == [one["alt"] for one in look(tmp_path)]
    assert not [
        known for tag, known in tags if tag in {"script", "img", "link"} or {"href", "src", "style"} & set(known)
    ]
    policy = next(str(known["content"]) for _, known in tags if known.get("http-equiv") == "Content-Security-Policy")
    digest = hashlib.sha256(page.partition("<style>")[2].partition("</style>")[0].encode()).digest()
    assert policy.split("; ")[:2] == ["default-src 'none'", f"style-src 'sha256-{base64.b64encode(digest).decode()}'"]


@pytest.mark.parametrize("number", range(len(WORKLOADS)))
def test_hostile_names_are_text(hostile: Path, cli: Cli, tmp_path: Path, number: int) -> None:
    arguments = ("report", "--store", hostile, "--workload", WORKLOADS[number])
    for form in ("text", "markdown", "html"):
        made = cli(*arguments, "--format", form, *(("--png", tmp_path) if form == "markdown" else ()))
        assert (made.code, made.err) == (0, "")
        assert {char for char in made.out if not char.isprintable()} <= {"\n"}
        assert form == "text" or "<script" not in made.out.replace("\\<script", "")
    alts = " ".join(one["alt"] for one in look(tmp_path))
    assert ("y" * 600 in alts, "x" * 600 in alts, max(map(len, alts)) < 4001) == (False, False, True)
    report = cli(*arguments, "--format", "json").json
    assert all(row["workload"].startswith(WORKLOADS[number]) for row in report["rows"])
    assert report["rows"]


def test_hostile_operators_are_drawn_as_text(hostile: Path, cli: Cli, tmp_path: Path) -> None:
    arguments = ("report", "--store", hostile, "--workload", WORKLOADS[4], "--night", NEWEST, "--png", tmp_path)
    made = cli(*arguments, "--format", "json")
    assert (made.code, made.err) == (0, "")
    history, attribution, hotspots = look(tmp_path)
    assert "\\frac{1}{0}$ \u5377\u79ef \\x202ecba & <b>" in hotspots["alt"]
    assert "layer6/\\x1b[31mred/$x_1$/yyy" in attribution["alt"]
    assert "yyy/end +29.573, " in attribution["alt"]
    assert (
        "\U0001f600 \\xe000" not in history["alt"]
    )  # a letter for private use is a letter: only pictures spell it out
    assert made.json["rows"][0]["attribution"]["operators"][0]["op_name"] == NAME


def test_other_workloads_of_the_night_are_named(hostile: Path, cli: Cli) -> None:
    report = cli("report", "--store", hostile, "--format", "json").json
    assert len(report["other_workloads"]) == len(WORKLOADS) - 1
    assert set(report["other_workloads"]) < set(WORKLOADS)
    assert "Use `--workload` to report on one of them." in cli("report", "--store", hostile).out


def test_a_later_night_of_aoe_alone_hides_nothing(
    cli: Cli, nights: Path, msprof: Path, aoe: Path, tmp_path: Path
) -> None:
    put(nights, tmp_path / "store", 0, 2)
    bank = tmp_path / "Ascend910B_gradient_fusion.json"
    shutil.copy(aoe / "gradient_bank" / bank.name, bank)
    os.utime(bank, (1_780_000_000, 1_780_000_000))  # 2026-05-28
    ingest([bank], str(tmp_path / "store"), IngestOptions(workload=MODEL), Notes())
    report = cli("report", "--store", tmp_path / "store", "--format", "json").json
    assert (report["night"], report["later_nights"]) == ("2026-01-02", ["2026-05-28"])
    assert "later night with a run: 2026-05-28" in cli("report", "--store", tmp_path / "store").out
    later = cli("report", "--store", tmp_path / "store", "--night", "2026-05-28", "--format", "json").json
    assert (later["hotspots"], later["tunings"], {run["kind"] for run in later["runs"]}) == (None, [], {"tuning"})


def test_ranks_of_a_run_are_summed(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    ingest([msprof / "torch_npu_two_ranks"], str(tmp_path / "store"), IngestOptions(workload="m"), Notes())
    hot = cli("report", "--store", tmp_path / "store", "--format", "json").json["hotspots"]
    alone = cli("hotspots", msprof / "torch_npu_two_ranks", "--format", "json").json["rows"]
    assert hot["ranks"] == 2
    for row in hot["types"]:
        mine = [one for one in alone if (one["op_type"], one["task_type"]) == (row["op_type"], row["task_type"])]
        assert row["count"] == sum(one["count"] for one in mine)
        assert row["total_us"] == pytest.approx(sum(one["total_us"] for one in mine))
