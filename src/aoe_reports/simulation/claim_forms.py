"""Simulated files of tuners: planted claims in the form in which each tuner writes them (see the folders of `tuning`).

Nothing here was measured. Each candidate beside the best one takes longer by a factor that is drawn.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

FormName = Literal[
    "csv",
    "versions",
    "triton",
    "msoptuner",
    "mskl",
    "mskl-log",
    "tilelang",
    "tilelang-log",
    "pypto",
    "akg",
    "akg-autotune",
]


@dataclass(frozen=True, slots=True)
class ClaimedTimes:
    """What is claimed of one operator, in us."""

    name: str
    before_us: float
    after_us: float


Write = Callable[[Path, Sequence[ClaimedTimes], random.Random], Path]


@dataclass(frozen=True, slots=True)
class Form:
    """How one tuner writes claims."""

    write: Write
    alone: bool = False
    """Whether a file is about one kernel, which has another name in profiles."""
    reference: bool = False
    """Whether its time before is that of another program."""
    any_operator: bool = False
    """Whether it is also about operators that are no kernels."""


def _slower(after: float, drawn: random.Random, count: int = 3) -> list[float]:
    """Times of candidates in the order of their numbers; the best is one of them."""
    times = [after, *(after * drawn.uniform(1.02, 1.6) for _ in range(count - 1))]
    drawn.shuffle(times)
    return times


def _rows(path: Path, rows: Sequence[Sequence[Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def _text(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def _list(folder: Path, claims: Sequence[ClaimedTimes], drawn: random.Random) -> Path:
    del drawn
    rows = [(claim.name, f"{claim.before_us:.3f}", f"{claim.after_us:.3f}") for claim in claims]
    return _rows(folder / "claims.csv", [("operator", "before_us", "after_us"), *rows])


def _versions(folder: Path, claims: Sequence[ClaimedTimes], drawn: random.Random) -> Path:
    rows = []
    for claim in claims:
        between = drawn.uniform(0.9, 1.1) * claim.before_us
        times = [f"{time:.2f}" for time in (claim.before_us, between, claim.after_us)]
        rows.append((claim.name, *times, f"{1 - claim.after_us / claim.before_us:.1%}"))
    return _rows(folder / "版本对比.csv", [("算子", "baseline(us)", "v1(us)", "v2(us)", "提升"), *rows])


def _triton(folder: Path, claims: Sequence[ClaimedTimes], drawn: random.Random) -> Path:
    for claim in claims:
        after = claim.after_us / 1000
        times = [claim.before_us / 1000, *(time for time in _slower(after, drawn) if time < claim.before_us / 1000)]
        timings = [
            [{"kwargs": {"XBLOCK": 128 << n}, "num_warps": 4}, [time, time * 0.99, time * 1.01]]
            for n, time in enumerate(times)
        ]
        document = {"key": ["512", "torch.float32"], "configs_timings": timings}
        _text(folder / "cache" / claim.name.upper() / f"{claim.name}.autotune.json", json.dumps(document))
    return folder / "cache"


def _msoptuner(folder: Path, claims: Sequence[ClaimedTimes], drawn: random.Random) -> Path:
    header = ("case_id", "task_duration(us)", "device_id", "operation", "description", "m", "n", "k", "A", "B", "C")
    problem = (256, 512, 1024, "fp16:row", "fp16:row", "fp16:row")
    times = [*_slower(claims[0].after_us, drawn), 0.0]
    rows = [(n, f"{t:.3f}", 0, "Gemm", f"catlass_gemm_{n:02d}", *problem) for n, t in enumerate(times, start=1)]
    return _rows(folder / "results.csv", [header, *rows])


_TILES = ((128, 256), (256, 128), (64, 256))


def _mskl(folder: Path, claims: Sequence[ClaimedTimes], drawn: random.Random) -> Path:
    rows = [
        (n, f"GemmShape<{m}_ {k}_ 256>|GemmShape<{m}_ {k}_ 64>".replace("_ ", "_"), time, "a.bin b.bin")
        for n, (time, (m, k)) in enumerate(zip(_slower(claims[0].after_us, drawn), _TILES, strict=True))
    ]
    path = folder / "MSKL_AUTOTUNE_RESULTS_20260110081500.csv"
    return _rows(path, [("No.", "Config", "TaskDuration(us)", "Args"), *rows])


def _mskl_log(folder: Path, claims: Sequence[ClaimedTimes], drawn: random.Random) -> Path:
    times = _slower(claims[0].after_us, drawn)
    unit = drawn.choice([" us", "\u03bcs"])  # autotune_v2, autotune
    lines = [
        f"No.{n}: {time:.3f}{unit}, {{'L1TileShape': 'GemmShape<{m}, {k}, 256>'}}"
        for n, (time, (m, k)) in enumerate(zip(times, _TILES, strict=True))
    ]
    return _text(folder / "mskl.log", "\n".join([*lines, f"Best config: No.{times.index(min(times))}", ""]))


def _tilelang(folder: Path, claims: Sequence[ClaimedTimes], drawn: random.Random) -> Path:
    entry = folder / "autotuner" / f"{drawn.getrandbits(256):064x}"
    _text(entry / "best_config.json", json.dumps({"block_M": 128, "block_N": 256, "num_stages": 2}))
    times = {"latency": claims[0].after_us / 1000, "ref_latency": claims[0].before_us / 1000}
    return _text(entry / "latency.json", json.dumps(times)).parent


def _tilelang_log(folder: Path, claims: Sequence[ClaimedTimes], drawn: random.Random) -> Path:
    lines = [
        f"Tuned Latency {time / 1000} with config {{'block_M': {m}, 'block_N': {n}}} at index {place}"
        for place, (time, (m, n)) in enumerate(zip(_slower(claims[0].after_us, drawn), _TILES, strict=True))
    ]
    return _text(folder / "tilelang.log", "\n".join(["Bench configurations: 0%", *lines, ""]))


def _pypto(folder: Path, claims: Sequence[ClaimedTimes], drawn: random.Random) -> Path:
    place = folder / "measurements" / "26_Mar_18_57_43"
    times = sorted(_slower(claims[0].after_us, drawn))
    rows: list[tuple[Any, ...]] = [
        (f"combination_{n}", f"[{m}, {k}]", f"[1, 1, {m}]", time)
        for n, (time, (m, k)) in enumerate(zip(times, _TILES, strict=True))
    ]
    rows.append((f"combination_{len(times)}", "[512, 512]", "[1, 1, 512]", "Error"))
    for name, cube, *_ in rows:
        lines = {"163": f"pypto.set_cube_tile_shapes({cube})"}
        parameters = [{"file": "models/kernel.py", "lines": lines}, {"name": f"measurements/26_Mar_18_57_43/{name}"}]
        _text(place / str(name) / "combination_params.json", json.dumps(parameters, indent=4))
    return _rows(place / "config_perf.csv", [("combination", "mm1", "amax1", "time(us)"), *rows]).parent


def _akg(folder: Path, claims: Sequence[ClaimedTimes], drawn: random.Random) -> Path:
    (claim,), logs = claims, folder / "logs"
    lines, verified = [], []
    for n, time in enumerate(_slower(claim.after_us, drawn)):
        unique = f"Iteration{n}_Step1_verify"
        lines.append(
            f"op_name: {claim.name}, task_id: {n}, unique_dir: {unique}, base_time: {claim.before_us:.6f} us, "
            f"generation_time: {time:.6f} us, speedup: {claim.before_us / time:.6f}x"
        )
        result = {"task_name": claim.name, "task_id": str(n), "step": 1, "verify_dir": f"logs/{claim.name}/{unique}"}
        verified.append(json.dumps({**result, "passed": True, "error_log": ""}, indent=2))
    _text(logs / "verification_results.jsonl", "\n\n".join([*verified, ""]))
    _text(logs / claim.name / "profiling" / "speed_up_record.txt", "\n".join([*lines, ""]))
    return logs


def _akg_autotune(folder: Path, claims: Sequence[ClaimedTimes], drawn: random.Random) -> Path:
    document = {}
    for claim in claims:
        times = sorted(_slower(claim.after_us, drawn))
        document[claim.name] = [
            {"config": f"BLOCK_M: {m}, BLOCK_N: {n}", "timing_us": time, "is_best": rank == 1, "rank": rank}
            for rank, (time, (m, n)) in enumerate(zip(times, _TILES, strict=True), start=1)
        ]
    return _text(folder / "autotune_info_case_0.json", json.dumps(document, indent=2, ensure_ascii=False))


FORMS: Mapping[FormName, Form] = {
    "csv": Form(_list, any_operator=True),
    "versions": Form(_versions, any_operator=True),
    "triton": Form(_triton),
    "msoptuner": Form(_msoptuner, alone=True),
    "mskl": Form(_mskl, alone=True),
    "mskl-log": Form(_mskl_log, alone=True),
    "tilelang": Form(_tilelang, alone=True, reference=True),
    "tilelang-log": Form(_tilelang_log, alone=True),
    "pypto": Form(_pypto, alone=True),
    "akg": Form(_akg, alone=True, reference=True),
    "akg-autotune": Form(_akg_autotune),
}
