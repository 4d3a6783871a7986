"""Keeps two workloads out of one series, and one workload in its series.

Captures of one name share series, device by device. Where their operators differ (records.operators) they are of different
workloads: that is an error, and nothing of them is stored. Where only the inferred name of a workload is new, and the
store has its operators as `unknown`, that history goes on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from aoe_reports.engine.captures import joined, kernels, read_source, sources_of
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.records.payloads import body_of
from aoe_reports.formats.records.record import Record
from aoe_reports.formats.table import Facts
from aoe_reports.formats.vendor import TABLES
from aoe_reports.history.rules import WORKLOAD_ALIKE, WORKLOAD_CHANGED, WORKLOAD_CONTINUED, WORKLOAD_UNCHECKED
from aoe_reports.model.documents import JsonObject, text_of
from aoe_reports.model.errors import AoeReportsError, StoreError, WorkloadConflictError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import Text, join, say
from aoe_reports.model.timestamps import night_of
from aoe_reports.store import History, Run, equals
from aoe_reports.topics.records.context import UNKNOWN, RunContext
from aoe_reports.topics.records.from_profile import TASK_FIELDS, groups_of_tasks, records_from_groups
from aoe_reports.topics.records.load import model_name_of
from aoe_reports.topics.records.naming import Named, name_captures
from aoe_reports.topics.records.operators import MIN_AGREEMENT, OperatorMix, agreement, differences
from aoe_reports.topics.records.options import RecordOptions
from aoe_reports.topics.rules import WORKLOAD_UNKNOWN

Device = tuple[str, int | None, int | None]
"""(hardware, rank, device where there is no rank): captures of one workload share the series of a device."""

_COLUMNS = frozenset({"device_id", "op_type", "op_name", "task_type", "task_duration_ns"})
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class _Seen:
    where: str
    night: str | None
    mix: OperatorMix


@dataclass(slots=True)
class _Newest:
    night: str
    seen: dict[Device, list[_Seen]] = field(default_factory=lambda: defaultdict(list))
    own_names: set[str] = field(default_factory=set)
    """Names that were inferred for runs that go on under this one."""

    def of(self, mixes: Mapping[Device, OperatorMix]) -> Iterator[tuple[OperatorMix, _Seen, float]]:
        """(operators, what was seen on the same device, how far they agree), where that can be told."""
        for device, mix in mixes.items():
            for seen in self.seen.get(device, ()):
                alike = agreement(mix, seen.mix)
                if alike is not None:
                    yield mix, seen, alike


@dataclass(slots=True)
class Sharing:
    """What one ingest knows of the workloads whose series its runs would share."""

    store: str
    options: RecordOptions
    history: History | None = None
    _newest: dict[str, _Newest | None] = field(default_factory=dict)
    _refused: dict[str, Text] = field(default_factory=dict)
    """Why captures of this job are not to be stored, by path."""
    _continued: Counter[tuple[str, str]] = field(default_factory=Counter)
    _alike: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Inferred names that begin a history, each with a workload that has the same operators, and its newest night."""
    _unchecked: dict[str, StoreError] = field(default_factory=dict)

    def look_ahead(self, runs: Sequence[tuple[Capture, ...]]) -> None:
        """Compare the captures that would share series before any of them is stored."""
        if len(runs) < 2:  # noqa: PLR2004 -- one run shares series with what is stored only
            return
        groups: dict[Named, list[_Ahead]] = defaultdict(list)
        for captures in runs:
            ahead = _Ahead(captures, self.options)
            groups[ahead.named].append(ahead)
        for named, group in groups.items():
            sharing = _with_common_ranks(group)
            if named.by == "option":
                self._refuse(_of_one_night(sharing, named.model))
            elif sharing and self._newest_of(named.model) is None:
                self._refuse(_of_one_name(sharing, named.model))
        self._refuse_rivals(groups)

    def admit(self, run: Run) -> Run:
        """The run as it is to be stored; WorkloadConflictError where it would share series of another workload."""
        if run.header.run_kind != "profile":
            return run
        mixes = mixes_of(run.records)
        why = self._refused.get(run.header.path)
        if why is not None and not self._is_stored(run):
            raise WorkloadConflictError(run.header.path, why)
        if run.named_by in {"folder", "capture"} and self._newest_of(run.header.model) is None:
            run = self._as_before(run, mixes)
        self._note_alike(run, mixes)
        if _comparable(run):
            run = self._compared(run, mixes)
        return run

    def keep(self, run: Run) -> None:
        """Note a run that the store has now."""
        if run.header.run_kind != "profile":
            return
        model, night = run.header.model, run.header.night
        newest = self._newest_of(model)
        if newest is None or (_comparable(run) and night > newest.night):
            newest = self._newest[model] = _Newest(night if _comparable(run) else "")
        if not _comparable(run) or night < newest.night:
            return
        newest.own_names |= _own_names([run.body])
        for device, mix in mixes_of(run.records).items():
            newest.seen[device].append(_Seen(run.header.path, night, mix))

    def renamed(self, run: Run, model: str) -> Run:
        """The run under the name that the store has for it, which is noted."""
        self._continued[run.header.model, model] += 1
        return renamed(run, model)

    def findings(self) -> list[Finding]:
        """What is to be said of histories that go on under another name, and of those that nothing was compared with."""
        unchecked = [
            WORKLOAD_UNCHECKED.found(
                self.store,
                say(
                    ("the stored data of workload {model!r} cannot be read, so its operators were not compared: {why}"),
                    model=model,
                    why=error,
                ),
            )
            for model, error in sorted(self._unchecked.items())
        ]
        alike = [
            WORKLOAD_ALIKE.found(
                self.store,
                say(
                    "workload {own!r} starts a new history, but workload {model!r} has the same operators (last "
                    "night {night}): if it is the same model, give both the same name (--workload NAME, or "
                    "--workload-from PATTERN)",
                    own=own,
                    model=model,
                    night=night,
                ),
            )
            for own, (model, night) in sorted(self._alike.items())
        ]
        return [*unchecked, *alike] + [
            WORKLOAD_CONTINUED.found(self.store, _goes_on(own, model, count))
            for (own, model), count in sorted(self._continued.items())
        ]

    def _refuse(self, refused: Mapping[str, Text]) -> None:
        for path, why in refused.items():
            self._refused.setdefault(path, why)

    def _refuse_rivals(self, groups: Mapping[Named, Sequence[_Ahead]]) -> None:
        """Refuse several unnamed workloads that each have the operators of `unknown`: its history could be any one's."""
        new = [
            (named, group)
            for named, group in groups.items()
            if named.by in {"folder", "capture"} and self._newest_of(named.model) is None
        ]
        unknown = self._newest_of(UNKNOWN) if len(new) > 1 else None
        if unknown is None or unknown.own_names:
            return
        rivals = [
            (named.model, group)
            for named, group in new
            if any(agreed >= MIN_AGREEMENT for one in group for _, _, agreed in unknown.of(one.mixes))
        ]
        models = sorted({model for model, _ in rivals})
        if len(models) > 1:
            names = join(", ", map(repr, models))
            why = say(
                "the store has these operators as workload 'unknown', and {names} of this job also have them: it "
                "cannot be determined whose history this is, and none of them is stored. Give --workload NAME "
                "for one of them, or `--workload-from folder` to start a history for each",
                names=names,
            )
            self._refuse({one.path: why for _, group in rivals for one in group})

    def _as_before(self, run: Run, mixes: Mapping[Device, OperatorMix]) -> Run:
        """The run as `unknown` where the store has its operators under that name."""
        unknown = self._newest_of(UNKNOWN)
        if unknown is None or (unknown.own_names and run.header.model not in unknown.own_names):
            return run
        found = list(unknown.of(mixes))
        alike = [agreed >= MIN_AGREEMENT for _, _, agreed in found]
        if found and all(alike):
            return self.renamed(run, UNKNOWN)
        if any(alike) and not self._is_stored(run):
            why = say(
                "the store has workload 'unknown' with these operators and with others: several workloads share its "
                "series, and none of them continues it; the run is not stored. --workload {model} starts a separate "
                "history",
                model=run.header.model,
            )
            raise WorkloadConflictError(run.header.path, why)
        return run

    def _note_alike(self, run: Run, mixes: Mapping[Device, OperatorMix]) -> None:
        """Note an inferred name that starts a history although another name has these operators."""
        own = run.header.model
        if run.named_by == "option" or own in self._alike or self._newest_of(own) is not None or self._is_stored(run):
            return
        for model in self._models():
            newest = self._newest_of(model)
            if newest is None or newest.night == run.header.night:
                continue  # two captures of one night are two workloads
            found = [agreed for _, _, agreed in newest.of(mixes)]
            if found and min(found) >= MIN_AGREEMENT:
                self._alike[own] = (model, newest.night)
                return

    def _models(self) -> list[str]:
        """The workloads that the store and this job have profiles of, the newest first; no more than MAX_COMPARED."""
        history = self._opened()
        runs = [] if history is None else history.rows("run", ("model", "night", "run_kind")).to_pylist()
        nights = {run["model"]: "" for run in runs if run["run_kind"] == "profile"}
        for run in runs:
            if run["model"] in nights:
                nights[run["model"]] = max(nights[run["model"]], run["night"])
        return sorted(nights, key=lambda model: (nights[model], model), reverse=True)[:MAX_COMPARED]

    def _compared(self, run: Run, mixes: Mapping[Device, OperatorMix]) -> Run:
        """The run, checked to have the operators of the series that it continues."""
        newest = self._newest_of(run.header.model)
        found = [] if newest is None else [one for one in newest.of(mixes) if one[2] < MIN_AGREEMENT]
        if not found or self._is_stored(run):
            return run
        here = _Seen(run.header.path, run.header.night, found[0][0])
        if run.named_by != "option":
            why = _other_operators(run.header.model, here, found[0][1], may_be_new=True)
            raise WorkloadConflictError(run.header.path, why)
        same_night = [seen for _, seen, _ in found if seen.night == run.header.night]
        if same_night:
            raise WorkloadConflictError(run.header.path, _other_operators(run.header.model, here, same_night[0]))
        message = say(
            "{operators}; it is stored nevertheless because --workload requests it (`store undo {run_id}` removes it)",
            operators=_differ(run.header.model, here, found[0][1]),
            run_id=run.header.run_id,
        )
        return replace(run, findings=[*run.findings, WORKLOAD_CHANGED.found(run.header.path, message)])

    def _is_stored(self, run: Run) -> bool:
        history = self._opened()
        return history is not None and bool(history.versions_of(run.header))

    def _newest_of(self, model: str) -> _Newest | None:
        """The newest night of a workload that can be compared; None where the store has no profile of it."""
        if model not in self._newest:
            history = self._opened()
            try:
                self._newest[model] = None if history is None else _read(history, model)
            except StoreError as error:
                self._newest[model] = _Newest("")
                self._unchecked[model] = error
        return self._newest[model]

    def _opened(self) -> History | None:
        """The store, where there is one already."""
        if self.history is None:
            try:
                self.history = History.open(self.store)
            except StoreError:  # not there yet, or the reason is told when it is to be written
                return None
        return self.history


MAX_COMPARED = 50
"""So many workloads are compared with one that begins a history: each costs a look into the store."""


@dataclass(frozen=True, slots=True)
class _Operators:
    run_id: str
    hardware: str
    rank_id: int | None
    device_id: int | None
    scope: str
    op_type: str | None
    op_name: str | None
    count: int | None
    total_ns: int | None


@dataclass(frozen=True, slots=True)
class _StoredRun:
    run_id: str
    night: str
    status: str | None
    path: str | None
    body: str | None


OWN_NAME = "own_name"
"""The key in a run's body of the name that was inferred, where the run goes on under another one."""


def _read(history: History, model: str) -> _Newest | None:
    where = [equals("model", model), equals("run_kind", "profile")]
    runs = history.read("run", _StoredRun, where)
    if not runs:
        return None
    usable = [run for run in runs if run.status != "incomplete"]
    newest = _Newest(max((run.night for run in usable), default=""))
    mine = {run.run_id: run for run in usable if run.night == newest.night}
    if not mine:
        return newest
    newest.own_names = _own_names(body_of(run.body) for run in mine.values())
    asked = [equals("model", model), equals("night", newest.night)]
    by_run: dict[str, list[_Operators]] = {run_id: [] for run_id in mine}
    for row in history.read("record", _Operators, asked):
        if row.run_id in mine:
            by_run[row.run_id].append(row)
    for run_id, of_run in by_run.items():
        place = say("run {run_id} of the store ({path})", run_id=run_id, path=mine[run_id].path)
        for device, mix in mixes_of(of_run).items():
            newest.seen[device].append(_Seen(place, newest.night, mix))
    return newest


class _Ahead:
    """Captures of one run before reading: only their operators, when requested."""

    def __init__(self, captures: Sequence[Capture], options: RecordOptions) -> None:
        self.captures, self.options = captures, options
        self.path = str(captures[0].root)
        self._mixes: dict[Device, OperatorMix] | None = None

    @property
    def named(self) -> Named:
        """How the run will be called; of tables only the names of models are read, and only where nothing surer tells."""
        return replace(name_captures(self.options, self.captures, map(_model_name, self.captures)), findings=())

    @property
    def made_ns(self) -> int | None:
        """When the first capture was made, where that is known."""
        return self.captures[0].made_ns(self.options.zone)

    @property
    def ranks(self) -> frozenset[int | None]:
        """The ranks in the capture as far as info files tell; None for the others."""
        infos = [capture.info for capture in self.captures]
        return frozenset(rank for info in infos for rank in (info.ranks.values() or (info.rank_id,)))

    @property
    def night(self) -> str | None:
        """The night of the capture, where it is known."""
        made = self.made_ns
        return None if made is None else night_of(made, self.options.zone)

    @property
    def mixes(self) -> dict[Device, OperatorMix]:
        """The operators of each device; what cannot be read is told when the capture is read as a whole."""
        if self._mixes is None:
            hardware = self.options.hardware or UNKNOWN
            records: list[Record] = []
            for capture in self.captures:
                try:
                    records += _records_of(capture, hardware)
                except (AoeReportsError, OSError):
                    continue
            self._mixes = mixes_of(records)
        return self._mixes


def _model_name(capture: Capture) -> str | None:
    """The model that the tables name; damage is reported when the capture is read."""
    try:
        return model_name_of(capture)
    except (AoeReportsError, OSError):
        return None


def _records_of(capture: Capture, hardware: str) -> list[Record]:
    """Records of the operators of a capture, of the smallest of the tables that tell of them."""
    from aoe_reports.facts.tasks import split_devices  # noqa: PLC0415 -- numpy

    context = RunContext("", 0, hardware=hardware)
    smallest_first: tuple[Facts, ...] = ("sums", "tasks", "kernels")
    for source in (source for facts in smallest_first for source in sources_of(capture, facts)):
        facts = TABLES[source.kind].facts
        grouped = facts == "sums"
        frame = joined(read_source(source, None if grouped else _COLUMNS, hashed=False))
        if facts == "kernels":
            frame = kernels(frame)
        if frame is not None and frame.num_rows:
            sets = split_devices(capture.info.rank_of, frame, grouped=grouped, columns=TASK_FIELDS)
            return [record for tasks in sets for record in records_from_groups(context, groups_of_tasks(tasks))]
    return []


def mixes_of(records: Iterable[Record | _Operators]) -> dict[Device, OperatorMix]:
    """The operators of each device that records tell of."""
    found: dict[Device, OperatorMix] = defaultdict(OperatorMix)
    for record in records:
        device = (record.hardware, record.rank_id, record.device_id if record.rank_id is None else None)
        counts = (record.count or 0, record.total_ns or 0)
        if record.scope == "op_type" and record.op_type is not None:
            found[device].add_type(record.op_type, *counts)
        elif record.scope == "op" and record.op_name is not None:
            found[device].add_name(record.op_name, *counts)
    return dict(found)


def renamed(run: Run, model: str) -> Run:
    """A run under another name, which remembers its own."""
    own = run.header.model
    records = [
        replace(record, model=model, workload=model + record.workload.removeprefix(own)) for record in run.records
    ]
    findings = [finding for finding in run.findings if finding.rule != WORKLOAD_UNKNOWN.name]
    body = run.body if own == UNKNOWN else {**run.body, OWN_NAME: own}
    return replace(run, header=replace(run.header, model=model), records=records, findings=findings, body=body)


def _comparable(run: Run) -> bool:
    """Whether a run is complete: an incomplete one may hold other shares of operators."""
    return run.header.status != "incomplete"


def _own_names(bodies: Iterable[JsonObject]) -> set[str]:
    return {name for body in bodies if (name := text_of(body.get(OWN_NAME))) is not None}


def _of_one_name(group: Sequence[_Ahead], model: str) -> dict[str, Text]:
    """Why captures are not stored under one name: of the same device some have other operators than others."""
    devices: dict[Device, list[_Seen]] = defaultdict(list)
    for ahead in sorted(group, key=lambda one: (one.made_ns or 0, one.path)):
        for device, mix in ahead.mixes.items():
            devices[device].append(_Seen(ahead.path, ahead.night, mix))
    refused: dict[str, Text] = {}
    for all_seen in devices.values():
        latest: list[_Seen] = []
        for seen in all_seen:
            other = _put(latest, seen)
            if other is not None:
                refused |= {one.where: _why_not(model, one, (seen, other)) for one in all_seen}
                break
    return refused


def _of_one_night(group: Sequence[_Ahead], model: str) -> dict[str, Text]:
    """Why captures of one night are not stored under the name that is given for all: their operators differ."""
    nights: dict[str, list[_Ahead]] = defaultdict(list)
    for ahead in group:
        if ahead.night is not None:
            nights[ahead.night].append(ahead)
    several = [night for night in nights.values() if len(night) > 1]
    return {path: why for night in several for path, why in _of_one_name(night, model).items()}


def _with_common_ranks(group: Sequence[_Ahead]) -> list[_Ahead]:
    """The captures that may share series with others of the group: ranks have series of their own."""
    runs = Counter(rank for ahead in group for rank in ahead.ranks)
    return [ahead for ahead in group if any(runs[rank] > 1 for rank in ahead.ranks)]


def _put(kinds: list[_Seen], seen: _Seen) -> _Seen | None:
    """Replace the entry that this one resembles, as a workload may change little by little.

    If it resembles none of the comparable ones, the first of those is returned as the conflict.
    """
    compared = [(place, agreement(seen.mix, other.mix)) for place, other in enumerate(kinds)]
    known = [(place, alike) for place, alike in compared if alike is not None]
    like = next((place for place, alike in known if alike >= MIN_AGREEMENT), None)
    if like is not None:
        kinds[like] = seen
    elif not known:  # types here, names only there
        kinds.append(seen)
    else:
        return kinds[known[0][0]]
    return None


def _why_not(model: str, here: _Seen, pair: tuple[_Seen, _Seen]) -> Text:
    """Why one capture is not stored: it conflicts with one of an unlike pair, or the pair does."""
    may_be_new = pair[0].night != pair[1].night
    for other in pair:
        alike = agreement(here.mix, other.mix)
        if alike is not None and alike < MIN_AGREEMENT:
            return _other_operators(model, here, other, may_be_new=may_be_new)
    return say(
        "other captures of this job would also be workload {model!r}, but have different operators: {why}",
        model=model,
        why=_other_operators(model, *pair, may_be_new=may_be_new),
    )


def _other_operators(model: str, here: _Seen, there: _Seen, *, may_be_new: bool = False) -> Text:
    differ = _differ(model, here, there)
    if may_be_new and model != UNKNOWN:  # which is no name to give
        return say(
            "{operators}; it is not stored. Give each workload a name: --workload-from folder (or a pattern), or "
            "--workload NAME; if it is the same workload with new operators, use --workload {model}",
            operators=differ,
            model=model,
        )
    return say(
        "{operators}; it is not stored. Give each workload a name: --workload-from folder (or a pattern), or "
        "import each one separately with --workload NAME",
        operators=differ,
    )


def _differ(model: str, here: _Seen, there: _Seen) -> Text:
    mine, theirs = (
        join(", ", (name[:_LONGEST_NAME] for name in names)) if names else say("no other operators")
        for names in differences(here.mix, there.mix)
    )
    return say(
        "only {agreed:.0%} of its operators agree with {other}, which is also workload {model!r} (same workload: "
        "at least {least:.0%}): here {mine}, there {theirs}",
        agreed=agreement(here.mix, there.mix) or 0.0,
        other=there.where,
        model=model,
        least=MIN_AGREEMENT,
        mine=mine,
        theirs=theirs,
    )


def _goes_on(own: str, model: str, count: int) -> Text:
    if own == UNKNOWN:
        return say(
            "runs whose workload cannot be inferred ({count}) continue as workload {model!r}, as in the store",
            count=count,
            model=model,
        )
    return say(
        "runs that would be named {own!r} ({count}) continue as workload {model!r}, as in the store; --workload "
        "{own} would start a history under that name",
        count=count,
        own=own,
        model=model,
    )
