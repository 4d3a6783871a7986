"""Compressed files: the same rows, no further than allowed, and aloud where they end too early."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats.sources.expand import expanded
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.sources.identify import identify
from aoe_reports.formats.table_file import read_table_file

HEADER = "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
ROWS = HEADER + "".join(f"op{i},MatMul,AI_CORE,{i},1.001\n" for i in range(2000))


def found(tmp_path: Path, packed: bytes, *, most: int = 1 << 30) -> FoundFile:
    path = tmp_path / "kernel_details.csv.gz"
    path.write_bytes(packed)
    findings: list = []
    file = identify(path, explicit=True, findings=findings)
    assert file is not None
    assert findings == []
    assert (file.name.kind, file.name.form, file.name.packed) == ("kernel_details", "csv", True)
    return FoundFile(file.path, file.name, file.size, file.holds, most)


def rules(file: FoundFile) -> list[str]:
    data = read_table_file(file, "kernel_details")
    assert all(finding.path == str(file.path) for finding in data.findings)
    assert data.path == file.path
    if data.findings:
        assert data.frame.num_rows == 0
    return [finding.rule for finding in data.findings]


def test_rows_are_those_of_the_plain_file(tmp_path: Path) -> None:
    data = read_table_file(found(tmp_path, gzip.compress(ROWS.encode())), "kernel_details")
    assert (data.findings, data.frame.num_rows) == ((), 2000)
    assert data.line(5) == 7


def test_members_one_after_the_other_are_one_file(tmp_path: Path) -> None:
    text = ROWS.encode()
    packed = b"".join(gzip.compress(text[i : i + 9999]) for i in range(0, len(text), 9999))
    data = read_table_file(found(tmp_path, packed), "kernel_details")
    assert (data.findings, data.frame.num_rows) == ((), 2000)


@pytest.mark.parametrize("place", [0.1, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_is_not_used(tmp_path: Path, place: float) -> None:
    packed = gzip.compress(ROWS.encode())
    assert rules(found(tmp_path, packed[: int(len(packed) * place)])) == ["gzip-damaged"]


def test_a_second_member_that_was_cut_is_noticed(tmp_path: Path) -> None:
    packed = gzip.compress(ROWS.encode())
    assert rules(found(tmp_path, packed + packed[:200])) == ["gzip-damaged"]
    assert rules(found(tmp_path, packed + packed[:3])) == ["gzip-damaged"]


@pytest.mark.parametrize("packed", [b"", ROWS.encode(), b"PK\x03\x04", b"\x1f\x8b", b"\x1f\x8b\x08\x00garbage garbage"])
def test_what_is_no_gzip_is_not_used(tmp_path: Path, packed: bytes) -> None:
    assert rules(found(tmp_path, packed)) == ["gzip-damaged"]


def test_garbage_behind_the_end_is_not_passed_over(tmp_path: Path) -> None:
    assert rules(found(tmp_path, gzip.compress(ROWS.encode()) + b"garbage")) == ["gzip-damaged"]


@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_is_noticed_or_changes_nothing(
    place: float, bit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Deflate's own checksum is asked; a few bits of the head (time, system) mean nothing."""
    packed = bytearray(gzip.compress(ROWS.encode(), mtime=0))
    packed[int(place * len(packed))] ^= 1 << bit
    data = read_table_file(found(tmp_path_factory.mktemp("gz"), bytes(packed)), "kernel_details")
    if not data.findings:
        assert data.frame.num_rows == 2000
        assert data.frame["op_name"].to_pylist() == [f"op{i}" for i in range(2000)]


def test_nothing_expands_further_than_allowed(tmp_path: Path) -> None:
    packed = gzip.compress(HEADER.encode() + b"x" * (64 << 20))
    assert len(packed) < 100_000
    assert rules(found(tmp_path, packed, most=1 << 20)) == ["expanded-too-large"]
    text = ROWS.encode()
    assert rules(found(tmp_path, gzip.compress(text), most=len(text) - 1)) == ["expanded-too-large"]
    assert rules(found(tmp_path, gzip.compress(text), most=len(text))) == []


def test_the_limit_counts_all_members_together(tmp_path: Path) -> None:
    text = ROWS.encode()
    packed = gzip.compress(text[:20_000]) + gzip.compress(text[20_000:])
    assert rules(found(tmp_path, packed, most=len(text) - 1)) == ["expanded-too-large"]


def test_a_plain_file_stays_where_it_lies(tmp_path: Path) -> None:
    path = tmp_path / "kernel_details.csv"
    path.write_text(ROWS)
    file = identify(path, explicit=True, findings=[])
    assert file is not None
    with expanded(file) as (place, wrong):
        assert (place, wrong) == (path, None)


def test_the_expanded_file_is_gone_afterwards(tmp_path: Path) -> None:
    text = random.Random(1).randbytes(3 << 20)
    with expanded(found(tmp_path, gzip.compress(text))) as (place, wrong):
        assert wrong is None
        assert place.read_bytes() == text
    assert not place.exists()


def test_a_json_summary_may_be_compressed_too(tmp_path: Path) -> None:
    row = '{"OP Type": "a", "Core Type": "AI_CORE", "Count": 1, "Total Time(us)": 2, "Min Time(us)": 2, "Avg Time(us)": 2, "Max Time(us)": 2}'
    path = tmp_path / "op_statistic_20260605155140.json.gz"
    path.write_bytes(gzip.compress(f"[{row}]".encode()))
    file = identify(path, explicit=True, findings=[])
    assert file is not None
    assert read_table_file(file, "op_statistic").frame["count"].to_pylist() == [1]
