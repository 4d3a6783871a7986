"""The site in a real browser: readable by everybody, with the keyboard alone, without scripts, and asking for nothing."""

from __future__ import annotations

import io
import json
import re
import shutil
import unicodedata
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from captures import Kernel, Night, write_night
from chromium import Tab
from dashboards import HOSTILE
from stores import store_at_once

from aoe_reports.present.values import plain, show
from aoe_reports.site.build import build_site
from aoe_reports.site.listed import ListColumn, Listed
from aoe_reports.site.render import render_page
from aoe_reports.site.texts import Texts
from aoe_reports.topics.records.options import RecordOptions

pytestmark = pytest.mark.browser

WIDTHS = (390, 1280, 1920)
SECTION = re.compile(r'aria-labelledby="(h-[\w-]+)"|<figure|<svg class="(\w+)|<details')


def kinds_of_pages(site: Path) -> list[Path]:
    """Of each folder its index, and so many others that every kind of section of the folder's pages is on one of them."""
    found = []
    for folder in sorted({path.parent for path in site.rglob("*.html")}):
        names = sorted(folder.glob("*.html"))
        found += [path for path in names if path.name == "index.html"]
        parts = {
            path: {match.group() for match in SECTION.finditer(path.read_text())} for path in names if path not in found
        }
        left = set().union(*parts.values()) if parts else set()
        while parts:
            best = max(parts, key=lambda path: (len(parts[path] & left), path.stat().st_size, path.name))
            if best in found or (left and not parts[best] & left):
                break
            found.append(best)
            left -= parts[best]
            if not left:
                break
    return found


def requests_of(tab: Tab) -> list[str]:
    """What a page asked for; the pictures of the browser's own fields are in the browser."""
    return [asked for asked in tab.requests if not asked.startswith("data:")]


def address_of(path: Path) -> str:
    return path.as_uri()


def test_every_kind_of_page_is_among_those_that_are_looked_at(sites: Path) -> None:
    site = sites / "plain"
    chosen = kinds_of_pages(site)
    twins = {json.loads(path.with_suffix(".json").read_text())["page"] for path in site.rglob("*.html")}
    assert {json.loads(path.with_suffix(".json").read_text())["page"] for path in chosen} == twins
    assert {"index.html", "series/index.html", "runs/index.html"} <= {str(path.relative_to(site)) for path in chosen}
    said = "".join(path.read_text() for path in chosen)
    for section in (
        "h-attribution",
        "h-tunings",
        "h-claims",
        "h-findings",
        "h-steps",
        'class="bars"',
        "h-waterfall",
        "h-metadata",
        "h-memory",
    ):
        assert section in said


@pytest.mark.parametrize("name", ["plain", "chinese", "hostile"])
def test_axe_finds_nothing_and_nothing_sticks_out(tab: Tab, axe: str, sites: Path, name: str) -> None:
    site = sites / name
    pages = kinds_of_pages(site)
    if name == "chinese":
        pages = [
            site / "index.html",
            next(page for page in pages if page.parent.name == "series" and page.stem != "index"),
        ]
    for page in pages:
        tab.go(address_of(page))
        tab.run(f"(() => {{ {axe} }})()")
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                tab.look(width, 900, scheme)
                told = tab.run(
                    "axe.run({resultTypes: ['violations'], preload: false}).then((told) => ({"
                    " passes: told.passes.map((rule) => rule.id),"
                    " violations: told.violations.map((rule) => [rule.id, rule.nodes.map((node) => node.html)])}))"
                )
                seen = (str(page), width, scheme)
                assert told["violations"] == [], seen
                assert {"color-contrast", "html-has-lang", "landmark-one-main", "region"} <= set(told["passes"]), seen
                assert tab.run("document.documentElement.scrollWidth") <= width, seen
                stacked = (
                    "[...document.querySelectorAll('.wide:has(.stacks)')].every((e) => e.scrollWidth <= e.clientWidth)"
                )
                assert tab.run(stacked) or width > min(WIDTHS), seen
                cut = "[...document.querySelectorAll('main *')].filter((e) => !e.closest('.wide, pre') &&"
                cut += " e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 200))"
                assert tab.run(cut) == [], seen
        assert tab.run("document.documentElement.lang") == ("zh-Hans" if name == "chinese" else "en")
        assert tab.complaints == []


FOCUSED = """(() => {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  const style = getComputedStyle(at), box = at.getBoundingClientRect();
  const seen = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  const marked = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
  return [window.reachable.indexOf(at), seen && marked, at.tagName, at.outerHTML.slice(0, 120)];
})()"""
REACHABLE = """(() => {
  const all = document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']");
  window.reachable = [...all].filter((one) => one.checkVisibility());
  return window.reachable.length;
})()"""


def test_the_keyboard_reaches_everything(tab: Tab, sites: Path) -> None:
    for page in kinds_of_pages(sites / "plain"):
        tab.go(address_of(page))
        count = tab.run(REACHABLE)
        assert count > 5
        reached: set[int] = set()
        opened = False
        for _ in range(3 * count + 20):  # a field of a date takes a press for each of its parts
            tab.press("Tab")
            at = tab.run(FOCUSED)
            if at is None:
                break
            if not at[1]:  # it is scrolled there with the next frame
                tab.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
                at = tab.run(FOCUSED)
            assert at[1], (page, at)
            reached.add(at[0])
            if at[2] == "SUMMARY" and not opened:
                opened = True
                tab.press("Enter")
                tab.wait_for("document.activeElement.parentElement.open")
                more = tab.run(REACHABLE)
                assert more >= count
                reached, count = set(range(tab.run("window.reachable.indexOf(document.activeElement)") + 1)), more
        assert reached == set(range(count)), page
    tab.go(address_of(sites / "plain" / "index.html"))
    tab.press("Tab")
    tab.press("Enter")  # the link that skips what is on every page
    assert tab.run("location.hash") == "#main"
    tab.press("Tab")
    assert tab.run("Boolean(document.activeElement.closest('main'))")


SAID = {
    "overview": {
        "rows.workload": "text", "rows.since": "text", "rows.change": "change", "rows.before": "ms", "rows.after": "ms",
        "budget.eligible": "integer", "budget.series": "integer", "newest_night": "text",
    },
    "all_series": {
        "rows.workload": "text", "rows.scope": "text", "rows.since": "text", "rows.change": "change",
        "rows.before": "time", "rows.after": "time", "rows.smallest_detectable": "percent", "rows.nights": "integer",
    },
    "series": {
        "row.workload": "text", "row.scope": "text", "row.op_type": "text", "row.op_name": "text", "row.hardware": "text",
        "row.since": "text", "row.before": "ms", "row.after": "ms", "row.smallest_detectable": "percent", "model": "text",
        "engine": "text", "changes.night": "text", "changes.last_night": "text", "changes.after": "ms",
        "changes.change": "change", "changes.ci_low": "change", "changes.ci_high": "change",
        "row.attribution.total_us": "us", "row.attribution.before_us": "us", "row.attribution.after_us": "us",
        "row.attribution.other_operators_us": "us", "row.attribution.unattributed_us": "us",
        "row.attribution.operators.op_name": "text", "row.attribution.operators.difference_us": "us",
        "row.attribution.operators.before_us": "us", "row.attribution.operators.after_us": "us",
        "metadata_differences.fact": "text", "metadata_differences.before": "text", "metadata_differences.after": "text",
    },
    "run": {
        "row.night": "text", "row.workload": "text", "row.status": "text", "types.op_type": "text", "types.task_type": "text",
        "types.count": "integer", "claims.workload": "text", "findings.message": "text", "findings.rule": "text",
        "changed.workload": "text",
    },
    "all_runs": {
        "rows.run": "text", "rows.night": "text", "rows.kind": "text", "rows.workload": "text", "rows.hardware": "text",
        "rows.status": "text",
    },
}  # fmt: skip
"""What a page of a kind prints of its twin, and as what."""
TITLES = {"steps.step_ms": "ms", "steps.computing_ms": "ms", "types.total_us": "us"}
"""Times of a run that are rounded on its page, and whole in the titles of their cells."""
SAID_ANYWHERE = ("workload", "run", "night", "since", "verdict", "message")
"""What pages of other kinds print of their rows."""


def reach(twin: Any, path: str) -> Iterator[Any]:
    """The values at a path of a twin, of all members of lists; what is null is not there."""
    if isinstance(twin, list):
        for one in twin:
            yield from reach(one, path)
    elif not path:
        if twin is not None:
            yield twin
    elif isinstance(twin, dict):
        name, _, rest = path.partition(".")
        yield from reach(twin.get(name), rest)


def words_of(text: str) -> str:
    return " ".join(text.split())


ALL_TEXT = "for (const one of document.querySelectorAll('details')) one.open = true; document.body.innerText"


def shown_of(page: Path) -> Any:
    """The twin of a page; of the list of series the first rows, since a script shows the others, those of memory by the model's name."""
    twin = json.loads(page.with_suffix(".json").read_text())
    if twin["page"] != "all_series":
        return twin
    sizes = {"before": None, "after": None}  # in units of their own
    rows = twin["rows"][: Listed.shown]
    return twin | {
        "rows": [
            row | sizes | {"workload": row["workload"].removesuffix("/memory")} if row["scope"] == "memory" else row
            for row in rows
        ]
    }


def test_without_scripts_every_fact_is_readable(tab: Tab, sites: Path) -> None:
    for page in kinds_of_pages(sites / "plain"):
        twin = shown_of(page)
        tab.scripts(True)
        tab.go(address_of(page))
        lines = {words_of(line) for line in tab.run(ALL_TEXT).splitlines()}
        offered = tab.run("[...document.querySelectorAll('option')].map((one) => one.innerText)")
        tab.scripts(False)
        tab.go(address_of(page))
        assert tab.run("document.querySelectorAll('input, canvas').length") == 0  # no script has run
        text = tab.run(ALL_TEXT)
        chosen_from = {words_of(line) for line in offered}  # only a script can compare; the runs are told in their list
        if page.name == "compare.html":  # the script shows the newest pair at once, as the page of its model does
            for row in twin["rows"]:
                tab.go(address_of(page.with_name(row["page"])))
                chosen_from |= {words_of(line) for line in tab.run(ALL_TEXT).splitlines()}
        more = lines - chosen_from - {words_of(line) for line in text.splitlines()}
        assert len(more) < 20, page  # labels, the hint, the night below the pointer
        paths = SAID.get(twin["page"], {f"rows.{name}": "text" for name in SAID_ANYWHERE})
        for path, kind in paths.items():
            for value in reach(twin, path):
                assert words_of(show(value, kind)) in words_of(text), (page, path, value)  # type: ignore[arg-type]
        if twin["page"] == "run" and page.stem != "index":
            titles = set(tab.run("[...document.querySelectorAll('td[title]')].map((cell) => cell.title)"))
            for path, unit in TITLES.items():
                shown = list(reach(twin, path))[:20]
                steps = {step["steps"] for step in twin["steps"] if path.startswith("types.")} or {1}
                assert {f"{value / number:,.10g} {unit}" for value in shown for number in steps} <= titles, (page, path)
        if twin["page"] == "series":
            for night, value in list(zip(twin["nights"], twin["values_ms"], strict=True))[-14:]:
                assert f"{night} {show(value, 'time')}" in words_of(text), (page, night)
            assert tab.run("[...document.querySelectorAll('svg.chart')].every((one) => one.checkVisibility())")


def step_of(site: Path) -> dict[str, Any]:
    """The twin of the page of the step that got slower."""
    return dict(
        json.loads(
            (
                site / "series" / (json.loads((site / "index.json").read_text())["rows"][0]["series_id"] + ".json")
            ).read_text()
        )
    )


SHOWN = "[...document.querySelectorAll('.range input')].map((field) => field.value)"


@pytest.mark.parametrize("way", ["file", "serve"])
def test_a_link_to_nights_of_a_series_leads_there(
    tab: Tab, sites: Path, way: str, request: pytest.FixtureRequest
) -> None:
    root = request.getfixturevalue("served") if way == "serve" else (sites / "plain").as_uri() + "/"
    step = step_of(sites / "plain")["row"]["series_id"]
    for start in ("index.html", "series/index.html", "runs/index.html", "tuning.html", "compare.html"):
        tab.go(f"{root}{start}#series={step}&from=2026-02-01&to=2026-02-10", leads_on=True)
        tab.wait_for(f"location.pathname.endsWith('series/{step}.html') && document.querySelector('canvas')")
        assert tab.run(SHOWN) == ["2026-02-01", "2026-02-10"]
    for strange in ("from=2026-02-10&to=2026-02-01", "from=%&to=%E0%A4%A", "from=2026-99-99", "to=1e999"):
        tab.go(f"{root}series/{step}.html#{strange}")
        tab.wait_for("document.querySelector('canvas')")
        assert tab.run(SHOWN) == ["2026-01-01", "2026-02-14"], strange
        assert tab.complaints == []
    tab.go(f"{root}index.html#series=../../x&from=1")
    assert tab.run("location.pathname").endswith("index.html")


@pytest.mark.parametrize("way", ["file", "serve"])
def test_nothing_is_asked_for_but_the_sites_own_files(
    tab: Tab, sites: Path, way: str, request: pytest.FixtureRequest
) -> None:
    site = sites / "plain"
    root = request.getfixturevalue("served") if way == "serve" else site.as_uri() + "/"
    for page in kinds_of_pages(site):
        tab.go(root + str(page.relative_to(site)), idle=way == "serve")
        assert len(tab.requests) >= 3  # itself, its style, its script
        for asked in requests_of(tab):
            assert asked.startswith(root), (page, asked)
            assert (site / unquote(urlsplit(asked[len(root) :]).path)).is_file(), (page, asked)
        assert tab.complaints == []
        for link in tab.run("[...document.querySelectorAll('a[href]')].map((link) => link.href)"):
            target = urlsplit(link)
            assert link.startswith(root), (page, link)
            assert (site / unquote(target._replace(fragment="", query="").geturl()[len(root) :])).is_file(), (
                page,
                link,
            )
            if target.fragment and link.split("#")[0] == tab.run("location.href").split("#")[0]:
                assert tab.run(f"Boolean(document.getElementById({json.dumps(target.fragment)}))"), (page, link)


def test_what_would_leave_the_page_is_forbidden_and_would_be_noticed(tab: Tab, sites: Path) -> None:
    tab.go(address_of(sites / "plain" / "index.html"))
    outside = "http://example.invalid/x.png"
    tab.run(
        f"new Promise((done) => {{ const one = new Image(); one.onerror = done; one.src = '{outside}'; document.body.append(one); }})"
    )
    tab.run("fetch('index.json').catch(() => null)")
    assert any("Content Security Policy" in one for one in tab.complaints)
    assert outside not in [asked for asked in tab.requests if asked in tab.complaints]
    script = (
        "const one = document.createElement('script'); one.textContent = 'window.broken = 1'; document.body.append(one)"
    )
    tab.run(script)
    assert tab.run("window.broken") is None


def test_a_chart_is_zoomed_and_read_with_mouse_and_keyboard(tab: Tab, sites: Path) -> None:
    twin = step_of(sites / "plain")
    page = sites / "plain" / "series" / f"{twin['row']['series_id']}.html"
    tab.go(address_of(page))
    over = tab.run(
        "(() => { const box = document.querySelector('.u-over').getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; })()"
    )
    left, top, width, height = over
    middle = top + height / 2
    tab.mouse("mouseMoved", left + width - 2, middle)
    tab.wait_for("document.querySelector('.u-legend').innerText.includes('2026-02-14')")
    assert show(twin["values_ms"][-1], "ms") in tab.run("document.querySelector('.u-legend').innerText")
    tab.mouse("mousePressed", left + width / 2, middle, button="left", buttons=1, clickCount=1)
    tab.mouse("mouseMoved", left + 3 * width / 4, middle, button="left", buttons=1)
    tab.mouse("mouseReleased", left + 3 * width / 4, middle, button="left", clickCount=1)
    tab.wait_for("location.hash.includes('from=')")
    shown = tab.run("location.hash").removeprefix(f"#series={twin['row']['series_id']}&").split("&")
    first, last = (date.fromisoformat(part.partition("=")[2]) for part in shown)
    assert abs((first - date(2026, 1, 23)).days) <= 1  # half of 45 nights
    assert abs((last - date(2026, 2, 3)).days) <= 1  # three quarters
    tab.wait_for(f"JSON.stringify({SHOWN}) === '{json.dumps([f'{first}', f'{last}'], separators=(',', ':'))}'")
    for count in (1, 2):
        tab.mouse("mousePressed", left + width / 2, middle, button="left", buttons=1, clickCount=count)
        tab.mouse("mouseReleased", left + width / 2, middle, button="left", clickCount=count)
    tab.wait_for(f'JSON.stringify({SHOWN}) === \'["2026-01-01","2026-02-14"]\'')
    # the same with keys: along the nights, then other ends of the window, then all of it
    tab.mouse("mouseMoved", 1, 1)
    tab.run("document.querySelector('figure.history .wide').focus()")
    for key, night in (
        ("Home", "2026-01-01"),
        ("ArrowRight", "2026-01-02"),
        ("End", "2026-02-14"),
        ("ArrowLeft", "2026-02-13"),
    ):
        tab.press(key)
        tab.wait_for(f"document.querySelector('.u-legend').innerText.includes('{night}')")
        value = twin["values_ms"][twin["nights"].index(night)]
        assert show(value, "ms") in tab.run("document.querySelector('.u-legend').innerText")
    tab.run("document.querySelector('.range input').focus()")
    for digit in "02052026":
        tab.call("Input.dispatchKeyEvent", type="char", text=digit)
    tab.wait_for("location.hash.includes('from=2026-02-05&to=2026-02-14')")
    tab.run("document.querySelector('.range button').focus()")
    tab.press("Enter")
    tab.wait_for("location.hash.includes('from=2026-01-01&to=2026-02-14')")
    assert tab.complaints == []


@pytest.fixture(scope="module")
def long_list(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The list of series of 100 operators of net, 20 of bert, one of them on rank 1; net's op_7 and op_20 got slower."""
    folder = tmp_path_factory.mktemp("long")
    for night in range(16):
        slower = {"op_7": 1.5, "op_20": 1.2} if night >= 9 else {}
        kernels = [
            Kernel(f"op_{number}", "Add", (30 + number) * slower.get(f"op_{number}", 1.0)) for number in range(100)
        ]
        write_night(folder / "net" / str(night), night, Night(tuple(kernels)))
        write_night(folder / "bert" / str(night), night, Night(tuple(kernels[:20])), hours=1)
        write_night(folder / "bert" / f"{night}_1", night, Night(tuple(kernels[:1])), hours=1, rank=1)
    store = folder / "store"
    store_at_once([folder / "net", folder / "bert"], store, RecordOptions(workload_from="folder"))
    build_site(str(store), folder / "site", false_alarms_per_year=12.0, language="en")
    return folder / "site" / "series" / "index.html"


LISTED = "[...document.querySelectorAll('.listed tbody tr')].map((row) => row.cells[0].firstChild.textContent)"
COUNTED = "document.querySelector('.pager output').textContent"


def sort_by(tab: Tab, title: str) -> str | None:
    """Press the head of a column with the keyboard; how the column is sorted then."""
    button = f"[...document.querySelectorAll('thead button')].find((one) => one.textContent.startsWith('{title}'))"
    before = tab.run("location.hash")
    tab.run(f"{button}.focus()")
    tab.press("Enter")
    tab.wait_for(f"location.hash !== '{before}'")
    tab.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    sorted_as: str | None = tab.run(f"{button}.parentElement.getAttribute('aria-sort')")
    return sorted_as


def test_a_list_is_sorted_by_each_column_and_turned_in_pages_with_the_keyboard(tab: Tab, long_list: Path) -> None:
    tab.go(address_of(long_list))
    assert tab.run(COUNTED) == "1 to 100 of 127"
    assert len(tab.run(LISTED)) == 100
    assert tab.run(LISTED)[:2] == ["bert/op/op_7", "bert/step"]
    assert tab.run("document.querySelectorAll('[aria-sort]').length") == 0
    assert sort_by(tab, "After") == "descending"
    assert tab.run(LISTED)[:4] == ["net/step", "bert/step", "bert/step", "net/op/op_99"]
    assert sort_by(tab, "After") == "ascending"
    assert tab.run(LISTED)[:4] == ["bert/op_type/Add", "bert/op/op_0", "bert/op/op_0", "net/op/op_0"]
    assert sort_by(tab, "Change") == "descending"
    assert tab.run(LISTED)[:2] == ["bert/op/op_7", "net/op/op_7"]
    assert sort_by(tab, "Change") == "ascending"
    assert tab.run(LISTED)[:2] == ["bert/step", "bert/op_type/Add"]  # what did not change comes last, both ways
    assert sort_by(tab, "Change") is None
    tab.run("[...document.querySelectorAll('.pager button')].at(-1).focus()")
    tab.press("Enter")
    tab.wait_for(f"{COUNTED} === '101 to 127 of 127'")
    assert tab.run("location.hash") == "#page=2"
    assert tab.run("document.activeElement.textContent") == "Next"
    tab.press("Enter")
    assert tab.run(COUNTED) == "101 to 127 of 127"
    assert tab.complaints == []


def test_the_address_says_how_a_list_is_searched_and_filtered(tab: Tab, long_list: Path) -> None:
    tab.go(address_of(long_list))
    tab.run("document.querySelector('input[type=search]').focus()")
    tab.call("Input.insertText", text="OP_1 op/")
    tab.wait_for(f"{COUNTED} === '1 to 22 of 22'")
    tab.run("[...document.querySelectorAll('.filters select')][0].focus()")
    tab.press("ArrowDown")  # bert
    tab.wait_for(f"{COUNTED} === '1 to 11 of 11'")
    assert tab.run("location.hash") == "#q=OP_1+op%2F&model=bert"
    tab.go(f"{address_of(long_list)}#model=bert&rank=1&scope=op")
    assert tab.run(LISTED) == ["bert/op/op_0"]
    assert tab.run("[...document.querySelectorAll('.filters select')].map((one) => one.value)") == [
        "bert",
        "op",
        "",
        "1",
    ]
    tab.go(f"{address_of(long_list)}#state=confirmed&sort=item&q=net")
    assert tab.run(LISTED) == ["net/op/op_20", "net/op/op_7"]
    for asked in ("q=nothing-like-it&model=%00&sort=__proto__&page=-3", "model=only-tuned", "hardware=x&scope=none"):
        tab.go(f"{address_of(long_list)}#{asked}")
        assert (tab.run(COUNTED), tab.run(LISTED)) == ("No row matches.", []), asked
    tab.go(f"{address_of(long_list)}#model=only-tuned")
    tab.run("document.querySelector('.filters select').focus()")
    tab.press("ArrowDown")
    tab.wait_for(f"{COUNTED} === '1 to 100 of 127'")
    assert tab.complaints == []


def test_what_the_script_lists_is_what_the_page_had(tab: Tab, long_list: Path, sites: Path) -> None:
    for page in (
        long_list,
        *(sites / name / part / "index.html" for name in ("chinese", "hostile") for part in ("series", "runs")),
    ):
        bodies = []
        for allowed in (False, True):
            tab.scripts(allowed)
            tab.go(address_of(page))
            bodies.append(tab.run("document.querySelector('tbody').innerHTML.replace(/>\\s+</g, '><').trim()"))
            notes = tab.run("[...document.querySelectorAll('noscript p')].map((one) => one.innerText)")
            if not allowed:
                assert ("The first 100 of 127 rows." in "".join(notes)) == (page == long_list)
        assert bodies[0] == bodies[1], page


def test_numbers_are_sorted_by_their_values_those_of_each_unit_by_themselves(
    tab: Tab, long_list: Path, tmp_path: Path
) -> None:
    """Times first, both ways; what is written with an exponent, or has a number in its unit, is sorted by its value."""
    rows = [
        ("time 2", 2.0, ""),
        ("fast", 1.23457e7, "tokens/s"),
        ("per", 12.0, "1/s"),
        ("none", None, ""),
        ("time 1", 1.0, ""),
        ("slow", 900.0, "tokens/s"),
    ]
    names, keys, units = zip(*rows, strict=True)
    texts = ["" if key is None else f"{key:,.6g} {unit}" for _, key, unit in rows]
    listed = Listed(
        [ListColumn("item", "Item", names, "head"), ListColumn("after", "After", texts, "number", keys, units)], [], ""
    )
    site = tmp_path / "site"
    shutil.copytree(long_list.parents[1] / "assets", site / "assets")
    page = site / "series" / "index.html"
    page.parent.mkdir()
    frame = {"root": "../", "page": "series", "links": "", "twin": "index.json", "made_from": "", "report": ""}
    page.write_bytes(render_page("list", Texts("en"), {"title": "All", "listed": listed, **frame}))
    (page.parent / Listed.file).write_bytes(listed.script)
    tab.go(address_of(page))
    for sort, order in (
        ("-after", ["time 2", "time 1", "per", "fast", "slow", "none"]),
        ("after", ["time 1", "time 2", "per", "slow", "fast", "none"]),
    ):
        tab.go(f"{address_of(page)}#sort={sort}")
        assert tab.run(LISTED) == order
    assert tab.complaints == []


@pytest.fixture(scope="module")
def model_of_parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a model with 20 nights of its step and its parts; the tenth night is missing."""
    folder = tmp_path_factory.mktemp("parts")
    for night in (night for night in range(20) if night != 9):
        write_night(folder / "net" / str(night), night, Night((Kernel("op", "Add", 100.0),)))
    store_at_once([folder / "net"], folder / "store", RecordOptions(workload="net"))
    build_site(str(folder / "store"), folder / "site", false_alarms_per_year=12.0, language="en")
    return folder / "site" / "models" / "net.html"


NIGHTS_BELOW = (
    "[...document.querySelectorAll('.u-legend')].map((one) => one.innerText.match(/\\d{4}-\\d\\d-\\d\\d/)?.[0])"
)


def test_all_charts_of_a_model_are_zoomed_and_read_together(tab: Tab, model_of_parts: Path) -> None:
    tab.go(f"{address_of(model_of_parts)}#from=2026-03-02&to=2026-03-12")
    tab.wait_for("document.querySelectorAll('canvas').length === 4")
    assert tab.run(SHOWN) == ["2026-03-02", "2026-03-12"]
    tab.run("document.querySelector('figure.small .wide').focus()")
    for key, night in (
        ("Home", "2026-03-02"),
        *(("ArrowRight", f"2026-03-{day:02}") for day in (3, 4, 5, 6, 7, 8, 9, 11)),  # none on the tenth
        ("End", "2026-03-12"),
    ):
        tab.press(key)
        tab.wait_for(f"JSON.stringify({NIGHTS_BELOW}) === JSON.stringify(Array(4).fill('{night}'))")
    left, top, width, height = tab.run(
        "(() => { const box = document.querySelectorAll('.u-over')[2].getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; })()"
    )
    middle = top + height / 2
    tab.mouse("mouseMoved", left + 0.55 * width, middle)
    tab.wait_for(f"new Set({NIGHTS_BELOW}).size === 1")  # the pointer shows the same night in all charts
    tab.mouse("mousePressed", left + 0.55 * width, middle, button="left", buttons=1, clickCount=1)
    tab.mouse("mouseMoved", left + width - 1, middle, button="left", buttons=1)
    tab.mouse("mouseReleased", left + width - 1, middle, button="left", clickCount=1)
    tab.wait_for("location.hash === '#from=2026-03-07&to=2026-03-11'")
    tab.wait_for(
        f'JSON.stringify({SHOWN}) === \'["2026-03-07","2026-03-11"]\''
    )  # drawn once the page has heard of its address
    tab.run("document.querySelector('.range button').focus()")
    tab.press("Enter")
    tab.wait_for("location.hash === '#from=2026-03-01&to=2026-03-20'")
    assert tab.complaints == []


def test_hostile_names_are_shown_as_text(tab: Tab, sites: Path) -> None:
    site = sites / "hostile"
    shown = ""
    for page in [site / "index.html", *sorted(site.glob("series/*.html"))]:
        tab.go(address_of(page), idle=page.name == "index.html")
        assert tab.complaints == [], page
        assert all(asked.startswith(site.as_uri()) for asked in requests_of(tab))
        assert tab.run("document.querySelectorAll('main script:not([type]), main [onerror], main td td').length") == 0
        assert tab.run("document.title.length") > 5
        for width in WIDTHS[:2]:
            tab.look(width)
            assert tab.run("document.documentElement.scrollWidth") <= width, (page, width)
        if page.stem != "index":
            shown += tab.run("document.querySelector('h1').innerText") + "\n"
    for name in HOSTILE:
        assert plain(name) in shown


def test_the_first_page_is_printed_whole(tab: Tab, sites: Path) -> None:
    from pypdf import PdfReader

    for page in (
        sites / "plain" / "index.html",
        sites / "plain" / "series" / f"{step_of(sites / 'plain')['row']['series_id']}.html",
    ):
        tab.go(address_of(page))
        tab.look(794, 1100, media="print")  # A4 in CSS pixels
        assert tab.run("document.documentElement.scrollWidth") <= 794
        wanted = tab.run(
            "[...document.querySelectorAll('main :is(h1, h2, p:not(.legend), dl, thead, tbody)')].filter((one) => !one.closest('.uplot')).map((one) => one.innerText).join(' ')"
        )
        tab.look()
        reader = PdfReader(io.BytesIO(tab.print()))
        said = unicodedata.normalize("NFKC", "".join(sheet.extract_text() for sheet in reader.pages))  # ligatures
        printed = "".join(said.split())
        missing = [word for word in unicodedata.normalize("NFKC", wanted).split() if word not in printed]
        assert missing == [], page
        assert len(printed) > 800
        if page.name != "index.html":
            tab.wait_for("document.querySelector('canvas')")  # back on the screen it can be zoomed again


def test_pictures_differ_in_light_and_dark_and_are_not_blank(tab: Tab, sites: Path) -> None:
    tab.go(address_of(sites / "plain" / "index.html"))
    seen = []
    for scheme in ("light", "dark"):
        tab.look(390, 900, scheme)
        seen.append(tab.screenshot())
        assert (
            tab.run("getComputedStyle(document.body).backgroundColor")
            == {"light": "rgb(251, 251, 250)", "dark": "rgb(20, 23, 27)"}[scheme]
        )
    assert seen[0] != seen[1]
    assert all(len(picture) > 20_000 for picture in seen)  # one colour alone is a few hundred bytes


def drawn_lanes(tab: Tab) -> list[int]:
    """How many rectangles each lane of the step has."""
    found: list[int] = tab.run(
        "[...document.querySelectorAll('g.lane')].map((one) => one.querySelectorAll('rect').length)"
    )
    return found


def page_with_step(sites: Path) -> Path:
    """The page of the run whose step has a third stream."""
    pages = [path for path in (sites / "plain" / "runs").glob("*.html") if 'id="h-step"' in path.read_text()]
    (page,) = [path for path in pages if "Stream 3" in path.read_text()]
    return page


STATE = "document.querySelector('.range output').textContent"
FRAME = "document.querySelector('svg.timeline').closest('.wide')"


def test_the_timeline_of_a_step_zooms_and_moves_by_buttons_keys_and_mouse(tab: Tab, sites: Path) -> None:
    page = page_with_step(sites)
    tab.go(address_of(page))
    told = json.loads(page.with_suffix(".json").read_bytes())["picture"]
    whole, markup = drawn_lanes(tab), tab.run("document.querySelector('svg.timeline').innerHTML")
    assert tab.run(STATE) == "0.000 – 1,600.000 us"
    stream = next(place for place, lane in enumerate(told["lanes"]) if lane["name"] == "Stream 3")
    assert whole[stream] == 400
    tab.run(f"{FRAME}.focus()")
    for key in ("+", "+"):
        tab.run(f"{FRAME}.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', cancelable: true}}))")
    assert tab.run(STATE) == "600.000 – 1,000.000 us"
    assert drawn_lanes(tab)[stream] == 100  # 600 to 798 us, one every 2
    first = tab.run(f"document.querySelectorAll('g.lane')[{stream}].querySelector('rect').outerHTML")
    assert "<title>matmul, +600.000 us, 1.000 us</title>" in first
    assert 'width="2.00"' in first
    tab.press("ArrowLeft")
    assert tab.run(STATE) == "560.000 – 960.000 us"
    box = tab.run(
        "(() => { const b = document.querySelector('svg.timeline').getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()"
    )
    x, y = box[0] + box[2] * 0.6, box[1] + box[3] / 2
    if y > 800:
        tab.run("document.querySelector('svg.timeline').scrollIntoView({block: 'center'})")
        box = tab.run(
            "(() => { const b = document.querySelector('svg.timeline').getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()"
        )
        x, y = box[0] + box[2] * 0.6, box[1] + box[3] / 2
    tab.mouse("mousePressed", x, y, button="left", clickCount=1)
    tab.mouse("mouseMoved", x + 100, y, button="left")
    tab.mouse("mouseReleased", x + 100, y, button="left", clickCount=1)
    dragged = tab.run(STATE)
    assert float(dragged.split(" ")[0].replace(",", "")) < 560
    tab.run("[...document.querySelectorAll('.range button')].at(-1).click()")
    assert tab.run(STATE) == "0.000 – 1,600.000 us"
    assert tab.run("document.querySelector('svg.timeline').innerHTML") == markup
    assert tab.complaints == []


def test_the_timeline_of_a_step_is_there_without_scripts(tab: Tab, sites: Path) -> None:
    page = page_with_step(sites)
    tab.scripts(allowed=False)
    tab.go(address_of(page))
    assert sum(drawn_lanes(tab)) > 400
    assert tab.run("document.querySelectorAll('.range button').length") == 0
