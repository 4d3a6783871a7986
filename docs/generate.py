"""Writes the generated parts of docs/ from the registries and from --help; `--check` only says what is out of date."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path

from aoe_reports.cli.main import run_app
from aoe_reports.cli.menu import ALIASES, ROOT, every_command
from aoe_reports.engine.question import Question
from aoe_reports.formats.ascend.tables import TIMELINES
from aoe_reports.formats.table import Table
from aoe_reports.formats.vendor import VENDORS
from aoe_reports.jobs.rules import list_rules
from aoe_reports.present import RENDERERS
from aoe_reports.present.schema import schema_of_answers
from aoe_reports.questions.advice.registry import RULES
from aoe_reports.questions.advice.thresholds import list_thresholds
from aoe_reports.schema.store_tables import GROUPS as SQL_GROUPS
from aoe_reports.schema.table import Table as SqlTable

DOCS = Path(__file__).parent
NOTE = "<!-- written by docs/generate.py: change the source, then run `make docs` -->\n\n"


def tables() -> str:
    """Every table with its columns and headers, vendor by vendor."""
    parts = [
        NOTE,
        "# Tables\n\nEvery kind of table that is read, from the declarations in `src/aoe_reports/formats/`: a folder a vendor.\n",
    ]
    for vendor in VENDORS.values():
        parts += [_table(table) for table in vendor.tables.values()]
    parts.append("\n## Timelines\n\n| kind | holds | written by | events as a table |\n|---|---|---|---|\n")
    for name, kind in TIMELINES.items():
        asked = f"{name}_events" if name in VENDORS["ascend"].tables else name
        parts.append(f"| {name} | {kind.title} | {kind.source} | `table {asked}` |\n")
    return "".join(parts)


def _table(table: Table) -> str:
    """One table: who writes it, and its columns."""
    dates = ", ".join(sorted({date for date, _ in table.vintages}))
    seen = f"; headers of {dates}" if dates else ""
    writer = "msprof and torch_npu" if table.source == "both" else table.source
    files = ", ".join(f"`{name}`" for name in table.called or [f"{word}*" for word in table.file_kinds])
    parts = [
        f"\n## {table.name}\n\n{table.title}. Files {files}, written by {writer}{seen}.\n\n",
        "| column | headers (newest first, without unit) | type | |\n|---|---|---|---|\n",
    ]
    for column in table.columns:
        headers = ", ".join(f"`{header}`" for header in column.headers)
        need = "needed in every row" if column.needed else "optional" if column.optional else ""
        parts.append(f"| `{column.field}` | {headers} | {column.type} | {need} |\n")
    for derived in table.derived:
        of = ", ".join(f"`{name}`" for name in derived.of)
        parts.append(f"| `{derived.column.field}` | | {derived.column.type} | derived from {of} |\n")
    return "".join(parts)


def sql_tables() -> str:
    """Every table that a query can name, with its columns."""
    parts = [
        NOTE,
        "# Tables of SQL\n\nWhat [`sql`](sql.md) queries; `aoe-reports sql --tables` prints the same. `convert` writes the tables of captures.\n",
    ]
    for of, tables in SQL_GROUPS.items():
        parts.append(f"\n## Tables of {of}\n")
        parts += map(_sql_table, tables.values())
    return "".join(parts)


def _sql_table(table: SqlTable) -> str:
    key = f" Key: {', '.join(f'`{name}`' for name in table.key)}." if table.key else ""
    parts = [
        f"\n### {table.name}\n\n{table.comment}{key}\n\n| column | type | content | refers to |\n|---|---|---|---|\n"
    ]
    for column in table.columns:
        refers_to = f"`{column.refers_to}`" if column.refers_to else ""
        parts.append(f"| `{column.name}` | {column.type} | {column.comment} | {refers_to} |\n")
    return "".join(parts)


def rules() -> str:
    """Every rule with severity and reason."""
    parts = [NOTE, "# Rules\n\nEvery rule that a finding can name; `aoe-reports check --rules` prints the same.\n\n"]
    parts.append("| rule | severity | on | reason | source |\n|---|---|---|---|---|\n")
    parts += [f"| `{r.rule}` | {r.severity} | {r.on} | {r.reason} | {r.source} |\n" for r in list_rules()]
    return "".join(parts)


ADVICE = """# Advice

`aoe-reports advise PATH…` shows for each device a step breakdown, where to look first, and the potential gains: a
ranked list, the largest upper bound first. The list may be empty.

## Upper bounds

`bound_us` is the maximum by which one piece of advice could shorten a step, in us per step (a mean over the
steps of the capture; a capture without steps counts as one step). It is not a forecast. Bounds do not add up, because one
operator may have several. `bound_share` is its share of the step.

| advice on | bound |
|---|---|
| operators | T x (1 - A x U): device time T, share A of it in which cube or vector worked, share U of the cores that its blocks keep busy. The arithmetic remains, everything else is hidden or removed, and all cores work. Without counters A is 0, and the bound is the operator's own time (Amdahl). At most `bound_saving_us` |
| AI CPU operators, conversions | all of their device time, at most `bound_saving_us` |
| waiting, small kernels, shapes | idle time before the tasks, at most the free time of a step |
| communication, free time | the time in the step table |
| waits for the host (`host-*`), steps of optimizers | idle time of that cause by the timeline, at most the free time of a step of the step table; where tasks tell the steps, with the time between these |
| sequences that a fused operator replaces | from the first begin to the last end of each occurrence, without its longest task; at most what these tasks, and the time between them, are of the critical path |
| operators by the roof (`far-from-roof`, `near-roof`) | T x (1 - R), with R the share of the roof that is certain; of calls shorter than 10 us all of T. What a smaller data type or fusing gains is beyond it |
| contention | what calls beside communication would have taken less without, at most `bound_saving_us` |

`bound_saving_us` (in `headlines`) is the limit for all tuning of operators: computing that is not overlapped by communication. Operators
do not change communication and free time, so a step cannot become shorter than these. Work that overlaps a single operator is
not considered, because all later tasks begin earlier when an operator becomes shorter. Communication keeps its
measured duration; if one rank waits for another, see `slow-rank`.

The step breakdown comes from the first available source, which `source` in `headlines` names:

1. `step_trace_time`
2. unions of the task intervals (on the real exports equal to 0.02 us per step)
3. a timeline, if the tasks contain no communication and other files do
4. none: the bounds are those of the operators' own time

## What bounds an operator

| `bound_by` | condition |
|---|---|
| cube, vector, scalar, mte1, mte2, mte3, fixpipe | the unit with the highest ratio of cycles, if this ratio is above `bound_ratio` |
| `none` | no ratio is above `bound_ratio`, and transfers were also measured |
| `memory-bandwidth` | only bandwidths were measured (aic_metrics Memory) |
| `ai-cpu` | the operator runs on the AI CPU |
| `unknown` | otherwise |

- **Ratios** are means over the calls, weighted by their time. For a task on both kinds of cores, the core that works longer
  decides. Columns with `aic_`, with `aiv_` and without a prefix are treated alike. `aic_metrics` ArithmeticUtilization contains
  only cube and vector, so the result is never `none`.
- **Blocks** run on the cores in rounds: U = blocks / (rounds x cores). On real exports an operator of 256 blocks on 48 cores
  kept 42.67 of them busy, as this formula predicts.
- **Cores** and their rated frequency come from `info.json`. Without this file, the number of cores is the largest number of blocks that the
  counters show at work at once, which is a lower limit. Without counters, it is the number of blocks used for at least half
  of the time (`usual_blocks`).
- **Frequency** is cycles / time / cores at work (1800.0 MHz for every task of the real exports).
- **Shapes** are dynamic according to `OP State`. If the export does not have it, the files that msprof writes only for models with dynamic shapes
  decide (`thread_group_*`, `ge_op_execute_*`). Otherwise the state is unknown, never static.

## What other questions find out

| advice | facts of | read where |
|---|---|---|
| `host-launching`, `host-synchronisation`, `host-copying`, `host-data-loading`, `host-compilation`, `host-garbage-collection` | `host`: what the threads that launch were in while the device was idle | free time takes `least_step_share` of a step, or the operators of a sequence with a fused form take as much, or the timeline is read anyway |
| `fused-optimizer`, `fusible-sequence` | `host` (calls, sequences by the API reference of torch_npu), `critical-path` where a sequence could save `least_step_share` | as above |
| `far-from-roof`, `near-roof` | `roofline`: FLOPs and bytes by formula, peaks of the chip | the capture names a chip (or a family) whose bandwidth is public (see docs/roofline.md), or `--chip`, `--peak-tflops` and `--peak-gb-per-s` tell |
| `contention` | `communication --contention` | `least_step_share` of a step is computing beside communication, and the table of tasks has communication |
| a caveat (`trimmed`) | `quality`: warm-up, tear-down | the capture has a table of steps |

No timeline is read for anything else, and a capture without one (or without tables) is told what the rest tells. An operator that certainly reaches 80% of its roof
is in no rule that sends it to a tuner: `near-roof` says so instead, of those that take `repeated_share` of computing. What AOE does not tune (operators that torch_npu runs
through aclnn, dynamic shapes) is told as such where a tuned tiling is what to try. `evidence` names the file (`source`). `ingest`
stores advice without these rules: it reads no timeline for advice.

## Beside msprof-analyze

What `msprof-analyze advisor all` (26.2.0 from PyPI) and this package say of the same public captures of torch_npu: one job of eight ranks of 910B of 2025-01
(ranks 0 and 1, as text and as databases, levels 0 to 2; a step of AlexNet) and rank 0 of one of 2023-09. Figures are of rank 0, level 1, if nothing else is said.

| topic | msprof-analyze | here | who is right, and why |
|---|---|---|---|
| parts of the step, text | 136.581 ms: computing 8.874, communication 101.963, free 25.744 | the same | both: it is the profiler's own table |
| the same, database (level 2) | 129.206 ms, free 30.225 | 124.220 ms, free 25.239 (`breakdown`, `steps`, `advise`) | here: `StepTraceTime` of the capture has these figures, and so have its tasks |
| why communication takes 75% | transfer 101.963 ms, waiting 0.000 ms | `awaited-rank`: in 3 of 3 operators the ranks wait for rank 5, which was not read, up to 101.6 ms; transit is 3.7 ms of 106.0 | here: the `Notify_Wait` tasks of the timeline name the peer |
| slow ranks, links | no slow node; 15.65 and 15.50 GB/s | no slow rank of the two that were read; no slow link | both, of the two ranks; that a third is awaited is said here only |
| alignment | "2 operators are unaligned, this lowers the performance" | 1.4% of the bytes are in unaligned copies (15.62 GB/s; 15.65 of the others): in the table, no advice | here: the last copies of an all-reduce, which cost less than 0.04 ms of the step |
| packets (2023-09) | "50.00% of the volume of RDMA is smaller than 1 MB" | 4 of 7 RDMA packets, 812 bytes of 152 MB, took 0.038 ms: in the table, no advice | here: half of the packets is not half of the volume, and the step takes 291.7 ms |
| dynamic shapes, levels 1 and 2 | `set_compile_mode(jit_compile=False)` | `dynamic-shape`, 100% of computing, at most 25.15 ms | both: `OP State` is `dynamic` |
| the same, level 0 and 2023-09 | the same advice | nothing: unknown | open: these exports have no `OP State`, so nothing can be known from them |
| what bounds operators, text | `vec_mte2_mte3 bound` for a list, without a gain | `mte2-bound` and others, each with the most that a step can gain (1.845 ms for ForeachAddList) | both; only a bound tells that all operators together give 4.8 ms of 136.6 |
| the same, database | "no ratio is above 80%" for 171 operators | `mte2-bound`: ForeachAddList, MatMulV2, ForeachMulScalar, Mul, Conv2D | here: the file has mte2 ratios of 0.90 to 0.99 for these; the advisor's own list shows 0 for vector cores |
| conversions of formats | TransData among vector operators with room ("68.2%") | `format-conversion`: 57 TransData, 16.0% of computing, at most 1.423 ms | here: no tuning of TransData helps as much as not needing it |
| idle device | 18.85% free, no advice | `free-time`, `host-launching` (16.578 of 25.7 ms, 12.1% of the step), `wait-in-front` with the operators behind the gaps; `host` lists the rest: 2.7 ms compiling, 1.0 ms synchronising | here: the timeline tells when each task was launched |
| fused optimizer | `NpuFusedSGD`, with the Python stack | `host`: `Optimizer.step#SGD.step`, 10.5 ms on the host, fused form `torch_npu.optim.NpuFusedSGD`; no advice, as the device waited less than 1% of its time in it | both: that it is there; here: what it could gain |
| how far from the peak (database) | nothing | `far-from-roof`: ForeachAddList at 71% of its roof (0.95 ms), MatMulV2 at 27% (0.33 ms), Conv2D at 15%, each bounded by memory; the text exports name no chip | here only: the advisor has no peaks |
| sequences to fuse | nothing for these captures | nothing: no sequence could save 5% of the step | both |
| AI CPU (2023-09) | Cast, 72.9 and 72.2 us | `ai-cpu-operator`: Cast, 145 us, 0.2% of computing | both |
| environment variables | `ACLNN_CACHE_LIMIT`, `HOST_CACHE_CAPACITY`, `PYTORCH_NPU_ALLOC_CONF` for every capture | nothing | open: no capture tells what is set, so this is advice without evidence |
| a damaged row (2023-09, line 17) | not said; no parts of the step ("not collected by PyTorch") | named with its line and left out; computing 25.8%, communication 50.3%, free 24.0% | here |

No capture of the table is one of a server, of experts, or has lost packets: what both say of these is not compared.

## From Python

```python
from aoe_reports import Facts, find_advice, idle_before_tasks, measure_operators, read_profile, shares_of_tasks

tasks = read_profile("/data/nights/2026-02-14/rank0_ascend_pt").frame("kernel_details")  # of one device
bounds = measure_operators(tasks)
for operator in bounds.operators(10):  # times in ns
    print(operator.op_name, operator.bound_by, operator.ratios, operator.saving_ns)
for one in find_advice(Facts(shares_of_tasks(tasks, 0, None), bounds, tasks, idle_before_tasks(tasks))):
    print(one.rule, one.op_name, one.saving_ns, one.advice)
```

"""


def advice() -> str:
    """What advise says by which rules, and every number that they decide by."""
    parts = [NOTE, ADVICE, "## Rules\n\n| rule | looks for | reason | source | thresholds |\n|---|---|---|---|---|\n"]
    parts += [
        f"| `{rule.id}` | {rule.title} | {rule.reason} | {rule.source} | {', '.join(f'`{name}`' for name in rule.thresholds)} |\n"
        for rule in RULES.values()
    ]
    parts.append(
        "\nRows whose `source` is `prof_rule` are msprof's own (`prof_rule_*.json`), in its words, without a bound.\n"
    )
    parts.append("\n## Thresholds\n\n| name | default | reason | source |\n|---|---|---|---|\n")
    parts += [
        f"| `{name}` | {'none' if value is None else f'{value:g}'} | {reason} | {source} |\n"
        for name, value, reason, source in list_thresholds()
    ]
    return "".join(parts)


COMPLETION = """
## Shell completion

`aoe-reports --install-completion` writes the script for your shell (bash, zsh, fish) and names its file; `--show-completion` only
prints it. Then Tab completes commands, options, choices, and names:

| where | names |
|---|---|
| `--workload`, `store expect WORKLOAD` | models, and workloads of the newest two months |
| `--run`, `store undo RUN` | runs |
| `--since` of `store history`, `--night` | nights |
| `--baseline` | `segment`, `nights:`, `window:`, `run:` with each run, `tag:` with each tag |
| `store ack SERIES` | series of the newest two months, incidents that are recorded, acknowledgements |
| `check --select`, `--ignore` | rules |
| `table KIND` | kinds of tables |

- Names are those of the store that the line names so far (`--store`), the environment or a configuration file; else `./aoe-history`. A
  store behind a URI is not asked: no connection is made while you type.
- A name with a space, a quote, a control character or another sign that a shell gives a meaning is not offered.
- If something cannot be read, nothing is offered, and nothing is said.
- A value may stand behind its option or behind `=` (`--store=aoe-history`), and hold `:`, `=` and `@`, at which bash ends words.
"""


def commands() -> str:
    """What --help says of every command, below the headings of the first help."""
    formats = ", ".join(f"`{name}`" for name in RENDERERS)
    forms = f"Reports are rendered as {formats}; rows also as `json` and `csv`. What else a command writes stands at its `--format`."
    parts = [NOTE, f"# Commands\n\n{forms}\n", COMPLETION, _renamed(), _section(2, "")]
    for heading, section in ROOT.sections.items():
        parts.append(f"\n## {heading}\n")
        parts += [_section(3, " ".join(words)) for words, _ in every_command(ROOT) if words[0] in section]
    return "".join(parts)


def _renamed() -> str:
    rows = "".join(f"| `{old}` | `{new}` |\n" for old, new in ALIASES.items())
    return (
        "\n## Renamed commands\n\nEarlier names work until the next release; they say the new one on stderr, and tables of configuration "
        f"files may have them.\n\n| earlier | now |\n|---|---|\n{rows}"
    )


def _section(level: int, command: str) -> str:
    return f"\n{'#' * level} {f'aoe-reports {command}'.strip()}\n\n```\n{_help(command)}```\n"


def _help(command: str) -> str:
    os.environ.update({"COLUMNS": "100", "TERM": "dumb"})
    os.environ.pop("AOE_REPORTS_STORE", None)
    sys.argv = ["aoe-reports", *command.split(), "--help" if command else "--help-all"]
    with redirect_stdout(io.StringIO()) as printed, suppress(SystemExit):
        run_app()
    return "".join(line.rstrip() + "\n" for line in printed.getvalue().splitlines())


def outputs() -> str:
    """The JSON Schema of what each question prints as JSON."""
    questions = sorted((kind() for kind in Question.__subclasses__()), key=lambda one: one.name)
    return json.dumps(schema_of_answers(questions), indent=2) + "\n"


PAGES = {
    "tables.md": tables,
    "sql-tables.md": sql_tables,
    "rules.md": rules,
    "commands.md": commands,
    "advice.md": advice,
    "outputs.schema.json": outputs,
}


def main() -> int:
    """Write (or with --check compare) every page."""
    stale = []
    for name, page in PAGES.items():
        path, text = DOCS / name, page()
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    sys.stdout.write("".join(f"{'stale' if '--check' in sys.argv else 'written'}: docs/{name}\n" for name in stale))
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
