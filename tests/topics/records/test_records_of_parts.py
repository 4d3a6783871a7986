"""Records of modules, layers and phases: sums to the nanosecond, how many there are, and captures that do not tell them."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from commandline import FIXTURES, Cli
from hypothesis import given
from hypothesis import strategies as st
from planted_modules import LAYERS, STEPS, write_planted

from aoe_reports.facts.tasks import TaskSet
from aoe_reports.model.topics.steps import Step
from aoe_reports.rules.schema import schema_errors
from aoe_reports.topics.locations.facts import in_any_block
from aoe_reports.topics.records.from_parts import NO_MODULE, OTHER_MODULES, parts_by_module


def _own(cli: Cli, *given: Any) -> list[dict[str, Any]]:
    """The records that `normalize` prints."""
    ended = cli("ingest", "--dry-run", *given, "--workload", "net")
    return [json.loads(line) for line in ended.out.splitlines()]


def _told(record: dict[str, Any]) -> dict[str, Any]:
    return record["metadata"]["aoe_reports"]


def _sums(records: list[dict[str, Any]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for one in records:
        found[_told(one)["scope"]] += _told(one)["total_ns"]
    return found


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_planted(tmp_path_factory.mktemp("planted"), "one")


def test_modules_are_all_that_computes_and_layers_divide_them(cli: Cli, planted: Path) -> None:
    records = _own(cli, planted, "--by-module")
    sums = _sums(records)
    assert sums["module"] == sums["op_type"]
    modules = {one["workload"]: _told(one) for one in records if _told(one)["scope"] == "module"}
    assert {*modules} == {
        f"net/module/{name}" for name in ("DecoderLayer_*/Attention", "DecoderLayer_*/MLP", "Transformer_0", NO_MODULE)
    }
    for part in ("Attention", "MLP"):
        layers = [one for one in records if one["workload"].startswith("net/layer/") and part in one["workload"]]
        assert len(layers) == LAYERS
        assert sum(_told(one)["total_ns"] for one in layers) == modules[f"net/module/DecoderLayer_*/{part}"]["total_ns"]
    assert {one["count"] for one in modules.values()} == {STEPS}
    (one,) = (one for one in records if one["workload"] == "net/module/Transformer_0")
    assert one["runtime_ms_mean"] == _told(one)["total_ns"] / STEPS / 1e6


def test_without_the_options_there_are_none(cli: Cli, planted: Path) -> None:
    assert not {"module", "layer", "phase"} & {*_sums(_own(cli, planted))}
    assert not {"module", "layer", "phase"} & {*_sums(_own(cli, FIXTURES / "serving"))}


def test_phases_are_those_of_serving(cli: Cli) -> None:
    rows = cli("serving", FIXTURES / "serving", "--format", "json").json["rows"]
    told = {
        (_told(one)["rank_id"], one["workload"].rpartition("/")[2]): (_told(one)["count"], _told(one)["total_ns"])
        for one in _own(cli, FIXTURES / "serving", "--by-phase")
        if _told(one)["scope"] == "phase"
    }
    assert told == {(row["rank_id"], row["phase"]): (row["iterations"], round(row["total_us"] * 1000)) for row in rows}


def test_the_parts_of_a_phase_are_its_mean(cli: Cli) -> None:
    for one in _own(cli, FIXTURES / "serving", "--by-phase"):
        if _told(one)["scope"] == "phase":
            assert sum(one["metrics"].values()) == pytest.approx(one["runtime_ms_mean"])


def test_single_iterations_are_kept_on_request(cli: Cli) -> None:
    records = [
        one for one in _own(cli, FIXTURES / "serving", "--by-phase", "--raw", "4") if "/phase/" in one["workload"]
    ]
    assert all(len(one["runtime_raw"]) == _told(one)["count"] for one in records)


def test_a_timeline_that_is_cut_off_tells_no_modules(cli: Cli, planted: Path, tmp_path: Path) -> None:
    damaged = write_planted(tmp_path, "one")
    file = next(damaged.rglob("trace_view.json"))
    file.write_bytes(file.read_bytes()[:-2000])
    ended = cli("ingest", "--dry-run", damaged, "--workload", "net", "--by-module")
    assert "no records of modules or phases: " in ended.err
    sums = _sums([json.loads(line) for line in ended.out.splitlines()])
    assert not {"module", "layer"} & {*sums}
    assert sums["op_type"] == _sums(_own(cli, planted))["op_type"]


def test_a_capture_without_frames_says_so(cli: Cli, tmp_path: Path) -> None:
    bare = write_planted(tmp_path, "one", frames=False)
    ended = cli("ingest", "--dry-run", bare, "--workload", "net", "--by-module")
    assert ended.code == 0
    assert "no records of modules: neither Python frames" in ended.err
    assert "/module/" not in ended.out


def test_sums_of_operators_say_that_they_are_in_no_module(cli: Cli) -> None:
    ended = cli(
        "ingest", "--dry-run", FIXTURES / "msprof" / "valid" / "statistic_only", "--by-module", "--workload", "net"
    )
    assert ended.code == 0
    assert "no records of modules: there are only sums of operators" in ended.err


def test_fewer_series_are_whole_modules_and_what_is_left_out_is_said(cli: Cli, planted: Path) -> None:
    ended = cli("ingest", "--dry-run", planted, "--workload", "net", "--by-module", "--module-series", "13")
    layers = Counter(
        json.loads(line)["workload"].rpartition("/")[2] for line in ended.out.splitlines() if "/layer/" in line
    )
    assert layers == {"MLP": LAYERS}  # all layers of the longest module, none of the other
    assert f"layers without a record of their own: {LAYERS}" in ended.err
    ended = cli("ingest", "--dry-run", planted, "--workload", "net", "--by-module", "--module-series", "1")
    records = [json.loads(line) for line in ended.out.splitlines()]
    assert _sums(records)["module"] == _sums(records)["op_type"]
    (others,) = (one for one in records if one["workload"] == f"net/module/{OTHER_MODULES}")
    assert others["workload_args"]["modules"] == 2


def test_records_are_valid(cli: Cli, planted: Path) -> None:
    for one in [*_own(cli, planted, "--by-module"), *_own(cli, FIXTURES / "serving", "--by-phase")]:
        assert not [*schema_errors("record", one)]


@pytest.mark.parametrize(
    ("layer", "block", "kind"),
    [
        ("DecoderLayer_7/Attention", "DecoderLayer_7", "DecoderLayer_*/Attention"),
        ("DecoderLayer_7/Linear_1", "DecoderLayer_7", "DecoderLayer_*/Linear_1"),
        ("encoder/layer_11", "encoder/layer_11", "encoder/layer_*"),
        ("model/layers.7/mlp", "model/layers.7", "model/layers.*/mlp"),
        ("Default/7-BertCell/dense", "Default/7-BertCell", "Default/*-BertCell/dense"),
        ("Default/conv7-Conv2d", "Default/conv7-Conv2d", "Default/conv*-Conv2d"),
        ("Transformer_0/Embedding_0", None, "Transformer_0/Embedding_0"),
    ],
)
def test_layers_that_are_alike_have_one_name(layer: str, block: str | None, kind: str) -> None:
    assert in_any_block(layer, block) == kind


NAMES = [f"Layer_{number}/{part}" for number in range(4) for part in ("A", "B")] + ["Head_0", "Tail_0", None]
TASKS = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(["AI_CORE", "COMMUNICATION"]),
        st.integers(0, 1 << 40),
        st.integers(1, 3),
    ),
    min_size=1,
    max_size=40,
)


@given(TASKS, st.integers(1, 12), st.integers(0, 3), st.booleans())
def test_parts_add_up_to_what_computes(
    tasks: list[tuple[str | None, str, int, int]], most: int, steps: int, told: bool
) -> None:
    words = pa.dictionary(pa.int32(), pa.string())
    frame = pa.table(
        {
            "location": pa.array([one[0] for one in tasks], words),
            "task_type": pa.array([one[1] for one in tasks], words),
            "task_duration_ns": pa.array([one[2] for one in tasks], pa.int64()),
            "step": pa.array([one[3] if told else None for one in tasks], pa.int64()),
        }
    )
    blocks = {name: name.partition("/")[0] for name in NAMES if name is not None and "/" in name}
    of_device = [Step(rank_id=0, device_id=None, step=number, duration_ns=10) for number in range(steps)]
    parts, left_out = parts_by_module(TaskSet(0, 3, frame), blocks, of_device, most)
    whole = sum(one[2] for one in tasks if one[1] == "AI_CORE")
    modules = {one.name: one.total_ns for one in parts if one.scope == "module"}
    assert sum(modules.values()) == whole
    assert len(modules) <= most + 2
    numbers = {one[3] for one in tasks if told}
    computing = {one[3] for one in tasks if told and one[1] == "AI_CORE"}
    passes = steps or max(len(numbers), 1)
    assert all(one.passes == passes for one in parts)
    for one in parts:
        has_std = len(computing) == passes > 1
        assert (one.std_ns is not None) == has_std
    layers = [one for one in parts if one.scope == "layer"]
    assert len(layers) <= most
    there = {one[0] for one in tasks if one[1] == "AI_CORE" and one[0] in blocks}
    assert len(layers) + left_out.layers == len(there)
    for kind in {in_any_block(one.name, blocks[one.name]) for one in layers}:
        mine = [one.total_ns for one in layers if in_any_block(one.name, blocks[one.name]) == kind]
        assert sum(mine) == modules.get(kind, sum(mine))


def test_the_scatter_of_a_module_is_that_of_its_steps() -> None:
    words = pa.dictionary(pa.int32(), pa.string())
    rows = [("Layer_0/A", 1, 100), ("Layer_0/A", 1, 20), ("Layer_0/A", 2, 150), ("Layer_0/A", 3, 90)]
    rows += [("Layer_1/A", 2, 30), (None, 1, 7)]
    frame = pa.table(
        {
            "location": pa.array([one[0] for one in rows], words),
            "task_type": pa.array(["AI_CORE"] * len(rows), words),
            "task_duration_ns": pa.array([one[2] for one in rows], pa.int64()),
            "step": pa.array([one[1] for one in rows], pa.int64()),
        }
    )
    blocks = {name: name.partition("/")[0] for name in ("Layer_0/A", "Layer_1/A")}
    parts, _ = parts_by_module(TaskSet(0, 0, frame), blocks, [], 9)
    found = {one.name: (one.total_ns, one.std_ns) for one in parts}
    assert found == {
        "Layer_*/A": (390, pytest.approx(statistics.stdev([120, 180, 90]))),
        "Layer_0/A": (360, pytest.approx(statistics.stdev([120, 150, 90]))),
        "Layer_1/A": (30, pytest.approx(statistics.stdev([0, 30, 0]))),
        "(no module)": (7, pytest.approx(statistics.stdev([7, 0, 0]))),
    }


def test_scatter_chooses_no_other_modules_from_night_to_night() -> None:
    words = pa.dictionary(pa.int32(), pa.string())
    names = [f"Layer_{layer}/{part}" for layer in range(4) for part in "ABC"] + [f"Linear_{one}" for one in range(50)]
    blocks = {name: name.partition("/")[0] for name in names if "/" in name}
    told = set()
    for night in range(20):
        scatter = Random(night)
        frame = pa.table(
            {
                "location": pa.array(names, words),
                "task_type": pa.array(["AI_CORE"] * len(names), words),
                "task_duration_ns": pa.array([round(100_000 * scatter.gauss(1, 0.01)) for _ in names], pa.int64()),
            }
        )
        parts, left_out = parts_by_module(TaskSet(0, 0, frame), blocks, [], 9)
        assert (left_out.modules, left_out.layers) == (44, 4)
        told.add(tuple(sorted((one.scope, one.name, str(one.args)) for one in parts)))
    assert len(told) == 1
