"""`plan`, `preflight`, `tune`, `adopt` and `verify` as a user calls them: what is printed where, and the exit code."""

from __future__ import annotations

import io
import json
import os
import random
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

import pytest
from commandline import FIXTURES, Ended
from screens import screen
from tuning.jobs import NAMES, SOC, Bench, write_tuned

from aoe_reports.simulation.tuning import BEFORE, write_profile


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_profile(tmp_path_factory.mktemp("profile"), BEFORE, random.Random(1), steps=3)


def on_terminal(bench: Bench, *args: object) -> tuple[int, str, str]:
    """(exit code, what was printed, what a terminal was given beside it)."""
    from aoe_reports.cli.main import main

    out = io.StringIO()
    with (
        mock.patch.dict(os.environ, {**bench.environment, "TERM": "xterm"}, clear=True),
        mock.patch.object(sys, "argv", ["aoe-reports", *map(str, args)]),
        redirect_stdout(out),
        screen() as seen,
        pytest.raises(SystemExit) as ended,
    ):
        main()
    return int(ended.value.code or 0), out.getvalue(), seen.shown


def test_a_plan_says_where_it_is_and_json_says_nothing_beside(bench: Bench, profile: Path) -> None:
    asked = ("plan", profile, "-o", bench.folder, "--soc", SOC, "--top", 2)
    ended = bench.run(*asked)
    assert (ended.code, ended.err.splitlines()[-1]) == (0, f"plan: {bench.folder / 'plan.json'}")
    assert "\n\nTuning plan (opat, offline)\n" in ended.out
    as_json = bench.run(*asked, "--format", "json")
    assert (as_json.code, as_json.err, len(as_json.json["rows"])) == (0, "", 2)
    assert "working_folder" not in {key for key, value in plan_of(bench)["job"].items() if value is not None}


def test_a_command_that_tunes_runs_where_the_plan_is_made(bench: Bench, profile: Path) -> None:
    bench.run("plan", profile, "-o", bench.folder, "--scenario", "pytorch", "--", "python", "train.py", "--fast")
    job = plan_of(bench)["job"]
    assert (job["command"], job["working_folder"]) == (["python", "train.py", "--fast"], str(bench.root))


def test_a_profile_of_nothing_is_no_plan(bench: Bench) -> None:
    (bench.root / "empty").mkdir()
    ended = bench.run("plan", bench.root / "empty", "-o", bench.folder)
    assert (ended.code, "[nothing-found]" in ended.err) == (1, True)
    assert "plan: " not in ended.err
    assert not (bench.folder / "plan.json").exists()


def test_a_plan_for_a_rank_that_is_not_here_names_those_that_are(bench: Bench) -> None:
    ranks = FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks"
    ended = bench.run("plan", ranks, "-o", bench.folder, "--rank", 77)
    assert ended.code == 1
    assert "no tasks here from which a plan could be made (rank 77); ranks here: 0-1 [nothing-measured]" in ended.err


def plan_of(bench: Bench) -> dict[str, dict[str, object]]:
    document: dict[str, dict[str, object]] = json.loads((bench.folder / "plan.json").read_text())
    return document


def test_a_host_is_described_once_and_held_against_the_plan_anywhere(bench: Bench) -> None:
    bench.plan()
    described = bench.run("tune", "check", bench.folder, "--describe-host")
    assert (described.code, described.err) == (0, "")
    host = bench.root / "host.json"
    assert bench.run("tune", "check", bench.folder, "--describe-host", "-o", host).out == ""
    assert json.loads(host.read_text()).keys() == json.loads(described.out).keys()
    here, there = (
        bench.run("tune", "check", bench.folder, *more, "--format", "json") for more in ((), ("--host", host))
    )
    assert [row["rule"] for row in here.json["rows"]] == [row["rule"] for row in there.json["rows"]] != []
    for more in (("--host", host), ("--declare", "processes=0")):
        refused = bench.run("tune", "check", bench.folder, "--describe-host", *more)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err == (
            "aoe-reports: error: preflight: --describe-host cannot be combined with --host or --declare\n"
        )


def test_preflight_prints_findings_once(bench: Bench) -> None:
    """A table of rows for people has them; a table for programs has not."""
    bench.plan()
    text = bench.run("tune", "check", bench.folder)
    table = bench.run("tune", "check", bench.folder, "--format", "csv")
    found = bench.run("tune", "check", bench.folder, "--format", "json").json["findings"]
    assert found
    assert (text.err, text.code, table.code) == ("", 1, 1)
    assert len(table.err.splitlines()) == len(found)
    assert all(f"[{one['rule']}]" in table.err for one in found)


def test_a_dry_run_only_prints_what_would_run(bench: Bench) -> None:
    bench.plan()
    ended = bench.run("tune", "run", bench.folder, "--dry-run")
    assert (ended.code, bench.notes("pids")) == (0, [])
    assert "--job_type=2" in ended.out
    assert not (bench.folder / "state.json").exists()


def lines_of_tuner(shown: str) -> list[str]:
    return [line for line in shown.replace("\x1b[2K", "\n").splitlines() if line.startswith("  ")]


def test_tuning_tells_what_happens_and_where_to_go_on(bench: Bench) -> None:
    bench.plan()
    ended = bench.run("tune", "run", bench.folder)
    assert ended.code == 0, ended.err
    told = ended.err.splitlines()
    assert told[-1] == f"measure again: {bench.folder / 'remeasure.md'}"
    assert "opat: 3 of 3 operators done, 3 improved, best speed-up +60.0%" in told
    assert lines_of_tuner(ended.err)
    assert "\x1b" not in ended.err
    assert "\n\nTuning results\n" in ended.out
    quiet = bench.run("tune", "run", bench.folder, "--restart", "--quiet")
    assert (quiet.code, lines_of_tuner(quiet.err)) == (0, [])
    as_json = bench.run("tune", "run", bench.folder, "--restart", "--format", "json")
    assert "measure again" not in as_json.err
    assert as_json.json["command"] == "tune"


def test_on_a_terminal_lines_stand_above_the_bar(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    from aoe_reports.cli import progress

    monkeypatch.setattr(progress, "_PATIENCE_S", 0.0)
    monkeypatch.setattr(progress, "_EVERY_S", 0.001)
    bench.plan()
    code, out, shown = on_terminal(bench, "tune", bench.folder)
    assert (code, "━" in out) == (0, False)
    assert re.search(r"0:00:\d\d \S*━.* opat: . of 3 operators done", shown)
    assert "operators done, 3 improved, best speed-up +60.0%\n  " not in shown
    assert lines_of_tuner(shown)
    assert shown.splitlines()[-1].endswith(f"measure again: {bench.folder / 'remeasure.md'}")


def test_a_failed_tuning_ends_with_1_and_says_why(bench: Bench) -> None:
    bench.plan()
    ended = bench.run("tune", "run", bench.folder, STAND_IN="eg")
    assert ended.code == 1
    assert "[tune-error-code]" in ended.err
    assert f"measure again: {bench.folder / 'remeasure.md'}" not in ended.err


def ready(bench: Bench, verdict: str) -> Path:
    """A job that is through and has a verdict, beside a bank in use."""
    bench.plan()
    in_use = bench.root / "in_use"
    write_tuned(in_use, [NAMES[0]])
    bench.environment["TUNE_BANK_PATH"] = str(in_use)
    assert bench.tune().code == 0
    digest = json.loads((bench.folder / "outcome.json").read_text())["bank"]["digest"]
    (bench.folder / "verify.json").write_text(
        json.dumps({"format_version": 1, "verdict": verdict, "bank_digest": digest})
    )
    return in_use


def said_of_banks(ended: Ended) -> list[str]:
    return [line for line in ended.err.splitlines() if line.startswith(("now in use", "kept"))]


def test_what_is_in_use_is_said_even_where_the_answer_cannot_be_written(bench: Bench) -> None:
    in_use = ready(bench, "confirmed")
    (bench.root / "file").write_text("")
    ended = bench.run("tune", "adopt", bench.folder, "-o", bench.root / "file" / "x")
    assert ended.code == 3
    assert said_of_banks(ended) == [
        f"now in use: the tuned bank ({in_use})",
        f"kept: {in_use.with_name('in_use.backup-001')}",
    ]


def test_a_refused_adoption_says_why_and_what_is_in_use_stays(bench: Bench) -> None:
    ready(bench, "regressed")
    for form, said in (("text", True), ("json", False)):
        ended = bench.run("tune", "adopt", bench.folder, "--format", form)
        assert (ended.code, said_of_banks(ended), "[adopt-not-verified]" in ended.err) == (1, [], said)
    forced = bench.run("tune", "adopt", bench.folder, "--force")
    assert len(said_of_banks(forced)) == 2


def test_verify_answers_in_the_language_that_is_asked_for(bench: Bench, profile: Path) -> None:
    bench.plan()
    same = ("verify", bench.folder, "--before", profile, "--after", profile)
    ended = bench.run(*same)
    assert (ended.code, ended.out.splitlines()[2]) == (1, "Tuning, verified")
    assert "[verify-same-profile]" in ended.out
    assert 'lang="en' in (bench.folder / "verify.html").read_text()
    bench.run(*same, "--lang", "zh")
    assert 'lang="zh' in (bench.folder / "verify.html").read_text()
