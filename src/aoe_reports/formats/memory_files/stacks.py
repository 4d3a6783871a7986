"""Stacks of a memory snapshot: as text, with the owner of the memory and what it holds, where frames show them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.formats.memory import words
from aoe_reports.model.arrays.columns import Ints, Numbering
from aoe_reports.model.topics.memory import Kind

MAX_FRAMES = 64
_MAX_NAME, _MAX_STACK = 200, 4000
_PYTHON = re.compile(r"\.py$")
_LIBRARY = re.compile(r"(?:^|/)(?:torch|torch_npu)/|(?:^|/)lib/python3[.\d]*/(?!(?:site|dist)-packages/)|^<")
"""Files that allocate for others: of PyTorch, and of Python itself."""
_OPERATOR = re.compile(r"at::_ops::(\w+)::(?:call|redispatch)")
"""A frame of C++ (`stacks="all"`) that shows which operator of PyTorch ran."""
_MAKES_EMPTY = re.compile(r"^(?:new_)?empty|^resize_|^to$|^_to_copy$")
"""Operators that others call for their memory."""

_Frame = tuple[str, int, str]
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    # vllm/v1/worker/gpu_model_runner.py and worker/cache_engine.py; vllm_ascend/worker/model_runner_v1.py; sglang/srt/mem_cache/memory_pool.py
    (
        "kv_cache",
        re.compile(
            r"\.py [(]\d+[)]: (?:_?allocate_kv_cache\w*|initialize_kv_cache\w*)$|/memory_pool\.py [(]\d+[)]: _create_buffers$"
        ),
    ),
    # torch/optim/adamw.py: step, _init_group
    ("optimizer", re.compile(r"(?:^|/)torch/optim/\w+\.py ")),
    # vllm/model_executor/model_loader; torch/nn/modules/module.py moves parameters and buffers by `convert`
    (
        "weight",
        re.compile(
            r"/model_executor/model_loader/|/model_loader/loader\.py |(?:^|/)torch/nn/modules/module\.py [(]\d+[)]: convert$"
        ),
    ),
)
"""What memory is for, by a frame of its stack, the surest first (files and functions as of 2026)."""


class Stacks:
    """The stacks of one file, each once: most allocations share theirs with many others."""

    def __init__(self) -> None:
        self._by_list: dict[int, int] = {}
        self._texts, self._owners, self._kinds = Numbering(), Numbering(), Numbering()
        self._stacks: dict[str, int] = {}
        self._places: list[tuple[int, int, int]] = []

    def number(self, frames: Any) -> int:
        """The number of a stack; -1 where there is none. Lists must live as long as this does: they are known by their identity."""
        if type(frames) is not list or not frames:
            return -1
        known = self._by_list.get(id(frames))
        if known is None:
            known = self._by_list[id(frames)] = self._number(_usable(frames))
        return known

    def _number(self, frames: Sequence[_Frame]) -> int:
        shown = [_shown(frame) for frame in frames if _PYTHON.search(frame[0])] or [_shown(frame) for frame in frames]
        text = ";".join(shown)[:_MAX_STACK]
        owner, kind = _owner_of(frames), _kind_of(shown)
        key = f"{owner}\0{text}"
        if not text:
            return -1
        if key not in self._stacks:
            self._stacks[key] = len(self._places)
            places = (
                self._texts[text],
                -1 if owner is None else self._owners[owner],
                -1 if kind is None else self._kinds[kind],
            )
            self._places.append(places)
        return self._stacks[key]

    def columns(self, stacks: Ints, sizes: Ints | None = None) -> dict[str, pa.ChunkedArray]:
        """The columns `location`, `owner` and `kind` of rows with these stacks; rows without an owner are called by their sizes, if given."""
        known = np.array([*self._places, (-1, -1, -1)], dtype=np.int32)[stacks]
        if sizes is not None:
            different, place = np.unique(sizes, return_inverse=True)
            by_size = np.array([self._owners[f"blocks of {size:,} B"] for size in different.tolist()], dtype=np.int32)
            known[:, 1] = np.where(known[:, 1] < 0, by_size[place], known[:, 1])
        named = (("location", self._texts), ("owner", self._owners), ("kind", self._kinds))
        return {name: words(known[:, place], numbering.words) for place, (name, numbering) in enumerate(named)}


def _usable(frames: Sequence[Any]) -> list[_Frame]:
    """(file, line, function) of the innermost frames that say all three."""
    usable = []
    for frame in frames[:MAX_FRAMES]:
        if not isinstance(frame, dict):
            continue
        file, line, name = frame.get("filename"), frame.get("line"), frame.get("name")
        if isinstance(file, str) and type(line) is int and isinstance(name, str):
            usable.append((file[-_MAX_NAME:], line, name[:_MAX_NAME]))
    return usable


def _shown(frame: _Frame) -> str:
    return f"{frame[0]} ({frame[1]}): {frame[2]}".replace(";", ",")


def _owner_of(frames: Sequence[_Frame]) -> str | None:
    """The operator of PyTorch where frames of C++ show it, else the innermost function that is neither of PyTorch nor of Python."""
    operators = [match[1] for _, _, name in frames if (match := _OPERATOR.search(name))]
    if operators:
        return next((f"aten::{name}" for name in operators if not _MAKES_EMPTY.search(name)), f"aten::{operators[0]}")
    own = (frame for frame in frames if _PYTHON.search(frame[0]) and not _LIBRARY.search(frame[0]))
    innermost = next(own, None)
    return None if innermost is None else f"{innermost[0].rpartition('/')[2]} ({innermost[1]}): {innermost[2]}"


def _kind_of(shown: Sequence[str]) -> Kind | None:
    """What a stack says that the memory is for."""
    return next((kind for kind, pattern in _KINDS if any(pattern.search(frame) for frame in shown)), None)
