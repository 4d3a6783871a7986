"""A finding in the store says in every language what it said when it was found, and nothing that its English does not say."""

from __future__ import annotations

from typing import Any

import pytest

from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import in_language, say
from aoe_reports.store.layout import Run, RunHeader, message_of, rows_of

HEADER = RunHeader("20260101T000000-0", "profile", 1, "2026-01-01", "net", "npu", "hash", (), "ok", "here")


def stored(message: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = rows_of(Run(HEADER, [], [Finding("warning", "rule", "here", message)])).to_pylist()
    return next(row for row in rows if row["kind"] == "finding")


@pytest.mark.parametrize("name", ["a.csv", "{why}", "中文\udc80", 'quote " and \\', 1.5, None, True])
def test_a_message_comes_back_as_it_was(name: Any) -> None:
    message = say("{name}: {why}", name=name, why=say("no change"))
    row = stored(message)
    assert row["message"] == str(message).encode("utf-8", "replace").decode()
    assert in_language(message_of(row), "zh") == in_language(message, "zh").encode("utf-8", "replace").decode()


def test_a_plain_message_has_nothing_beside_it() -> None:
    row = stored("plain")
    assert row["body"] is None
    assert message_of(row) == "plain"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "7",
        "[]",
        '["other", "{text}.", {"text": "other"}]',
        '["no change.", "{text}.", {"text": "no chance"}]',
        '["no change.", "{text.__class__}", {"text": "no change"}]',
        '["no change.", 3, {"text": ["x"]}]',
        '["no change.", "{text}.", {"text": {"x": 1}}]',
        "[" * 100_000,
    ],
)
def test_what_somebody_else_wrote_beside_it_changes_nothing(body: str) -> None:
    message = message_of({"message": "no change.", "body": body})
    assert message == "no change."
    assert in_language(message, "zh") == "no change."
