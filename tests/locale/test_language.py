"""`--lang zh`: whatever people read of the demo's store is in Chinese; whatever programs read is the same in every language."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from commandline import Cli

from aoe_reports.jobs.demo import run_demo
from aoe_reports.present.figures import fonts
from aoe_reports.simulation.nights import write_nights

_HIDDEN = re.compile(r"<(style|script|pre)\b.*?</\1>|data:image[^\"]*", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_SAID = re.compile(r"\b(?:alt|aria-label|title|data-hint|data-filter)=\"([^\"]*)\"")
_ENGLISH = re.compile(r"(?<![^\s(（：，。；])[a-z]+[,;:]?(?: [a-z]+[,;:]?){3,}")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `demo --lang zh` leaves: nights, history, site."""
    folder = tmp_path_factory.mktemp("demo")
    assert run_demo(folder, "zh").found
    return folder


def english(page: str) -> list[str]:
    """Four and more words of English in a row, in a text or in what an HTML page shows and says."""
    if page.startswith("<!doctype"):
        page = _HIDDEN.sub("", page)
        page = html.unescape("\n".join([_TAG.sub("\n", page), *_SAID.findall(page)]))
    return [found[0] for found in _ENGLISH.finditer(page)]


def test_english_is_found() -> None:
    page = '<!doctype html><p>变慢：nothing is confirmed to be slower</p><img alt="a line over many nights"><pre>a b c d</pre>'
    assert english(page) == ["nothing is confirmed to be slower", "a line over many nights"]


def test_the_report_and_all_pages_of_the_demo(demo: Path) -> None:
    pages = [*(demo / "site").rglob("*.html"), demo / "site" / "report.md"]
    assert len(pages) > 50
    left = {str(page): found for page in pages if (found := english(page.read_text()))}
    assert left == {}
    assert all('<html lang="zh-Hans">' in page.read_text() for page in pages if page.suffix == ".html")
    assert "劣化：" in (demo / "site" / "report.md").read_text()


REPORTS = [
    ["regressions"],
    ["regressions", "--whole-history"],
    ["report"],
    ["report", "--night", "2026-02-11"],
    ["store", "history", "runs"],
    ["store", "history", "records"],
    ["store", "history", "changes"],
    ["store", "history", "advice"],
]


@pytest.mark.parametrize("form", ["text", "html"])
@pytest.mark.parametrize("command", REPORTS, ids=" ".join)
def test_reports_of_the_store(cli: Cli, demo: Path, command: list[str], form: str) -> None:
    ended = cli(*command, "--store", demo / "history", "--lang", "zh", "--format", form)
    assert english(ended.out) == []
    assert re.search(r"[\u4e00-\u9fff]", ended.out)
    assert english(ended.err) == []


@pytest.mark.parametrize("command", REPORTS, ids=" ".join)
def test_json_is_the_same_in_every_language(cli: Cli, demo: Path, command: list[str]) -> None:
    spoken = [
        cli(*command, "--store", demo / "history", "--lang", language, "--format", "json") for language in ("en", "zh")
    ]
    assert spoken[0].out == spoken[1].out
    assert spoken[0].code == spoken[1].code
    json.loads(spoken[0].out)


def test_json_of_nightly_is_the_same_in_every_language(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_nights(tmp_path / "nights", nights=7)
    told = []
    for language in ("en", "zh"):
        (tmp_path / language).mkdir()
        monkeypatch.chdir(tmp_path / language)
        ended = cli(
            "nightly", tmp_path / "nights", "--store", "store", "--site", "site", "--lang", language, "--format", "json"
        )
        told.append((ended.out, Path("site/report.json").read_bytes()))
    assert told[0] == told[1]
    pages = [(tmp_path / language / "site" / "report.html").read_text() for language in ("en", "zh")]
    assert english(pages[0])
    assert pages[0] != pages[1]


def figures_of(cli: Cli, demo: Path, folder: Path, language: str) -> Iterator[tuple[str, bytes]]:
    ended = cli("report", "--store", demo / "history", "--png", folder, "--format", "json", "--lang", language)
    assert [one["file"] for one in ended.json["figures"]] == ["history.png", "attribution.png", "hotspots.png"]
    yield "stderr", ended.err.encode()
    yield from ((path.name, path.read_bytes()) for path in sorted(folder.iterdir()))


def test_figures_without_a_font_for_chinese_are_in_english(
    cli: Cli, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fonts, "_CJK", ("a font that nobody has",))
    for known in (fonts.fallbacks, fonts.glyphs):
        known.cache_clear()
    try:
        english, chinese = (dict(figures_of(cli, demo, tmp_path / one, one)) for one in ("en", "zh"))
    finally:
        for known in (fonts.fallbacks, fonts.glyphs):
            known.cache_clear()
    assert english["stderr"] == b""
    assert "没有安装中文字体" in chinese["stderr"].decode()
    assert english["figures.json"] == chinese["figures.json"]
    for name in ("history.png", "attribution.png", "hotspots.png"):
        assert pixels(english[name]) == pixels(chinese[name])


def pixels(png: bytes) -> list[bytes]:
    """The chunks of a picture that are drawn: its metadata are in the language that was asked for."""
    found, place = [], 8
    while place < len(png):
        size = int.from_bytes(png[place : place + 4])
        if png[place + 4 : place + 8] == b"IDAT":
            found.append(png[place + 8 : place + 8 + size])
        place += 12 + size
    return found
