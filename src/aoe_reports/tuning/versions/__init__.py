"""A table of versions, as people keep it: a row an operator or case, a column a version with its time. This form has no writer.

The first column names operators (`operator`, `op name`, `kernel`, `case`, `算子` …). A version is a column whose header is a label and a
unit, such as `v1(us)`, `baseline_us`, `优化后(ms)`: labels have a digit, or are one of a few words. There are at least two, all in one unit.
A column of shapes, and columns of gains and remarks, may stand beside them. Any other column makes it no table of versions: it could be a
time of something else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aoe_reports.formats.sources.head import header_of
from aoe_reports.formats.tuner_files import TunerFileKind, read_by
from aoe_reports.model.texts import Text, say
from aoe_reports.tuning.claim_files import (
    CLAIMS_DUPLICATE,
    CLAIMS_FORM,
    CLAIMS_NO_GAIN,
    CLAIMS_NOT_MEASURED,
    CLAIMS_ROW,
    LIST_COLUMNS,
    US_PER_MS,
)

_OPERATORS = frozenset(
    {"operator", "op", "opname", "kernel", "kernelname", "case", "算子", "算子名", "算子名称", "用例"}
)
_SHAPES = frozenset({"shape", "shapes", "inputshape", "inputshapes", "形状", "输入形状"})
_IGNORED = re.compile(r"speed-?up|gain|change|note|remark|提升|加速|收益|变化|备注|%", re.IGNORECASE)
_LABELS = frozenset(
    {
        "baseline",
        "base",
        "before",
        "after",
        "original",
        "tuned",
        "optimized",
        "基线",
        "原始",
        "优化前",
        "优化后",
        "调优前",
        "调优后",
    }
)
_VERSION = re.compile(
    r"(.{1,200}?)\s*(?:_|\(|\uff08|\[)\s*(us|\u03bcs|\u00b5s|微秒|ms|毫秒)\s*(?:\)|\uff09|\])?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Versions:
    """What a header says: the columns of operators and shapes, and the versions by their labels, from the first to the last."""

    operator: str
    shapes: str | None
    columns: dict[str, str]
    us_per_unit: int


def versions_of(header: Sequence[str]) -> Versions | Text | None:
    """What a header says; why it is no table of versions, although it names operators and versions; None for any other."""
    if not header or _bare(header[0]) not in _OPERATORS or set(LIST_COLUMNS) <= set(header):
        return None
    shapes, columns, units, others = None, {}, set(), []
    for cell in header[1:]:
        match = _VERSION.fullmatch(cell)
        if _bare(cell) in _SHAPES and shapes is None:
            shapes = cell
        elif match is not None and _is_label(match[1]):
            columns[match[1]] = cell
            units.add("ms" if match[2].casefold() in {"ms", "毫秒"} else "us")
        elif cell and not _IGNORED.search(cell):
            others.append(cell)
    labels = [cell for cell in others if _is_label(cell)]
    if not columns and len(labels) > 1:
        return say("its versions have no unit: write for example {column}(us)", column=labels[0])
    if len(columns) < len(("before", "after")):
        return None
    if others:
        return say("the column {column} is neither a version with a unit, nor shapes, nor a remark", column=others[0])
    if len(units) > 1 or len(set(header)) < len(header):
        return say("expected all versions in one unit, and each column once")
    return Versions(header[0], shapes, columns, US_PER_MS if "ms" in units else 1)


def _bare(cell: str) -> str:
    return re.sub(r"[\s_]", "", cell.casefold())


def _is_label(label: str) -> bool:
    return _bare(label) in _LABELS or (
        re.fullmatch(r"[\w.+-]{1,40}", label) is not None and re.search(r"\d", label) is not None
    )


def is_versions(name: str, head: str = "") -> bool:
    """Whether a file is such a table: its header tells."""
    return name.lower().endswith(".csv") and isinstance(versions_of(cells_of(head)), Versions)


def why_not(head: str) -> Text | None:
    """Why a table that names operators and versions is no such table."""
    known = versions_of(cells_of(head))
    return None if isinstance(known, Versions) else known


def cells_of(head: str) -> list[str]:
    """The header of a table."""
    return [cell.strip() for cell in header_of(head.lstrip("\ufeff"))]


FILES: tuple[TunerFileKind, ...] = (
    TunerFileKind(
        kind="versions",
        form="csv",
        fits=is_versions,
        read=read_by("aoe_reports.tuning.versions.tuner"),
        rules=(CLAIMS_FORM, CLAIMS_ROW, CLAIMS_DUPLICATE, CLAIMS_NO_GAIN, CLAIMS_NOT_MEASURED),
        near=why_not,
    ),
)
