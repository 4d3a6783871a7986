"""What module, layer and line of a program a task belongs to, by the frames around its launch or by the scope in its operator's name.

A layer is a block that a model repeats: of several modules of one class in the same module, which hold modules themselves, the
outermost. What is said of a task in it is the block and the module in that: `LlamaDecoderLayer_7/LlamaAttention`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal

import numpy as np

from aoe_reports.model.pictures.stacks import MODULE
from aoe_reports.topics.locations.launch_sites import CallPaths, Sites

Parts = tuple[str, ...]
_Family = tuple[Parts, str]
"""What is around some modules of one class, and the class."""
_Siblings = Mapping[_Family, Mapping[int, str]]
"""The modules of each by their numbers."""
_GRADIENTS = "Gradients"
"""The scope in which MindSpore puts the backward operators of others."""
_DEFAULT = "Default"
_MIN_PARTS = 3
"""So many parts has a name that is a scope: some operators of libraries have one slash in their name."""
_NUMBERED = re.compile(
    r"(?:(?P<first>\d{1,9})-(?P<named>.+)|(?P<class>.*?)[._-]?(?P<number>\d{1,9})(?:-[A-Z]\w*)?)", re.DOTALL
)
"""`LlamaAttention_7`, `layers.7`, `layer_7`; MindSpore's cells are `7-BertEncoderCell` in a list, else `conv7-Conv2d`."""
_EXPANDED = re.compile(r"grad[A-Z]\w*|.*-expand", re.DOTALL)
"""What MindSpore puts around the operators that another one is made of: that is no module."""
_MAX_PARTS = 64
"""Modules within so many others count for the one that deep."""
_WRAPPERS = frozenset({"FullyShardedDataParallel", "CheckpointWrapper", "OffloadWrapper", "OptimizedModule"})
"""PyTorch's modules that are put around single blocks of a model: they are no block, and hide the one in them."""
ToldBy = Literal["frames", "forward", "scope-name"]
TOLD_BY: tuple[ToldBy, ...] = ("frames", "forward", "scope-name")
"""By the frames around its own launch, by those around its forward operator's, by the name of its operator."""
_FRAMEWORKS = frozenset({"torch", "torch_npu", "mindspore", "concurrent", "asyncio", "multiprocessing", "importlib"})
_STARTERS = frozenset({"threading.py", "contextlib.py", "runpy.py", "functools.py"})
"""Folders and files of frameworks, and of what starts threads and processes: whoever looks for a line of a program looks past them."""


def modules_along(paths: CallPaths) -> list[Parts]:
    """The modules among the frames of each stack, the outermost first, as the profiler numbers them."""
    added = [(name.removeprefix(MODULE),) if name.startswith(MODULE) else () for name in paths.names]
    parts: list[Parts] = []
    for parent, name in zip(paths.parent.tolist(), paths.name.tolist(), strict=True):
        above = parts[parent] if parent >= 0 else ()
        parts.append(above + added[name] if len(above) < _MAX_PARTS else above)
    return parts


def whole_paths(every: Iterable[Parts]) -> dict[Parts, Parts]:
    """Modules with all that is around them: a recomputed one (checkpointing) is called by autograd, outside of what holds it.

    The profiler numbers every module of a class, so one that is found in one other module only belongs there.
    """
    known = set(every)
    holders: dict[str, set[str]] = defaultdict(set)
    for parts in known:
        for holder, part in pairwise(parts):
            holders[part].add(holder)
    return {parts: _whole(parts, holders) for parts in known}


def _whole(parts: Parts, holders: Mapping[str, set[str]]) -> Parts:
    while parts and len(parts) < _MAX_PARTS and len(around := holders.get(parts[0], set())) == 1:
        (holder,) = around
        if holder in parts:
            break
        parts = (holder, *parts)
    return parts


def telling(sites: Sites) -> Sites:
    """The same without own stacks that name nothing but a framework, where that of the forward operator names more."""
    names = [name.startswith(MODULE) or not _is_library(name) for name in sites.paths.names]
    tells: list[bool] = []
    for parent, name in zip(sites.paths.parent.tolist(), sites.paths.name.tolist(), strict=True):
        tells.append(names[name] or (parent >= 0 and tells[parent]))
    told = np.asarray([*tells, False], dtype=bool)
    return replace(sites, own=np.where(told[sites.forward] & ~told[sites.own], -1, sites.own))


def lines_along(paths: CallPaths) -> list[str]:
    """The innermost frame of each stack that is none of a framework's; where there is none, the innermost frame of all."""
    library = [*map(_is_library, paths.names)]
    nearest: list[int] = []
    for parent, name in zip(paths.parent.tolist(), paths.name.tolist(), strict=True):
        nearest.append(name if not library[name] else nearest[parent] if parent >= 0 else -1)
    own = paths.name.tolist()
    return [paths.names[line if line >= 0 else name] for line, name in zip(nearest, own, strict=True)]


def _is_library(frame: str) -> bool:
    if frame.startswith(("<", MODULE)):
        return True
    *folders, file = frame.partition("(")[0].split("/")
    return file in _STARTERS or not _FRAMEWORKS.isdisjoint(folders)


@lru_cache(maxsize=1 << 16)
def scope_of(name: str) -> Parts | None:
    """The scopes in the name of an operator, without the operator: `/model/layers.7/self_attn/MatMul`; None where it names none."""
    parts = tuple(part for part in name.split("/") if part)
    if parts[:1] == (_GRADIENTS,):
        parts = parts[1:]
    scoped = len(parts) >= _MIN_PARTS or (len(parts) > 1 and (name.startswith("/") or parts[0] == _DEFAULT))
    if not scoped:
        return None
    parts = parts[:-1][:_MAX_PARTS]
    while parts and parts[0] == _DEFAULT and _EXPANDED.fullmatch(parts[-1]):
        parts = parts[:-1]
    return None if parts == (_DEFAULT,) else parts


def layers_of(every: Iterable[Parts], *, whole: bool) -> dict[Parts, str]:
    """The layer of each of the modules (or scopes) of a program; a module in no repeated block is one by itself.

    `whole` names a block with all that is around it: scopes number blocks within those only. Profilers number the modules of a class
    through a whole program, which other modules of that class shift: where a class is repeated in one place only its blocks count from 0,
    and what is in a block counts within it.
    """
    return {parts: "/".join(label) for parts, (label, _) in _labelled(every, whole=whole).items()}


def blocks_of(every: Iterable[Parts], *, whole: bool) -> dict[str, str]:
    """The block of each layer, without the module in it; modules in no repeated block have none."""
    return {
        "/".join(label): "/".join(label[:length]) for label, length in _labelled(every, whole=whole).values() if length
    }


def in_any_block(layer: str, block: str | None) -> str:
    """What a layer is called in all blocks of its kind: `DecoderLayer_*/Attention`; one in no block keeps its name."""
    if block is None:
        return layer
    around, _, name = block.rpartition("/")
    found = _NUMBERED.fullmatch(name)
    if found is None:
        return layer
    begin, end = found.span("number" if found["number"] else "first")
    return f"{block[: len(block) - len(name)] if around else ''}{name[:begin]}*{name[end:]}{layer[len(block) :]}"


def _labelled(every: Iterable[Parts], *, whole: bool) -> dict[Parts, tuple[Parts, int]]:
    """(what names the layer, how much of that names its block: 0 where it is none)."""
    bare = {parts: parts if whole else _without_wrappers(parts) for parts in every}
    known = set(bare.values())
    siblings: dict[tuple[Parts, str], dict[int, str]] = defaultdict(dict)
    holding: set[Parts] = set()
    for parts in known:
        for place, part in enumerate(parts):
            if (numbered := _class_of(part)) is not None:
                siblings[parts[:place], numbered[0]][numbered[1]] = part
            holding.add(parts[:place])
    repeated = {
        (around, name)
        for (around, name), mine in siblings.items()
        if len(mine) > 1 and any((*around, part) in holding for part in mine.values())
    }
    named = _as_named if whole else _counted(siblings, repeated)
    return {given: _layer(parts, repeated, named, whole=whole) for given, parts in bare.items()}


def _without_wrappers(parts: Parts) -> Parts:
    """What a wrapper of single blocks is around stands for both; what it launches itself stays its own."""
    inner = (part for part in parts[:-1] if (_class_of(part) or ("",))[0] not in _WRAPPERS)
    return (*inner, *parts[-1:])


def _layer(
    parts: Parts, repeated: set[_Family], named: Callable[[Parts, int], Parts], *, whole: bool
) -> tuple[Parts, int]:
    for place, part in enumerate(parts):
        numbered = _class_of(part)
        if numbered is not None and (parts[:place], numbered[0]) in repeated:
            return named(parts, place), place + 1 if whole else 1
    return parts, 0


def _as_named(parts: Parts, place: int) -> Parts:
    return parts[: place + 2]


def _counted(siblings: _Siblings, repeated: set[_Family]) -> Callable[[Parts, int], Parts]:
    """What names the block at a place of modules and the module in it, by numbers that other modules of their classes do not shift."""
    places = Counter(name for _, name in repeated)
    several = set[tuple[Parts, str, str]]()
    for (around, name), mine in siblings.items():
        block = _class_of(around[-1]) if around else None
        if block is not None and len(mine) > 1:
            several.add((around[:-1], block[0], name))

    def named(parts: Parts, place: int) -> Parts:
        around, (name, number) = parts[:place], _class_of(parts[place]) or ("", 0)
        alone = places[name] == 1 and (not around or ((), name) not in siblings)
        first = min(siblings[around, name]) if alone else 0
        block = f"{name}_{number - first}"
        if place + 1 == len(parts):
            return (block,)
        inner = _class_of(parts[place + 1])
        if inner is None:
            return block, parts[place + 1]
        if (around, name, inner[0]) not in several:
            return block, inner[0]
        return block, f"{inner[0]}_{inner[1] - min(siblings[parts[: place + 1], inner[0]])}"

    return named


@lru_cache(maxsize=1 << 16)
def _class_of(part: str) -> tuple[str, int] | None:
    """(the class, the number) of a module; None where it has no number."""
    found = _NUMBERED.fullmatch(part)
    if found is None:
        return None
    return found["class"] or found["named"] or "", int(found["number"] or found["first"])
