"""The whole store as files that anybody can read, and back: hive Parquet, JSON lines; CSV only out."""

from __future__ import annotations

import csv
import io
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from aoe_reports.errors import AoeReportsError, ReadError, UsageError
from aoe_reports.store import History
from aoe_reports.store.care import ORDER
from aoe_reports.store.conditions import equals
from aoe_reports.store.layout import (
    EXTRA_KINDS,
    PARTITIONS,
    ROWS,
    RUN_KINDS,
    RUNS_MONTH,
    headers_of,
    month_of,
    table_of,
)
from aoe_reports.texts import join, say
from aoe_reports.workflows.origin import origin_of
from aoe_reports.workflows.output import whole_file

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
        raise UsageError(say("{target}: this is there already; expected a new or an empty folder", target=target))
    made = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name[:100]}."))
    count = 0
    try:
        for rows in _months(history):
            for kind in sorted(set(rows["kind"].to_pylist())):
                of_kind = rows.filter(pc.equal(rows["kind"], kind))
                folder = made / f"kind={kind}" / f"month={month_of(of_kind['timestamp_ns'][0].as_py())}"
                folder.mkdir(parents=True)
                pq.write_table(of_kind.drop_columns(PARTITIONS), folder / "part-0.parquet", write_page_checksum=True)
            count += rows.num_rows
        made.chmod(0o755)
        made.replace(target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
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
        for row in rows.to_pylist():
            known = {name: value for name, value in row.items() if value is not None and name != "month"}
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
        writer.writerows(zip(*(rows[name].to_pylist() for name in names), strict=True))
        count += rows.num_rows
    text.flush()
    text.detach()
    return count


def import_store(source: Path, store: str) -> dict[str, int]:
    """Store what an export holds, a commit a run; what is there already adds nothing."""
    outcomes = {"added": 0, "unchanged": 0, "superseded": 0, "less-complete": 0, "changes": 0}
    history: History | None = None
    for rows in _runs_in(source):
        history = history or History.open(store, create=True, origin=origin_of("store import"))
        if rows["kind"][0].as_py() in EXTRA_KINDS:
            outcomes["changes"] += history.add_extra(rows)
            continue
        header = _header_of(rows, source)
        outcomes[history.add_rows(header, rows)] += 1
    if history is None:
        raise ReadError(source, say("there is no row in it"), ROWS_EXPECTED)
    return outcomes


def _header_of(rows: pa.Table, source: Path) -> Any:
    try:
        (header,) = headers_of(rows.filter(pc.equal(rows["kind"], "run")))
    except (ValueError, TypeError, KeyError) as error:
        run_id = rows["run_id"][0].as_py()
        raise ReadError(
            source, say("run {run_id} has no row of kind run of its own that can be used", run_id=run_id), ROWS_EXPECTED
        ) from error
    return header


def _runs_in(source: Path) -> Iterator[pa.Table]:
    if source.is_dir():
        yield from _runs_in_parquet(source)
    elif source.suffix == ".jsonl":
        yield from _runs_in_jsonl(source)
    else:
        raise ReadError(source, say("this is neither a folder nor a .jsonl file"), ROWS_EXPECTED)


def _runs_in_parquet(source: Path) -> Iterator[pa.Table]:
    """The rows of each run, from folders `kind=…/month=…`: those of one month are in memory together."""
    files: dict[str, list[tuple[str, Path]]] = {}
    for path in sorted(source.glob("kind=*/month=*/*.parquet")):
        files.setdefault(path.parts[-2].removeprefix("month="), []).append((path.parts[-3].removeprefix("kind="), path))
    for month in sorted(files):
        tables = [_parquet_rows(path, kind) for kind, path in files[month]]
        rows = pa.concat_tables(tables)
        extra = pc.is_in(rows["kind"], pa.array(sorted(EXTRA_KINDS)))
        ordered = rows.filter(pc.invert(extra)).sort_by("run_id")
        yield from _grouped(ordered)
        if (apart := rows.filter(extra)).num_rows:
            yield apart


def _parquet_rows(path: Path, kind: str) -> pa.Table:
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            read = file.read(use_threads=False)
        _refuse_unknown(sorted(set(read.column_names) - set(ROWS.names)), path)
        columns = {name: read[name] for name in read.column_names}
        columns["kind"] = pa.repeat(kind, read.num_rows)
        columns["month"] = _month_column(kind, columns["timestamp_ns"].to_pylist())
        whole = [columns.get(field.name, pa.nulls(read.num_rows, field.type)) for field in ROWS]
        return pa.table([column.cast(field.type) for column, field in zip(whole, ROWS, strict=True)], schema=ROWS)
    except (OSError, KeyError, TypeError, OverflowError, pa.ArrowException) as error:
        raise ReadError(
            path, say("this Parquet file cannot be used: {why}", why=_first_line(error)), ROWS_EXPECTED
        ) from error


def _month_column(kind: str, times: list[int]) -> pa.Array:
    return pa.array([RUNS_MONTH if kind == "run" else month_of(at) for at in times], pa.string())


def _grouped(rows: pa.Table) -> Iterator[pa.Table]:
    """Rows that stand in the order of their runs, run by run."""
    start = 0
    for _, group in groupby(rows["run_id"].to_pylist()):
        count = sum(1 for _ in group)
        yield rows.slice(start, count)
        start += count


def _runs_in_jsonl(source: Path) -> Iterator[pa.Table]:
    """The rows of each run, which have to stand together: one run is in memory at a time."""
    seen: set[str] = set()
    for (run_id, extra), group in groupby(_json_rows(source), lambda row: (row["run_id"], row["kind"] in EXTRA_KINDS)):
        if not extra and run_id in seen:
            raise ReadError(source, say("the rows of run {run_id} do not stand together", run_id=run_id), ROWS_EXPECTED)
        if not extra:
            seen.add(run_id)
        try:
            yield table_of(list(group))
        except (pa.ArrowException, AttributeError, TypeError) as error:
            raise ReadError(
                source, say("run {run_id}: {why}", run_id=run_id, why=_first_line(error)), ROWS_EXPECTED
            ) from error


def _json_rows(source: Path) -> Iterator[dict[str, Any]]:
    try:
        with source.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                yield _json_row(line, source, number)
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(source, say("cannot be read: {why}", why=_first_line(error)), ROWS_EXPECTED) from error


def _json_row(line: str, source: Path, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
        unknown = sorted(set(row) - set(ROWS.names))
        month = RUNS_MONTH if row["kind"] == "run" else month_of(row["timestamp_ns"])
        hash((row["run_id"], row["kind"]))
    except (ValueError, TypeError, KeyError, OverflowError, OSError) as error:
        raise ReadError(source, say("this line is no row of a store"), ROWS_EXPECTED, number) from error
    _refuse_unknown(unknown, source, number)
    return {**row, "month": month}


def _refuse_unknown(columns: list[str], source: Path, line: int | None = None) -> None:
    """What this version would drop in silence it does not take."""
    if columns:
        what = say("columns that this version does not know: {names}", names=join(", ", columns))
        raise ReadError(source, what, say("an export of a newer version needs that version"), line)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
