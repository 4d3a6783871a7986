"""Where runs, records and findings lie: one Delta table, one commit a run."""

from aoe_reports.store.history import History, Outcome, equals
from aoe_reports.store.layout import Run, RunHeader

__all__ = ["History", "Outcome", "Run", "RunHeader", "equals"]
