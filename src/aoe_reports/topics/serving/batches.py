"""Batches of a service as its profiler tells them: when each ran, of which requests, prefill or decode, and how long their sequences were.

Of the exporter and the hooks of msServiceProfiler (github.com/Ascend/msserviceprofiler: exporters/exporter_batch.py, plugins/plugin_batch.py,
patcher/vllm/handlers/v1/utils.py, patcher/sglang/handlers/scheduler_handlers.py; read in November 2026): `modelExec` is a batch that runs,
`res_list` its requests. A request has `rid` and `iter`, under vLLM `type` (0: prefill, 1: decode), `num_scheduled_tokens`, `num_prompt_tokens`
and `num_computed_tokens`, too. Where it lacks them the exporter writes 0 for the numbers that it sums of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pyarrow as pa

from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.groupings import Phase

BATCH_COLUMNS = frozenset(
    {
        "name", "res_list", "start_ns", "during_time_ns", "batch_type", "prof_id", "batch_size", "prefill_batch_size",
        "decode_batch_size", "prefill_scheduled_tokens", "decode_scheduled_tokens", "dp_rank",
    }
)  # fmt: skip
"""The columns of batches and passes that are looked at."""
REQUEST_COLUMNS = frozenset({"http_rid", "recv_token_size"})
LengthsBy = Literal["batches", "requests"]

_RUNS = frozenset({"modelExec", "forward"})
_PHASES: dict[str, Phase] = {
    "prefill": "prefill",
    "extend": "prefill",
    "decode": "decode",
    "prefill,decode": "mixed",
    "mixed": "mixed",
    "dummy": "other",
}
"""What a type of a batch is, in small letters and without spaces; `unknown` and `Other` tell nothing."""
_REQUEST = re.compile(r"\{([^{}]{1,2000})\}")
_FIELD = re.compile(r"""['"](\w{1,40})['"]\s*:\s*(?:'([^']*)'|"([^"]*)"|(-?\d{1,10})(?![\d.]))""", re.ASCII)
_MAX_COUNT = 1 << 31
_MS_NS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One batch that ran; null what is not told. Times are those of its host."""

    start_ns: int
    end_ns: int
    phase: Phase | None
    sequences: int | None
    prompts: int | None
    prompt_tokens: int | None
    decoding: int | None
    decoded_tokens: int | None
    longest: int | None
    """The tokens of its longest sequence, with those of this pass."""
    sequence_length: float | None
    """The mean of its sequences."""
    lengths_by: LengthsBy | None
    requests: str
    """Its requests as they are written: what makes the batches of two cards alike."""


@dataclass(frozen=True, slots=True)
class Lane:
    """The batches that one card (or one process) ran, by their start."""

    prof_id: str | None
    dp_rank: str | None
    batches: tuple[Batch, ...]

    @property
    def place(self) -> tuple[bool, str, bool, str]:
        """Where it stands among others."""
        return (self.dp_rank is not None, self.dp_rank or "", self.prof_id is not None, self.prof_id or "")


def prompts_of(requests: pa.Table) -> dict[str, int]:
    """The tokens that each request came with, by its id."""
    pairs = zip(requests["http_rid"].to_pylist(), requests["recv_token_size"].to_pylist(), strict=True)
    return {rid: count for rid, size in pairs if rid is not None and (count := _count(size)) is not None}


def lanes_of(rows: pa.Table, prompts: Mapping[str, int]) -> list[Lane]:
    """The batches that ran, by the card that ran them; rows of scheduling tell what those of running do not."""
    every = rows.to_pylist()
    timed = [row for row in every if row["start_ns"] is not None and row["during_time_ns"] is not None]
    scheduled = lists_by_key(
        (row["res_list"], _batch_of(row, prompts))
        for row in sorted(timed, key=lambda row: int(row["start_ns"]))
        if row["name"] not in _RUNS and row.get("res_list")
    )
    lanes: dict[tuple[str | None, str | None], list[Batch]] = {}
    for row in timed:
        if row["name"] in _RUNS:
            batch = _batch_of(row, prompts)
            batch = _completed(batch, _before(scheduled.get(batch.requests, ()), batch.start_ns))
            lanes.setdefault((_word(row.get("prof_id")), _word(row.get("dp_rank"))), []).append(batch)
    found = [Lane(*key, tuple(sorted(batches, key=lambda batch: batch.start_ns))) for key, batches in lanes.items()]
    return sorted(found, key=lambda lane: lane.place)


def common_batches(lanes: Sequence[Lane], begin_ns: int, end_ns: int) -> tuple[Batch, ...] | None:
    """The batches that ran in some time, where all cards ran the same ones; null where they did not: which card a device is nothing tells."""
    found = [
        tuple(batch for batch in lane.batches if batch.end_ns > begin_ns and batch.start_ns < end_ns) for lane in lanes
    ]
    found = [one for one in found if one]
    if not found or len({tuple(one.requests for one in mine) for mine in found}) > 1:
        return None
    return found[0]


def are_in_ms(batches: Sequence[Batch]) -> bool:
    """Whether batches begin at whole ms, as some exporters cut their starts off: then each began within the ms behind."""
    return len(batches) > 1 and not any(batch.start_ns % _MS_NS for batch in batches)


def _word(text: str | None) -> str | None:
    """A cell of text; what pandas writes where there is none is none."""
    return None if text in {"", "<NA>", "nan", "None"} else text


def _before(scheduled: Sequence[Batch], start_ns: int) -> Sequence[Batch]:
    """The last scheduling of the same requests before they ran."""
    place = bisect_right(scheduled, start_ns, key=lambda batch: batch.start_ns)
    return scheduled[max(place - 1, 0) : place]


def _batch_of(row: Mapping[str, Any], prompts: Mapping[str, int]) -> Batch:
    """The batch that one row records; `sequences` is null where only the parts of its size are known."""
    text = row.get("res_list") or ""
    requests = list(_requests(text))
    kinds = [request.get("type") for request in requests]
    count_of_prompts, decoding = _both(row, "prefill_batch_size", "decode_batch_size")
    prompt_tokens, decoded = _both(row, "prefill_scheduled_tokens", "decode_scheduled_tokens")
    if kinds and all(kind in {0, 1} for kind in kinds):
        count_of_prompts, decoding = kinds.count(0), kinds.count(1)
        tokens = [_count(request.get("num_scheduled_tokens")) for request in requests]
        prompt_tokens, decoded = None, None
        if None not in tokens:
            pairs = [(kind, token or 0) for kind, token in zip(kinds, tokens, strict=True)]
            prompt_tokens, decoded = (sum(token for kind, token in pairs if kind == wanted) for wanted in (0, 1))
    start = int(row["start_ns"])
    lengths, by = _lengths(requests, prompts)
    return Batch(
        start_ns=start,
        end_ns=start + max(int(row["during_time_ns"]), 0),
        phase=_phase(row.get("batch_type"), count_of_prompts, decoding),
        sequences=len(requests) or _count(row.get("batch_size")),
        prompts=count_of_prompts,
        prompt_tokens=prompt_tokens,
        decoding=decoding,
        decoded_tokens=decoded,
        longest=max(lengths, default=None),
        sequence_length=sum(lengths) / len(lengths) if lengths else None,
        lengths_by=by if lengths else None,
        requests=text,
    )


def _completed(batch: Batch, scheduled: Iterable[Batch]) -> Batch:
    """A batch that ran, with what the scheduling of the same requests adds, and the parts of its size as far as they follow."""
    for other in scheduled:
        sizes = batch if batch.prompts is not None else other
        tokens = batch if batch.prompt_tokens is not None else other
        batch = replace(
            batch,
            phase=batch.phase or other.phase,
            sequences=batch.sequences if batch.sequences is not None else other.sequences,
            prompts=sizes.prompts,
            prompt_tokens=tokens.prompt_tokens,
            decoding=sizes.decoding,
            decoded_tokens=tokens.decoded_tokens,
        )
    size, prompts, decoding = batch.sequences, batch.prompts, batch.decoding
    if prompts is None and batch.phase in {"prefill", "decode"}:
        prompts, decoding = (size, 0) if batch.phase == "prefill" else (0, size)
    if size is None and prompts is not None:
        size = prompts + (decoding or 0)
    return replace(batch, sequences=size, prompts=prompts, decoding=decoding)


def _requests(text: str) -> Iterator[Mapping[str, Any]]:
    """The requests of a list as Python writes it, without evaluating it."""
    for body in _REQUEST.findall(text):
        found: dict[str, Any] = {}
        for name, single, double, digits in _FIELD.findall(body):
            found.setdefault(name, int(digits) if digits else single or double)
        if "rid" in found:
            yield found


def _lengths(each: Sequence[Mapping[str, Any]], prompts: Mapping[str, int]) -> tuple[list[int], LengthsBy]:
    """(the tokens of each sequence behind this pass, what tells them); nothing where one of them is not known.

    Without numbers of its own a request is as long as its prompt and what was decoded of it: its `iter` is the number of its token.
    """
    told = [(_count(one.get("num_computed_tokens")), _count(one.get("num_scheduled_tokens"))) for one in each]
    known = [before + new for before, new in told if before is not None and new is not None]
    if known and len(known) == len(each):
        return known, "batches"
    if any("num_scheduled_tokens" in one for one in each):
        return [], "requests"  # there `iter` counts parts of a prompt, too
    numbers = [(prompts.get(str(one["rid"])), _count(one.get("iter"))) for one in each]
    known = [prompt + number for prompt, number in numbers if prompt is not None and number is not None]
    return (known if len(known) == len(each) else []), "requests"


def _phase(word: str | None, prompts: int | None, decoding: int | None) -> Phase | None:
    told = _PHASES.get((word or "").replace(" ", "").lower())
    if told is not None or prompts is None or decoding is None:
        return told
    if prompts and decoding:
        return "mixed"
    return "prefill" if prompts else "decode" if decoding else None


def _both(row: Mapping[str, Any], one: str, other: str) -> tuple[int | None, int | None]:
    """Two numbers that together are more than nothing: where nothing is known both are 0 or empty."""
    first, second = _count(row.get(one)), _count(row.get(other))
    return (first or 0, second or 0) if first or second else (None, None)


def _count(value: object) -> int | None:
    """A count that there can be; it may be written as 4.0."""
    if isinstance(value, str):
        value = int(value) if value.isascii() and value.isdecimal() and len(value) <= 10 else None  # noqa: PLR2004
    if isinstance(value, float) and not value.is_integer():
        return None
    return int(value) if isinstance(value, int | float) and 0 <= value < _MAX_COUNT else None
