"""The command line as tests see it: where fixtures lie, and what a finished command left."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "fixtures"
OF_CAPTURES = (
    "hotspots",
    "steps",
    "breakdown",
    "critical-path",
    "host",
    "communication",
    "stragglers",
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
