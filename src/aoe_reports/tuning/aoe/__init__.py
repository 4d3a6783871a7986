"""The Ascend Optimization Engine as a tuner: its commands, console, codes, banks, results."""

from __future__ import annotations

from aoe_reports.formats.tuner_files import TunerFileKind

FILES: tuple[TunerFileKind, ...] = ()
"""None of its own: results and banks of AOE are read by `formats.aoe`, and every question knows them."""
