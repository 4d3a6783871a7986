"""Memory that nobody uses any more goes back to the system."""

from __future__ import annotations

import ctypes
import sys


def give_back() -> None:
    """Let the allocator return what is free, after something large has gone.

    glibc by itself keeps what lies below memory in use: after reading a table of a million tasks as much as the table.
    Elsewhere nothing has to be done.
    """
    if _TRIM is not None:
        _TRIM(0)


_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
