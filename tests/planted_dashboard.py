"""Thirty-six nights of ten models with a planted cause each,: what a team lead has to see at a glance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.formats.records.identity import Member, content_hash_of, identity_of, run_id_of
from aoe_reports.formats.records.record import Record
from aoe_reports.store import History, Origin, Run, RunHeader
from aoe_reports.store.layout import month_of, rows_of
from aoe_reports.store.parts import NewFile

NIGHTS = 36
FIRST = datetime(2026, 1, 10, 2, tzinfo=UTC)
"""The last of the nights is that of the simulated nights of `demo`: both fit one store."""
HARDWARE = "Ascend 910B"
NOISE = 0.004
"""Relative, of an operator from night to night."""

OPERATORS: Mapping[str, tuple[str, float, str]] = {
    "attention/qk": ("MatMulV3", 2400.0, "8,4096,128;8,128,4096"),
    "attention/softmax": ("SoftmaxV2", 900.0, "8,4096,4096"),
    "mlp/up": ("MatMulV2", 3100.0, "4096,8192;8192,28672"),
    "mlp/gelu": ("Gelu", 700.0, "4096,28672"),
    "norm": ("LayerNormV3", 420.0, "4096,8192"),
    "input/trans": ("TransData", 160.0, "32,3,224,224"),
    "Cast": ("Cast", 14.0, "4096,8192"),
}
"""Name: type, mean in us, input shapes."""


def night(number: int) -> str:
    """The date of a night."""
    return (FIRST + timedelta(days=number)).date().isoformat()


@dataclass(frozen=True)
class Planted:
    """What happens to a model: factors of operators (or of `*`, all of them) from a night on, until another."""

    name: str
    slow: Mapping[str, float] = field(default_factory=dict)
    since: int = 29
    until: int = NIGHTS
    ranks: int = 0
    slow_rank: int | None = None
    free: float = 0.05
    """Of the step."""
    free_factor: float = 1.0
    version: str = "8.1.RC1"
    missing: frozenset[int] = frozenset()
    engine_version: str | None = None
    """From `since` on."""


PLANTED = (
    Planted("llama-70b", {"attention/qk": 1.12}, since=30, ranks=4),
    Planted("vit-large", {"*": 1.035}, since=26, engine_version="8.1.RC2"),
    Planted("bert-base", {"mlp/gelu": 1.3}, since=24, ranks=2, slow_rank=1),
    Planted("diffusion", {"mlp/up": 0.86}, since=21),
    Planted("whisper", {"Cast": 1.5}, since=22),
    Planted("resnet50", {"*": 1.25}, since=28, until=29),
    Planted("ocr", {"norm": 1.9}, since=35),
    Planted("recsys", {"input/trans": 2.2}, since=18),
    Planted("speech", free_factor=1.9, since=27),
    Planted("tts", missing=frozenset({11, 12})),
)
ACKNOWLEDGED = "recsys"


def store_planted(store: Path) -> None:
    """Add the nights to a store, which may be new."""
    history = History.open(str(store), create=True, origin=Origin("ingest"))
    rows: dict[str, list[pa.Table]] = {}
    for place, planted in enumerate(PLANTED):
        noise = np.random.default_rng(place)
        for number in range(NIGHTS):
            run = _run(planted, number, noise)
            if number not in planted.missing:
                rows.setdefault(month_of(run.header.timestamp_ns), []).append(rows_of(run))
    history.log.commit(
        history.log.folder.write(
            [
                NewFile(kind, "all" if kind == "run" else month, table)
                for month, tables in sorted(rows.items())
                for kind, table in _by_kind(pa.concat_tables(tables))
            ]
        ),
        [],
    )


def _by_kind(rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    for kind in ("run", "record"):
        yield kind, rows.filter(pc.equal(rows["kind"], kind))


def _run(planted: Planted, number: int, noise: np.random.Generator) -> Run:
    at = FIRST + timedelta(days=number)
    timestamp_ns = int(at.timestamp()) * 10**9
    identity = identity_of("profile", f"{planted.name}/{number}")
    run_id = run_id_of(timestamp_ns, identity)
    records = list(_records(planted, number, run_id, noise))
    content = content_hash_of([identity])
    member = Member(identity, content, len(records), named=True)
    path = f"/data/nights/{night(number)}/{planted.name}"
    header = RunHeader(
        run_id, "profile", timestamp_ns, night(number), planted.name, HARDWARE, content, (member,), "ok", path
    )
    facts = {"engine": "cann", "engine_version": records[0].engine_version}
    return Run(header, records, [], facts=facts)


def _records(planted: Planted, number: int, run_id: str, noise: np.random.Generator) -> Iterator[Record]:
    at = FIRST + timedelta(days=number)
    slow = planted.since <= number < planted.until
    version = planted.engine_version if slow and planted.engine_version else planted.version
    for rank in range(planted.ranks) if planted.ranks else [None]:
        facts: dict[str, Any] = {
            "engine": "cann", "engine_version": version, "hardware": HARDWARE, "timestamp": at.timestamp(), "source": "msprof",
            "run_id": run_id, "timestamp_ns": int(at.timestamp()) * 10**9, "model": planted.name, "rank_id": rank, "runtime_ms_std": None,
        }  # fmt: skip
        factors = planted.slow if slow and (planted.slow_rank is None or planted.slow_rank == rank) else {}
        times = {
            name: mean_us * factors.get(name, factors.get("*", 1.0)) * (1 + noise.normal(0, NOISE))
            for name, (_, mean_us, _) in OPERATORS.items()
        }
        computing = sum(times.values())
        free = sum(mean for _, mean, _ in OPERATORS.values()) * planted.free * (1 + noise.normal(0, 0.02))
        free *= planted.free_factor if slow else 1.0
        yield _timed(planted.name, facts, "step", computing + free, metrics={
            "computing_ms_mean": computing / 1e3, "communication_not_overlapped_ms_mean": 0.0, "free_ms_mean": free / 1e3,
        })  # fmt: skip
        for name, (op_type, _, shapes) in OPERATORS.items():
            yield _timed(planted.name, facts, "op", times[name], op_type, name, shapes)


def _timed(
    model: str,
    facts: Mapping[str, Any],
    scope: Any,
    mean_us: float,
    op_type: str | None = None,
    name: str | None = None,
    shapes: str | None = None,
    **more: Any,
) -> Record:
    return Record(
        **facts,
        workload=f"{model}/step" if scope == "step" else f"{model}/op/{name}",
        scope=scope,
        op_type=op_type,
        op_name=name,
        workload_args={"input_shapes": shapes, "input_data_types": "FLOAT16"} if shapes else {},
        runtime_ms_mean=mean_us / 1e3,
        count=10,
        total_ns=round(mean_us * 1e4),
        **more,
    )
