"""Every table of a store database, and all tables by what they are of."""

from __future__ import annotations

from collections.abc import Mapping

from aoe_reports.model.texts import N_
from aoe_reports.schema.table import Column, Table
from aoe_reports.schema.tables import FINDING, TABLES

_RUN_ID = Column("run_id", "Run that it belongs to.", "VARCHAR", refers_to="run.run_id")
_NIGHT = Column("night", "Its night, as YYYY-MM-DD.", "VARCHAR")
_RANK = Column("rank_id", "Rank; null where it is of no single rank.")
_DEVICE = Column("device_id", "Device; null where it is of no single device.")
_OP_TYPE = Column("op_type", "Type of the operator.", "VARCHAR")
_OP_NAME = Column("op_name", "Name of the operator.", "VARCHAR")
_WORKLOAD = Column("workload", "What is measured, such as MODEL/step or MODEL/op/NAME.", "VARCHAR")
_SCOPE = Column("scope", "What it is of: step, model, op_type, op, communication, …", "VARCHAR")
_HARDWARE = Column("hardware", "Name of the chip.", "VARCHAR")
_OF_RECORD = (
    _RUN_ID,
    _NIGHT,
    Column("timestamp_ns", "When it was measured, in ns since 1970."),
    _WORKLOAD,
    Column("model", "Name of the workload as a whole.", "VARCHAR"),
    _SCOPE,
    Column("source", "Where the times are from, such as msprof, aoe or foreign.", "VARCHAR"),
)
_OF_TIMES = (
    _RANK,
    _DEVICE,
    _HARDWARE,
    Column("engine", "What ran it, such as CANN.", "VARCHAR"),
    Column("mean_ms", "Mean time.", "DOUBLE"),
    Column("std_ms", "Standard deviation of a sample; null where there is only one time.", "DOUBLE"),
    Column("count", "How many times the mean is of."),
    Column("total_ns", "Their sum; null where only the mean is known."),
    Column("workload_args", "Shapes, data types and formats, as JSON.", "VARCHAR"),
)
RUN = Table(
    "run",
    N_("One stored run: a profile of one or many ranks, a tuning, or records of another tool."),
    (
        Column("run_id", "Id of the run, as `store history runs` shows it.", "VARCHAR"),
        Column("kind", "profile, tuning or foreign.", "VARCHAR"),
        _NIGHT,
        Column("timestamp_ns", "When it started, in ns since 1970."),
        Column("model", "Name of the workload.", "VARCHAR"),
        _HARDWARE,
        Column("status", "ok, incomplete, …; incomplete profiles are compared with nothing.", "VARCHAR"),
        Column("path", "Where it was read.", "VARCHAR"),
        Column("members", "How many parts it has: one a rank."),
        Column("rows_read", "Rows of all its parts."),
        Column("content_hash", "Hash of what was read.", "VARCHAR"),
        Column("normaliser_version", "Version of the code that made its records."),
        Column("engine", "What ran it, such as CANN; null where its records say it.", "VARCHAR"),
        Column("engine_version", "Version of the engine; null where its records say it.", "VARCHAR"),
        Column("hardware_config", "Facts about the machine, as JSON.", "VARCHAR"),
        Column("runtime_config", "Facts about how it ran, as JSON.", "VARCHAR"),
    ),
    ("run_id",),
)
RECORD = Table(
    "record",
    N_("One measured time of a run: of a step, an operator type, an operator, communication, …"),
    (
        Column("record_id", "Number of the record, from 1; another query may number otherwise."),
        *_OF_RECORD,
        Column("phase", "before or after, of a tuning.", "VARCHAR"),
        _OP_TYPE,
        _OP_NAME,
        *_OF_TIMES,
        Column("engine_version", "Version of the engine.", "VARCHAR"),
        Column("series_id", "Series of nights that it belongs to.", "VARCHAR", refers_to="verdict.series_id"),
    ),
    ("record_id",),
)
RANK_RECORD = Table(
    "rank_record",
    N_("One measured time of a single rank, of runs of so many ranks that record has the times over all of them."),
    (*_OF_RECORD, _OP_TYPE, _OP_NAME, *_OF_TIMES),
    (),
)
METRIC = Table(
    "metric",
    N_("One number of a record beside its time: throughput, memory, …"),
    (
        Column("record_id", "Record.", refers_to="record.record_id"),
        _RUN_ID,
        Column("name", "Name of the metric.", "VARCHAR"),
        Column("value", "Its value, in its unit.", "DOUBLE"),
        Column("unit", "Unit that the record names.", "VARCHAR"),
        Column("better", "lower or higher, as the record says.", "VARCHAR"),
        Column(
            "series_id",
            "Series of nights that it belongs to; null of a profile, whose metrics are parts of the time.",
            "VARCHAR",
            refers_to="verdict.series_id",
        ),
    ),
    ("record_id", "name"),
)
RUN_FINDING = Table(
    "run_finding",
    N_("What was found wrong with the files of a run when it was stored, in English."),
    (_RUN_ID, *FINDING.columns),
    (),
)
ADVICE = Table(
    "advice",
    N_("One row of the advice that is stored with a run, as `store history advice` lists it."),
    (
        _RUN_ID,
        Column("state", "summary, advice, msprof, candidate (of a plan) or left-out (of a plan).", "VARCHAR"),
        Column("position", "Its place among the rows of its run and state, from 1."),
        Column("rule", "Rule of advice, or why a plan leaves something out.", "VARCHAR"),
        Column("source", "Who gives it: aoe-reports or msprof.", "VARCHAR"),
        _RANK,
        _DEVICE,
        Column("devices", "On how many devices it was found."),
        _OP_TYPE,
        _OP_NAME,
        Column("input_shapes", "Shapes of the inputs.", "VARCHAR"),
        Column("count", "Number of tasks."),
        Column("total_us", "Time of these tasks.", "DOUBLE"),
        Column("share", "Their share of the step.", "DOUBLE"),
        Column("bound_by", "What limits the operator.", "VARCHAR"),
        Column("bound_us", "Upper bound of the gain, in us per step.", "DOUBLE"),
        Column("bound_share", "The same as a share of the step.", "DOUBLE"),
        Column("evidence", "What the advice rests on, in English.", "VARCHAR"),
        Column("advice", "What could be done, in English.", "VARCHAR"),
        Column("kind", "Kind of tuning, of a candidate.", "VARCHAR"),
        Column("expected_saving_us", "Expected gain of tuning, in us per step.", "DOUBLE"),
        Column("bound_saving_us", "Upper bound of this gain, in us per step.", "DOUBLE"),
        Column("cost_s", "How long the tuning takes.", "DOUBLE"),
        Column("reason", "Why it is worth tuning, in English.", "VARCHAR"),
        Column("operators", "How many operators a plan leaves out for this reason."),
        Column("meaning", "What the reason means, in English.", "VARCHAR"),
    ),
    ("run_id", "state", "position"),
)
_LEVELS = (
    Column("before", "Level before, in the unit of the series.", "DOUBLE"),
    Column("after", "Level after, in the unit of the series.", "DOUBLE"),
    Column("change", "after / before - 1: above 0 is slower; where better is higher, below 0 is worse.", "DOUBLE"),
    Column("ci_low", "Lower end of the interval of change.", "DOUBLE"),
    Column("ci_high", "Upper end of the interval of change.", "DOUBLE"),
)
_INCIDENT = Column("incident", "Incident that it is part of; changes that moved together have the same.", "VARCHAR")
VERDICT = Table(
    "verdict",
    N_(
        "What a series of nights does now, as `regressions --all` says it: one row for each series. `store history verdicts` lists those of `verify`."
    ),
    (
        Column("series_id", "Series.", "VARCHAR"),
        Column("model", "Name of the workload as a whole.", "VARCHAR"),
        _WORKLOAD,
        _SCOPE,
        _OP_TYPE,
        _OP_NAME,
        Column("metric", "Name of the metric; runtime_ms_mean where the series is of times.", "VARCHAR"),
        Column("unit", "Unit of before and after.", "VARCHAR"),
        Column("better", "lower or higher; null where nobody says it, then it is not judged.", "VARCHAR"),
        _HARDWARE,
        _RANK,
        _DEVICE,
        Column("state", "confirmed, drift, suspect, recovered or improved; null where nothing changed.", "VARCHAR"),
        Column("reason", "Why it cannot be judged; null where it is judged.", "VARCHAR"),
        Column("since", "First night of the change.", "VARCHAR"),
        Column("since_run", "Run of this night.", "VARCHAR", refers_to="run.run_id"),
        *_LEVELS,
        Column("smallest_detectable", "Smallest change that would be found, as a share.", "DOUBLE"),
        Column("impact_ms", "What the change adds to a run.", "DOUBLE"),
        Column("step_share", "What the change adds to a step, as a share of it.", "DOUBLE"),
        _INCIDENT,
        Column("first_since", "First night of the change as it was first reported.", "VARCHAR"),
        Column("is_new", "Whether the newest night shows the change for the first time.", "BOOLEAN"),
        Column("is_ended", "Whether the series is measured no more.", "BOOLEAN"),
        Column(
            "acknowledgement_id",
            "Who accepted or announced the change.",
            "VARCHAR",
            refers_to="acknowledgement.acknowledgement_id",
        ),
        Column("nights", "Number of nights that are judged."),
        Column("left_out", "Number of nights that are left out."),
        Column("last_night", "Newest night of the series.", "VARCHAR"),
    ),
    ("series_id",),
)
CHANGE = Table(
    "change",
    N_("One change of level of a series that nobody accepted; where all are accepted, the newest."),
    (
        Column("series_id", "Series.", "VARCHAR", refers_to="verdict.series_id"),
        Column("state", "confirmed, drift, recovered or improved.", "VARCHAR"),
        Column("since", "First night of the new level.", "VARCHAR"),
        Column("since_run", "Run of this night.", "VARCHAR", refers_to="run.run_id"),
        *_LEVELS,
        _INCIDENT,
    ),
    ("series_id", "since"),
)
ACKNOWLEDGEMENT = Table(
    "acknowledgement",
    N_(
        "What somebody said of changes and runs (`store ack`, `store expect`, `store tag`), as `store history acks` lists it."
    ),
    (
        Column("acknowledgement_id", "Id; null of a name of a run and of a revocation.", "VARCHAR"),
        Column("state", "acknowledged, expected, revoked or tag.", "VARCHAR"),
        Column("subject", "Series, incident or workload that it is about, or the name of a run.", "VARCHAR"),
        Column("timestamp_ns", "When it was said, in ns since 1970."),
        Column("since", "First night of an announced change.", "VARCHAR"),
        Column("until", "Last night on which an announced change may begin.", "VARCHAR"),
        Column("low", "Smallest announced change, as a share.", "DOUBLE"),
        Column("high", "Largest announced change, as a share.", "DOUBLE"),
        Column("run_id", "Run that is named.", "VARCHAR", refers_to="run.run_id"),
        Column("who", "Author.", "VARCHAR"),
        Column("reason", "Reason that the author gave.", "VARCHAR"),
        Column("is_revoked", "Whether it was revoked.", "BOOLEAN"),
    ),
    (),
)
STORE_TABLES: dict[str, Table] = {
    table.name: table
    for table in (RUN, RECORD, RANK_RECORD, METRIC, RUN_FINDING, ADVICE, VERDICT, CHANGE, ACKNOWLEDGEMENT)
}
"""By name, in the order in which they are documented."""
GROUPS: Mapping[str, Mapping[str, Table]] = {N_("captures"): TABLES, N_("a store"): STORE_TABLES}
"""All tables by what they are of."""
ALL_TABLES: Mapping[str, Table] = {**TABLES, **STORE_TABLES}
"""All tables by name; none is in two groups."""
