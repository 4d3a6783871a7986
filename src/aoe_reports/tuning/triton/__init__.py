"""Triton's autotuner: what it keeps of the configurations that it timed.

`triton.autotune(..., cache_results=True)`, or TRITON_CACHE_AUTOTUNING=1, keeps one file for each kernel and key in Triton's cache
(triton-lang/triton, python/triton/runtime/autotuner.py, since 3.3; Triton-Ascend writes the same).
"""

from __future__ import annotations

from pathlib import Path

from aoe_reports.formats.tuner_files import TunerFile, TunerFileKind
from aoe_reports.tuning.triton.rules import (
    AUTOTUNE_DUPLICATE,
    AUTOTUNE_FORM,
    AUTOTUNE_NO_CLAIM,
    AUTOTUNE_NOTHING_RAN,
    AUTOTUNE_TIME,
)

SUFFIX = ".autotune.json"


def is_autotune(name: str, head: str = "") -> bool:
    """Whether a file is called as Triton calls what its autotuner keeps: the kernel's name stands before it."""
    del head
    return name.endswith(SUFFIX) and name != SUFFIX


def is_printed(name: str, head: str = "") -> bool:
    """Whether a file is what a program printed in which Triton tuned: a line tells."""
    return not name.endswith((".csv", ".json")) and "Triton autotuning " in head


def _read(path: Path, most: int | None) -> TunerFile:
    from aoe_reports.tuning.triton.cache import read_file  # noqa: PLC0415 -- most folders have no such file

    return read_file(path, most)


def _read_printed(path: Path, most: int | None) -> TunerFile:
    from aoe_reports.tuning.triton.printed import read_printed_file  # noqa: PLC0415 -- most folders have no such file

    return read_printed_file(path, most)


FILES: tuple[TunerFileKind, ...] = (
    TunerFileKind(
        kind="triton_autotune",
        form="json",
        fits=is_autotune,
        read=_read,
        rules=(AUTOTUNE_FORM, AUTOTUNE_TIME, AUTOTUNE_NOTHING_RAN, AUTOTUNE_DUPLICATE),
    ),
    TunerFileKind(
        kind="triton_printed",
        form="txt",
        fits=is_printed,
        read=_read_printed,
        rules=(AUTOTUNE_FORM, AUTOTUNE_TIME, AUTOTUNE_NO_CLAIM),
    ),
)
