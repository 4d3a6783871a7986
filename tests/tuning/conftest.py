"""What tests of the tuning loop share."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tuning.jobs import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A bench; when the test is over nothing of the stand-in runs any more."""
    root = tmp_path / "bench"
    root.mkdir()
    made = Bench(root)
    yield made
    until = time.monotonic() + 20
    while made.running() and time.monotonic() < until:
        time.sleep(0.05)  # ended just now
    assert made.running() == []
