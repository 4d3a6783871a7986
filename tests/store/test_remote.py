"""The store on an object store: a real S3 server (moto) on loopback, real processes that race."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from buckets import BUCKET, SECRET, Server
from commandline import FIXTURES, Cli

STORE = f"s3://{BUCKET}/years/history"


@pytest.fixture
def bucket(object_server: Server) -> dict[str, str]:
    """The environment in which an empty bucket is found."""
    object_server.empty()
    return object_server.environment


def started(environment: dict[str, str], *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "aoe_reports", *map(str, arguments), "--format", "json"]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )


def outcomes(process: subprocess.Popen[str]) -> list[str]:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return [row["outcome"] for row in json.loads(out)["rows"]]


def ingest(environment: dict[str, str], *names: str) -> subprocess.Popen[str]:
    folders = [FIXTURES / "msprof" / "valid" / name for name in names]
    return started(environment, "ingest", *folders, "--store", STORE, "--workload", "w")


def test_a_store_on_s3_is_written_once_and_read(bucket: dict[str, str]) -> None:
    assert outcomes(ingest(bucket, "torch_npu_two_ranks")) == ["added"]
    assert outcomes(ingest(bucket, "torch_npu_two_ranks")) == ["unchanged"]
    out, _ = started(bucket, "store", "history", "records", "--store", STORE).communicate(timeout=300)
    records = len(json.loads(out)["rows"])
    assert records > 0
    out, _ = started(bucket, "sql", "--store", STORE, "SELECT count(*) AS records FROM record").communicate(timeout=300)
    assert json.loads(out)["rows"] == [{"records": records}]


@pytest.fixture(scope="module")
def undisturbed(object_server: Server, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The records of a store in which two runs were stored while nothing failed."""
    object_server.empty()
    assert outcomes(ingest(object_server.environment, "ten_iterations", "torch_npu_two_ranks")) == ["added", "added"]
    return exported(object_server.environment, tmp_path_factory.mktemp("undisturbed") / "rows.jsonl")


def exported(environment: dict[str, str], path: Path) -> list[str]:
    asked = ("store", "history", "records", "--format", "jsonl", "-o", str(path), "--store", STORE)
    subprocess.run([sys.executable, "-m", "aoe_reports", *asked], env=environment, check=True, capture_output=True)
    return sorted(path.read_text().splitlines())


@pytest.mark.parametrize(
    ("kind", "method", "words"),
    [
        ("lost", "PUT", "_delta_log"),
        ("lost", "PUT", ".parquet"),
        ("throttled", "PUT", ""),
        ("lost", "GET", ""),
    ],
)
def test_lost_answers_and_throttling_lose_and_double_nothing(
    cli: Cli,
    object_server: Server,
    undisturbed: list[str],
    bucket: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    method: str,
    words: str,
) -> None:
    """Where the answer to a commit is lost, its writer is told that it failed, while it is there."""
    for name, value in bucket.items():
        monkeypatch.setenv(name, value)
    folders = [FIXTURES / "msprof" / "valid" / name for name in ("ten_iterations", "torch_npu_two_ranks")]
    store = ("--store", STORE, "--workload", "w", "--format", "json")
    object_server.fail(kind, method, words, times=3)
    assert [row["outcome"] for row in cli("ingest", *folders, *store).json["rows"]] == ["added", "added"]
    assert object_server.fail() == 0
    asked = ("store", "history", "records", "--format", "jsonl", "--store", STORE)
    assert sorted(cli(*asked).out.splitlines()) == undisturbed
    assert [row["outcome"] for row in cli("ingest", folders[1], *store).json["rows"]] == ["unchanged"]


@pytest.mark.torture
def test_writers_that_race_on_s3_double_and_lose_nothing(bucket: dict[str, str]) -> None:
    names = ("torch_npu_two_ranks", "ten_iterations", "mindspore")
    racing = [ingest(bucket, *order) for order in (names, names[::-1], names[1:] + names[:1])]
    found = [outcome for process in racing for outcome in outcomes(process)]
    assert sorted(found) == ["added"] * len(names) + ["unchanged"] * (2 * len(names))
    out, _ = started(bucket, "store", "history", "--store", STORE).communicate(timeout=300)
    runs = [row["run"] for row in json.loads(out)["rows"]]
    assert len(runs) == len(set(runs)) == len(names)


@pytest.mark.parametrize(
    ("uri", "change"),
    [
        ("s3://somebody-elses-bucket/history", {}),
        (STORE, {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_MAX_ATTEMPTS": "1"}),
    ],
)
def test_what_cannot_be_reached_is_one_line_without_a_secret(
    bucket: dict[str, str], uri: str, change: dict[str, str]
) -> None:
    process = started({**bucket, **change}, "store", "history", "--store", uri)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 3
    assert err.count("\n") == 1
    assert err.startswith(f"aoe-reports: error: {uri}: ")
    assert SECRET not in out + err


def test_no_secret_gets_into_the_store(object_server: Server, bucket: dict[str, str]) -> None:
    outcomes(ingest(bucket, "torch_npu_two_ranks"))
    found = object_server.objects()
    assert any("_delta_log" in key for key in found)
    assert [key for key, data in found.items() if SECRET.encode() in data] == []
