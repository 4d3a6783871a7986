"""`communication`: a slow link and a slow rank that were planted are found by name; damage is said; the tail by hand."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from commandline import REAL, Cli, Ended, needs_real
from documents import check_output_schema

GROUP = "17522688603477080586"
RANKS = 4
MEGABYTES = 20


def times(elapsed: float, transit: float, wait: float) -> dict[str, Any]:
    """The time info of an operator; ms."""
    return {
        "Start Timestamp(us)": 1736408883705410.5, "Elapse Time(ms)": elapsed, "Transit Time(ms)": transit,
        "Wait Time(ms)": wait, "Synchronization Time(ms)": wait, "Idle Time(ms)": 0,
        "Wait Time Ratio": round(wait / (wait + transit), 4), "Synchronization Time Ratio": round(wait / (wait + transit), 4),
    }  # fmt: skip


def written(
    folder: Path,
    *,
    slow_rank: int | None = None,
    slow_link: tuple[int, int] | None = None,
    ranks: int = RANKS,
    slow_sender: int | None = None,
    hosts: int = 0,
    slow_host: int | None = None,
) -> Path:
    """Captures of four ranks of one job, two steps of two all-reduces each: 19 GB/s a link, 5 ms a rank that is late."""
    for rank in range(ranks):
        host = rank * hosts // ranks
        name = f"node{host}_{1000 + rank}_20250101000000000_ascend_pt" if hosts else f"rank{rank}_ascend_pt"
        output = folder / name / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        (output.parent / f"profiler_info_{rank}.json").write_text("{}")
        communication: dict[str, Any] = {}
        matrix: dict[str, Any] = {}
        for step in ("step1", "step2"):
            operators: dict[str, Any] = {}
            links: dict[str, Any] = {}
            for number in range(2):
                waits = 0.0 if slow_rank is None or rank == slow_rank else 5.0
                name = f"hcom_allReduce__586_{number}_1@{GROUP}"
                volume = {"Transit Size(MB)": 3 * MEGABYTES, "Transit Time(ms)": 3.0, "Bandwidth(GB/s)": MEGABYTES,
                          "Large Packet Ratio": 0.0, "Size Distribution": {}}  # fmt: skip
                operators[name] = {
                    "Communication Time Info": times(3.0 + waits, 3.0, waits),
                    "Communication Bandwidth Info": {"HCCS": volume, "SDMA": volume},
                }
                links[name] = {}
                for other in range(ranks):
                    ends = {host, other * hosts // ranks}
                    slow = slow_host in ends and len(ends) > 1
                    speed = 9.5 if (rank, other) == slow_link or rank == slow_sender or slow else 19.0
                    took = round(MEGABYTES / speed, 6)
                    links[name][f"{rank}-{other}"] = {
                        "Transport Type": "LOCAL" if rank == other else "HCCS", "Transit Size(MB)": MEGABYTES,
                        "Transit Time(ms)": took, "Bandwidth(GB/s)": round(MEGABYTES / took, 4),
                    }  # fmt: skip
            communication[step] = {"p2p": {}, "collective": operators}
            matrix[step] = {"p2p": {}, "collective": links}
        (output / "communication.json").write_text(json.dumps(communication))
        (output / "communication_matrix.json").write_text(json.dumps(matrix))
    return folder


def messages(ended: Ended, rule: str) -> list[str]:
    return [finding["message"] for finding in ended.json["findings"] if finding["rule"] == rule]


@pytest.mark.parametrize("link", [(2, 3), (3, 0)])
def test_the_slow_link_is_found_by_name(cli: Cli, tmp_path: Path, link: tuple[int, int]) -> None:
    ended = cli("communication", written(tmp_path, slow_link=link), "--format", "json")
    (message,) = messages(ended, "slow-link")
    assert message == (
        f"link {link[0]}-{link[1]} of group {GROUP} over HCCS: 50.0% of the bandwidth of links with the same work, an outlier "
        "in 4 of 4 comparisons; it took 4210.524 us longer than those links would have taken"
    )
    assert [(row["source_rank"], row["destination_rank"]) for row in ended.json["links"] if row["slow"]] == [link]
    assert messages(ended, "slow-rank") == []
    assert ended.code == 0


@pytest.mark.parametrize("rank", [0, 5])
def test_a_rank_of_slow_links_is_named_once(cli: Cli, tmp_path: Path, rank: int) -> None:
    ended = cli("communication", written(tmp_path, ranks=6, slow_sender=rank), "--format", "json")
    (message,) = messages(ended, "slow-link")
    assert message.startswith(
        f"all 5 links from rank {rank} of group {GROUP} over HCCS are slow, which took 21052.620 us"
    )
    check_output_schema(ended.json)
    assert message.count("(50.0%)") == 4, "the slowest links are the evidence"
    assert ended.json["slow_ends"] == [
        {
            "run": str(tmp_path), "group": GROUP, "rank": rank, "transport": "HCCS", "sends_slowly": True,
            "receives_slowly": False, "links": 5, "lost_us": 21052.62,
        }
    ]  # fmt: skip


def test_a_host_of_slow_links_is_named_once(cli: Cli, tmp_path: Path) -> None:
    job = written(tmp_path, ranks=12, hosts=6, slow_host=4)
    ended = cli("communication", job, "--format", "json")
    (message,) = messages(ended, "slow-link")
    assert message == (
        "host node4: 40 of the 40 links of its 2 ranks to and from other hosts over HCCS are slow, in the middle at 50.0% of the "
        "bandwidth of links with the same work, which took 168420.960 us longer: 8-0 (50.0%), 8-1 (50.0%), 8-2 (50.0%), 8-3 (50.0%), and 36 more"
    )
    assert ended.json["slow_hosts"] == [
        {
            "run": str(tmp_path), "host": "node4", "transport": "HCCS", "sends_slowly": True, "receives_slowly": True,
            "ranks": 2, "links": 40, "compared": 40, "relative_bandwidth_ratio": pytest.approx(0.5, abs=1e-5), "lost_us": 168420.96,
        }
    ]  # fmt: skip
    assert ended.json["slow_ends"] == []
    told = cli("communication", job).out
    assert told.index("Hosts with slow links") < told.index("Links\n")


@pytest.mark.parametrize("slow", [{"slow_sender": 5}, {"slow_link": (2, 7)}])
def test_a_slow_rank_or_link_blames_no_host(cli: Cli, tmp_path: Path, slow: dict[str, Any]) -> None:
    ended = cli("communication", written(tmp_path, ranks=12, hosts=6, **slow), "--format", "json")
    assert ended.json["slow_hosts"] == []
    (message,) = messages(ended, "slow-link")
    assert "host" not in message


def test_of_two_hosts_neither_can_be_told(cli: Cli, tmp_path: Path) -> None:
    job = written(tmp_path, ranks=4, hosts=2, slow_host=1)
    assert cli("communication", job, "--format", "json").json["slow_hosts"] == []


def test_links_are_held_against_what_the_chip_can_carry(cli: Cli, tmp_path: Path) -> None:
    job = written(tmp_path, slow_link=(2, 3))
    plain = cli("communication", job, "--format", "json").json["links"]
    assert {row["nominal_ratio"] for row in plain} == {None}
    for rank in job.iterdir():
        device = rank / f"PROF_000001_20250101000000000_{rank.name[4]}ABCDEFGHIJKLMNO" / "device_0"
        device.mkdir(parents=True)
        (device / "info.json.0").write_text(json.dumps({"platform_version": "5", "DeviceInfo": [{"id": 0}]}))
    found = cli("communication", job, "--format", "json").json["links"]
    shares = {row["nominal_ratio"] for row in found if row["transport"] == "HCCS"}
    assert sorted(shares) == pytest.approx([9.5 / 28, 19 / 28], abs=1e-6)
    assert {row["nominal_ratio"] for row in found if row["transport"] == "LOCAL"} == {None}


def pipeline(folder: Path, sends: int, receives: int, *, step: str = "step1") -> Path:
    """Two ranks of a pipeline: rank 0 sends so often, rank 1 receives so often."""
    for rank, (kind, count) in enumerate((("send", sends), ("receive", receives))):
        output = folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        (output.parent / f"profiler_info_{rank}.json").write_text("{}")
        operators = {
            f"hcom_{kind}__586_{number}_1@{GROUP}": {"Communication Time Info": times(3.0, 3.0, 0.0)}
            for number in range(count)
        }
        links = {
            f"hcom_{kind}__586_{number}_1@{GROUP}": {
                f"{rank}-{1 - rank}": {
                    "Transport Type": "HCCS", "Transit Size(MB)": 20.0, "Transit Time(ms)": 1.0, "Bandwidth(GB/s)": 20.0,
                }
            }
            for number in range(count)
        }  # fmt: skip
        (output / "communication.json").write_text(json.dumps({step: {"p2p": operators, "collective": {}}}))
        (output / "communication_matrix.json").write_text(json.dumps({step: {"p2p": links, "collective": {}}}))
    return folder


def test_sends_without_receives_are_said(cli: Cli, tmp_path: Path) -> None:
    ended = cli("communication", pipeline(tmp_path, 5, 3), "--format", "json")
    assert messages(ended, "unpaired-p2p") == [
        (
            f"5 sends and 3 receives in step 1 of group {GROUP}: its ranks did not record the same steps, or one does not answer "
            "(rank 0: 5 and 0, rank 1: 0 and 3)"
        )
    ]


@pytest.mark.parametrize("missing", [False, True])
def test_sends_that_match_and_groups_that_were_not_read_are_no_finding(cli: Cli, tmp_path: Path, missing: bool) -> None:
    job = pipeline(tmp_path, 5, 3 if missing else 5)
    if missing:
        shutil.rmtree(job / "rank1_ascend_pt")
    assert messages(cli("communication", job, "--format", "json"), "unpaired-p2p") == []


def test_groups_over_ranks_tell_the_spread_and_the_last_rank(cli: Cli, tmp_path: Path) -> None:
    (found,) = cli("communication", written(tmp_path, slow_rank=2), "--format", "json").json["groups"]
    assert found == {
        "run": str(tmp_path), "group": GROUP, "type": "collective", "op_type": "allreduce", "ranks": 4, "operators": 16,
        "elapsed_median_us": 32_000.0, "elapsed_p95_us": 32_000.0, "elapsed_worst_us": 32_000.0, "elapsed_worst_rank": None,
        "wait_median_us": 20_000.0, "wait_p95_us": 20_000.0, "wait_worst_us": 20_000.0, "wait_worst_rank": None,
        "collectives": 4, "skew_median_us": 5_000.0, "skew_p95_us": 5_000.0, "skew_worst_us": 5_000.0, "last_rank": 2,
        "last_in": 4, "waited_for_last_us": 60_000.0,
    }  # fmt: skip


@pytest.mark.parametrize(("ranks", "single"), [(16, True), (17, False)])
def test_people_see_what_matters_first_and_single_ranks_of_small_runs(
    cli: Cli, tmp_path: Path, ranks: int, single: bool
) -> None:
    job = written(tmp_path, ranks=ranks, slow_rank=1, slow_sender=2)
    told = cli("communication", job).out
    titles = [
        "Ranks that others wait for",
        "Ranks with slow links only",
        "Links",
        "Groups over all ranks",
        "Longest operators",
    ]
    places = [told.index(f"\n{title}\n") for title in titles]
    assert places == sorted(places)
    assert ("By rank, group and type of operator" in told) is single
    assert ("`--rank N` and JSON show single ranks." in told) is not single
    if not single:
        assert "By rank, group and type of operator" in cli("communication", job, "--rank", 3).out
        assert len(cli("communication", job, "--format", "json").json["rows"]) == ranks


@pytest.mark.parametrize("rank", [0, RANKS - 1])
def test_the_slow_rank_is_found_by_name(cli: Cli, tmp_path: Path, rank: int) -> None:
    ended = cli("communication", written(tmp_path, slow_rank=rank), "--format", "json")
    assert messages(ended, "slow-rank") == [
        (
            f"always the same rank: the others wait for rank {rank} of group {GROUP} in 4 of 4 operators in which ranks wait, "
            "60000.000 us in total"
        )
    ]
    assert messages(ended, "slow-link") == []
    assert [(row["rank"], row["waited_us"], row["slow"]) for row in ended.json["awaited"]] == [(rank, 60_000.0, True)]


def test_a_job_in_which_all_is_well_has_nothing_to_find(cli: Cli, tmp_path: Path) -> None:
    ended = cli("communication", written(tmp_path), "--format", "json")
    assert (ended.code, ended.json["findings"], ended.json["awaited"]) == (0, [], [])


def test_rows_by_rank_group_and_type(cli: Cli, tmp_path: Path) -> None:
    found = cli("communication", written(tmp_path, slow_rank=1), "--format", "json").json
    assert found["rows"][0] == {
        "run": str(tmp_path), "rank_id": 0, "group": GROUP, "type": "collective", "op_type": "allreduce", "operators": 4,
        "elapsed_us": 32_000.0, "transit_us": 12_000.0, "wait_us": 20_000.0, "synchronization_us": 20_000.0,
        "idle_us": 0.0, "wait_ratio": 0.625, "synchronization_ratio": 0.625, "transit_bytes": 240_000_000,
        "bus_gb_per_s": 20.0, "bus_nominal_ratio": None,
    }  # fmt: skip
    assert [row["rank_id"] for row in found["rows"]] == [0, 1, 2, 3]
    assert [(row["transport"], row["transit_bytes"], row["bandwidth_gb_per_s"]) for row in found["transports"][:2]] == [
        ("HCCS", 240_000_000, 20.0), ("SDMA", 240_000_000, 20.0),
    ]  # fmt: skip
    assert sum(row["transit_bytes"] for row in found["links"]) == RANKS * RANKS * 4 * MEGABYTES * 1_000_000


def test_rank_and_step_are_chosen(cli: Cli, tmp_path: Path) -> None:
    job = written(tmp_path, slow_rank=1, slow_link=(2, 3))
    found = cli("communication", job, "--rank", 2, "--step", 2, "--format", "json").json
    assert [(row["rank_id"], row["operators"]) for row in found["rows"]] == [(2, 2)]
    assert {row["step"] for row in found["operators"]} == {2}
    assert {row["source_rank"] for row in found["links"]} == {2}
    assert {row["transit_bytes"] for row in found["links"]} == {2 * MEGABYTES * 1_000_000}
    assert [row["of_operators"] for row in found["awaited"]] == [2]  # the other ranks are looked at all the same
    assert len(cli("communication", job, "--top", 3, "--format", "json").json["links"]) == 3
    few = cli("communication", job, "--top", 3, "--rows", 2).out
    assert few.count("The first 3 of 16 are listed; `--top 16` lists all.") == 2, "operators and links"
    assert "The first 2 of 3 rows are listed; `--rows 3` lists all." in few
    ended = cli("communication", job, "--step", 9, "--format", "json")
    assert (ended.code, ended.json["reasons"]) == (1, ["damage"])
    assert "no communication here (step 9)" in ended.out


def test_the_order_of_paths_makes_no_difference(cli: Cli, tmp_path: Path) -> None:
    written(tmp_path, slow_rank=1, slow_link=(2, 3))
    ranks = sorted(tmp_path.iterdir())
    forth = cli("communication", *ranks, "--format", "json").json
    back = cli("communication", *reversed(ranks), "--format", "json").json
    assert {**forth, "inputs": []} == {**back, "inputs": []}


def test_iterations_of_the_fixture_by_hand(cli: Cli, msprof: Path) -> None:
    ended = cli("communication", msprof / "ten_iterations", "--format", "json")
    tails = ended.json["tails"]
    assert [row["step"] for row in tails] == list(range(1, 11))
    assert tails[0] == {
        "run": str(msprof / "ten_iterations"), "rank_id": 0, "device_id": 0, "model_id": 2, "step": 1,
        "source": "step_trace", "iteration_us": 47587.81, "reduces": 2, "late_reduces": 2, "unmeasured_reduces": 0,
        "reduce_us": 9400.0, "hidden_us": 0.0, "tail_us": 9400.0, "tail_share": 9400 / 47587.81, "last_end_us": 9400.0,
        "room_us": 4264.0, "necessary_us": 0.0, "bound_us": 4264.0,
    } | {"run": tails[0]["run"]}  # fmt: skip
    (message,) = messages(ended, "gradient-tail")
    assert "can save at most 4264.000 us" in message


def test_a_bank_tells_its_segments_and_what_stays(cli: Cli, msprof: Path, aoe: Path) -> None:
    bank = aoe / "gradient_bank" / "Ascend910B_gradient_fusion.json"
    plain = cli("communication", msprof / "ten_iterations", "--format", "json").json
    told = cli("communication", msprof / "ten_iterations", "--bank", bank, "--format", "json").json
    assert [(row["modelhash"], row["segment"], row["first"], row["last"], row["size_bytes"]) for row in told["segments"]] == [
        ("12345678901234567890", 1, 0, 3, 1062816), ("987654321", 1, 0, 0, 512),
    ]  # fmt: skip
    assert plain["segments"] == []
    share = 1048576 / 1062816  # the last gradient of the model of which less stays
    assert {row["necessary_us"] for row in told["tails"]} == {round(9_400_000 * share) / 1000}
    beside = cli("communication", msprof / "ten_iterations", bank, "--format", "json").json
    assert beside["segments"] == told["segments"]
    assert (
        cli("communication", msprof / "ten_iterations", bank, "--bank", bank, "--format", "json").json["segments"]
        == (told["segments"])
    )


def test_a_bank_that_is_not_there_or_damaged_is_said_beside_the_rest(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    profile = msprof / "ten_iterations"
    gone = cli("communication", profile, "--bank", tmp_path / "no.json", "--format", "json")
    assert (gone.code, len(gone.json["tails"]), gone.rules() & {"unreadable"}) == (3, 10, {"unreadable"})
    bank = tmp_path / "Ascend910B_gradient_fusion.json"
    for text, rule, code in (
        ("[{", "json-truncated", 1),
        ("nonsense", "json-syntax", 1),
        ('[{"modelhash": 1}]', "schema", 1),
        ("", "json-truncated", 0),  # as CANN leaves it before gradients were tuned
    ):
        bank.write_text(text)
        ended = cli("communication", profile, "--bank", bank, "--format", "json")
        assert (ended.code, len(ended.json["tails"]), rule in ended.rules()) == (code, 10, True)


def trace(rank: int, late: int) -> list[dict[str, Any]]:
    """A timeline of one rank that waits for rank `late`."""
    events: list[dict[str, Any]] = [
        {"name": "process_name", "ph": "M", "pid": 9, "args": {"name": "Communication"}},
        {"name": "thread_name", "ph": "M", "pid": 9, "tid": 0, "args": {"name": "Group 0 Communication"}},
    ]
    events += [
        {"name": "thread_name", "ph": "M", "pid": 9, "tid": n + 1, "args": {"name": f"Plane {n}"}} for n in range(3)
    ]
    for number in range(2):
        begin = 1736408883705410 + 100_000 * number
        events.append(
            {
                "name": f"hcom_allReduce__586_{number}_1",
                "ph": "X",
                "pid": 9,
                "tid": 0,
                "ts": f"{begin}.000",
                "dur": 9000,
            }
        )
        for plane, peer in enumerate(other for other in range(RANKS) if other != rank):
            facts = {"src rank": rank, "dst rank": peer, "transport type": "SDMA", "link type": "HCCS"}
            waited = 8000 if peer == late else 3
            place = {"ph": "X", "pid": 9, "tid": plane + 1}
            events.append(
                {
                    "name": "Notify_Wait",
                    "ts": f"{begin}.000",
                    "dur": waited,
                    "args": {**facts, "size(Byte)": 0},
                    **place,
                }
            )
            events.append(
                {
                    "name": "Memcpy",
                    "ts": f"{begin + 8000}.000",
                    "dur": 500,
                    "args": {**facts, "size(Byte)": 10_000_000},
                    **place,
                }
            )
    return events


def test_a_timeline_of_one_rank_names_whom_it_waits_for(cli: Cli, tmp_path: Path) -> None:
    output = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output.parent / "profiler_info_0.json").write_text("{}")
    (output / "trace_view.json").write_text(json.dumps(trace(0, 2)))
    ended = cli("communication", tmp_path, "--format", "json")
    assert ended.code == 0
    (said,) = messages(ended, "slow-rank")
    assert said == (
        "always the same rank: the others wait for rank 2 of group 0, which was not captured, "
        "in 2 of 2 operators in which ranks wait, 16000.000 us in total"
    )
    links = {
        row["destination_rank"]: (row["transit_bytes"], row["transit_us"], row["wait_us"])
        for row in ended.json["links"]
    }
    assert links == {1: (20_000_000, 1000.0, 6.0), 2: (20_000_000, 1000.0, 16_000.0), 3: (20_000_000, 1000.0, 6.0)}
    assert [row["wait_us"] for row in ended.json["rows"]] == [None]
    assert len(messages(ended, "stands-in")) == 2


def test_a_timeline_that_is_damaged_is_said(cli: Cli, tmp_path: Path) -> None:
    output = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    path = output / "trace_view.json"
    whole = json.dumps(trace(0, 2))
    cut = whole[: len(whole) // 2]
    path.write_text(cut[: cut.rindex("}, {") + 1] + "]")
    mended = cli("communication", tmp_path, "--format", "json").json
    assert mended["rows"]
    assert mended["links"]
    path.write_text(cut)
    ended = cli("communication", tmp_path, "--format", "json")
    assert (ended.code, ended.json["rows"], ended.json["links"]) == (1, mended["rows"], mended["links"])
    assert [finding["path"] for finding in ended.json["findings"] if finding["severity"] == "error"] == [str(path)]
    path.write_text(whole.replace('"size(Byte)": 10000000', '"size(Byte)": -1', 1))
    ended = cli("communication", tmp_path, "--format", "json")
    assert messages(ended, "communication-task") == [
        "1 tasks of communication with damaged arguments; they are not included in the sums of links"
    ]
    assert sum(row["transit_bytes"] for row in ended.json["links"]) == 50_000_000


def damage(name: str, change: object) -> Any:
    """A change of one value somewhere in a document."""

    def change_in(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: change if key == name else change_in(inner) for key, inner in value.items()}
        return value

    return change_in


NO_NUMBERS = (-1, "x", None, [], {}, True, 1e300, 10**40, float("nan"), float("inf"), "NaN", "-5", "")
DAMAGED_KEYS = {
    "communication.json": {
        "Elapse Time(ms)": NO_NUMBERS, "Wait Time(ms)": (None, "NaN", "-5"), "Transit Size(MB)": (-1, 10**40),
        "Communication Time Info": (None, [], {}, "x"), "Communication Bandwidth Info": (None, [], {}, -1),
        "collective": (None, [], {}, ""), "HCCS": (None, [], {}, True),
    },
    "communication_matrix.json": {
        "Transit Size(MB)": NO_NUMBERS, "Transit Time(ms)": (-1, "x", 1e300), "Bandwidth(GB/s)": (None, "NaN", "-5"),
        "Transport Type": (None, [], ""), "collective": (None, [], {}, ""), "1-0": (None, [], {}, True),
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("file", "key", "change"),
    [(file, key, change) for file, keys in DAMAGED_KEYS.items() for key, changes in keys.items() for change in changes],
)
def test_a_damaged_value_is_said_and_in_no_sum(cli: Cli, tmp_path: Path, file: str, key: str, change: object) -> None:
    path = written(tmp_path, ranks=2) / "rank1_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / file
    whole = json.loads(path.read_text())
    path.write_text(json.dumps(damage(key, change)(whole)))
    ended = cli("communication", tmp_path, "--format", "json")
    assert ended.code in {0, 1}
    assert "Traceback" not in ended.err
    bad = [finding for finding in ended.json["findings"] if finding["severity"] != "info"]
    empty = change is None or change in ("", "NaN")
    # what is not told is null where it would stand, and an object that is empty tells of nothing; a name may be any text
    allowed = (key in {"Wait Time(ms)", "Bandwidth(GB/s)"} and empty) or key == "Transport Type"
    allowed = allowed or (change == {} and key in {"collective", "Communication Bandwidth Info"})
    assert bad or allowed, (key, change)
    assert all(finding["path"] for finding in bad)
    assert [row["rank_id"] for row in ended.json["rows"] if row["rank_id"] != 1] == [0]


@pytest.mark.parametrize("file", ["communication.json", "communication_matrix.json"])
def test_a_file_that_is_cut_off_anywhere_is_said(cli: Cli, tmp_path: Path, file: str) -> None:
    path = written(tmp_path) / "rank1_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / file
    whole = path.read_bytes()
    for length in (0, 1, len(whole) // 3, len(whole) - 1):
        path.write_bytes(whole[:length])
        ended = cli("communication", tmp_path, "--format", "json")
        assert ended.code == 1
        assert [finding["path"] for finding in ended.json["findings"] if finding["severity"] == "error"] == [str(path)]


def test_hostile_names_are_spelled_out(cli: Cli, tmp_path: Path) -> None:
    path = (
        written(tmp_path, slow_link=(1, 2)) / "rank1_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "communication_matrix.json"
    )
    for rank in range(RANKS):
        file = path.parents[2] / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / path.name
        file.write_text(file.read_text().replace(GROUP, "\\u001b[31m<script>alert(1)</script>"))
    assert "\x1b" not in cli("communication", tmp_path).out
    ended = cli("communication", tmp_path, "--format", "html")
    assert "<script>alert" not in ended.out
    assert "\x1b" not in ended.out + ended.err
    assert "\\x1b[31m" in ended.err


def test_a_volume_without_time_is_no_bandwidth(cli: Cli, tmp_path: Path) -> None:
    path = written(tmp_path) / "rank1_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "communication_matrix.json"
    path.write_text(json.dumps(damage("Transit Time(ms)", 0)(json.loads(path.read_text()))))
    ended = cli("communication", tmp_path, "--format", "json")
    assert ended.rules() == {"bandwidth-mismatch"}
    assert (ended.code, cli("communication", tmp_path, "--strict").code) == (0, 1)
    assert {row["bandwidth_gb_per_s"] for row in ended.json["links"] if row["source_rank"] == 1} == {None}


@needs_real
@pytest.mark.parametrize("level", ["level1", "level2"])
@pytest.mark.parametrize("form", ["text", "db"])
def test_the_real_ranks_agree_on_whom_they_wait_for(cli: Cli, form: str, level: str) -> None:
    """Two of eight ranks were captured: both wait for the same third one, in every operator in which they wait."""
    folder = REAL / "torch_npu_2025-01" / form / level
    whole = cli("communication", folder, "--format", "json").json
    (awaited,) = whole["awaited"]
    assert awaited["slow"]
    assert awaited["number"] not in {0, 1, None}
    assert (awaited["rank"], awaited["is_absent"]) == (None, True)
    for rank in sorted(folder.iterdir()):
        (own,) = cli("communication", rank, "--format", "json").json["awaited"]
        assert (own["number"], own["slow"]) == (awaited["number"], True)
    assert [row for row in whole["links"] if row["slow"]] == []


@needs_real
def test_the_rows_of_real_exports_add_up_to_their_own_totals(cli: Cli) -> None:
    for path in sorted(REAL.rglob("communication.json")):
        total: dict[str, float] = {}
        size: dict[str, float] = {}
        for types in json.loads(path.read_text()).values():
            for operators in types.values():
                stated = operators.get("Total Op Info", {})
                for name, value in stated.get("Communication Time Info", {}).items():
                    total[name] = total.get(name, 0) + value
                for transport, facts in stated.get("Communication Bandwidth Info", {}).items():
                    size[transport] = size.get(transport, 0) + facts["Transit Size(MB)"]
        found = cli("communication", path, "--top", 10_000, "--format", "json").json
        for name, key in (
            ("Elapse", "elapsed_us"),
            ("Transit", "transit_us"),
            ("Wait", "wait_us"),
            ("Idle", "idle_us"),
        ):
            assert sum(row[key] for row in found["rows"]) == pytest.approx(1000 * total[f"{name} Time(ms)"], abs=0.1)
        told: dict[str, int] = {}
        for row in found["transports"]:
            told[row["transport"]] = told.get(row["transport"], 0) + row["transit_bytes"]
        assert told == pytest.approx({name: 1e6 * value for name, value in size.items() if value}, abs=100)
        assert found["findings"] == [] or {f["rule"] for f in found["findings"]} <= {"slow-rank"}


@needs_real
@pytest.mark.parametrize("level", ["level1", "level2"])
def test_the_timeline_tells_the_same_of_links_as_the_matrix(cli: Cli, tmp_path: Path, level: str) -> None:
    for rank in (0, 1):
        source = REAL / "torch_npu_2025-01" / "text" / level / f"rank{rank}_ascend_pt"
        whole = cli("communication", source, "--format", "json").json["links"]
        alone = tmp_path / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        alone.mkdir(parents=True)
        shutil.copy(source / "ASCEND_PROFILER_OUTPUT" / "trace_view.json", alone)
        by_tasks = cli("communication", alone, "--format", "json").json["links"]

        def facts(rows: list[dict[str, Any]]) -> dict[tuple[int, int], tuple[int, float]]:
            return {
                (row["source_rank"], row["destination_rank"]): (row["transit_bytes"], row["transit_us"])
                for row in rows
                if row["transport"] == "HCCS"
            }

        assert len(facts(whole)) == len(facts(by_tasks)) == 7
        for link, (size, took) in facts(by_tasks).items():
            assert facts(whole)[link] == (size, pytest.approx(took, abs=0.2))


@needs_real
def test_the_tail_of_a_real_training(cli: Cli) -> None:
    """One all-reduce of all gradients, begun when the backward pass ends: nothing of it is hidden."""
    ended = cli("communication", REAL / "msprof_2023-08", "--format", "json")
    tails = ended.json["tails"]
    assert [(row["step"], row["source"], row["reduces"], row["hidden_us"]) for row in tails] == [
        (step, "timeline", 1, 0.0) for step in (1, 2, 3)
    ]
    assert [row["tail_us"] for row in tails] == [41534.3, 9303.05, 9213.81]
    assert all(row["bound_us"] == row["room_us"] < row["tail_us"] for row in tails)


def test_a_damaged_database_is_said(cli: Cli, tmp_path: Path) -> None:
    output = tmp_path / "rank3_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    connection = sqlite3.connect(output / "analysis.db")
    connection.execute(
        "CREATE TABLE StepTraceTime (step, computing, communication_not_overlapped, overlapped, communication, free)"
    )
    connection.execute(
        "CREATE TABLE CommAnalyzerMatrix (hccl_op_name, group_name, src_rank, dst_rank, transport_type, transit_size, "
        "transit_time, bandwidth, step, type, op_name)"
    )
    rows = [("allreduce-total", "g", 0, other, "HCCS", 61.2, 4.0 if other != 5 else 9.0, 15.3 if other != 5 else 6.8, "step50",
             "collective", "") for other in range(1, 8)]  # fmt: skip
    rows.append(("allreduce-total", "g", 0, 9, "HCCS", "much", 4.0, 15.3, "step50", "collective", ""))
    connection.executemany("INSERT INTO CommAnalyzerMatrix VALUES (?,?,?,?,?,?,?,?,?,?,?)", rows)
    connection.commit()
    connection.close()
    ended = cli("communication", tmp_path, "--format", "json")
    assert ended.code == 1
    assert "db-value" in ended.rules()
    assert [(row["source_rank"], row["destination_rank"]) for row in ended.json["links"] if row["slow"]] == [(0, 5)]


def test_a_rank_that_was_not_read_may_be_the_one_that_all_wait_for(cli: Cli, tmp_path: Path) -> None:
    folder = written(tmp_path / "in", slow_rank=3)
    shutil.rmtree(folder / "rank3_ascend_pt")
    ended = cli("communication", folder, "--format", "json")
    (said,) = messages(ended, "slow-rank")
    assert said == (
        f"all ranks that were read of group {GROUP} wait for a rank that was not captured, in 4 of 4 operators in which ranks "
        "wait, 60000.000 us in total"
    )
    for rank in range(3):
        _with_steps(folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT")
    headlines = cli("advise", folder, "--format", "json").json["headlines"]
    assert len(headlines) == 3
    for headline in headlines:
        assert headline["headline"].endswith(
            ": 20.00 of 32.00 ms of the communication is waiting for a rank that was not captured"
        )


def _with_steps(output: Path) -> None:
    header = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free"
    (output / "step_trace_time.csv").write_text(f"{header}\n1,1000,16000,0,16000,0\n2,1000,16000,0,16000,0\n")


@pytest.mark.parametrize(
    ("groups", "told", "in_short"),
    [
        ([[8, 9, 10, 11]], "10 (number 2 of group 0)", "10"),
        ([[8, 9, 10, 11], [8, 9, 10]], "10 (number 2 of group 0)", "10"),
        ([[8, 9, 10, 11], [8, 16, 24, 32]], "2 of group 0", "2 of group 0"),  # either may be the group
        ([[7, 8, 9, 10]], "2 of group 0", "2 of group 0"),
        ([], "2 of group 0", "2 of group 0"),
    ],
)
def test_a_rank_that_was_not_captured_has_one_name_in_both_questions(
    cli: Cli, tmp_path: Path, groups: list[list[int]], told: str, in_short: str
) -> None:
    output = tmp_path / "rank8_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output.parent / "profiler_info_8.json").write_text("{}")
    members = {f"g{n}": {"group_name": "default_group", "global_ranks": ranks} for n, ranks in enumerate(groups)}
    (output.parent / "profiler_metadata.json").write_text(json.dumps({"parallel_group_info": members}))
    (output / "trace_view.json").write_text(json.dumps(trace(0, 2)))
    (output / "communication.json").write_text("{}")
    _with_steps(output)
    (said,) = messages(cli("communication", tmp_path, "--format", "json"), "slow-rank")
    assert f"the others wait for rank {told}, which was not captured, in 2 of 2" in said
    (headline,) = cli("advise", tmp_path, "--format", "json").json["headlines"]
    assert headline["headline"].endswith(
        f": 16.00 of 32.00 ms of the communication is waiting for rank {in_short}, which was not captured"
    )


def test_more_slow_links_than_are_listed_are_counted(cli: Cli, tmp_path: Path) -> None:
    folder = written(tmp_path / "in")
    groups = [f"9{number:02}" for number in range(22)]
    for rank in range(RANKS):
        output = folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        for name in ("communication.json", "communication_matrix.json"):
            document = json.loads((output / name).read_text())
            for step in document.values():
                whole = step["collective"]
                step["collective"] = {
                    operator.replace(GROUP, group): json.loads(json.dumps(told))
                    for group in groups
                    for operator, told in whole.items()
                }
                if name == "communication_matrix.json" and rank == 2:
                    for links in step["collective"].values():
                        links["2-3"] |= {"Transit Time(ms)": 2 * MEGABYTES / 19.0, "Bandwidth(GB/s)": 9.5}
            (output / name).write_text(json.dumps(document))
    found = messages(cli("communication", folder, "--format", "json"), "slow-link")
    assert len(found) == 21
    assert found.count("and 2 more of this kind") == 1


TRACE = "Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),Iteration Refresh(us),Data Aug Bound(us),Model ID,Reduce Start(us),Reduce Duration(us)"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["1,1000,1700,1800,900,700,100,0,1,1690,60"], ["model 1: in 1 iterations, on average 50.000 us of all-reduce (5.6% of the iteration) run after the backward pass, 83.3% of all all-reduce time; gradient tuning can save at most 50.000 us"]),
        (["1,1000,1700,1800,900,700,100,0,1,1690,60", "2,2000,2700,2900,900,700,100,0,1,2650,100"], ["model 1: in 2 iterations, on average 50.000 us of all-reduce (5.6% of the iteration) run after the backward pass, 62.5% of all all-reduce time; gradient tuning can save at most 50.000 us"]),
        (["1,1000,1700,1800,900,700,100,0,1,1600,60"], []),
        (["1,1000,1700,1800,900,700,100,0,1,1690,60,1760,N/A"], ["1 all-reduces of step_trace have no duration: the tail after the backward pass may be longer", "model 1: in 1 iterations, on average 50.000 us of all-reduce (5.6% of the iteration) run after the backward pass, 83.3% of all all-reduce time; gradient tuning can save at most 50.000 us"]),
    ],
)  # fmt: skip
def test_what_all_reduce_behind_the_backward_pass_costs_is_said(
    cli: Cli, tmp_path: Path, rows: list[str], said: list[str]
) -> None:
    output = tmp_path / "PROF_000001_20260605155111872_ABCDEFGHIJKLMNOP" / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    (output / "step_trace_20260605155140.csv").write_text(
        "\n".join(
            [TRACE + ",Reduce Start(us),Reduce Duration(us)" * (rows[0].count(",") > TRACE.count(",")), *rows, ""]
        )
    )
    ended = cli("communication", tmp_path, "--format", "json")
    assert [one["message"] for one in ended.json["findings"] if one["rule"] == "gradient-tail"] == said
