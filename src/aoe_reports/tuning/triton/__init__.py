"""Triton's autotuner: what it keeps of the configurations that it timed.

`triton.autotune(..., cache_results=True)`, or TRITON_CACHE_AUTOTUNING=1, keeps one file for each kernel and key in Triton's cache
(triton-lang/triton, python/triton/runtime/autotuner.py, since 3.3; Triton-Ascend writes the same).
"""

from __future__ import annotations

from aoe_reports.formats.tuner_files import TunerFileKind, read_by
from aoe_reports.model.rules import Scope
from aoe_reports.model.texts import say

_FILES = Scope("files of other tuners")
_SOURCE = say("Triton, python/triton/runtime/autotuner.py")

AUTOTUNE_FORM = _FILES.rule(
    "autotune-form", "error", "not the key and the timed configurations that Triton's autotuner saves", _SOURCE
)
AUTOTUNE_TIME = _FILES.rule("autotune-time", "error", "a configuration without valid times", _SOURCE)
AUTOTUNE_NOTHING_RAN = _FILES.rule(
    "autotune-nothing-ran", "warning", "none of the configurations could be run", _SOURCE
)
AUTOTUNE_DUPLICATE = _FILES.rule(
    "autotune-duplicate", "warning", "a configuration appears twice; Triton uses the later one", _SOURCE
)
AUTOTUNE_NO_CLAIM = _FILES.rule(
    "autotune-no-claim",
    "info",
    "printed lines from which no claim follows that could be checked: no time, or several keys (TRITON_CACHE_AUTOTUNING=1 keeps both)",
    _SOURCE,
)


SUFFIX = ".autotune.json"


def is_autotune(name: str, head: str = "") -> bool:
    """Whether a file is called as Triton calls what its autotuner keeps: the kernel's name stands before it."""
    del head
    return name.endswith(SUFFIX) and name != SUFFIX


def is_printed(name: str, head: str = "") -> bool:
    """Whether a file is what a program printed in which Triton tuned: a line tells."""
    return not name.endswith((".csv", ".json")) and "Triton autotuning " in head


FILES: tuple[TunerFileKind, ...] = (
    TunerFileKind(
        kind="triton_autotune",
        form="json",
        fits=is_autotune,
        read=read_by("aoe_reports.tuning.triton.cache"),
        rules=(AUTOTUNE_FORM, AUTOTUNE_TIME, AUTOTUNE_NOTHING_RAN, AUTOTUNE_DUPLICATE),
    ),
    TunerFileKind(
        kind="triton_printed",
        form="txt",
        fits=is_printed,
        read=read_by("aoe_reports.tuning.triton.printed"),
        rules=(AUTOTUNE_FORM, AUTOTUNE_TIME, AUTOTUNE_NO_CLAIM),
    ),
)
