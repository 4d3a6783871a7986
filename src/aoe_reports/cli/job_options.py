"""Options that say which model AOE tunes and how: the same for the plan and for the run."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Model = Annotated[Path | None, typer.Option(help="The model, for aoe.", show_default=False)]
Weight = Annotated[Path | None, typer.Option(help="Its weights (Caffe).", show_default=False)]
ModelPath = Annotated[
    Path | None, typer.Option(help="A folder of models or dumped graphs, for aoe.", show_default=False)
]
Framework = Annotated[
    Literal["0", "1", "3", "5"] | None,
    typer.Option(help="0 Caffe, 1 MindSpore, 3 TensorFlow, 5 ONNX [default: by the suffix].", show_default=False),
]
AoeOption = Annotated[
    list[str] | None,
    typer.Option(metavar="--NAME=VALUE", help="One more option for aoe (repeatable).", show_default=False),
]
