"""`regressions`: what got slower or faster in the store."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from aoe_reports.cli.output import DEFAULT_STORE, Output, Store, print_findings, show_report, write
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say

if TYPE_CHECKING:
    from aoe_reports.history.gate import Gate
    from aoe_reports.history.pinned import Baseline

Alarms = Annotated[
    float,
    typer.Option(
        "--max-false-alarms-per-year",
        min=1e-6,
        max=1e9,
        help="How many false alarms a year the whole store may raise; its series share them.",
    ),
]
Gates = Annotated[
    list[str] | None,
    typer.Option(
        "--gate", help='Fail only on such changes: "scope=step,effect>=3%"; may be repeated.', show_default=False
    ),
]
FailOn = Annotated[
    Literal["confirmed", "suspect", "never"],
    typer.Option(help="Exit with 1 on what is confirmed; with suspect, with 5 on what is only suspected, too."),
]
StrictData = Annotated[bool, typer.Option("--strict-data", help="Exit with 4 when no series has enough nights.")]
BaselineText = Annotated[
    str,
    typer.Option(
        "--baseline",
        help="What the newest level is held against: segment (the level since the last accepted change), run:RUN_ID, "
        "tag:NAME, window:YYYY-MM-DD..YYYY-MM-DD, or nights:N (the N nights before the newest three).",
    ),
]
RegressionFormat = Literal["text", "json", "csv", "markdown", "html", "junit", "sarif", "openmetrics", "grafana"]


def regressions(
    store: Store = DEFAULT_STORE,
    workload: Annotated[str | None, typer.Option(help="Only this model, or workload.", show_default=False)] = None,
    scope: Annotated[
        Literal["model", "step", "op_type", "op", "communication", "subgraph"] | None,
        typer.Option(help="Only series of this scope.", show_default=False),
    ] = None,
    alarms: Alarms = 12.0,
    gate: Gates = None,
    fail_on: FailOn = "confirmed",
    strict_data: StrictData = False,
    baseline: BaselineText = "segment",
    record: Annotated[
        bool, typer.Option("--record", help="Remember in the store what changed, as `nightly` does.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="Series that did not change, or cannot be judged, too.")] = False,
    whole: Annotated[
        bool,
        typer.Option(
            "--whole-history",
            help="Every change since the first night, looked at once; the false alarms are then those of this look. Fails on none.",
        ),
    ] = False,
    form: Annotated[RegressionFormat, typer.Option("--format", help="Form of the output.")] = "text",
    output: Output = None,
) -> None:
    """Say what got slower or faster in the stored nights, since when, by how much, and which operators did it."""
    from aoe_reports.history.regressions import RegressionSelection, find_regressions
    from aoe_reports.model.version import __version__
    from aoe_reports.present import REGRESSION_RENDERERS
    from aoe_reports.present.reports.changes import Changes

    gates, pinned = gates_of(gate), baseline_of(baseline)
    if whole and (record or baseline != "segment"):
        raise UsageError(
            say("--whole-history looks at all that ever changed; it goes with neither --baseline nor --record")
        )
    selection = RegressionSelection(
        workload=workload,
        scope=scope,
        false_alarms_per_year=alarms,
        gates=gates,
        fail_on=fail_on,
        every=every,
        baseline=pinned,
        record=record,
        whole_history=whole,
    )
    found = find_regressions(store, selection)
    reasons = [reason for reason in found.reasons if reason != "not-enough-data" or strict_data]
    if form == "json":
        from aoe_reports.present.as_json import render_rows

        text = render_rows(
            "regressions",
            [store],
            found.rows,
            found.findings,
            reasons,
            {"budget": found.budget, "incidents": found.incidents},
        )
    elif form == "csv":
        from aoe_reports.present.csv import render_rows as render_csv

        text = render_csv(found.rows)
    elif form in REGRESSION_RENDERERS:
        changes = Changes(found.rows, found.budget, found.findings, reasons, store, __version__)
        text = REGRESSION_RENDERERS[form](changes)
    else:
        from aoe_reports.present.reports.regressions import regressions_report

        text = show_report(form, regressions_report(found.rows, found.budget, found.incidents, found.remark))
    write(text, output)
    if form not in {"json", "junit", "sarif"}:  # those tell them themselves
        print_findings(found.findings)
    raise typer.Exit(next((code for reason, code in CODES.items() if reason in reasons), 0))


CODES = {"regression": 1, "suspect": 5, "not-enough-data": 4}
"""The exit code of each reason, the one that counts first."""


def gates_of(texts: list[str] | None) -> "tuple[Gate, ...]":
    """The gates that options say; any change is one where none does."""
    from aoe_reports.history.gate import Gate, parse_gate

    try:
        return tuple(map(parse_gate, texts or ())) or (Gate(),)
    except ValueError as error:
        raise UsageError(say("--gate {why}", why=error.args[0])) from error


def baseline_of(text: str) -> "Baseline":
    """The baseline that an option says."""
    from aoe_reports.history.pinned import parse_baseline

    try:
        return parse_baseline(text)
    except ValueError as error:
        raise UsageError(say("--baseline {why}", why=error.args[0])) from error
