"""Rules on the text of a table and on its header."""

from aoe_reports.model.rules import TABLES

CSV_ENCODING = TABLES.rule("csv-encoding", "warning", "not UTF-8 (read as GB18030; an error if it is neither)")
CSV_SYNTAX = TABLES.rule("csv-syntax", "error", "cannot be split into rows")
CSV_SEPARATOR = TABLES.rule(
    "csv-separator", "error", "columns that are separated by semicolons, tabs or bars: a spreadsheet saved it so"
)
CSV_RAGGED_ROW = TABLES.rule("csv-ragged-row", "error", "a row with more or fewer cells than the header")
CSV_MENDED_ROW = TABLES.rule("csv-mended-row", "warning", "a row of the wrong length whose intended content is certain")
CSV_SPREAD_ROW = TABLES.rule(
    "csv-spread-row", "error", "a row that spans several lines: stray quotes swallow other rows"
)
CSV_TRUNCATED = TABLES.rule(
    "csv-truncated",
    "error",
    "the file does not end with a line end (a warning where its last row has all its cells and may be complete)",
)
WRAPPED_DURATION = TABLES.rule(
    "wrapped-duration", "warning", "a negative difference that the C++ exporter wrapped around 2**64"
)
MISSING_COLUMN = TABLES.rule(
    "missing-column", "error", "a column that all versions of this kind of table have is missing"
)
DUPLICATE_COLUMN = TABLES.rule("duplicate-column", "error", "a declared column appears twice in the header")
COLUMN_ORDER = TABLES.rule(
    "column-order", "warning", "columns in an order that no exporter writes: headers may be swapped"
)
COLUMN_UNKNOWN = TABLES.rule("column-unknown", "warning", "a header that differs by one letter from a missing header")
