"""AKG's agents behind the protocol of a tuner, and the speed-ups of a search."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aoe_reports.formats.aoe.result_files import read_bytes
from aoe_reports.formats.tuner_files import TunerFile
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.texts import say
from aoe_reports.tuning.akg import AKG_ROOFLINE, FILES
from aoe_reports.tuning.akg.autotune import read_autotune
from aoe_reports.tuning.akg.profile import read_profile
from aoe_reports.tuning.claim_files import CLAIMS_FORM, CLAIMS_NOT_MEASURED, CLAIMS_ROW, read_log, time_in
from aoe_reports.tuning.files_only import FileClaims, FilesOnly, against_reference
from aoe_reports.tuning.tuner import Claim, Tuner

_RECORD = re.compile(
    r"op_name: (.{1,1000}?), task_id: (.{0,1000}?), unique_dir: (.{0,1000}?), base_time: (\S{1,40}) us, "
    r"generation_time: (\S{1,40}) us, speedup: \S{1,40}x(?:, roofline_time: (\S{1,40}) us, .{0,1000})?\s*"
)
_VERIFIED = "verification_results.jsonl"
_MAX_VERIFIED_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class _Record:
    op_name: str
    folder: str
    base_us: float | None
    generation_us: float | None
    roofline_us: float | None
    line: int


def read_record(path: Path, most: int | None = None) -> FileClaims:
    """The fastest kernel of each operator of one search; ReadError only where it cannot be opened."""
    findings: list[Finding] = []
    records = list(_records(path, read_log(path, most, findings), findings))
    if not records and not findings:
        findings.append(CLAIMS_FORM.found(str(path), say("expected lines with op_name, base_time and generation_time")))
    best: dict[str, _Record] = {}
    for one in records:
        if one.generation_us is not None and one.generation_us < _time(best.get(one.op_name)):
            best[one.op_name] = one
    left = sum(one.generation_us is None for one in records)
    if left:
        text = say("{left} of {count} candidates were not measured", left=left, count=len(records))
        findings.append(CLAIMS_NOT_MEASURED.found(str(path), text))
    if has(findings, "error"):
        return FileClaims((), tuple(findings), len(records) - left)
    agreed = _verified(path.parent.parent.parent / _VERIFIED) if best else {}
    claims = []
    for name, one in best.items():
        claim = Claim(name, (), None, _time(one), str(path), accuracy=agreed.get(one.folder))
        claims.append(claim if one.base_us is None else against_reference(claim, one.base_us, findings))
    return FileClaims(tuple(claims), tuple(findings), len(records) - left)


def _time(record: _Record | None) -> float:
    return float("inf") if record is None or record.generation_us is None else record.generation_us


def _records(path: Path, lines: list[str], findings: list[Finding]) -> Iterator[_Record]:
    for place, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        match = _RECORD.fullmatch(line)
        times = [] if match is None else [_time_or_none(match[group]) for group in (4, 5, 6)]
        if match is None or -1.0 in times:
            findings.append(CLAIMS_ROW.found(str(path), say("expected an operator, and times above 0 in us"), place))
            continue
        base, generation, roofline = times
        if generation is not None and roofline is not None and generation < roofline:
            text = say(
                "{kernel}: {after:,.4g} us, its roofline is {roofline:,.4g} us",
                kernel=match[1],
                after=generation,
                roofline=roofline,
            )
            findings.append(AKG_ROOFLINE.found(str(path), text, place))
        yield _Record(match[1], match[3], base, generation, roofline, place)


def _time_or_none(text: str | None) -> float | None:
    """A time; None where it is not given, or what AKG writes of a profile that failed; -1 for anything else."""
    if text is None or text in {"inf", "nan"}:
        return None
    time = time_in(text)
    return -1.0 if time is None else time


def _verified(path: Path) -> dict[str, bool]:
    """Whether the results of the kernel in each folder agreed with the framework's; what cannot be read says nothing."""
    try:
        text = read_bytes(path, _MAX_VERIFIED_BYTES).decode("utf-8", "replace") if path.is_file() else ""
    except ReadError:
        return {}
    decoder, at, agreed = json.JSONDecoder(), 0, {}
    while (at := _next(text, at)) < len(text):
        try:
            result: Any
            result, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        if (
            isinstance(result, dict)
            and isinstance(result.get("verify_dir"), str)
            and isinstance(result.get("passed"), bool)
        ):
            agreed[re.split(r"[/\\]", result["verify_dir"].rstrip("/\\"))[-1]] = result["passed"]
    return agreed


def _next(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def read_file(path: Path, most: int | None) -> TunerFile:
    """What `check` and `inspect` show of one record."""
    return read_record(path, most).shown


_AUTOTUNE, _PROFILE, _SPEEDUPS = FILES
TUNER: Tuner = FilesOnly(
    "AKG", ((_AUTOTUNE, read_autotune), (_PROFILE, read_profile), (_SPEEDUPS, read_record)), once_each=True
)
