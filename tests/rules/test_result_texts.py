"""What is said of a text read as floats is what is said of it read with every digit."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from documents import FIXTURES, texts
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import MANY

from aoe_reports.formats.aoe.result_files import parse_results
from aoe_reports.formats.aoe.results import outline_of
from aoe_reports.formats.ascend.names import FileName
from aoe_reports.rules.results import check as checking
from aoe_reports.rules.results.check import check_result_file, check_result_text

PATH = Path("aoe_result.json")


def agree(data: bytes, kind: str) -> None:
    name = FileName(kind, "json", "aoe")
    outline, findings = check_result_text(data, PATH, name)
    file = parse_results(PATH, name, data)
    assert set(findings) == set(check_result_file(file))
    assert outline == outline_of(file.results)


@MANY
@given(texts(), st.sampled_from(["opat", "sgat"]))
def test_floats_and_digits_agree_on_changed_documents(text: str, kind: str) -> None:
    agree(text.encode("utf-8", "replace"), kind)


@pytest.mark.parametrize("path", sorted(FIXTURES.rglob("aoe_result_*.json")), ids=lambda path: path.parent.name)
def test_floats_and_digits_agree_on_every_fixture(path: Path) -> None:
    agree(path.read_bytes(), "sgat" if "sgat" in path.name else "opat")


@pytest.mark.parametrize("path", sorted((FIXTURES / "valid").rglob("aoe_result_*.json")), ids=lambda p: p.parent.name)
def test_a_file_that_is_well_is_read_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The speed of `check` rests on it: reading every digit takes several times as long."""

    def read_again(*_: object) -> None:
        raise AssertionError("read with every digit")

    monkeypatch.setattr(checking, "parse_results", read_again)
    name = FileName("sgat" if "sgat" in path.name else "opat", "json", "aoe")
    assert check_result_text(path.read_bytes(), path, name)[1] == []


@pytest.mark.parametrize("path", sorted((FIXTURES / "valid").rglob("aoe_result_*.json")), ids=lambda p: p.parent.name)
def test_no_key_that_stands_twice_is_lost(path: Path) -> None:
    text = path.read_text()
    for key in ("tuning_name", "repo_hit_num", "performance_improvement"):
        twice = text.replace(f'"{key}":', f'"{key}": "a", "{key}":', 1)
        assert twice != text
        _, findings = check_result_text(
            twice.encode(), path, FileName("sgat" if "sgat" in path.name else "opat", "json", "aoe")
        )
        assert "json-duplicate-key" in {finding.rule for finding in findings}


def entry(before: str, after: str, claim: str) -> str:
    times = f'"performance_before_tune(us)": {before}, "performance_after_tune(us)": {after}'
    return f'{{"op_name": "a", "op_type": "add", {times}, "performance_improvement": "{claim}"}}'


def document(operator: str, time: str = "1") -> bytes:
    summary = ", ".join(
        f'"{key}": {value}'
        for key, value in {
            "repo_add_num": 1, "repo_hit_num": 0, "repo_reserved_num": 0,
            "repo_unsatisfied_num": 0, "repo_update_num": 0, "total_num": 1,
        }.items()
    )  # fmt: skip
    text = (
        '[{"basic": {"tuning_name": "t", "tuning_time(s)": '
        f'{time}}}}}, {{"OPAT": {{"opat_tuning_result": "tuning successful", '
        f'"repo_modified_operators": {{"add_repo_operators": [{operator}]}}, '
        f'"repo_summary": {{{summary}}}}}}}]'
    )
    return text.encode()


@MANY
@given(st.decimals("0.001", 10**6, places=3), st.decimals("0.0001", 10**3, places=4), st.integers(-300, 300))
def test_floats_and_digits_agree_on_claims_near_the_tolerance(before: object, share: object, offset: int) -> None:
    after = f"{float(str(before)) / (1 + float(str(share))):.3f}"
    if float(after) <= 0:
        return
    claim = f"{(float(str(before)) / float(after) - 1) * 100 + offset / 10_000:.4f}%"
    agree(document(entry(str(before), after, claim)), "opat")


@pytest.mark.parametrize(
    ("before", "after", "time"),
    [
        ("1e15", "5e14", "1"),
        ("999999999999999.9999", "5e14", "1"),
        ("2e-9", "1e-9", "1"),
        ("2e-9", "9.99999999999999999e-10", "1"),
        ("2", "1", "1e15"),
        ("2", "1", "9.99999999999999999e-10"),
        ("2", "1", "-1e-400"),
        ("1e400", "1", "1"),
        ("18446744073709551617", "1", "1"),
        ("1" + "0" * 400, "1", "1"),
        ("2", "1", "1" + "0" * 400),
        ("2", "1e-400", "1"),
        ("1", "0.99999999999999999999", "1"),
        ("1", "1.00000000000000000001", "1"),
    ],
)
def test_floats_and_digits_agree_at_the_limits_of_times(before: str, after: str, time: str) -> None:
    claim = f"{(Decimal(before) / Decimal(after) - 1) * 100:.2f}%"
    agree(document(entry(before, after, claim), time), "opat")


@pytest.mark.parametrize("count", ["1.0", "9007199254740993.0", "1.00000000000000000001", "18446744073709551615"])
def test_floats_and_digits_agree_on_counts(count: str) -> None:
    text = document(entry("2", "1", "100.00%"))
    for key in ("repo_add_num", "repo_hit_num", "total_num"):
        old = b'"%s": %d' % (key.encode(), 0 if key == "repo_hit_num" else 1)
        assert old in text
        agree(text.replace(old, f'"{key}": {count}'.encode()), "opat")
