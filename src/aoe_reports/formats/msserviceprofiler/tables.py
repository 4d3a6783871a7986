"""The tables of msServiceProfiler: requests, batches, steps of the model and memory of a service, and sums of them.

Names, columns and units as its manual and its open exporters have them; no real file was seen. Before 2025-06 times were in
microseconds, later in ms. Counts may be written as 4.0. A `*_datetime` is the local time of its host, as text. All of these files have
names that anybody may give (request.csv), so the header has to tell.
"""

from __future__ import annotations

import re

from aoe_reports.formats.table import UNIT_UNKNOWN, Column, Table, columns, duration
from aoe_reports.model.texts import Text, say

SPANS = "span_info"
"""The folder with a table for each kind of span, called as users called the spans."""

BATCH_KINDS = frozenset({"service_batch", "service_forward", "service_request"})
"""The tables of batches: when they ran, and their requests."""

UNREAD = (
    (
        re.compile(r"profiler\.db"),
        say("it holds what request.csv, batch.csv, kvcache.csv and forward.csv hold, for MindStudio Insight to draw"),
    ),
    (
        re.compile(r"chrome_tracing\.json"),
        say("the events of a service as a picture; request.csv, batch.csv and forward.csv have them as rows"),
    ),
    (
        re.compile(r"(?:ms_service_|ascend_service_profiler_).*\.db|msproftx\.db"),
        say("raw data of msServiceProfiler; run `python3 -m ms_service_profiler.parse` first and give its output"),
    ),
    (
        re.compile(r"ep_balance\.csv"),
        say("a mean time for each layer and process, without names; ep_balance.png shows the same"),
    ),
    (
        re.compile(r"(?:ep_balance|moe_analysis|.*_eplb_\d+_summed_hot_map_by_\w+|.*_balance_ratio)\.png"),
        say("a picture"),
    ),
)
"""Files that are recognised and not read, and why; each by its name."""
_NO_VALUE = ("<NA>", "nan", "None")
"""What pandas writes where there is none."""
_UNITS = ("ms", "microsecond")


def _time(name: str, *headers: str, optional: bool = False) -> Column:
    """A length of time whose unit is unknown if the header has none."""
    return duration(name, *headers, optional=optional, unit=UNIT_UNKNOWN, units=_UNITS)


def _point(name: str, *headers: str) -> Column:
    """A point in time since 1970."""
    return Column(name, headers, "timestamp", optional=True, unit=UNIT_UNKNOWN, units=_UNITS)


def _table(
    name: str, file: str, title: Text, lines: str, orders: tuple[str, ...] = (), identity: tuple[str, ...] = ()
) -> Table:
    return Table(
        name=name,
        title=title,
        columns=columns(lines, time=_time, point=_point),
        vintages=(),
        source="msserviceprofiler",
        called=(file,),
        null_words=_NO_VALUE,
        other_orders=tuple(tuple(order.split(",")) for order in orders),
        identity=identity,
        by_name=True,
    )


_DATES = "text?: start_datetime | start_datetime(ms), end_datetime | end_datetime(ms)"
_SPAN = "point: start = start_time, end = end_time"
_BLOCKS = "number?: total_blocks, used_blocks, free_blocks, blocks_allocated, blocks_freed"
_SPLIT = f"""
    text: name
    time: during_time
    duration ms: max_time = max, min_time = min, mean_time = mean, std_time = std
    number?: pid, tid
    {_SPAN}
    text?: rid
"""
_STATISTICS = """
    text: Metric
    number: Average, Max, Min, P50, P90, P99
"""

FILES = {
    "request": _table(
        "service_request",
        "request.csv",
        say("requests to a service: tokens in and out, time, waiting, the time to the first token"),
        """
            text: http_rid
            text?: start_datetime | start_datetime(ms)
            number: recv_token_size, reply_token_size
            time: execution_time
            time?: queue_wait_time, first_token_latency
            number?: cache_hit_rate
            point: start = start_time | start_time_httpReq
        """,
        (
            "http_rid,start_time_httpReq(microsecond),recv_token_size,reply_token_size,execution_time(microsecond),queue_wait_time(microsecond)",
            "http_rid,start_time(ms),recv_token_size,reply_token_size,execution_time(ms),queue_wait_time(ms),first_token_latency(ms)",
        ),
        identity=("http_rid",),
    ),
    "batch": _table(
        "service_batch",
        "batch.csv",
        say("batches of a service as they are scheduled (BatchSchedule, batchFrameworkProcessing) and run (modelExec)"),
        f"""
            text: name, res_list
            {_DATES}
            time: during_time
            text: batch_type
            text?: prof_id
            number: batch_size
            number?: prefill_batch_size, decode_batch_size
            {_BLOCKS}
            number?: kvcache_usage_rate, prefill_scheduled_tokens, decode_scheduled_tokens, total_scheduled_tokens
            text?: dp_rank
            {_SPAN}
            number?: accepted_ratio
            text?: accepted_ratio_per_pos
        """,
        (
            "name,res_list,start_time(microsecond),end_time(microsecond),batch_size,batch_type,during_time(microsecond)",
            "name,res_list,start_time(ms),end_time(ms),batch_size,batch_type,during_time(ms)",
        ),
    ),
    "kvcache": _table(
        "service_kvcache",
        "kvcache.csv",
        say("each change of the memory for keys and values (KV cache) of a service"),
        f"""
            text?: domain
            text: rid, name
            point: start = timestamp | start_time(microsecond), end = end_time
            text?: start_datetime = start_time | start_datetime | real_start_time(ms)
            {_BLOCKS}
            number: device_kvcache_left
            number?: kvcache_usage_rate
            time?: during_time
        """,
        (
            "domain,rid,timestamp(ms),name,device_kvcache_left",
            "domain,rid,start_time(microsecond),end_time(microsecond),name,device_kvcache_left,during_time(microsecond)",
        ),
    ),
    "forward": _table(
        "service_forward",
        "forward.csv",
        say("each pass of the model on each device of a service, and the idle time behind it"),
        f"""
            text: name
            time: relative_start = relative_start_time
            {_DATES}
            time: during_time, bubble_time
            number?: batch_size
            text?: batch_type
            number?: forward_iter
            text?: dp_rank, prof_id, hostname
            {_SPAN}
        """,
        (
            "name,relative_start_time(ms),start_time(ms),end_time(ms),during_time(ms),bubble_time(ms),batch_size,batch_type,forward_iter,dp_rank,prof_id,hostname",
        ),
    ),
    "spec_decode": _table(
        "service_spec_decode",
        "spec_decode.csv",
        say("each step of speculative decoding of each request: tokens that were drafted and accepted"),
        f"""
            text: rid
            number: iter
            text?: prof_id
            {_DATES}
            time: during_time
            number: spec_tokens, accepted_tokens
            number?: accepted_ratio
            duration? ms: draft_model_time = draft_model_time_ms
        """,
    ),
    "pd_split_communication": _table(
        "service_pd_communication",
        "pd_split_communication.csv",
        say("when each request went from a prefill to a decode node, where they are separate"),
        """
            text: rid, http_req_time = http_req_time(ms) | http_req_time
            text: send_request_time = send_request_time(ms) | send_request_time
            text: send_request_succ_time = send_request_succ_time(ms) | send_request_succ_time
            text: prefill_res_time = prefill_res_time(ms) | prefill_res_time
            text: request_end_time = request_end_time(ms) | request_end_time
        """,
        identity=("rid",),
    ),
    "pd_split_kvcache": _table(
        "service_pd_kvcache",
        "pd_split_kvcache.csv",
        say("how long keys and values of each request took from a prefill to a decode node"),
        f"""
            text?: domain
            text: rank, rid
            text?: block_tables, seq_len | batch_seq_len
            time: during_time
            {_DATES}
            {_SPAN}
        """,
    ),
    "coordinator": _table(
        "service_coordinator",
        "coordinator.csv",
        say("how many requests each node took on and finished, where prefill and decode nodes are separate"),
        """
            text: time, address, node_type
            number: add_count, end_count, running_count
        """,
    ),
    "request_status": _table(
        "service_request_status",
        "request_status.csv",
        say("how many requests of a process wait, run and are swapped, over time"),
        """
            text?: host_uid = hostuid
            number?: pid
            text?: start_datetime | start_datetime(ms)
            time: relative_time = relative_timestamp
            number: waiting, running
            number?: swapped
            point: time = timestamp
        """,
    ),
    "batch_summary": _table(
        "service_batch_summary",
        "batch_summary.csv",
        say("batches of a service: means and percentiles of each measure, in the unit that its name has"),
        _STATISTICS,
        identity=("metric",),
    ),
    "request_summary": _table(
        "service_request_summary",
        "request_summary.csv",
        say("requests to a service: means and percentiles of each measure, in the unit that its name has"),
        _STATISTICS,
        identity=("metric",),
    ),
    "service_summary": _table(
        "service_summary",
        "service_summary.csv",
        say("a service as a whole: tokens in and out, and tokens a second"),
        """
            text: Metric
            number: Value
        """,
        identity=("metric",),
    ),
    "prefill": _table(
        "service_prefill", "prefill.csv", say("what one prefill batch of a service went through, event by event"), _SPLIT
    ),
    "decode": _table(
        "service_decode", "decode.csv", say("what one decode batch of a service went through, event by event"), _SPLIT
    ),
    "moe_analysis": _table(
        "service_moe",
        "moe_analysis.csv",
        say("time of the dispatch and combine operators of experts by process: mean, 2.5th and 97.5th percentile"),
        """
            text: process_id = Dataset
            number: Mean, p2_5 = CI_Lower | CI Lower, p97_5 = CI_Upper | CI Upper
        """,
    ),
}  # fmt: skip
"""By the whole name of a file, without .csv."""

SPAN = _table(
    "service_span",
    "span_info/*.csv",
    say("spans of one kind that a service's code marks, one after another"),
    f"""
        text: span_name
        {_DATES}
        time: during_time
        text?: hostname
        number?: pid
    """,
)
