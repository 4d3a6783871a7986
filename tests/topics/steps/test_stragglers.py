"""`stragglers`: the rank that a job waits for comes first, with what it loses in; where there is none, nobody is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import Cli
from planted_ranks import EVERY, SOURCE, STEPS, write_job, write_rank

from aoe_reports.model.shares import percent


def headline(cli: Cli, *arguments: object) -> str:
    return cli("stragglers", *arguments).out.split("\n", 1)[0]


def test_a_slow_chip_among_sixteen_ranks(cli: Cli, tmp_path: Path) -> None:
    write_job(tmp_path, 16, {7: dict.fromkeys(EVERY, 1.06)})
    ended = cli("stragglers", tmp_path, "--format", "json")
    first, *others = ended.json["rows"]
    assert (ended.code, ended.err) == (0, "")
    assert (first["position"], first["rank_id"], first["state"], first["cause"]) == (1, 7, "slow", "all operators")
    assert (first["peers"], first["role"], first["slower_types"], first["types"]) == (15, 1, 6, 6)
    assert first["slower"] == pytest.approx(0.06, abs=0.005)
    assert first["lost_us"] == pytest.approx(first["computing_us"] - first["median_us"])
    assert first["op_type"] == "Conv2D"
    assert {row["state"] for row in others} == {"usual"}
    assert sorted(row["rank_id"] for row in ended.json["rows"]) == list(range(16))
    types = ended.json["operators"]
    assert [(row["rank_id"], row["op_type"]) for row in types] == [(7, "Conv2D"), (7, "MatMulV2"), (7, "Cast")]
    assert all(row["slower"] == pytest.approx(0.06, abs=0.01) for row in types)
    assert headline(cli, tmp_path) == (
        f"Rank 7 computes {percent(first['slower'])} longer than the median of its 15 peers "
        f"({first['median_us'] / 1000:.3f} → {first['computing_us'] / 1000:.3f} ms); 6 of 6 operator types are slower: "
        "look at the chip (frequency, temperature), not at an operator."
    )


def test_a_slow_operator_among_sixteen_ranks(cli: Cli, tmp_path: Path) -> None:
    write_job(tmp_path, 16, {3: {"MatMulV2": 1.5}})
    first, second = cli("stragglers", tmp_path, "--top", 2, "--format", "json").json["rows"]
    assert (first["rank_id"], first["state"], first["cause"], first["op_type"]) == (
        3,
        "slow",
        "one operator",
        "MatMulV2",
    )
    assert second["state"] == "usual"
    assert "operator type MatMulV2 takes 11" in headline(cli, tmp_path)
    assert "look at it, not at the chip." in headline(cli, tmp_path)


def test_several_slow_operators_point_at_neither(cli: Cli, tmp_path: Path) -> None:
    write_job(
        tmp_path,
        16,
        {3: {"MatMulV2": 1.3, "Cast": 1.5, "TransData": 1.5, "Conv2D": 0.98, "Relu": 0.5, "DSAGenBitMask": 0.5}},
    )
    assert headline(cli, tmp_path).endswith("; 3 of 6 operator types are slower.")


def test_several_slow_ranks_are_counted(cli: Cli, tmp_path: Path) -> None:
    slow = {rank: dict.fromkeys(EVERY, 1.05 + rank / 100) for rank in (2, 5, 11)}
    rows = cli("stragglers", write_job(tmp_path, 16, slow), "--format", "json").json["rows"]
    assert [(row["rank_id"], row["state"]) for row in rows[:4]] == [(11, "slow"), (5, "slow"), (2, "slow"), (rows[3]["rank_id"], "usual")]  # fmt: skip
    assert headline(cli, tmp_path).startswith("Rank 11 computes 1")
    assert headline(cli, tmp_path).endswith("; 2 other ranks are slow, too.")


def test_stages_of_a_pipeline_are_compared_each_by_itself(cli: Cli, tmp_path: Path) -> None:
    """Ranks 6 to 11 have twice the layers; rank 2 is the slow one, although it computes less than all of them."""
    for rank in range(12):
        write_rank(tmp_path, rank, dict.fromkeys(EVERY, 1.04) if rank == 2 else None, layers=1 if rank < 6 else 2)
    rows = cli("stragglers", tmp_path, "--format", "json").json["rows"]
    assert (rows[0]["rank_id"], rows[0]["state"], {row["peers"] for row in rows}) == (2, "slow", {5})
    assert {row["role"]: row["rank_id"] < 6 for row in rows} == {1: True, 2: False}
    assert [row["rank_id"] for row in rows if row["state"] == "slow"] == [2]
    assert "Role" in cli("stragglers", tmp_path).out


def test_who_is_waited_for_waits_least(cli: Cli, tmp_path: Path) -> None:
    for rank in range(8):
        slow = rank == 5
        write_rank(tmp_path, rank, dict.fromkeys(EVERY, 1.1) if slow else None, waits=100 if slow else 167)
    ended = cli("stragglers", tmp_path, "--format", "json")
    first, *others = ended.json["rows"]
    told = (first["steps"], first["communication_not_overlapped_us"], first["communication_median_us"])
    assert told == (2, 100.0, 167.0)
    assert {row["communication_not_overlapped_us"] for row in others} == {167.0}
    assert "; its peers wait for it: 100.0 us of its communication per step is not overlapped, 167.0 us is the median." in headline(cli, tmp_path)  # fmt: skip


def test_the_table_of_a_cluster_tells_what_ranks_wait_that_have_no_table(cli: Cli, tmp_path: Path) -> None:
    for rank in range(8):
        slow = rank == 5
        write_rank(tmp_path, rank, dict.fromkeys(EVERY, 1.1) if slow else None, waits=170 if rank == 2 else None)
    cluster = tmp_path / "cluster_analysis_output"
    cluster.mkdir()
    header = STEPS.replace("Step,", "Step,Type,Index,")
    waits = {rank: 100 if rank == 5 else 167 for rank in range(8)}
    lines = [f"{step},rank,{rank},670,{waits[rank]},0,{waits[rank]},100" for step in (50, 51) for rank in range(8)]
    lines.append('50,stage,"(0, 1)",670,900,0,900,100')
    (cluster / "cluster_step_trace_time.csv").write_text("".join(f"{line}\n" for line in [header, *lines]))
    rows = {row["rank_id"]: row for row in cli("stragglers", tmp_path, "--format", "json").json["rows"]}
    told = {rank: (row["steps"], row["communication_not_overlapped_us"]) for rank, row in rows.items()}
    assert told == {rank: (2, 170.0 if rank == 2 else float(wait)) for rank, wait in waits.items()}
    assert "; its peers wait for it: 100.0 us of its communication" in headline(cli, tmp_path)


def test_a_damaged_table_of_a_cluster_leaves_computing_as_it_is(cli: Cli, tmp_path: Path) -> None:
    write_job(tmp_path, 8, {5: dict.fromkeys(EVERY, 1.1)})
    cluster = tmp_path / "cluster_analysis_output"
    cluster.mkdir()
    (cluster / "cluster_step_trace_time.csv").write_bytes(b"Step,Type,Index\n\x00\xff\n")
    ended = cli("stragglers", tmp_path, "--format", "json")
    assert (ended.json["rows"][0]["rank_id"], ended.json["rows"][0]["state"]) == (5, "slow")
    assert any("cluster_step_trace_time" in finding["path"] for finding in ended.json["findings"])


@pytest.mark.parametrize(("less", "told"), [(10.1, True), (9.9, False)])
def test_peers_wait_where_half_of_the_excess_is_missing_in_communication(
    cli: Cli, tmp_path: Path, less: float, told: bool
) -> None:
    """Rank 5 takes 20 us a step more for one operator, all else is alike."""
    for rank in range(6):
        output = write_rank(tmp_path, rank, waits=100 - less if rank == 5 else 100)
        lines = (SOURCE / "kernel_details.csv").read_text().splitlines(keepends=True)
        if rank == 5:
            lines = [line.replace(",113.419,", ",133.419,").replace(",114.116,", ",134.116,") for line in lines]
        (output / "kernel_details.csv").write_text("".join(lines))
    assert ("wait for it" in headline(cli, tmp_path)) is told


def test_that_peers_wait_is_not_said_of_one_that_waits_itself(cli: Cli, tmp_path: Path) -> None:
    for rank in range(8):
        write_rank(tmp_path, rank, dict.fromkeys(EVERY, 1.1) if rank == 5 else None, waits=167 if rank != 5 else 150)
    assert "Rank 5" in headline(cli, tmp_path)
    assert "wait for it" not in headline(cli, tmp_path)


def test_two_ranks_have_no_verdict(cli: Cli, tmp_path: Path) -> None:
    write_job(tmp_path, 2, {1: dict.fromkeys(EVERY, 1.2)})
    first, second = cli("stragglers", tmp_path, "--format", "json").json["rows"]
    assert (first["rank_id"], first["peers"], first["state"], first["deviations"]) == (1, 1, None, None)
    assert first["slower"] == pytest.approx(0.09, abs=0.01)
    assert second["slower"] == pytest.approx(-first["slower"])
    said = headline(cli, tmp_path)
    assert said.startswith("Rank 1 computes 9.")
    assert "longer than the median of itself and its peer" in said
    assert said.endswith("; fewer than 4 peers: no verdict.")


def test_two_ranks_of_noise_are_not_told_where_to_look(cli: Cli, tmp_path: Path) -> None:
    ended = cli("stragglers", write_job(tmp_path, 2, {}))
    assert "look at" not in ended.out
    assert "Where slow ranks lose most" not in ended.out


def test_ranks_that_are_equal_to_the_nanosecond(cli: Cli, tmp_path: Path) -> None:
    table = write_rank(tmp_path, 0) / "kernel_details.csv"
    (write_rank(tmp_path, 1) / "kernel_details.csv").write_text(table.read_text())
    assert headline(cli, tmp_path) == "No rank of 2 computes longer than its peers; fewer than 4 peers: no verdict."


def test_a_run_of_one_rank_says_that_there_are_no_peers(cli: Cli, tmp_path: Path) -> None:
    write_rank(tmp_path, 4)
    ended = cli("stragglers", tmp_path, "--format", "json")
    (one,) = ended.json["rows"]
    assert (ended.code, one["rank_id"], one["peers"]) == (0, 4, 0)
    assert {one[key] for key in ("median_us", "slower", "lost_us", "deviations", "state", "slower_types", "types")} == {None}  # fmt: skip
    (finding,) = ended.json["findings"]
    assert (finding["rule"], finding["severity"]) == ("no-peers", "info")
    assert headline(cli, tmp_path) == "One rank only: it has no peers."


def test_ranks_without_peers_are_named(cli: Cli, tmp_path: Path) -> None:
    for rank in range(7):
        write_rank(tmp_path, rank, layers=2 if rank == 6 else 1)
    ended = cli("stragglers", tmp_path, "--format", "json")
    (finding,) = ended.json["findings"]
    assert finding["message"] == "rank 6: no other rank runs the same operators equally often"
    assert headline(cli, tmp_path) == (
        "No rank of 6 computes notably longer than its peers; 1 more has too few for a verdict."
    )
    for rank in (7, 8):
        write_rank(tmp_path / "others", rank, layers=rank)
    assert headline(cli, tmp_path / "others") == "None of 2 ranks has peers."


def test_a_rank_that_cannot_be_read_is_a_finding_and_the_others_are_compared(cli: Cli, tmp_path: Path) -> None:
    write_job(tmp_path, 9, {7: dict.fromkeys(EVERY, 1.06)})
    output = tmp_path / "rank3_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    (output / "kernel_details.csv").write_bytes(b"\x00\xff" * 400)
    ended = cli("stragglers", tmp_path, "--format", "json")
    assert ended.code in {1, 3}
    assert any("rank3_ascend_pt" in finding["path"] and finding["severity"] == "error" for finding in ended.json["findings"])  # fmt: skip
    assert [row["rank_id"] for row in ended.json["rows"] if row["state"] == "slow"] == [7]
    assert {row["peers"] for row in ended.json["rows"]} == {7}
    (output / "kernel_details.csv").unlink()
    ended = cli("stragglers", tmp_path, "--format", "json")
    assert (ended.code, {row["peers"] for row in ended.json["rows"]}) == (0, {7})


def test_damaged_steps_leave_computing_as_it_is(cli: Cli, tmp_path: Path) -> None:
    write_job(tmp_path, 6, {2: dict.fromkeys(EVERY, 1.06)}, waits=100.0)
    output = tmp_path / "rank2_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    (output / "step_trace_time.csv").write_text(f"{STEPS}\n50,670,100\n")
    ended = cli("stragglers", tmp_path, "--format", "json")
    first = ended.json["rows"][0]
    assert (ended.code, "csv-ragged-row" in ended.rules()) == (1, True)
    assert (first["rank_id"], first["state"], first["steps"], first["communication_median_us"]) == (2, "slow", None, 100.0)  # fmt: skip


def test_top_limits_the_rows_and_says_so(cli: Cli, tmp_path: Path) -> None:
    write_job(tmp_path, 8, {})
    ended = cli("stragglers", tmp_path, "--top", 3)
    assert "The first 3 of 8 are listed; `--top 8` lists all." in ended.out
    assert len(cli("stragglers", tmp_path, "--top", 3, "--format", "csv").out.splitlines()) == 4
    assert cli("stragglers", tmp_path, "--top", 0).code == 2


def test_two_runs_are_named(cli: Cli, tmp_path: Path) -> None:
    write_job(tmp_path / "a", 6, {})
    write_job(tmp_path / "b", 6, {4: dict.fromkeys(EVERY, 1.2)})
    rows = cli("stragglers", tmp_path, "--format", "json").json["rows"]
    assert [row["position"] for row in rows] == [*range(1, 7), *range(1, 7)]
    assert {row["peers"] for row in rows} == {5}
    assert headline(cli, tmp_path).startswith(f"Rank 4 of {tmp_path / 'b'} computes ")


def test_a_slow_host_is_told_once_before_single_ranks(cli: Cli, tmp_path: Path) -> None:
    for number in range(24):
        host, slow = number // 4, 2 if number // 4 == 3 else 1
        home = tmp_path / f"node{host}_{100 + number}_202601010000000{number:02}_ascend_pt"
        (home / "ASCEND_PROFILER_OUTPUT").mkdir(parents=True)
        (home / f"profiler_info_{number}.json").write_text("{}")
        rows = "".join(f"0,a{one},A{one},AI_CORE,{one}.0,{slow}00.{number:02}\n" for one in range(5))
        header = "Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
        (home / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").write_text(header + rows)
    told = cli("stragglers", tmp_path)
    assert told.out.startswith(
        "Host node3 is slow: 4 of its 4 ranks are, and the median of them computes 100% longer than its peers; look at the host"
    )
    assert told.out.index("\nHosts\n") < told.out.index("Largest loss")
    found = cli("stragglers", tmp_path, "--format", "json").json
    assert [(one["host"], one["ranks"], one["slow_ranks"], one["state"]) for one in found["hosts"]][:2] == [
        ("node3", 4, 4, "slow"), ("node5", 4, 0, "usual"),
    ]  # fmt: skip
    assert {one["host"] for one in found["rows"][:4]} == {"node3"}
