"""Rules that answers to questions add to those of the files."""

from aoe_reports.model.rules import COMPARISONS, RECORDS, RUNS, TIMELINES, Scope

NO_TIMELINE = RUNS.rule(
    "no-timeline", "warning", "neither a timeline of the whole device nor a database that contains one"
)
DEVICE_UNKNOWN = TIMELINES.rule(
    "device-unknown", "warning", "several devices: the device that communicates cannot be determined"
)
RANK_SKEW = RUNS.rule("rank-skew", "info", "spread between the ranks of a job in a step, and the slowest rank")
PIPELINE_BUBBLES = RUNS.rule(
    "pipeline-bubbles", "info", "what the stages of a pipeline wait for each other, and the rank that computes longest"
)
NO_BASELINE = RUNS.rule(
    "no-baseline", "error", "the numbers of a run say something else each time: nothing can be compared with it"
)
READ_WITH_CARE = RUNS.rule(
    "read-with-care", "warning", "something is in a run that is not the job, or what is needed to judge it is not"
)
BATCHES_APART = RUNS.rule(
    "batches-apart", "info", "batches of a service that ran while tasks did, and do not part these into iterations"
)
TRIMMED = RUNS.rule("trimmed", "info", "steps that --trim leaves out, or could: warm-up and tear-down")
UNSTEADY = RUNS.rule(
    "unsteady-steps", "info", "steps that scatter or drift too much to be a baseline, unless their work differs, too"
)
TASKS_BESIDE = RUNS.rule(
    "tasks-beside-each-other",
    "info",
    "tasks of a device run at the same time: their durations add up to more than the time in which it computes",
)
NO_LOCATION = RUNS.rule("no-location", "info", "time of tasks whose place in the program is unknown")
NO_PEERS = RUNS.rule("no-peers", "info", "a rank that cannot be compared: no other one of its run does the same work")
PEAK_UNKNOWN = RUNS.rule(
    "peak-unknown", "warning", "a peak of the chip is not known: neither the capture nor the table of chips has it"
)
ABOVE_PEAK = RUNS.rule("above-peak", "warning", "operators exceed a peak of the chip: the formula or the peak is wrong")
COUNTERS_DISAGREE = RUNS.rule(
    "counters-disagree", "info", "the share of the peak by formula and by hardware counters differ strongly"
)
NOT_COMPARABLE = COMPARISONS.rule(
    "not-comparable",
    "error",
    "the known conditions of two captures differ (a warning with --force): a difference in time would mean little",
)
COMPARABILITY_UNKNOWN = COMPARISONS.rule(
    "comparability-unknown", "warning", "the information that decides whether two captures are comparable is missing"
)
STEPS_BY_PLACE = COMPARISONS.rule(
    "steps-by-place", "info", "no step number occurs in both captures: steps are paired in order"
)
COMPARED_BY_NAME = COMPARISONS.rule(
    "compared-by-name",
    "info",
    "no task of these runs has a type of operators, as in timelines: they are compared by the names of the operators",
)
_BANKS = Scope("banks")
BANK_CHIP = _BANKS.rule("bank-chip", "warning", "--soc names a chip that no bank has entries for")
BANK_LOG_SILENT = _BANKS.rule(
    "bank-log-silent", "error", "a log of CANN does not say which operators were found in a bank"
)
BANK_LOG_LINE = _BANKS.rule(
    "bank-log-line", "warning", "lines of a log on operators that were found in a bank cannot be read"
)
BANK_LOG_CONTRADICTS = _BANKS.rule(
    "bank-log-contradicts", "warning", "logs say of one operator both that it was found in a bank and that it was not"
)
NO_RECORD = RUNS.rule("no-record", "info", "a run for which v0.1 has no record: its content is in the run's own row")
RAW_CAPPED = RUNS.rule(
    "raw-capped", "info", "records of more tasks or steps than --raw: their individual times are left out"
)
OPERATORS_CAPPED = RUNS.rule("operators-capped", "info", "more operators than the maximum number of records")
MODULES_CAPPED = RUNS.rule("modules-capped", "info", "more modules or layers than --module-series")
REPEATED_RECORD = RECORDS.rule("repeated-record", "info", "a record that was already read; it is used only once")
TIME_UNKNOWN = RUNS.rule("time-unknown", "warning", "there is no information on when it was created")
NO_RUN = RUNS.rule("no-run", "info", "a file that `check` reads but that produces no record")
TIME_ZONE_ASSUMED = RUNS.rule("time-zone-assumed", "info", "a time without a zone was taken as UTC")
WORKLOAD_UNKNOWN = RUNS.rule("workload-unknown", "info", "there is no information on what was measured")
WORKLOAD_CONFLICT = RUNS.rule(
    "workload-conflict",
    "error",
    "the same content is stored under another workload, or the operators of a capture differ from those of "
    "the workload whose series it would share",
)
WORKLOAD_FROM = RUNS.rule("workload-from", "warning", "the pattern of --workload-from does not fit the path")
MEMORY_UNEXPLAINED = RUNS.rule(
    "memory-unexplained",
    "warning",
    "recorded sums of memory change by more than the recorded allocations and releases explain",
)
MEMORY_DISAGREES = RUNS.rule(
    "memory-disagrees", "warning", "two sources of the same capture say different things of the same memory"
)
MEMORY_OPEN = RUNS.rule(
    "memory-open", "info", "allocations that began before the recording, or that are not released in it"
)
