"""`trace`: parts of timelines for viewers of timelines."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

import typer

from aoe_reports.cli.guide import guided
from aoe_reports.cli.output import Output, Paths, print_findings, write_bytes, write_pieces
from aoe_reports.cli.progress import progress_line
from aoe_reports.model.findings import in_order
from aoe_reports.topics.files.trace import TraceOptions

_GZIP = 31


@guided(example="trace profile --step 7 -o step.json", page="trace")
def trace(paths: Paths, chosen: TraceOptions, output: Output = None) -> None:
    """Cut a part out of timelines. Prints a Chrome trace for Perfetto, chrome://tracing and MindStudio Insight; several runs stand side by side and begin together."""
    from aoe_reports.topics.files.trace import traced

    with progress_line() as progress, traced(paths, chosen, progress) as found:
        if found.cuttings:
            pieces = _as_list(found.lines())
            if output is None:
                write_pieces((piece.decode() for piece in pieces), None)
            else:
                write_bytes(_packed(pieces) if output.suffix == ".gz" else pieces, output)
        print_findings(in_order(found.notes.findings))
        raise typer.Exit(found.exit_code(strict=chosen.strict))


def _as_list(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines with an event each as a JSON list."""
    before = b"[\n"
    for block in lines:
        yield before + block[:-1].replace(b"\n", b",\n")
        before = b",\n"
    yield b"\n]\n"


def _packed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Pieces as a gzip file, without a time: the same events are the same bytes."""
    packer = zlib.compressobj(wbits=_GZIP)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()
