"""What bounds the operators of one device, how much tuning them could save, and what else could be gained."""

from pathlib import Path

from aoe_reports import (
    CoreCounts,
    Facts,
    find_advice,
    idle_before_tasks,
    measure_operators,
    read_profile,
    shares_of_tasks,
)

FOLDER = Path(__file__).parents[1] / "fixtures" / "msprof" / "valid" / "torch_npu_two_ranks"

profile = read_profile(next(FOLDER.glob("*_ascend_pt")))
tasks = profile.frame("kernel_details")  # one rank, one device
shares = shares_of_tasks(tasks, rank_id=0, device_id=None)
print(f"a step takes {shares.step_us:.3f} us; tuning can save no more than {shares.bound_saving_us:.3f} us of it")

bounds = measure_operators(tasks, CoreCounts(cube=24, vector=48))
if bounds is not None:
    for operator in bounds.operators(5):
        print(operator.op_name, operator.bound_by, operator.ratios, f"{operator.saving_ns / 1000:.3f} us at most")

for one in find_advice(Facts(shares, bounds, tasks, idle_before_tasks(tasks))):
    print(one.rule, one.op_name, one.saving_ns, one.advice)
