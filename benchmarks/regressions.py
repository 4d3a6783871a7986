"""What the nightly increment costs on a large store: `aoe-reports regressions` as a whole command, reading included.

usage: python benchmarks/regressions.py [--series 10000] [--nights 365] [--workloads 10] [--changed 0.3] [--keep FOLDER]
                                        [--rounds 3] [--threads N]
Each night has one run a workload: a step, operator types and operators with inputs, with noise of 1 % a night; so many of the
operators change by 5 % once, half of them in a night that they have in common with others of their model, so that its step changes. The rows are made column by column and written by the store's own functions, a merged file
a month as `store compact` leaves them; with --keep a store that is there already is measured again. Then the command
runs in a process of its own: CPU seconds (its own and its threads'), elapsed seconds and the largest resident size as the
kernel counted them, the median of so many rounds, the first not counted; and how many rows it printed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.formats.records.identity import Member, content_hash_of, identity_of, run_id_of
from aoe_reports.formats.records.record import Record
from aoe_reports.formats.records.row import row_of_record
from aoe_reports.store import History, Origin, Run, RunHeader
from aoe_reports.store.care import ORDER
from aoe_reports.store.layout import ROWS, month_of, rows_of, table_of
from aoe_reports.store.parts import NewFile

FIRST = datetime(2025, 1, 1, 2, tzinfo=UTC)
STEPS = 10
TYPES = 25


def series_of(models: int, count: int) -> list[Record]:
    """One record of every series: of each model a step, operator types, operators."""
    found = []
    for model in (f"model-{number:03d}" for number in range(models)):
        common: dict[str, Any] = {
            "engine": "cann", "hardware": "Ascend910B", "runtime_ms_mean": 1.0, "runtime_ms_std": 0.01, "timestamp": 0.0,
            "run_id": "", "timestamp_ns": 0, "model": model, "source": "msprof", "device_id": 0,
            "hardware_config": {"soc": "Ascend910B"}, "execution_config": {"repeat": STEPS},
        }  # fmt: skip
        found.append(Record(workload=f"{model}/step", scope="step", count=STEPS, total_ns=1, **common))
        for index in range(TYPES):
            kind = f"Type{index}"
            found.append(
                Record(
                    workload=f"{model}/op_type/{kind}", scope="op_type", op_type=kind, count=STEPS, total_ns=1, **common
                )
            )
        for index in range(count // models - TYPES - 1):
            name = f"encoder/layer{index // 12}/block{index % 12}/op{index}"
            args = {"task_type": "AI_CORE", "input_shapes": f"32,{index},224,224", "input_data_types": "FLOAT16"}
            found.append(
                Record(
                    workload=f"{model}/op/{name}", scope="op", op_type=f"Type{index % TYPES}", op_name=name,
                    workload_args=args, count=STEPS, total_ns=1, **common,
                )
            )  # fmt: skip
    return found


def times_of(series: list[Record], nights: int, changed: float, noise: np.random.Generator) -> np.ndarray:
    """(series, nights): ns of all calls of a night; types and steps are the sums of their operators."""
    level = np.exp(noise.normal(11, 1, len(series)))
    times = level[:, None] * (1 + 0.01 * noise.standard_normal((len(series), nights)))
    common = {model: nights - noise.integers(10, 50) for model in sorted({one.model for one in series})}
    for number, row in enumerate(noise.choice(len(series), int(changed * len(series)), replace=False)):
        since = noise.integers(nights // 4, nights) if number % 2 else common[series[row].model]
        times[row, since:] *= 1.05
    whole = np.rint(times).astype(np.int64) * STEPS
    places: dict[tuple[str, str | None], int] = {
        (one.model, one.op_type): row for row, one in enumerate(series) if one.scope != "op"
    }
    whole[list(places.values())] = 0
    for row, one in enumerate(series):
        if one.scope == "op":
            whole[places[one.model, one.op_type]] += whole[row]
            whole[places[one.model, None]] += whole[row]
    return whole


def build(store: str, arguments: argparse.Namespace) -> None:
    """Write the store: the rows of runs, and of each month one sorted file."""
    series = series_of(arguments.workloads, arguments.series)
    times = times_of(series, arguments.nights, arguments.changed, np.random.default_rng(7))
    base = table_of([{"kind": "record", **row_of_record(record)} for record in series])
    base = base.append_column("_row", pa.array(np.arange(len(series)))).sort_by([(n, "ascending") for n in ORDER[:3]])
    headers = [[header_of(n, m, arguments) for m in range(arguments.workloads)] for n in range(arguments.nights)]
    history = History.open(store, create=True, origin=Origin("benchmark"))
    runs = pa.concat_tables(rows_of(Run(header, [], [])) for night in headers for header in night)
    pieces = chain([NewFile("run", "all", runs, merged=True)], months_of(base, times, headers))
    history.log.commit(history.log.folder.write(pieces), [])


def header_of(night: int, model: int, arguments: argparse.Namespace) -> RunHeader:
    """The run of one model in one night."""
    start = FIRST + timedelta(days=night, minutes=model)
    at = int(start.timestamp()) * 1_000_000_000
    identity = identity_of("profile", night, model)
    member = Member(identity, content_hash_of([identity]), arguments.series // arguments.workloads, named=True)
    name, date = f"model-{model:03d}", f"{start:%Y-%m-%d}"
    return RunHeader(
        run_id_of(at, identity), "profile", at, date, name, "Ascend910B", content_hash_of([member.content_hash]),
        (member,), "ok", f"/data/nights/{date}/{name}",
    )  # fmt: skip


def months_of(base: pa.Table, times: np.ndarray, headers: list[list[RunHeader]]) -> Iterator[NewFile]:
    """The records of each month, in the order that compaction gives them."""
    by_month: dict[str, list[int]] = {}
    for night, (first, *_) in enumerate(headers):
        by_month.setdefault(month_of(first.timestamp_ns), []).append(night)
    models = np.array([int(model.rpartition("-")[2]) for model in base["model"].to_pylist()])
    rows = base["_row"].to_numpy()
    for month, nights in by_month.items():
        places = np.repeat(np.arange(base.num_rows), len(nights))
        night_of = np.tile(nights, base.num_rows)
        model_of = models[places]
        total = times[rows[places], night_of]
        at = np.array([[h.timestamp_ns for h in night] for night in headers])[night_of, model_of]
        run_ids = np.array([[h.run_id for h in night] for night in headers])[night_of, model_of]
        made: dict[str, Any] = {
            "month": pa.array([month]).dictionary_encode().take(pa.array(np.zeros(len(total), np.int32))),
            "night": pa.array(np.array([night[0].night for night in headers])[night_of]),
            "run_id": pa.array(run_ids),
            "timestamp_ns": pa.array(at),
            "timestamp": pa.array((at / 1e9).astype(str)),
            "total_ns": pa.array(total),
            "runtime_ms_mean": pa.array(total / STEPS / 1e6),
        }
        taken = base.drop_columns(["_row"]).take(pa.array(places))
        columns = [made[name] if name in made else taken[name] for name in ROWS.names]
        yield NewFile("record", month, pa.table(columns, names=ROWS.names), merged=True)


def run(store: str, threads: int | None) -> tuple[float, float, float, int]:
    """CPU seconds, elapsed seconds, peak MB and printed rows of the command."""
    environment = {**os.environ, **({} if threads is None else {"POLARS_MAX_THREADS": str(threads)})}
    command = [sys.executable, "-m", "aoe_reports", "regressions", "--store", store, "--format", "json"]
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, env=environment)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        elapsed = time.perf_counter() - begin
        if process.returncode not in {0, 1}:
            raise SystemExit(f"regressions ended with {process.returncode}")
        out.seek(0)
        rows = len(json.load(out)["rows"])
    return used.ru_utime + used.ru_stime, elapsed, _megabytes(used), rows


def _megabytes(used: resource.struct_rusage) -> float:
    return used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def main() -> None:
    """Build where nothing is, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=10_000)
    parser.add_argument("--nights", type=int, default=365)
    parser.add_argument("--workloads", type=int, default=10)
    parser.add_argument("--changed", type=float, default=0.3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = arguments.keep or Path(folder) / "store"
        if not store.exists():
            begin = time.perf_counter()
            build(str(store), arguments)
            print(f"built in {time.perf_counter() - begin:.0f} s")
        size = sum(path.stat().st_size for path in store.rglob("*.parquet"))
        print(f"{arguments.series} series x {arguments.nights} nights, {size / 1e6:.0f} MB of Parquet")
        found = [run(str(store), arguments.threads) for _ in range(arguments.rounds + 1)][1:]
        cpu, elapsed, peak = (statistics.median(one[place] for one in found) for place in range(3))
        print(f"regressions: CPU {cpu:.1f} s, elapsed {elapsed:.1f} s, peak {peak:.0f} MB, {found[0][3]} rows")


if __name__ == "__main__":
    main()
