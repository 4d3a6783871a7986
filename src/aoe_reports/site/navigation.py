"""Pages of the whole store, in the order in which every page links them: one line each."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from aoe_reports.history.site_facts import StoreFacts
from aoe_reports.model.texts import N_
from aoe_reports.site.pages.comparison import chooser_page
from aoe_reports.site.pages.lists import all_runs, all_series
from aoe_reports.site.pages.overview import overview
from aoe_reports.site.pages.tuning import tuning_page
from aoe_reports.site.render import Content
from aoe_reports.site.texts import Texts


class StorePage(NamedTuple):
    """A page of the whole store."""

    key: str
    """What its JSON says it is."""
    file: str
    link: str
    """What leads to it."""
    make: Callable[[StoreFacts, Texts], Content]
    template: str = "table"


PAGES = (
    StorePage("overview", "index.html", N_("Overview"), overview, "index"),
    StorePage("all_series", "series/index.html", N_("Series"), all_series, "list"),
    StorePage("all_runs", "runs/index.html", N_("Runs"), all_runs, "list"),
    StorePage("tuning_history", "tuning.html", N_("Tuning"), tuning_page, "tuning"),
    StorePage("comparisons", "compare.html", N_("Compare"), chooser_page, "choose"),
)
