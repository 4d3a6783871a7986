"""What msprof and the Ascend Optimization Engine leave behind: read, checked, stored, compared.

The public names; each is imported when it is first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aoe_reports.analysis.advice import Advice, Facts, Thresholds, find_advice
    from aoe_reports.analysis.bounds import (
        CoreCounts,
        Operator,
        OperatorBounds,
        StepShares,
        cap_saving,
        measure_operators,
    )
    from aoe_reports.analysis.breakdown import DeviceBreakdown, break_down_events
    from aoe_reports.analysis.communication import find_slow_links, find_slow_ranks
    from aoe_reports.analysis.comparison import Compared, Difference
    from aoe_reports.analysis.frames import compare_tasks, list_steps, rank_hotspots
    from aoe_reports.analysis.gradient_tail import find_gradient_tails
    from aoe_reports.analysis.hotspots import Group
    from aoe_reports.analysis.idle import idle_before_tasks, shares_of_tasks
    from aoe_reports.analysis.steps import Step
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
    from aoe_reports.regression.detector import detect_changes, review_history
    from aoe_reports.results import Modification, TuningResult
    from aoe_reports.schemas import load_schema
    from aoe_reports.store import History
    from aoe_reports.tuning.plan import Plan
    from aoe_reports.tuning.ranking import Wanted
    from aoe_reports.workflows.plan import PlanWish, make_plan
    from aoe_reports.workflows.plan_folder import read_plan, write_plan
    from aoe_reports.workflows.profiles import Profile, read_profile
    from aoe_reports.workflows.report import NightReport, ReportWish, report_night, write_figures
    from aoe_reports.workflows.site import build_site
    from aoe_reports.workflows.verify import VerifyWish, verify

__version__ = "0.1.0"

_HOMES = {
    "Advice": "analysis.advice",
    "AoeReportsError": "errors",
    "BankFile": "readers.bank",
    "Compared": "analysis.comparison",
    "CoreCounts": "analysis.bounds",
    "DeviceBreakdown": "analysis.breakdown",
    "Difference": "analysis.comparison",
    "Facts": "analysis.advice",
    "Finding": "findings",
    "GradientBank": "gradients",
    "GradientModel": "gradients",
    "Group": "analysis.hotspots",
    "History": "store",
    "Modification": "results",
    "NightReport": "workflows.report",
    "Operator": "analysis.bounds",
    "OperatorBounds": "analysis.bounds",
    "Plan": "tuning.plan",
    "PlanWish": "workflows.plan",
    "Profile": "workflows.profiles",
    "Record": "records.record",
    "ReportWish": "workflows.report",
    "ResultFile": "readers.results",
    "Step": "analysis.steps",
    "StepShares": "analysis.bounds",
    "TableData": "readers.summary",
    "Thresholds": "analysis.advice",
    "TuningResult": "results",
    "VerifyWish": "workflows.verify",
    "Wanted": "tuning.ranking",
    "attribute_change": "regression.attribution",
    "break_down_events": "analysis.breakdown",
    "build_site": "workflows.site",
    "cap_saving": "analysis.bounds",
    "check_result": "checks.results",
    "check_result_file": "checks.results",
    "compare_tasks": "analysis.frames",
    "detect_changes": "regression.detector",
    "find_advice": "analysis.advice",
    "find_gradient_tails": "analysis.gradient_tail",
    "find_slow_links": "analysis.communication",
    "find_slow_ranks": "analysis.communication",
    "idle_before_tasks": "analysis.idle",
    "list_steps": "analysis.frames",
    "load_schema": "schemas",
    "make_plan": "workflows.plan",
    "measure_operators": "analysis.bounds",
    "rank_hotspots": "analysis.frames",
    "read_bank": "readers.bank",
    "read_plan": "workflows.plan_folder",
    "read_profile": "workflows.profiles",
    "read_results": "readers.results",
    "read_table": "readers.summary",
    "report_night": "workflows.report",
    "review_history": "regression.detector",
    "shares_of_tasks": "analysis.idle",
    "validate": "checks.validate",
    "verify": "workflows.verify",
    "write_figures": "workflows.report",
    "write_plan": "workflows.plan_folder",
}

__all__ = [
    "Advice",
    "AoeReportsError",
    "BankFile",
    "Compared",
    "CoreCounts",
    "DeviceBreakdown",
    "Difference",
    "Facts",
    "Finding",
    "GradientBank",
    "GradientModel",
    "Group",
    "History",
    "Modification",
    "NightReport",
    "Operator",
    "OperatorBounds",
    "Plan",
    "PlanWish",
    "Profile",
    "Record",
    "ReportWish",
    "ResultFile",
    "Step",
    "StepShares",
    "TableData",
    "Thresholds",
    "TuningResult",
    "VerifyWish",
    "Wanted",
    "attribute_change",
    "break_down_events",
    "build_site",
    "cap_saving",
    "check_result",
    "check_result_file",
    "compare_tasks",
    "detect_changes",
    "find_advice",
    "find_gradient_tails",
    "find_slow_links",
    "find_slow_ranks",
    "idle_before_tasks",
    "list_steps",
    "load_schema",
    "make_plan",
    "measure_operators",
    "rank_hotspots",
    "read_bank",
    "read_plan",
    "read_profile",
    "read_results",
    "read_table",
    "report_night",
    "review_history",
    "shares_of_tasks",
    "validate",
    "verify",
    "write_figures",
    "write_plan",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
