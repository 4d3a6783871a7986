"""What a terminal is given: never a control character that came out of a file. Files and pipes get every byte as it is."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from aoe_reports.present.screen import Screen

Room = Callable[[str], AbstractContextManager[None]]
_rooms: list[Room] = []


class _Terminal:
    """A stream to a terminal: whatever is written to it, it is text."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write text, its control characters escaped."""
        from aoe_reports.present.values import for_terminal

        self.write_control(for_terminal(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def write_control(self, text: str) -> None:
        """Write what is to steer the terminal."""
        with _rooms[-1](text) if _rooms else nullcontext():
            self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def making_room(room: Room) -> Iterator[None]:
    """Meanwhile a terminal gets each text inside of `room(text)`, which clears the place where it goes."""
    _rooms.append(room)
    try:
        yield
    finally:
        _rooms.remove(room)


def guard_terminals() -> None:
    """From now on everything that this process prints to a terminal is text."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and stream.isatty() and not isinstance(stream, _Terminal):
            setattr(sys, name, _Terminal(stream))


def unguarded(stream: Any) -> Any:
    """The stream itself, for what steers the terminal on its own."""
    return stream.stream if isinstance(stream, _Terminal) else stream


def begin_line(stream: Any) -> None:
    """Let a terminal forget what its line holds, such as the ^C that it writes itself."""
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        write_control(stream, "\r\x1b[K")


def write_control(stream: Any, text: str) -> None:
    """Write what is to steer the terminal, such as colours; texts in it are escaped already."""
    if isinstance(stream, _Terminal):
        stream.write_control(text)
    else:
        stream.write(text)


def screen_of(stream: Any) -> Screen:
    """What texts are shown on where they go to a stream."""
    from aoe_reports.present.screen import Screen

    is_terminal = stream.isatty()
    return Screen(
        columns=shutil.get_terminal_size().columns if is_terminal else None, colour=_may_colour(is_terminal=is_terminal)
    )


def _may_colour(*, is_terminal: bool) -> bool:
    """What the environment says (no-color.org, bixense.com/clicolors), else whether somebody looks at a terminal."""
    asked = os.environ.get
    if asked("NO_COLOR"):
        return False
    if asked("CLICOLOR_FORCE", "0") != "0":
        return True
    return is_terminal and asked("CLICOLOR") != "0" and asked("TERM") != "dumb"
