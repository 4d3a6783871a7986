"""What msprof and the Ascend Optimization Engine leave behind: read, checked, stored, compared.

The public names; each is imported when it is first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aoe_reports.model.version import __version__ as __version__

if TYPE_CHECKING:
    from aoe_reports.engine.profiles import Profile, read_profile
    from aoe_reports.facts.bounds import (
        CoreCounts,
        Operator,
        OperatorBounds,
        StepShares,
        cap_saving,
        measure_operators,
    )
    from aoe_reports.facts.breakdown import DeviceBreakdown, break_down_events
    from aoe_reports.facts.communication import find_slow_links, find_slow_ranks
    from aoe_reports.facts.frames import compare_tasks, list_steps, rank_hotspots
    from aoe_reports.facts.gradient_tail import find_gradient_tails
    from aoe_reports.facts.idle import idle_before_tasks, shares_of_tasks
    from aoe_reports.facts.steps import Step
    from aoe_reports.formats.aoe.bank_file import BankFile, read_bank
    from aoe_reports.formats.aoe.gradients import GradientBank, GradientModel
    from aoe_reports.formats.aoe.result_files import ResultFile, read_results
    from aoe_reports.formats.aoe.results import Modification, TuningResult
    from aoe_reports.formats.csv.summary import TableData, read_table
    from aoe_reports.formats.records.record import Record
    from aoe_reports.formats.schemas import load_schema
    from aoe_reports.history.attribution import attribute_change
    from aoe_reports.history.detector import detect_changes, review_history
    from aoe_reports.jobs.report import NightReport, ReportOptions, report_night, write_figures
    from aoe_reports.jobs.verify import verify
    from aoe_reports.jobs.verify_case import VerifyWish
    from aoe_reports.model.errors import AoeReportsError
    from aoe_reports.model.findings import Finding
    from aoe_reports.questions.advice.registry import Advice, Facts, Thresholds, find_advice
    from aoe_reports.rules.results.check import check_result, check_result_file
    from aoe_reports.rules.validate import validate
    from aoe_reports.site.build import build_site
    from aoe_reports.stats.comparison import Compared, Difference
    from aoe_reports.stats.grouping import Group
    from aoe_reports.store import History
    from aoe_reports.tuning.plan import Plan
    from aoe_reports.tuning.plan_folder import read_plan, write_plan
    from aoe_reports.tuning.planning import PlanWish, make_plan
    from aoe_reports.tuning.ranking import Wanted

_HOMES = {
    "Advice": "questions.advice.registry",
    "AoeReportsError": "model.errors",
    "BankFile": "formats.aoe.bank_file",
    "Compared": "stats.comparison",
    "CoreCounts": "facts.bounds",
    "DeviceBreakdown": "facts.breakdown",
    "Difference": "stats.comparison",
    "Facts": "questions.advice.registry",
    "Finding": "model.findings",
    "GradientBank": "formats.aoe.gradients",
    "GradientModel": "formats.aoe.gradients",
    "Group": "stats.grouping",
    "History": "store",
    "Modification": "formats.aoe.results",
    "NightReport": "jobs.report",
    "Operator": "facts.bounds",
    "OperatorBounds": "facts.bounds",
    "Plan": "tuning.plan",
    "PlanWish": "tuning.planning",
    "Profile": "engine.profiles",
    "Record": "formats.records.record",
    "ReportOptions": "jobs.report",
    "ResultFile": "formats.aoe.result_files",
    "Step": "facts.steps",
    "StepShares": "facts.bounds",
    "TableData": "formats.csv.summary",
    "Thresholds": "questions.advice.registry",
    "TuningResult": "formats.aoe.results",
    "VerifyWish": "jobs.verify_case",
    "Wanted": "tuning.ranking",
    "attribute_change": "history.attribution",
    "break_down_events": "facts.breakdown",
    "build_site": "site.build",
    "cap_saving": "facts.bounds",
    "check_result": "rules.results.check",
    "check_result_file": "rules.results.check",
    "compare_tasks": "facts.frames",
    "detect_changes": "history.detector",
    "find_advice": "questions.advice.registry",
    "find_gradient_tails": "facts.gradient_tail",
    "find_slow_links": "facts.communication",
    "find_slow_ranks": "facts.communication",
    "idle_before_tasks": "facts.idle",
    "list_steps": "facts.frames",
    "load_schema": "formats.schemas",
    "make_plan": "tuning.planning",
    "measure_operators": "facts.bounds",
    "rank_hotspots": "facts.frames",
    "read_bank": "formats.aoe.bank_file",
    "read_plan": "tuning.plan_folder",
    "read_profile": "engine.profiles",
    "read_results": "formats.aoe.result_files",
    "read_table": "formats.csv.summary",
    "report_night": "jobs.report",
    "review_history": "history.detector",
    "shares_of_tasks": "facts.idle",
    "validate": "rules.validate",
    "verify": "jobs.verify",
    "write_figures": "jobs.report",
    "write_plan": "tuning.plan_folder",
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
    "ReportOptions",
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
