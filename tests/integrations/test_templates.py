"""The templates are what their systems accept: by the systems' own schemas, and by linters."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("check_jsonschema", reason="needs the dependency group integrations")

from commandline import ROOT
from shell_steps import (
    BIN,
    INTEGRATIONS,
    gitee_commands,
    github_steps,
    gitlab_scripts,
    jenkins_scripts,
    load,
    workflow_steps,
)

from aoe_reports.formats.vendor import parse_name

pytestmark = pytest.mark.integrations


def _run(*command: object) -> tuple[int, str]:
    ended = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, cwd=ROOT)
    return ended.returncode, ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("schema", "name", "more"),
    [
        ("github-actions", "github/action.yml", []),
        ("github-workflows", "github/workflow.yml", []),
        ("github-workflows", "github/merge-gate.yml", []),
        ("gitlab-ci", "gitlab/aoe-reports.gitlab-ci.yml", ["--data-transform", "gitlab-ci"]),
        ("gitlab-ci", "gitlab/example.gitlab-ci.yml", ["--data-transform", "gitlab-ci"]),
    ],
)
def test_a_template_is_what_the_schema_of_its_system_says(schema: str, name: str, more: list[str]) -> None:
    code, said = _run(BIN / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", *more, INTEGRATIONS / name)
    assert code == 0, said


def test_the_schema_would_notice_a_key_that_does_not_exist(tmp_path: Path) -> None:
    text = (INTEGRATIONS / "github/action.yml").read_text()
    (tmp_path / "action.yml").write_text(text.replace("    - name: Run", "    - nmae: Run"))
    code, _ = _run(BIN / "check-jsonschema", "--builtin-schema", "vendor.github-actions", tmp_path / "action.yml")
    assert code == 1


def test_zizmor_finds_no_hole_in_the_action_and_the_workflows(tmp_path: Path) -> None:
    workflows = tmp_path / ".github" / "workflows"
    workflows.mkdir(parents=True)
    for name in ("workflow.yml", "merge-gate.yml"):
        shutil.copy(INTEGRATIONS / "github" / name, workflows)
    action = tmp_path / ".github" / "actions" / "aoe-reports"
    action.mkdir(parents=True)
    shutil.copy(INTEGRATIONS / "github/action.yml", action)
    code, said = _run(
        BIN / "zizmor", "--offline", "--no-progress", "--min-severity", "medium", workflows, action / "action.yml"
    )
    assert code == 0, said


def test_no_input_is_put_into_a_script() -> None:
    scripts = {name: script for name, (script, _) in github_steps().items()} | workflow_steps("merge-gate.yml")
    assert [name for name, script in scripts.items() if "${{" in script] == []


def test_code_of_a_pull_request_runs_only_where_nothing_can_be_written() -> None:
    for job in load("github/merge-gate.yml")["jobs"].values():
        takes_code = any("checkout" in step.get("uses", "") for step in job["steps"])
        assert takes_code != ("write" in job["permissions"].values())


def test_the_hook_is_what_pre_commit_accepts() -> None:
    code, said = _run(BIN / "pre-commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml")
    assert code == 0, said


def test_the_hook_takes_what_check_reads_and_no_other_files() -> None:
    (hook,) = load("../.pre-commit-hooks.yaml")
    known = [path for path in (ROOT / "fixtures").rglob("*") if path.is_file() and re.search(hook["files"], str(path))]
    kinds = {path.name.split(".")[0].rstrip("_0123456789") for path in known}
    assert {"op_summary", "op_statistic", "task_time", "step_trace", "kernel_details"} <= kinds
    assert any(name.startswith("aoe_result_sgat") for name in kinds)
    for name in ("package.json", "tsconfig.json", "data.csv", "docs/summary.csv", "aoe_result_notes.md"):
        assert not re.search(hook["files"], name), name
        assert parse_name(name.rpartition("/")[2]) is None


SCRIPTS = {
    **{f"github {name}": ("bash", script) for name, (script, _) in github_steps().items()},
    **{
        f"gitlab {job}": ("dash", "\n".join(gitlab_scripts(job)))
        for job in (".aoe-reports-check", ".aoe-reports-regressions", ".aoe-reports-ab")
    },
    **{f"merge-gate {name}": ("bash", script) for name, script in workflow_steps("merge-gate.yml").items()},
    **{f"gitee {name}": ("dash", "\n".join(gitee_commands(name))) for name in ("aoe-reports.yml", "merge-gate.yml")},
    "measure-in-turns": ("sh", (INTEGRATIONS / "measure-in-turns.sh").read_text()),
    **{f"jenkins {number}": ("dash", script) for number, script in enumerate(jenkins_scripts())},
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_shellcheck_finds_nothing(name: str, tmp_path: Path) -> None:
    shell, script = SCRIPTS[name]
    (tmp_path / "step.sh").write_text(script)
    code, said = _run(BIN / "shellcheck", "--norc", f"--shell={shell}", "--severity=style", tmp_path / "step.sh")
    assert code == 0, said


@pytest.mark.parametrize("name", ["aoe-reports.yml", "merge-gate.yml"])
def test_gitee_go_gets_the_keys_that_its_steps_have(name: str) -> None:
    pipeline = load(f"gitee/{name}")
    assert pipeline["version"] == "1.0"
    (stage,) = pipeline["stages"]
    (step,) = stage["steps"]
    assert step["step"] == "build@python"
    assert set(step) == {"step", "name", "displayName", "pythonVersion", "commands", "artifacts", "strategy"}
