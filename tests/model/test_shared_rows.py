"""Columns of the rows that several commands share: the keys of JSON, and the titles, units and kinds that people see."""

from __future__ import annotations

import pytest

from aoe_reports.model.advice import LeftOutRow, StoredAdviceRow, StoredCandidate
from aoe_reports.model.banks import BankSummary
from aoe_reports.model.changes import (
    Acknowledged,
    AlarmBudget,
    BaselineLevel,
    IncidentCause,
    IncidentChange,
    IncidentMember,
    MovedCost,
    OperatorChange,
    PinnedShift,
    SeriesChange,
    StepAttribution,
    Suspicion,
    ToldFact,
)
from aoe_reports.model.listings import ListedAdvice, ListedChange, ListedRecord, ListedRun, ListedVerdict, ListedWord
from aoe_reports.model.rows import fields_of
from aoe_reports.model.rules import ListedRule
from aoe_reports.model.runs import GroupTotal, IngestedRun, StepTimes, TuningClaim

COLUMNS: dict[type, str] = {
    StoredAdviceRow: """
        position = # [integer]
        rule = Rule
        source
        rank_id
        device_id
        devices
        op_type = Operator type
        op_name = Operator
        input_shapes
        count = Tasks [integer]
        total_us = Total [us]
        share = Share [percent]
        bound_by
        evidence
        bound_us = Bound, per step [us]
        bound_share = Bound, share of the step [percent]
        advice
    """,
    StoredCandidate: """
        position = # [integer]
        kind = Kind [word]
        rank_id
        device_id
        op_type = Operator type
        op_name = Operator
        input_shapes
        count = Tasks [integer]
        total_us = Total [us]
        share = Share of the step [percent]
        bound_by = Bound by [word]
        bound_saving_us = Bound, per step [us]
        expected_saving_us = Expected, per step [us]
        cost_s = Tuning time [s]
        reason
    """,
    LeftOutRow: """
        position
        rule = Rule
        meaning = Meaning
        operators
        total_us = Total [us]
    """,
    BankSummary: """
        soc
        models = Models [integer]
        used_models
        gradients = Gradients [integer]
        size_bytes = Size (bytes) [integer]
        largest_bytes = Largest (bytes) [integer]
        time_after_start = Time (unit unknown) [integer]
        time_unit
    """,
    Acknowledged: """
        kind
        id
        who
        when
        reason
    """,
    BaselineLevel: """
        kind
        level
        nights
        until
    """,
    PinnedShift: """
        since
        since_run
        state
        before
        after
        change
        ci_low
        ci_high
        incident
    """,
    Suspicion: """
        since
        change
    """,
    ToldFact: """
        name
        before
        after
        seen
    """,
    OperatorChange: """
        op_type = Operator type
        op_name = Operator
        difference_us = Difference, per step [us]
        cause = Cause [word]
        before_us = Before, per step [us] < difference_us
        after_us = After, per step [us] < difference_us
        count_before
        count_after
        calls_us
        count_us
        inputs_us
        repository_run = Tuned by run
        repository_night = Night of tuning
    """,
    MovedCost: """
        from
        to
        moved_us
    """,
    StepAttribution: """
        before_us
        after_us
        total_us
        operators_us
        other_operators_us
        communication_not_overlapped_us
        free_us
        unattributed_us
        operators
        communication
        shifts
        left_out_nights
    """,
    SeriesChange: """
        series_id = Series < incident
        workload = Workload
        scope
        op_type
        op_name
        metric
        hardware = Hardware
        rank_id = Rank [integer] < hardware
        device_id = Device [integer] < hardware
        state = State [alarm] < workload
        since_run
        since = Since
        before = Before [ms]
        after = After [ms]
        change = Change [change]
        ci_low = from [change]
        ci_high = to [change]
        smallest_detectable = Minimum detectable effect [change]
        nights = Nights [integer]
        left_out
        reason = Reason not judged [word]
        last_night
        ended
        impact_ms = Impact on a run [ms]
        incident
        first_since
        new
        acknowledged
        baseline
        moves
        suspicion
        metadata
        attribution
        fails
    """,
    IncidentMember: """
        series_id
        workload
        scope
        op_type
        op_name
        rank_id
        state
        since
        before
        after
        change
        impact_ms
        open
    """,
    IncidentCause: """
        kind
        rank_id
        op_type
        op_name
        change
        followers
        members
    """,
    IncidentChange: """
        incident
        title
        since
        since_run
        since_now
        model
        hardware
        change
        impact_ms
        open
        metadata
        causes
        members
    """,
    AlarmBudget: """
        false_alarms_per_year
        series
        eligible
        detector
        baseline
        whole_history
    """,
    ListedRun: """
        night = Night
        run = Run
        kind = Kind [word]
        workload = Workload
        hardware = Hardware
        status = Status [word]
        time
        timestamp_ns
        members
        path = Path
    """,
    ListedRecord: """
        night = Night
        run = Run
        timestamp_ns
        workload = Workload
        model
        scope = Scope [word]
        source
        phase = Phase [word]
        op_type
        op_name
        rank_id = Rank [integer]
        device_id
        hardware
        engine_version
        runtime_ms_mean = Mean [ms]
        runtime_ms_std = Std [ms]
        count = Count [integer]
        total_ns
        series_id
    """,
    ListedVerdict: """
        night = Night
        job
        timestamp_ns
        workload = Workload
        hardware
        rank_id = Rank [integer]
        scope = Scope [word]
        op_type = Operator type
        op_name = Operator
        input_shapes = Input shapes
        verdict = Verdict [state]
        claimed_before_us = Claimed before [us]
        claimed_after_us = Claimed after [us]
        measured_before_us = Measured before [us]
        measured_after_us = Measured after [us]
        claim = Basis of claim [word]
        claimed_change = Claimed change (after/before - 1) [gain]
        change = Change (after/before - 1) [gain]
        ci_low = from [gain]
        ci_high = to [gain]
        reason = Remark [sentence]
        verdict_of_job
        bank_digest
    """,
    ListedAdvice: """
        night = Night
        timestamp_ns
        run = Run
        workload = Workload
        state = Row [word]
        position = # [integer]
        rule = Rule
        source
        rank_id = Rank [integer] < rule
        device_id
        devices
        op_type = Operator type
        op_name = Operator
        input_shapes
        count = Tasks [integer]
        total_us = Total [us]
        share
        bound_by
        bound_us = Bound, per step [us]
        bound_share = Bound, share of the step [percent]
        evidence = Evidence [sentence]
        advice = Advice [sentence]
        kind
        expected_saving_us = Expected, per step [us] < evidence
        bound_saving_us
        cost_s
        reason = Plan [sentence]
        operators = Operators [integer] < evidence
        meaning = Reason for exclusion [sentence]
        summary
    """,
    ListedChange: """
        state = State [alarm]
        workload = Workload
        rank_id = Rank [integer]
        since = Since
        before = Before [ms]
        after = After [ms]
        change = Change [change]
        found = Recorded
        withdrawn = Withdrawn
        incident = Incident
        subject = About
    """,
    ListedWord: """
        when = When
        state = State [state]
        subject = About
        since = From
        until = Until
        low = from [change]
        high = to [change]
        run = Run
        who = Author
        reason = Reason [sentence]
        id = Id
    """,
    ListedRule: """
        rule = Rule
        severity = Severity [word]
        on = Applies to [sentence]
        reason = Reason [sentence]
        source = Source [sentence]
    """,
    IngestedRun: """
        night = Night
        run = Run
        kind = Kind [word]
        workload = Workload
        hardware
        records = Records [integer]
        step_ms = Step [ms]
        outcome = Store [word]
        status = Status [word]
        path = Path
    """,
    TuningClaim: """
        run = Run
        scope
        name = Operator or subgraph
        op_type = Operator type
        claimed_before_us = Claimed before [us]
        claimed_after_us = Claimed after [us]
        speed_up = Claimed speed-up (before/after - 1) [change]
    """,
    StepTimes: """
        rank_id
        device_id
        series_id
        workload
        steps
        step_ms = Step [ms]
        std_ms = Std [ms]
        computing_ms = Computing [ms]
        communication_ms = Non-overlapped communication [ms]
        free_ms = Free [ms]
    """,
    GroupTotal: """
        rank_id
        device_id
        op_type
        op_name
        task_type
        input_shapes
        count = Tasks [integer]
        total_us = Total [us]
        mean_us = Mean [us]
        share = Share [percent]
        series_id
    """,
}
"""`key = title [kind] < the field that it stands before`, of columns that people see; of others the key alone."""


@pytest.mark.parametrize("cls", COLUMNS, ids=lambda cls: cls.__name__)
def test_columns_of_rows(cls: type) -> None:
    told = []
    for field in fields_of(cls):
        title = f" = {field.cell.title}" if field.cell.title else ""
        kind = f" [{field.cell.kind}]" if field.cell.kind != "text" else ""
        before = f" < {field.cell.before}" if field.cell.before else ""
        told.append(f"{field.key}{title}{kind}{before}")
    assert told == [line.strip() for line in COLUMNS[cls].strip().splitlines()]
