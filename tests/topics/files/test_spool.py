"""What is too much to be held comes back from the temporary file as it was, in its order, as often as asked."""

from __future__ import annotations

import pytest

from aoe_reports.model.findings import Finding
from aoe_reports.topics.files import spool
from aoe_reports.topics.files.spool import Spool


@pytest.mark.parametrize("count", [0, 1, 6, 7, 8, 20, 35, 36])
def test_everything_comes_back_in_order(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "HELD", 7)
    monkeypatch.setattr(spool, "BATCH", 3)
    findings = [Finding("error", "schema", f"a\udc80中{i}", "…", i, None, "/x") for i in range(count)]
    found = Spool(Finding.as_fields, Finding.from_fields)
    for finding in findings:
        found.append(finding)
    assert list(found) == list(found) == findings
    assert len(found) == count
    assert found[:5] == findings[:5]
    assert bool(found) == bool(findings)
    if findings:
        assert (found[0], found[count - 1]) == (findings[0], findings[-1])
    found.close()


def test_more_can_follow_after_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "HELD", 2)
    found = Spool(int, int)
    for number in range(9):
        found.append(number)
        assert list(found) == list(range(number + 1))


def test_what_comes_after_a_look_at_the_first_stands_behind_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long file a look at its beginning leaves the end unread."""
    monkeypatch.setattr(spool, "HELD", 2)
    found, texts = Spool(str, str), [str(number) * 20_000 for number in range(8)]
    for text in texts:
        found.append(text)
        assert found[0] == texts[0]
    assert list(found) == texts
