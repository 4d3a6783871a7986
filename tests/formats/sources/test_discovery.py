"""Finding files."""

from __future__ import annotations

import os
import shutil
import tarfile
from pathlib import Path

import pytest

from aoe_reports.formats.sources.discovery import discover, result_files

PROF = "PROF_000001_20260605155111872_JDEKRCNERPBNJEGA"


@pytest.fixture
def kernel(msprof: Path) -> Path:
    return msprof / "torch_npu_two_ranks" / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"


def rules(*paths: Path) -> list[str]:
    return [finding.rule for finding in discover(paths).findings]


def test_a_file_met_twice_is_there_once(kernel: Path) -> None:
    found = discover([kernel, kernel.parent, kernel.parents[1]])
    assert sum(file.path.name == "kernel_details.csv" for file in found.files) == 1


def test_loops_of_links_end_and_are_said(kernel: Path, tmp_path: Path) -> None:
    shutil.copy(kernel, tmp_path)
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    found = discover([tmp_path])
    assert len(found.files) == 1
    assert sorted(finding.rule for finding in found.findings) == ["broken-link", "broken-link", "link-loop"]


def test_a_pipe_or_a_folder_named_like_a_file_of_ours_is_said(kernel: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "aoe_result_opat_20260101020304005_pid1.json")
    os.mkfifo(tmp_path / "somebody_elses")
    (tmp_path / "kernel_details.csv").mkdir()
    shutil.copy(kernel, tmp_path / "kernel_details.csv")
    found = discover([tmp_path])
    assert sorted((finding.rule, Path(finding.path).name[:6]) for finding in found.findings) == [
        ("not-a-file", "aoe_re"),
        ("not-a-file", "kernel"),
    ]
    assert len(found.files) == 1


def test_a_result_is_known_by_its_words_even_if_its_first_bracket_is_lost(aoe: Path, tmp_path: Path) -> None:
    text = next((aoe / "array_subgraphs").iterdir()).read_text().lstrip("[ \n{")
    (tmp_path / "copied.txt").write_text(text)
    (file,) = discover([tmp_path / "copied.txt"]).files
    assert (file.name.kind, file.name.source) == ("sgat", "aoe")


def test_raw_data_is_passed_over(kernel: Path, tmp_path: Path) -> None:
    for folder in (f"{PROF}/device_0/data", "OPPROF_20260101000000_X/dump", f"{PROF}/device_0/sqlite"):
        (tmp_path / folder).mkdir(parents=True)
        shutil.copy(kernel, tmp_path / folder / "kernel_details.csv")
    assert rules(tmp_path) == ["nothing-found"]


def test_raw_data_is_passed_over_in_an_archive_that_lies_in_a_capture(kernel: Path, tmp_path: Path) -> None:
    archive = tmp_path / PROF / "device_0.tar"
    archive.parent.mkdir()
    with tarfile.open(archive, "w") as tar:
        tar.add(kernel, "data/kernel_details.csv")
    assert rules(archive) == ["nothing-found"]
    assert discover([archive.rename(tmp_path / "elsewhere.tar")]).findings == ()


def test_a_table_and_a_result_of_any_name_are_told_by_content(kernel: Path, aoe: Path, tmp_path: Path) -> None:
    shutil.copy(kernel, tmp_path / "mine.csv")
    shutil.copy(next((aoe / "array_subgraphs").iterdir()), tmp_path / "mine.json")
    assert {file.path.name: file.name.kind for file in discover([tmp_path]).files} == {
        "mine.csv": "kernel_details",
        "mine.json": "sgat",
    }


def test_what_is_not_there_or_not_known_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"\0\1")
    assert rules(tmp_path / "nothing") == ["unreadable"]
    assert rules(tmp_path / "x.bin") == ["unknown-file"]
    assert rules(tmp_path) == ["nothing-found"]


@pytest.mark.skipif(os.geteuid() == 0 and not hasattr(os, "seteuid"), reason="root reads everything")
def test_a_folder_that_may_not_be_read_is_said(kernel: Path, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0)
    (tmp_path / "open").mkdir()
    shutil.copy(kernel, tmp_path / "open")
    discover(
        [tmp_path / "open"]
    )  # what Python loads for it may lie where only root reads, and a codec is asked for once
    here, uid = Path.cwd(), os.geteuid()
    os.chdir(tmp_path)  # the folders above it are root's alone
    if uid == 0:
        tmp_path.chmod(0o755)
        os.seteuid(65534)
    try:
        found = discover([Path()])
    finally:
        os.seteuid(uid)
        os.chdir(here)
        folder.chmod(0o755)
    assert [finding.rule for finding in found.findings] == ["unreadable"]
    assert found.unreadable
    assert len(found.files) == 1


def test_results_are_found_by_their_names_and_of_a_file_by_its_words(aoe: Path, kernel: Path, tmp_path: Path) -> None:
    (first,) = (aoe / "array_grouped").iterdir()
    (second,) = (aoe / "array_subgraphs").iterdir()
    for name, source in (("b/copied.json", first), (f"b/{first.name}", first), (f"a/{second.name}", second), ("a/kernel_details.csv", kernel)):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(source, tmp_path / name)
    copied = tmp_path / "b" / "copied.json"

    def told(*paths: Path) -> list[tuple[str, str]]:
        return [(str(path.relative_to(tmp_path)), name.kind) for path, name in result_files(paths)]

    named = [(f"a/{second.name}", "sgat"), (f"b/{first.name}", "opat")]
    assert told(tmp_path) == named, "a name tells; below a folder no content is looked at"
    assert told(tmp_path / "b", tmp_path / "a", tmp_path) == named, "each once, in a stable order"
    assert told(copied) == [("b/copied.json", "opat")]
    assert told(tmp_path / "a" / "kernel_details.csv", tmp_path / "gone") == []
    assert told(tmp_path, copied) == [named[0], *sorted([named[1], ("b/copied.json", "opat")])]
