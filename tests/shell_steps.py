"""The shell that templates for CI systems hold, taken out of them as the systems do, and run as they run it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import yaml
from commandline import ROOT, Ended

INTEGRATIONS = ROOT / "integrations"
BIN = Path(sys.executable).parent
"""Where the command is installed that the steps call."""
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
"""How GitHub starts `shell: bash`, and GitLab where an image has bash."""
SH = ("sh", "-xe", "-c")
"""How Jenkins starts `sh`."""


def load(name: str) -> Any:
    """A template of ours that is YAML."""
    return yaml.safe_load((INTEGRATIONS / name).read_text())


def github_steps() -> dict[str, tuple[str, dict[str, str]]]:
    """Name, script and environment of each step of the action."""
    steps = load("github/action.yml")["runs"]["steps"]
    return {step["name"]: (step["run"], step["env"]) for step in steps}


def gitlab_scripts(job: str) -> tuple[str, str]:
    """What comes before, and the script, of a job to extend."""
    jobs = load("gitlab/aoe-reports.gitlab-ci.yml")
    return "\n".join(jobs[".aoe-reports"]["before_script"]), "\n".join(jobs[job]["script"])


def workflow_steps(name: str) -> dict[str, str]:
    """Name and script of each step of a workflow of GitHub that has one."""
    jobs = load(f"github/{name}")["jobs"]
    return {step["name"]: step["run"] for job in jobs.values() for step in job["steps"] if "run" in step}


def gitee_commands(name: str = "aoe-reports.yml") -> list[str]:
    """The commands of the step, one after another."""
    (stage,) = load(f"gitee/{name}")["stages"]
    (step,) = stage["steps"]
    return list(step["commands"])


def jenkins_scripts() -> list[str]:
    """What stands between the quotes of each `sh`."""
    return [
        dedent(found)
        for found in re.findall(r"'''\n(.*?)'''", (INTEGRATIONS / "jenkins/Jenkinsfile").read_text(), re.DOTALL)
    ]


def run(script: str, cwd: Path, env: Mapping[str, str], shell: Sequence[str] = BASH) -> Ended:
    """Run a step with this environment and nothing else of ours."""
    clean = {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(cwd), "PYTHONDONTWRITEBYTECODE": "1", **env}
    ended = subprocess.run(
        [*shell, script], cwd=cwd, env=clean, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def run_action(cwd: Path, **inputs: str) -> tuple[Ended, dict[str, str]]:
    """The step of the action that runs the command, its inputs passed as GitHub passes them; with what it wrote for GitHub."""
    script, env = github_steps()["Run aoe-reports"]
    defaults = {name: value.get("default", "") for name, value in load("github/action.yml")["inputs"].items()}
    given = {**defaults, **inputs}
    values = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: given[found[1]], text) for name, text in env.items()
    }
    files = {name: cwd / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    paths = {name: str(path) for name, path in files.items()}
    ended = run(
        script, cwd, {**os.environ, **values, **paths, "RUNNER_TEMP": str(cwd / "temp"), "PATH": f"{BIN}:/usr/bin:/bin"}
    )
    return ended, {name: path.read_text() if path.exists() else "" for name, path in files.items()}
