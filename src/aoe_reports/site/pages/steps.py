"""Where the time of a run went: its steps by computing, communication and free time, of many ranks the least, median and worst one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aoe_reports.formats.records.payloads import number_in
from aoe_reports.history.site_facts import PARTS, RunAdvice, RunDetails
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.classes import record
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.history.runs import STEP_PARTS, StepTimes
from aoe_reports.model.rank_spread import MIN_RANKS, middle_of
from aoe_reports.model.texts import N_
from aoe_reports.present.values import show
from aoe_reports.site.amounts import TimeColumn, in_own_unit
from aoe_reports.site.bars import stacked_bars
from aoe_reports.site.cells import Table, head
from aoe_reports.site.pages.advice import longest_only, whole_in
from aoe_reports.site.pages.changes import is_of
from aoe_reports.site.pages.operators import groups_of, series_page, types_of
from aoe_reports.site.render import Context
from aoe_reports.site.texts import Texts

SHOWN_FOLDED = 64
"""Of more ranks those with the longest steps are behind the fold."""
NAMED_TYPES = 3
"""So many operator types are in the first sentence."""


@record
class CountedStep:
    """The breakdown that advice computed for a device without a stored one; like steps, times in ms."""

    step_ms: float
    std_ms: None = None
    computing_ms: float
    communication_ms: float
    free_ms: float
    rank_id: int | None
    device_id: int | None
    series_id: None = None
    steps_counted: int
    """The number of steps by which the capture was divided; 1 also where no steps are recorded."""


@dataclass(frozen=True, slots=True)
class KnownStep:
    """What is known of the mean step of one device: by the table of steps, by its tasks, or by both."""

    stored: StepTimes | None
    counted: CountedStep | None

    @property
    def _first(self) -> StepTimes | CountedStep:
        step = self.stored or self.counted
        assert step is not None
        return step

    @property
    def place(self) -> tuple[int | None, int | None]:
        """Its rank and device."""
        return self._first.rank_id, self._first.device_id

    @property
    def step_ms(self) -> float | None:
        """Its duration, by the table where that has it."""
        return self._first.step_ms

    @property
    def parts_ms(self) -> dict[str, float | None]:
        """Computing, communication and free time; none where these are not known."""
        step = self.counted or self.stored
        if step is None or not _has_parts(step):
            return {}
        return {part: getattr(step, f"{part}_ms") for part in STEP_PARTS}

    @property
    def steps(self) -> int | None:
        """Of how many steps it is the mean."""
        if self.stored is not None:
            return self.stored.steps
        return None if self.counted is None else self.counted.steps_counted

    @property
    def is_capture(self) -> bool:
        """Whether it is a whole capture: it has no steps."""
        return self.stored is None and self.counted is not None and self.counted.steps_counted == 1


def counted_steps(steps: Sequence[StepTimes], advice: RunAdvice | None) -> list[CountedStep]:
    """The steps whose breakdown only advice has."""
    stored = lists_by_key((step.rank_id, (step.rank_id, step.device_id)) for step in steps if _has_parts(step))
    counted = {
        (count.rank_id, count.device_id): count
        for row in (advice.summary.headlines if advice is not None else ())
        if (count := _counted_step(row)) is not None
        and not any(is_of(place, count.rank_id, count.device_id) for place in stored.get(count.rank_id, ()))
    }
    ordered = sorted(counted, key=lambda place: tuple(-1 if number is None else number for number in place))
    return [counted[place] for place in ordered[:SHOWN_DEVICES]]


def known_steps(steps: Sequence[StepTimes], counted: Sequence[CountedStep]) -> list[KnownStep]:
    """One for each step: a device whose breakdown was counted from its tasks has the duration of the table of steps beside it."""
    known = []
    left = list(counted)
    steps_at = Counter((step.rank_id, step.device_id) for step in steps)
    for step in steps:
        place = step.rank_id, step.device_id
        candidates = left if steps_at[place] == 1 and not _has_parts(step) else []
        same = next((count for count in candidates if is_of(place, count.rank_id, count.device_id)), None)
        if same is not None:
            left.remove(same)
        known.append(KnownStep(step, same))
    return [*known, *(KnownStep(None, count) for count in left)]


def steps_in_all(steps: Sequence[KnownStep]) -> int | None:
    """The number of steps that the times of tasks are of; None where devices differ, or one has steps of several kinds."""
    places = Counter(step.place for step in steps)
    counts = {step.steps for step in steps}
    number = counts.pop() if len(counts) == 1 and max(places.values()) == 1 else None
    return number if number and number > 1 else None


def _has_parts(step: StepTimes | CountedStep) -> bool:
    """Whether its breakdown is complete: of a pipeline, MindSpore's own profiler records no free time."""
    return None not in {step.computing_ms, step.free_ms}


def _counted_step(headline: JsonObject) -> CountedStep | None:
    """A device's step as advice counted its tasks; None where it did not, or where that is no step."""
    shares = [share for part in PARTS if (share := number_in(headline, f"{part}_share")) is not None]
    step_us = number_in(headline, "step_us")
    if headline.get("source") not in _COUNTED or step_us is None or not 0 < step_us < _LONGEST_US:
        return None
    if len(shares) < len(PARTS) or min(shares) < 0 or sum(shares) > 1 + _ROUNDED:
        return None
    computing, communication, free = (round(share * step_us / 1000, 6) for share in shares)
    return CountedStep(
        step_ms=step_us / 1000,
        computing_ms=computing,
        communication_ms=communication,
        free_ms=free,
        rank_id=whole_in(headline, "rank_id"),
        device_id=whole_in(headline, "device_id"),
        steps_counted=whole_in(headline, "steps") or 1,
    )


SHOWN_DEVICES = 16
_COUNTED = frozenset({"tasks", "timeline"})
"""Where advice has the parts of a step from, when not from a table of steps."""
_LONGEST_US = 1e15
"""Thirty years: no step takes longer."""
_ROUNDED = 1e-4


def steps_part(
    steps: Sequence[KnownStep], details: RunDetails, pages: frozenset[str], text: Texts, advice: RunAdvice | None
) -> Context:
    """The first sentence, the bars and the table of steps; `advice` is what broke some of them down."""
    shown = _shown(steps)
    folded = sorted(steps, key=_length, reverse=True)[:SHOWN_FOLDED] if len(shown) < len(steps) else []
    notes = []
    if any(step.counted for step in steps):
        notes.append(
            text(
                "If no table contains the step breakdown, the components are computed from the start and end times of "
                "the tasks: the whole capture, including gaps between steps, is divided by the number of steps."
            )
        )
        if advice is not None:
            notes += longest_only(advice.summary, text)
    with_parts = [(name, step) for name, step in shown if step.parts_ms]
    return {
        "said": _first_sentence(steps, details, text),
        "bars": stacked_bars([_bar(name, step, text) for name, step in with_parts]) if with_parts else None,
        "legend": [(part, _title(f"{part}_ms", text)) for part in STEP_PARTS],
        "table": _table(shown, pages, text, text.joined(" ", notes)),
        "all": _table([("", step) for step in folded], pages, text, ""),
        "all_title": text("All {count} ranks, the longest steps first", count=len(steps))
        if len(folded) == len(steps)
        else text("The {shown} longest steps of {count}", shown=len(folded), count=len(steps)),
    }


def _length(step: KnownStep) -> float:
    return step.step_ms or 0.0


def _shown(steps: Sequence[KnownStep]) -> list[tuple[str, KnownStep]]:
    """Every step, or of many the worst, the median and the least one, each with that word."""
    if len(steps) < MIN_RANKS:
        return [("", step) for step in steps]
    ordered = sorted(steps, key=_length)
    return [("worst", ordered[-1]), ("median", middle_of(ordered)), ("least", ordered[0])]


def _first_sentence(steps: Sequence[KnownStep], details: RunDetails, text: Texts) -> str:
    """Where the time went: the parts of the longest step, the operator types that take most of its computing."""
    longest = max(steps, key=_length, default=None)
    types = _longest_types(details, text)
    said = []
    if longest is not None and longest.step_ms:
        said.append(
            text(
                _sentence_of(longest),
                what=_what(longest, len(steps), text),
                time=in_own_unit(longest.step_ms, "ms"),
                counted=in_own_unit(sum(size or 0.0 for size in longest.parts_ms.values()), "ms"),
                parts=_parts_words(longest, text),
            )
        )
    if types and details.computing_us is not None:
        number = steps_in_all(steps) if details.ranks is not None or len(steps) == 1 else None
        of_rank, of_step = details.ranks is not None, number is not None
        said.append(
            text(
                _TASKS[of_rank, of_step],
                total=in_own_unit(details.computing_us / (number or 1), "us"),
                types=types,
            )
        )
    return text.joined(" ", said)


_TASKS: Mapping[tuple[bool, bool], str] = N_(
    {
        (False, False): "The compute tasks of the run take {total}: {types}.",
        (False, True): "The compute tasks of a step take {total}: {types}.",
        (True, False): "The compute tasks of the median rank take {total}: {types}.",
        (True, True): "The compute tasks of a step take {total} on the median rank: {types}.",
    }
)
"""By whether they are of the median rank, and of one step."""
_SENTENCES = N_(
    {
        "unknown": "{what} takes {time}.",
        "known": "{what} takes {time}: {parts}.",
        "both": "{what} takes {time} by the table of steps and {counted} by its tasks: {parts}.",
    }
)


def _sentence_of(step: KnownStep) -> str:
    if not step.parts_ms:
        return _SENTENCES["unknown"]
    return _SENTENCES["known" if step.stored is None or step.counted is None else "both"]


def _parts_words(step: KnownStep, text: Texts) -> str:
    """The parts of a step with their shares, the largest first."""
    sizes = {part: size for part, size in step.parts_ms.items() if size}
    whole = sum(sizes.values())
    ordered = sorted(sizes, key=lambda part: -sizes[part])
    return text.joined(", ", [f"{text.word(part)} {show(sizes[part] / whole, 'percent')}" for part in ordered])


def _what(step: KnownStep, count: int, text: Texts) -> str:
    """The step in a sentence; the only one needs no name."""
    if step.is_capture:
        return (
            text("The whole capture") if count == 1 else text("The capture of {place}", place=text.place(*step.place))
        )
    if count == 1:
        return text("A step")
    return text("A step of {place}, the longest of {count},", place=text.place(*step.place), count=count)


def _longest_types(details: RunDetails, text: Texts) -> str:
    """The operator types that take most, each with its share of all compute tasks."""
    groups = [group for group in groups_of(types_of(details, None))[:NAMED_TYPES] if group.name]
    whole = details.computing_us
    if not whole:
        return ""
    return text.joined(
        ", ", [f"{group.name} {show(sum(group.totals_us.values()) / whole, 'percent')}" for group in groups]
    )


_RANK_WORDS = N_({"worst": "Worst: {place}", "median": "Median: {place}", "least": "Least: {place}"})


def _label(name: str, step: KnownStep, text: Texts) -> str:
    place = text.place(*step.place) or text("the step")
    return text(_RANK_WORDS[name], place=place) if name else place


def _bar(name: str, step: KnownStep, text: Texts) -> tuple[str, list[tuple[str, float]], str, str]:
    sizes = step.parts_ms
    shown = {part: text("not stored") if size is None else in_own_unit(size, "ms") for part, size in sizes.items()}
    said = text(
        "Capture of {what}: computing {computing}, non-overlapped communication {communication}, free {free}"
        if step.is_capture
        else "Step of {what}: computing {computing}, non-overlapped communication {communication}, free {free}",
        what=_label(name, step, text),
        **shown,
    )
    whole = sum(size or 0.0 for size in sizes.values())
    return (
        _label(name, step, text),
        [(part, size or 0.0) for part, size in sizes.items()],
        in_own_unit(whole, "ms"),
        said,
    )


def _table(steps: Sequence[tuple[str, KnownStep]], pages: frozenset[str], text: Texts, about: str) -> Table:
    """Durations and parts; the part is beside its share of them."""
    times = {
        "step_ms": [step.step_ms for _, step in steps],
        "std_ms": [None if step.stored is None else step.stored.std_ms for _, step in steps],
        **{f"{part}_ms": [step.parts_ms.get(part) for _, step in steps] for part in STEP_PARTS},
    }
    columns = {
        key: TimeColumn.of("ms", column) for key, column in times.items() if any(time is not None for time in column)
    }
    titles = [column.title(_title(key, text)) for key, column in columns.items()]
    rows = [
        [
            head(
                _label(name, step, text),
                series_page(None if step.stored is None else step.stored.series_id, pages),
                _source(step, text),
            ),
            *(column.cell(times[key][row], _share(step, key)) for key, column in columns.items()),
        ]
        for row, (name, step) in enumerate(steps)
    ]
    return Table([(text("Item"), "text"), *titles], rows, about, stacks=True)


def _title(key: str, text: Texts) -> str:
    """What a column of steps is called, without its unit."""
    return text.columns(StepTimes, key)[0][0].removesuffix(" (ms)")


def _share(step: KnownStep, key: str) -> str | None:
    """The share of a part of all parts."""
    parts = step.parts_ms
    size, whole = parts.get(key.removesuffix("_ms")), sum(size or 0.0 for size in parts.values())
    return show(size / whole, "percent") if size is not None and whole else None


def _source(step: KnownStep, text: Texts) -> str | None:
    """Where what is known of it comes from, if not all of it is from the table of steps."""
    if step.counted is None:
        return None if step.parts_ms or step.stored is None else text("no breakdown in the profile")
    if step.is_capture:
        return text("computed from the tasks, the whole capture")
    counted = step.counted
    if step.stored is None:
        return text("computed from the tasks, steps: {steps}", steps=counted.steps_counted)
    return text(
        "step: from the table of steps; components: computed from the tasks, {time} each of {steps} steps",
        time=in_own_unit(counted.step_ms, "ms"),
        steps=counted.steps_counted,
    )
