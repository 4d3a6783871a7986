"""Where the parts of a change happened: one layer, several alike, or nothing that stands out; the parts stay as they are."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.model.topics.breakdown import Parts
from aoe_reports.topics.comparison.change_locations import NOWHERE, ChangeLocations, Where
from aoe_reports.topics.comparison.exposed import Exposed
from aoe_reports.topics.comparison.waterfall import CallKey, Locations, Side, waterfall_of

MATMUL: CallKey = ("MatMul", "8,8", None, None)
OTHER: CallKey = ("MatMul", "9,9", None, None)
_Located = dict[CallKey, dict[str | None, tuple[int, int]]]


def located(calls: _Located, *, told_by: str = "frames") -> Side:
    names = {name for mine in calls.values() for name in mine if name is not None}
    summed = {
        key: (sum(count for count, _ in mine.values()), sum(total for _, total in mine.values()))
        for key, mine in calls.items()
    }
    blocks = {name: name.partition("/")[0] for name in names if name.startswith("Layer_")}
    alone: dict[str, int] = {}
    for (name, *_), (_, time) in summed.items():
        alone[name or ""] = alone.get(name or "", 0) + time
    whole = sum(alone.values())
    parts = Parts(
        start_ns=0, end_ns=whole, tasks=1, intervals=1, computing_ns=whole, communication_ns=0, overlapped_ns=0,
        communication_not_overlapped_ns=0, free_ns=0,
    )  # fmt: skip
    flat = {(*key, location): time for key, mine in calls.items() for location, time in mine.items()}
    locations = Locations(flat, dict.fromkeys(names, told_by), blocks)
    return Side(Exposed(0, "timeline", parts, 1), 1, True, summed, alone=alone, locations=locations)


def layers(*times: int, part: str = "Attention") -> dict[str | None, tuple[int, int]]:
    return {f"Layer_{number}/{part}": (1, time) for number, time in enumerate(times)}


def first(before: Side, after: Side) -> Where:
    return ChangeLocations(before, after).of(waterfall_of(before, after).parts[0])


def test_the_layer_that_is_slower_is_named() -> None:
    before, after = located({MATMUL: layers(100, 100, 100)}), located({MATMUL: layers(101, 150, 99)})
    assert first(before, after) == Where("Layer_1/Attention", "frames")


def test_a_layer_whose_modules_are_all_slower_is_named_without_them() -> None:
    mine = layers(100, 100, 100) | layers(100, 100, 100, part="MLP")
    slow = mine | {"Layer_2/MLP": (1, 150), "Layer_2/Attention": (1, 150)}
    assert first(located({MATMUL: mine}), located({MATMUL: slow})) == Where("Layer_2", "frames")


@pytest.mark.parametrize(("times", "changed"), [((110, 112, 109, 111), 4), ((100, 120, 121, 100), 2)])
def test_layers_that_are_slower_alike_are_counted(times: tuple[int, ...], changed: int) -> None:
    before, after = located({MATMUL: layers(100, 100, 100, 100)}), located({MATMUL: layers(*times)})
    assert first(before, after) == Where("Layer_*/Attention", "frames", changed, 4)


def test_layers_that_are_slower_in_several_modules_have_none_in_common() -> None:
    names = [f"Layer_{layer}/{module}" for layer in range(3) for module in ("Attention", "Norm")]
    slower = {"Layer_0/Attention": 160, "Layer_1/Norm": 160, "Layer_2/Attention": 160}
    before = located({MATMUL: dict.fromkeys(names, (1, 100))})
    after = located({MATMUL: {name: (1, slower.get(name, 120)) for name in names}})
    assert first(before, after) == Where(None, "frames", 3, 3)


def test_what_scatters_both_ways_is_in_no_layer() -> None:
    before = located({MATMUL: layers(*[100] * 8)})
    assert first(before, located({MATMUL: layers(103, 97, 104, 98, 103, 97, 102, 98)})) == NOWHERE
    told = first(before, located({MATMUL: layers(103, 99, 101, 99, 101, 99, 101, 99)}))
    assert told == NOWHERE, "less than a third of what changed"


def test_calls_that_came_to_a_layer_are_its() -> None:
    before, more = layers(100, 100, 100), layers(100, 100, 100) | {"Layer_0/Attention": (3, 300)}
    assert first(located({MATMUL: before}), located({MATMUL: more})) == Where("Layer_0/Attention", "frames")


def test_other_inputs_are_where_they_are_other() -> None:
    before, rest = layers(100, 100, 100), layers(100, 100, 100)
    moved = {"Layer_1/Attention": (1, 140)}
    del rest["Layer_1/Attention"]
    after = located({MATMUL: rest, OTHER: moved})
    found = {part.cause: ChangeLocations(located({MATMUL: before}), after).of(part) for part in waterfall_of(located({MATMUL: before}), after).parts}  # fmt: skip
    assert found["changed-shapes"].location == "Layer_1/Attention"


def test_at_least_half_of_the_time_has_to_be_attributed() -> None:
    before, after = layers(100, 100), layers(100, 150)
    with_more = [located({MATMUL: mine | {None: (1, time)}}) for mine, time in ((before, 200), (after, 251))]
    assert first(*with_more) == NOWHERE
    with_less = [located({MATMUL: mine | {None: (1, 100)}}) for mine in (before, after)]
    assert first(*with_less).location == "Layer_1/Attention"


def test_names_of_frames_are_not_held_against_those_of_scopes() -> None:
    before = located({MATMUL: layers(100, 100)})
    after = located({MATMUL: {"model/layers.0/attn": (1, 100), "model/layers.1/attn": (1, 150)}})
    assert first(before, after) == NOWHERE


def test_without_locations_on_a_side_nothing_is_told() -> None:
    before, after = located({MATMUL: layers(100, 100)}), located({MATMUL: layers(100, 150)})
    assert first(replace(before, locations=None), after) == NOWHERE


_calls = st.dictionaries(
    st.sampled_from([MATMUL, OTHER, ("Add", None, None, None)]),
    st.dictionaries(
        st.sampled_from([None, "Layer_0/a", "Layer_1/a", "Layer_1/b", "Net"]),
        st.tuples(st.integers(1, 4), st.integers(1, 1000)),
        min_size=1,
    ),
)


@given(_calls, _calls)
def test_parts_and_sums_are_the_same_with_and_without_locations(before: _Located, after: _Located) -> None:
    sides = located(before), located(after)
    waterfall = waterfall_of(*sides)
    assert waterfall == waterfall_of(*(replace(one, locations=None) for one in sides))
    locations = ChangeLocations(*sides)
    for part in waterfall.parts:
        found = locations.of(part)
        assert found.location is None or (found.layers_changed is None) == ("*" not in found.location)
        assert (found.told_by is None) == (found == NOWHERE)
        if found.layers_changed is not None:
            assert 1 < found.layers_changed <= (found.layers or 0)
