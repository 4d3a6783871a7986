"""`ingest`: into the store, once."""

from aoe_reports.cli.ending import terminable
from aoe_reports.cli.guide import guided
from aoe_reports.cli.output import MAX_ROWS, ChosenForm, MostRows, Output, Paths, reply
from aoe_reports.cli.progress import progress_line
from aoe_reports.engine.question import one_table
from aoe_reports.history.options import StoreOptions
from aoe_reports.model.history.runs import IngestedRun
from aoe_reports.model.rows import Rows
from aoe_reports.topics.records.options import IngestOptions


@guided(example="ingest profile --workload net --store aoe-history", page="store")
def ingest(
    paths: Paths,
    place: StoreOptions,
    chosen: IngestOptions,
    form: ChosenForm = "text",
    output: Output = None,
    rows: MostRows = MAX_ROWS,
) -> None:
    """Check, normalise and store every run. Repeating the command adds nothing."""
    from aoe_reports.engine.fleet.executors import executor_here
    from aoe_reports.engine.question import Notes
    from aoe_reports.history.runs.ingest import ingest as ingest_paths
    from aoe_reports.history.runs.ingest import stored_row
    from aoe_reports.model.findings import in_order

    notes = Notes()
    with terminable(), progress_line() as progress:
        stored = ingest_paths(paths, place.store, chosen, notes, executor=executor_here(chosen), progress=progress)
    findings = in_order([*notes.findings, *(finding for item in stored for finding in item.run.findings)])
    runs = Rows(type=IngestedRun, rows=[stored_row(item) for item in stored], without=frozenset({"step_ms", "status"}))
    answer = one_table("ingest", "Stored", paths, runs, findings=findings, unreadable=notes.unreadable)
    reply(answer, form, output, strict=chosen.strict, most=rows)
