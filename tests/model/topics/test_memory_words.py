"""Owners of memory in words: nothing that is known of one is lost, whatever it is called by."""

from __future__ import annotations

from typing import Any

import pytest
from memory_devices import an_owner

from aoe_reports.model.topics.memory_words import Naming, owner_words

EARLY = {"since_before": True}


@pytest.mark.parametrize(
    ("known", "by", "words"),
    [
        ({}, "use", "mm"),
        ({"kind": "kv_cache", "module": "layer"}, "use", "KV cache"),
        ({"kind": "kv_cache", "module": "layer"}, "name", "mm"),
        ({"module": "layer"}, "use", "layer"),
        ({"module": "layer"}, "place", "mm in layer"),
        ({"module": "layer", **EARLY}, "place", "mm (before the recording) in layer"),
        (EARLY, "use", "mm (before the recording)"),
        ({"name": None, **EARLY}, "use", "allocated before the recording"),
        ({"name": None}, "name", "allocated for an unknown owner"),
        ({"name": None, "unexplained": True}, "use", "unexplained"),
        ({"name": "GE", "unexplained": True}, "use", "released, still counted by GE"),
    ],
)
def test_owners_are_called_by_what_is_wanted(known: dict[str, Any], by: Naming, words: str) -> None:
    assert owner_words(an_owner(1, **{"name": "mm", **known}), by) == words


def test_several_owners_have_no_name() -> None:
    assert owner_words(an_owner(1), others=1200) == "1,200 others"
