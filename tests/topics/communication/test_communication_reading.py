"""What one capture tells of communication: sums of what stands in its files, of one step or of all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aoe_reports.engine.runs import find_runs
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.topics.communication.reading import read_communication
from aoe_reports.topics.communication.run import Communication

START = 1736408883705410.5
GROUP = "17522688603477080586"


def sent(size_mb: float, time_ms: float, bandwidth: float | None = None) -> dict[str, Any]:
    stated = (size_mb / time_ms if time_ms else 0) if bandwidth is None else bandwidth
    return {"Transit Size(MB)": size_mb, "Transit Time(ms)": time_ms, "Bandwidth(GB/s)": stated, "Large Packet Ratio": 0.0, "Size Distribution": {}}  # fmt: skip


def operator(start: float, wait_ms: float, **transports: dict[str, Any]) -> dict[str, Any]:
    times = {"Start Timestamp(us)": start, "Elapse Time(ms)": 1.0, "Transit Time(ms)": 0.5, "Wait Time(ms)": wait_ms, "Synchronization Time(ms)": 0.0, "Idle Time(ms)": 0.0, "Wait Time Ratio": 0.0, "Synchronization Time Ratio": 0.0}  # fmt: skip
    return {"Communication Time Info": times, "Communication Bandwidth Info": transports}


def link(source: int, target: int, size_mb: float, time_ms: float, name: str = "hcom_allReduce__586_0_1", **more: Any) -> tuple[str, dict[str, Any]]:  # fmt: skip
    bandwidth = more.get("bandwidth", size_mb / time_ms if time_ms else 0)
    return f"{source}-{target}", {"Transport Type": "HCCS", "Transit Size(MB)": size_mb, "Transit Time(ms)": time_ms, "Bandwidth(GB/s)": bandwidth, "Op Name": f"{name}@{GROUP}"}  # fmt: skip


STEPS = {
    "step1": {
        "collective": {
            f"hcom_allReduce__586_0_1@{GROUP}": operator(START, 0.1, HCCS=sent(2, 0.5), SDMA=sent(1, 0.25)),
            f"hcom_allReduce__586_1_1@{GROUP}": operator(START + 2000, 0.2, HCCS=sent(4, 0.5)),
            f"hcom_allGather__586_0_1@{GROUP}": operator(START + 4000, 0.3, HCCS=sent(8, 1.0)),
        },
        "p2p": {},
    },
    "step2": {
        "collective": {f"hcom_allReduce__586_0_1@{GROUP}": operator(START + 9000, 0.4, HCCS=sent(16, 2.0))},
        "p2p": {},
    },
}
MATRIX = {
    "step1": {"collective": {f"hcom_allReduce__586_0_1@{GROUP}": dict([link(0, 1, 2, 0.5), link(0, 2, 4, 0.5)])}, "p2p": {}},
    "step2": {"collective": {f"hcom_allReduce__586_0_1@{GROUP}": dict([link(0, 1, 16, 2.0)])}, "p2p": {}},
}  # fmt: skip


def read(
    folder: Path, steps: Any = None, matrix: Any = None, step: int | None = None
) -> tuple[Communication, list[Finding]]:
    """What is told of a capture with these tables."""
    output = folder / "host_1_20250109073124_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output.parent / "profiler_info_3.json").write_text(json.dumps({"rank_id": 3}))
    header = "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble\n"
    (output / "step_trace_time.csv").write_text(f"{header}0,1,100,20,5,25,30,150,0\n")
    for name, content in (("communication", steps), ("communication_matrix", matrix)):
        if content is not None:
            (output / f"{name}.json").write_text(json.dumps(content))
    ((capture,),) = find_runs(discover([folder]))
    found, findings = Communication(), list[Finding]()
    read_communication(capture, found, (), step, findings)
    return found, findings


@pytest.mark.parametrize(("step", "steps"), [(None, ["step1", "step2"]), (1, ["step1"]), (2, ["step2"]), (3, [])])
def test_tables_are_summed_by_transport_and_type(tmp_path: Path, step: int | None, steps: list[str]) -> None:
    found, findings = read(tmp_path, STEPS, MATRIX, step)
    sums: dict[tuple[str, str], list[float]] = {}
    for name in steps:
        for key, told in STEPS[name]["collective"].items():
            for transport, volume in told["Communication Bandwidth Info"].items():
                entry = sums.setdefault((key.split("_")[1].lower(), transport), [0, 0])
                entry[0] += volume["Transit Size(MB)"] * 1e6
                entry[1] += volume["Transit Time(ms)"] * 1e6
    assert {(one.op_type.removeprefix("hcom_").lower(), one.transport): [one.transit_bytes, one.transit_ns] for one in found.volumes} == sums  # fmt: skip
    assert {one.rank_id for one in (*found.volumes, *found.operators)} <= {3}
    told = [one for name in steps for one in STEPS[name]["collective"].values()]
    assert sorted(one.wait_ns or 0 for one in found.operators) == sorted(
        round(one["Communication Time Info"]["Wait Time(ms)"] * 1e6) for one in told
    )
    links = [one for name in steps for group in MATRIX.get(name, {"collective": {}})["collective"].values() for one in group]  # fmt: skip
    assert len(found.transfers) == len(links)
    assert findings == []


def test_nothing_at_all_is_said(tmp_path: Path) -> None:
    found, (finding,) = read(tmp_path)
    assert (finding.rule, found) == ("no-communication", Communication())


def test_one_table_alone_is_enough(tmp_path: Path) -> None:
    found, findings = read(tmp_path / "a", STEPS)
    assert (len(found.operators), len(found.transfers), findings) == (4, 0, [])
    found, findings = read(tmp_path / "b", None, MATRIX)
    assert (len(found.operators), len(found.transfers), findings) == (0, 3, [])


@pytest.mark.parametrize("count", [1, EXAMPLES_PER_RULE, EXAMPLES_PER_RULE + 1, EXAMPLES_PER_RULE + 3])
def test_bandwidths_that_are_not_volume_by_time_are_told(tmp_path: Path, count: int) -> None:
    wrong = {f"hcom_send__586_{number}_1@{GROUP}": operator(START + number, 0, HCCS=sent(2, 0.5, 400)) for number in range(count)}  # fmt: skip
    _, findings = read(tmp_path, {"step1": {"collective": {}, "p2p": wrong}})
    assert {finding.rule for finding in findings} == {"bandwidth-mismatch"}
    rest = count - EXAMPLES_PER_RULE
    assert len(findings) == (count if rest <= 0 else EXAMPLES_PER_RULE + 1)
    if rest > 0:
        assert findings[-1].message == f"communication_bandwidth: and {rest} more of this kind"


def test_examples_of_operators_are_told(tmp_path: Path) -> None:
    best = {f"allreduce-{which}@{GROUP}": dict([link(0, 1, 2, 0.5)]) for which in ("top1", "middle", "bottom1")}
    _, findings = read(tmp_path, STEPS, {"step1": {"collective": best, "p2p": {}}})
    (finding,) = findings
    assert finding.rule == "communication-examples"
    assert "of 3 rows" in finding.message


def test_what_is_taken_in_of_several_ranks_is_all_of_it(tmp_path: Path) -> None:
    one, _ = read(tmp_path / "a", STEPS, MATRIX)
    both = Communication()
    one.link_waits = {(GROUP, 0, 1): 5, (GROUP, 0, 2): 7}
    other = Communication(link_waits={(GROUP, 0, 1): 11})
    both.take(one)
    both.take(other)
    both.take(one)
    assert both.link_waits == {(GROUP, 0, 1): 21, (GROUP, 0, 2): 14}
    assert both.operators == one.operators * 2
    assert both.transfers == one.transfers * 2
    assert both.volumes == one.volumes * 2
    assert len(both.links) == len(one.links) == 2


TRACE = "Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),Iteration Refresh(us),Data Aug Bound(us),Model ID"
ALL_REDUCE = {"name": "hcom_allReduce__586_0_1", "ph": "X", "pid": 50, "tid": 0}
NAMES = [
    {"name": "process_name", "ph": "M", "pid": 50, "args": {"name": "Communication"}},
    {"name": "thread_name", "ph": "M", "pid": 50, "tid": 0, "args": {"name": "Group 0 Communication"}},
]


def trace(folder: Path, rows: list[str], header: str = TRACE, timelines: dict[str, list[tuple[float, float]]] | None = None) -> Path:  # fmt: skip
    """A capture of msprof with iterations, and the all-reduces (start, length in us) of each of its timelines."""
    output = folder / "PROF_000001_20260605155111872_ABCDEFGHIJKLMNOP" / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    (output / "step_trace_20260605155140.csv").write_text("\n".join([header, *rows, ""]))
    for name, reduces in (timelines or {}).items():
        spans = [{**ALL_REDUCE, "ts": start, "dur": length} for start, length in reduces]
        (output / name).write_text(json.dumps([*NAMES, *spans]))
    return folder


def read_trace(folder: Path, step: int | None = None) -> tuple[Communication, list[Finding]]:
    ((capture,),) = find_runs(discover([folder]))
    found, findings = Communication(), list[Finding]()
    read_communication(capture, found, (), step, findings)
    return found, findings


ITERATIONS = ["1,1000,1700,1800,900,700,100,0,1,1690,60", "2,2000,2700,2900,950,700,100,0,1,2650,100"]
MORE = ",Reduce Start(us),Reduce Duration(us)"


@pytest.mark.parametrize(("step", "tails"), [(None, [(1, 50_000), (2, 50_000)]), (1, [(1, 50_000)]), (2, [(2, 50_000)]), (3, [])])  # fmt: skip
def test_all_reduces_of_iterations_are_communication(tmp_path: Path, step: int | None, tails: list[tuple[int, int]]) -> None:  # fmt: skip
    found, findings = read_trace(trace(tmp_path, ITERATIONS, TRACE + MORE), step)
    assert [(one.step, one.tail_ns) for one in found.tails] == tails
    assert {one.source for one in found.tails} <= {"step_trace"}
    assert findings == []
    found, findings = read_trace(trace(tmp_path / "b", [row.rsplit(",", 2)[0] for row in ITERATIONS]))
    assert (found.tails, [finding.rule for finding in findings]) == ([], ["no-communication"])
    assert findings[0].message == "no communication here: no communication table, no communication in a timeline, no all-reduce in step_trace"  # fmt: skip


def test_the_timeline_tells_the_all_reduces_that_iterations_do_not(tmp_path: Path) -> None:
    rows = [row.rsplit(",", 2)[0] for row in ITERATIONS]
    found, findings = read_trace(trace(tmp_path, rows, timelines={"msprof_20260605155140.json": [(1680, 40), (2690, 30)]}))  # fmt: skip
    assert [(one.step, one.source, one.tail_ns, one.hidden_ns) for one in found.tails] == [(1, "timeline", 20_000, 20_000), (2, "timeline", 20_000, 10_000)]  # fmt: skip
    assert [one.message for one in findings if one.rule == "stands-in"] == [
        "no table of communication operators: the timeline contains their duration, but no waiting time"
    ]
    assert [one.elapsed_ns for one in found.operators] == [40_000, 30_000]


@pytest.mark.parametrize(
    ("timelines", "tails"),
    [
        ({"msprof_0_20260605155140.json": [(1690, 20)], "msprof_1_20260605155140.json": [(1695, 40)]}, [(0, 10_000), (1, 35_000)]),
        ({"msprof_1_20260605155140.json": [(1695, 40)]}, [(0, 35_000), (1, 35_000)]),  # the only one stands for all
        ({"msprof_1_20260605155140.json": [(1695, 40)], "msprof_7_20260605155140.json": [(1690, 20)]}, [(1, 35_000)]),
    ],
)  # fmt: skip
def test_each_device_has_the_all_reduces_of_its_timeline(
    tmp_path: Path, timelines: dict[str, list[tuple[float, float]]], tails: list[tuple[int, int]]
) -> None:
    rows = [f"{device},{ITERATIONS[0].rsplit(',', 2)[0]}" for device in (0, 1)]
    found, _ = read_trace(trace(tmp_path, rows, f"Device_id,{TRACE}", timelines))
    assert [(one.device_id, one.tail_ns) for one in found.tails] == tails


def test_a_matrix_is_held_against_itself_and_what_it_lacks_is_told(tmp_path: Path) -> None:
    wrong = {f"hcom_send__586_0_1@{GROUP}": dict([link(0, 1, 2, 0.5, bandwidth=400), link(0, 2, 4, 0.5)])}
    _, (finding,) = read(tmp_path / "a", STEPS, {"step1": {"collective": {}, "p2p": wrong}})
    assert finding.rule == "bandwidth-mismatch"
    assert finding.message.startswith("communication_matrix: ")
    assert "HCCS: 2000000 bytes in 500000 ns, but 400.0 GB/s" in finding.message
    lacking = dict([link(0, 1, 2, 0.5), link(0, 2, 4, 0.5), link(0, 3, 4, 0.5)])
    for place, name in (("0-1", "Transport Type"), ("0-2", "Transport Type"), ("0-3", "Transit Size(MB)")):
        del lacking[place][name]
    _, findings = read(tmp_path / "b", STEPS, {"step1": {"collective": {}, "p2p": {f"hcom_send__586_0_1@{GROUP}": lacking}}})  # fmt: skip
    assert [finding.message for finding in findings if finding.rule == "communication-incomplete"] == [
        "communication_matrix: 1 rows without volume (counted as 0)",
        "communication_matrix: 2 rows without transport (counted as unknown)",
    ]


def test_what_examples_are_taken_for_is_told_with_their_number(tmp_path: Path) -> None:
    best = {
        f"allreduce-{which}@{GROUP}": dict([link(0, 1, size, 0.5, which)])
        for which, size in (("top1", 4), ("middle", 2), ("bottom1", 2))
    }
    _, (finding,) = read(tmp_path, STEPS, {"step1": {"collective": best, "p2p": {}}})
    said = "the matrix contains only some operators (3 of 3 rows are the best, middle or worst of their type, without a total): volumes and times of links are taken from these rows"  # fmt: skip
    assert finding.message == said


def test_a_timeline_tells_links_where_no_matrix_does(tmp_path: Path) -> None:
    folder = trace(tmp_path, [ITERATIONS[0].rsplit(",", 2)[0]])
    plane = {"name": "thread_name", "ph": "M", "pid": 50, "tid": 1, "args": {"name": "Plane 0"}}
    sending = {"src rank": 0, "dst rank": 1, "size(Byte)": 1000, "transport type": "SDMA", "link type": "HCCS"}
    tasks = [
        {"name": "Memcpy", "ph": "X", "pid": 50, "tid": 1, "ts": 1681, "dur": 5, "args": sending},
        {"name": "Memcpy", "ph": "X", "pid": 50, "tid": 1, "ts": 1690, "dur": 5, "args": {**sending, "size(Byte)": -1}},
    ]
    (output,) = folder.glob("PROF*/mindstudio_profiler_output")
    timeline = [*NAMES, plane, {**ALL_REDUCE, "ts": 1680, "dur": 40}, *tasks]
    (output / "msprof_20260605155140.json").write_text(json.dumps(timeline))
    found, findings = read_trace(folder)
    assert [(one.source_rank, one.destination_rank, one.transit_bytes) for one in found.transfers] == [(0, 1, 1000)]
    assert [(one.rule, one.message) for one in findings] == [
        ("stands-in", "no table of communication operators: the timeline contains their duration, but no waiting time"),
        ("stands-in", "no communication matrix: the timeline contains links, but no times of RDMA"),
        (
            "communication-task",
            "1 tasks of communication with damaged arguments; they are not included in the sums of links",
        ),
    ]
