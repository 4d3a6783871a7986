"""Rules on the files of the store."""

from aoe_reports.model.rules import THE_STORE

STORE_MISSING = THE_STORE.rule("store-missing", "error", "a file of the store is missing")
STORE_TRUNCATED = THE_STORE.rule(
    "store-truncated", "error", "the size of a file of the store differs from the size that was written"
)
STORE_UNREADABLE = THE_STORE.rule(
    "store-unreadable", "error", "the system refuses to read a file: whether it is damaged is not known"
)
STORE_DAMAGED = THE_STORE.rule(
    "store-damaged", "error", "the content of a file differs from what was written (a single flipped bit is enough)"
)
STORE_LOG = THE_STORE.rule(
    "store-log",
    "error",
    "a commit or a checkpoint of the table's log is empty, truncated, damaged, missing, or inconsistent with the others",
)
STORE_DOUBLED = THE_STORE.rule("store-doubled", "error", "a run, or a member of a run, exists twice")
STORE_HALF_RUN = THE_STORE.rule(
    "store-half-run",
    "error",
    "rows of a run that does not exist, or a run whose number of rows differs from what its own row states",
)
STORE_NOT_COVERED = THE_STORE.rule(
    "store-not-covered",
    "info",
    "commits, files or rows of runs of an older version or another program: they contain nothing to verify",
)
