"""Results of the generator beside the project, with faults of which it tells: each is found, and no other operators."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import Cli

GENERATOR = Path(__file__).parents[3] / "shared" / "bench" / "gen_aoe.py"


@pytest.mark.skipif(not GENERATOR.is_file(), reason="the generator is not beside the project")
def test_every_planted_fault_is_found_at_its_place(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    subprocess.run([sys.executable, GENERATOR, "600", folder, "--bad", "0.2"], check=True)
    planted = json.loads((tmp_path / "results.truth.json").read_text())
    ended = cli("check", folder, "--format", "json").json
    assert len(ended["rows"]) == 600
    errors = [f for f in ended["findings"] if f["severity"] == "error" and f["rule"] != "tuning-failed"]
    assert {(Path(f["path"]).name, f["rule"], f["pointer"]) for f in errors} == {
        (name, "schema", pointer) for name, pointer in planted.items()
    }
    assert all(f["line"] and f["column"] for f in errors)
    failed = {Path(f["path"]).name for f in ended["findings"] if f["rule"] == "tuning-failed"}
    stated = {path.name for path in folder.iterdir() if b"tuning failed" in path.read_bytes()}
    assert failed == stated - planted.keys()


SAMPLES = Path(__file__).parents[3] / "shared" / "data" / "aoe" / "doc_samples"


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the documents' samples are not beside the project")
@pytest.mark.parametrize(
    ("name", "line", "column", "what"),
    [
        ("opat_blog_fragment", 1, 8, 'near `"basic": {"tuning_name`'),
        ("opat_v1_62rc1", 1, 1087, "expected `,` or `]`"),
        ("opat_v2_800_tf", 50, 1, "near `........`"),
        ("sgat_v1_62rc1", 1, 417, "expected `,` or `}`"),
        ("sgat_v2_800_tf", 1, 29, "text follows the end of the document"),
    ],
)
def test_a_broken_sample_is_told_of_with_its_place_under_its_own_name(
    cli: Cli, name: str, line: int, column: int, what: str
) -> None:
    ended = cli("check", SAMPLES / f"{name}.raw.txt", "--format", "json")
    (finding,) = ended.json["findings"]
    assert (finding["rule"], finding["line"], finding["column"]) == ("json-syntax", line, column)
    assert what in finding["message"]
    assert ended.code == 1
