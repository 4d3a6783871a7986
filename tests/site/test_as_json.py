"""JSON of pages."""

from __future__ import annotations

import numpy as np
import pytest

from aoe_reports.model.texts import say
from aoe_reports.site.as_json import as_json, as_script, as_sorted_json


def test_texts_arrays_and_numbers_of_numpy_are_json() -> None:
    value = {
        "b": say("{count} runs", count=2),
        "a": [np.arange(3), np.float64(0.5), np.int64(7), float("nan")],
        "é": (1,),
    }
    assert as_json(value).decode() == '{"b":"2 runs","a":[[0,1,2],0.5,7,null],"é":[1]}'
    assert as_sorted_json({"b": {"d": 1, "c": 2}, "a": 1}) == b'{"a":1,"b":{"c":2,"d":1}}'


def test_a_script_holds_no_tag_and_no_entity() -> None:
    assert as_script(["</script>&lt;"]) == '["\\u003c/script>\\u0026lt;"]'


@pytest.mark.parametrize(("value", "error"), [("\ud800", UnicodeEncodeError), (object(), TypeError)])
def test_what_is_no_json_is_an_error(value: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        as_json([value])
