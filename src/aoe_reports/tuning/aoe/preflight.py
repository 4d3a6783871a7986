"""What has to be so before AOE tunes: each rule says what it saw, what is needed, and a verdict that is never guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_type_hints

from msgspec import ValidationError, convert

from aoe_reports.formats.records.payloads import Count
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.errors import UsageError
from aoe_reports.model.rows import column, row
from aoe_reports.model.rules import CheckedRule, Scope
from aoe_reports.model.texts import Text, join, say
from aoe_reports.tuning.aoe.command import KERNEL_MODE, kernel_mode, needs_no_device, options_of_aoe
from aoe_reports.tuning.aoe.releases import OPTION_OF, Product, product_of, release_key
from aoe_reports.tuning.chip_names import check_chip
from aoe_reports.tuning.plan.plan import TENSORFLOW, Plan

Verdict = Literal["ok", "warn", "fail", "unknown"]

GUIDE = say("AOE guide: before tuning (8.0 to 9.0)")
TF_GUIDE = say("AOE guide: tuning in TensorFlow training, precautions")
INI = say("AOE reference: aoe.ini")
ENVIRONMENT = say("AOE reference: environment variables")
_PREFLIGHT = Scope("preflight")

GB = 10**9
"""The guide says GB; which of the two it means it does not say: the smaller is taken."""

HOME_GB = 20
MEMORY_GB = 32
DEEP_MEMORY_GB = 64

DEFAULT_TE_PARALLEL = 8
MAX_TE_PARALLEL = 32
MAX_TUNING_PARALLEL = 64
MAX_RUN_LOOP = 2048
CORES_SHARE = 0.8
"""TE_PARALLEL_COMPILER is to be at most this part of the cores, for each NPU."""

ADVISED_SHARE = (2, 3)
"""TUNING_PARALLEL_NUM is advised to be at most this part of the cores."""

TYPES_OF_WORK: Mapping[str, int] = {"model": 50, "model_path": 58, "training": 50}
"""CPUs that operator tuning takes beside those that grow with its options."""

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT]i?B?|B)?", re.IGNORECASE)
_UNITS = {"": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


@dataclass(frozen=True, slots=True)
class Host:
    """What is known of the machine that tunes; null is not known."""

    home: str | None = None
    home_free_bytes: Count | None = None
    memory_available_bytes: Count | None = None
    cpu_count: Count | None = None
    usable_cpu_count: Count | None = None
    npu_count: Count | None = None
    device_users: Count | None = None
    """Processes of other users that hold a device open; null: not all processes could be looked at."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The variables of VARIABLES that are set."""
    environment_known: bool = True
    tuning_parallel_num: Count | str | None = None
    """TUNING_PARALLEL_NUM of aoe.ini; its default where the file leaves it out, its text where that is no number."""
    run_loop: Count | str | None = None
    """RUN_LOOP of aoe.ini in the same way: how often a variant is run for one time."""
    aoe_ini: str | None = None
    aoe: str | None = None
    aoe_known: bool = True
    aoe_options: tuple[str, ...] | None = None
    """The options that `aoe --help` lists; null: it could not be asked."""
    aoe_help_sha256: str | None = None
    """The hash of what it printed: another release prints another help."""
    cann: str | None = None
    """The release of CANN that is installed."""
    cube_cores: Count | None = None
    """Cube cores of a device (of older chips: AI Cores). No command shows them."""
    vector_cores: Count | None = None
    device_memory_free: tuple[Count, ...] | None = None
    """Free bytes of each device, in the order of `npu-smi info`."""
    bank: str | None = None
    """The bank in use: of operators, or the folder that TUNE_BANK_PATH names."""
    bank_access: str | None = None
    """`rwx`, with a `-` for what is not allowed; `absent` where there is none."""
    folder: str | None = None
    folder_writable: bool | None = None


VARIABLES = (
    "AOE_MODE", "TUNE_BANK_PATH", "ASCEND_CACHE_PATH", "ASCEND_WORK_PATH", "TE_PARALLEL_COMPILER", "REPEAT_TUNE",
    "ASCEND_DEVICE_ID", "ASCEND_RT_VISIBLE_DEVICES", "PROFILING_MODE", "RANK_SIZE", "WORLD_SIZE",
)  # fmt: skip
"""The variables that rules look at; no other is read or written down."""


def host_of_document(document: Any) -> Host:
    """The host of a description (`tune check --describe-host` writes one); what is not in it is not known."""
    if not isinstance(document, dict):
        raise UsageError(
            say("a host description must be a JSON object; `aoe-reports tune check --describe-host` writes one")
        )
    kinds = get_type_hints(Host, include_extras=True)
    for key, value in document.items():
        if key not in kinds:
            names = join(", ", sorted(kinds))
            raise UsageError(say("a host has no {key!r}; expected some of {names}", key=key, names=names))
        try:
            convert(value, kinds[key])
        except ValidationError:
            raise UsageError(
                say("{key} of the host: {value!r} is not of the right type", key=key, value=value)
            ) from None
    known = {"environment_known": "environment" in document, "aoe_known": "aoe" in document}
    return convert({**known, **document}, Host)


def document_of_host(host: Host) -> JsonObject:
    """The description of a host."""
    return asdict(host)


@dataclass(frozen=True, slots=True)
class Declared:
    """What somebody says of the job that no machine shows; null is not said."""

    processes: int | None = None
    model_memory: int | None = None
    tuning_parallel_num: int | None = None
    profiling: Literal["on", "off"] | None = None
    static_memory_policy: int | None = None
    static_shapes: bool | None = None
    devices: int | None = None
    device_free: bool | None = None
    cpu_binding: bool | None = None
    aoe_config_file: bool | None = None
    npus: int | None = None
    cube_cores: int | None = None
    vector_cores: int | None = None
    cube_cores_used: int | None = None
    """The most that an operator uses, where the profile tells no blocks."""
    vector_cores_used: int | None = None
    device_memory: int | None = None
    device_memory_used: int | None = None
    aoe_options: bool | None = None
    """Whether the installed aoe takes the options of the plan."""
    cann: str | None = None
    soc: str | None = None


def declared_of_text(parts: Sequence[str]) -> Declared:
    """`name=value`, separated by commas; UsageError for what is none of Declared."""
    kinds = {entry.name: str(entry.type) for entry in fields(Declared)}
    found: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for text in parts for piece in text.split(","))):
        name, equals, text = part.partition("=")
        name = name.strip().replace("-", "_")
        if name not in kinds or not equals:
            names = join(", ", sorted(kinds))
            raise UsageError(
                say("--declare {part!r}: expected NAME=VALUE, where NAME is one of {names}", part=part, names=names)
            )
        found[name] = _declared(name, text.strip(), kinds[name])
    return Declared(**found)


def _declared(name: str, text: str, kind: str) -> Any:
    if name in {"model_memory", "device_memory", "device_memory_used"}:
        return bytes_of_text(text)
    if name == "soc":
        return check_chip(text, "--declare soc")
    if name == "cann" and release_key(text) is not None:
        return text
    least = 0 if name == "static_memory_policy" else 1
    values: dict[str, Any] = {"on": "on", "off": "off"}
    expected = say("on or off")
    if kind.startswith("bool"):
        values, expected = {"yes": True, "true": True, "no": False, "false": False}, say("yes or no")
    elif name == "cann":
        values, expected = {}, say("a release of CANN, for example 9.0.0")
    elif kind.startswith("int"):
        values = {text: int(text)} if re.fullmatch(r"\d{1,9}", text, re.ASCII) and int(text) >= least else {}
        expected = say("a whole number of at least {least}", least=least)
    if text.lower() not in values:
        raise UsageError(say("--declare {name}={text}: expected {expected}", name=name, text=text, expected=expected))
    return values[text.lower()]


def bytes_of_text(text: str) -> int:
    """`8GiB`, `8GB`, `8G` or bytes."""
    found = _SIZE.fullmatch(text)
    if found is None:
        raise UsageError(say("{text!r} is not a size; expected for example 8GiB", text=text))
    unit = (found[2] or "").lower().removesuffix("b")
    scale = 1024 ** ("kmgt".index(unit[0]) + 1) if unit.endswith("i") else _UNITS[unit]
    return int(float(found[1]) * scale)


@row
class Check:
    """What one rule says."""

    rule: str = column("Rule")
    seen: str = column("Found", "sentence")
    needed: str = column("Required", "sentence")
    verdict: Verdict = column("Verdict", "state", before="seen")
    reason: str = column()
    source: str = column()
    declare: str | None = column("Declare", "sentence", detail=True)
    """What to declare where the verdict is unknown."""


@dataclass(frozen=True, slots=True)
class _Case:
    plan: Plan
    host: Host
    declared: Declared

    @property
    def runs_aoe(self) -> bool:
        """Whether the command `aoe` tunes."""
        return self.plan.scenario not in TENSORFLOW and not self.plan.job.command

    @property
    def has_script(self) -> bool:
        """Whether a script of the user runs: to be tuned, or to dump its graphs."""
        return not self.runs_aoe or self.plan.scenario in {"pytorch", "mindspore"}

    @property
    def work(self) -> str:
        if self.plan.scenario in TENSORFLOW:
            return "training"
        return "model" if self.plan.job.model is not None or self.plan.job.command else "model_path"

    @property
    def tuning_parallel(self) -> int | None:
        found = self.host.tuning_parallel_num or self.declared.tuning_parallel_num
        return found if isinstance(found, int) else None

    @property
    def release(self) -> str | None:
        """The release of CANN on the machine."""
        return self.host.cann or self.declared.cann

    @property
    def without_device(self) -> bool:
        """Whether aoe only compiles for a chip that is named."""
        return needs_no_device(self.plan.job)

    @property
    def te_parallel(self) -> int | None:
        """TE_PARALLEL_COMPILER; its documented default where it is not set; null where it is no number or not known."""
        if self.plan.job.te_parallel is not None:
            return self.plan.job.te_parallel
        text = self.host.environment.get("TE_PARALLEL_COMPILER")
        if text is None:
            return DEFAULT_TE_PARALLEL if self.host.environment_known else None
        return int(text) if re.fullmatch(r"\d{1,4}", text, re.ASCII) else None

    @property
    def device_memory_free(self) -> int | None:
        """Free memory of the device that is tuned on: of which one that is nobody guesses where devices are renamed."""
        listed, environment = self.host.device_memory_free, self.host.environment
        named = (
            str(self.plan.job.device) if self.plan.job.device is not None else environment.get("ASCEND_DEVICE_ID", "0")
        )
        certain = self.host.environment_known and "ASCEND_RT_VISIBLE_DEVICES" not in environment
        if listed is None or not certain or not re.fullmatch(r"\d{1,4}", named, re.ASCII) or int(named) >= len(listed):
            return self.declared.device_memory
        return listed[int(named)]


Outcome = tuple[str, str, Verdict, str | None]
"""(seen, needed, verdict, what to declare)."""


def check_host(plan: Plan, host: Host, declared: Declared) -> list[Check]:
    """What each rule that is about such a job says of a host."""
    case = _Case(plan, host, declared)
    return [
        Check(
            rule=checked.rule.name,
            seen=found[0],
            needed=found[1],
            verdict=found[2],
            reason=checked.rule.reason,
            source=checked.rule.source,
            declare=found[3] if found[2] == "unknown" else None,
        )
        for checked in _RULES
        if (found := checked.check(case)) is not None
    ]


def _as_declared(
    said: bool | None, needed: str, yes: Text, no: Text, *, unknown: Outcome, bad: Verdict = "fail"
) -> Outcome:
    """What is declared; `unknown` where nothing is."""
    if said is None:
        return unknown
    return (yes, needed, "ok", None) if said else (no, needed, bad, None)


def _gb(size: float) -> str:
    return f"{size / GB:.1f} GB"


@_PREFLIGHT.rule("preflight-aoe", "error", "the command aoe must be found", GUIDE).checked_by
def _aoe(case: _Case) -> Outcome | None:
    if not case.runs_aoe:
        return None
    if not case.host.aoe_known:
        return say("not known"), say("the command aoe on PATH"), "unknown", None
    return case.host.aoe or say("none"), say("the command aoe on PATH"), "ok" if case.host.aoe else "fail", None


@_PREFLIGHT.rule(
    "preflight-aoe-options",
    "error",
    "another release of aoe may reject an option of the plan and end with exit code 2",
    "AOE reference: command line",
).checked_by
def _aoe_options(case: _Case) -> Outcome | None:
    given = options_of_aoe(case.plan)
    if not case.runs_aoe or not given:
        return None
    needed = say("aoe takes {options}", options=join(", ", given))
    listed, said = case.host.aoe_options, case.declared.aoe_options
    if listed is None:
        return _as_declared(
            said, needed, say("declared yes"), say("declared no"), unknown=_documented(case, given, needed)
        )
    missing = [name for name in given if name not in listed]
    if missing:
        return say("aoe --help does not list {options}", options=join(", ", missing)), needed, "fail", None
    return say("aoe --help lists them, among {count}", count=len(listed)), needed, "ok", None


def _documented(case: _Case, given: Sequence[str], needed: str) -> Outcome:
    """What the documents say of options where aoe itself cannot be asked."""
    release = case.release or case.plan.engine_version
    taken = [OPTION_OF[name].taken_by(release) if name in OPTION_OF else None for name in given]
    refused = [name for name, is_taken in zip(given, taken, strict=True) if is_taken is False]
    if refused:
        text = say("aoe of CANN {release} has no {options}", release=release, options=join(", ", refused))
        return text, needed, "fail", None
    if release is None or None in taken:
        return say("aoe --help could not be run"), needed, "unknown", "aoe_options=yes"
    return (
        say("the documents of CANN {release} list them; aoe --help could not be run", release=release),
        needed,
        "ok",
        None,
    )


def untaken_options(plan: Plan) -> list[Text]:
    """The options of a plan that its release of CANN, or its chip, does not take by the documents."""
    product = product_of(plan.soc)
    said: list[Text] = []
    for name in options_of_aoe(plan):
        option = OPTION_OF.get(name)
        if option is None:
            said.append(say("{name}: no document of aoe has this option", name=name))
        elif option.taken_by(plan.engine_version) is False:
            text = say(
                "{name}: not in CANN {release} ({source})", name=name, release=plan.engine_version, source=option.source
            )
            said.append(text)
        elif product is not None and option.products is not None and product not in option.products:
            products = join(", ", option.products)
            said.append(
                say("{name}: for {products} only ({source})", name=name, products=products, source=option.source)
            )
    return said


@_PREFLIGHT.rule(
    "preflight-cann", "error", "options, banks and kernels belong to one release of CANN", GUIDE
).checked_by
def _cann(case: _Case) -> Outcome | None:
    planned, present = case.plan.engine_version, case.release
    if planned is None:
        return None
    needed = say("CANN {release}, for which the plan was made", release=planned)
    if present is None:
        return say("not known"), needed, "unknown", "cann=VERSION"
    same = present == planned or (release_key(present) is not None and release_key(present) == release_key(planned))
    return say("CANN {release}", release=present), needed, "ok" if same else "warn", None


@_PREFLIGHT.rule(
    "preflight-device-cores",
    "error",
    "an operator that uses more cores than the device has cannot be tuned there",
    TF_GUIDE,
).checked_by
def _device_cores(case: _Case) -> Outcome | None:
    if case.without_device:
        return None
    plan, host, said = case.plan, case.host, case.declared
    kinds = (
        ("cube_cores", say("cube cores"), said.cube_cores_used, plan.cube_blocks, plan.cube_cores,
         host.cube_cores or said.cube_cores),
        ("vector_cores", say("vector cores"), said.vector_cores_used, plan.vector_blocks, plan.vector_cores,
         host.vector_cores or said.vector_cores),
    )  # fmt: skip
    seen, needed, missing, too_few = [], [], [], False
    for name, what, declared, blocks, cores, present in kinds:
        used = declared or (min(blocks, cores or blocks) if blocks else None)
        if used is None:
            continue
        exact = bool(declared or cores)  # else the blocks may go over fewer cores in rounds, and that proves nothing
        needed.append(say("at least {count} {what}" if exact else "up to {count} {what}", count=used, what=what))
        if present is None:
            missing.append(f"{name}=N")
            continue
        seen.append(say("{count} {what}", count=present, what=what))
        too_few = too_few or (present < used and exact)
        if present < used and not exact:
            missing.append(f"{name}_used=N")
    if not needed:
        text = say("at least as many cores as the operator with the highest core usage uses")
        return say("the profile does not contain block counts"), text, "unknown", "cube_cores_used=N"
    verdict: Verdict = "fail" if too_few else "unknown" if missing else "ok"
    return join(", ", seen) if seen else say("not known"), join(", ", needed), verdict, ",".join(missing) or None


@_PREFLIGHT.rule(
    "preflight-device-memory", "error", "AOE runs the model on the device while it tunes", GUIDE
).checked_by
def _device_memory(case: _Case) -> Outcome | None:
    if case.without_device:
        return None
    used = case.plan.device_memory_used_bytes or case.declared.device_memory_used
    free = case.device_memory_free
    seen = say("not known") if free is None else say("{size} free", size=_gb(free))
    if used is None:
        least = say("at least as much as the model uses (not given in the profile)")
        return seen, least, "unknown", "device_memory_used=SIZE"
    needed = say("at least {size} on the device", size=_gb(used))
    if free is None:
        return seen, needed, "unknown", "device_memory=SIZE"
    return seen, needed, "ok" if free >= used else "fail", None


@_PREFLIGHT.rule(
    "preflight-home-disk", "error", "AOE stores its working files and its bank in the home folder", GUIDE
).checked_by
def _disk(case: _Case) -> Outcome:
    free, needed = case.host.home_free_bytes, say("at least {size} GB free in the home folder", size=HOME_GB)
    if free is None:
        return say("not known"), needed, "unknown", None
    seen = say("{size} in {folder}", size=_gb(free), folder=case.host.home) if case.host.home else _gb(free)
    return seen, needed, "ok" if free >= HOME_GB * GB else "fail", None


@_PREFLIGHT.rule(
    "preflight-memory", "error", "AOE compiles and runs many variants at once", join("; ", (GUIDE, TF_GUIDE))
).checked_by
def _memory(case: _Case) -> Outcome | None:
    if case.plan.mode == "gdat":
        return None  # no document says what gradient tuning takes
    available = case.host.memory_available_bytes
    if case.work == "training":
        t, memory = case.tuning_parallel, case.declared.model_memory
        needed: str = say("the model's memory x TUNING_PARALLEL_NUM")
        if memory is None or t is None:
            missing = "model_memory=SIZE" if memory is None else "tuning_parallel_num=N"
            return _seen(available), needed, "unknown", missing
        least = memory * t
        needed = f"{_gb(memory)} x {t} = {_gb(least)}"
    else:
        deep = {"--Fdeeper_opat", "--tune_optimization_level=O1"} & set(case.plan.job.options)
        gigabytes = DEEP_MEMORY_GB if deep else MEMORY_GB
        least, needed = gigabytes * GB, say("at least {size} GB", size=gigabytes)
        if deep:
            needed = say("at least {size} GB for {option}", size=gigabytes, option=min(deep))
    if available is None:
        return say("not known"), needed, "unknown", None
    return _seen(available), needed, "ok" if available >= least else "fail", None


def _seen(available: int | None) -> str:
    return say("not known") if available is None else say("{size} available", size=_gb(available))


@_PREFLIGHT.rule(
    "preflight-cpus",
    "error",
    "P operators are compiled and T are tuned in parallel; with fewer CPUs, tuning is slow",
    join("; ", (GUIDE, TF_GUIDE)),
).checked_by
def _cpus(case: _Case) -> Outcome | None:
    modes = [stage for stage in case.plan.stages() if stage != "gdat"]
    if not modes:
        return None
    cores, p, t = case.host.usable_cpu_count or case.host.cpu_count, case.te_parallel, case.tuning_parallel
    training, more = case.work == "training", TYPES_OF_WORK[case.work]
    n = case.declared.processes if training else 1
    own = "" if training else "1 + "
    formulas = {"opat": f"P + T + {own}min(C/2, 8) + {more}", "sgat": "2T + P" + ("" if training else " + 1")}
    text = join(" and ", (f"{formulas[mode]} ({mode})" for mode in modes))
    text = say("N x ({formula})", formula=text) if training else text
    seen = say("not known") if cores is None else say("{cores} CPUs", cores=cores)
    if cores is None or p is None or t is None or n is None:
        missing = "processes=N" if n is None else "tuning_parallel_num=N" if t is None else None
        return seen, text, "unknown", missing
    needs = {"opat": p + t + (not training) + min(cores / 2, 8) + more, "sgat": 2 * t + p + (not training)}
    least = n * max(map(needs.__getitem__, modes))
    values = f"P={p}, T={t}, C={cores}" + (f", N={n}" if training else "")
    needed = say("{least:g} = {formula} with {values}", least=least, formula=text, values=values)
    return seen, needed, "ok" if cores >= least else "warn", None


@_PREFLIGHT.rule(
    "preflight-te-parallel", "error", "number of operators that are compiled at the same time", ENVIRONMENT
).checked_by
def _te_parallel(case: _Case) -> Outcome:
    needed = say("1 to {most}, and at most {share} x cores / NPUs", most=MAX_TE_PARALLEL, share=CORES_SHARE)
    text = case.host.environment.get("TE_PARALLEL_COMPILER")
    value, cores, npus = case.te_parallel, case.host.cpu_count, case.host.npu_count or case.declared.npus
    if value is None:
        return (f"{text!r}", needed, "fail", None) if text is not None else (say("not known"), needed, "unknown", None)
    seen: str = f"{value}" if text is not None else say("{value} (the default)", value=value)
    if case.plan.job.te_parallel is not None:
        seen = say("{value} (set by the plan)", value=value)
    if not 1 <= value <= MAX_TE_PARALLEL:
        return seen, needed, "fail", None
    if not npus:
        return say("{seen}, on NPUs that are not visible", seen=seen), needed, "unknown", "npus=N"
    if cores is None:
        return seen, needed, "unknown", None
    most = CORES_SHARE * cores / npus
    return seen, say("{needed} = {most:g}", needed=needed, most=most), "ok" if value <= most else "warn", None


@_PREFLIGHT.rule(
    "preflight-tuning-parallel", "error", "number of variants that are tuned at the same time", INI
).checked_by
def _tuning_parallel(case: _Case) -> Outcome:
    part, whole = ADVISED_SHARE
    needed = say(
        "1 to {most}; recommended: at most {part}/{whole} of the cores",
        most=MAX_TUNING_PARALLEL,
        part=part,
        whole=whole,
    )
    written, said, cores = case.host.tuning_parallel_num, case.declared.tuning_parallel_num, case.host.cpu_count
    value = said if written is None else written
    if value is None:
        return say("no aoe.ini was found"), needed, "unknown", "tuning_parallel_num=N"
    seen = f"{value}"
    if None not in {written, said} and said != written:
        return say("{value} in aoe.ini, declared {said}", value=value, said=said), needed, "fail", None
    if not isinstance(value, int) or not 1 <= value <= MAX_TUNING_PARALLEL:
        return seen, needed, "fail", None
    if cores is None:
        return seen, needed, "unknown", None
    return seen, needed, "ok" if value * ADVISED_SHARE[1] <= cores * ADVISED_SHARE[0] else "warn", None


@_PREFLIGHT.rule("preflight-run-loop", "error", "each of AOE's times is the mean of so many runs", INI).checked_by
def _run_loop(case: _Case) -> Outcome | None:
    value = case.host.run_loop
    if value is None:
        return None  # preflight-tuning-parallel says that there is no aoe.ini
    good = isinstance(value, int) and 1 <= value <= MAX_RUN_LOOP
    return f"{value}", say("1 to {most}", most=MAX_RUN_LOOP), "ok" if good else "fail", None


@_PREFLIGHT.rule(
    "preflight-bank", "error", "AOE stops with an error if it has no access to its bank", ENVIRONMENT
).checked_by
def _bank(case: _Case) -> Outcome:
    needed = say("a folder with the permission to read, write and enter it")
    access, where = case.host.bank_access, case.host.bank or say("the bank in use")
    if access is None:
        return say("not known"), needed, "unknown", None
    if access == "absent":
        named = "TUNE_BANK_PATH" in case.host.environment or case.plan.bank is not None
        needed = needed if named else say("none, or {needed}", needed=needed)
        return say("{where}: does not exist", where=where), needed, "fail" if named else "ok", None
    seen = say("{name}: {why}", name=where, why=say("not a folder") if access == "not a folder" else access)
    return seen, needed, "ok" if access == "rwx" else "fail", None


@_PREFLIGHT.rule(
    "preflight-folder", "error", "the private bank and all results are stored there", ENVIRONMENT
).checked_by
def _folder(case: _Case) -> Outcome:
    needed = say("writable, and only letters, digits, _ - . / in its name")
    if case.host.folder is None or case.host.folder_writable is None:
        return say("not known"), needed, "unknown", None
    if not case.host.folder_writable:
        return say("{folder}: not writable", folder=case.host.folder), needed, "fail", None
    odd = sorted({c for c in case.host.folder if not (c.isalnum() or c in "_-./")})
    if odd:
        return f"{case.host.folder}: {' '.join(map(repr, odd))}", needed, "warn", None
    return case.host.folder, needed, "ok", None


@_PREFLIGHT.rule("preflight-profiling", "error", "profiling distorts what AOE measures", TF_GUIDE).checked_by
def _profiling(case: _Case) -> Outcome:
    needed = say("off, both in the environment and in the script")
    mode = case.host.environment.get("PROFILING_MODE", "").lower()
    if mode in {"true", "dynamic"} or case.declared.profiling == "on":
        return f"PROFILING_MODE={mode}" if mode else say("declared on"), needed, "fail", None
    if case.has_script and case.declared.profiling is None:
        return say("the script is not checked"), needed, "unknown", "profiling=off"
    if not case.host.environment_known:
        return say("the environment is not known"), needed, "unknown", None
    return say("off") if not case.has_script else say("declared off"), needed, "ok", None


@_PREFLIGHT.rule(
    "preflight-static-memory", "error", "static memory allocation distorts what AOE measures", TF_GUIDE
).checked_by
def _static_memory(case: _Case) -> Outcome | None:
    if case.plan.scenario not in TENSORFLOW:
        return None
    value = case.declared.static_memory_policy
    if value is None:
        return say("the script is not checked"), "0", "unknown", "static_memory_policy=0"
    return say("declared {value}", value=value), "0", "ok" if value == 0 else "fail", None


@_PREFLIGHT.rule("preflight-static-shapes", "error", "operators with dynamic shapes are not tuned", TF_GUIDE).checked_by
def _static_shapes(case: _Case) -> Outcome:
    needed = say("static shapes only")
    unknown: Outcome = (say("the model is not checked"), needed, "unknown", "static_shapes=yes")
    said = case.declared.static_shapes
    return _as_declared(said, needed, say("declared static"), say("declared dynamic"), unknown=unknown)


@_PREFLIGHT.rule("preflight-devices", "error", "tuning of operators and subgraphs uses one device", TF_GUIDE).checked_by
def _single_device(case: _Case) -> Outcome | None:
    if not case.has_script:
        return None
    several = case.plan.mode == "gdat"
    needed = say("more than one device (gradients of several are tuned)") if several else say("one device")
    for name in ("RANK_SIZE", "WORLD_SIZE"):
        text = case.host.environment.get(name, "")
        if re.fullmatch(r"\d{1,6}", text, re.ASCII) and int(text) >= 1:
            return f"{name}={text}", needed, "ok" if (int(text) > 1) == several else "fail", None
    devices = case.declared.devices
    if devices is None:
        return say("the script is not checked"), needed, "unknown", f"devices={'N' if several else 1}"
    return say("declared {value}", value=devices), needed, "ok" if (devices > 1) == several else "fail", None


@_PREFLIGHT.rule("preflight-cpu-binding", "error", "CPU binding degrades AOE's measurements", TF_GUIDE).checked_by
def _binding(case: _Case) -> Outcome:
    needed = say("no CPU binding")
    cores, usable = case.host.cpu_count, case.host.usable_cpu_count
    if cores is not None and usable is not None and usable < cores:
        return say("{usable} of {cores} CPUs may be used", usable=usable, cores=cores), needed, "warn", None
    if case.declared.cpu_binding:
        return say("declared"), needed, "warn", None
    if cores is None or usable is None:
        return say("not known"), needed, "unknown", None
    if case.has_script and case.declared.cpu_binding is None:
        return say("the script is not checked"), needed, "unknown", "cpu_binding=no"
    return say("all {cores} CPUs may be used", cores=cores), needed, "ok", None


@_PREFLIGHT.rule("preflight-device-free", "error", "two users on one device are not allowed", TF_GUIDE).checked_by
def _device_free(case: _Case) -> Outcome | None:
    if case.without_device:
        return None
    needed = say("no other user tunes on the device")
    users, said = case.host.device_users, case.declared.device_free
    if users:
        return say("{users} processes of other users hold a device open", users=users), needed, "fail", None
    unknown: Outcome = (say("no process of another user uses a device"), needed, "ok", None)
    if users is None:
        unknown = (say("processes of other users cannot be inspected"), needed, "unknown", "device_free=yes")
    return _as_declared(said, needed, say("declared free"), say("declared in use"), unknown=unknown)


@_PREFLIGHT.rule(
    "preflight-mode", "error", "not every product tunes everything", "environment variable reference: AOE_MODE"
).checked_by
def _mode(case: _Case) -> Outcome | None:
    soc, scenario = case.plan.soc or case.declared.soc, case.plan.scenario
    family, kernels = product_of(soc), kernel_mode(case.plan.job) is not None
    trains = scenario in {"tf-training", "pytorch", "mindspore"}
    if not trains and not kernels and family != "950":
        return None
    stages = "/".join(case.plan.stages())
    needed = say("a mode that the product supports")
    if soc is None:
        return say("{stages} on a chip that the plan does not name", stages=stages), needed, "unknown", "soc=NAME"
    if family is None:
        needed = say("a mode that the product supports (the modes of this chip are not known)")
        return say("{stages} on {soc}", stages=stages, soc=soc), needed, "unknown", None
    seen = say("{stages} on {soc} ({family})", stages=stages, soc=soc, family=family)
    if kernels or family == "950":
        products = OPTION_OF[KERNEL_MODE].products if kernels else _TRAINING_MODES
        needed = say("one of the products {products}", products=join(", ", products or ()))
        return seen, needed, "ok" if family in (products or ()) else "fail", None
    allowed = _TRAINING_MODES.get(family)
    if allowed is None:
        return None
    needed = say("{modes} in training", modes=join(", ", allowed))
    return seen, needed, "ok" if set(case.plan.stages()) <= set(allowed) else "fail", None


_TRAINING_MODES: Mapping[Product, tuple[str, ...]] = {
    "A3": ("opat",), "A2": ("opat", "gdat"), "Atlas training": ("sgat", "opat", "gdat"),
    "Atlas inference": ("sgat", "opat"),
}  # fmt: skip


@_PREFLIGHT.rule(
    "preflight-config-file", "error", "AOE_MODE alone tunes everything", "TFAdapter's reference: aoe_config_file"
).checked_by
def _config_file(case: _Case) -> Outcome | None:
    if case.plan.scenario not in TENSORFLOW or "opat" not in case.plan.stages():
        return None
    needed = say("the script names aoe_config.json (else every operator is tuned)")
    unknown: Outcome = (say("the script is not checked"), needed, "unknown", "aoe_config_file=yes")
    said = case.declared.aoe_config_file
    return _as_declared(said, needed, say("declared yes"), say("declared no"), unknown=unknown, bad="warn")


_RULES: tuple[CheckedRule[_Case, Outcome | None], ...] = (
    _aoe, _aoe_options, _cann, _device_cores, _device_memory, _disk, _memory, _cpus, _te_parallel, _tuning_parallel, _run_loop,
    _bank, _folder,
    _profiling, _static_memory, _static_shapes, _single_device, _binding, _device_free, _mode, _config_file,
)  # fmt: skip
