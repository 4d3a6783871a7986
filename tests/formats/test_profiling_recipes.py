"""How a profile is taken: every option, file and note of every framework and question."""

from __future__ import annotations

import ast
import json
from typing import get_args

import pytest

from aoe_reports.formats.ascend.profiling.options import (
    COLLECTOR,
    GUIDE,
)
from aoe_reports.formats.ascend.profiling.recipes import Framework, Question, options_of, recipe
from aoe_reports.formats.ascend.tables.pmu import metrics_set

FRAMEWORKS: tuple[Framework, ...] = get_args(Framework)
QUESTIONS: tuple[Question, ...] = get_args(Question)
OPTIONS_OF: dict[Question, str] = {
    "hotspots": '{"output":"./profiling","training_trace":"on","task_trace":"on","aic_metrics":"PipeUtilization"}',
    "steps": '{"output":"./profiling","training_trace":"on","task_trace":"on","fp_point":"","bp_point":""}',
    "timeline": '{"output":"./profiling","training_trace":"on","task_trace":"on","runtime_api":"on","hccl":"on","aicpu":"on"}',
    "communication": '{"output":"./profiling","training_trace":"on","task_trace":"on","hccl":"on"}',
    "tuning": '{"output":"./profiling","training_trace":"on","task_trace":"on","fp_point":"","bp_point":"","aic_metrics":"PipeUtilization"}',
}
COMMAND_OF: dict[Question, str] = {
    "hotspots": "msprof --output=./profiling --task-time=on --ai-core=on --aic-metrics=PipeUtilization python3 train.py",
    "steps": "msprof --output=./profiling --task-time=on python3 train.py",
    "timeline": "msprof --output=./profiling --ascendcl=on --task-time=on --runtime-api=on --hccl=on --aicpu=on python3 train.py",
    "communication": "msprof --output=./profiling --task-time=on --hccl=on python3 train.py",
    "tuning": "msprof --output=./profiling --task-time=on --ai-core=on --aic-metrics=PipeUtilization python3 train.py",
}
LEVEL_OF: dict[Question, tuple[str, str]] = {
    "hotspots": ("Level1", "PipeUtilization"),
    "steps": ("Level0", "AiCoreNone"),
    "timeline": ("Level2", "PipeUtilization"),
    "communication": ("Level1", "PipeUtilization"),
    "tuning": ("Level1", "PipeUtilization"),
}
LEVEL1 = ("kernel_details.csv", "step_trace_time.csv", "trace_view.json", "op_statistic.csv", "api_statistic.csv", "communication.json", "communication_matrix.json")  # fmt: skip
TASK_FILES = ("task_time_*.json", "task_time_*.csv", "op_summary_*.csv", "op_statistic_*.csv", "ge_*.json (until 2023-08)", "ge_op_execute_* (dynamic shapes, until 2023-08)")  # fmt: skip
STEP_FILES = ("step_trace_*.json", "step_trace_*.csv")
FILES_OF = {
    "training_trace": STEP_FILES,
    "task_trace": TASK_FILES,
    "task_time": TASK_FILES,
    "aicpu": ("aicpu_*.csv", "dp_*.csv (training chips)"),
    "l2": ("l2_cache_*.csv",),
    "hccl": ("hccl_*.json", "communication_statistic_*.csv (hccl_statistic before 2025-02)"),
    "msproftx": ("msprof_tx_*.json", "msprof_tx_*.csv"),
    "runtime_api": (
        "runtime_api_* (until 2023-08)",
        "api_statistic_*.csv (since 2023-08)",
        "ai_stack_time_* (until 2023-07)",
        "thread_group_*.json (dynamic shapes, until 2023-08)",
    ),
    "task_memory": ("memory_record_*.csv", "operator_memory_*.csv"),
    "aic_metrics": ("columns of counters in op_summary_*.csv",),
}
REPLACES = "Any option that is given replaces the whole default set: options that are left out take the collector's own default."
POINTS = "The profiler may not find fp_point and bp_point, even if they are left empty for an automatic search: the FP to BP, refresh and data augmentation times are then empty."
RELEASES = "The CANN release that supports exactly these keys is not known: they are taken from the collector of 2026 and from the samples of the guide."
TUNES = "Switch profiling off before AOE tunes: it distorts what AOE measures."
STATIC = "Static memory allocation must also be off (static_memory_policy = 0)."
GUIDE_OF_TUNING = "AOE guide, restrictions of tuning"


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("framework", ["tf1-estimator", "tf1-session", "tf2"])
def test_tensorflow_takes_a_string_of_options(framework: Framework, question: Question) -> None:
    found = recipe(framework, question)
    options = OPTIONS_OF[question]
    assert options_of(question) == options
    assert f"'{options}'" in found.snippet
    ast.parse(found.snippet)
    ast.parse(found.switch_off)
    assert [(one.key, one.value) for one in found.settings] == list(json.loads(options).items())
    assert all(one.files == FILES_OF.get(one.key, ()) for one in found.settings)
    beyond_the_guide = {"runtime_api", "hccl", "aicpu"}
    assert {one.key for one in found.settings if one.source == COLLECTOR} == beyond_the_guide & {*json.loads(options)}
    assert {one.source for one in found.settings} <= {GUIDE, COLLECTOR}
    session = ["Online inference can be profiled in this mode only (sess.run)."] if framework == "tf1-session" else []
    tuning = [TUNES, STATIC] if question == "tuning" else []
    assert list(found.notes) == [REPLACES, POINTS, RELEASES, *session, *tuning]
    assert found.after == ("msprof --export=on --output=./profiling",)
    assert [str(one) for one in found.sources] == [
        "CANN guide to msprof, TensorFlow framework mode",
        "TensorFlow adapter (Ascend/tensorflow 085a7b2e)",
        "collector of CANN (hicann/runtime 681ef761)",
        *([GUIDE_OF_TUNING] if question == "tuning" else []),
    ]
    assert (found.framework, found.question, found.language) == (framework, question, "python")


@pytest.mark.parametrize(
    ("framework", "on", "off"),
    [
        (
            "tf1-estimator",
            [
                "from npu_bridge.estimator.npu.npu_config import NPURunConfig, ProfilingConfig",
                "profiling_config = ProfilingConfig(enable_profiling=True, profiling_options=profiling_options)",
                "config = NPURunConfig(profiling_config=profiling_config, session_config=tf.ConfigProto())",
            ],
            "profiling_config = ProfilingConfig(enable_profiling=False)",
        ),
        (
            "tf1-session",
            [
                "custom_op = config.graph_options.rewrite_options.custom_optimizers.add()",
                'custom_op.name = "NpuOptimizer"',
                'custom_op.parameter_map["use_off_line"].b = True',
                'custom_op.parameter_map["profiling_mode"].b = True',
                "config.graph_options.rewrite_options.remapping = RewriterConfig.OFF",
            ],
            'custom_op.parameter_map["profiling_mode"].b = False',
        ),
        (
            "tf2",
            [
                "import npu_device",
                "npu_device.global_options().profiling_config.enable_profiling = True",
                "npu_device.open().as_default()",
            ],
            "npu_device.global_options().profiling_config.enable_profiling = False",
        ),
    ],
)
def test_each_way_into_tensorflow_is_switched_on_and_off(framework: Framework, on: list[str], off: str) -> None:
    found = recipe(framework, "steps")
    assert {*on} <= {*found.snippet.splitlines()}
    assert found.switch_off == off


@pytest.mark.parametrize("question", QUESTIONS)
def test_msprof_takes_arguments(question: Question) -> None:
    found = recipe("msprof", question)
    assert found.snippet == COMMAND_OF[question]
    arguments = dict(word.split("=") for word in COMMAND_OF[question].split() if word.startswith("--"))
    assert {one.key: one.value for one in found.settings} == arguments
    files = {"--task-time": (*TASK_FILES, *STEP_FILES)}
    for one in found.settings:
        assert one.files == files.get(one.key, FILES_OF.get(one.key[2:].replace("-", "_"), ()))
        assert one.source == "msprof command line (hicann/runtime 681ef761)"
    steps = ["The command line always requests iterations; whether there are any depends on the application."]
    assert list(found.notes) == [
        'Older versions take the application as --application="app args".',
        *(steps if question == "steps" else []),
        *([TUNES] if question == "tuning" else []),
    ]
    assert found.after == ("msprof --export=on --output=./profiling",)
    assert (found.switch_off, found.language, found.framework) == ("python3 train.py", "shell", "msprof")
    assert (found.question, list(found.sources[1:])) == (question, [GUIDE_OF_TUNING] if question == "tuning" else [])


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(("framework", "module", "metrics_class"), [("pytorch", "torch_npu", "AiCMetrics"), ("mindspore", "mindspore", "AicoreMetrics")])  # fmt: skip
def test_other_frameworks_have_levels(
    framework: Framework, module: str, metrics_class: str, question: Question
) -> None:
    found = recipe(framework, question)
    level, metrics = LEVEL_OF[question]
    ast.parse(found.snippet)
    for line in (
        f"from {module} import profiler",
        f"    profiler_level=profiler.ProfilerLevel.{level},",
        f"    aic_metrics=profiler.{metrics_class}.{metrics},",
        '    on_trace_ready=profiler.tensorboard_trace_handler("./profiling"),',
        "    for batch in batches:",
        "        train_one_step(batch)",
        "        prof.step()",
    ):
        assert line in found.snippet.splitlines()
    levels, counters, schedule = found.settings
    few = ("kernel_details.csv (no operator types, no shapes)", "step_trace_time.csv", "trace_view.json")
    assert (levels.key, levels.value, levels.files) == ("profiler_level", level, few if level == "Level0" else LEVEL1)
    told = () if metrics == "AiCoreNone" else ("columns of counters in kernel_details.csv",)
    assert (counters.key, counters.value, counters.files) == ("aic_metrics", metrics, told)
    assert (schedule.key, schedule.value) == ("schedule", "prof.step() after each step")
    assert schedule.files == ("column Step Id of kernel_details.csv",)
    source = {"pytorch": "torch_npu (Ascend/pytorch 9e73e70), its reference on hiascend.com, exports of level 0 to 2", "mindspore": "MindSpore API reference 2.6 to 2.10 (mindspore.profiler)"}[framework]  # fmt: skip
    assert {one.source for one in found.settings} == {source}
    assert list(found.sources) == [source, *([GUIDE_OF_TUNING] if question == "tuning" else [])]
    first, second, *more = found.notes
    assert first == "The numbers of steps to skip, warm up and record are examples: record steps that are alike."
    if framework == "pytorch":
        assert second == "At Level0, aic_metrics is reset to none; invalid values are reset with only a warning."
    else:
        assert second == "Names are those of MindSpore 2.6 and later; mindspore.Profiler of earlier releases was not examined. The file names are assumed to be the same as those of torch_npu; this has not been verified."  # fmt: skip
    arguments = "record_op_args=True writes the arguments of operators for AOE to a folder beside the result; according to its documentation it must not be combined with other profiling. Its output has not been verified."  # fmt: skip
    assert more == ([*([arguments] if framework == "pytorch" else []), TUNES] if question == "tuning" else [])
    assert found.switch_off == "for batch in batches:  # no profile(...) around it\n    train_one_step(batch)"
    assert (found.framework, found.question, found.language, found.after) == (framework, question, "python", ())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["aic_mac_fp16_ratio", "aic_mac_ratio"], "ArithmeticUtilization"),
        (["aiv_vec_fp32_ratio"], "ArithmeticUtilization"),
        (["Aic_Mac_Ratio"], "PipeUtilization"), (["mac_ratio"], "PipeUtilization"), (["aiv_mte2_ratio"], "PipeUtilization"),
        (["aic_l0a_read_bw(GB/s)"], "MemoryL0"), (["l0c_read_bw"], "MemoryL0"), (["l0d_read_bw"], None),
        (["aiv_ub_read_bw_vector(GB/s)"], "MemoryUB"), (["ub_read_bw_scalar"], "MemoryUB"), (["ub_read_bw"], None),
        (["aic_read_main_memory_datas(KB)", "aic_main_mem_read_bw(GB/s)"], "MemoryAccess"),
        (["aic_main_mem_read_bw(GB/s)"], "Memory"),
        (["aic_write_cache_hit"], "L2Cache"),
        (["aiv_vec_bankgroup_cflt_ratio"], "ResourceConflictRatio"),
        (["aicore_time(us)", "Task Duration(us)"], None), ([], None),
        (["ACL_AICORE_ARITHMETIC_UTILIZATION"], "ArithmeticUtilization"),
        (["ACL_AICORE_PIPE_UTILIZATION"], "PipeUtilization"), (["PipeUtilization"], "PipeUtilization"),
        (["AiCoreMemoryL0"], "MemoryL0"), (["MemoryUB"], "MemoryUB"), (["MemoryAccess"], "MemoryAccess"),
        (["ACL_AICORE_MEMORY_BANDWIDTH"], "Memory"), (["AiCoreMemory"], "Memory"), (["Memory used"], None),
        (["L2Cache"], "L2Cache"), (["ACL_AICORE_L2_CACHE"], "L2Cache"),
        (["ResourceConflictRatio"], "ResourceConflictRatio"), (["ACL_AICORE_NONE"], "none"), (["AiCoreNone"], "none"),
        (["none"], None),
    ],
)  # fmt: skip
def test_which_counters_were_on_is_told_by_columns_or_by_name(words: list[str], told: str | None) -> None:
    assert metrics_set(words) == told
