"""Rules on timelines."""

from aoe_reports.model.rules import TIMELINES

TIMELINE_EVENT = TIMELINES.rule(
    "timeline-event",
    "error",
    "an event that cannot be used: it is not JSON, has no phase, name or times, or has args that are not an object",
)
TIMELINE_COMMA = TIMELINES.rule(
    "timeline-comma", "warning", "a comma behind the last event, which Chrome's format allows and JSON does not"
)
PHASE_UNKNOWN = TIMELINES.rule(
    "phase-unknown", "warning", "events with a phase that no profiler writes: they are not included in any sum"
)
HCCL_STAGE_ROWS = TIMELINES.rule(
    "hccl-stage-rows", "info", "tasks that exporters wrote a second time under their stage, until 2023-05"
)
