"""How the program ends: the only place where what was raised becomes a line on stderr and an exit code."""

from __future__ import annotations

import _thread
import contextlib
import gc
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from aoe_reports.model.arrays.memory import keep_large_apart

INTERNAL_ERROR = 70
"""EX_SOFTWARE of sysexits.h: a bug of ours, or no memory; never to be taken for what was read being damaged or slower."""
INTERRUPTED = 130
"""128 + SIGINT, as shells have it."""
_AGAIN_S = 0.02
_swallowed: list[threading.Timer] = []
"""Interrupts that nobody has seen yet."""
_LEFT_OUT_SHOWN = 20
_RARELY = 50_000, 20, 20
"""When cycles are looked for (Python: 700, 10, 10). What is read has none; `check` of 10,000 results is 10 % quicker, as large."""


class Carried(BaseException):
    """What a command raised, in a form that the command line library lets pass: it would end with 1, or say nothing."""


def own_process(main: Callable[[], None]) -> None:
    """Run `main` as all that this process does: Ctrl-C is never lost on the way, and disturbs nobody who is leaving."""
    gc.set_threshold(*_RARELY)
    keep_large_apart()
    shown = sys.unraisablehook

    def show(unraisable: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            shown(unraisable)
            return
        # it came where Python can only swallow it, as it would here: once more, and a little later
        again = threading.Timer(_AGAIN_S, _thread.interrupt_main)
        again.daemon = True
        again.start()
        _swallowed.append(again)

    sys.unraisablehook = show
    try:
        main()
    finally:
        for again in _swallowed:
            again.cancel()
        with contextlib.suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def past_typer() -> Iterator[None]:
    """Let `run_and_exit` see what a command raises, whatever the library makes of it."""
    try:
        yield
    except (KeyboardInterrupt, EOFError, OSError) as error:
        raise Carried(error) from error


def run_and_exit(run: Callable[[], object]) -> None:
    """Run the command line and exit: whatever is raised is one line on stderr, its traceback is shown with --debug."""
    left_out: dict[str, None] = {}
    try:
        with _telling(left_out):
            run()
        code: object = 0
    except SystemExit as ended:
        code = ended.code
        if code == INTERRUPTED and isinstance(getattr(ended.__context__, "__cause__", None), KeyboardInterrupt):
            code = _told_code(KeyboardInterrupt())  # it came before the command began: the library says nothing
    except BaseException as error:  # noqa: BLE001 -- a panic of a library in Rust is no Exception
        code = _told_code(error.args[0] if isinstance(error, Carried) else error)
    if _swallowed and code != INTERRUPTED:
        code = _told_code(KeyboardInterrupt())  # all was done before it could be told once more
    if left_out and code in {None, 0, 1, 4, 5}:
        code = 3  # what could be read was reported first
    sys.exit(code)  # type: ignore[arg-type] # what SystemExit held


def tell_and_exit(error: ImportError) -> None:
    """Say what is wrong with an installation whose command line cannot be imported, as `doctor` would: only the standard library is needed."""
    from aoe_reports.jobs.doctor.checkup import each
    from aoe_reports.jobs.doctor.installation import installation

    lines = [f"aoe-reports: error: the command line cannot be imported: {error}"]
    lines += [
        f"{one.name}: {one.value}; {one.what_to_do}"
        for one in each("installation", (installation,))
        if one.state == "fault"
    ]
    sys.stderr.write("".join(f"{line}\n" for line in lines).encode("ascii", "backslashreplace").decode())
    sys.exit(INTERNAL_ERROR)


def _told_code(error: BaseException) -> int:
    """The exit code of what was raised, of which stderr has a line now."""
    if isinstance(error, RuntimeError) and str(error) == "Query interrupted":  # what DuckDB makes of Ctrl-C
        error = KeyboardInterrupt()
    if "--debug" in sys.argv:
        traceback.print_exception(error)
    with contextlib.suppress(BrokenPipeError):
        return _code_of(error)
    return INTERNAL_ERROR


def _code_of(error: BaseException) -> int:
    from aoe_reports.cli.terminal import begin_line
    from aoe_reports.model.errors import AoeReportsError
    from aoe_reports.model.texts import say

    if isinstance(error, BrokenPipeError):
        _leave_stdout()  # its reader went away (`| head`): not our error, and nothing more can be said
        return 0
    if isinstance(error, KeyboardInterrupt):
        _leave_stdout()
        begin_line(sys.stderr)
        _tell(say("aoe-reports: interrupted"))
        return INTERRUPTED
    if isinstance(error, AoeReportsError):
        _fail(str(error))
        return error.exit_code
    _leave_stdout()
    if isinstance(error, OSError):
        _fail(say("{name}: {why}", name=error.filename or say("output"), why=error.strerror or error))
        return AoeReportsError.exit_code
    _fail(_broken(error))
    return INTERNAL_ERROR


def _broken(error: BaseException) -> str:
    """What is told where this program, or what it is installed with, does not work."""
    from aoe_reports.model.texts import say

    first = (str(error).splitlines() or [""])[0][:300]
    if isinstance(error, MemoryError):
        return say("there is not enough memory")
    if isinstance(error, ImportError) and error.name and not error.name.startswith("aoe_reports"):
        return say(
            "{name} cannot be imported ({why}); `aoe-reports doctor` shows what is missing and how to get it",
            name=error.name,
            why=first,
        )
    return say(
        "internal error ({kind}: {first}); this is a bug in aoe-reports: please report it with the output of --debug",
        kind=type(error).__name__,
        first=first,
    )


def _fail(message: str) -> None:
    from aoe_reports.model.texts import say

    _tell(say("aoe-reports: error: {message}", message=message))


def _tell(line: str) -> None:
    from aoe_reports.cli.language import translated
    from aoe_reports.present.values import plain

    with until_reader_leaves(sys.stderr):
        sys.stderr.write(plain(translated(line)) + "\n")


@contextlib.contextmanager
def _telling(left_out: dict[str, None]) -> Iterator[None]:
    """Tell what is said meanwhile, each row of a store that is left out once."""
    from aoe_reports.model.errors import LeftOutWarning, NoticeWarning, ToldWarning
    from aoe_reports.model.texts import say

    others = warnings.showwarning

    def show(message: Warning | str, *more: Any) -> None:
        if isinstance(message, NoticeWarning):
            _tell(say("aoe-reports: {message}", message=message.args[0]))
        elif not isinstance(message, LeftOutWarning):
            others(message, *more)
        elif str(message) not in left_out:
            left_out[str(message)] = None
            _show(message, len(left_out))

    with warnings.catch_warnings():
        warnings.simplefilter("always", ToldWarning)
        warnings.showwarning = show  # type: ignore[assignment] # the same arguments, by place
        yield


def _show(message: Warning, number: int) -> None:
    from aoe_reports.model.texts import say

    if number <= _LEFT_OUT_SHOWN:
        _tell(say("aoe-reports: warning: {message}", message=message.args[0]))
    elif number == _LEFT_OUT_SHOWN + 1:
        _tell(say("aoe-reports: warning: more items are left out; `store verify` lists all of them"))


def _leave_stdout() -> None:
    """Let what is still waiting to be printed go nowhere: Python would try again on its way out, and fail."""
    to_nowhere(sys.stdout)


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM (of schedulers, `timeout`) end the command as an exit does: what is half done is put in order, and said."""

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    try:
        before = signal.signal(signal.SIGTERM, leave)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        if before is not None:  # a handler that was not set from Python cannot be set again
            signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def until_reader_leaves(stream: Any) -> Iterator[None]:
    """Print until the reader goes away (`| head`): the rest goes nowhere, and the command does the rest of its work and ends as it would have."""
    try:
        yield
    except BrokenPipeError:
        to_nowhere(stream)


def to_nowhere(stream: Any) -> None:
    """Let all that is printed to a stream from now on go nowhere, what libraries in other languages print to it among it."""
    with contextlib.suppress(OSError, ValueError):  # one that is no file (in a test) has nothing waiting
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
