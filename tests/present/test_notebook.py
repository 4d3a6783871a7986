"""What notebooks show of an answer: short, and nothing of it is markup of somebody else's."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from commandline import ROOT
from made_traces import planted

from aoe_reports import breakdown, hotspots
from aoe_reports.engine.question import Answer
from aoe_reports.model.findings import Finding
from aoe_reports.model.rows import Rows
from aoe_reports.present.notebook import MAX_CHARACTERS, MAX_ROWS
from aoe_reports.topics.device_time.hotspots import Hotspot

CAPTURE = ROOT / "fixtures" / "msprof" / "valid" / "torch_npu_two_ranks"


def shown(answer: Answer) -> str:
    return answer._repr_html_()


def made(count: int, **more: Any) -> Answer:
    values: dict[str, Any] = dict.fromkeys(Hotspot.__annotations__) | {
        "run": "r", "op_type": "MatMul", "count": 1, "total_ns": 1500, "mean_ns": 1500.0
    }  # fmt: skip
    rows = [Hotspot(**values | {"position": place + 1} | more) for place in range(count)]
    return Answer(
        command="hotspots", title="Hotspots", inputs=("r",), findings=(), tables=(Rows(type=Hotspot, rows=rows),)
    )


def test_the_first_rows_and_how_many_there_are() -> None:
    html = shown(made(20))
    assert html.count("<tr>") == 1 + MAX_ROWS
    assert "rows 20 · findings: none" in html
    assert '<td class="number">1.500</td>' in html
    assert "Total (us)" in html


def test_all_tables_together_have_no_more_rows(tmp_path: Path) -> None:
    answer = breakdown(planted().write(tmp_path))
    html = shown(answer)
    assert answer.lengths() == "rows 3, gaps 4"
    assert (html.count("<thead>"), html.count("<tr>")) == (2, 2 + 3 + 4)
    twice = shown(replace(answer, tables=(answer.tables[0], answer.tables[0], *answer.tables[1:])))
    assert twice.count("<tr>") - twice.count("<thead>") == MAX_ROWS


def test_findings_are_counted_and_what_could_not_be_read_is_said() -> None:
    findings = [Finding("warning", "a", "p", "m"), Finding("warning", "b", "p", "m"), Finding("info", "c", "p", "m")]
    assert "findings: 2 warnings, 1 info" in shown(replace(made(1), findings=findings))
    assert "not all could be read" in shown(replace(made(1), unreadable=True))
    assert "not all could be read" not in shown(made(1))


def test_the_first_errors_are_told_and_a_long_cell_is_shortened() -> None:
    findings = [Finding("error", f"rule-{number}", "p<", "m") for number in range(5)]
    html = shown(replace(made(1, input_shapes="1," * 500), findings=findings))
    assert re.findall(r"<p>(p.*?)</p>", html) == [f"p&lt;: error: m [rule-{number}]" for number in range(3)]
    assert max(map(len, re.findall(r"<td[^>]*>(.*?)</td>", html))) == MAX_CHARACTERS


def test_names_from_files_are_no_markup_and_nothing_is_fetched() -> None:
    html = shown(replace(made(1, op_type='<img src=x onerror="alert(1)">'), headline="<script>&"))
    assert "&lt;img src=x onerror=&#34;alert(1)&#34;&gt;" in html
    assert set(re.findall(r"<([a-z]+)", html)) == {
        "div", "style", "p", "strong", "table", "thead", "tr", "th", "tbody", "td"
    }  # fmt: skip
    assert not re.search(r"url\(|@import|https?:|src=['\"]|href=", html.replace("&#34;", '"'))


def test_no_colour_is_set_so_that_dark_and_light_pages_are_readable() -> None:
    style = re.findall(r"<style>(.*?)</style>", shown(hotspots([CAPTURE])), re.DOTALL)[0]
    assert set(re.findall(r"(?<![a-z-])(?:color|background): *([^;]+);", style)) == {"inherit", "none"}
