"""`fleet map` and `fleet reduce`: a question whose units are read in shares, by as many jobs and machines as there are."""

from pathlib import Path
from typing import Annotated

import typer

from aoe_reports.cli.command import guided
from aoe_reports.cli.menu import question_of
from aoe_reports.cli.output import FORM, MAX_ROWS, AnnotatedFormat, ChosenForm, MostRows, Output, reply
from aoe_reports.cli.progress import progress_line
from aoe_reports.engine.question import RunOptions, StrictOptions
from aoe_reports.model.options import Option
from aoe_reports.model.texts import say
from aoe_reports.present.forms import forms_of

ManifestFile = Annotated[
    Path, typer.Argument(metavar="MANIFEST", help="What `--manifest` of a question has written.", show_default=False)
]
PartialsPlace = Annotated[
    str,
    Option(
        help="Folder or URI of the partial results, which all jobs see.",
        only_here=say("where partial results are kept"),
    ),
]


@guided(example="fleet map manifest.json --shard 1/2 --partials partials", page="fleet")
def map(  # noqa: A001 -- the name of the command
    manifest: ManifestFile,
    chosen: RunOptions,
    *,
    partials: PartialsPlace,
    shard: Annotated[
        str,
        Option(
            help="Which of how many shares, such as 2/8.", metavar="I/N", only_here=say("what one job of many reads")
        ),
    ] = "1/1",
    form: ChosenForm = "text",
    output: Output = None,
) -> None:
    """Read one share of a question. Keeps a partial result for each capture; what is there already is not read again."""
    from aoe_reports.engine.fleet.executors import executor_here
    from aoe_reports.engine.fleet.manifest import Mapped, Share, headline_of, map_share, read_manifest
    from aoe_reports.engine.fleet.partials import Partials
    from aoe_reports.engine.question import one_table
    from aoe_reports.model.rows import Rows

    mine, found = Share.parse(shard), read_manifest(manifest)
    question = question_of(found.question)
    with progress_line() as progress:
        rows = map_share(question, found, mine, Partials(partials), executor=executor_here(chosen), progress=progress)
    table = Rows(type=Mapped, rows=rows)
    answer = one_table("map", say("Mapped"), [manifest], table, headline=headline_of(rows))
    reply(answer, form, output, strict=chosen.strict)


@guided(example="fleet reduce manifest.json --partials partials", page="fleet")
def reduce(
    manifest: ManifestFile,
    chosen: StrictOptions,
    *,
    partials: PartialsPlace,
    form: Annotated[AnnotatedFormat, FORM] = "text",
    output: Output = None,
    rows: MostRows = MAX_ROWS,
) -> None:
    """Answer a question from its partial results. Reads no capture, and names those that no job has read."""
    from aoe_reports.engine.fleet.manifest import read_manifest
    from aoe_reports.engine.fleet.manifest import reduce as reduced
    from aoe_reports.engine.fleet.partials import Partials

    found = read_manifest(manifest)
    answer = reduced(question_of(found.question), found, Partials(partials))
    strict = chosen.strict or found.asked.options.strict
    reply(answer, form, output, strict=strict, forms=forms_of("annotated"), most=rows)
