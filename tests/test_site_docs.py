"""What `make site-docs` has built: whole, without a network, in both languages, and readable by everybody."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from commandline import ROOT

from aoe_reports.jobs.rules import list_rules
from aoe_reports.locale import is_ours, translated

pytestmark = pytest.mark.site_docs

SITE = ROOT / "docs" / "_build" / "site"
LOADS = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\s(?:src|srcset)="([^"]*)\""""
    r"""|<link\b[^>]*?\shref="([^"]*)\"|url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)"""
)
LEADS = re.compile(r'<a\b[^>]*?\shref="([^"]*)"')
ID = re.compile(r'\s(?:id|name)="([^"]+)"')
TRANSLATED = ("index", "tutorial", "gallery", "howto/sign-off", "howto/nightly", "howto/gate", "howto/tune-next", "howto/thousands", "rules", "tables", "commands")  # fmt: skip


@pytest.fixture(scope="module")
def pages() -> dict[Path, str]:
    found = {path: path.read_text(encoding="utf-8") for path in SITE.rglob("*.html")}
    assert len(found) > 80, "run `make site-docs`"
    return found


def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, str]) -> None:
    texts = pages | {path: path.read_text(encoding="utf-8") for path in SITE.rglob("*.css")}
    loaded = {(path, one) for path, text in texts.items() for found in LOADS.findall(text) for one in found if one}
    assert {one for _, one in loaded if re.match(r"(?:https?:)?//", one)} == set()
    assert any(one.endswith("furo.css") or "furo.css?" in one for _, one in loaded)


def test_every_link_leads_to_a_page_and_to_a_place_of_it(pages: dict[Path, str]) -> None:
    places = {path: set(ID.findall(text)) for path, text in pages.items()}
    lost = set()
    for path, text in pages.items():
        for target in LEADS.findall(text):
            parts = urlsplit(target)
            if parts.scheme:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = "" if "=" in parts.fragment else unquote(parts.fragment)  # the example's comparison takes a=…&b=…
            if not to.is_file() or (place and to in places and place not in places[to]):
                lost.add((str(path.relative_to(SITE)), target))
    assert lost == set()


@pytest.mark.parametrize("name", TRANSLATED)
def test_each_language_has_the_page_and_leads_to_the_other(pages: dict[Path, str], name: str) -> None:
    english, chinese = pages[SITE / f"{name}.html"], pages[SITE / "zh" / f"{name}.html"]
    assert 'lang="en"' in english
    assert 'lang="zh-CN"' in chinese
    (there,) = re.findall(r'<a href="([^"]+)" lang="zh-Hans"', english)
    (back,) = re.findall(r'<a href="([^"]+)" lang="en"', chinese)
    page = SITE / f"{name}.html"
    assert (page.parent / there).resolve() == SITE / "zh" / f"{name}.html"
    assert (SITE / "zh" / f"{name}.html").parent.joinpath(back).resolve() == page
    assert "每夜看板" in chinese  # the navigation


@pytest.mark.parametrize(("folder", "language"), [("", "en"), ("zh", "zh")])
def test_each_language_has_the_example_and_leads_to_it(pages: dict[Path, str], folder: str, language: str) -> None:
    for name in ("index", "site"):
        assert '<a href="example/index.html">' in pages[SITE / folder / f"{name}.html"]
    example = pages[SITE / folder / "example" / "index.html"]
    assert re.search(rf'<html lang="{language}\b', example)
    assert "layer6/conv" in example


def test_the_chinese_page_of_rules_says_what_the_program_says(pages: dict[Path, str]) -> None:
    page = unescape(pages[SITE / "zh" / "rules.html"])
    reasons = [one.reason for one in list_rules() if is_ours(one.reason) and "`" not in one.reason]
    assert len(reasons) > 200
    assert [one for one in reasons if translated(one, "zh") not in page] == []


def test_the_catalogue_lacks_nothing() -> None:
    command = [sys.executable, ROOT / "docs" / "translate.py", "--check"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr


def test_the_search_finds_words_of_both_languages() -> None:
    english, chinese = ((SITE / folder / "searchindex.js").read_text(encoding="utf-8") for folder in ("", "zh"))
    assert '"overview"' in english
    assert json.dumps("门禁") in chinese


@pytest.mark.parametrize("name", ["roofline", "flame-graph", "waterfall", "pipeline", "step"])
def test_a_picture_of_the_gallery_is_the_one_that_is_drawn(name: str, drawn: Path) -> None:
    kept = (ROOT / "docs" / f"gallery-{name}.svg").read_bytes()
    assert (drawn / f"gallery-{name}.svg").read_bytes() == kept, "run `python docs/gallery.py`"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn")
    subprocess.run([sys.executable, ROOT / "docs" / "gallery.py", folder], check=True)
    return folder
