"""The documented way leads to what was planted: the first row of an answer names it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import planted_changes
import planted_pipelines
from commandline import Cli
from planted_modules import Slow
from planted_nights import NIGHTS, SINCE, night, write_training
from planted_ranks import EVERY, write_job
from talking import assistant

_CHANGE = next(one for one in planted_changes.planted(3) if one.name == "slower link")
CULPRITS: dict[str, tuple[Callable[[Path], object], str, Mapping[str, Any], str, Mapping[str, Any]]] = {
    "two runs": (
        lambda folder: planted_changes.write_pair(folder, _CHANGE, 3),
        "explain", {}, "rows", {"area": _CHANGE.area, "cause": _CHANGE.cause},
    ),
    "a slow chip": (
        lambda folder: write_job(folder, 4, {3: dict.fromkeys(EVERY, 1.06)}),
        "stragglers", {}, "rows", {"rank_id": 3, "cause": "all operators"},
    ),
    "stages that wait": (
        lambda folder: planted_pipelines.write(folder, [planted_pipelines.planted(5)] * 2),
        "communication", {"pipeline": True}, "findings", {"rule": "pipeline-step"},
    ),
}  # fmt: skip
"""(what writes it, question, options, table, the beginning of its first row)."""


def test_what_is_planted_is_named_first(tmp_path: Path) -> None:
    for name, (write, *_) in CULPRITS.items():
        write(tmp_path / name)
    with assistant("--root", tmp_path) as one:
        for name, (_, question, options, table, expected) in CULPRITS.items():
            runs = {row["run"] for row in one("runs", path=name).rows("captures")}
            paths = sorted(runs, key=lambda run: "after" in run) if question == "explain" else [name]
            found = one.ask(question, *map(Path, paths), options=options)
            assert found.rows(table)[0].items() >= expected.items(), name


def test_the_store_leads_to_what_got_slower_and_to_the_nights_to_compare(cli: Cli, tmp_path: Path) -> None:
    write_training(tmp_path / "n", "slow", Slow(3, "Attention", 1.10))
    assert cli("ingest", tmp_path / "n", "--store", tmp_path / "s", "--workload", "net", "--by-module").code == 0
    with assistant("--root", tmp_path / "n", "--store", tmp_path / "s") as one:
        runs, incidents = one("runs"), one("incident")
        first = incidents.rows("incidents")[0]
        incident = one("incident", id=first["incident"])
        why = one.ask("explain", *(Path(row["path"]) for row in incident.rows("runs")))
        absent = one("incident", id="nothing")
    assert runs.content["tables"]["stored_runs"]["total"] == NIGHTS
    assert runs.rows("stored_runs")[0]["night"] == night(NIGHTS - 1)
    assert first["title"].startswith("layer DecoderLayer_3/Attention of net, rank 0 +")
    assert (first["since"], first["open"]) == (night(SINCE), True)
    assert [row["night"] for row in incident.rows("runs")] == [night(SINCE - 1), night(SINCE)]
    assert why.content["headline"].startswith("A step on rank 0: +")
    assert absent.text.startswith("no incident 'nothing'")
