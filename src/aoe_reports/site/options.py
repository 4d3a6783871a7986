"""The options of `site` and `serve`."""

from __future__ import annotations

from pathlib import Path

from aoe_reports.history.options import AlarmOptions
from aoe_reports.model.options import option, options
from aoe_reports.model.texts import say


@options
class SiteOptions(AlarmOptions):
    """Where the pages go."""

    folder: Path = option(
        help="Folder of the site; it is replaced as a whole.",
        flags=["--output", "-o"],
        only_here=say("where output is written"),
    )


@options
class ServeOptions:
    """At which address the pages are served."""

    port: int = option(default=8000, help="Port; 0 selects any free port.", minimum=0, maximum=65535)
