"""Where runs, records and findings lie: one Delta table, one commit a run."""

from aoe_reports.store.history import History, Outcome
from aoe_reports.store.layout import Member, Run, RunHeader, content_hash_of

__all__ = ["History", "Member", "Outcome", "Run", "RunHeader", "content_hash_of"]
