"""By which module, layer and line tasks are grouped: planted captures, real ones in the fixtures, sums, and what is damaged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from commandline import Cli
from hypothesis_profiles import seeds
from planted_modules import LAYERS, MAIN_THREAD, PYTHON, STEPS, slow_of, write_planted

from aoe_reports import compare, hotspots, stacks
from aoe_reports.model.pictures.stacks import StackNode, StackPicture
from aoe_reports.model.texts import say
from aoe_reports.present.drawings.stack import _label, draw_stacks

SEEDS = 8
"""All of 100 have been right."""
BY = ("module", "layer", "stack")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_planted(tmp_path_factory.mktemp("planted"), "one")


def _timeline(folder: Path) -> Path:
    return next(folder.rglob("trace_view.json"))


@pytest.mark.parametrize("by", ["layer", "module"])
def test_the_attention_that_got_slower_comes_first(tmp_path: Path, by: str) -> None:
    wrong = []
    for seed in seeds(SEEDS):
        slow = slow_of(seed)
        before = write_planted(tmp_path / f"{seed}a", f"a{seed}")
        after = write_planted(tmp_path / f"{seed}b", f"b{seed}", slow)
        first = compare([before, after], by=by).rows[0]
        layer = f"DecoderLayer_{slow.layer}/Attention"
        if (
            first.location != (layer if by == "layer" else f"Transformer_0/{layer}_{slow.layer}")
            or first.difference_ns <= 0
        ):
            wrong.append((seed, slow, first.location))
    assert not wrong


def test_the_headline_names_the_layer(cli: Cli, tmp_path: Path) -> None:
    slow = slow_of(1)
    before, after = write_planted(tmp_path / "a", "a"), write_planted(tmp_path / "b", "b", replace(slow, factor=2.0))
    ran = cli("compare", before, after, "--by", "layer")
    assert ran.code == 0
    assert f"largest change: DecoderLayer_{slow.layer}/Attention +" in ran.out.splitlines()[0]
    scattered = cli("compare", before, write_planted(tmp_path / "c", "c", slow), "--by", "layer")
    assert scattered.code == 0
    assert "largest change" not in scattered.out.splitlines()[0]  # 1.26 times is within what twelve calls scatter


@pytest.mark.parametrize("by", BY)
def test_every_task_is_in_one_row_and_the_sums_are_those_of_all(planted: Path, by: str) -> None:
    plain, grouped = hotspots([planted]), hotspots([planted], by=by, top=1000)
    assert sum(row.total_ns for row in grouped.rows) == sum(row.total_ns for row in plain.rows)
    assert sum(row.count for row in grouped.rows) == sum(row.count for row in plain.rows)
    assert len({row.location for row in grouped.rows}) == len(grouped.rows)


def test_layers_have_the_tasks_of_both_passes_and_are_told_by_frames_and_forward_operators(planted: Path) -> None:
    rows = {row.location: row for row in hotspots([planted], by="layer", top=1000).rows}
    for layer in range(LAYERS):
        for part in ("Attention", "MLP"):
            row = rows[f"DecoderLayer_{layer}/{part}"]
            assert (row.count, row.told_by) == (2 * 3 * STEPS, "frames, forward")
    assert rows["Transformer_0"].told_by == "frames"  # its embedding, which has no backward operator here
    nowhere = rows[None]
    assert (nowhere.count, nowhere.told_by) == (STEPS * (1 + 2 * LAYERS), None)


def test_the_share_that_is_in_no_module_is_said_with_its_reasons(planted: Path) -> None:
    (told,) = [one.message for one in hotspots([planted], by="module").findings if one.rule == "no-location"]
    assert told.startswith("1.1% of the device time (")
    assert "its launch is in no Python frame, and no forward operator is known" in told
    assert "its launch is in no module" in told


def test_a_line_is_the_innermost_of_the_program(planted: Path) -> None:
    rows = {row.location: row.count for row in hotspots([planted], by="stack").rows}
    assert rows == {
        "model.py(44): forward": 2 * 2 * 3 * LAYERS * STEPS,
        "train.py(30): step": 2 * STEPS,
        None: 2 * LAYERS * STEPS,
    }


def test_without_frames_nothing_is_told_and_that_is_said(tmp_path: Path) -> None:
    folder = write_planted(tmp_path, "one", frames=False)
    answer = hotspots([folder], by="layer")
    assert [(row.location, row.share) for row in answer.rows] == [(None, 1.0)]
    assert [(one.rule, one.severity) for one in answer.findings] == [("no-location", "warning")]
    assert "profile with with_modules or with_stack" in answer.findings[0].message


def test_scopes_in_names_of_operators_tell_modules(tmp_path: Path) -> None:
    names = [f"/model/layers.{layer}/{part}/MatMul" for layer in range(3) for part in ("self_attn", "mlp")]
    rows = "".join(f"{name},MatMul,AI_CORE,{10 * place},{place + 1}\n" for place, name in enumerate(names))
    output = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "kernel_details.csv").write_text("Name,Type,Accelerator Core,Start Time(us),Duration(us)\n" + rows)
    found = {row.location: (row.total_ns, row.told_by) for row in hotspots([tmp_path], by="layer").rows}
    assert found["model/layers.2/mlp"] == (6000, "scope-name")
    assert len(found) == len(names)


def test_what_stacks_tell_is_the_time_of_all_tasks(planted: Path) -> None:
    plain = sum(row.total_ns for row in hotspots([planted]).rows)
    answer = stacks([planted], top=10_000)
    assert sum(row.total_ns for row in answer.rows) == plain
    assert sum(row.share for row in answer.rows) == pytest.approx(1.0, abs=1e-3)
    frames = {row.frame: row for row in answer.table("frames")}
    inside = [row for row in answer.rows if "nn.Module: DecoderLayer_3" in row.frames]
    assert frames["nn.Module: DecoderLayer_3"].total_ns == sum(row.total_ns for row in inside)
    assert frames["nn.Module: DecoderLayer_3"].count == 2 * 2 * 3 * STEPS
    assert frames["nn.Module: Transformer_0"].total_ns < frames["train.py(30): step"].total_ns


def test_backward_operators_stand_below_the_stack_of_their_forward_one(planted: Path) -> None:
    rows = [row for row in stacks([planted], top=10_000).rows if row.module and row.module.endswith("MLP_5")]
    assert {row.backward for row in rows} == {False, True}
    for row in rows:
        assert row.frames[-2] == ("(backward)" if row.backward else "model.py(44): forward")
        assert row.line == "model.py(44): forward"


def test_people_are_told_first_which_stack_takes_longest(cli: Cli, planted: Path) -> None:
    longest = max(stacks([planted]).rows, key=lambda row: row.total_ns)
    first = cli("stacks", planted).out.splitlines()[0]
    assert first.startswith(f"{longest.operator}, launched in {longest.line}, takes {longest.share:.1%} of device time")
    assert first.endswith(f" {longest.total_ns / 1e3:.1f} us in {longest.count} tasks.")


def test_collapsed_stacks_add_up_to_the_nanosecond(cli: Cli, planted: Path) -> None:
    ran = cli("stacks", planted, "--format", "collapsed")
    lines = [line.rpartition(" ") for line in ran.out.splitlines()]
    assert sum(int(ns) for _, _, ns in lines) == sum(row.total_ns for row in hotspots([planted]).rows)
    assert len({stack for stack, _, _ in lines}) == len(lines)
    assert any(stack.startswith("train.py(30): step;nn.Module: Transformer_0;") for stack, _, _ in lines)


def test_the_flame_graph_is_as_wide_as_the_time(cli: Cli, planted: Path) -> None:
    ran = cli("stacks", planted, "--format", "svg")
    root = ET.fromstring(ran.out)
    space = "{http://www.w3.org/2000/svg}"
    titles = [element.text or "" for element in root.iter(f"{space}title")]
    assert any(title.startswith("nn.Module: DecoderLayer_3: ") for title in titles)
    widths = {
        (group.find(f"{space}title").text or "").rpartition(": ")[0]: float(group.find(f"{space}rect").get("width"))  # type: ignore[union-attr, arg-type]
        for group in root.iter(f"{space}g")
    }
    assert widths["nn.Module: Transformer_0"] < widths["train.py(30): step"] < 1008
    assert "<script" not in ran.out
    assert "prefers-color-scheme: dark" in ran.out
    _, _, width, height = (root.get("viewBox") or "").split()
    assert (root.get("width"), root.get("height")) == (width, height)  # no smaller on a narrow screen, which scrolls


def test_names_that_separate_stacks_and_lines_do_so_no_longer(cli: Cli, tmp_path: Path) -> None:
    folder = write_planted(tmp_path, "one")
    path = _timeline(folder)
    text = path.read_text().replace("model.py(44): forward", "a;b\\nc.py(1): f <g> 7")
    path.write_text(text)
    ran = cli("stacks", folder, "--format", "collapsed")
    lines = ran.out.splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == sum(row.total_ns for row in hotspots([folder]).rows)
    assert any(";a:b\\x0ac.py(1): f <g> 7;" in line for line in lines)
    assert ET.fromstring(cli("stacks", folder, "--format", "svg").out) is not None


def test_labels_of_the_flame_graph_stay_within_their_frames(cli: Cli, planted: Path) -> None:
    space = "{http://www.w3.org/2000/svg}"
    groups = list(ET.fromstring(cli("stacks", planted, "--format", "svg").out).iter(f"{space}g"))
    labels = [
        (group.find(f"{space}rect"), label) for group in groups if (label := group.find(f"{space}text")) is not None
    ]
    assert {"train.py(30): step", "Transformer_0"} <= {label.text for _, label in labels}
    for frame, label in labels:
        assert frame is not None
        assert len(label.text or "") * 7.4 <= float(frame.get("width", "0"))
        assert len(label.text or "") >= 8 or "…" not in (label.text or "")


def test_the_picture_of_deep_stacks_of_one_width_stays_small() -> None:
    width, depth = 1500, 20
    nodes = [StackNode(-1, f"f{place}.py(1): f", 0, 1000) for place in range(width)]
    for level in range(1, depth):
        own_ns = 1000 if level == depth - 1 else 0
        nodes += [StackNode((level - 1) * width + place, "x" * 10_000, own_ns, 1000) for place in range(width)]
    drawn = draw_stacks(StackPicture(say("A picture"), tuple(nodes), 1000 * width), "en")
    assert len(drawn.inner) < 3_000_000
    assert drawn.inner.count("<rect") == 3000
    assert f"{width * depth - 3000} frames are too narrow" in drawn.inner


def test_the_label_of_a_narrow_frame_has_the_file_rather_than_its_folders() -> None:
    frame = "torch/nn/modules/module.py(1520): _call_impl"
    assert _label(frame, 44) == frame
    assert _label(frame, 30) == "module.py(1520): _call_impl"
    assert _label(frame, 11) == "modul…_impl"
    assert _label(frame, 7) == ""
    assert (_label("Add", 3), _label("Add", 2)) == ("Add", "")


def test_what_is_not_asked_for_is_not_said_to_be_lost(cli: Cli, planted: Path) -> None:
    ran = cli("hotspots", planted, "--by", "layer", "--device", "9", "--format", "json")
    assert "no-location" not in ran.rules()
    drawn = cli("stacks", planted, "--rank", "9", "--format", "svg").out
    assert "no task with a known stack" in drawn
    assert "Most of it" not in drawn


def test_frames_that_cross_are_cut_off_and_said(tmp_path: Path) -> None:
    folder = write_planted(tmp_path, "one")
    path = _timeline(folder)
    events = json.loads(path.read_text())
    module = next(one for one in events if one["name"] == "nn.Module: DecoderLayer_2")
    module["dur"] += 2.0
    path.write_text(json.dumps(events))
    answer = hotspots([folder], by="module", top=1000)
    assert any("overlap others without being within them: " in one.message for one in answer.findings)
    assert sum(row.total_ns for row in answer.rows) == sum(row.total_ns for row in hotspots([folder]).rows)
    counts = {row.location: row.count for row in answer.rows}
    assert counts["Transformer_0/DecoderLayer_3/Attention_3"] == 2 * 3 * STEPS


def test_what_checkpointing_computes_again_belongs_to_its_module(tmp_path: Path) -> None:
    folder = write_planted(tmp_path, "one")
    path = _timeline(folder)
    events = json.loads(path.read_text())
    # the backward pass of an attention calls the module again, within frames of PyTorch, and then autograd within itself
    first = next(one for one in events if one["name"] == "AttentionBackward")
    begin, length = int(first["ts"].replace(".", "")), round(first["dur"] * 1000)
    layer = max(int(one["name"].rpartition("_")[2]) for one in events if one["name"].startswith("nn.Module: Att"))
    frames = ("torch/utils/checkpoint.py(140): backward", f"nn.Module: Attention_{layer}")
    again = [
        {"ph": "X", "name": name, "cat": "python_function", "pid": PYTHON, "tid": first["tid"],
         "ts": f"{(begin + place) // 1000}.{(begin + place) % 1000:03d}", "dur": (length // (place + 1) - 2 * place) / 1000}
        for place, name in enumerate(frames)
    ]  # fmt: skip
    path.write_text(json.dumps(events + again))
    rows = {row.location: row for row in hotspots([folder], by="module", top=1000).rows}
    assert f"Attention_{layer}" not in rows
    assert rows[f"Transformer_0/DecoderLayer_{layer}/Attention_{layer}"].count == 2 * 3 * STEPS
    lines = {row.location: row.count for row in hotspots([folder], by="stack").rows}
    assert "torch/utils/checkpoint.py(140): backward" not in lines


def test_ten_thousand_frames_within_each_other(tmp_path: Path) -> None:
    folder = write_planted(tmp_path, "one")
    path = _timeline(folder)
    events = json.loads(path.read_text())
    step = next(one for one in events if one["name"] == "train.py(30): step")
    begin = round(float(step["ts"].replace(".", "")))
    deep = [
        {"ph": "X", "name": f"deep.py({place}): f", "cat": "python_function", "pid": PYTHON, "tid": MAIN_THREAD,
         "ts": f"{(begin - 20_000 + place) // 1000}.{(begin - 20_000 + place) % 1000:03d}",
         "dur": (round(step["dur"] * 1000) + 50_000 - 2 * place) / 1000}
        for place in range(10_000)
    ]  # fmt: skip
    path.write_text(json.dumps(events + deep))
    plain = sum(row.total_ns for row in hotspots([folder]).rows)
    answer = stacks([folder], top=10_000)
    assert sum(row.total_ns for row in answer.rows) == plain
    assert max(len(row.frames) for row in answer.rows) <= 512 + 2
    assert any("(deeper)" in row.frames for row in answer.rows)
    assert sum(row.total_ns for row in hotspots([folder], by="module", top=1000).rows) == plain


@pytest.mark.parametrize("command", [("stacks",), ("hotspots", "--by", "module")])
def test_a_timeline_cut_off_before_its_first_flow_is_told_as_damage(
    cli: Cli, tmp_path: Path, command: tuple[str, ...]
) -> None:
    path = _timeline(write_planted(tmp_path, "one"))
    text = path.read_text()
    path.write_text(text[: text.index("async_npu") - 20])
    ran = cli(*command, tmp_path)
    assert f"{path}:1:" in ran.err
    assert "the file ends before its list of events is closed" in ran.err
    assert ran.code == 1
