"""What is verified: a plan's folder, what is asked, the two profiles, and whether they may be compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aoe_reports.engine.rules import NOTHING_MEASURED
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.sources.identify import unreadable_file
from aoe_reports.formats.sources.objects import asked_path
from aoe_reports.jobs.options import VerifyOptions
from aoe_reports.model.arrays.columns import has_value, integers
from aoe_reports.model.errors import ReadError, UsageError
from aoe_reports.model.findings import Finding, Severity, has
from aoe_reports.model.texts import say
from aoe_reports.topics.comparison.compared_runs import ComparedRun, may_be_compared
from aoe_reports.topics.records.load import EPOCH_FROM_NS
from aoe_reports.tuning.plan.measured import MeasuredDevice, captures_of_run, digest_of_captures, read_devices
from aoe_reports.tuning.plan.plan import Plan
from aoe_reports.tuning.rules import VERIFY_DEVICE, VERIFY_ORDER, VERIFY_OTHER_WORKLOAD, VERIFY_SAME_PROFILE
from aoe_reports.tuning.verify.sides import KEYS, MeasuredSide, same_workload_share, side_of_tasks
from aoe_reports.tuning.verify.verdicts import SAME_WORKLOAD_SHARE

FREQUENCY = "current_mhz"
"""The clock of the cores, which profilers of single kernels tell."""
_COLUMNS = frozenset(
    {*KEYS, "task_type", "step", "iteration", "task_start_ns", "task_duration_ns", "block_num", "device_id", FREQUENCY}
)


@dataclass(frozen=True, slots=True)
class Profile:
    """One of the two profiles."""

    path: Path
    device: MeasuredDevice
    side: MeasuredSide
    digest: str
    first_ns: int | None


@dataclass(frozen=True, slots=True)
class Case:
    """A plan's folder with its plan, and what is asked."""

    folder: Path
    plan: Plan
    options: VerifyOptions


@dataclass(frozen=True, slots=True)
class Pair:
    """The two profiles of one rank."""

    before: Profile
    after: Profile


def read_pair(case: Case, findings: list[Finding]) -> tuple[Pair | None, bool]:
    """(the two profiles, where each has something to compare; whether anything could not be read)."""
    if case.options.after is None:
        raise UsageError(say("verify: expected --after PROFILE"))
    before, missing = _read_profile(_profile_before(case), None, case.options, findings)
    rank = before.device.tasks.rank_id if before is not None else case.options.rank
    after, missing_after = _read_profile(asked_path(case.options.after), (rank,), case.options, findings)
    pair = Pair(before, after) if before is not None and after is not None else None
    return pair, missing or missing_after


def _profile_before(case: Case) -> Path:
    if case.options.before is not None:
        return asked_path(case.options.before)
    if case.plan.profile is None:
        raise UsageError(say("verify: the plan names no profile; expected --before PROFILE"))
    return asked_path(case.plan.profile)


def _read_profile(
    path: Path, ranks: tuple[int | None] | None, options: VerifyOptions, findings: list[Finding]
) -> tuple[Profile | None, bool]:
    """(the device of a profile that is compared, whether something could not be read)."""
    captures, unreadable = captures_of_run(path, options.max_expanded, findings)
    profile = profile_of(path, captures, ranks, options, findings, silent=unreadable)
    return profile, unreadable or profile is None


def profile_of(
    path: Path,
    captures: Sequence[Capture],
    ranks: tuple[int | None] | None,
    options: VerifyOptions,
    findings: list[Finding],
    *,
    silent: bool = False,
) -> Profile | None:
    """The device of a run that is compared; None where there is none, which is found unless that is known already."""
    known = len(findings)
    try:
        devices = read_devices(captures, _COLUMNS, findings, rank=options.rank, device=options.device)
        best, number = _longest(devices, ranks)
    except (ReadError, OSError) as error:
        findings.append(unreadable_file(path, error))
        return None
    if best is None:
        if not silent and not has(findings[known:] if captures else findings, "error"):
            findings.append(NOTHING_MEASURED.found(str(path), say("no tasks here to compare")))
        return None
    if number > 1 and ranks is None:
        findings.append(_chosen_of_several(best, number, path))
    frame = best.tasks.frame
    side = side_of_tasks(frame, best.own_steps, best.shares)
    light = replace(best, tasks=replace(best.tasks, frame=side.frame))
    return Profile(path, light, side, digest_of_captures(captures), _first_start(best.tasks))


def _longest(devices: Iterable[MeasuredDevice], ranks: tuple[int | None] | None) -> tuple[MeasuredDevice | None, int]:
    """(the device with the longest step, preferably of these ranks; the number of devices)."""
    best: tuple[tuple[bool, float, int, int], MeasuredDevice] | None = None
    number = 0
    for one in devices:  # one by one: their tasks may be many
        number += 1
        other = ranks is not None and one.tasks.rank_id not in ranks
        rank, device = (-1 if n is None else n for n in _whose(one.tasks))
        order = (other, -(one.shares.step_us or 0.0), rank, device)
        if best is None or order < best[0]:
            best = (order, one)
    return (None if best is None else best[1]), number


def _chosen_of_several(best: MeasuredDevice, devices: int, path: Path) -> Finding:
    rank, number = _whose(best.tasks)
    text = say(
        "rank {rank}, device {number}: the longest step among {devices} devices (use --rank and --device to "
        "choose another)",
        rank=rank,
        number=number,
        devices=devices,
    )
    return VERIFY_DEVICE.found(str(path), text)


def _first_start(tasks: TaskSet) -> int | None:
    if not has_value(tasks.frame, "task_start_ns"):
        return None
    starts, there = integers(tasks.frame["task_start_ns"])
    return int(starts[there].min())


def _whose(tasks: TaskSet) -> tuple[int | None, int | None]:
    return tasks.rank_id, tasks.device_id


def are_comparable(case: Case, pair: Pair, findings: list[Finding]) -> bool:
    """Whether the two profiles may be compared; what speaks against it is found."""
    before, after = pair.before, pair.after
    if before.digest == after.digest:
        text = say("the same content as {path}: nothing was measured again", path=before.path)
        findings.append(VERIFY_SAME_PROFILE.found(str(after.path), text))
        return False
    severity: Severity = "warning" if case.options.force else "error"
    changed_places = _changed_places(case, pair)
    if changed_places is not None:
        findings.append(VERIFY_ORDER.found(str(after.path), changed_places, severity=severity))
        if not case.options.force:
            return False
    least = SAME_WORKLOAD_SHARE if case.plan.mode == "opat" else 0.0
    return may_be_held(*sides_of(pair), findings, least=least, force=case.options.force)


@dataclass(frozen=True, slots=True)
class Measured:
    """One side of a comparison: one profile, or several that were taken one after another, as one."""

    path: Path
    profiles: tuple[Profile, ...]
    side: MeasuredSide

    def as_run(self) -> ComparedRun:
        """What is known of it."""
        devices = [profile.device for profile in self.profiles]
        steps = [step for device in devices for step in device.own_steps]
        captures = tuple(device.capture for device in devices)
        return ComparedRun(str(self.path), captures, [one.tasks for one in devices], steps, devices[0].metrics)


def sides_of(pair: Pair) -> tuple[Measured, Measured]:
    """Each of two profiles as a side of its own."""
    before, after = pair.before, pair.after
    return Measured(before.path, (before,), before.side), Measured(after.path, (after,), after.side)


def may_be_held(before: Measured, after: Measured, findings: list[Finding], *, least: float, force: bool) -> bool:
    """Whether two sides measured alike, and the same operators for a part of the time; what speaks against it is found."""
    runs = (before.as_run(), after.as_run())
    fits = may_be_compared(*runs, findings, by="shape", force=force, leave_out={"number of steps"})
    share = same_workload_share(before.side, after.side)
    if fits and (share < least or not share):
        text = say(
            "its operators with the same names and shapes account for only {share:.1%} of the time before "
            "tuning; is it another model?",
            share=share,
        )
        severity: Severity = "warning" if force else "error"
        findings.append(VERIFY_OTHER_WORKLOAD.found(str(after.path), text, severity=severity))
        return force
    return fits


def _changed_places(case: Case, pair: Pair) -> str | None:
    if case.plan.baseline_hash == pair.after.digest:
        return say("it is the profile from which the plan was made, captured before tuning")
    if was_taken_first(pair.after, pair.before):
        return say("it was captured before {path}", path=pair.before.path)
    return None


def was_taken_first(profile: Profile, other: Profile) -> bool:
    """Whether one profile is certainly the older one; clocks that count from a start-up tell nothing."""
    times = (profile.first_ns, other.first_ns)
    if any(time is None or time < EPOCH_FROM_NS for time in times):
        return False
    return (profile.first_ns or 0) < (other.first_ns or 0)
