"""What a page prints is escaped, and control characters are spelled out, whatever kind of text it is."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from aoe_reports.model.texts import say
from aoe_reports.site.render import _environment

NAME = "<b>\x1b[31m"


@pytest.mark.parametrize("text", [NAME, say("{name}: {why}", name=NAME, why="x"), say(NAME)])
def test_texts_that_can_be_translated_are_shown_like_others(text: str) -> None:
    page = _environment().from_string("{{ text }}{{ made }}").render(text=text, made=Markup("<i>"))
    assert page.startswith("&lt;b&gt;\\x1b[31m")
    assert page.endswith("<i>")
