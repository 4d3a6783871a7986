"""The command line as tests see it: where fixtures lie, and what a finished command left."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "fixtures"
REAL_DATA = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data"))
"""Real files, where somebody has them; they are no part of the project."""
REAL = REAL_DATA / "msprof"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason=f"no real exports in {REAL}")
OF_CAPTURES = (
    "hotspots",
    "steps",
    "breakdown",
    "critical-path",
    "host",
    "communication",
    "stragglers",
    "memory",
    "roofline",
    "stacks",
    "quality",
    "serving",
    "advise",
)
"""The questions about captures, each by itself."""


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        def refuse(constant: str) -> Any:
            raise AssertionError(f"{constant} in JSON output")

        return json.loads(self.out, parse_constant=refuse)

    def rules(self) -> set[str]:
        return {finding["rule"] for finding in self.json["findings"]}


Cli = Callable[..., Ended]
