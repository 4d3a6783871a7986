"""The steps of the templates, run by a shell on real files, end as the docs say."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("yaml", reason="needs the dependency group integrations")

from commandline import FIXTURES
from shell_steps import BASH, BIN, SH, Ended, gitee_commands, gitlab_scripts, jenkins_scripts, run, run_action

from aoe_reports.store import History

pytestmark = pytest.mark.integrations

CLEAN = FIXTURES / "aoe" / "valid" / "report_flat"
BAD = FIXTURES / "aoe" / "invalid" / "json-truncated"
FAILS = "scope=step,effect>=3%"
PASSES = "scope=step,effect>=900%"
"""The planted steps are slower by a tenth."""
PROFILE = FIXTURES / "msprof" / "valid" / "two_devices_by_name"


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A folder whose name a careless script would split, expand or run."""
    return Path(shutil.copytree(BAD, tmp_path / "a b $(touch ran) ;touch ran; *"))


@pytest.mark.parametrize(("folder", "code", "level"), [(CLEAN, 0, None), (BAD, 1, "::error ")])
def test_the_action_checks(tmp_path: Path, folder: Path, code: int, level: str | None) -> None:
    ended, wrote = run_action(tmp_path, command="check", paths=f"{folder}\n")
    assert ended.code == code, ended.err
    assert level is None or level in ended.out
    assert wrote["GITHUB_OUTPUT"] == f"exit-code={code}\n"
    assert wrote["GITHUB_STEP_SUMMARY"] == (tmp_path / "aoe-reports" / "report.md").read_text() != ""
    assert (tmp_path / "aoe-reports" / "junit.xml").read_text().startswith("<?xml")
    assert '"2.1.0"' in (tmp_path / "aoe-reports" / "results.sarif").read_text()


def test_the_action_takes_names_as_they_are(tmp_path: Path, odd: Path) -> None:
    ended, _ = run_action(
        tmp_path, command="check", paths=f"{CLEAN}\n{odd}", output="out of $(touch ran)", formats="junit"
    )
    assert ended.code == 1, ended.err
    assert (tmp_path / "out of $(touch ran)" / "junit.xml").exists()
    assert sorted(path.name for path in tmp_path.rglob("ran")) == []


@pytest.mark.parametrize(("gate", "code"), [(f"{PASSES}\n{FAILS}\n", 1), (PASSES, 0)])
def test_the_action_gates_a_store(tmp_path: Path, planted: Path, gate: str, code: int) -> None:
    ended, wrote = run_action(tmp_path, command="regressions", store=str(planted), gate=gate, formats="markdown junit")
    assert (ended.code, wrote["GITHUB_OUTPUT"]) == (code, f"exit-code={code}\n"), ended.err
    assert ("::error title=Regression" in ended.out) == (code == 1)
    assert ("<failure" in (tmp_path / "aoe-reports" / "junit.xml").read_text()) == (code == 1)


def test_the_action_stores_before_it_compares(tmp_path: Path) -> None:
    ended, _ = run_action(tmp_path, command="regressions", store=str(tmp_path / "new"), paths=str(PROFILE), formats="")
    assert (ended.code, (tmp_path / "new" / "_delta_log").is_dir()) == (0, True), ended.err


@pytest.mark.parametrize(("workload", "named"), [("", False), ("a net; touch ran", True)])
def test_the_templates_store_under_the_name_that_is_given(tmp_path: Path, workload: str, named: bool) -> None:
    given = {"AOE_WORKLOAD": workload, "AOE_GATE": PASSES, "AOE_BASELINE": "", "AOE_FAIL_ON": "suspect"}
    store = {name: tmp_path / name for name in ("github", "gitlab", "jenkins")}
    run_action(
        tmp_path, command="regressions", store=str(store["github"]), paths=str(PROFILE), workload=workload, formats=""
    )
    _gitlab(
        tmp_path, BASHES[1], ".aoe-reports-regressions", AOE_STORE=str(store["gitlab"]), AOE_PATHS=str(PROFILE), **given
    )
    _, script = jenkins_scripts()
    run(script, tmp_path, {"AOE_STORE": str(store["jenkins"]), "AOE_NIGHTS": str(PROFILE), **given}, SH)
    for path in store.values():
        found = set(History.open(str(path)).rows("run", ["model"])["model"].to_pylist())
        assert found
        assert (found == {workload}) == named
    assert sorted(path.name for path in tmp_path.rglob("ran")) == []


def test_the_action_compares(tmp_path: Path) -> None:
    ended, wrote = run_action(
        tmp_path, command="compare", baseline=str(PROFILE), paths=str(PROFILE), arguments="--top\n3"
    )
    assert ended.code == 0, ended.err
    assert sorted(path.name for path in (tmp_path / "aoe-reports").iterdir()) == ["report.md"]
    assert "MatMul" in wrote["GITHUB_STEP_SUMMARY"]


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({"command": "adopt"}, 2),
        ({"command": "check", "paths": "/nowhere", "formats": ""}, 3),
        ({"command": "check", "paths": str(CLEAN), "formats": "pdf"}, 2),
        ({"command": "regressions", "gate": "effect>3", "formats": ""}, 2),
    ],
)
def test_the_action_fails_where_it_is_used_wrongly(tmp_path: Path, inputs: dict[str, str], code: int) -> None:
    assert run_action(tmp_path, **inputs)[0].code == code


BASHES = [BASH, ("dash", "-e", "-c")]
"""Both shells that a runner of GitLab may start."""


def _gitlab(cwd: Path, shell: Sequence[str], job: str, **env: str) -> Ended:
    return run("\n".join(gitlab_scripts(job)), cwd, {"AOE_INSTALL": "none", **env}, shell)


@pytest.mark.parametrize("shell", BASHES, ids=["bash", "dash"])
def test_gitlab_checks_names_as_they_are(tmp_path: Path, odd: Path, shell: Sequence[str]) -> None:
    ended = _gitlab(tmp_path, shell, ".aoe-reports-check", AOE_PATHS=f"{CLEAN}\n{odd}")
    assert ended.code == 1, ended.err
    assert ended.out == (tmp_path / "aoe-reports" / "report.md").read_text() != ""
    assert (tmp_path / "aoe-reports" / "junit.xml").exists()
    assert sorted(path.name for path in tmp_path.rglob("ran")) == []


@pytest.mark.parametrize(("shell", "gate", "code"), [(BASH, PASSES, 0), (BASHES[1], f"{PASSES}\n{FAILS}\n", 1)])
def test_gitlab_gates_a_store(tmp_path: Path, planted: Path, shell: Sequence[str], gate: str, code: int) -> None:
    given = {"AOE_STORE": str(planted), "AOE_GATE": gate, "AOE_PATHS": "", "AOE_BASELINE": "", "AOE_FAIL_ON": "suspect"}
    ended = _gitlab(tmp_path, shell, ".aoe-reports-regressions", **given)
    assert ended.code == code, ended.err
    assert ("<failure" in (tmp_path / "aoe-reports" / "junit.xml").read_text()) == (code == 1)


@pytest.mark.parametrize(("folder", "code"), [(CLEAN, 0), (BAD, 1)])
def test_gitee_checks(tmp_path: Path, folder: Path, code: int) -> None:
    (tmp_path / ".aoe-reports-venv").mkdir()
    (tmp_path / ".aoe-reports-venv" / "bin").symlink_to(BIN)
    kept = [command for command in gitee_commands() if "venv .aoe" not in command and "pip install" not in command]
    ended = run("\n".join(kept), tmp_path, {"AOE_PATHS": str(folder)}, ("bash", "-e", "-c"))
    assert (ended.code, len(kept)) == (code, 4), ended.err
    assert {path.name for path in (tmp_path / "aoe-reports").iterdir()} == {"junit.xml", "report.md"}


@pytest.mark.parametrize(("gate", "code"), [(FAILS, 1), (PASSES, 0)])
def test_jenkins_gates_a_store(tmp_path: Path, planted: Path, gate: str, code: int) -> None:
    _, script = jenkins_scripts()
    store = shutil.copytree(planted, tmp_path / "store")
    ended = run(script, tmp_path, {"AOE_STORE": str(store), "AOE_GATE": gate, "AOE_NIGHTS": str(PROFILE)}, SH)
    assert ended.code == code, ended.err
    assert {path.name for path in (tmp_path / "aoe-reports").iterdir()} == {"junit.xml", "report.html"}
