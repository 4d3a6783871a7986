"""What is kept of each capture is used while it is as it was, and made again where it is not."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from captures import KERNELS
from commandline import FIXTURES, Cli

from aoe_reports.engine.ask import ask
from aoe_reports.engine.fleet.keeping import Objects, place_of
from aoe_reports.engine.fleet.partials import CachedReader, Keys, Partials, UnitResult
from aoe_reports.engine.question import FileUnit, Notes, Request
from aoe_reports.formats.sources.found import FileName, FoundFile
from aoe_reports.topics.device_time.hotspots import HotspotOptions, Hotspots


def write(folder: Path, rank: int, name: str, *, at: int | None = None) -> None:
    """A table of one task, with a time of its own if it is said."""
    file = folder / f"rank_{rank}" / "kernel_details.csv"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{KERNELS}{rank},{name},MatMul,AI_CORE,1.0,{rank + 2}.5\n")
    if at is not None:
        os.utime(file, ns=(at, at))


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    for rank in range(3):
        write(tmp_path, rank, "a", at=10**18)
    return tmp_path


def names(paths: Path, **options: Any) -> list[str | None]:
    answer = ask(Hotspots(), [paths], HotspotOptions(by="op_name", **options))
    return [one.op_name for one in answer.rows]


def test_only_what_has_changed_is_read_again(ranks: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert names(ranks, cache=cache) == ["a", "a", "a"]
    for rank in range(3):
        write(ranks, rank, "b", at=10**18)  # as large and as old: it looks as it was
    assert names(ranks, cache=cache) == ["a", "a", "a"]
    assert names(ranks) == ["b", "b", "b"]
    write(ranks, 1, "b", at=10**18 + 1)
    assert names(ranks, cache=cache) == ["a", "b", "a"]
    write(ranks, 2, "longer", at=10**18)
    assert names(ranks, cache=cache) == ["a", "b", "longer"]
    write(ranks, 3, "new")
    assert names(ranks, cache=cache) == ["a", "b", "longer", "new"]


@pytest.mark.parametrize(
    ("options", "again"),
    [({"top": 3}, True), ({"all_tasks": True}, True), ({"jobs": 1}, False), ({"strict": True}, False)],
)
def test_other_options_have_other_results(ranks: Path, tmp_path: Path, options: dict[str, Any], *, again: bool) -> None:
    cache = tmp_path / "cache"
    names(ranks, cache=cache)
    for rank in range(3):
        write(ranks, rank, "b", at=10**18)
    assert names(ranks, cache=cache, **options) == ["b" if again else "a"] * 3


def test_a_damaged_result_is_made_again(ranks: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    names(ranks, cache=cache)
    kept = sorted(cache.rglob("*.json.gz"))
    whole = [file.read_bytes() for file in kept]
    assert len(kept) == 3
    damages: list[Callable[[bytes], bytes]] = [
        lambda data: data[:-9], lambda data: b"", lambda data: data[:30] + bytes([data[30] ^ 1]) + data[31:],
    ]  # fmt: skip
    for file, data, damage in zip(kept, whole, damages, strict=True):
        file.write_bytes(damage(data))
    assert names(ranks, cache=cache) == ["a", "a", "a"]
    assert [file.read_bytes() for file in kept] == whole


def test_what_could_not_be_read_is_tried_again(tmp_path: Path) -> None:
    results: list[UnitResult] = [
        (("read",), Notes()),
        (("part",), Notes(unreadable=True)),
        (None, Notes(unreadable=True)),
    ]
    keys = Keys("hotspots", Request(options=HotspotOptions(), notes=Notes()))
    once = CachedReader(read=lambda _: results.pop(), partials=Partials(tmp_path), keys=keys)
    assert [once("unit") for _ in range(4)] == [
        (None, Notes(unreadable=True)), (("part",), Notes(unreadable=True)), (("read",), Notes()), (("read",), Notes()),
    ]  # fmt: skip
    assert results == []


def test_nothing_of_another_program_is_taken_for_a_result(tmp_path: Path) -> None:
    partials = Partials(tmp_path)
    assert partials.load("ab" * 32) is None
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / ("ab" * 32 + ".json.gz")).write_bytes(b'{"$": "os:system", "of": "true"}')
    assert partials.load("ab" * 32) is None


@pytest.mark.slow
@pytest.mark.parametrize("question", ["hotspots", "advise"])
def test_an_answer_from_what_is_kept_is_the_answer_to_the_byte(cli: Cli, tmp_path: Path, question: str) -> None:
    """Every question's partial results are frozen and thawed in test_manifest.py."""
    asked = question, FIXTURES / "msprof", "--format", "json"
    plain = cli(*asked)
    for _ in range(2):
        kept = cli(*asked, "--cache", tmp_path / "cache")
        assert (kept.code, kept.out, kept.err) == (plain.code, plain.out, plain.err)


def test_a_folder_that_cannot_be_written_is_an_error_in_one_line(cli: Cli, ranks: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = cli("hotspots", ranks, "--cache", tmp_path / "file")
    assert ended.code == 3
    assert "Not a directory" in ended.err


def test_the_same_name_in_another_folder_is_another_capture(
    ranks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for rank in range(3):
        write(other, rank, "b", at=10**18)
    for folder, name in ((ranks, "a"), (other, "b")):
        monkeypatch.chdir(folder)
        assert names(Path("rank_1"), cache=tmp_path / "cache") == [name]


def test_what_a_database_has_beside_it_is_part_of_it(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    file.touch()
    found = FoundFile(path=file, name=FileName("x", "db", "torch_npu"), size=0)
    keys = Keys("hotspots", Request(options=HotspotOptions(), notes=Notes()))
    before = keys.of(FileUnit(file=found))
    (tmp_path / "a.db-wal").touch()
    assert keys.of(FileUnit(file=found)) != before


@pytest.mark.parametrize(
    "rest", ["5,[],false", '{"$":"tuple","of":[1]},[3],false', "null,{},false", "1,2", '{"$":"decimal","of":"x"}']
)
def test_what_is_no_partial_result_is_made_again(tmp_path: Path, rest: str) -> None:
    partials, key = Partials(tmp_path), "ab" * 32
    partials.save(key, (("part",), Notes()))
    (file,) = tmp_path.rglob("*.gz")
    for text in (f'["{key}",{rest}]', "5", "null", '"abc"'):
        file.write_bytes(gzip.compress(text.encode()))
        assert partials.load(key) is None


def test_a_copy_of_another_capture_s_result_is_made_again(ranks: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    names(ranks, cache=cache)
    write(ranks, 1, "b")
    assert names(ranks, cache=cache) == ["a", "b", "a"]
    first, *others = sorted(cache.rglob("*.json.gz"))
    for other in others:
        other.write_bytes(first.read_bytes())
    assert names(ranks, cache=cache) == ["a", "b", "a"]


@pytest.mark.parametrize("make", [os.mkfifo, lambda place: place.symlink_to("/dev/zero")], ids=["pipe", "device"])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, make: Callable[[Path], None]) -> None:
    partials, key = Partials(tmp_path), "ab" * 32
    (tmp_path / "ab").mkdir()
    make(tmp_path / "ab" / f"{key}.json.gz")
    assert partials.load(key) is None
    partials.save(key, (("part",), Notes()))
    assert partials.load(key) == (("part",), Notes())


def test_results_are_kept_nowhere_where_nothing_is_named(cli: Cli, ranks: Path) -> None:
    ended = cli("hotspots", ranks, "--cache", "")
    assert (ended.code, "the text is empty" in ended.err) == (2, True)


def test_a_folder_is_the_same_from_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    partials = Partials("kept")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    partials.save("ab" * 32, (("part",), Notes()))
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("text", ["s3:/bucket/prefix", "S3://bucket/prefix", "s3a://bucket/prefix"])
def test_a_bucket_is_one_however_it_is_written(text: str) -> None:
    assert place_of(text) == Objects(uri="s3://bucket/prefix")
