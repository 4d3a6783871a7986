"""A plan's folder on disk: the plan, the list of operators, the verdict, and how far its job is."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from msgspec import ValidationError, convert

from aoe_reports.engine.locks import locked_at_once
from aoe_reports.engine.output import write_whole
from aoe_reports.formats.aoe.result_files import as_utf8, parse_json, read_bytes
from aoe_reports.model.classes import made
from aoe_reports.model.documents import Json, JsonObject
from aoe_reports.model.errors import ReadError, UsageError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.rules.schema import schema_errors
from aoe_reports.tuning.banks.bank import Listing, listing_of_document
from aoe_reports.tuning.job.state import JobState, state_of_document
from aoe_reports.tuning.plan.plan import Plan, document_of_plan, path_problems, plan_of_document, to_json
from aoe_reports.tuning.tuner import driver_of_plan
from aoe_reports.tuning.verify.rows import Verification
from aoe_reports.tuning.verify.uses import BankUse

PLAN = "plan.json"
BANK = "bank"
"""The private bank of a job."""
RUNS = "runs"
"""Where each stage of a job has a folder of its own."""
REMEASURED_LOG = "remeasured_log"
"""Where CANN leaves its log of what remeasure.sh runs."""
VERIFY = "verify.json"
STATE = "state.json"
OUTCOME = "outcome.json"
MAX_PLAN_BYTES = 256 << 20

T = TypeVar("T")


def read_plan(folder: Path) -> Plan:
    """The plan of a folder; UsageError where there is none, ReadError where it cannot be read or is none."""
    path = folder / PLAN
    if not folder.is_dir() or not path.exists():
        raise UsageError(
            say("{folder}: no {file} in it; `aoe-reports plan` creates such a folder", folder=folder, file=PLAN)
        )
    plan = read_as(plan_of_document, path, say("a plan was expected (schema plan)"), "plan")
    for at, message in path_problems(plan):
        raise ReadError(
            path,
            say("{message} at {place}", message=message, place=at),
            say("paths in a plan must lie inside its folder or be absolute"),
        )
    return plan


def write_plan(folder: Path, plan: Plan, report: str | None = None) -> list[Path]:
    """Write every file of a plan's folder, with the text of its report.md if there is one; run.sh may be executed.

    What an earlier plan left and this one lacks (a list of operators) is taken away.
    """
    folder.mkdir(parents=True, exist_ok=True)
    here = folder.resolve()
    driver = driver_of_plan(plan)
    files = {PLAN: to_json(document_of_plan(plan)), **driver.files_of_plan(plan, str(here))}
    if report is not None:
        files["report.md"] = report
    for stale in {PLAN, *driver.plan_files} - (files.keys() - {PLAN}):
        (here / stale).unlink(missing_ok=True)  # without its plan a folder that is half another plan's is none
    for name in sorted(files, key=lambda name: name == PLAN):
        write_whole(here / name, files[name])
        if name.endswith(".sh"):
            (here / name).chmod(0o755)
    return [folder / name for name in files]


def read_verification(path: Path) -> Verification | None:
    """What `verify` said of a job, by its verify.json or one of `kept_verifications`; None where there is none."""
    expected = say("expected output of `verify`")
    return None if not path.exists() else read_as(_verification_of, path, expected, "verification")


def _verification_of(document: Any) -> Verification:
    made(BankUse)  # a row class is completed on its first use, which may be this one
    return convert(document, Verification)


def kept_verifications(folder: Path) -> list[Path]:
    """The verdicts that later ones replaced, the oldest first: verify-001.json and so on."""
    return sorted(path for path in folder.glob("verify-*.json") if _KEPT.fullmatch(path.name))


def next_kept_name(folder: Path) -> str:
    """Under which name verify.json is kept, should another verdict replace it."""
    taken = [int(path.stem.removeprefix("verify-")) for path in kept_verifications(folder)]
    return f"verify-{max(taken, default=0) + 1:03d}.json"


def keep_verification(folder: Path) -> str:
    """Keep verify.json and its pages under the next free name, before they are replaced; the name of the first."""
    name = Path(next_kept_name(folder))
    for suffix in (".md", ".html", ".json"):
        source, target = folder / f"verify{suffix}", folder / name.with_suffix(suffix)
        if source.is_file():
            target.unlink(missing_ok=True)  # of somebody who was killed here
            try:
                target.hardlink_to(source)
            except OSError:
                shutil.copy2(source, target)
    return name.name


_KEPT = re.compile(r"verify-[0-9]{3,6}\.json", re.ASCII)


@dataclass(frozen=True, slots=True)
class TunedBank:
    """The private bank as `tune run` left it."""

    digest: str | None = None


@dataclass(frozen=True, slots=True)
class TunedOutcome:
    """What `tune run` left to say: how many operators came to what, and the bank as it was then."""

    counts: Mapping[str, int] = field(default_factory=dict)
    bank: TunedBank = TunedBank()


def read_outcome(folder: Path) -> TunedOutcome | None:
    """What `tune run` left to say; None where it did not run, or what is there is damaged."""
    path = folder / OUTCOME
    if not path.is_file():
        return None
    try:
        return read_as(lambda document: convert(document, TunedOutcome), path, say("expected output of `tune run`"))
    except ReadError:
        return None


def read_state(folder: Path) -> JobState | None:
    """How far a folder's job is; None where it was never begun."""
    path = folder / STATE
    if not path.exists():
        return None
    document = read_json(path, None, say("expected the state of a tuning job"))
    bank = document.get("bank") if isinstance(document, dict) else None
    soc = bank.get("soc") if isinstance(bank, dict) else None
    if isinstance(document, dict) and not schema_errors("plan", {**_plan_with(document.get("job")), "soc": soc}):
        with suppress(ValidationError):
            return state_of_document(document)
    raise ReadError(path, say("not the state of a tuning job"), say("`tune run --restart` starts over"))


def _plan_with(job: Json) -> JsonObject:
    """An empty plan, to validate a job against the schema."""
    nothing: JsonObject = {key: [] for key in ("candidates", "rejected", "expected_files")}
    return {"format_version": 1, "scenario": "offline", "mode": "opat", **nothing, "job": job}


def write_state(folder: Path, state: JobState) -> None:
    """Write how far a job is: whole, or not at all."""
    write_whole(folder / STATE, to_json(state.as_document()))


def read_listing(path: Path) -> Listing:
    """The listing of a bank that a job wrote down; ReadError for anything else."""
    return read_as(listing_of_document, path, say("expected the listing of a bank; `tune run --restart` starts over"))


def digest_of_plan(folder: Path) -> str:
    """The hash of a folder's plan.json."""
    return hashlib.sha256(read_bytes(folder / PLAN, MAX_PLAN_BYTES)).hexdigest()


def read_as(kind: Callable[[Json], T], path: Path, expected: str, schema: str | None = None) -> T:
    """What a JSON document of the folder is; ReadError where it is none of its kind."""
    try:
        return kind(read_json(path, schema, expected))
    except ValidationError as error:
        raise ReadError(path, str(error), expected) from error


def read_json(path: Path, schema: str | None, expected: str) -> Json:
    """A JSON document of the folder, held against a schema; ReadError with the first thing that is wrong."""
    data = read_bytes(path, MAX_PLAN_BYTES)
    if len(data) > MAX_PLAN_BYTES:
        raise ReadError(path, say("too large"), expected)
    findings: list[Finding] = []
    parsed, document, cut = parse_json(path, as_utf8(path, data, findings), findings, "part")
    if not parsed or cut is not None or findings:
        first = findings[0] if findings else None
        raise ReadError(
            path, first.message if first else say("the text is truncated"), expected, first.line if first else None
        )
    for at, message in schema_errors(schema, document) if schema else []:
        raise ReadError(path, say("{message} at {place}", message=message, place=at or say("the document")), expected)
    return _with_floats(document)


def _with_floats(value: Any) -> Json:
    """The same document with floats for the decimals that the parser makes: nothing of it is summed exactly."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {key: _with_floats(inner) for key, inner in value.items()}
    return [_with_floats(inner) for inner in value] if isinstance(value, list) else value


def locked(folder: Path) -> AbstractContextManager[None]:
    """Be the only one who works in a plan's folder; BusyError where somebody is. It ends with the process, however it ends."""
    busy = say("{folder}: another tune, verify or adopt is running in it; only one is allowed at a time", folder=folder)
    return locked_at_once(folder / ".lock", busy)
