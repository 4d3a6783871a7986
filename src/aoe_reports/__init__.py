"""What msprof and the Ascend Optimization Engine leave behind: read, checked, stored, compared.

The public names; each is imported when it is first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aoe_reports.analysis.breakdown import DeviceBreakdown, break_down_events
    from aoe_reports.checks.results import check_result, check_result_file
    from aoe_reports.checks.validate import validate
    from aoe_reports.errors import AoeReportsError
    from aoe_reports.findings import Finding
    from aoe_reports.gradients import GradientBank, GradientModel
    from aoe_reports.readers.bank import BankFile, read_bank
    from aoe_reports.readers.results import ResultFile, read_results
    from aoe_reports.readers.summary import TableData, read_table
    from aoe_reports.records.record import Record
    from aoe_reports.regression.attribution import attribute_change
    from aoe_reports.regression.detector import detect_changes
    from aoe_reports.results import Modification, TuningResult
    from aoe_reports.schemas import load_schema
    from aoe_reports.store import History
    from aoe_reports.workflows.profiles import Profile, read_profile

__version__ = "0.1.0"

_HOMES = {
    "AoeReportsError": "errors",
    "BankFile": "readers.bank",
    "DeviceBreakdown": "analysis.breakdown",
    "Finding": "findings",
    "GradientBank": "gradients",
    "GradientModel": "gradients",
    "History": "store",
    "Modification": "results",
    "Record": "records.record",
    "Profile": "workflows.profiles",
    "ResultFile": "readers.results",
    "TableData": "readers.summary",
    "TuningResult": "results",
    "attribute_change": "regression.attribution",
    "break_down_events": "analysis.breakdown",
    "check_result": "checks.results",
    "check_result_file": "checks.results",
    "detect_changes": "regression.detector",
    "load_schema": "schemas",
    "read_bank": "readers.bank",
    "read_profile": "workflows.profiles",
    "read_results": "readers.results",
    "read_table": "readers.summary",
    "validate": "checks.validate",
}

__all__ = [
    "AoeReportsError",
    "BankFile",
    "DeviceBreakdown",
    "Finding",
    "GradientBank",
    "GradientModel",
    "History",
    "Modification",
    "Profile",
    "Record",
    "ResultFile",
    "TableData",
    "TuningResult",
    "attribute_change",
    "break_down_events",
    "check_result",
    "check_result_file",
    "detect_changes",
    "load_schema",
    "read_bank",
    "read_profile",
    "read_results",
    "read_table",
    "validate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
