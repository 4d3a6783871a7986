"""A changed letter in the log: no read gives other answers, and `store verify` names the file."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import torture
from commandline import Cli, Ended
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError

from aoe_reports.engine.question import Notes
from aoe_reports.history.care import undo_run
from aoe_reports.history.runs.ingest import ingest as ingest_paths
from aoe_reports.simulation.nights import write_nights
from aoe_reports.store import History
from aoe_reports.store.layout import PARTITIONS, ROW_COUNTS, ROWS

NIGHTS = 5


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("nights")
    write_nights(folder, NIGHTS)
    return sorted(folder.iterdir())


def store_each(paths: list[Path], store: Path) -> None:
    for path in paths:
        assert ingest_paths([path], str(store), torture.OPTIONS, Notes())


@pytest.fixture(scope="module")
def made(nights: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made") / "store"
    store_each(nights, place)
    for done in range(5):
        undo_run(str(place), max(header.run_id for header in History.open(str(place)).runs()))
        store_each(nights[-1:], place)
        if done and hint(place)["version"] < int(commits(place)[-2].stem):
            return place
    raise AssertionError("no two commits behind a checkpoint")


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    """A store whose last two commits lie behind the last checkpoint: one takes a run out, the next stores it again."""
    return shutil.copytree(made, tmp_path / "store")


def ingest(cli: Cli, path: Path, store: Path) -> None:
    assert cli("ingest", path, "--store", store, "--workload", "w").code in {0, 1}


def commits(store: Path) -> list[Path]:
    return sorted((store / "_delta_log").glob("*.json"))


def hint(store: Path) -> dict[str, Any]:
    return json.loads((store / "_delta_log" / "_last_checkpoint").read_text())


def verified(cli: Cli, store: Path) -> Ended:
    return cli("store", "verify", "--store", store, "--format", "json")


def records(cli: Cli, store: Path) -> Ended:
    return cli("store", "history", "records", "--format", "jsonl", "--store", store)


def named(ended: Ended) -> set[str]:
    return {finding["path"] for finding in ended.json["findings"] if finding["severity"] == "error"}


def change(path: Path, pattern: str, becomes: str) -> None:
    """One letter becomes another one, at the first place that fits."""
    text = path.read_text()
    changed, count = re.subn(pattern, becomes, text, count=1)
    assert (count, len(changed)) == (1, len(text))
    assert sum(a != b for a, b in zip(text, changed, strict=True)) == 1
    path.write_text(changed)


ADDED = [
    (r'("partitionValues":\{[^}]*"kind":"recor)d"', r'\1f"'),
    (r'("partitionValues":\{[^}]*"month":"20\d\d-0)\d"', r'\g<1>9"'),
    (r'("path":"kind=record/month=20\d\d-0)\d/', r"\g<1>9/"),
    (r'("path":"kind=record/\S+?-)[0-8]', r"\g<1>9"),
    (r'("size":)[1-8]', r"\g<1>9"),
    (r'("modificationTime":1)\d', r"\g<1>0"),
    (r'(\\"numRecords\\": )[1-8]', r"\g<1>9"),
    (r'(\\"minValues\\": [^}]*\\"night\\": \\"20\d\d-0)\d', r"\g<1>9"),
    (r'(\\"maxValues\\": [^}]*\\"night\\": \\"20\d\d-)0', r"\g<1>1"),
    (r'(\\"minValues\\": [^}]*\\"timestamp_ns\\": )1', r"\g<1>2"),
    (r'(\\"maxValues\\": [^}]*\\"model\\": \\").', r"\g<1>~"),
    (r'(\\"nullCount\\": [^}]*\\"model\\": )0', r"\g<1>1"),
]
TAKEN_OUT = [(r'("remove":\{"path":"kind=record/\S+?-)[0-8]', r"\g<1>9"), (r'\{"(rem)ove"', r'{"\1ovf"')]


def with_a_record(store: Path, action: str) -> Path:
    """The newest commit that adds a file of records, or takes one out."""
    return next(path for path in reversed(commits(store)) if f'"{action}":{{"path":"kind=record/' in path.read_text())


@pytest.mark.parametrize(
    ("action", "pattern", "becomes"), [*(("add", *one) for one in ADDED), *(("remove", *one) for one in TAKEN_OUT)]
)
def test_a_letter_that_changes_behind_the_checkpoint_gives_no_other_answer_and_is_named(
    cli: Cli, store: Path, nights: list[Path], action: str, pattern: str, becomes: str
) -> None:
    whole = records(cli, store)
    commit = with_a_record(store, action)
    assert hint(store)["version"] < int(commit.stem)
    change(commit, pattern, becomes)
    for read in (records(cli, store), cli("store", "info", "--store", store), cli("regressions", "--store", store)):
        assert (read.code, read.out, read.err.count("\n")) == (3, "", 1), read.out
    written = cli("ingest", nights[-1], "--store", store, "--workload", "w")
    assert (written.code, written.err.count("\n")) == (3, 1)
    ended = verified(cli, store)
    assert (ended.code, whole.code) == (1, 0)
    assert str(commit) in named(ended) or any(commit.stem in path for path in named(ended))


@pytest.mark.parametrize(
    ("pattern", "becomes"),
    [*ADDED, (r'("remove":\{"path":"kind=\w+/\S+?-)[0-8]', r"\g<1>9"), (r'("timestamp":)1', r"\g<1>2")],
)
def test_a_letter_that_changes_before_the_checkpoint_changes_no_answer_and_is_named(
    cli: Cli, store: Path, pattern: str, becomes: str
) -> None:
    whole = records(cli, store)
    last = hint(store)["version"]
    commit = next(
        path
        for path in commits(store)
        if int(path.stem) <= last and re.search(pattern, path.read_text()) and '{"add"' in path.read_text()
    )
    change(commit, pattern, becomes)
    assert records(cli, store) == whole
    ended = verified(cli, store)
    assert ended.code == 1
    assert str(commit) in named(ended)


@pytest.mark.parametrize("word", [b"\x06\x00\x00\x00recor", b"%\x00\x18\x04pat"])
def test_a_byte_that_changes_in_the_last_checkpoint_gives_no_other_answer_and_is_named(
    cli: Cli, store: Path, word: bytes
) -> None:
    checkpoint = max((store / "_delta_log").glob("*.parquet"))
    content = checkpoint.read_bytes()
    place = content.index(word) + len(word)
    checkpoint.write_bytes(content[:place] + bytes([content[place] ^ 2]) + content[place + 1 :])
    read = records(cli, store)
    assert (read.code, read.out, read.err.count("\n")) == (3, "", 1)
    assert verified(cli, store).code in {1, 3}


def test_a_hint_at_another_checkpoint_is_named(cli: Cli, store: Path) -> None:
    whole = records(cli, store)
    path = store / "_delta_log" / "_last_checkpoint"
    path.write_text(json.dumps({**hint(store), "numOfAddFiles": 77}))
    assert records(cli, store) == whole
    assert named(verified(cli, store)) == {str(path)}


def test_a_byte_that_changes_around_the_pages_of_a_file_is_refused(cli: Cli, store: Path) -> None:
    for part in History.open(str(store)).log.parts("record"):
        path = store / part.path
        content = path.read_bytes()
        for place in (4, 12, len(content) - 9, len(content) - 40, len(content) - 200):
            path.write_bytes(content[:place] + bytes([content[place] ^ 16]) + content[place + 1 :])
            read = records(cli, store)
            assert (read.code, read.out, read.err.count("\n")) == (3, "", 1)
        path.write_bytes(content)


@pytest.mark.torture
def test_bytes_anywhere_that_change_give_no_other_answer(store: Path) -> None:
    newest, older = commits(store)[-1], commits(store)[-2]
    chance = random.Random(11)
    places = [
        flip
        for path in (newest, older)
        for flip in torture.flips_of(path, store, chance.sample(range(path.stat().st_size), 60), chance)
    ]
    outcomes = torture.flip(store, [*places, *torture.random_flips(store, 60, 11)])
    assert outcomes.total() == 180
    assert outcomes["refused"] > outcomes["harmless"]
    assert outcomes["named"] > 0


def as_of_an_older_version(store: Path) -> None:
    """The log as versions wrote it that said nothing of what is in force."""
    for path in commits(store):
        actions = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
        for action in actions:
            for name in ("in_force", "previous_sha256"):
                action.get("commitInfo", {}).pop(name, None)
        path.write_text("".join(json.dumps(action, separators=(",", ":")) + "\n" for action in actions))


def notes(ended: Ended) -> set[tuple[str, str]]:
    return {(finding["severity"], finding["rule"]) for finding in ended.json["findings"]}


def test_commits_of_an_older_version_are_said_to_be_not_covered_and_the_next_one_covers(
    cli: Cli, store: Path, nights: list[Path]
) -> None:
    whole = records(cli, store)
    as_of_an_older_version(store)
    ended = verified(cli, store)
    assert (ended.code, notes(ended)) == (0, {("info", "store-not-covered")})
    assert ended.json["rows"][0]["damaged"] == 0
    assert records(cli, store) == whole
    undo_run(str(store), max(header.run_id for header in History.open(str(store)).runs()))
    ingest(cli, nights[-1], store)
    assert verified(cli, store).code == 0
    assert hint(store)["version"] < int(commits(store)[-1].stem)
    change(with_a_record(store, "add"), *ADDED[0])
    assert records(cli, store).code == 3


@pytest.mark.parametrize(
    ("action", "pattern", "becomes"),
    [
        *(("add", *one) for one in ADDED if "modificationTime" not in one[0]),
        ("remove", *TAKEN_OUT[0]),
    ],
)
def test_a_letter_that_changes_in_a_commit_of_an_older_version_is_named(
    cli: Cli, store: Path, action: str, pattern: str, becomes: str
) -> None:
    as_of_an_older_version(store)
    commit = with_a_record(store, action)
    change(commit, pattern, becomes)
    ended = verified(cli, store)
    assert ended.code == 1
    if action == "remove":
        assert any("it removes " in f["message"] and f["path"] == str(commit) for f in ended.json["findings"])
    else:
        assert ended.rules() & {"store-damaged", "store-missing", "store-truncated"}


def test_what_another_program_merged_is_read_and_said_to_be_not_covered(
    cli: Cli, store: Path, nights: list[Path]
) -> None:
    whole = records(cli, store)
    DeltaTable(str(store)).optimize.compact()
    assert sorted(records(cli, store).out.splitlines()) == sorted(whole.out.splitlines())
    ended = verified(cli, store)
    assert (ended.code, notes(ended)) == (0, {("info", "store-not-covered")})
    ingest(cli, nights[-1], store)
    assert verified(cli, store).code == 0


def test_a_run_that_lost_rows_is_named(cli: Cli, store: Path) -> None:
    history = History.open(str(store))
    part = history.log.parts("advice")[0]
    history.log.commit([], [part.removal()])  # as a writer without our care would have left it
    ended = verified(cli, store)
    assert (ended.code, ended.rules()) == (1, {"store-half-run"})
    assert all(
        re.search(r"has 0 rows of kind advice, but \d+ were stored", f["message"]) for f in ended.json["findings"]
    )


@pytest.mark.parametrize(
    "workload", ["模型", "a'b\"c\\d", "x" * 80, "tab\there", "x\x1fy", "\N{PILE OF POO}", "null", " ", "1"]
)
def test_what_is_in_force_is_the_same_to_writer_and_reader_whatever_a_workload_is_called(
    cli: Cli, nights: list[Path], tmp_path: Path, workload: str
) -> None:
    place = tmp_path / "store"
    for night in nights[:2]:
        assert cli("ingest", night, "--store", place, "--workload", workload).code == 0
    assert records(cli, place).code == 0
    ended = verified(cli, place)
    assert (ended.code, ended.json["findings"]) == (0, [])


def test_of_two_that_bring_a_store_up_to_date_at_once_the_second_looks_again(tmp_path: Path) -> None:
    place = tmp_path / "old"
    lacking = ROWS.remove(ROWS.get_field_index("state"))
    empty = pa.Table.from_pylist([], schema=lacking)
    write_deltalake(str(place), empty, partition_by=PARTITIONS, description="aoe-reports history, format 1")
    first, second = History.open(str(place)), History.open(str(place))
    first.log.upgrade()
    with pytest.raises(CommitFailedError):
        second.log.upgrade()
    second.log.refresh()
    second.log.upgrade()
    assert second.log.format == 2
    assert History.open(str(place)).rows("record").num_rows == 0


def test_a_run_says_how_many_rows_of_each_kind_it_has(store: Path) -> None:
    history = History.open(str(store))
    told = {row["run_id"]: json.loads(row["body"])[ROW_COUNTS] for row in history.rows("run").to_pylist()}
    for kind in ("record", "finding", "advice"):
        found = history.rows(kind, ["run_id"])["run_id"].to_pylist()
        assert {run: found.count(run) for run in told} == {run: counts[kind] for run, counts in told.items()}
