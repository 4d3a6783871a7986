"""What pictures show, apart from how they are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoe_reports.model.pictures.memory import MemoryPicture
    from aoe_reports.model.pictures.pipeline import PipelinePicture
    from aoe_reports.model.pictures.roofline import RooflinePicture
    from aoe_reports.model.pictures.stacks import StackPicture
    from aoe_reports.model.pictures.step import StepPicture
    from aoe_reports.model.pictures.waterfall import WaterfallPicture

    Picture = StepPicture | WaterfallPicture | RooflinePicture | StackPicture | PipelinePicture | MemoryPicture
