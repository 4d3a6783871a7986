"""A marimo app: choose a series of a store, see its nights and changes, and what the two nights around a change differ in."""

import marimo

app = marimo.App(width="medium")


@app.cell
def _():
    import os
    from pathlib import Path

    import marimo as mo
    import polars as pl

    from aoe_reports import breakdown, compare, hotspots, plot, read_series

    demo = Path(os.environ.get("DEMO", "aoe-reports-demo"))  # what `aoe-reports demo -o aoe-reports-demo` makes
    timeline = os.environ.get(
        "TIMELINE", demo / "nights" / "2026-02-07"
    )  # a capture with a timeline: simulated nights have none
    return breakdown, compare, demo, hotspots, mo, pl, plot, read_series, timeline


@app.cell
def _(demo, mo, read_series):
    stored = read_series(str(demo / "history"))
    names = {row.workload: row.series_id for row in stored.rows}
    changed = {row.series_id for row in stored.table("changes")}
    first = next((name for name, series in names.items() if series in changed), next(iter(names)))
    chosen = mo.ui.dropdown(options=sorted(names), value=first, label="Series")
    chosen
    return chosen, names, stored


@app.cell
def _(chosen, mo, names, pl, plot, read_series, demo, stored):
    series = names[chosen.value]
    changes = stored.to_polars("changes").filter(pl.col("series_id") == series)
    picture = plot(read_series(str(demo / "history"), workload=chosen.value))
    mo.vstack([picture, changes])
    return changes, picture


@app.cell
def _(changes, compare, demo, mo, plot, stored):
    mo.stop(changes.is_empty(), mo.md("Nothing changed."))
    nights = sorted({row.night for row in stored.rows})
    since = changes["since"][0]
    sides = [demo / "nights" / night for night in (nights[nights.index(since) - 1], since)]
    compared = compare(sides)
    mo.vstack([mo.md(f"## What differs on {since}"), plot(compared), compared])
    return compared, since


@app.cell
def _(demo, hotspots, mo, plot, since):
    ranked = hotspots(demo / "nights" / since)
    mo.vstack([mo.md(f"## Where device time went on {since}"), plot(ranked)])
    return (ranked,)


@app.cell
def _(breakdown, mo, plot, timeline):
    parts = breakdown(timeline)
    mo.vstack([mo.md("## What the device did"), plot(parts) if parts.rows else parts])
    return (parts,)


if __name__ == "__main__":
    app.run()
