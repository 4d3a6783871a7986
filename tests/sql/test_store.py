"""`sql` over a store: what other commands answer from the same rows, hostile labels, stores of no night and of one, limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES, Cli
from talking import assistant

from aoe_reports.history.database import open_store
from aoe_reports.model.errors import StoreError
from aoe_reports.schema.store_tables import ALL_TABLES, STORE_TABLES
from aoe_reports.schema.tables import TABLES
from aoe_reports.store import History
from aoe_reports.store.layout import table_of

PROFILE = FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks"


def rows(cli: Cli, store: object, query: str, *more: str) -> list[dict[str, Any]]:
    """What a query answers, without a finding."""
    ended = cli("sql", "--store", store, query, "--format", "json", *more)
    assert ended.code == 0, ended.err
    found: list[dict[str, Any]] = ended.json["rows"]
    return found


def listed(cli: Cli, *arguments: object) -> list[dict[str, Any]]:
    """The rows of another command."""
    found: list[dict[str, Any]] = cli(*arguments, "--format", "json").json["rows"]
    return found


def test_verdicts_and_changes_are_those_of_regressions(cli: Cli, simulated_store: Path) -> None:
    expected = listed(cli, "regressions", "--all", "--store", simulated_store)
    verdicts = rows(cli, simulated_store, "SELECT * FROM verdict")
    same = {*STORE_TABLES["verdict"].names} & {*expected[0]}
    assert len(same) == len(STORE_TABLES["verdict"].names) - 4
    assert [{name: row[name] for name in same} for row in verdicts] == [
        {name: row[name] for name in same} for row in expected
    ]
    assert [(row["is_new"], row["is_ended"]) for row in verdicts] == [(row["new"], row["ended"]) for row in expected]
    changes = rows(cli, simulated_store, "SELECT * FROM change")
    assert changes
    assert changes == [{"series_id": row["series_id"], **move} for row in expected for move in row["moves"]]


def test_tables_hold_what_history_lists(cli: Cli, small_store: Path) -> None:
    def history(what: str) -> list[dict[str, Any]]:
        return listed(cli, "history", what, "--store", small_store)

    runs = rows(cli, small_store, "SELECT run_id, night, kind, model, status, path, members FROM run")
    names = {"run_id": "run", "model": "workload"}
    assert runs == [{name: one[names.get(name, name)] for name in runs[0]} for one in history("runs")]
    records = rows(
        cli, small_store, "SELECT run_id, workload, mean_ms, total_ns, series_id FROM record ORDER BY record_id"
    )
    expected = [
        (one["run"], one["workload"], one["runtime_ms_mean"], one["total_ns"], one["series_id"])
        for one in history("records")
    ]
    assert sorted(map(str, expected)) == sorted(str(tuple(one.values())) for one in records)
    advice = rows(cli, small_store, "SELECT run_id, state, position, advice, bound_us FROM advice")
    assert [tuple(one.values()) for one in advice] == [
        (one["run"], one["state"], one["position"], one["advice"], one["bound_us"]) for one in history("advice")
    ]


def stored_records(cli: Cli, folder: Path, *labels: str) -> Path:
    """A store with a record of another tool for each label, which is its workload and the name of its metric."""
    file, store = folder / "records.jsonl", folder / "store"
    documents = [
        {
            "workload": label,
            "engine": label,
            "hardware": "npu",
            "runtime_ms_mean": 2.0,
            "runtime_ms_std": 0.1,
            "timestamp": 1_770_000_000 + number,
            "metrics": {label: {"value": 512.5, "unit": "tokens/s"}, "text": "no number", "peak": 3},
        }
        for number, label in enumerate(labels)
    ]
    file.write_text("\n".join(map(json.dumps, documents)))
    assert cli("ingest", file, "--store", store).code == 0
    return store


def test_metrics_lead_to_their_record_and_series(cli: Cli, tmp_path: Path) -> None:
    store, meaning = stored_records(cli, tmp_path, "throughput"), tmp_path / "metrics.toml"
    meaning.write_text('[throughput]\nbetter = "higher"\n')
    query = """
        SELECT name, value, metric.unit, verdict.better, record.workload
        FROM metric JOIN record USING (record_id)
        JOIN verdict ON verdict.series_id = metric.series_id AND verdict.metric = name ORDER BY name
    """
    assert [tuple(row.values()) for row in rows(cli, store, query, "--metrics", str(meaning))] == [
        ("peak", 3.0, None, None, "throughput"),
        ("throughput", 512.5, "tokens/s", "higher", "throughput"),
    ]


HOSTILE = (
    "<script>x</script>",
    "=cmd|'/c calc'!A1",
    "\x1b]0;x\x07",
    "a\nb",
    "x\x00y",
    "'; DROP TABLE run; --",
    "\u202exy",
)


@pytest.fixture
def hostile(cli: Cli, tmp_path: Path) -> Path:
    return stored_records(cli, tmp_path, *HOSTILE)


def test_labels_that_others_wrote_stay_labels(cli: Cli, hostile: Path) -> None:
    query = "SELECT workload, name FROM metric JOIN record USING (record_id) WHERE name <> 'peak'"
    live = ("\x1b", "\x00", "\u202e", "a\nb")
    for form, bad in {
        "text": live,
        "csv": (*live, "\n=", ",="),
        "html": (*live, "<script>x"),
        "markdown": (*live, "<script>x"),
    }.items():
        ended = cli("sql", "--store", hostile, query, "--format", form)
        assert (ended.code, [one for one in bad if one in ended.out]) == (0, []), form
        assert "DROP TABLE run" in ended.out
    assert {row["name"] for row in rows(cli, hostile, query)} == {*HOSTILE}


def test_bodies_that_another_program_wrote_are_null_where_they_do_not_fit(cli: Cli, hostile: Path) -> None:
    history = History.open(str(hostile))
    (run, *_) = history.runs()
    about = {"month": "2026-02", "run_id": run.run_id, "timestamp_ns": run.timestamp_ns, "night": run.night}
    written = [
        {**about, "kind": "advice", "state": "advice", "body": '{"position": 1.5, "devices": 9e99, "bound_us": "x"}'},
        {**about, "kind": "ack", "state": "acknowledged", "subject": "s", "body": '{"id": 5, "low": [], "ids": ["y"]}'},
        {**about, "kind": "ack", "state": "acknowledged", "subject": "t", "body": '{"id": "y", "who": "=1+1"}'},
        {**about, "kind": "ack", "state": "expected", "subject": "u", "body": "no JSON"},
    ]
    history.add_extra(table_of(written))
    assert rows(cli, hostile, "SELECT position, devices, bound_us FROM advice") == [
        {"position": None, "devices": None, "bound_us": None}
    ]
    query = "SELECT subject, acknowledgement_id, low, who, is_revoked FROM acknowledgement ORDER BY subject"
    assert [tuple(row.values()) for row in rows(cli, hostile, query)] == [
        ("s", None, None, None, False),
        ("t", "y", None, "=1+1", False),
        ("u", None, None, None, False),
    ]


def test_a_store_of_no_night_and_of_one(cli: Cli, tmp_path: Path) -> None:
    store = tmp_path / "store"
    count = " UNION ALL ".join(f"SELECT '{name}' AS name, count(*) AS rows FROM {name}" for name in STORE_TABLES)
    assert cli("sql", "--store", store, count).code == 3
    History.open(str(store), create=True)
    ended = cli("sql", "--store", store, count, "--format", "json")
    assert (ended.code, ended.rules()) == (0, {"not-enough-data"})
    assert {row["rows"] for row in ended.json["rows"]} == {0}
    stored_records(cli, tmp_path, "llm")
    query = "SELECT series_id IS NULL AS nothing, state, reason FROM verdict WHERE scope = 'model'"
    (verdict,) = cli("sql", "--store", store, query, "--format", "json").json["rows"]
    assert verdict == {"nothing": False, "state": None, "reason": "too-few-nights"}


def test_a_query_over_a_store_has_the_same_limits(cli: Cli, small_store: Path) -> None:
    endless = "SELECT count(*) FROM record a, record b, record c, record d, record e WHERE a.count * b.count * c.count * d.count > e.count"
    ended = cli("sql", "--store", small_store, endless, "--deadline", "1")
    assert (ended.code, "stopped after 1 s" in ended.err) == (3, True)
    ended = cli("sql", "--store", small_store, "SELECT repeat(night, 100000000) FROM run", "--max-memory", 1 << 27)
    assert (ended.code, "takes more memory" in ended.err) == (3, True)
    assert "read_text is not allowed" in cli("sql", "--store", small_store, "FROM read_text('/etc/passwd')").err


def test_assistants_query_the_store(made_small_store: Path) -> None:
    with assistant("--store", made_small_store / "store") as one:
        names = [row["name"] for row in one("tables").rows("rows")]
        assert {*ALL_TABLES} == {*names}
        assert one("sql", query="SELECT count(*) AS runs FROM run").rows("rows") == [{"runs": 19}]
        assert one("sql", query="SELECT * FROM run", path=str(PROFILE)).is_error


def test_what_people_said_is_there_with_what_was_revoked(cli: Cli, small_store: Path) -> None:
    run = rows(cli, small_store, "SELECT run_id FROM run WHERE night = '2026-03-02'")[0]["run_id"]
    assert cli("store", "tag", "good", "--run", run, "--store", small_store).code == 0
    said = ("--store", small_store, "--reason", "known", "--who", "me")
    series = rows(cli, small_store, "SELECT series_id FROM change ORDER BY ALL")
    ids = [cli("store", "ack", row["series_id"], *said, "--format", "json").json["rows"][0]["id"] for row in series[:2]]
    assert cli("store", "ack", ids[0], "--revoke", *said).code == 0
    found = rows(
        cli,
        small_store,
        "SELECT acknowledgement_id, state, subject, run_id, who, is_revoked FROM acknowledgement ORDER BY timestamp_ns, state",
    )
    acknowledged = [(row["subject"], row["is_revoked"]) for row in found if row["state"] == "acknowledged"]
    assert acknowledged == [(series[0]["series_id"], True), (series[1]["series_id"], False)]
    assert [(row["subject"], row["run_id"]) for row in found if row["state"] == "tag"] == [("good", run)]
    joined = "SELECT verdict.series_id FROM verdict JOIN acknowledgement USING (acknowledgement_id)"
    assert rows(cli, small_store, joined) == series[1:2]


def test_a_query_is_about_captures_or_about_a_store(
    cli: Cli, small_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = "SELECT count(*) AS runs FROM run"
    (tmp_path / "query.sql").write_text(query)
    monkeypatch.setenv("AOE_REPORTS_STORE", str(small_store))
    for arguments in ((query,), ("--file", "query.sql"), ("--store", small_store, query)):
        assert cli("sql", *arguments, "--format", "csv").out == "runs\n19\n"
    assert cli("sql", PROFILE, "SELECT count(*) AS tasks FROM task", "--format", "csv").out == "tasks\n32\n"
    for arguments in ((PROFILE, query, "--store", small_store), ("--store", small_store), (query, query, query)):
        assert cli("sql", *arguments).code == 2
    for wrong in (("--store", small_store), ("--metrics", "power")):
        assert f"PATH names captures; {wrong[0]} is about a store" in cli("sql", PROFILE, query, *wrong).err
    for wrong in (("--no-cache",), ("--max-expanded", "5")):
        assert f"the query is about a store; {wrong[0]} is about captures" in cli("sql", query, *wrong).err
    assert "no table run" in cli("sql", PROFILE, query).err
    assert "no table task" in cli("sql", "SELECT * FROM task").err


def test_only_the_tables_that_a_query_names_are_loaded(small_store: Path) -> None:
    with open_store(small_store) as store:
        assert store.sql("SELECT count(*) FROM run").fetchall() == [(19,)]
        assert store.sql("SELECT count(*) FROM run").fetchall() == [(19,)]  # and once
        assert store.sql("SELECT * FROM query_table('run') LIMIT 0").columns[0] == "run_id"


def test_a_table_that_could_not_be_read_whole_is_loaded_anew(cli: Cli, tmp_path: Path) -> None:
    store, query = stored_records(cli, tmp_path, "llm", "vlm"), "SELECT count(*) FROM record"
    files = [*store.glob("kind=record/*/*.parquet")]
    assert len(files) == 2
    for file in files:
        content = file.read_bytes()
        with open_store(store) as opened:
            file.write_bytes(content[:-1])
            with pytest.raises(StoreError, match="differs"):
                opened.sql(query)
            file.write_bytes(content)
            assert opened.sql(query).fetchall() == [(2,)]


def test_every_table_of_a_store_and_column_has_its_comment(small_store: Path) -> None:
    with open_store(small_store) as store:
        found = store.sql("SELECT table_name, column_name, data_type, comment FROM duckdb_columns() WHERE NOT internal")
        assert {(table, name): (kind, comment) for table, name, kind, comment in found.fetchall()} == {
            (table.name, column.name): (column.type, column.comment)
            for table in STORE_TABLES.values()
            for column in table.columns
        }


def test_no_two_rows_have_the_same_key(small_store: Path) -> None:
    with open_store(small_store) as store:
        for table in STORE_TABLES.values():
            key = ", ".join(table.key)
            query = f"SELECT count(*) FROM {table.name} GROUP BY {key} HAVING count(*) > 1"
            assert not key or store.sql(query).fetchall() == [], table.name


def test_tables_have_one_name_each_and_refer_to_columns_that_are_there() -> None:
    assert not {*TABLES} & {*STORE_TABLES}
    for table in STORE_TABLES.values():
        assert {*table.key} <= {*table.names}
        for column in table.columns:
            other, _, name = column.refers_to.partition(".")
            assert not other or name in ALL_TABLES[other].names
