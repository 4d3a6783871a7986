"""`serve`: a site on this machine's own address."""

from pathlib import Path
from typing import Annotated

import typer

from aoe_reports.cli.guide import guided
from aoe_reports.site.options import ServeOptions


@guided(example="serve site --port 8000", page="site")
def serve(
    folder: Annotated[Path, typer.Argument(help="Folder of the site.", show_default=False)], chosen: ServeOptions
) -> None:
    """Serve a site folder on 127.0.0.1 until Ctrl-C. Only this machine can access it."""
    from aoe_reports.cli.output import write
    from aoe_reports.site.serve import serve_folder

    serve_folder(folder, chosen.port, lambda address: write(f"{address}\n", None))
