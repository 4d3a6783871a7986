"""Pickles, also in the zip archive of `torch.save`: known by their first bytes and never read, because reading one runs code."""

from __future__ import annotations

import re

from aoe_reports.model.texts import say

ENDINGS = frozenset({".pkl", ".pickle"})
"""Files with other endings that are pickles (`.pt`, `.bin`) are weights more often than results."""
HEAD_BYTES = 512
_PICKLE = re.compile(rb"\x80[\x02-\x05]")
"""The opcode of the protocol and its number; protocols 0 and 1, which nothing has written by default since Python 2, have none."""
_TORCH = re.compile(rb"PK\x03\x04.{26}[^\x00]{0,300}?data\.pkl", re.DOTALL)
"""The header of a zip archive whose first file has the pickle."""

WHY_NOT = say(
    "a pickle, and no memory snapshot of PyTorch, which would be read: its first 64 KiB lack the keys of one (`segments`, `total_size`). "
    "Other pickles are not read, as that runs code: write a measurement of torch.utils.benchmark (`Measurement.times`) as JSON"
)


def is_pickle(head: bytes) -> bool:
    """Whether a file is one, by its first HEAD_BYTES."""
    return _PICKLE.match(head) is not None or _TORCH.match(head) is not None
