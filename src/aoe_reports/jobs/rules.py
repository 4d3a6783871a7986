"""Every rule that a finding can name, with its severity and reason."""

from __future__ import annotations

from typing import Any

from aoe_reports.facts.communication import MIN_BYTES, SLOW_SHARE, WAIT_SHARE
from aoe_reports.formats.tuner_files import tuner_file_kinds
from aoe_reports.model.rules import ListedRule
from aoe_reports.model.texts import Text, say
from aoe_reports.rules.gradient_bank import BANK_RULES
from aoe_reports.rules.profiling_options import OPTION_RULES
from aoe_reports.rules.results import FILE_RULES, RULES
from aoe_reports.rules.schema import SCHEMA
from aoe_reports.tuning.aoe.preflight import PREFLIGHT_RULES
from aoe_reports.tuning.plan import PLAN_RULES
from aoe_reports.tuning.tune_rules import TUNE_RULES
from aoe_reports.tuning.verification import ADOPT_RULES, VERIFY_RULES

READING_RULES: tuple[tuple[str, str, str, str], ...] = (
    ("json-syntax", "error", "all JSON files", "not JSON, and not merely cut off"),
    ("json-truncated", "error", "all JSON files", "the text ends before the document does"),
    (
        "json-duplicate-key",
        "warning",
        "all JSON files",
        "a key appears twice in one object; all occurrences are read (in tables: an error, none is read)",
    ),
    ("json-encoding", "warning", "all JSON files", "not UTF-8 (read as GB18030; a timeline is not used at all)"),
    (
        "json-too-large",
        "error",
        "all JSON files",
        "larger than the read limit (results 256 MiB, banks 64 MiB, documents 1 GiB, one event 16 MiB)",
    ),
    (SCHEMA.name, SCHEMA.severity, SCHEMA.on, SCHEMA.reason),
    ("csv-ragged-row", "error", "tables", "a row with more or fewer cells than the header"),
    ("csv-mended-row", "warning", "tables", "a row of the wrong length whose intended content is certain"),
    ("csv-spread-row", "error", "tables", "a row that spans several lines: stray quotes swallow other rows"),
    ("implausible-count", "error", "tables", "a count of tasks that is not above 0"),
    (
        "csv-truncated",
        "error",
        "tables",
        ("the file does not end with a line end (a warning where its last row has all its cells and may be complete)"),
    ),
    ("csv-unparsable", "error", "tables", "a cell that should contain a number but does not"),
    ("csv-encoding", "warning", "tables", "not UTF-8 (read as GB18030; an error if it is neither)"),
    ("csv-syntax", "error", "tables", "cannot be split into rows"),
    ("missing-column", "error", "tables", "a column that all versions of this kind of table have is missing"),
    ("missing-value", "error", "tables", "a required value is missing; the row cannot be used"),
    ("negative-duration", "error", "tables", "a duration is never negative"),
    ("wrapped-duration", "warning", "tables", "a negative difference that the C++ exporter wrapped around 2**64"),
    ("duplicate-column", "error", "tables", "a declared column appears twice in the header"),
    (
        "column-order",
        "warning",
        "tables",
        "columns in an order that no exporter writes: headers may be swapped",
    ),
    ("duplicate-row", "error", "tables", "a duplicate row would be counted twice"),
    ("not-monotonic", "warning", "tables", "an iteration that ends before the one above it"),
    ("interval-mismatch", "warning", "tables", "stop - start does not equal the duration of the task"),
    ("overlap-sum", "warning", "tables", "Communication is not Overlapped + Communication(Not Overlapped)"),
    ("step-sum", "warning", "tables", "Stage + Bubble is not Computing + Communication(Not Overlapped) + Free"),
    ("statistic-arithmetic", "warning", "tables", "Min, Avg, Max, Count and total of one row are inconsistent"),
    ("share-sum", "warning", "tables", "the shares of a whole statistic do not add up to 100 %"),
    ("task-type-unknown", "warning", "tables", "a task type that no known exporter writes"),
    ("total-mismatch", "warning", "tables", "communication.json: the operators do not add up to its own total"),
    (
        "step-missing",
        "warning",
        "tables",
        "a gap in the iteration numbers, or tasks and steps that do not refer to each other",
    ),
    ("slice-missing", "error", "tables", "a gap in the slice numbers: rows are missing"),
    (
        "statistic-mismatch",
        "warning",
        "tables",
        "op_statistic differs from the tasks grouped by type: rows were lost or damaged",
    ),
    ("forms-disagree", "warning", "tables", "two forms of the same data differ (tables, databases, timelines)"),
    ("json-row", "error", "tables", "an entry of a JSON summary or document that is not a row"),
    ("empty-file", "error", "all files", "0 bytes"),
    ("unreadable", "error", "all files", "a path that does not exist or cannot be opened (exit code 3)"),
    ("nothing-found", "error", "all files", "a path with no file of a known kind"),
    ("unknown-file", "error", "all files", "a file that was given by name but is of no known kind"),
    (
        "not-read",
        "info",
        "all files",
        "files of MindSpore's own profiler: recognised but not read (a warning if there are no other files)",
    ),
    ("not-a-file", "warning", "all files", "a folder, pipe or device that has the name of an input file"),
    ("broken-link", "warning", "all files", "a link that leads nowhere or is circular"),
    ("gzip-damaged", "error", "all files", "a compressed file that cannot be fully decompressed"),
    ("expanded-too-large", "error", "all files", ("a compressed file that exceeds the allowed size when decompressed")),
    ("sparse-file", "error", "all files", ("a large text file, parts of which were never written: none of it is used")),
    (
        "path-too-deep",
        "error",
        "all files",
        "folders are nested too deeply; the deeper content is not read (exit code 3)",
    ),
    (
        "too-much-linked",
        "error",
        "all files",
        "too much content behind links that lead out of the given path; the rest is not read (exit code 3)",
    ),
    ("archive", "warning", "all files", "a tar or zip archive; unpack it first"),
    ("repeated-export", "info", "timelines", "every file of this kind contains the whole run; one is used"),
    ("db-damaged", "error", "databases", "not a database, truncated or corrupt"),
    ("db-value", "error", "databases", "a value that does not have the type of its column"),
    ("db-dangling-id", "warning", "databases", "a string number that refers to no string"),
    ("db-journal", "warning", "databases", "there is a journal next to it: the content of the journal is not read"),
    ("inexact-timestamp", "warning", "databases", "a time stamp whose last digits were lost (stored as a float)"),
    (
        "hccl-stage-rows",
        "info",
        "timelines",
        "tasks that exporters wrote a second time under their stage, until 2023-05",
    ),
    (
        "phase-unknown",
        "warning",
        "timelines",
        ("events with a phase that no profiler writes: they are not included in any sum"),
    ),
    (
        "negative-value",
        "error",
        "tables",
        "a size, share, number or time stamp below 0; the cell is empty in the table",
    ),
    ("column-unknown", "warning", "tables", "a header that differs by one letter from a missing header"),
    (
        "db-incomplete",
        "warning",
        "databases",
        "a table that all databases of this kind have is missing or cannot be used",
    ),
    ("timeline-event", "error", "timelines", "an event without times"),
    ("json-shape", "error", "timelines", "not a list of trace events"),
    (
        "several-exports",
        "warning",
        "all files",
        ("two exports of one kind whose order cannot be determined from their names; one is used"),
    ),
    ("superseded", "info", "all files", "an older export next to a newer one of the same kind"),
    ("info-file", "warning", "all files", "an info file that is not JSON: rank and time may be missing"),
    ("less-complete", "warning", "runs", "the store has a more complete version of the run and keeps it"),
    ("older-normaliser", "info", "runs", "runs in the store that an older version normalised (see --renew)"),
    (
        "stands-in",
        "info",
        "runs",
        ("no table of tasks (communication: no table of operators): another form is used instead"),
    ),
    ("no-timeline", "warning", "runs", "neither a timeline of the whole device nor a database that contains one"),
    ("device-unknown", "warning", "timelines", ("several devices: the device that communicates cannot be determined")),
    ("rank-skew", "info", "runs", "spread between the ranks of a job in a step, and the slowest rank"),
    ("link-loop", "warning", "all files", "a link to a folder that was already read or that contains the link"),
    ("nothing-measured", "error", "runs", "a capture without any usable time"),
    ("no-run", "info", "runs", "a file that `check` reads but that produces no record"),
    ("no-record", "info", "runs", "a run for which v0.1 has no record: its content is in the run's own row"),
    (
        "timestamp-form",
        "error",
        "records",
        ("a time in an unknown format; the known formats are epoch, YYYYMMDDHHMMSS and ISO-8601"),
    ),
    ("record-number", "error", "records", "a number that float64 cannot represent"),
    ("repeated-record", "info", "records", "a record that was already read; it is used only once"),
    ("workload-unknown", "info", "runs", "there is no information on what was measured"),
    (
        "workload-conflict",
        "error",
        "runs",
        (
            "the same content is stored under another workload, or the operators of a capture differ from those of "
            "the workload whose series it would share"
        ),
    ),
    (
        "workload-continued",
        "info",
        "the store",
        "runs keep the workload name that they have in the store, not the name that is inferred now",
    ),
    (
        "workload-changed",
        "warning",
        "runs",
        ("the operators differ from those of the previous night, and --workload states that it is the same workload"),
    ),
    (
        "workload-alike",
        "warning",
        "the store",
        "an inferred name starts a new history, and another workload has the same operators on other nights",
    ),
    ("workload-from", "warning", "runs", "the pattern of --workload-from does not fit the path"),
    (
        "workload-unchecked",
        "warning",
        "the store",
        "the stored data of a workload cannot be read: nothing was compared with it",
    ),
    ("time-unknown", "warning", "runs", "there is no information on when it was created"),
    ("time-zone-assumed", "info", "runs", "a time without a zone was taken as UTC"),
    ("raw-capped", "info", "runs", ("records of more tasks or steps than --raw: their individual times are left out")),
    (
        "not-comparable",
        "error",
        "comparisons",
        (
            "the known conditions of two captures differ (a warning with --force): a difference in time would mean "
            "little"
        ),
    ),
    (
        "comparability-unknown",
        "warning",
        "comparisons",
        ("the information that decides whether two captures are comparable is missing"),
    ),
    ("steps-by-place", "info", "comparisons", "no step number occurs in both captures: steps are paired in order"),
    ("operators-capped", "info", "runs", "more operators than the maximum number of records"),
    ("store-missing", "error", "the store", "a file of the store is missing"),
    (
        "store-truncated",
        "error",
        "the store",
        ("the size of a file of the store differs from the size that was written"),
    ),
    ("store-unreadable", "error", "the store", "the system refuses to read a file: whether it is damaged is not known"),
    (
        "store-damaged",
        "error",
        "the store",
        ("the content of a file differs from what was written (a single flipped bit is enough)"),
    ),
    (
        "store-log",
        "error",
        "the store",
        (
            "a commit or a checkpoint of the table's log is empty, truncated, damaged, missing, or inconsistent with "
            "the others"
        ),
    ),
    ("store-doubled", "error", "the store", "a run, or a member of a run, exists twice"),
    (
        "store-half-run",
        "error",
        "the store",
        "rows of a run that does not exist, or a run whose number of rows differs from what its own row states",
    ),
    (
        "store-not-covered",
        "info",
        "the store",
        "commits, files or rows of runs of an older version or another program: they contain nothing to verify",
    ),
    (
        "store-body",
        "error",
        "the store",
        (
            "the JSON that a row contains beside its columns differs from what was written; pages and reports leave "
            "it out, `regressions` leaves out such a change and exits with 3"
        ),
    ),
    (
        "store-row",
        "error",
        "the store",
        (
            "a value that the column cannot have; readers skip the row and exit with code 3, `store import` skips "
            "the run"
        ),
    ),
    ("import-refused", "error", "the store", "a run that `store import` skips: one of its rows cannot be used"),
    (
        "clock-jump",
        "warning",
        "runs",
        (
            "one or two nights are more than a year away from all other nights of the workload (at least ten): they "
            "are not compared with anything"
        ),
    ),
    (
        "several-hardware",
        "info",
        "the store",
        "a workload measured on several kinds of hardware: each kind has its own series",
    ),
    (
        "hardware-unnamed",
        "warning",
        "the store",
        (
            "some nights of a workload name their hardware, others do not: they form separate series, which are not "
            "compared"
        ),
    ),
    (
        "change-withdrawn",
        "warning",
        "the store",
        "a reported change that the nights now in the store (added later or undone) no longer support",
    ),
    ("not-enough-data", "warning", "the store", "no series has enough nights to distinguish a change from noise"),
    ("store-not-compacted", "warning", "the store", "small files could not be merged: one of them is damaged"),
)
"""(rule, severity, what it is about, when it fires) of the rules that reading and storing apply."""

_MSPROF = "Ascend/msprof, analysis/common_func/ms_constant/number_constant.py"

COMMUNICATION_RULES: tuple[tuple[str, str, str, str], ...] = (
    (
        "slow-link",
        "info",
        say(
            (
                "below {share:.0%} of the median bandwidth of links that carried a similar volume in the same "
                "operators (at least {least} MB), and an outlier in more than half of the comparisons"
            ),
            share=SLOW_SHARE,
            least=MIN_BYTES / 1e6,
        ),
        f"{_MSPROF} (BANDWIDTH_THRESHOLD, RDMA_MESSAGE_SIZE_THRESHOLD)",
    ),
    (
        "slow-rank",
        "info",
        say(
            (
                "the rank that the others wait for, for more than {share:.0%} of an operator, in more than half of "
                "the operators"
            ),
            share=WAIT_SHARE,
        ),
        f"{_MSPROF} (WAIT_TIME_THRESHOLD)",
    ),
    (
        "gradient-tail",
        "info",
        "all-reduce after the backward pass: the part that gradient tuning could hide",
        "CANN, TensorFlow 1.15 migration: adjusting the gradient segmentation policy",
    ),
    (
        "bandwidth-mismatch",
        "warning",
        "the bandwidth of a row does not equal its volume divided by its time",
        "the exporter divides one by the other (real exports: to the printed digits)",
    ),
    (
        "communication-examples",
        "info",
        "a matrix without totals contains only the best, middle and worst operators",
        "real exports since 2024",
    ),
    ("communication-incomplete", "warning", "rows of links without volume or transport", "real exports have both"),
    (
        "communication-task",
        "warning",
        "a communication task whose arguments are damaged",
        "the exporters' timelines",
    ),
    ("no-communication", "info", "a capture without communication: a single device has none", ""),
)
"""(rule, severity, when it fires, source) of what `communication` finds."""


def list_rules() -> list[ListedRule]:
    """All rules, one row each, by what they are about, then by name."""
    rows: list[dict[str, Any]] = [
        {"rule": name, "severity": severity, "on": on, "reason": reason, "source": ""}
        for name, severity, on, reason in READING_RULES
    ]
    rows += [
        {"rule": name, "severity": severity, "on": "communication", "reason": reason, "source": source}
        for name, severity, reason, source in COMMUNICATION_RULES
    ]
    rows += [
        {"rule": name, "severity": severity, "on": "profiling_options", "reason": reason, "source": ""}
        for name, severity, reason in OPTION_RULES
    ]
    rows += [
        {"rule": name, "severity": rule.severity, "on": rule.on, "reason": rule.reason, "source": rule.source}
        for name, rule in (FILE_RULES | RULES).items()
    ]
    rows += [
        {"rule": name, "severity": rule.severity, "on": "gradient banks", "reason": rule.reason, "source": rule.source}
        for name, rule in BANK_RULES.items()
    ]
    rows += [
        {"rule": name, "severity": "error", "on": "preflight", "reason": rule.reason, "source": rule.source}
        for name, rule in PREFLIGHT_RULES.items()
    ]
    rows += [
        {"rule": name, "severity": rule.severity, "on": "tuning jobs", "reason": rule.reason, "source": rule.source}
        for name, rule in TUNE_RULES.items()
    ]
    rows += [
        {"rule": name, "severity": severity, "on": "tuning plans", "reason": reason, "source": ""}
        for name, (severity, reason) in PLAN_RULES.items()
    ]
    rows += [
        {"rule": name, "severity": severity, "on": "verifying", "reason": reason, "source": ""}
        for name, (severity, reason) in VERIFY_RULES.items()
    ]
    rows += [
        {"rule": name, "severity": severity, "on": "adopting banks", "reason": reason, "source": ""}
        for name, (severity, reason) in ADOPT_RULES.items()
    ]
    rows += [
        {"rule": name, "severity": severity, "on": say("files of other tuners"), "reason": reason, "source": source}
        for kind in tuner_file_kinds()
        for name, (severity, reason, source) in kind.rules.items()
    ]
    rules = [ListedRule(**{**row, **{name: _told(row[name]) for name in ("on", "reason", "source")}}) for row in rows]
    return sorted(rules, key=lambda rule: (rule.on, rule.rule))


def _told(text: str) -> Text:
    """What rules say of themselves, which the catalogue has."""
    return text if isinstance(text, Text) else say(text)
