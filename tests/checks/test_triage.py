"""The quick look must never say anything else than the exact rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from documents import FIXTURES, mutated, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from aoe_reports.checks.results import check_result_file
from aoe_reports.checks.schema import fits_schema
from aoe_reports.checks.triage import look
from aoe_reports.readers.names import FileName
from aoe_reports.readers.results import parse_results
from aoe_reports.results import count_members, outline_of

PATH = Path("aoe_result.json")


def agree(data: bytes, kind: str) -> bool:
    """Whether the quick look told anything; if so, it told what the exact rules tell."""
    name = FileName(kind, "json", "aoe")
    quick = look(data, PATH, name)
    if quick is None:
        return False
    file = parse_results(PATH, name, data)
    assert set(quick[1]) == set(check_result_file(file))
    assert quick[0] == outline_of(file.results)
    return True


@settings(max_examples=600)
@given(texts(), st.sampled_from(["opat", "sgat"]))
def test_the_quick_look_agrees_with_the_rules_on_changed_documents(text: str, kind: str) -> None:
    agree(text.encode("utf-8", "replace"), kind)


@pytest.mark.parametrize("path", sorted(FIXTURES.rglob("aoe_result_*.json")), ids=lambda path: path.parent.name)
def test_the_quick_look_agrees_with_the_rules_on_every_fixture(path: Path) -> None:
    told = agree(path.read_bytes(), "sgat" if "sgat" in path.name else "opat")
    quickly = {"tuning-failed", "op-type-unknown", "schema"}
    assert told == (path.parent.parent.name == "valid" or path.parent.name in quickly)


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


@settings(max_examples=400)
@given(st.decimals("0.001", 10**6, places=3), st.decimals("0.0001", 10**3, places=4), st.integers(-300, 300))
def test_claims_near_the_tolerance_are_left_to_the_exact_rule(before: object, share: object, offset: int) -> None:
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
    ],
)
def test_the_quick_look_agrees_at_the_limits_of_times(before: str, after: str, time: str) -> None:
    claim = f"{(float(before) / float(after) - 1) * 100:.2f}%"
    agree(document(entry(before, after, claim), time), "opat")


def members(document: object) -> int:
    values = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    return (len(document) if isinstance(document, dict) else 0) + sum(map(members, values))


@settings(max_examples=400)
@given(mutated(), st.sampled_from(["opat", "sgat"]))
def test_members_are_never_counted_twice(document: object, kind: str) -> None:
    if fits_schema(kind, document):
        assert count_members(document) <= members(document)


@pytest.mark.parametrize("path", sorted((FIXTURES / "valid").rglob("aoe_result_*.json")), ids=lambda p: p.parent.name)
def test_all_members_of_documented_results_are_counted(path: Path) -> None:
    document = json.loads(path.read_bytes())
    assert count_members(document) == members(document)
