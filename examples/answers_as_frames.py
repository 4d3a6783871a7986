"""Answers as frames and pictures: which operators grew between two captures, in polars, and a chart of them as a file."""

from pathlib import Path

import polars as pl

from aoe_reports import Answer, Plot, compare, hotspots, plot

FOLDER = Path(__file__).parents[1] / "fixtures" / "msprof" / "valid"


def longest(answer: Answer) -> pl.DataFrame:
    """The time of each operator type, all ranks together."""
    return answer.to_polars().group_by("op_type").agg(pl.col("total_ns").sum()).sort("total_ns", descending=True)


def picture(answer: Answer, to: Path) -> Path:
    """A chart as a file."""
    figure: Plot = plot(answer, top=10)
    figure.savefig(to)
    return to


ranked = hotspots(FOLDER / "torch_npu_two_ranks", by="op_type", top=10)
print(ranked)
print(longest(ranked))
print(picture(ranked, Path("hotspots.png")))

compared = compare([FOLDER / "exports_of_2022", FOLDER / "ten_iterations"], force=True)
grown = compared.to_polars().filter(pl.col("difference_ns") > 0).select("op_type", "difference_ns", "ratio")
print(grown)
