"""The schemas mean the same to every validator: jsonschema, which is the reference, and jsonschema-rs, which is quick."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from documents import FIXTURES, exact, mutated, texts
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import MANY

import aoe_reports
import aoe_reports.rules.validate
from aoe_reports.formats.schemas import SCHEMA_NAMES, load_schema
from aoe_reports.model.errors import UsageError
from aoe_reports.rules.schema import check_schema, fits_schema, pointer

REFERENCE = {name: jsonschema.Draft202012Validator(load_schema(name)) for name in SCHEMA_NAMES}
KINDS = st.sampled_from(["opat", "sgat"])


def agree(name: str, document: Any, plain: Any = None) -> None:
    """The same verdict, and the same places; the reference knows no decimals, so it may get the document with floats."""
    as_floats = document if plain is None else plain
    expected = {pointer(error.absolute_path) for error in REFERENCE[name].iter_errors(as_floats)}
    found = check_schema(name, document, "x")
    assert fits_schema(name, document) == (not expected) == (not found)
    if len(found) <= 20:
        assert {finding.pointer for finding in found} == expected


@MANY
@given(mutated(), KINDS)
def test_both_validators_agree_on_changed_documents(document: Any, name: str) -> None:
    agree(name, document)


@MANY
@given(texts(), KINDS)
def test_both_validators_agree_on_exact_decimals(text: str, name: str) -> None:
    agree(name, exact(text), json.loads(text))


@pytest.mark.parametrize("path", sorted(FIXTURES.rglob("*.json")), ids=lambda path: f"{path.parent.name}")
def test_both_validators_agree_on_every_fixture(path: Path) -> None:
    try:
        document = json.loads(path.read_bytes())
    except ValueError:
        return  # damaged on purpose
    for name in SCHEMA_NAMES:
        agree(name, document)


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_schemas_stand_alone(name: str) -> None:
    schema = load_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    text = json.dumps(schema)
    assert schema["$id"].startswith("urn:aoe-reports:schema:")
    assert {part for part in text.split('"') if part.startswith("http")} == {schema["$schema"]}
    assert all(target.startswith("#/") for target in references(schema)), "nothing is fetched"


def references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [target for inner in value.values() for target in references(inner)]
    return [target for inner in value for target in references(inner)] if isinstance(value, list) else []


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def test_validate_tells_the_kind_and_the_place() -> None:
    text = (FIXTURES / "invalid" / "schema" / "aoe_result_opat_20260101020304005_pid4711.json").read_text()
    (finding,) = aoe_reports.validate(text)
    assert (finding.rule, finding.line) == ("schema", line_of(text, finding.pointer or ""))
    (same,) = aoe_reports.validate(json.loads(text))
    assert (same.pointer, same.line) == (finding.pointer, None)
    assert aoe_reports.validate(text.encode(), "opat", "here.json")[0].path == "here.json"


def line_of(text: str, at: str) -> int:
    key = at.rpartition("/")[2]
    return text[: text.index(f'"{key}"')].count("\n") + 1


@pytest.mark.parametrize("path", sorted((FIXTURES / "valid").rglob("*.json")), ids=lambda path: f"{path.parent.name}")
def test_validate_blames_nothing_that_was_cut_off(path: Path) -> None:
    text = path.read_text().rstrip()
    kind = aoe_reports.rules.validate.kind_of(json.loads(text))
    for cut in range(0, len(text), 7):
        assert [finding.rule for finding in aoe_reports.validate(text[:cut], kind)] == ["json-truncated"], cut
    record = '{"workload": "x", "runtime_ms_mean": 1, "runtime_ms_std": -1, "engine": '
    assert [f.pointer for f in aoe_reports.validate(record)] == [None, "/runtime_ms_std"]


@pytest.mark.parametrize("odd", [{1}, b"x", bytearray(), nested(5000)], ids=["set", "bytes", "bytearray", "deep"])
def test_validate_takes_what_json_could_hold(odd: Any) -> None:
    with pytest.raises(UsageError, match=r"^the document cannot be represented in JSON: "):
        aoe_reports.validate([{"basic": odd}])


def test_validate_reads_what_is_no_json_as_far_as_it_goes() -> None:
    assert [(f.rule, f.line, f.column) for f in aoe_reports.validate("[1,]", "opat")] == [("json-syntax", 1, 4)]
    assert [f.rule for f in aoe_reports.validate('[{"basic": {"tuning_name": "x"}},')] == ["json-truncated"]
    twice = aoe_reports.validate('[{"basic": {"tuning_name": "x", "tuning_name": "y"}}]')
    assert [f.rule for f in twice] == ["json-duplicate-key"]


@pytest.mark.parametrize("document", [None, 3, [], {}, [[]], "[]", b"null"])
def test_validate_asks_for_a_kind_where_none_can_be_told(document: Any) -> None:
    with pytest.raises(UsageError, match="kind"):
        aoe_reports.validate(document)
    with pytest.raises(UsageError, match="no schema"):
        aoe_reports.validate(document, "tgat")


@pytest.mark.parametrize("path", sorted((FIXTURES.parent / "records").rglob("*.json")), ids=lambda path: path.stem)
def test_records_are_told_apart_and_validated(path: Path) -> None:
    """By the schema alone: what a command takes from the file of a record is missing here."""
    document = json.loads(path.read_text())
    one = document[0] if isinstance(document, list) else document
    assert bool(aoe_reports.validate(one)) == (path.parent.name in {"invalid", "record-completed"})


@pytest.mark.parametrize(
    "place",
    [
        lambda inner: inner,
        lambda inner: {"a": inner},
        lambda inner: [inner],
        lambda inner: {"a": [1, {"b": 2}, inner]},
        lambda inner: [[], [{"a": {"b": [inner]}}]],
    ],
)
@pytest.mark.parametrize("number", [1.5, Decimal("1.5")])
def test_an_empty_key_has_a_place_wherever_it_stands(place: Any, number: Any) -> None:
    """Also where decimals are beside it, which only a walk through all of it finds."""
    document = {"plans": place({"": 1, "x": number}), "more": number}
    assert {finding.pointer for finding in check_schema("plan", document, "x")} == {
        pointer(error.absolute_path)
        for error in REFERENCE["plan"].iter_errors(json.loads(json.dumps(document, default=float)))
    }
