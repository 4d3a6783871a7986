"""What to put into a script or on the command line to take the profile that a question needs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from aoe_reports.formats.ascend.profiling.options import ADAPTER, COLLECTOR, GUIDE, OPTIONS
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say

Framework = Literal["tf1-estimator", "tf1-session", "tf2", "pytorch", "mindspore", "vllm", "msprof", "msprof-op"]
Question = Literal["hotspots", "steps", "timeline", "communication", "tuning"]

TORCH = say("torch_npu (Ascend/pytorch 9e73e70), its reference on hiascend.com, exports of level 0 to 2")
MINDSPORE = say("MindSpore API reference 2.6 to 2.10 (mindspore.profiler)")
COMMAND = say("msprof command line (hicann/runtime 681ef761)")
VLLM = say("vLLM 0.15 to 0.20 (ProfilerConfig), vllm-ascend (TorchNPUProfilerWrapper; #7728, #8953, #9147)")
KERNEL_COMMAND = say("msprof op as public scripts of 2025 and 2026 call it, and real OPPROF folders")
TUNING_GUIDE = say("AOE guide, restrictions of tuning")


@dataclass(frozen=True, slots=True)
class Setting:
    """One key or argument with the value that a question needs, and the files that it yields."""

    key: str
    value: str
    files: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a profile is taken in one framework."""

    framework: Framework
    question: Question
    language: Literal["python", "shell"]
    snippet: str
    settings: tuple[Setting, ...]
    after: tuple[str, ...]
    """Commands that turn what was collected into the files."""
    switch_off: str
    """How profiling is switched off again, as code or a sentence of the same language."""
    notes: tuple[str, ...]
    sources: tuple[str, ...]


OUTPUT = "./profiling"

GE_VALUES: dict[Question, dict[str, str]] = {
    "hotspots": {"training_trace": "on", "task_trace": "on", "aic_metrics": "PipeUtilization"},
    "steps": {"training_trace": "on", "task_trace": "on", "fp_point": "", "bp_point": ""},
    "timeline": {"training_trace": "on", "task_trace": "on", "runtime_api": "on", "hccl": "on", "aicpu": "on"},
    "communication": {"training_trace": "on", "task_trace": "on", "hccl": "on"},
    "tuning": {
        "training_trace": "on", "task_trace": "on", "fp_point": "", "bp_point": "", "aic_metrics": "PipeUtilization",
    },
}  # fmt: skip
"""profiling_options of each question."""

COMMAND_VALUES: dict[Question, dict[str, str]] = {
    "hotspots": {"--task-time": "on", "--ai-core": "on", "--aic-metrics": "PipeUtilization"},
    "steps": {"--task-time": "on"},
    "timeline": {"--ascendcl": "on", "--task-time": "on", "--runtime-api": "on", "--hccl": "on", "--aicpu": "on"},
    "communication": {"--task-time": "on", "--hccl": "on"},
    "tuning": {"--task-time": "on", "--ai-core": "on", "--aic-metrics": "PipeUtilization"},
}
"""Arguments of msprof; each stands for the key of profiling_options with the same name."""

LEVELS: dict[Question, tuple[str, str]] = {
    "hotspots": ("Level1", "PipeUtilization"),
    "steps": ("Level0", "AiCoreNone"),
    "timeline": ("Level2", "PipeUtilization"),
    "communication": ("Level1", "PipeUtilization"),
    "tuning": ("Level1", "PipeUtilization"),
}
"""(profiler_level, aic_metrics) of torch_npu and MindSpore."""

LEVEL_FILES: dict[str, tuple[str, ...]] = {
    "Level0": (
        say("{files} (no operator types, no shapes)", files="kernel_details.csv"),
        "step_trace_time.csv", "trace_view.json",
    ),
    "Level1": (
        "kernel_details.csv", "step_trace_time.csv", "trace_view.json", "op_statistic.csv", "api_statistic.csv",
        "communication.json", "communication_matrix.json",
    ),
}  # fmt: skip
LEVEL_FILES["Level2"] = LEVEL_FILES["Level1"]

_REPLACES = say(
    "Any option that is given replaces the whole default set: options that are left out take the collector's own "
    "default."
)
_POINTS = say(
    "The profiler may not find fp_point and bp_point, even if they are left empty for an automatic search: the "
    "FP to BP, refresh and data augmentation times are then empty."
)
_RELEASES = say(
    "The CANN release that supports exactly these keys is not known: they are taken from the collector of 2026 "
    "and from the samples of the guide."
)
GE_NOTES = (_REPLACES, _POINTS, _RELEASES)
_EXPORT = f"msprof --export=on --output={OUTPUT}"
_LOOP = "for batch in batches:\n        train_one_step(batch)\n        prof.step()"

_ESTIMATOR = """from npu_bridge.estimator.npu.npu_config import NPURunConfig, ProfilingConfig

profiling_options = '{options}'
profiling_config = ProfilingConfig(enable_profiling=True, profiling_options=profiling_options)
config = NPURunConfig(profiling_config=profiling_config, session_config=tf.ConfigProto())"""

_SESSION = """custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["use_off_line"].b = True
custom_op.parameter_map["profiling_mode"].b = True
custom_op.parameter_map["profiling_options"].s = tf.compat.as_bytes('{options}')
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF"""

_TF2 = """import npu_device

npu_device.global_options().profiling_config.enable_profiling = True
npu_device.global_options().profiling_config.profiling_options = '{options}'
npu_device.open().as_default()"""

_WITH_LEVELS = """from {module} import profiler

experimental_config = profiler._ExperimentalConfig(
    profiler_level=profiler.ProfilerLevel.{level},
    aic_metrics=profiler.{metrics_class}.{metrics},
)
with profiler.profile(
    activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.NPU],
    schedule=profiler.schedule(wait=1, warmup=1, active=5, repeat=1, skip_first=10),
    on_trace_ready=profiler.tensorboard_trace_handler("{output}"),
    experimental_config=experimental_config,
) as prof:
    {loop}"""


def options_of(question: Question) -> str:
    """The string of profiling_options that a question needs."""
    return json.dumps({"output": OUTPUT, **GE_VALUES[question]}, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class _Door:
    """One way into profiling_options."""

    snippet: str
    switch_off: str
    note: str = ""


_DOORS: dict[Framework, _Door] = {
    "tf1-estimator": _Door(_ESTIMATOR, "profiling_config = ProfilingConfig(enable_profiling=False)"),
    "tf1-session": _Door(
        _SESSION,
        'custom_op.parameter_map["profiling_mode"].b = False',
        say("Online inference can be profiled in this mode only (sess.run)."),
    ),
    "tf2": _Door(_TF2, "npu_device.global_options().profiling_config.enable_profiling = False"),
}


def recipe(framework: Framework, question: Question) -> Recipe:
    """How the profile that a question needs is taken; UsageError where it cannot be."""
    if framework == "msprof":
        return _of_command(question)
    if framework == "msprof-op":
        return _of_kernel(question)
    if framework == "vllm":
        return _of_server(question)
    if framework in {"pytorch", "mindspore"}:
        return _of_levels(framework, question)
    door = _DOORS[framework]
    settings = tuple(
        Setting(key, value, _files(key, value), GUIDE if key in _IN_GUIDE else COLLECTOR)
        for key, value in {"output": OUTPUT, **GE_VALUES[question]}.items()
    )
    return Recipe(
        framework=framework,
        question=question,
        language="python",
        snippet=door.snippet.format(options=options_of(question)),
        settings=settings,
        after=(_EXPORT,),
        switch_off=door.switch_off,
        notes=(*GE_NOTES, *([door.note] if door.note else []), *_tuning_notes(framework, question)),
        sources=(GUIDE, ADAPTER, COLLECTOR, *([TUNING_GUIDE] if question == "tuning" else [])),
    )


_IN_GUIDE = frozenset({"output", "training_trace", "task_trace", "fp_point", "bp_point", "aic_metrics"})
"""The keys that stand in the guide's samples."""


def _files(key: str, value: str) -> tuple[str, ...]:
    return OPTIONS[key].files if key in OPTIONS and value != "off" else ()


def _of_command(question: Question) -> Recipe:
    values = COMMAND_VALUES[question]
    arguments = " ".join(f"{key}={value}" for key, value in {"--output": OUTPUT, **values}.items())
    settings = tuple(
        Setting(key, value, _files_of_argument(key, value), COMMAND)
        for key, value in {"--output": OUTPUT, **values}.items()
    )
    notes = [say('Older versions take the application as --application="app args".')]
    if question == "steps":
        notes.append(
            say("The command line always requests iterations; whether there are any depends on the application.")
        )
    return Recipe(
        framework="msprof",
        question=question,
        language="shell",
        snippet=f"msprof {arguments} python3 train.py",
        settings=settings,
        after=(_EXPORT,),
        switch_off="python3 train.py",
        notes=(*notes, *_tuning_notes("msprof", question)),
        sources=(COMMAND, *([TUNING_GUIDE] if question == "tuning" else [])),
    )


def _files_of_argument(key: str, value: str) -> tuple[str, ...]:
    """What an argument yields: as the key of its name, and the command line asks for iterations with every task level."""
    files = _files(key.removeprefix("--").replace("-", "_"), value)
    return (*files, *OPTIONS["training_trace"].files) if key == "--task-time" else files


_KERNEL_VALUES = {
    "--kernel-name": ("MatMul", ()),
    "--warm-up": ("5", ()),
    "--launch-count": ("20", ("OpBasicInfo*.csv",)),
    "--aic-metrics": (
        "Default",
        (
            "PipeUtilization*.csv", "ArithmeticUtilization*.csv", "L2Cache*.csv", "Memory*.csv", "MemoryL0*.csv",
            "MemoryUB*.csv", "ResourceConflictRatio*.csv",
        ),
    ),
}  # fmt: skip
"""Arguments of `msprof op`, and the files that each yields in the folder OPPROF_* of a launch."""
_OF_KERNELS: frozenset[Question] = frozenset({"hotspots", "tuning"})


def _of_kernel(question: Question) -> Recipe:
    if question not in _OF_KERNELS:
        raise UsageError(
            say(
                "collect: msprof-op measures single kernels, which does not answer {question}; expected --for {those}",
                question=question,
                those=", ".join(sorted(_OF_KERNELS)),
            )
        )
    values = {"--output": (OUTPUT, ()), **_KERNEL_VALUES}
    arguments = " ".join(f"{key}={value}" for key, (value, _) in values.items())
    notes = [
        say("The name of the kernel and the numbers of launches are examples: name a kernel that hotspots shows."),
        say(
            "To check what a tuner claims, call this at least five times before and five times after, in turns, each time "
            "into a folder of its own: launches of one call do not show how far two calls are apart (verify --claims)."
        ),
    ]
    return Recipe(
        framework="msprof-op",
        question=question,
        language="shell",
        snippet=f"msprof op {arguments} python3 train.py",
        settings=tuple(Setting(key, value, files, KERNEL_COMMAND) for key, (value, files) in values.items()),
        after=(),
        switch_off="python3 train.py",
        notes=(*notes, *_tuning_notes("msprof-op", question)),
        sources=(KERNEL_COMMAND, *([TUNING_GUIDE] if question == "tuning" else [])),
    )


_FOLDER = "/tmp/profiling"  # noqa: S108 -- an example; vLLM refuses paths that are not absolute
_SERVER_VALUES: dict[str, str | int | bool] = {
    "profiler": "torch",
    "torch_profiler_dir": _FOLDER,
    "torch_profiler_with_stack": False,
    "delay_iterations": 10,
    "max_iterations": 5,
    "ignore_frontend": True,
}
"""Keys of vLLM's --profiler-config."""
_SERVED = """vllm serve ./model --profiler-config '{options}' &
# once it has started:
curl -X POST http://localhost:8000/start_profile
python3 send_requests.py
curl -X POST http://localhost:8000/stop_profile"""


def _of_server(question: Question) -> Recipe:
    notes = [
        say(
            "delay_iterations and max_iterations are numbers of iterations of the engine, here as examples; "
            "vllm-ascend ignores both before May 2026: there, stop soon after the start."
        ),
        say(
            "vllm-ascend always records Level1; it records counters (PipeUtilization) since March 2026, none before. "
            "The environment variable VLLM_TORCH_PROFILER_DIR, which older releases read, is deprecated since "
            "January 2026."
        ),
    ]
    if question == "steps":
        notes.append(
            say(
                "Iterations of the engine are not marked as steps: record a single one (max_iterations 1) to see the "
                "parts of its time."
            )
        )
    settings = tuple(
        Setting(key, json.dumps(value).strip('"'), LEVEL_FILES["Level1"] if key == "torch_profiler_dir" else (), VLLM)
        for key, value in _SERVER_VALUES.items()
    )
    return Recipe(
        framework="vllm",
        question=question,
        language="shell",
        snippet=_SERVED.format(options=json.dumps(_SERVER_VALUES, separators=(",", ":"))),
        settings=settings,
        after=(f"""python3 -c 'from torch_npu.profiler.profiler import analyse; analyse("{_FOLDER}")'""",),
        switch_off="vllm serve ./model",
        notes=(*notes, *_tuning_notes("vllm", question)),
        sources=(VLLM, TORCH, *([TUNING_GUIDE] if question == "tuning" else [])),
    )


def _of_levels(framework: Framework, question: Question) -> Recipe:
    level, metrics = LEVELS[question]
    torch = framework == "pytorch"
    source = TORCH if torch else MINDSPORE
    notes = [say("The numbers of steps to skip, warm up and record are examples: record steps that are alike.")]
    if torch:
        notes.append(say("At Level0, aic_metrics is reset to none; invalid values are reset with only a warning."))
    else:
        notes.append(
            say(
                "Names are those of MindSpore 2.6 and later; mindspore.Profiler of earlier releases was not "
                "examined. The file names are assumed to be the same as those of torch_npu; this has not been "
                "verified."
            )
        )
    settings = (
        Setting("profiler_level", level, LEVEL_FILES[level], source),
        Setting(
            "aic_metrics",
            metrics,
            () if metrics == "AiCoreNone" else (say("columns of counters in {files}", files="kernel_details.csv"),),
            source,
        ),
        Setting(
            "schedule",
            say("prof.step() after each step"),
            (say("column Step Id of {files}", files="kernel_details.csv"),),
            source,
        ),
    )
    if torch and question == "tuning":
        notes.append(
            say(
                "record_op_args=True writes the arguments of operators for AOE to a folder beside the result; "
                "according to its documentation it must not be combined with other profiling. Its output has not "
                "been verified."
            )
        )
    return Recipe(
        framework=framework,
        question=question,
        language="python",
        snippet=_WITH_LEVELS.format(
            module="torch_npu" if torch else "mindspore",
            level=level,
            metrics=metrics,
            metrics_class="AiCMetrics" if torch else "AicoreMetrics",
            output=OUTPUT,
            loop=_LOOP,
        ),
        settings=settings,
        after=(),
        switch_off="for batch in batches:  # no profile(...) around it\n    train_one_step(batch)",
        notes=(*notes, *_tuning_notes(framework, question)),
        sources=(source, *([TUNING_GUIDE] if question == "tuning" else [])),
    )


def _tuning_notes(framework: Framework, question: Question) -> list[str]:
    if question != "tuning":
        return []
    notes: list[str] = [say("Switch profiling off before AOE tunes: it distorts what AOE measures.")]
    if framework.startswith("tf"):
        notes.append(say("Static memory allocation must also be off (static_memory_policy = 0)."))
    return notes
