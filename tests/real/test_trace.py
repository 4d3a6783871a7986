"""`trace` of real timelines against a plain computation; skipped where they are not there."""

from __future__ import annotations

import json
import os
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from commandline import ROOT, Cli

DATA = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data")) / "msprof"
PATHS = sorted(
    path
    for pattern in ("msprof_2023-08/**/timeline/*.json", "torch_npu_2025-01/text/**/trace_view.json")
    for path in DATA.glob(pattern)
)
pytestmark = pytest.mark.skipif(not PATHS, reason=f"no real timelines in {DATA}")


def events_in(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text, parse_float=Decimal)
    return found


def times(event: dict[str, Any]) -> tuple[int, int]:
    start = int(Decimal(str(event["ts"])) * 1000)
    return start, start + round(float(event.get("dur", 0)) * 1000)


def key_of(event: dict[str, Any]) -> tuple[str, ...]:
    return str(event.get("cat")), event["name"], str(event["id"])


def counted(events: list[dict[str, Any]]) -> Counter[str]:
    return Counter(map(str, events))


@pytest.mark.parametrize("path", PATHS, ids=[str(path.relative_to(DATA)) for path in PATHS])
def test_the_middle_third_of_a_timeline_is_there_as_it_is(cli: Cli, path: Path) -> None:
    source = events_in(path.read_text(encoding="utf-8"))
    timed = [event for event in source if event["ph"] != "M"]
    first = min(times(event)[0] for event in timed)
    third = (max(times(event)[1] for event in timed) - first) // 3
    start, end = first + third, first + 2 * third
    ended = cli("trace", path, "--from", start, "--to", end)
    inside = [one for one in timed if times(one)[0] < end and (times(one)[1] > start or times(one)[0] >= start)]
    flows = [one for one in inside if one["ph"] in "stf"]
    begun = {key_of(one) for one in flows if one["ph"] == "s"} & {key_of(one) for one in flows if one["ph"] != "s"}
    kept = [one for one in inside if one["ph"] not in "stf" or key_of(one) in begun]
    if not kept:
        assert (ended.code, ended.out) == (1, "")
        return
    found = events_in(ended.out)
    assert ended.code == 0
    assert counted([one for one in found if one["ph"] != "M"]) == counted(kept)
    threads = {(one["pid"], one["tid"]) for one in kept}
    named = [
        one
        for one in source
        if one["ph"] == "M"
        and (
            (one["pid"], one["tid"]) in threads
            if "thread" in one["name"]
            else one["pid"] in {pid for pid, _ in threads}
        )
    ]
    assert counted([one for one in found if one["ph"] == "M"]).keys() == counted(named).keys()


@pytest.mark.parametrize("path", PATHS, ids=[str(path.relative_to(DATA)) for path in PATHS])
def test_all_of_a_timeline_is_all_of_its_events_but_flows_with_one_end(cli: Cli, path: Path) -> None:
    source = [event for event in events_in(path.read_text(encoding="utf-8")) if event["ph"] != "M"]
    found = [
        event for event in events_in(cli("trace", path, "--from", 0, "--to", 2 * 10**18).out) if event["ph"] != "M"
    ]
    assert counted(found) == counted(source)
