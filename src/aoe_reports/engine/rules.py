"""Rules on captures."""

from aoe_reports.model.rules import COMMUNICATION, RUNS, TIMELINES, Scope

_CACHE = Scope("the cache of captures")
CACHE_NOT_USED = _CACHE.rule(
    "cache-not-used", "info", "a cache that cannot be written, or is open to others: captures are read anew each time"
)
CACHE_DAMAGED = _CACHE.rule(
    "cache-damaged", "info", "a file of the cache that cannot be used: it is deleted, and the captures are read anew"
)
REPEATED_EXPORT = TIMELINES.rule(
    "repeated-export", "info", "every file of this kind contains the whole run; one is used"
)
NOTHING_MEASURED = RUNS.rule("nothing-measured", "error", "a capture without any usable time")
STANDS_IN = RUNS.rule(
    "stands-in",
    "info",
    "no table of tasks, steps or memory (communication: no table of operators): another form is used instead",
)
BANDWIDTH_MISMATCH = COMMUNICATION.rule(
    "bandwidth-mismatch",
    "warning",
    "the bandwidth of a row does not equal its volume divided by its time",
    "the exporter divides one by the other (real exports: to the printed digits)",
)
COMMUNICATION_EXAMPLES = COMMUNICATION.rule(
    "communication-examples",
    "info",
    "a matrix without totals contains only the best, middle and worst operators",
    "real exports since 2024",
)
COMMUNICATION_INCOMPLETE = COMMUNICATION.rule(
    "communication-incomplete",
    "warning",
    "links without volume or transport, operators without times",
    "real exports have them",
)
COMMUNICATION_PACKETS = COMMUNICATION.rule(
    "communication-packets", "warning", "sizes of packets that are no sizes, counts and times", "real exports have them"
)
COMMUNICATION_TASK = COMMUNICATION.rule(
    "communication-task", "warning", "a communication task whose arguments are damaged", "the exporters' timelines"
)
NO_COMMUNICATION = COMMUNICATION.rule(
    "no-communication", "info", "a capture without communication: a single device has none"
)
GRADIENT_TAIL = COMMUNICATION.rule(
    "gradient-tail",
    "info",
    "all-reduce after the backward pass: the part that gradient tuning could hide",
    "CANN, TensorFlow 1.15 migration: adjusting the gradient segmentation policy",
)
