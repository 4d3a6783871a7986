"""Whether a store can be read and written, is whole and cared for, and what clock its newest night was told by."""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from aoe_reports.jobs.doctor.checkup import Checkup, fault, missing, ok, warning
from aoe_reports.jobs.doctor.machine import size_of
from aoe_reports.model.errors import StoreError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import count_of, say

if TYPE_CHECKING:
    from aoe_reports.store import History
from aoe_reports.engine.locks import MANIFEST

USUAL_STORE = "./aoe-history"
MAX_AHEAD_S = 300
"""Clocks that are synchronised differ by less than a second; a night that lies minutes ahead was told by one that is not."""
_NS = 10**9
_SCHEMES = frozenset({"s3", "s3a", "gs", "az", "adl", "abfs", "abfss", "http", "https", "file", "memory"})
"""Of URIs at which Delta's library looks for tables."""


def store(uri: str | None) -> Iterator[Checkup]:
    """The store that is named, or the usual one where it is there."""
    if uri is None and not os.path.lexists(USUAL_STORE):
        yield missing("store", say("questions about a history: `regressions`, `report`, `site`"), _how_to_make())
        return
    named = uri or USUAL_STORE
    refused = list(_place(named)) if "://" not in named else []
    yield from refused
    if any(one.state == "fault" for one in refused):
        return
    try:
        opened = _opened(named)
    except StoreError as error:
        yield fault("store", str(error), _how_to_open(named))
        return
    yield from _contents(opened)
    yield from _care(opened)
    yield from _clock(opened)
    yield from _damage(named)


def _place(named: str) -> Iterator[Checkup]:
    folder, log = Path(named), Path(named) / "_delta_log"
    places = [one for one in (folder, log) if one.is_dir()]
    shut = next((place for place in places if not os.access(place, os.R_OK | os.X_OK)), None)
    if shut is not None:
        yield fault("store", say("{path}: this user may not read it", path=shut), say("change its permissions"))
        return
    fixed = next((place for place in places if not os.access(place, os.W_OK)), None)
    if fixed is not None:
        told = say("{path}: this user may not write it: it can be asked, but nothing can be stored", path=fixed)
        yield warning("store permissions", told, say("change its permissions, where nights are to be stored"))
    elif places:
        yield ok("store permissions", say("{path}: can be read and written", path=folder))


def _opened(named: str) -> History:
    from aoe_reports.store import History  # noqa: PLC0415 -- deltalake, which may be missing

    return History.open(named)


def _contents(opened: History) -> Iterator[Checkup]:
    from aoe_reports.store.care import info  # noqa: PLC0415 -- as above
    from aoe_reports.store.layout import FORMAT  # noqa: PLC0415 -- as above

    held = info(opened.log)
    nights = len(set(opened.rows("run", ["night"])["night"].to_pylist()))
    yield ok(
        "store",
        say(
            "{uri}: {nights:,} nights, {runs:,} runs, {records:,} records in {files:,} files ({size})",
            uri=opened.uri,
            nights=nights,
            runs=held.runs,
            records=held.records,
            files=held.files,
            size=size_of(held.bytes),
        ),
    )
    if held.format == FORMAT:
        yield ok("store format", str(FORMAT))
    else:
        told = say("{found}; this version writes {format}", found=held.format or say("not ours"), format=FORMAT)
        yield warning("store format", told, say("nothing: the next `ingest` adds what is missing, and changes no file"))
    if "://" not in opened.uri:
        yield _room(opened.uri, held.bytes)


def _room(folder: str, needed: int) -> Checkup:
    """Whether a compaction fits beside what it replaces."""
    free = shutil.disk_usage(folder).free
    told = say("{folder}: {size} free", folder=folder, size=size_of(free))
    if free >= needed:
        return ok("store room", told)
    advice = say("make room for {size}: files that are merged stay until `store vacuum`", size=size_of(needed))
    return warning("store room", told, advice)


def _care(opened: History) -> Iterator[Checkup]:
    from aoe_reports.store.care import SURPLUS, info, pending  # noqa: PLC0415 -- as above

    waits = pending(opened.log)
    told = count_of(waits.surplus, "{number} small file more than needed", "{number} small files more than needed")
    command = _command("store compact", opened.uri)
    yield ok("compaction", told) if waits.surplus < SURPLUS else warning("compaction", told, command)
    waste = waits.deletable
    told = count_of(
        waste.files_deleted,
        "{number} file that is no longer used ({size})",
        "{number} files that are no longer used ({size})",
        size=size_of(waste.bytes_deleted),
    )
    is_much = waste.bytes_deleted > info(opened.log).bytes
    yield warning("vacuum", told, _command("store vacuum", opened.uri)) if is_much else ok("vacuum", told)


def _clock(opened: History) -> Iterator[Checkup]:
    times = [told for told in opened.rows("run", ["timestamp_ns"])["timestamp_ns"].to_pylist() if told is not None]
    if not times:
        yield ok("newest night", say("none yet"))
        return
    newest = max(times)
    told = datetime.fromtimestamp(newest // _NS, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    ahead_s = newest / _NS - time.time()
    if ahead_s > MAX_AHEAD_S:
        value = say("{time}: {minutes:,.0f} minutes ahead of this machine", time=told, minutes=ahead_s / 60)
        yield warning("newest night", value, say("synchronise the clocks, and check --tz of the job that stored it"))
    else:
        yield ok("newest night", told)


def _damage(named: str) -> Iterator[Checkup]:
    """Every file against its hash, and the log against itself."""
    from aoe_reports.history.care import verify_store  # noqa: PLC0415 -- as above

    verified, findings, _ = verify_store(named)
    errors = [finding for finding in findings if finding.severity == "error"]
    if not errors:
        yield ok("store files", say("{files:,} files are as they were written", files=verified.files))
        return
    told = say(
        "{damaged} of {files:,} damaged or missing, {unreadable} unreadable: {first}",
        damaged=verified.damaged,
        files=verified.files,
        unreadable=verified.unreadable,
        first=_first(errors[0]),
    )
    yield fault("store files", told, _how_to_repair(named))


def _first(finding: Finding) -> str:
    return say("{path}: {message}", path=finding.path, message=finding.message)


def _how_to_open(named: str) -> str:
    """What to do if a store cannot be opened."""
    scheme, is_uri, _ = named.partition("://")
    if is_uri and scheme.lower() not in _SCHEMES:
        return say("no store can be at {scheme}://: name a folder, or a bucket (s3://BUCKET/FOLDER)", scheme=scheme)
    if is_uri:
        return say("check the name of the bucket, the endpoint, the credentials and the network (docs/store.md)")
    return _how_to_repair(named) if os.path.lexists(Path(named) / "_delta_log") else _how_to_make()


def _how_to_make() -> str:
    return say("`aoe-reports ingest PATH` makes one; name another with --store")


def _how_to_repair(named: str) -> str:
    return say(
        "`{command}` lists the damage; put the files back from a copy (docs/store.md)",
        command=_line("store verify", named),
    )


def _command(command: str, named: str) -> str:
    return f"`{_line(command, named)}`"


def _line(command: str, named: str) -> str:
    return f"aoe-reports {command} --store {shlex.quote(named)}"


FIRST_PAGE = "index.html"


def site(folder: Path, uri: str | None) -> Iterator[Checkup]:
    """The folder of a site, compared with the named store."""
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
    fixed = next((place for place in places if not os.access(place, os.W_OK)), None)
    if fixed is None:
        yield ok("site permissions", say("the folder and the one above can be written"))
    else:
        yield warning(
            "site permissions",
            say("{path}: this user may not write it, so the pages cannot be replaced", path=fixed),
            say("change its permissions"),
        )


def _newest_commit(uri: str | None) -> float | None:
    """The time of the newest commit in the log; null for a remote store."""
    if uri is None or "://" in uri or not (log := Path(uri) / "_delta_log").is_dir():
        return None
    return max((path.stat().st_mtime for path in log.glob("*.json")), default=None)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
