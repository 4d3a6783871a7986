"""The options of `plan`, `tune run`, `tune check` and `tune adopt`, and what `verify` shares with them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from aoe_reports.engine.question import MAX_ID, ReadOptions, StrictOptions, only
from aoe_reports.model.errors import UsageError
from aoe_reports.model.options import STORE_VARIABLE, option, options
from aoe_reports.model.texts import Language, say

if TYPE_CHECKING:
    from aoe_reports.tuning.plan.plan import Job

Scenario = Literal["offline", "tf-training", "tf-online-inference", "pytorch", "mindspore", "ir-graph"]
Mode = Literal["opat", "sgat", "both", "gdat"]
Seed = Literal["copy", "empty"]
Tail = Literal["p95", "p99"]
Statistic = Literal["mean", "p95", "p99"]

GRACE_S = 10.0
"""How long processes that were asked to end may take before they are ended."""

_MAX_MINUTES = 1_000_000
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)([smhd]?)", re.ASCII)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def store_for(what: str) -> Any:
    """The option that names a store that need not be there, and what it is for."""
    text = f"Folder or URI of the store{what}."
    return option(default=None, env=STORE_VARIABLE, help=text, shared=True, names="place")


def chip(which: str) -> Any:
    """The option that names the chip."""
    return option(default=None, help=f"The chip, {which}.", only_here=say("what is tuned"))


def flag(name: str, text: str, why_only_here: str = "") -> Any:
    """An option that is given or not."""
    return option(default=False, help=text, flags=[f"--{name}"], only_here=why_only_here)


@options
class DeviceOptions(ReadOptions):
    """Whose device of a profile is looked at, and what its series are called."""

    workload: str | None = option(
        default=None, help="Name of the measured workload.", shared=True, names="nothing", completes="workloads"
    )
    rank: int | None = only("rank")
    device: int | None = only("device")


@options
class ModelOptions:
    """Which model AOE tunes and how: the same for the plan and for the run."""

    model: Path | None = option(default=None, help="The model, for aoe.", only_here=say("what is tuned"))
    weight: Path | None = option(default=None, help="Weights of the model (Caffe).", only_here=say("what is tuned"))
    model_path: Path | None = option(
        default=None, help="Folder of models or dumped graphs, passed to aoe.", only_here=say("what is tuned")
    )
    framework: Literal["0", "1", "3", "5"] | None = option(
        default=None, help="0 Caffe, 1 MindSpore, 3 TensorFlow, 5 ONNX [default: by the suffix]."
    )
    aoe_option: tuple[str, ...] = option(
        default=(),
        metavar="--NAME=VALUE",
        help="Additional option for aoe (repeatable).",
        only_here=say("the command that is run"),
    )
    command: tuple[str, ...] = option(default=(), help="What trains or infers, where that is what tunes.", cli=False)
    working_folder: Path | None = option(default=None, help="Where the command runs.", cli=False)
    language: Language = option(default="en", help="Language of the pages in the plan's folder.", cli=False)

    def job(self, planned: Job, **more: Any) -> Job:
        """A planned job with what is said here, and `more` of it where that is said."""
        given = {
            "command": self.command,
            "working_folder": absolute(self.working_folder),
            "model": absolute(self.model),
            "weight": absolute(self.weight),
            "model_path": absolute(self.model_path),
            "framework": None if self.framework is None else int(self.framework),
            **more,
        }
        told = {name: value for name, value in given.items() if value is not None and value != ()}
        return replace(planned, **told)


def absolute(path: Path | None) -> str | None:
    """A path that names the same wherever the job runs."""
    return None if path is None else str(path.absolute())


@options
class PlanOptions(ModelOptions, DeviceOptions):
    """What is asked of `plan`; None is left to the profile, the environment or the defaults."""

    budget: float | None = option(
        default=None, minimum=0, maximum=_MAX_MINUTES, help="Time available for tuning, in minutes."
    )
    top: int | None = option(default=None, minimum=1, help="Maximum number of candidates.")
    min_share: float = option(
        default=0.001, minimum=0, maximum=1, help="Leave out operators below this share of the step."
    )
    """An operator that takes less than a thousandth of the step cannot shorten it measurably, even if it took no time at all:
    steps themselves vary by more."""
    mode: Mode = option(default="opat", help="Operators, subgraphs, both in sequence, gradients.")
    scenario: Scenario | None = option(
        default=None,
        help=(
            "How AOE accesses the model [default: pytorch or mindspore if their profiler wrote the profile, "
            "else offline]."
        ),
    )
    repeat_tune: bool = flag("repeat-tune", "Tune again what the bank already contains.")
    assume_static: bool = flag(
        "assume-static", ("Treat shapes as static if the export does not contain this information.")
    )
    store: str | None = store_for(", for the gains of earlier tuning")
    results: tuple[Path, ...] = option(
        default=(),
        help="Earlier AOE results of this model: file or folder (repeatable).",
        only_here=say("the known results"),
    )
    bank: Path | None = option(
        default=None,
        help="The bank in use, with the layout of TUNE_BANK_PATH [default: from the environment].",
        names="place",
    )
    after: Path | None = option(
        default=None,
        metavar="DIR",
        help="The folder of a plan whose subgraphs were tuned before this profile.",
        only_here=say("what is compared"),
    )
    soc: str | None = chip("as AOE names it")
    engine_version: str | None = option(
        default=None,
        flags=["--engine-version", "--cann"],
        help="Version of CANN that tunes [default: from the profile, else the one installed here].",
        shared=True,
        names="nothing",
    )
    tune_device: int | None = option(default=None, minimum=0, maximum=MAX_ID, help="ASCEND_DEVICE_ID to tune on.")
    te_parallel: int | None = option(
        default=None, minimum=1, maximum=32, help="TE_PARALLEL_COMPILER: operators compiled at once."
    )

    @property
    def budget_s(self) -> float | None:
        """The seconds that tuning may take."""
        return None if self.budget is None else self.budget * 60


@options
class TuneOptions(ModelOptions, StrictOptions):
    """What is asked of `tune run` beside the plan; what is None or empty is left to the plan."""

    working_folder: Path | None = option(
        default=None,
        help="Working folder of the command [default: a new folder].",
        only_here=say("the folder in which it is run"),
    )
    device: int | None = option(default=None, minimum=0, maximum=MAX_ID, help="ASCEND_DEVICE_ID.")
    bank: Seed | None = option(
        default=None, help=("Initial content of the private bank [default: as in the plan, copy].")
    )
    soc: str | None = chip("if the plan does not name it")
    timeout: str | None = option(
        default=None, metavar="DURATION", help="Stop the job after this time: 90s, 30m, 2h…", names="nothing"
    )
    grace: float = option(
        default=GRACE_S,
        minimum=0,
        maximum=3600,
        help=("Seconds between the request to stop processes and their forced termination."),
    )
    resume: bool = flag("resume", "Resume a stopped job.", say("what is resumed"))
    restart: bool = flag(
        "restart", "Start again from the beginning; existing files are moved aside.", say("what is moved aside")
    )
    dry_run: bool = flag("dry-run", "Only print what would be run.", say("what is not run"))
    quiet: bool = flag("quiet", "Do not show the output of AOE.")

    @property
    def timeout_s(self) -> float | None:
        """The seconds after which it is ended; UsageError for what is no duration."""
        if self.timeout is None:
            return None
        found = _DURATION.fullmatch(self.timeout)
        if found is None:
            raise UsageError(
                say("tune: --timeout {text!r} is not a duration; expected for example 90s, 30m, 2h", text=self.timeout)
            )
        return float(found[1]) * _SECONDS[found[2]]


@options
class PreflightOptions(StrictOptions):
    """What is asked of `tune check`."""

    declare: tuple[str, ...] = option(
        default=(),
        metavar="NAME=VALUE,…",
        help=(
            "Facts that cannot be detected on the machine: processes, model_memory, tuning_parallel_num, "
            "profiling, static_memory_policy, static_shapes, devices, device_free, cpu_binding, "
            "aoe_config_file, npus, cann, soc, cube_cores, vector_cores, cube_cores_used, vector_cores_used, "
            "device_memory, device_memory_used, aoe_options (repeatable)."
        ),
        only_here=say("what a person vouches for"),
    )
    host: Path | None = option(
        default=None,
        metavar="FILE",
        help="Check the host that a file describes instead of this one.",
        only_here=say("what is checked"),
    )
    describe_host: bool = flag(
        "describe-host", "Print the description of this host for --host.", say("additional output")
    )


@options
class AdoptOptions(StrictOptions):
    """What is asked of `tune adopt`."""

    to: Path | None = option(
        default=None,
        metavar="BANK",
        help="The bank to be replaced, with the layout of TUNE_BANK_PATH [default: the one in use].",
        only_here=say("what is replaced"),
    )
    soc: str | None = chip("if the plan does not name it")
    log: Path | None = option(
        default=None,
        help="A log of CANN (plog), or a folder of such: which operators use the bank [default: as `verify` found].",
        names="place",
        only_here=say("what speaks for the bank"),
    )
    force: bool = flag("force", "Adopt the bank even if no new profile has confirmed the gain.", say("what is forced"))
    dry_run: bool = flag("dry-run", "Only show what would be replaced.", say("what is not run"))
