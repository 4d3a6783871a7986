"""What the commands of a tuning job have in common."""

from pathlib import Path
from typing import Annotated

import typer

PlanFolder = Annotated[Path, typer.Argument(metavar="DIR", help="A plan's folder.", show_default=False)]
Command = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[-- COMMAND...]",
        help=(
            "Command that trains or infers, for scenarios in which this command performs the tuning "
            "(TensorFlow, MindSpore online)."
        ),
        show_default=False,
    ),
]
