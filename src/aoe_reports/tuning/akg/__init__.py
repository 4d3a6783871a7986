"""AKG agents: times of generated kernels beside those of the framework's program that they replace.

`logs/<op>/profiling/speed_up_record.txt` has a line a kernel that was profiled: `op_name: …, task_id: …, unique_dir: …, base_time: 80.1 us,
generation_time: 20.2 us, speedup: 3.96x[, roofline_time: 12.1 us, roofline_speedup: …]`. The folder of a kernel has
`generation_profile_result.json` and `base_profile_result.json` (`execution_time_us`, `avg_time_us` in newer ones; null where it failed)
and, of Triton kernels, `autotune_info_case_N.json`, `{kernel: [{"config", "timing_us", "is_best", "rank"}, …]}`.
`logs/verification_results.jsonl` says of which kernels the results agreed with the framework's (mindspore-ai/akg,
akg_agents/op/verifier/kernel_verifier.py, op/utils/triton_autotune_patch.py and op/resources/templates).
"""

from __future__ import annotations

import re

from aoe_reports.formats.tuner_files import TunerFileKind, read_by
from aoe_reports.model.rules import Scope
from aoe_reports.model.texts import say
from aoe_reports.tuning.claim_files import (
    CLAIMS_FORM,
    CLAIMS_NO_BEST,
    CLAIMS_NO_GAIN,
    CLAIMS_NOT_MEASURED,
    CLAIMS_REFERENCE,
    CLAIMS_ROW,
    CLAIMS_SEVERAL,
)

AKG_ROOFLINE = Scope("files of other tuners").rule(
    "akg-roofline",
    "warning",
    "a time below the roofline that AKG computes for it: the measurement or the roofline is wrong",
    say("mindspore-ai/akg, kernel_verifier.py"),
)
RECORD, GENERATION, BASE = "speed_up_record.txt", "generation_profile_result.json", "base_profile_result.json"
_CASE = re.compile(r"autotune_info_case_\d{1,9}\.json", re.ASCII)
_JSON = (CLAIMS_FORM, CLAIMS_NOT_MEASURED, CLAIMS_SEVERAL)


def is_record(name: str, head: str = "") -> bool:
    """Whether a file has the speed-ups of a search: its name tells."""
    del head
    return name == RECORD


def is_case(name: str, head: str = "") -> bool:
    """Whether a file has the configurations of Triton kernels: its name tells."""
    del head
    return _CASE.fullmatch(name) is not None


def is_profile(name: str, head: str = "") -> bool:
    """Whether a file has the time of a generated kernel, or of the program that it replaces: its name tells."""
    del head
    return name in {GENERATION, BASE}


FILES: tuple[TunerFileKind, ...] = (
    TunerFileKind(
        kind="akg_autotune",
        form="json",
        fits=is_case,
        read=read_by("aoe_reports.tuning.akg.autotune"),
        rules=(*_JSON, CLAIMS_NO_BEST),
    ),
    TunerFileKind(
        kind="akg_profile",
        form="json",
        fits=is_profile,
        read=read_by("aoe_reports.tuning.akg.profile"),
        rules=(*_JSON, CLAIMS_REFERENCE, CLAIMS_NO_GAIN),
    ),
    TunerFileKind(
        kind="akg_speedups",
        form="txt",
        fits=is_record,
        read=read_by("aoe_reports.tuning.akg.tuner"),
        rules=(CLAIMS_FORM, CLAIMS_ROW, CLAIMS_NOT_MEASURED, CLAIMS_REFERENCE, CLAIMS_NO_GAIN, AKG_ROOFLINE),
    ),
)
