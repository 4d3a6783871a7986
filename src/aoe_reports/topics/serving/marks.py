"""What annotations of a timeline tell of the iterations of a server: ranges of the host, by the names that servers give them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from aoe_reports.facts.breakdown import EVENT_COLUMNS, Activity
from aoe_reports.formats.ascend.tables.timelines import COMMUNICATION_PROCESSES, DEVICE_PROCESS, OVERLAP_PROCESS
from aoe_reports.model.arrays.columns import WordMap, bits, keep_where, words_in
from aoe_reports.model.groupings import Phase
from aoe_reports.topics.serving.batches import Batch, are_in_ms
from aoe_reports.topics.serving.phases import Annotated

MARK_COLUMNS = EVENT_COLUMNS
"""The columns of events that are looked at."""
_MAX_RANGES = 1 << 20
"""So many ranges are held at most."""
_BEGINS = ("execute_context_", "execute_new_", "execute_model", "gpu_model_runner: forward", "model_runner: forward", "forward", "step[", "modelExec", "prepare input and forward")  # fmt: skip

_VLLM = re.compile(r"execute_context_(\d{1,9})\((\d{1,9})\)_generation_(\d{1,9})\((\d{1,9})\)", re.ASCII)
_OLDER = re.compile(r"execute_new_(\d{1,9})_cached_(\d{1,9})", re.ASCII)
_SGLANG = re.compile(r"step\[(EXTEND|DECODE|MIXED)\b[^\]]*\bbs=(\d{1,9})(?:[^\]]*\btoks=(\d{1,9}))?[^\]]*\]", re.ASCII)
_WHOLE = re.compile(r"execute_model|modelExec|prepare input and forward", re.ASCII)
_MODEL = re.compile(r"(?:gpu_model_runner: |model_runner: )?forward", re.ASCII)
_SGLANG_PHASES: dict[str, Phase] = {"EXTEND": "prefill", "DECODE": "decode", "MIXED": "mixed"}


class _Said(NamedTuple):
    """What the name of a range says; `rank`: the least is the best to go by."""

    rank: int
    phase: Phase | None = None
    prompts: int | None = None
    prompt_tokens: int | None = None
    decoding: int | None = None
    decoded_tokens: int | None = None


def said_by(name: str) -> _Said | None:
    """What the name of a range says of an iteration; null for other ranges."""
    if told := _VLLM.fullmatch(name):
        prompts, prompt_tokens, decoding, decoded = map(int, told.groups())
        return _Said(0, _phase_of(prompts, decoding), prompts, prompt_tokens, decoding, decoded)
    if told := _OLDER.fullmatch(name):
        prompts, decoding = map(int, told.groups())
        return _Said(
            1, _phase_of(prompts, decoding) if not (prompts == 0 and decoding) else None, prompts, None, decoding, None
        )
    if told := _SGLANG.fullmatch(name):
        count, tokens = int(told[2]), int(told[3]) if told[3] else None
        phase = _SGLANG_PHASES[told[1]]
        if phase == "decode":
            return _Said(2, phase, 0, 0, count, tokens)
        return _Said(2, phase, count, tokens, 0, 0) if phase == "prefill" else _Said(2, phase)
    if _WHOLE.fullmatch(name):
        return _Said(3)
    return _Said(4) if _MODEL.fullmatch(name) else None


def _phase_of(prompts: int, decoding: int) -> Phase | None:
    if prompts and decoding:
        return "mixed"
    return "prefill" if prompts else "decode" if decoding else None


_LAST_WHOLE = 3
"""The rank of the last ranges that hold the preparation of inputs, too."""


@dataclass(slots=True)
class Marked:
    """Takes the events of one capture, batch after batch, as `Activity` does, and keeps the ranges that servers name."""

    activity: Activity = field(default_factory=Activity)
    _ranges: list[tuple[int, int, str]] = field(default_factory=list)
    _is_said: WordMap = field(
        default_factory=lambda: WordMap(lambda name: name.startswith(_BEGINS) and said_by(name) is not None)
    )

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in some events; they need MARK_COLUMNS."""
        self.activity.add(batch)
        frame = pa.Table.from_batches([batch])
        mine = self._is_said.by(frame["name"])
        if not mine.any():
            return
        mine &= words_in(frame["ph"], {"X"}) & ~bits(frame["stage_row"])
        mine &= ~words_in(frame["process"], {DEVICE_PROCESS, OVERLAP_PROCESS, *COMMUNICATION_PROCESSES})
        for row in frame.filter(keep_where(mine)).select(["name", "start_ns", "duration_ns"]).to_pylist():
            if row["duration_ns"] and len(self._ranges) < _MAX_RANGES:
                self._ranges.append((row["start_ns"], row["start_ns"] + row["duration_ns"], row["name"]))

    def merge(self, other: Marked) -> None:
        """Take in what another one has of the same capture: of events behind its own."""
        self.activity.merge(other.activity)
        self._ranges += other._ranges[: _MAX_RANGES - len(self._ranges)]

    def annotated(self, batches: Sequence[Batch] = ()) -> dict[int | None, list[Annotated]]:
        """What the ranges of the best name tell of each device; those within others of them tell nothing.

        `batches` of the service tell beside them what they do not say; where there are no ranges they are the ranges.
        """
        told = [(start, end, said) for start, end, name in self._ranges if (said := said_by(name)) is not None]
        if not told:
            return self._of_batches(batches)
        best = min(said.rank for _, _, said in told)
        ranges = _outermost([one for one in told if one[2].rank == best])
        firsts = self.activity.first_tasks({number: one[:2] for number, one in enumerate(ranges)})
        return {
            device: [
                _annotated(start, ranges[number][2], _running(batches, ranges[number][0]))
                for number, start in sorted(mine.items())
            ]
            for device, mine in firsts.items()
        }

    def _of_batches(self, batches: Sequence[Batch]) -> dict[int | None, list[Annotated]]:
        """The batches by the first task that was launched while each ran; not where their starts are cut off to ms."""
        if are_in_ms(batches):
            return {}
        ends = [*(batch.start_ns for batch in batches[1:]), batches[-1].end_ns] if batches else []
        spans = {
            number: (one.start_ns, min(one.end_ns, end))
            for number, (one, end) in enumerate(zip(batches, ends, strict=True))
        }
        firsts = self.activity.first_tasks(spans) if spans else {}
        return {
            device: [
                Annotated(start_ns=start, cut_by="batches", batch=batches[number], is_exact=True)
                for number, start in sorted(mine.items())
            ]
            for device, mine in firsts.items()
        }


def _running(batches: Sequence[Batch], moment_ns: int) -> Batch | None:
    """The batch that runs at a moment; of several that do the last that was begun."""
    place = bisect_right(batches, moment_ns, key=lambda one: one.start_ns) - 1
    return batches[place] if place >= 0 and moment_ns < batches[place].end_ns else None


def _annotated(start: int, said: _Said, batch: Batch | None) -> Annotated:
    return Annotated(
        start_ns=start,
        batch=batch,
        phase=said.phase,
        prompts=said.prompts,
        prompt_tokens=said.prompt_tokens,
        decoding=said.decoding,
        decoded_tokens=said.decoded_tokens,
        is_exact=said.rank <= _LAST_WHOLE,
    )


def _outermost(ranges: Sequence[tuple[int, int, _Said]]) -> list[tuple[int, int, _Said]]:
    """Those of some ranges that begin behind the end of the one before."""
    found: list[tuple[int, int, _Said]] = []
    for one in sorted(ranges, key=lambda one: (one[0], -one[1])):
        if not found or one[0] >= found[-1][1]:
            found.append(one)
    return found
