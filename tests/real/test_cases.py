"""Inputs that went wrong for somebody, and every real export, through the command line; skipped where there are none."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from captures import QUIET, write_night
from commandline import FIXTURES, ROOT, Cli
from jobs.test_notification import receiver
from real.test_oracles import DATA
from stores import store_at_once

from aoe_reports.simulation.nights import write_nights
from aoe_reports.topics.records.options import RecordOptions

CASES = Path(os.environ.get("AOE_REPORTS_CASES", ROOT.parent / "shared" / "cases"))
TORCH = DATA / "msprof" / "torch_npu_2025-01"
TWO_RANKS = FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks"
with_cases = pytest.mark.skipif(not CASES.is_dir(), reason=f"no cases in {CASES}")
with_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"no real exports in {DATA}")


@dataclass(frozen=True)
class Case:
    """A command on a folder, and what it has to answer."""

    name: str
    command: str
    """`{}` is the folder of the case; without one the folder stands behind the command."""
    code: int | None = 0
    """None where it is not stated."""
    has: tuple[str, ...] = ()
    """Patterns that stdout or stderr have to match."""
    hasnt: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}: {self.command}"


TABLE = (
    Case("advise-negative-saving", "advise", None, ("Overlapped",), ("at most -",)),
    Case("aoe_writer_all_hit", "check", 0, (), ("required property",)),
    Case("aoe_writer_failed", "check", 1, ("tuning-failed",), ("required property",)),
    Case("aoe_writer_filler", "check", 0, ("warning.*unmeasured",)),
    Case("bank_placeholder", "check", 0, (), ("error:",)),
    Case("c01_same_stream_overrun", "check", 1, (r"kernel_details\.csv:22: error.*\[stream-overlap\]",)),
    Case("c01_same_stream_overrun", "check {}/trace", 1, (r"trace_view\.json: error: MatMul_0.*\[stream-overlap\]",)),
    Case("c01_same_stream_overrun", "advise {}/trace", None, ("^Times of tasks contradict each other",)),
    Case("c01_same_stream_overrun", "hotspots {}/h_1_20260906010305656_ascend_pt", 1, (r"\[stream-overlap\]",)),
    Case("c03_sync_tasks", "breakdown {}/h_1_20260906010305656_ascend_pt", None, ("(?i)wait.*event|event.*wait",)),
    Case("c03_sync_tasks", "host {}/h_1_20260906010305656_ascend_pt", 0, (r"81\.8% of its time for an event",)),
    Case(
        "c03_sync_tasks",
        "advise {}/h_1_20260906010305656_ascend_pt",
        0,
        ("(?i)waits? for an? events?",),
        ("launches late",),
    ),
    Case("c04_one_slow_allreduce", "advise", None, (r"3[45],?\d\d\d times",)),
    Case("c08_two_streams", "advise", None, (), (r"1[0-9]{2}\.[1-9]%|190\.0%",)),
    Case("c08_two_streams", "hotspots", 0, ("(?i)beside each other|overlap|at the same time",)),
    Case("c15_no_closing_bracket", "hotspots", None, (r"Total \(", r"trace_view\.json.*(cut|ends)")),
    Case("c15_trailing_comma", "hotspots", None, (r"Total \(",)),
    Case("c16_object_form", "hotspots", 0, (r"Total \(",), ("error:",)),
    Case("c20_kernels_outside_steps", "quality", None, ("outside",), (r"Worth reading: yes\.",)),
    Case("c23_rank_without_kernels", "check", None, ("(?i)rank 2",)),
    Case("c23_rank_without_kernels", "quality", None, ("(?i)rank 2",)),
    Case("c38_clock_jump", "check", 0, (r"kernel_details\.csv:12: warning.*\[stream-order\]",)),
    Case("c38_clock_jump", "hotspots", 0, (r"\[stream-order\]",)),
    Case(
        "c38_clock_jump", "advise", None, (r"\[stream-order\]", "^Times of tasks contradict"), ("3,599,999", "100.0%")
    ),
    Case("claim-contradicts-exit0", "check", 1),
    Case("duplicate-key-in-args", "hotspots {}/with_odd_event", 1, (r"AI_CORE +5 +50\.00 ", r":6:122: error.*twice")),
    Case("duplicate-key-in-args", "check {}/with_odd_event", 1, (r":6:122: error.*twice",)),
    Case("native-escaped-digits", "check", 0, ("pass",), ("error:", "warning:")),
    Case("native-escaped-digits", "table trace_view {}", 0, (r",AI_CORE,5,1,",)),
    Case("steps_lost_beside_kernel_details", "steps", 0, (r"605\.0",)),
    Case("duplicate-key-in-args", "hotspots {}/quiet", 1, (r"AI_CORE +5 +50\.00 ", r":6:122: error.*twice")),
    Case("steps_lost_beside_kernel_details", "hotspots --step 1 --format json", 0, (r'"count": ?[1-6]\b',)),
)


ONE_READER = "two ways to read a file judge it differently; one reader for all questions ends that"
AWAITED = (
    pytest.param(
        Case("duplicate-key-in-args", "check {}/quiet", 1, (r":6:122: error.*twice",)),
        marks=pytest.mark.xfail(strict=True, reason=ONE_READER),
    ),
)
"""What a case has to answer, and does not yet."""


def judge(case: Case, folder: Path, cli: Cli) -> None:
    words = [word.replace("{}", str(folder)) for word in case.command.split()]
    ended = cli(*words, *([] if "{}" in case.command else [folder]))
    said = ended.out + ended.err
    assert case.code in {None, ended.code}, said
    assert [pattern for pattern in case.has if not re.search(pattern, said)] == [], said
    assert [pattern for pattern in case.hasnt if re.search(pattern, said)] == [], said


@with_cases
@pytest.mark.parametrize("case", [*TABLE, *AWAITED], ids=str)
def test_a_case_has_its_right_answer(case: Case, cli: Cli) -> None:
    judge(case, CASES / case.name, cli)


@with_cases
def test_a_run_of_a_wrong_clock_costs_no_page(cli: Cli, tmp_path: Path) -> None:
    store = tmp_path / "store"
    cli("ingest", CASES / "site-crash-wrong-clock" / "records.jsonl", "--store", store)
    assert cli("site", "--store", store, "-o", tmp_path / "site").code == 0
    assert (tmp_path / "site" / "index.html").is_file()


@with_cases
def test_the_headline_of_a_claim_is_that_of_its_row(cli: Cli, tmp_path: Path) -> None:
    """409 to 379 us is 7.33 % less, where no operator of the profiles has that name."""
    before, *_, after = write_nights(tmp_path, nights=3)
    claims = CASES / "verify-headline" / "claims.csv"
    ended = cli("verify", "--claims", claims, before, after)
    assert ended.out.splitlines()[0].startswith("Not comparable: no claimed operator can be compared; step unchanged")
    assert re.search(r"not/there +not-comparable +409\.0 +379\.0 .*-7\.33%", ended.out)
    assert "0.0% more" not in ended.out + ended.err
    assert ended.code == 1


def test_a_receiver_that_repeats_the_key_has_it_printed_nowhere(cli: Cli, tmp_path: Path) -> None:
    write_nights(tmp_path / "nights", nights=1)
    with receiver() as hook:
        hook.code, hook.answer = 400, b'{"errcode": 93000, "errmsg": "invalid webhook key SECRETKEY"}'
        address = f"{hook.address.rpartition('/services')[0]}/hook?key=SECRETKEY"
        asked = ("nightly", tmp_path / "nights", "--store", tmp_path / "s", "--workload", "net", "--notify", address)
        ended = cli(*asked, "--site", tmp_path / "site")
    assert (ended.code, len(hook.requests)) == (3, 1)
    assert "failed: the answer is 400" in ended.err
    assert "SECRETKEY" not in ended.out + ended.err
    written = [path for path in tmp_path.rglob("*") if path.is_file() and b"SECRETKEY" in path.read_bytes()]
    assert written == []


@pytest.mark.slow
def test_a_rank_that_two_nights_lack_is_missing(cli: Cli, tmp_path: Path) -> None:
    """Twenty nights of four ranks, then two of three."""
    for number in range(22):
        for rank in range(4 if number < 20 else 3):
            write_night(tmp_path / f"{number:02}", number, QUIET, rank=rank)
    stored = [tmp_path / f"{number:02}" for number in range(20)]
    store_at_once(stored, tmp_path / "store", RecordOptions(workload="net", tz="UTC"))
    given = ("--store", tmp_path / "store", "--workload", "net", "--tz", "UTC", "--strict-data", "--format", "json")
    for number in (20, 21):
        ended = cli("nightly", tmp_path / f"{number}", *given)
        assert (ended.code, ended.json["reasons"]) == (4, ["expected-absent"])
        assert ended.json["headline"].endswith("Not measured: rank 3 of net.")
        (message,) = [one["message"] for one in ended.json["findings"] if one["rule"] == "expected-absent"]
        assert message.startswith(f"rank 3 is missing: not on 2026-03-{number + 1}, and each of the 20 nights before")


def without_strings(folder: Path) -> None:
    """A database of rank 1 without its texts."""
    shutil.copytree(TORCH / "db" / "level2", folder)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (database,) = folder.rglob("ascend_pytorch_profiler_1.db")
    with sqlite3.connect(database) as connection:
        connection.execute("DROP TABLE STRING_IDS")
    connection.close()


def of_one_rank(folder: Path) -> None:
    """A run of two ranks of which one was not captured."""
    shutil.copytree(TORCH / "text" / "level2" / "rank0_ascend_pt", folder / "rank0_ascend_pt")


def of_other_steps(folder: Path) -> None:
    """Two ranks, the second of which has step 51 only."""
    shutil.copytree(TWO_RANKS, folder)
    table = folder / "rank1_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    table.write_text(re.sub(r"(?m)^50,", "51,", table.read_text()))
    for other in table.parent.iterdir():
        if other != table:
            other.unlink()


def of_two_archives(folder: Path) -> None:
    """Two archives of a rank each, one behind the other."""
    folder.mkdir()
    parts = [
        Path(shutil.make_archive(str(folder / f"r{rank}"), "gztar", TWO_RANKS, f"rank{rank}_ascend_pt"))
        for rank in (0, 1)
    ]
    (folder / "both.tar.gz").write_bytes(b"".join(part.read_bytes() for part in parts))


def of_a_row_twice(folder: Path) -> None:
    """A table of 1.6 MB in which one row stands twice, with its time written in another way."""
    header = "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"
    rows = [f"0,{'layer/' * 25}op{number},MatMul,AI_CORE,{1000 + 20 * number}.0,12.345\n" for number in range(9000)]
    rows.insert(5, rows[4].replace("12.345", "12.3450"))
    path = folder / "PROF_1" / "mindstudio_profiler_output" / "op_summary_20240101000000.csv"
    path.parent.mkdir(parents=True)
    path.write_text(header + "".join(rows))


_STRINGS = Case("db-no-string-ids", "", 1, ("error",), (r"-31\.6%", r"-100\.0%", r"10\.741"))
_BEFORE = str(TORCH / "db" / "level2")
_RANK_1 = (r'"rank_id": ?1\b|rank 1|rank1',)
MADE: tuple[tuple[Case, Callable[[Path], None]], ...] = (
    *(
        (Case(_STRINGS.name, f"{command} {{}}", 1, _STRINGS.has, _STRINGS.hasnt), without_strings)
        for command in ("breakdown", f"explain {_BEFORE}", f"compare {_BEFORE}")
    ),
    (
        Case(_STRINGS.name, "stragglers {}", 1, ("Only 1 of 2 ranks could be compared",), _STRINGS.hasnt),
        without_strings,
    ),
    (Case("explain-missing-rank", f"explain {TORCH / 'text' / 'level2'} {{}}", None, ("(?i)rank 1",)), of_one_rank),
    *(
        (Case("step-drops-rank", f"{command} {{}} --step 50", None, (r"(?i)rank 1\b",)), of_other_steps)
        for command in ("hotspots", "steps", "advise")
    ),
    (Case("tar-concatenated", "hotspots {}/both.tar.gz --format json", None, _RANK_1), of_two_archives),
    *(
        (Case("double-row-pure-reader", command, 1, (r"\.csv:7: error: .*\[duplicate-row\]",)), of_a_row_twice)
        for command in (
            "check",
            *(f"hotspots {{}} --all-tasks --by {key}" for key in ("op_type", "op_name", "shape")),
        )
    ),
)


@with_data
@pytest.mark.parametrize(
    ("case", "make"),
    MADE,
    ids=lambda one: str(one).replace(str(ROOT.parent), "") if isinstance(one, Case) else "",
)
def test_a_case_that_is_made_has_its_right_answer(
    case: Case, make: Callable[[Path], None], cli: Cli, tmp_path: Path
) -> None:
    make(tmp_path / "w")
    judge(case, tmp_path / "w", cli)


ALONE = frozenset(
    {
        "c11_bench_latency",
        "c26_bench_text",
        "missing-rank-tonight",
        "notify-echo",
        "site-crash-wrong-clock",
        "verify-headline",
    }
)
"""Cases that have tests of their own, here and in test_benchmarks.py."""


@with_cases
def test_every_case_has_its_answer_here() -> None:
    there = {path.name for path in CASES.iterdir() if path.is_dir()}
    assert there == {case.name for case in TABLE} | {case.name for case, _ in MADE} | ALONE


CLEAN = ("error:", "warning:")
EXPORTS = (
    Case("mindspore_profiler/JOB_AICPU", "check", 0, (r"warning.*\[not-read\]",), ("error:",)),
    Case("mindspore_profiler/cluster_propose", "check", 0, (r"info.*\[not-read\]",), CLEAN),
    Case("mindspore_profiler/run_1", "check", 0, (r"warning.*\[csv-truncated\]",), ("error:",)),
    Case("msprof_2023-08", "check", 0, (), CLEAN),
    Case("msprof_2023-08", "steps", 0, (r"15,?369|15\.37",)),
    Case("msprof_2026-06", "check", 0, (), CLEAN),
    Case("name_patterns/normal", "check", 1, (r"\[empty-file\]",)),
    Case("name_patterns/slice", "check", 1, (r"\[empty-file\]",)),
    Case("opprof_2026", "check", 0, (), CLEAN),
    Case("torch_npu_2023-09", "check", 1, (r"csv-ragged-row",), (r"\[st(ream|art)-",)),
    Case("torch_npu_2025-01/text", "check", 0, (), CLEAN),
    Case("torch_npu_2025-01/db", "check", 0, (), CLEAN),
    Case("torch_npu_2025-01/text/level1", "hotspots", 0, (r"ForeachAddList .* 3 +1\.959 .*22\.1%",), CLEAN),
)


@with_data
@pytest.mark.parametrize("case", EXPORTS, ids=str)
def test_a_real_export_has_its_right_answer(case: Case, cli: Cli) -> None:
    judge(case, DATA / "msprof" / case.name, cli)
