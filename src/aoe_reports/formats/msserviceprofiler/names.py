"""The files that msServiceProfiler writes: those that are read, and why the others are not."""

import re

from aoe_reports.model.texts import say

SPANS = "span_info"
"""The folder with a table for each kind of span, called as users called the spans."""

BATCH_KINDS = frozenset({"service_batch", "service_forward", "service_request"})
"""The tables that tell batches: when they ran, and of which requests."""

_LINES = say("it holds what request.csv, batch.csv, kvcache.csv and forward.csv hold, for MindStudio Insight to draw")
_EVENTS = say("the events of a service as a picture; request.csv, batch.csv and forward.csv have them as rows")
_RAW = say("raw data of msServiceProfiler; run `python3 -m ms_service_profiler.parse` first and give its output")
_MATRIX = say("a mean time for each layer and process, without names; ep_balance.png shows the same")
_PICTURE = say("a picture")

UNREAD = (
    (re.compile(r"profiler\.db"), _LINES),
    (re.compile(r"chrome_tracing\.json"), _EVENTS),
    (re.compile(r"(?:ms_service_|ascend_service_profiler_).*\.db|msproftx\.db"), _RAW),
    (re.compile(r"ep_balance\.csv"), _MATRIX),
    (re.compile(r"(?:ep_balance|moe_analysis|.*_eplb_\d+_summed_hot_map_by_\w+|.*_balance_ratio)\.png"), _PICTURE),
)
"""Files that are recognised and not read, and why; each by its name."""
