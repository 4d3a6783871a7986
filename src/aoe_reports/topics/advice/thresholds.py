"""Every number that a rule of advice decides by, with its reason and its source: here, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What rules decide by; REASONS says why."""

    bound_ratio: float = 0.8
    least_step_share: float = 0.05
    least_operator_share: float = 0.01
    wait_us: float = 10.0
    small_kernel_us: float = 10.0
    small_kernel_share: float = 0.5
    frequency_drop_share: float = 0.05
    conversions: int = 2
    conflict_ratio: float = 0.04
    slower_share: float = 0.05
    slower_sigmas: float = 4.0
    least_alike: int = 5
    odd_shape_share: float = 0.1
    slow_call_times: float = 100.0
    many_shapes: int = 10
    repeated_calls: int = 10
    repeated_share: float = 0.05
    least_memory_share: float = 0.1
    memory_gb_per_s: float | None = None


_ADVISOR = "Ascend/msprof-analyze, advisor"
_MSPROF = "CANN 6.0.RC1, msprof export summary: tuning suggestions (atlasprofiling_16_0139)"

REASONS: dict[str, tuple[str, str]] = {
    "bound_ratio": (
        "A unit that works in more than 80% of the cycles leaves little to gain by overlapping it better",
        f"operator_bound_ratio of {_ADVISOR}; {_MSPROF}: cube or vector below 80% is badly used",
    ),
    "least_step_share": (
        (
            "Communication that is not overlapped, free time or a slow rank of less than 5% of a step is no first place "
            "to look at; steps of one job differ by as much"
        ),
        "real two-rank exports of 2025-01: steps of the ranks differ by 0.9 to 15.6%",
    ),
    "least_operator_share": (
        "What can save less than 1% of the computing time is not worth a reader's time",
        "own choice, so that a list holds at most a hundred operators",
    ),
    "wait_us": ("A device that is idle for longer than this before a task is kept waiting", f"10 us: {_MSPROF}"),
    "small_kernel_us": (
        "A task that is shorter than the longest gap that is held to be normal takes no longer than its launching",
        f"as wait_us: {_MSPROF}",
    ),
    "small_kernel_share": (
        "Most of the tasks are small: the host's launching sets the pace",
        "own choice: the majority",
    ),
    "frequency_drop_share": (
        "Below 95% of the frequency; what is nearer is the sampling of the counters (real exports: 0.03%)",
        f"DECREASE_FREQ_RATIO of {_ADVISOR}",
    ),
    "conversions": ("One conversion before and one behind a model are normal; more than 2 are not", f"{_MSPROF}"),
    "conflict_ratio": ("Conflicts of banks take more than 4% of the cycles", f"{_MSPROF}"),
    "slower_share": ("Calls with the same inputs should take the same time; 5% more is out of line", "own choice"),
    "slower_sigmas": (
        "… and more than 4 robust standard deviations: noise of the calls alone does not explain it",
        "own choice",
    ),
    "least_alike": ("Of fewer calls than 5 nobody can say which of them is out of line", "own choice"),
    "odd_shape_share": (
        "A shape of at most a tenth of an operator's calls is an exception (the last batch, a padded end)",
        "own choice",
    ),
    "slow_call_times": (
        "A collective that takes more than 100 times the median of its type waits for something: sizes in one job differ by less",
        "own choice",
    ),
    "many_shapes": (
        (
            "A few shapes that do not come in every step (the last batch, an evaluation) are normal; more than 10 of one "
            "operator type are compiled, or looked up, and tuned one by one"
        ),
        "AOE: entries of the knowledge bank are of one shape; own choice of the number",
    ),
    "repeated_calls": (
        "One tuned entry serves all calls of a shape: fewer than 10 do not repay the time that tuning takes (where no steps are told, a shape of fewer calls counts as passing)",
        "AOE: entries of the knowledge bank are of one shape; own choice of the number",
    ),
    "repeated_share": ("… and a twentieth of the computing time", "own choice"),
    "least_memory_share": (
        "What holds, or loses, less than a tenth of a device's memory is no first place to look at when it runs out",
        "own choice",
    ),
    "memory_gb_per_s": (
        (
            "What bandwidths of main memory are held against; where it is not given, the highest that any operator of the "
            "capture reaches: profiles do not tell the chip's"
        ),
        "none: it is the user's to give",
    ),
}


def list_thresholds() -> list[tuple[str, float | None, str, str]]:
    """(name, default, reason, source) of each."""
    default = Thresholds()
    return [(field.name, getattr(default, field.name), *REASONS[field.name]) for field in fields(Thresholds)]
