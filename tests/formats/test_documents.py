"""communication.json, communication_matrix.json and prof_rule_0.json, laid out flat."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.json.documents import read_table_of_document
from aoe_reports.formats.records.from_document import record_of_document
from aoe_reports.formats.records.record import OURS
from aoe_reports.model.findings import EXAMPLES_PER_RULE

TIMES = {
    "Start Timestamp(us)": 1736408883705410.5, "Elapse Time(ms)": 0.07909, "Transit Time(ms)": 0.04,
    "Wait Time(ms)": 0.02, "Synchronization Time(ms)": 0.01, "Idle Time(ms)": 0.01909, "Wait Time Ratio": 0.3333,
    "Synchronization Time Ratio": 0.2,
}  # fmt: skip
HCCS = {
    "Transit Size(MB)": 2.5, "Transit Time(ms)": 0.04, "Bandwidth(GB/s)": 51.6, "Large Packet Ratio": 0.0,
    "Size Distribution": {"2.064384": [1, 0.04]},
}  # fmt: skip
OPERATOR = {"Communication Time Info": TIMES, "Communication Bandwidth Info": {"HCCS": HCCS}}
COMMUNICATION = {"step50": {"p2p": {"send@g": OPERATOR}, "collective": {"all@reduce@g1": OPERATOR, "bare": OPERATOR}}}
MATRIX = {
    "step50": {
        "collective": {
            "allreduce-top1@g1": {
                "0-1": {"Transport Type": "HCCS", "Transit Size(MB)": 2.5, "Transit Time(ms)": 0.04, "Bandwidth(GB/s)": 51.6, "Op Name": "x"},
                "0-0": {"Transport Type": "LOCAL", "Transit Size(MB)": 0, "Transit Time(ms)": 0, "Bandwidth(GB/s)": 0, "Op Name": ""},
            }
        }
    }
}  # fmt: skip
ADVICE = {
    "status": 0,
    "data": {
        "Op Summary": [
            {"Rule Type": "A", "Rule Description": "d", "result": [
                {"Rule Subtype": "s", "Rule Suggestion": "do this", "Tuning Data": ["Conv2D1", "矩阵"]},
                {"Rule Suggestion": "do that", "Tuning Data": []},
            ]},
            {"Rule Type": "B", "Rule Description": "", "result": []},
        ]
    },
}  # fmt: skip


def read(tmp_path: Path, kind: str, document: Any, fields: frozenset[str] | None = None) -> TableData:
    path = tmp_path / f"{kind}.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    data = read_table_of_document(path, kind, fields)
    assert data.rows_read == data.frame.num_rows + data.rows_reported
    return data


def found(data: TableData) -> list[tuple[str, str, str | None]]:
    return [(finding.severity, finding.rule, finding.pointer) for finding in data.findings]


def changed(document: Any, *path: Any, to: Any = ...) -> Any:
    """A copy in which the value at `path` is another one, or gone."""
    whole = json.loads(json.dumps(document))
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    if to is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = to
    return whole


def test_times_of_operators(tmp_path: Path) -> None:
    data = read(tmp_path, "communication", COMMUNICATION)
    assert data.findings == ()
    rows = data.frame.to_pylist()
    assert [(row["step"], row["type"], row["op_name"], row["group"]) for row in rows] == [
        ("step50", "p2p", "send", "g"),
        ("step50", "collective", "all@reduce", "g1"),
        ("step50", "collective", "bare", None),
    ]
    first = rows[0]
    times = [first[f"{name}_ns"] for name in ("start", "elapsed", "transit", "wait", "synchronization", "idle")]
    assert times == [1736408883705410500, 79090, 40000, 20000, 10000, 19090]
    assert (first["wait_ratio"], first["synchronization_ratio"]) == (0.3333, 0.2)


def test_starts_keep_every_digit(tmp_path: Path) -> None:
    text = json.dumps(COMMUNICATION).replace("1736408883705410.5", "1736408883705410.479")
    data = read(tmp_path, "communication", text)
    assert data.frame["start_ns"].to_pylist() == [1736408883705410479] * 3


def test_bandwidths_by_transport(tmp_path: Path) -> None:
    data = read(tmp_path, "communication_bandwidth", COMMUNICATION)
    assert data.findings == ()
    row = data.frame.to_pylist()[0]
    assert (row["transport"], row["transit_bytes"], row["transit_ns"]) == ("HCCS", 2500000, 40000)
    assert json.loads(row["size_distribution"]) == {"2.064384": [1, 0.04]}


def test_links_between_ranks(tmp_path: Path) -> None:
    data = read(tmp_path, "communication_matrix", MATRIX)
    assert data.findings == ()
    rows = data.frame.to_pylist()
    assert [(row["source_rank"], row["destination_rank"], row["transport"]) for row in rows] == [
        (0, 1, "HCCS"),
        (0, 0, "LOCAL"),
    ]
    assert [row["hccl_op_name"] for row in rows] == ["x", None]


def test_advice(tmp_path: Path) -> None:
    data = read(tmp_path, "prof_rule", ADVICE)
    assert data.findings == ()
    rows = data.frame.to_pylist()
    assert [row["suggestion"] for row in rows] == ["do this", "do that"]
    assert [row["rule_subtype"] for row in rows] == ["s", None]
    assert [json.loads(row["operators"]) if row["operators"] else None for row in rows] == [["Conv2D1", "矩阵"], None]
    assert rows[0]["operators"] == '["Conv2D1", "矩阵"]', "names are read as they are written"


AT = ("step50", "collective", "bare", "Communication Time Info")


@pytest.mark.parametrize(
    ("path", "to", "expected"),
    [
        ((*AT,), "lost", ("json-row", "/step50/collective/bare/Communication Time Info")),
        (("step50", "collective", "bare"), [], ("json-row", "/step50/collective/bare")),
        (("step50", "p2p"), [1], ("json-row", "/step50/p2p")),
        (("step50",), 1, ("json-row", "/step50")),
        ((*AT, "Elapse Time(ms)"), "soon", ("csv-unparsable", "/step50/collective/bare/Communication Time Info/Elapse Time(ms)")),
        ((*AT, "Elapse Time(ms)"), None, ("missing-value", "/step50/collective/bare/Communication Time Info/Elapse Time(ms)")),
        ((*AT, "Elapse Time(ms)"), ..., ("missing-value", "/step50/collective/bare/Communication Time Info/Elapse Time(ms)")),
    ],
)  # fmt: skip
def test_what_has_not_the_shape_is_left_out_with_its_place(
    tmp_path: Path, path: tuple, to: Any, expected: tuple
) -> None:
    data = read(tmp_path, "communication", changed(COMMUNICATION, *path, to=to))
    assert found(data) == [("error", *expected)]


@pytest.mark.parametrize("kind", ["communication", "communication_bandwidth", "communication_matrix", "prof_rule"])
@pytest.mark.parametrize(
    "document", ["", "[", "1 2", "[]", "[1]", "null", '{"a": 1}', '{"data": 1}', '{"a": {"b": {"c": 1}}}']
)
def test_other_documents_are_refused_aloud(tmp_path: Path, kind: str, document: str) -> None:
    data = read(tmp_path, kind, document)
    assert data.frame.num_rows == 0
    assert {finding.severity for finding in data.findings} == {"error"}


@pytest.mark.parametrize("link", ["0", "a-b", "0-", "-1", "0-1-2"])
def test_a_link_of_no_two_ranks_is_said(tmp_path: Path, link: str) -> None:
    document = changed(MATRIX, "step50", "collective", "allreduce-top1@g1", link, to={"Transport Type": "HCCS"})
    data = read(tmp_path, "communication_matrix", document)
    assert found(data) == [("error", "json-row", f"/step50/collective/allreduce-top1@g1/{link}")]


@pytest.mark.parametrize("rule", [1, {}, {"result": 1}, {"result": [1]}])
def test_a_rule_of_another_shape_is_said(tmp_path: Path, rule: Any) -> None:
    data = read(tmp_path, "prof_rule", changed(ADVICE, "data", "Op Summary", 1, to=rule))
    assert [finding.rule for finding in data.findings] == ["json-row"]
    assert data.frame.num_rows == 2


def with_total(elapsed_ms: Any) -> Any:
    total = {"Communication Time Info": {**changed(TIMES, "Start Timestamp(us)"), "Elapse Time(ms)": elapsed_ms}}
    return changed(
        COMMUNICATION, "step50", "collective", "Total Op Info", to={**total, "Communication Bandwidth Info": {}}
    )


@pytest.mark.parametrize(
    ("elapsed", "expected"),
    [(0.15818, []), (0.1585, []), (0.3, ["total-mismatch"]), ("soon", ["csv-unparsable"]), (None, ["missing-value"])],
)
def test_operators_add_up_to_the_total_beside_them(tmp_path: Path, elapsed: Any, expected: list[str]) -> None:
    data = read(tmp_path, "communication", with_total(elapsed))
    assert [finding.rule for finding in data.findings] == expected
    assert "Total Op Info" not in data.frame["op_name"].to_pylist()
    assert data.frame.num_rows == 3


@pytest.mark.parametrize(("elapsed_ns", "said"), [(0, False), (3000, False), (3001, True)])
def test_a_total_beside_no_operator_is_held_against_nothing(tmp_path: Path, elapsed_ns: int, said: bool) -> None:
    """One microsecond for each row of the table may get lost by rounding."""
    document = with_total(0.15818)
    total = with_total(elapsed_ns / 1e6)["step50"]["collective"]["Total Op Info"]
    document["step51"] = {"p2p": {"Total Op Info": total}}
    data = read(tmp_path, "communication", document)
    us = elapsed_ns / 1000
    assert [finding.message for finding in data.findings] == [
        f"step51, p2p: the operators add up to 0.000 us, but 'Total Op Info' states {us:.3f} us"
    ] * said


def test_a_projection_holds_the_totals_all_the_same(tmp_path: Path) -> None:
    data = read(tmp_path, "communication", with_total(7), frozenset({"wait_ns"}))
    assert [finding.rule for finding in data.findings] == ["total-mismatch"]


def test_totals_beside_operators_that_lost_their_times_are_no_accident(tmp_path: Path) -> None:
    document = with_total(1)
    for operators in document["step50"].values():
        for name, operator in operators.items():
            if name != "Total Op Info":
                operator["Communication Time Info"] = {"Start Timestamp(us)": 1, "Wait Time(ms)": 1}
    assert {finding.rule for finding in read(tmp_path, "communication", document).findings} == {"missing-column"}


def test_a_total_whose_name_is_damaged_does_not_count_as_an_operator(tmp_path: Path) -> None:
    document = with_total(0.15818)
    operators = document["step50"]["collective"]
    operators["Total,Op Info"] = operators.pop("Total Op Info")
    data = read(tmp_path, "communication", document)
    place = "/step50/collective/Total,Op Info/Communication Time Info"
    assert found(data) == [("error", "json-row", place)]
    assert data.frame.num_rows == 3


@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        ('{\n"a": 1,\n"b" 2}', "json-syntax", 3),
        ('{\n"a": {"b": [1,', "json-truncated", 2),
        ('{\n"at line 7 column 7": 1,\n"at line 7 column 7": 2}', "json-duplicate-key", 3),
    ],
)
def test_what_is_no_document_is_told_with_its_line(tmp_path: Path, text: str, rule: str, line: int) -> None:
    path = tmp_path / "communication.json"
    path.write_text(text, encoding="utf-8")
    (finding,) = read_table_of_document(path, "communication").findings
    assert (finding.rule, finding.line) == (rule, line)
    assert finding.column is not None
    assert finding.column > 0


FOREIGN = {
    "workload": "w", "engine": "e", "hardware": "h", "runtime_ms_mean": 1.0, "runtime_ms_std": None, "timestamp": 0.0,
}  # fmt: skip


@pytest.mark.parametrize(("timestamp_ns", "ours"), [(0, True), (1, True), (-1, False), (2**63, False), (True, False)])
def test_a_record_of_ours_may_be_of_1970_but_of_no_time_before(timestamp_ns: Any, ours: bool) -> None:
    told = {"run_id": "20260101T000000-0123abcd", "model": "m", "scope": "step", "source": "msprof"}
    document = {**FOREIGN, "metadata": {OURS: {**told, "timestamp_ns": timestamp_ns}}}
    assert (record_of_document(document, 1).source == "msprof") is ours


@pytest.mark.parametrize("more", [-1, 0, 1, 5])
def test_the_first_rows_of_another_shape_are_named_and_the_rest_counted(tmp_path: Path, more: int) -> None:
    count = EXAMPLES_PER_RULE + more
    document = json.loads(json.dumps(COMMUNICATION))
    document["step50"]["collective"] |= {f"odd{number}@g": [] for number in range(count)}
    data = read(tmp_path, "communication", document)
    named = [("error", "json-row", f"/step50/collective/odd{number}@g") for number in range(min(count, EXAMPLES_PER_RULE))]  # fmt: skip
    rest = [("error", "json-row", f"/step50/collective/odd{EXAMPLES_PER_RULE}@g")] if more > 0 else []
    assert found(data) == [*named, *rest]
    if more > 0:
        assert data.findings[-1].message == f"and {more} more of this kind"
    assert (data.frame.num_rows, data.rows_read, data.rows_reported) == (3, 3 + count, count)


@pytest.mark.parametrize(
    ("path", "to", "pointer", "expected"),
    [
        (("step50", "collective", "bare", "Communication Bandwidth Info"), "lost", "/step50/collective/bare/Communication Bandwidth Info", "an object"),
        (("step50", "p2p", "send@g", "Communication Bandwidth Info", "HCCS"), [1], "/step50/p2p/send@g/Communication Bandwidth Info/HCCS", "an object"),
        (("step50", "collective", "bare", "Communication Time Info"), {"Elapse Time(ms)": 1}, "/step50/collective/bare/Communication Time Info", "an operator with a 'Start Timestamp'"),
    ],
)  # fmt: skip
def test_a_bandwidth_of_another_shape_is_left_out_with_its_place(
    tmp_path: Path, path: tuple[Any, ...], to: Any, pointer: str, expected: str
) -> None:
    whole = read(tmp_path, "communication_bandwidth", COMMUNICATION).frame.num_rows
    data = read(tmp_path, "communication_bandwidth", changed(COMMUNICATION, *path, to=to))
    assert found(data) == [("error", "json-row", pointer)]
    assert expected in data.findings[0].message
    assert whole - data.frame.num_rows <= 1


def test_a_link_table_names_operators_with_their_group(tmp_path: Path) -> None:
    link = MATRIX["step50"]["collective"]["allreduce-top1@g1"]
    document = {"step50": {"collective": {"bare": link, "allreduce-top1@g1": link, "Total Op Info": link}}}
    data = read(tmp_path, "communication_matrix", document)
    assert [(one.rule, one.pointer, one.message) for one in data.findings] == [
        (
            "json-row",
            "/step50/collective/bare",
            "expected an operator with its group (name@group) or 'Total Op Info' here; the value is not used",
        )
    ]
    assert data.frame["op_name"].to_pylist() == ["allreduce-top1"] * 2, "each link once, and no total"
