"""A terminal for what a command says beside its results."""

from __future__ import annotations

import os
import pty
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from dataclasses import dataclass


@dataclass
class Screen:
    """What a terminal was given."""

    shown: str = ""


@contextmanager
def screen() -> Iterator[Screen]:
    """Let stderr be a terminal; what it was given is known afterwards."""
    told, (control, terminal) = Screen(), pty.openpty()
    try:
        with os.fdopen(terminal, "w", encoding="utf-8") as stream, redirect_stderr(stream):
            yield told
        pieces = []
        with suppress(OSError):  # nobody is at the other end any more
            while piece := os.read(control, 65536):
                pieces.append(piece)
        told.shown = b"".join(pieces).decode().replace("\r\n", "\n")
    finally:
        os.close(control)
