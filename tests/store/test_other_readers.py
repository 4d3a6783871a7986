"""Other tools read the store as docs/store.md says; none of them needs anything of this package, or the network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import Cli

PAGE = Path(__file__).parents[2] / "docs" / "store.md"
SNIPPETS = dict(re.findall(r"<!-- tested: (\w+) -->\n+```python\n(.*?)```", PAGE.read_text(), re.DOTALL))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    from commandline import FIXTURES

    place = tmp_path_factory.mktemp("other") / "history"
    folder = FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks"
    command = [sys.executable, "-m", "aoe_reports", "ingest", folder, "--store", place, "--workload", "resnet50"]
    subprocess.run(command, check=True, capture_output=True)
    return place


def test_every_reader_of_the_page_is_tried() -> None:
    assert set(SNIPPETS) == {"polars", "pandas", "pyarrow", "duckdb"}


@pytest.mark.parametrize("reader", sorted(SNIPPETS))
def test_a_snippet_of_the_page_runs_and_sees_every_step(reader: str, store: Path, cli: Cli) -> None:
    rows = cli("store", "history", "records", "--store", store, "--scope", "step", "--format", "json").json["rows"]
    code = SNIPPETS[reader].replace("/data/history", str(store)) + "\nprint(len(steps))\n"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout.split()[-1]) == len(rows) > 0
