"""The tables of msServiceProfiler: requests, batches, steps of the model and memory of a service, and sums of them.

Names, columns and units as its manual and its open exporters have them; no real file was seen. Before 2025-06 times were in
microseconds, later in ms. Counts may be written as 4.0. A `*_datetime` is the local time of its host, as text. All of these files have
names that anybody may give (request.csv), so the header has to tell.
"""

from __future__ import annotations

from aoe_reports.formats.table import UNIT_UNKNOWN, Column, Table, duration, number, text
from aoe_reports.model.texts import Text, say

_NO_VALUE = ("<NA>", "nan", "None")
"""What pandas writes where there is none."""


_UNITS = ("ms", "microsecond")


def _time(name: str, header: str, *, optional: bool = True) -> Column:
    """A length of time; a header without a unit tells none."""
    return duration(name, header, optional=optional, unit=UNIT_UNKNOWN, units=_UNITS)


def _point(name: str, *headers: str) -> Column:
    """A point in time since 1970."""
    return Column(name, headers, "timestamp", optional=True, unit=UNIT_UNKNOWN, units=_UNITS)


def _start(*more: str) -> Column:
    return _point("start", "start_time", *more)


def _end() -> Column:
    return _point("end", "end_time")


def _count(name: str, *, optional: bool = True) -> Column:
    return number(name, name, optional=optional)


def _dated(name: str) -> Column:
    return text(name, name, f"{name}(ms)", optional=True)


def _table(
    name: str,
    file: str,
    title: Text,
    columns: tuple[Column, ...],
    orders: tuple[str, ...] = (),
    identity: tuple[str, ...] = (),
) -> Table:
    return Table(
        name=name,
        title=title,
        columns=columns,
        vintages=(),
        source="msserviceprofiler",
        called=(file,),
        null_words=_NO_VALUE,
        other_orders=tuple(tuple(order.split(",")) for order in orders),
        identity=identity,
        by_name=True,
    )


_BLOCKS = tuple(
    _count(name) for name in ("total_blocks", "used_blocks", "free_blocks", "blocks_allocated", "blocks_freed")
)
_SPLIT = (
    text("name", "name"),
    _time("during_time", "during_time", optional=False),
    *(duration(f"{name}_time", name, unit="ms") for name in ("max", "min", "mean", "std")),
    _count("pid"),
    _count("tid"),
    _start(),
    _end(),
    text("rid", "rid", optional=True),
)
_STATISTICS = (
    text("metric", "Metric"),
    *(number(name, header) for name, header in (("average", "Average"), ("max", "Max"), ("min", "Min"))),
    *(number(f"p{percent}", f"P{percent}") for percent in (50, 90, 99)),
)

FILES = {
    "request": _table(
        "service_request",
        "request.csv",
        say("requests to a service: tokens in and out, time, waiting, the time to the first token"),
        (
            text("http_rid", "http_rid"),
            _dated("start_datetime"),
            _count("recv_token_size", optional=False),
            _count("reply_token_size", optional=False),
            _time("execution_time", "execution_time", optional=False),
            _time("queue_wait_time", "queue_wait_time"),
            _time("first_token_latency", "first_token_latency"),
            _count("cache_hit_rate"),
            _start("start_time_httpReq"),
        ),
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
        (
            text("name", "name"),
            text("res_list", "res_list"),
            _dated("start_datetime"),
            _dated("end_datetime"),
            _time("during_time", "during_time", optional=False),
            text("batch_type", "batch_type"),
            text("prof_id", "prof_id", optional=True),
            _count("batch_size", optional=False),
            _count("prefill_batch_size"),
            _count("decode_batch_size"),
            *_BLOCKS,
            _count("kvcache_usage_rate"),
            _count("prefill_scheduled_tokens"),
            _count("decode_scheduled_tokens"),
            _count("total_scheduled_tokens"),
            text("dp_rank", "dp_rank", optional=True),
            _start(),
            _end(),
            _count("accepted_ratio"),
            text("accepted_ratio_per_pos", "accepted_ratio_per_pos", optional=True),
        ),
        (
            "name,res_list,start_time(microsecond),end_time(microsecond),batch_size,batch_type,during_time(microsecond)",
            "name,res_list,start_time(ms),end_time(ms),batch_size,batch_type,during_time(ms)",
        ),
    ),
    "kvcache": _table(
        "service_kvcache",
        "kvcache.csv",
        say("each change of the memory for keys and values (KV cache) of a service"),
        (
            text("domain", "domain", optional=True),
            text("rid", "rid"),
            text("name", "name"),
            _point("start", "timestamp", "start_time(microsecond)"),
            _end(),
            text("start_datetime", "start_time", "start_datetime", "real_start_time(ms)", optional=True),
            *_BLOCKS,
            _count("device_kvcache_left", optional=False),
            _count("kvcache_usage_rate"),
            _time("during_time", "during_time"),
        ),
        (
            "domain,rid,timestamp(ms),name,device_kvcache_left",
            "domain,rid,start_time(microsecond),end_time(microsecond),name,device_kvcache_left,during_time(microsecond)",
        ),
    ),
    "forward": _table(
        "service_forward",
        "forward.csv",
        say("each pass of the model on each device of a service, and the idle time behind it"),
        (
            text("name", "name"),
            _time("relative_start", "relative_start_time", optional=False),
            _dated("start_datetime"),
            _dated("end_datetime"),
            _time("during_time", "during_time", optional=False),
            _time("bubble_time", "bubble_time", optional=False),
            _count("batch_size"),
            text("batch_type", "batch_type", optional=True),
            _count("forward_iter"),
            text("dp_rank", "dp_rank", optional=True),
            text("prof_id", "prof_id", optional=True),
            text("hostname", "hostname", optional=True),
            _start(),
            _end(),
        ),
        (
            "name,relative_start_time(ms),start_time(ms),end_time(ms),during_time(ms),bubble_time(ms),batch_size,batch_type,forward_iter,dp_rank,prof_id,hostname",
        ),
    ),
    "spec_decode": _table(
        "service_spec_decode",
        "spec_decode.csv",
        say("each step of speculative decoding of each request: tokens that were drafted and accepted"),
        (
            text("rid", "rid"),
            number("iter", "iter"),
            text("prof_id", "prof_id", optional=True),
            _dated("start_datetime"),
            _dated("end_datetime"),
            _time("during_time", "during_time", optional=False),
            _count("spec_tokens", optional=False),
            _count("accepted_tokens", optional=False),
            _count("accepted_ratio"),
            duration("draft_model_time", "draft_model_time_ms", optional=True, unit="ms"),
        ),
    ),
    "pd_split_communication": _table(
        "service_pd_communication",
        "pd_split_communication.csv",
        say("when each request went from a prefill to a decode node, where they are separate"),
        (
            text("rid", "rid"),
            *(
                text(f"{name}_time", f"{name}_time(ms)", f"{name}_time")
                for name in ("http_req", "send_request", "send_request_succ", "prefill_res", "request_end")
            ),
        ),
        identity=("rid",),
    ),
    "pd_split_kvcache": _table(
        "service_pd_kvcache",
        "pd_split_kvcache.csv",
        say("how long keys and values of each request took from a prefill to a decode node"),
        (
            text("domain", "domain", optional=True),
            text("rank", "rank"),
            text("rid", "rid"),
            text("block_tables", "block_tables", optional=True),
            text("seq_len", "seq_len", "batch_seq_len", optional=True),
            _time("during_time", "during_time", optional=False),
            _dated("start_datetime"),
            _dated("end_datetime"),
            _start(),
            _end(),
        ),
    ),
    "coordinator": _table(
        "service_coordinator",
        "coordinator.csv",
        say("how many requests each node took on and finished, where prefill and decode nodes are separate"),
        (
            text("time", "time"),
            text("address", "address"),
            text("node_type", "node_type"),
            *(_count(name, optional=False) for name in ("add_count", "end_count", "running_count")),
        ),
    ),
    "request_status": _table(
        "service_request_status",
        "request_status.csv",
        say("how many requests of a process wait, run and are swapped, over time"),
        (
            text("host_uid", "hostuid", optional=True),
            _count("pid"),
            _dated("start_datetime"),
            _time("relative_time", "relative_timestamp", optional=False),
            *(_count(name, optional=False) for name in ("waiting", "running")),
            _count("swapped"),
            _point("time", "timestamp"),
        ),
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
        (text("metric", "Metric"), number("value", "Value")),
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
        (
            text("process_id", "Dataset"),
            number("mean", "Mean"),
            number("p2_5", "CI_Lower", "CI Lower"),
            number("p97_5", "CI_Upper", "CI Upper"),
        ),
    ),
}  # fmt: skip
"""By the whole name of a file, without .csv."""

SPAN = _table(
    "service_span",
    "span_info/*.csv",
    say("spans of one kind that a service's code marks, one after another"),
    (
        text("span_name", "span_name"),
        _dated("start_datetime"),
        _dated("end_datetime"),
        _time("during_time", "during_time", optional=False),
        text("hostname", "hostname", optional=True),
        _count("pid"),
    ),
)
