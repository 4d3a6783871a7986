"""AOE result documents for property tests: well-formed ones of every dialect, and small damage to them."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
from hypothesis import strategies as st

FIXTURES = Path(__file__).parents[1] / "fixtures" / "aoe"

VALID = [json.loads(path.read_text()) for path in sorted((FIXTURES / "valid").glob("*/aoe_result_*.json"))]

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.sampled_from(
        [0, 1, -1, 0.0, 0.5, 1e15, 1e16, 1e-10, 100.25, "", "12", "12.00%", "-3%", "abc", "tuning failed"]
    )
    | st.sampled_from(
        ["tuning incomplete", "tune success", "tune tuning incomplete", "report_1_2", "conv2d", "[add,mul]"]
    )
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
)
WORDS = (
    "basic OPAT SGAT tuning_time(s) opat_tune_result opat_tuning_result tuning_failed_operators repo_key total_num "
    "performance_before_tune(ms) performance_before_tune(us) a/b~c performance_(x)"
)
KEYS = st.sampled_from(WORDS.split()) | st.text(max_size=4)


def places(document: Any) -> list[tuple[Any, Any]]:
    """(container, key) of every value below a document."""
    found, waiting = [], [document]
    while waiting:
        value = waiting.pop()
        keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        for key in keys:
            found.append((value, key))
            waiting.append(value[key])
    return found


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A document of some dialect with up to three changes: values, keys, elements dropped, added, doubled, exchanged."""
    document = copy.deepcopy(draw(st.sampled_from(VALID)))
    for _ in range(draw(st.integers(0, 3))):
        every = places(document)
        if not every:
            break
        container, key = every[draw(st.integers(0, len(every) - 1))]
        change = draw(st.sampled_from(["set", "drop", "add", "copy", "nest"]))
        if change == "set":
            container[key] = draw(SCALARS | st.just([]) | st.just({}) | st.lists(SCALARS, max_size=2))
        elif change == "drop":
            del container[key]
        elif change == "nest":
            container[key] = [container[key]]
        elif isinstance(container, dict):
            value = copy.deepcopy(container[key]) if change == "copy" else draw(SCALARS)
            container[draw(KEYS)] = value
        else:
            container.append(copy.deepcopy(container[key]) if change == "copy" else draw(SCALARS))
    return document


@st.composite
def texts(draw: st.DrawFn) -> str:
    """The text of a mutated document, in one of several layouts."""
    return json.dumps(draw(mutated()), ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1, 4])))


def exact(text: str) -> Any:
    """A document with its fractions as decimals, by Python's own parser."""
    return json.loads(text, parse_float=Decimal)


@cache
def _output_schema() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(
        json.loads((FIXTURES.parents[1] / "docs" / "outputs.schema.json").read_text("utf-8"))
    )


def check_output_schema(printed: Any) -> None:
    """What a question prints as JSON fits docs/outputs.schema.json."""
    _output_schema().validate(printed)


@cache
def _sarif_schema() -> jsonschema_rs.Draft4Validator:
    text = (FIXTURES.parents[1] / "tests" / "data" / "sarif-2.1.0.schema.json").read_text("utf-8")
    text = text.replace("-[a-zA-Z]{2}]?$", "-[a-zA-Z]{2}$")  # its pattern has a bracket too many, which is no regex
    return jsonschema_rs.Draft4Validator(json.loads(text))


def check_sarif_schema(printed: Any) -> None:
    """A document is SARIF 2.1.0."""
    _sarif_schema().validate(printed)
