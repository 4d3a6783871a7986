"""Read a whole profile from Python: which tables are there, one of them as a polars frame, what was wrong."""

from pathlib import Path

from aoe_reports import read_profile

path = Path(__file__).parents[1] / "fixtures/msprof/valid/torch_npu_two_ranks"
profile = read_profile(path)
print(", ".join(profile.tables))
per_type = profile.table("kernel_details").group_by("rank_id", "op_type").sum().sort("rank_id", "task_duration_ns")
print(per_type.select("rank_id", "op_type", "task_duration_ns").collect())
for finding in profile.findings:
    print(finding.as_text())
