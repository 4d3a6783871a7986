"""The page of a model: what is open, its steps rank by rank, its runs; and commands that are right for the rank of their page."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from captures import Kernel, Night, write_night
from commandline import Cli
from stores import store_at_once

from aoe_reports.site.build import build_site
from aoe_reports.topics.records.options import RecordOptions

NIGHTS, SLOW_FROM = 31, 25
MODELS = ("bert<b>", "net")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two models of two ranks, and its pages; rank 1 of one model takes longer from a night on."""
    root = tmp_path_factory.mktemp("models")
    for place_of_model, model in enumerate(MODELS):
        for number in range(NIGHTS):
            for rank in (0, 1):
                longer = 1.06 if model == "net" and rank == 1 and number >= SLOW_FROM else 1.0
                kernels = tuple(
                    Kernel(f"op_{place}", "MatMulV2", (100 + 10 * place + 3 * place_of_model) * longer)
                    for place in range(8)
                )
                write_night(root / model / str(number), number, Night(kernels), hours=place_of_model, rank=rank)
        store_at_once([root / model], root / "store", RecordOptions(workload=model))
    build_site(str(root / "store"), root / "site")
    return root


def page_of(root: Path, model: str) -> tuple[str, dict[str, Any]]:
    """The page of a model, and its JSON."""
    for path in (root / "site" / "models").glob("*.json"):
        told = json.loads(path.read_text())
        if told["model"] == model:
            return path.with_suffix(".html").read_text(), told
    raise AssertionError(model)


def test_every_model_has_a_page_that_says_what_is_open_in_it_alone(cli: Cli, root: Path) -> None:
    html, told = page_of(root, "net")
    first = cli("regressions", "--store", root / "store").out.splitlines()[0]
    assert first.startswith("Regression: step of net, rank 1 +")
    assert f'<p class="lead bad">{first.replace("→", "→")}</p>' in html
    assert len(told["incidents"]) == 1
    calm, none = page_of(root, "bert<b>")
    assert '<p class="lead calm">No regression: no series changed.</p>' in calm
    assert none["incidents"] == none["suspicions"] == []
    assert "rank 1" in calm
    assert "<b>" not in calm
    assert "bert&lt;b&gt;" in calm


def test_steps_are_listed_by_rank_and_runs_from_the_newest(root: Path) -> None:
    html, told = page_of(root, "net")
    assert [(row["rank_id"], row["state"]) for row in told["steps"]] == [(1, "confirmed"), (0, None)]
    assert len(told["runs"]) == NIGHTS
    steps = html[html.index('id="h-steps"') : html.index('id="h-runs"')]
    assert re.findall(r"step, rank (\d)</a>", steps) == ["1", "0"]
    nights = re.findall(r'<td data-title="Night" class="text">(2026-\d\d-\d\d)</td>', html[html.index('id="h-runs"') :])
    assert nights == sorted((run["night"] for run in told["runs"]), reverse=True)[:30]


def test_the_pages_of_two_ranks_have_titles_of_their_own(root: Path) -> None:
    _, told = page_of(root, "net")
    for row in told["steps"]:
        html = (root / "site" / "series" / f"{row['series_id']}.html").read_text()
        title = f"net/step, rank {row['rank_id']}"
        assert f'<h1 class="name">{title}</h1>' in html
        assert re.search(rf"<title>{title}\b", html)


def test_the_links_of_models_lead_somewhere_and_back(root: Path) -> None:
    site = root / "site"
    pages = sorted((site / "models").glob("*.html"))
    assert len(pages) == len(MODELS)
    index = (site / "index.html").read_text()
    for page in pages:
        assert f'href="models/{page.name}"' in index
        for link in re.findall(r'href="([^"#]+)"', page.read_text()):
            assert (page.parent / unescape(link)).resolve().exists(), link
    led = {
        name
        for folder in ("runs", "series")
        for path in (site / folder).glob("*.html")
        for name in re.findall(r'href="\.\./models/([^"]+)"', path.read_text())
    }
    assert led == {page.name for page in pages}
    for folder in ("runs", "series"):
        of_one = [path for path in (site / folder).glob("*.html") if path.name != "index.html"]
        assert all('href="../models/' in path.read_text() for path in of_one)


def test_the_command_of_a_page_is_of_its_rank(cli: Cli, root: Path) -> None:
    (step,) = [row for row in page_of(root, "net")[1]["steps"] if row["rank_id"] == 1]
    twin = next(
        path
        for path in (root / "site" / "series").glob("*.json")
        if json.loads(path.read_text()).get("row", {}).get("series_id") == step["series_id"]
    )
    command = re.search(r"aoe-reports (explain [^<]+)</code>", twin.with_suffix(".html").read_text())
    assert command is not None
    ended = cli(*shlex.split(unescape(command[1])), "--format", "json")
    assert ended.code == 0, ended.err
    assert {row["rank_id"] for row in ended.json["rows"]} == {1}
    (first, *_) = ended.json["rows"]
    assert (first["cause"], first["name"]) == ("slower-calls", "MatMulV2")
    assert first["after_us"] / first["before_us"] == pytest.approx(1.06, abs=0.01)


def test_the_version_of_a_night_stands_in_its_chart(cli: Cli, tmp_path: Path) -> None:
    for number in range(6):
        write_night(tmp_path / str(number), number, Night((Kernel("op", "MatMulV2", 100.0),)))
        version = "8.2.RC1.a_very_long_name" if number >= 3 else "8.0.0"
        asked = ("--store", tmp_path / "s", "--workload", "net", "--engine-version", version)
        assert cli("ingest", tmp_path / str(number), *asked).code == 0
    build_site(str(tmp_path / "s"), tmp_path / "site")
    for path in (tmp_path / "site" / "series").glob("*.json"):
        told = json.loads(path.read_text())
        if told["page"] != "series":
            continue
        assert told["versions"] == [["2026-03-04", "8.2.RC1.a_very_…"]]
        html = path.with_suffix(".html").read_text()
        assert html.count('class="noted"') == 1
        assert ">8.2.RC1.a_very_…</text>" in html
        assert "New versions: 8.2.RC1.a_very_… (2026-03-04)." in html
        assert '"versions":[[3,"8.2.RC1.a_very_…"]]' in html


def test_advice_on_a_run_is_of_all_its_ranks(cli: Cli, root: Path) -> None:
    run = page_of(root, "net")[1]["runs"][-1]["run"]
    command = re.search(r"aoe-reports (advise [^<]+)<br>", (root / "site" / "runs" / f"{run}.html").read_text())
    assert command is not None
    rows = cli(*shlex.split(unescape(command[1])), "--format", "json").json["headlines"]
    assert {row["rank_id"] for row in rows} == {0, 1}


def test_an_incident_of_two_models_is_said_for_the_model_of_the_page(tmp_path: Path) -> None:
    """An upgrade makes a type slower in both models; one of them recovers some nights later, the other does not."""
    for place, model in enumerate(("bert", "llm")):
        for number in range(36):
            slow = number >= 20 and not (model == "bert" and number >= 28)
            kernels = tuple(
                Kernel(f"{model}_{kind}_{one}", kind, 100 * (1.08 if slow and kind == "TransData" else 1.0))
                for kind in ("MatMulV2", "TransData", "SoftmaxV2")
                for one in range(4)
            )
            part = "old" if number < 20 else "new"
            write_night(tmp_path / part / model, number, Night(kernels), hours=place)
    for part, version in (("old", "8.0.0"), ("new", "8.2.RC1")):
        options = RecordOptions(workload_from="folder", engine_version=version)
        store_at_once([tmp_path / part], tmp_path / "store", options)
    build_site(str(tmp_path / "store"), tmp_path / "site")
    first, bert, llm = (
        incidents_of(tmp_path / "site" / name) for name in ("index.html", "models/bert.html", "models/llm.html")
    )
    html = (tmp_path / "site" / "models" / "bert.html").read_text()
    assert "<table class=stacks>" in html
    titles = ["Effect on step", "History", "Since", "State"]
    assert re.findall(r'<td data-title="([^"]+)"', html)[: len(titles)] == titles
    (shared,) = (row for row in bert if "bert, llm: operator type TransData" in row)
    assert "recovered here since 2026-03-29; open in llm" in shared
    for rows in (first, llm):
        (shared,) = (row for row in rows if "bert, llm: operator type TransData" in row)
        assert re.search(r"\bongoing\b", shared)
        assert "recovered" not in shared


def incidents_of(page: Path) -> list[str]:
    """The rows of the incidents of a page, as text."""
    html = page.read_text()
    start = re.search('id="h-(incidents|open)"', html)
    assert start is not None
    table = html[start.start() :].partition("</table>")[0]
    return [unescape(re.sub(r"<[^>]+>", " ", row)).replace("  ", " ") for row in table.split("<tr>")[2:]]


@pytest.mark.parametrize(("slow", "last"), [((22,), "2026-03-23"), ((22, 23), "2026-03-24")])
def test_a_slow_night_of_the_machine_is_named_when_it_is_past(tmp_path: Path, slow: tuple[int, ...], last: str) -> None:
    for place, model in enumerate(("bert", "llm")):
        for number in range(27):
            kernels = tuple(
                Kernel(f"{model}_{one}", "MatMulV2", (100 + 10 * one) * (1.05 if number in slow else 1.0))
                for one in range(6)
            )
            write_night(tmp_path / "nights" / model, number, Night(kernels), hours=place)
    store_at_once([tmp_path / "nights"], tmp_path / "store", RecordOptions(workload_from="folder"))
    build_site(str(tmp_path / "store"), tmp_path / "site")
    (night,) = json.loads((tmp_path / "site" / "index.json").read_text())["past_nights"]
    assert (night["night"], night["last_night"], night["models"]) == ("2026-03-23", last, ["bert", "llm"])
    assert night["cause"]["change"] == pytest.approx(0.05, abs=0.003)
    change = f"{night['cause']['change']:+.1%}"
    which = "2026-03-23" if len(slow) == 1 else "2026-03-23 to 2026-03-24"
    said = f"<li>{which}: whole machine (bert, llm): all 12 operators {change}; the next night was as before.</li>"
    assert said in (tmp_path / "site" / "index.html").read_text()
    pages = [path for path in (tmp_path / "site" / "series").glob("*.html") if path.name != "index.html"]
    assert len(pages) > 12
    for path in pages:
        html = path.read_text()
        assert f">whole machine {change}</text>" in html
        assert f"Single nights that differ: whole machine {change} (2026-03-23)." in html
        assert f'"past":[[22,"whole machine {change}"]]' in html


@pytest.mark.parametrize(
    "slow",
    [
        lambda number: number >= 25,
        lambda number: number % 7 == 5,
    ],
    ids=["two newest nights", "every Saturday"],
)
def test_what_is_no_single_night_is_not_told_as_one(tmp_path: Path, slow: Callable[[int], bool]) -> None:
    for number in range(27):
        kernels = tuple(Kernel(f"op_{one}", "MatMulV2", 100 * (1.05 if slow(number) else 1.0)) for one in range(6))
        write_night(tmp_path / "nights" / "bert", number, Night(kernels))
    store_at_once([tmp_path / "nights"], tmp_path / "store", RecordOptions(workload="bert"))
    build_site(str(tmp_path / "store"), tmp_path / "site")
    assert json.loads((tmp_path / "site" / "index.json").read_text())["past_nights"] == []


RANKS, MISSED = 6, (9, 10)


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a model of six ranks: two nights without a run, then one operator is slower, one quicker, a small one slower."""
    root = tmp_path_factory.mktemp("ranked")
    factors = {"slower": 1.1, "quicker": 0.8, "small": 1.5}
    for number in (number for number in range(26) if number not in MISSED):
        for rank in range(RANKS):
            kernels = tuple(
                Kernel(
                    name,
                    "MatMulV2",
                    us * (factors[name] if number >= 18 else 1.0),
                    shapes=f"8,{len(name)};{len(name)},8",
                )
                for name, us in (("slower", 300 + 10 * rank), ("quicker", 200), ("small", 2))
            )
            write_night(root / "net" / str(number), number, Night(kernels), rank=rank)
    store_at_once([root / "net"], root / "store", RecordOptions(workload="net"))
    build_site(str(root / "store"), root / "site")
    return root / "site"


def figures_of(html: str) -> list[tuple[str, str, dict[str, Any]]]:
    """The charts of histories on a page: the title, the drawing, the data of the script."""
    figures = re.findall(r'<figure class="history[^>]*>(.*?)</figure>', html, re.DOTALL)
    return [
        (
            re.findall("<figcaption>(.*?)</figcaption>", figure)[0],
            re.findall("<svg.*?</svg>", figure, re.DOTALL)[0],
            json.loads(re.findall(r"<script[^>]*>(.*?)</script>", figure)[0]),
        )
        for figure in figures
    ]


def test_the_step_and_its_parts_are_drawn_over_the_same_nights(ranked: Path) -> None:
    html = (ranked / "models" / "net.html").read_text()
    (title, drawing, data), *parts = figures_of(html)
    (rank,) = re.findall(r"^step, rank (\d), the last 24 nights$", title)
    span = r"between \S+ ms and \S+ ms"
    assert re.findall(span, drawing) == re.findall(span, (ranked / "index.html").read_text())[:1]  # as its card
    assert [title for title, _, _ in parts] == ["Computing (ms)", "Non-overlapped communication (ms)", "Free (ms)"]
    newest = max((ranked / "runs").glob("2026*.json"))
    (steps,) = (step for step in json.loads(newest.read_text())["steps"] if step["rank_id"] == int(rank))
    for (_, _, part), name in zip(parts, ("computing_ms", "communication_ms", "free_ms"), strict=True):
        assert part["span"] == data["span"]
        assert part["days"] == data["days"]
        assert len(part["values"]) == 24
        assert part["values"][-1] == pytest.approx(steps[name], rel=1e-6)
    first = data["span"][0]
    assert data["days"] == [[first, 9], [first + 11, 15]]
    assert drawing.count('class="gap"') == 1
    assert "Dates without a run: 2." in drawing
    assert "dates without a run</span>" in html
    legend = html[html.index('<p class="legend"') :]
    assert "level shift</span>" in legend
    assert "numbered: an incident began</span>" in legend
    assert "new version</span>" not in legend  # no run says its version


def test_a_part_that_is_no_number_or_always_zero_has_no_chart(cli: Cli, tmp_path: Path) -> None:
    for number in range(6):
        write_night(tmp_path / "net" / str(number), number, Night((Kernel("op", "Add", 100.0),)))
    lines = cli("ingest", tmp_path / "net", "--dry-run", "--workload", "net").out.splitlines()
    records = [json.loads(line) for line in lines]
    for record in records:
        if "computing_ms_mean" in record["metrics"]:
            record["metrics"] |= {"computing_ms_mean": "1.5 ms", "communication_not_overlapped_ms_mean": 0}
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    assert cli("ingest", tmp_path / "r.jsonl", "--store", tmp_path / "store").code == 0
    build_site(str(tmp_path / "store"), tmp_path / "site")
    titles = [title for title, _, _ in figures_of((tmp_path / "site" / "models" / "net.html").read_text())]
    assert titles == ["step, rank 0, the last 6 nights", "Free (ms)"]


def test_operators_are_ordered_by_what_they_add_to_the_step_once_for_all_ranks(ranked: Path) -> None:
    html = (ranked / "models" / "net.html").read_text()
    section = html[html.index('id="h-operators"') : html.index('id="h-incidents"')]
    rows = [" ".join(unescape(re.sub(r"<[^>]+>", " ", row)).split()) for row in section.split("<tr>")[2:]]
    assert [row.split()[0] for row in rows] == ["quicker", "slower", "small"]
    quicker, slower, _ = rows
    assert re.match(r"quicker MatMulV2 · 8,7;7,8 · 6 ranks, most on rank \d -\d\d\.\d+ -[\d.]+%", quicker)
    assert quicker.endswith("2026-03-19 improved")
    assert slower.endswith("2026-03-19 slower")
    numbers = re.match(r"slower .* rank \d \+([\d.]+) \S+ ([\d.]+) → ([\d.]+) ", slower)
    assert numbers is not None
    effect_us, before_ms, after_ms = map(float, numbers.groups())
    assert effect_us == pytest.approx(1000 * (after_ms - before_ms), rel=0.01)  # a call a step
    assert (section.count('class="quicker-word"'), section.count('class="slower-word"')) == (3, 3)
    assert section.count('class="minor"') == 3
    assert '<span class="state minor">slower</span>' in section
    operators = json.loads((ranked / "models" / "net.json").read_text())["operators"]
    assert [(one["op_name"], one["ranks"]) for one in operators] == [("quicker", 6), ("slower", 6), ("small", 6)]


def test_incidents_are_numbered_in_the_chart_and_listed_below(ranked: Path) -> None:
    html = (ranked / "models" / "net.html").read_text()
    _, drawing, data = figures_of(html)[0]
    listed = re.findall(r'<li value="(\d)"><a href="([^"]+)">([\d-]+)</a>: ([^<]+)</li>', html)
    assert [int(number) for number, *_ in listed] == list(range(1, len(listed) + 1))
    assert {night for _, _, night, _ in listed} == {"2026-03-19"}
    assert [label for _, label in data["incidents"]] == [number for number, *_ in listed]
    assert all(f">{number}</text>" in drawing for number, *_ in listed)
    assert all((ranked / "models" / href).resolve().is_file() for _, href, *_ in listed)


def test_of_many_ranks_three_are_shown_and_all_are_folded(ranked: Path) -> None:
    html = (ranked / "models" / "net.html").read_text()
    steps = html[html.index('id="h-steps"') : html.index('id="h-runs"')]
    shown, folded = steps.split("<details>")
    assert re.findall(r"step, rank (\d)</a>", shown) == ["5", "2", "0"]
    assert "<summary>All 6 ranks</summary>" in folded
    assert re.findall(r"step, rank (\d)</a>", folded) == ["5", "4", "3", "2", "1", "0"]
    assert "<details><summary>The newest 24 of 24 runs</summary>" in html[html.index('id="h-runs"') :]
