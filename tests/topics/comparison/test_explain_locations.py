"""`explain` names the layer in which a kernel got slower, where frames or scopes tell."""

from __future__ import annotations

import csv
import io
import random
import shutil
from pathlib import Path

import pytest
from commandline import Cli
from planted_modules import KERNELS, LAYERS, Slow, write_planted

from aoe_reports import explain

SEEDS = 2
"""All of 100 have been right."""


def _slow(seed: int) -> Slow:
    """An attention that gets 20 to 60 % slower."""
    choice = random.Random(f"explain/{seed}")
    return Slow(choice.randrange(LAYERS), "Attention", 1 + choice.uniform(0.2, 0.6))


def _pair(folder: Path, seed: int, slow: Slow, *, frames: bool = True) -> list[Path]:
    before = write_planted(folder / f"{seed}a", f"a{seed}", frames=frames)
    return [before, write_planted(folder / f"{seed}b", f"b{seed}", slow, frames=frames)]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_layer_that_got_slower_is_named(tmp_path: Path, seed: int) -> None:
    slow = _slow(seed)
    answer = explain(_pair(tmp_path, seed, slow))
    first = answer.rows[0]
    assert (first.cause, first.location) == ("slower-calls", f"DecoderLayer_{slow.layer}/Attention")
    assert first.name in KERNELS["Attention"]
    assert first.told_by == "frames, forward"
    assert sum(part.difference_ns for part in answer.rows) == answer.table("steps")[0].difference_ns


def test_timelines_alone_tell_the_layer_too_and_all_else_is_the_same(tmp_path: Path) -> None:
    seed = 1
    slow = _slow(seed)
    pair = _pair(tmp_path, seed, slow)
    for table in [*tmp_path.rglob("*.csv")]:
        table.unlink()
    answer = explain(pair)
    first = answer.rows[0]
    assert (first.cause, first.location, first.told_by) == (
        "slower-calls",
        f"DecoderLayer_{slow.layer}/Attention",
        "frames, forward",
    )
    assert sum(part.difference_ns for part in answer.rows) == answer.table("steps")[0].difference_ns
    without = _pair(tmp_path / "bare", seed, slow, frames=False)
    for table in [*(tmp_path / "bare").rglob("*.csv")]:
        table.unlink()
    bare = explain(without)
    assert {row.location for row in bare.rows} == {None}
    for one, other in zip(answer.rows, bare.rows, strict=True):
        assert (one.name, one.cause, one.difference_ns) == (other.name, other.cause, other.difference_ns)
    assert sorted(one.message for one in answer.findings) == sorted(one.message for one in bare.findings)


def _in_all_layers(folder: Path, tmp_path: Path) -> list[Path]:
    """The same with all kernels of one type slower."""
    after = tmp_path / "after"
    shutil.copytree(folder, after)
    table = next(after.rglob("kernel_details.csv"))
    header, *rows = csv.reader(io.StringIO(table.read_text()))
    for row in rows:
        if row[1] == "SoftmaxV2":
            row[5] = str(round(float(row[5]) * 1.2, 3))
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return [folder, after]


def test_a_change_in_all_layers_is_said_as_such(cli: Cli, tmp_path: Path) -> None:
    pair = _in_all_layers(write_planted(tmp_path / "before", "a"), tmp_path)
    row = next(one for one in explain(pair).rows if one.name == "SoftmaxV2")
    module = "DecoderLayer_*/Attention"
    assert (row.location, row.layers_changed, row.layers) == (module, LAYERS, LAYERS)
    assert f"SoftmaxV2 in {module} (all {LAYERS} layers): " in cli("explain", *pair, "--lang", "en").out


def test_it_is_told_in_the_headline_the_table_and_the_picture(cli: Cli, tmp_path: Path) -> None:
    slow = _slow(0)
    pair = _pair(tmp_path, 0, slow)
    layer = f"DecoderLayer_{slow.layer}/Attention"
    text = cli("explain", *pair).out
    assert f" in {layer}: " in text.splitlines()[0]
    assert "Launched in" in text
    assert f"in {layer}: " in cli("explain", *pair, "--format", "svg").out


def test_without_frames_nothing_is_told_and_all_else_is_the_same(cli: Cli, tmp_path: Path) -> None:
    slow = _slow(1)
    told, bare = explain(_pair(tmp_path / "told", 1, slow)), explain(_pair(tmp_path / "bare", 1, slow, frames=False))
    assert {(row.location, row.told_by, row.layers_changed, row.layers) for row in bare.rows} == {(None,) * 4}
    assert "Launched in" not in cli("explain", *(tmp_path / "bare").iterdir()).out
    assert not [one for one in bare.findings if one.rule == "no-location"]
    for one, other in zip(told.rows, bare.rows, strict=True):
        assert (one.name, one.cause, one.difference_ns) == (other.name, other.cause, other.difference_ns)


def test_scopes_in_names_tell_layers_too(tmp_path: Path) -> None:
    pair = []
    for side, slow in (("before", 20), ("after", 35)):
        output = tmp_path / side / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        rows = [
            f"/model/layers.{layer}/attn/MatMul,MatMul,AI_CORE,{100 * layer},{slow if layer == 1 else 20}"
            for layer in range(3)
        ]
        text = "\n".join(["Name,Type,Accelerator Core,Start Time(us),Duration(us)", *rows, ""])
        (output / "kernel_details.csv").write_text(text)
        pair.append(tmp_path / side)
    first = next(row for row in explain(pair).rows if row.area == "computing")
    assert (first.location, first.told_by) == ("model/layers.1/attn", "scope-name")
