"""Texts of result files that were changed anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from documents import FIXTURES, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from aoe_reports.formats.aoe.result_files import parse_results
from aoe_reports.formats.ascend.names import FileName
from aoe_reports.model.findings import Finding
from aoe_reports.rules.results.check import check_result_file


def checked(data: bytes, kind: str) -> list[Finding]:
    return check_result_file(parse_results(Path("aoe_result.json"), FileName(kind, "json", "aoe"), data))


@settings(max_examples=300)
@given(texts(), st.sampled_from(["opat", "sgat"]))
def test_a_changed_document_raises_nothing(text: str, kind: str) -> None:
    assert all(finding.message for finding in checked(text.encode("utf-8", "replace"), kind))


@pytest.mark.parametrize("path", sorted((FIXTURES / "valid").rglob("aoe_result_*.json")), ids=lambda p: p.parent.name)
def test_no_key_that_stands_twice_is_lost(path: Path) -> None:
    text = path.read_text()
    for key in ("tuning_name", "repo_hit_num", "performance_improvement"):
        twice = text.replace(f'"{key}":', f'"{key}": "a", "{key}":', 1)
        assert twice != text
        findings = checked(twice.encode(), "sgat" if "sgat" in path.name else "opat")
        assert "json-duplicate-key" in {finding.rule for finding in findings}
