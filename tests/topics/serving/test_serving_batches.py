"""Batches of a service as iterations: what they tell beside tasks, when they are not gone by, and what they tell alone."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from commandline import FIXTURES, Cli
from planted_serving import VLLM, Planted, planted, requests_of

from aoe_reports import hotspots, serving
from aoe_reports.topics.serving.batches import Batch, lanes_of, prompts_of

ITERATIONS = 26
SERVICE = FIXTURES / "msserviceprofiler" / "valid" / "one_service"


def _told(iterations: Sequence[Any], *names: str) -> list[set[str | None]]:
    return [{getattr(one, name) for one in iterations} for name in names]


def _batches(rows: Sequence[dict[str, Any]], prompts: dict[str, int] | None = None) -> list[Batch]:
    empty = dict.fromkeys(("prof_id", "dp_rank", "batch_type", "batch_size"))
    table = pa.Table.from_pylist([{"name": "modelExec", "during_time_ns": 5, **empty, **row} for row in rows])
    return [one for lane in lanes_of(table, prompts or {}) for one in lane.batches]


@pytest.mark.parametrize(
    "kind", ["dense, FIA, chunked", "no shapes, FIA", "names alone, MLA", "dense, ATB, prefill first"]
)
@pytest.mark.parametrize("in_ms", [False, True])
def test_batches_beside_tables_cut_iterations_and_tell_what_they_are(tmp_path: Path, kind: str, in_ms: bool) -> None:
    one = planted(kind, 0, ITERATIONS)
    one.write(tmp_path)
    one.write_batches(tmp_path, in_ms=in_ms)
    answer = serving([tmp_path])
    iterations = answer.table("iterations")
    assert [each.phase for each in iterations] == [truth.phase for truth in one.truth]
    assert [each.tokens for each in iterations] == [truth.tokens for truth in one.truth]
    assert [each.sequences for each in iterations] == [truth.sequences for truth in one.truth]
    told = _told(iterations, "cut_by", "told_by", "sequences_by", "tokens_by", "lengths_by", "rank_id")
    assert told == [*[{"batches"}] * 5, {0}]
    assert [each.longest_sequence for each in iterations] == [
        100 + max(each["num_scheduled_tokens"] for each in requests_of(truth, 0)) for truth in one.truth
    ]
    without = serving([tmp_path / "rank0_ascend_pt"]).table("iterations")
    assert [each.duration_ns for each in iterations] == [each.duration_ns for each in without]


@pytest.mark.parametrize(
    ("annotation", "told_by"), [("execute_model", "batches"), ("forward", "batches"), (VLLM, "annotations")]
)
def test_annotations_come_before_batches_which_tell_what_those_do_not(
    tmp_path: Path, annotation: str, told_by: str
) -> None:
    one = planted("no shapes, FIA", 1, ITERATIONS)
    one.write(tmp_path, annotation=annotation)
    one.write_batches(tmp_path)
    iterations = serving([tmp_path]).table("iterations")
    assert [each.phase for each in iterations] == [truth.phase for truth in one.truth]
    assert [each.tokens for each in iterations] == [truth.tokens for truth in one.truth]
    told = _told(iterations, "cut_by", "told_by", "tokens_by", "lengths_by")
    assert told == [{"annotations"}, {told_by}, {told_by}, {"batches"}]


def test_a_timeline_without_annotations_tells_what_was_launched_while_a_batch_ran(tmp_path: Path) -> None:
    one = planted("dense, FIA, chunked", 3, ITERATIONS)
    one.write(tmp_path, annotation="somebody's own range")
    one.write_batches(tmp_path, late_ns=-10_000)
    iterations = serving([tmp_path]).table("iterations")
    assert [each.phase for each in iterations] == [truth.phase for truth in one.truth]
    assert _told(iterations, "cut_by", "told_by") == [{"batches"}, {"batches"}]


def _apart(one: Planted, iterations: float) -> int:
    """So many iterations in ns."""
    return int(iterations * (one.truth[-1].first_ns - one.truth[0].first_ns) / (len(one.truth) - 1))


@pytest.mark.parametrize("iterations", [0.5, 3.0])
def test_batches_of_another_clock_are_not_gone_by_and_that_is_said(cli: Cli, tmp_path: Path, iterations: float) -> None:
    one = planted("dense, FIA, chunked", 4, ITERATIONS)
    one.write(tmp_path)
    one.write_batches(tmp_path, late_ns=_apart(one, iterations))
    ran = cli("serving", tmp_path, "--rank", 0, "--format", "json")
    assert [each["phase"] for each in ran.json["iterations"]] == [truth.phase for truth in one.truth]
    assert {each["cut_by"] for each in ran.json["iterations"]} == {"operators"}
    assert ran.rules() == {"batches-apart"}
    assert ran.code == 0


def test_of_cards_with_other_batches_none_is_taken_for_that_of_a_device(tmp_path: Path) -> None:
    one, other = planted("dense, FIA, chunked", 4, ITERATIONS), planted("dense, FIA, chunked", 5, ITERATIONS)
    one.write(tmp_path)
    home = one.write_batches(tmp_path / "service")
    more = other.write_batches(tmp_path / "other").joinpath("batch.csv").read_text().replace("'rid': '", "'rid': 'b")
    with (home / "batch.csv").open("a") as file:
        file.writelines(line.replace(",Decode,0,", ",Decode,1,") for line in more.splitlines(keepends=True)[1:])
    shutil.rmtree(tmp_path / "other")
    iterations = serving([tmp_path]).table("iterations")
    assert {each.cut_by for each in iterations if each.rank_id == 0} == {"operators"}
    assert {each.prof_id for each in iterations} == {None, "0", "1"}


def test_cards_that_run_the_same_batches_are_one(tmp_path: Path) -> None:
    one = planted("dense, FIA, chunked", 4, ITERATIONS)
    for rank in range(2):
        one.write(tmp_path, rank=rank)
    one.write_batches(tmp_path, cards=2)
    iterations = serving([tmp_path]).table("iterations")
    assert _told(iterations, "cut_by", "rank_id") == [{"batches"}, {0, 1}]


def test_hotspots_of_a_phase_are_those_of_the_same_iterations(tmp_path: Path) -> None:
    one = planted("no shapes, FIA", 2, ITERATIONS)
    one.write(tmp_path)
    one.write_batches(tmp_path)
    places = [place for truth in one.truth if truth.phase == "decode" for place in truth.places]
    wanted = sum(one.rows[place]["length"] for place in places if one.rows[place]["core"] != "COMMUNICATION")
    assert sum(row.total_ns for row in hotspots([tmp_path], phase="decode", top=1000).rows) == pytest.approx(
        wanted, rel=0.02
    )


def test_a_service_alone_is_its_batches(cli: Cli, tmp_path: Path) -> None:
    one = planted("dense, FIA, chunked", 6, ITERATIONS)
    one.write_batches(tmp_path)
    answer = serving([tmp_path])
    iterations = answer.table("iterations")
    assert [each.phase for each in iterations] == [truth.phase for truth in one.truth]
    assert [each.tokens for each in iterations] == [truth.tokens for truth in one.truth]
    assert _told(iterations, "cut_by", "attention_ns", "tasks", "prof_id") == [{"batches"}, {None}, {None}, {"0"}]
    assert {each.idle_ns for each in iterations[1:]} == {1000}
    assert not answer.table("parts")
    (decode,) = [row for row in answer.rows if row.phase == "decode"]
    assert (decode.computing_ns, decode.per_output_token_ns) == (None, decode.mean_ns)
    first, *rest = cli("serving", tmp_path).out.splitlines()
    assert "by the batches of the service; for 0." in first
    assert "of it no batch runs" in first
    assert any(line.startswith("No task of a device was recorded") for line in rest)
    assert cli("serving", tmp_path, "--rank", 0).code == 1  # which rank ran them nothing tells


def test_requests_tell_how_long_sequences_are_where_batches_do_not(cli: Cli) -> None:
    (one,) = cli("serving", SERVICE, "--format", "json").json["iterations"]
    assert (one["sequence_length"], one["longest_sequence"], one["lengths_by"]) == (384.0, 512, "requests")
    assert (one["tokens"], one["tokens_by"]) == (768, "batches")  # of the row that scheduled it


def test_what_runs_is_told_by_what_scheduled_it_before() -> None:
    scheduled = {"name": "BatchSchedule", "prefill_batch_size": 1.0, "decode_batch_size": 1.0, "prefill_scheduled_tokens": 7.0, "decode_scheduled_tokens": 1.0}  # fmt: skip
    requests = "[{'rid': 'a', 'iter': 0}, {'rid': 'b', 'iter': 4}]"
    (one,) = _batches([
        {**scheduled, "res_list": requests, "start_ns": 10, "batch_type": "Prefill, Decode"},
        {**scheduled, "res_list": requests, "start_ns": 90, "prefill_scheduled_tokens": 9.0},
        {"res_list": requests, "start_ns": 20},
    ])  # fmt: skip
    assert (one.phase, one.sequences, one.prompts, one.decoding) == ("mixed", 2, 1, 1)
    assert (one.prompt_tokens, one.decoded_tokens) == (7, 1)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"res_list": "[]", "batch_size": 3.0, "batch_type": "decode"}, ("decode", 3, None)),
        ({"res_list": "[]", "batch_size": 3.5, "batch_type": "unknown"}, (None, None, None)),
        ({"res_list": "[{'rid': 1, 'iter': 2}]", "batch_type": "Decode"}, ("decode", 1, 12)),
        ({"res_list": "[{'rid': 'x', 'iter': 2}]", "batch_type": "Decode"}, ("decode", 1, None)),
        ({"res_list": "[{'rid': '1', 'iter': 2, 'num_scheduled_tokens': 4}]"}, (None, 1, None)),
        (
            {"res_list": "[{'rid': 1, 'type': 0, 'num_scheduled_tokens': 4, 'num_computed_tokens': 8}]"},
            ("prefill", 1, 12),
        ),
        ({"res_list": "[{'rid': 1, 'type': 7}]"}, (None, 1, None)),
        ({"res_list": "[{'rid': 1, 'type': 0.5}]"}, (None, 1, None)),
        ({"res_list": "{" * 3000, "batch_size": -1.0}, (None, None, None)),
        ({"res_list": None}, (None, None, None)),
    ],
)
def test_odd_batches_tell_what_is_there_and_no_more(row: dict[str, Any], told: tuple[Any, ...]) -> None:
    requests = pa.Table.from_pylist(
        [{"http_rid": "1", "recv_token_size": 10.0}, {"http_rid": None, "recv_token_size": 1.0}]
    )
    (one,) = _batches([{"start_ns": 1, **row}], prompts_of(requests))
    assert (one.phase, one.sequences, one.longest) == told


def test_passes_of_the_model_stand_in_where_no_batch_tells_when_it_ran(cli: Cli, tmp_path: Path) -> None:
    shutil.copy(SERVICE / "forward.csv", tmp_path)
    found = cli("serving", tmp_path, "--format", "json").json["iterations"]
    assert [(one["phase"], one["sequences"], one["duration_us"], one["idle_us"]) for one in found] == [
        ("prefill", 2, 68000.0, 0.0),
        ("decode", 2, 11500.0, 1500.0),
    ]
