"""`communication` tells of packets, alignment, retransmission and contention what was planted, in its words."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from commandline import Cli, Ended
from documents import check_output_schema

GROUP = "17522688603477080586"
HEADER = "Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes,Step Id\n"


def operator(elapsed_ms: float, transports: dict[str, tuple[float, float, dict[str, list[float]]]]) -> dict[str, Any]:
    """One operator: (MB, ms, distribution) of each transport."""
    return {
        "Communication Time Info": {
            "Start Timestamp(us)": 1736408883705410.5, "Elapse Time(ms)": elapsed_ms, "Transit Time(ms)": elapsed_ms,
            "Wait Time(ms)": 0, "Synchronization Time(ms)": 0, "Idle Time(ms)": 0, "Wait Time Ratio": 0,
            "Synchronization Time Ratio": 0,
        },
        "Communication Bandwidth Info": {
            name: {"Transit Size(MB)": size, "Transit Time(ms)": ms, "Bandwidth(GB/s)": round(size / ms, 4) if ms else 0,
                   "Large Packet Ratio": 0, "Size Distribution": distribution}
            for name, (size, ms, distribution) in transports.items()
        },
    }  # fmt: skip


def written(folder: Path, ranks: list[dict[str, Any]], kernels: str | None = None) -> Path:
    """A capture for each rank with one step of these operators."""
    for rank, operators in enumerate(ranks):
        output = folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        (output.parent / f"profiler_info_{rank}.json").write_text("{}")
        named = {f"{name}@{GROUP}": found for name, found in operators.items()}
        (output / "communication.json").write_text(json.dumps({"step1": {"p2p": {}, "collective": named}}))
        if kernels is not None:
            (output / "kernel_details.csv").write_text(kernels)
    return folder


def messages(ended: Ended, rule: str) -> list[str]:
    return [finding["message"] for finding in ended.json["findings"] if finding["rule"] == rule]


def test_small_packets_and_what_they_cost(cli: Cli, tmp_path: Path) -> None:
    carried = {
        "HCCS": (500.0, 70.0, {"0.1": [1000, 50], "8.0": [50, 20]}),
        "SDMA": (500.0, 70.0, {}),
    }
    ended = cli(
        "communication", written(tmp_path, [{"hcom_allReduce__1_0": operator(80, carried)}] * 2), "--format", "json"
    )
    assert messages(ended, "small-packets") == [
        (
            "HCCS: packets below 500,000 bytes carry 20.0% of the volume and take 71.4% of the time (2.000 GB/s; 20.000 GB/s from 2,000,000 "
            "bytes on), 90000.000 us more than at that rate; send larger buckets (bucket_cap_mb of DistributedDataParallel) or fewer "
            "collectives"
        )
    ]
    assert [
        (row["least_bytes"], row["most_bytes"], row["packets"], row["transit_bytes"], row["transit_us"], row["lost_us"])
        for row in ended.json["packets"]
    ] == [
        (64_000, 500_000, 2000, 200_000_000, 100_000.0, 90_000.0),
        (2_000_000, 16_000_000, 100, 800_000_000, 40_000.0, None),
    ]
    assert [(row["transit_bytes"], row["bus_gb_per_s"]) for row in ended.json["rows"]] == [(500_000_000, 6.25)] * 2
    check_output_schema(ended.json)
    assert ended.code == 0
    (one,) = cli("communication", tmp_path, "--rank", "1", "--format", "json").json["rows"]
    assert one["rank_id"] == 1
    assert cli("communication", tmp_path, "--rank", "1", "--format", "json").json["packets"][0]["packets"] == 1000


def test_packets_of_warm_up_are_left_out_of_advice_with_its_step(cli: Cli, tmp_path: Path) -> None:
    large = operator(8, {"HCCS": (80.0, 8.0, {"8.0": [10, 8]}), "RDMA": (8.0, 8.0, {"8.0": [1, 8]})})
    small = operator(60, {"HCCS": (160.0, 4008.0, {"0.1": [800, 4000], "8.0": [10, 8]}), "RDMA": (8.0, 5000.0, {})})
    small["Communication Time Info"] |= {"Elapse Time(ms)": 5000, "Transit Time(ms)": 5000}
    written(tmp_path, [{}])
    output = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    steps = {
        f"step{n}": {"p2p": {}, "collective": {f"hcom_allReduce__1_0@{GROUP}": small if n == 1 else large}}
        for n in range(1, 10)
    }
    (output / "communication.json").write_text(json.dumps(steps))
    rows = ["Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free"]
    rows += [f"{n},1000,{5_000_000 if n == 1 else 8000},0,{5_000_000 if n == 1 else 8000},0" for n in range(1, 10)]
    (output / "step_trace_time.csv").write_text("\n".join([*rows, ""]))
    of_packets = {"small-packets", "rdma-retransmission"}
    every = cli("advise", tmp_path, "--all-steps", "--format", "json").json["rows"]
    assert {row["rule"] for row in every} >= of_packets
    usual = cli("advise", tmp_path, "--format", "json").json
    assert usual["headlines"][0]["steps"] == 8
    assert not {row["rule"] for row in usual["rows"]} & of_packets


def test_there_is_no_rate_of_what_another_plane_carried(cli: Cli, tmp_path: Path) -> None:
    """The exporter takes the time of one plane: 147 MB in 0 ms and 0.5 MB in 0.0185 ms are no 7,962 GB/s."""
    job = written(
        tmp_path,
        [
            {
                "hcom_allReduce__1_0": operator(0, {"HCCS": (146.8, 7.6, {"20.9": [7, 7.6]})}),
                "hcom_allReduce__1_1": operator(0.0185, {"HCCS": (0.49152, 0.0185, {"0.49": [1, 0.0185]})}),
                "hcom_broadcast__1_2": operator(0.5, {"HCCS": (8, 0.5, {"8": [1, 0.5]})}),
            }
        ],
    )
    rows = cli("communication", job, "--format", "json").json["rows"]
    assert [(row["op_type"], row["transit_bytes"], row["bus_gb_per_s"]) for row in rows] == [
        ("allreduce", 147_291_520, None),
        ("broadcast", 8_000_000, 16.0),
    ]


def test_a_distribution_that_is_none_is_said(cli: Cli, tmp_path: Path) -> None:
    carried = {"HCCS": (500.0, 70.0, {"big": [1000, 50], "8.0": [50, 20]})}
    ended = cli(
        "communication", written(tmp_path, [{"hcom_allReduce__1_0": operator(80, carried)}]), "--format", "json"
    )
    assert messages(ended, "communication-packets") == [
        "communication_bandwidth: a size of packets cannot be read; it is not among the packets"
    ]
    assert [row["packets"] for row in ended.json["packets"]] == [50]
    assert ended.code == 0


@pytest.mark.parametrize(("other_ms", "told"), [(4300.0, True), (20.0, False)])
def test_rdma_packets_that_were_sent_again(cli: Cli, tmp_path: Path, other_ms: float, *, told: bool) -> None:
    slow = operator(4400, {"RDMA": (100.0, 4250.0, {"2.0": [50, 4250]})})
    other = operator(other_ms, {"RDMA": (100.0, 10.0, {"2.0": [50, 10]})})
    ended = cli(
        "communication", written(tmp_path, [{"hcom_allReduce__1_0": one} for one in (slow, other)]), "--format", "json"
    )
    expected = [
        (
            f"step 1 of group {GROUP}: the RDMA transfer of hcom_allReduce__1_0@{GROUP} took 4.250 s, and no rank was through in 4 s: "
            "packets were lost and sent again after a timeout; look at the switch, the optical modules and the network card of rank 0"
        )
    ]
    found = [
        one.replace("hcom_allReduce__1_0 took", f"hcom_allReduce__1_0@{GROUP} took")
        for one in messages(ended, "rdma-retransmission")
    ]
    assert found == (expected if told else [])


STEPS = (
    "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
    "Communication(Not Overlapped and Exclude Receive),Preparing\n0,1,20000,{uncovered},0,{uncovered},1000,0,0,0,0\n"
)


def advice_of(cli: Cli, job: Path, rule: str) -> list[dict[str, Any]]:
    found = cli("advise", job, "--format", "json").json
    check_output_schema(found)
    return [row for row in found["rows"] if row["rule"] == rule]


@pytest.mark.parametrize(
    ("transit", "uncovered", "bound"), [(80, 80_000, 45_000.0), (80, 30_000, 30_000.0), (10, 80_000, 6_428.571)]
)
def test_advice_on_small_packets_is_bounded_by_what_nothing_hides(
    cli: Cli, tmp_path: Path, transit: float, uncovered: int, bound: float
) -> None:
    """Of 70 ms over seven links at once, in 10 ms, a seventh is saved."""
    carried = {"HCCS": (500.0, 70.0, {"0.1": [1000, 50], "8.0": [50, 20]})}
    job = written(tmp_path, [{"hcom_allReduce__1_0": operator(transit, carried)}])
    (tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv").write_text(
        STEPS.format(uncovered=uncovered)
    )
    (row,) = advice_of(cli, job, "small-packets")
    assert row["bound_us"] == bound
    assert row["evidence"] == {
        "transport": "HCCS", "below_bytes": 500_000, "packets": 1000, "bytes_share": 0.2, "time_share": 0.714286,
        "bandwidth_gb_per_s": 2.0, "fastest_gb_per_s": 20.0,
    }  # fmt: skip


def test_advice_on_lost_packets_is_for_the_rank_that_sent_them_again(cli: Cli, tmp_path: Path) -> None:
    slow = operator(4400, {"RDMA": (100.0, 4250.0, {"2.0": [50, 4250]})})
    other = operator(4300, {"RDMA": (100.0, 10.0, {"2.0": [50, 10]})})
    job = written(tmp_path, [{"hcom_allReduce__1_0": one} for one in (slow, other)])
    for rank in (0, 1):
        output = job / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        (output / "step_trace_time.csv").write_text(STEPS.format(uncovered=4_500_000))
    (row,) = advice_of(cli, job, "rdma-retransmission")
    assert (row["rank_id"], row["bound_us"]) == (0, 4_250_000.0)
    assert row["evidence"] == {"group": GROUP, "operator": "hcom_allReduce__1_0", "rdma_us": 4_250_000.0}


def kernels(slower: float) -> str:
    """MatMul of 100 us and Add of 20 us in turn; every other ten of them beside an all-reduce."""
    rows, at = [], 0.0
    for block in range(20):
        begin = at
        for place in range(10):
            length = 20.0 if place % 2 else 100.0 * (1 + slower if block % 2 else 1)
            name = "Add" if place % 2 else "MatMul"
            rows.append(f'{name}_{block}_{place},{name},AI_CORE,{at:.3f},{length:.3f},"""4,4""",1')
            at += length + 1
        if block % 2:
            rows.append(f"hcom_allReduce__1_{block},hcom_allReduce_,HCCL,{begin:.3f},{at - begin:.3f},N/A,1")
    return HEADER + "\n".join(rows) + "\n"


def test_computing_beside_communication(cli: Cli, tmp_path: Path) -> None:
    carried = {"HCCS": (100.0, 5.0, {"8.0": [12, 5]})}
    job = written(tmp_path, [{"hcom_allReduce__1_1": operator(5, carried)}], kernels(0.25))
    ended = cli("communication", job, "--contention", "--format", "json")
    assert messages(ended, "contention") == [
        (
            "rank 0: an operator is slower beside communication than without, 1250.000 us in all (9.4% of computing; 100.0% of what runs "
            "beside communication can be compared)"
        )
    ]
    first, second = ended.json["contentions"]
    assert (first["op_type"], first["input_shapes"], first["alone"], first["beside"]) == ("MatMul", "4,4", 50, 50)
    assert (first["alone_median_us"], first["beside_median_us"], first["slowdown"], first["lost_us"]) == (
        100.0,
        125.0,
        0.25,
        1250.0,
    )
    assert (second["op_type"], second["is_slower"], second["lost_us"]) == ("Add", False, 0.0)
    assert "Computing beside communication" in cli("communication", job, "--contention").out
    assert cli("communication", job, "--format", "json").json["contentions"] == []


def timeline(slower: float) -> str:
    """The same as the only timeline of a capture, which has no table of tasks."""
    device, plane = 4711 << 10 | 14 << 5, 4711 << 10 | 15 << 5
    events: list[dict[str, Any]] = [
        {"name": "process_name", "pid": pid, "tid": 0, "ph": "M", "args": {"name": name}}
        for pid, name in ((device, "Ascend Hardware"), (plane, "HCCL"))
    ]
    for row in csv.DictReader(kernels(slower).splitlines()):
        event = {
            "name": row["Name"],
            "pid": device,
            "tid": 3,
            "ph": "X",
            "ts": row["Start Time(us)"],
            "dur": float(row["Duration(us)"]),
        }
        kind = row["Accelerator Core"]
        events.append(
            {**event, "name": row["Type"], "args": {"Task Type": kind, "Stream Id": 3, "Task Id": len(events)}}
        )
        if kind == "HCCL":
            events += [{**event, "pid": plane, "tid": 0, "args": {}}]
    return json.dumps(events)


@pytest.mark.parametrize("step", [(), ("--step", 1)])
def test_a_timeline_is_read_once_for_what_communicates_and_what_computes_beside_it(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: tuple[Any, ...]
) -> None:
    from aoe_reports.formats.trace import events

    output = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "trace_view.json").write_text(timeline(0.25))
    reads: list[Path] = []
    read = events.collect_events

    def counted(path: Path, *rest: Any, **named: Any) -> Any:
        reads.append(path)
        return read(path, *rest, **named)

    monkeypatch.setattr(events, "collect_events", counted)
    ended = cli("communication", tmp_path, "--contention", "--format", "json", "--jobs", 1, *step)
    assert len(reads) == 1
    if step:
        assert (
            ended.json["contentions"] == []
        )  # the steps of tasks are told by what launched them, and here nothing is known of steps
        return
    assert [(row["op_name"], row["lost_us"], row["is_slower"]) for row in ended.json["contentions"]] == [
        ("MatMul", 1250.0, True),
        ("Add", 0.0, False),
    ]
    assert ended.json["rows"]


def test_alike_on_both_sides_is_no_contention(cli: Cli, tmp_path: Path) -> None:
    job = written(tmp_path, [{}], kernels(0.0))
    ended = cli("communication", job, "--contention", "--format", "json")
    assert messages(ended, "contention") == []
    assert [row["lost_us"] for row in ended.json["contentions"]] == [0.0, 0.0]


def test_steps_of_msprof_are_iterations(cli: Cli, tmp_path: Path) -> None:
    """Contention of one of them is of its tasks alone, in a file of its own as well as in a column."""
    output = tmp_path / "PROF_000001_20260101000000000_ABCDEFGHIJKLMNOP" / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    header = "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Input Shapes\n"
    for iteration, slower in ((1, 0.0), (2, 0.25)):
        lines = [
            f'0,MatMul_{place},MatMul,AI_CORE,{10_000 * iteration + place * 200},{100 * (1 + slower * (place % 2))},"4,4"\n'
            for place in range(40)
        ]
        lines += [
            f"0,hcom_{place},hcom_allReduce_,HCCL,{10_000 * iteration + place * 200},150,\n"
            for place in range(1, 40, 2)
        ]
        (output / f"op_summary_0_1_{iteration}.csv").write_text(header + "".join(lines))
    found = {
        step: [
            row["lost_us"]
            for row in cli("communication", tmp_path, "--contention", "--step", step, "--format", "json").json[
                "contentions"
            ]
        ]
        for step in (1, 2, 3)
    }
    assert found == {1: [0.0], 2: [500.0], 3: []}
    assert cli("communication", tmp_path, "--contention").code == 0
    assert cli("communication", tmp_path).code != 0  # neither tables of communication nor a timeline
