"""Rows that are too many to be held leave piece by piece, as they would all at once."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aoe_reports.engine.question import Notes, Stream
from aoe_reports.formats.ascend.profiling import Recipe, Setting
from aoe_reports.model.errors import AoeReportsError
from aoe_reports.model.findings import Finding
from aoe_reports.present import streams
from aoe_reports.present.csv import render_rows
from aoe_reports.present.recipe import render_markdown, render_text
from aoe_reports.present.streams import render_stream, write_parquet
from aoe_reports.present.values import for_terminal, show

FOUND = [Finding("warning", "b", "p", "m"), Finding("error", "a", "o", "m")]


def stream_of(*sizes: int) -> Stream:
    starts = [sum(sizes[:place]) for place in range(len(sizes))]
    schema = pa.schema([("name", pa.string()), ("duration_ns", pa.int64()), ("start_ns", pa.int64()), ("reduce_duration_ns", pa.list_(pa.int64()))])  # fmt: skip
    batches = (
        pa.RecordBatch.from_pylist(
            [{"name": f"n{n}", "duration_ns": None if n == 1 else 1500 + n, "start_ns": 10**18 + n, "reduce_duration_ns": [n, None]} for n in range(start, start + size)],
            schema,
        )
        for start, size in zip(starts, sizes, strict=True)
    )  # fmt: skip
    notes = Notes()
    for finding in FOUND:
        notes.findings.append(finding)
    return Stream(command="table", inputs=("a", "b"), batches=batches, notes=notes)


ROWS = [{"name": f"n{n}", "duration_us": None if n == 1 else (1500 + n) / 1000, "start_ns": 10**18 + n, "reduce_duration_us": [n / 1000, None]} for n in range(5)]  # fmt: skip


@pytest.mark.parametrize("sizes", [(5,), (2, 3), (0, 1, 4), (5, 0)])
@pytest.mark.parametrize("at_once", [1, 2, 3, 50_000])
def test_every_row_leaves_once(monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, ...], at_once: int) -> None:
    monkeypatch.setattr(streams, "_ROWS_AT_ONCE", at_once)
    document = json.loads("".join(render_stream(stream_of(*sizes), "json", strict=True)))
    assert document["rows"] == ROWS
    assert [finding["rule"] for finding in document["findings"]] == ["a", "b"]
    assert (document["command"], document["inputs"], document["reasons"]) == ("table", ["a", "b"], ["damage"])
    rows = list(csv.reader(io.StringIO("".join(render_stream(stream_of(*sizes), "csv", strict=False)))))
    assert rows[0] == list(ROWS[0])
    assert [row[0] for row in rows[1:]] == [row["name"] for row in ROWS]
    assert [row[1] for row in rows[1:]] == ["1.5", "", "1.502", "1.503", "1.504"]


def test_a_stream_without_a_row_is_whole() -> None:
    assert json.loads("".join(render_stream(stream_of(), "json", strict=False)))["rows"] == []
    assert "".join(render_stream(stream_of(0), "csv", strict=False)) == ""


def test_parquet_holds_all_batches(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.parquet"
    write_parquet(stream_of(2, 3), path)
    frame = pq.read_table(path)
    assert frame["start_ns"].to_pylist() == [10**18 + n for n in range(5)]
    assert frame["duration_ns"].to_pylist()[:2] == [1500, None], "as they were read"
    write_parquet(stream_of(), path)
    assert pq.read_table(path).num_rows == 0
    with pytest.raises(AoeReportsError, match="cannot be written"):
        write_parquet(stream_of(1), path / "below a file")


def test_rows_may_come_without_their_header() -> None:
    assert render_rows(ROWS, header=False) == render_rows(ROWS).partition("\n")[2]
    assert render_rows([]) == ""


RECIPE = Recipe(
    framework="pytorch", question="steps", language="python", snippet="a = 1\n\nb = 2",
    settings=(Setting("x", "1", ("f.csv", "g.csv"), "s"), Setting("y", "2", (), "s")),
    after=("one", "two"), switch_off="off()", notes=("first", "second"), sources=("s1", "s2"),
)  # fmt: skip


def test_a_recipe_is_code_to_be_copied() -> None:
    text = render_text(RECIPE)
    assert text.startswith(
        "A profile for steps with pytorch\n\n    a = 1\n\n    b = 2\n\nThen:\n\n    one\n    two\n\n"
    )
    assert "\n  x=1: f.csv, g.csv\n  y=2\n\n" in text
    assert text.endswith("\n\n    off()\n\nfirst\n\nsecond\n\nSources: s1; s2.\n")
    page = render_markdown(RECIPE)
    assert "```python\na = 1\n\nb = 2\n```\n\n## Then\n\n```shell\none\ntwo\n```" in page
    assert "- x=1: f.csv, g.csv\n- y=2\n" in page
    assert page.endswith("- first\n- second\n\nSources: s1; s2.\n")


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (9_999, "integer", "9999"), (10_000, "integer", "10,000"), (-10_000, "integer", "-10,000"),
        (0.12345, "percent", "12.3%"), (0.12345, "ratio", "0.1235"), (0.12345, "change", "+12%"), (-0.12345, "gain", "-12.35%"),
        (0.99999, "time", "1.000"), (9.9996, "time", "10.00"), (12_345.6, "time", "12,346"), (0.0012345, "time", "0.001234"), (0.0, "time", "0"),
        (0.99, "ms", "0.99"), (1.0, "ms", "1.000"), (-0.5, "ms", "-0.5"), (1234.5678, "us", "1,234.568"), (1234.5678, "number", "1,234.568"),
        (True, "text", "yes"), (False, "integer", "no"), (None, "us", "–"), ("", "text", "–"), (["a", 1], "text", "a, 1"), (7, "text", "7"), ("\x1b[1m", "text", "\\x1b[1m"),
    ],
)  # fmt: skip
def test_a_value_as_people_read_it(value: object, kind: str, text: str) -> None:
    assert show(value, kind) == text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\tb\nc", "a\tb\nc"), ("\x1b[31m", "\\u001b[31m"), ("é中", "é中"), ("a\u202eb\n\x07", "a\\u202eb\n\\u0007"), ('{"a": "\x7f"}', '{"a": "\x7f"}')],
)  # fmt: skip
def test_a_terminal_gets_no_command(text: str, shown: str) -> None:
    assert for_terminal(text) in {shown, shown.replace("\x7f", "\\u007f")}
    assert all(letter.isprintable() or letter in "\n\t\x7f" for letter in for_terminal(text))
