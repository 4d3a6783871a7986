"""Reads what Triton-Ascend's autotuner prints with TRITON_PRINT_AUTOTUNING=1: the configurations of a kernel with their times.

`Triton autotuning benchmark results for function NAME:`, and a line `config=…; p50=… ms, p20=… ms, p80=… ms` (or
`mean=… ms`) for each configuration that ran, the chosen one with ` [selected]` (Triton-Ascend, autotune guide; known from that
document alone). Triton itself prints only `Triton autotuning for function NAME finished after …; best config selected: …;`,
without a time (python/triton/runtime/autotuner.py; since 3.4 over several lines): that is no claim which a measurement could check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from aoe_reports.formats.aoe.result_files import read_bytes
from aoe_reports.formats.tuner_files import TunerFile
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.tuning.triton import AUTOTUNE_FORM, AUTOTUNE_NO_CLAIM, AUTOTUNE_TIME
from aoe_reports.tuning.triton.cache import Autotuned, TimedConfig

MAX_PRINTED_BYTES = 64 << 20
"""The longest log that is read."""
_CHOSEN = re.compile(r"Triton autotuning for function ([^\s,;:]{1,1000})(?:,$| finished after )")
_RESULTS = re.compile(r"Triton autotuning benchmark results for function ([^\s,;:]{1,1000}):\s*$")
_CONFIG = re.compile(r"\s+config=(.{1,4000}?); ((?:p50|mean)=.*)$")
_TIME = re.compile(r"(?:p50|p20|p80|mean)=([0-9.]{1,40}(?:e[+-]?\d{1,3})?) ms(?:, |$| \[selected\]$)", re.ASCII)
_SELECTED = " [selected]"


def read_printed(path: Path, most: int | None = None) -> tuple[Autotuned, ...]:
    """The kernels of one log, one by one as they were tuned; ReadError only where it cannot be opened."""
    limit = min(most or MAX_PRINTED_BYTES, MAX_PRINTED_BYTES)
    data = read_bytes(path, limit, say("a log of Triton was expected"))
    if len(data) > limit:
        text = say("at most {limit} bytes are read; this file is larger", limit=limit)
        return (Autotuned(path, "", "", (), (AUTOTUNE_FORM.found(str(path), text),)),)
    found = list(_kernels(path, data.decode("utf-8", "replace").splitlines()))
    timed = {one.kernel for one in found if one.configs}
    return tuple(one for one in found if one.configs or one.kernel not in timed)


def read_file(path: Path, most: int | None) -> TunerFile:
    """What `check` and `inspect` show of one log."""
    kernels = read_printed(path, most)
    names = tuple(dict.fromkeys(kernel.kernel for kernel in kernels if kernel.kernel))
    findings = tuple(finding for kernel in kernels for finding in kernel.findings)
    return TunerFile(len(names), names, sum(len(kernel.configs) for kernel in kernels), None, findings)


def _kernels(path: Path, lines: list[str]) -> Iterator[Autotuned]:
    for place, line in enumerate(lines):
        results, chosen = _RESULTS.search(line), _CHOSEN.search(line)
        if results is not None:
            yield _timed(path, results[1], lines, place)
        elif chosen is not None:
            text = say("{kernel}: its best configuration is named without a time", kernel=chosen[1])
            yield Autotuned(path, chosen[1], "", (), (AUTOTUNE_NO_CLAIM.found(str(path), text, place + 1),))


def _timed(path: Path, kernel: str, lines: list[str], place: int) -> Autotuned:
    configs: list[TimedConfig] = []
    findings: list[Finding] = []
    selected: TimedConfig | None = None
    for number in range(place + 1, len(lines)):
        match = _CONFIG.match(lines[number])
        if match is None:
            break
        times = tuple(map(_number, _TIME.findall(match[2])))
        if not times or min(times) <= 0:
            findings.append(AUTOTUNE_TIME.found(str(path), say("expected times above 0 in ms"), number + 1))
            continue
        configs.append(TimedConfig(match[1], times[0], times))
        if match[2].endswith(_SELECTED):
            selected = configs[-1]
    if not configs and not findings:
        findings.append(AUTOTUNE_FORM.found(str(path), say("no configuration follows"), place + 1))
    return Autotuned(path, kernel, "", tuple(configs), tuple(findings), selected)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
