"""The quick look must never say anything else than the exact rules."""

from __future__ import annotations

from pathlib import Path

import pytest
from documents import FIXTURES, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from aoe_reports.checks.results import RULES, check_result_file, with_places
from aoe_reports.checks.triage import triage
from aoe_reports.findings import Finding
from aoe_reports.readers.names import FileName
from aoe_reports.readers.results import parse_results
from aoe_reports.results import outline_of

PATH = Path("aoe_result.json")


def agree(data: bytes, kind: str) -> bool:
    """Whether the quick look told anything; if so, it told what the exact rules tell."""
    quick = triage(data, kind)
    if quick is None:
        return False
    file = parse_results(PATH, FileName(kind, "json", "aoe"), data)
    said = [Finding(RULES[rule].severity, rule, str(PATH), text, pointer=at) for rule, at, text in quick.said]
    assert set(with_places(said, data)) == set(check_result_file(file))
    assert quick.outline == outline_of(file.results)
    return True


@settings(max_examples=600)
@given(texts(), st.sampled_from(["opat", "sgat"]))
def test_the_quick_look_agrees_with_the_rules_on_changed_documents(text: str, kind: str) -> None:
    agree(text.encode("utf-8", "replace"), kind)


@pytest.mark.parametrize("path", sorted(FIXTURES.rglob("aoe_result_*.json")), ids=lambda path: path.parent.name)
def test_the_quick_look_agrees_with_the_rules_on_every_fixture(path: Path) -> None:
    told = agree(path.read_bytes(), "sgat" if "sgat" in path.name else "opat")
    assert told == (path.parent.parent.name == "valid" or path.parent.name in {"tuning-failed", "op-type-unknown"})


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
