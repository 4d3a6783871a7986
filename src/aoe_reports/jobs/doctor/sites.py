"""Whether a site can be replaced, and its pages are as new as the store."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from aoe_reports.engine.locks import MANIFEST
from aoe_reports.jobs.doctor.checkup import Checkup, fault, missing, ok, warning
from aoe_reports.model.texts import say

FIRST_PAGE = "index.html"


def site(folder: Path, uri: str | None) -> Iterator[Checkup]:
    """The folder of a site, held against the store that is named."""
    command = f"aoe-reports site -o {shlex.quote(str(folder))}"
    if not folder.exists():
        yield missing("site", say("pages for people; {path} does not exist", path=folder), f"`{command}`")
        return
    if not folder.is_dir() or not os.access(folder, os.R_OK | os.X_OK):
        yield fault(
            "site",
            say("{path}: no folder that this user may read", path=folder),
            say("name another, or change its permissions"),
        )
        return
    if not (folder / MANIFEST).is_file() or not (folder / FIRST_PAGE).is_file():
        yield fault(
            "site",
            say("{path}: not a site, or not all of it", path=folder),
            say("`{command}`, into a new folder if this one is yours", command=command),
        )
        return
    written = (folder / FIRST_PAGE).stat().st_mtime
    told = say("{path}: pages of {time}", path=folder, time=_moment(written))
    newest = _newest_commit(uri)
    if newest is not None and newest > written:
        yield warning(
            "site",
            say("{pages}; the store was written at {time}", pages=told, time=_moment(newest)),
            f"`{command}`",
        )
    else:
        yield ok("site", told)
    places = (folder, folder.absolute().parent)
    fixed = next((one for one in places if not os.access(one, os.W_OK)), None)
    if fixed is None:
        yield ok("site permissions", say("the folder and the one above can be written"))
    else:
        yield warning(
            "site permissions",
            say("{path}: this user may not write it, so the pages cannot be replaced", path=fixed),
            say("change its permissions"),
        )


def _newest_commit(uri: str | None) -> float | None:
    """When the store was last written, by the files of its log; null where that cannot be told without asking a network."""
    if uri is None or "://" in uri or not (log := Path(uri) / "_delta_log").is_dir():
        return None
    return max((one.stat().st_mtime for one in log.glob("*.json")), default=None)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
