"""PyTorch's memory snapshot: what an allocator did, as it is read from what it wrote."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from commandline import Cli
from hypothesis import given
from hypothesis import strategies as st
from planted_snapshots import START_US, Allocator, Life, snapshot_of

from aoe_reports.formats.memory_files import recordings_of
from aoe_reports.formats.memory_files.plain_pickle import plain_value
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.model.errors import ReadError
from aoe_reports.model.topics.memory import MemoryRecording


def written(folder: Path, document: Any, form: str = "pickle", protocol: int = 4) -> Path:
    path = folder / f"snapshot_rank3.{form}"
    path.write_bytes(json.dumps(document).encode() if form == "json" else pickle.dumps(document, protocol))
    return path


def read(path: Path) -> list[MemoryRecording]:
    (file,) = discover([path]).files
    return recordings_of(file)


def rules(recordings: list[MemoryRecording]) -> list[str]:
    return [finding.rule for recording in recordings for finding in recording.findings]


def worked(steps: list[tuple[str, int]], *, has_clock: bool = True) -> Allocator:
    """An allocator that did some steps: (what, a number that says how much or which)."""
    allocator, alive, waiting = Allocator(has_clock=has_clock), [], []
    for what, number in steps:
        if what == "allocate":
            alive.append(allocator.allocate(number))
        elif what in {"release", "defer"} and alive:
            life: Life = alive.pop(number % len(alive))
            allocator.release(life, waits=what == "defer")
            waiting += [life] * (what == "defer")
        elif what == "complete" and waiting:
            allocator.complete(waiting.pop(number % len(waiting)))
        elif what == "empty":
            allocator.empty_cache()
    return allocator


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["allocate", "allocate", "allocate", "release", "release", "defer", "complete", "empty"]),
        st.integers(1, 3 << 20),
    ),
    max_size=30,
)


@given(
    steps=STEPS,
    kept=st.integers(0, 60),
    form=st.sampled_from(["pickle", "json"]),
    protocol=st.integers(2, 5),
    has_clock=st.booleans(),
)
def test_what_is_read_is_what_the_allocator_did(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, int]],
    kept: int,
    form: str,
    protocol: int,
    *,
    has_clock: bool,
) -> None:
    allocator = worked(steps, has_clock=has_clock)
    entries = len(allocator.entries)
    kept = min(kept, entries)
    lost = entries - kept
    path = written(tmp_path_factory.mktemp("s"), snapshot_of(allocator, kept=kept), form, protocol)
    recordings = read(path)
    if not kept and not allocator.segments:
        assert recordings == []
        return
    (recording,) = recordings
    assert (recording.rank_id, recording.device_id, recording.source) == (3, 0, "snapshot")
    assert set(rules(recordings)) <= {"memory-before"}
    assert recording.unusable_bytes == allocator.unusable
    assert recording.has_history is bool(kept)
    assert recording.has_clock is (has_clock and bool(kept))

    def when(entry: int | None) -> int | None:
        """The time of an entry of the whole history, where it was kept."""
        if entry is None or entry <= lost:
            return None
        return (START_US + 7 * entry) * 1000 if has_clock else entry - lost

    samples = recording.samples.to_pylist()
    assert [s["sampled_ns"] for s in samples] == ([when(entry) for entry in range(lost + 1, entries + 1)] or [0])
    sums = [(s["allocated_bytes"], s["reserved_bytes"], s["active_bytes"]) for s in samples]
    kinds = {entry["action"] for entry in allocator.entries[lost:]}
    is_active_known = "free_completed" in kinds or "free_requested" not in kinds
    expected = [
        (allocated, reserved, active if is_active_known else None)
        for allocated, reserved, active in allocator.sums[min(lost, entries - 1) :]
    ]
    assert sums == expected
    reported = sorted(
        (life.address, life.size, when(life.allocated) or 0, when(life.released) or 0, when(life.completed) or 0)
        for life in allocator.lives
        if life.released is None or life.released > lost
    )
    events = recording.events.to_pylist()
    assert reported == sorted(
        (e["address"], e["size_bytes"], e["allocated_ns"] or 0, e["released_ns"] or 0, e["reusable_ns"] or 0)
        for e in events
    )
    numbers = [event["source_row"] for event in events]
    assert len(set(numbers)) == len(numbers)
    for sample in samples:
        now = sample["sampled_ns"]
        alive = sum(
            e["size_bytes"]
            for e in events
            if (e["allocated_ns"] or 0) <= now and (e["released_ns"] is None or e["released_ns"] > now)
        )
        assert alive == sample["allocated_bytes"]


@given(steps=STEPS, form=st.sampled_from(["pickle", "json"]), is_list=st.booleans())
def test_segments_without_a_history_are_one_state(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]], form: str, *, is_list: bool
) -> None:
    """`torch.cuda.memory_snapshot()` is the list of segments; both forms say what is held, reserved, active and unusable."""
    allocator = worked(steps)
    segments = [
        {"device": 0, "total_size": 0, "active_size": 0, "segment_type": "small", **segment}
        for segment in allocator.segments
    ]
    path = written(
        tmp_path_factory.mktemp("s"), segments if is_list else {"segments": segments, "device_traces": []}, form
    )
    if not segments:
        return
    (recording,) = read(path)
    assert (recording.findings, recording.has_history, recording.has_clock) == ((), False, False)
    assert recording.unusable_bytes == allocator.unusable
    (state,) = recording.samples.to_pylist()
    assert (state["allocated_bytes"], state["reserved_bytes"], state["active_bytes"]) == allocator.sums[-1]
    held = sorted((one.address, one.size) for one in allocator.lives if one.released is None)
    events = recording.events.to_pylist()
    assert sorted((event["address"], event["size_bytes"]) for event in events) == held
    assert {event["owner"] for event in events} == {f"blocks of {size:,} B" for _, size in held}


def test_a_snapshot_without_a_history_is_taken_apart_and_says_so(tmp_path: Path, cli: Cli) -> None:
    allocator = Allocator()
    lives = [allocator.allocate(3 << 20, [frame("forward", line=7)]), *(allocator.allocate(1 << 20) for _ in range(3))]
    for life in (lives[1], lives[2]):
        allocator.release(life)
    answer = cli("memory", written(tmp_path, snapshot_of(allocator, kept=0)), "--format", "json").json
    (device,) = answer["devices"]
    assert (device["peak_bytes"], device["after_us"], device["growth_not_judged"]) == (4 << 20, None, "no history")
    assert device["unusable_bytes"] == allocator.unusable > 0
    assert device["before_bytes"] == device["unexplained_bytes"] == 0
    owners = [(row["owner"], row["module"], row["size_bytes"]) for row in answer["rows"]]
    assert owners == [
        ("train.py (7): forward", "/job/train.py (7): forward", 3 << 20),
        ("blocks of 1,048,576 B", None, 1 << 20),
    ]
    shown = cli("memory", tmp_path).out
    assert "Rank 3 holds 4.000 MiB at the time of the snapshot: 75% train.py (7): forward" in shown
    assert "the snapshot has no history, only one state" in shown
    assert "peaks at" not in shown
    assert "was not in use" in shown.partition("Highest memory of each device")[0]


def frame(name: str, filename: str = "/job/train.py", line: int = 12) -> dict[str, Any]:
    return {"filename": filename, "line": line, "name": name}


def event_with(frames: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    allocator = Allocator()
    allocator.allocate(4096, frames)
    return read(written(folder, snapshot_of(allocator)))[0].events.to_pylist()[0]


def test_the_stack_is_told_innermost_first_and_names_who_allocated(tmp_path: Path) -> None:
    event = event_with(
        [frame("linear", "/venv/torch/nn/functional.py", 7), frame("forward"), frame("main", line=80)], tmp_path
    )
    assert (
        event["location"]
        == "/venv/torch/nn/functional.py (7): linear;/job/train.py (12): forward;/job/train.py (80): main"
    )
    assert event["owner"] == "train.py (12): forward"
    assert event["kind"] is None


def test_frames_of_cpp_tell_the_operator_but_not_the_one_that_only_makes_room(tmp_path: Path) -> None:
    cpp = [
        frame("at::_ops::empty_memory_format::call(c10::...)", "??", 0),
        frame("at::_ops::mm::redispatch(...)", "??", 0),
    ]
    assert event_with([*cpp, frame("forward")], tmp_path)["owner"] == "aten::mm"
    assert event_with(cpp[:1], tmp_path)["owner"] == "aten::empty_memory_format"


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (frame("_init_group", "/venv/torch/optim/adamw.py"), "optimizer"),
        (frame("_allocate_kv_cache_tensors", "/v/vllm/v1/worker/gpu_model_runner.py"), "kv_cache"),
        (frame("_create_buffers", "/s/sglang/srt/mem_cache/memory_pool.py"), "kv_cache"),
        (frame("load_weights", "/v/vllm/model_executor/model_loader/default_loader.py"), "weight"),
        (frame("convert", "/venv/torch/nn/modules/module.py"), "weight"),
        (frame("backward", "/venv/torch/_tensor.py"), None),
        (frame("step", "/job/trainer.py"), None),
    ],
)
def test_the_kind_is_told_only_where_a_frame_leaves_no_doubt(
    found: dict[str, Any], kind: str | None, tmp_path: Path
) -> None:
    assert event_with([found, frame("main")], tmp_path)["kind"] == kind


def test_each_device_has_a_recording_of_its_own_and_rows_have_numbers_of_their_own(tmp_path: Path) -> None:
    first, third = Allocator(device=0), Allocator(device=2)
    first.allocate(100)
    third.allocate(200)
    third.segments[0]["blocks"][0]["requested_size"] = 200
    recordings = read(written(tmp_path, snapshot_of(first, third)))
    assert [one.device_id for one in recordings] == [0, 2]
    rows = [row["source_row"] for one in recordings for row in one.events.to_pylist()]
    assert len(set(rows)) == 2


def test_out_of_memory_is_said_with_what_was_in_use_then(tmp_path: Path) -> None:
    allocator = Allocator()
    allocator.release(allocator.allocate(1 << 20))
    allocator.allocate(3000)
    allocator.fail(7 << 30, 5 << 20)
    allocator.allocate(9)
    (finding,) = read(written(tmp_path, snapshot_of(allocator)))[0].findings
    assert (finding.rule, finding.pointer) == ("memory-exhausted", "/device_traces/0/5")
    for number in ("7,516,192,768", "2,097,152", "3,000", "5,242,880"):
        assert number in finding.message


def test_damage_in_a_history_is_told_with_its_place_and_the_rest_is_used(tmp_path: Path) -> None:
    allocator = Allocator()
    life = allocator.allocate(1000)
    allocator.release(allocator.allocate(2000))
    document = copy.deepcopy(snapshot_of(allocator))
    trace = document["device_traces"][0]
    trace.insert(2, {**trace[1], "size": 500})  # the same address once more
    trace += [{"action": "alloc", "addr": "x", "size": 1}, {"action": "new_kind"}, 7, {**trace[0], "size": True}]
    (recording,) = read(written(tmp_path, document))
    assert sorted(rules([recording])) == [*["memory-entry"] * 4, "memory-reused", "memory-sum"]
    (reused,) = [finding for finding in recording.findings if finding.rule == "memory-reused"]
    assert reused.pointer == "/device_traces/0/2"
    assert life.address in {event["address"] for event in recording.events.to_pylist()}


def test_a_history_that_contradicts_the_blocks_is_told(tmp_path: Path) -> None:
    allocator = Allocator()
    allocator.allocate(1000)
    document = snapshot_of(allocator)
    document["segments"] = []
    assert rules(read(written(tmp_path, document))) == ["memory-sum"] * 2


class _Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return (Path("/nowhere").touch, ())


def shared_lists(depth: int) -> dict[str, Any]:
    entry = {"action": "alloc", "addr": 1, "size": 1}
    trace = [entry] * 1000
    return {"segments": [], "device_traces": [trace] * depth, "total_size": 0}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (pickle.dumps({"segments": [], "device_traces": [_Evil()]}), "STACK_GLOBAL"),
        (pickle.dumps({"segments": [], "device_traces": [], "x": b"1"}), "SHORT_BINBYTES"),
        (pickle.dumps({"segments": [], "device_traces": [2**90]}), "64 bits"),
        (pickle.dumps({"segments": [], "device_traces": []})[:-3], "ends before"),
        (pickle.dumps({"segments": [], "device_traces": []}) + b".", "follows the end"),
        (b"\x80\x04\x8c\x08segments\x8c\x0ddevice_traces]r\xff\xff\xff\xff.", "too small"),
        (b"\x80\x04\x8c\x08segments\x8c\x0ddevice_traces" + b"(" * 9 + b"t.", "a tuple"),
        (b"\x80\x04\x8c\x08segments\x8c\x0ddevice_traces}" + b")" + b"\x85" * 200_000 + b"Ns.", "a tuple"),
        (b"\x80\x04\x8c\x08segments\x8c\x0ddevice_traces}" + b")q\x00h\x00\x86" * 60 + b"Ns.", "a tuple"),
        (b"\x80\x04\x8c\x08segments\x8c\x0ddevice_tracesh\x77.", "damaged"),
        (b"\x80\x04\x8c\x08segments\x8c\x0ddevice_traces\x95" + b"\xff" * 8 + b".", "damaged"),
        (b"\x80\x04\x8c\x08segments\x8c\x0ddevice_traces\xfa.", "no operation"),
        (b"\x80\x04\x8c\x08segments\x8c\x0ddevice_tracesX\xff\xff\xff\x7f.", "inside a text"),
        (pickle.dumps({"segments": [], "device_traces": 3}), "no lists"),
        (pickle.dumps(shared_lists(1000)), "more than a file of its size"),
    ],
)
def test_what_is_no_plain_snapshot_is_refused_in_words(data: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.pickle"
    path.write_bytes(data)
    with pytest.raises(ReadError, match=said):
        read(path)


def test_deep_nesting_is_refused_or_read_but_never_ends_the_process(tmp_path: Path) -> None:
    deep = b"]" * 200_000 + b"a" * 199_999
    path = tmp_path / "x.pickle"
    path.write_bytes(b"\x80\x04}(\x8c\x0ddevice_traces]\x8c\x08segments" + deep + b"u.")
    assert rules(read(path)) == ["memory-entry"]
    path = tmp_path / "x.json"
    path.write_text('{"segments": [], "device_traces": ' + "[" * 200_000 + "]" * 200_000 + "}", encoding="utf-8")
    with pytest.raises(ReadError, match="nested too deeply"):
        read(path)


def test_an_unknown_action_is_shown_short_whatever_it_is(tmp_path: Path) -> None:
    shared: list[Any] = []
    for _ in range(40):  # 2^40 lists, were they written out
        shared = [shared, shared]
    trace = [{"action": action, "addr": 1, "size": 1} for action in (shared, "x" * 1000, None, 2**60)]
    path = tmp_path / "x.pickle"
    path.write_bytes(pickle.dumps({"segments": [], "device_traces": [trace]}))
    (recording,) = read(path)
    shown = [str(finding.message).rpartition(", not ")[2] for finding in recording.findings]
    assert shown == ["list", "x" * 40, "NoneType", "int"]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_tuples_of_whole_numbers_are_read_wherever_frames_of_the_pickle_begin(protocol: int) -> None:
    value = [[(number,), (number, 2**63 + number), (1, 2, 1 << (number % 64)), number, ()] for number in range(9000)]
    assert plain_value(pickle.dumps(value, protocol)) == value


def test_a_snapshot_of_which_nothing_can_be_used_says_so(tmp_path: Path) -> None:
    document = {"segments": [{"device": 0, "total_size": "all"}], "device_traces": [7]}
    (recording,) = read(written(tmp_path, document))
    assert (recording.events.num_rows, recording.device_id) == (0, None)
    assert [finding.pointer for finding in recording.findings] == ["/segments/0", "/device_traces/0"]


def test_a_snapshot_of_devices_that_did_nothing_is_read(tmp_path: Path) -> None:
    assert read(written(tmp_path, {"segments": [], "device_traces": [[] for _ in range(16)]})) == []
