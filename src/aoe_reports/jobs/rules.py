"""Every rule that a finding can name, with its severity and reason."""

from __future__ import annotations

from aoe_reports.engine import rules as of_captures
from aoe_reports.formats import rules as of_files
from aoe_reports.formats.csv import rules as of_csv
from aoe_reports.formats.memory_files import rules as of_recordings
from aoe_reports.formats.sqlite import rules as of_databases
from aoe_reports.formats.trace import rules as of_timelines
from aoe_reports.formats.tuner_files import tuner_file_kinds
from aoe_reports.history import rules as of_history
from aoe_reports.jobs.ab import rules as of_sides
from aoe_reports.model.history import expected
from aoe_reports.model.rules import ListedRule, rules_in
from aoe_reports.rules import gradient_bank, operator_bank, profiling_options, records, schema
from aoe_reports.rules import rules as of_tables
from aoe_reports.rules.forms import statistics
from aoe_reports.rules.results import FILE_RULES, RULES
from aoe_reports.rules.tables import memory, rows, steps, streams
from aoe_reports.store import rules as of_the_store
from aoe_reports.topics import rules as of_questions
from aoe_reports.topics.communication import bucket_order, contention, packets, pipeline_steps
from aoe_reports.topics.communication import facts as communication
from aoe_reports.topics.communication import over_ranks as communication_fleet
from aoe_reports.tuning import rules as of_tuning
from aoe_reports.tuning.aoe import preflight
from aoe_reports.tuning.banks import adopt

MODULES = (
    expected, of_files, of_csv, of_recordings, of_databases, of_timelines, of_captures, of_questions, of_history, of_sides, of_the_store, of_tuning, adopt,
    of_tables, rows, memory, steps, streams, statistics, communication, communication_fleet, contention, packets, bucket_order, pipeline_steps,
    gradient_bank, operator_bank, profiling_options, records, schema, preflight,
)  # fmt: skip
"""Where rules are declared, beside those on results (`rules/results`) and those on the files of other tuners."""


def list_rules() -> list[ListedRule]:
    """All rules, one row each, by what they are about, then by name."""
    rules = rules_in(*MODULES)
    rules |= {name: checked.rule for name, checked in FILE_RULES.items()}
    rules |= {name: checked.rule for name, checked in RULES.items()}
    rules |= {rule.name: rule for kind in tuner_file_kinds() for rule in kind.rules}
    in_order = sorted(rules.values(), key=lambda rule: (rule.on, rule.name))
    return [
        ListedRule(rule=one.name, severity=one.severity, on=one.on, reason=one.reason, source=one.source)
        for one in in_order
    ]
