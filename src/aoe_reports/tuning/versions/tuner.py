"""A table of versions behind the protocol of a tuner: claims from one version to another one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from aoe_reports.formats.sources.head import head_of
from aoe_reports.formats.tuner_files import TunerFile
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import join, say
from aoe_reports.tuning.claim_files import CLAIMS_FORM, CLAIMS_NOT_MEASURED, ClaimRow, read_claim_table
from aoe_reports.tuning.files_only import FileClaims, FilesOnly, claims_of_rows
from aoe_reports.tuning.tuner import Claim
from aoe_reports.tuning.versions import FILES, Versions, cells_of, versions_of

_NOT_MEASURED = frozenset({"", "-", "/", "n/a", "na", "无"})


def read_versions(path: Path, most: int | None = None, *, pair: tuple[str, str] | None = None) -> FileClaims:
    """One table; `pair`: the two versions, else the first and the last one. ReadError only where it cannot be opened."""
    known = versions_of(cells_of(head_of(path)))
    if not isinstance(known, Versions):
        text = say("expected a header with operators and versions") if known is None else known
        return FileClaims((), (CLAIMS_FORM.found(str(path), text, 1),))
    labels = pair or (next(iter(known.columns)), list(known.columns)[-1])
    for label in labels:
        if label not in known.columns:
            names = join(", ", known.columns)
            raise UsageError(
                say("verify: no version {label!r} in {path}; it has {names}", label=label, path=path, names=names)
            )
    times = [known.columns[label] for label in labels]
    table = read_claim_table(path, most, [known.operator, *times], partial(_wrong, known, times))
    findings: list[Finding] = list(table.findings)
    measured = [row for row in table.rows if not any(_is_missing(row.cells[time]) for time in times)]
    if len(measured) < len(table.rows):
        text = say(
            "{left} of {count} rows have no time of one of the versions",
            left=len(table.rows) - len(measured),
            count=len(table.rows),
        )
        findings.append(CLAIMS_NOT_MEASURED.found(str(path), text))
    claims = [(row.line, _claim(known, times, path, row)) for row in measured]
    kept = claims_of_rows(path, claims, findings)
    return FileClaims(tuple(kept), tuple(findings), len(kept), {"before": labels[0], "after": labels[1]})


def _claim(known: Versions, times: list[str], path: Path, row: ClaimRow) -> Claim:
    before, after = ((row.time_us(time) or 0.0) * known.us_per_unit for time in times)
    shapes = None if known.shapes is None else row.cells[known.shapes] or None
    return Claim(row.cells[known.operator], (), before, after, str(path), input_shapes=shapes)


def _wrong(known: Versions, times: list[str], row: ClaimRow) -> str | None:
    if not row.cells[known.operator]:
        return say("no operator is named")
    wrong = [time for time in times if row.time_us(time) is None and not _is_missing(row.cells[time])]
    return say("expected a time above 0 as {column}, or nothing", column=wrong[0]) if wrong else None


def _is_missing(cell: str) -> bool:
    return cell.casefold() in _NOT_MEASURED


def read_file(path: Path, most: int | None) -> TunerFile:
    """What `check` and `inspect` show of one table."""
    return read_versions(path, most).shown


def _between(pair: tuple[str, str]) -> FilesOnly:
    """The tuner, with claims from one version to another one."""
    return replace(TUNER, reads=((FILES[0], partial(read_versions, pair=pair)),))


TUNER = FilesOnly("version table", ((FILES[0], read_versions),), between=_between)
