"""The page of tuning: each job with the verdict that came after it, operators that never got better, how the banks grew."""

from __future__ import annotations

import json
import re
from datetime import datetime
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from stores import store_at_once

from aoe_reports.formats.records.record import canonical_json
from aoe_reports.simulation.tuning import TUNED, write_result
from aoe_reports.site.build import build_site
from aoe_reports.store import History
from aoe_reports.store.layout import table_of
from aoe_reports.topics.records.options import RecordOptions

NIGHTS = ("2026-03-01", "2026-03-05", "2026-03-09")
STEP = {"change": -0.1, "ci_low": -0.12, "ci_high": -0.08, "measured_before_us": 1000.0, "measured_after_us": 900.0}


def verdict(night: str, scope: str, state: str, of_job: str, **body: Any) -> dict[str, Any]:
    """A row that `verify` leaves in a store."""
    at = datetime.fromisoformat(f"{night}T12:00:00+00:00").timestamp()
    told = {"scope": scope, "verdict": state, "verdict_of_job": of_job, **body}
    return {
        "kind": "verdict", "month": night[:7], "run_id": f"verify-{night}", "timestamp_ns": int(at) * 10**9, "night": night,
        "model": "net", "hardware": "npu", "scope": scope, "op_name": body.get("op_name"), "subject": f"{scope} {body.get('op_name')}",
        "state": state, "body": canonical_json(told),
    }  # fmt: skip


def site_of(folder: Path, rows: list[dict[str, Any]]) -> tuple[dict[str, Any], str]:
    """The JSON of the page, and its text."""
    for place, night in enumerate(NIGHTS):
        write_result(folder / "aoe", datetime.fromisoformat(f"{night}T02:00:00+00:00"), TUNED[: place + 1])
    store = folder / "store"
    store_at_once([folder / "aoe"], store, RecordOptions(workload="net", tz="UTC"))
    if rows:
        History.open(str(store)).add_extra(table_of(rows))
    build_site(str(store), folder / "site")
    told: dict[str, Any] = json.loads((folder / "site" / "tuning.json").read_text())
    page = re.sub(r"<[^>]+>", " ", (folder / "site" / "tuning.html").read_text())
    return told, " ".join(unescape(page).split())


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    rows = [
        verdict("2026-02-01", "step", "confirmed", "confirmed", **STEP),
        verdict("2026-03-02", "step", "regressed", "regressed", **{**STEP, "change": 0.2}),
        verdict("2026-03-03", "step", "not-reproduced", "partly", **STEP),
        verdict("2026-03-03", "operator", "not-reproduced", "partly", op_name=TUNED[0]),
        verdict("2026-03-05", "operator", "confirmed", "confirmed", op_name=TUNED[1]),
        verdict("2026-03-06", "operator", "regressed", "confirmed", op_name=TUNED[1]),
        verdict("2026-03-06", "operator", "confirmed", "confirmed", op_name="somewhere/else"),
    ]
    return site_of(tmp_path_factory.mktemp("tuning"), rows)


def test_a_job_has_the_newest_verdict_before_the_next_one(page: tuple[dict[str, Any], str]) -> None:
    jobs = {row["night"]: row for row in page[0]["rows"]}
    assert list(jobs) == sorted(NIGHTS, reverse=True)
    first, second, third = (jobs[night]["proven"] for night in NIGHTS)
    assert (first["night"], first["verdict"]) == ("2026-03-03", "partly")
    assert first["step"] == {"verdict": "not-reproduced", **STEP}
    assert (second["night"], second["verdict"], second["step"]) == ("2026-03-06", "confirmed", None)
    assert third is None
    assert "partly step not-reproduced: -10% (-12% … -8.0%) · 2026-03-03" in page[1]
    assert "confirmed 2026-03-06" in page[1]
    assert "not verified" in page[1]


def test_an_operator_that_no_verdict_confirms_has_never_improved(page: tuple[dict[str, Any], str]) -> None:
    (never,) = page[0]["never_improved"]
    assert (never["op_name"], never["workload"], never["reason"]) == (TUNED[0], "net", "never_confirmed")
    counts = {name: never[name] for name in ("changed", "gains", "failed", "verdicts", "confirmed")}
    assert counts == {"changed": 3, "gains": 3, "failed": 0, "verdicts": 1, "confirmed": 0}
    assert never["last_night"] == NIGHTS[-1]
    assert f"{TUNED[0]} net a gain is claimed but was never confirmed by verify 0 3 {NIGHTS[-1]}" in page[1]


def test_the_bank_grows_by_what_each_job_added(page: tuple[dict[str, Any], str]) -> None:
    assert [
        (row["night"], row["jobs"], row["added"], row["updated"], row["sum"]) for row in page[0]["bank_growth"]
    ] == [(night, 1, place, 0, place * (place + 1) // 2) for place, night in enumerate(NIGHTS, start=1)]
    assert (
        page[1].index("2026-03-09 1 3 0 6") < page[1].index("2026-03-05 1 2 0 3") < page[1].index("2026-03-01 1 1 0 1")
    )


def test_without_verdicts_nothing_is_proven_and_nobody_never_improved(tmp_path: Path) -> None:
    told, text = site_of(tmp_path, [])
    assert {row["proven"] for row in told["rows"]} == {None}
    assert told["never_improved"] == []
    assert text.count("not verified") == len(NIGHTS)
    counts = [{name: row[name] for name in ("added", "updated", "hit", "unsatisfied", "total")} for row in told["rows"]]
    assert counts == [
        {"added": count, "updated": 0, "hit": 0, "unsatisfied": 3, "total": count + 3} for count in (3, 2, 1)
    ]
