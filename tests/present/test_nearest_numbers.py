"""A printed number is the float64 next to what it stands for: no digits of a division are in it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from decimal import Decimal
from pathlib import Path

import pytest
from commandline import FIXTURES, Cli

RESULT = next((FIXTURES / "aoe/valid/array_grouped").iterdir())


@pytest.mark.parametrize("milliseconds", ["005", "019", "086", "171", "999", "000"])
def test_a_time_is_printed_as_it_was_written(cli: Cli, tmp_path: Path, milliseconds: str) -> None:
    """A float64 of nanoseconds since 1970 has lost its last digits before it is divided."""
    shutil.copy(RESULT, tmp_path / f"aoe_result_opat_20240101020304{milliseconds}_pid4711.json")
    lines = cli("ingest", "--dry-run", tmp_path, "--tz", "UTC").out.splitlines()
    records = [json.loads(line) for line in lines if line.startswith("{")]
    assert records
    for record in records:
        assert repr(record["timestamp"]) == repr(float(f"1704074584.{milliseconds}"))


def test_a_share_is_printed_as_it_was_written(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "op_statistic.csv"
    shares = ["17.008", "62.337", "0.41", "8.005", "12.24"]
    rows = [f"Op{place},AI_CORE,1,1.000,1.000,1.000,1.000,{share}" for place, share in enumerate(shares)]
    header = "OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)"
    path.write_text("".join(f"{row}\n" for row in (header, *rows)))
    printed = cli("table", "op_statistic", path, "--format", "csv").out.splitlines()[1:]
    assert [row.rpartition(",")[2] for row in printed[: len(shares)]] == [
        str(float(Decimal(share) / 100)) for share in shares
    ]


def test_a_dictionary_that_is_not_there_is_named_and_not_its_ids(cli: Cli, tmp_path: Path) -> None:
    output = tmp_path / "x_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    path = output / "ascend_pytorch_profiler_0.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO STRING_IDS VALUES (1, 'KERNEL_AICORE'), (2, 'aclnnAdd');
        CREATE TABLE TASK (startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType, contextId,
            streamId, taskId, modelId);
        INSERT INTO TASK VALUES (1736408883700000000, 1736408883700005000, 0, 1, 1, 1, 1, 0, 2, 3, 4294967295);
        CREATE TABLE MSTX_EVENTS (startNs, endNs, eventType, rangeId, category, message, globalTid, endGlobalTid,
            domainId, connectionId);
        INSERT INTO MSTX_EVENTS VALUES (1736408883600000000, 1736408883600005000, 3, 1, 1, 2, 1, 1, 1, 1);
        """
    )
    connection.commit()
    connection.close()

    def told(rule: str) -> list[str]:
        found = cli("check", tmp_path, "--format", "json").json["findings"]
        return [f["message"] for f in found if f["rule"] == rule and "MSTX_EVENTS.eventType" in f["message"]]

    assert told("db-dangling-id") == []
    (message,) = told("db-incomplete")
    assert message == (
        "no usable table ENUM_MSTX_EVENT_TYPE here: the meaning of the 1 ids of MSTX_EVENTS.eventType is not known, "
        "those cells are empty in the table"
    )
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE ENUM_MSTX_EVENT_TYPE (id, name); INSERT INTO ENUM_MSTX_EVENT_TYPE VALUES (0, 'marker');"
    )
    connection.commit()
    connection.close()
    assert told("db-incomplete") == []
    (message,) = told("db-dangling-id")
    assert "1 ids that do not exist in ENUM_MSTX_EVENT_TYPE" in message
