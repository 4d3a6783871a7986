"""The names of chips that options take: the bank of a chip that is misspelt would be one that nobody reads."""

from __future__ import annotations

import re

from aoe_reports.model.errors import UsageError
from aoe_reports.model.names import near_names
from aoe_reports.model.texts import join, say
from aoe_reports.topics.roofline.chips import CHIPS

_SERIES = "031|035|310|610|615|910|950"
"""The numbers of the series in CANN's platform_config/*.ini (github.com/hicann/runtime)."""
_CHIP = re.compile(rf"Ascend(?:{_SERIES})(?:[A-Z][A-Za-z0-9]{{0,15}}|_[0-9][A-Za-z0-9]{{1,7}})?(?:-[0-9])?", re.ASCII)
_OTHER = re.compile(r"(?:AS31XM1|BS9SX[12]A|MC61AM21A|SD3403|Hi3796CV300[CE]S)[A-Z]?", re.ASCII)
"""Chips of the same source that have the names of other products."""
_KNOWN = tuple(
    dict.fromkeys((*CHIPS, *(chip.family for chip in CHIPS.values()), "Ascend310", "Ascend310P", "Ascend310B"))
)
_SHOWN = 5


def check_chip(name: str, option: str = "--soc") -> str:
    """The name of a chip; UsageError with the names that resemble it for what is none."""
    if _CHIP.fullmatch(name) or _OTHER.fullmatch(name):
        return name
    names = near_names(name, _KNOWN, _SHOWN) or sorted({chip.family for chip in CHIPS.values()})
    raise UsageError(
        say(
            "{option} {name!r} is not a known chip; expected AOE's name for it, as {names}",
            option=option,
            name=name,
            names=join(", ", names),
        )
    )
