"""The documented way leads to what was planted: the first row of an answer names it, within six calls."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import planted_changes
import planted_host
import planted_modules
import planted_pipelines
import planted_quality
import pytest
from commandline import FIXTURES, Cli
from planted_modules import Slow
from planted_nights import NIGHTS, SINCE, night, write_training
from planted_ranks import EVERY, write_job
from talking import MOST_CALLS, Assistant, Told, assistant


@dataclass(frozen=True)
class Culprit:
    """What is wrong, and which first row of which table of which answer names it."""

    write: Callable[[Path], object]
    answers: str
    table: str
    row: Mapping[str, Any]


def _pair(name: str) -> Culprit:
    change = next(one for one in planted_changes.planted(3) if one.name == name)
    expected = {"area": change.area, "cause": change.cause, **({"name": change.operator} if change.operator else {})}
    return Culprit(lambda folder: planted_changes.write_pair(folder, change, 3), "explain", "rows", expected)


def _host(kind: str) -> Culprit:
    (cause,) = planted_host.KINDS[kind][1]
    return Culprit(lambda folder: planted_host.write_planted(folder, kind, 3), "host", "causes", {"cause": cause})


def _quality(kind: str, code: str) -> Culprit:
    return Culprit(lambda folder: planted_quality.write_planted(folder, kind, 3), "quality", "rows", {"code": code})


def _module(folder: Path) -> None:
    planted_modules.write_planted(folder / "before", "1", None)
    planted_modules.write_planted(folder / "after", "2", Slow(3, "Attention", 1.4))


def _pipeline(folder: Path) -> None:
    planted_pipelines.write(folder, [planted_pipelines.planted(5)] * 2)


def _result(folder: Path) -> None:
    shutil.copytree(FIXTURES / "aoe" / "invalid" / "improvement-mismatch", folder)


CULPRITS: dict[str, Culprit] = {
    **{
        f"two runs: {name}": _pair(name)
        for name in (
            "slower kernel", "more calls", "other shapes", "fused", "split", "slower link", "less overlap", "later rank", "blocking copy",
            "slow loader", "compilation",
        )
    },
    **{
        f"host: {kind}": _host(kind)
        for kind in ("launch bound", "synchronising", "data loading", "compiling", "collecting garbage", "copying")
    },
    "quality: cut": _quality("cut step", "cut-step"),
    "quality: other process": _quality("other process", "other-work"),
    "quality: missing ranks": _quality("missing ranks", "missing-ranks"),
    "a slow chip of sixteen": Culprit(
        lambda folder: write_job(folder, 16, {7: dict.fromkeys(EVERY, 1.06)}), "stragglers", "rows", {"rank_id": 7, "cause": "all operators"}
    ),
    "a slow operator of sixteen": Culprit(
        lambda folder: write_job(folder, 16, {3: {"MatMulV2": 1.5}}), "stragglers", "rows", {"rank_id": 3, "op_type": "MatMulV2"}
    ),
    "a slower layer": Culprit(_module, "explain", "rows", {"location": "DecoderLayer_3/Attention"}),
    "a result that cannot be right": Culprit(_result, "check", "findings", {"rule": "improvement-mismatch"}),
    "stages that wait": Culprit(_pipeline, "communication", "findings", {"rule": "pipeline-step"}),
}  # fmt: skip


def names(culprit: Culprit, trail: list[Told]) -> bool:
    """Whether an answer names it first."""
    for one in trail:
        if not one.is_error and one.content["answers"] == culprit.answers and culprit.table in one.content["tables"]:
            for first in one.rows(culprit.table)[:1]:
                if all(first.get(key) == value for key, value in culprit.row.items()):
                    return True
    return False


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Assistant]]:
    root = tmp_path_factory.mktemp("planted")
    with assistant("--root", root) as one:
        yield root, one
    shutil.rmtree(root)


def test_what_is_planted_is_reached_in_six_calls(planted: tuple[Path, Assistant]) -> None:
    root, one = planted
    trails = {}
    for name, culprit in CULPRITS.items():
        folder = root / name.replace(" ", "_").replace(":", "")
        culprit.write(folder)
        trails[name] = one.follow(path=str(folder))
    missed = [name for name, trail in trails.items() if not names(CULPRITS[name], trail)]
    assert (len(CULPRITS), missed) == (25, [])
    assert max(map(len, trails.values())) <= MOST_CALLS
    assert not [name for name, trail in trails.items() for told in trail if told.is_error]


def test_the_store_leads_to_what_got_slower_and_to_the_nights_to_compare(cli: Cli, tmp_path: Path) -> None:
    write_training(tmp_path / "n", "slow", Slow(3, "Attention", 1.10))
    assert cli("ingest", tmp_path / "n", "--store", tmp_path / "s", "--workload", "net", "--by-module").code == 0
    with assistant("--root", tmp_path / "n", "--store", tmp_path / "s") as one:
        start, incidents, incident, why, *_ = one.follow()
        lists = {name: one("history", list=name) for name in ("runs", "workloads", "series", "observations")}
    assert start.content["headline"] == "1 roots may be read, and a store of nights"
    first = incidents.rows("incidents")[0]
    assert first["title"].startswith("layer DecoderLayer_3/Attention of net, rank 0 +")
    assert (first["since"], first["open"]) == (night(SINCE), True)
    assert [row["night"] for row in incident.rows("runs")] == [night(SINCE - 1), night(SINCE)]
    assert (why.tool, why.arguments["question"]) == ("ask", "explain")
    assert why.content["headline"].startswith("A step on rank 0: +")
    assert lists["runs"].content["tables"]["rows"]["total"] == NIGHTS
    assert lists["runs"].rows("rows")[0]["night"] == night(NIGHTS - 1)
    assert lists["workloads"].rows("rows")[0] | {"runs": NIGHTS} == lists["workloads"].rows("rows")[0]
    changed = [row for row in lists["series"].rows("series") if row.get("state") == "confirmed"]
    assert {row["since"] for row in changed} == {night(SINCE)}
    assert not [name for name, told in lists.items() if told.is_error]
