"""Reads a pickle that holds plain values only: dictionaries, lists, tuples, texts, numbers, truth values, None.

A pickle is a program, and one that names a function runs it. So each operation is looked at before any of them runs: those that build
plain values are known, all others refuse the file. What Python's reader runs then can only build such values. Sizes are looked at, too:
a place in the table of shared values may be named far beyond what the file can hold, and the reader would make room up to there. Tuples hold
whole numbers only, as PyTorch writes them: a tuple may be a key, and the hash of nested ones takes time without a bound, or ends the process.
"""

from __future__ import annotations

import gc
import io
import pickle
import pickletools
import re
from typing import Any, NoReturn

from aoe_reports.model.texts import Text, say

MAX_TEXT = 1 << 20
"""Bytes of one text: names of functions of C++ may be long."""
_PROTOCOLS = (2, 3, 4, 5)
_TEXTS = {0x8C: 1, 0x58: 4}
"""Operations with a text behind them (SHORT_BINUNICODE, BINUNICODE), and in how many bytes its length stands."""
_OPERATIONS = {operation.code.encode("latin-1"): operation.name for operation in pickletools.opcodes}
_LONGEST_INTEGER = 9
"""Bytes of a whole number of up to 64 bits with its sign."""


class NotPlain(ValueError):  # noqa: N818 -- it says what the file is
    """A file that is no pickle of plain values; `why` says so, `position` is the byte at which it shows."""

    def __init__(self, why: Text | str, position: int) -> None:
        super().__init__(why)
        self.why, self.position = why, position


def plain_value(data: bytes) -> Any:
    """The value that a pickle holds; raises NotPlain for one that is damaged or may hold anything else."""
    _check(data)
    was_on = gc.isenabled()
    gc.disable()  # nothing here can form a circle that grows, and looking for one takes twice the time of reading
    try:
        return _PlainUnpickler(io.BytesIO(data)).load()
    except (
        pickle.UnpicklingError,
        EOFError,
        ValueError,
        TypeError,
        IndexError,
        KeyError,
        AttributeError,
        OverflowError,
    ) as error:
        raise NotPlain(say("the pickle is damaged: {why}", why=str(error)[:200]), len(data)) from error
    finally:
        if was_on:
            gc.enable()


class _PlainUnpickler(pickle.Unpickler):
    """Finds nothing by a name, should anything ask."""

    def find_class(self, module: str, name: str, /) -> NoReturn:
        raise pickle.UnpicklingError(f"{module}.{name}")

    def persistent_load(self, pid: Any, /) -> NoReturn:
        raise pickle.UnpicklingError(str(pid)[:100])


def _check(data: bytes) -> None:
    """Look at each operation, in order; raises NotPlain for the first that is not plain."""
    if len(data) < 2 or data[0] != 0x80 or data[1] not in _PROTOCOLS:  # noqa: PLR2004
        raise NotPlain(say("not a pickle of protocol 2 to 5"), 0)
    plain, at = _plain_operations(len(data)), 2
    while at < len(data):
        if (run := plain.match(data, at)) is not None:
            at = run.end()
        elif data[at] in _TEXTS:
            at = _behind_text(data, at)
        elif data[at:] == pickle.STOP:
            return
        else:
            _refuse(data, at)
    raise NotPlain(say("the pickle ends before its value does"), len(data))


def _plain_operations(size: int) -> re.Pattern[bytes]:
    """A run of operations without a text; places in the table of shared values lie below the size of the file."""
    third, fourth = min(size >> 16, 0xFF), min(size >> 24, 0xFF)
    places = rb"r..[\x00-\x%02x][\x00-\x%02x]" % (0xFF if fourth else third, fourth)
    frame = rb"(?:\x95.{8})?"  # it may begin behind any operation
    integers = [
        rb"K.",
        rb"M..",
        rb"J....",
        *(rb"\x8a\x%02x.{%d}" % (length, length) for length in range(_LONGEST_INTEGER + 1)),
    ]
    integer = rb"(?:" + b"|".join(integers) + rb")" + frame
    tuple_of_integers = rb"(?:\x85|" + integer + rb"(?:\x86|" + integer + rb"\x87))"
    operations = [
        *(first + frame + tuple_of_integers + rb"?" for first in integers),
        rb"[()\]}NeuasN\x88\x89\x94]",
        rb"j....",
        rb"[hq].",
        rb"G.{8}",
        rb"\x95.{8}",
        places,
    ]
    # nothing follows the repeat, so it never gives back what it took; a possessive one is wrong before CPython 3.11.5 (issue 106052)
    return re.compile(rb"(?s:" + b"|".join(operations) + rb"){1,2000}")


def _behind_text(data: bytes, at: int) -> int:
    """Where the operation behind a text begins."""
    width = _TEXTS[data[at]]
    length = int.from_bytes(data[at + 1 : at + 1 + width], "little")
    end = at + 1 + width + length
    if end > len(data):
        raise NotPlain(say("the pickle ends inside a text"), at)
    if length > MAX_TEXT:
        raise NotPlain(say("a text of {length} bytes; at most {limit} are read", length=length, limit=MAX_TEXT), at)
    return end


def _refuse(data: bytes, at: int) -> NoReturn:
    name = _OPERATIONS.get(data[at : at + 1])
    if name is None:
        raise NotPlain(say("the pickle is damaged: no operation has the number {number}", number=data[at]), at)
    others = say(
        "it holds more than plain values (operation {name}), and reading that may run code; "
        "write `torch.cuda.memory._snapshot()` with json.dump instead",
        name=name,
    )
    raise NotPlain(_WHY_NOT.get(name, others), at)


_WHY_NOT = {
    "STOP": say("something follows the end of the pickle"),
    **dict.fromkeys(
        ("TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"),
        say("a tuple of more than three values, or of other values than whole numbers"),
    ),
    "LONG1": say("a number of more than 64 bits"),
    "LONG_BINPUT": say("a place in its table of shared values for which the file is too small"),
}
"""Why a plain operation is refused."""
