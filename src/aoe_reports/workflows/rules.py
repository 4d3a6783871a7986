"""Every rule that a finding can name, with its severity and reason."""

from __future__ import annotations

from typing import Any

from aoe_reports.checks.results import RULES

READING_RULES: tuple[tuple[str, str, str, str], ...] = (
    ("json-syntax", "error", "AOE results", "not JSON, and not merely cut off"),
    ("json-truncated", "error", "AOE results", "the text ends before the document does"),
    ("json-duplicate-key", "warning", "AOE results", "a key stands twice in one object; all are read"),
    ("json-encoding", "warning", "AOE results", "not UTF-8 (read as GB18030)"),
    ("json-too-large", "error", "AOE results", "larger than any result of AOE can be"),
    ("schema", "error", "AOE results", "shape or type is not what the schema says"),
    ("segment-kind", "error", "AOE results", "the file name says opat, the segment SGAT, or the other way"),
    ("segment-count", "error", "AOE results", "not exactly one basic, or more than one OPAT or SGAT"),
    ("unit-mismatch", "error", "AOE results", "an (ms) key where (us) belongs, or the other way"),
    ("csv-ragged-row", "error", "tables", "a row with more or fewer cells than the header"),
    ("csv-spread-row", "error", "tables", "a row over several lines: stray quotes swallow rows"),
    ("implausible-count", "error", "tables", "a count of tasks that is not above 0"),
    ("csv-truncated", "error", "tables", "the file does not end with a line end"),
    ("csv-unparsable", "error", "tables", "a cell that should be a number and is none"),
    ("csv-encoding", "warning", "tables", "not UTF-8 (read as GB18030; an error where it is neither)"),
    ("csv-syntax", "error", "tables", "cannot be taken apart into rows"),
    ("missing-column", "error", "tables", "a column that the kind has in every vintage is not there"),
    ("missing-value", "error", "tables", "no value where the row is of no use without one"),
    ("negative-duration", "error", "tables", "nothing takes less than no time"),
    ("statistic-mismatch", "warning", "tables", "op_statistic is not the tasks grouped by type"),
    ("forms-disagree", "warning", "tables", "two forms of the same tasks differ"),
    ("empty-file", "error", "all files", "0 bytes"),
    ("unreadable", "error", "all files", "a path that is not there or cannot be opened (exit code 3)"),
    ("nothing-found", "error", "all files", "a path with no file of a known kind"),
    ("unknown-file", "error", "all files", "a file that was named and is of no known kind"),
    ("broken-link", "warning", "all files", "a link that leads nowhere or in a circle"),
    ("timeline-event", "error", "timelines", "an event without its times"),
    ("json-shape", "error", "timelines", "not a list of trace events"),
    ("several-exports", "warning", "all files", "two exports of one kind whose names tell no order; one is used"),
    ("superseded", "info", "all files", "an older export beside a newer one of the same kind"),
    ("info-file", "warning", "all files", "an info file that is no JSON: rank and time may be missing"),
    ("less-complete", "warning", "runs", "the store has a more complete version of the run, and keeps it"),
    ("stands-in", "info", "runs", "no table of tasks: another table is ranked instead"),
    ("not-read", "info", "all files", "files of known kinds that `check` does not read"),
    ("link-loop", "warning", "all files", "a link to a folder that is read already"),
    ("nothing-measured", "error", "runs", "a capture without one usable time"),
    ("workload-unknown", "info", "runs", "nothing tells what was measured"),
    ("workload-conflict", "error", "runs", "the same content is stored under another workload"),
    ("time-unknown", "warning", "runs", "nothing tells when it was made"),
    ("time-zone-assumed", "info", "runs", "a time without a zone was taken as UTC"),
    ("operators-capped", "info", "runs", "more operators than become records"),
)
"""(rule, severity, what it is about, when it fires) of the rules that reading and storing apply."""


def list_rules() -> list[dict[str, Any]]:
    """All rules, one row each, in a stable order."""
    rows = [
        {"rule": name, "severity": severity, "on": on, "reason": reason, "source": ""}
        for name, severity, on, reason in READING_RULES
    ]
    rows += [
        {"rule": name, "severity": rule.severity, "on": "AOE results", "reason": rule.reason, "source": rule.source}
        for name, rule in RULES.items()
    ]
    return rows
