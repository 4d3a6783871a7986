"""`site`: the static dashboard of a store."""

from typing import Annotated, Literal

from aoe_reports.cli.guide import guided
from aoe_reports.cli.language import spoken
from aoe_reports.cli.output import FORM, reply
from aoe_reports.engine.question import one_table
from aoe_reports.history.options import StoreOptions
from aoe_reports.model.rows import Rows
from aoe_reports.site.options import SiteOptions


@guided(example="site -o site --store aoe-history", page="site")
def site(
    chosen: SiteOptions,
    place: StoreOptions,
    form: Annotated[Literal["text", "json"], FORM] = "text",
) -> None:
    """Write a folder of static pages. They show what changed, since when, by how much and in which operator, for every series and every run."""
    from aoe_reports.site.build import BuiltPages, build_site

    built = build_site(place.store, chosen.folder, chosen.false_alarms_per_year, spoken(), metrics=chosen.metrics)
    reply(one_table("site", "Site", [place.store], Rows(type=BuiltPages, rows=built)), form, None)
