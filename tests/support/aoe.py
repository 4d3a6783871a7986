#!/usr/bin/env python3
"""Stands in for `aoe` in tests; see README.md. Uses the standard library only."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

BEHAVIOURS = {
    "succeed": "tunes what it is asked for",
    "eg": "says EG0013 and ends with exit code 1, without a result",
    "eg-and-success": "says EG0013, and the finish line all the same",
    "other-code": "says a code of another part of CANN at the begin of a line",
    "failed": "one operator fails: status failed, with its name",
    "incomplete": "writes the status of an interrupted tuning and ends well",
    "nothing": "finds nothing that can be tuned",
    "not-better": "finds nothing faster",
    "kept-first": "the first operator was in a bank already; finds nothing faster for the others",
    "hang": "stops moving after the first operator",
    "stubborn": "as hang, with a child, both ignoring SIGTERM",
    "crash": "dies of SIGABRT while it writes: half a result file",
    "killed": "is killed (SIGKILL) after the first operator",
    "cwd": "writes its result where it runs, ASCEND_WORK_PATH or not",
    "no-finish": "ends well without the finish line",
    "no-result": "says the finish line and writes no result",
    "bad-result": "writes a result that is not valid",
    "exit-1": "all is well, but for exit code 1",
    "old-words": "says the finish line of the releases before 6.2, with a percentage",
    "wrong-claim": "says another percentage than it writes",
    "memory": "warns of too little memory (WG0000)",
    "leaves-child": "leaves a process behind",
    "daemon": "leaves a daemon behind: forked twice, in a session of its own, ignoring SIGTERM",
    "daemon-hang": "as daemon, and stops moving after the first operator",
    "tells-environment": "prints its whole environment",
    "chatty": "prints more than anybody wants to keep",
    "opat-n": "puts _OPAT_0 behind operators' names, and types in lower case",
    "fused": "tunes operators only as parts of fused ones",
    "no-bank": "reports changes and writes no bank",
    "adapter-failed": "in training: TFAdapter says that tuning failed",
    "stage-2-fails": "operator tuning says EG0013, subgraph tuning succeeds",
}
OPTIONS = (
    "framework", "job_type", "model", "weight", "model_path", "tune_ops_file", "output", "output_type", "out_nodes",
    "input_format", "input_shape", "dynamic_batch_size", "dynamic_image_size", "dynamic_dims", "input_fp16_nodes",
    "insert_op_conf", "op_name_map", "singleop", "tune_optimization_level", "precision_mode", "op_select_implmode",
    "optypelist_for_implmode", "op_precision_mode", "modify_mixlist", "keep_dtype", "customize_dtypes", "device", "log",
    "progress_bar", "op_debug_level", "aicore_num", "virtual_type", "buffer_optimize", "compression_optimize_conf",
)  # fmt: skip
"""Options with a value, as AOE's reference lists them."""
FLAGS = ("reload", "Fdeeper_opat", "Fop_format", "Fnonhomo_split")
MORE_OPTIONS = {"7.0.RC1": (), "": ("precision_mode_v2",)}
"""What a release takes beside those: 7.0.RC1 rejects --precision_mode_v2, with exit code 2. \"\" is one that takes it."""
SAID = {
    "memory": "WG0000: memory is insufficient",
    "other-code": "E19999: Inner Error!",
    "eg": "EG0013: Device operation failed. Reason: stand-in",
    "eg-and-success": "EG0013: Device operation failed. Reason: stand-in",
}
SOC = "Ascend910B"
TIME = "20260101020304005"


def note(name: str, value: object) -> None:
    """Tell the test something."""
    folder = os.environ.get("STAND_IN_NOTES")
    if folder:
        with Path(folder, name).open("a") as file:
            file.write(json.dumps(value) + "\n")


def ready() -> None:
    note("ready", os.getpid())


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def fail(code: str, text: str) -> None:
    say(f"{code}: {text}")
    sys.exit(1)


def child(code: str) -> None:
    """Start a process that outlives us in our group."""
    process = subprocess.Popen([sys.executable, "-c", code])
    note("pids", process.pid)


def daemon() -> None:
    """A daemon as one is made: two forks, a session of its own, deaf to SIGTERM, none of our files open."""
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    os.chdir("/")
    note("pids", os.getpid())
    note("daemons", os.getpid())
    time.sleep(600)
    os._exit(0)


class Bank:
    """Operators that are banked, one JSON object a line, in one file a type."""

    def __init__(self) -> None:
        default = Path.home() / "Ascend/latest/data/aoe/custom/op"
        root = os.environ.get("TUNE_BANK_PATH")
        if root and not os.access(root, os.R_OK | os.W_OK | os.X_OK):
            fail("EG0002", "TUNE_BANK_PATH")
        self.root = Path(root) if root else default
        self.folder = self.root / SOC
        self.names = set()
        for path in self.folder.glob("*_runtime_kb.json"):
            self.names |= {json.loads(line)["op"] for line in path.read_text().splitlines()}

    def add(self, name: str, op_type: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{SOC}_32_AiCore_{op_type.replace('/', '_')}_runtime_kb.json"
        with path.open("a") as file:
            file.write(json.dumps({"id": len(self.names), "op": name, "knowledge": {}, "version": 1}) + "\n")
        self.names.add(name)


class Log:
    """CANN's log (plog), where and at what level the environment asks for it."""

    def __init__(self) -> None:
        work = os.environ.get("ASCEND_WORK_PATH")
        root = os.environ.get("ASCEND_PROCESS_LOG_PATH") or (f"{work}/log" if work else Path.home() / "ascend" / "log")
        self.path = Path(root) / "debug" / "plog" / f"plog-{os.getpid()}_{TIME}.log"
        modules = os.environ.get("ASCEND_MODULE_LOG_LEVEL", "").split(":")
        self.says = {"FE=0", "FE=1"} & set(modules) or os.environ.get("ASCEND_GLOBAL_LOG_LEVEL") in {"0", "1"}

    def compiled(self, name: str, *, hit: bool) -> None:
        """An operator was compiled, with or without an entry of a bank."""
        if not self.says:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        process = os.getpid()
        words = f"[op_kb_hit][0_0_{name}][{int(hit)}][te_matmulv2_0a1b2c_1]"
        with self.path.open("a") as file:
            file.write(
                f"[INFO] FE({process},aoe):2026-01-01-02:03:04.005.000 [tbe_json_parse.cc:911]{process} "
                f'ParseOpKBHitrate:"{words}"\n'
            )


class Result:
    """The result file, rewritten whenever something changes."""

    def __init__(self, kind: str, behaviour: str) -> None:
        where = Path.cwd() if behaviour == "cwd" else Path(os.environ.get("ASCEND_WORK_PATH") or ".")
        self.path = where / f"aoe_result_{kind}_{TIME}_pid{os.getpid()}.json"
        self.kind, self.behaviour = kind, behaviour
        self.changed: list[dict] = []
        self.failed: list[str] = []
        self.counts = {"add": 0, "reserved": 0, "unsatisfied": 0, "failed": 0}

    def document(self, status: str, *, ended: bool, segment: bool = True) -> list[dict]:
        basic = {"tuning_name": "stand_in", **({"tuning_time(s)": 7} if ended else {})}
        if not segment:
            return [{"basic": basic}]
        counts = self.counts
        summary = {
            "repo_add_num": counts["add"],
            "repo_hit_num": counts["reserved"],
            "repo_reserved_num": counts["reserved"],
            "repo_unsatisfied_num": counts["unsatisfied"],
            "repo_update_num": 0,
            "total_num": counts["add"] + counts["reserved"] + counts["unsatisfied"],
        }
        if self.kind == "sgat":
            body = {
                "model_baseline_performance(ms)": 6.0,
                "model_performance_improvement": "20.00%",
                "model_result_performance(ms)": 5.0,
                "repo_modified_subgraphs": {"add_repo_subgraphs": self.changed},
                "repo_summary": summary,
            }
            return [{"basic": basic}, {"SGAT": body}]
        body = {"opat_tuning_result": status, "repo_modified_operators": self.changed, "repo_summary": summary}
        if ended and status == "tuning successful":
            body |= {
                "model_baseline_performance(ms)": 120.0,
                "model_performance_improvement": "20.00%",
                "model_result_performance(ms)": 100.0,
            }
        if self.failed:
            body["tuning_failed_operators"] = self.failed
        return [{"basic": basic}, {"OPAT": body}]

    def write(self, status: str, *, ended: bool, segment: bool = True, half: bool = False) -> None:
        text = json.dumps(self.document(status, ended=ended, segment=segment), indent=1)
        self.path.write_text(text[: len(text) * 2 // 3] if half else text)

    def operator(self, name: str, op_type: str, before: float, after: float) -> None:
        self.counts["add"] += 1
        if self.behaviour == "opat-n":
            name, op_type = name + "_OPAT_0", op_type.lower()
        if self.behaviour == "fused":
            name += name.split("/")[0] + "/Relu"
        times = {
            "performance_after_tune(us)": after,
            "performance_before_tune(us)": before,
            "performance_improvement": f"{(before / after - 1) * 100:.2f}%",
            "update_mode": "add",
        }
        self.changed.append({"op_name": name, "op_type": op_type, "tune_performance": {"Schedule": times}})


def hang() -> None:
    ready()
    while True:
        time.sleep(60)


def misbehave(behaviour: str, result: Result) -> None:
    """What goes wrong after the first operator."""
    if behaviour in {"hang", "daemon-hang"}:
        while behaviour == "daemon-hang" and not Path(os.environ["STAND_IN_NOTES"], "daemons").exists():
            time.sleep(0.01)
        hang()
    if behaviour == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child("import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)")
        hang()
    if behaviour == "crash":
        result.write("tuning incomplete", ended=False, half=True)
        signal.signal(signal.SIGABRT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGABRT)
    if behaviour == "killed":
        os.kill(os.getpid(), signal.SIGKILL)


def tune_operators(asked: dict, behaviour: str) -> Result:
    bank, result, log = Bank(), Result("opat", behaviour), Log()
    names = [(name, "MatMulV2") for name in asked.get("tune_ops_name", [])]
    names += [(f"of_type/{op_type}", op_type) for op_type in asked.get("tune_ops_type", [])]
    if not asked:
        names = [("everything/a", "Add"), ("everything/b", "Mul")]
    if behaviour == "nothing":
        result.write("", ended=True, segment=False)
        return result
    for i, (name, op_type) in enumerate(names):
        log.compiled(name, hit=name in bank.names)
        if behaviour == "kept-first" and i == 0:
            result.counts["reserved"] += 1
        elif behaviour in {"not-better", "kept-first"}:
            result.counts["unsatisfied"] += 1
        elif name in bank.names and os.environ.get("REPEAT_TUNE") != "True":
            result.counts["reserved"] += 1
        elif behaviour == "failed" and i == 0:
            result.failed.append(name)
        else:
            note("tuned", name)
            result.operator(name, op_type, 30.0 + i, 20.0)
            if behaviour != "no-bank":
                bank.add(name, op_type)
        result.write("tuning incomplete", ended=False)
        misbehave(behaviour, result)
    status = {"failed": "tuning failed", "incomplete": "tuning incomplete"}.get(behaviour, "tuning successful")
    result.write(status, ended=status != "tuning incomplete")
    return result


def tune_subgraphs(behaviour: str, *, reload: bool) -> Result:
    result = Result("sgat", behaviour)
    workspace = Path("aoe_workspace/stand_in_1/tunespace/result")
    if reload and not workspace.is_dir():
        fail("EG0010", "there is no aoe_workspace to reload")
    workspace.mkdir(parents=True, exist_ok=True)
    if behaviour == "nothing":
        result.write("", ended=True, segment=False)
        return result
    times = {
        "performance_after_tune(ms)": 5.0,
        "performance_before_tune(ms)": 6.0,
        "performance_improvement": "20.00%",
        "repo_key": "15294858920613849201",
    }
    result.changed.append(times)
    result.counts["add"] = 1
    result.write("", ended=False)
    if not reload:
        misbehave(behaviour, result)
    root = Path(os.environ["TUNE_BANK_PATH"])
    (root / "stand_in_subgraph.json").write_text(json.dumps(times))
    (workspace / "stand_in_1_tune.om").write_bytes(b"stand-in for an offline model")
    result.write("", ended=True)
    return result


def begin(behaviour: str) -> None:
    if behaviour not in BEHAVIOURS:
        sys.exit(f"the stand-in knows no {behaviour!r}")
    note("pids", os.getpid())
    note("argv", sys.argv[1:])
    wanted = ("AOE_MODE", "ASCEND_WORK_PATH", "TUNE_BANK_PATH", "REPEAT_TUNE", "PROFILING_MODE", "ASCEND_DEVICE_ID")
    note("environment", {name: os.environ.get(name) for name in wanted} | {"cwd": str(Path.cwd())})
    if behaviour == "tells-environment":
        for name, value in os.environ.items():
            say(f"{name}={value}")
    if behaviour == "chatty":
        say("\n".join(f"line {number}" for number in range(200_000)))
    if behaviour == "leaves-child":
        child("import time; time.sleep(600)")
    if behaviour in {"daemon", "daemon-hang"}:
        daemon()
    if behaviour in SAID:
        say(SAID[behaviour])
    if behaviour == "eg":
        sys.exit(1)


def end(behaviour: str, result: Result) -> None:
    if behaviour == "no-result":
        result.path.unlink()
    if behaviour == "bad-result":
        result.path.write_text('[{"basic": {"tuning_name": 5}}, {"OPAT": {"opat_tuning_result": "fine"}}]')
    if behaviour in {"old-words", "wrong-claim"}:
        percent = "99.00" if behaviour == "wrong-claim" else "20.00"
        say(f"[Aoe]stand_in process finished. Performance improved by {percent}%")
    elif behaviour != "no-finish":
        say("[Aoe]Aoe process finished,cost time 7s.")
    if behaviour == "exit-1":
        sys.exit(1)


def main() -> None:
    behaviour = os.environ.get("STAND_IN", "succeed")
    if sys.argv[1:2] == ["--training"]:
        training(behaviour)
        return
    if sys.argv[1:2] == ["--compile"]:
        compile_with_bank(sys.argv[2:])
        return
    release = os.environ.get("STAND_IN_RELEASE", "")
    taken = (*OPTIONS, *MORE_OPTIONS[release])
    if sys.argv[1:] == ["--help"]:
        print_help(taken)
        return
    parser = parser_of(taken)
    begin(behaviour)
    try:
        options, rest = parser.parse_known_args()
    except argparse.ArgumentError as error:
        fail("EG0000", str(error))
    if rest and release:
        say(f"EG0000: unrecognized option {rest[0]}")
        sys.exit(2)
    if rest or options.job_type not in {1, 2} or (options.model is None) == (options.model_path is None):
        fail("EG0000", f"Invalid command line argument {rest or sys.argv}")
    if not Path(options.model or options.model_path).exists():
        fail("EG0011", f"{options.model or options.model_path} does not exist")
    if options.job_type == 1:
        result = tune_subgraphs(behaviour, reload=options.reload)
    else:
        if behaviour == "stage-2-fails":
            fail("EG0013", "Device operation failed")
        asked = json.loads(Path(options.tune_ops_file).read_text()) if options.tune_ops_file else {}
        result = tune_operators(asked, behaviour)
    end(behaviour, result)


def parser_of(taken: tuple[str, ...]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="aoe", exit_on_error=False, allow_abbrev=False)
    for option in taken:
        parser.add_argument(f"--{option}", type=int if option in {"framework", "job_type"} else str)
    for flag in FLAGS:
        parser.add_argument(f"--{flag}", action="store_true")
    return parser


def print_help(taken: tuple[str, ...]) -> None:
    say("usage: aoe <args>")
    for option in taken:
        say(f"  --{option}    see the reference")
    for flag in FLAGS:
        say(f"  --{flag}")


def compile_with_bank(names: list[str]) -> None:
    """A program of the user that runs operators: each is compiled with what the bank in use has for it."""
    bank, log = Bank(), Log()
    for name in names:
        log.compiled(name, hit=name in bank.names)


def training(behaviour: str) -> None:
    """A TensorFlow script: TFAdapter tunes while it runs, as AOE_MODE says."""
    begin(behaviour)
    mode = os.environ.get("AOE_MODE")
    if mode == "4":
        sizes, times = ([0] * 5, [0] * 5) if behaviour == "nothing" else ([4, 8], [100, 5])
        bank = [{"modelhash": "123", "modelvalue": {"gradientSize": sizes, "gradientTime": times}}]
        Path(os.environ["TUNE_BANK_PATH"], f"{SOC}_gradient_fusion.json").write_text(json.dumps(bank))
        return
    if behaviour != "no-finish":
        say("in tune mode, training graph handled by tools.")
        say("Aoe tuning graph.")
    if behaviour == "adapter-failed":
        fail("[ERROR] ", "exec aoe tuning func failed[9].")
    config = sys.argv[2] if len(sys.argv) > 2 else None
    asked = json.loads(Path(config).read_text()) if config else {}
    if mode == "1":
        tune_subgraphs(behaviour, reload=False)
    else:
        result = tune_operators(asked, behaviour)
        if behaviour == "no-result":
            result.path.unlink()
    if behaviour == "exit-1":
        sys.exit(1)


if __name__ == "__main__":
    main()
