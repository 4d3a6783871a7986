"""Where runs, records and findings lie: one Delta table, one commit a run."""

from aoe_reports.store.conditions import Where, equals
from aoe_reports.store.history import History, Outcome
from aoe_reports.store.layout import Run, RunHeader
from aoe_reports.store.log import Origin

__all__ = ["History", "Origin", "Outcome", "Run", "RunHeader", "Where", "equals"]
