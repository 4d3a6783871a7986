"""Draws the pictures of docs/gallery.md with the product itself, from captures that are made up: python docs/gallery.py (same bytes each time)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "tests"))
import planted_changes  # noqa: E402 -- captures whose truth is known are there for the tests
import planted_modules  # noqa: E402
import planted_pipelines  # noqa: E402
import planted_serving  # noqa: E402
import planted_training  # noqa: E402

MAX_BYTES = 150_000


def write_captures(folder: Path) -> None:
    """A transformer, two runs of one that changed, a pipeline of four stages, a training, a server."""
    planted_modules.write_planted(folder / "transformer", "gallery")
    change = next(one for one in planted_changes.planted(7) if one.name == "slower link")
    planted_changes.write_pair(folder, change, 7)
    step = planted_pipelines.Pipeline("1F1B", 8, [100, 110, 100, 105], [200, 215, 200, 205])
    step.run()
    planted_pipelines.write(folder / "pipeline", [step])
    planted_training.write_training(folder / "training")
    planted_serving.planted("few layers", 1, 6).write(folder / "server")


PICTURES: Mapping[str, tuple[str, ...]] = {
    "roofline": ("roofline", "server", "--chip", "Ascend910B2"),
    "flame-graph": ("stacks", "transformer"),
    "waterfall": ("explain", "before", "after", "--top", "6"),
    "pipeline": ("communication", "pipeline"),
    "memory": ("memory", "training"),
    "step": ("critical-path", "before", "--step", "1"),
}
"""Of each picture the command that draws it."""


def draw(folder: Path, name: str) -> str:
    """One picture of the captures in a folder."""
    command = [sys.executable, "-m", "aoe_reports", *PICTURES[name], "--format", "svg"]
    environment = {**os.environ, "XDG_CONFIG_HOME": str(folder)}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode or not ended.stdout.startswith("<svg"):
        raise SystemExit(f"{name}: exit code {ended.returncode}: {ended.stderr}")
    if len(ended.stdout) > MAX_BYTES:
        raise SystemExit(f"{name} has {len(ended.stdout)} bytes, more than {MAX_BYTES}")
    return ended.stdout


def main() -> None:
    """Draw all, beside this file or in the folder that is named."""
    into = Path(sys.argv[1]) if sys.argv[1:] else DOCS
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_captures(folder)
        for name in PICTURES:
            (into / f"gallery-{name}.svg").write_text(draw(folder, name), encoding="utf-8")


if __name__ == "__main__":
    main()
