"""When collectives of gradients could have started, why they did later, and what would be hidden: by planted steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commandline import Cli
from planted_buckets import PYTHON, Step

from aoe_reports.model.topics.communication import GradientCollective
from aoe_reports.topics.communication.bucket_order import BucketOrder
from aoe_reports.topics.communication.facts import OperatorTime, PeerWait
from aoe_reports.topics.communication.run import Communication
from aoe_reports.topics.communication.words import gradient_rows

FIRST, SECOND, GATHER = "hcom_allReduce__586_0_1", "hcom_allReduce__586_1_1", "hcom_allGather__586_9_1"


def told(cli: Cli, folder: Path, *options: object) -> tuple[list[dict[str, Any]], list[str]]:
    answer = cli("communication", folder, "--bucket-order", "--format", "json", *options).json
    return answer["gradients"], [one["message"] for one in answer["findings"] if one["rule"] == "bucket-order"]


def parts(row: dict[str, Any]) -> dict[str, float]:
    names = ("exposed", "late", "launch", "earlier", "unknown", "hidden")
    return {name: row[f"{name}_us"] for name in names}


def test_what_starts_when_it_can_is_not_late(cli: Cli, tmp_path: Path) -> None:
    step = Step()
    step.kernel("grad_b", 0, 10, 100)
    step.collective(FIRST, 1, 110, 60)
    step.kernel("grad_a", 2, 110, 100)
    step.collective(SECOND, 3, 210, 60)
    (row,), findings = told(cli, step.write(tmp_path))
    assert (row["op_name"], row["late_because"], row["producer"], findings) == (SECOND, "not late", "grad_a", [])
    assert parts(row) == {"exposed": 60, "late": 0, "launch": 0, "earlier": 0, "unknown": 0, "hidden": 0}


def test_a_late_launch_by_a_thread_of_its_own_hides_what_it_could_overlap(cli: Cli, tmp_path: Path) -> None:
    step = Step()
    step.kernel("grad_b", 0, 10, 100)
    step.kernel("grad_a", 150, 160, 200)
    step.collective(FIRST, 140, 330, 90, thread=2)
    (row,), (message,) = told(cli, step.write(tmp_path))
    assert (row["producer"], row["late_because"], row["duration_us"]) == ("grad_b", "unknown", 90)
    # ready at 110, launched at 140, begun at 330, the kernel beside it ends at 360; from 110 on 50 of 90 would be exposed
    assert parts(row) == {"exposed": 60, "late": 220, "launch": 30, "earlier": 0, "unknown": 190, "hidden": 10}
    assert "exposed for 60.000 us" in message
    assert "10.000 us of it would be hidden" in message


def test_an_earlier_collective_of_the_group_is_named_and_not_that_of_another(cli: Cli, tmp_path: Path) -> None:
    for group, earlier, unknown in (("586", 290, 0), ("777", 0, 290)):
        step = Step()
        step.kernel("forward", 0, 10, 20)
        step.collective(GATHER.replace("586", group), 1, 30, 370)
        step.kernel("grad_b", 2, 30, 80)
        step.collective(FIRST, 3, 400, 100)
        step.kernel("grad_a", 4, 110, 250)
        (row,), _ = told(cli, step.write(tmp_path / group))
        assert parts(row) == {
            "exposed": 100, "late": 290, "launch": 0, "earlier": earlier, "unknown": unknown, "hidden": 100,
        }  # fmt: skip


@pytest.mark.parametrize("group", ["586", "777"])
def test_names_of_2023_tell_their_groups_too(group: str, cli: Cli, tmp_path: Path) -> None:
    step = Step()
    step.kernel("forward", 0, 10, 20)
    step.collective(f"hcom_allGather__{group}_0", 1, 30, 370)
    step.kernel("grad_b", 2, 30, 80)
    step.collective("hcom_allReduce__586_1", 3, 400, 100)
    (row,), _ = told(cli, step.write(tmp_path))
    assert (row["earlier_us"], row["unknown_us"]) == ((290, 0) if group == "586" else (0, 290))


def test_what_several_groups_expose_at_one_time_counts_once(cli: Cli, tmp_path: Path) -> None:
    step = Step()
    step.kernel("grad", 0, 10, 100)
    step.kernel("rest", 3, 115, 250)
    for group, at in ((1, 400), (2, 400), (3, 600)):
        step.collective(f"hcom_allReduce__{group}_0_1", 1, at, 80)
    rows, (message,) = told(cli, step.write(tmp_path))
    assert [parts(row)["hidden"] for row in rows] == [75, 75, 75]
    # exposed from 400 to 480 and from 600 to 680; from 110 to 115 if all three start when they can
    assert "exposed for 160.000 us" in message
    assert "155.000 us of it would be hidden" in message


def test_what_is_not_late_is_never_hidden_by_starting_later(cli: Cli, tmp_path: Path) -> None:
    step = Step()
    step.kernel("grad_b", 0, 10, 50)
    step.collective("hcom_allReduce_", 1, 60, 100)
    step.kernel("grad_a", 2, 60, 50)
    step.collective("hcom_allReduce_", 3, 110, 40)
    step.kernel("next", 4, 155, 100)
    rows, findings = told(cli, step.write(tmp_path))
    assert {(row["late_us"], row["hidden_us"]) for row in rows} == {(0, 0)}
    assert findings == []


def test_of_one_step_only_its_collectives_count(cli: Cli, tmp_path: Path) -> None:
    step = Step()
    for number, late in ((7, 0), (8, 300)):
        begin = (number - 7) * 1000
        step.add(f"ProfilerStep#{number}", (PYTHON, 1), begin, 900)
        step.kernel("grad_b", begin, begin + 10, 100)
        step.kernel("grad_a", begin + 1, begin + 110, 200)
        step.collective(FIRST, begin + 0.75, begin + 110 + late, 90)
    folder = step.write(tmp_path)
    for chosen, exposed in ((7, []), (8, [8])):
        rows, findings = told(cli, folder, "--step", chosen)
        assert [row["step"] for row in rows] == exposed
        assert len(findings) == len(exposed)
    assert "(18.4% of the time)" in findings[0]


def test_without_a_launch_nothing_is_said_to_be_late(cli: Cli, tmp_path: Path) -> None:
    step = Step()
    step.kernel("grad_a", 0, 10, 100)
    step.collective(FIRST, None, 300, 50)
    (row,), findings = told(cli, step.write(tmp_path))
    assert (row["ready_ns"], row["producer"], row["late_us"], row["hidden_us"], findings) == (None, None, 0, 0, [])


def test_only_collectives_that_may_be_of_gradients_are_told_and_only_when_asked(cli: Cli, tmp_path: Path) -> None:
    step = Step()
    step.kernel("a", 0, 10, 100)
    step.collective(GATHER, 1, 300, 50)
    rows, _ = told(cli, step.write(tmp_path))
    assert rows == []
    assert cli("communication", tmp_path, "--format", "json").json["gradients"] == []


@pytest.mark.parametrize("seed", range(2))
def test_parts_add_up_and_no_more_is_hidden_than_is_exposed(seed: int, cli: Cli, tmp_path: Path) -> None:
    random, step, now, device, stream = np.random.default_rng(seed), Step(), 0.0, 0.0, 0.0
    for number in range(30):
        now += float(random.integers(1, 40))
        device = max(device, now + 3)
        length = float(random.integers(5, 90))
        step.kernel(f"kernel{number}", now, device, length)
        device += length
        if random.random() < 0.4:
            name = "reduceScatter" if random.random() < 0.5 else "allGather"
            group = 500 + int(random.integers(0, 2))
            stream = max(stream, device) + float(random.integers(0, 200))
            size = float(random.integers(5, 300))
            step.collective(f"hcom_{name}__{group}_{number}_1", now + 0.5, stream, size)
            stream += size
    rows, _ = told(cli, step.write(tmp_path), "--top", 100)
    for row in rows:
        assert row["late_us"] == pytest.approx(row["launch_us"] + row["earlier_us"] + row["unknown_us"])
        assert min(row["launch_us"], row["earlier_us"], row["unknown_us"]) >= 0
        assert 0 <= row["hidden_us"] <= row["exposed_us"] <= row["duration_us"]
        assert row["hidden_us"] == 0 or row["late_us"] > 0


def test_what_it_waited_for_others_is_told_by_the_timeline_else_by_its_plane_before_the_first_transfer() -> None:
    late = dict.fromkeys(("late_ns", "launch_ns", "earlier_ns", "unknown_ns", "hidden_ns", "start_ns"), 0)
    one = GradientCollective(
        op_name=FIRST,
        op_type="allreduce",
        step=5,
        duration_ns=900,
        exposed_ns=900,
        ready_ns=None,
        producer=None,
        **late,
    )
    both = (one, replace(one, op_name=SECOND))
    run = Communication(
        operators=[
            OperatorTime(0, 5, "collective", name, "allreduce", "g", 0, 900, 100, 60, 50, 740)
            for name in (FIRST, SECOND)
        ],
        peer_waits=[PeerWait(rank, FIRST, "g", 5, 7, waited, 900) for rank, waited in ((0, 790), (1, 3))],
    )
    order = BucketOrder(None, 1800, 1800, 0, both, rank_id=0)
    assert [row.waited_ns for row in gradient_rows(order, run, None)] == [790, 50]
