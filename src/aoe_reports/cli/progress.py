"""What a terminal shows while a command works: one line, below all that is printed meanwhile, and gone at the end."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from aoe_reports.cli.language import spoken
from aoe_reports.cli.terminal import making_room, screen_of, unguarded
from aoe_reports.model.texts import Language, in_language

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

_PATIENCE_S = 1.0
"""What is quicker than this shows nothing."""
_EVERY_S = 0.25
_MARGIN = 3
"""Columns that stay free: the terminal itself writes ^C behind the line, which must not wrap."""
_BAR_CELLS = 24


def shows_progress() -> bool:
    """Whether somebody looks at stderr, and a line of it can be written over."""
    return sys.stderr.isatty() and os.environ.get("TERM") not in {"dumb", "unknown"}


@contextmanager
def progress_line() -> Iterator[ProgressLine]:
    """Show on a terminal what is done, and for how long; nothing elsewhere, and nothing of what is quick."""
    line = ProgressLine(spoken())
    if not shows_progress():
        yield line
        return
    drawing = threading.Thread(target=line.draw, daemon=True)
    drawing.start()
    try:
        with making_room(line.room):
            yield line
    finally:
        line.over.set()
        drawing.join()


class ProgressLine:
    """The line; calling it keeps what is done now, and only a text that is shown is made."""

    def __init__(self, language: Language) -> None:
        self.over = threading.Event()
        self._language = language
        self._began = time.monotonic()
        self._now: tuple[Callable[[], str], float | None] | None = None
        self._shown: tuple[str, str, float | None] | None = None
        self._live: Live | None = None
        self._lock = threading.RLock()
        self._is_open = False
        """Whether somebody else has begun a line that does not end yet."""

    def __call__(self, text: Callable[[], str], share: float | None = None) -> None:
        """Say what is done now, and what part of it is through where that is known."""
        self._now = text, share

    @contextmanager
    def room(self, text: str) -> Iterator[None]:
        """Take the line away while a text is written in its place."""
        with self._lock:
            with suppress(OSError, ValueError):
                self._hide()
            yield
            self._is_open = not text.endswith("\n")

    def draw(self) -> None:
        """Show the line until all is over; a terminal that is gone ends nothing."""
        if self.over.wait(_PATIENCE_S):
            return
        with suppress(OSError, ValueError):
            while not self.over.wait(_EVERY_S):
                with self._lock:
                    self._refresh()
            with self._lock:
                self._hide()

    def _refresh(self) -> None:
        if self._now is None or self._is_open:
            return
        (text, share), elapsed = self._now, timedelta(seconds=int(time.monotonic() - self._began))
        shown = str(elapsed), in_language(text(), self._language), share
        if shown == self._shown:
            return
        self._shown, line = shown, _line(*shown)
        if self._live is None:
            self._live = _live()
            self._live.start()
            self._live.console.show_cursor(show=True)  # a process that is killed leaves it as it is
        self._live.console.width = max(1, shutil.get_terminal_size().columns - _MARGIN)
        self._live.update(line, refresh=True)

    def _hide(self) -> None:
        if self._live is not None:
            self._live.stop()
        self._live = self._shown = None


def _live() -> Live:
    from rich.console import Console
    from rich.live import Live

    colour = screen_of(sys.stderr).colour
    console = Console(
        file=unguarded(sys.stderr), force_terminal=True, color_system="standard" if colour else None, highlight=False
    )
    return Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False)


def _line(elapsed: str, text: str, share: float | None) -> Table:
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    from aoe_reports.present.values import plain

    bars = [] if share is None else [ProgressBar(total=1, completed=share, width=_BAR_CELLS)]
    line = Table.grid(padding=(0, 1))
    for _ in (elapsed, *bars):
        line.add_column(no_wrap=True)  # the text gives way, and these do not
    line.add_column()
    line.add_row(elapsed, *bars, Text(plain(text), no_wrap=True, overflow="ellipsis"))
    return line
