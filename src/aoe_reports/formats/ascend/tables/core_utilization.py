"""Counters of each core over a whole capture, as msprof samples them (`--aic-mode=sample-based`); which they are `--aic-metrics` says."""

from __future__ import annotations

from aoe_reports.formats.table import Table, device, text
from aoe_reports.model.texts import say

AI_CORE_UTILIZATION = Table(
    name="ai_core_utilization",
    title=say("counters of each AI core over the whole capture, and their average, as they were sampled"),
    columns=(device(), text("core", "Core ID")),
    vintages=(("2022-03", "Core ID"),),
    identity=("device_id", "core"),
)

AI_VECTOR_CORE_UTILIZATION = Table(
    name="ai_vector_core_utilization",
    title=say("counters of each vector core over the whole capture, and their average, as they were sampled"),
    columns=(device(), text("core", "Core ID")),
    vintages=(("2022-03", "Core ID"),),
    identity=("device_id", "core"),
)
