"""Logs of CANN (plog) with planted searches in banks, in the form of its graph engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

HIT, MISSED, NOT_COUNTED = 1, 0, -1
SUBGRAPH_HIT, SUBGRAPH_MISSED = 169738280, 169738250
OTHER = '[INFO] GE(7,atc.bin):2026-12-09-16:10:22.539.141 [graph_manager.cc:9]7 Build:"model [op_kb] of [1]"'


def operator(
    name: str, flag: int, *, process: int = 7, kernel: str = "te_matmulv2_0a1b2c_1", graph: str = "0_1_"
) -> str:
    """The line on one operator."""
    return (
        f"[INFO] FE({process},atc.bin):2026-12-09-16:10:22.539.141 [tbe_json_parse.cc:911]{process} "
        f'ParseOpKBHitrate:"[op_kb_hit][{graph}{name}][{flag}][{kernel}]"'
    )


def subgraph(name: str, flag: int, process: int = 7) -> str:
    """The line on one subgraph."""
    return (
        f"[INFO] FE({process},atc.bin):2026-12-09-16:10:22.540.141 [lxfusion_optimizer.cpp:163]{process} "
        f'DoLxFusionOptimize:"[sg_kb_hit][{name}][{flag}]"'
    )


def formats(name: str, flag: int, process: int = 7) -> str:
    """The line on another search of an operator, which looks alike."""
    return (
        f"[DEBUG] FE({process},atc.bin):2026-12-09-16:10:22.540.141 [op_compiler_format_tune.cpp:8]{process} "
        f'GetTuneKnowledgeResult:"[op_kb_hit][{name}][{flag}][MatMulV2]"'
    )


def write_log(
    folder: Path, lines: Sequence[str], name: str = "plog-7_20261209161022539.log", encoding: str = "utf-8"
) -> Path:
    """A log below a folder, where CANN puts it; the folder."""
    place = folder / "debug" / "plog"
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_bytes("".join(f"{line}\n" for line in [OTHER, *lines, OTHER]).encode(encoding))
    return folder
