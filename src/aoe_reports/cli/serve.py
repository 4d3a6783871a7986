"""`serve`: a site on this machine's own address."""

from pathlib import Path
from typing import Annotated

import typer


def serve(
    folder: Annotated[Path, typer.Argument(help="Folder of the site.", show_default=False)],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0: any that is free.")] = 8000,
) -> None:
    """Serve the folder of a site on 127.0.0.1, for this machine alone, until Ctrl-C."""
    from aoe_reports.cli.output import write
    from aoe_reports.site.serve import serve_folder

    serve_folder(folder, port, lambda address: write(f"{address}\n", None))
