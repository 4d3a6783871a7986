"""MindSpore's memory tracker."""

from __future__ import annotations

from pathlib import Path

from commandline import FIXTURES

from aoe_reports.formats.memory_files import recordings_of
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.model.topics.memory import MemoryRecording

TRACKED = FIXTURES / "memory" / "valid" / "mindspore_tracker"


def read(path: Path) -> MemoryRecording:
    (file,) = discover([path]).files
    (recording,) = recordings_of(file)
    return recording


def test_blocks_have_owners_and_the_numbers_of_events_as_times() -> None:
    recording = read(TRACKED)
    assert (recording.rank_id, recording.has_clock, recording.findings) == (2, False, ())
    events = recording.events.to_pylist()
    assert [(e["allocated_ns"], e["released_ns"], e["size_bytes"], e["kind"], e["stream"]) for e in events] == [
        (2, None, 4096, "weight", 0),
        (4, 9, 8192, None, 0),
        (5, 7, 2048, "workspace", 1),
    ]
    assert events[1]["owner"] == "Default/network/fc1-Dense/MatMul-op0"
    samples = recording.samples.to_pylist()
    assert [(s["sampled_ns"], s["allocated_bytes"]) for s in samples] == [
        (2, 4096),
        (4, 12288),
        (5, 14336),
        (7, 12288),
        (9, 4096),
    ]


def test_a_block_that_ends_before_it_begins_is_left_out_and_told(tmp_path: Path) -> None:
    text = (TRACKED / "rank_2" / "memory_block.csv").read_text()
    (tmp_path / "memory_block.csv").write_text(text.replace("\n5,7,", "\n5,4,"))
    recording = read(tmp_path)
    assert [(finding.rule, finding.line) for finding in recording.findings] == [("memory-entry", 4)]
    assert recording.events.num_rows == 2


def test_anybodys_file_of_this_name_is_none(tmp_path: Path) -> None:
    (tmp_path / "memory_block.csv").write_text("a,b\n1,2\n")
    assert discover([tmp_path]).files == ()
