"""What one link of a chip can carry, one way: what msprof holds its links against.

Source: Ascend/msprof, analysis/common_func/ms_constant/number_constant.py and the StandardBandWidth of its analysis of communication.
"""

from __future__ import annotations

from collections.abc import Mapping

_OF_910 = {"HCCS": 18.0, "PCIE": 20.0, "RDMA": 12.5}
_OF_910B = {"HCCS": 28.0, "RDMA": 25.0}
_BY_PLATFORM = {"1": _OF_910, "5": _OF_910B}
"""By `platform_version` of info.json: CHIP_V2_1_0 and CHIP_V4_1_0."""
_BY_NAME = {"Ascend910A": _OF_910, "Ascend910Pro": _OF_910, "Ascend910Premium": _OF_910, "Ascend910B": _OF_910B}
"""By the beginning of a chip's name in a database."""


def links_of_platform(platform: str | None) -> Mapping[str, float]:
    """GB/s by transport, of the number that info files give a chip; empty where msprof has none."""
    return _BY_PLATFORM.get(platform or "", {})


def links_of_chip(name: str | None) -> Mapping[str, float]:
    """GB/s by transport, of a chip by its name; empty where msprof has none."""
    return next((links for prefix, links in _BY_NAME.items() if (name or "").startswith(prefix)), {})
