"""Damage on the command line: a documented exit code, whole JSON, and hotspots that are right or not alone."""

from __future__ import annotations

import pytest
from commandline import Cli
from damage.bases import Base, bases, changed_cells, changed_unit, laid
from damage.test_files import bytes_of_weight, damaged, places
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import FEW

RANKED = ("op_summary", "kernel_details", "op_statistic", "summary_as_json")

damages = st.sampled_from(["flip", "delete", "insert", "cut", "NUL", "GBK"])


def harmed(base: Base, place: float, how: str, byte: int) -> bytes:
    where = int(place * len(base.data))
    if how == "cut":
        return base.data[:where]
    if how in {"NUL", "GBK"}:
        return base.data[:where] + (b"\0" * 8 if how == "NUL" else "矩阵".encode("gbk")) + base.data[where:]
    return damaged(base, place, how, byte)


@pytest.mark.parametrize("kind", list(bases()))
@FEW
@given(place=places, how=damages, byte=bytes_of_weight)
def test_check_ends_with_its_code(cli: Cli, kind: str, place: float, how: str, byte: int) -> None:
    base = bases()[kind]
    with laid((base.path, harmed(base, place, how, byte))) as folder:
        ended = cli("check", folder, "--format", "json")
    severities = {finding["severity"] for finding in ended.json["findings"]}
    unreadable = "unreadable" in ended.rules()
    assert ended.code == (3 if unreadable else 1 if "error" in severities else 0)
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("kind", RANKED)
@FEW
@given(place=places, how=damages, byte=bytes_of_weight)
def test_hotspots_are_right_or_something_is_said(cli: Cli, kind: str, place: float, how: str, byte: int) -> None:
    base = bases()[kind]
    data = harmed(base, place, how, byte)
    with laid((base.path, base.data)) as folder:
        before = sums(cli("hotspots", folder, "--format", "json").json["rows"])
    with laid((base.path, data)) as folder:
        ended = cli("hotspots", folder, "--format", "json")
    assert ended.code in {0, 1, 3}
    assert "Traceback" not in ended.err
    said = [finding for finding in ended.json["findings"] if finding["severity"] != "info"]
    between_rows = how == "cut" and data.endswith(b"\n")
    if not said and changed_cells(base, data) != 1 and not changed_unit(base, data) and not between_rows:
        assert sums(ended.json["rows"]) == before


def sums(rows: list[dict]) -> dict:
    return {(row["rank_id"], row["op_type"], row["task_type"]): (row["count"], row["total_us"]) for row in rows}


@pytest.mark.parametrize("kind", list(bases()))
@FEW
@given(place=places, how=damages, byte=bytes_of_weight)
def test_advise_ends_with_its_code(cli: Cli, kind: str, place: float, how: str, byte: int) -> None:
    base = bases()[kind]
    with laid((base.path, harmed(base, place, how, byte))) as folder:
        ended = cli("advise", folder, "--format", "json")
    unreadable = "unreadable" in ended.rules()
    severities = {finding["severity"] for finding in ended.json["findings"]}
    assert ended.code == (3 if unreadable else 1 if "error" in severities else 0)
    assert "Traceback" not in ended.err
    for row in ended.json["rows"]:
        assert row["bound_us"] is None or row["bound_us"] >= 0
