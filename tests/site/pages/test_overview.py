"""The first page: models first, the worst effect on top, the one cause of each; incidents by effect, with their series folded in."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
from commandline import Cli
from planted_dashboard import ACKNOWLEDGED, FIRST, PLANTED, Planted, night, store_planted
from stores import store_at_once

from aoe_reports.site.build import build_site
from aoe_reports.topics.records.options import RecordOptions


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first page of the planted nights."""
    folder = tmp_path_factory.mktemp("planted")
    store_planted(folder / "store")
    build_site(str(folder / "store"), folder / "site")
    return folder / "site" / "index.html"


def words_of(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html))).strip()


def cards_of(page: Path) -> dict[str, tuple[str, str]]:
    """(tone, words) of each card, in the order of the page."""
    cards = re.findall(r'<li class="card (\w+)">(.*?)</li>', page.read_text(), re.DOTALL)
    return {words_of(re.findall(r"<h3><a[^>]*>(.*?)</a>", html)[0]): (tone, words_of(html)) for tone, html in cards}


def others_of(page: Path) -> dict[str, str]:
    """The words of the rows of models without a card."""
    table = re.findall(r"<caption>Other models</caption>.*?</table>", page.read_text(), re.DOTALL)[0]
    rows = re.findall(r"<tr><th scope=\"row\".*?</tr>", table, re.DOTALL)
    return {words_of(re.findall(r"<a[^>]*>(.*?)</a>", html)[0]): words_of(html) for html in rows}


def section_of(page: Path, key: str) -> str:
    (html,) = re.findall(rf'<section id="{key}".*?</section>', page.read_text(), re.DOTALL)
    return str(html)


def test_the_worst_effect_on_a_step_comes_first_and_has_its_colour(page: Path) -> None:
    tones = [(model, tone) for model, (tone, _) in cards_of(page).items()]
    assert tones == [
        ("ocr", "odd"), ("speech", "bad"), ("llama-70b", "bad"), ("vit-large", "bad"), ("bert-base", "bad"), ("recsys", "bad"),
        ("diffusion", "good"),
    ]  # fmt: skip
    assert list(others_of(page)) == ["resnet50", "tts", "whisper"]
    headline = re.findall(r"<h1>(.*?)</h1>", page.read_text(), re.DOTALL)[0]
    assert [(tone, words_of(said)) for tone, said in re.findall(r'<span class="(\w+)">(.*?)</span>', headline)] == [
        (
            "bad",
            "5 of 10 models slower: speech +4.3%, llama-70b +3.7%, vit-large +3.2%, bert-base +2.6%, recsys +2.4%.",
        ),
        ("odd", "Suspected: ocr +4.7%."),
        ("good", "Improved: diffusion -5.3%."),
        ("calm", "Unchanged: resnet50, tts, whisper."),
    ]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("llama-70b", "operator attention/qk (MatMulV3) +12% input shapes 8,4096,128;8,128,4096"),
        ("vit-large", "all 7 operators +3.5% engine version 8.1.RC1 → 8.1.RC2"),
        ("bert-base", "operator mlp/gelu (Gelu, rank 1) +30% input shapes 4096,28672"),
        ("diffusion", "operator mlp/up (MatMulV2) -14%"),
        ("ocr", "operator norm (LayerNormV3) +89%"),
        ("recsys", "operator input/trans (TransData) +120% input shapes 32,3,224,224"),
        ("speech", "free time adds 348.6 us per step"),
    ],
)
def test_each_planted_cause_is_named_on_the_card_of_its_model(page: Path, model: str, said: str) -> None:
    assert said in cards_of(page)[model][1]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("whisper", "operator Cast +50%; less than 0.5% of the step"),
        ("resnet50", f"single night {night(28)}: whole model +25%"),
        ("tts", "dates without a run: 2"),
    ],
)
def test_what_does_not_slow_a_step_is_said_in_the_row_of_its_model(page: Path, model: str, said: str) -> None:
    assert f"unchanged {said}" in others_of(page)[model]


def test_a_card_says_since_when_from_what_to_what_and_how_sure_that_is(page: Path) -> None:
    since = next(night(planted.since) for planted in PLANTED if planted.name == "llama-70b")
    assert (
        f"new slower +3.7% since {since} 8.079 ms → 8.374 ms · 95%: +3.4% … +3.9% · 4 ranks"
        in cards_of(page)["llama-70b"][1]
    )
    assert "+2.6% since 2026-02-03 8.082 ms → 8.289 ms · 95%: +2.4% … +2.7% · Rank 1" in cards_of(page)["bert-base"][1]


def test_a_chart_of_a_card_marks_level_shifts_and_new_versions_and_is_said_in_words(page: Path) -> None:
    charts = dict(re.findall(r"<h3><a[^>]*>([^<]*)</a>.*?(<svg.*?</svg>)", page.read_text(), re.DOTALL))
    assert charts["llama-70b"].count('class="mark"') == 1
    assert charts["vit-large"].count('class="version"') == 1
    assert (
        'aria-label="llama-70b/step: 36 nights from 2026-01-10 to 2026-02-14, between 8.046 ms and 8.407 ms'
        in charts["llama-70b"]
    )


def test_incidents_stand_in_the_order_of_their_effect_with_their_series_folded_in(page: Path) -> None:
    section = section_of(page, "open")
    effects = re.findall(r'<td data-title="Effect on step" class="number"><span class="([\w-]+)">([^<]+)', section)
    assert [effect for _, effect in effects] == ["+4.3%", "+3.7%", "+3.2%", "+2.6%", "+2.4%", "+0.086%"]
    assert [kind for kind, _ in effects] == ["slower-word"] * 5 + ["minor"]
    folded = re.findall(r"<details class=\"fold\"><summary>([^<]*)</summary><ul>(.*?)</ul>", section, re.DOTALL)
    assert [words.partition(" · ")[0] for words, _ in folded] == [
        "1 series",
        "8 series",
        "8 series",
        "2 series",
        "2 series",
        "1 series",
    ]
    assert folded[1][1].count("<li>") == 8


def test_tiles_count_incidents_and_lead_to_them(page: Path) -> None:
    html = page.read_text()
    assert re.findall(r'<a class="tile (\w+)" href="#(\w+)"><b>(\d+)</b>', html) == [
        ("new", "open", "1"), ("ongoing", "open", "4"), ("minor", "open", "1"), ("suspect", "suspect", "1"), ("improved", "improved", "1"),
    ]  # fmt: skip


def test_no_name_is_said_twice_and_nothing_is_unknown(page: Path) -> None:
    said = words_of(page.read_text())
    assert "Cast (Cast)" not in said
    assert "unknown" not in said
    assert not re.search(r"(?<![\d.])[+-]?0\.0%", said)


def test_what_is_acknowledged_is_no_slower_model(cli: Cli, page: Path, tmp_path: Path) -> None:
    store = page.parent.parent / "store"
    incidents = cli("regressions", "--store", store, "--format", "json").json["incidents"]
    (known,) = (one["incident"] for one in incidents if one["models"] == [ACKNOWLEDGED])
    accepted = ("--reason", "larger pictures", "--store", store)
    assert cli("store", "ack", known, *accepted).code == 0
    build_site(str(store), tmp_path / "site")
    assert "acknowledged +2.4%" in others_of(tmp_path / "site" / "index.html")[ACKNOWLEDGED]
    assert "4 of 10 models slower" in words_of((tmp_path / "site" / "index.html").read_text())
    assert json.loads((tmp_path / "site" / "index.json").read_text())["models"][0]["model"] == "ocr"


def test_what_may_have_got_faster_is_no_suspected_slow_down(tmp_path: Path) -> None:
    store_planted(tmp_path / "store", [Planted("quick", {"mlp/up": 0.8}, since=35), Planted("same")])
    build_site(str(tmp_path / "store"), tmp_path / "site")
    index = tmp_path / "site" / "index.html"
    assert '<h1><span class="calm">No model is slower.</span></h1>' in index.read_text()
    assert {model: tone for model, (tone, _) in cards_of(index).items()} == {"quick": "calm", "same": "calm"}
    assert "quick suspected -7" in cards_of(index)["quick"][1]


def test_a_metric_that_is_worse_leads_a_model_whose_step_is_unchanged(tmp_path: Path) -> None:
    lines = [
        json.dumps(
            {
                "workload": "serve", "engine": "vllm", "hardware": "npu", "runtime_ms_mean": 10 + 0.01 * (number % 3),
                "runtime_ms_std": None, "timestamp": (FIRST + timedelta(days=number)).timestamp(), "schema_version": "0.1",
                "metadata": {}, "metrics": {"output_throughput": (900 if number > 28 else 1000) + number % 4},
            }
        )
        for number in range(36)
    ]  # fmt: skip
    (tmp_path / "records.jsonl").write_text("\n".join(lines) + "\n")
    store_at_once([tmp_path / "records.jsonl"], tmp_path / "store", RecordOptions())
    build_site(str(tmp_path / "store"), tmp_path / "site")
    index = tmp_path / "site" / "index.html"
    tone, said = cards_of(index)["serve"]
    assert tone == "bad"
    assert said.startswith("serve new worse -10% since")
    assert "output_throughput · 1,00" in said
    assert "1 of 1 models worse: serve -10%." in words_of(index.read_text())
