"""What moved on one night is told as what caused it: a rank, an operator type, an operator, not as a list of series."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from captures import Kernel, Night, write_night
from commandline import Cli
from stores import store_at_once

from aoe_reports.topics.records.options import RecordOptions

BEFORE, AFTER = 25, 6
RANKS = (0, 1)
TYPES = ("MatMulV2", "TransData", "SoftmaxV2", "Add")
OPERATORS = [(kind, f"{kind.lower()}_{number}") for kind in TYPES for number in range(4)]

Planted = Callable[[int, int, str, str], float]
"""By which factor an operator is longer: of the nights since the first change, its rank, its type, its name."""


def store_nights(folder: Path, numbers: range, planted: Planted = lambda *_: 1.0) -> None:
    """Store nights of two ranks, with what is planted."""
    for number in numbers:
        for rank in RANKS:
            kernels = tuple(
                Kernel(
                    name,
                    kind,
                    (100 + 10 * place) * planted(number - BEFORE, rank, kind, name),
                )
                for place, (kind, name) in enumerate(OPERATORS)
            )
            write_night(folder / "nights" / str(number), number, Night(kernels), rank=rank)
    store_at_once([folder / "nights"], folder / "store", RecordOptions(workload="net"))


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of nights in which nothing changed."""
    folder = tmp_path_factory.mktemp("before")
    store_nights(folder, range(BEFORE))
    return folder / "store"


@pytest.fixture
def store_of(before: Path, tmp_path: Path) -> Callable[[Planted], Path]:
    """A store in which something changed after that."""

    def with_nights(planted: Planted) -> Path:
        store = copytree(before, tmp_path / "store")
        store_nights(tmp_path, range(BEFORE, BEFORE + AFTER), planted)
        return store

    return with_nights


def added_to_a_step(cli: Cli, store: Path, cause: dict[str, Any]) -> float:
    """By hand, from the records of the newest night: what the operators took more, by what the steps took, on the worse rank."""
    rows = cli("store", "history", "records", "--store", store, "--format", "json").json["rows"]
    newest = [row for row in rows if row["night"] == max(one["night"] for one in rows)]
    found = []
    for rank in RANKS:
        mine = [row for row in newest if row["rank_id"] == rank]
        of_cause = [
            row
            for row in mine
            if row["scope"] == "op"
            and all(cause[name] in {None, row[name]} for name in ("rank_id", "op_type", "op_name"))
        ]
        steps = sum(row["runtime_ms_mean"] * row["count"] for row in mine if row["scope"] == "step")
        took = sum(row["runtime_ms_mean"] * row["count"] for row in of_cause)
        found.append(took * (1 - 1 / (1 + cause["change"])) / steps)
    return max(found)


def cause(kind: str, **known: Any) -> dict[str, Any]:
    return {"kind": kind, "model": "net", "rank_id": None, "op_type": None, "op_name": None, **known}


@pytest.mark.parametrize(
    ("planted", "causes", "title"),
    [
        (lambda *_: 1.06, [cause("run", members=32)], ": all 32 operators +"),
        (lambda _, rank, *__: 1.06 if rank else 1.0, [cause("rank", rank_id=1, members=16)], ": rank 1: all 16 operators +"),
        (
            lambda _, __, kind, ___: 1.06 if kind == "TransData" else 1.0,
            [cause("op-type", op_type="TransData", members=8)],
            ": operator type TransData +",
        ),
        (
            lambda _, __, ___, name: 1.2 if name == "add_2" else 1.0,
            [cause("operator", op_type="Add", op_name="add_2", members=2)],
            ": operator add_2 (Add) +",
        ),
        (
            lambda _, rank, __, name: 1.3 if name == "add_2" and rank == 0 else 1.0,
            [cause("operator", op_type="Add", op_name="add_2", rank_id=0, members=1)],
            ": operator add_2 (Add, rank 0) +",
        ),
        (
            lambda _, rank, kind, __: (1.06 if rank else 1.0) * (1.1 if kind == "SoftmaxV2" else 1.0),
            [cause("rank", rank_id=1, members=16), cause("op-type", op_type="SoftmaxV2", members=8)],
            "operators +",
        ),
    ],
    ids=["run", "rank", "type", "operator", "operator of a rank", "rank and type"],
)  # fmt: skip
def test_an_incident_is_told_as_its_causes(
    cli: Cli, store_of: Callable[[Planted], Path], planted: Planted, causes: list[dict[str, Any]], title: str
) -> None:
    store = store_of(planted)
    answer = cli("regressions", "--store", store, "--format", "json").json
    (incident,) = answer["incidents"]
    free = {"change": None, "followers": None, "step_share": None}
    assert [one | free for one in incident["causes"]] == [one | free for one in causes]
    for one in incident["causes"]:
        assert one["step_share"] == pytest.approx(added_to_a_step(cli, store, one), rel=0.15)
    assert all(one["followers"] >= 0.9 * one["members"] for one in incident["causes"])
    assert title in incident["title"]
    headline = cli("regressions", "--store", store).out.splitlines()[0]
    assert "other incident" not in headline
    if causes[0]["kind"] != "operator":
        assert title.removeprefix(": ") in headline


def test_two_causes_on_two_nights_are_two_incidents(cli: Cli, store_of: Callable[[Planted], Path]) -> None:
    """The headline names the step and its cause, and counts incidents, not series."""

    def planted(nights: int, rank: int, _: str, name: str) -> float:
        slow_rank = 1.06 if rank else 1.0
        return slow_rank * (1.4 if nights >= 3 and name == "add_2" and rank == 0 else 1.0)

    store = store_of(planted)
    answer = cli("regressions", "--store", store, "--format", "json").json
    first, second = sorted(answer["incidents"], key=lambda one: str(one["since"]))
    assert [one["kind"] for one in first["causes"]] == ["rank"]
    assert [(one["kind"], one["op_name"], one["rank_id"]) for one in second["causes"]] == [("operator", "add_2", 0)]
    out = cli("regressions", "--store", store).out.splitlines()[0]
    assert "rank 1: all 16 operators +" in out
    assert ". Open: step of net, rank 0 +" in out
