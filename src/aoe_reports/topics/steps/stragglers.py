"""Whom the ranks of a job wait for: those that compute longer than ranks of the same work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import CaptureOptions, Finished, Notes, Question, Request, Unit
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.findings import Finding
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import Rows, labelled
from aoe_reports.model.shares import change_words, percent
from aoe_reports.model.texts import capital, count_of, join, say
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.model.topics.stragglers import ComparedHost, ComparedRank, ExpertLoad, Member, TypeLoss

if TYPE_CHECKING:
    import pyarrow as pa

    from aoe_reports.engine.captures import PrefetchedTasks
    from aoe_reports.engine.clusters import Cluster
    from aoe_reports.facts.parallel import Layout
    from aoe_reports.facts.tasks import TaskSet
    from aoe_reports.formats.sources.discovery import Discovery
    from aoe_reports.model.topics.steps import Step
    from aoe_reports.topics.quality.steadiness import Place, Unusual
    from aoe_reports.topics.steps.pipeline import Stage

SHOWN_HOSTS = 3
_FIELDS = frozenset({"device_id", "op_type", "task_type", "task_duration_ns"})


@options
class StragglerOptions(CaptureOptions):
    """How many ranks are shown."""

    top: int = option(default=20, minimum=1, help="Number of ranks per run.")


Wait: TypeAlias = tuple["Member", int, int]
"""(rank and device, steps, their communication that is not overlapped in ns)."""


@dataclass(frozen=True, slots=True)
class Sums:
    """What one capture hands on: computing by rank and operator type, and the communication of each rank's steps."""

    types: pa.Table
    waits: list[Wait]
    host: str | None = None
    unusual: Mapping[Place, Unusual] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """The ranks of a run, and what is known of their steps."""

    label: str
    ranks: Sequence[ComparedRank]
    waits: Mapping[Member, float]
    steps: Mapping[Member, int]
    medians: Mapping[int, float]
    """What the ranks of each role wait in the middle."""
    alone: bool
    """Whether there is no other run."""
    host_of: Mapping[Member, str]
    hosts: Sequence[ComparedHost]
    """Slow ones first; empty where not several are known."""
    layout: Layout
    experts: Sequence[ExpertLoad]
    """The operator types of experts by group, uneven ones first."""
    stages: Sequence[Stage]
    """The stages of the pipeline; empty where not several of several ranks are known."""

    @property
    def slow_hosts(self) -> list[ComparedHost]:
        """The hosts that are slow as a whole."""
        return [host for host in self.hosts if host.state == "slow"]

    @property
    def slow_ranks(self) -> list[ComparedRank]:
        """The slow ranks of other hosts, without those of the longest stage where more than half of its ranks are slow."""
        hosts, longest = {host.host for host in self.slow_hosts}, self.longest_stage
        slow = [rank for rank in self.ranks if rank.state == "slow" and self.host_of.get(rank.member) not in hosts]
        others = [one for one in slow if longest is None or one.rank_id not in longest.members]
        return others if longest is not None and 2 * (len(slow) - len(others)) > longest.ranks else slow

    @property
    def longest_stage(self) -> Stage | None:
        """The stage that computes notably longer than the others, unless its hosts are slow."""
        from aoe_reports.topics.steps.pipeline import longest_of

        found, hosts = longest_of(self.stages), {host.host for host in self.slow_hosts}
        if found is None:
            return None
        mine = [rank.member for rank in self.ranks if rank.rank_id in found.members]
        return None if all(self.host_of.get(member) in hosts for member in mine) else found


class Stragglers(Question[StragglerOptions, Sums]):
    """Find the ranks that a job waits for. Compares the computing of each rank with that of ranks that do the same work, as a whole and by operator type."""

    example = "stragglers profile"
    page = "communication"
    title = "Stragglers"
    options = StragglerOptions
    tables = (("rows", ComparedRank), ("operators", TypeLoss), ("hosts", ComparedHost), ("experts", ExpertLoad))
    form_help = "Output format; csv omits the operator types."
    nothing = "no computing tasks here"

    def prepare(self, files: Discovery, asked: Request[StragglerOptions]) -> list[Cluster]:
        """What the tables of whole clusters tell of steps."""
        from aoe_reports.engine.clusters import read_clusters

        return read_clusters(files, asked.notes)

    def map_unit(self, unit: Unit, asked: Request[StragglerOptions]) -> Sums:
        """The sums of the ranks of one capture: a row for each of their operator types."""
        from aoe_reports.engine.captures import read_tasks, to_prefetch
        from aoe_reports.topics.steps.straggler_facts import sums_of_types
        from aoe_reports.topics.task_source import of_source

        capture, notes = unit.capture, asked.notes
        notes.add(capture.findings)
        collected = to_prefetch(capture, _FIELDS)
        steps = None if collected is None else _steps_of(unit, notes, collected)
        sets, tables = read_tasks(capture, _FIELDS, by_type=True, collected=collected)
        notes.add(finding for data in tables for finding in data.findings)
        notes.add(of_source(capture, sets, tables))
        if not sets:
            return Sums(sums_of_types(sets), [], capture.info.host)
        waits, unusual = _of_steps(_steps_of(unit, notes) if steps is None else steps, sets)
        return Sums(sums_of_types(sets), waits, capture.info.host, unusual)

    def finish(self, parts: Sequence[tuple[Unit, Sums]], asked: Request[StragglerOptions]) -> Finished:
        """The ranks of each run, those that the others wait for first."""
        from aoe_reports.engine.absent import absent_ranks
        from aoe_reports.topics.quality.trimming import note_unusual_of_run

        by_run = list(lists_by_key((unit.number, (unit, sums)) for unit, sums in parts).values())
        for mine in by_run:
            present = {rank for _, sums in mine for rank, _ in _members(sums.types)}
            captures = [unit.capture for unit, _ in mine]  # rows are the --top ranks alone
            asked.notes.add(absent_ranks(captures, present, asked.notes.findings, None))
            unusual = {place: numbers for _, sums in mine for place, numbers in sums.unusual.items()}
            note_unusual_of_run(mine[0][0].run, unusual, asked.notes)
        runs = [_compared(mine, asked.context, alone=len(by_run) == 1) for mine in by_run]
        for run in runs:
            asked.notes.add(_without_peers(run))
        top = asked.options.top
        count = sum(len(run.ranks) for run in runs)
        rows = [row for run in runs for row in rows_of(run, top)]
        shown = [(run, one) for run in runs for one in run.ranks[:top]]
        types = [
            replace(loss, run=run.label, rank_id=one.rank_id, device_id=one.device_id)
            for run, one in shown
            if one.is_notable
            for loss in one.operators
        ]
        hidden = {"role"} if all(one.role == 1 for run in runs for one in run.ranks) else set()
        hosts = [one for run in runs for one in labelled(run.hosts, run.label)]
        if not hosts:
            hidden.add("host")
        if not any(row.groups for row in rows):
            hidden.add("groups")
        return Finished(
            tables=(
                Rows(type=ComparedRank, rows=rows, sentences=_of_how_many(count, len(rows)), without=frozenset(hidden)),
                Rows(type=TypeLoss, rows=types, key="operators", title="Where slow ranks lose most"),
                Rows(type=ComparedHost, rows=hosts, key="hosts", place=-1, title="Hosts"),
                _experts(runs, top),
            ),
            run_above=True,
            headline=headline_of(runs, captured=_captured(asked)),
        )


stragglers = asking(Stragglers(), StragglerOptions)
"""Whom the ranks below some paths wait for: `stragglers([path], top=5).rows`."""


def _steps_of(unit: Unit, notes: Notes, collected: PrefetchedTasks | None = None) -> list[Step]:
    """The steps of a capture; what is wrong with them is no reason to tell nothing of its tasks."""
    from aoe_reports.engine.captures import read_steps_noting

    steps: list[Step] = []
    with notes.where_unreadable(unit.path):
        steps += read_steps_noting(unit.capture, notes.findings, collected)
    return steps


def _of_steps(steps: Sequence[Step], sets: Sequence[TaskSet]) -> tuple[list[Wait], dict[Place, Unusual]]:
    """What the table of steps tells of each device, and which steps are not like the others."""
    from aoe_reports.facts.steps import steps_of_device
    from aoe_reports.topics.quality.steadiness import unusual_steps

    waits = []
    for tasks in sets:
        known = [step.communication_not_overlapped_ns for step in steps_of_device(steps, tasks)]
        times = [time for time in known if time is not None]
        if times:
            waits.append(((tasks.rank_id, tasks.device_id), len(times), sum(times)))
    return waits, {place: series.numbers for place, series in unusual_steps(steps).items()}


def _compared(parts: Sequence[tuple[Unit, Sums]], clusters: Sequence[Cluster], *, alone: bool) -> ComparedRun:
    import pyarrow as pa

    from aoe_reports.engine.clusters import layout_of_run

    types = pa.concat_tables([sums.types for _, sums in parts])
    waits = [wait for _, sums in parts for wait in sums.waits]
    hosts = {member: sums.host for _, sums in parts if sums.host is not None for member in _members(sums.types)}
    run, untold = parts[0][0].run, _members(types) - {member for member, _, _ in waits}
    waits += _waits_of_cluster(clusters, run, untold)
    layout = layout_of_run(run, (unit for unit, _ in parts), clusters)
    return compared_run(run, types, waits, alone=alone, hosts=hosts, layout=layout)


def _waits_of_cluster(clusters: Sequence[Cluster], run: str, members: AbstractSet[Member]) -> Iterator[Wait]:
    """What the table of a cluster tells of ranks that have none of their own; of ranks of one device each."""
    from aoe_reports.engine.clusters import steps_of_ranks

    devices = Counter(rank for rank, _ in members)
    device_of = {rank: device for rank, device in members if rank is not None and devices[rank] == 1}
    told = lists_by_key(
        (step.rank_id, step.communication_not_overlapped_ns)
        for step in steps_of_ranks(clusters, run, device_of)
        if step.rank_id is not None and step.communication_not_overlapped_ns is not None
    )
    for rank, times in told.items():
        yield (rank, device_of[rank]), len(times), sum(times)


def _members(types: pa.Table) -> set[Member]:
    return set(zip(types["rank_id"].to_pylist(), types["device_id"].to_pylist(), strict=True))


def compared_run(
    label: str,
    types: pa.Table,
    told: Sequence[Wait],
    *,
    alone: bool = True,
    hosts: Mapping[Member, str] = MappingProxyType({}),
    layout: Layout | None = None,
) -> ComparedRun:
    """The ranks of one run against each other, by what each takes for its operator types and waits in its steps."""
    from aoe_reports.facts.parallel import Layout
    from aoe_reports.topics.steps.experts import expert_loads
    from aoe_reports.topics.steps.straggler_facts import compare_hosts, compare_stages, find_stragglers, median_waits

    layout = layout or Layout()
    ranks = find_stragglers(types, layout.stages)
    waits = {member: total_ns / steps for member, steps, total_ns in told}
    steps = {member: steps for member, steps, _ in told}
    medians = median_waits(ranks, waits)
    return ComparedRun(
        label=label,
        ranks=ranks,
        waits=waits,
        steps=steps,
        medians=medians,
        alone=alone,
        host_of=hosts,
        hosts=compare_hosts(ranks, hosts),
        layout=layout,
        experts=expert_loads(types, ranks, layout),
        stages=compare_stages(ranks, layout.stages, steps),
    )


def rows_of(run: ComparedRun, top: int) -> list[ComparedRank]:
    """The first ranks of a run, as they are listed."""
    return [
        replace(
            one,
            position=position,
            run=run.label,
            host=run.host_of.get(one.member),
            groups=_groups_of(run.layout, one.rank_id),
            steps=run.steps.get(one.member),
            communication_not_overlapped_ns=run.waits.get(one.member),
            communication_median_ns=run.medians.get(one.role) if one.peers else None,
        )
        for position, one in enumerate(run.ranks[:top], start=1)
    ]


def _experts(runs: Sequence[ComparedRun], top: int) -> Rows[ExpertLoad]:
    """The table of experts: the first rows of each run."""
    rows = [load for run in runs for load in labelled(run.experts[:top], run.label)]
    known = all(load.expert_group is not None for load in rows)
    sentences = _of_how_many(sum(len(run.experts) for run in runs), len(rows))
    hidden = frozenset(
        {"role"} if known else {"expert_group"} if not any(row.expert_group is not None for row in rows) else ()
    )
    return Rows(type=ExpertLoad, rows=rows, key="experts", title="Experts", sentences=sentences, without=hidden)


def _of_how_many(count: int, shown: int) -> list[str]:
    if count <= shown:
        return []
    return [say("The first {shown:,} of {count:,} are listed; `--top {count}` lists all.", shown=shown, count=count)]


def _without_peers(run: ComparedRun) -> Iterator[Finding]:
    """The ranks of a run that nobody can be compared with."""
    from aoe_reports.rules.found import listed
    from aoe_reports.topics.rules import NO_PEERS

    alone = [_name(rank) for rank in run.ranks if not rank.peers]
    if len(run.ranks) == 1:
        yield NO_PEERS.found(run.label, say("only one rank here: there are no peers to compare it with"))
    elif alone:
        message = say("{ranks}: no other rank runs the same operators equally often", ranks=listed(alone))
        yield NO_PEERS.found(run.label, message)


def _name(rank: ComparedRank) -> str:
    return _name_of(rank.member)


def _name_of(member: Member) -> str:
    rank_id, device_id = member
    if rank_id is None and device_id is not None:
        return say("device {value}", value=device_id)
    return say("rank {value}", value="?" if rank_id is None else rank_id)


def _groups_of(layout: Layout, rank_id: int | None) -> str | None:
    """The stage and the groups of a rank, as far as they are known."""
    if rank_id is None:
        return None
    texts = [say("stage {number}", number=layout.stages[rank_id])] if rank_id in layout.stages else []
    texts += (
        say("{kind} group {number}", kind=place.kind, number=layout.numbers[place.kind, place.first])
        for place in layout.places.get(rank_id, ())
        if place.kind != "pp"
    )
    return join(", ", texts) if texts else None


def _captured(asked: Request[StragglerOptions]) -> int:
    """How many ranks have a capture, whether it can be read or not."""
    captures = [(unit.run, unit.capture) for unit in asked.units if isinstance(unit, Unit)]
    return len({(run, rank) for run, capture in captures for rank in capture.info.every_rank})


def headline_of(runs: Sequence[ComparedRun], captured: int = 0) -> str:
    """Whom the others wait for, or that there is nobody, of `captured` ranks."""
    every = [(run, rank) for run in runs for rank in run.ranks]
    if not every:
        return ""
    slow = [(run, rank) for run in runs for rank in run.slow_ranks]
    hosts = [(run, host) for run in runs for host in run.slow_hosts]
    judged = sum(one.state is not None for _, one in every)
    texts: list[str] = [_about_host(run, one) for run, one in hosts[:SHOWN_HOSTS]]
    if len(hosts) > SHOWN_HOSTS:
        more = len(hosts) - SHOWN_HOSTS
        texts.append(count_of(more, "{number:,} other host is slow, too", "{number:,} other hosts are slow, too"))
    stages = [(run, stage) for run in runs if (stage := run.longest_stage) is not None]
    texts += [_about_stage(run, stage) for run, stage in stages[:SHOWN_HOSTS]]
    if slow:
        texts += _about(*max(slow, key=_how_much))
        others = len(slow) - 1
        if others:
            texts.append(count_of(others, "{number:,} other rank is slow, too", "{number:,} other ranks are slow, too"))
    elif hosts or stages:
        pass  # its ranks are slow because it is
    elif judged:
        texts.append(say("no rank of {count:,} computes notably longer than its peers", count=judged))
        few = len(every) - judged
        if few:
            texts.append(
                count_of(few, "{number:,} more has too few for a verdict", "{number:,} more have too few for a verdict")
            )
    else:
        texts += _without_verdict(every, captured)
    texts += _about_experts(runs)
    return say("{text}.", text=capital(join("; ", texts)))


def _about_host(run: ComparedRun, host: ComparedHost) -> str:
    return say(
        "{host} is slow: {slow} of its {count} ranks are, and the median of them computes {slower} longer than its peers; look at the host (cooling, power, what else runs there)",
        host=say("host {value}", value=host.host)
        if run.alone
        else say("host {value} of {run}", value=host.host, run=run.label),
        slow=host.slow_ranks,
        count=host.ranks,
        slower=percent(host.slower),
    )


def _about_stage(run: ComparedRun, stage: Stage) -> str:
    from aoe_reports.topics.steps.straggler_facts import MIN_MORE_WORK

    usual_ns = stage.computing_ns / (1 + stage.slower)
    (usual, time), unit = times_in_one_unit(round(usual_ns), round(stage.computing_ns))
    name = say("stage {number}", number=stage.stage)
    texts = say(
        "{stage} computes {slower} longer than the median of the {stages:,} stages ({before} → {after} {unit})",
        stage=name if run.alone else say("{stage} of {run}", stage=name, run=run.label),
        slower=percent(stage.slower),
        stages=len(run.stages),
        before=usual,
        after=time,
        unit=unit,
    )
    if (stage.more_calls or 0) >= MIN_MORE_WORK * stage.slower:
        why = say("it runs {more} more calls: it has more work than the others", more=percent(stage.more_calls or 0))
    else:
        why = say(
            "it runs about as many calls as the others: look at their shapes (`hotspots --by shape`) and at its chips"
        )
    return join("; ", (texts, why))


def _about_experts(runs: Sequence[ComparedRun]) -> Iterator[str]:
    """The least even experts, and how many other groups and types are uneven."""
    uneven = [(run, load) for run in runs for load in run.experts if load.is_uneven]
    if not uneven:
        return
    run, load = max(uneven, key=lambda pair: pair[1].extra_ns)
    (mean, longest), unit = times_in_one_unit(round(load.mean_ns), load.max_ns)
    name = _name_of((load.rank_id, load.device_id))
    if load.expert_group is None:
        whom = say("the {ranks:,} ranks of its role", ranks=load.ranks)
    else:
        whom = say("the {ranks:,} ranks of ep group {number}", ranks=load.ranks, number=load.expert_group)
    yield say(
        "experts are uneven: {rank} takes {imbalance:.2f} times the mean of {whom} in {op_type} ({mean} → {longest} {unit}): most likely more tokens are sent to its experts",
        rank=name if run.alone else say("{rank} of {run}", rank=name, run=run.label),
        imbalance=load.imbalance,
        whom=whom,
        op_type=load.op_type,
        mean=mean,
        longest=longest,
        unit=unit,
    )
    if others := len(uneven) - 1:
        yield count_of(
            others,
            "{number:,} other group or type of experts is uneven, too",
            "{number:,} other groups or types of experts are uneven, too",
        )


def _how_much(pair: tuple[ComparedRun, ComparedRank]) -> int:
    return pair[1].lost_ns or 0


def _without_verdict(every: Sequence[tuple[ComparedRun, ComparedRank]], captured: int) -> list[str]:
    """What is said where no rank has enough peers."""
    from aoe_reports.topics.steps.straggler_facts import MIN_PEERS

    run, one = max(every, key=_how_much)
    if not any(one.peers for _, one in every):
        if repeated := _repeated([one for _, one in every]):
            return [say("{ranks}: captures of one rank are not compared with each other", ranks=repeated)]
        if len(every) < captured:
            return [
                say(
                    "only {count} of {captured} ranks could be compared: none has peers",
                    count=len(every),
                    captured=captured,
                )
            ]
        return [count_of(len(every), "one rank only: it has no peers", "none of {number:,} ranks has peers")]
    texts: list[str] = []
    if (one.slower or 0) <= 0:
        texts.append(say("no rank of {count:,} computes longer than its peers", count=len(every)))
    else:
        texts += _about(run, one) if one.is_notable else [_longer(run, one)]
    return [*texts, say("fewer than {count} peers: no verdict", count=MIN_PEERS)]


def _repeated(ranks: Sequence[ComparedRank]) -> str:
    """The ranks that were captured more than once: those captures are runs of their own."""
    from aoe_reports.rules.found import listed

    counts = Counter(map(_name, ranks))
    again = [
        say("{rank} twice", rank=rank) if count == 2 else say("{rank} {count} times", rank=rank, count=count)  # noqa: PLR2004
        for rank, count in counts.items()
        if count > 1
    ]
    return listed(again) if again else ""


def _about(run: ComparedRun, rank: ComparedRank) -> list[str]:
    """How much longer a rank computes, in what, and whether its peers wait for it."""
    return [_longer(run, rank), *_evidence(rank), *_awaited(run, rank)]


def _longer(run: ComparedRun, rank: ComparedRank) -> str:
    name, groups = _name(rank), _groups_of(run.layout, rank.rank_id)
    if groups is not None:
        name = say("{rank} ({groups})", rank=name, groups=groups)
    (before, after), unit = times_in_one_unit(rank.median_ns or 0, rank.computing_ns)
    return count_of(
        rank.peers,
        "{rank} computes {slower} longer than the median of itself and its peer ({before} → {after} {unit})",
        "{rank} computes {slower} longer than the median of its {number:,} peers ({before} → {after} {unit})",
        rank=name if run.alone else say("{rank} of {run}", rank=name, run=run.label),
        slower=percent(rank.slower or 0),
        before=before,
        after=after,
        unit=unit,
    )


def _evidence(rank: ComparedRank) -> Iterator[str]:
    """Where to look: a slow chip slows all operators alike, a slow operator only itself."""
    counts = {"slower": rank.slower_types, "types": rank.types}
    if rank.cause == "more calls":
        yield say(
            "it runs more calls than its peers ({more}), which take most of the difference: it has more work, its chip need not be slow",
            more=change_words(rank.more_calls or 0),
        )
    elif rank.cause == "all operators":
        yield say(
            "{slower} of {types} operator types are slower: look at the chip (frequency, temperature), not at an operator",
            **counts,
        )
    elif rank.cause == "one operator":
        (time,), unit = times_in_one_unit(rank.operators[0].lost_ns)
        yield say(
            "operator type {op_type} takes {time} {unit} longer, the others about as long as usual: look at it, not at the chip",
            op_type=rank.operators[0].op_type,
            time=time,
            unit=unit,
        )
    elif (rank.types or 0) > 1:
        yield say("{slower} of {types} operator types are slower", **counts)


def _awaited(run: ComparedRun, rank: ComparedRank) -> Iterator[str]:
    """That its peers wait for it: it waits less than they do in communication, by half of what it computes longer, or more."""
    own, usual, steps = run.waits.get(rank.member), run.medians.get(rank.role), run.steps.get(rank.member)
    if own is None or usual is None or steps is None or 2 * (usual - own) * steps < (rank.lost_ns or 0):
        return
    (mine, theirs), unit = times_in_one_unit(own, usual)
    yield say(
        "its peers wait for it: {mine} {unit} of its communication per step is not overlapped, {theirs} {unit} is the median",
        mine=mine,
        theirs=theirs,
        unit=unit,
    )
