"""The options of `site`."""

from __future__ import annotations

from pathlib import Path

from aoe_reports.history.options import AlarmOptions
from aoe_reports.model.options import option, options
from aoe_reports.model.texts import say


@options
class SiteOptions(AlarmOptions):
    """Where the pages go, or from where they are served."""

    folder: Path | None = option(
        default=None,
        help="Folder of the site; it is replaced as a whole.",
        flags=["--output", "-o"],
        only_here=say("where output is written"),
    )
    serve: Path | None = option(
        default=None,
        help="Write nothing: serve this folder of a site on 127.0.0.1 until Ctrl-C, for this machine only.",
        metavar="DIR",
        only_here=say("what is served"),
    )
    port: int = option(default=8000, help="Port of --serve; 0 selects any free port.", minimum=0, maximum=65535)
