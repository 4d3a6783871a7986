"""Steps are apart from each other, and each contains its begin and not its end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.topics.memory.samples import StepSpan, StepTimes

SPANS = st.lists(st.builds(StepSpan, st.integers(0, 5), st.integers(0, 20), st.integers(0, 25)), max_size=6)


@given(SPANS)
def test_no_time_is_in_two_steps(spans: list[StepSpan]) -> None:
    times = StepTimes(span for span in spans if span.end_ns > span.start_ns)
    for one, following in zip(times.spans, times.spans[1:], strict=False):
        assert one.start_ns < one.end_ns <= following.start_ns
    for time in range(-1, 27):
        inside = [span.number for span in times.spans if span.start_ns <= time < span.end_ns]
        assert times.at(time) == (inside[0] if inside else None)


def test_steps_of_two_devices_are_one_each() -> None:
    spans = [
        StepSpan(number, number * 10 + device, number * 10 + 10 + device) for number in (1, 2) for device in (0, 1)
    ]
    assert StepTimes(spans).spans == [StepSpan(1, 10, 20), StepSpan(2, 20, 31)]


def test_steps_within_others_tell_nothing() -> None:
    assert StepTimes([StepSpan(1, 0, 100), StepSpan(2, 10, 20)]).spans == []
