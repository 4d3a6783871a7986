"""What a terminal gets of a table: as many columns as it has room for, and the names of the others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aoe_reports.model.findings import Finding
from aoe_reports.model.report import Grid, Report, Section
from aoe_reports.model.rows import Column
from aoe_reports.present import text
from aoe_reports.present.answers import grid_of
from aoe_reports.present.screen import BETWEEN, SHORT_TEXT, Measured, Screen, fit
from aoe_reports.present.values import width
from aoe_reports.topics.roofline.roofline import RoofedOperator
from aoe_reports.tuning.plan.plan import PlacedCandidate
from aoe_reports.tuning.verify.rows import Row

measured = st.builds(
    Measured,
    title=st.integers(1, 40),
    word=st.integers(1, 12),
    cells=st.integers(0, 64),
    may_narrow=st.booleans(),
    is_detail=st.booleans(),
    belongs_left=st.booleans(),
).map(lambda one: one._replace(word=min(one.word, one.title)))


def total(widths: Sequence[int]) -> int:
    shown = [one for one in widths if one]
    return sum(shown) + BETWEEN * (len(shown) - 1)


@given(st.lists(measured, min_size=1, max_size=12), st.integers(20, 200))
def test_a_table_is_as_wide_as_the_terminal_where_that_can_be(columns: list[Measured], room: int) -> None:
    assume(not any(left.belongs_left and right.belongs_left for left, right in pairwise(columns)))
    widths = fit(columns, room)
    natural = fit(columns, None)
    assert natural == [max(one.title, one.cells) for one in columns]
    if total(natural) <= room:
        assert widths == natural
        return
    # only the two columns that name a row may need more than there is
    assert total(widths) <= room or not any(widths[2:])
    pairs = list(zip(columns, widths, strict=True))
    left_out = [one for one, given_width in pairs if not given_width]
    for one, given_width in pairs:
        if given_width:
            least = min(one.cells, SHORT_TEXT) if one.may_narrow else one.cells
            assert given_width >= max(one.word, least)
    assert all(given_width for one, given_width in pairs[:2] if not one.is_detail)
    assert any(widths[:2])
    for (_, given_width), (right, width_on_the_right) in pairwise(pairs[2:]):
        assert bool(given_width) == bool(width_on_the_right) or not right.belongs_left
    if not any(one.belongs_left for one in columns):
        names = 2 if all(one.is_detail for one in columns[:2]) else 0  # one of which stays, whatever it is
        shown = [one for place, (one, given_width) in enumerate(pairs) if given_width and place >= names]
        assert all(one.is_detail for one in left_out) or not any(one.is_detail for one in shown), "details go first"


ROWS = [
    {
        "#": 1,
        "name": "aclnnAdd_AddAiCore_Add_first_of_its_kind",
        "total": 1234.5,
        "std": 1.25,
        "share": 0.5,
        "state": "fail",
    },
    {"#": 2, "name": "short", "total": 2.5, "std": 0.125, "share": 0.25, "state": "pass"},
]
TABLE = Grid(
    (
        Column("#", "#", "integer"),
        Column("name", "Operator", "text"),
        Column("total", "Total time", "number"),
        Column("std", "Std", "number", detail=True),
        Column("share", "Share of step", "percent"),
        Column("state", "State", "state"),
    ),
    ROWS,
)


WIDE = """\
#  Operator                                  Total time    Std  Share of step  State
-  ----------------------------------------  ----------  -----  -------------  -----
1  aclnnAdd_AddAiCore_Add_first_of_its_kind   1,234.500  1.250          50.0%  fail
2  short                                          2.500  0.125          25.0%  pass"""
MIDDLE = """\
                                                Share
                                  Total            of
#  Operator                        time    Std   step  State
-  -------------------------  ---------  -----  -----  -----
1  …re_Add_first_of_its_kind  1,234.500  1.250  50.0%  fail
2  short                          2.500  0.125  25.0%  pass"""
NARROW = """\
                                    Share
                             Total     of
#  Operator                   time   step  State
-  --------------------  ---------  -----  -----
1  …d_first_of_its_kind  1,234.500  50.0%  fail
2  short                     2.500  25.0%  pass
Left out to fit the terminal: Std. A file or a
pipe has all columns."""
NARROWEST = """\
#  Operator
-  ---------------------
1  …dd_first_of_its_kind
2  short
Left out to fit the
terminal: Total time,
Std, Share of step,
State. A file or a pipe
has all columns."""


@pytest.mark.parametrize(("columns", "shown"), [(None, WIDE), (84, WIDE), (60, MIDDLE), (48, NARROW), (24, NARROWEST)])
def test_titles_take_lines_then_names_get_shorter_then_details_go(columns: int | None, shown: str) -> None:
    lines = list(text.grid(TABLE, Screen(columns=columns)))
    assert lines == shown.splitlines()
    assert columns is None or max(map(width, lines)) <= columns


def test_sentences_and_titles_are_broken_at_words_and_listed_lines_are_not() -> None:
    command = "aoe-reports hotspots a/very/long/path --by shape"
    section = Section("A title of many words", ["A sentence that goes on and on."], lines=[command])
    report = Report("Title", "A headline in some words.", [section], verdict="The last line of it all.")
    shown = text.render(report, Screen(columns=16))
    assert shown == (
        "A headline in\nsome words.\n\nTitle\n\n"
        "A title of many\nwords\n---------------\nA sentence that\ngoes on and on.\n"
        f"{command}\n\nThe last line of\nit all.\n"
    )
    assert text.render(report).splitlines()[0] == "A headline in some words."


def test_marks_that_combine_take_no_column_and_are_not_torn_off() -> None:
    name = "e\u0301" * 90
    assert width(name) == 90
    grid = Grid(
        (Column("name", "Name"), Column("n", "Number", "integer")), [{"name": name, "n": 1}, {"name": "b", "n": 2}]
    )
    *_, first, second = text.grid(grid)
    assert first == "…" + "e\u0301" * 63 + "       1"
    assert second == f"b{' ' * 63}       2"


def test_a_longer_sentence_loses_no_word_on_a_terminal() -> None:
    words = [f"word{number}" for number in range(2000)]
    shown = text.render(Report("T", "", [Section("", [" ".join(words)])]), Screen(columns=80))
    assert shown.split()[1:] == words


def test_states_and_what_matters_first_have_colours() -> None:
    shown = text.render(Report("Title", "Headline.", [Section("Part", grid=TABLE)]), Screen(colour=True))
    assert shown.startswith("\x1b[1mHeadline.\x1b[0m\n\nTitle\n\n\x1b[1mPart\x1b[0m\n----\n")
    assert "\x1b[31mfail \x1b[0m" in shown
    assert "\x1b[32mpass \x1b[0m" in shown
    plain = text.render(Report("Title", "Headline.", [Section("Part", grid=TABLE)]))
    for code in ("\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[0m"):
        shown = shown.replace(code, "")
    assert [line.rstrip() for line in shown.splitlines()] == plain.splitlines()


@pytest.mark.parametrize(("severity", "code"), [("error", "31"), ("warning", "33")])
def test_the_severity_of_a_finding_has_a_colour(severity: str, code: str) -> None:
    finding = Finding(severity, "rule", "a: error: b", "what it says\x1b[31m")  # type: ignore[arg-type]
    shown = text.finding_line(finding, "en", Screen(colour=True))
    assert shown.count("\x1b") == 2
    assert f"\x1b[{code}m: {severity}: \x1b[0m" in shown
    assert text.finding_line(finding) == f"a: error: b: {severity}: what it says\\x1b[31m [rule]"


def test_a_remark_has_no_colour() -> None:
    remark = Finding("info", "rule", "a", "what it says")
    assert text.finding_line(remark, "en", Screen(colour=True)) == "a: info: what it says [rule]"


def test_what_is_left_out_is_said_in_the_language_of_the_report() -> None:
    report = Report("Title", "", [Section("", grid=TABLE)], language="zh")
    assert "Std" in text.render(report, Screen(columns=48)).splitlines()[-2]
    assert "Left out" not in text.render(report, Screen(columns=48))


@pytest.mark.parametrize(
    ("title", "value", "shown"),
    [
        ("Change (after/before - 1)", -0.5, ["Change", "(after/", "before -", "1)"]),
        ("变化（之后/之前 - 1）", -0.5, ["变化（之", "后/之前", "- 1）"]),
    ],
)
def test_a_title_breaks_behind_a_stroke_and_between_chinese_characters(
    title: str, value: float, shown: list[str]
) -> None:
    columns = (Column("a", "A"), Column("b", "B"), Column("change", title, "gain"))
    lines = list(text.grid(Grid(columns, [{"a": "x", "b": "y", "change": value}]), Screen(columns=14)))
    assert [line.strip(" AB") for line in lines[: len(shown)]] == shown


def test_of_a_verdict_a_terminal_keeps_what_was_measured() -> None:
    row = Row(
        scope="operator", op_type="Conv2D", op_name="conv", verdict="partly", claimed_before_us=9.0, claimed_after_us=8.0,
        measured_before_us=9.0, measured_after_us=8.5, claimed_change=-0.11, change=-0.05, ci_low=-0.06, ci_high=-0.04,
    )  # fmt: skip
    titles = [one.title for one in grid_of(Row, [row]).columns]
    said = "\n".join(text.grid(grid_of(Row, [row]), Screen(columns=80)))
    assert "Claimed after" in titles
    assert "-5.00%" in said
    assert "-6.00%" in said


def test_both_ends_of_an_interval_are_shown_or_neither_and_names_get_shorter_before_they_go() -> None:
    names = {"op_type": "BatchNormTrainingUpdateV3", "op_name": "block/layer/batch_normalisation"}
    row = Row(
        scope="operator",
        **names,
        verdict="not-reproduced",
        claimed_change=-0.166,
        change=-0.02,
        ci_low=-0.11,
        ci_high=0.07,
    )
    for columns in range(40, 120):
        said = "\n".join(text.grid(grid_of(Row, [row]), Screen(columns=columns)))
        assert ("-11.00%" in said) == ("+7.00%" in said)
        assert columns < 80 or ("+7.00%" in said and "not-reproduced" in said and "-16.60%" in said)


def test_a_rule_is_whole_as_it_is_typed_again() -> None:
    columns = (Column("rule", "Rule"), Column("seen", "Found", "sentence"))
    row = {"rule": "preflight-device-memory", "seen": "a sentence that takes its room"}
    assert "preflight-device-memory" in "\n".join(text.grid(Grid(columns, [row]), Screen(columns=40)))


def test_what_decides_of_a_candidate_and_of_a_roof_is_shown_in_eighty_columns() -> None:
    candidate = PlacedCandidate(
        position=1, kind="operator", op_name="block/layer8/convolution", op_type="Conv2D", input_shapes="32,256,14,14;256,3,3,3",
        count=5, total_us=2220.0, share=0.132, bound_by="unknown", bound_saving_us=444.0, expected_saving_us=109.4, cost_s=26.0,
    )  # fmt: skip
    said = "\n".join(text.grid(grid_of(PlacedCandidate, [candidate]), Screen(columns=80)))
    assert "109.4" in said
    assert "26.0" in said
    operator = RoofedOperator(
        position=1, run="r", rank_id=0, device_id=0, op_type="FlashAttentionScore", task_type="MIX_AIC", input_shapes="1,4096,32,128",
        output_shapes=None, precision="FLOAT16", count=10, total_ns=10**6, share=0.4, known_ns=10**6, flops=1, bytes_=1, intensity=3.0,
        tflops=142.375, gb_per_s=80.0, compute_share=0.455, memory_share=0.021, roof_share=0.455, bound_by="compute", note=None,
        cube_by_counters=None, mac_ratio=None, vec_ratio=None, mte2_ratio=None, gb_per_s_by_counters=None,
    )  # fmt: skip
    said = "\n".join(text.grid(grid_of(RoofedOperator, [operator], {"run"}), Screen(columns=80)))
    assert all(word in said for word in ("45.5%", "2.1%", "compute"))
