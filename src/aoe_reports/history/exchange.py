"""The whole store as files that anybody can read, and back: hive Parquet, JSON lines; CSV only out."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Meta, Struct

from aoe_reports.engine.output import unfinished, whole_file
from aoe_reports.formats.identify import NEVER_WRITTEN, is_sparse
from aoe_reports.history.care import wrong_in
from aoe_reports.history.origin import origin_of
from aoe_reports.history.rules import IMPORT_REFUSED, STORE_ROW
from aoe_reports.model.errors import AoeReportsError, ReadError, UsageError
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import Text, join, say
from aoe_reports.present.csv import cell
from aoe_reports.store import History, RunHeader
from aoe_reports.store.care import ORDER
from aoe_reports.store.conditions import equals
from aoe_reports.store.layout import (
    EXTRA_KINDS,
    KINDS,
    PARTITIONS,
    ROWS,
    RUN_KINDS,
    RUNS_MONTH,
    headers_of,
    month_of,
    table_of,
)

ROWS_EXPECTED = say("expected an export of `store export`: a folder of hive Parquet, or .jsonl")


def export_store(store: str, target: Path) -> int:
    """Write every row into a folder of hive Parquet, a .jsonl or a .csv; how many there were."""
    history = History.open(store)
    if target.suffix not in {"", ".jsonl", ".csv"}:
        raise UsageError(say("{target}: expected a folder, or a name that ends in .jsonl or .csv", target=target))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.suffix:
            return _export_parquet(history, target)
        with whole_file(target) as file:
            write = _write_jsonl if target.suffix == ".jsonl" else _write_csv
            return write(_months(history), file)
    except OSError as error:
        raise AoeReportsError(
            say("{path}: cannot be written: {why}", path=target, why=error.strerror or error)
        ) from error


def _export_parquet(history: History, target: Path) -> int:
    """A folder that is there whole or not at all."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(say("{target}: already exists; expected a new or an empty folder", target=target))
    count = 0
    with unfinished(Path(os.path.realpath(target)), folder=True) as made:
        for rows in _months(history):
            for kind in sorted(set(rows["kind"].to_pylist())):
                of_kind = rows.filter(pc.equal(rows["kind"], kind))
                folder = made / f"kind={kind}" / f"month={month_of(of_kind['timestamp_ns'][0].as_py())}"
                folder.mkdir(parents=True)
                pq.write_table(of_kind.drop_columns(PARTITIONS), folder / "part-0.parquet", write_page_checksum=True)
            count += rows.num_rows
        made.chmod(0o755)
        made.replace(target)
    return count


def _months(history: History) -> Iterator[pa.Table]:
    """All rows a month at a time, each run's together with the run first, always in the same order."""
    parts = history.log.parts()
    runs = history.rows("run")
    run_months = [month_of(at) for at in runs["timestamp_ns"].to_pylist()]
    months = sorted({*run_months, *(part.month for part in parts if part.month != RUNS_MONTH)})
    in_month = pa.array(run_months, pa.string())
    for month in months:
        others = [history.rows(kind, None, [equals("month", month)]) for kind in (*RUN_KINDS[1:], *sorted(EXTRA_KINDS))]
        rows = pa.concat_tables([runs.filter(pc.equal(in_month, month)), *others])
        places = [_PLACES[kind] for kind in rows["kind"].to_pylist()]
        keyed = rows.append_column("place", pa.array(places, pa.int64()))
        order = [("group", "ascending"), ("run_id", "ascending"), ("place", "ascending")]
        apart = pa.array([place >= len(RUN_KINDS) for place in places])  # what is no part of a run comes last
        keyed = keyed.append_column("group", apart)
        keyed = keyed.sort_by([*order, *((name, "ascending") for name in ORDER if name != "run_id")])
        yield keyed.select(ROWS.names)


_PLACES = {kind: place for place, kind in enumerate((*RUN_KINDS, *sorted(EXTRA_KINDS)))}


def _write_jsonl(months: Iterable[pa.Table], file: Any) -> int:
    count = 0
    for rows in months:
        for stored in rows.to_pylist():
            known = {name: value for name, value in stored.items() if value is not None and name != "month"}
            file.write(json.dumps(known, ensure_ascii=False, allow_nan=False).encode() + b"\n")
        count += rows.num_rows
    return count


def _write_csv(months: Iterable[pa.Table], file: Any) -> int:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    names = [name for name in ROWS.names if name != "month"]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    count = 0
    for rows in months:
        writer.writerows(map(cell, row) for row in zip(*(rows[name].to_pylist() for name in names), strict=True))
        count += rows.num_rows
    text.flush()
    text.detach()
    return count


@row
class Exported:
    """Where the rows of a store were written, and how many."""

    path: str = column("Path")
    rows: int = column("Rows", "integer")


@row
class Outcomes:
    """What came of the runs of an export, and of rows that belong to none."""

    path: str = column("Path")
    added: int = column("Added", "integer")
    unchanged: int = column("Unchanged", "integer")
    superseded: int = column("Superseded", "integer")
    less_complete: int = column("Less complete", "integer")
    changes: int = column("Changes", "integer")
    refused: int = column("Refused", "integer")


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of the runs (and of rows that belong to none), and what was left out, and why."""

    outcomes: Outcomes
    findings: list[Finding]


def import_store(source: Path, store: str) -> Imported:
    """Store what an export holds, a commit a run; what is there already adds nothing.

    A run of which one row cannot be used is left out whole; of rows that are no part of a run only the row is.
    """
    outcomes = {"added": 0, "unchanged": 0, "superseded": 0, "less-complete": 0, "changes": 0, "refused": 0}
    findings: list[Finding] = []
    history: History | None = None
    for group in _groups_in(source):
        rows, header = group.rows, None
        if not group.wrong and rows.num_rows and not group.extra:
            header = _header_of(group)
        findings += _told_of(group)
        if group.wrong and not group.extra:
            outcomes["refused"] += 1
        elif rows.num_rows:
            history = history or History.open(store, create=True, origin=origin_of("store import"))
            if header is None:
                outcomes["changes"] += history.add_extra(rows)
            else:
                outcomes[history.add_rows(header, rows)] += 1
    if history is None:  # no export, then, or nothing of it can be used
        if not findings:
            raise ReadError(source, say("it contains no row"), ROWS_EXPECTED)
        first = findings[0]
        raise ReadError(Path(first.path), first.message, ROWS_EXPECTED, first.line)
    counts = {name.replace("-", "_"): count for name, count in outcomes.items()}
    return Imported(Outcomes(path=str(source), **counts), findings)


@dataclass(slots=True)
class _Group:
    """The rows of one run, or rows that are no part of a run, and what is wrong with some."""

    source: Path
    run_id: str | None
    extra: bool
    rows: pa.Table
    wrong: list[Finding]


def _told_of(group: _Group) -> list[Finding]:
    """What is wrong with a group, the first rows one by one, and what becomes of it."""
    if not group.wrong:
        return []
    told = group.wrong[:EXAMPLES_PER_RULE]
    if len(group.wrong) > len(told):
        more = say("and {count} more rows that cannot be used", count=len(group.wrong) - len(told))
        told.append(replace(told[0], message=more, line=None))
    if not group.extra and group.run_id is not None:
        left_out = say("run {run_id} is not imported: runs are imported completely or not at all", run_id=group.run_id)
        told.append(IMPORT_REFUSED.found(str(group.source), left_out))
    return told


def _header_of(group: _Group) -> RunHeader | None:
    """The header of a run; where it has none of its own that can be used, that is what is wrong with it."""
    headers = headers_of(group.rows.filter(pc.equal(group.rows["kind"], "run")))
    if len(headers) == 1:
        return headers[0]
    message = say("run {run_id} has no usable row of kind run", run_id=group.run_id)
    group.wrong.append(STORE_ROW.found(str(group.source), message))
    return None


def _checked(source: Path, rows: pa.Table, places: Sequence[tuple[Path, int]]) -> _Group:
    """Rows with what is wrong with them; of those that are no part of a run only the good ones."""
    kinds = rows["kind"].to_pylist()
    extra = kinds[0] in EXTRA_KINDS
    wrong: dict[int, Finding] = {}
    for kind in sorted(set(kinds)):
        numbers = [number for number, one in enumerate(kinds) if one == kind]
        for one in wrong_in(rows.take(pa.array(numbers, pa.int64())), kind):
            path, line = places[numbers[one.row]]
            wrong.setdefault(
                numbers[one.row],
                one.rule.found(str(path), one.message, line),
            )
    run_id = None if extra else rows["run_id"][0].as_py()
    if extra and wrong:
        rows = rows.take(pa.array([number for number in range(rows.num_rows) if number not in wrong], pa.int64()))
    return _Group(
        source=source, run_id=run_id, extra=extra, rows=rows, wrong=[wrong[number] for number in sorted(wrong)]
    )


def _groups_in(source: Path) -> Iterator[_Group]:
    if source.is_dir():
        yield from _runs_in_parquet(source)
    elif source.suffix == ".jsonl":
        yield from _runs_in_jsonl(source)
    else:
        raise ReadError(source, say("this is neither a folder nor a .jsonl file"), ROWS_EXPECTED)


def _runs_in_parquet(source: Path) -> Iterator[_Group]:
    """The rows of each run, from folders `kind=…/month=…`: those of one month are in memory together."""
    files: dict[str, list[tuple[str, Path]]] = {}
    for path in sorted(source.glob("kind=*/month=*/*.parquet")):
        files.setdefault(path.parts[-2].removeprefix("month="), []).append((path.parts[-3].removeprefix("kind="), path))
    for month in sorted(files):
        tables = [(path, _parquet_rows(path, kind)) for kind, path in files[month]]
        rows = pa.concat_tables([table for _, table in tables])
        places = [(path, number) for path, table in tables for number in range(1, table.num_rows + 1)]
        runs = _runs_of(rows)
        numbers = sorted(range(rows.num_rows), key=runs.__getitem__)
        for _, of_run in groupby(numbers, runs.__getitem__):
            mine = list(of_run)
            yield _checked(source, rows.take(pa.array(mine, pa.int64())), [places[number] for number in mine])


def _runs_of(rows: pa.Table) -> list[tuple[bool, str]]:
    """Whether each row is no part of a run, and of which run it is a part."""
    pairs = zip(rows["kind"].to_pylist(), rows["run_id"].to_pylist(), strict=True)
    return [(True, "") if kind in EXTRA_KINDS else (False, run_id or "") for kind, run_id in pairs]


def _parquet_rows(path: Path, kind: str) -> pa.Table:
    if kind not in KINDS:
        raise ReadError(path, say("rows of kind {kind} do not belong to a store", kind=kind), ROWS_EXPECTED)
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            read = file.read(use_threads=False)
        _refuse_unknown(sorted(set(read.column_names) - set(ROWS.names)), path)
        columns = {name: read[name] for name in read.column_names}
        columns["kind"] = pa.repeat(kind, read.num_rows)
        columns["month"] = _month_column(kind, columns["timestamp_ns"].to_pylist())
        whole = [columns.get(field.name, pa.nulls(read.num_rows, field.type)) for field in ROWS]
        rows = pa.table([column.cast(field.type) for column, field in zip(whole, ROWS, strict=True)], schema=ROWS)
        rows.validate(full=True)  # texts that are no UTF-8
    except (OSError, KeyError, TypeError, OverflowError, pa.ArrowException) as error:
        raise ReadError(
            path, say("this Parquet file cannot be used: {why}", why=_first_line(error)), ROWS_EXPECTED
        ) from error
    return rows


def _month_column(kind: str, times: list[int | None]) -> pa.Array:
    return pa.array([RUNS_MONTH if kind == "run" else month_of(at or 0) for at in times], pa.string())


MAX_LINE_BYTES = 256 * 1024 * 1024
"""The longest row that is read: it holds the single times of millions of tasks."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of an export: the run that it belongs to (of one that nobody can read: the run before it), or what is wrong."""

    number: int
    run_id: str | None
    extra: bool
    row: dict[str, Any] | None
    wrong: Finding | None = None
    lost: bool = False
    """Whether nobody can tell which run it belongs to: the one before it, or the one behind."""


def _runs_in_jsonl(source: Path) -> Iterator[_Group]:
    """The rows of each run, which have to stand together: one run is in memory at a time."""
    scattered = _scattered(source)
    doubtful: Finding | None = None
    for (run_id, extra), of_run in groupby(_lines(source), lambda line: (line.run_id, line.extra)):
        lines = list(of_run)
        group = _group_of(source, lines)
        wrong = [line.wrong for line in lines if line.wrong is not None]
        if not extra and run_id in scattered:
            wrong.append(_apart(source, lines[0]))
        elif not extra and doubtful is not None:
            wrong.append(doubtful)
        group.wrong = sorted([*wrong, *group.wrong], key=lambda one: one.line or 0)
        doubtful = lines[-1].wrong if lines[-1].lost else None
        yield group


def _group_of(source: Path, lines: Sequence[_Line]) -> _Group:
    """The rows of a run that can be used."""
    rows = {line.number: line.row for line in lines if line.row is not None}
    if not rows:
        return _Group(source=source, run_id=lines[0].run_id, extra=lines[0].extra, rows=table_of([]), wrong=[])
    return _checked(source, table_of(list(rows.values())), [(source, number) for number in rows])


def _apart(source: Path, line: _Line) -> Finding:
    message = say("the rows of run {run_id} are not contiguous", run_id=line.run_id)
    return STORE_ROW.found(str(source), message, line.number)


def _scattered(source: Path) -> set[str | None]:
    """The runs whose rows do not stand together: a run is stored in one go."""
    seen: set[str | None] = set()
    twice: set[str | None] = set()
    for run_id, _ in groupby(line.run_id for line in _lines(source, whole=False) if not line.extra):
        (twice if run_id in seen else seen).add(run_id)
    return twice - {None}


def _lines(source: Path, *, whole: bool = True) -> Iterator[_Line]:
    """The lines of a file; unless `whole` only what they belong to is read of them."""
    last = _Line(0, None, False, None)
    number = 0
    try:
        if is_sparse(source, source.stat().st_size):
            raise ReadError(source, NEVER_WRITTEN, ROWS_EXPECTED)
        with source.open("rb") as file:
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                last = _line(line, number, last, source, whole=whole)
                yield last
                if len(line) > MAX_LINE_BYTES:
                    message = say("a line of more than {most} bytes", most=MAX_LINE_BYTES)
                    raise ReadError(source, message, ROWS_EXPECTED, number)
    except OSError as error:
        raise ReadError(source, say("cannot be read: {why}", why=_first_line(error)), ROWS_EXPECTED) from error


class _Key(Struct):
    """What a line belongs to."""

    kind: str
    run_id: str | None = None


_INT64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_PYTHON: Mapping[pa.DataType, Any] = {pa.string(): str, pa.int64(): _INT64, pa.float64(): float}
_ROW = msgspec.defstruct("_ROW", [(field.name, _PYTHON[field.type] | None, None) for field in ROWS])


def _line(line: bytes, number: int, last: _Line, source: Path, *, whole: bool) -> _Line:
    run_id, extra, lost = last.run_id, last.extra, True
    try:
        key = _key(line)
        run_id, extra, lost = key.run_id, key.kind in EXTRA_KINDS, False
        row = _json_row(line, source, number) if whole else None
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:  # of older versions no ValueError
        why = error.args[0] if isinstance(error.args[0], Text) else _first_line(error)
        message = say("this line is not a row of a store: {why}", why=why)
        return _Line(
            number=number,
            run_id=run_id,
            extra=extra,
            row=None,
            wrong=STORE_ROW.found(str(source), message, number),
            lost=lost,
        )
    return _Line(number, run_id, extra, row)


def _key(line: bytes) -> _Key:
    key = msgspec.json.decode(line, type=_Key)
    if key.kind not in KINDS:
        raise ValueError(say("rows of kind {kind} do not belong to a store", kind=key.kind))
    return key


def _json_row(line: bytes, source: Path, number: int) -> dict[str, Any]:
    written: dict[str, Any] = msgspec.json.decode(line)
    _refuse_unknown(sorted(set(written) - set(ROWS.names)), source, number)
    row = msgspec.structs.asdict(msgspec.convert(written, _ROW))
    month = RUNS_MONTH if row["kind"] == "run" else month_of(row["timestamp_ns"] or 0)
    return {**row, "month": month}


def _refuse_unknown(columns: list[str], source: Path, line: int | None = None) -> None:
    """What this version would drop in silence it does not take."""
    if columns:
        what = say("columns that are unknown to this version: {names}", names=join(", ", columns))
        raise ReadError(source, what, say("an export of a newer version needs that version"), line)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
