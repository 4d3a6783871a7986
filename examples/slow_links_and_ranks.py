"""Find the slow link and the slow rank of a job, and the all-reduce that is left behind its backward pass."""

from pathlib import Path

from aoe_reports import find_gradient_tails, find_slow_links, find_slow_ranks, read_profile

fixtures = Path(__file__).parents[1] / "fixtures/msprof/valid"
job = read_profile(fixtures / "communication_of_four_ranks")
for link in find_slow_links(job.frame("communication_matrix")):
    print(
        f"link {link.source_rank}-{link.destination_rank}: {link.relative_bandwidth_ratio:.0%} of its likes, {link.lost_ns} ns lost"
    )
for awaited in find_slow_ranks(job.frame("communication")):
    print(f"rank {awaited.rank}: the others wait {awaited.waited_ns} ns for it")
for tail in find_gradient_tails(read_profile(fixtures / "ten_iterations").frame("step_trace"))[:3]:
    print(f"iteration {tail.step}: {tail.tail_ns} ns behind the backward pass, at most {tail.bound_ns} ns can be saved")
