"""Which of the operators that take most time in a profile a bank covers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.classes import record
from aoe_reports.model.rows import US, column, row, row_from
from aoe_reports.model.texts import count_of, join, say
from aoe_reports.topics.banks.banked import BankedFile
from aoe_reports.topics.banks.coverage import BankedOperator, BankIndex, CalledOperator, Coverage, Covered
from aoe_reports.topics.banks.subgraphs import Called, Occurring, occurring

if TYPE_CHECKING:
    import pyarrow as pa

    from aoe_reports.engine.question import Notes, Unit
    from aoe_reports.stats.grouping import Group

_KEYS = ("op_type", "input_shapes", "input_data_types", "input_formats", "output_data_types", "op_state")
_NAME = "op_name"
_IN_ORDER = frozenset({"task_start_ns", "stream_id"})
"""What is read, too, where operators are looked for one behind the other."""


@record
class NamedShape:
    """An operator by its name, with those of its inputs that take most time."""

    name: str
    called: CalledOperator
    total_ns: int


@record
class HotShapes:
    """What takes most time on one rank of a capture, and the chip that it ran on."""

    run: str
    rank_id: int | None
    soc: str | None
    cores: int | None
    computing_ns: int
    shapes: tuple[Group, ...]
    """Tasks of one operator type with the same inputs, by `_KEYS`."""
    occurring: Occurring
    """What of the banks' subgraphs there is."""
    named: tuple[NamedShape, ...]
    """The operators that were asked for by their names."""


@row
class CoveredShape:
    """An operator with its inputs, and whether a bank has an entry for it; the share is of all computing of the rank."""

    position: int = column("#", "integer")
    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    op_type: str | None = column("Operator type")
    input_shapes: str | None = column("Input shapes")
    input_data_types: str | None = column("Data types", detail=True)
    input_formats: str | None = column("Formats", detail=True)
    output_data_types: str | None = column()
    op_state: str | None = column("OP State", detail=True)
    count: int = column("Tasks", "integer")
    total_ns: int = column("Total", unit=US)
    share: float | None = column("Share", "percent")
    status: Coverage = column("Status", "state")
    reason: str = column("Reason", "sentence")


@row
class TimeOfEntry:
    """What the tuner measured of a single operator, beside what the profile measured of the same.

    `ratio` is the mean of the profile to the time in the bank, `effect` how much longer all calls took than the bank says.
    """

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    op_type: str | None = column("Operator type")
    input_shapes: str | None = column("Input shapes")
    count: int = column("Tasks", "integer")
    cost_ns: int = column("Time when tuned", unit=US)
    mean_ns: float = column("Mean in the profile", unit=US)
    ratio: float | None = column("Measured / tuned", "ratio")
    effect_ns: int = column("Effect", unit=US)


def hot_shapes(
    unit: Unit,
    top: int,
    soc: str | None,
    notes: Notes,
    *,
    parts: Sequence[tuple[Called, ...]] = (),
    names: Collection[str] = (),
) -> list[HotShapes]:
    """What takes most time on each rank of a capture, which `parts` of subgraphs occur there, and the operators of some names. Raises ReadError or OSError where it cannot be read."""
    import pyarrow as pa

    from aoe_reports.engine.captures import read_tasks
    from aoe_reports.model.arrays.columns import exact_sum, integers, keep_where
    from aoe_reports.stats.grouping import group_tasks, is_communication
    from aoe_reports.topics.task_source import of_source

    capture = unit.capture
    notes.add(capture.findings)
    fields = frozenset({*_KEYS, "task_type", "task_duration_ns", "device_id"})
    fields |= (_IN_ORDER if parts else frozenset()) | ({_NAME} if names else frozenset())
    sets, tables = read_tasks(capture, fields, by_type=False)
    notes.add(finding for data in tables for finding in data.findings)
    notes.add(of_source(capture, sets, tables))
    cores = capture.info.hardware.get("ai_core_num")
    ranks = lists_by_key((tasks.rank_id, tasks) for tasks in sets)
    found = []
    for rank, of_rank in sorted(ranks.items(), key=lambda pair: -1 if pair[0] is None else pair[0]):
        frame = pa.concat_tables([tasks.frame for tasks in of_rank], promote_options="permissive")
        computing = frame.filter(keep_where(~is_communication(frame["task_type"])))
        found.append(
            HotShapes(
                run=unit.run,
                rank_id=rank,
                soc=soc or capture.info.device_type,
                cores=cores if isinstance(cores, int) else None,
                computing_ns=exact_sum(integers(computing["task_duration_ns"])[0]),
                shapes=tuple(group_tasks(computing, _KEYS, top)),
                occurring=occurring(computing, parts),
                named=tuple(_named(computing, names)),
            )
        )
    return found


def _named(computing: pa.Table, names: Collection[str]) -> Iterator[NamedShape]:
    """The operators of these names, each with the inputs that take most time."""
    if not names or _NAME not in computing.column_names:
        return
    import pyarrow as pa
    import pyarrow.compute as pc

    from aoe_reports.stats.grouping import group_tasks

    wanted = computing.filter(pc.is_in(computing[_NAME].cast(pa.string()), pa.array(sorted(names), pa.string())))
    seen = set()
    for group in group_tasks(wanted, (_NAME, *_KEYS)):
        name, *inputs = group.key
        if name is not None and name not in seen:
            seen.add(name)
            yield NamedShape(name=name, called=CalledOperator(*inputs), total_ns=group.total_ns)


def coverage_of(
    ranks: Sequence[HotShapes], banked: Sequence[BankedOperator]
) -> tuple[list[CoveredShape], list[TimeOfEntry]]:
    """Whether banks cover what takes most time, rank by rank; and the times of both where banks have one, the largest effect first."""
    shapes: list[CoveredShape] = []
    times: list[TimeOfEntry] = []
    for rank in ranks:
        for shape, covered in _of_rank(rank, banked):
            shapes.append(shape)
            times += _time_of(shape, covered)
    return shapes, sorted(times, key=lambda one: -abs(one.effect_ns))


def named_shapes(
    ranks: Sequence[HotShapes], banked: Sequence[BankedOperator]
) -> dict[str, tuple[NamedShape, BankIndex]]:
    """The operators that were asked for by name, of the rank where each takes most time, and the banks as that rank sees them."""
    found: dict[str, tuple[NamedShape, BankIndex]] = {}
    for rank in ranks:
        index = BankIndex(banked, rank.soc, rank.cores)
        for shape in rank.named:
            known = found.get(shape.name)
            if known is None or known[0].total_ns < shape.total_ns:
                found[shape.name] = (shape, index)
    return found


def _of_rank(rank: HotShapes, banked: Sequence[BankedOperator]) -> Iterable[tuple[CoveredShape, Covered]]:
    index = BankIndex(banked, rank.soc, rank.cores)
    for position, shape in enumerate(rank.shapes, start=1):
        covered = index.look_up(CalledOperator(*shape.key))
        names: dict[str, Any] = dict(zip(_KEYS, shape.key, strict=True))
        row = CoveredShape(
            **names,
            position=position,
            run=rank.run,
            rank_id=rank.rank_id,
            count=shape.count,
            total_ns=shape.total_ns,
            share=round(shape.total_ns / rank.computing_ns, 6) if rank.computing_ns else None,
            status=covered.status,
            reason=covered.reason,
        )
        yield row, covered


def _time_of(shape: CoveredShape, covered: Covered) -> list[TimeOfEntry]:
    """The bank's time beside the profile's, where all entries for an operator have the same."""
    costs = {entry.cost_ns for entry in covered.entries}
    cost = next(iter(costs)) if covered.status == "covered" and len(costs) == 1 else None
    if cost is None:
        return []
    return [
        row_from(
            TimeOfEntry,
            shape,
            cost_ns=cost,
            mean_ns=shape.total_ns / shape.count,
            ratio=round(shape.total_ns / (shape.count * cost), 4) if cost else None,
            effect_ns=shape.total_ns - shape.count * cost,
        )
    ]


def headline_of_banks(files: Sequence[BankedFile]) -> str:
    """How much the banks hold, and for which chips."""
    if not files:
        return ""
    chips = sorted({one.soc.casefold(): one.soc for one in reversed(files) if one.soc}.values())
    return say(
        "{entries} in {banks}{chips}.",
        entries=count_of(sum(one.entries for one in files), "{number:,} entry", "{number:,} entries"),
        banks=count_of(len(files), "{number:,} bank", "{number:,} banks"),
        chips=say(" for {chips}", chips=join(", ", chips)) if chips else "",
    )


def headline_of(rows: Sequence[CoveredShape]) -> str:
    """How much of the time of the shapes listed is covered, and how much is not."""
    whole = sum(one.total_ns for one in rows)
    if not whole:
        return ""
    told = []
    for status in ("covered", "stale", "missing", "unclear"):
        some = [one for one in rows if one.status == status]
        if some:
            share = sum(one.total_ns for one in some) / whole
            told.append(say("{count} {status} ({share:.1%})", count=len(some), status=say(status), share=share))
    shapes = count_of(len(rows), "{number} operator shape", "{number} operator shapes")
    return say("{shapes}, by their time: {told}.", shapes=shapes, told=join(", ", told))
