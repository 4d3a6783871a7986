"""Which models a nightly job says are missing: those that were measured beside its own the last time, in the same place."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from captures import write_tuning

from aoe_reports.jobs.nightly import run_nightly
from aoe_reports.jobs.options import NightlyOptions

Messages = list[str]


def measure(place: Path, night: str, *names: str) -> Path:
    """A night's folder in which each of these models has a file."""
    place.mkdir(parents=True, exist_ok=True)
    for name in names:
        line = {
            "workload": name, "engine": "cann", "hardware": "npu", "runtime_ms_mean": 1.5, "runtime_ms_std": None,
            "timestamp": f"{night}T02:00:00Z", "schema_version": "0.1", "metadata": {},
        }  # fmt: skip
        (place / f"{name}.jsonl").write_text(json.dumps(line) + "\n")
    return place


@pytest.fixture
def nights(tmp_path: Path) -> Path:
    return tmp_path / "nights"


def missing(nights: Path, *paths: Path) -> Messages:
    options = NightlyOptions(store=str(nights.parent / "store"), tz="UTC")
    answer = run_nightly(paths, options)
    told: Messages = answer.more["missing"]
    for name in told:
        assert name in str(answer.headline)
    return told


def test_a_model_of_the_night_before_is_missed_until_it_is_there(nights: Path) -> None:
    assert missing(nights, measure(nights / "1", "2026-01-01", "a", "b", "d", "c")) == []
    assert missing(nights, measure(nights / "2", "2026-01-02", "a", "b")) == ["c", "d"]
    assert missing(nights, measure(nights / "2", "2026-01-02", "c")) == ["d"]
    assert missing(nights, nights / "2" / "c.jsonl") == [], "a job of one model waits for nobody"
    assert missing(nights, measure(nights / "2", "2026-01-02", "d")) == []
    assert missing(nights, measure(nights / "3", "2026-01-03", "a", "e")) == ["b", "c", "d"]


def test_what_another_job_measured_that_night_or_later_is_not_missed(nights: Path) -> None:
    missing(nights, measure(nights / "1", "2026-01-01", "a", "b", "c", "d"))
    missing(nights, measure(nights / "x", "2026-01-02", "c"))
    missing(nights, measure(nights / "y", "2026-01-03", "d"))
    assert missing(nights, measure(nights / "2", "2026-01-02", "a", "b")) == []


def test_the_last_time_is_the_newest_night_of_the_jobs_own_models(nights: Path) -> None:
    missing(nights, measure(nights / "1", "2026-01-01", "a", "b", "old"))
    missing(nights, measure(nights / "2", "2026-01-02", "a", "c"))
    missing(nights, measure(nights / "3", "2026-01-03", "others"))
    assert missing(nights, measure(nights / "4", "2026-01-04", "a", "b")) == ["c"]


def test_a_job_of_several_nights_looks_before_the_first(nights: Path) -> None:
    missing(nights, measure(nights / "1", "2026-01-01", "a", "b", "c"))
    two, three = measure(nights / "2", "2026-01-02", "a", "b"), measure(nights / "3", "2026-01-03", "a", "b")
    # the folder of nights is that above the one in which all of them lie
    assert missing(nights, two, three) == ["c"]


def test_models_without_a_night_before_miss_nobody(nights: Path) -> None:
    missing(nights, measure(nights / "1", "2026-01-01", "a", "b", "c"))
    assert missing(nights, measure(nights / "2", "2026-01-02", "new", "newer")) == []


def test_only_what_lies_as_deep_below_the_same_folder_is_missed(nights: Path) -> None:
    elsewhere = {"c": "nights/1", "d": "other/1", "e": "nights/1/below", "f": "nights"}
    places = [measure(nights.parent / place, "2026-01-01", name) for name, place in elsewhere.items()]
    missing(nights, measure(nights / "1", "2026-01-01", "a", "b"), *places)
    assert missing(nights, measure(nights / "2", "2026-01-02", "a", "b")) == ["c"]


def test_places_that_cannot_be_compared_miss_nobody(nights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(nights.parent)
    missing(nights, measure(nights / "1", "2026-01-01", "a", "b", "c"))
    measure(nights / "2", "2026-01-02", "a", "b")
    assert missing(nights, nights / "2" / "a.jsonl", Path("nights/2/b.jsonl")) == []


def test_what_was_tuned_is_not_what_was_measured(nights: Path) -> None:
    first, second = measure(nights / "1", "2026-01-01", "a", "b"), measure(nights / "2", "2026-01-02", "a")
    write_tuning(first, datetime(2026, 1, 1, tzinfo=UTC), "conv")
    write_tuning(second, datetime(2026, 1, 2, tzinfo=UTC), "conv")
    assert missing(nights, first) == []
    assert missing(nights, second) == [], "a model beside a tuning is one model"
    missing(nights, measure(nights / "3", "2026-01-03", "a", "b", "net"))
    fourth = measure(nights / "4", "2026-01-04", "a", "b")
    write_tuning(fourth, datetime(2026, 1, 4, tzinfo=UTC), "conv")
    assert missing(nights, fourth) == ["net"]
