"""Every rule that a finding can name, with its severity and reason."""

from __future__ import annotations

from typing import Any

from aoe_reports.facts.communication import LEAST_BYTES, SLOW_SHARE, WAIT_SHARE
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
        "a key stands twice in one object; all are read (in tables: an error, nothing is)",
    ),
    ("json-encoding", "warning", "all JSON files", "not UTF-8 (read as GB18030; of a timeline nothing is used)"),
    (
        "json-too-large",
        "error",
        "all JSON files",
        "larger than is read (results 256 MiB, banks 64 MiB, documents 1 GiB, one event 16 MiB)",
    ),
    (SCHEMA.name, SCHEMA.severity, SCHEMA.on, SCHEMA.reason),
    ("csv-ragged-row", "error", "tables", "a row with more or fewer cells than the header"),
    ("csv-mended-row", "warning", "tables", "a row of the wrong length of which it is certain what the exporter meant"),
    ("csv-spread-row", "error", "tables", "a row over several lines: stray quotes swallow rows"),
    ("implausible-count", "error", "tables", "a count of tasks that is not above 0"),
    (
        "csv-truncated",
        "error",
        "tables",
        "the file does not end with a line end (a warning where its last row has all its cells and may be whole)",
    ),
    ("csv-unparsable", "error", "tables", "a cell that should be a number and is none"),
    ("csv-encoding", "warning", "tables", "not UTF-8 (read as GB18030; an error where it is neither)"),
    ("csv-syntax", "error", "tables", "cannot be taken apart into rows"),
    ("missing-column", "error", "tables", "a column that the kind has in every vintage is not there"),
    ("missing-value", "error", "tables", "no value where the row is of no use without one"),
    ("negative-duration", "error", "tables", "nothing takes less than no time"),
    ("wrapped-duration", "warning", "tables", "a negative difference that the C++ exporter let wrap around 2**64"),
    ("duplicate-column", "error", "tables", "a declared column stands in the header twice"),
    (
        "column-order",
        "warning",
        "tables",
        "columns in an order that no exporter writes: headers may have changed places",
    ),
    ("duplicate-row", "error", "tables", "a row that stands there twice would count twice"),
    ("not-monotonic", "warning", "tables", "an iteration that ends before the one above it"),
    ("interval-mismatch", "warning", "tables", "stop - start is not the task's time"),
    ("overlap-sum", "warning", "tables", "Communication is not Overlapped + Communication(Not Overlapped)"),
    ("step-sum", "warning", "tables", "Stage + Bubble is not Computing + Communication(Not Overlapped) + Free"),
    ("statistic-arithmetic", "warning", "tables", "Min, Avg, Max, Count and total of one row do not fit together"),
    ("share-sum", "warning", "tables", "the shares of a whole statistic do not add up to 100 %"),
    ("task-type-unknown", "warning", "tables", "a task type that no exporter is known to write"),
    ("total-mismatch", "warning", "tables", "communication.json: the operators do not add up to its own total"),
    (
        "step-missing",
        "warning",
        "tables",
        "a gap in the numbers of iterations, or tasks and steps that do not know each other",
    ),
    ("slice-missing", "error", "tables", "a gap in the numbers of slices: rows are missing"),
    (
        "statistic-mismatch",
        "warning",
        "tables",
        "op_statistic is not the tasks grouped by type: rows were lost or damaged",
    ),
    ("forms-disagree", "warning", "tables", "two forms of the same facts differ (tables, databases, timelines)"),
    ("json-row", "error", "tables", "an entry of a JSON summary or document that is no row"),
    ("empty-file", "error", "all files", "0 bytes"),
    ("unreadable", "error", "all files", "a path that is not there or cannot be opened (exit code 3)"),
    ("nothing-found", "error", "all files", "a path with no file of a known kind"),
    ("unknown-file", "error", "all files", "a file that was named and is of no known kind"),
    (
        "not-read",
        "info",
        "all files",
        "files of MindSpore's own profiler: recognised, not read (a warning where nothing else is there)",
    ),
    ("not-a-file", "warning", "all files", "a folder, pipe or device with the name of a file that is read here"),
    ("broken-link", "warning", "all files", "a link that leads nowhere or in a circle"),
    ("gzip-damaged", "error", "all files", "a compressed file that cannot be expanded to its end"),
    ("expanded-too-large", "error", "all files", "a compressed file that expands further than allowed"),
    ("sparse-file", "error", "all files", "a large text of which parts were never written: nothing of it is used"),
    (
        "path-too-deep",
        "error",
        "all files",
        "too many folders below one another; what is below is not read (exit code 3)",
    ),
    (
        "too-much-linked",
        "error",
        "all files",
        "too much behind links that lead out of the path given; the rest is not read (exit code 3)",
    ),
    ("archive", "warning", "all files", "a tar or zip archive; it has to be unpacked first"),
    ("repeated-export", "info", "timelines", "every file of this kind holds the whole run; one is used"),
    ("db-damaged", "error", "databases", "no database, cut off, or not sound"),
    ("db-value", "error", "databases", "a value that is not of its column's type"),
    ("db-dangling-id", "warning", "databases", "a number of a string that is not there"),
    ("db-journal", "warning", "databases", "a journal beside it: what stands there is not read"),
    ("inexact-timestamp", "warning", "databases", "a time stamp whose last digits are lost (stored as a float)"),
    (
        "hccl-stage-rows",
        "info",
        "timelines",
        "tasks that exporters until 2023-05 wrote a second time, under their stage",
    ),
    ("phase-unknown", "warning", "timelines", "events of a phase that no profiler writes: no sum takes them"),
    (
        "negative-value",
        "error",
        "tables",
        "a size, share, number or time stamp below 0; the cell is empty in the table",
    ),
    ("column-unknown", "warning", "tables", "a header that is one letter away from one that is not there"),
    (
        "db-incomplete",
        "warning",
        "databases",
        "a table that every database of its kind has is not there, or cannot be used",
    ),
    ("timeline-event", "error", "timelines", "an event without its times"),
    ("json-shape", "error", "timelines", "not a list of trace events"),
    ("several-exports", "warning", "all files", "two exports of one kind whose names tell no order; one is used"),
    ("superseded", "info", "all files", "an older export beside a newer one of the same kind"),
    ("info-file", "warning", "all files", "an info file that is no JSON: rank and time may be missing"),
    ("less-complete", "warning", "runs", "the store has a more complete version of the run, and keeps it"),
    ("older-normaliser", "info", "runs", "runs in the store that an older version normalised (see --renew)"),
    ("stands-in", "info", "runs", "no table of tasks (communication: of operators): another form is used instead"),
    ("no-timeline", "warning", "runs", "neither a timeline of the whole device nor a database that holds one"),
    ("device-unknown", "warning", "timelines", "several devices, and nothing tells which of them communicates"),
    ("rank-skew", "info", "runs", "how far the ranks of a job are apart in a step, and which is the slowest"),
    ("link-loop", "warning", "all files", "a link to a folder that is read already, or holds the link"),
    ("nothing-measured", "error", "runs", "a capture without one usable time"),
    ("no-run", "info", "runs", "a file that `check` reads, and of which no record is made"),
    ("no-record", "info", "runs", "a run that v0.1 has no record for: what it says stands in the run's own row"),
    ("timestamp-form", "error", "records", "a time in no form that is known: an epoch, YYYYMMDDHHMMSS, ISO-8601"),
    ("record-number", "error", "records", "a number that no float64 holds"),
    ("repeated-record", "info", "records", "a record that was read already: used once"),
    ("workload-unknown", "info", "runs", "nothing tells what was measured"),
    (
        "workload-conflict",
        "error",
        "runs",
        "the same content is stored under another workload, or a capture's operators are not those of the workload whose series it would share",
    ),
    (
        "workload-continued",
        "info",
        "the store",
        "runs go on under the name that the store has for them, not under the one that is inferred now",
    ),
    (
        "workload-changed",
        "warning",
        "runs",
        "the operators are not those of the night before, and --workload says that it is the same workload",
    ),
    (
        "workload-alike",
        "warning",
        "the store",
        "a name that was inferred begins a history, and another workload has the same operators on other nights",
    ),
    ("workload-from", "warning", "runs", "the pattern of --workload-from does not fit the path"),
    (
        "workload-unchecked",
        "warning",
        "the store",
        "what the store has of a workload cannot be read: nothing was compared with it",
    ),
    ("time-unknown", "warning", "runs", "nothing tells when it was made"),
    ("time-zone-assumed", "info", "runs", "a time without a zone was taken as UTC"),
    ("raw-capped", "info", "runs", "records of more tasks or steps than --raw says: their single times are left out"),
    (
        "not-comparable",
        "error",
        "comparisons",
        "what is known of two captures differs (a warning with --force): a difference of times would say little",
    ),
    ("comparability-unknown", "warning", "comparisons", "what decides whether two captures compare is not known"),
    ("steps-by-place", "info", "comparisons", "no step number is in both captures: steps are paired in their order"),
    ("operators-capped", "info", "runs", "more operators than become records"),
    ("store-missing", "error", "the store", "a file of the store is not there"),
    ("store-truncated", "error", "the store", "a file of the store has not the size that was written"),
    ("store-unreadable", "error", "the store", "the system refuses to read a file: whether it is damaged is not known"),
    ("store-damaged", "error", "the store", "the content of a file is not what was written: a flipped bit is enough"),
    (
        "store-log",
        "error",
        "the store",
        "a commit or a checkpoint of the table's log is empty, cut off, damaged, missing, or not what the others say",
    ),
    ("store-doubled", "error", "the store", "a run, or a member of one, is there twice"),
    (
        "store-half-run",
        "error",
        "the store",
        "rows of a run that is not there, or a run that has not as many rows as its row says",
    ),
    (
        "store-not-covered",
        "info",
        "the store",
        "commits, files or rows of runs of an older version or another program: they carry nothing to be held against",
    ),
    (
        "store-body",
        "error",
        "the store",
        "what a row holds as JSON beside its columns is not as it was written; pages and reports leave it out, `regressions` leaves a change out and ends with 3",
    ),
    (
        "store-row",
        "error",
        "the store",
        "a value that the column cannot have; readers leave the row out and end with 3, `store import` leaves its run out",
    ),
    ("import-refused", "error", "the store", "a run that `store import` leaves out: one of its rows cannot be used"),
    (
        "clock-jump",
        "warning",
        "runs",
        "one or two nights more than a year from all others of the workload, which has at least ten: they are held against nothing",
    ),
    (
        "several-hardware",
        "info",
        "the store",
        "a workload measured on several kinds of hardware: each kind has series of its own",
    ),
    (
        "hardware-unnamed",
        "warning",
        "the store",
        "some nights of a workload name their hardware, others do not: they are series of their own, compared with nothing",
    ),
    (
        "change-withdrawn",
        "warning",
        "the store",
        "a change that was told, and that the nights that are there now (filled in, undone) do not bear out",
    ),
    ("not-enough-data", "warning", "the store", "no series has so many nights that a change could be told from noise"),
    ("store-not-compacted", "warning", "the store", "small files could not be merged: one of them is damaged"),
)
"""(rule, severity, what it is about, when it fires) of the rules that reading and storing apply."""

_MSPROF = "Ascend/msprof, analysis/common_func/ms_constant/number_constant.py"

COMMUNICATION_RULES: tuple[tuple[str, str, str, str], ...] = (
    (
        "slow-link",
        "info",
        say(
            "below {share:.0%} of the median bandwidth of links that carried a like volume in the same operators (at least "
            "{least} MB), and out of line there in more than half of the comparisons",
            share=SLOW_SHARE,
            least=LEAST_BYTES / 1e6,
        ),
        f"{_MSPROF} (BANDWIDTH_THRESHOLD, RDMA_MESSAGE_SIZE_THRESHOLD)",
    ),
    (
        "slow-rank",
        "info",
        say(
            "the one rank that the others wait for, more than {share:.0%} of an operator, in more than half of the operators",
            share=WAIT_SHARE,
        ),
        f"{_MSPROF} (WAIT_TIME_THRESHOLD)",
    ),
    (
        "gradient-tail",
        "info",
        "all-reduce behind the backward pass: what tuning of gradients could hide",
        "CANN, TensorFlow 1.15 migration: adjusting the gradient segmentation policy",
    ),
    (
        "bandwidth-mismatch",
        "warning",
        "the bandwidth of a row is not its volume by its time",
        "the exporter divides one by the other (real exports: to the printed digits)",
    ),
    (
        "communication-examples",
        "info",
        "a matrix without totals tells of the best, middle and worst operators only",
        "real exports since 2024",
    ),
    ("communication-incomplete", "warning", "rows of links without volume or transport", "real exports have both"),
    (
        "communication-task",
        "warning",
        "a task of communication whose arguments are damaged",
        "the exporters' timelines",
    ),
    ("no-communication", "info", "a capture that tells of no communication: one device alone has none", ""),
)
"""(rule, severity, when it fires, source) of what `communication` finds."""


def list_rules() -> list[ListedRule]:
    """All rules, one row each, in a stable order."""
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
    return [ListedRule(**{**row, **{name: _told(row[name]) for name in ("on", "reason", "source")}}) for row in rows]


def _told(text: str) -> Text:
    """What rules say of themselves, which the catalogue has."""
    return text if isinstance(text, Text) else say(text)
