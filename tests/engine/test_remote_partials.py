"""Partial results on an object store: a real S3 server on loopback that loses answers, throttles and refuses."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from buckets import BUCKET, SECRET, Server
from captures import write_ranks
from commandline import FIXTURES, Cli
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.engine.fleet.keeping import Folder, PartialFiles, place_of
from aoe_reports.engine.fleet.partials import Partials
from aoe_reports.engine.question import Notes

VALID = FIXTURES / "msprof" / "valid"
MAX = 1 << 20
KEY = "ab" * 32


@pytest.fixture
def uri() -> str:
    """A prefix that no other test has."""
    return f"s3://{BUCKET}/kept of {uuid.uuid4()}"


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    return write_ranks(tmp_path / "night", 5)


@pytest.fixture
def manifest(cli: Cli, ranks: Path, tmp_path: Path) -> Path:
    assert cli("hotspots", ranks, "--manifest", tmp_path / "m.json").code == 0
    return tmp_path / "m.json"


def started(manifest: Path, uri: str, shard: str = "1/1", *more: str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "aoe_reports", "fleet", "map", manifest, "--partials", uri, "--shard", shard]
    return subprocess.Popen(
        [*command, "--jobs", "1", "--format", "json", *more],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def outcomes(told: str) -> list[str]:
    return [one["outcome"] for one in json.loads(told)["rows"]]


def written(server: Server) -> int:
    """How many objects were written since the last time."""
    return sum(method == "PUT" for method, _, _ in server.requests())


def test_shares_in_any_order_come_to_the_same_bytes(cli: Cli, server: Server, uri: str, tmp_path: Path) -> None:
    plain = cli("communication", VALID, "--format", "json")
    assert cli("communication", VALID, "--manifest", tmp_path / "m.json").code == 0
    for number in (2, 3, 1):
        assert cli("fleet", "map", tmp_path / "m.json", "--partials", uri, "--shard", f"{number}/3").code == 0
    reduced = cli("fleet", "reduce", tmp_path / "m.json", "--partials", uri, "--format", "json")
    assert (reduced.code, reduced.out, reduced.err) == (plain.code, plain.out, plain.err)


def test_what_a_bucket_keeps_is_what_a_folder_keeps(cli: Cli, server: Server, uri: str, manifest: Path) -> None:
    folder = manifest.parent / "p"
    for place in (uri, folder):
        assert cli("fleet", "map", manifest, "--partials", place).code == 0
    prefix = uri.removeprefix(f"s3://{BUCKET}/")
    assert server.objects() == {
        f"{prefix}/{file.relative_to(folder)}": file.read_bytes() for file in folder.rglob("*.gz")
    }


def test_what_is_kept_is_not_read_or_written_again(cli: Cli, server: Server, uri: str, ranks: Path) -> None:
    plain = cli("hotspots", ranks, "--by", "op_name", "--format", "json")
    first = cli("hotspots", ranks, "--by", "op_name", "--format", "json", "--cache", uri)
    assert written(server) == 5
    for file in ranks.rglob("*.csv"):  # as large and as old: it looks as it was
        times = file.stat().st_atime_ns, file.stat().st_mtime_ns
        file.write_text(file.read_text().replace(",a,", ",b,"))
        os.utime(file, ns=times)
    second = cli("hotspots", ranks, "--by", "op_name", "--format", "json", "--cache", uri)
    assert first.out == second.out == plain.out
    assert {method for method, _, _ in server.requests()} == {"GET"}


@pytest.mark.slow
def test_without_a_uri_no_client_is_loaded_and_nothing_asked(server: Server, ranks: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from aoe_reports import hotspots\n"
        f"hotspots([{str(ranks)!r}], cache={str(tmp_path / 'cache')!r})\n"
        "assert not {'deltalake', 'obstore'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert server.requests() == []


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-9], lambda data: b"", lambda data: data[:30] + b"?" + data[31:]]
)
def test_a_damaged_result_is_said_and_made_again(
    cli: Cli, server: Server, uri: str, manifest: Path, damage: object
) -> None:
    assert callable(damage)
    rows = cli("fleet", "map", manifest, "--partials", uri, "--format", "json").json["rows"]
    kept = server.objects()
    (broken,) = [name for name in kept if rows[2]["key"] in name]
    server.client.put_object(Bucket=BUCKET, Key=broken, Body=damage(kept[broken]))
    ended = cli("fleet", "reduce", manifest, "--partials", uri)
    assert (ended.code, "its partial result is damaged: map it again" in ended.err) == (3, True)
    again = cli("fleet", "map", manifest, "--partials", uri, "--format", "json")
    assert outcomes(again.out) == ["kept", "kept", "read", "kept", "kept"]
    assert server.objects() == kept


def test_what_is_not_mapped_is_named(cli: Cli, server: Server, uri: str, manifest: Path, ranks: Path) -> None:
    assert cli("fleet", "map", manifest, "--partials", uri, "--shard", "1/2").code == 0
    ended = cli("fleet", "reduce", manifest, "--partials", uri)
    assert ended.code == 3
    assert ended.err.endswith(f"2 of 5 units are not mapped: {ranks / 'rank_1'}, {ranks / 'rank_3'}\n")


@pytest.mark.torture
def test_jobs_that_race_keep_the_same_bytes(cli: Cli, server: Server, uri: str, manifest: Path) -> None:
    racing = [started(manifest, uri, shard) for shard in ("1/1", "1/1", "1/2")]
    assert [process.communicate()[1] for process in racing] == [""] * 3
    assert [process.returncode for process in racing] == [0] * 3
    kept = server.objects()
    assert len(kept) == 5
    server.empty()
    assert cli("fleet", "map", manifest, "--partials", uri).code == 0
    assert server.objects() == kept


@pytest.mark.parametrize(
    ("kind", "method", "query"),
    [
        ("lost", "PUT", ""), ("lost", "GET", ""), ("throttled", "PUT", ""), ("throttled", "GET", ""),
        ("lost", "GET", "list-type"), ("throttled", "GET", "list-type"),
    ],
)  # fmt: skip
def test_lost_answers_and_throttling_are_waited_out(
    server: Server, uri: str, kind: str, method: str, query: str
) -> None:
    partials = Partials(uri)
    server.fail(kind, method, query, times=2)
    partials.save(KEY, (("part",), Notes()))
    assert partials.load(KEY) == (("part",), Notes())
    assert partials.kept([KEY, "cd" * 32]) == {KEY}
    assert len(server.objects()) == 1


@pytest.mark.parametrize(
    ("command", "what"), [("map", "bucket"), ("map", "credentials"), ("reduce", "bucket"), ("reduce", "scheme")]
)
def test_what_cannot_be_reached_is_one_line_without_a_secret(
    server: Server, uri: str, manifest: Path, command: str, what: str
) -> None:
    where = {"bucket": "s3://somebody-elses/kept", "credentials": uri, "scheme": "nowhere://x/y"}[what]
    changed = {"AWS_ACCESS_KEY_ID": "somebody"} if what == "credentials" else {}
    server.requests()
    process = subprocess.run(
        [sys.executable, "-m", "aoe_reports", "fleet", command, manifest, "--partials", where],
        env={**os.environ, **changed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 3
    assert process.stderr.startswith(f"aoe-reports: error: {where}: cannot be read: ")
    assert process.stderr.count("\n") == 1
    assert process.stdout == ""
    assert not {SECRET, "Signature", "Credential", "somebody/"} & set(process.stderr.split())
    assert {"bucket": "NoSuchBucket", "credentials": "403 Forbidden: InvalidAccessKeyId", "scheme": "nowhere"}[
        what
    ] in process.stderr
    assert not any(method in {"PUT", "POST"} for method, _, _ in server.requests())


@pytest.mark.parametrize(
    "where", ["s3://key:secret@bucket/prefix", "s3://k:se/cret@bucket", "az://container/x?sig=secret"]
)
def test_a_uri_with_credentials_is_refused_and_not_repeated(cli: Cli, manifest: Path, where: str) -> None:
    for ended in (
        cli("fleet", "reduce", manifest, "--partials", where),
        cli("hotspots", manifest.parent, "--cache", where),
    ):
        assert (ended.code, "has a password or a query" in ended.err, "cret" in ended.err) == (2, True, False)


@pytest.mark.parametrize(
    ("command", "where"),
    [
        ("hotspots", "s3://key:secret@bucket/prefix"), ("compare", "S3://k:se/cret@bucket"),
        ("inspect", "s3a://bucket/x?X-Amz-Signature=secret"), ("check", "s3://key:secret@bucket/prefix"),
        ("normalize", "S3://k:se/cret@bucket"), ("ingest", "s3a://bucket/x?X-Amz-Signature=secret"),
        ("nightly", "s3://key:secret@bucket/prefix"),
    ],
)  # fmt: skip
def test_captures_at_a_uri_with_credentials_are_refused_and_not_repeated(
    cli: Cli, tmp_path: Path, command: str, where: str
) -> None:
    others = {
        "compare": [VALID],
        "ingest": ["--store", tmp_path / "st"],
        "nightly": ["--store", tmp_path / "st", "--site", tmp_path / "si"],
    }
    ended = cli(command, where, *others.get(command, []))
    assert (ended.code, "has a password or a query" in ended.err) == (2, True)
    assert "cret" not in ended.err + ended.out


def test_a_manifest_of_captures_at_a_uri_with_credentials_is_not_written(cli: Cli, tmp_path: Path) -> None:
    ended = cli("hotspots", "s3://key:secret@bucket/prefix", "--manifest", tmp_path / "m.json")
    assert (ended.code, "cret" in ended.err, (tmp_path / "m.json").exists()) == (2, False, False)


def test_a_folder_with_a_colon_and_a_question_mark_is_no_uri(cli: Cli, tmp_path: Path) -> None:
    odd = tmp_path / "runs3:" / "a:b@c?d"
    odd.mkdir(parents=True)
    assert "password" not in cli("hotspots", odd).err


@pytest.mark.parametrize("table", ["[hotspots]\n", ""])
def test_no_configuration_file_says_where_results_are_kept(
    cli: Cli, server: Server, ranks: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    monkeypatch.chdir(ranks)
    (ranks / "aoe-reports.toml").write_text(f'{table}cache = "s3://{BUCKET}/theirs"\n')
    assert cli("hotspots", ".").code == 2
    assert server.requests() == []


@pytest.mark.torture
def test_killed_anywhere_only_what_is_missing_is_read_again(cli: Cli, server: Server, uri: str, tmp_path: Path) -> None:
    write_ranks(tmp_path / "night", 30)
    manifest = tmp_path / "m.json"
    plain = cli("hotspots", tmp_path / "night", "--format", "json")
    cli("hotspots", tmp_path / "night", "--manifest", manifest)
    keys = json.loads(manifest.read_text())["keys"]["of"]
    chance, partials, kept = random.Random(4), Partials(uri), set[str]()
    for _ in range(4):
        process = started(manifest, uri)
        wanted = len(kept) + chance.randint(1, 5)
        while process.poll() is None and len(server.names()) < wanted:
            pass
        process.kill()
        process.communicate()
        now = partials.kept(keys)
        assert kept <= now
        assert all(partials.load(key) is not None for key in now)
        kept = now
    assert 4 <= len(kept) < len(keys)
    last = cli("fleet", "map", manifest, "--partials", uri, "--format", "json")
    assert outcomes(last.out) == ["kept" if key in kept else "read" for key in keys]
    assert cli("fleet", "reduce", manifest, "--partials", uri, "--format", "json").out == plain.out


NAMES = st.tuples(st.text("0123456789abcdef", min_size=2, max_size=2), st.text("0123456789abcdef", min_size=1))


@given(data=st.binary(max_size=4096), name=NAMES)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, data: bytes, name: tuple[str, str]) -> None:
    check_round_trip(Folder(path=tmp_path_factory.mktemp("kept")), data, "/".join(name))


@given(files=st.dictionaries(NAMES, st.binary(max_size=4096), min_size=1, max_size=3))
def test_what_is_written_to_a_bucket_is_read(running: Server, files: dict[tuple[str, str], bytes]) -> None:
    if BUCKET not in [one["Name"] for one in running.client.list_buckets()["Buckets"]]:
        running.empty()
    for name, data in files.items():
        check_round_trip(place_of(f"s3://{BUCKET}/any"), data, "/".join(name))


def check_round_trip(place: PartialFiles, data: bytes, name: str) -> None:
    place.write(name, data)
    assert place.read(name, len(data)) == data
    assert data == b"" or place.read(name, len(data) - 1) is None
    assert name.partition("/")[2] in place.names(name[:2])
    assert place.read(f"{name}z", MAX) is None
    assert place.names("zz") == set()


def test_many_results_and_a_large_one_are_whole(server: Server, uri: str) -> None:
    place = place_of(uri)
    large = random.Random(1).randbytes(12 << 20)
    place.write("ab/large", large)
    assert place.read("ab/large", len(large)) == large
    prefix = uri.removeprefix(f"s3://{BUCKET}/")
    for number in range(25):
        server.client.put_object(Bucket=BUCKET, Key=f"{prefix}/cd/{number}", Body=b"")
    assert place.names("cd") == {str(number) for number in range(25)}


def test_a_file_uri_is_a_folder(tmp_path: Path) -> None:
    partials = Partials(f"file://{tmp_path}")
    partials.save(KEY, (("part",), Notes()))
    assert [file.parent.parent for file in tmp_path.rglob("*.gz")] == [tmp_path]


def test_what_is_too_large_is_no_result(server: Server, uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    partials = Partials(uri)
    partials.save(KEY, (("x" * 5000,), Notes()))
    monkeypatch.setattr("aoe_reports.engine.fleet.partials.MAX_BYTES", 4000)
    assert partials.load(KEY) is None
