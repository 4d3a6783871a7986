from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.sqlite import (
    DatabaseInfo,
    info_of_database,
    kinds_of_database,
    read_database,
    read_database_events,
)
from aoe_reports.formats.sqlite.counters import counter_header
from aoe_reports.formats.sqlite.queries import SOURCES
from aoe_reports.formats.sqlite.source import EncodedWords, said_by
from aoe_reports.model.errors import ReadError
from aoe_reports.model.texts import Text, say
from aoe_reports.model.topics.parallel import GroupPlace
from aoe_reports.rules.tables.check import check_table

NO_ID = 4294967295
START = 1736410576404465403
WORDS = ["N/A", "KERNEL_AIVEC", "Conv2D1", "Conv2D", "AI_CORE", '"1,2;3"', '""', "NCHW", "FLOAT", "hcom_allReduce_1",
         "hcom_allReduce_", "TransData", "AI_VECTOR_CORE", "trans_0", "aic_total_time", "aic_mac_ratio", "group",
         "aclrtMemcpy", "launch", "PTA", "GE", "app", "device", "aten::add", "SDMA", "dynamic", "YES", "step 1", "MESH"]  # fmt: skip
ID = {word: number for number, word in enumerate(WORDS)}

DDL = """
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE SESSION_TIME_INFO (startTimeNs INTEGER, endTimeNs INTEGER);
CREATE TABLE NPU_INFO (id INTEGER, name TEXT);
CREATE TABLE HOST_INFO (hostUid TEXT, hostName TEXT);
CREATE TABLE META_DATA (name TEXT, value TEXT);
CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);
CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);
CREATE TABLE ENUM_API_TYPE (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE ENUM_MODULE (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE ENUM_MSTX_EVENT_TYPE (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,
  globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER);
CREATE INDEX TaskIndex ON TASK (startNs, globalTaskId);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER, mixBlockDim INTEGER,
  taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, inputShapes INTEGER,
  outputFormats INTEGER, outputDataTypes INTEGER, outputShapes INTEGER, attrInfo INTEGER);
CREATE TABLE TASK_PMU_INFO (globalTaskId INTEGER, name INTEGER, value NUMERIC);
CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER,
  opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, algType INTEGER, count NUMERIC, opType INTEGER);
CREATE TABLE COMMUNICATION_TASK_INFO (name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER,
  groupName INTEGER, notifyId INTEGER, rdmaType INTEGER, srcRank INTEGER, dstRank INTEGER, transportType INTEGER,
  size INTEGER, dataType INTEGER, linkType INTEGER, opId INTEGER);
CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER,
  connectionId INTEGER PRIMARY KEY, name INTEGER);
CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER,
  sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER, type INTEGER);
CREATE TABLE CONNECTION_IDS (id INTEGER, connectionId INTEGER);
CREATE TABLE NPU_MEM (type INTEGER, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER, deviceId INTEGER);
CREATE TABLE NPU_MODULE_MEM (moduleId INTEGER, timestampNs INTEGER, totalReserved NUMERIC, deviceId INTEGER);
CREATE TABLE MEMORY_RECORD (component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER,
  totalActive INTEGER, streamPtr INTEGER, deviceId INTEGER);
CREATE TABLE OP_MEMORY (name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime INTEGER,
  activeReleaseTime INTEGER, duration INTEGER, activeDuration INTEGER, allocationTotalAllocated INTEGER,
  allocationTotalReserved INTEGER, allocationTotalActive INTEGER, releaseTotalAllocated INTEGER,
  releaseTotalReserved INTEGER, releaseTotalActive INTEGER, streamPtr INTEGER, deviceId INTEGER);
CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,
  message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, connectionId INTEGER);
CREATE TABLE OVERLAP_ANALYSIS (id INTEGER PRIMARY KEY, deviceId INTEGER, startNs NUMERIC, endNs NUMERIC, type INTEGER);
CREATE TABLE StepTraceTime (step TEXT, computing NUMERIC, communication_not_overlapped NUMERIC, overlapped NUMERIC,
  communication NUMERIC, free NUMERIC, stage NUMERIC, bubble NUMERIC,
  communication_not_overlapped_and_exclude_receive NUMERIC, preparing NUMERIC);
CREATE TABLE ClusterStepTraceTime (step TEXT, type TEXT, "index" TEXT, computing REAL, communication_not_overlapped REAL,
  overlapped REAL, communication REAL, free REAL, stage REAL, bubble REAL,
  communication_not_overlapped_and_exclude_receive REAL, preparing REAL);
CREATE TABLE CommAnalyzerBandwidth (hccl_op_name TEXT, group_name TEXT, transport_type TEXT, transit_size NUMERIC,
  transit_time NUMERIC, bandwidth NUMERIC, large_packet_ratio NUMERIC, package_size NUMERIC, count NUMERIC,
  total_duration NUMERIC, step TEXT, type TEXT);
CREATE TABLE CommAnalyzerMatrix (hccl_op_name TEXT, group_name TEXT, src_rank TEXT, dst_rank TEXT, transport_type TEXT,
  transit_size NUMERIC, transit_time NUMERIC, bandwidth NUMERIC, step TEXT, type TEXT, op_name TEXT);
CREATE TABLE CommAnalyzerTime (hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC, elapse_time NUMERIC,
  transit_time NUMERIC, wait_time NUMERIC, synchronization_time NUMERIC, idle_time NUMERIC, step TEXT, type TEXT);
"""


def insert(connection: sqlite3.Connection, table: str, *rows: tuple) -> None:
    marks = ",".join("?" * len(rows[0]))
    connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


def task(
    number: int, start: int, length: int, *, kind: str = "KERNEL_AIVEC", device: int = 0, connection: int | None = None
) -> tuple:
    used = number if connection is None else connection
    return (START + start, START + start + length, device, used, number, 77, ID[kind], NO_ID, 2, 100 + number, NO_ID)  # fmt: skip


def compute(number: int, name: str, op_type: str, task_type: str) -> tuple:
    shapes = (ID["NCHW"], ID["FLOAT"], ID['"1,2;3"'], ID["NCHW"], ID["FLOAT"], ID['""'], ID["N/A"])
    return (ID[name], number, 20, 0, ID[task_type], ID[op_type], *shapes)


def fill(connection: sqlite3.Connection) -> None:
    connection.executescript(DDL)
    insert(connection, "STRING_IDS", *((number, word) for word, number in ID.items()))
    insert(connection, "SESSION_TIME_INFO", (START - 1000, START + 10**6))
    insert(connection, "NPU_INFO", (0, "Ascend910B"))
    insert(connection, "HOST_INFO", ("4711", "ubuntu"))
    insert(connection, "META_DATA", ("SCHEMA_VERSION", "1.0.0"), ("SCHEMA_VERSION_MAJOR", "1"))
    insert(connection, "RANK_DEVICE_MAP", (3, 0))
    insert(connection, "STEP_TIME", (7, START - 500, START + 50))
    insert(connection, "ENUM_API_TYPE", (20000, "acl"), (10000, "node"), (50001, "op"))
    insert(connection, "ENUM_MODULE", (0, "SLOG"), (3, "HCCL"))
    insert(connection, "ENUM_MSTX_EVENT_TYPE", (2, "start/end"))
    insert(connection, "TASK", task(1, 0, 100), task(2, 150, 50), task(3, 400, 100), task(9, 600, 7))
    insert(
        connection,
        "COMPUTE_TASK_INFO",
        compute(1, "Conv2D1", "Conv2D", "AI_CORE"),
        compute(2, "trans_0", "TransData", "AI_VECTOR_CORE"),
        compute(3, "trans_0", "TransData", "AI_VECTOR_CORE"),
    )
    insert(
        connection,
        "TASK_PMU_INFO",
        (1, ID["aic_total_time"], 2500),
        (1, ID["aic_mac_ratio"], 0.5),
        (3, ID["aic_mac_ratio"], 0.25),
    )
    insert(
        connection,
        "COMMUNICATION_OP",
        (
            ID["hcom_allReduce_1"],
            START + 180,
            START + 480,
            5,
            ID["group"],
            1,
            0,
            0,
            4,
            ID["MESH"],
            99,
            ID["hcom_allReduce_"],
        ),
    )
    insert(
        connection,
        "COMMUNICATION_TASK_INFO",
        (ID["hcom_allReduce_1"], 9, ID["SDMA"], 0, ID["group"], 0, 0, 0, 1, 0, 4, 2, 0, 1),
    )
    thread = (77 << 32) + 78
    insert(
        connection,
        "CANN_API",
        (START - 400, START - 390, 20000, thread, 90, ID["aclrtMemcpy"]),
        (START - 380, START - 340, 20000, thread, 91, ID["aclrtMemcpy"]),
        (START - 300, START - 290, 10000, thread, 1, ID["launch"]),
        (START - 200, START - 195, 10000, thread, 3, ID["launch"]),
    )
    insert(
        connection, "PYTORCH_API", (str(START - 450), str(START - 310), thread, 6, ID["aten::add"], *[None] * 5, 50001)
    )
    insert(connection, "CONNECTION_IDS", (6, 90), (6, 1))
    insert(connection, "NPU_MEM", (ID["app"], 0, 2048, START, 0), (ID["device"], 1, 4096, START, 0))
    insert(connection, "NPU_MODULE_MEM", (0, START, 0, 0), (3, START, 1024, 0))
    insert(connection, "MEMORY_RECORD", (ID["PTA"], START, 100, 200, 50, 42, 0), (ID["GE"], START, 10, 20, 0, None, 0))
    insert(
        connection,
        "OP_MEMORY",
        (ID["aten::add"], 512, START, START + 20, START + 10, 20, 10, 1, 2, 3, 4, 5, 6, 42, 0),
        (ID["Conv2D1"], 256, START, None, None, None, None, 1, 2, 3, None, None, None, None, 0),
    )
    insert(connection, "MSTX_EVENTS", (START, START + 60, 2, NO_ID, NO_ID, ID["step 1"], thread, thread, NO_ID, 2))
    insert(connection, "OVERLAP_ANALYSIS", (1, 0, START, START + 200, 0), (2, 0, START + 180, START + 480, 1))
    insert(connection, "StepTraceTime", ("50", 8843.91, 1, 2, 3, 25900.158, 120625.19, 0, 1, 16681.808))
    insert(connection, "ClusterStepTraceTime", ("50", "rank", "3", 1.5, 1, 2, 3, 4, 5, 0, 1, 6))
    op = ("hcom_1", "4711")
    last = ("step50", "collective")
    insert(
        connection,
        "CommAnalyzerBandwidth",
        (*op, "HCCS", 28.647232, 1.82189634, 15.7239, 0, 2.064384, 12, 1.5, *last),
        (*op, "HCCS", 28.647232, 1.82189634, 15.7239, 0, 8.0, 2, 2.0, *last),
        (*op, "SDMA", 28.647232, 1.82189634, 15.7239, 0, 0, 0, 0, *last),
    )
    insert(
        connection,
        "CommAnalyzerMatrix",
        ("allreduce-top1", "4711", "0", "7", "HCCS", 37.781504, 2.234104, 16.9113, *last, "hcom_1"),
    )
    insert(
        connection, "CommAnalyzerTime", (*op, 1736410576431645.2, 88.750993, 0.228565, 3.568891, 3.51773, 84.95, *last)
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("made") / "ascend_pytorch_profiler_3.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        fill(connection)
        connection.commit()
    return path


@pytest.fixture
def change(made, tmp_path):
    """Runs SQL on a copy and gives its path."""

    def changed(sql: str, name: str = "ascend_pytorch_profiler_3.db") -> Path:
        path = tmp_path / name
        shutil.copy(made, path)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.executescript(sql)
            connection.commit()
        return path

    return changed


def rules(data) -> list[str]:
    return [finding.rule for finding in data.findings]


def column(data, name: str) -> list:
    return data.frame[name].to_pylist()


def as_documented(data) -> None:
    """What holds for every table: rows add up, and columns have their declared types."""
    assert data.rows_read == data.frame.num_rows + data.rows_reported
    fields = {c.field: c.type for c in data.table.columns}
    for name in data.frame.column_names:
        shown = str(data.frame.schema.field(name).type)
        wanted = {"text": "dictionary", "number": "double", "share": "double"}.get(fields.get(name, "number"), "int64")
        assert shown.startswith(wanted), (name, shown)


# ---------------------------------------------------------------- kinds


def test_kinds_are_those_whose_tables_hold_rows(made):
    kinds, findings = kinds_of_database(made)
    assert kinds == frozenset(SOURCES) - {"op_summary"}
    assert findings == ()


def test_every_kind_is_declared_and_reads(made):
    for kind in SOURCES:
        data = read_database(made, kind)
        assert not data.findings, kind
        assert data.frame.num_rows, kind
        assert set(data.frame.column_names) >= {c.field for c in TABLES[kind].columns if not c.optional and c.needed}
        as_documented(data)
        assert check_table(data).frame.num_rows == data.frame.num_rows


def test_msprof_calls_its_tasks_op_summary(change):
    path = change("DROP TABLE PYTORCH_API", "msprof_20260605155140.db")
    kinds, _ = kinds_of_database(path)
    assert "op_summary" in kinds
    assert "kernel_details" not in kinds


def test_an_empty_table_gives_no_kind_and_reads_as_no_rows(change):
    path = change("DELETE FROM CANN_API")
    assert "api_statistic" not in kinds_of_database(path)[0]
    data = read_database(path, "api_statistic")
    assert (data.frame.num_rows, data.findings) == (0, ())


def test_level_0_has_no_statistic(change):
    path = change(
        f"UPDATE COMPUTE_TASK_INFO SET opType = {ID['N/A']}; UPDATE COMMUNICATION_OP SET opType = {ID['N/A']}"
    )
    assert not {"op_statistic", "communication_statistic"} & kinds_of_database(path)[0]


def test_tasks_are_joined_with_their_operators_and_communication(made):
    data = read_database(made, "kernel_details")
    assert column(data, "op_name") == ["Conv2D1", "trans_0", "hcom_allReduce_1", "trans_0"]
    assert column(data, "op_type") == ["Conv2D", "TransData", "hcom_allReduce_", "TransData"]
    assert column(data, "task_type") == ["AI_CORE", "AI_VECTOR_CORE", "COMMUNICATION", "AI_VECTOR_CORE"]
    assert column(data, "task_start_ns") == [START, START + 150, START + 180, START + 400]
    assert column(data, "task_duration_ns") == [100, 50, 300, 100]
    assert column(data, "task_wait_ns") == [0, 50, 0, 0]
    assert column(data, "stream_id") == [2, 2, None, 2]
    assert column(data, "model_id") == [None] * 4
    assert column(data, "context_id") == [None] * 4
    assert column(data, "block_num") == [20, 20, 0, 20]
    assert column(data, "mix_block_num") == [0, 0, None, 0]
    assert column(data, "device_id") == [0] * 4
    assert column(data, "input_shapes") == ["1,2;3", "1,2;3", None, "1,2;3"]
    assert column(data, "output_shapes") == [None] * 4
    assert column(data, "aicore_time_us") == [2.5, None, None, None]
    assert column(data, "aic_mac_ratio") == [0.5, None, None, 0.25]
    assert "op_state" not in data.frame.column_names


def test_a_step_goes_from_its_first_launched_task_to_its_last(made):
    # launched in step 7: tasks 1 and 3; the host's step ends before task 2 starts
    assert column(read_database(made, "kernel_details"), "step") == [7, 7, 7, 7]


def test_a_step_without_calls_is_the_host_s(change):
    data = read_database(change("DROP TABLE CANN_API"), "kernel_details")
    assert column(data, "step") == [7, None, None, None]


def test_names_of_2026_and_the_columns_they_brought(change):
    path = change(
        "ALTER TABLE COMPUTE_TASK_INFO RENAME COLUMN blockDim TO blockNum;"
        "ALTER TABLE COMPUTE_TASK_INFO RENAME COLUMN mixBlockDim TO mixBlockNum;"
        f"ALTER TABLE COMPUTE_TASK_INFO ADD COLUMN opState INTEGER DEFAULT {ID['dynamic']};"
        f"ALTER TABLE COMPUTE_TASK_INFO ADD COLUMN hf32Eligible INTEGER DEFAULT {ID['YES']};"
        "ALTER TABLE COMPUTE_TASK_INFO ADD COLUMN blockDim INTEGER DEFAULT 2048;"
        "ALTER TABLE COMMUNICATION_OP ADD COLUMN deviceId INTEGER DEFAULT 0;"
    )
    data = read_database(path, "kernel_details")
    assert column(data, "block_num") == [20, 20, 0, 20]
    assert column(data, "op_state") == ["dynamic", "dynamic", None, "dynamic"]
    assert column(data, "hf32_eligible") == ["YES", "YES", None, "YES"]
    as_documented(data)


def test_two_devices_wait_each_for_itself_and_operators_find_theirs(change):
    path = change("UPDATE TASK SET deviceId = 1 WHERE globalTaskId IN (2, 9)")
    data = read_database(path, "kernel_details")
    assert column(data, "device_id") == [0, 0, 1, 1]
    assert column(data, "op_name") == ["Conv2D1", "trans_0", "trans_0", "hcom_allReduce_1"]
    assert column(data, "task_wait_ns") == [0, 300, 0, 0]


def test_what_msprof_leaves_out_of_op_summary_is_left_out(change):
    path = change(
        "INSERT INTO STRING_IDS VALUES (900, 'COMMUNICATION'), (901, 'my_AivKernel');"
        "UPDATE COMPUTE_TASK_INFO SET taskType = 900 WHERE globalTaskId IN (1, 2);"
        "UPDATE COMPUTE_TASK_INFO SET name = 901 WHERE globalTaskId = 2;"
    )
    data = read_database(path, "op_summary")
    assert column(data, "op_name") == ["my_AivKernel", "hcom_allReduce_1", "trans_0"]


def test_a_graph_that_runs_again_gives_each_run_its_own_counters(change):
    more = f"INSERT INTO TASK VALUES ({START + 1000}, {START + 1010}, 0, 1, 1, 77, 1, {NO_ID}, 2, 101, {NO_ID});"
    path = change(more + f"INSERT INTO TASK_PMU_INFO VALUES (1, {ID['aic_mac_ratio']}, 0.75)")
    data = read_database(path, "op_summary")
    assert column(data, "op_name").count("Conv2D1") == 2
    assert column(data, "aic_mac_ratio") == [0.5, None, None, 0.25, 0.75]


def test_counters_with_a_time_go_to_the_run_that_it_is_in(change):
    path = change(
        f"INSERT INTO TASK VALUES ({START + 1000}, {START + 1010}, 0, 1, 1, 77, 1, {NO_ID}, 2, 101, {NO_ID});"
        "ALTER TABLE TASK_PMU_INFO ADD COLUMN timestampNs INTEGER; DELETE FROM TASK_PMU_INFO;"
        f"INSERT INTO TASK_PMU_INFO VALUES (1, {ID['aic_mac_ratio']}, 0.75, {START + 1005}),"
        f" (1, {ID['aic_mac_ratio']}, 0.5, {START + 100}), (1, {ID['aic_mac_ratio']}, 0.1, {START + 500})"
    )
    assert column(read_database(path, "op_summary"), "aic_mac_ratio") == [0.5, None, None, None, 0.75]


@pytest.mark.parametrize(
    ("name", "header", "divisor"),
    [
        ("aic_total_time", "aicore_time(us)", 1e3),
        ("aiv_total_time", "aiv_time(us)", 1e3),
        ("aic_mac_time", "aic_mac_time(us)", 1e3),
        ("aic_mac_ratio", "aic_mac_ratio", 1),
        ("aic_total_cycles", "aic_total_cycles", 1),
        ("aic_l0c_read_bw_cube", "aic_l0c_read_bw_cube(GB/s)", 2**30),
    ],
)
def test_counters_have_the_names_and_units_of_text(name, header, divisor):
    assert counter_header(name) == (header, divisor)


def test_only_asked_columns_are_there_with_the_needed_ones(made):
    data = read_database(made, "op_summary", frozenset({"op_type", "task_wait_ns", "aic_mac_ratio"}), hashed=False)
    assert data.frame.column_names == ["op_type", "task_duration_ns", "task_wait_ns", "aic_mac_ratio"]
    assert column(data, "task_wait_ns") == [0, 50, 0, 0]
    assert data.sha256 == ""


def test_task_time_has_every_task(made):
    data = read_database(made, "task_time")
    assert column(data, "op_name") == ["Conv2D1", "trans_0", "trans_0", None]
    assert column(data, "task_type") == ["AI_CORE", "AI_VECTOR_CORE", "AI_VECTOR_CORE", "KERNEL_AIVEC"]
    assert sum(column(data, "task_duration_ns")) == 257
    assert column(data, "task_stop_ns")[-1] == START + 607


def test_statistics_are_the_tasks_in_groups(made):
    data = read_database(made, "op_statistic")
    assert data.frame.to_pylist() == [
        {"device_id": 0, "op_type": "TransData", "task_type": "AI_VECTOR_CORE", "count": 2, "total_time_ns": 150,
         "min_time_ns": 50, "avg_time_ns": 75, "max_time_ns": 100, "share": 0.6},
        {"device_id": 0, "op_type": "Conv2D", "task_type": "AI_CORE", "count": 1, "total_time_ns": 100,
         "min_time_ns": 100, "avg_time_ns": 100, "max_time_ns": 100, "share": 0.4},
    ]  # fmt: skip
    (row,) = read_database(made, "communication_statistic").frame.to_pylist()
    assert (row["op_type"], row["count"], row["total_time_ns"], row["share"]) == ("hcom_allReduce_", 1, 300, 1.0)


def test_shares_are_parts_of_the_time_of_one_device(change):
    data = read_database(change("UPDATE TASK SET deviceId = 1 WHERE globalTaskId = 3"), "op_statistic")
    rows = [(row["device_id"], row["op_type"], row["share"]) for row in data.frame.to_pylist()]
    assert sorted(rows) == [(0, "Conv2D", 2 / 3), (0, "TransData", 1 / 3), (1, "TransData", 1.0)]


def test_api_statistic_has_the_variance_of_all_calls(made):
    rows = {row["api_name"]: row for row in read_database(made, "api_statistic").frame.to_pylist()}
    assert rows["aclrtMemcpy"]["level"] == "acl"
    assert (rows["aclrtMemcpy"]["count"], rows["aclrtMemcpy"]["total_time_ns"]) == (2, 50)
    assert rows["aclrtMemcpy"]["variance"] == pytest.approx(0.015**2)
    assert rows["launch"]["level"] == "node"


def test_levels_are_known_without_the_file_s_own_list(change):
    data = read_database(change("DROP TABLE ENUM_API_TYPE"), "api_statistic")
    assert column(data, "level") == ["acl", "node"]
    assert not data.findings


@pytest.mark.parametrize(("stored", "step"), [("50", 50), ("step50", 50), ("", None), (None, None)])
def test_steps_are_numbers_whatever_they_were_written_as(change, stored, step):
    shown = "NULL" if stored is None else f"'{stored}'"
    data = read_database(change(f"UPDATE StepTraceTime SET step = {shown}"), "step_trace_time")
    (row,) = data.frame.to_pylist()
    assert (row["step"], row["computing_ns"], row["free_ns"]) == (step, 8843910, 25900158)
    assert row["preparing_ns"] == 16681808
    assert not data.findings


def test_a_step_that_is_no_number_is_reported(change):
    data = read_database(change("UPDATE StepTraceTime SET step = 'first'"), "step_trace_time")
    assert rules(data) == ["db-value"]
    assert column(data, "step") == [None]


def test_step_trace_time_of_a_cluster(made):
    (row,) = read_database(made, "cluster_step_trace_time").frame.to_pylist()
    assert (row["step"], row["type"], row["index"], row["computing_ns"]) == (50, "rank", "3", 1500)


def test_communication_has_the_columns_of_its_json(made):
    (row,) = read_database(made, "communication").frame.to_pylist()
    assert row["start_ns"] == 1736410576431645200
    assert (row["elapsed_ns"], row["transit_ns"]) == (88750993, 228565)
    assert row["wait_ratio"] == round(3.568891 / (3.568891 + 0.228565), 4)
    assert row["synchronization_ratio"] == round(3.51773 / (3.51773 + 0.228565), 4)
    assert (row["step"], row["type"], row["op_name"], row["group"]) == ("step50", "collective", "hcom_1", "4711")


def test_bandwidth_has_a_row_a_transport_and_its_sizes_in_one_cell(made):
    data = read_database(made, "communication_bandwidth")
    assert column(data, "transport") == ["HCCS", "SDMA"]
    assert column(data, "transit_bytes") == [28647232] * 2
    assert column(data, "transit_ns") == [1821896] * 2
    assert [json.loads(cell) for cell in column(data, "size_distribution")] == [
        {"2.064384": [12, 1.5], "8.0": [2, 2.0]},
        {},
    ]


def test_the_matrix_names_operator_and_its_slowest(made):
    (row,) = read_database(made, "communication_matrix").frame.to_pylist()
    assert (row["op_name"], row["hccl_op_name"]) == ("allreduce-top1", "hcom_1")
    assert (row["source_rank"], row["destination_rank"], row["transit_bytes"]) == (0, 7, 37781504)


def test_memory_is_in_bytes_with_the_process_s_own(made):
    data = read_database(made, "memory_record")
    assert column(data, "component") == ["APP", "PTA", "GE"]
    assert column(data, "total_reserved_bytes") == [2048, 200, 20]
    assert column(data, "total_active_bytes") == [None, 50, None]
    assert column(data, "device") == ["NPU:0"] * 3
    assert column(read_database(made, "npu_mem"), "memory_bytes") == [2048, 4097]
    assert column(read_database(made, "npu_module_mem"), "component") == ["SLOG", "HCCL"]
    rows = read_database(made, "operator_memory").frame.to_pylist()
    assert (rows[0]["size_bytes"], rows[0]["duration_ns"], rows[0]["release_ns"]) == (512, 20, START + 20)
    assert rows[1]["duration_ns"] is None
    assert [row["op_name"] for row in rows] == ["aten::add", "cann::Conv2D1"]


def test_memory_of_operators_stands_in_where_no_framework_recorded(change):
    path = change(
        "DROP TABLE MEMORY_RECORD; CREATE TABLE NPU_OP_MEM (operatorName INTEGER, addr INTEGER, type INTEGER, size INTEGER,"
        "timestampNs INTEGER, globalTid INTEGER, totalAllocate NUMERIC, totalReserve NUMERIC, component INTEGER,"
        f"deviceId INTEGER); INSERT INTO NPU_OP_MEM VALUES (1, 2, 3, 4, {START}, 5, 600, 700, {ID['GE']}, 0)"
    )
    assert "memory_record" in kinds_of_database(path)[0]
    (row,) = read_database(path, "memory_record").frame.to_pylist()
    assert (row["component"], row["total_allocated_bytes"], row["total_reserved_bytes"]) == ("GE", 600, 700)


def test_marks_find_their_task_on_the_device(made):
    (row,) = read_database(made, "msprof_tx").frame.to_pylist()
    assert (row["message"], row["event_type"], row["process_id"], row["thread_id"]) == ("step 1", "start/end", 77, 78)
    assert (row["start_ns"], row["end_ns"]) == (START, START + 60)
    assert (row["device_start_ns"], row["device_end_ns"]) == (START + 150, START + 200)
    assert row["category"] is None


# ---------------------------------------------------------------- what else it tells


def test_info(made):
    info = info_of_database(made)
    assert info == DatabaseInfo(
        ranks={0: 3},
        start_ns=START - 1000,
        end_ns=START + 10**6,
        hardware={0: "Ascend910B"},
    )
    assert (info.rank_id, info.hardware_name) == (3, "Ascend910B")


@pytest.mark.parametrize(
    ("rows", "ranks", "rank"), [("(-1, 0)", {}, None), ("(3, 0), (4, 1)", {0: 3, 1: 4}, None), ("(4, 1)", {1: 4}, 4)]
)
def test_a_rank_below_0_is_none_and_several_are_not_one(change, rows, ranks, rank):
    info = info_of_database(change(f"DELETE FROM RANK_DEVICE_MAP; INSERT INTO RANK_DEVICE_MAP VALUES {rows}"))
    assert (info.ranks, info.rank_id) == (ranks, rank)


GROUPS = {"ip%eth0_0": {"group_name": "pp", "group_rank": 2, "global_ranks": [3, 7, 11]}}


@pytest.mark.parametrize(
    ("value", "groups"),
    [
        (json.dumps(GROUPS), {11: (GroupPlace("pp", 3, 2, 3),)}),
        ("{", {}), ("[" * 100_000, {}), ("17", {}), ("", {}),
    ],
)  # fmt: skip
def test_groups_stand_as_json_among_the_metadata(change, value, groups):
    made = change(
        f"CREATE TABLE IF NOT EXISTS META_DATA (name TEXT, value TEXT); INSERT INTO META_DATA VALUES ('parallel_group_info', '{value}')"
    )
    assert info_of_database(made).groups == groups


def test_a_database_without_those_tables_tells_nothing(tmp_path):
    path = tmp_path / "analysis.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE StepTraceTime (step TEXT)")
    assert info_of_database(path) == DatabaseInfo()
    kinds, findings = kinds_of_database(path)
    assert (kinds, [finding.rule for finding in findings]) == (frozenset(), ["db-incomplete"])
    assert read_database_events(path)[0].num_rows == 0


def test_events_of_every_source(made):
    events, findings = read_database_events(made)
    assert findings == ()
    rows = events.to_pylist()
    assert [row["start_ns"] for row in rows] == sorted(row["start_ns"] for row in rows)
    by = {(row["process"], row["thread"], row["name"]): row for row in rows}
    assert by["Ascend Hardware", "Stream 2", "Conv2D1"]["duration_ns"] == 100
    assert by["Ascend Hardware", "Stream 2", "Conv2D1"]["connection_id"] == 1
    assert by["Ascend Hardware", "Stream 2", "KERNEL_AIVEC"]["task_id"] == 109
    assert by["CANN", "Thread 78", "AscendCL@aclrtMemcpy"]["level"] == "acl"
    assert by["CANN", "Thread 78", "Node@launch"]["pid"] == 77
    assert (
        json.loads(by["Communication", "Group group Communication", "hcom_allReduce_1"]["args"])["alg_type"] == "MESH"
    )
    assert by["Communication", "Plane 0", "SDMA"]["duration_ns"] == 7
    python = by["Python", "Thread 78", "aten::add"]
    assert (python["category"], python["duration_ns"], python["connection_id"]) == ("cpu_op", 140, 90)
    assert by["Python", "Thread 78", "step 1"]["duration_ns"] == 60
    assert by["Overlap Analysis", "Computing", "Computing"]["duration_ns"] == 200
    assert len(rows) == 4 + 4 + 1 + 1 + 1 + 1 + 2


@pytest.mark.parametrize(("end", "kept"), [(START - 300, True), (START - 301, False)])
def test_an_event_that_ends_before_it_begins_is_reported(change, end, kept):
    events, findings = read_database_events(change(f"UPDATE CANN_API SET endNs = {end} WHERE connectionId = 1"))
    assert [row["duration_ns"] for row in events.to_pylist() if row["name"] == "Node@launch"] == [0, 5][not kept :]
    assert [finding.rule for finding in findings] == ([] if kept else ["db-value"])
    assert all("endNs is before startNs" in finding.message for finding in findings)


def test_a_task_that_only_holds_parts_is_no_event_of_its_own(change):
    part = f"INSERT INTO TASK VALUES ({START + 10}, {START + 20}, 0, 1, 50, 77, 1, 0, 2, 101, {NO_ID})"
    events, _ = read_database_events(change(part))
    rows = [row for row in events.to_pylist() if row["process"] == "Ascend Hardware" and row["task_id"] == 101]
    assert [(row["start_ns"], row["duration_ns"], row["subtask_id"]) for row in rows] == [(START + 10, 10, 0)]


# ---------------------------------------------------------------- values


def test_values_of_the_wrong_type_are_reported_and_never_summed(change):
    path = change(
        "UPDATE TASK SET endNs = 'soon' WHERE globalTaskId = 1; UPDATE TASK SET streamId = x'00' WHERE globalTaskId = 2"
    )
    data = read_database(path, "op_summary")
    found = {finding.message for finding in data.findings}
    assert rules(data).count("db-value") == 2
    assert any(
        "TASK.endNs: 1 values" in message and "rowid 1" in message and "left out" in message for message in found
    )
    assert any("TASK.streamId: 1 values" in message and "empty" in message for message in found)
    assert column(data, "op_name") == ["trans_0", "hcom_allReduce_1", "trans_0"]
    assert column(data, "stream_id") == [None, None, 2]
    as_documented(data)


@pytest.mark.parametrize("value", ["9e999", "-9e999", "1.5", f"{2**62}", "'1_0'", "'١'"])
def test_no_time_is_made_of_what_is_none(change, value):
    data = read_database(change(f"UPDATE TASK SET startNs = {value} WHERE globalTaskId = 1"), "op_summary")
    assert "db-value" in rules(data)
    assert data.frame.num_rows == 3
    as_documented(data)


def test_a_row_without_a_needed_value_is_reported(change):
    data = read_database(change("UPDATE TASK SET endNs = NULL WHERE globalTaskId = 2"), "op_summary")
    assert rules(data) == ["missing-value", "db-dangling-id"]
    assert data.frame.num_rows == 3
    as_documented(data)


def test_a_value_that_is_no_number_in_a_counter_leaves_its_cell_empty(change):
    path = change("UPDATE TASK_PMU_INFO SET value = 'much' WHERE globalTaskId = 3")
    data = read_database(path, "op_summary")
    assert rules(data) == ["db-value"]
    assert column(data, "aic_mac_ratio") == [0.5, None, None, None]


def test_a_negative_duration_is_for_the_checks_to_report(change):
    path = change(f"UPDATE TASK SET endNs = {START - 5} WHERE globalTaskId = 1")
    data = read_database(path, "op_summary")
    assert column(data, "task_duration_ns")[0] == -5
    checked = check_table(data)
    assert checked.frame.num_rows == 3
    assert [(finding.rule, finding.line) for finding in checked.findings] == [("negative-duration", None)]
    assert "op_summary, row 1: " in checked.findings[0].message
    assert checked.rows_read == checked.frame.num_rows + checked.rows_reported
    assert (checked.line(0), checked.row(0)) == (None, 2)


def test_what_takes_longer_than_anything_can_is_reported(change):
    data = read_database(change(f"UPDATE TASK SET endNs = {2**61} WHERE globalTaskId = 1"), "op_summary")
    assert "db-value" in rules(data)
    assert data.frame.num_rows == 3
    as_documented(data)


def test_an_id_without_a_word_is_null_and_reported(change):
    data = read_database(change("UPDATE COMPUTE_TASK_INFO SET opType = 4711 WHERE globalTaskId = 1"), "op_summary")
    assert rules(data) == ["db-dangling-id"]
    assert column(data, "op_type")[0] is None
    assert data.frame.num_rows == 4


def test_an_operator_without_a_task_is_reported(change):
    data = read_database(change("DELETE FROM TASK WHERE globalTaskId = 3"), "op_summary")
    assert rules(data) == ["db-dangling-id"]
    assert (data.frame.num_rows, data.rows_reported) == (3, 1)


def test_points_in_time_in_floating_point_have_lost_digits(change):
    path = change(
        "CREATE TABLE T AS SELECT * FROM MEMORY_RECORD; DROP TABLE MEMORY_RECORD;"
        "CREATE TABLE MEMORY_RECORD (component INTEGER, timestamp REAL, totalAllocated INTEGER, totalReserved INTEGER,"
        "totalActive INTEGER, streamPtr INTEGER, deviceId INTEGER); INSERT INTO MEMORY_RECORD SELECT * FROM T"
    )
    data = read_database(path, "memory_record")
    assert rules(data) == ["inexact-timestamp"]
    assert column(data, "timestamp_ns")[1] == int(float(START))


def test_words_that_are_no_utf_8_are_words(change):
    path = change(f"UPDATE STRING_IDS SET value = CAST(x'41ff42' AS TEXT) WHERE id = {ID['Conv2D1']}")
    assert column(read_database(path, "op_summary"), "op_name")[0] == "A\ufffdB"


# ---------------------------------------------------------------- the file


@pytest.mark.parametrize("name", ["a b.db", "what?mode=rwc.db", "a#b%41.db", "类型.db", "'\"`;.db"])
def test_any_name_is_opened_as_it_is(made, tmp_path, name):
    shutil.copy(made, tmp_path / name)
    assert read_database(tmp_path / name, "op_summary").frame.num_rows == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


def test_the_file_is_neither_written_nor_locked(made, tmp_path):
    path = tmp_path / "ascend_pytorch_profiler.db"
    shutil.copy(made, path)
    before = path.read_bytes()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        assert read_database(path, "op_summary").frame.num_rows == 4
        writer.execute("ROLLBACK")
    path.chmod(0o444)
    assert kinds_of_database(path)[0]
    assert path.read_bytes() == before


def test_what_was_not_written_back_is_said(change):
    path = change("PRAGMA journal_mode = WAL")
    wal, journal = path.with_name(path.name + "-wal"), path.with_name(path.name + "-journal")
    wal.write_bytes(b"")
    assert not kinds_of_database(path)[1]
    wal.write_bytes(b"something")
    data = read_database(path, "op_summary")
    assert rules(data) == ["db-journal"]
    assert data.frame.num_rows == 4
    wal.unlink()
    journal.write_bytes(bytes(28))  # what PRAGMA journal_mode=PERSIST leaves
    assert not kinds_of_database(path)[1]
    journal.write_bytes(bytes.fromhex("d9d505f920a163d7") + bytes(20))
    assert [finding.severity for finding in kinds_of_database(path)[1]] == ["warning"]


@pytest.mark.parametrize("content", [b"", b"x", b"SQLite format 3\0", b"{}" * 100, bytes(4096)])
def test_what_is_no_database_is_damage(tmp_path, content):
    path = tmp_path / "analysis.db"
    path.write_bytes(content)
    kinds, findings = kinds_of_database(path)
    assert kinds == frozenset()
    assert [finding.rule for finding in findings] == ["db-damaged"]
    data = read_database(path, "step_trace_time")
    assert (rules(data), data.frame.num_rows, data.rows_read) == (["db-damaged"], 0, 0)
    assert "computing_ns" in data.frame.column_names
    assert info_of_database(path) == DatabaseInfo()
    assert read_database_events(path)[1][0].rule == "db-damaged"


def test_a_file_that_is_not_there_cannot_be_read(tmp_path):
    for path in (tmp_path / "no.db", tmp_path):
        with pytest.raises(ReadError):
            kinds_of_database(path)
        with pytest.raises(ReadError):
            read_database(path, "op_summary")


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("DROP TABLE TASK", "no table TASK"),
        ("ALTER TABLE TASK RENAME COLUMN endNs TO stopNs", "no column endNs"),
        ("DROP TABLE STRING_IDS", "no table STRING_IDS"),
        ("ALTER TABLE TASK RENAME TO T; CREATE VIEW TASK AS SELECT * FROM T", "no table TASK"),
    ],
)
def test_what_is_missing_is_named(change, sql, what):
    path = change("DROP INDEX TaskIndex;" + sql)
    assert "kernel_details" not in kinds_of_database(path)[0]
    data = read_database(path, "kernel_details")
    assert rules(data) == ["db-damaged"]
    assert what in data.findings[0].message
    assert data.frame.num_rows == 0


def test_a_kind_that_no_database_holds_is_said(made):
    assert rules(read_database(made, "fusion_op")) == ["db-damaged"]


def test_columns_that_are_worked_out_are_not_read(change):
    path = change("ALTER TABLE TASK DROP COLUMN streamId; ALTER TABLE TASK ADD COLUMN streamId INTEGER AS (1 / 0)")
    data = read_database(path, "op_summary")
    assert "stream_id" not in data.frame.column_names
    assert data.frame.num_rows == 4


def test_a_condition_in_the_schema_does_not_run_for_ever(change, monkeypatch):
    path = change(
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'modelId INTEGER',"
        " 'modelId INTEGER CHECK (length(replace(hex(zeroblob(4000000)), ''0'', ''11'')) > 0)') WHERE name = 'TASK'"
    )
    monkeypatch.setattr("aoe_reports.formats.sqlite.source._SECONDS", -1e9)
    monkeypatch.setattr("aoe_reports.formats.sqlite.source._STEPS_BETWEEN_LOOKS", 1)
    assert rules(read_database(path, "op_summary")) == ["db-damaged"]


def test_a_cell_that_is_too_long_is_damage(change):
    path = change(f"UPDATE STRING_IDS SET value = hex(zeroblob({9 << 20})) WHERE id = 1")
    data = read_database(path, "op_summary")
    assert rules(data) == ["db-damaged"]


SUMS = {
    "kernel_details": "task_duration_ns",
    "task_time": "task_duration_ns",
    "op_statistic": "total_time_ns",
    "api_statistic": "total_time_ns",
    "communication": "elapsed_ns",
    "memory_record": "total_reserved_bytes",
}


def total(path: Path, kind: str) -> tuple[int, tuple]:
    data = read_database(path, kind, hashed=False)
    assert data.rows_read == data.frame.num_rows + data.rows_reported
    return sum(value or 0 for value in column(data, SUMS[kind])), data.findings


@given(part=st.floats(0, 1, exclude_max=True))
def test_a_truncated_file_gives_findings_and_no_smaller_sum(made, tmp_path, part):
    content = made.read_bytes()
    path = tmp_path / made.name
    path.write_bytes(content[: int(len(content) * part)])
    kinds, findings = kinds_of_database(path)
    assert not kinds
    assert findings
    for kind in SUMS:
        assert total(path, kind)[1]


@pytest.mark.slow
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_is_never_a_traceback(made, tmp_path, place, bit):
    # (SQLite has no checksums: a bit flipped inside a value is another value, and nothing tells)
    content = bytearray(made.read_bytes())
    content[int(len(content) * place)] ^= 1 << bit
    path = tmp_path / made.name
    path.write_bytes(content)
    kinds_of_database(path)
    info_of_database(path)
    read_database_events(path)
    for kind in SOURCES:
        data = check_table(read_database(path, kind, hashed=False))
        assert data.rows_read == data.frame.num_rows + data.rows_reported
        data.frame.validate(full=True)


@given(data=st.data())
def test_a_lost_page_is_found_or_changes_nothing(made, tmp_path, data):
    content = bytearray(made.read_bytes())
    page = data.draw(st.integers(0, len(content) // 4096 - 1))
    content[page * 4096 : (page + 1) * 4096] = bytes(4096)
    path = tmp_path / made.name
    path.write_bytes(content)
    for kind in SUMS:
        found, findings = total(path, kind)
        assert findings or found == total(made, kind)[0]


@pytest.mark.parametrize(
    ("stored", "value"),
    [
        ("9223372036854775807", 2**63 - 1),
        ("'9223372036854775807'", 2**63 - 1),
        ("'-9223372036854775808'", -(2**63)),
        ("' 42 '", 42),
        ("4.0", 4),
        ("-4.0", -4),
        ("9007199254740992.0", 2**53),
        ("9223372036854774784.0", 2**63 - 1024),
        ("'9223372036854775808'", None),
        ("'-9223372036854775809'", None),
        ("9223372036854775808.0", None),
        ("1e19", None),
        ("-1e19", None),
        ("4.5", None),
        ("'4.0'", None),
        ("x'34'", None),
    ],
)
def test_a_whole_number_is_taken_in_every_form_and_nothing_else(change, stored, value):
    schema = "CREATE TABLE T AS SELECT * FROM TASK; DROP TABLE TASK; CREATE TABLE TASK (startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType, contextId, streamId, taskId, modelId); INSERT INTO TASK SELECT startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType, contextId, streamId, taskId, modelId FROM T;"  # fmt: skip
    data = read_database(change(f"{schema} UPDATE TASK SET streamId = {stored} WHERE globalTaskId = 1"), "op_summary")
    assert column(data, "stream_id")[0] == value
    assert rules(data).count("db-value") == (value is None)


@pytest.mark.parametrize(("error", "said", "is_text"), [(sqlite3.DatabaseError("file is not a database"), "file is not a database", True), (sqlite3.DatabaseError("no such table: x"), "no such table: x", False), (sqlite3.DatabaseError(say("{count} pages", count=3)), "3 pages", True), (sqlite3.Error(), "", False)])  # fmt: skip
def test_why_a_database_cannot_be_read_is_said_in_words_that_can_be_translated(error, said, is_text):
    assert said_by(error) == said
    assert isinstance(said_by(error), Text) is is_text


@pytest.mark.parametrize(
    ("wait", "transit", "ratio"),
    [(3.0, 1.0, 0.75), (1.0, 2.0, 0.3333), (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 1.0)],
)
def test_a_share_of_waiting_is_of_waiting_and_transfer(change, wait, transit, ratio):
    path = change(f"UPDATE CommAnalyzerTime SET wait_time = {wait}, transit_time = {transit}")
    data = read_database(path, "communication")
    assert column(data, "wait_ratio") == [ratio]
    assert data.findings == ()


@pytest.mark.parametrize("needed", ["computing", "communication_not_overlapped", "overlapped", "communication", "free"])
def test_a_step_with_an_endless_part_that_it_needs_is_left_out(change, needed):
    data = read_database(change(f"UPDATE StepTraceTime SET {needed} = 1e30"), "step_trace_time")
    assert (rules(data), data.frame.num_rows, data.rows_reported) == (["db-value"], 0, 1)
    assert f"{needed} is longer than any possible duration" in data.findings[0].message


@pytest.mark.parametrize(
    ("part", "field"), [("stage", "stage_ns"), ("bubble", "bubble_ns"), ("preparing", "preparing_ns")]
)
def test_a_step_with_an_endless_part_beside_loses_that_part_alone(change, part, field):
    data = read_database(change(f"UPDATE StepTraceTime SET {part} = 1e30"), "step_trace_time")
    (row,) = data.frame.to_pylist()
    assert (rules(data), row[field], row["computing_ns"]) == (["db-value"], None, 8843910)


def test_words_get_other_names_wherever_they_stand():
    words = EncodedWords(np.array([2, -1, 0, 2]), ["a", "b", "c"])
    changed = words.renamed(str.upper)
    assert [changed.words[place] if place >= 0 else None for place in changed.places] == ["C", None, "A", "C"]
    assert words.used() == [0, 2]


def test_a_larger_database_has_longer_to_be_read(change, monkeypatch):
    monkeypatch.setattr("aoe_reports.formats.sqlite.source._SECONDS", 0.0)
    monkeypatch.setattr("aoe_reports.formats.sqlite.source._BYTES_A_SECOND", 1.0)
    monkeypatch.setattr("aoe_reports.formats.sqlite.source._STEPS_BETWEEN_LOOKS", 1)
    assert rules(read_database(change("UPDATE TASK SET modelId = 1"), "op_summary")) == []


def test_a_second_description_of_a_task_is_left_out(change):
    path = change(
        "CREATE TABLE T AS SELECT * FROM COMPUTE_TASK_INFO; DROP TABLE COMPUTE_TASK_INFO;"
        "CREATE TABLE COMPUTE_TASK_INFO AS SELECT * FROM T UNION ALL SELECT * FROM T WHERE globalTaskId = 1"
    )
    data = read_database(path, "op_summary")
    assert [(one.rule, one.message) for one in data.findings] == [
        ("db-value", "COMPUTE_TASK_INFO: 1 rows with a globalTaskId that occurred before; they are left out")
    ]
    assert (data.frame.num_rows, data.rows_reported) == (4, 1)


def test_a_counter_without_a_name_is_left_out(change):
    data = read_database(change("UPDATE TASK_PMU_INFO SET name = 4711 WHERE rowid = 1"), "op_summary")
    assert ("db-dangling-id", "TASK_PMU_INFO.name: the id 4711 has no name; that counter is left out") in [
        (one.rule, one.message) for one in data.findings
    ]
    assert data.frame.num_rows == 4


WHOLE: dict[str, list[dict[str, object]]] = {
    "api_statistic": [
        {"level": "acl", "api_name": "aclrtMemcpy", "total_time_ns": 50, "count": 2, "avg_time_ns": 25, "min_time_ns": 10, "max_time_ns": 40, "variance": 0.00022500000000000002},
        {"level": "node", "api_name": "launch", "total_time_ns": 15, "count": 2, "avg_time_ns": 8, "min_time_ns": 5, "max_time_ns": 10, "variance": 6.25e-06},
    ],
    "cluster_step_trace_time": [
        {"step": 50, "type": "rank", "index": "3", "computing_ns": 1500, "communication_not_overlapped_ns": 1000, "overlapped_ns": 2000, "communication_ns": 3000, "free_ns": 4000, "stage_ns": 5000, "bubble_ns": 0, "communication_not_overlapped_excluding_receive_ns": 1000, "preparing_ns": 6000},
    ],
    "communication": [
        {"step": "step50", "type": "collective", "op_name": "hcom_1", "group": "4711", "start_ns": 1736410576431645200, "elapsed_ns": 88750993, "transit_ns": 228565, "wait_ns": 3568891, "synchronization_ns": 3517730, "idle_ns": 84950000, "wait_ratio": 0.9398, "synchronization_ratio": 0.939},
    ],
    "communication_bandwidth": [
        {"step": "step50", "type": "collective", "op_name": "hcom_1", "group": "4711", "transport": "HCCS", "transit_bytes": 28647232, "transit_ns": 1821896, "bandwidth_gb_per_s": 15.7239, "large_packet_ratio": 0.0, "size_distribution": '{"2.064384":[12,1.5],"8.0":[2,2.0]}'},
        {"step": "step50", "type": "collective", "op_name": "hcom_1", "group": "4711", "transport": "SDMA", "transit_bytes": 28647232, "transit_ns": 1821896, "bandwidth_gb_per_s": 15.7239, "large_packet_ratio": 0.0, "size_distribution": "{}"},
    ],
    "communication_matrix": [
        {"step": "step50", "type": "collective", "op_name": "allreduce-top1", "group": "4711", "source_rank": 0, "destination_rank": 7, "transport": "HCCS", "transit_bytes": 37781504, "transit_ns": 2234104, "bandwidth_gb_per_s": 16.9113, "hccl_op_name": "hcom_1"},
    ],
    "communication_statistic": [
        {"device_id": 0, "op_type": "hcom_allReduce_", "count": 1, "total_time_ns": 300, "min_time_ns": 300, "avg_time_ns": 300, "max_time_ns": 300, "share": 1.0},
    ],
    "kernel_details": [
        {"step": 7, "device_id": 0, "task_id": 101, "stream_id": 2, "op_name": "Conv2D1", "op_type": "Conv2D", "task_type": "AI_CORE", "task_start_ns": START, "task_duration_ns": 100, "task_wait_ns": 0, "block_num": 20, "mix_block_num": 0, "input_shapes": "1,2;3", "input_data_types": "FLOAT", "input_formats": "NCHW", "output_data_types": "FLOAT", "output_formats": "NCHW", "aicore_time_us": 2.5, "aic_mac_ratio": 0.5},
        {"step": 7, "device_id": 0, "task_id": 102, "stream_id": 2, "op_name": "trans_0", "op_type": "TransData", "task_type": "AI_VECTOR_CORE", "task_start_ns": START + 150, "task_duration_ns": 50, "task_wait_ns": 50, "block_num": 20, "mix_block_num": 0, "input_shapes": "1,2;3", "input_data_types": "FLOAT", "input_formats": "NCHW", "output_data_types": "FLOAT", "output_formats": "NCHW"},
        {"step": 7, "device_id": 0, "op_name": "hcom_allReduce_1", "op_type": "hcom_allReduce_", "task_type": "COMMUNICATION", "task_start_ns": START + 180, "task_duration_ns": 300, "task_wait_ns": 0, "block_num": 0},
        {"step": 7, "device_id": 0, "task_id": 103, "stream_id": 2, "op_name": "trans_0", "op_type": "TransData", "task_type": "AI_VECTOR_CORE", "task_start_ns": START + 400, "task_duration_ns": 100, "task_wait_ns": 0, "block_num": 20, "mix_block_num": 0, "input_shapes": "1,2;3", "input_data_types": "FLOAT", "input_formats": "NCHW", "output_data_types": "FLOAT", "output_formats": "NCHW", "aic_mac_ratio": 0.25},
    ],
    "memory_record": [
        {"device_id": 0, "component": "APP", "timestamp_ns": START, "total_reserved_bytes": 2048, "device": "NPU:0"},
        {"device_id": 0, "component": "PTA", "timestamp_ns": START, "total_allocated_bytes": 100, "total_reserved_bytes": 200, "total_active_bytes": 50, "stream_ptr": 42, "device": "NPU:0"},
        {"device_id": 0, "component": "GE", "timestamp_ns": START, "total_allocated_bytes": 10, "total_reserved_bytes": 20, "device": "NPU:0"},
    ],
    "msprof_tx": [
        {"process_id": 77, "thread_id": 78, "event_type": "start/end", "start_ns": START, "end_ns": START + 60, "message": "step 1", "device_start_ns": START + 150, "device_end_ns": START + 200},
    ],
    "npu_mem": [
        {"device_id": 0, "event": "app", "ddr_bytes": 0, "hbm_bytes": 2048, "memory_bytes": 2048, "timestamp_ns": START},
        {"device_id": 0, "event": "device", "ddr_bytes": 1, "hbm_bytes": 4096, "memory_bytes": 4097, "timestamp_ns": START},
    ],
    "npu_module_mem": [
        {"device_id": 0, "component": "SLOG", "timestamp_ns": START, "total_reserved_bytes": 0, "device": "NPU:0"},
        {"device_id": 0, "component": "HCCL", "timestamp_ns": START, "total_reserved_bytes": 1024, "device": "NPU:0"},
    ],
    "op_statistic": [
        {"device_id": 0, "op_type": "TransData", "task_type": "AI_VECTOR_CORE", "count": 2, "total_time_ns": 150, "min_time_ns": 50, "avg_time_ns": 75, "max_time_ns": 100, "share": 0.6},
        {"device_id": 0, "op_type": "Conv2D", "task_type": "AI_CORE", "count": 1, "total_time_ns": 100, "min_time_ns": 100, "avg_time_ns": 100, "max_time_ns": 100, "share": 0.4},
    ],
    "operator_memory": [
        {"device_id": 0, "op_name": "aten::add", "size_bytes": 512, "allocation_ns": START, "release_ns": START + 20, "active_release_ns": START + 10, "duration_ns": 20, "active_duration_ns": 10, "allocation_total_allocated_bytes": 1, "allocation_total_reserved_bytes": 2, "allocation_total_active_bytes": 3, "release_total_allocated_bytes": 4, "release_total_reserved_bytes": 5, "release_total_active_bytes": 6, "stream_ptr": 42, "device": "NPU:0"},
        {"device_id": 0, "op_name": "cann::Conv2D1", "size_bytes": 256, "allocation_ns": START, "allocation_total_allocated_bytes": 1, "allocation_total_reserved_bytes": 2, "allocation_total_active_bytes": 3, "device": "NPU:0"},
    ],
    "step_trace_time": [
        {"step": 50, "computing_ns": 8843910, "communication_not_overlapped_ns": 1000, "overlapped_ns": 2000, "communication_ns": 3000, "free_ns": 25900158, "stage_ns": 120625190, "bubble_ns": 0, "communication_not_overlapped_excluding_receive_ns": 1000, "preparing_ns": 16681808},
    ],
    "task_time": [
        {"device_id": 0, "op_name": "Conv2D1", "task_type": "AI_CORE", "stream_id": 2, "task_id": 101, "task_duration_ns": 100, "task_start_ns": START, "task_stop_ns": START + 100},
        {"device_id": 0, "op_name": "trans_0", "task_type": "AI_VECTOR_CORE", "stream_id": 2, "task_id": 102, "task_duration_ns": 50, "task_start_ns": START + 150, "task_stop_ns": START + 200},
        {"device_id": 0, "op_name": "trans_0", "task_type": "AI_VECTOR_CORE", "stream_id": 2, "task_id": 103, "task_duration_ns": 100, "task_start_ns": START + 400, "task_stop_ns": START + 500},
        {"device_id": 0, "task_type": "KERNEL_AIVEC", "stream_id": 2, "task_id": 109, "task_duration_ns": 7, "task_start_ns": START + 600, "task_stop_ns": START + 607},
    ],
}  # fmt: skip
"""What each kind of table is of the database above, cell by cell; what is null is not here."""


def test_every_kind_is_read_cell_by_cell(made):
    for kind, expected in WHOLE.items():
        found = [
            {name: cell for name, cell in row.items() if cell is not None}
            for row in read_database(made, kind).frame.to_pylist()
        ]
        assert found == expected, kind
        assert [list(row) for row in found] == [list(row) for row in expected], "columns stand in their order"
    assert WHOLE.keys() == kinds_of_database(made)[0]


def test_tasks_that_hold_parts_are_told_by_their_numbers_and_times(change):
    """Of the same device, stream and number, begun while they ran: found for each task by itself here."""
    random = Random(5)
    tasks = []
    for number in range(1000, 1080):
        device, stream, task = random.randrange(2), random.choice((2, 3)), random.choice((200, 201, 202))
        start, context = START + random.randrange(400), random.choice((NO_ID, NO_ID, 0, 1))
        tasks.append((start, start + random.randrange(30), device, 1, number, 77, 1, context, stream, task, NO_ID))
    events, _ = read_database_events(change("".join(f"INSERT INTO TASK VALUES {task};" for task in tasks)))
    parts = [task for task in tasks if task[7] != NO_ID]
    shells = [
        task
        for task in tasks
        if task[7] == NO_ID
        and any((part[2], *part[8:10]) == (task[2], *task[8:10]) and task[0] <= part[0] <= task[1] for part in parts)
    ]
    assert 0 < len(shells) < len(tasks) - len(parts)
    told = [
        row for row in events.to_pylist() if row["process"] == "Ascend Hardware" and 200 <= (row["task_id"] or 0) < 203
    ]
    found = sorted((row["start_ns"], row["duration_ns"], row["stream_id"], row["task_id"]) for row in told)
    assert found == sorted((task[0], task[1] - task[0], task[8], task[9]) for task in tasks if task not in shells)
