"""Rules on databases."""

from aoe_reports.model.rules import DATABASES

DB_DAMAGED = DATABASES.rule("db-damaged", "error", "not a database, truncated or corrupt")
DB_INCOMPLETE = DATABASES.rule(
    "db-incomplete", "warning", "a table that all databases of this kind have is missing or cannot be used"
)
DB_VALUE = DATABASES.rule("db-value", "error", "a value that does not have the type of its column")
DB_DANGLING_ID = DATABASES.rule("db-dangling-id", "warning", "a string number that refers to no string")
DB_JOURNAL = DATABASES.rule(
    "db-journal", "warning", "there is a journal next to it: the content of the journal is not read"
)
INEXACT_TIMESTAMP = DATABASES.rule(
    "inexact-timestamp", "warning", "a time stamp whose last digits were lost (stored as a float)"
)
