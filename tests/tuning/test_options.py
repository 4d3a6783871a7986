"""Options of the commands of tuning: what each takes, where it may be set, and what help says of it."""

from __future__ import annotations

from dataclasses import MISSING

import pytest

from aoe_reports.model.options import Declared, declared
from aoe_reports.tuning.options import (
    AdoptOptions,
    DeviceOptions,
    ModelOptions,
    PlanOptions,
    PreflightOptions,
    TuneOptions,
)

OPTIONS: dict[type, str] = {
    DeviceOptions: """
        workload, = None, for all, names nothing, of the question: Name of the measured workload.
        rank, = None, from 0 to 2147483647, of the question: Only this rank.
        device, = None, from 0 to 2147483647, of the question: Only this device.
        strict, = False, as --strict, for all, of the run: Warnings also cause exit code 1.
        max-expanded, = None, from 1 to None, for all, protects, of the run: Maximum expanded size of one .gz file, in bytes (default: 1 GiB and 200 times its size).
    """,
    ModelOptions: """
        model, = None, of the question, only here: what is tuned: The model, for aoe.
        weight, = None, of the question, only here: what is tuned: Weights of the model (Caffe).
        model-path, = None, of the question, only here: what is tuned: Folder of models or dumped graphs, passed to aoe.
        framework, = None, of 0 1 3 5, of the question: 0 Caffe, 1 MindSpore, 3 TensorFlow, 5 ONNX [default: by the suffix].
        aoe-option, = (), many, shown as --NAME=VALUE, of the question, only here: the command that is run: Additional option for aoe (repeatable).
        command, = (), many, not on the command line, of the question: What trains or infers, where that is what tunes.
        working-folder, = None, not on the command line, of the question: Where the command runs.
        language, = 'en', not on the command line, of the question: Language of the pages in the plan's folder.
    """,
    PlanOptions: """
        workload, = None, for all, names nothing, of the question: Name of the measured workload.
        rank, = None, from 0 to 2147483647, of the question: Only this rank.
        device, = None, from 0 to 2147483647, of the question: Only this device.
        model, = None, of the question, only here: what is tuned: The model, for aoe.
        weight, = None, of the question, only here: what is tuned: Weights of the model (Caffe).
        model-path, = None, of the question, only here: what is tuned: Folder of models or dumped graphs, passed to aoe.
        framework, = None, of 0 1 3 5, of the question: 0 Caffe, 1 MindSpore, 3 TensorFlow, 5 ONNX [default: by the suffix].
        aoe-option, = (), many, shown as --NAME=VALUE, of the question, only here: the command that is run: Additional option for aoe (repeatable).
        command, = (), many, not on the command line, of the question: What trains or infers, where that is what tunes.
        working-folder, = None, not on the command line, of the question: Where the command runs.
        language, = 'en', not on the command line, of the question: Language of the pages in the plan's folder.
        budget, = None, from 0 to 1000000, of the question: Time available for tuning, in minutes.
        top, = None, from 1 to None, of the question: Maximum number of candidates.
        min-share, = 0.001, from 0 to 1, of the question: Leave out operators below this share of the step.
        mode, = 'opat', of opat sgat both gdat, of the question: Operators, subgraphs, both in sequence, gradients.
        scenario, = None, of offline tf-training tf-online-inference pytorch mindspore ir-graph, of the question: How AOE accesses the model [default: pytorch or mindspore if their profiler wrote the profile, else offline].
        repeat-tune, = False, as --repeat-tune, of the question: Tune again what the bank already contains.
        assume-static, = False, as --assume-static, of the question: Treat shapes as static if the export does not contain this information.
        store, = None, or $AOE_REPORTS_STORE, for all, names store, of the question: Folder or URI of the store, for the gains of earlier tuning.
        results, = (), many, of the question, only here: the known results: Earlier AOE results of this model: file or folder (repeatable).
        bank, = None, names input, of the question: The bank in use, with the layout of TUNE_BANK_PATH [default: from the environment].
        after, = None, shown as DIR, of the question, only here: what is compared: The folder of a plan whose subgraphs were tuned before this profile.
        soc, = None, of the question, only here: what is tuned: The chip, as AOE names it.
        engine-version, = None, for all, names nothing, of the question: Version of CANN.
        tune-device, = None, from 0 to 2147483647, of the question: ASCEND_DEVICE_ID to tune on.
        te-parallel, = None, from 1 to 32, of the question: TE_PARALLEL_COMPILER: operators compiled at once.
        strict, = False, as --strict, for all, of the run: Warnings also cause exit code 1.
        max-expanded, = None, from 1 to None, for all, protects, of the run: Maximum expanded size of one .gz file, in bytes (default: 1 GiB and 200 times its size).
    """,
    TuneOptions: """
        model, = None, of the question, only here: what is tuned: The model, for aoe.
        weight, = None, of the question, only here: what is tuned: Weights of the model (Caffe).
        model-path, = None, of the question, only here: what is tuned: Folder of models or dumped graphs, passed to aoe.
        framework, = None, of 0 1 3 5, of the question: 0 Caffe, 1 MindSpore, 3 TensorFlow, 5 ONNX [default: by the suffix].
        aoe-option, = (), many, shown as --NAME=VALUE, of the question, only here: the command that is run: Additional option for aoe (repeatable).
        command, = (), many, not on the command line, of the question: What trains or infers, where that is what tunes.
        working-folder, = None, of the question, only here: the folder in which it is run: Working folder of the command [default: a new folder].
        language, = 'en', not on the command line, of the question: Language of the pages in the plan's folder.
        device, = None, from 0 to 2147483647, of the question: ASCEND_DEVICE_ID.
        bank, = None, of copy empty, of the question: Initial content of the private bank [default: as in the plan, copy].
        soc, = None, of the question, only here: what is tuned: The chip, if the plan does not name it.
        timeout, = None, shown as DURATION, names nothing, of the question: Stop the job after this time: 90s, 30m, 2h…
        grace, = 10.0, from 0 to 3600, of the question: Seconds between the request to stop processes and their forced termination.
        resume, = False, as --resume, of the question, only here: what is resumed: Resume a stopped job.
        restart, = False, as --restart, of the question, only here: what is moved aside: Start again from the beginning; existing files are moved aside.
        dry-run, = False, as --dry-run, of the question, only here: what is not run: Only print what would be run.
        quiet, = False, as --quiet, of the question: Do not show the output of AOE.
        strict, = False, as --strict, for all, of the run: Warnings also cause exit code 1.
    """,
    PreflightOptions: """
        declare, = (), many, shown as NAME=VALUE,…, of the question, only here: what a person vouches for: Facts that cannot be detected on the machine: processes, model_memory, tuning_parallel_num, profiling, static_memory_policy, static_shapes, devices, device_free, cpu_binding, aoe_config_file, npus, soc, cube_cores, vector_cores, cube_cores_used, vector_cores_used, device_memory, device_memory_used, aoe_options (repeatable).
        host, = None, shown as FILE, of the question, only here: what is checked: Check the host that a file describes instead of this one.
        describe-host, = False, as --describe-host, of the question, only here: additional output: Print the description of this host for --host.
        strict, = False, as --strict, for all, of the run: Warnings also cause exit code 1.
    """,
    AdoptOptions: """
        to, = None, shown as BANK, of the question, only here: what is replaced: The bank to be replaced, with the layout of TUNE_BANK_PATH [default: the one in use].
        soc, = None, of the question, only here: what is tuned: The chip, if the plan does not name it.
        force, = False, as --force, of the question, only here: what is forced: Adopt the bank even if no new profile has confirmed the gain.
        dry-run, = False, as --dry-run, of the question, only here: what is not run: Only show what would be replaced.
        strict, = False, as --strict, for all, of the run: Warnings also cause exit code 1.
    """,
}
"""An option a line: its default, what it takes, how it is spelled, where it may be set, and its help."""


def line_of(one: Declared) -> str:
    """An option as OPTIONS has it."""
    declared_as = one.option
    parts = [
        one.key,
        "must be given" if one.default is MISSING else f"= {one.default!r}",
        f"of {' '.join(one.choices)}" if one.choices else "",
        "many" if one.many else "",
        f"from {declared_as.minimum} to {declared_as.maximum}" if (declared_as.minimum, declared_as.maximum) != (None, None) else "",
        f"as {' '.join(declared_as.flags)}" if declared_as.flags else "",
        f"or ${declared_as.env}" if declared_as.env else "",
        "" if declared_as.cli else "not on the command line",
        f"shown as {declared_as.metavar}" if declared_as.metavar else "",
        "for all" if declared_as.shared else "",
        f"names {declared_as.names}" if declared_as.names else "",
        "protects" if declared_as.protects else "",
        f"of the {declared_as.scope}",
        f"only here: {declared_as.only_here}" if declared_as.only_here else "",
    ]  # fmt: skip
    return f"{', '.join(part for part in parts if part)}: {declared_as.help}"


@pytest.mark.parametrize("cls", OPTIONS, ids=lambda cls: cls.__name__)
def test_options_of_a_command(cls: type) -> None:
    assert [line_of(one) for one in declared(cls)] == [line.strip() for line in OPTIONS[cls].strip().splitlines()]
