"""`regressions`: what the store says got slower, the gate, the exit codes."""

from __future__ import annotations

import json
import math
import re
import shutil
from dataclasses import fields
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from commandline import Cli
from hypothesis import given
from hypothesis import strategies as st
from stores import store_at_once, stored_rows

from aoe_reports.history.changes.gate import LABELS, parse_gate
from aoe_reports.history.series.series import SeriesLabels
from aoe_reports.simulation.nights import MODEL, NIGHTS
from aoe_reports.topics.records.options import RecordOptions

SLOWER_SINCE = "2026-02-07"
"""When the simulated operator gets slower; see `demo`."""


@pytest.fixture
def nights(simulated_nights: Path) -> Path:
    return simulated_nights


@pytest.fixture(scope="module")
def stores(simulated_nights: Path, simulated_store: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Stores of so many nights each."""
    folder = tmp_path_factory.mktemp("stores")
    for earlier, count in pairwise((0, 3, 30, 39)):
        if earlier:
            shutil.copytree(folder / f"{earlier}", folder / f"{count}")
        store_at_once(
            sorted(simulated_nights.iterdir())[earlier:count], folder / f"{count}", RecordOptions(workload=MODEL)
        )
    return {**{count: folder / f"{count}" for count in (3, 30, 39)}, NIGHTS: simulated_store}


def test_the_planted_operator_is_named_and_the_steps_change_is_divided_exactly(
    cli: Cli, stores: dict[int, Path]
) -> None:
    ended = cli("regressions", "--store", stores[45], "--format", "json")
    assert (ended.code, ended.json["reasons"]) == (1, ["regression"])
    rows = {row["workload"]: row for row in ended.json["rows"]}
    assert set(rows) == {f"{MODEL}/step", f"{MODEL}/op_type/Conv2D", f"{MODEL}/op/layer6/conv"}
    assert {(row["state"], row["since"]) for row in rows.values()} == {("confirmed", SLOWER_SINCE)}
    operator = rows[f"{MODEL}/op/layer6/conv"]
    assert operator["ci_low"] < 0.08 < operator["ci_high"]  # what was planted
    assert operator["smallest_detectable"] < operator["change"]
    told = rows[f"{MODEL}/step"]["attribution"]
    assert [one["op_name"] for one in told["operators"]] == ["layer6/conv"]
    parts = ("operators_us", "communication_not_overlapped_us", "free_us", "unattributed_us")
    assert round(sum(told[part] or 0 for part in parts), 3) == told["total_us"]
    assert ended.json["budget"]["eligible"] == ended.json["budget"]["series"] == 36


@pytest.mark.slow
def test_a_run_that_repeats_a_suspected_night_clears_the_suspicion_or_leaves_it(cli: Cli, tmp_path: Path) -> None:
    def stored(name: str, day: int, time_ms: float) -> None:
        one = {
            "schema_version": "0.1", "workload": "w", "engine": "e", "hardware": "h", "runtime_ms_mean": time_ms,
            "runtime_ms_std": None, "timestamp": f"2026-03-{day:02}T0{len(name)}:00:00Z",
        }  # fmt: skip
        path = tmp_path / f"{name}-{day}.jsonl"
        path.write_text(json.dumps(one) + "\n")
        assert cli("ingest", path, "--store", tmp_path / "s").code == 0

    def gate() -> int:
        return cli("regressions", "--store", tmp_path / "s", "--fail-on", "suspect").code

    for day in range(1, 25):
        stored("a", day, 10 + 0.01 * (day * 7 % 5))
    stored("a", 25, 10.5)
    assert gate() == 5
    stored("aa", 25, 10.49)
    assert gate() == 5, "it is as slow again"
    stored("aaa", 25, 10.02)
    assert gate() == 5, "two of three are slow"
    stored("aaaa", 25, 10.01)
    assert gate() == 0


def test_nothing_is_said_of_quiet_nights(cli: Cli, stores: dict[int, Path]) -> None:
    ended = cli("regressions", "--store", stores[30], "--format", "json")
    assert (ended.code, ended.json["rows"], ended.json["reasons"]) == (0, [], [])
    assert "No regression: no series changed." in cli("regressions", "--store", stores[30]).out
    every = cli("regressions", "--store", stores[30], "--all", "--format", "json").json["rows"]
    assert len(every) == 36
    assert all(row["smallest_detectable"] > 0 for row in every)


def test_the_first_slow_nights_are_suspect(cli: Cli, stores: dict[int, Path]) -> None:
    ended = cli("regressions", "--store", stores[39], "--format", "json")
    assert ended.code == 0
    assert {row["state"] for row in ended.json["rows"]} == {"suspect"}
    assert f"{MODEL}/op/layer6/conv" in {row["workload"] for row in ended.json["rows"]}
    ended = cli("regressions", "--store", stores[39], "--fail-on", "suspect", "--format", "json")
    assert (ended.code, ended.json["reasons"]) == (5, ["suspect"])


@pytest.mark.parametrize(
    ("gates", "code"),
    [
        (["scope=step"], 1),
        (["scope=step,effect>=3%"], 0),
        (["scope=op,effect>=3%"], 1),
        (["scope=step,effect>=3%", "op_type=Conv2D"], 1),
        (["op_name=layer6/conv,effect>=0.09"], 0),
        (["model!=simulated-convnet"], 0),
        (["effect>=1KiB"], 0),
        (["scope=step,effect>=3%,effect>=0.1%"], 0),
    ],
)
def test_a_gate_lets_through_what_it_does_not_name(
    cli: Cli, stores: dict[int, Path], gates: list[str], code: int
) -> None:
    asked = [part for gate in gates for part in ("--gate", gate)]
    assert cli("regressions", "--store", stores[45], *asked).code == code
    assert cli("regressions", "--store", stores[45], *asked, "--fail-on", "never").code == 0


def test_a_change_exactly_at_the_limit_of_a_gate_fails(cli: Cli, stores: dict[int, Path]) -> None:
    rows = cli("regressions", "--store", stores[45], "--format", "json").json["rows"]
    (effect,) = (row["change"] for row in rows if row["scope"] == "step")
    above = math.nextafter(effect, 1)
    for limit, code in ((effect, 1), (above, 0)):
        gate = f"scope=step,effect>={limit!r}"
        assert cli("regressions", "--store", stores[45], "--gate", gate).code == code


def test_the_numbers_of_an_attribution_are_those_of_the_stored_sums(
    cli: Cli, stores: dict[int, Path], tmp_path: Path
) -> None:
    """All steps of a side together, rounded once: not each step, each run or each night by itself."""
    rows = {row["scope"]: row for row in cli("regressions", "--store", stores[45], "--format", "json").json["rows"]}
    told = rows["step"]["attribution"]
    kept = [
        row
        for row in stored_rows(stores[45])
        if row["kind"] == "record" and row["night"] not in told["left_out_nights"]
    ]
    steps, calls = ([row for row in kept if row["series_id"] == rows[scope]["series_id"]] for scope in ("step", "op"))
    assert len(steps) > 40
    (operator,) = told["operators"]
    for side, is_ours in (("before", SLOWER_SINCE.__gt__), ("after", SLOWER_SINCE.__le__)):
        mine = [row for row in steps if is_ours(row["night"])]
        count = sum(row["count"] for row in mine)
        for name, some in ((told, mine), (operator, [row for row in calls if is_ours(row["night"])])):
            total_ns = sum(row["total_ns"] for row in some)
            assert total_ns % count  # else there is nothing to round
            assert whole_ns(name[f"{side}_us"]) == (2 * total_ns + count) // (2 * count)
    parts = ("operators_us", "communication_not_overlapped_us", "free_us", "unattributed_us")
    assert sum(whole_ns(told[part] or 0) for part in parts) == whole_ns(told["total_us"])
    assert sum(whole_ns(operator[part]) for part in ("calls_us", "count_us", "inputs_us")) == whole_ns(
        operator["difference_us"]
    )


def whole_ns(us: float) -> int:
    """Microseconds as they are written, in nanoseconds: there are no parts of them."""
    found = Fraction(str(us)) * 1000
    assert found.denominator == 1
    return found.numerator


@pytest.mark.slow
def test_too_few_nights_are_no_answer(cli: Cli, stores: dict[int, Path], tmp_path: Path) -> None:
    ended = cli("regressions", "--store", stores[3], "--format", "json")
    assert (ended.code, ended.json["rows"], ended.rules()) == (0, [], {"not-enough-data"})
    ended = cli("regressions", "--store", stores[3], "--strict-data", "--all", "--format", "json")
    assert (ended.code, ended.json["reasons"]) == (4, ["not-enough-data"])
    assert {row["reason"] for row in ended.json["rows"]} == {"too-few-nights"}
    assert cli("regressions", "--store", tmp_path / "none").code == 3


def test_the_order_of_ingesting_changes_no_byte(
    cli: Cli, nights: Path, stores: dict[int, Path], tmp_path: Path
) -> None:
    newest_first = sorted(nights.iterdir(), reverse=True)
    for start in range(0, NIGHTS, 9):
        cli("ingest", *newest_first[start : start + 9], "--store", tmp_path / "store", "--workload", MODEL)
    told = [cli("regressions", "--store", one, "--format", "csv").out for one in (stores[45], tmp_path / "store")]
    assert told[0] == told[1] != ""


@pytest.mark.parametrize("form", ["text", "csv", "markdown", "html"])
def test_every_form_names_the_operator(cli: Cli, stores: dict[int, Path], form: str) -> None:
    assert "layer6/conv" in cli("regressions", "--store", stores[45], "--format", form).out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scope", "'scope': expected FACT=VALUE"),
        ("colour=red", "'colour': expected effect, share, alarms, workload"),
        ("scope>=3", "only effect and share take >="),
        ("scope<=3", "only effect and share take >=, and only alarms <="),
        ("effect=3%", "effect=3%: expected effect>=3%"),
        ("effect<=3%", "effect<=3%: expected effect>=3%"),
        ("alarms<=2", "alarms<=2: expected alarms<=2/year"),
        ("alarms>=2/year", "alarms>=2/year: expected alarms<=2/year"),
        ("alarms<=2/month", "alarms<=2/month: expected alarms<=2/year"),
        ("alarms<=0/year", "alarms<=0/year: expected alarms<=2/year"),
        ("alarms<=nan/year", "alarms<=nan/year: expected alarms<=2/year"),
        ("effect>=nan", "effect>=nan: expected effect>=3%"),
        ("effect>=-1%", "effect>=-1%: expected effect>=3%"),
        ("effect>=3", "effect>=3: expected effect>=3%"),
        ("effect>=500MB", "effect>=500MB: expected effect>=3%, effect>=0.03 or, for memory, effect>=500MiB"),
        ("effect<=500MiB", "effect<=500MiB: expected effect>=3%"),
        ("share>=500MiB", "share>=500MiB: expected share>=3% or share>=0.03"),
        ("scope==step", "'scope==step': expected scope=VALUE"),
        ("scope=stpe", "'scope=stpe': expected one of step, model"),
        ("workload=", "'workload=': expected workload=VALUE"),
    ],
)
def test_what_is_no_gate_is_wrong_usage(cli: Cli, stores: dict[int, Path], text: str, message: str) -> None:
    ended = cli("regressions", "--store", stores[45], "--gate", text)
    assert ended.code == 2
    assert message in ended.err
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_gate(text)


def test_a_gate_with_a_budget_gives_it_to_the_series_that_it_names(cli: Cli, stores: dict[int, Path]) -> None:
    def effects(*gates: str) -> tuple[dict[str, float], list[dict[str, object]]]:
        asked = [part for gate in gates for part in ("--gate", gate)]
        told = cli("regressions", "--store", stores[30], "--all", "--format", "json", *asked).json
        return {row["workload"]: row["smallest_detectable"] for row in told["rows"]}, told["budget"]["gates"]

    usual, none = effects("scope=step")
    assert none == []
    loose, gates = effects("scope=step,effect>=3%,alarms<=0.05/year")
    assert gates == [
        {
            "gate": "scope=step,effect>=3%,alarms<=0.05/year",
            "false_alarms_per_year": 0.05,
            "series": 1,
            "eligible": 1,
        }
    ]
    strict, _ = effects("scope=step,alarms<=0.001/year")
    step = f"{MODEL}/step"
    assert usual[step] < loose[step] < strict[step]
    # the others share what the store allows without it
    assert all(loose[name] <= usual[name] * 1.001 for name in usual if name != step)
    both, _ = effects("scope=step,alarms<=0.001/year", "effect>=3%,alarms<=12/year")
    assert both[step] == pytest.approx(usual[step]), "of two budgets the larger share"


def test_the_budget_of_a_gate_decides_what_is_proved(cli: Cli, stores: dict[int, Path]) -> None:
    def states(gate: str) -> set[str]:
        rows = cli("regressions", "--store", stores[45], "--gate", gate, "--format", "json").json["rows"]
        return {row["workload"] for row in rows if row["state"] == "confirmed"}

    step = f"{MODEL}/step"
    assert step in states("scope=step,alarms<=12/year")
    assert states("scope=step,alarms<=0.00001/year") == states("scope=step,alarms<=12/year") - {step}


def test_a_report_names_the_budget_of_a_gate(cli: Cli, stores: dict[int, Path]) -> None:
    gate = "scope=step,alarms<=2/year"
    said = " ".join(cli("regressions", "--store", stores[30], "--gate", gate).out.split())
    assert f"Gate {gate}: 1 of these series have a budget of their own instead; together they may raise 2 false" in said


@pytest.mark.parametrize("alarms", ["0", "-1", "nan", "inf", "many"])
def test_what_is_no_budget_is_wrong_usage(cli: Cli, stores: dict[int, Path], alarms: str) -> None:
    assert cli("regressions", "--store", stores[3], "--max-false-alarms-per-year", alarms).code == 2


@given(
    st.sampled_from([label for label in LABELS if label != "scope"]),
    st.text("abc/_-. é", min_size=1).map(str.strip).filter(bool),
    st.integers(0, 999),
)
def test_a_gate_holds_for_what_it_says(label: str, value: str, permille: int) -> None:
    gate, change = parse_gate(f" {label} = {value} , effect >= {permille / 10}% "), permille / 1000 + 1e-9
    every = {each.name: "" for each in fields(SeriesLabels)}
    assert gate.holds(SeriesLabels(**{**every, label: value}), change, 1.0, None)
    assert not gate.holds(SeriesLabels(**{**every, label: value + "x"}), change, 1.0, None)
    assert not gate.holds(SeriesLabels(**{**every, label: value}), permille / 1000 - 0.0005, 1.0, None)


def test_the_whole_history_shows_every_change_and_fails_on_none(cli: Cli, stores: dict[int, Path]) -> None:
    ended = cli("regressions", "--store", stores[45], "--whole-history", "--format", "json")
    assert (ended.code, ended.json["reasons"], ended.json["budget"]["whole_history"]) == (0, [], True)
    rows = ended.json["rows"]
    assert {row["since"] for row in rows if row["workload"] == f"{MODEL}/op/layer6/conv"} == {SLOWER_SINCE}
    assert [row["scope"] for row in rows] == sorted((row["scope"] for row in rows), key=["step", "op_type", "op"].index)
    (step,) = [row for row in rows if row["scope"] == "step"]
    assert step["attribution"]["operators"][0]["op_name"] == "layer6/conv"
    text = cli("regressions", "--store", stores[45], "--whole-history").out
    assert "changes since the first night" in text
    assert "this review may show 12 false changes" in text


def test_a_suspicion_is_no_change_of_a_history(cli: Cli, stores: dict[int, Path]) -> None:
    ended = cli("regressions", "--store", stores[39], "--whole-history", "--format", "json")
    assert "suspect" not in {row["state"] for row in ended.json["rows"]}
