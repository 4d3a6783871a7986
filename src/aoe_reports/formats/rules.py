"""Rules on files of any kind and form: whether they can be read, and which of them are."""

from aoe_reports.model.rules import ALL_FILES, JSON_FILES, RECORDS, TABLES, TIMELINES, Scope

EMPTY_FILE = ALL_FILES.rule("empty-file", "error", "0 bytes")
UNREADABLE = ALL_FILES.rule("unreadable", "error", "a path that does not exist or cannot be opened (exit code 3)")
NOTHING_FOUND = ALL_FILES.rule("nothing-found", "error", "a path with no file of a known kind")
UNKNOWN_FILE = ALL_FILES.rule("unknown-file", "error", "a file that was given by name but is of no known kind")
NOT_READ = ALL_FILES.rule(
    "not-read",
    "info",
    "files that are recognised but not read, and why (a warning if MindSpore's own profiler wrote no other files, and for raw "
    "data without exports)",
)
NOT_A_FILE = ALL_FILES.rule("not-a-file", "warning", "a folder, pipe or device that has the name of an input file")
BROKEN_LINK = ALL_FILES.rule("broken-link", "warning", "a link that leads nowhere or is circular")
LINK_LOOP = ALL_FILES.rule("link-loop", "warning", "a link to a folder that was already read or that contains the link")
PATH_TOO_DEEP = ALL_FILES.rule(
    "path-too-deep", "error", "folders are nested too deeply; the deeper content is not read (exit code 3)"
)
TOO_MUCH_LINKED = ALL_FILES.rule(
    "too-much-linked",
    "error",
    "too much content behind links that lead out of the given path; the rest is not read (exit code 3)",
)
ARCHIVE = ALL_FILES.rule(
    "archive",
    "warning",
    "an archive in a folder, or one of another kind than zip and tar, which is not read; members of an archive that are left out, or "
    "have the same name",
)
ARCHIVE_DAMAGED = ALL_FILES.rule(
    "archive-damaged", "error", "a zip or tar archive that cannot be unpacked as a whole: none of it is used"
)
GZIP_DAMAGED = ALL_FILES.rule("gzip-damaged", "error", "a compressed file that cannot be fully decompressed")
EXPANDED_TOO_LARGE = ALL_FILES.rule(
    "expanded-too-large", "error", "a compressed file that exceeds the allowed size when decompressed"
)
SPARSE_FILE = ALL_FILES.rule(
    "sparse-file", "error", "a large text file with parts that were never written: none of it is used"
)
SUPERSEDED = ALL_FILES.rule("superseded", "info", "an older export next to a newer one of the same kind")
SEVERAL_EXPORTS = ALL_FILES.rule(
    "several-exports",
    "warning",
    "two exports of one kind whose order cannot be determined from their names; one is used",
)
INFO_FILE = ALL_FILES.rule("info-file", "warning", "an info file that is not JSON: rank and time may be missing")
SLICE_MISSING = TABLES.rule("slice-missing", "error", "a gap in the slice numbers: rows are missing")
JSON_SYNTAX = JSON_FILES.rule("json-syntax", "error", "not JSON, and not merely cut off")
JSON_TRUNCATED = JSON_FILES.rule("json-truncated", "error", "the text ends before the document does")
JSON_DUPLICATE_KEY = JSON_FILES.rule(
    "json-duplicate-key",
    "warning",
    "a key appears twice in one object; all occurrences are read (in tables: an error, none is read)",
)
JSON_ENCODING = JSON_FILES.rule(
    "json-encoding", "warning", "not UTF-8 (read as GB18030; of a timeline each such event is left out)"
)
JSON_TOO_LARGE = JSON_FILES.rule(
    "json-too-large",
    "error",
    "larger than the read limit (results 256 MiB, banks 64 MiB, documents 1 GiB, one event 16 MiB)",
)
JSON_SHAPE = TIMELINES.rule(
    "json-shape", "error", "neither a list of trace events nor an object with such a list (traceEvents)"
)
JSON_ROW = TABLES.rule("json-row", "error", "an entry of a JSON summary or document that is not a row")
RECORDS_TABLE = RECORDS.rule(
    "records-table", "error", "a CSV or Parquet file of records that cannot be read from here on, or a row of it"
)
BENCHMARK_RESULT = RECORDS.rule(
    "benchmark-result", "error", "a part of a benchmark's result that lacks what its form demands; it is left out"
)
TOTAL_MISMATCH = TABLES.rule(
    "total-mismatch", "warning", "communication.json: the operators do not add up to its own total"
)
CSV_UNPARSABLE = TABLES.rule("csv-unparsable", "error", "a cell that should contain a number but does not")
MISSING_VALUE = TABLES.rule("missing-value", "error", "a required value is missing; the row cannot be used")
NEGATIVE_DURATION = TABLES.rule("negative-duration", "error", "a duration is never negative")
OPERATOR_BANKS = Scope("operator banks")
OPERATOR_BANK_ENTRY = OPERATOR_BANKS.rule(
    "operator-bank-entry",
    "error",
    "a line or member of an operator bank that is no entry; it is left out",
    "the open code of CANN that reads banks (opbase, op_runtime_bank.cpp)",
)
UNIT_MISMATCH = Scope("AOE results, tables").rule(
    "unit-mismatch",
    "error",
    "operators are in us, subgraphs in ms; columns in units that exporters write",
    "AOE result documents, CANN 6.0 to 8.0",
)
