"""`ab` through the command line: verdicts, exit codes, what is said of a session, what explains a difference."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from commandline import Cli
from planted_sides import write_sides

from aoe_reports import ab

Row = Mapping[str, Any]


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five captures a side; convolutions take 8 % longer in the candidate."""
    folder = tmp_path_factory.mktemp("slower")
    write_sides(folder, {"Conv2D": 1.08}, order="abbaabbaab")
    return folder


def write_rounds(folder: Path, factor: float = 1.0, rounds: int = 5, noise: float = 0.005, **more: Any) -> None:
    """Rounds of a benchmark of a server in turns, as vLLM saves them; the candidate takes `factor` times as long."""
    drawn = random.Random(4)
    for number in range(2 * rounds):
        side = "abba"[number % 4]
        folder.joinpath(side).mkdir(parents=True, exist_ok=True)
        time = 100 * (factor if side == "b" else 1.0) * (1 + drawn.gauss(0, noise))
        document = {
            "date": f"20260301-12{number:02}00",
            "model_id": "net",
            "num_prompts": 100,
            "max_concurrency": 8,
            "duration": time,
            "request_throughput": 100 / time,
            "output_throughput": 6400 / time,
            "mean_ttft_ms": time / 2,
            **(more if side == "b" else {}),
        }
        folder.joinpath(side, f"round{number}.json").write_text(json.dumps(document))


def rows_of(answer: Any) -> dict[str, Row]:
    return {row["name"]: row for row in answer.json["rows"]}


def test_a_slower_operator_fails_the_job_and_is_named(cli: Cli, slower: Path) -> None:
    ended = cli("ab", "--format", "json", slower / "old", "--", slower / "new")
    rows = rows_of(ended)
    assert ended.code == 1
    assert ended.json["reasons"] == ["slower"]
    assert (rows["step"]["verdict"], rows["Conv2D"]["verdict"]) == ("slower", "slower")
    assert 0.05 < rows["Conv2D"]["ci_low"] < rows["Conv2D"]["change"] < rows["Conv2D"]["ci_high"] < 0.11
    assert [row["name"] for row in ended.json["rows"]][:2] == ["step", "Conv2D"]
    parts = ended.json["parts"]
    assert parts[0]["name"] == "Conv2D"
    assert parts[0]["cause"] == "slower-calls"
    causes = {row["cause"]: row["state"] for row in ended.json["causes"]}
    assert list(causes) == ["real", "benchmark changed", "environment", "noise"]
    assert causes["real"] == "likely"
    assert (causes["benchmark changed"], causes["environment"]) == ("no", "unknown"), (
        "these captures record no versions"
    )


def test_parts_add_up_to_the_change_between_the_median_captures(cli: Cli, slower: Path) -> None:
    ended = cli("ab", "--format", "json", slower / "old", "--", slower / "new")
    parts = ended.json["parts"]
    explained = cli("explain", parts[0]["baseline"], parts[0]["candidate"], "--force", "--format", "json")
    assert sum(part["difference_us"] for part in parts) == pytest.approx(explained.json["steps"][0]["difference_us"])


def test_both_builds_alike_are_the_same_within_the_margin(cli: Cli, tmp_path: Path) -> None:
    write_rounds(tmp_path)
    ended = cli("ab", "--margin", "3%", "--format", "json", tmp_path / "a", "--", tmp_path / "b")
    assert ended.code == 0
    assert rows_of(ended)["runtime"]["verdict"] == "same"
    assert cli("ab", "--margin", "3%", tmp_path / "a", "--", tmp_path / "b").out.startswith(
        "net/serve: the same within 3.0% ("
    )


def test_a_throughput_that_falls_is_slower_and_says_so_in_its_own_sign(cli: Cli, tmp_path: Path) -> None:
    write_rounds(tmp_path, 1.04)
    rows = rows_of(cli("ab", "--format", "json", tmp_path / "a", "--", tmp_path / "b"))
    row = rows["output_throughput"]
    assert row["verdict"] == "slower"
    assert row["after"] < row["before"]
    assert row["ci_low"] < row["change"] < row["ci_high"] < 0
    alone = rows_of(
        cli("ab", "--metric", "output_throughput", "--format", "json", tmp_path / "a", "--", tmp_path / "b")
    )
    assert list(alone) == ["output_throughput"]
    assert alone["output_throughput"]["ci_high"] < row["ci_high"], "without others the interval is narrower"


def test_one_against_one_proves_nothing(cli: Cli, tmp_path: Path) -> None:
    write_rounds(tmp_path, 1.5, rounds=1)
    ended = cli("ab", tmp_path / "a", tmp_path / "b")
    assert ended.code == 4
    assert "net/serve: cannot tell (+" in ended.out
    assert "[ab-few-repeats]" in ended.err


def test_a_store_knows_the_noise_and_stays_as_it_is(cli: Cli, simulated_nights: Path, simulated_store: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in simulated_store.rglob("*")}
    sides = (simulated_nights / "2026-01-05", simulated_nights / "2026-01-08")
    assert cli("ab", *sides).code == 4
    ended = cli("ab", "--store", simulated_store, "--format", "json", *sides)
    step = rows_of(ended)["step"]
    assert (ended.code, step["noise"], step["verdict"]) == (0, "store", "same")
    assert 0.002 < step["scatter"] < 0.01, "nights scatter by 1 % an operator, so by less in all"
    assert {path: path.stat().st_mtime_ns for path in simulated_store.rglob("*")} == before


def test_single_times_count_only_where_that_is_asked_for(cli: Cli, tmp_path: Path) -> None:
    for side, factor in (("a", 1.0), ("b", 1.07)):
        times = [factor * value for value in (18.90, 18.91, 18.89, 18.92, 18.90)]
        tmp_path.joinpath(side).mkdir()
        document = {"avg_latency": sum(times) / 5, "latencies": times, "percentiles": {}}
        tmp_path.joinpath(side, "latency.json").write_text(json.dumps(document))
    assert cli("ab", tmp_path / "a", tmp_path / "b").code == 4
    ended = cli("ab", "--samples", "--format", "json", tmp_path / "a", tmp_path / "b")
    row = rows_of(ended)["runtime"]
    assert (ended.code, row["verdict"], row["noise"]) == (1, "slower", "samples")
    assert row["change"] == pytest.approx(0.07)


def test_a_gate_decides_what_fails(cli: Cli, slower: Path) -> None:
    sides = (slower / "old", "--", slower / "new")
    assert cli("ab", "--gate", "scope=op_type,effect>=20%", *sides).code == 0
    assert cli("ab", "--gate", "op_type=Conv2D,effect>=3%", *sides).code == 1
    assert cli("ab", "--fail-on", "never", *sides).code == 0
    idle = cli("ab", "--gate", "scope=op,effect>=3%", *sides)
    assert idle.code == 4
    assert (
        "no quantity that scope=op,effect>=3% watches can be judged; scopes here: communication, op_type, step"
        in idle.err
    )
    refused = cli("ab", "--gate", "alarms<=2/year", *sides)
    assert (refused.code, "--gate: alarms<=N/year" in refused.err) == (2, True)


def test_not_proved_the_same_is_an_exit_code_of_its_own(cli: Cli, tmp_path: Path) -> None:
    write_rounds(tmp_path, noise=0.05, rounds=3)
    sides = (tmp_path / "a", "--", tmp_path / "b")
    assert cli("ab", *sides).code == 0
    ended = cli("ab", "--fail-on", "not-proved-same", "--format", "json", *sides)
    assert (ended.code, ended.json["reasons"]) == (5, ["not-proved-same"])
    row = rows_of(ended)["runtime"]
    assert row["verdict"] == "cannot tell"
    assert row["more_repeats"] > 3
    assert row["smallest_detectable"] > 0.05


def test_one_side_after_the_other_is_remarked_on_and_wider(cli: Cli, tmp_path: Path) -> None:
    write_sides(tmp_path / "turns", order="abbaabba")
    write_sides(tmp_path / "apart", order="aaaabbbb")
    found = {
        name: cli("ab", "--format", "json", tmp_path / name / "old", "--", tmp_path / name / "new")
        for name in ("turns", "apart")
    }
    rules = {name: {finding["rule"] for finding in ended.json["findings"]} for name, ended in found.items()}
    assert "ab-not-in-turns" in rules["apart"] - rules["turns"]
    widths = {name: (row := rows_of(ended)["step"])["ci_high"] - row["ci_low"] for name, ended in found.items()}
    assert widths["apart"] > 1.5 * widths["turns"]


def test_a_drift_of_the_machine_is_named_and_no_difference(cli: Cli, tmp_path: Path) -> None:
    write_sides(tmp_path, order="abababab", drift=0.02)
    ended = cli("ab", "--format", "json", tmp_path / "old", "--", tmp_path / "new")
    assert "ab-drift" in {finding["rule"] for finding in ended.json["findings"]}
    assert rows_of(ended)["step"]["verdict"] != "slower"


def test_conditions_that_differ_are_named(cli: Cli, tmp_path: Path) -> None:
    write_rounds(tmp_path, 1.04, max_concurrency=16)
    ended = cli("ab", "--format", "json", tmp_path / "a", "--", tmp_path / "b")
    assert {row["what"]: (row["before"], row["after"], row["kind"]) for row in ended.json["conditions"]} == {
        "runtime_config.max_concurrency": ("8", "16", "benchmark")
    }
    causes = {row["cause"]: row["state"] for row in ended.json["causes"]}
    assert causes["real"] == causes["benchmark changed"] == "possible"


def test_an_operator_of_one_side_alone_is_another_benchmark(cli: Cli, tmp_path: Path) -> None:
    write_sides(tmp_path, order="abba" * 2)
    for path in (tmp_path / "new").rglob("op_summary*.csv"):
        path.write_text(path.read_text().replace("SoftmaxV2", "SoftmaxV3"))
    ended = cli("ab", "--format", "json", tmp_path / "old", "--", tmp_path / "new")
    assert "ab-one-side" in {finding["rule"] for finding in ended.json["findings"]}
    evidence = {row["cause"]: row["evidence"] for row in ended.json["causes"]}
    assert evidence["benchmark changed"] == "2 operator types run on one side only (SoftmaxV2, SoftmaxV3)"


def test_records_stand_beside_captures(cli: Cli, slower: Path, tmp_path: Path) -> None:
    for run in sorted((slower / "old").iterdir()):
        assert cli("ingest", "--dry-run", run, "-o", tmp_path / f"{run.name}.jsonl").code == 0
    mixed = rows_of(cli("ab", "--format", "json", tmp_path, "--", slower / "new"))
    captures = rows_of(cli("ab", "--format", "json", slower / "old", "--", slower / "new"))
    for name in ("step", "Conv2D"):
        assert mixed[name]["change"] == pytest.approx(captures[name]["change"])


def test_forms_for_ci_have_one_alarm_for_each_slow_down(cli: Cli, slower: Path) -> None:
    sides = (slower / "old", "--", slower / "new")
    failing = {row["name"] for row in cli("ab", "--format", "json", *sides).json["rows"] if row["fails"]}
    suite = ET.fromstring(cli("ab", "--format", "junit", *sides).out)
    assert {
        case.get("name", "").split()[-1] for case in suite.iter("testcase") if case.find("failure") is not None
    } == failing
    results = json.loads(cli("ab", "--format", "sarif", *sides).out)["runs"][0]["results"]
    assert {result["locations"][0]["logicalLocations"][0]["name"] for result in results} == failing
    lines = cli("ab", "--format", "github", *sides).out.splitlines()
    assert sum(line.startswith("::error title=Slower than the baseline::") for line in lines) == len(failing)


def test_wrong_usage_is_said_before_anything_is_read(cli: Cli, tmp_path: Path) -> None:
    for given, said in (
        ([tmp_path], "expected BASELINE... -- CANDIDATE..."),
        ([tmp_path, "--", tmp_path, "x"], "x: nothing matches"),
        (["--margin", "2", tmp_path, tmp_path.parent], "--margin 2: expected a share"),
        ([tmp_path, "--", tmp_path], "is on both sides"),
        (["--a", tmp_path / "none*", "--b", tmp_path], "nothing matches"),
        ([tmp_path, "--", tmp_path, "--format", "json"], "--format: options come before the paths"),
        (["--a", tmp_path, "--b", tmp_path, tmp_path], "take patterns in quotes"),
        ([tmp_path, "--b", tmp_path], "take patterns in quotes"),
    ):
        ended = cli("ab", *given)
        assert ended.code in {2, 3}
        assert said in ended.err


def test_nothing_in_common_is_an_error(cli: Cli, tmp_path: Path, slower: Path) -> None:
    write_rounds(tmp_path)
    ended = cli("ab", tmp_path / "a", "--", slower / "new")
    assert (ended.code, "[ab-nothing-in-common]" in ended.err) == (4, True)


def test_python_has_the_same_verdicts(slower: Path) -> None:
    answer = ab(slower / "old", slower / "new", margin="1%")
    assert answer.exit_code() == 1
    assert answer.rows[0].verdict == "slower"
    assert answer.to_polars().height == len(answer.rows)


def write_builds(folder: Path, changed: int, factor: float, count: int = 12) -> Path:
    """A list of builds of which the first and the last are measured; from build `changed` on they take `factor` times as long."""
    lines = []
    for number in range(count):
        name = f"b{number:02}"
        lines.append(f"{name} {name}" if number in {0, count - 1} else name)
    folder.joinpath("builds.txt").write_text("\n".join(lines))
    for number in (0, count - 1):
        measure_build(folder, number, changed, factor, 5)
    return folder / "builds.txt"


def measure_build(folder: Path, number: int, changed: int, factor: float, repeats: int) -> None:
    home = folder / f"b{number:02}"
    home.mkdir(exist_ok=True)
    drawn = random.Random(number)
    for repeat in range(repeats):
        time = 100 * (factor if number >= changed else 1.0) * (1 + drawn.gauss(0, 0.005))
        document = {"model_id": "net", "duration": time, "request_throughput": 100 / time, "output_throughput": 1.0}
        document["date"] = f"20260301-{number:02}{repeat:02}00"
        home.joinpath(f"round{repeat}.json").write_text(json.dumps(document))


def test_next_names_the_build_after_a_few_rounds(cli: Cli, tmp_path: Path) -> None:
    builds = write_builds(tmp_path, changed=7, factor=1.05)
    for _ in range(8):
        ended = cli("ab", "--next", builds, "--format", "json")
        measured = [row for row in ended.json["rows"] if row["measure"]]
        if not measured:
            break
        for row in measured:
            measure_build(tmp_path, row["position"] - 1, 7, 1.05, 3)
            line = builds.read_text().splitlines()
            builds.write_text("\n".join(f"{one} {one}" if one == row["build"] else one for one in line))
    text = cli("ab", "--next", builds).out
    assert "with build b07 (probability" in text.splitlines()[0]
    assert max(ended.json["rows"], key=lambda row: row["probability"] or 0)["build"] == "b07"


def test_next_says_where_the_ends_are_alike_and_what_a_list_lacks(cli: Cli, tmp_path: Path) -> None:
    builds = write_builds(tmp_path, changed=99, factor=1.0)
    assert "the first and the last build are not proved to differ" in cli("ab", "--next", builds).out
    assert cli("ab", "--next", builds, "--format", "junit").code == 2
    for text, said in (
        ("a b00\nb\n", "expected 3 to 10000 builds"),
        ("a b00\nb\nc\n", "c: the first and the last build need repeats"),
        ('a "b00\n', ":1: No closing quotation"),
        ("a b00\nb none*\nc b11\n", "nothing matches"),
    ):
        builds.write_text(text)
        ended = cli("ab", "--next", builds)
        assert (ended.code, said in ended.err) == (2, True), ended.err


def write_measured(folder: Path, name: str, time: float, **more: Any) -> None:
    """One result of a benchmark, with a time of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    document = {"model_id": "net", "duration": time, "request_throughput": 100 / time, "output_throughput": 1.0, **more}
    folder.joinpath(f"{name}.json").write_text(json.dumps(document))


def test_different_benchmarks_are_not_repeats_of_one(cli: Cli, tmp_path: Path) -> None:
    """Three models, or three rates of requests, each measured once a side."""
    for number, name in enumerate(("alpha", "beta", "gamma")):
        for side in ("a", "b"):
            write_measured(tmp_path / "models" / side, name, 10.0 + number, model_id=name)
            write_measured(tmp_path / "rates" / side, name, 10.0 + number, request_rate=1 + number)
    for kind in ("models", "rates"):
        ended = cli("ab", "--metric", "runtime", "--format", "json", tmp_path / kind / "a", "--", tmp_path / kind / "b")
        rows = ended.json["rows"]
        assert ended.code == 4
        assert [(row["baseline_repeats"], row["candidate_repeats"]) for row in rows] == [(1, 1)] * 3
    assert [row["inputs"] for row in sorted(rows, key=lambda row: row["before"])] == [
        "request_rate=1", "request_rate=2", "request_rate=3",
    ]  # fmt: skip


def test_folders_that_count_repeats_are_no_names(cli: Cli, slower: Path, tmp_path: Path) -> None:
    for side in ("old", "new"):
        for number in range(1, 6):
            shutil.copytree(slower / side / f"run{number}", tmp_path / side / f"r{number}")
    assert (
        rows_of(cli("ab", "--format", "json", tmp_path / "old", "--", tmp_path / "new"))["step"]["verdict"] == "slower"
    )


def test_numbers_that_count_repeats_are_no_names(cli: Cli, tmp_path: Path) -> None:
    for number in range(1, 4):
        for side in ("a", "b"):
            document = {"avg_latency": 10 + number / 100, "latencies": [10.0], "percentiles": {}}
            tmp_path.joinpath(side).mkdir(exist_ok=True)
            tmp_path.joinpath(side, f"latency_{number}.json").write_text(json.dumps(document))
    rows = rows_of(cli("ab", "--format", "json", tmp_path / "a", "--", tmp_path / "b"))
    assert rows["runtime"]["baseline_repeats"] == 3
    for side in ("a", "b"):
        for number in range(1, 4):
            path = tmp_path / side / f"latency_{number}.json"
            path.rename(path.with_name(f"resnet_{number * 50}.json"))
    assert cli("ab", tmp_path / "a", "--", tmp_path / "b").code == 4, "resnet_50, _100 and _150 are three networks"


def test_a_copy_of_a_capture_is_no_repeat(cli: Cli, slower: Path, tmp_path: Path) -> None:
    for number in range(3):
        shutil.copytree(slower / "old" / "run1", tmp_path / "old" / str(number))
        shutil.copytree(slower / "new" / "run1", tmp_path / "new" / str(number))
    ended = cli("ab", tmp_path / "old", "--", tmp_path / "new")
    assert (ended.code, ended.err.count("[ab-no-repeat]")) == (4, 4)


def test_sides_are_never_made_up(cli: Cli, slower: Path) -> None:
    first, second = slower / "old" / "run1", slower / "old" / "run2"
    assert cli("ab", first, second, "--").code == 2, "an empty variable of a shell names no candidate"
    assert cli("ab", "--a", slower / "old" / "run[12]").code == 2


def test_metrics_without_a_good_direction_are_named(cli: Cli, tmp_path: Path) -> None:
    write_rounds(tmp_path, completed=100)
    ended = cli("ab", tmp_path / "a", "--", tmp_path / "b")
    assert "no good direction is known (see --metrics): completed [ab-no-direction]" in ended.err


def test_not_proved_the_same_counts_a_slow_down_below_the_gate(cli: Cli, slower: Path) -> None:
    sides = ("--gate", "scope=step,effect>=50%", slower / "old", "--", slower / "new")
    assert cli("ab", *sides).code == 0
    assert cli("ab", "--fail-on", "not-proved-same", *sides).code == 5


def test_next_says_a_throughput_in_its_own_sign(cli: Cli, tmp_path: Path) -> None:
    builds = write_builds(tmp_path, changed=6, factor=1.25)
    headline = cli("ab", "--next", builds, "--metric", "request_throughput").out.splitlines()[0]
    assert headline.startswith("request_throughput changed by -20.")


def test_a_server_that_fails_requests_is_not_faster(cli: Cli, tmp_path: Path) -> None:
    write_rounds(tmp_path, 0.5, failed=75)
    for path in (tmp_path / "a").iterdir():
        path.write_text(json.dumps({**json.loads(path.read_text()), "failed": 0}))
    ended = cli("ab", tmp_path / "a", "--", tmp_path / "b")
    assert ended.code == 1
    assert "failed requests of a repeat: 0 → 75 [ab-requests-failed]" in ended.err


def test_rounds_that_measured_nothing_are_not_left_out_in_silence(cli: Cli, tmp_path: Path) -> None:
    write_rounds(tmp_path)
    for path in sorted((tmp_path / "b").iterdir())[:3]:
        path.write_text(json.dumps({**json.loads(path.read_text()), "output_throughput": 0.0}))
    ended = cli("ab", tmp_path / "a", "--", tmp_path / "b")
    assert ended.code == 1
    assert "output_throughput is 0, negative or out of range in 3 repeats (" in ended.err


def test_equal_results_without_a_time_are_repeats(cli: Cli, tmp_path: Path) -> None:
    for side, times in (("a", (0.50, 0.50, 0.51, 0.50, 0.50)), ("b", (0.53, 0.53, 0.53, 0.54, 0.53))):
        tmp_path.joinpath(side).mkdir()
        for number, time in enumerate(times):
            document = {"results": [{"command": "serve --once", "mean": time, "median": time, "times": [time]}]}
            tmp_path.joinpath(side, f"r{number}.json").write_text(json.dumps(document))
    row = rows_of(cli("ab", "--format", "json", tmp_path / "a", "--", tmp_path / "b"))["runtime"]
    assert (row["baseline_repeats"], row["candidate_repeats"], row["before"], row["after"]) == (5, 5, 500, 530)
    assert row["verdict"] == "slower"


def test_a_workload_with_too_few_repeats_does_not_pass_beside_another(cli: Cli, tmp_path: Path) -> None:
    write_rounds(tmp_path)
    for side, time in (("a", 10.0), ("b", 40.0)):
        write_measured(tmp_path / side, "other", time, model_id="other", date="20260301-150000")
    assert cli("ab", tmp_path / "a", "--", tmp_path / "b").code == 4


def test_a_slow_down_within_the_margin_fails_nothing(cli: Cli, tmp_path: Path) -> None:
    write_rounds(tmp_path, 1.03, noise=0.003)
    sides = ("--metric", "runtime", tmp_path / "a", "--", tmp_path / "b")
    assert cli("ab", *sides).code == 1
    assert cli("ab", "--margin", "10%", *sides).code == 0
    assert cli("ab", "--metric", "typo", *sides).code == 2


def test_files_of_builds_that_count_repeats_are_no_names(cli: Cli, tmp_path: Path) -> None:
    """Also where builds have different numbers of repeats, as the plan asks for them."""
    for build, time, repeats in (("b0", 10.0, 5), ("b1", 10.0, 2), ("b3", 10.5, 5)):
        drawn = random.Random(build)
        tmp_path.joinpath(build).mkdir()
        for number in range(repeats):
            document = {"avg_latency": time * (1 + drawn.gauss(0, 0.003)), "latencies": [time], "percentiles": {}}
            tmp_path.joinpath(build, f"latency_{number}.json").write_text(json.dumps(document))
    builds = tmp_path / "builds.txt"
    builds.write_text("b0 b0\nb1 b1\nb2\nb3 b3\n")
    ended = cli("ab", "--next", builds, "--format", "json")
    assert [row["repeats"] for row in ended.json["rows"]] == [5, 2, 0, 5]
    assert [row["build"] for row in ended.json["rows"] if row["measure"]] == ["b2"]


def test_one_measurement_is_never_both_sides(cli: Cli, slower: Path, tmp_path: Path) -> None:
    """A copy of captures or of dated results, a link, and a folder within the other side pass no gate."""
    write_rounds(tmp_path / "rounds")
    results = tmp_path / "rounds" / "a"
    shutil.copytree(results, tmp_path / "copied")
    shutil.copytree(slower / "old", tmp_path / "captures")
    (tmp_path / "link").symlink_to(results)
    for before, after in (
        (results, tmp_path / "copied"),
        (results, tmp_path / "link"),
        (tmp_path / "rounds", results),
        (slower / "old", tmp_path / "captures"),
    ):
        ended = cli("ab", before, "--", after)
        assert ended.code == 1
        assert "error: 5 measurements are given twice" in ended.err
    builds = tmp_path / "builds.txt"
    builds.write_text("b0 rounds/a\nb1 copied\nb2 rounds/b\n")
    assert "[ab-given-twice]" in cli("ab", "--next", builds).err


def test_a_value_that_some_repeats_lack_is_named(cli: Cli, tmp_path: Path) -> None:
    write_rounds(tmp_path)
    path = min((tmp_path / "b").iterdir())
    path.write_text(json.dumps({**json.loads(path.read_text()), "mean_ttft_ms": float("nan")}))
    for chosen in ((), ("--metric", "mean_ttft_ms")):
        ended = cli("ab", *chosen, tmp_path / "a", "--", tmp_path / "b")
        assert "not in every repeat of both sides: mean_ttft_ms (5 and 4) [ab-values-missing]" in ended.err


def test_a_benchmark_that_the_candidate_lacks_passes_no_gate(cli: Cli, tmp_path: Path) -> None:
    write_rounds(tmp_path)
    for number in range(5):
        write_measured(
            tmp_path / "a", f"big{number}", 50 + number / 100, model_id="big", date=f"20260302-1{number}0000"
        )
    lost = cli("ab", "--format", "json", tmp_path / "a", "--", tmp_path / "b")
    assert (lost.code, lost.json["reasons"]) == (4, ["not-in-candidate"])
    added = cli("ab", tmp_path / "b", "--", tmp_path / "a")
    assert added.code == 0
    assert "3 quantities of the candidate are not in the baseline: big/serve runtime" in added.err
    assert cli("ab", "--fail-on", "not-proved-same", tmp_path / "b", "--", tmp_path / "a").code == 5


def test_another_model_is_another_benchmark(cli: Cli, tmp_path: Path) -> None:
    write_rounds(tmp_path, 1.05, model_id="other")
    ended = cli("ab", "--format", "json", tmp_path / "a", "--", tmp_path / "b")
    assert [(row["what"], row["before"], row["after"]) for row in ended.json["conditions"]] == [
        ("workload", "net", "other")
    ]
    states = {row["cause"]: row["state"] for row in ended.json["causes"]}
    assert states["real"] == states["benchmark changed"] == "possible"


def test_results_with_any_names_are_repeats_of_the_workload_that_is_named(cli: Cli, tmp_path: Path) -> None:
    for side, factor in (("a", 1.0), ("b", 1.07)):
        tmp_path.joinpath(side).mkdir()
        for number, name in enumerate(("mon", "tue", "wed")):
            time = factor * (18.9 + number / 100)
            document = {"avg_latency": time, "latencies": [time], "percentiles": {}}
            tmp_path.joinpath(side, f"{name}.json").write_text(json.dumps(document))
    sides = (tmp_path / "a", "--", tmp_path / "b")
    apart = cli("ab", *sides)
    assert apart.code == 4
    assert "mon, tue, wed are taken as different benchmarks: --workload NAME" in apart.err
    named = cli("ab", "--workload", "net", "--format", "json", *sides)
    row = rows_of(named)["runtime"]
    assert (named.code, row["workload"], row["baseline_repeats"], row["verdict"]) == (1, "net", 3, "slower")
    assert {row["cause"]: row["state"] for row in named.json["causes"]}["benchmark changed"] == "unknown"


def test_single_times_are_no_word_on_noise_between_runs(cli: Cli, tmp_path: Path) -> None:
    for side, factor in (("a", 1.0), ("b", 1.07)):
        document = {"avg_latency": factor, "latencies": [factor, 1.001 * factor, factor], "percentiles": {}}
        tmp_path.joinpath(f"{side}.json").write_text(json.dumps(document))
    ended = cli("ab", "--samples", "--format", "json", tmp_path / "a.json", tmp_path / "b.json")
    assert rows_of(ended)["runtime"]["verdict"] == "slower"
    assert {row["cause"]: row["state"] for row in ended.json["causes"]}["noise"] == "unknown"


def test_another_machine_and_another_clock_are_conditions(cli: Cli, tmp_path: Path) -> None:
    write_sides(tmp_path, {"Conv2D": 1.08}, order="abbaab")
    for side, host, clock in (("old", "here", "1800"), ("new", "there", "1650")):
        for capture in tmp_path.glob(f"{side}/run*/PROF*"):
            document = {"hostname": host, "DeviceInfo": [{"id": 0, "aic_frequency": clock}]}
            capture.joinpath("device_0").mkdir()
            capture.joinpath("device_0", "info.json.0").write_text(json.dumps(document))
    ended = cli("ab", "--format", "json", tmp_path / "old", "--", tmp_path / "new")
    assert {(row["what"], row["before"], row["after"], row["kind"]) for row in ended.json["conditions"]} == {
        ("hardware_config.aic_frequency", "1800", "1650", "environment"),
        ("host", "here", "there", "environment"),
    }
    states = {row["cause"]: row["state"] for row in ended.json["causes"]}
    assert states["real"] == states["environment"] == "possible"
