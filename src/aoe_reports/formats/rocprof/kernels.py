"""What follows from the words of a table of kernels: the function of a kernel, the number of an agent."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from aoe_reports.model.arrays.columns import codes, column_of, words_told

_WRAPPING = re.compile(r"\s*\[clone [^]]*\]|\.kd$|\(anonymous namespace\)::")
_DIGITS = re.compile(r"(\d{1,18})$", re.ASCII)


def function_of(kernel: str) -> str:
    """The name of a kernel's function: `void add<float>(float*, int) [clone .kd]` → `add`."""
    plain = _WRAPPING.sub("", kernel)
    words = re.split(r"[<(]", plain, maxsplit=1)[0].split()
    return words[-1] if words else kernel


def functions_of(kernels: pa.ChunkedArray) -> pa.ChunkedArray:
    """Kernel by kernel the name of its function: C++ makes many kernels of one."""
    return words_told(kernels, function_of)


def numbers_of(agents: pa.ChunkedArray) -> pa.ChunkedArray:
    """`Agent 7` and `GPU 3` by their numbers; older exports give a number alone."""
    numbers, words = codes(agents)
    found = [_DIGITS.search(word) for word in words]
    known = np.array([False, *(match is not None for match in found)])
    values = np.array([0, *(int(match[1]) if match else 0 for match in found)], dtype=np.int64)
    return column_of(values[numbers], known[numbers])
