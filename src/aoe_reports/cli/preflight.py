"""`preflight`: is this machine fit for a tuning job?"""

from pathlib import Path
from typing import Annotated

import typer

from aoe_reports.cli.output import Format, Output, Strict, exit_code, print_findings, render, write
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say


def preflight(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A plan's folder.", show_default=False)],
    declare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE,…",
            help="What no machine shows: processes, model_memory, tuning_parallel_num, profiling, static_memory_policy, "
            "static_shapes, devices, device_free, cpu_binding, aoe_config_file, npus, soc, cube_cores, vector_cores, "
            "cube_cores_used, vector_cores_used, device_memory, device_memory_used, aoe_options (repeatable).",
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Check the host that a file describes, not this one.", show_default=False),
    ] = None,
    describe_host: Annotated[
        bool, typer.Option("--describe-host", help="Print the description of this host for --host.")
    ] = False,
    form: Annotated[Format, typer.Option("--format", help="Form of the output.")] = "text",
    output: Output = None,
    strict: Strict = False,
) -> None:
    """Hold a machine against what a tuning job needs: seen, needed, verdict; what cannot be seen has to be declared."""
    from aoe_reports.tuning.aoe.machine import preflight as check
    from aoe_reports.tuning.aoe.machine import read_host
    from aoe_reports.tuning.aoe.preflight import declared_of_text

    if describe_host:
        if host is not None or declare:
            raise UsageError(say("preflight: --describe-host takes neither --host nor --declare"))
        _describe(folder, output)
        return
    found = check(folder, declared_of_text(declare or []), read_host(host) if host is not None else None)
    code = exit_code(found.findings, strict=strict)
    write(
        render(
            form,
            "preflight",
            "Preflight",
            inputs=[folder],
            rows=found.rows,
            findings=found.findings,
            reasons=["preflight"][:code],
        ),
        output,
    )
    if form == "csv":
        print_findings(found.findings)
    raise typer.Exit(code)


def _describe(folder: Path, output: Path | None) -> None:
    import os

    from aoe_reports.tuning.aoe.machine import look_at_host
    from aoe_reports.tuning.aoe.preflight import document_of_host
    from aoe_reports.tuning.plan import to_json
    from aoe_reports.tuning.plan_folder import read_plan

    write(to_json(document_of_host(look_at_host(read_plan(folder), folder, os.environ))), output)
