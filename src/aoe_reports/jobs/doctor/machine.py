"""What this machine has: room for temporary files, fonts, encoding, time zone, configuration."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aoe_reports.jobs.doctor.checkup import Checkup, fault, missing, ok, warning
from aoe_reports.model.errors import of_the_system
from aoe_reports.model.texts import count_of, say

MIN_TEMPORARY_BYTES = 1 << 30
"""What one archive may expand to unless `--max-expanded` says otherwise; long timelines wait in temporary files, too."""
_CHINESE = "通信"
_ZONE = "Asia/Shanghai"


def temporary_files() -> Iterator[Checkup]:
    """Whether there is a place for temporary files, and how much room."""
    try:
        with tempfile.NamedTemporaryFile() as file:
            folder = Path(file.name).parent
    except OSError as error:
        said = say("no temporary file can be written: {why}", why=of_the_system(error.strerror or str(error)))
        yield fault("TMPDIR", said, say("name a folder that can be written: `export TMPDIR=…`"))
        return
    free = shutil.disk_usage(folder).free
    told = say("{folder}: {size} free", folder=folder, size=size_of(free))
    named = os.environ.get("TMPDIR")
    if named and not Path(named).is_dir():
        unused = say("{named}: no such folder, so temporary files go to {folder}", named=named, folder=folder)
        yield warning("TMPDIR", unused, say("make the folder, or name another: `export TMPDIR=…`"))
    elif free < MIN_TEMPORARY_BYTES:
        advice = say("name a folder with at least {size}: `export TMPDIR=…`", size=size_of(MIN_TEMPORARY_BYTES))
        yield warning("TMPDIR", told, advice)
    else:
        yield ok("TMPDIR", told)


def font() -> Iterator[Checkup]:
    """Whether figures can have Chinese words."""
    from aoe_reports.present.figures import can_draw  # noqa: PLC0415 -- matplotlib, which may be missing

    if can_draw("zh"):
        yield ok("font", say("a font with Chinese characters is installed"))
    else:
        yield missing(
            "font",
            say("Chinese words in the figures of `report --png`; without it they are in English"),
            say("install a font, such as Debian's package fonts-noto-cjk"),
        )


_LOCALES = ("LC_ALL", "LC_CTYPE", "LANG")
"""The first that is set decides (POSIX, Environment Variables)."""


def terminal() -> Iterator[Checkup]:
    """Whether what is printed can hold every character."""
    encoding = sys.stdout.encoding or "ascii"
    deciding = next((name for name in _LOCALES if os.environ.get(name)), _LOCALES[-1])
    language = os.environ.get(deciding) or say("not set")
    told = say("{encoding}; {variable} is {language}", encoding=encoding, variable=deciding, language=language)
    try:
        f"{_CHINESE}µ≥".encode(encoding)
    except (UnicodeError, LookupError):
        yield warning(
            "encoding",
            told,
            say(
                "µ, ≥ and Chinese are printed as ?: `export {variable}=C.UTF-8`, or `export PYTHONIOENCODING=utf-8`",
                variable=deciding,
            ),
        )
    else:
        yield ok("encoding", told)


def time_zone() -> Iterator[Checkup]:
    """The time zone that nights are told by where `--tz` is not given, and whether names of zones are known."""
    local = time.strftime("%Z %z")
    try:
        ZoneInfo(_ZONE)
    except (ZoneInfoNotFoundError, OSError, ValueError):
        advice = say("install the package tzdata of your system, or `pip install tzdata`")
        yield warning("time zone", say("{zone}; zones have no names here, so `--tz` takes none", zone=local), advice)
    else:
        yield ok("time zone", local)


def configuration(files: Sequence[tuple[str, int]]) -> Iterator[Checkup]:
    """The files that set options, as `doctor --options` shows them."""
    for path, settings in files:
        yield ok(
            "configuration",
            count_of(
                settings,
                "{path}: {number} setting (see `doctor --options`)",
                "{path}: {number} settings (see `doctor --options`)",
                path=path,
            ),
        )
    if not files:
        yield ok("configuration", say("no file sets an option"))


def size_of(count: int) -> str:
    """A number of bytes as people read it."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:  # noqa: PLR2004 -- bytes
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
