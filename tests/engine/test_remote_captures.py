"""Captures in a bucket: read as those in a folder, from a real S3 server on loopback that loses answers, throttles and refuses."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from buckets import BUCKET, SECRET, Server
from captures import KERNELS, QUIET, write_night, write_ranks
from commandline import FIXTURES, Cli, Ended

from aoe_reports import hotspots
from aoe_reports.engine.fleet.frozen import freeze, thaw
from aoe_reports.formats.sources import bucket, objects
from aoe_reports.formats.sources.objects import ObjectPath, object_of, path_of
from aoe_reports.simulation.tuning import write_loop

VALID = FIXTURES / "msprof" / "valid"
INVALID = FIXTURES / "msprof" / "invalid"
QUESTIONS = ("hotspots", "breakdown", "communication", "check", "inspect")
"""Tables, timelines, documents, and all files."""
SECRETS = (SECRET, "Signature", "Credential", "AWS4-HMAC", "somebody")


@pytest.fixture
def few_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucket, "RETRIES", 1)


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    return write_ranks(tmp_path / "night", 3)


def fetched(server: Server) -> list[str]:
    """The keys that were asked for since the last time."""
    return [path.removeprefix(f"/{BUCKET}/") for method, path, query in server.requests() if "list-type" not in query]


def named(ended: Ended) -> dict[str, str]:
    """What is said of each path that could not be read."""
    return {one["path"]: one["message"] for one in ended.json["findings"] if one["rule"] == "unreadable"}


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answer_is_that_of_a_folder_but_for_its_name(cli: Cli, server: Server, question: str) -> None:
    uri = server.upload(VALID, "valid")
    here, there = (cli(question, place, "--format", "json") for place in (VALID, uri))
    assert (there.code, there.out.replace(uri, str(VALID)), there.err) == (here.code, here.out, here.err)


def test_damage_is_named_by_its_uri_and_line(cli: Cli, server: Server) -> None:
    uri = server.upload(INVALID, "damaged")
    here, there = (cli("check", place, "--format", "json") for place in (INVALID, uri))
    told = there.out.replace(uri, str(INVALID)).replace(*ARCHIVE_ELSEWHERE)
    assert (there.code, told) == (here.code, here.out)


ARCHIVE_ELSEWHERE = (
    "an archive in a bucket is not read; fetch it and name the file",
    "an archive is read only where it is named itself, as it may hold what lies beside it",
)
"""In a bucket none is read."""


def test_an_archive_in_a_bucket_is_named_with_what_to_do(cli: Cli, server: Server, tmp_path: Path) -> None:
    (tmp_path / "up").mkdir()
    shutil.make_archive(str(tmp_path / "up" / "run"), "zip", VALID)
    uri = server.upload(tmp_path / "up", "packed")
    for place, rule, code in ((uri, "archive", 0), (f"{uri}/run.zip", "unreadable", 3)):
        ended = cli("inspect", place, "--format", "json")
        (finding,) = ended.json["findings"]
        assert (ended.code, finding["rule"], finding["path"]) == (code, rule, f"{uri}/run.zip")
        assert finding["message"].startswith("an archive in a bucket is not read; fetch it and name the file; ")


@pytest.mark.slow
def test_commands_that_store_and_print_read_buckets(cli: Cli, server: Server, tmp_path: Path) -> None:
    for rank in (0, 1):
        write_night(tmp_path / "night", 0, QUIET, rank=rank)
    folder, uri = tmp_path / "night", server.upload(tmp_path / "night", "night")
    for name, options in {
        "table": ["kernel_details"],
        "normalize": [],
        "ingest": ["--store", "store-of-{}", "--format", "json"],
        "nightly": ["--store", "history-of-{}", "--site", "site-of-{}", "--format", "json"],
    }.items():
        before, after = (options, []) if name == "table" else ([], options)
        here, there = (
            cli(name, *before, place, *(str(tmp_path / one.format(number)) if "{}" in one else one for one in after))
            for number, place in enumerate((folder, uri))
        )
        assert (there.code, there.out.replace(uri, str(folder))) == (here.code, here.out), name
        assert here.out


def test_a_part_of_a_timeline_is_cut_from_a_bucket(cli: Cli, server: Server) -> None:
    folder = VALID / "ten_iterations_timeline"
    uri = server.upload(folder, "captures")
    here, there = (cli("trace", place, "--step", 3) for place in (folder, uri))
    assert (there.code, there.out, there.err) == (here.code, here.out, here.err)
    assert here.out


def test_pages_name_the_uri(cli: Cli, server: Server, tmp_path: Path) -> None:
    for number in (0, 1):
        for rank in (0, 1):
            write_night(tmp_path / "nights" / str(number), number, QUIET, rank=rank)
    uri = server.upload(tmp_path / "nights", "nights")
    cli("nightly", uri, "--store", tmp_path / "store", "--site", tmp_path / "site")
    pages = [page.read_text() for page in (tmp_path / "site").rglob("*.html")]
    assert any(f"{uri}/1" in page for page in pages)
    assert not any("s3:/nights" in page for page in pages)


@pytest.mark.parametrize("form", ["sarif", "github", "junit"])
def test_forms_for_ci_name_the_uri(cli: Cli, server: Server, form: str) -> None:
    uri = server.upload(INVALID / "csv-ragged-row", "odd name")
    said = cli("check", uri, "--format", form).out
    for finding in cli("check", uri, "--format", "json").json["findings"]:
        place = finding["path"]
        assert (f'"{place.replace(" ", "%20")}"' if form == "sarif" else place) in said.replace("%3A", ":")
    assert str(Path.cwd()) not in said


def test_plans_and_verdicts_read_buckets(cli: Cli, server: Server, tmp_path: Path) -> None:
    before, after = (write_night(tmp_path / name, 0, QUIET, rank=0) for name in "ab")
    places = ((before, after), [server.upload(one, f"{one.parent.name}/{one.name}") for one in (before, after)])
    answers = []
    for number, (first, second) in enumerate(places):
        folder = tmp_path / f"plan{number}"
        cli("plan", first, "--model", "x.onnx", "--output", folder)
        assert json.loads((folder / "plan.json").read_text())["profile"] == str(first)
        verified = cli("verify", folder, "--after", second, "--format", "json")
        assert "s3:/nights" not in verified.out + (folder / "run.sh").read_text() + (folder / "report.md").read_text()
        answers.append((verified.code, verified.json["rows"], sorted(verified.rules())))
    assert answers[0] == answers[1]
    assert "unreadable" not in answers[0][2]


def test_two_runs_are_compared_across_places(cli: Cli, server: Server, tmp_path: Path) -> None:
    before, after = (write_night(tmp_path / name, 0, QUIET, rank=number) for number, name in enumerate("ab"))
    there = server.upload(after, f"b/{after.name}")
    here = cli("compare", before, after, "--format", "json")
    assert cli("compare", before, there, "--format", "json").out.replace(there, str(after)) == here.out
    assert here.json["totals"]


def test_claims_are_checked_against_profiles_in_a_bucket(cli: Cli, server: Server, tmp_path: Path) -> None:
    loop = write_loop(tmp_path / "loop", "faster", 1)
    there = [server.upload(path, f"{path.parent.name}/{path.name}") for path in (loop.before, loop.after)]
    claims = tmp_path / "claims.csv"
    claims.write_text("operator,before_us,after_us\nblock1/conv,240,192\n")
    here = cli("verify", "--claims", claims, loop.before, loop.after, "--format", "json")
    remote = cli("verify", "--claims", claims, *there, "--format", "json")
    assert (here.code, remote.code, remote.json["rows"]) == (0, 0, here.json["rows"])
    refused = cli("verify", there[0], "--after", there[1])
    assert (refused.code, "not an object store" in refused.err) == (2, True)


def test_a_single_object_and_a_part_of_a_capture_are_read(cli: Cli, server: Server, tmp_path: Path) -> None:
    capture = write_night(tmp_path, 0, QUIET, rank=3)
    uri = server.upload(capture, f"deep/{capture.name}")
    for part in ("ASCEND_PROFILER_OUTPUT", "ASCEND_PROFILER_OUTPUT/kernel_details.csv"):
        here, there = (cli("hotspots", f"{place}/{part}", "--format", "json") for place in (capture, uri))
        assert there.out.replace(uri, str(capture)) == here.out
        assert {row["rank_id"] for row in there.json["rows"]} == {3}


def test_only_what_a_question_reads_is_fetched_and_nothing_is_left(
    cli: Cli, server: Server, ranks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    uri = server.upload(ranks, "night")
    for rank in range(3):
        server.client.put_object(Bucket=BUCKET, Key=f"night/rank_{rank}/operator_memory.csv", Body=b"x" * 200_000)
        server.client.put_object(Bucket=BUCKET, Key=f"night/rank_{rank}/communication.json", Body=b"x" * 200_000)
        server.client.put_object(Bucket=BUCKET, Key=f"night/rank_{rank}/notes.bin", Body=b"x" * 200_000)
    server.requests()
    assert cli("hotspots", uri).code == 0
    asked = [(rank, name) for rank in range(3) for name in ("communication.json", "kernel_details.csv")]
    assert sorted(fetched(server)) == [f"night/rank_{rank}/{name}" for rank, name in asked]
    # the beginning of what has a plain name tells what it is
    assert list((tmp_path / "temporary").iterdir()) == []


def test_what_has_not_changed_is_not_fetched_again_and_what_has_is(
    cli: Cli, server: Server, ranks: Path, tmp_path: Path
) -> None:
    uri = server.upload(ranks, "night")
    first = cli("hotspots", uri, "--by", "op_name", "--format", "json", "--cache", tmp_path / "kept")
    key = "night/rank_1/kernel_details.csv"
    data = (ranks / "rank_1" / "kernel_details.csv").read_bytes().replace(b",a,", b",b,")
    server.client.put_object(Bucket=BUCKET, Key=key, Body=data)  # of equal size, maybe within the second
    server.requests()
    second = cli("hotspots", uri, "--by", "op_name", "--format", "json", "--cache", tmp_path / "kept")
    assert fetched(server) == [key]
    assert [row["op_name"] for row in first.json["rows"]] == ["a", "a", "a"]
    assert [row["op_name"] for row in second.json["rows"]] == ["a", "b", "a"]


@pytest.mark.parametrize("change", ["changed", "removed"])
def test_what_changes_after_it_was_listed_is_named_and_the_others_go_on(
    cli: Cli, server: Server, ranks: Path, tmp_path: Path, change: str
) -> None:
    uri = server.upload(ranks, "night")
    key = "night/rank_1/kernel_details.csv"
    assert cli("hotspots", uri, "--manifest", tmp_path / "m.json").code == 0
    if change == "changed":
        data = (ranks / "rank_1" / "kernel_details.csv").read_bytes().replace(b",a,", b",b,")
        server.client.put_object(Bucket=BUCKET, Key=key, Body=data)
    else:
        server.client.delete_object(Bucket=BUCKET, Key=key)
    mapped = cli("fleet", "map", tmp_path / "m.json", "--partials", tmp_path / "p", "--format", "json")
    assert [row["outcome"] for row in mapped.json["rows"]] == ["read", "unreadable", "read"]
    assert [bool(row["reason"]) for row in mapped.json["rows"]] == [False, True, False]
    reduced = cli("fleet", "reduce", tmp_path / "m.json", "--partials", tmp_path / "p", "--format", "json")
    assert reduced.code == 3
    said = {"changed": "has changed since it was listed", "removed": "No such file or directory"}[change]
    assert [said in words for words in named(reduced).values()] == [True]
    assert list(named(reduced)) == [f"s3://{BUCKET}/{key}"]
    assert [row["run"] for row in reduced.json["rows"]] == [f"{uri}/rank_0", f"{uri}/rank_2"]


def test_another_version_is_refused_where_the_server_passes_over_the_condition(
    cli: Cli, server: Server, ranks: Path
) -> None:
    uri = server.upload(ranks, "night")
    server.fail("replaced", "GET", "rank_1/kernel_details", times=100)
    ended = cli("hotspots", uri, "--format", "json")
    server.fail()
    assert ended.code == 3
    assert [row["run"] for row in ended.json["rows"]] == [f"{uri}/rank_0", f"{uri}/rank_2"]
    (said,) = named(ended).values()
    assert "has changed since it was listed" in said


@pytest.mark.parametrize("kind", ["throttled", "lost"])
def test_lost_answers_and_throttling_are_waited_out(
    cli: Cli, server: Server, ranks: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    uri = server.upload(ranks, "night")
    with monkeypatch.context() as impatient:
        impatient.setattr(bucket, "RETRIES", 0)  # whose client serves nobody else
        plain = cli("hotspots", uri, "--format", "json")
    for words in ("list-type", "kernel_details"):
        server.fail(kind, "GET", words, times=2)
        assert cli("hotspots", uri, "--format", "json").out == plain.out


@pytest.mark.usefixtures("few_retries")
@pytest.mark.parametrize(
    ("kind", "question"),
    [
        ("throttled", "hotspots"), ("denied", "hotspots"), ("lost", "hotspots"), ("denied", "stragglers"),
        ("throttled", "check"), ("lost", "normalize"),
    ],
)  # fmt: skip
def test_a_rank_that_cannot_be_fetched_is_named_without_a_secret(
    cli: Cli, server: Server, ranks: Path, kind: str, question: str
) -> None:
    uri = server.upload(ranks, "night")
    server.fail(kind, "GET", "rank_1/kernel_details.csv", times=1000)
    options = [] if question == "normalize" else ["--format", "json"]
    ended = cli(question, uri, *options)
    assert ended.code == 3
    where, why = f"{uri}/rank_1/kernel_details.csv", {"throttled": "SlowDown", "denied": "AccessDenied", "lost": "GET"}
    said = ended.err if question == "normalize" else str(named(ended))
    assert where in said
    assert why[kind] in said
    assert "rank_2/kernel_details.csv" not in said
    assert not [word for word in SECRETS if word in ended.out + ended.err]
    if question == "hotspots":
        assert [row["run"] for row in ended.json["rows"]] == [f"{uri}/rank_0", f"{uri}/rank_2"]


@pytest.mark.usefixtures("few_retries")
def test_what_a_reader_can_do_without_is_named_and_not_kept(cli: Cli, server: Server, tmp_path: Path) -> None:
    capture = write_night(tmp_path, 0, QUIET)
    uri = server.upload(capture, capture.name)
    server.fail("throttled", "GET", "profiler_info", times=1000)
    ended = cli("hotspots", uri, "--format", "json")
    assert (ended.code, list(named(ended))) == (3, [f"{uri}/profiler_info_0.json"])
    assert ended.json["rows"]


@pytest.mark.parametrize(
    ("command", "what"),
    [
        *(("hotspots", what) for what in ("bucket", "credentials", "server", "nothing", "name")),
        *((command, "nothing") for command in ("compare", "check", "inspect", "normalize", "ingest", "table")),
    ],
)
def test_what_cannot_be_reached_is_one_line_without_a_secret(
    cli: Cli, server: Server, ranks: Path, monkeypatch: pytest.MonkeyPatch, command: str, what: str
) -> None:
    monkeypatch.setattr(bucket, "RETRIES", 0)
    uri = server.upload(ranks, "night")
    where = {"bucket": "s3://somebody-elses/x", "nothing": f"{uri}/nothing", "name": "s3://"}.get(what, uri)
    if what == "credentials":
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    elif what == "server":
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    others: dict[str, list[object]] = {"compare": [ranks / "rank_0"], "ingest": ["--store", ranks / "store"]}
    before = ["kernel_details"] if command == "table" else []
    ended = cli(command, *before, where, *others.get(command, []))
    assert ended.code == 3
    lines = [line for line in (ended.out + ended.err).splitlines() if "[unreadable]" in line]
    assert len(lines) == 1
    said = {"bucket": "NoSuchBucket", "credentials": "InvalidAccessKeyId", "server": "error sending request"}
    assert said.get(what, {"nothing": "no such file or folder", "name": "no bucket"}.get(what, "")) in lines[0]
    assert not [word for word in SECRETS if word in (ended.out + ended.err).replace("somebody-elses", "")]


@pytest.mark.parametrize("key", ["night/../rank_1/kernel_details.csv", "night/a/./b.csv", "night//kernel_details.csv"])
def test_a_key_that_is_no_path_is_one_line(cli: Cli, server: Server, ranks: Path, key: str) -> None:
    uri = server.upload(ranks, "night")
    server.client.put_object(Bucket=BUCKET, Key=key, Body=b"x")
    ended = cli("hotspots", uri, "--format", "json")
    assert ended.code == 3
    ((where, why),) = named(ended).items()
    assert (where, key in why, "\n" in why) == (uri, True, False)


def test_more_than_fits_is_not_fetched(cli: Cli, server: Server, ranks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (ranks / "rank_1" / "kernel_details.csv").write_text(KERNELS + "1,a,MatMul,AI_CORE,1.0,3.5\n" * 10)
    uri = server.upload(ranks, "night")
    monkeypatch.setattr(objects, "MAX_FETCHED_BYTES", 200)
    ended = cli("hotspots", uri, "--format", "json")
    assert list(named(ended)) == [f"{uri}/rank_1/kernel_details.csv"]
    assert [row["run"] for row in ended.json["rows"]] == [f"{uri}/rank_0", f"{uri}/rank_2"]


def test_a_large_object_comes_in_pieces(cli: Cli, server: Server, ranks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f"0,a,MatMul,AI_CORE,{start}.0,2.5\n" for start in range(9000))
    (ranks / "rank_0" / "kernel_details.csv").write_text(KERNELS + rows)
    uri = server.upload(ranks, "night")
    monkeypatch.setattr(objects, "PIECE_BYTES", 50_000)
    here, there = (cli("hotspots", place, "--format", "json") for place in (ranks, uri))
    assert there.out.replace(uri, str(ranks)) == here.out
    assert fetched(server).count("night/rank_0/kernel_details.csv") == 6  # its beginning, and five pieces


def test_a_bucket_with_too_many_objects_is_named(
    cli: Cli, server: Server, ranks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "MAX_OBJECTS", 2)
    ended = cli("hotspots", server.upload(ranks, "night"), "--format", "json")
    assert (ended.code, ["longer prefix" in words for words in named(ended).values()]) == (3, [True])


def test_a_database_is_read_and_the_journal_beside_it_seen(cli: Cli, server: Server, tmp_path: Path) -> None:
    folder = tmp_path / "run" / "ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(folder / "ascend_pytorch_profiler_0.db")) as database:
        database.execute("CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER)")
        database.execute("INSERT INTO STEP_TIME VALUES (1, 1736410576404465403, 1736410576404470403)")
        database.commit()
    for journal in (b"", b"pages"):
        (folder / "ascend_pytorch_profiler_0.db-wal").write_bytes(journal)
        uri = server.upload(tmp_path / "run", "run")
        here, there = (cli("check", place, "--format", "json") for place in (tmp_path / "run", uri))
        assert there.out.replace(uri, str(tmp_path / "run")) == here.out
        assert [row["path"] for row in there.json["rows"]] == [
            f"{uri}/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db"
        ]
        assert ("db-journal" in there.rules()) == bool(journal)


def test_a_profile_names_credentials(
    cli: Cli, server: Server, ranks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = server.upload(ranks, "night")
    (tmp_path / "credentials").write_text(f"[lab]\naws_access_key_id = fixture\naws_secret_access_key = {SECRET}\n")
    (tmp_path / "config").write_text(f"[profile lab]\nregion = us-east-1\nendpoint_url = {server.url}\n")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name)
    for name in ("config", "credentials"):
        monkeypatch.setenv({"config": "AWS_CONFIG_FILE"}.get(name, "AWS_SHARED_CREDENTIALS_FILE"), str(tmp_path / name))
    monkeypatch.setenv("AWS_PROFILE", "lab")
    assert cli("hotspots", uri, "--format", "json").code == 0
    (tmp_path / "config").write_text("no profile\n")
    ended = cli("hotspots", f"{uri}/rank_0")
    assert cli("hotspots", uri).code == 0  # the client that was made stays
    monkeypatch.setenv("AWS_PROFILE", "other")
    ended = cli("hotspots", uri)
    assert (ended.code, SECRET in ended.out + ended.err) == (3, False)
    assert "the profiles of credentials cannot be read" in ended.out + ended.err


@pytest.mark.parametrize(
    ("variable", "endpoint", "allowed", "said"),
    [
        ("AWS_ENDPOINT_URL", "obs.example", "true", "expected http://HOST or https://HOST"),
        ("AWS_ENDPOINT_URL_S3", "ftp://obs.example", "true", "expected http://HOST or https://HOST"),
        ("AWS_ENDPOINT", "http://", "true", "expected http://HOST or https://HOST"),
        ("AWS_ENDPOINT", f"https://user:{SECRET}@obs.example", "true", "without user and password"),
        (
            "AWS_ENDPOINT_URL",
            "http://obs.example",
            "false",
            "is a server without TLS: set AWS_ALLOW_HTTP=true to use it",
        ),
    ],
)
def test_an_address_of_a_server_that_cannot_be_used_is_told(
    cli: Cli, ranks: Path, monkeypatch: pytest.MonkeyPatch, variable: str, endpoint: str, allowed: str, said: str
) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, endpoint)
    monkeypatch.setenv("AWS_ALLOW_HTTP", allowed)
    for command in (("hotspots", f"s3://{BUCKET}/night"), ("hotspots", ranks, "--cache", f"s3://{BUCKET}/kept")):
        ended = cli(*command)
        assert (ended.code, ended.err.count("\n")) == (3, 1)
        assert f"{variable}{': ' if 'expected' in ended.err else ' '}" in ended.err
        assert said in ended.err
        assert SECRET not in ended.out + ended.err


def test_a_uri_that_names_no_object_is_a_finding_in_one_line(cli: Cli, server: Server) -> None:
    ended = cli("hotspots", f"{server.upload(FIXTURES / 'msprof' / 'valid' / 'ten_iterations', 'night')}/\x1b[31m")
    assert (ended.code, ended.err.count("\n"), "\x1b" in ended.out + ended.err) == (3, 1, False)


def test_python_takes_a_uri_as_text_or_path(server: Server, ranks: Path) -> None:
    uri = server.upload(ranks, "night")
    first, second = hotspots([uri]), hotspots([Path(uri)])  # type: ignore[list-item] # a text, as in the docs
    assert first.rows == second.rows
    assert first.inputs == second.inputs == (uri,)


def test_a_uri_is_a_path_that_travels() -> None:
    path = object_of("s3://b/run/PROF_1/op_summary.csv", 7, '"tag"', 1_700_000_000_123_456_000)
    for other in (pickle.loads(pickle.dumps(path)), thaw(freeze(path))):
        assert (other, str(other), other.size, other.version, other.modified_ns) == (
            (path, "s3://b/run/PROF_1/op_summary.csv", 7, '"tag"', 1_700_000_000_123_456_000)
        )
    assert (path.root, path.key, path.parent.name) == ("s3://b", "run/PROF_1/op_summary.csv", "PROF_1")
    assert (str(path.parent), str(path.with_name("x-wal")), str(path.absolute())) == (
        ("s3://b/run/PROF_1", "s3://b/run/PROF_1/x-wal", str(path))
    )
    assert path.parent.size is None
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (7, 1_700_000_000_123_456_000)
    assert json.loads(freeze(path))["of"][2] == '"tag"'


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("s3://b/x", "s3://b/x"), ("s3:/b/x", "s3://b/x"), ("S3://b/x/", "s3://b/x"), ("s3a://b", "s3://b"),
        ("./s3:x", "s3:x"), ("runs/s3:/b", "runs/s3:/b"), ("/s3:/b", "/s3:/b"),
    ],
)  # fmt: skip
def test_what_is_a_uri(text: str, uri: str) -> None:
    path = path_of(text)
    assert (str(path), isinstance(path, ObjectPath)) == (uri, uri.startswith("s3://"))
    assert path_of(path) == path == path_of(Path(text))


def test_databases_that_do_not_fit_together_are_read_one_after_another(
    cli: Cli, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for rank in range(6):
        folder = tmp_path / "run" / f"rank_{rank}" / "ASCEND_PROFILER_OUTPUT"
        folder.mkdir(parents=True)
        with closing(sqlite3.connect(folder / f"ascend_pytorch_profiler_{rank}.db")) as database:
            database.execute("CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER)")
            database.execute("CREATE TABLE OTHER AS SELECT zeroblob(100000) AS padding")
            database.commit()
    uri = server.upload(tmp_path / "run", "run")
    here = cli("inspect", tmp_path / "run", "--format", "json")
    monkeypatch.setattr(objects, "MAX_FETCHED_BYTES", 150_000)
    there = cli("inspect", uri, "--format", "json")
    assert there.out.replace(uri, str(tmp_path / "run")) == here.out
    assert len(there.json["rows"]) == 6


def write_database(folder: Path, rank: int) -> None:
    """A database of one step, in a capture of its own."""
    place = folder / f"host_{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    place.mkdir(parents=True)
    with closing(sqlite3.connect(place / f"ascend_pytorch_profiler_{rank}.db")) as database:
        database.execute("CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER)")
        database.execute("INSERT INTO STEP_TIME VALUES (1, 1736410576404465403, 1736410576404470403)")
        database.commit()


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [["--jobs", "2"], pytest.param(["--scheduler", "dask://local"], marks=pytest.mark.torture)], ids=" ".join
)
def test_each_process_fetches_for_itself_once_and_leaves_nothing(
    cli: Cli, server: Server, ranks: Path, tmp_path: Path, options: list[str]
) -> None:
    for rank in range(3):
        write_database(ranks, rank)
    here = cli("hotspots", "--format", "csv", ranks)
    uri = server.upload(ranks, "run")
    (tmp_path / "temporary").mkdir()
    server.requests()
    ended = subprocess.run(
        [sys.executable, "-m", "aoe_reports", "hotspots", "--format", "csv", *options, uri],
        env=server.environment | {"TMPDIR": str(tmp_path / "temporary")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout.replace(uri, str(ranks))) == (here.code, here.out)
    assert ended.stderr.replace(uri, str(ranks)) == here.err
    asked = [name for name in fetched(server) if name.endswith(".db")]
    assert (len(asked), len(set(asked))) == (3, 3)
    assert [one.name for one in (tmp_path / "temporary").iterdir() if one.name.startswith("aoe_reports-")] == []


def test_what_was_fetched_for_a_look_is_fetched_again_where_it_is_gone_or_another(
    cli: Cli, server: Server, tmp_path: Path
) -> None:
    write_database(tmp_path / "run", 0)
    path = path_of(server.upload(tmp_path / "run", "run"))
    with objects.fetching(holds=True):
        (found,) = [one for one in objects.objects_below(path) if one.name.endswith(".db")]  # type: ignore[arg-type]
        content = Path(os.fspath(found)).read_bytes()
    held = pickle.loads(pickle.dumps(found))
    assert held.content.place == os.fspath(held)
    for spoil in (
        lambda place: place.write_bytes(b"other"),
        Path.unlink,
        lambda place: place.symlink_to("/etc/passwd"),
    ):
        spoil(Path(held.content.place))
        with objects.fetching():
            assert os.fspath(held) != held.content.place
            assert Path(os.fspath(held)).read_bytes() == content
    place = Path(held.content.place).parent
    del found
    assert not place.exists()


@pytest.mark.parametrize(
    ("key", "place"), [("credential_process", "captures"), ("sso_session", "captures"), ("role_arn", "partials")]
)
def test_a_profile_that_gets_credentials_elsewhere_is_refused_in_one_line(
    cli: Cli, server: Server, ranks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, place: str
) -> None:
    uri = server.upload(ranks, "night")
    (tmp_path / "config").write_text(f"[profile lab]\nregion = us-east-1\n{key} = touch {tmp_path}/ran\n")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_PROFILE", "lab")
    server.requests()
    ended = cli("hotspots", uri) if place == "captures" else cli("hotspots", ranks, "--cache", uri)
    lines = [line for line in (ended.out + ended.err).splitlines() if "gets its credentials by" in line]
    assert (ended.code, len(lines)) == (3, 1)
    assert f"by {key}, which is not supported" in lines[0]
    assert "aws configure export-credentials --profile lab --format env" in lines[0]
    assert server.requests() == []
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("tune", "run", "s3://nights/plan"), ("check", "s3://nights/results", "--watch"), ("check", "S3://nights", "--watch"),
        ("hotspots", VALID, "-o", "s3://nights/answer.json"), ("hotspots", VALID, "--manifest", "s3://nights/m.json"),
        ("fleet", "map", "s3://nights/m.json", "--partials", "p"), ("nightly", VALID, "--store", "st", "--site", "s3://nights/site"),
    ],
)  # fmt: skip
def test_an_object_store_where_only_folders_are_taken_is_one_line(
    cli: Cli, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    server.requests()
    ended = cli(*arguments)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "expected a file or folder of this machine, not an object store" in ended.err
    assert list(tmp_path.iterdir()) == []
    assert server.requests() == []


def test_tables_of_records_are_told_by_their_beginning_and_end(cli: Cli, server: Server, tmp_path: Path) -> None:
    records = FIXTURES / "records" / "valid"
    (tmp_path / "night").mkdir()
    assert cli("ingest", "--dry-run", records, "-o", tmp_path / "night" / "r.parquet").code == 0
    (tmp_path / "night" / "part.parquet").write_bytes(b"PAR1" + bytes(300_000) + b"PAR1")
    (tmp_path / "night" / "r.csv").write_text(
        "workload,engine,hardware,runtime_ms_mean,runtime_ms_std\nnet,tvm,cpu,1,\n"
    )
    uri = server.upload(tmp_path / "night", "night")
    listed = cli("inspect", uri, "--format", "json")
    assert [row["path"] for row in listed.json["rows"]] == [f"{uri}/r.csv", f"{uri}/r.parquet"]
    assert len(cli("ingest", "--dry-run", uri).out.splitlines()) == 4
