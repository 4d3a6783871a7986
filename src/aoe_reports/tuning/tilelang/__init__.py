"""TileLang's autotuner, and that of TileLang-Ascend: the best configuration of a kernel, and what it prints of each.

`<TILELANG_CACHE_DIR>/autotuner/<sha256>/` has `best_config.json` (the parameters) and `latency.json`, `{"latency": …, "ref_latency": …}`
in ms; `ref_latency` is null without a reference program (`ref_prog`), and else how long that takes: it is a program of the user that
computes the same, against which results are checked, unless `skip_check` is set, which no file records. The tuner prints
`Tuned Latency 0.05 with config {…} at index 0` for each configuration that ran (tile-ai/tilelang and tile-ai/tilelang-ascend,
tilelang/autotuner/{param,tuner}.py). Nothing but pickles names the kernel, and these are not read.
"""

from __future__ import annotations

import re

from aoe_reports.formats.tuner_files import TunerFileKind, read_by
from aoe_reports.tuning.claim_files import (
    CANDIDATE_RULES,
    CLAIMS_FORM,
    CLAIMS_NO_BEST,
    CLAIMS_NO_GAIN,
    CLAIMS_REFERENCE,
)

LATENCY, BEST_CONFIG = "latency.json", "best_config.json"
LINE = re.compile(
    r"Tuned Latency (\S{1,40}) with config (\{.{0,4000}\})(?: at index (\d{1,9}))?\s*$", re.ASCII | re.MULTILINE
)


def is_latency(name: str, head: str = "") -> bool:
    """Whether a file has the times of a best configuration: its name, and the keys in it, tell."""
    return name == LATENCY and '"latency"' in head and '"ref_latency"' in head


def is_printed(name: str, head: str = "") -> bool:
    """Whether a file is what the autotuner printed: a line tells."""
    return not name.endswith((".csv", ".json")) and LINE.search(head) is not None


FILES: tuple[TunerFileKind, ...] = (
    TunerFileKind(
        kind="tilelang_latency",
        form="json",
        fits=is_latency,
        read=read_by("aoe_reports.tuning.tilelang.tuner"),
        rules=(CLAIMS_FORM, CLAIMS_NO_BEST, CLAIMS_REFERENCE, CLAIMS_NO_GAIN),
    ),
    TunerFileKind(
        kind="tilelang_printed",
        form="txt",
        fits=is_printed,
        read=read_by("aoe_reports.tuning.tilelang.printed"),
        rules=CANDIDATE_RULES,
    ),
)
