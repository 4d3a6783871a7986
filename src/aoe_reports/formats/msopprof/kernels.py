"""The function of a kernel: a compiler names its parts for the cores apart (`main_kernel_mix_aic`)."""

from __future__ import annotations

import re

import pyarrow as pa

from aoe_reports.model.arrays.columns import words_told

_PART = re.compile(r"_mix_ai[cv]$")


def functions_of(kernels: pa.ChunkedArray) -> pa.ChunkedArray:
    """Kernel by kernel the name of its function."""
    return words_told(kernels, lambda kernel: _PART.sub("", kernel))
