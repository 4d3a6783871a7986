"""Records as CSV and Parquet: what comes back is what was there, and what is damaged is named where it stands."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commandline import FIXTURES, Cli
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats.records.files import read_records
from aoe_reports.formats.records.forms import CSV_COLUMNS, csv_lines

GOOD = json.loads((FIXTURES / "records" / "valid" / "example_net.json").read_text())
HEADER = "workload,engine,hardware,runtime_ms_mean,runtime_ms_std"
PROFILE = FIXTURES / "msprof" / "valid"
NUMBERS = st.floats(0, 1e9) | st.integers(0, 10**9)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=3)
RECORDS = st.fixed_dictionaries(
    {
        "workload": st.text(max_size=8),
        "engine": st.sampled_from(["tvm", "=1+1", '"quoted', "a,b\nc", " x", "-1", "\x1b[31m"]),
        "hardware": st.text(max_size=8),
        "runtime_ms_mean": NUMBERS,
        "runtime_ms_std": NUMBERS | st.none(),
        "timestamp": st.sampled_from(["20191123003411", 1572282699, 1572282699.6001, "2019-11-23T00:34:11Z"]),
        "schema_version": st.just("0.1"),
    },
    optional={
        "engine_version": st.text(max_size=4),
        "metadata": OBJECTS,
        "metrics": OBJECTS,
        "runtime_raw": st.lists(st.fixed_dictionaries({"runtime_ms": NUMBERS}), max_size=2),
        "team": VALUES,
        "0": VALUES,
    },
)


def read(path: Path) -> tuple[list[dict[str, Any]], list[tuple[Any, ...]]]:
    findings: list[Any] = []
    entries = list(read_records(path, findings))
    return [entry.document for entry in entries], [(one.rule, one.line, one.pointer) for one in findings]


@given(st.lists(RECORDS, max_size=4))
def test_records_come_back_from_csv_as_they_were(tmp_path_factory: pytest.TempPathFactory, records: list[Any]) -> None:
    path = tmp_path_factory.mktemp("csv") / "r.csv"
    path.write_text("".join(csv_lines(records)), newline="")
    assert read(path) == (records, [])


def test_no_cell_is_taken_for_a_command() -> None:
    odd = {**GOOD, "workload": "=cmd|x", "engine": "+1", "hardware": "\x1b[31m", "engine_version": "@SUM(A1)"}
    _, line = csv_lines([odd])
    assert line.startswith('"""=cmd|x""","""+1""","""\\u001b[31m""",')
    assert '"""@SUM(A1)"""' in line


def test_a_table_of_the_five_fields_is_taken_and_what_is_derived_is_said(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "five.csv"
    path.write_text(f"{HEADER}\nllama,vllm,910B4,12.5,0.25\nbert,tvm,310P,3,\n")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    ended = cli("ingest", "--dry-run", path)
    assert ended.code == 0
    assert [json.loads(line) for line in ended.out.splitlines()] == [
        {"workload": workload, "engine": engine, "hardware": hardware, "runtime_ms_mean": mean, "runtime_ms_std": std,
         "timestamp": 1_700_000_000, "schema_version": "0.1"}
        for workload, engine, hardware, mean, std in [("llama", "vllm", "910B4", 12.5, 0.25), ("bert", "tvm", "310P", 3.0, None)]
    ]  # fmt: skip
    assert "2 records without a time: that of the file is used [record-completed]" in ended.err
    assert "2 records without a schema version: they are read as 0.1 [record-completed]" in ended.err


def test_the_same_records_are_the_same_whenever_their_file_was_written(cli: Cli, tmp_path: Path) -> None:
    record = {name: GOOD[name] for name in HEADER.split(",")}
    for name, seconds in (("one.json", 1_700_000_000), ("other.jsonl", 1_700_000_500)):
        (tmp_path / name).write_text(json.dumps(record))
        os.utime(tmp_path / name, (seconds, seconds))
    assert cli("ingest", tmp_path / "one.json", "--store", tmp_path / "store").code == 0
    again = cli("ingest", tmp_path / "other.jsonl", "--store", tmp_path / "store", "--format", "json")
    assert [row["outcome"] for row in again.json["rows"]] == ["unchanged"]


@pytest.mark.parametrize("name", ["r.csv", "r.parquet", "r.json", "r.jsonl"])
def test_every_form_is_read_back_as_the_same_run(cli: Cli, tmp_path: Path, name: str) -> None:
    capture = PROFILE / "torch_npu_two_ranks"
    assert cli("ingest", "--dry-run", capture, "--workload", "net", "-o", tmp_path / name).code == 0
    store = tmp_path / "store"
    assert cli("ingest", capture, "--workload", "net", "--store", store).code == 0
    again = cli("ingest", tmp_path / name, "--store", store, "--format", "json")
    assert [row["outcome"] for row in again.json["rows"]] == ["unchanged"]
    plain = sorted(map(_plain, cli("ingest", "--dry-run", capture, "--workload", "net").out.splitlines()))
    assert sorted(map(_plain, cli("ingest", "--dry-run", tmp_path / name).out.splitlines())) == plain
    assert cli("check", tmp_path / name).code == 0


def _plain(line: str) -> str:
    return json.dumps(json.loads(line), sort_keys=True)


def test_the_parts_of_a_store_are_no_files_of_records(cli: Cli, tmp_path: Path) -> None:
    store = tmp_path / "nights" / "store"
    assert cli("ingest", FIXTURES / "records" / "valid", "--store", store).code == 0
    (tmp_path / "nights" / "r.json").write_text(json.dumps(GOOD))
    listed = cli("inspect", tmp_path / "nights", "--format", "json")
    assert [row["path"].rsplit("/", 1)[1] for row in listed.json["rows"]] == ["r.json"]


@pytest.mark.parametrize(
    ("body", "told", "left"),
    [
        ("net,tvm,cpu,1.5,0.5\nnet,tvm\n", [("records-table", 3, None)], 1),
        ('net,tvm,cpu,1.5,0.5\nnet,"tvm', [("records-table", 3, None)], 1),
        ("net,tvm,cpu,fast,0.5\n\nnet,tvm,cpu,2,\n", [], 2),
        ("", [], 0),
    ],
)
def test_what_cannot_be_read_is_named_by_line(tmp_path: Path, body: str, told: list[Any], left: int) -> None:
    path = tmp_path / "r.csv"
    path.write_text(f"{HEADER}\n{body}")
    documents, findings = read(path)
    assert (findings, len(documents)) == (told, left)


def test_a_number_that_is_none_is_refused_where_it_stands(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(f"{HEADER}\nnet,tvm,cpu,1.5,0.5\nnet,tvm,cpu,nan,0.5\n")
    ended = cli("check", tmp_path / "r.csv", "--format", "json")
    assert [(one["rule"], one["line"]) for one in ended.json["findings"] if one["severity"] == "error"] == [
        ("schema", 3)
    ]


def test_a_column_that_appears_twice_is_told(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(f"{HEADER},engine\nnet,tvm,cpu,1.5,0.5,tvm\n")
    assert read(tmp_path / "r.csv") == ([], [("records-table", 1, None)])


@pytest.fixture
def parquet(cli: Cli, tmp_path: Path) -> Path:
    path = tmp_path / "r.parquet"
    assert cli("ingest", "--dry-run", FIXTURES / "records" / "valid", "-o", path).code == 0
    return path


@pytest.mark.parametrize("damage", ["cut", "flipped", "column", "value"])
def test_damaged_parquet_is_a_finding(parquet: Path, cli: Cli, damage: str) -> None:
    data, table = parquet.read_bytes(), pq.read_table(parquet)
    if damage == "cut":
        parquet.write_bytes(data[: len(data) // 2] + data[-40:])
    elif damage == "flipped":
        place = data.index(b"example_net")
        parquet.write_bytes(data[:place] + b"\xff" + data[place + 1 :])
    elif damage == "column":
        pq.write_table(table.drop_columns(["metrics"]), parquet)
    else:
        names = table.column_names
        wrong = pa.array(["{"] * table.num_rows)
        pq.write_table(table.set_column(names.index("metrics"), "metrics", wrong), parquet)
    ended = cli("check", parquet, "--format", "json")
    assert ended.code in {1, 3}
    assert {one["rule"] for one in ended.json["findings"]} <= {"records-table", "unknown-file", "nothing-found"}
    assert ended.json["findings"]


def test_parquet_is_read_up_to_its_limit(parquet: Path) -> None:
    pq.write_table(pa.concat_tables([pq.read_table(parquet)] * 400), parquet, compression="zstd")
    findings: list[Any] = []
    most = 10 * parquet.stat().st_size
    entries = list(read_records(parquet, findings, most))
    assert 0 < len(entries) < 1200
    assert [one.rule for one in findings] == ["records-table"]
    assert f"more than {most} bytes" in str(findings[0].message)


SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "record.schema.json").read_text())


def test_columns_of_csv_are_those_of_the_schema() -> None:
    assert set(CSV_COLUMNS) == {*SCHEMA["properties"], "extra"}


def test_examples_of_the_schema_are_records(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "examples.json").write_text(json.dumps(SCHEMA["examples"]))
    assert cli("check", tmp_path / "examples.json", "--strict").code == 0
