"""The notebooks of examples/ run in kernels of their own; what they show is there. `make notebooks`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from commandline import FIXTURES, ROOT
from made_traces import planted

NOTEBOOKS = ROOT / "examples" / "notebooks"
MISSING = [name for name in ("ipykernel", "marimo", "nbclient") if find_spec(name) is None]
pytestmark = [
    pytest.mark.notebooks,
    pytest.mark.skipif(
        bool(MISSING) and "CI" not in os.environ, reason=f"{', '.join(MISSING)} not installed (`make notebooks`)"
    ),
]


@pytest.fixture
def surroundings(simulated_store: Path, simulated_nights: Path, tmp_path: Path) -> dict[str, str]:
    """What the demo leaves, a capture with a timeline, and no settings of the user's."""
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "history").symlink_to(simulated_store)
    (tmp_path / "demo" / "nights").symlink_to(simulated_nights)
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "JUPYTER_CONFIG_DIR": str(tmp_path)}
    captures = {"TIMELINE": planted().write(tmp_path / "capture"), "MEMORY": FIXTURES / "memory" / "training"}
    return os.environ | home | {name: str(path) for name, path in captures.items()} | {"DEMO": str(tmp_path / "demo")}


def run(*arguments: object, environment: dict[str, str], where: Path) -> str:
    ended = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, env=environment, cwd=where, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_notebooks_are_kept_without_outputs() -> None:
    cells = json.loads((NOTEBOOKS / "profiles.ipynb").read_text())["cells"]
    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []


def outputs(notebook: Path) -> Iterator[dict[str, str]]:
    for cell in json.loads(notebook.read_text())["cells"]:
        for output in cell.get("outputs", ()):
            yield {kind: "".join(text) for kind, text in output.get("data", {}).items()}


def test_the_jupyter_notebook_shows_answers_and_pictures(surroundings: dict[str, str], tmp_path: Path) -> None:
    copy = tmp_path / "profiles.ipynb"
    copy.write_text((NOTEBOOKS / "profiles.ipynb").read_text())
    run("-c", "from nbclient.cli import main; main()", "--inplace", copy, environment=surroundings, where=tmp_path)
    shown = [*outputs(copy)]
    pictures = [one for one in shown if "image/png" in one]
    assert len(pictures) == 7
    assert all('alt="' in one["text/html"] for one in pictures)
    alts = " ".join(one["text/html"].partition('alt="')[2] for one in pictures)
    for words in (
        "Hotspots · run",
        "step 7: Computing alone",
        "Steps · run",
        "Memory of PTA+GE · rank 1",
        "Conv2D",
        "A step: +",
        "since 2026-02-07",
    ):
        assert words in alts
    assert any('class="aoe-reports"' in one.get("text/html", "") for one in shown)
    assert any("total_ns" in one.get("text/html", "") for one in shown)


def test_the_marimo_app_runs(surroundings: dict[str, str], tmp_path: Path) -> None:
    code = (
        f"import runpy; _, made = runpy.run_path({str(NOTEBOOKS / 'nights.py')!r})['app'].run()\n"
        "print(made['picture'].alt, made['since'], made['ranked'], made['compared'], made['parts'], sep='\\n')"
    )
    alt, since, ranked, compared, parts = run("-c", code, environment=surroundings, where=tmp_path).splitlines()
    assert alt.startswith("simulated-convnet/op/layer6/conv")
    assert "confirmed since 2026-02-07" in alt
    assert since == "2026-02-07"
    assert ranked.startswith("<Answer hotspots: rows 7")
    assert compared.startswith("<Answer compare: rows 7")
    assert parts.startswith("<Answer breakdown: rows 3, gaps 4")
