"""How Sphinx makes a site of docs/: `make site-docs` builds it in English and, below `zh/`, in Chinese."""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.search.zh import SearchChinese

from aoe_reports.model.version import __version__
from aoe_reports.present.style import Scheme, tokens

project = "aoe-reports"
author = "the authors of aoe-reports"
copyright = "2026, the authors of aoe-reports"  # noqa: A001 -- the name is Sphinx'
release = version = __version__
extensions = ["myst_parser"]
exclude_patterns = ["_build"]
nitpicky = True

myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block", "attrs_inline"]

# one catalogue for all pages; what it lacks (the reference) stays English
locale_dirs = ["locale"]
gettext_compact = "docs"

html_theme = "furo"
html_title = "aoe-reports"
COLOURS = {
    "color-foreground-primary": "--ink",
    "color-foreground-secondary": "--soft",
    "color-foreground-muted": "--soft",
    "color-background-primary": "--back",
    "color-background-secondary": "--card",
    "color-background-border": "--line",
    "color-brand-primary": "--link",
    "color-brand-content": "--link",
    "font-stack": "--font",
    "font-stack--monospace": "--mono",
}
"""What the theme calls the colours and fonts of the dashboard and of reports."""


def _look(scheme: Scheme) -> dict[str, str]:
    return {ours: tokens(scheme)[name] for ours, name in COLOURS.items()}


html_theme_options = {"light_css_variables": _look("light"), "dark_css_variables": _look("dark")}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = [
    picture.name for picture in sorted(Path(__file__).parent.glob("*.webp"))
]  # pages name them in HTML, as other viewers show them
templates_path = ["_templates"]
html_copy_source = False
html_permalinks_icon = "#"
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "languages.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}

CHINESE = re.compile(r"[\u4e00-\u9fff]+")


class Chinese(SearchChinese):
    """Finds Chinese words without a dictionary: every two to four characters in a row are one."""

    language_name = "English"  # the stemmer of Latin words: Sphinx 9.0 names one that it does not have

    def split(self, input: str) -> list[str]:  # noqa: A002 -- the name is Sphinx'
        runs = CHINESE.findall(input)
        words = [run[at : at + length] for run in runs for length in (2, 3, 4) for at in range(len(run) - length + 1)]
        return [*words, *super().split(input)]


WORDS = {"en": ("All pages", "This page", "Search"), "zh_CN": ("所有页面", "本页", "搜索")}
"""Of each language the names of both side bars, and the heading of the search."""


def _amend_pages(app: Sphinx, failure: Exception | None) -> None:
    """Give the theme's pages what readers of screens and users of keyboards miss (axe finds it)."""
    if failure or app.builder.format != "html":
        return
    every, this, search = WORDS[app.config.language]
    amended = {
        'role="heading">': 'role="heading" aria-level="2">',
        '<aside class="sidebar-drawer"': f'<aside aria-label="{every}" class="sidebar-drawer"',
        '<aside class="toc-drawer': f'<aside aria-label="{this}" class="toc-drawer',
        "<pre>": '<pre tabindex="0">',
        '<div id="search-results">': f'<h1>{search}</h1><div id="search-results">',
    }
    for name in [*app.env.found_docs, "search", "genindex"]:
        path = Path(app.outdir, f"{name}.html")
        text = path.read_text(encoding="utf-8")
        for old, new in amended.items():
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")


def _leave_folders_out(app: Sphinx, page: nodes.document) -> None:
    """Name a folder of the project without a link: the site has no page of it."""
    for link in list(page.findall(pending_xref)):
        if Path(app.env.doc2path(link["refdoc"])).parent.joinpath(link["reftarget"]).is_dir():
            link.replace_self(link.children)


def setup(app: Sphinx) -> None:
    """What Sphinx, Pygments and the theme lack."""
    app.connect("doctree-read", _leave_folders_out)
    app.connect("build-finished", _amend_pages)
    app.add_search_language(Chinese)
    app.add_lexer("csv", TextLexer)
