"""Planted servers and their iterations, what adds up, what annotations tell, and what is said on the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from commandline import FIXTURES, REAL, Cli, needs_real
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import FEW, seeds
from planted_serving import HARD, KINDS, VLLM, Planted, Server, planted, planted_by, right

from aoe_reports import hotspots, serving
from aoe_reports.topics.serving.facts import Served, serve
from aoe_reports.topics.serving.marks import said_by
from aoe_reports.topics.serving.roles import is_serving, part_of, role_of
from aoe_reports.topics.serving.shapes import product_of, query_of, shapes_of

SEEDS, ITERATIONS = 2, 26
"""Of each kind: 1,716 iterations, and dummy runs."""
BAR = 0.97
PHASES = ("prefill", "decode", "mixed", "other", "unknown", "outside")
PART_KEYS = ("attention_us", "kv_cache_us", "products_us", "moe_us", "normalisation_us", "sampling_us", "other_us")


def _served(one: Planted) -> Served:
    found = serve(one.table())
    assert found is not None
    return found


def _right(one: Planted) -> list[bool]:
    found = _served(one)
    return right(one, found.iteration_of.tolist(), [each.phase for each in found.iterations])


@pytest.mark.slow
def test_iterations_of_planted_servers_are_told_without_annotations() -> None:
    told = {kind: [each for seed in seeds(SEEDS) for each in _right(planted(kind, seed, ITERATIONS))] for kind in KINDS}
    tally = {kind: sum(each) / len(each) for kind, each in told.items()}
    every = [one for each in told.values() for one in each]
    assert len(every) > 800
    assert sum(every) / len(every) >= BAR, tally
    assert min(tally.values()) >= 0.9, tally


@pytest.mark.parametrize("kind", ["no shapes, FIA", "names alone, MLA"])
def test_an_iteration_of_which_nothing_tells_the_phase_is_unknown_and_whole(kind: str) -> None:
    one = planted(kind, 0, ITERATIONS)
    found = _served(one)
    assert kind in HARD
    phases = {each.phase for each in found.iterations}
    assert "unknown" in phases
    assert phases <= {"unknown", "prefill", "mixed"}  # what only prefill has tells that there is some
    assert len(found.iterations) == len(one.truth)
    assert all(each.told_by is None for each in found.iterations if each.phase == "unknown")


def test_attention_with_shapes_is_no_replayed_graph_even_if_they_tell_no_phase() -> None:
    table = planted("dense, FIA, chunked", 0, ITERATIONS).table()
    for name in ("input_data_types", "output_shapes"):  # which of the inputs are lengths, and the rows of the logits
        table = table.set_column(table.column_names.index(name), name, pa.nulls(len(table), pa.string()))
    found = serve(table)
    assert found is not None
    assert {(each.phase, each.told_by) for each in found.iterations} == {("unknown", None)}


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        ("dense, FIA, chunked", "sequences"),
        ("dense, ATB, prefill first", "sequences"),
        ("graphs, padded", "tokens"),
        ("MoE, MC2", "tokens"),
    ],
)
def test_sequences_and_tokens_are_those_that_were_planted(kind: str, column: str) -> None:
    one = planted(kind, 3, ITERATIONS)
    told = [getattr(each, column) for each in _served(one).iterations]
    assert told == [getattr(truth, column) for truth in one.truth]


def test_a_decode_that_verifies_drafts_tells_how_many_tokens_each_sequence_has() -> None:
    one = planted_by(Server(drafts=2), np.random.default_rng(5), ITERATIONS)
    found = _served(one)
    assert {each.drafted for each in found.iterations if each.phase == "decode"} == {3}
    assert len(found.iterations) == len(one.truth)  # the passes of the draft model are parts of others


@FEW
@given(kind=st.sampled_from([*KINDS, *HARD]), seed=st.integers(0, 1000))
def test_parts_and_idle_time_are_the_iteration_and_iterations_follow_one_another(kind: str, seed: int) -> None:
    one = planted(kind, seed, 8)
    found = _served(one)
    table = one.table()
    end = 0
    for each in found.iterations:
        assert sum(each.parts.values()) == each.duration_ns
        assert min(each.parts.values(), default=0) >= 0
        assert each.start_ns >= end
        end = each.start_ns + each.duration_ns
    starts, lengths = (np.asarray(table[name].to_pylist()) for name in ("task_start_ns", "task_duration_ns"))
    assert end == int((starts + lengths).max())
    counts = np.bincount(found.iteration_of[found.iteration_of >= 0], minlength=len(found.iterations))
    assert counts.tolist() == [each.tasks for each in found.iterations]
    assert sum(int(found.in_phase(phase).sum()) for phase in PHASES) == table.num_rows


def test_encoders_of_images_are_no_prefill() -> None:
    one = planted_by(Server(layers=9, encodes=True), np.random.default_rng(3), ITERATIONS)
    found = _served(one)
    encoded = [place for place, row in enumerate(one.rows) if row["type"] == "UnpadFlashAttentionBF16NdKernel"]
    assert encoded
    assert {found.iterations[found.iteration_of[place]].phase for place in encoded} == {"other"}
    assert all(right(one, found.iteration_of.tolist(), [each.phase for each in found.iterations]))


def test_hotspots_of_all_phases_are_those_of_all_tasks(tmp_path: Path) -> None:
    planted("begins within", 2, ITERATIONS).write(tmp_path)
    every = hotspots([tmp_path], top=1000, all_tasks=True).rows
    sums: dict[tuple[str | None, str | None], list[int]] = {}
    for phase in PHASES:
        for one in hotspots([tmp_path], top=1000, all_tasks=True, phase=phase).rows:
            entry = sums.setdefault((one.op_type, one.task_type), [0, 0])
            entry[0] += one.count
            entry[1] += one.total_ns
    assert sums == {(one.op_type, one.task_type): [one.count, one.total_ns] for one in every}


def test_rows_add_up_to_the_nanosecond(cli: Cli, tmp_path: Path) -> None:
    planted("MoE, MC2", 1, ITERATIONS).write(tmp_path)
    answer = serving([tmp_path])
    for phase in answer.rows:
        mine = [one for one in answer.table("parts") if one.phase == phase.phase]
        iterations = [one for one in answer.table("iterations") if one.phase == phase.phase and one.is_whole]
        assert sum(one.total_ns for one in mine) == phase.total_ns == sum(one.duration_ns for one in iterations)
        assert phase.computing_ns + phase.communication_ns + phase.idle_ns == phase.total_ns
    for one in cli("serving", tmp_path, "--format", "json").json["iterations"]:
        whole = sum(one[key] for key in PART_KEYS) + one["communication_us"] + one["idle_us"]
        assert round(whole * 1000) == round(one["duration_us"] * 1000)


@pytest.mark.parametrize(
    ("annotation", "told_by"), [(VLLM, "annotations"), ("forward", "shapes"), ("execute_model", "shapes")]
)
def test_annotations_cut_iterations_before_operators_do(tmp_path: Path, annotation: str, told_by: str) -> None:
    one = planted("dense, FIA, chunked", 4, ITERATIONS)
    one.write(tmp_path, annotation=annotation)
    iterations = serving([tmp_path]).table("iterations")
    assert [each.phase for each in iterations] == [truth.phase for truth in one.truth]
    assert {each.cut_by for each in iterations} == {"annotations"}
    assert {each.told_by for each in iterations} == {told_by}
    if annotation == VLLM:
        assert [each.tokens for each in iterations] == [truth.tokens for truth in one.truth]
        assert [each.prompt_tokens or 0 for each in iterations] == [truth.prompt_tokens for truth in one.truth]


def test_annotations_that_hold_several_iterations_are_not_gone_by(tmp_path: Path) -> None:
    one = planted("dense, FIA, chunked", 4, ITERATIONS)
    root = one.write(tmp_path, annotation="forward")
    timeline = root / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    events = json.loads(timeline.read_text())
    ranges = [event for event in events if event["name"] == "forward"]
    kept = [event for event in events if event["name"] != "forward" or event in ranges[::5]]
    timeline.write_text(json.dumps(kept))
    iterations = serving([tmp_path]).table("iterations")
    assert {each.cut_by for each in iterations} == {"operators"}
    assert len(iterations) == len(one.truth)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("execute_context_2(6144)_generation_3(3)", ("mixed", 2, 6144, 3, 3)),
        ("execute_context_0(0)_generation_64(128)", ("decode", 0, 0, 64, 128)),
        ("execute_context_1(7)_generation_0(0)", ("prefill", 1, 7, 0, 0)),
        ("execute_new_2_cached_0", ("prefill", 2, None, 0, None)),
        ("execute_new_0_cached_8", (None, 0, None, 8, None)),
        ("step[DECODE bs=64 toks=64]", ("decode", 0, 0, 64, 64)),
        ("step[EXTEND bs=2 toks=14721]", ("prefill", 2, 14721, 0, 0)),
        ("gpu_model_runner: forward", (None,) * 5),
    ],
)
def test_names_of_ranges_tell_what_their_servers_put_there(name: str, said: tuple[Any, ...]) -> None:
    told = said_by(name)
    assert told is not None
    assert tuple(told)[1:] == said


@pytest.mark.parametrize("name", ["forward_backward", "execute_context_", "aten::mm", "ProfilerStep#3", "step[]"])
def test_names_of_other_ranges_tell_nothing(name: str) -> None:
    assert said_by(name) is None


@pytest.mark.parametrize(
    ("word", "part"),
    [
        ("PagedAttentionMaskNdKernel", "attention"),
        ("UnpadFlashAttentionBF16NdKernel", "attention"),
        ("aclnnFusedInferAttentionScoreV3_FusedInferAttentionScore_x", "attention"),
        ("ReshapeAndCacheNdKernel", "kv-cache"),
        ("ScatterPaKvCache", "kv-cache"),
        ("KvRmsNormRopeCache", "kv-cache"),
        ("QuantBatchMatmulV3", "products"),
        ("GroupedMatmulSwigluQuant", "moe"),
        ("MoeDistributeDispatchV2", "moe"),
        ("AddRmsNormBias", "normalisation"),
        ("ArgMaxV2", "sampling"),
        ("AtbRopeKernel", "other"),
        ("SwiGlu", "other"),
    ],
)
def test_operators_are_counted_to_their_part(word: str, part: str) -> None:
    assert part_of(role_of(word)) == part


@pytest.mark.parametrize(
    ("words", "serves"),
    [
        (["MatMulV2", "PagedAttentionMaskNdKernel"], True),
        (["FlashAttentionScore", "MatMulV2"], False),
        (["PromptFlashAttention", "LayerNormV4", "DSARandomNormal"], False),
        (["FusedInferAttentionScore", "ScatterNdUpdate"], True),
        (["PromptFlashAttention", "ArgMaxV2"], True),
        (["FusedInferAttentionScore", "FlashAttentionScoreGrad"], False),
        (["ReshapeAndCacheNdKernel", "ApplyAdamWV2"], False),
        ([], False),
    ],
)
def test_training_is_no_serving(words: Sequence[str], serves: bool) -> None:
    assert is_serving(words) is serves


_TND = "5,32,128;900,128,1024;900,128,1024;;2048,2048;{0};{0};;;;;;;;{0},64"
_KINDS = "DT_BF16;DT_BF16;DT_BF16;;INT8;INT64;INT64;;;;;;;;INT32"


@pytest.mark.parametrize(
    ("shapes", "types", "rows", "told"),
    [
        (_TND.format(5), _KINDS, None, (5, 5, True, 8192)),
        (_TND.format(2), _KINDS, None, (5, 2, True, 8192)),
        (
            "7,32,128;7,32,128;7,32,128;;2048,2048;3;3",
            "DT_BF16;DT_BF16;DT_BF16;;INT8;INT64;INT64",
            None,
            (7, 3, False, None),
        ),
        ("4,1,4096;4,2048,4096;4,2048,4096", "DT_BF16;DT_BF16;DT_BF16", None, (4, 4, False, None)),
        ("4,16,1,128;4,16,900,128", "DT_BF16;DT_BF16", None, (4, 4, False, None)),
        ("2,16,30,128;2,16,30,128", "DT_BF16;DT_BF16", 60, (60, 2, False, None)),
        ("", "", None, (None, None, False, None)),
        ("-1,4;;x,y", "INT64", None, (None, None, False, None)),
    ],
)
def test_queries_tell_tokens_and_sequences(shapes: str, types: str, rows: int | None, told: tuple[Any, ...]) -> None:
    assert tuple(query_of(shapes, types, rows)) == told


@pytest.mark.slow
@given(st.text(max_size=40), st.text(max_size=20))
def test_odd_shapes_are_none(shapes: str, types: str) -> None:
    shapes_of(shapes)
    query_of(shapes, types, 4)


@pytest.mark.parametrize("text", ["2147483647,2147483647,2147483647,5", "9" * 5000 + ",4", "0,4", "4", ""])
def test_a_product_of_no_size_that_there_is_tells_nothing(text: str) -> None:
    assert product_of(text) == (None, None)


def test_the_first_line_says_what_dominates_the_decode(cli: Cli, tmp_path: Path) -> None:
    planted("dense, FIA, chunked", 1, ITERATIONS).write(tmp_path)
    ran = cli("serving", tmp_path)
    assert ran.code == 0
    first = ran.out.splitlines()[0]
    assert first.startswith("Decode: ")
    assert "per output token on rank 0" in first
    assert "matrix products" in first
    assert "nothing runs on the device" in first
    assert "Prefill: " in first


def test_a_server_that_waits_for_its_host_is_called_idle(cli: Cli, tmp_path: Path) -> None:
    one = planted_by(Server(layers=8, hidden=1024, attention="atb"), np.random.default_rng(7), ITERATIONS)
    late = 0
    firsts = {truth.first_ns for truth in one.truth}
    for row in one.rows:
        late += 40_000_000 if row["start"] in firsts else 0
        row["start"] += late
    one.write(tmp_path)
    assert "for 9" in cli("serving", tmp_path).out.splitlines()[0]


def test_experts_are_compared_over_ranks(tmp_path: Path) -> None:
    one = planted("MoE, MC2", 1, 12)
    one.write(tmp_path, rank=0)
    for row in one.rows:
        if row["type"] == "GroupedMatmul":
            row["length"] //= 2
            rows = row["inputs"].split(",", 1) if row["inputs"] else None
            row["inputs"] = f"{int(rows[0]) // 2},{rows[1]}" if rows else None
    one.write(tmp_path, rank=1)
    found = [each for each in serving([tmp_path]).table("experts") if each.op_type == "GroupedMatmul"]
    assert {each.busiest_rank_id for each in found} == {0}
    assert all(each.imbalance == pytest.approx(4 / 3, rel=1e-3) for each in found)
    assert all(each.token_imbalance == pytest.approx(4 / 3, rel=1e-3) for each in found)
    buffers = [each for each in serving([tmp_path]).table("experts") if "Dispatch" in each.op_type]
    assert {each.kind for each in buffers} == {"waits for other ranks, too"}


def test_only_some_ranks_are_looked_at(tmp_path: Path) -> None:
    for rank in range(2):
        planted("dense, ATB, chunked", rank, 6).write(tmp_path, rank=rank)
    assert {one.rank_id for one in serving([tmp_path], rank=1).rows} == {1}


def test_names_alone_tell_what_operator_types_do(tmp_path: Path) -> None:
    one = planted("names alone", 2, 12)
    one.write(tmp_path)
    iterations = serving([tmp_path]).table("iterations")
    assert [each.phase for each in iterations] == [truth.phase for truth in one.truth]
    assert {each.told_by for each in iterations} == {"operator types"}
    assert {each.tokens for each in iterations} == {None}


def test_names_tell_what_types_do_not_wherever_these_are_missing(tmp_path: Path) -> None:
    """Names are read only where a table has rows without types, which its first rows do not show."""
    one = planted("dense, FIA, chunked", 1, 12)
    root = one.write(tmp_path)
    table = next(root.rglob("kernel_details.csv"))
    lines = table.read_text().splitlines(keepends=True)
    half = len(lines) // 2
    table.write_text("".join([*lines[:half], *(line.replace(",MatMulV2,", ",N/A,") for line in lines[half:])]))
    assert ",N/A,dynamic" in table.read_text()
    assert [each.phase for each in serving([tmp_path]).table("iterations")] == [truth.phase for truth in one.truth]


@needs_real
@pytest.mark.parametrize("name", sorted(one.name for one in REAL.iterdir()) if REAL.is_dir() else [])
def test_no_real_capture_of_training_serves(name: str) -> None:
    assert not serving([REAL / name]).rows


def test_a_phase_of_what_serves_nothing_is_an_error(cli: Cli) -> None:
    ran = cli("hotspots", FIXTURES / "msprof" / "valid" / "ten_iterations", "--phase", "decode")
    assert ran.code == 1
    assert "no iteration of a server" in ran.out + ran.err


def test_tasks_without_times_serve_nothing() -> None:
    table = planted("graphs", 1, 4).table()
    place = table.column_names.index("task_start_ns")
    assert serve(table.set_column(place, "task_start_ns", pa.nulls(table.num_rows, pa.int64()))) is None
