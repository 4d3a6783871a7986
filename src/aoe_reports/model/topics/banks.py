"""What is said of a bank of gradients."""

from __future__ import annotations

from aoe_reports.model.rows import column, row


@row
class BankSummary:
    """How much is in a bank; no document names the unit of its times."""

    soc: str | None = column()
    models: int = column("Models", "integer")
    used_models: int = column()
    gradients: int = column("Gradients", "integer")
    size_bytes: int = column("Size (bytes)", "integer")
    largest_bytes: int | None = column("Largest (bytes)", "integer")
    time_after_start: int = column("Time (unit unknown)", "integer")
    time_unit: str | None = column()
