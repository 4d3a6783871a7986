"""What the commands of a tuning job have in common."""

from pathlib import Path
from typing import Annotated

import typer

PlanFolder = Annotated[Path, typer.Argument(metavar="DIR", help="A plan's folder.", show_default=False)]
Command = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[-- COMMAND...]",
        help="What trains or infers, where that is what tunes (TensorFlow, MindSpore online).",
        show_default=False,
    ),
]
