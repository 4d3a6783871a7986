"""A simulated `aoe`: tunes nothing, and writes what the real one writes. Runs as a script, with the standard library only.

AOE is closed and needs an NPU. This keeps to what its documents say of the outside: options (others end in EG0000), the result
file that is rewritten while it works (in ASCEND_WORK_PATH, else where it runs), the bank below TUNE_BANK_PATH, what is banked is
left alone unless REPEAT_TUNE=True, `--reload` in a folder with aoe_workspace, the last line on the console. The members of a
result, their order and what is left out are those of the writer in Python that CANN 8.1.RC1 ships (tune_report_manager.py).
With `--training` before all else it is a TensorFlow script that TFAdapter lets tune (AOE_MODE), with `--compile` a program that compiles
the operators that it names. CANN's log (plog) says of every compiled operator whether the bank had it.

A model that is JSON with `"simulated": true` says what is claimed of its operators (see `Operator`), and every other file is a
model whose operators become faster. STAND_IN says how it fails (BEHAVIOURS), STAND_IN_RELEASE which release it is.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, NoReturn

Claim = Literal["better", "filler", "not-better", "failed", "untimed"]
"""What AOE says of an operator: it became faster; the bank changed, but it measured no gain; nothing faster; tuning failed; it became
faster, but the time before is not known."""

BEHAVIOURS = {
    "succeed": "tunes what it is asked for",
    "eg": "says EG0013 and ends with exit code 1, without a result",
    "eg-and-success": "says EG0013, and the finish line all the same",
    "other-code": "says a code of another part of CANN at the begin of a line",
    "failed": "the first operator fails: status failed, with its name",
    "one-failed": "the first operator fails, and tuning is successful all the same",
    "modes": "tunes each operator in two modes: one entry, with a time of each mode",
    "filler": "changes the bank without a gain: the times are filled in",
    "untimed": "does not know the time before: no improvement is written",
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
KERNEL_OPTIONS = ("op_tune_mode", "op_tune_file", "op_tune_kernel_path", "soc_version")
"""Those of kernels for dumped operators (7.0 and later)."""
FLAGS = ("reload", "Fdeeper_opat", "Fop_format", "Fnonhomo_split")
MORE_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "6.3.RC2": (),
    "7.0.RC1": KERNEL_OPTIONS,
    "": (*KERNEL_OPTIONS, "precision_mode_v2"),
}
"""What a release takes beside those: 7.0.RC1 rejects --precision_mode_v2, with exit code 2. \"\" is one that takes it."""
SAID = {
    "memory": "WG0000: memory is insufficient",
    "other-code": "E19999: Inner Error!",
    "eg": "EG0013: Device operation failed. Reason: stand-in",
    "eg-and-success": "EG0013: Device operation failed. Reason: stand-in",
}
SOC = "Ascend910B"
CORES = 32
TIME = "20260101020304005"
MODES = {"MatMulV2": ("GA", "AS"), "Conv2D": ("GA", "AS")}
"""Ways to tune, by type: GA for operators on cube cores, RL for others, AS in addition."""
_CUBE = 24
SUBGRAPHS, OPERATORS = 1, 2
"""Values of --job_type."""


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of a simulated model: what it is, how long it takes, what AOE says of it."""

    name: str
    op_type: str = "MatMulV2"
    m: int = 0
    """Rows of the first operand; k: its columns; n: the columns of the second."""
    k: int = 1024
    n: int = 1024
    us: float = 30.0
    """How long it takes, and how long AOE measures before tuning."""
    claimed_us: float = 20.0
    """How long AOE measures after tuning."""
    tuned_us: float = 20.0
    """How long it really takes with its entry in the bank."""
    claim: Claim = "better"
    tuned_m: int | None = None
    """With another m than its own its entry is of another shape, and is not found; null: of its own."""

    @property
    def key(self) -> dict[str, Any]:
        """What its entry is looked up by."""
        return key_of(self.m, self.k, self.n)

    @property
    def tuned_key(self) -> dict[str, Any]:
        """What its entry is written under."""
        return key_of(self.m if self.tuned_m is None else self.tuned_m, self.k, self.n)


def key_of(m: int, k: int, n: int) -> dict[str, Any]:
    """The key of a product [m, k] x [k, n] of halves in a bank, as CANN writes it (GemmInputArgs)."""
    batches: dict[str, Any] = {f"batch_{side}{number}": 1 for side in "ab" for number in range(1, 5)}
    reserved = {f"reserved_params{number}": 0 for number in range(1, 7)}
    return {
        "a_dtype": 1, "a_format": 2, "aub_double_num": 1.0, "b_dtype": 1, "b_format": 2, **batches, "bias_flag": False,
        "bub_double_num": 1.0, "fused_double_operand_num": 0.0, "k": k, "k_align_flag": k % 16 == 0, "l1_fused_num": 0.0,
        "m": m, "m_align_flag": m % 16 == 0, "n": n, "n_align_flag": n % 16 == 0, "out_dtype": 1, "out_format": 2,
        "reserved_bool": False, **reserved, "trans_a_flag": False, "trans_b_flag": False,
    }  # fmt: skip


def entry_of(operator: Operator) -> dict[str, Any]:
    """The entry of an operator in a bank, one JSON object a line."""
    key = operator.tuned_key
    knowledge = {
        "usedCoreNum": _CUBE,
        "baseM": 128,
        "baseN": 256,
        "baseK": 64,
        "stepM": 1,
        "stepN": 1,
        "tilingEnable": 0,
    }
    number = zlib.crc32(json.dumps([operator.op_type, key]).encode())
    return {"id": number, "info_dict": key, "knowledge": knowledge, "op": operator.op_type, "version": 0}


def unnamed(name: str, op_type: str = "MatMulV2", number: int = 0) -> Operator:
    """An operator of a model that does not say what its operators are; its shape follows from its name."""
    return Operator(name, op_type, m=16 * (1 + zlib.crc32(name.encode()) % 4096), us=30.0 + number)


@dataclass(frozen=True, slots=True)
class Model:
    """What a simulated model says: its chip, its cores, its operators by name."""

    soc: str = SOC
    cores: int = CORES
    operators: Mapping[str, Operator] | None = None


def read_model(path: Path) -> Model:
    """The model of a file; one without operators for a file that is no simulated model."""
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, OSError):
        return Model()
    if not isinstance(document, dict) or document.get("simulated") is not True:
        return Model()
    known = {one.name for one in fields(Operator)}
    operators = [
        Operator(**{key: value for key, value in one.items() if key in known}) for one in document["operators"]
    ]
    return Model(document["soc"], document["cores"], {operator.name: operator for operator in operators})


def note(name: str, value: object) -> None:
    """Record something for whoever started this."""
    folder = os.environ.get("STAND_IN_NOTES")
    if folder:
        with Path(folder, name).open("a") as file:
            file.write(json.dumps(value) + "\n")


def put(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def fail(code: str, text: str) -> NoReturn:
    """End as AOE does after an error."""
    put(f"{code}: {text}")
    sys.exit(1)


def child(code: str) -> None:
    """Start a process that outlives us in our group."""
    process = subprocess.Popen([sys.executable, "-c", code])  # noqa: S603 -- our own words
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
    """The entries of operators, one JSON object a line, in one file a type."""

    def __init__(self, model: Model) -> None:
        default = Path.home() / "Ascend/latest/data/aoe/custom/op"
        root = os.environ.get("TUNE_BANK_PATH")
        if root and not os.access(root, os.R_OK | os.W_OK | os.X_OK):
            fail("EG0002", "TUNE_BANK_PATH")
        self.model, self.folder = model, (Path(root) if root else default) / model.soc
        self.keys = keys_of_bank(self.folder)

    def holds(self, operator: Operator) -> bool:
        """Whether it has an entry of this type and shape."""
        return _key_text(operator.op_type, operator.key) in self.keys

    def add(self, operator: Operator) -> None:
        """Write the entry of an operator."""
        self.folder.mkdir(parents=True, exist_ok=True)
        op_type = operator.op_type.replace("/", "_")
        path = self.folder / f"{self.model.soc}_{self.model.cores}_AiCore_{op_type}_runtime_kb.json"
        with path.open("a") as file:
            file.write(json.dumps(entry_of(operator), separators=(",", ":")) + "\n")
        self.keys.add(_key_text(operator.op_type, operator.tuned_key))


def keys_of_bank(folder: Path) -> set[str]:
    """What the entries of a chip's folder are looked up by; see `Bank.holds`."""
    lines = [line for path in sorted(folder.glob("*_runtime_kb.json")) for line in path.read_text("utf-8").splitlines()]
    entries = [json.loads(line) for line in lines if line.strip()]
    return {_key_text(entry["op"], entry["info_dict"]) for entry in entries if "info_dict" in entry}


def _key_text(op_type: str, key: Mapping[str, Any]) -> str:
    return json.dumps([op_type, key], sort_keys=True)


def banked(keys: Iterable[str], operator: Operator) -> bool:
    """Whether one of these keys is an operator's own."""
    return _key_text(operator.op_type, operator.key) in keys


class Log:
    """CANN's log (plog) on operators that are compiled, where and at what level the environment asks for it, else in a folder."""

    def __init__(self, folder: Path | None = None, process: str = "aoe") -> None:
        work = os.environ.get("ASCEND_WORK_PATH")
        asked = os.environ.get("ASCEND_PROCESS_LOG_PATH") or (f"{work}/log" if work else Path.home() / "ascend" / "log")
        self.process, self.pid = process, os.getpid()
        self.path = Path(folder or asked) / "debug" / "plog" / f"plog-{self.pid}_{TIME}.log"
        modules = os.environ.get("ASCEND_MODULE_LOG_LEVEL", "").split(":")
        levels = {"FE=0", "FE=1"} & set(modules) or os.environ.get("ASCEND_GLOBAL_LOG_LEVEL") in {"0", "1"}
        self.says = bool(folder or levels)

    def compiled(self, operator: Operator, *, hit: bool) -> None:
        """An operator was compiled, with or without an entry of a bank; the numbers of session and graph stand before its name."""
        if not self.says:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        kernel = f"te_{operator.op_type.lower()}_{zlib.crc32(operator.name.encode()):08x}_1"
        words = f"[op_kb_hit][0_0_{operator.name}][{int(hit)}][{kernel}]"
        with self.path.open("a", encoding="iso-8859-1", errors="replace") as file:
            file.write(
                f"[INFO] FE({self.pid},{self.process}):2026-01-01-02:03:04.005.000 [tbe_json_parse.cc:911]{self.pid} "
                f'ParseOpKBHitrate:"{words}"\n'
            )


def times_of(before: float, after: float, *, changed: bool, update_mode: str) -> dict[str, float | str]:
    """The times of one mode as AOE writes them: where the bank and the times contradict each other, one is filled in."""
    before, after = round(before, 3), round(after, 3)
    if changed and before <= after:
        before = after + 1
    if not changed and before > after:
        after = before + 1
    times: dict[str, float | str] = {"performance_before_tune(us)": before, "performance_after_tune(us)": after}
    if before > 0:
        times["performance_improvement"] = f"{(before - after) / after:.2%}"
    return {**times, "update_mode": update_mode}


class Result:
    """The result file, rewritten whenever something changes."""

    def __init__(self, kind: str, behaviour: str, model_ms: tuple[float, float] = (120.0, 100.0)) -> None:
        where = Path.cwd() if behaviour == "cwd" else Path(os.environ.get("ASCEND_WORK_PATH") or ".")
        self.path = where / f"aoe_result_{kind}_{TIME}_pid{os.getpid()}.json"
        self.kind, self.behaviour, self.model_ms = kind, behaviour, model_ms
        self.changed: dict[str, dict[str, Any]] = {}
        self.failed: list[str] = []
        self.counts = {"add": 0, "update": 0, "reserved": 0, "unsatisfied": 0}

    def document(self, status: str, *, ended: bool, segment: bool = True) -> list[dict[str, Any]]:
        """The file: the status and the model's times come in the end."""
        basic = {"tuning_name": "stand_in", **({"tuning_time(s)": 7} if ended else {})}
        if not segment:
            return [{"basic": basic}]
        counts = self.counts
        hit = counts["reserved"] + counts["update"]
        summary = {
            "total_num": hit + counts["add"] + counts["unsatisfied"],
            "repo_hit_num": hit,
            "repo_reserved_num": counts["reserved"],
            "repo_update_num": counts["update"],
            "repo_add_num": counts["add"],
            "repo_unsatisfied_num": counts["unsatisfied"],
        }
        if self.kind == "sgat":
            return [{"basic": basic}, {"SGAT": self._subgraphs(summary)}]
        body: dict[str, Any] = {"opat_tuning_result": status, "repo_summary": summary}
        if counts["add"] + counts["update"]:
            body["repo_modified_operators"] = list(self.changed.values())
        if self.failed:
            body["tuning_failed_operators"] = self.failed
        if ended and status == "tuning successful":
            body |= _model_times(*self.model_ms)
        return [{"basic": basic}, {"OPAT": body}]

    def _subgraphs(self, summary: dict[str, int]) -> dict[str, Any]:
        changed = {"add_repo_subgraphs": list(self.changed.values())}
        return {**_model_times(6.0, 5.0), "repo_modified_subgraphs": changed, "repo_summary": summary}

    def write(self, status: str, *, ended: bool, segment: bool = True, half: bool = False) -> None:
        """Write the file as it is now."""
        text = json.dumps(self.document(status, ended=ended, segment=segment), indent=1)
        self.path.write_text(text[: len(text) * 2 // 3] if half else text)

    def add(self, operator: Operator, *, update: bool) -> None:
        """Take in an operator whose entry was added or updated: entries of one name become one, with a key a mode."""
        name, op_type = operator.name, operator.op_type
        if self.behaviour == "opat-n":
            name, op_type = name + "_OPAT_0", op_type.lower()
        if self.behaviour == "fused":
            name += name.split("/", maxsplit=1)[0] + "/Relu"
        modes = MODES.get(operator.op_type, ("RL", "AS"))[: 2 if self.behaviour == "modes" else 1]
        for number, mode in enumerate(modes):
            self.counts["update" if update else "add"] += 1
            entry = self.changed.setdefault(name, {"op_type": op_type, "op_name": name, "tune_performance": {}})
            before = 0.0 if operator.claim == "untimed" else operator.us
            after = operator.us if operator.claim == "filler" else operator.claimed_us
            changed = operator.claim != "untimed"  # of a time that is not known nothing is filled in
            update_mode = "update" if update else "add"
            entry["tune_performance"][mode] = times_of(before, after + number, changed=changed, update_mode=update_mode)


def _model_times(before: float, after: float) -> dict[str, float | str]:
    return {
        "model_baseline_performance(ms)": before,
        "model_performance_improvement": f"{(before - after) / after:.2%}",
        "model_result_performance(ms)": after,
    }


def hang() -> None:
    note("ready", os.getpid())
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


def asked_operators(asked: Mapping[str, Any], model: Model, behaviour: str) -> list[Operator]:
    """The operators that are tuned, as the model and the behaviour have them; without a list all of them."""
    if model.operators is not None:
        names = asked.get("tune_ops_name", model.operators if not asked else ())
        types = set(asked.get("tune_ops_type", ()))
        chosen = {name: None for name in names if name in model.operators}
        chosen |= {name: None for name, operator in model.operators.items() if operator.op_type in types}
        return [model.operators[name] for name in chosen]
    found = [(name, "MatMulV2") for name in asked.get("tune_ops_name", [])]
    found += [(f"of_type/{op_type}", op_type) for op_type in asked.get("tune_ops_type", [])]
    if not asked:
        found = [("everything/a", "Add"), ("everything/b", "Mul")]
    operators = [unnamed(name, op_type, number) for number, (name, op_type) in enumerate(found)]
    return [_claimed(operator, _claim(behaviour, number)) for number, operator in enumerate(operators)]


def _claim(behaviour: str, number: int) -> Claim:
    if behaviour in {"failed", "one-failed"} and number == 0:
        return "failed"
    claims: dict[str, Claim] = {
        "filler": "filler",
        "untimed": "untimed",
        "not-better": "not-better",
        "kept-first": "not-better",
    }
    return claims.get(behaviour, "better")


def _claimed(operator: Operator, claim: Claim) -> Operator:
    return Operator(operator.name, operator.op_type, operator.m, us=operator.us, claim=claim)


def tune_operators(asked: Mapping[str, Any], behaviour: str, model: Model) -> Result:
    """Tune operators one after another, as the bank and what is claimed of them say."""
    operators = asked_operators(asked, model, behaviour)
    bank, result, log = Bank(model), Result("opat", behaviour, _model_ms(model)), Log()
    if behaviour == "nothing":
        result.write("", ended=True, segment=False)
        return result
    for number, operator in enumerate(operators):
        there = bank.holds(operator)
        log.compiled(operator, hit=there)
        if (behaviour == "kept-first" and number == 0) or (there and os.environ.get("REPEAT_TUNE") != "True"):
            result.counts["reserved"] += 1
        elif operator.claim == "not-better":
            result.counts["unsatisfied"] += 1
        elif operator.claim == "failed":
            result.failed.append(operator.name)
        else:
            note("tuned", operator.name)
            result.add(operator, update=there)
            if behaviour != "no-bank":
                bank.add(operator)
        result.write("tuning incomplete", ended=False)
        misbehave(behaviour, result)
    status = {"failed": "tuning failed", "incomplete": "tuning incomplete"}.get(behaviour, "tuning successful")
    result.write(status, ended=status != "tuning incomplete")
    return result


def _model_ms(model: Model) -> tuple[float, float]:
    """How long AOE measures the model before and after."""
    if model.operators is None:
        return 120.0, 100.0
    operators = model.operators.values()
    before = sum(operator.us for operator in operators) / 1000
    after = sum(operator.claimed_us if operator.claim == "better" else operator.us for operator in operators) / 1000
    return round(before, 6), round(after, 6)


def make_kernels(options: argparse.Namespace) -> None:
    """Kernels of dumped operators: one file for each dumped one."""
    if options.op_tune_mode not in {"static_kernel", "fast"} or options.precision_mode != "must_keep_origin_dtype":
        fail("EG0003", "op_tune_mode goes with precision_mode=must_keep_origin_dtype")
    if options.op_tune_file is None or not Path(options.op_tune_file).is_dir():
        fail("EG0011", f"{options.op_tune_file} does not exist")
    folder = Path(options.op_tune_kernel_path or "aoe_workspace/op_tune_kernel")
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(Path(options.op_tune_file).glob("*.json")):
        (folder / f"{path.stem}.o").write_bytes(b"simulated kernel")


def tune_subgraphs(behaviour: str, *, reload: bool) -> Result:
    result = Result("sgat", behaviour)
    workspace = Path("aoe_workspace/stand_in_1/tunespace/result")
    if reload and not workspace.is_dir():
        fail("EG0010", "there is no aoe_workspace to reload")
    workspace.mkdir(parents=True, exist_ok=True)
    if behaviour == "nothing":
        result.write("", ended=True, segment=False)
        return result
    times: dict[str, Any] = {
        "performance_after_tune(ms)": 5.0,
        "performance_before_tune(ms)": 6.0,
        "performance_improvement": "20.00%",
        "repo_key": "15294858920613849201",
    }
    result.changed[times["repo_key"]] = times
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
            put(f"{name}={value}")
    if behaviour == "chatty":
        put("\n".join(f"line {number}" for number in range(200_000)))
    if behaviour == "leaves-child":
        child("import time; time.sleep(600)")
    if behaviour in {"daemon", "daemon-hang"}:
        daemon()
    if behaviour in SAID:
        put(SAID[behaviour])
    if behaviour == "eg":
        sys.exit(1)


def end(behaviour: str, result: Result) -> None:
    if behaviour == "no-result":
        result.path.unlink()
    if behaviour == "bad-result":
        result.path.write_text('[{"basic": {"tuning_name": 5}}, {"OPAT": {"opat_tuning_result": "fine"}}]')
    if behaviour in {"old-words", "wrong-claim"}:
        percent = "99.00" if behaviour == "wrong-claim" else "20.00"
        put(f"[Aoe]stand_in process finished. Performance improved by {percent}%")
    elif behaviour != "no-finish":
        put("[Aoe]Aoe process finished,cost time 7s.")
    if behaviour == "exit-1":
        sys.exit(1)


def main() -> None:
    """Be aoe, or one of the programs in which AOE tunes or a bank is used."""
    behaviour, first = os.environ.get("STAND_IN", "succeed"), next(iter(sys.argv[1:]), None)
    if first == "--training":
        training(behaviour)
    elif first == "--compile":
        compile_with_bank(sys.argv[2:])
    else:
        run_aoe(behaviour)


def run_aoe(behaviour: str) -> None:
    """The command aoe."""
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
        put(f"EG0000: unrecognized option {rest[0]}")
        sys.exit(2)
    if options.op_tune_mode and not rest and options.job_type == OPERATORS:
        make_kernels(options)
        put("[Aoe]Aoe process finished,cost time 7s.")
        return
    if (
        rest
        or options.job_type not in {SUBGRAPHS, OPERATORS}
        or (options.model is None) == (options.model_path is None)
    ):
        fail("EG0000", f"Invalid command line argument {rest or sys.argv}")
    if not Path(options.model or options.model_path).exists():
        fail("EG0011", f"{options.model or options.model_path} does not exist")
    if options.job_type == SUBGRAPHS:
        result = tune_subgraphs(behaviour, reload=options.reload)
    else:
        if behaviour == "stage-2-fails":
            fail("EG0013", "Device operation failed")
        asked = json.loads(Path(options.tune_ops_file).read_text()) if options.tune_ops_file else {}
        result = tune_operators(asked, behaviour, read_model(Path(options.model or options.model_path)))
    end(behaviour, result)


def parser_of(taken: tuple[str, ...]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="aoe", exit_on_error=False, allow_abbrev=False)
    for option in taken:
        parser.add_argument(f"--{option}", type=int if option in {"framework", "job_type"} else str)
    for flag in FLAGS:
        parser.add_argument(f"--{flag}", action="store_true")
    return parser


def print_help(taken: tuple[str, ...]) -> None:
    put("usage: aoe <args>")
    for option in taken:
        put(f"  --{option}    see the reference")
    for flag in FLAGS:
        put(f"  --{flag}")


def compile_with_bank(names: Iterable[str]) -> None:
    """A program of the user that runs operators: each is compiled with what the bank in use has for it."""
    bank, log = Bank(Model()), Log()
    for operator in map(unnamed, names):
        log.compiled(operator, hit=bank.holds(operator))


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
        put("in tune mode, training graph handled by tools.")
        put("Aoe tuning graph.")
    if behaviour == "adapter-failed":
        fail("[ERROR] ", "exec aoe tuning func failed[9].")
    config = next(iter(sys.argv[2:]), None)
    asked = json.loads(Path(config).read_text()) if config else {}
    if mode == "1":
        tune_subgraphs(behaviour, reload=False)
    else:
        result = tune_operators(asked, behaviour, Model())
        if behaviour == "no-result":
            result.path.unlink()
    if behaviour == "exit-1":
        sys.exit(1)


if __name__ == "__main__":
    main()
