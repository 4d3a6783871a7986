"""Is the store whole? Every file against its hash and checksums, the log against itself, runs against their rows."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq

from aoe_reports.errors import ForeignStoreError, StoreError
from aoe_reports.findings import Finding, in_order
from aoe_reports.store.layout import EXTRA_KINDS, HEADER_COLUMNS, headers_of
from aoe_reports.store.log import Log, Origin, commit_problem
from aoe_reports.store.parts import Folder, Part, reason, statistics_of
from aoe_reports.texts import say

_COMMIT = re.compile(r"_delta_log/(\d{20})\.json")
UNREADABLE = "store-unreadable"
_CHECKPOINT = re.compile(r"_delta_log/\d{20}\.checkpoint.*\.parquet")


def verify(uri: str, origin: Origin) -> tuple[list[Finding], int]:
    """What is damaged, by name, and how many files were looked at; a log that cannot be used is looked at without."""
    try:
        log = Log.open(uri, origin)
        damage: list[Finding] = []
    except ForeignStoreError:
        raise
    except StoreError as error:
        log, damage = _last_whole(uri, origin, error)
    findings = [*damage, *_check_log(log.folder)]
    parts = log.parts()
    whole = []
    for part in parts:
        problem = _problem(log.folder, part)
        if problem is None:
            whole.append(part)
        else:
            findings.append(_finding(log, f"store-{problem[0]}", part.path, problem[1]))
    findings += _check_runs(log, whole, complete=len(whole) == len(parts))
    return in_order(findings), len(parts)


def _last_whole(uri: str, origin: Origin, error: StoreError) -> tuple[Log, list[Finding]]:
    """The newest view of the table that can be opened, where the last one cannot."""
    folder = Log.folder_of(uri)
    versions = sorted(
        (int(m[1]) for info in folder.listed("_delta_log") if (m := _COMMIT.fullmatch(info.path))), reverse=True
    )
    if not versions:
        raise error
    for version in versions[1:20]:
        try:
            log = Log.open(uri, origin, version=version)
        except StoreError:
            continue
        lost = say(
            "the store cannot be opened as it is: what the last commits said is missing (after commit {version})",
            version=version,
        )
        return log, [_finding(log, "store-log", f"_delta_log/{versions[0]:020}.json", lost)]
    raise error


def _check_log(folder: Folder) -> Iterator[Finding]:
    """Commits that are empty, cut off or missing in the row; checkpoints that cannot be read."""
    versions = []
    for info in folder.listed("_delta_log"):
        commit = _COMMIT.fullmatch(info.path)
        if commit:
            versions.append(int(commit[1]))
        if commit or _CHECKPOINT.fullmatch(info.path):
            try:
                content = folder.content(info.path)
                problem = commit_problem(content.to_pybytes()) if commit else _checkpoint_problem(content)
                rule = "store-log"
            except (OSError, pa.ArrowException) as error:
                rule, problem = UNREADABLE if _refused(error) else "store-log", reason(error)
            if problem:
                yield Finding("error", rule, f"{folder.uri}/{info.path}", problem)
    for before, after in pairwise(versions):
        if after != before + 1:
            path = f"{folder.uri}/_delta_log/{before + 1:020}.json"
            yield Finding("error", "store-log", path, say("this commit is missing"))


def _checkpoint_problem(content: pa.Buffer) -> str | None:
    pq.read_table(pa.BufferReader(content), page_checksum_verification=True, use_threads=False)
    return None


def _problem(folder: Folder, part: Part) -> tuple[str, str] | None:
    """What is wrong with one file: missing, truncated, damaged or unreadable, and in words."""
    try:
        content = folder.content(part.path)
        if content.size != part.size:
            return "truncated", say(
                "this file has {found} bytes, and {written} were written", found=content.size, written=part.size
            )
        if part.hash not in {None, hashlib.sha256(content).hexdigest()}:
            return "damaged", say("the content of this file is not what was written: its hash is another one")
        table = pq.read_table(pa.BufferReader(content), page_checksum_verification=True, use_threads=False)
    except FileNotFoundError:
        return "missing", say(
            "this file is not there; with it {rows} rows of kind {kind} are lost", rows=part.rows, kind=part.kind
        )
    except (OSError, pa.ArrowException) as error:
        rule = "unreadable" if _refused(error) else "damaged"
        return rule, say("this file cannot be read: {why}", why=reason(error))
    if table.num_rows != part.rows or (part.hash is not None and _bounds_differ(part, table)):
        return "damaged", say("the log tells of this file what is not in it: the log is damaged")
    return None


def _refused(error: Exception) -> bool:
    """Whether the system refused (no right, a broken disk), so that nothing is known of the content."""
    return isinstance(error, OSError) and error.errno is not None


def _bounds_differ(part: Part, table: pa.Table) -> bool:
    told = statistics_of(table)
    inside = {name: (least, told["maxValues"][name]) for name, least in told["minValues"].items()}
    return any(ends != (None, None) and inside.get(name) != ends for name, ends in part.bounds.items())


def _check_runs(log: Log, parts: list[Part], *, complete: bool) -> Iterator[Finding]:
    """Runs that are there twice, and rows whose run is not there; with files missing only the first can be told."""
    headers = [
        header for part in parts if part.kind == "run" for header in headers_of(log.folder.read(part, HEADER_COLUMNS))
    ]
    times = Counter(header.run_id for header in headers)
    members = Counter(member.identity for header in headers for member in header.members)
    for run_id, count in times.items():
        if count > 1:
            yield _finding(
                log, "store-doubled", "", say("run {run_id} is there {count} times", run_id=run_id, count=count)
            )
    for header in headers:
        if times[header.run_id] == 1 and any(members[member.identity] > 1 for member in header.members):
            yield _finding(
                log, "store-doubled", "", say("a member of run {run_id} is in another run, too", run_id=header.run_id)
            )
    if not complete:
        return
    for part in parts:
        if part.kind not in {"run", *EXTRA_KINDS}:
            lone = set(log.folder.read(part, ("run_id",))["run_id"].to_pylist()) - set(times)
            for run_id in sorted(lone):
                yield _finding(
                    log, "store-half-run", part.path, say("rows of run {run_id}, which is not there", run_id=run_id)
                )


def _finding(log: Log, rule: str, path: str, message: str) -> Finding:
    return Finding("error", rule, f"{log.uri}/{path}" if path else log.uri, message)
