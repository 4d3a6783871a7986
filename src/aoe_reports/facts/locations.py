"""What module, layer and line of a program a task belongs to, by the frames around its launch or by the scope in its operator's name.

A layer is a block that a model repeats: of several modules of one class in the same module, which hold modules themselves, the
outermost. What is said of a task in it is the block and the module in that: `LlamaDecoderLayer_7/LlamaAttention_7`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from aoe_reports.facts.launch_sites import CallPaths
from aoe_reports.model.stack_picture import MODULE

Parts = tuple[str, ...]
_GRADIENTS = "Gradients"
"""The scope in which MindSpore puts the backward operators of others."""
_DEFAULT = "Default"
_LEAST_PARTS = 3
"""So many parts has a name that is a scope: some operators of libraries have one slash in their name."""
_NUMBERED = re.compile(r"(?:(?P<first>\d+)-(?P<named>.+)|(?P<class>.*?)[._-]?(?P<number>\d+)(?:-[A-Z]\w*)?)", re.DOTALL)
"""`LlamaAttention_7`, `layers.7`, `layer_7`; MindSpore's cells are `7-BertEncoderCell` in a list, else `conv7-Conv2d`."""
_EXPANDED = re.compile(r"grad[A-Z]\w*|.*-expand", re.DOTALL)
"""What MindSpore puts around the operators that another one is made of: that is no module."""
_MOST_PARTS = 64
"""Modules within so many others count for the one that deep."""
_FRAMEWORKS = frozenset({"torch", "torch_npu", "mindspore", "concurrent", "asyncio", "multiprocessing", "importlib"})
_STARTERS = frozenset({"threading.py", "contextlib.py", "runpy.py", "functools.py"})
"""Folders and files of frameworks, and of what starts threads and processes: whoever looks for a line of a program looks past them."""


def modules_along(paths: CallPaths) -> list[Parts]:
    """The modules among the frames of each stack, the outermost first, as the profiler numbers them."""
    added = [(name.removeprefix(MODULE),) if name.startswith(MODULE) else () for name in paths.names]
    found: list[Parts] = []
    for parent, name in zip(paths.parent.tolist(), paths.name.tolist(), strict=True):
        above = found[parent] if parent >= 0 else ()
        found.append(above + added[name] if len(above) < _MOST_PARTS else above)
    return found


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
    scoped = len(parts) >= _LEAST_PARTS or (len(parts) > 1 and (name.startswith("/") or parts[0] == _DEFAULT))
    if not scoped:
        return None
    parts = parts[:-1][:_MOST_PARTS]
    while parts and parts[0] == _DEFAULT and _EXPANDED.fullmatch(parts[-1]):
        parts = parts[:-1]
    return None if parts == (_DEFAULT,) else parts


def layers_of(every: Iterable[Parts], *, whole: bool) -> dict[Parts, str]:
    """The layer of each of the modules (or scopes) of a program; a module in no repeated block is one by itself.

    `whole` names a block with all that is around it: scopes number blocks within those only.
    """
    known = set(every)
    siblings: dict[tuple[Parts, str], dict[str, str]] = defaultdict(dict)
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
    return {parts: _layer(parts, repeated, whole=whole) for parts in known}


def _layer(parts: Parts, repeated: set[tuple[Parts, str]], *, whole: bool) -> str:
    for place, part in enumerate(parts):
        numbered = _class_of(part)
        if numbered is not None and (parts[:place], numbered[0]) in repeated:
            return "/".join(parts[0 if whole else place : place + 2])
    return "/".join(parts)


@lru_cache(maxsize=1 << 16)
def _class_of(part: str) -> tuple[str, str] | None:
    """(the class, the number) of a module; None where it has no number."""
    found = _NUMBERED.fullmatch(part)
    if found is None:
        return None
    return found["class"] or found["named"] or "", found["number"] or found["first"]
