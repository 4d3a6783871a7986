"""Which cases there are, a group a command: every command that reads files, every fixture, every form, both languages."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from museum.headers import EXHIBITS

from aoe_reports.cli.menu import every_command

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
REAL = ROOT.parent / "shared" / "data"
"""Real files, where somebody has them; they are no part of the project."""

FORMS = ("text", "json", "csv", "markdown", "html")
SHORT = ("text", "json")
"""The forms of what differs little from form to form."""
LANGUAGES = ("en", "zh")
SAME_IN_ALL_LANGUAGES = ("json", "jsonl", "csv", "openmetrics", "grafana", "parquet")
"""Forms for programs; the group `language` tries that they are."""
COMMANDS = ("", *(" ".join(words) for words, _ in every_command()))


def _folders(below: str) -> list[str]:
    """The fixtures below a folder; where a kind of damage has several reasons, each is one."""
    found = [path for path in sorted((FIXTURES / below).iterdir()) if path.is_dir()]
    each = [
        sorted(one for one in path.iterdir() if one.is_dir() and re.fullmatch("[a-z_]+", one.name)) for path in found
    ]
    wanted = [[path] if below.endswith("/valid") else inner or [path] for path, inner in zip(found, each, strict=True)]
    return [str(path.relative_to(FIXTURES)) for path in itertools.chain(*wanted)]


VALID, DAMAGED = _folders("msprof/valid"), _folders("msprof/invalid")
RESULTS, DAMAGED_RESULTS = _folders("aoe/valid"), _folders("aoe/invalid")
RECORDS = ["records/valid", "records/invalid", *_folders("records/invalid")]
ALL_VALID, ALL_DAMAGED = [*VALID, *RESULTS, "records/valid"], [*DAMAGED, *DAMAGED_RESULTS, *RECORDS[1:]]
WHOLE = ["msprof/valid", "msprof/invalid", "aoe/valid", "aoe/invalid", "records", "no/such/place"]
FILES = [
    str(path.relative_to(FIXTURES))
    for path in sorted(FIXTURES.rglob("*"))
    if path.is_file() and path.parent != FIXTURES
]
MUSEUM = {f"museum/{exhibit}/csv": exhibit.table for exhibit in EXHIBITS}


def _case(command: str, *more: str, form: str = "text", language: str = "en") -> str:
    """One line; what is the default is not said."""
    said = [command, *(one for one in more if one)]
    said += ["--format", form] if form != "text" else []
    said += ["--lang", language] if language != "en" else []
    return " ".join(said)


def _cases(
    commands: Iterable[str],
    forms: Iterable[str] = FORMS,
    languages: Iterable[str] = LANGUAGES,
) -> Iterator[str]:
    for command, form, language in itertools.product(commands, forms, languages):
        if language == "en" or form not in (*SAME_IN_ALL_LANGUAGES, "markdown"):  # it has the texts of `text`
            yield _case(command.rstrip(), form=form, language=language)


def _damaged(name: str, paths: Iterable[str], more: str = "") -> Iterator[str]:
    """The most telling forms of what is damaged: the others show the same rows and findings."""
    yield from _cases((f"{name} {path} {more}" for path in paths), SHORT)


def _question(name: str, options: Iterable[str], whole: Iterable[str] = ()) -> Iterator[str]:
    """A question about captures: all forms and languages, and options that matter where there is something to say."""
    yield from _cases(f"{name} {path}" for path in VALID)
    yield from _damaged(name, DAMAGED)
    yield from _cases((f"{name} {path} {option}" for path in VALID for option in options), ("json",))
    yield from _cases((f"{name} {path}" for path in [*whole, *WHOLE, RESULTS[0], "records/valid"]), SHORT)


def _inspect() -> Iterator[str]:
    yield from _cases(f"inspect {path}" for path in ALL_VALID)
    yield from _damaged("inspect", ALL_DAMAGED)
    yield from _cases((f"inspect {path}" for path in WHOLE), SHORT)
    yield from _cases((f"inspect {path}" for path in FILES), ("json",), ("en",))
    yield "inspect msprof/valid/packed --max-expanded 10"


CHECK_FORMS = (*FORMS, "junit", "sarif", "github")


def _check() -> Iterator[str]:
    yield from _cases((f"check {path}" for path in ALL_VALID), FORMS)
    yield from _damaged("check", ALL_DAMAGED)
    yield from _cases((f"check {path}" for path in ALL_DAMAGED[::3]), ("junit", "sarif", "github"), ("en",))
    yield from _cases((f"check {path} --strict" for path in ALL_DAMAGED), ("text",), ("en",))
    yield from _cases(["check msprof/invalid", "check no/such/place"], CHECK_FORMS)
    yield from _cases((f"check {path}" for path in WHOLE), SHORT)
    yield from _cases((f"check {path}" for path in FILES), ("json",), ("en",))
    yield from _cases(
        ("check --rules", "check aoe/invalid --select total-sum", "check aoe/invalid --ignore total-sum", "check"),
        CHECK_FORMS,
    )
    yield from ("check msprof/invalid --select no-such-rule", "check aoe/valid/report_flat --max-size 10")


BANKS = "banks/before", "banks/after", "banks/auto_tune", "banks/tilings", "aoe/valid/gradient_bank"
DAMAGED_BANKS = _folders("banks/invalid")


def _bank() -> Iterator[str]:
    yield from _cases(f"bank {path}" for path in BANKS)
    yield from _cases(f"bank diff {before} {after}" for before, after in itertools.pairwise(BANKS))
    yield from _damaged("bank", DAMAGED_BANKS)
    yield from _damaged("check", DAMAGED_BANKS)
    yield from _cases([f"bank diff banks/before {DAMAGED_BANKS[1]}", "bank diff banks/before no/such/place"], SHORT)
    yield from _cases(["bank msprof/valid/ten_iterations", "bank no/such/place", "bank"], SHORT)
    yield "bank banks/after --rows 2"
    yield from _cases(f"bank {path} --profile banks/profile --soc Ascend910B3" for path in BANKS)
    yield from _cases(["bank banks/after --profile banks/profile --top 3"], SHORT)
    yield from _cases(["bank banks/tilings --profile banks/static_profile --soc Ascend910B3"])
    yield from _cases((f"bank banks/after --profile {path} --soc Ascend910B3" for path in VALID), ("json",))


_STEM = {
    "communication_bandwidth": "communication",
    "l2_cache_counts": "l2_cache",
    "task_time_statistic": "task_time",
    "communication_statistic": "hccl_statistic",
}


def _kinds() -> list[str]:
    kinds = {exhibit.table for exhibit in EXHIBITS}
    timelines = (
        "msprof trace_view task_time_events step_trace_events hccl ai_stack_time_events thread_group runtime_api_events"
        " acl_events ge ge_op_execute_events api event msprof_tx_events"
    )
    documents = "communication communication_bandwidth communication_matrix prof_rule task_time_statistic"
    return sorted({*kinds, *timelines.split(), *documents.split()})


def _table() -> Iterator[str]:
    yield from (
        "table --list",
        "table --list --lang zh",
        "table",
        "table no_such_kind msprof/valid",
        "table op_summary",
    )
    kinds = _kinds()
    for path in [*VALID, *DAMAGED]:
        names = [one.name for one in (FIXTURES / path).rglob("*")]
        held = [k for k in kinds if any(_STEM.get(k, k.removesuffix("_events")) in name or k in name for name in names)]
        yield from _cases((f"table {kind} {path}" for kind in held), ("csv", "json") if path in VALID else ("json",))
        yield from (f"table {kind} {path} --strict --lang zh" for kind in held if path in DAMAGED)
    yield from _cases((f"table {kind} {path}" for path, kind in MUSEUM.items()), ("csv",))
    yield from _cases((f"table {kind} {path[:-3]}json" for path, kind in MUSEUM.items()), ("csv",), ("en",))
    yield from _cases((f"table {kind} msprof/valid" for kind in kinds[::3]), ("csv",))
    for kind in ("op_summary", "step_trace", "gradient_summary"):
        yield f"table {kind} {VALID[0]} -o out/table.csv && show out/table.csv"
        yield f"table {kind} aoe/valid -o out/table.json --format json && show out/table.json"
        yield f"table {kind} msprof/valid/ten_iterations -o out/table.parquet --format parquet"


def _compare() -> Iterator[str]:
    pairs = list(itertools.pairwise(VALID))
    yield from _cases((f"compare {path} {path}" for path in VALID), SHORT)
    yield from _cases(f"compare {a} {b} --force" for a, b in pairs[::2])
    yield from _cases((f"compare {a} {b}" for a, b in pairs), ("json",))
    yield from _damaged(f"compare {VALID[-3]}", DAMAGED, "--force")
    yield from _cases((f"compare {path} {path}" for path in WHOLE), SHORT, ("en",))
    options = [f"--by {by}" for by in ("op_name", "shape", "communication", "step")]
    options += ["--rank 0", "--step 2", "--all-tasks --strict", "--top 1", "--device 1"]
    yield from _cases((f"compare {a} {b} --force {o}" for a, b in pairs for o in options), ("json",))
    yield from _cases((f"compare {a} {b} {a} --force" for a, b in pairs[::4]), SHORT)
    nights = "compare demo/nights/2026-02-01 demo/nights/2026-02-10"
    yield from _cases(f"{nights} {o}" for o in ["", *options[:4]])
    yield from _cases([f"{nights} demo/nights/2026-02-11"])


def _explain() -> Iterator[str]:
    pairs = list(itertools.pairwise(VALID))
    yield from _cases((f"explain {path} {path}" for path in VALID), SHORT)
    yield from _cases(f"explain {a} {b} --force" for a, b in pairs[::2])
    yield from _cases((f"explain {a} {b}" for a, b in pairs), ("json",))
    yield from _damaged(f"explain {VALID[-3]}", DAMAGED, "--force")
    nights = "explain demo/nights/2026-02-01 demo/nights/2026-02-10"
    yield from _cases([nights], ("svg",))
    yield from _cases(f"{nights}{o}" for o in ("", " --top 2", " --rank 0 --strict"))


def _communication() -> Iterator[str]:
    options = ("--rank 0", "--step 2", "--top 1", "--bank aoe/valid/gradient_bank", "--strict", "--pipeline")
    yield from _question("communication", options)
    yield from _cases(["communication msprof/valid/communication_of_four_ranks"], ("svg",))


def _roofline() -> Iterator[str]:
    options = ("--chip Ascend910B2", "--by op_type", "--rank 0 --top 2 --strict")
    yield from _question("roofline", options, ["demo/nights/2026-02-14"])
    yield from _cases(["roofline msprof/valid/merged_two_devices --chip Ascend910B2"], (*FORMS, "svg"))


def _host() -> Iterator[str]:
    yield from _question("host", ("--rank 1", "--strict"))
    yield from _cases(["host timelines", "host timelines --step 8", "host timelines --top 1"])


def _stacks() -> Iterator[str]:
    """The one capture with Python frames; others tell no stacks, which is said."""
    yield from _cases(["stacks planted"], (*FORMS, "svg", "collapsed"))
    yield from _cases((f"stacks planted {one}" for one in ("--step 2 --top 3", "--all-tasks", "--rank 1")), SHORT)
    yield from _cases((f"stacks {path}" for path in [*VALID, "timelines", *WHOLE]), SHORT)
    yield from _damaged("stacks", DAMAGED)
    for by in ("module", "layer", "stack"):
        yield from _cases([f"hotspots planted --by {by}", f"compare planted planted --by {by}"])
        yield from _cases((f"hotspots {path} --by {by}" for path in [*VALID, "timelines"]), ("json",))


def _quality() -> Iterator[str]:
    yield from _question("quality", ("--strict",), ["demo/nights/2026-02-14"])
    yield from _cases(["quality timelines"])
    for name in ("hotspots", "steps", "breakdown"):
        yield from _cases((f"{name} {path} --trim" for path in VALID), ("json",))
        yield from _cases([f"{name} timelines --trim", f"{name} msprof/valid/ten_iterations --trim"], ("text",))
    for name in ("compare", "explain"):
        yield from _cases((f"{name} {path} {path} --trim" for path in VALID), ("json",))


def _ab() -> Iterator[str]:
    sides = "--a demo/nights/2026-01-1* --b demo/nights/2026-02-1*"
    nights = "demo/nights/2026-01-05 demo/nights/2026-02-10"
    other = "msprof/valid/merged_two_devices"
    yield from _cases([f"ab {sides} --margin 0.5%"], (*FORMS, "junit", "sarif", "github"))
    yield from _cases([f"ab {nights}", f"ab {nights} --store demo/history"], SHORT)
    gates = ("--metric step --fail-on not-proved-same", "--gate scope=op_type,effect>=50% --fail-on never")
    yield from _cases([f"ab {sides} {more}" for more in gates], ("text",))
    yield from _cases((f"ab {other} {path}" for path in [*VALID, *DAMAGED, "no/such/place"]), ("json",))


def _serving() -> Iterator[str]:
    yield from _question("serving", (), ["serving"])
    yield from _cases(["serving serving"])
    yield from _cases((f"hotspots serving --phase {phase}" for phase in ("prefill", "decode", "outside")), SHORT)


def _memory() -> Iterator[str]:
    yield from _question("memory", ("--strict",), ["memory/training"])
    yield from _cases(["memory memory/training"], (*FORMS, "svg"))
    yield from _cases(
        (f"memory memory/training {one}" for one in ("--step 14 --rank 1", "--top 2", "--device 1 --strict")), SHORT
    )


def _collect() -> Iterator[str]:
    frameworks = ("tf1-estimator", "tf1-session", "tf2", "pytorch", "mindspore", "vllm", "msprof", "msprof-op")
    questions = ("hotspots", "steps", "timeline", "communication", "tuning")
    asked = [f"collect --framework {a} --for {b}" for a, b in itertools.product(frameworks, questions)]
    checked = ["", "{}", '{"output": "/tmp", "task_trace": "on"}', '{"task_trace": "of", "no": 1}', "{", '{"l2": "on"}']
    asked += [f"collect --check {shlex.quote(text)}" for text in checked]
    asked += [f"collect --framework tf2 --strict --check {shlex.quote(text)}" for text in checked]
    yield from _cases(["collect", *asked], ("text", "json", "markdown"))


def _normalize() -> Iterator[str]:
    paths = [*ALL_VALID, *ALL_DAMAGED, *WHOLE]
    yield from _cases((f"ingest --dry-run {path}" for path in paths), ("text",))
    told = "--workload net --hardware Ascend910B --engine-version 8.0 --tz Asia/Shanghai"
    options = (told, f"{told} --raw 100 --strict", "--workload-from folder", "--workload-from */{workload}")
    yield from _cases(
        (f"ingest --dry-run {path} {option}" for path in ALL_VALID for option in options), ("text",), ("en",)
    )
    for path in ALL_VALID:
        yield f"ingest --dry-run {path} -o out/records.jsonl && show out/records.jsonl"
        yield f"ingest --dry-run {path} -o out/records.json && show out/records.json"
        yield f"ingest --dry-run {path} -o out/records.parquet"
    yield "ingest --dry-run demo/nights --workload net"
    for option in (
        "--by-module",
        "--by-module --module-series 13",
        "--by-module --module-series 1 --by-phase --lang zh",
    ):
        yield f"ingest --dry-run planted --workload net {option}"
    yield "ingest --dry-run serving --workload net --by-phase --raw 4"


def _ingest() -> Iterator[str]:
    s = "--store out/s"
    told = "--workload net --hardware Ascend910B --engine-version 8.0 --tz UTC"
    yield from _cases(f"ingest {path} {s}" for path in [*VALID, *RESULTS[:2], "msprof/valid"])
    yield from _cases((f"ingest {path} {s}" for path in [*RESULTS[2:], "records/valid"]), SHORT)
    yield from _cases((f"ingest {path} {s}" for path in ALL_DAMAGED), ("text",))
    for path in [*ALL_VALID, *WHOLE, *ALL_DAMAGED]:
        # as json, records of one series at one time come in the order of the store's files, whose names are random: where
        # several runs may be of one time they are listed as jsonl, which is in order of runs
        form = "json" if path in ALL_VALID else "jsonl"
        rows = f"store history runs {s} --format json && store history records {s} --format {form} && store history advice {s} --format json"
        yield f"ingest {path} {s} {told} --strict && {rows} && store verify {s}"
    for path in ALL_VALID[::2]:
        yield f"ingest {path} {s} {told} --raw 1000 && store history records --format jsonl {s}"
        yield f"ingest {path} {s} && ingest {path} {s} && ingest {path} {s} --renew --lang zh && store info {s} --format csv"
    for path, option in (
        ("planted", "--by-module"),
        ("planted", "--by-module --rank-series 0"),
        ("serving", "--by-phase"),
    ):
        yield f"ingest {path} {s} {told} {option} && store history records --format jsonl {s}"


def _nightly() -> Iterator[str]:
    s = "--store out/s"
    forms = ("text", "json", "markdown", "html")
    yield from _cases((f"nightly {path} {s} --workload w --tz UTC" for path in [*VALID, *RESULTS[:2]]), forms)
    yield from _cases((f"nightly {path} {s} --workload w" for path in ALL_DAMAGED), SHORT)
    yield from _cases((f"nightly {path} {s} --strict --strict-data" for path in [*ALL_VALID, *WHOLE]), ("json",))
    options = ("", "--gate scope=step,effect>=3%", "--fail-on suspect", "--fail-on never", "--baseline nights:7")
    one = "copy demo/before out/s && nightly demo/nights/2026-02-14 --store out/s --workload simulated-convnet"
    one += " --hardware simulated-npu --engine-version simulated --tz UTC"
    yield from _cases(
        (f"{one} {shlex.quote(o) if '>' in o else o}".replace("'--gate ", "--gate '") for o in options), forms
    )
    yield f"{one} --site out/site && show out/site out/site/report.md out/site/index.json"
    yield f"{one} --site out/site --lang zh && show out/site out/site/report.md"


def _history() -> Iterator[str]:
    s = "--store demo/history"
    forms = ("text", "json", "jsonl", "csv", "markdown", "html")
    rows = ("runs", "records", "changes", "acks", "advice", "verdicts", "observations")
    yield from _cases((f"store history {what} {s}" for what in rows), forms)
    yield from _cases((f"store history {what} {s} --last 3" for what in rows), forms)
    more = ("--scope step", "--scope op", "--since 2026-02-10", "--workload simulated-convnet", "--workload no")
    yield from _cases((f"store history {what} {s} {o}" for what in rows for o in more), ("text", "json", "jsonl"))
    run = "20260207T020000-5c20c195"
    yield from _cases((f"store history {what} {s} --run {run}" for what in ("runs", "records", "advice")), forms)
    yield from _cases(("store history --store no/such/store", "store history records --store aoe"), SHORT)


def _regressions() -> Iterator[str]:
    s = "--store demo/history"
    forms = (*FORMS, "junit", "sarif", "openmetrics", "grafana")
    options = (
        "", "--all", "--whole-history", "--scope step", "--scope op --all", "--fail-on suspect", "--fail-on never",
        "--strict-data", "--baseline nights:10", "--baseline window:2026-01-01..2026-01-20", "--baseline tag:no",
        "--baseline run:20260120T020000-00000000", "--max-false-alarms-per-year 1", "--gate 'scope=step,effect>=3%'",
        "--gate 'scope=op,effect>=3%'", "--workload simulated-convnet/step", "--gate nonsense",
    )  # fmt: skip
    yield from _cases((f"regressions {s} {option}".rstrip() for option in options), forms)
    yield "copy demo/before out/s && regressions --store out/s --record && store history changes --store out/s --format json"
    yield from _cases(("regressions --store no/such/store", "regressions --store demo/before --all"), forms)


def _acknowledge() -> Iterator[str]:
    ready, s = "copy demo/history out/s && ", "--store out/s"
    after = f" && store history acks {s} --format json && regressions {s} && report {s} && store verify {s}"
    for subject in ("61f0d88642bea94a", "a83a717cf22a10b8", "20260207-342173c4", "no-such-thing"):
        for command in _cases([f"store ack {subject} --reason 'as agreed' {s}"], FORMS):
            yield ready + command
        yield f"{ready}store ack {subject} --reason why --who me {s}{after}"
        yield f"{ready}store ack {subject} --reason why {s} && store ack {subject} --revoke --reason not {s}{after}"
    for change in ("5%", "0..5%", "-3%..5%", "nonsense"):
        expected = f"store expect simulated-convnet --from 2026-02-05 --change {change} --reason 'new kernel' {s}"
        for command in _cases([expected], FORMS):
            yield ready + command
        yield f"{ready}{expected}{after}"
        yield f"{ready}{expected} --until 2026-02-08 --who me{after} --lang zh"
    for run in ("20260207T020000-5c20c195", "no-such-run"):
        for command in _cases([f"store tag good --run {run} {s}"], FORMS):
            yield ready + command
        yield f"{ready}tag good --run {run} {s}{after} && regressions {s} --baseline tag:good"


def _report() -> Iterator[str]:
    s = "--store demo/history"
    options = ("", "--night 2026-02-07", "--night 2026-01-14", "--night 2030-01-01", "--workload simulated-convnet")
    options = (*options, "--strict-data", "--max-false-alarms-per-year 1", "--workload no")
    yield from _cases((f"report {s} {option}".rstrip() for option in options), ("text", "json", "markdown", "html"))
    yield from _cases(("report --store demo/before", "report --store no/such/store"), ("text", "json"))


def _site() -> Iterator[str]:
    for store in ("demo/history", "demo/before", "no/such/store"):
        for language in LANGUAGES:
            yield f"site -o out/site --store {store} --lang {language} && show out/site"
    yield "site -o out/site --store demo/history --format json && show out/site/index.json out/site/tuning.json"
    for path in VALID:
        yield f"ingest {path} --store out/s --workload w && site -o out/site --store out/s && show out/site"


def _store() -> Iterator[str]:
    s = "--store demo/history"
    yield from _cases((f"store info {s}", f"store verify {s}", "store info --store no", "store verify --store no"))
    ready, s = "copy demo/history out/s && ", "--store out/s"
    for command in _cases([f"store undo 20260207T020000-5c20c195 {s}", f"store undo no {s}"], FORMS):
        yield f"{ready}{command} && store history --last 2 {s} && store verify {s}"
    for command in _cases([f"store compact {s}", f"store vacuum {s}"], FORMS):
        yield f"{ready}{command} && store verify {s}"


_CANDIDATES = ("", "--mode sgat", "--mode both", "--scenario offline --model m.onnx --framework 5")
_WISHES = (
    *_CANDIDATES, "--mode gdat", "--budget 10", "--top 2", "--min-share 0.2", "--assume-static", "--rank 0", "--soc Ascend910B",
    "--results aoe/valid", "--repeat-tune --results aoe/valid", "--scenario tf-training", "--scenario ir-graph --model-path .",
)  # fmt: skip


PLANNED = {wish: f"copy demo/plan-{number} out/p" for number, wish in enumerate((*_CANDIDATES, "--soc Ascend910B"))}
"""Plans that are made once, by what they were asked for."""


def _plan() -> Iterator[str]:
    yield from _cases(f"plan {path} -o out/p" for path in VALID)
    yield from _cases((f"plan {path} -o out/p" for path in [*DAMAGED, *WHOLE]), SHORT)
    yield from _cases((f"plan {path} -o out/p {wish}" for path in VALID for wish in _WISHES[1:]), ("json",), ("en",))
    plan = "plan demo/nights/2026-02-14 -o out/p"
    yield from _cases(f"{plan} {wish}".rstrip() for wish in _WISHES)
    for path, wish in itertools.product(("demo/nights/2026-02-14", "msprof/valid/mindspore", VALID[-2]), _CANDIDATES):
        yield f"plan {path} -o out/p {wish} && show out/p out/p/plan.json out/p/run.sh out/p/remeasure.sh"
        yield f"plan {path} -o out/p {wish} --lang zh && show out/p out/p/plan.md"


HOST = {
    "home": "/home/me",
    "home_free_bytes": 20_000_000_000,
    "memory_available_bytes": 64_000_000_000,
    "cpu_count": 96,
    "usable_cpu_count": 96,
    "npu_count": 8,
    "device_users": 0,
    "environment": {},
    "tuning_parallel_num": 8,
    "aoe": "/usr/local/Ascend/bin/aoe",
    "aoe_options": ["--framework", "--job_type", "--model", "--model_path", "--tune_ops_file", "--Fdeeper_opat"],
    "cube_cores": 20,
    "vector_cores": 40,
    "device_memory_free": [34_359_738_368, 17_179_869_184],
    "bank": "/bank",
    "bank_access": "rwx",
    "folder": "/plan",
    "folder_writable": True,
}
"""A described host: what is seen on this machine is not the same on the next."""
_HOSTS = (HOST, HOST | {"home_free_bytes": 1, "cpu_count": 2, "usable_cpu_count": 1}, {}, {"cpus": 3})


def _preflight() -> Iterator[str]:
    declared = "--declare processes=1,model_memory=8GB,profiling=off,static_shapes=yes,devices=1"
    for host, wish in itertools.product(_HOSTS, _CANDIDATES):
        ready = f"{PLANNED[wish]} && write out/host.json {shlex.quote(json.dumps(host))} && "
        for command in _cases([f"tune check out/p --host out/host.json {declared}"]):
            yield ready + command
        for command in _cases((f"tune check out/p --host out/host.json {o}" for o in ("", "--strict")), SHORT):
            yield ready + command
    yield "tune check out/p"


def _tune() -> Iterator[str]:
    """Only what would be run: what running takes differs each time."""
    for wish in _CANDIDATES:
        for command in _cases(
            ("tune run out/p --dry-run", "tune run out/p --dry-run --model x.onnx --soc Ascend910A --bank empty")
        ):
            yield f"{PLANNED[wish]} && {command}"
    yield "tune run out/p --dry-run"


def _verify() -> Iterator[str]:
    s = "--store out/s"
    ready = f"{PLANNED['']} && "
    options = ("", "--accept all", "--accept partly", "--accept step", "--force", "--strict", "--device 0")
    results = ("demo/nights/2026-01-28/aoe", "aoe/valid/report_grouped", "aoe/valid/array_subgraphs", "aoe/invalid")
    for option, after in itertools.product(options, ("2026-02-14", "2026-01-29")):
        asked = f"verify out/p --after demo/nights/{after} --results {results[0]} {option}".rstrip()
        for command in _cases([asked]):
            yield ready + command
    for result, before in itertools.product(results, ("demo/nights/2026-01-01", *VALID)):
        asked = f"verify out/p --after {before} --before {before} --results {result} --force"
        for command in _cases([asked], SHORT, ("en",)):
            yield ready + command
    stored = f"{ready}verify out/p --after demo/nights/2026-02-14 --results {results[0]} --workload net {s}"
    yield f"{stored} && show out/p out/p/verify.json && store history verdicts {s} && store history verdicts {s} --format json"
    yield f"{stored} --lang zh && store history verdicts {s} --lang zh"
    yield "verify out/p --after msprof/valid/mindspore"
    sides = "demo/nights/2026-01-01 demo/nights/2026-02-14"
    claimed = f"verify --claims {results[0]} {sides}"
    yield from _cases((claimed, f"{claimed} --accept all", f"verify --claims claims/valid {sides}"))
    kernels = "msopprof/valid/two_kernels/OPPROF_20260110083105456_ABCDEFGHIJKLMNOP"
    for result in (
        "msoptuner/valid",
        "triton/valid",
        "triton/valid/printed/train.log",
        "claims/invalid",
        "aoe/invalid",
    ):
        yield from _cases([f"verify --claims {result} {kernels} msopprof/valid/two_kernels"], SHORT)


def _adopt() -> Iterator[str]:
    """Only what would be replaced."""
    bank = "write out/p/bank/Ascend910B/a.json {} && write out/old/Ascend910B/b.json {} && "
    verdict = 'write out/p/verify.json \'{"format_version": 1, "verdict": "confirmed"}\' && '
    for ready in ("", bank, bank + verdict):
        for command in _cases(
            f"tune adopt out/p --to out/old --dry-run {o}" for o in ("", "--force", "--soc Ascend910A")
        ):
            yield f"{PLANNED['--soc Ascend910B']} && {ready}{command}"


def _trace() -> Iterator[str]:
    whole = "--from +0 --to +100000000000"
    yield from _cases((f"trace {path} {whole}" for path in VALID), ("text",), ("en",))
    yield from _cases((f"trace {path} {whole}" for path in [*DAMAGED, *WHOLE]), ("text",))
    yield from _cases((f"trace {path} --step 3" for path in VALID), ("text",), ("en",))
    yield from _cases(
        f"trace timelines {options}"
        for options in ("", "--step 7", "--step 9", "--rank 1", "--rank 7", "--around no-such-rule", "--from 1 --to 2", "--from x --to 2")
    )  # fmt: skip
    yield "trace timelines msprof/valid/ten_iterations_timeline --from +0 --to +20000000"
    yield "trace timelines --step 7 -o out/cut.json && show out/cut.json"


def _help() -> Iterator[str]:
    for command, language in itertools.product(COMMANDS, LANGUAGES):
        yield " ".join(one for one in ("--lang", language, command, "--help") if one)
    yield from ("--version", "no-such-command", "hotspots", "hotspots --format xml msprof", "--lang xx hotspots msprof")


def _config() -> Iterator[str]:
    text = "hotspots.top = 3"
    for command in _cases(("doctor --options", "doctor --options --all")):
        yield command
        yield f"write out/c.toml {shlex.quote(text)} && --config out/c.toml {command}"


def _demo() -> Iterator[str]:
    yield "demo -o out/demo && show out/demo/nights out/demo/site"
    yield "demo -o out/demo --lang zh && show out/demo/site"


_CAPTURES = (
    "msprof_2023-08", "msprof_2026-06", "mindspore_profiler", "name_patterns", "opprof_2026", "torch_npu_2023-09",
    "torch_npu_2025-01/text/level0", "torch_npu_2025-01/text/level1", "torch_npu_2025-01/text/level2",
    "torch_npu_2025-01/db/level0", "torch_npu_2025-01/db/level1", "torch_npu_2025-01/db/level2",
)  # fmt: skip


def _real() -> Iterator[str]:
    names = ("hotspots", "steps", "breakdown", "communication", "advise", "inspect", "check")
    yield from _cases((f"{name} real/msprof/{one}" for name in names for one in _CAPTURES), SHORT, ("en",))
    yield from _cases((f"critical-path real/msprof/{one}" for one in _CAPTURES if "name" not in one), SHORT, ("en",))
    yield from _cases((f"ingest --dry-run real/msprof/{one}" for one in _CAPTURES), ("text",), ("en",))
    folders = ("aoe/doc_samples", "aoe/gdat_bank", "aoe/bank_2021", "aoe")
    yield from _cases((f"{name} real/{one}" for name in ("inspect", "check") for one in folders), SHORT)
    yield from _cases((f"ingest --dry-run real/{one}" for one in folders), ("text",))
    profiles = (f"bank real/aoe/bank_2021 --soc Ascend310 --profile real/msprof/{one}" for one in _CAPTURES)
    yield from _cases(profiles, SHORT, ("en",))
    yield from _cases(["bank real/aoe", "bank diff real/aoe/bank_2021 real/aoe/gdat_bank"], SHORT)


def _timelines() -> Iterator[str]:
    """The one capture with timelines of the whole device."""
    names = ("hotspots", "steps", "breakdown", "communication", "advise", "inspect", "check")
    yield from _cases(f"{name} timelines" for name in names)
    yield from _cases(
        f"breakdown timelines {one}" for one in ("--rank 1", "--step 7", "--device 1", "--gaps 2", "--gaps 0")
    )
    yield from _cases(f"critical-path timelines{one}" for one in ("", " --step 7 --top 2 --shorten 20 --by op_name"))
    yield from _cases(["critical-path timelines"], ("svg",))
    yield from _cases((f"{name} timelines --strict" for name in names), ("text",))
    yield from _cases(["explain timelines timelines"])
    yield from ("ingest --dry-run timelines", "table trace_view timelines", "compare timelines timelines --by step")
    yield "nightly timelines --store out/s --workload w --site out/site && show out/site out/site/report.md"


_BYS = ("--by op_name", "--by shape", "--all-tasks", "--rank 1", "--device 1", "--step 2", "--top 1", "--strict")
_FILTERS = ("--rank 0", "--rank 1", "--device 1", "--step 2", "--strict")
CASES: dict[str, list[str]] = {
    name: list(dict.fromkeys(made))
    for name, made in {
        "check": _check(),
        "inspect": _inspect(),
        "bank": _bank(),
        "table": _table(),
        "hotspots": _question("hotspots", _BYS, ["demo/nights/2026-02-14"]),
        "steps": _question("steps", _FILTERS, ["demo/nights"]),
        "breakdown": _question("breakdown", (*_FILTERS, "--gaps 1", "--gaps 0"), ["demo/nights/2026-02-14"]),
        "critical-path": _question("critical-path", ("--rank 1", "--strict")),
        "host": _host(),
        "communication": _communication(),
        "stragglers": _question("stragglers", ("--top 1", "--strict"), ["demo/nights/2026-02-14"]),
        "compare": _compare(),
        "explain": _explain(),
        "ab": _ab(),
        "roofline": _roofline(),
        "stacks": _stacks(),
        "quality": _quality(),
        "serving": _serving(),
        "memory": _memory(),
        "trace": _trace(),
        "advise": _question("advise", (*_FILTERS, "--top 1"), ["demo/nights/2026-02-14"]),
        "collect": _collect(),
        "plan": _plan(),
        "preflight": _preflight(),
        "tune": _tune(),
        "verify": _verify(),
        "adopt": _adopt(),
        "normalize": _normalize(),
        "ingest": _ingest(),
        "nightly": _nightly(),
        "history": _history(),
        "regressions": _regressions(),
        "acknowledge": _acknowledge(),
        "report": _report(),
        "site": _site(),
        "store": _store(),
        "config": _config(),
        "demo": _demo(),
        "help": _help(),
        "timelines": _timelines(),
        "real": _real(),
    }.items()
}
"""Keys of cases, by group."""

_NIGHTS = [f"2026-01-{day:02}" for day in range(1, 32)] + [f"2026-02-{day:02}" for day in range(1, 14)]
_TOLD = "--workload simulated-convnet --hardware simulated-npu --engine-version simulated --tz UTC"
DEMO = (
    "demo -o demo",
    f"ingest --store demo/before {_TOLD} {' '.join(f'demo/nights/{night}' for night in _NIGHTS)}",
    *(f"plan demo/nights/2026-01-28 -o {copy.split()[1]} {wish}" for wish, copy in PLANNED.items()),
)
"""What makes the store of all simulated nights, the one without the last of them, and plans."""


def _full() -> Iterator[tuple[str, str]]:
    rich = {
        "inspect": ("inspect msprof/valid/exports_of_2022", FORMS),
        "check": ("check msprof/invalid", CHECK_FORMS),
        "bank": ("bank banks/after", FORMS),
        "bank-diff": ("bank diff banks/before banks/after", FORMS),
        "hotspots": ("hotspots msprof/valid/merged_two_devices", FORMS),
        "steps": ("steps msprof/valid/cluster_of_two_ranks", FORMS),
        "breakdown": ("breakdown timelines", FORMS),
        "critical-path": ("critical-path timelines", FORMS),
        "host": ("host timelines", FORMS),
        "communication": ("communication msprof/valid/communication_of_four_ranks", FORMS),
        "stragglers": ("stragglers msprof/valid/two_devices_by_name", FORMS),
        "compare": ("compare demo/nights/2026-02-01 demo/nights/2026-02-10", FORMS),
        "explain": ("explain demo/nights/2026-02-01 demo/nights/2026-02-10", FORMS),
        "ab": ("ab --a demo/nights/2026-01-1* --b demo/nights/2026-02-1* --margin 0.5%", FORMS),
        "roofline": ("roofline msprof/valid/merged_two_devices --chip Ascend910B2", FORMS),
        "stacks": ("stacks planted", FORMS),
        "quality": ("quality msprof/valid/ten_iterations", FORMS),
        "serving": ("serving serving", FORMS),
        "memory": ("memory memory/training", FORMS),
        "advise": ("advise msprof/valid/communication_of_four_ranks", FORMS),
        "collect": ("collect --framework pytorch --for communication", ("text", "json", "markdown")),
        "plan": ("plan demo/nights/2026-02-14 -o out/p", FORMS),
        "normalize": ("ingest --dry-run msprof/valid/merged_two_devices", ("text",)),
        "ingest": ("ingest msprof/valid --store out/s", FORMS),
        "history": ("store history changes --store demo/history", FORMS),
        "regressions": ("regressions --store demo/history", (*FORMS, "junit", "sarif", "openmetrics", "grafana")),
        "report": ("report --store demo/history", ("text", "json", "markdown", "html")),
        "nightly": (
            "nightly msprof/valid/torch_npu_two_ranks --store out/s --workload w --tz UTC",
            ("text", "json", "markdown", "html"),
        ),
        "config": ("doctor --options", ("text", "json")),
    }
    for name, (command, forms) in rich.items():
        for form in forms:
            yield f"{name}.{form}.txt", _case(command, form=form)
        yield f"{name}.text.zh.txt", _case(command, language="zh")
    yield "table.csv.txt", "table op_summary msprof/valid/merged_two_devices --format csv"
    yield "table.json.txt", "table op_summary msprof/valid/merged_two_devices --format json"


FULL = dict(_full())
CASES["language"] = [
    f"{key} --lang zh"
    for name, key in FULL.items()
    if name.split(".")[1] in SAME_IN_ALL_LANGUAGES and "--lang" not in key
]
"""Which cases have a file with the whole of what they print."""
