"""What plots of answers show, held against the rows that they are of: bars, lines, cells and words, not pixels."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from commandline import ROOT
from matplotlib.axes import Axes
from matplotlib.dates import num2date

from aoe_reports import Plot, communication, compare, hotspots, inspect, plot, read_series, roofline, steps, stragglers
from aoe_reports.engine.question import Answer
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.series import NightChange, SeriesNight
from aoe_reports.model.pictures.roofline import RooflinePicture, RooflinePoint, RooflineRoof
from aoe_reports.model.pictures.waterfall import WaterfallBar, WaterfallPicture
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import say
from aoe_reports.model.topics.breakdown import Parts
from aoe_reports.model.topics.steps import Step
from aoe_reports.model.topics.stragglers import ComparedRank
from aoe_reports.topics.device_time.hotspots import Hotspot

VALID = ROOT / "fixtures" / "msprof" / "valid"
TWO_RANKS = VALID / "torch_npu_two_ranks"


def made(command: str, *tables: Rows[Any], **more: Any) -> Answer:
    values = {"title": command.capitalize(), "inputs": ("r",), "findings": ()} | more
    return Answer(**values, command=command, tables=tables)


def row_of(kind: type[Any], **values: Any) -> Any:
    return kind(**dict.fromkeys(kind.__annotations__) | values)


def bars(axes: Axes) -> list[tuple[float, float]]:
    """Where each bar begins, and how long it is."""
    return [(one.get_x(), one.get_width()) for one in axes.patches]


def names(axes: Axes) -> list[str]:
    return [one.get_text() for one in axes.get_yticklabels()]


def title(figure: Plot) -> str:
    return figure.get_suptitle()


def test_hotspots_are_a_pareto_chart_of_the_rank_that_computes_longest() -> None:
    answer = hotspots(TWO_RANKS)
    rows = [row for row in answer.rows if row.rank_id == 1]
    assert sum(row.total_ns for row in rows) > sum(row.total_ns for row in answer.rows if row.rank_id == 0)
    figure = plot(answer, top=4)
    axes, beside = figure.axes
    assert bars(axes) == [(0.0, pytest.approx(row.total_ns / 1e3)) for row in rows[:4]]
    assert names(axes) == [row.op_type for row in rows[:4]]
    assert axes.get_xlabel() == "Total (us)"
    assert beside.lines[0].get_xdata() == pytest.approx([100 * row.cumulative_share for row in rows[:4]])
    assert beside.get_xlabel() == "Cumulative (%)"
    assert re.fullmatch(r"Hotspots\nrun .* · rank 1 · the longest 4 of 6", title(figure))
    assert axes.yaxis_inverted()
    assert figure.alt.startswith(f"Hotspots · run {TWO_RANKS} · rank 1 · the longest 4 of 6; Conv2D 832 us")


def test_a_name_with_a_dollar_or_a_control_character_is_no_markup() -> None:
    rows = [
        row_of(Hotspot, position=1, run="r", op_type=name, count=1, total_ns=5, mean_ns=5.0, cumulative_share=1.0)
        for name in ("$x^2$", "a\x1bb")
    ]
    figure = plot(made("hotspots", Rows(type=Hotspot, rows=rows)))
    assert names(figure.axes[0]) == ["$x^2$", "a\\x1bb"]
    assert not any(label.get_parse_math() for label in figure.axes[0].get_yticklabels())
    assert "a\\x1bb" in figure.alt


def activity(step: int | None, rank: int = 0, **times: int | None) -> Parts:
    values: dict[str, Any] = {
        "run": "/n/a", "rank_id": rank, "device_id": rank, "step": step, "start_ns": 0, "end_ns": 10_000_000, "intervals": 3,
        "computing_ns": 4_000_000, "communication_ns": 5_000_000, "overlapped_ns": 1_000_000,
        "communication_not_overlapped_ns": 4_000_000, "free_ns": 2_000_000, "tasks": 3,
    }  # fmt: skip
    return Parts(**values | times)


def test_the_parts_of_a_step_add_up_to_it() -> None:
    unknown = activity(
        None, 1, communication_ns=None, overlapped_ns=None, communication_not_overlapped_ns=None, free_ns=None
    )
    figure = plot(made("breakdown", Rows(type=Parts, rows=[activity(None), activity(7), unknown])))
    (axes,) = figure.axes
    assert names(axes) == ["rank 0 · device 0 · step 7", "rank 1 · device 1"]
    assert bars(axes) == [
        (0, 3), (0, 4),
        (3, 1), (4, 0),
        (4, 4), (4, 0),
        (8, 2), (4, 0),
        (10, 0), (4, 6),
    ]  # fmt: skip
    assert axes.get_xlabel() == "End to end (ms)"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "Computing alone", "Computing and communication", "Communication not overlapped", "Free",
        "Not computing (communication is not recorded)",
    ]  # fmt: skip
    assert "step 7: Computing alone 30.0%, Computing and communication 10.0%" in figure.alt


def test_several_runs_are_told_apart_by_what_differs_in_their_paths() -> None:
    rows = [activity(1, run="/data/nights/a/p"), activity(1, run="/data/nights/b/p")]
    figure = plot(made("breakdown", Rows(type=Parts, rows=rows)))
    assert names(figure.axes[0]) == [f"{one}/p · rank 0 · device 0 · step 1" for one in "ab"]


def test_of_many_steps_the_longest_are_drawn() -> None:
    rows = [activity(step, end_ns=step * 1_000_000, free_ns=step * 1_000_000) for step in (3, 9, 5, 7)]
    figure = plot(made("breakdown", Rows(type=Parts, rows=rows)), top=2)
    assert names(figure.axes[0]) == ["rank 0 · device 0 · step 9", "rank 0 · device 0 · step 7"]
    assert "the longest 2 of 4" in title(figure)


def test_steps_of_the_run_that_takes_longest_are_drawn() -> None:
    short = [row_of(Step, run="short", step=number, duration_ns=1_000) for number in range(5)]
    long = [row_of(Step, run="long", step=number, duration_ns=9_000) for number in range(2)]
    assert title(plot(made("steps", Rows(type=Step, rows=[*short, *long])))).endswith("run long")


def test_steps_are_lines_of_devices() -> None:
    answer = steps([TWO_RANKS])
    figure = plot(answer)
    lines = {str(line.get_label()): line for line in figure.axes[0].lines}
    assert sorted(lines) == ["rank 0", "rank 1"]
    for rank in (0, 1):
        mine = [row for row in answer.rows if row.rank_id == rank]
        assert lines[f"rank {rank}"].get_ydata() == pytest.approx([row.duration_ns / 1e6 for row in mine])
        assert [*lines[f"rank {rank}"].get_xdata()] == [row.step for row in mine]
    assert figure.axes[0].get_ylabel() == "Duration (ms)"


def test_a_comparison_shows_what_takes_longer_to_the_right() -> None:
    answer = compare([VALID / "exports_of_2022", VALID / "ten_iterations"], force=True)
    figure = plot(answer)
    axes = figure.axes[0]
    assert [width for _, width in bars(axes)] == pytest.approx([row.difference_ns / 1e3 for row in answer.rows])
    colours = [mpl.colors.to_hex(one.get_facecolor()).upper() for one in axes.patches]
    assert colours == ["#D55E00" if row.difference_ns > 0 else "#0072B2" for row in answer.rows]
    assert axes.get_xlabel() == "Difference (us)"


def test_a_waterfall_goes_from_the_step_before_to_that_after() -> None:
    picture = WaterfallPicture(
        say("A step"),
        (
            WaterfallBar("before", 0, 10_000_000, "whole"),
            WaterfallBar("MatMul", 10_000_000, 12_000_000, "longer"),
            WaterfallBar("Cast", 12_000_000, 11_000_000, "shorter"),
            WaterfallBar("after", 0, 11_000_000, "whole"),
        ),
    )
    figure = plot(made("explain", Rows(type=Parts, rows=[activity(1)]), pictures=[picture]))
    axes = figure.axes[0]
    begin = 10 - 0.08 * 2
    assert axes.get_xlim()[0] == pytest.approx(begin)
    assert bars(axes) == [
        (pytest.approx(begin), pytest.approx(10 - begin)), (10, 2), (11, 1), (pytest.approx(begin), pytest.approx(11 - begin))
    ]  # fmt: skip
    assert [text.get_text() for text in axes.texts] == ["10.00 ms", "+2.00 ms", "-1.00 ms", "11.00 ms"]
    assert names(axes) == ["before", "MatMul", "Cast", "after"]
    assert axes.get_xlabel() == "Time of a step (ms; bars begin at 9.840 ms)"
    assert figure.alt == "A step; before: 10.00 ms; MatMul: +2.00 ms; Cast: -1.00 ms; after: 11.00 ms"


def test_a_roofline_has_each_operator_and_each_roof() -> None:
    answer = roofline([TWO_RANKS], chip="Ascend910B3")
    (picture,) = answer.pictures
    assert isinstance(picture, RooflinePicture)
    figure = plot(answer)
    axes = figure.axes[0]
    drawn = sorted(tuple(map(float, place)) for points in axes.collections for place in points.get_offsets())
    assert drawn == sorted((one.intensity, one.flops_per_s) for one in picture.points)
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    levels = [float(line.get_ydata()[-1]) for line in axes.lines]
    assert set(levels) == {roof.flops_per_s for roof in picture.roofs}


def test_the_slope_of_a_roofline_ends_at_its_highest_roof() -> None:
    picture = RooflinePicture(
        say("Roofline"),
        (RooflineRoof("cube FP16", 4e12), RooflineRoof("cube FP32", 1e12)),
        1e12,
        (RooflinePoint("MatMul", 2.0, 1e12, 0.5, "memory"), RooflinePoint("Add", 0.5, 1e11, 0.1, "small")),
    )
    figure = plot(made("roofline", Rows(type=Parts, rows=[activity(1)]), pictures=[picture]))
    *_, slope = figure.axes[0].lines
    assert [*slope.get_xdata()] == [0.25, 4.0]
    assert [*slope.get_ydata()] == [0.25e12, 4e12]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["bound by memory", "too short (launch)"]
    assert [text.get_text() for text in figure.axes[0].texts] == [
        "cube FP16 4 TFLOP/s",
        "cube FP32 1 TFLOP/s",
        "1 TB/s",
    ]


def test_links_are_a_map_from_rank_to_rank() -> None:
    answer = communication([VALID / "communication_of_four_ranks"])
    figure = plot(answer)
    axes, beside = figure.axes
    cells = axes.images[0].get_array()
    links = [row for row in answer.table("links") if row.transport in title(figure)]
    assert links
    assert int(np.isfinite(cells).sum()) == len(links)
    for row in links:
        assert cells[row.source_rank, row.destination_rank] == row.bandwidth_gb_per_s
    crosses = {(int(y), int(x)) for x, y in axes.collections[0].get_offsets()}
    assert crosses == {(row.source_rank, row.destination_rank) for row in links if row.slow}
    assert (axes.get_xlabel(), axes.get_ylabel(), beside.get_ylabel()) == ("To", "From", "GB/s")


def straggler(rank: int, slower: float | None, host: str | None = None) -> ComparedRank:
    median, took = (None, 1) if slower is None else (100, round(100 * (1 + slower)))
    return row_of(
        ComparedRank, position=1, run="r", rank_id=rank, host=host, role=0, peers=3, computing_ns=took, median_ns=median
    )


@pytest.mark.parametrize(("hosts", "lines"), [((None, None), ["0…2"]), (("a", "b"), ["a", "b"])])
def test_ranks_are_a_map_of_hosts(hosts: tuple[str | None, str | None], lines: list[str]) -> None:
    first, second = hosts
    rows = [straggler(2, 0.25, second), straggler(0, -0.05, first), straggler(1, None, first)]
    figure = plot(made("stragglers", Rows(type=ComparedRank, rows=rows)))
    axes = figure.axes[0]
    cells = np.ma.filled(axes.images[0].get_array(), np.nan).ravel()
    assert cells[np.isfinite(cells)].tolist() == [-5.0, 25.0]
    assert names(axes) == lines
    assert [text.get_text() for text in axes.texts] == ["0", "1", "2"]
    assert axes.images[0].get_clim() == (-25.0, 25.0)
    assert figure.alt == "Stragglers · run r; rank 2 +25%; rank 0 -5.0%"


def test_ranks_without_peers_are_no_map() -> None:
    with pytest.raises(UsageError, match="no rank has peers"):
        plot(stragglers([VALID / "exports_of_2022"]))


def night(name: str, value: float, series: str = "s") -> SeriesNight:
    return row_of(
        SeriesNight,
        series_id=series,
        workload="net/step",
        scope="step",
        unit="ms",
        hardware="npu",
        night=name,
        value=value,
    )


def change(since: str, until: str, before: float, after: float, state: str = "confirmed") -> NightChange:
    return NightChange(
        series_id="s", state=state, since=since, until=until, since_run="r", before=before, after=after,
        change=after / before - 1, ci_low=0.05, ci_high=0.15,
    )  # fmt: skip


def test_a_series_has_its_nights_its_levels_and_its_changes() -> None:
    nights = [
        night("2026-01-01", 10.0),
        night("2026-01-02", 10.2),
        night("2026-01-20", 11.0),
        night("2026-01-21", 11.1),
    ]
    other = [night(f"2026-01-0{day}", 1.0, "t") for day in range(1, 9)]
    answer = made(
        "series",
        Rows(type=SeriesNight, rows=[*other, *nights]),
        Rows(type=NightChange, rows=[change("2026-01-20", "2026-01-21", 10.0, 11.0)], key="changes"),
    )
    figure = plot(answer)
    axes = figure.axes[0]
    values, mark, before, after = axes.lines
    assert [value for value in values.get_ydata() if np.isfinite(value)] == [10.0, 10.2, 11.0, 11.1]
    assert [place for place, value in enumerate(values.get_ydata()) if np.isnan(value)] == [2]  # a gap of 18 days
    assert [f"{num2date(line.get_xdata()[0]):%m-%d %H}" for line in (mark, after)] == ["01-19 12", "01-19 12"]
    assert ([*before.get_ydata()], [*after.get_ydata()]) == ([10.0, 10.0], [11.0, 11.0])
    band = axes.collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (10.5, 11.5)
    assert axes.get_ylabel() == "ms"
    assert figure.alt == "net/step · confirmed since 2026-01-20: 10 → 11 ms (+10%, 95% interval +5.0% to +15%)"


def test_of_series_without_a_change_that_with_the_longest_times_is_drawn() -> None:
    rows = [*(night(f"2026-01-0{day}", 1.0, "t") for day in range(1, 9)), night("2026-01-01", 10.0)]
    changes = Rows(type=NightChange, rows=[], key="changes")
    figure = plot(made("series", Rows(type=SeriesNight, rows=rows), changes))
    assert [*figure.axes[0].lines[0].get_ydata()] == [10.0]


def test_a_drift_is_a_slope_and_a_suspicion_is_dotted() -> None:
    nights = [night(f"2026-01-0{day}", 10.0 + day) for day in range(1, 9)]
    changes = [
        change("2026-01-02", "2026-01-07", 11.0, 17.0, "drift"),
        change("2026-01-08", "2026-01-08", 17.0, 18.0, "suspect"),
    ]
    figure = plot(
        made("series", Rows(type=SeriesNight, rows=nights), Rows(type=NightChange, rows=changes, key="changes"))
    )
    _, drift, suspicion, _, slope, _ = figure.axes[0].lines
    assert [*slope.get_ydata()] == [11.0, 17.0]
    assert (drift.get_linestyle(), suspicion.get_linestyle()) == ("--", ":")


def test_the_store_gives_its_series_and_their_changes(simulated_store: Path) -> None:
    answer = read_series(str(simulated_store), scope="step")
    assert {row.scope for row in answer.rows} == {"step"}
    assert [row.night for row in answer.rows] == sorted({row.night for row in answer.rows})
    assert answer.to_polars("changes").columns[:4] == ["series_id", "state", "since", "until"]
    assert title(plot(answer)).startswith("simulated-convnet/step")
    assert read_series(str(simulated_store), workload="nobody's").rows == []


def test_what_has_no_plot_says_so_and_what_has_no_rows_says_why() -> None:
    with pytest.raises(UsageError, match=r"inspect has no plot; hotspots, breakdown, .* have one"):
        plot(inspect([TWO_RANKS]))
    error = Finding("error", "unreadable", "/data", "it is gone")
    with pytest.raises(UsageError, match=r"hotspots has no rows to plot; /data: error: it is gone \[unreadable\]"):
        plot(made("hotspots", Rows(type=Hotspot, rows=[]), findings=[error]))


def test_notebooks_show_the_picture_with_its_words() -> None:
    figure = plot(hotspots([TWO_RANKS]))
    figure.alt = 'a "b" <c>'
    html = figure._repr_html_()
    found = re.fullmatch(r'<img src="data:image/png;base64,([^"]+)" alt="(.*)" style="max-width: 100%">', html)
    assert found is not None
    assert base64.b64decode(found[1]).startswith(b"\x89PNG")
    assert found[2] == "a &quot;b&quot; &lt;c&gt;"


def test_plots_are_in_the_style_that_is_set_and_leave_it_alone() -> None:
    with mpl.rc_context({"axes.facecolor": "#123456"}):
        before = dict(mpl.rcParams)
        figure = plot(hotspots([TWO_RANKS]))
        assert mpl.colors.to_hex(figure.axes[0].get_facecolor()) == "#123456"
        assert dict(mpl.rcParams) == before


def test_pyplot_is_left_alone() -> None:
    code = (
        "import sys; from aoe_reports import hotspots, plot\n"
        f"plot(hotspots({str(TWO_RANKS)!r}))._repr_png_()\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"
