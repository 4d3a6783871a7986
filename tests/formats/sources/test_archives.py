"""Archives that are named: what is asked of one is what is asked of its folder, and what is odd about one is said in a line."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from commandline import Cli, Ended
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats.sources import archives
from aoe_reports.formats.sources.archives import unpacked
from aoe_reports.formats.sources.objects import fetching
from aoe_reports.model.findings import Finding

FORMS = {"zip": "zip", "tar": "tar", "tar.gz": "gztar", "tgz": "gztar"}
OP_SUMMARY = "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n0,a,MatMul,AI_CORE,1.0,2.5\n"
NAME = "op_summary_20240101000000.csv"


def archive_of(folder: Path, target: Path) -> Path:
    """A folder as an archive, of the kind that its ending tells."""
    form = FORMS[target.name.partition(".")[2]]
    made = shutil.make_archive(str(target.with_name("made")), form, folder)
    return Path(shutil.move(made, target))


def tar_of(members: Mapping[str, bytes]) -> bytes:
    """A tar archive of some files."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return content.getvalue()


def names_in(path: Path) -> tuple[dict[str, str], list[Finding]]:
    """(content by name of what is unpacked, what is said)."""
    findings: list[Finding] = []
    with fetching():
        found = unpacked(path, None, findings)
        return {str(one.relative_to(path)): one.read_text() for one in found}, findings


@pytest.fixture
def two_ranks(msprof: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(msprof / "torch_npu_two_ranks", tmp_path / "run.folder"))


@pytest.mark.parametrize("ending", FORMS)
@pytest.mark.parametrize(
    "asked",
    [
        ("inspect",),
        ("hotspots", "--by", "op_type"),
        ("steps",),
        ("breakdown",),
        ("communication",),
        ("advise",),
        ("check",),
        ("ingest", "--dry-run", "--workload", "net", "--hardware", "Ascend910B", "--engine-version", "8.0"),
    ],
)
def test_the_answer_is_that_of_the_folder(
    cli: Cli, two_ranks: Path, tmp_path: Path, ending: str, asked: tuple[str, ...]
) -> None:
    archive = archive_of(two_ranks, tmp_path / f"run.{ending}")
    form = () if asked[0] == "normalize" else ("--format", "json")

    def answer(path: Path) -> tuple[int, str, str]:
        ended = cli(asked[0], path, *asked[1:], *form)
        return ended.code, ended.out.replace(path.name, "run"), ended.err.replace(path.name, "run")

    told = answer(archive)
    assert told == answer(two_ranks)
    assert len(told[1]) > 200


@pytest.mark.slow
def test_processes_and_a_cache_read_it_alike(cli: Cli, two_ranks: Path, tmp_path: Path) -> None:
    archive = archive_of(two_ranks, tmp_path / "run.tar.gz")
    asked = ("hotspots", archive, "--format", "json")
    told = cli(*asked, "--jobs", "1").out
    assert cli(*asked, "--jobs", "2").out == told
    cache = tmp_path / "cache"
    for _ in range(2):
        assert cli(*asked, "--cache", cache).out == told
    kept = sorted(path.name for path in cache.rglob("*.json.gz"))
    assert len(kept) == 2  # one a rank, found again
    cut = two_ranks / "rank1_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    lines = cut.read_text().splitlines(keepends=True)
    cut.write_text("".join(lines[: len(lines) // 2]))
    archive_of(two_ranks, archive)
    assert cli(*asked, "--cache", cache).out == cli(*asked).out != told


def test_a_store_takes_it(cli: Cli, two_ranks: Path, tmp_path: Path) -> None:
    archive = archive_of(two_ranks, tmp_path / "run.zip")
    told = ("--workload", "net", "--hardware", "Ascend910B", "--engine-version", "8.0")
    ended = cli("ingest", archive, "--store", tmp_path / "store", *told)
    assert ended.code == 0, ended.err
    listed = cli("store", "history", "--store", tmp_path / "store", "--format", "json")
    assert listed.code == 0
    assert listed.json["rows"]


def test_what_leads_out_of_it_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "run.tar"
    content = io.BytesIO(
        tar_of({"../up.csv": b"1", "/root.csv": b"2", "a/../../b.csv": b"3", "./in/x.csv": b"4", "in/x.csv": b"5"})
    )
    with tarfile.open(fileobj=content, mode="a") as archive:
        for kind, name in (
            (tarfile.SYMTYPE, "link.csv"),
            (tarfile.LNKTYPE, "hard.csv"),
            (tarfile.FIFOTYPE, "pipe.csv"),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    path.write_bytes(content.getvalue())
    found, (left_out, twice) = names_in(path)
    assert found == {"in/x.csv": "5"}
    assert (left_out.severity, left_out.rule, left_out.path) == ("warning", "archive", str(path))
    assert left_out.message.startswith("6 members are left out, ")
    assert left_out.message.endswith("are not followed: ../up.csv, /root.csv, a/../../b.csv")
    assert twice.message.endswith("the last file of each is used: in/x.csv")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["run.tar"]


def test_links_in_a_zip_are_passed_over(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        link = zipfile.ZipInfo("link.csv")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("../up.csv", "1")
        archive.writestr("folder/", "")
        archive.writestr("in.csv", "2")
    found, (left_out,) = names_in(tmp_path / "run.zip")
    assert found == {"in.csv": "2"}
    assert left_out.message.endswith("are not followed: link.csv, ../up.csv")


def test_a_hard_link_is_the_file_that_it_is_linked_to(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "a.csv").write_text("1")
    (tmp_path / "run" / "b.csv").hardlink_to(tmp_path / "run" / "a.csv")
    archive = archive_of(tmp_path / "run", tmp_path / "run.tar.gz")
    assert names_in(archive) == ({"a.csv": "1", "b.csv": "1"}, [])


@pytest.mark.parametrize("ending", FORMS)
def test_files_have_the_times_that_they_were_packed_with(tmp_path: Path, ending: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "a.csv").write_text("1")
    os.utime(tmp_path / "run" / "a.csv", (1_768_000_000, 1_768_000_000))
    with fetching():
        (found,) = unpacked(archive_of(tmp_path / "run", tmp_path / f"run.{ending}"), None, [])
        assert found.stat().st_mtime_ns == 1_768_000_000 * 10**9


def test_times_in_utc_go_before_those_on_the_wall(tmp_path: Path) -> None:
    told = zipfile.ZipInfo("a.csv", (2020, 1, 1, 0, 0, 0))
    told.extra = struct.pack("<HHBi", 0x5455, 5, 1, 1_768_000_001)
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        archive.writestr(told, "1")
    with fetching():
        (found,) = unpacked(tmp_path / "run.zip", None, [])
    assert found.modified_ns == 1_768_000_001 * 10**9


def test_one_that_is_named_twice_is_read_once(cli: Cli, two_ranks: Path, tmp_path: Path) -> None:
    archive = archive_of(two_ranks, tmp_path / "run.zip")
    (tmp_path / "link.zip").symlink_to(archive)
    rows = cli("inspect", archive, "--format", "json").json["rows"]
    for again in (archive, tmp_path / "link.zip"):
        ended = cli("inspect", archive, again, "--format", "json")
        assert (ended.code, ended.json["rows"], ended.json["findings"]) == (0, rows, [])


def encrypted() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(NAME, OP_SUMMARY)
    data = bytearray(content.getvalue())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def changed(data: bytes) -> bytes:
    """One bit of a text other than it was."""
    return data.replace(b"MatMul", b"MatMum")


def pax(key: str, size: int) -> bytes:
    """A tar archive whose first header has so many bytes."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo(NAME)
        member.pax_headers = {key: "1" * size}
        archive.addfile(member)
    return content.getvalue()


def zipped(compression: int = zipfile.ZIP_STORED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        archive.writestr(NAME, OP_SUMMARY)
    return content.getvalue()


WHOLE = tar_of({NAME: OP_SUMMARY.encode(), "b.csv": b"x" * 2000})
DAMAGE: dict[str, Callable[[], tuple[str, bytes]]] = {
    "no zip": lambda: ("run.zip", b"x" * 100),
    "no tar": lambda: ("run.tar", b"x" * 1000),
    "no gzip": lambda: ("run.tar.gz", b"x" * 100),
    "empty": lambda: ("run.tar", b""),
    "a tar cut in a file": lambda: ("run.tar", WHOLE[:2000]),
    "a tar cut between files": lambda: ("run.tar", WHOLE[:1024]),
    "a tar cut in a header": lambda: ("run.tar", WHOLE[:1200]),
    "a gzip cut": lambda: ("run.tgz", gzip.compress(WHOLE)[:-30]),
    "a gzip without its checksum": lambda: ("run.tgz", gzip.compress(WHOLE)[:-8]),
    "a gzip that was changed": lambda: ("run.tgz", changed(gzip.compress(WHOLE, compresslevel=0))),
    "a zip that was changed": lambda: ("run.zip", changed(zipped())),
    "a zip cut": lambda: ("run.zip", zipped()[:-30]),
    "a zip packed in another way": lambda: ("run.zip", zipped(zipfile.ZIP_LZMA)),
    "a zip with a password": lambda: ("run.zip", encrypted()),
    "a header of 2 MB": lambda: ("run.tar", pax("comment", 2 << 20)),
    "a sparse file": lambda: ("run.tar", pax("GNU.sparse.map", 1)),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_of_a_damaged_one_nothing_is_used(cli: Cli, tmp_path: Path, what: str) -> None:
    name, data = DAMAGE[what]()
    (tmp_path / name).write_bytes(data)
    ended = cli("hotspots", tmp_path / name, "--format", "json")
    (found,) = ended.json["findings"]
    assert (ended.code, found["rule"], found["path"]) == (1, "archive-damaged", str(tmp_path / name))
    assert found["message"].startswith("this archive cannot be unpacked (")
    assert "()" not in found["message"]
    assert ended.json["rows"] == []


SAMPLES = {
    "run.zip": zipped(zipfile.ZIP_DEFLATED),
    "run.tar": pax("comment", 300),
    "run.tgz": gzip.compress(WHOLE, mtime=0),
}


@given(name=st.sampled_from(sorted(SAMPLES)), data=st.data())
def test_whatever_is_changed_all_is_used_or_nothing_and_why_is_said(name: str, data: st.DataObject) -> None:
    content = bytearray(SAMPLES[name])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        length = data.draw(st.sampled_from([0, 1, 1, 1, 30]))
        content[place : place + length] = data.draw(st.binary(max_size=3))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        findings: list[Finding] = []
        with fetching():
            found = unpacked(path, None, findings)
        assert not (found and findings)
        assert {finding.rule for finding in findings} <= {"archive-damaged", "unreadable", "expanded-too-large"}


@pytest.mark.parametrize("ending", ["zip", "tar.gz"])
def test_one_that_expands_too_far_is_refused(cli: Cli, tmp_path: Path, ending: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / NAME).write_text(OP_SUMMARY + "0,a,MatMul,AI_CORE,1.0,2.5\n" * 200_000)
    archive = archive_of(tmp_path / "run", tmp_path / f"run.{ending}")

    def told(limit: int) -> Ended:
        return cli("hotspots", archive, "--format", "json", "--max-expanded", limit)

    ended = told(1_000_000)
    assert (ended.code, ended.rules()) == (1, {"expanded-too-large"})
    assert "expands to more than 1000000 bytes" in ended.out
    assert told(10_000_000).json["rows"]


def test_one_of_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_MEMBERS", 3)
    (tmp_path / "run.tar").write_bytes(tar_of({f"{number}.csv": b"" for number in range(4)}))
    found, findings = names_in(tmp_path / "run.tar")
    assert (found, [finding.rule for finding in findings]) == ({}, ["expanded-too-large"])
    assert "more than 3 files in one archive" in findings[0].message


def test_one_beside_others_is_not_read_twice(cli: Cli, two_ranks: Path, tmp_path: Path) -> None:
    shutil.move(archive_of(two_ranks, tmp_path / "run.zip"), two_ranks)
    ended = cli("inspect", two_ranks, "--format", "json")
    assert (ended.code, ended.rules()) == (0, {"archive"})
    assert "read only where it is named itself" in ended.out


def test_one_in_another_is_named_with_what_to_do(cli: Cli, two_ranks: Path, tmp_path: Path) -> None:
    shutil.move(archive_of(two_ranks / "rank1_ascend_pt", tmp_path / "inner.tar.gz"), two_ranks)
    outer = archive_of(two_ranks, tmp_path / "outer.zip")
    ended = cli("inspect", outer, "--format", "json")
    (finding,) = ended.json["findings"]
    assert (ended.code, finding["rule"], Path(finding["path"]).name) == (0, "archive", "inner.tar.gz")
    assert finding["message"] == "an archive in an archive is not read; unpack the outer one and name this one; skipped"


def test_a_folder_may_be_called_so(cli: Cli, two_ranks: Path, tmp_path: Path) -> None:
    folder = two_ranks.rename(tmp_path / "run.zip")
    assert len(cli("hotspots", folder, "--format", "json").json["rows"]) > 1
    ended = cli("inspect", tmp_path / "gone.zip")
    assert (ended.code, "no such file or folder" in ended.err) == (3, True)


def test_archives_behind_one_another_are_read(two_ranks: Path, cli: Cli, tmp_path: Path) -> None:
    """`cat`, and a tar in which zeros stand between two ranks, as `tar -i` reads them."""
    whole = cli("hotspots", two_ranks, "--format", "json").json["rows"]
    for ending in ("tar", "tar.gz"):
        parts = []
        for rank in ("rank0_ascend_pt", "rank1_ascend_pt"):
            alone = tmp_path / rank / "folder"
            shutil.copytree(two_ranks / rank, alone / rank, dirs_exist_ok=True)
            parts.append(archive_of(alone, tmp_path / f"{rank}.{ending}").read_bytes())
        both = tmp_path / f"both.{ending}"
        both.write_bytes(b"".join(parts))
        ended = cli("hotspots", both, "--format", "json")
        assert (ended.code, len(ended.json["rows"])) == (0, len(whole))


@pytest.mark.parametrize("more", [b"x" * 512, b"x", tar_of({"b": b"b"})[:300], tar_of({"b": b"b" * 5000})[:1000]])
def test_what_is_no_archive_behind_the_end_of_one_is_said(tmp_path: Path, more: bytes) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(tar_of({"a": b"a"}) + more)
    found, findings = names_in(path)
    assert (found, [(one.rule, one.severity) for one in findings]) == ({}, [("archive-damaged", "error")])


def test_of_two_zips_behind_one_another_none_is_read(cli: Cli, two_ranks: Path, tmp_path: Path) -> None:
    one = archive_of(two_ranks, tmp_path / "one.zip").read_bytes()
    both = tmp_path / "both.zip"
    both.write_bytes(one + one)
    ended = cli("hotspots", both)
    assert ended.code == 1
    assert f"{len(one)} bytes before its first file belong to something else" in ended.err


def test_backslashes_divide_folders(cli: Cli, two_ranks: Path, tmp_path: Path) -> None:
    told = cli("steps", two_ranks, "--format", "json").json["rows"]
    path = tmp_path / "windows.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(two_ranks.rglob("*")):
            name = str(file.relative_to(two_ranks)).replace("/", "\\")
            archive.writestr(f"{name}\\" if file.is_dir() else name, b"" if file.is_dir() else file.read_bytes())
    ended = cli("steps", path, "--format", "json")
    assert [row["rank_id"] for row in ended.json["rows"]] == [row["rank_id"] for row in told]
    assert {row["rank_id"] for row in told} == {0, 1}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("..\\a", b"out")
    assert names_in(path)[0] == {}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("names", [("a", "a"), ("a", "./a"), ("b/a", "b\\a"), ("b/a", "b//a")])
def test_members_of_one_name_are_said(tmp_path: Path, names: tuple[str, str]) -> None:
    path = tmp_path / "twice.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number, name in enumerate(names):
            archive.writestr(name, str(number))
    found, findings = names_in(path)
    assert [*found.values()] == ["1"]
    assert [(one.rule, one.severity) for one in findings] == [("archive", "warning")]
    assert findings[0].message.startswith("1 names appear more than once")
