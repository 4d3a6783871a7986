"""Is the store whole? Every file against its hash and checksums, the log against itself, runs against their rows."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.parquet as pq

from aoe_reports.model.errors import ForeignStoreError, StoreError, reason
from aoe_reports.model.findings import Finding, in_order
from aoe_reports.model.rules import Rule
from aoe_reports.model.texts import say
from aoe_reports.store.commits import commit_path
from aoe_reports.store.layout import EXTRA_KINDS, HEADER_COLUMNS, counts_in, headers_of, lacking
from aoe_reports.store.log import Log, Origin
from aoe_reports.store.parts import Folder, StoredFile, statistics_of
from aoe_reports.store.replay import Replay, not_covered, versions_in
from aoe_reports.store.rules import (
    STORE_DAMAGED,
    STORE_DOUBLED,
    STORE_HALF_RUN,
    STORE_LOG,
    STORE_MISSING,
    STORE_NOT_COVERED,
    STORE_TRUNCATED,
    STORE_UNREADABLE,
)


def verify(uri: str, origin: Origin) -> tuple[list[Finding], int]:
    """What is damaged, by name, and how many files were looked at; a log that cannot be used is looked at without."""
    try:
        log = Log.open(uri, origin, checked=False)
        damage: list[Finding] = []
    except ForeignStoreError:
        raise
    except StoreError as error:
        log, damage = _last_whole(uri, origin, error)
    replay = Replay(log.folder)
    replay.run(log.version)
    findings = [*damage, *replay.findings, *not_covered(log.folder, replay.uncovered)]
    try:
        parts, lines = log.parts(), log.lines()
    except (StoreError, ValueError, LookupError) as error:
        unusable = say("the log content that Delta reads cannot be used: {why}", why=reason(error))
        return in_order([*findings, _finding(log, STORE_LOG, "_delta_log", unusable)]), 0
    if not replay.findings and replay.after.get(log.version, lines) != lines:
        others = say("The active files that Delta reads from the log differ from those in its commits")
        findings.append(_finding(log, STORE_LOG, "_delta_log", others))
    whole = []
    for part in parts:
        problem = _problem(log.folder, part)
        if problem is None:
            whole.append(part)
        else:
            findings.append(_finding(log, problem[0], part.path, problem[1]))
    findings += _check_runs(log, whole, complete=len(whole) == len(parts))
    findings += _without_hash(log, parts)
    return in_order(findings), len(parts)


def _last_whole(uri: str, origin: Origin, error: StoreError) -> tuple[Log, list[Finding]]:
    """The newest view of the table that opens, if the last one does not."""
    folder = Log.folder_of(uri)
    versions = versions_in(folder)[::-1]
    if not versions:
        raise error
    for version in versions[1:20]:
        try:
            log = Log.open(uri, origin, version=version)
        except StoreError:
            continue
        lost = say(
            "the store cannot be opened as it is: the content of the last commits is missing (after commit {version})",
            version=version,
        )
        return log, [_finding(log, STORE_LOG, commit_path(versions[0]), lost)]
    raise error


def _problem(folder: Folder, part: StoredFile) -> tuple[Rule, str] | None:
    try:
        content = folder.content(part.path)
        if content.size != part.size:
            return STORE_TRUNCATED, say(
                "this file has {found} bytes, but {written} were written", found=content.size, written=part.size
            )
        if part.hash not in {None, hashlib.sha256(content).hexdigest()}:
            return STORE_DAMAGED, say("the content of this file differs from what was written: its hash does not match")
        table = pq.read_table(pa.BufferReader(content), page_checksum_verification=True, use_threads=False)
    except FileNotFoundError:
        return STORE_MISSING, say(
            "this file does not exist; {rows} rows of kind {kind} are lost with it", rows=part.rows, kind=part.kind
        )
    except (OSError, pa.ArrowException) as error:
        rule = STORE_UNREADABLE if (isinstance(error, OSError) and error.errno is not None) else STORE_DAMAGED
        return rule, say("this file cannot be read: {why}", why=reason(error))
    if table.num_rows != part.rows or (part.hash is not None and not _is_as_told(part, table)):
        return STORE_DAMAGED, say("the log's description of this file differs from its content: the log is damaged")
    return None


def _is_as_told(part: StoredFile, table: pa.Table) -> bool:
    statistics = statistics_of(table)
    ends = {name: (least, statistics["maxValues"][name]) for name, least in statistics["minValues"].items()}
    # a column without a value is not in the file, and what was merged of such files says nothing of it
    nulls = {
        name: {statistics["nullCount"][name]} if name in statistics["nullCount"] else {None, table.num_rows}
        for name in part.nulls
    }
    return (
        part.path.startswith(f"kind={part.kind}/month={part.month}/")
        and all(ends.get(name, (None, None)) == told for name, told in part.bounds.items())
        and all(told in nulls[name] for name, told in part.nulls.items())
    )


def _check_runs(log: Log, parts: list[StoredFile], *, complete: bool) -> Iterator[Finding]:
    """Runs stored twice and rows without a run; with missing files only the former can be known."""
    headers = [
        header for part in parts if part.kind == "run" for header in headers_of(log.folder.read(part, HEADER_COLUMNS))
    ]
    times = Counter(header.run_id for header in headers)
    members = Counter(member.identity for header in headers for member in header.members)
    for run_id, count in times.items():
        if count > 1:
            message = say("run {run_id} exists {count} times", run_id=run_id, count=count)
            yield _finding(log, STORE_DOUBLED, "", message)
    for header in headers:
        if times[header.run_id] == 1 and any(members[member.identity] > 1 for member in header.members):
            message = say("a member of run {run_id} also belongs to another run", run_id=header.run_id)
            yield _finding(log, STORE_DOUBLED, "", message)
    if complete:
        yield from _check_rows_of_runs(log, parts)


def _check_rows_of_runs(log: Log, parts: list[StoredFile]) -> Iterator[Finding]:
    """Rows without a run, and runs with fewer rows of a kind than recorded."""
    told: dict[str, Mapping[str, int] | None] = {
        row["run_id"]: counts_in(row["body"])
        for part in parts
        if part.kind == "run"
        for row in log.folder.read_all(part, ("run_id", "body")).to_pylist()
    }
    found: Counter[tuple[str, str]] = Counter()
    for part in parts:
        if part.kind in {"run", *EXTRA_KINDS}:
            continue
        counts = Counter(log.folder.read_all(part, ("run_id",))["run_id"].to_pylist())
        found.update({(run_id, part.kind): count for run_id, count in counts.items()})
        for run_id in sorted(set(counts) - set(told) - {None}):
            message = say("rows of run {run_id}, which does not exist", run_id=run_id)
            yield _finding(log, STORE_HALF_RUN, part.path, message)
    yield from _check_counts(log, told, found)


def _check_counts(
    log: Log, told: Mapping[str, Mapping[str, int] | None], found: Mapping[tuple[str, str], int]
) -> Iterator[Finding]:
    for run_id, counts in told.items():
        for kind, count in (counts or {}).items():
            if found[run_id, kind] != count:
                yield _finding(log, STORE_HALF_RUN, "", lacking(run_id, kind, found[run_id, kind], count))
    unknown = sum(counts is None for counts in told.values())
    if unknown:
        message = say(
            "{count} runs were stored by an older version: they do not record their number of rows", count=unknown
        )
        yield STORE_NOT_COVERED.found(log.uri, message)


def _without_hash(log: Log, parts: list[StoredFile]) -> Iterator[Finding]:
    """A note of files that other programs wrote."""
    count = sum(part.hash is None for part in parts)
    if count:
        yield STORE_NOT_COVERED.found(
            log.uri,
            say(
                "{count} files were written by another program: they have no hash, so not every change in them "
                "can be detected",
                count=count,
            ),
        )


def _finding(log: Log, rule: Rule, path: str, message: str) -> Finding:
    return rule.found(f"{log.uri}/{path}" if path else log.uri, message)
