"""`plan`: what is worth tuning."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from aoe_reports.cli.job_options import AoeOption, Framework, Model, ModelPath, Weight
from aoe_reports.cli.language import spoken
from aoe_reports.cli.output import (
    STORE_VARIABLE,
    Device,
    EngineVersion,
    Format,
    MaxExpanded,
    Rank,
    Strict,
    Workload,
    exit_code,
    notify,
    print_findings,
    show_report,
    write,
)
from aoe_reports.engine.question import MAX_ID
from aoe_reports.model.texts import say

if TYPE_CHECKING:
    from aoe_reports.tuning.planning import PlanWish

_MOST_MINUTES = 1_000_000
_DEFAULT_MIN_SHARE = 0.001


def plan(
    profile: Annotated[Path, typer.Argument(help="A profile: one run.", show_default=False)],
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND...]",
            help="What trains or infers, where that is what tunes (TensorFlow, MindSpore online).",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="The plan's folder.", show_default=False)
    ] = ...,  # type: ignore[assignment]
    budget: Annotated[
        float | None,
        typer.Option(min=0, max=_MOST_MINUTES, help="Minutes that tuning may take.", show_default=False),
    ] = None,
    top: Annotated[int | None, typer.Option(min=1, help="At most so many candidates.", show_default=False)] = None,
    min_share: Annotated[
        float, typer.Option(min=0, max=1, help="Least part of the step that an operator takes.")
    ] = _DEFAULT_MIN_SHARE,
    mode: Annotated[
        Literal["opat", "sgat", "both", "gdat"],
        typer.Option(help="Operators, subgraphs, one after the other, gradients."),
    ] = "opat",
    scenario: Annotated[
        Literal["offline", "tf-training", "tf-online-inference", "pytorch", "mindspore", "ir-graph"] | None,
        typer.Option(
            help="How AOE gets at the model [default: pytorch or mindspore if their profiler wrote the profile, else offline].",
            show_default=False,
        ),
    ] = None,
    model: Model = None,
    weight: Weight = None,
    model_path: ModelPath = None,
    framework: Framework = None,
    aoe_option: AoeOption = None,
    repeat_tune: Annotated[bool, typer.Option("--repeat-tune", help="Tune again what is banked.")] = False,
    assume_static: Annotated[
        bool, typer.Option("--assume-static", help="Take shapes for static where the export does not tell.")
    ] = False,
    store: Annotated[
        str | None,
        typer.Option(
            envvar=STORE_VARIABLE,
            help="Folder or URI of the store: what tuning brought before.",
            show_default=False,
        ),
    ] = None,
    workload: Workload = None,
    results: Annotated[
        list[Path] | None,
        typer.Option(help="Earlier AOE results of this model: file or folder (repeatable).", show_default=False),
    ] = None,
    bank: Annotated[
        Path | None,
        typer.Option(
            help="The bank in use, laid out as under TUNE_BANK_PATH [default: what the environment says].",
            show_default=False,
        ),
    ] = None,
    after: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The folder of a plan whose subgraphs were tuned before this profile.",
            show_default=False,
        ),
    ] = None,
    soc: Annotated[str | None, typer.Option(help="The chip, as AOE names it.", show_default=False)] = None,
    engine_version: EngineVersion = None,
    tune_device: Annotated[
        int | None, typer.Option(min=0, max=MAX_ID, help="ASCEND_DEVICE_ID to tune on.", show_default=False)
    ] = None,
    te_parallel: Annotated[
        int | None,
        typer.Option(min=1, max=32, help="TE_PARALLEL_COMPILER: operators compiled at once.", show_default=False),
    ] = None,
    rank: Rank = None,
    device: Device = None,
    form: Annotated[Format, typer.Option("--format", help="Form of what is printed.")] = "text",
    strict: Strict = False,
    max_expanded: MaxExpanded = None,
) -> None:
    """Plan a tuning job from a profile: what is worth tuning, bounded by the whole step; what is left out, and why."""
    import os

    from aoe_reports.model.errors import UsageError
    from aoe_reports.tuning.plan import Job
    from aoe_reports.tuning.planning import PlanWish
    from aoe_reports.tuning.ranking import Wanted

    if model is not None and model_path is not None:
        raise UsageError(say("plan: --model and --model-path exclude each other"))
    job = Job(
        command=tuple(command or ()),
        working_folder=str(Path.cwd()) if command else None,
        model=_absolute(model),
        weight=_absolute(weight),
        model_path=_absolute(model_path),
        framework=int(framework) if framework is not None else None,
        device=tune_device,
        te_parallel=te_parallel,
        options=tuple(aoe_option or ()),
    )
    seconds = None if budget is None else budget * 60
    wanted = Wanted(
        scenario=scenario or "offline",
        mode=mode,
        top=top,
        min_share=min_share,
        budget_s=seconds,
        repeat_tune=repeat_tune,
        assume_static=assume_static,
    )
    wish = PlanWish(
        wanted=wanted,
        job=job,
        soc=soc,
        engine_version=engine_version,
        bank=bank,
        store=store,
        workload=workload,
        results=tuple(results or ()),
        after=after,
        rank=rank,
        device=device,
        max_expanded=max_expanded,
        by_profile=scenario is None and model is None,
        language=spoken(),
    )
    _make(profile, output, wish, dict(os.environ), form, strict=strict)


def _make(
    profile: Path, folder: Path, wish: "PlanWish", environment: dict[str, str], form: Format, *, strict: bool
) -> None:
    from dataclasses import asdict

    from aoe_reports.model.findings import reasons_of
    from aoe_reports.present.as_json import render_rows
    from aoe_reports.present.csv import render_rows as render_csv
    from aoe_reports.tuning.plan import document_of_plan
    from aoe_reports.tuning.planning import make_plan, rows_of_plan

    planned = make_plan(profile, folder, wish, environment)
    reasons = reasons_of(planned.findings, strict=strict)
    rows = rows_of_plan(planned.plan)
    if form == "json":
        told = document_of_plan(planned.plan) if planned.report is not None else {}
        more = {key: value for key, value in told.items() if key not in {"format_version", "candidates", "job"}}
        more |= {"job": asdict(planned.plan.job), "files": [str(path) for path in planned.files]}
        write(render_rows("plan", [str(profile)], rows, planned.findings, reasons, more), None)
    elif form == "csv":
        write(render_csv(rows), None)
    elif planned.report is not None:
        write(show_report(form, planned.report), None)
    if form != "json":
        print_findings(planned.findings)
        if planned.files:
            notify(say("plan: {path}", path=planned.files[0]))
    raise typer.Exit(exit_code(planned.findings, unreadable=planned.unreadable, strict=strict))


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.absolute())
