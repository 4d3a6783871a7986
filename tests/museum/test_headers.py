"""Every header there ever was is read to the last cell: the same value in whole nanoseconds, bytes, parts of 1."""

from __future__ import annotations

import os
import random
import re
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
from commandline import ROOT
from hypothesis import given
from hypothesis import strategies as st
from museum.headers import EXHIBITS, HISTORY, IN_CODE, REMOVED, Exhibit
from museum.writer import (
    WITH_COUNTERS,
    Style,
    cells_of,
    csv_text,
    default_style,
    expected_value,
    json_text,
    kind_of,
    place_of,
)

from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.sources.identify import identify
from aoe_reports.formats.table_file import read_table_file

FORMATS = Path(os.environ.get("AOE_REPORTS_FORMATS", ROOT.parent / "shared" / "formats"))
LIST = FORMATS / "msprof_header_history.txt"

SUFFIX = {"duration": "_ns", "stamp": "_ns", "size": "_bytes"}


FIRST: dict[tuple[str, frozenset[str]], str] = {}
"""The month in which a table first had just these columns, in whatever order and case."""


def _columns(exhibit: Exhibit) -> frozenset[str]:
    return frozenset(cell.strip().casefold() for cell in exhibit.header if cell != "Device_id")


for _exhibit in EXHIBITS:
    _key = (_exhibit.table, _columns(_exhibit))
    FIRST[_key] = min(FIRST.get(_key, "9999"), _exhibit.since[:7])


def read_back(exhibit: Exhibit, form: str, rows: list[list[str]], style: Style, folder: Path) -> TableData:
    path = place_of(exhibit, form, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((csv_text if form == "csv" else json_text)(exhibit, rows, style))
    findings: list = []
    found = identify(path, explicit=False, findings=findings)
    assert findings == []
    assert found is not None
    assert found.holds == (exhibit.table,)
    assert (found.name.kind, found.name.form, found.name.timeline) == (exhibit.table, form, False)
    return read_table_file(found, exhibit.table)


def hold_against(exhibit: Exhibit, data: TableData, rows: list[list[str]]) -> None:
    """Every cell of the frame is what was written."""
    assert data.findings == ()
    assert (data.rows_read, data.rows_reported, data.frame.num_rows) == (len(rows), 0, len(rows))
    assert len(data.match.fields) == len(exhibit.header)
    repeated: dict[str, list[list]] = defaultdict(list)
    for field in data.match.fields:
        kind = kind_of(exhibit, exhibit.header[field.position])
        assert field.type != "unknown" or field.header in _counters(exhibit), f"{field.header} is not declared"
        assert re.search(r"(_ns|_bytes)?$", field.name.split("__")[0])[0] == SUFFIX.get(kind.what, ""), field
        values = [expected_value(kind, row[field.position]) for row in rows]
        repeated[field.name.split("__")[0]].append(values)
    for name, columns in repeated.items():
        got = data.frame[name].to_pylist()
        if name.startswith("reduce_"):
            assert got == [_without_last_nulls(list(row)) for row in zip(*columns, strict=True)]
        else:
            assert got == columns[0], name


def _without_last_nulls(values: list) -> list:
    while values and values[-1] is None:
        values.pop()
    return values


def _counters(exhibit: Exhibit) -> set[str]:
    from museum.headers import PMU

    if exhibit.table not in WITH_COUNTERS:
        return set()
    return {cell for columns in PMU.values() for cell in columns.split(",")}


def needed(exhibit: Exhibit) -> set[int]:
    return {field.position for field in TABLES[exhibit.table].match(exhibit.header).fields if field.needed}


def has_json_form(exhibit: Exhibit) -> bool:
    """torch_npu and AOE write no summary as JSON; a JSON object has no two keys of one name."""
    return not exhibit.torch_npu and not exhibit.aoe and len(set(exhibit.header)) == len(exhibit.header)


CASES = [(e, form) for e in EXHIBITS for form in ("csv", "json") if form == "csv" or has_json_form(e)]


@pytest.mark.parametrize(("exhibit", "form"), CASES, ids=str)
def test_every_dated_header_is_read_to_the_last_cell(exhibit: Exhibit, form: str, tmp_path: Path) -> None:
    style = default_style(exhibit)
    rows = cells_of(exhibit, 7, style, needed(exhibit), random.Random(f"{exhibit}"))
    data = read_back(exhibit, form, rows, style, tmp_path)
    hold_against(exhibit, data, rows)


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=str)
def test_every_header_is_dated(exhibit: Exhibit) -> None:
    match = TABLES[exhibit.table].match(exhibit.header)
    assert match.missing == ()
    assert match.doubled == ()
    assert match.unordered is None
    assert match.vintage == documented(exhibit)


def documented(exhibit: Exhibit) -> str:
    """The month of the header, or the earlier one in which the columns were the same."""
    if exhibit.note == "communication only":
        return "2023-08"  # what the later ones brought is masked here
    if exhibit.table == "task_time" and exhibit.merged:
        return "2023-09"
    return FIRST[exhibit.table, _columns(exhibit)]


styles = st.builds(Style, st.booleans(), st.booleans(), st.booleans(), st.booleans(), st.booleans())


@given(case=st.sampled_from(CASES), style=styles, count=st.integers(1, 12), seed=st.integers(0, 2**32))
def test_every_header_in_every_style(case: tuple[Exhibit, str], style: Style, count: int, seed: int) -> None:
    exhibit, form = case
    rows = cells_of(exhibit, count, style, needed(exhibit), random.Random(seed))
    with tempfile.TemporaryDirectory() as folder:
        hold_against(exhibit, read_back(exhibit, form, rows, style, Path(folder)), rows)


@pytest.mark.skipif(not LIST.is_file(), reason=f"no list of headers in {FORMATS}")
def test_the_museum_is_complete() -> None:
    """Held against the list that was made by evaluating the exporter's configuration at every commit."""
    stated: dict[str, list[tuple[str, str]]] = {}
    for line in LIST.read_text().splitlines():
        if line.startswith("### "):
            stated[line.removeprefix("### ")] = here = []
        elif found := re.fullmatch(r"\s+(\d{4}-\d\d-\d\d) [0-9a-f]+ \| (.*)", line):
            here.append((found[1], found[2]))
    assert {kind: list(dated) for kind, dated in HISTORY.items()} == stated
    shown = {(e.kind, e.since, ",".join(e.header)) for e in EXHIBITS}
    for kind, dated in stated.items():
        for since, header in dated:
            assert header in {IN_CODE, REMOVED} or (kind, since, header) in shown


def test_no_kind_of_table_is_without_an_exhibit() -> None:
    documents = {name for name, table in TABLES.items() if table.form == "document"}
    assert {exhibit.table for exhibit in EXHIBITS} == set(TABLES) - documents
