"""Rules on runs in the store."""

from aoe_reports.model.rules import RUNS, THE_STORE

LESS_COMPLETE = RUNS.rule("less-complete", "warning", "the store has a more complete version of the run and keeps it")
OLDER_NORMALISER = RUNS.rule(
    "older-normaliser", "info", "runs in the store that an older version normalised (see --renew)"
)
STORE_BODY = THE_STORE.rule(
    "store-body",
    "error",
    "the JSON that a row contains beside its columns differs from what was written; pages and reports "
    "leave it out, `regressions` leaves out such a change and exits with 3",
)
STORE_ROW = THE_STORE.rule(
    "store-row",
    "error",
    "a value that the column cannot have; readers skip the row and exit with code 3",
)
STORE_NOT_COMPACTED = THE_STORE.rule(
    "store-not-compacted", "warning", "small files could not be merged: one of them is damaged"
)
WORKLOAD_CONTINUED = THE_STORE.rule(
    "workload-continued",
    "info",
    "runs keep the workload name that they have in the store, not the name that is inferred now",
)
WORKLOAD_CHANGED = RUNS.rule(
    "workload-changed",
    "warning",
    "the operators differ from those of the previous night, and --workload states that it is the same workload",
)
WORKLOAD_ALIKE = THE_STORE.rule(
    "workload-alike",
    "warning",
    "an inferred name starts a new history, and another workload has the same operators on other nights",
)
WORKLOAD_UNCHECKED = THE_STORE.rule(
    "workload-unchecked", "warning", "the stored data of a workload cannot be read: nothing was compared with it"
)
CLOCK_JUMP = RUNS.rule(
    "clock-jump",
    "warning",
    "one or two nights are more than a year away from all other nights of the workload (at least ten): "
    "they are not compared with anything",
)
CLOCK_AHEAD = RUNS.rule(
    "clock-ahead",
    "warning",
    "runs that are dated more than a day after the clock of this machine: one of the two clocks is wrong, and until that day such a run "
    "is the newest night of its workload",
)
SEVERAL_HARDWARE = THE_STORE.rule(
    "several-hardware", "info", "a workload measured on several kinds of hardware: each kind has its own series"
)
BASELINE_KNOWN_BAD = THE_STORE.rule(
    "baseline-known-bad",
    "info",
    "a baseline that has nights of a regression that was found, accepted or not: it may hide that regression",
)
METRIC_UNITS = THE_STORE.rule(
    "metric-units",
    "warning",
    "a metric that its records give in several units: only nights in the newest unit are compared",
)
HARDWARE_UNNAMED = THE_STORE.rule(
    "hardware-unnamed",
    "warning",
    "some nights of a workload name their hardware, others do not: they form separate series, which are not compared",
)
CHANGE_WITHDRAWN = THE_STORE.rule(
    "change-withdrawn",
    "warning",
    "a reported change that the nights now in the store (added later or undone) no longer support",
)
NOT_ENOUGH_DATA = THE_STORE.rule(
    "not-enough-data", "warning", "no series has enough nights to distinguish a change from noise"
)
NOTHING_SELECTED = THE_STORE.rule(
    "nothing-selected",
    "warning",
    "the store has no series of the workload that --workload names: no gate judges anything",
)
WORKLOAD_RESEMBLES = THE_STORE.rule(
    "workload-resembles",
    "warning",
    "--workload starts a new history, and its name resembles that of a stored workload: a typing error?",
)
ADVICE_LIMITED = RUNS.rule(
    "advice-limited", "info", "timelines, databases and communication tables too large to be examined for stored advice"
)
PLAN_UNKNOWN = RUNS.rule("plan-unknown", "warning", "no tuning plan could be made for stored advice")
