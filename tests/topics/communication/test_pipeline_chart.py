"""The chart of a pipeline, by planted schedules: shares, what is waited for, and that there is none without a pipeline."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from commandline import FIXTURES, Cli
from planted_pipelines import Pipeline, planted, write

from aoe_reports.topics.communication.pipeline_steps import MAX_PIECES

SVG = "{http://www.w3.org/2000/svg}"
TIMES = re.compile(r"busy ([\d,.]+) us, waits ([\d,.]+) us, neither ([\d,.]+) us")


def made(schedule: str, micro_batches: int, stages: int, forward: int = 100, backward: int = 200) -> Pipeline:
    one = Pipeline(schedule, micro_batches, [forward] * stages, [backward] * stages)  # type: ignore[arg-type]
    one.run()
    return one


def drawn(cli: Cli, folder: Path, *options: object) -> ET.Element:
    path = folder.parent / "x.svg"
    path.unlink(missing_ok=True)
    ended = cli("communication", folder, "--format", "svg", "-o", path, *options)
    assert ended.code == 0, ended.err
    return ET.fromstring(path.read_text())


def words(picture: ET.Element) -> list[str]:
    """What stands in it, without what only titles say."""
    return ["".join([one.text or "", *(part.tail or "" for part in one)]) for one in picture.iter(f"{SVG}text")]


def lanes(picture: ET.Element) -> list[tuple[int, int, int]]:
    """(busy, waiting, neither) of each lane, in ns."""
    told = [TIMES.search(one.text or "") for one in picture.iter(f"{SVG}title")]
    return [
        tuple(round(float(one.replace(",", "")) * 1000) for one in found.groups())  # type: ignore[misc]
        for found in told
        if found
    ]


def pieces(picture: ET.Element, lane: int) -> list[str]:
    """The kinds of a lane's rectangles by time, without sends."""
    rows = [group for group in picture.iter(f"{SVG}g") if group.get("class") == "lane"]
    found = [
        one for one in rows[lane] if one.get("class", "").startswith("piece-") and one.get("class") != "piece-sending"
    ]
    return [
        one.get("class", "").removeprefix("piece-") for one in sorted(found, key=lambda one: float(one.get("x", "")))
    ]


@pytest.mark.parametrize("seed", range(3))
def test_the_share_of_bubbles_is_that_of_the_schedule(cli: Cli, tmp_path: Path, seed: int) -> None:
    truth = planted(seed)
    picture = drawn(cli, write(tmp_path / "run", [truth]))
    times = lanes(picture)
    step = {sum(one) for one in times}
    assert len(times) == truth.stages
    assert len(step) == 1
    waiting = sum(one[1] for one in times) / (step.pop() * truth.stages)
    assert abs(waiting - truth.bubble_share) < 0.005
    each = [truth.micro_batches * 1000 * sum(both) for both in zip(truth.forward_us, truth.backward_us, strict=True)]
    assert [one[0] for one in times] == each


@pytest.mark.parametrize("schedule", ["1F1B", "GPipe"])
def test_of_stages_that_are_alike_it_is_that_of_the_formula(cli: Cli, tmp_path: Path, schedule: str) -> None:
    said = words(drawn(cli, write(tmp_path / "run", [made(schedule, 8, 4, 1000, 2000)])))
    assert said[:4] == [
        "step 0: pipeline of 4 stages, 33.000 ms",
        "bubbles: 27.3% of the step",
        "schedule: (p-1)/(m+p-1) = 27.3%, p = 4, m = 8",
        said[3],
    ]
    assert abs(float(said[3].split()[1])) <= 0.002
    assert [one for one in said if one.startswith("rank")] == [
        f"rank {rank}: busy 72.7%, waits 27.3%" for rank in range(4)
    ]


def test_a_slow_stage_makes_others_wait_longer_than_the_schedule_has_them(cli: Cli, tmp_path: Path) -> None:
    slow = Pipeline("1F1B", 8, [100, 150, 100, 100], [200, 300, 200, 200])
    slow.run()
    said = words(drawn(cli, write(tmp_path / "run", [slow])))
    assert said[1] == f"bubbles: {float(slow.bubble_share):.1%} of the step"
    extra = float((slow.bubble_share - made("1F1B", 8, 4).bubble_share) * slow.length_us) / 1000
    assert abs(float(said[3].split()[1]) - extra) < 0.005


def test_forward_and_backward_are_told_by_where_receives_come_from(cli: Cli, tmp_path: Path) -> None:
    picture = drawn(cli, write(tmp_path / "run", [made("GPipe", 2, 3)]))
    assert pieces(picture, 0) == ["forward", "forward", "waiting", "backward", "backward"]
    assert pieces(picture, 1)[:3] == ["waiting", "forward", "forward"]
    # the last stage goes on with backward at once: nothing is sent or received between
    assert pieces(picture, 2) == ["waiting", "forward", "computing", "backward", "waiting"]


def test_without_peers_there_is_only_computing(cli: Cli, tmp_path: Path) -> None:
    picture = drawn(cli, write(tmp_path / "run", [made("1F1B", 4, 3)], peers=False))
    assert {*pieces(picture, 0), *pieces(picture, 1), *pieces(picture, 2)} == {"computing", "waiting"}
    assert "schedule: (p-1)/(m+p-1) = 33.3%, p = 3, m = 4" in words(picture)


def test_the_slowest_step_is_drawn_or_the_one_asked_for(cli: Cli, tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [made("1F1B", count, 2) for count in (2, 6, 4)])
    assert words(drawn(cli, folder))[0].startswith("step 1: ")
    assert words(drawn(cli, folder, "--step", 2))[0].startswith("step 2: ")


def test_without_all_stages_the_schedule_is_not_told(cli: Cli, tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [made("1F1B", 4, 4)], leave_out=[3])
    said = words(drawn(cli, folder))
    assert "not all stages were read" in said
    assert not any("schedule" in one for one in said)


@pytest.mark.parametrize("left", [[1], [0, 1]])
def test_without_two_stages_it_is_said_that_there_is_no_pipeline(cli: Cli, tmp_path: Path, left: list[int]) -> None:
    run = write(tmp_path / "run", [made("1F1B", 4, 2)], leave_out=left) if len(left) == 1 else None
    if run is None:
        run = tmp_path / "run"
        shutil.copytree(FIXTURES / "msprof/valid/torch_npu_memory_and_communication", run)
    picture = drawn(cli, run)
    assert words(picture) == [
        "no pipeline to draw: no timelines here in which two stages send and receive in one step, beside one another"
    ]
    assert not list(picture.iter(f"{SVG}g"))


def test_clocks_that_are_apart_make_no_pipeline(cli: Cli, tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [made("1F1B", 4, 2)])
    path = folder / "host_1_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"
    events = json.loads(path.read_text())
    for one in events:
        if "ts" in one:
            whole, part = one["ts"].split(".")
            one["ts"] = f"{int(whole) + 3_600_000_000}.{part}"
    path.write_text(json.dumps(events))
    assert words(drawn(cli, folder))[0].startswith("no pipeline")


def test_many_micro_batches_are_joined_below_a_pixel_and_nothing_is_lost(cli: Cli, tmp_path: Path) -> None:
    truth = made("1F1B", 300, 8, 3, 5)
    picture = drawn(cli, write(tmp_path / "run", [truth]))
    assert 1_000 < sum(len(pieces(picture, lane)) for lane in range(8)) <= MAX_PIECES
    assert [one[0] for one in lanes(picture)] == [300 * 8 * 1000] * 8


def test_other_forms_tell_it_only_if_they_are_asked(cli: Cli, tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [made("GPipe", 6, 3)])
    assert "pipeline-step" not in cli("communication", folder, "--format", "json").rules()
    answer = cli("communication", folder, "--pipeline", "--format", "json").json
    (said,) = [one["message"] for one in answer["findings"] if one["rule"] == "pipeline-step"]
    assert said.startswith(
        "step 0: pipeline of 3 stages, 2.400 ms: bubbles: 25.0% of the step; schedule: (p-1)/(m+p-1) = 25.0%"
    )


def test_its_words_are_said_in_chinese_and_it_has_no_script(cli: Cli, tmp_path: Path) -> None:
    picture = drawn(cli, write(tmp_path / "run", [made("GPipe", 6, 3)]), "--lang", "zh")
    assert any("气泡" in one for one in words(picture))
    assert not list(picture.iter(f"{SVG}script"))
