"""The commands of a tuning job: what is run with which environment, and the files that let somebody run it without us."""

from __future__ import annotations

import json
import shlex
from pathlib import Path, PurePosixPath

from aoe_reports.formats.ascend.profiling import Framework, recipe
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.errors import ReadError, UsageError
from aoe_reports.model.texts import Language, Text, in_language, join, say
from aoe_reports.tuning.job.driver import Argument, Stage
from aoe_reports.tuning.plan.folder import REMEASURED_LOG, read_json
from aoe_reports.tuning.plan.plan import (
    REDACTED,
    TENSORFLOW,
    Job,
    Plan,
    StageName,
    TuneOps,
    to_json,
    tune_ops_of_document,
    tune_ops_of_plan,
)

TUNE_OPS = "tune_ops.json"
AOE_CONFIG = "aoe_config.json"
DUMP = "dump"
SNIPPET = "snippet.py"
SCRIPT = "run.sh"

WORK = "ASCEND_WORK_PATH"
IN_BANK = "TUNE_BANK_PATH"
"""The variables by which AOE is told where results go and which bank is used."""

JOB_TYPES: dict[StageName, int] = {"sgat": 1, "opat": 2, "gdat": 4}
"""`--job_type` of aoe, and AOE_MODE where a framework tunes; 4 is a value of AOE_MODE only."""

FRAMEWORKS = {".prototxt": 0, ".air": 1, ".pb": 3, ".onnx": 5}

UNSET_FOR_AOE = ("AOE_MODE", "PROFILING_MODE", "PROFILING_OPTIONS")
"""Inherited variables that would make something else of a run of aoe."""

UNSET_FOR_COMMAND = ("PROFILING_MODE", "PROFILING_OPTIONS")

KERNEL_MODES = ("static_kernel", "fast")
"""`--op_tune_mode`: kernels for operators that aclopStartDumpArgs dumped are tuned, or only compiled."""

KERNELS = "aoe_workspace/op_tune_kernel"
"""Where aoe puts kernels below its working folder unless --op_tune_kernel_path names another place."""

OURS = frozenset({"--job_type", "-j", "--model", "-m", "--weight", "-w", "--framework", "-f", "--model_path",
                  "--tune_ops_file", "--reload", "--help", "-h"})  # fmt: skip
"""Options of aoe that follow from the plan."""


def stages_of_plan(plan: Plan, tune_ops: TuneOps | None = None) -> list[Stage]:
    """What is run, in order; UsageError where the plan does not say enough. `tune_ops` stands for the plan's own."""
    restricted = tune_ops or tune_ops_of_plan(plan)
    stages = [_stage(plan, name, restricted) for name in plan.stages()]
    if not stages:
        raise UsageError(
            say("the plan has no candidate and would tune nothing (without a list AOE would tune everything)")
        )
    return stages


def _stage(plan: Plan, name: StageName, tune_ops: TuneOps | None) -> Stage:
    job = plan.job
    shared = [("REPEAT_TUNE", str(plan.repeat_tune))]
    if job.device is not None:
        shared.append(("ASCEND_DEVICE_ID", str(job.device)))
    if job.te_parallel is not None:
        shared.append(("TE_PARALLEL_COMPILER", str(job.te_parallel)))
    kernels = kernel_mode(job)
    asked = tune_ops if name == "opat" and kernels is None else None
    if name == "gdat" and plan.scenario != "tf-training":
        raise UsageError(
            say("gradients can be tuned in TensorFlow training only, not in {scenario}", scenario=plan.scenario)
        )
    online = plan.scenario in TENSORFLOW
    own_command = online or (job.command and plan.scenario in {"mindspore", "ir-graph"})
    if own_command and not job.command:
        text = say(
            "{scenario} tunes while its own command runs; expected the command after `--`", scenario=plan.scenario
        )
        raise UsageError(text)
    if job.command and not own_command:
        text = say(
            "{scenario} is tuned by aoe; a command is not accepted (run it with the snippet first)",
            scenario=plan.scenario,
        )
        raise UsageError(text)
    if kernels is not None and (own_command or name != "opat"):
        raise UsageError(say("{name} goes with --mode opat and the command aoe", name=KERNEL_MODE))
    if online:
        shared.insert(0, ("AOE_MODE", str(JOB_TYPES[name])))
    no_aoe = say("{name}: not found on PATH (source set_env.sh of CANN); expected a program of this name", name="aoe")
    return Stage(
        name,
        "command" if own_command else "tuner",
        tuple(map(Argument, job.command)) if own_command else _aoe(plan, name, asked),
        tuple(shared),
        UNSET_FOR_COMMAND if own_command else UNSET_FOR_AOE,
        work_variable=WORK,
        bank_variable=IN_BANK,
        working_folder=_path("", job.working_folder) if own_command and job.working_folder is not None else None,
        tune_ops=asked,
        not_found=None if own_command else no_aoe,
    )


def _aoe(plan: Plan, name: StageName, asked: TuneOps | None) -> tuple[Argument, ...]:
    job, model_path = plan.job, _model_path(plan)
    arguments = [Argument("aoe")]
    framework = framework_of(job) if job.model is not None else job.framework
    if framework is not None:
        arguments.append(Argument(f"--framework={framework}"))
    if job.model is not None:
        arguments.append(_path("--model=", job.model))
    if job.weight is not None:
        arguments.append(_path("--weight=", job.weight))
    if model_path is not None:
        arguments.append(_path("--model_path=", model_path))
    arguments.append(Argument(f"--job_type={JOB_TYPES[name]}"))
    if asked is not None:
        arguments.append(Argument(f"--tune_ops_file={TUNE_OPS}"))  # in its folder of work: AOE takes few characters
    for option in job.options:
        if not option.startswith("--") or option.split("=", 1)[0] in OURS:
            text = say(
                "{option!r} cannot be added; expected --name=value, and not an option of the plan", option=option
            )
            raise UsageError(text)
    return (*arguments, *map(Argument, job.options), *map(Argument, _options_of_kernels(job)))


KERNEL_MODE = "--op_tune_mode"
_KEPT_TYPES = "must_keep_origin_dtype"


def kernel_mode(job: Job) -> str | None:
    """`static_kernel` or `fast` where a job makes kernels of dumped operators instead of tuning a model."""
    return option_of_aoe(job, KERNEL_MODE)


def needs_no_device(job: Job) -> bool:
    """Whether aoe only compiles, for a chip that is named: then it needs no device."""
    return kernel_mode(job) == "fast" and option_of_aoe(job, "--soc_version") is not None


def option_of_aoe(job: Job, name: str) -> str | None:
    """The value of an option that a job adds for aoe; None where it is not among them."""
    return next((value for option in job.options for key, _, value in [option.partition("=")] if key == name), None)


def _options_of_kernels(job: Job) -> tuple[str, ...]:
    """What making kernels needs beside what is given; UsageError for what aoe documents as impossible."""
    mode, types = kernel_mode(job), option_of_aoe(job, "--precision_mode")
    if mode != "fast" and option_of_aoe(job, "--soc_version") is not None:
        text = say(
            "--soc_version is accepted with {name}=fast only; otherwise aoe uses the chip of the device",
            name=KERNEL_MODE,
        )
        raise UsageError(text)
    if mode is None:
        return ()
    if mode not in KERNEL_MODES:
        raise UsageError(
            say("{name}={mode}: expected one of {modes}", name=KERNEL_MODE, mode=mode, modes=join(", ", KERNEL_MODES))
        )
    places = {name: option_of_aoe(job, name) for name in ("--op_tune_file", "--op_tune_kernel_path")}
    if places["--op_tune_file"] is None:
        text = say(
            "{name} needs --op_tune_file: the folder of the operators that aclopStartDumpArgs dumped", name=KERNEL_MODE
        )
        raise UsageError(text)
    for name, place in places.items():
        if place is not None and not PurePosixPath(place).is_absolute():
            text = say(
                "{name}={path}: expected an absolute path, because each attempt has its own working folder",
                name=name,
                path=place,
            )
            raise UsageError(text)
    if types not in {None, _KEPT_TYPES}:
        raise UsageError(say("{name} needs --precision_mode={types}", name=KERNEL_MODE, types=_KEPT_TYPES))
    return () if types else (f"--precision_mode={_KEPT_TYPES}",)


def options_of_aoe(plan: Plan) -> tuple[str, ...]:
    """The options that a job gives aoe, by their names; none where no command can be made of the plan."""
    try:
        stages = stages_of_plan(plan)
    except UsageError:
        return ()
    given = (
        argument.text.split("=", 1)[0] for stage in stages if stage.runs == "tuner" for argument in stage.arguments
    )
    return tuple(dict.fromkeys(name for name in given if name.startswith("--")))


def _model_path(plan: Plan) -> str | None:
    job = plan.job
    if job.model_path is not None and job.model is not None:
        raise UsageError(say("--model and --model-path are mutually exclusive"))
    if job.model_path is not None or job.model is not None:
        return job.model_path
    if kernel_mode(job) is not None:
        return None  # the dumped operators are all that is compiled
    if plan.scenario not in {"pytorch", "mindspore"}:
        raise UsageError(say("{scenario}: expected --model or --model-path", scenario=plan.scenario))
    return f"{DUMP}/aoe_dump" if plan.scenario == "mindspore" else DUMP


def framework_of(job: Job) -> int:
    """What `--framework` has to be; by the model's suffix unless told."""
    if job.framework is not None:
        return job.framework
    found = FRAMEWORKS.get(PurePosixPath(job.model or "").suffix.lower())
    if found is None:
        raise UsageError(
            say("{model}: the suffix does not identify a framework; expected --framework 0, 1, 3 or 5", model=job.model)
        )
    return found


def _path(text: str, path: str) -> Argument:
    return Argument(text + path) if PurePosixPath(path).is_absolute() else Argument(text, path)


def files_of_plan(plan: Plan, folder: str) -> dict[str, str]:
    """Each file of a plan's folder by its name, but for the plan and the report; `folder` is the folder's absolute path.

    Without a candidate there is no list of operators, and run.sh says so instead of running anything.
    """
    files: dict[str, str] = {}
    asked = tune_ops_of_plan(plan)
    if asked is not None and "opat" in plan.stages() and kernel_mode(plan.job) is None:
        files[TUNE_OPS] = to_json(asked.as_document())
        if plan.scenario in TENSORFLOW:
            files[AOE_CONFIG] = to_json(asked.as_document())
    snippet = snippet_of(plan, folder)
    if snippet is not None:
        files[SNIPPET] = snippet
    files[SCRIPT] = run_script(plan)
    return files


# The ways to configure TFAdapter and torch_npu are those of their own documents (Ascend/tensorflow, Ascend/pytorch);
# MindSpore's of its API reference, 2.5 and later.
_TENSORFLOW = """# Where TFAdapter is configured, one of the three; take it out again when tuning is over.
# AOE_MODE is set by run.sh (and `aoe-reports tune run`). Without the file every operator is tuned.

# TensorFlow 1, session
custom_op.parameter_map["aoe_config_file"].s = tf.compat.as_bytes({config})
custom_op.parameter_map["static_memory_policy"].i = 0

# TensorFlow 1, estimator
config = NPURunConfig(aoe_config_file={config})  # and static_memory_policy not set to anything but 0

# TensorFlow 2
npu_device.global_options().aoe_config.aoe_config_file = {config}  # and static_memory_policy as above
"""

_TENSORFLOW_WHOLE = """# The file of operators is not needed: subgraphs and gradients are tuned as a whole.
# Where TFAdapter is configured; the same option has to be 0 (or unset) with an estimator and in TensorFlow 2.
custom_op.parameter_map["static_memory_policy"].i = 0
"""

_PYTORCH = """# Before the first operator runs; then one step on one device is enough. Take it out again when tuning is over.
# Operators that run through aclnn are not dumped, and of the others only those that torch_npu lists.
import torch_npu

torch_npu.npu.set_aoe({dump})
"""

_MINDSPORE = """# Before the network is compiled; then one step on one device is enough. Take it out again when tuning is over.
# MindSpore 2.5 and later; "offline" dumps the graphs for aoe, "online" tunes while the script runs.
import mindspore as ms

ms.set_context(save_graphs=1, save_graphs_path={dump})
ms.device_context.ascend.op_tuning.aoe_tune_mode({how})
ms.device_context.ascend.op_tuning.aoe_job_type({job_type})
"""


def snippet_of(plan: Plan, folder: str) -> str | None:
    """What has to stand in the script, where the framework is told in code; None where nothing has to."""
    if plan.scenario in TENSORFLOW:
        if "opat" in plan.stages():
            return _TENSORFLOW.format(config=_literal(f"{folder}/{AOE_CONFIG}"))
        return _TENSORFLOW_WHOLE
    dump = _literal(plan.job.model_path or f"{folder}/{DUMP}")
    if plan.scenario == "pytorch":
        return _PYTORCH.format(dump=dump)
    if plan.scenario == "mindspore":
        how = _literal("online" if plan.job.command else "offline")
        job_type = _literal(str(JOB_TYPES[plan.stages()[0]] if plan.stages() else 2))
        return _MINDSPORE.format(dump=_literal(f"{folder}/{DUMP}"), how=how, job_type=job_type)
    return None


def _literal(text: str) -> str:
    """A text as Python code; what JSON escapes Python reads the same way."""
    return json.dumps(text)


_HEAD = """#!/bin/sh
# Tunes with AOE as planned; nothing but AOE is needed. Each stage runs in a folder of its own below runs/.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
"""

_REFUSAL = """echo {why} >&2
exit 2
"""

_SEED = """
# The private bank: a copy of the one in use, so that what is banked is skipped; a bank that is there is kept.
soc={soc}
if [ ! -d "$here"/bank ]; then
    mkdir -- "$here"/bank
    if [ -n "${{TUNE_BANK_PATH:-}}" ]; then
        operators=$TUNE_BANK_PATH/$soc graphs=$TUNE_BANK_PATH
    elif [ -n "${{ASCEND_CACHE_PATH:-}}" ]; then
        operators=$ASCEND_CACHE_PATH/aoe_data/$soc graphs=$ASCEND_CACHE_PATH/aoe_data
    else
        custom=$HOME/Ascend/latest/data/aoe/custom new=$HOME/Ascend/cann/data/aoe/custom
        case "${{ASCEND_HOME_PATH:-${{ASCEND_TOOLKIT_HOME:-}}}}/" in
            */ascend-toolkit/* | */latest/*) ;;
            */cann*) custom=$new ;;
            *) if [ -d "$new" ] || {{ [ ! -d "$custom" ] && [ -e "$HOME"/Ascend/cann ]; }}; then custom=$new; fi ;;
        esac
        operators=$custom/op/$soc graphs=$custom/graph/$soc
    fi
    if [ ! -d "$operators" ] && [ ! -d "$graphs" ]; then
        echo "bank/ begins empty: there is no bank in use in $operators or $graphs" >&2
    fi
    if [ -d "$operators" ]; then cp -R -- "$operators" "$here"/bank/"$soc"; fi
    if [ -d "$graphs" ]; then find "$graphs/" -maxdepth 1 -type f -exec cp -- {{}} "$here"/bank/ \\;; fi
fi
"""

_EMPTY = """
# The private bank begins empty; a bank that is there is kept.
if [ ! -d "$here"/bank ]; then mkdir -- "$here"/bank; fi
"""

_UNKNOWN_SOC = """
# The chip is not known, so the bank in use cannot be copied: the folder of its operators is named after the chip.
if [ ! -d "$here"/bank ]; then
    echo 'the plan names no soc: put a copy of the bank in use into bank/, or make an empty folder bank/' >&2
    exit 2
fi
"""


def run_script(plan: Plan) -> str:
    """run.sh: each stage in a fresh folder with its environment, every argument quoted."""
    try:
        stages = stages_of_plan(plan)
    except UsageError as error:
        return _HEAD + _REFUSAL.format(why=shlex.quote(f"run.sh: {error}"))
    if any(REDACTED in argument.text for stage in stages for argument in stage.arguments):
        why = "run.sh: an argument held a secret and was not written down; `aoe-reports tune run` takes it anew"
        return _HEAD + _REFUSAL.format(why=shlex.quote(why))
    seed = _EMPTY if plan.job.bank_seed == "empty" else _UNKNOWN_SOC if plan.soc is None else _SEED
    parts = [_HEAD, seed.format(soc=shlex.quote(plan.soc or "")) if seed == _SEED else seed]
    if plan.bank is not None and seed == _SEED:
        bank = Argument("", plan.bank) if not PurePosixPath(plan.bank).is_absolute() else Argument(plan.bank)
        parts.insert(1, f"\n# The bank in use when the plan was made.\nTUNE_BANK_PATH={bank.quoted()}\n")
    parts += [_stage_script(stage) for stage in stages]
    return "".join(parts)


def _stage_script(stage: Stage) -> str:
    where = '"$work"' if stage.working_folder is None else stage.working_folder.quoted()
    lines = [
        "",
        f"# {stage.name.upper()}",
        "number=1",
        f'while ! mkdir -p -- "$here"/runs || ! mkdir -- "$here"/runs/by-hand-{stage.name}-$number 2>/dev/null; do',
        '    number=$((number + 1)); [ "$number" -lt 1000 ]',
        "done",
        f'work="$here"/runs/by-hand-{stage.name}-$number',
    ]
    if stage.tune_ops is not None:
        lines.append(f'cp -- "$here"/{TUNE_OPS} "$work"/')
    lines += ["(", f"    cd -- {where}", *(f"    unset {name}" for name in stage.unset)]
    lines += [f"    export {name}={shlex.quote(value)}" for name, value in stage.environment]
    lines += ['    export ASCEND_WORK_PATH="$work" TUNE_BANK_PATH="$here"/bank']
    lines += ["    " + " ".join(argument.quoted() for argument in stage.arguments), ")"]
    return "\n".join(lines) + "\n"


_PROFILED: dict[str, Framework] = {
    "offline": "msprof",
    "ir-graph": "msprof",
    "tf-training": "tf1-session",
    "tf-online-inference": "tf1-session",
    "pytorch": "pytorch",
    "mindspore": "mindspore",
}
"""How each scenario is profiled: the ways of `collect`."""


def remeasure_script(plan: Plan) -> str:
    """remeasure.sh: runs the command that it is given with the tuned bank, without tuning, under the profiler."""
    msprof = _PROFILED[plan.scenario] == "msprof"
    lines = [
        "#!/bin/sh",
        "# Measures again: runs the command behind it with the tuned bank, and without tuning.",
        "# What has to be changed in the script before stands in remeasure.md.",
        "set -eu",
        'if [ "$#" -eq 0 ]; then echo "usage: remeasure.sh COMMAND..." >&2; exit 2; fi',
        'here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)',
        "unset AOE_MODE ASCEND_WORK_PATH",
        'export TUNE_BANK_PATH="$here"/bank',
        *_logging('"$here"', new=plan.scenario not in _COMPILED_BEFORE),
    ]
    if plan.scenario == "pytorch" and "opat" in plan.stages():
        lines.append("export ACL_OP_COMPILER_CACHE_MODE=force  # what was compiled before tuning is not used")
    if msprof:
        after = recipe("msprof", "tuning")
        arguments = " ".join(
            f"{setting.key}={setting.value}" for setting in after.settings if setting.key != "--output"
        )
        lines += [f'msprof --output="$here"/remeasured {arguments} "$@"']
        lines += ['msprof --export=on --output="$here"/remeasured']
    else:
        lines.append('exec "$@"  # the profiler is switched on in the script, see remeasure.md')
    return "\n".join(lines) + "\n"


_COMPILED_BEFORE = frozenset({"offline", "ir-graph"})
"""Scenarios in which the model is compiled by a command of its own: its log is that of the measurement, and has to stay."""


def _logging(here: str, *, new: bool) -> list[str]:
    """Lines by which CANN says in its log which operators were found in a bank; `new`: in one with nothing else in it."""
    log = f"{here}/{REMEASURED_LOG}"
    aside = f"if [ -d {log} ]; then mv {log} {log}.$(date +%Y%m%d%H%M%S); fi  # of an earlier measurement"
    return [
        *([aside] if new else []),
        f"export ASCEND_PROCESS_LOG_PATH={log}",
        "export ASCEND_MODULE_LOG_LEVEL=FE=1  # INFO: which operators were found in a bank",
        "export ASCEND_HOST_LOG_FILE_NUM=1000  # files of 20 MB: the oldest would be deleted",
    ]


def remeasure_steps(plan: Plan) -> list[tuple[Text, str, str]]:
    """(what to do, code or nothing, its language) of measuring again after tuning."""
    framework, before = _PROFILED[plan.scenario], plan.scenario in _COMPILED_BEFORE
    steps = [
        (
            say(
                "Restore the script: remove what was added for tuning (AOE_MODE, aoe_mode, aoe_config_file, "
                "set_aoe, aoe_tune_mode), and use the steps and devices of the first profile again."
            ),
            "unset AOE_MODE",
            "shell",
        ),
        (
            say(
                "Load the tuned bank on the same chip and CANN version on which it was tuned ({where})."
                if plan.soc
                else "Load the tuned bank on the same chip and CANN version on which it was tuned.",
                where=join(", ", filter(None, (plan.soc, plan.engine_version))),
            ),
            "\n".join(('export TUNE_BANK_PATH="$PWD/bank"', *(_logging('"$PWD"', new=True) if before else ()))),
            "shell",
        ),
    ]
    if "opat" in plan.stages():
        steps.append(_RECOMPILE[plan.scenario])
    elif plan.scenario in {"offline", "ir-graph"}:
        text = say("Convert the model again (ATC reads the bank), or use the .om that AOE created (tuned/).")
        steps.append((text, "", ""))
    how = recipe(framework, "tuning")
    steps.append(
        (
            say(
                (
                    "Switch the profiler on as it was for the first profile ({profile}): same level, same metrics, "
                    "same number of steps. If these settings are not known, tuning needs the following (`aoe-reports "
                    "collect --framework {framework} --for tuning`)."
                )
                if plan.profile
                else (
                    "Switch the profiler on as it was for the first profile: same level, same metrics, same "
                    "number of steps. If these settings are not known, tuning needs the following (`aoe-reports "
                    "collect --framework {framework} --for tuning`)."
                ),
                profile=plan.profile,
                framework=framework,
            ),
            how.snippet,
            how.language,
        )
    )
    steps.append((say("Run it; remeasure.sh sets the environment."), "./remeasure.sh COMMAND...", "shell"))
    return steps


_CACHE = say("Compile again: with the compilation cache, the operators would stay as they were before tuning.")
_RECOMPILE: dict[str, tuple[Text, str, str]] = {
    "offline": (
        join(" ", (_CACHE, say("Or use the .om that AOE created (tuned/)."))),
        "atc --op_compiler_cache_mode=force --log=info ...  # the options of the first conversion behind it",
        "shell",
    ),
    "ir-graph": (
        _CACHE,
        "op_compiler_cache_mode=force  # an option where the graph is built (ge.op_compiler_cache_mode)",
        "",
    ),
    "tf-training": (
        _CACHE,
        (
            'custom_op.parameter_map["op_compiler_cache_mode"].s = tf.compat.as_bytes("force")  # TensorFlow 1\n'
            'npu_device.global_options().op_compiler_cache_mode = "force"  # TensorFlow 2'
        ),
        "python",
    ),
    "pytorch": (_CACHE, "export ACL_OP_COMPILER_CACHE_MODE=force", "shell"),
    "mindspore": (
        say(
            "Compile again: MindSpore documents no op_compiler_cache_mode; delete the output of earlier "
            "compilations (kernel_meta), so that operators are compiled and not reused."
        ),
        "ms.device_context.ascend.op_tuning.op_compile(True)",
        "python",
    ),
}
_RECOMPILE["tf-online-inference"] = _RECOMPILE["tf-training"]


def remeasure_page(plan: Plan, language: Language = "en") -> str:
    """remeasure.md: how to measure again after tuning; AOE's own times are those of single operators by themselves."""
    why = say("AOE's gains apply to single operators. Only a new profile shows whether a step became faster:")
    lines = [f"# {in_language(say('Measure again'), language)}", "", in_language(why, language), ""]
    for number, (text, code, kind) in enumerate(remeasure_steps(plan), 1):
        lines += [f"{number}. {in_language(text, language)}"]
        if code:
            lines += ["", *(f"   {line}".rstrip() for line in (f"```{kind}", *code.splitlines(), "```"))]
        lines.append("")
    return "\n".join(lines)


def read_tune_ops(folder: Path) -> TuneOps | None:
    """What a folder's tune_ops.json asks for; None where there is none. ReadError for what AOE would not take."""
    path = folder / TUNE_OPS
    if not path.exists():
        return None
    form = '{"tune_ops_name": [...], "tune_ops_type": [...]}'
    expected = say("expected {form} without other content, and not empty", form=form)
    asked = tune_ops_of_document(read_json(path, None, expected))
    if asked is None:
        raise ReadError(path, say("not a list of operators and types"), expected)
    return asked


def read_config(folder: Path) -> JsonObject:
    """A folder's aoe_config.json, which a TensorFlow script names; empty where there is none."""
    path = folder / AOE_CONFIG
    if not path.exists():
        return {}
    expected = say("expected the aoe_config_file of a TensorFlow script: a JSON object")
    document = read_json(path, None, expected)
    if not isinstance(document, dict):
        raise ReadError(path, say("not a JSON object"), expected)
    return document
