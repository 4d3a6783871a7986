"""Read one kernel_details.csv from Python: an Arrow table, exact nanoseconds, findings instead of silence."""

from pathlib import Path

from aoe_reports import read_table
from aoe_reports.formats.ascend.tables import TABLES

FIXTURES = Path(__file__).parents[1] / "fixtures" / "msprof"

whole = FIXTURES / "valid/torch_npu_two_ranks/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv"
data = read_table(whole, TABLES["kernel_details"])
frame = data.to_pandas()
print(frame.groupby("op_type", observed=True)["task_duration_ns"].sum().sort_values(ascending=False))

damaged = FIXTURES / "invalid/csv-ragged-row/long/kernel_details.csv"
data = read_table(damaged, TABLES["kernel_details"])
print(f"{data.rows_read} rows = {data.frame.num_rows} usable + {data.rows_reported} reported")
for finding in data.findings:
    print(f"line {finding.line}: {finding.message}")
