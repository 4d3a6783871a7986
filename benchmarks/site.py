"""What the static site costs: building it over years of nights, and building it again after one more night.

usage: python benchmarks/site.py [--nights 1000] [--series 2000] [--models 4] [--keep FOLDER]
The store is made up month by month (one commit a month, rows as `ingest` stores them): each model has a run a night with a
step, types and operators, noise of 1 %, and in the last weeks one operator of each model is 8 % slower. `site` is
run as a command of its own, so starting Python and importing is part of the figures: first into a new folder, then with
nothing new, then after one more night (an ingest's commit). Figures are CPU and elapsed seconds and the largest resident
memory of each, the pages written, and the bytes of the first page. Where Debian's chromium is
there, it opens the first page and the lists from the disk, with an empty cache each, and tells when it first painted and when a
list can be searched and sorted.
With --keep a store that is there already is used as it
is and stays; the site is built into a new folder each time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.formats.records.identity import Member, content_hash_of, identity_of, run_id_of
from aoe_reports.formats.records.record import Record, canonical_json
from aoe_reports.formats.records.row import row_of_record
from aoe_reports.store import History, Origin, Run, RunHeader
from aoe_reports.store.layout import ROW_COUNTS, ROWS, month_of, rows_of
from aoe_reports.store.parts import NewFile

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from chromium import Chromium, find_chromium

FIRST = datetime(2023, 1, 1, 2, tzinfo=UTC)
TYPES = ("MatMulV2", "Conv2D", "Add", "Mul", "TransData", "SoftmaxV2", "LayerNormV3", "Cast", "ReduceSum", "Gelu")
STEPS = 5
SLOW_NIGHTS = 20
SLOW_BY = 1.08


def model_records(model: str, series: int) -> list[Record]:
    """The records of one run: what stays the same every night."""
    facts: dict[str, Any] = {
        "engine": "cann", "engine_version": "8.0", "hardware": "npu", "runtime_ms_std": 0.001, "timestamp": 0.0,
        "run_id": "", "timestamp_ns": 0, "model": model, "source": "msprof", "device_id": 0,
        "runtime_ms_mean": 1.0, "metadata": {"profiler": "msprof"}, "execution_config": {"repeat": STEPS},
    }  # fmt: skip
    found = [Record(**facts, workload=f"{model}/step", scope="step", count=STEPS, total_ns=1)]
    found += [
        Record(
            **facts,
            workload=f"{model}/op_type/{name}",
            scope="op_type",
            op_type=name,
            workload_args={"task_type": "AI_CORE"},
            count=STEPS,
            total_ns=1,
        )
        for name in TYPES
    ]
    for index in range(series - len(found)):
        name = f"encoder/layer_{index:03d}/block/kernel"
        found.append(
            Record(
                **facts,
                workload=f"{model}/op/{name}",
                scope="op",
                op_type=TYPES[index % len(TYPES)],
                op_name=name,
                workload_args={"input_shapes": f"32,{index},1024", "input_data_types": "FLOAT16"},
                count=STEPS,
                total_ns=1,
            )
        )
    return found


class Model:
    """One model: its rows without times, and its times night by night."""

    def __init__(self, number: int, series: int) -> None:
        self.name = f"model-{number}"
        self.rows = [{"kind": "record", **row_of_record(record)} for record in model_records(self.name, series)]
        self.noise = np.random.default_rng(number)
        self.operators = np.exp(self.noise.normal(3, 1, series - 1 - len(TYPES)))  # us
        self.number = number

    def night(self, night: int, slow: bool) -> np.ndarray[Any, Any]:
        """Times of one night in ns, as the rows are ordered: the same however many nights were made before."""
        times = self.operators * np.random.default_rng((self.number, night)).normal(1, 0.01, len(self.operators))
        if slow:
            times[7] *= SLOW_BY
        kinds = np.arange(len(times)) % len(TYPES)
        types = np.bincount(kinds, times, len(TYPES))
        calls = np.bincount(kinds, minlength=len(TYPES))
        return np.rint(np.concatenate([[times.sum() * 1.05], types / np.maximum(calls, 1), times]) * 1000)


def run_header(model: Model, night: int) -> RunHeader:
    """Who the run of a night is."""
    start = FIRST + timedelta(days=night)
    at = int(start.timestamp()) * 1_000_000_000
    identity = identity_of("profile", f"{model.name}/{night}")
    member = Member(identity, content_hash_of([identity]), len(model.rows), named=True)
    content = content_hash_of([member.content_hash])
    path = f"/data/nights/{start:%Y-%m-%d}/{model.name}"
    return RunHeader(
        run_id_of(at, identity), "profile", at, f"{start:%Y-%m-%d}", model.name, "npu", content, (member,), "ok", path
    )


def night_rows(model: Model, night: int, nights: int) -> tuple[pa.Table, pa.Table]:
    """The rows of the run and of its records of one night."""
    header = run_header(model, night)
    times = model.night(night, nights - SLOW_NIGHTS <= night)
    count = len(model.rows)
    changing: dict[str, Any] = {
        "run_id": pa.repeat(header.run_id, count),
        "timestamp_ns": pa.repeat(pa.scalar(header.timestamp_ns, pa.int64()), count),
        "night": pa.repeat(header.night, count),
        "month": pa.repeat(month_of(header.timestamp_ns), count),
        "runtime_ms_mean": pa.array(times / 1e6),
        "total_ns": pa.array((times * STEPS).astype(np.int64)),
    }
    records = pa.table(
        [
            changing[f.name] if f.name in changing else pa.array([row.get(f.name) for row in model.rows], f.type)
            for f in ROWS
        ],
        schema=ROWS,
    )
    run = rows_of(Run(header, [], []))
    body = canonical_json({ROW_COUNTS: {"record": count, "finding": 0, "advice": 0}})
    return run.set_column(run.schema.get_field_index("body"), ROWS.field("body"), pa.array([body])), records


def fill(store: str, models: list[Model], nights: int) -> None:
    """Store all nights, a commit a month."""
    log = History.open(store, create=True, origin=Origin("benchmark")).log
    months: dict[str, list[int]] = {}
    for night in range(nights):
        months.setdefault(f"{FIRST + timedelta(days=night):%Y-%m}", []).append(night)
    for month, members in months.items():
        made = [night_rows(model, night, nights) for night in members for model in models]
        runs, records = (pa.concat_tables([pair[side] for pair in made]) for side in (0, 1))
        ordered = records.sort_by([("model", "ascending"), ("workload", "ascending"), ("timestamp_ns", "ascending")])
        pieces = [NewFile("run", "all", runs, merged=True), NewFile("record", month, ordered, merged=True)]
        log.commit(log.folder.write(pieces), [])
        log.refresh()


def add_night(store: str, models: list[Model], night: int, nights: int) -> None:
    """Store one more night of each model, as `ingest` would."""
    history = History.open(store, origin=Origin("benchmark"))
    for model in models:
        run, records = night_rows(model, night, nights)
        month = f"{FIRST + timedelta(days=night):%Y-%m}"
        pieces = [NewFile("run", "all", run), NewFile("record", month, records)]
        history.log.commit(history.log.folder.write(pieces), [])
        history.log.refresh()


def build(label: str, store: str, folder: Path) -> None:
    """Build the site as a command and print what it cost."""
    command = [sys.executable, "-m", "aoe_reports", "site", "--store", store, "-o", str(folder), "--format", "json"]
    start = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        if os.waitstatus_to_exitcode(status):
            raise SystemExit(f"{' '.join(command)} failed")
        out.seek(0)
        told = json.load(out)
    written = sum(row["written"] for row in told["rows"])
    pages = sum(row["pages"] for row in told["rows"])
    print(
        f"{label:16s} CPU {usage.ru_utime + usage.ru_stime:6.1f} s, elapsed {wall:6.1f} s, memory {usage.ru_maxrss / 1024:6.0f}"
        f" MB, {written} of {pages} pages written, first page {(folder / 'index.html').stat().st_size / 1024:.0f} kB"
    )


PAINTED = "performance.getEntriesByName('first-contentful-paint').map((one) => one.startTime)[0]"

LISTED = "performance.getEntriesByName('listed').map((one) => one.startTime)[0]"


def open_pages(folder: Path, profile: Path) -> None:
    """Open the longest pages in a browser and print when they first painted and when they were loaded."""
    if find_chromium() is None:
        print("no chromium: not painted")
        return
    for name in ("index.html", "series/index.html", "runs/index.html"):
        with Chromium(profile / name.replace("/", "-")) as browser:
            tab = browser.open_tab()
            tab.look(1280, 900)
            tab.go((folder / name).as_uri(), idle=True)
            tab.wait_for(f"{PAINTED} > 0")
            loaded = tab.run("performance.getEntriesByType('navigation')[0].loadEventEnd")
            rows = tab.run("document.querySelectorAll('tbody tr').length")
            listed = tab.run(LISTED)
            size = sum(
                path.stat().st_size for path in (folder / name, (folder / name).with_name("list.js")) if path.is_file()
            )
            ready = f", {size / 1024:.0f} kB with its rows, can be sorted after {listed / 1000:.2f} s" if listed else ""
            print(
                f"{name:18s} {rows} rows, first paint {tab.run(PAINTED) / 1000:.2f} s, loaded {loaded / 1000:.2f} s, "
                f"{(folder / name).stat().st_size / 1024:.0f} kB{ready}"
            )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nights", type=int, default=1000)
    parser.add_argument("--series", type=int, default=2000)
    parser.add_argument("--models", type=int, default=4)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        store = str(arguments.keep or Path(made) / "store")
        models = [Model(number, arguments.series // arguments.models) for number in range(arguments.models)]
        if not Path(store).exists():
            start = time.perf_counter()
            fill(store, models, arguments.nights)
            print(f"store made in {time.perf_counter() - start:.0f} s")
        nights = len(History.open(store).runs()) // arguments.models
        folder = Path(made) / "site"
        build("new", store, folder)
        build("nothing new", store, folder)
        add_night(store, models, nights, nights)
        build("one more night", store, folder)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        open_pages(folder, Path(made) / "browser")
        print(f"{sum(1 for _ in folder.rglob('*'))} files, {size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
