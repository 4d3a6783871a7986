"""The merge gate as CI systems run it: two checkouts measured in turns, the verdict on them, a comment only where there is an alarm."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("yaml", reason="needs the dependency group integrations")

from commandline import Ended
from planted_sides import write_sides
from shell_steps import BASH, BIN, INTEGRATIONS, gitee_commands, gitlab_scripts, run, run_action, workflow_steps

pytestmark = pytest.mark.integrations

TURNS = INTEGRATIONS / "measure-in-turns.sh"
DASH = ("dash", "-e", "-c")


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five captures a side; convolutions take 8 % longer in the candidate. In a name that a careless script would split or run."""
    folder = tmp_path_factory.mktemp("a") / "b $(touch ran) ;touch ran; * [x]"
    write_sides(folder, {"Conv2D": 1.08}, order="abbaabbaab")
    return folder


@pytest.fixture(scope="module")
def same(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five captures a side of one build."""
    folder = tmp_path_factory.mktemp("same")
    write_sides(folder, order="abbaabbaab")
    return folder


def test_the_action_judges_a_candidate(tmp_path: Path, slower: Path) -> None:
    runs = sorted(map(str, (slower / "old").iterdir()))
    ended, wrote = run_action(
        tmp_path, command="ab", baseline="\n".join(runs), paths=f"{slower / 'new'}\n", gate="scope=step,effect>=3%"
    )
    assert (ended.code, wrote["GITHUB_OUTPUT"]) == (1, "exit-code=1\n"), ended.err
    assert "::error title=Slower than the baseline::The step" in ended.out
    made = tmp_path / "aoe-reports"
    assert wrote["GITHUB_STEP_SUMMARY"] == (made / "report.md").read_text() != ""
    assert "<failure" in (made / "junit.xml").read_text()
    assert '"2.1.0"' in (made / "results.sarif").read_text()
    assert [*tmp_path.rglob("ran"), *slower.parent.rglob("ran")] == []


def test_the_action_passes_a_candidate_that_is_the_same(tmp_path: Path, same: Path) -> None:
    ended, _ = run_action(tmp_path, command="ab", baseline=str(same / "old"), paths=str(same / "new"), formats="")
    assert ended.code == 0, ended.err


@pytest.mark.parametrize(
    ("inputs", "code"), [({"paths": "{same}/new"}, 2), ({"baseline": "/nowhere", "paths": "{same}/new"}, 2)]
)
def test_the_action_fails_without_a_baseline(tmp_path: Path, same: Path, inputs: dict[str, str], code: int) -> None:
    given = {name: text.format(same=same) for name, text in inputs.items()}
    assert run_action(tmp_path, command="ab", formats="", **given)[0].code == code


@pytest.mark.parametrize("shell", [BASH, DASH], ids=["bash", "dash"])
def test_gitlab_judges_a_candidate(tmp_path: Path, slower: Path, shell: Sequence[str]) -> None:
    ended = _gitlab(tmp_path, shell, AOE_BASELINE=str(slower / "old"), AOE_CANDIDATE=f"{slower / 'new'}\n")
    assert ended.code == 1, ended.err
    assert ended.out == (tmp_path / "aoe-reports" / "report.md").read_text() != ""
    assert "<failure" in (tmp_path / "aoe-reports" / "junit.xml").read_text()
    assert [*tmp_path.rglob("ran"), *slower.parent.rglob("ran")] == []


def test_gitlab_warns_where_the_candidate_is_not_proved_the_same(tmp_path: Path, same: Path) -> None:
    """Exit code 5, which the template allows: three repeats a side do not prove that small operators are the same."""
    few = [str(same / side / f"run{number}") for side in ("old", "new") for number in (1, 2, 3)]
    ended = _gitlab(
        tmp_path,
        DASH,
        AOE_BASELINE="\n".join(few[:3]),
        AOE_CANDIDATE="\n".join(few[3:]),
        AOE_GATE="scope=op_type,effect>=5%",
    )
    assert ended.code == 5, ended.out + ended.err


def _gitlab(cwd: Path, shell: Sequence[str], **given: str) -> Ended:
    env = {"AOE_INSTALL": "none", "AOE_GATE": "", "AOE_FAIL_ON": "not-proved-same", **given}
    return run("\n".join(gitlab_scripts(".aoe-reports-ab")), cwd, env, shell)


@pytest.fixture
def builds(tmp_path: Path) -> Path:
    """Two folders with a command each, which writes a line of what it was given."""
    for name in ("base", "head $(touch ran)"):
        (tmp_path / name).mkdir()
        script = tmp_path / name / "measure.sh"
        script.write_text(f'#!/bin/sh\necho \'{name.split()[0]}\' "$@" >> ../log\ntouch "$2/measured"\n')
        script.chmod(0o755)
    return tmp_path


def _turns(cwd: Path, *words: object) -> subprocess.CompletedProcess[str]:
    command = ["sh", str(TURNS), *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin"})


def test_builds_are_measured_in_turns_each_in_its_folder(builds: Path) -> None:
    ended = _turns(builds, 3, "turns out", "base", "head $(touch ran)", "./measure.sh", "two words *")
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr
    out = builds / "turns out"
    sides = {"base": "baseline", "head": "candidate"}
    order = [("base", 1), ("head", 1), ("head", 2), ("base", 2), ("base", 3), ("head", 3)]
    shown = [f"{name} two words * {out}/{sides[name]}/run{number}" for name, number in order]
    assert (builds / "log").read_text().splitlines() == shown
    assert len(list(out.glob("*/run[123]/measured"))) == 6
    assert list(builds.rglob("ran")) == []


@pytest.mark.parametrize(
    "words",
    [
        (),
        (3, "turns", "base", "base"),
        ("3x", "turns", "base", "base", "true"),
        ("0", "turns", "base", "base", "true"),
        ("-1", "turns", "base", "base", "true"),
    ],
)
def test_wrong_usage_of_the_script_measures_nothing(builds: Path, words: tuple[object, ...]) -> None:
    ended = _turns(builds, *words)
    assert (ended.returncode, (builds / "turns").exists()) == (2, False), ended.stderr


def test_a_measurement_that_fails_ends_the_session(builds: Path) -> None:
    (builds / "base" / "measure.sh").write_text("#!/bin/sh\nexit 7\n")
    ended = _turns(builds, 3, "turns", "head $(touch ran)", "base", "./measure.sh", "x")
    assert ended.returncode == 7
    assert (builds / "log").read_text().count("\n") == 1


def test_an_earlier_session_is_not_continued(builds: Path) -> None:
    (builds / "turns").mkdir()
    assert _turns(builds, 1, "turns", "base", "base", "./measure.sh", "x").returncode != 0
    assert not (builds / "log").exists()


MEASURE = """#!/bin/sh
echo "$(basename "$PWD") $(basename "$1")" >> "$LOG"
cp -R "$SIDES/$SIDE/$(basename "$1")/." "$1"
"""
"""Takes the next capture of a side instead of a measurement."""


def _checkout(folder: Path, side: str) -> None:
    script = folder / "benchmark" / "measure.sh"
    script.parent.mkdir(parents=True)
    script.write_text(MEASURE.replace("$SIDE/", f"{side}/"))
    (folder / "benchmark" / "build.sh").write_text("#!/bin/sh\ntouch built\n")
    for path in script.parent.iterdir():
        path.chmod(0o755)


def test_the_workflow_builds_and_measures_both_in_turns(tmp_path: Path, slower: Path) -> None:
    for side, name in (("old", "base"), ("new", "head")):
        _checkout(tmp_path / name, side)
    action = tmp_path / "base" / ".github" / "actions" / "aoe-reports"
    action.mkdir(parents=True)
    (action / TURNS.name).write_bytes(TURNS.read_bytes())
    steps = workflow_steps("merge-gate.yml")
    env = {"BUILD": "./benchmark/build.sh", "MEASURE": "./benchmark/measure.sh", "ROUNDS": "3"}
    for name in ("Build both", "Measure in turns"):
        ended = run(steps[name], tmp_path, {**env, "SIDES": str(slower), "LOG": str(tmp_path / "log")})
        assert ended.code == 0, ended.err
    assert (tmp_path / "log").read_text().split("\n")[:4] == ["base run1", "head run1", "head run2", "base run2"]
    assert all((tmp_path / name / "built").exists() for name in ("base", "head"))
    ended, _ = run_action(tmp_path, command="ab", baseline="turns/baseline", paths="turns/candidate", formats="")
    assert ended.code == 1, ended.err


def test_the_workflow_comments_with_the_report_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    gh = tmp_path / "bin" / "gh"
    gh.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > asked\ncat "$7" > sent 2>/dev/null || cat comment.md > sent\n')
    gh.chmod(0o755)
    (tmp_path / "aoe-reports").mkdir()
    report = "slower `$(touch ran)` ${{ github.token }}\n" * 3000
    (tmp_path / "aoe-reports" / "report.md").write_text(report)
    env = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "GITHUB_REPOSITORY": "me/net", "PULL_REQUEST": "12"}
    ended = run(workflow_steps("merge-gate.yml")["Comment on the pull request"], tmp_path, env)
    assert ended.code == 0, ended.err
    assert (tmp_path / "asked").read_text().split()[:5] == ["pr", "comment", "12", "--repo", "me/net"]
    assert (tmp_path / "sent").read_text() == report[:60000]
    assert list(tmp_path.rglob("ran")) == []


def test_gitee_measures_in_turns_and_judges(tmp_path: Path, slower: Path) -> None:
    home = tmp_path / "checkout"
    _checkout(home, "new")
    (home / ".aoe-reports-venv").mkdir()
    (home / ".aoe-reports-venv" / "bin").symlink_to(BIN)
    (home / "benchmark" / TURNS.name).write_bytes(TURNS.read_bytes())
    _checkout(home / ".aoe-base", "old")
    left_out = ("venv .aoe", "pip install", "git worktree")
    kept = [one for one in gitee_commands("merge-gate.yml") if not any(words in one for words in left_out)]
    env = {"AOE_ROUNDS": "5", "AOE_MEASURE": "./benchmark/measure.sh", "AOE_TURNS": f"./benchmark/{TURNS.name}"}
    ended = run("\n".join(kept), home, {**env, "SIDES": str(slower), "LOG": str(tmp_path / "log")}, BASH)
    assert (ended.code, len(kept)) == (1, 5), ended.err
    assert {path.name for path in (home / "aoe-reports").iterdir()} == {"junit.xml", "report.md"}
