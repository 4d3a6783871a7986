"""Every query of docs/sql.md answers something of a profile with tables and timelines, or of a small store, the same each time."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from captures import HEADER
from commandline import FIXTURES, ROOT
from goldens.timeline import write_timelines

from aoe_reports.engine.tables.database import CaptureDatabase, open_capture
from aoe_reports.engine.tables.query import check_query
from aoe_reports.engine.tables.table_database import TableDatabase
from aoe_reports.history.database import StoreDatabase, open_store
from aoe_reports.schema.store_tables import STORE_TABLES
from aoe_reports.schema.tables import TABLES

PAGE = (ROOT / "docs" / "sql.md").read_text(encoding="utf-8")
OF_CAPTURES, OF_STORE = (
    re.findall(r"```sql\n(.*?)```", part, re.DOTALL) for part in PAGE.split("\n## A store of nights\n")
)


ROWS = """
1,1,1,2,matmul,MatMulV2,static,AI_CORE,1000.000,10.000,0,24,0,NO,"8,64",FLOAT16,ND,"8,64",FLOAT16,ND,N/A
1,1,2,2,matmul,MatMulV2,static,AI_CORE,1010.000,10.000,0,24,0,NO,"8,64",FLOAT16,ND,"8,64",FLOAT16,ND,N/A
1,1,3,2,matmul,MatMulV2,static,AI_CORE,1020.000,50.000,0,24,0,NO,"8,64",FLOAT16,ND,"8,64",FLOAT16,ND,N/A
1,1,4,3,hcom_allReduce__1,hcom_allReduce_,N/A,HCCL,1030.000,60.000,0,0,0,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A
,1,5,2,cast,Cast,static,AI_VECTOR_CORE,1100.000,5.000,0,8,0,NO,"8,64",FLOAT,ND,"8,64",FLOAT16,ND,N/A
"""
"""A call five times as long as usual, communication beside computing, a task in no step."""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CaptureDatabase]:
    folder = tmp_path_factory.mktemp("profile")
    shutil.copytree(FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks", folder / "tables")
    write_timelines(folder / "timelines")
    shutil.copytree(FIXTURES / "memory" / "training", folder / "memory")
    output = folder / "odd" / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "kernel_details.csv").write_text(HEADER + ROWS, encoding="utf-8")
    with open_capture(folder) as opened:
        yield opened


def test_there_are_many_queries() -> None:
    assert len(OF_CAPTURES) >= 12
    assert len(OF_STORE) >= 5


@pytest.mark.parametrize("query", OF_CAPTURES, ids=range(len(OF_CAPTURES)))
def test_a_query_of_the_page_answers(database: CaptureDatabase, query: str) -> None:
    check_query(query, TABLES)
    _answers(database, query)


@pytest.fixture(scope="module")
def store(made_small_store: Path) -> Iterator[StoreDatabase]:
    with open_store(made_small_store / "store") as opened:
        yield opened


@pytest.mark.parametrize("query", OF_STORE, ids=range(len(OF_STORE)))
def test_a_query_over_a_store_answers(store: StoreDatabase, query: str) -> None:
    check_query(query, STORE_TABLES)
    _answers(store, query)


def _answers(database: TableDatabase, query: str) -> None:
    rows = database.sql(query).fetchall()
    assert rows
    assert all(database.sql(query).fetchall() == rows for _ in range(3))
