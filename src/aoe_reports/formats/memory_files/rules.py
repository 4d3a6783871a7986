"""Rules on recordings of memory that no profiler made."""

from aoe_reports.model.rules import Scope

RECORDINGS = Scope("recordings of memory")
MEMORY_ENTRY = RECORDINGS.rule(
    "memory-entry", "error", "an entry of a recording of memory that cannot be used; it is left out"
)
MEMORY_REUSED = RECORDINGS.rule(
    "memory-reused",
    "warning",
    "an address that is allocated while it is in use, or released twice: a part of the recording is missing",
)
MEMORY_SUM = RECORDINGS.rule(
    "memory-sum",
    "warning",
    "allocations and releases that do not lead to what the recording itself states, or fall below zero",
)
MEMORY_BEFORE = RECORDINGS.rule(
    "memory-before",
    "info",
    "memory that was allocated before the first entry: recording began later, or its history was full and dropped its start",
)
MEMORY_ORDER = RECORDINGS.rule("memory-order", "warning", "times that go backwards; the order of the entries is kept")
MEMORY_EXHAUSTED = RECORDINGS.rule(
    "memory-exhausted", "warning", "the device had no memory left for an allocation", "the recording itself"
)
