"""Writes the dashboards beside this file with Grafana's own typed builders: `python integrations/grafana/make_dashboards.py`.

It needs the dependency group `integrations`; whoever uses the dashboards needs the JSON files alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from grafana_foundation_sdk.builders import dashboard, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

HERE = Path(__file__).parent
PROMETHEUS = models.DataSourceRef(type_val="prometheus", uid="${datasource}")
INFINITY_TYPE = "yesoreyeram-infinity-datasource"
INFINITY = models.DataSourceRef(type_val=INFINITY_TYPE, uid="${datasource}")
ALL = models.VariableOption(selected=True, text="All", value="$__all")
SERIES = '{workload=~"$workload",device_id=~"$device"}'
ROWS = "rows[workload in [${workload:doublequote}] and $string(device_id) in [${device:doublequote}]]"
"""JSONata; rows of no device have the device `null`."""
RANK, DEVICE = (
    f'($string({key}) = "null" ? "" : " {word} " & $string({key}))'
    for key, word in (("rank_id", "rank"), ("device_id", "device"))
)
CURVES = f'{ROWS}.{{"night": night, "step": runtime_ms_mean, "series": workload & " " & hardware & {RANK} & {DEVICE}}}'


class InfinityQuery(Dataquery):
    """A query of the Infinity plugin, of which the SDK has no types: a list of JSON at a URL, parsed by the backend."""

    def __init__(self, url: str, root: str, columns: dict[str, tuple[str, str]]) -> None:
        self.url, self.root, self.columns = url, root, columns

    def build(self) -> InfinityQuery:
        """As a builder of the SDK."""
        return self

    def to_json(self) -> dict[str, Any]:
        """Its fields as the plugin names them."""
        columns = [{"selector": key, "text": text, "type": kind} for key, (text, kind) in self.columns.items()]
        return {
            "refId": "A",
            "datasource": INFINITY,
            "type": "json",
            "source": "url",
            "parser": "backend",
            "format": "table",
            "url": self.url,
            "url_options": {"method": "GET"},
            "root_selector": self.root,
            "columns": columns,
        }


def _thresholds() -> dashboard.ThresholdsConfig:
    """Green at 0, red above."""
    steps = [models.Threshold(value=None, color="green"), models.Threshold(value=1, color="red")]
    return dashboard.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(steps)


DAY = "time:YYYY-MM-DD"
"""The unit of a time of which the night counts."""
NARROW = {
    "State": 110, "Since": 110, "Before": 100, "After": 100, "Unit": 60, "Change": 90, "Device": 80, "Rank": 70, "Fails": 100, "Open": 80,
    "Time of a run": 110, "Time of a run (ms)": 150, "kind": 90, "state": 90, "scope": 80, "device_id": 90, "rank_id": 80, "op_type": 100, "hardware": 130,
}  # fmt: skip
"""The widths of columns whose content is short, so that names have the rest."""


def _column(panel: table.Panel, name: str, unit: str | None = None) -> table.Panel:
    """With the unit and the width of one column."""
    told = [("unit", unit)] if unit else []
    told += [("custom.width", NARROW[name])] if name in NARROW else []
    return panel.override_by_name(name, [models.DynamicConfigValue(id_val=key, value=value) for key, value in told])


def _transformed(panel: Any, name: str, options: dict[str, Any]) -> Any:
    return panel.with_transformation(models.DataTransformerConfig(id_val=name, options=options))


def _number(title: str, expr: str, about: str, *, alarm: bool = False) -> stat.Panel:
    panel = stat.Panel().title(title).description(about).datasource(PROMETHEUS).height(4).span(4)
    panel = panel.with_target(prometheus.Dataquery().expr(expr).instant().ref_id("A"))
    return panel.thresholds(_thresholds()) if alarm else panel


def _curve(title: str, expr: str, legend: str, unit: str) -> timeseries.Panel:
    query = prometheus.Dataquery().expr(expr).range().legend_format(legend).ref_id("A")
    return timeseries.Panel().title(title).datasource(PROMETHEUS).unit(unit).height(8).span(12).with_target(query)


def _prometheus_table(title: str, exprs: dict[str, str], units: dict[str, str], hidden: list[str]) -> table.Panel:
    """A table of instant values, one query a column, joined by their labels: the name of a metric is one, unless something is made of it."""
    panel = table.Panel().title(title).datasource(PROMETHEUS).height(9).span(24)
    for ref, (name, expr) in zip("ABCDE", exprs.items(), strict=False):
        panel = panel.with_target(
            prometheus.Dataquery()
            .expr(f"max without (job, instance) ({expr})")
            .instant()
            .format(PromQueryFormat.TABLE)
            .ref_id(ref)
        )
        panel = _column(panel, name, units[name])
    for label in (name for name in NARROW if name.islower()):
        panel = _column(panel, label)
    names = {f"Value #{ref}": name for ref, name in zip("ABCDE", exprs, strict=False)}
    panel = _transformed(panel, "merge", {})
    gone = dict.fromkeys(["Time", *hidden], True)
    return _transformed(panel, "organize", {"excludeByName": gone, "renameByName": names, "indexByName": {}})


def over_prometheus() -> dashboard.Dashboard:
    """What `regressions --format openmetrics` prints, scraped by way of node_exporter."""
    board = _board("aoe-reports", "aoe-reports: regressions", "now-90d")
    board = board.with_variable(dashboard.DatasourceVariable("datasource").label("Prometheus").type("prometheus"))
    for name, label in (("workload", "workload"), ("device", "device_id")):
        query = dashboard.QueryVariable(name).datasource(PROMETHEUS).multi(True).include_all(True).all_value(".*")
        query = query.query(f"label_values(aoe_reports_series_smallest_detectable_ratio, {label})").current(ALL)
        board = board.with_variable(query.refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED))
    numbers = [
        ("Open incidents", "max(aoe_reports_open_incidents)", "Incidents that nobody accepted.", True),
        (
            "Failing series",
            "sum(max by (reason) (aoe_reports_failing_series))",
            "Series that make the exit code other than 0.",
            True,
        ),
        (
            "Suspected series",
            'max(aoe_reports_changed_series{state="suspect"})',
            "Run the night again to know.",
            False,
        ),
        ("Accepted series", "max(aoe_reports_acknowledged_series)", "Slower, and accepted or announced.", False),
        ("Judged series", "max(aoe_reports_eligible_series)", "Series with enough nights.", False),
        (
            "False alarms a year",
            "max(aoe_reports_false_alarms_per_year)",
            "Budget that all series share.",
            False,
        ),
    ]
    for title, expr, about, alarm in numbers:
        board = board.with_panel(_number(title, expr, about, alarm=alarm))
    incidents = {
        "Change": "aoe_reports_incident_change_ratio",
        "Time of a run": "aoe_reports_incident_impact_seconds",
        "Since": "aoe_reports_incident_since_timestamp_seconds * 1000",
    }
    units = {"Change": "percentunit", "Time of a run": "s", "Since": DAY}
    board = board.with_panel(_prometheus_table("Incidents", incidents, units, []))
    curves = [
        ("Level of changed steps", f"aoe_reports_step_after_seconds{SERIES}", "s"),
        ("Change of changed steps", f"aoe_reports_step_change_ratio{SERIES}", "percentunit"),
        ("Minimum detectable effect", f"aoe_reports_series_smallest_detectable_ratio{SERIES}", "percentunit"),
    ]
    legend = "{{workload}} {{hardware}} rank {{rank_id}} device {{device_id}}"
    for title, expr, unit in curves:  # whatever the state of a series, it is one line
        expr_of_all = f"max by (workload, hardware, rank_id, device_id) ({expr})"
        board = board.with_panel(_curve(title, expr_of_all, legend, unit))
    states = _curve("Series by state", "max by (state) (aoe_reports_changed_series)", "{{state}}", "none")
    board = board.with_panel(states)
    series = {
        "Before": f"aoe_reports_series_before_seconds{SERIES}",
        "After": f"aoe_reports_series_after_seconds{SERIES}",
        "Change": f"aoe_reports_series_change_ratio{SERIES}",
        "Since": f"aoe_reports_series_since_timestamp_seconds{SERIES} * 1000",
    }
    units = {"Before": "s", "After": "s", "Change": "percentunit", "Since": DAY}
    return board.with_panel(_prometheus_table("Series", series, units, ["series_id"]))


def over_the_store() -> dashboard.Dashboard:
    """What `store history records` and `regressions` print as JSON beside the pages of the site."""
    board = _board("aoe-reports-history", "aoe-reports: history of steps", "now-180d")
    board = board.with_variable(dashboard.DatasourceVariable("datasource").label("Infinity").type(INFINITY_TYPE))
    for name, root in (
        ("workload", 'rows.{"value": workload}'),
        ("device", 'rows.{"value": $string(device_id)}'),
    ):
        asked = InfinityQuery("/steps.json", root, {"value": ("value", "string")}).to_json()
        query = dashboard.QueryVariable(name).datasource(INFINITY).multi(True).include_all(True).current(ALL)
        query = query.query({"queryType": "infinity", "infinityQuery": asked})
        board = board.with_variable(query.refresh(models.VariableRefresh.ON_DASHBOARD_LOAD))
    steps = InfinityQuery(
        "/steps.json",
        CURVES,
        {"night": ("Night", "timestamp"), "step": ("Step", "number"), "series": ("series", "string")},
    )
    curve = timeseries.Panel().title("Step time, night by night").datasource(INFINITY).unit("ms").height(12).span(24)
    curve = curve.display_name("${__field.labels.series}")
    curve = _transformed(curve.with_target(steps), "partitionByValues", {
        "fields": ["series"],
        "keepFields": False,
        "naming": {"asLabels": True},
    })  # fmt: skip
    board = board.with_panel(curve)
    changes = InfinityQuery(
        "/changes.json",
        ROWS,
        {
            "workload": ("Workload", "string"),
            "state": ("State", "string"),
            "since": ("Since", "timestamp"),
            "before": ("Before", "number"),
            "after": ("After", "number"),
            "unit": ("Unit", "string"),
            "change": ("Change", "number"),
            "hardware": ("Hardware", "string"),
            "device_id": ("Device", "string"),
            "rank_id": ("Rank", "string"),
            "fails": ("Fails", "string"),
        },
    )
    panel = table.Panel().title("Changes of the steps").datasource(INFINITY).height(9).span(24).with_target(changes)
    board = board.with_panel(_shortened(panel, changes))
    incidents = InfinityQuery(
        "/changes.json",
        "incidents",
        {
            "incident": ("Incident", "string"),
            "title": ("Title", "string"),
            "since": ("Since", "timestamp"),
            "model": ("Model", "string"),
            "hardware": ("Hardware", "string"),
            "change": ("Change", "number"),
            "impact_ms": ("Time of a run (ms)", "number"),
            "open": ("Open", "boolean"),
        },
    )
    panel = table.Panel().title("Incidents").datasource(INFINITY).height(9).span(24).with_target(incidents)
    return board.with_panel(_shortened(panel, incidents))


def _shortened(panel: table.Panel, query: InfinityQuery) -> table.Panel:
    """With the units and widths of the columns that a query tells."""
    units = {"Change": "percentunit", "Since": DAY}
    for name in (name for name, _ in query.columns.values() if name in NARROW):
        panel = _column(panel, name, units.get(name))
    return panel


def _board(uid: str, title: str, since: str) -> dashboard.Dashboard:
    return dashboard.Dashboard(title).uid(uid).tags(["aoe-reports"]).time(since, "now").timezone("utc").refresh("1h")


def as_text(board: dashboard.Dashboard) -> str:
    """A dashboard as a file."""
    return json.dumps(board.build(), cls=JSONEncoder, indent=2, ensure_ascii=False) + "\n"


BOARDS = {"regressions-prometheus.json": over_prometheus, "history-infinity.json": over_the_store}

if __name__ == "__main__":
    for name, make in BOARDS.items():
        (HERE / name).write_text(as_text(make()))
