"""Reads what Triton's autotuner keeps: the configurations of one kernel for one key, each with its times.

`{"key": [...], "configs_timings": [[{"kwargs": {...}, "num_warps": 4, ...}, [median, 20 %, 80 %]], ...]}`, times in ms. A
configuration that could not be run has `Infinity` three times, which is no JSON and what Python's json writes and reads. The best one
is not named: it is the least, by median first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aoe_reports.formats.tuner_files import TunerFile
from aoe_reports.model.documents import JsonObject, object_of
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.texts import say
from aoe_reports.tuning.claim_files import read_claim_json
from aoe_reports.tuning.triton import AUTOTUNE_DUPLICATE, AUTOTUNE_FORM, AUTOTUNE_NOTHING_RAN, AUTOTUNE_TIME, SUFFIX


@dataclass(frozen=True, slots=True)
class TimedConfig:
    """One configuration and what it took; null: it could not be run."""

    config: str
    median_ms: float | None
    times_ms: tuple[float, ...]
    """All that was kept of it, the median first: Triton chooses the least of these."""


@dataclass(frozen=True, slots=True)
class Autotuned:
    """What one file says: the kernel, the key that it was tuned for, its configurations as they were declared."""

    path: Path
    kernel: str
    key: str
    configs: tuple[TimedConfig, ...]
    findings: tuple[Finding, ...]
    selected: TimedConfig | None = None
    """The configuration that it says was chosen; null: it does not say."""

    @property
    def sound(self) -> bool:
        """Whether its times may be used."""
        return not has(self.findings, "error")

    @property
    def ran(self) -> tuple[TimedConfig, ...]:
        """The configurations that could be run."""
        return tuple(config for config in self.configs if config.median_ms is not None)

    @property
    def first(self) -> TimedConfig | None:
        """The first that could be run: what stands for `before`, since no time without tuning is kept."""
        return next(iter(self.ran), None)

    @property
    def best(self) -> TimedConfig | None:
        """The one that Triton uses from then on."""
        return self.selected or min(self.ran, key=lambda one: one.times_ms, default=None)


def read_autotuned(path: Path, most: int | None = None) -> Autotuned:
    """One file of the cache; ReadError only where it cannot be opened."""
    findings: list[Finding] = []
    document = read_claim_json(path, most, findings)
    configs = _configs(path, document, findings) if not has(findings, "error") else ()
    key = document.get("key") if isinstance(document, dict) else None
    shown = ", ".join(map(str, key)) if isinstance(key, list) else ""
    return Autotuned(path, path.name.removesuffix(SUFFIX), shown, configs, tuple(findings))


def read_file(path: Path, most: int | None) -> TunerFile:
    """What `check` and `inspect` show of one file."""
    one = read_autotuned(path, most)
    if not one.configs:
        return TunerFile(None, (one.kernel,), None, None, one.findings)
    best = one.best
    summary: JsonObject = {
        "key": one.key,
        "configs": len(one.configs),
        "failed": len(one.configs) - len(one.ran),
        "best": None if best is None else best.config,
        "best_ms": None if best is None else best.median_ms,
    }
    return TunerFile(1, (one.kernel,), len(one.configs), summary, one.findings)


def _configs(path: Path, document: Any, findings: list[Finding]) -> tuple[TimedConfig, ...]:
    timings = document.get("configs_timings") if isinstance(document, dict) else None
    if not isinstance(timings, list) or not timings or not isinstance(document.get("key"), list):
        text = say("expected an object with a list `key` and a non-empty list `configs_timings`")
        findings.append(AUTOTUNE_FORM.found(str(path), text))
        return ()
    configs: dict[str, TimedConfig] = {}
    for number, entry in enumerate(timings):
        at = f"/configs_timings/{number}"
        if not (isinstance(entry, list) and len(entry) == len(("config", "times")) and isinstance(entry[0], dict)):
            findings.append(AUTOTUNE_FORM.found(str(path), say("expected a configuration and its times"), pointer=at))
            continue
        config, times = _words(entry[0]), _times(entry[1])
        if times is None:
            findings.append(
                AUTOTUNE_TIME.found(str(path), say("expected times above 0 in ms, or Infinity"), pointer=f"{at}/1")
            )
            continue
        if config in configs:
            findings.append(
                AUTOTUNE_DUPLICATE.found(str(path), say("{config}: occurs twice", config=config), pointer=at)
            )
        configs[config] = TimedConfig(config, times[0] if math.isfinite(times[0]) else None, times)
    if configs and not any(one.median_ms is not None for one in configs.values()):
        findings.append(AUTOTUNE_NOTHING_RAN.found(str(path), say("all times are infinite")))
    return tuple(configs.values())


def _times(value: Any) -> tuple[float, ...] | None:
    """The times of one configuration: all finite or none; a benchmark of one's own may give one number."""
    given: Sequence[Any] = value if isinstance(value, list) else [value]
    if not given or any(isinstance(one, bool) or not isinstance(one, (int, float)) for one in given):
        return None
    times = tuple(float(one) for one in given)
    whole = all(0 < time < math.inf for time in times) or all(time == math.inf for time in times)
    return times if whole else None


def _words(config: JsonObject) -> str:
    """A configuration as Triton prints it: its own parameters, then those of the launch that are set."""
    named = object_of(config.get("kwargs")) | {
        key: value for key, value in config.items() if key not in {"kwargs", "pre_hook"} and value is not None
    }
    return ", ".join(f"{key}: {value}" for key, value in named.items())
