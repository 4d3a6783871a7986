"""The function of a kernel: a compiler names its parts for the cores apart (`main_kernel_mix_aic`)."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from aoe_reports.model.columns import Ints, codes, column_of_words

_PART = re.compile(r"_mix_ai[cv]$")


def functions_of(kernels: pa.ChunkedArray) -> pa.ChunkedArray:
    """Kernel by kernel the name of its function."""
    numbers, words = codes(kernels)
    functions = [_PART.sub("", word) for word in words]
    place = {function: number for number, function in enumerate(dict.fromkeys(functions))}
    places: Ints = np.array([0, *(place[function] for function in functions)], dtype=np.int32)
    return column_of_words(places[numbers], numbers > 0, pa.array(list(place), pa.string()))
