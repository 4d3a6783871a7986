"""Words on pages."""

from __future__ import annotations

from aoe_reports.model.history.changes import SeriesChange
from aoe_reports.site.texts import Texts


def test_words_facts_and_places_are_said_in_the_language_of_the_page() -> None:
    english, chinese = Texts(), Texts("zh")
    assert english("{count} rows", count=3) == "3 rows"
    assert english("{count} rows") == "{count} rows"
    assert (english.word("confirmed"), english.word("odd")) == ("slower", "odd")
    assert chinese.word("confirmed") != "slower"
    assert english.place(3, 1) == "Rank 3 · Device 1"
    assert (english.place(None, 0), english.place(0, None), english.place(None, None)) == ("Device 0", "Rank 0", "")
    assert (english.fact("odd_fact"), english.fact("confirmed")) == ("odd_fact", "confirmed")
    assert english.joined(", ", ["a", "b"]) == "a, b"
    assert english.translated(5) == "5"
    assert (english.tag, chinese.tag) == ("en", "zh-Hans")
    columns = dict(english.columns(SeriesChange, "workload", "change", "before"))
    assert set(columns.values()) == {"text", "number"}
    assert any(title.endswith(" (ms)") for title in columns)


WORDS = {
    "confirmed": "slower", "drift": "drift", "suspect": "suspected", "recovered": "recovered", "improved": "improved",
    "unchanged": "unchanged", "too-few-nights": "too few nights to judge", "no-times": "no times", "acknowledged": "acknowledged",
    "error": "error", "warning": "warning", "info": "remark", "operators_rest": "other operators",
    "communication_not_overlapped": "communication, not overlapped", "free": "free time", "unattributed": "unattributed",
    "model": "Model", "scope": "Scope", "hardware": "Hardware", "kind": "Kind", "status": "Status", "op_type": "Operator type",
    "op_name": "Operator", "core": "Core",
}  # fmt: skip
FACTS = {
    "engine": "Engine", "engine_version": "Version", "runtime_config.profiler_level": "Profiler level",
    "runtime_config.aic_metrics": "AI Core metrics",
}  # fmt: skip


def test_words_of_data_have_words_for_people() -> None:
    assert {word: Texts().word(word) for word in WORDS} == WORDS
    assert {name: Texts().fact(name) for name in FACTS} == FACTS
    chinese = Texts("zh")
    assert [
        said for word, said in (WORDS | FACTS).items() if chinese.word(word) in {word, said} and "AI Core" not in said
    ] == []
