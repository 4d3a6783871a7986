"""Looks at this machine, or at a described one, and holds it against what a tuning job needs."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from aoe_reports.engine.question import exit_code_of
from aoe_reports.formats.aoe.result_files import as_utf8, parse_json, read_bytes
from aoe_reports.model.errors import ReadError, UsageError
from aoe_reports.model.findings import Finding, Severity
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import Text, count_of, join, say
from aoe_reports.tuning.answers import JobAnswer, job_answer
from aoe_reports.tuning.aoe.bank import AOE_BANK
from aoe_reports.tuning.aoe.command import UNSET_FOR_AOE
from aoe_reports.tuning.aoe.preflight import (
    VARIABLES,
    Check,
    Host,
    Verdict,
    check_host,
    declared_of_text,
    host_of_document,
)
from aoe_reports.tuning.aoe.releases import INSTALLATION, installed_release
from aoe_reports.tuning.banks.bank import bank_of_plan
from aoe_reports.tuning.job.runner import output_of
from aoe_reports.tuning.options import PreflightOptions
from aoe_reports.tuning.plan.folder import PLAN, read_plan
from aoe_reports.tuning.plan.plan import Plan

DEFAULTS_OF_INI = {"TUNING_PARALLEL_NUM": 8, "RUN_LOOP": 10}
"""What counts where aoe.ini leaves it out (AOE reference: aoe.ini)."""

_MAX_DESCRIPTION = 1 << 20
_SEVERITIES: dict[Verdict, Severity] = {"fail": "error", "warn": "warning", "unknown": "warning"}
_INI_VALUE = re.compile(r"^[ \t]*(\w{1,64})[ \t]*=[ \t]*(.{0,64}?)[ \t]*$", re.MULTILINE | re.ASCII)
_WHOLE = re.compile(r"\d{1,9}", re.ASCII)
_DEVICE = re.compile(r"davinci\d+")
_TELL_S = 20.0
"""How long `aoe --help` and `npu-smi info` may take."""
_OPTION = re.compile(r"(?<![\w-])--[A-Za-z]\w{0,63}", re.ASCII)
_BUS = re.compile(r"\b[0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]\b")
_USED_OF = re.compile(r"(\d{1,9})\s*/\s*(\d{1,9})", re.ASCII)
_CELLS_OF_CHIP = 3


def preflight(folder: Path, options: PreflightOptions) -> JobAnswer:
    """Hold a machine (this one unless described) against the plan of a folder: a row a rule, a finding for all that is not well."""
    declared = declared_of_text(options.declare)
    host = None if options.host is None else read_host(options.host)
    plan = read_plan(folder)
    checks = check_host(plan, host or look_at_host(plan, folder, os.environ), declared)
    findings = findings_of_checks(checks, str(folder / PLAN))
    why = ["preflight"][: exit_code_of(findings, unreadable=False, strict=options.strict)]
    return job_answer(
        "preflight",
        "Preflight",
        folder,
        Rows(type=Check, rows=checks),
        findings=findings,
        why=why,
        headline=_headline(checks),
        verdict=_next(checks, folder),
    )


def _headline(checks: Sequence[Check]) -> Text:
    failed = [check.rule for check in checks if check.verdict == "fail"]
    unknown = sum(check.verdict == "unknown" for check in checks)
    said = (
        say("This machine is not fit for the job: {rules}.", rules=join(", ", failed))
        if failed
        else say("This machine meets every requirement that can be checked.")
        if unknown
        else say("This machine is fit for the job.")
    )
    if not unknown:
        return said
    more = count_of(
        unknown, "{number} requirement could not be checked.", "{number} requirements could not be checked."
    )
    return join(" ", (said, more))


def _next(checks: Sequence[Check], folder: Path) -> Text:
    place = shlex.quote(str(folder))
    if any(check.verdict == "fail" for check in checks):
        return say("next: mend what fails, then run `aoe-reports tune check {folder}` again", folder=place)
    if any(check.verdict == "unknown" and check.declare for check in checks):
        return say(
            "next: `aoe-reports tune run {folder}`, or first declare what is unknown (`--declare`, column Declare)",
            folder=place,
        )
    return say("next: `aoe-reports tune run {folder}`", folder=place)


def findings_of_checks(checks: Sequence[Check], path: str) -> list[Finding]:
    """A finding for each rule that does not hold, or of which it is not known whether it does."""
    return [
        Finding(_SEVERITIES[check.verdict], check.rule, path, describe_check(check))
        for check in checks
        if check.verdict in _SEVERITIES
    ]


def describe_check(check: Check) -> str:
    """A rule's verdict in a sentence."""
    said = {"verdict": say(check.verdict), "seen": check.seen, "needed": check.needed}
    if check.declare:
        return say(
            "{verdict}: {seen}; needed: {needed}; declare it: --declare {declare}", declare=check.declare, **said
        )
    return say("{verdict}: {seen}; needed: {needed}", **said)


def read_host(path: Path) -> Host:
    """The host that a file describes."""
    data = read_bytes(path, _MAX_DESCRIPTION)
    findings: list[Finding] = []
    parsed, document, cut = parse_json(path, as_utf8(path, data, findings), findings, "part")
    if not parsed or cut is not None or findings or len(data) > _MAX_DESCRIPTION:
        raise ReadError(
            path, findings[0].message if findings else say("not JSON"), say("expected the description of a host")
        )
    try:
        return host_of_document(document)
    except UsageError as error:
        raise UsageError(say("{path}: {text}", path=path, text=str(error))) from error


def look_at_host(plan: Plan, folder: Path, environment: Mapping[str, str]) -> Host:
    """What this machine shows of itself; what it does not show is not known."""
    home = Path(environment.get("HOME") or "~").expanduser()
    ini = _aoe_ini(environment)
    settings = _settings_of(ini)
    bank, access = _bank(plan, folder, environment)
    aoe = _command("aoe", environment)
    told = _told_by([aoe, "--help"], environment) if aoe is not None else None
    options = options_of_help(told or "")
    npu_smi = _command("npu-smi", environment)
    table = _told_by([npu_smi, "info"], environment) if npu_smi is not None else None
    free = None
    with suppress(OSError):
        free = shutil.disk_usage(home).free
    return Host(
        home=str(home),
        home_free_bytes=free,
        memory_available_bytes=_memory(),
        cpu_count=os.cpu_count(),
        usable_cpu_count=len(os.sched_getaffinity(0)),
        npu_count=_npus(),
        device_users=_device_users(),
        environment={name: environment[name] for name in VARIABLES if name in environment},
        tuning_parallel_num=settings.get("TUNING_PARALLEL_NUM"),
        run_loop=settings.get("RUN_LOOP"),
        aoe_ini=str(ini) if ini is not None else None,
        aoe=aoe,
        aoe_options=options or None,
        aoe_help_sha256=hashlib.sha256(told.encode()).hexdigest() if told is not None and options else None,
        cann=installed_release(environment),
        device_memory_free=free_memory_of_table(table or "") or None,
        bank=bank,
        bank_access=access,
        folder=os.path.abspath(folder),
        folder_writable=os.access(folder, os.R_OK | os.W_OK | os.X_OK),
    )


def _command(name: str, environment: Mapping[str, str]) -> str | None:
    """The absolute path of a command: entries of PATH may be relative."""
    found = shutil.which(name, path=environment.get("PATH", os.defpath))
    return os.path.abspath(found) if found is not None else None


def _told_by(argv: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """What a command of CANN prints."""
    kept = {name: value for name, value in environment.items() if name not in UNSET_FOR_AOE}
    return output_of(argv, kept, _TELL_S, _MAX_DESCRIPTION)


def options_of_help(text: str) -> tuple[str, ...]:
    """The options that `aoe --help` lists; none where a text is no such help."""
    names = sorted(set(_OPTION.findall(text)))
    return tuple(names) if "--job_type" in names else ()


def free_memory_of_table(text: str) -> tuple[int, ...]:
    """Free bytes of each device in the table of `npu-smi info`: the row of a chip has its bus, then used / all MB (HBM last)."""
    free = []
    for line in text.splitlines():
        cells = line.strip().strip("|").split("|")
        if len(cells) != _CELLS_OF_CHIP or not _BUS.search(cells[1]):
            continue
        pairs = [(int(used), int(whole)) for used, whole in _USED_OF.findall(cells[2]) if int(whole)]
        if not pairs:
            return ()  # a row that does not tell would give the next one its place
        free.append(max(0, pairs[-1][1] - pairs[-1][0]) << 20)
    return tuple(free)


def _memory() -> int | None:
    """Available memory; in a container the smaller of the machine's and of what the group may still take."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    found = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)
    if found is None:
        return None
    available = int(found[1]) * 1024
    with suppress(OSError, ValueError):  # there may be no group, and "max" is no limit
        limit, used = (
            int((Path("/sys/fs/cgroup") / name).read_text("ascii")) for name in ("memory.max", "memory.current")
        )
        available = min(available, max(0, limit - used))
    return available


def _npus() -> int | None:
    """How many NPUs have a device file; None where there is none: nothing says that they are all in this container."""
    try:
        count = sum(1 for name in os.listdir("/dev") if _DEVICE.fullmatch(name))  # noqa: PTH208
    except OSError:
        return None
    return count or None


def _device_users() -> int | None:
    """How many processes of other users hold an NPU open; None where not every process may be looked at, or no NPU is."""
    if _npus() is None:
        return None
    ours, users = os.getuid(), 0
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            owner = process.stat().st_uid
            held = any(_DEVICE.fullmatch(Path(link.readlink()).name) for link in (process / "fd").iterdir())
        except FileNotFoundError:
            continue
        except OSError:
            return None
        users += owner != ours and held
    return users


def _aoe_ini(environment: Mapping[str, str]) -> Path | None:
    """Where aoe.ini is: below the installation that set_env.sh names."""
    for name in INSTALLATION:
        if root := environment.get(name):
            for place in ("tools/aoe/conf", "conf"):
                path = Path(root) / place / "aoe.ini"
                if path.is_file():
                    return path
    return None


def _settings_of(ini: Path | None) -> Mapping[str, int | str]:
    """The numbers of aoe.ini by their names, a text where one is no number; empty where there is no such file."""
    if ini is None:
        return {}
    try:
        text = read_bytes(ini, _MAX_DESCRIPTION).decode("utf-8", "replace")
    except ReadError:
        return {}
    written = {found[1]: found[2] for found in _INI_VALUE.finditer(text)}
    return {
        name: default if (value := written.get(name)) is None else int(value) if _WHOLE.fullmatch(value) else value
        for name, default in DEFAULTS_OF_INI.items()
    }


def _bank(plan: Plan, folder: Path, environment: Mapping[str, str]) -> tuple[str, str]:
    """(where the bank in use lies, what may be done with it)."""
    layout = bank_of_plan(AOE_BANK, plan, folder, environment)
    root: PurePosixPath = layout.operators_root
    path = Path(root)
    try:
        if not stat.S_ISDIR(path.stat().st_mode):
            return str(path), "not a folder"
    except OSError:
        return str(path), "absent"
    access = zip("rwx", (os.R_OK, os.W_OK, os.X_OK), strict=True)
    return str(path), "".join(letter if os.access(path, mode) else "-" for letter, mode in access)
