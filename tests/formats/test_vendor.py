"""Vendors: each kind of table and each writer belongs to one of them, and another one is one folder."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from commandline import ROOT
from copies import copied_package, run_in_copy

from aoe_reports.facts.tasks import split_devices
from aoe_reports.formats.tasks import TASK_COLUMNS, filled_up
from aoe_reports.formats.vendor import TABLES, TASK_TYPES, VENDORS


def test_no_two_vendors_share_a_table_or_a_writer() -> None:
    assert len(TABLES) == sum(len(vendor.tables) for vendor in VENDORS.values())
    writers = [writer for vendor in VENDORS.values() for writer in vendor.writers]
    assert len(writers) == len(set(writers))


def test_one_word_means_communication_to_all_vendors_or_to_none() -> None:
    assert TASK_TYPES.communication.isdisjoint(TASK_TYPES.compute)


@pytest.mark.slow
def test_no_task_type_means_computing() -> None:
    from aoe_reports.stats.grouping import is_communication

    frame, missing = filled_up(pa.table({"task_duration_ns": [1, 2]}), {"task_type", "task_duration_ns", "mac_ratio"})
    assert missing == {"task_type"}
    assert not is_communication(frame["task_type"]).any()


def test_every_column_that_was_asked_for_is_there_with_its_type() -> None:
    frame = pa.table({"device_id": [0, 1, None], "task_duration_ns": [5, 6, 7]})
    sets = split_devices(lambda _: None, frame, columns=TASK_COLUMNS)
    assert [tasks.device_id for tasks in sets] == [0, 1, None]
    for tasks in sets:
        tasks.frame.validate(full=True)
        assert all(tasks.frame[name].null_count == tasks.frame.num_rows for name in tasks.missing)
        assert {name: tasks.frame.schema.field(name).type for name in TASK_COLUMNS} == dict(TASK_COLUMNS)
        assert tasks.missing == set(TASK_COLUMNS) - {"device_id", "task_duration_ns"}
        assert tasks.as_exported().frame.column_names == ["device_id", "task_duration_ns"]


def test_tables_that_share_a_field_with_tasks_have_its_type() -> None:
    types = {
        "text": pa.dictionary(pa.int32(), pa.string()),
        "integer": pa.int64(),
        "timestamp": pa.int64(),
        "duration": pa.int64(),
    }
    for table in TABLES.values():
        if table.facts in {"tasks", "kernels"}:
            columns = [*table.columns, *(derived.column for derived in table.derived)]
            known = {column.field: types[column.type] for column in columns if column.field in TASK_COLUMNS}
            assert known == {name: TASK_COLUMNS[name] for name in known}


def test_to_know_a_file_takes_no_pyarrow() -> None:
    code = "import sys; import aoe_reports.formats.sources.discovery; sys.exit(bool({'pyarrow', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_recipe_for_a_vendor_works(tmp_path: Path) -> None:
    """What CONTRIBUTING.md says, done in a copy: a folder and its registration, and `hotspots` answers."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    recipe = text[text.index("## A vendor: one folder") :]
    blocks = dict(re.findall(r"^```(?:python|csv)\n# (\S+)\n(.*?)^```$", recipe, flags=re.MULTILINE | re.DOTALL))
    copy = copied_package(tmp_path)
    (data,) = (name for name in blocks if name.endswith(".csv"))
    (tmp_path / data).write_text(blocks.pop(data))
    registry = copy / "formats" / "vendor.py"
    registered = registry.read_text()
    for old, new in re.findall(r"^- below `(.+)`: `(.+)`$", recipe, flags=re.MULTILINE):
        before, line, after = registered.partition(f"{old}\n")
        assert line
        indent = " " * 4 * old.startswith('"')
        registered = f"{before}{line}{indent}{new}\n{after}"
    registry.write_text(registered)
    for name, code in blocks.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    ended = run_in_copy(tmp_path, "hotspots", data, "--by", "op_name", "--format", "json")
    assert ended.returncode == 0, ended.stderr
    rows = json.loads(ended.stdout)["rows"]
    assert [(row["op_name"], row["count"], row["total_us"]) for row in rows] == [("gemm", 2, 30.5), ("copy", 1, 4.0)]
