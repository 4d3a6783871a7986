"""Writes the generated parts of docs/ from the registries and from --help; `--check` only says what is out of date."""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import sys
from contextlib import redirect_stdout, suppress
from functools import partial
from pathlib import Path

from aoe_reports.cli.main import run_app
from aoe_reports.cli.menu import ALIASES, ROOT, every_command
from aoe_reports.engine.question import Question
from aoe_reports.formats.ascend.tables import TIMELINES
from aoe_reports.formats.table import Column, Table
from aoe_reports.formats.vendor import VENDORS
from aoe_reports.jobs.rules import list_rules
from aoe_reports.present import RENDERERS
from aoe_reports.present.schema import schema_of_answers
from aoe_reports.schema.store_tables import GROUPS as SQL_GROUPS
from aoe_reports.schema.table import Table as SqlTable
from aoe_reports.topics.advice.registry import RULES
from aoe_reports.topics.advice.thresholds import list_thresholds

DOCS = Path(__file__).parent
NOTE = "<!-- written by docs/generate.py: change the source, then run `make docs` -->\n\n"


TABLES_HEAD = """# Tables

Every kind of table that is read, by vendor. A column is listed with its headers, the newest first and without units, unless the only one is its own
name (`task_start_ns`: `Task Start`). Times are whole nanoseconds (`_ns`).
"""


def tables() -> str:
    """Every table with its columns and headers, vendor by vendor."""
    parts = [NOTE, TABLES_HEAD]
    for vendor in VENDORS.values():
        parts += [_table(table) for table in vendor.tables.values()]
    parts.append("\n## Timelines\n\n| kind | holds | written by | events as a table |\n|---|---|---|---|\n")
    for name, kind in TIMELINES.items():
        asked = f"{name}_events" if name in VENDORS["ascend"].tables else name
        parts.append(f"| {name} | {kind.title} | {kind.source} | `table {asked}` |\n")
    return "".join(parts)


def _table(table: Table) -> str:
    """One table: who writes it, and its columns by type."""
    dates = ", ".join(sorted({date for date, _ in table.vintages}))
    seen = f"; headers of {dates}" if dates else ""
    writer = "msprof and torch_npu" if table.source == "both" else table.source
    files = ", ".join(f"`{name}`" for name in table.called or [f"{word}*" for word in table.file_kinds])
    columns: dict[str, list[str]] = {}
    for column in table.columns:
        need = ", in every row" if column.needed else ", optional" if column.optional else ""
        columns.setdefault(f"{column.type}{need}", []).append(_column(column))
    for derived in table.derived:
        of = ", ".join(f"`{name}`" for name in derived.of)
        columns.setdefault(f"{derived.column.type}, derived", []).append(f"`{derived.column.field}` ({of})")
    rows = "".join(f"| {kind} | {', '.join(names)} |\n" for kind, names in columns.items())
    return (
        f"\n## {table.name}\n\n{table.title}. Files {files}, written by {writer}{seen}.\n\n"
        f"| type | columns |\n|---|---|\n{rows}"
    )


def _column(column: Column) -> str:
    """A column, and its headers unless they only repeat its name."""
    named = re.sub("[^a-z0-9]+", "_", column.headers[0].lower()) if len(column.headers) == 1 else ""
    if named == column.field.removesuffix("_ns"):
        return f"`{column.field}`"
    return f"`{column.field}` ({', '.join(f'`{header}`' for header in column.headers)})"


def sql_tables() -> str:
    """Every table that a query can name, with its columns."""
    parts = [
        NOTE,
        "# Tables of SQL\n\nWhat [`sql`](sql.md) queries; `aoe-reports sql --tables` prints the same. `→` leads to the column that is meant.\n",
    ]
    for of, tables in SQL_GROUPS.items():
        parts.append(f"\n## Tables of {of}\n")
        parts += map(_sql_table, tables.values())
    return "".join(parts)


def _sql_table(table: SqlTable) -> str:
    key = f" Key: {', '.join(f'`{name}`' for name in table.key)}." if table.key else ""
    parts = [f"\n### {table.name}\n\n{table.comment}{key}\n\n| column | content |\n|---|---|\n"]
    for column in table.columns:
        refers_to = f" → `{column.refers_to}`" if column.refers_to else ""
        parts.append(f"| `{column.name}` {column.type}{refers_to} | {column.comment} |\n")
    return "".join(parts)


def rules() -> str:
    """Every rule with severity and reason, by what it is on."""
    parts = [NOTE, "# Rules\n\nEvery rule that a finding can name; `aoe-reports check --rules` prints the same.\n"]
    for on, group in itertools.groupby(list_rules(), key=lambda rule: rule.on):
        listed = list(group)
        with_source = any(rule.source for rule in listed)
        source = " source |" if with_source else ""
        parts.append(f"\n## On {on}\n\n| rule | severity | reason |{source}\n|---|---|---|{'---|' if source else ''}\n")
        for rule in listed:
            source = f" {rule.source} |" if with_source else ""
            parts.append(f"| `{rule.rule}` | {rule.severity} | {rule.reason} |{source}\n")
    return "".join(parts)


ADVICE = """# Advice

`aoe-reports advise PATH…` shows for each run where to look first, and the potential gains: a ranked list with the evidence of each
row, the largest upper bound first, and a step breakdown of each device. Advice on which ranks agree (bounds within 10%) is one row, with
the median of the bounds and the evidence of the worst rank; JSON and CSV have a row for each rank. The list may be empty.

## Upper bounds

`bound_us` is the maximum by which one piece of advice could shorten a step, in us per step (a mean over the
steps of the capture; a capture without steps counts as one step). It is not a forecast. Bounds do not add up, because one
operator may have several. `bound_share` is its share of the step.

| advice on | bound |
|---|---|
| operators | T x (1 - A x U): device time T, share A of it in which cube or vector worked, share U of the cores that its blocks keep busy. Without counters A is 0, and the bound is the operator's own time (Amdahl). At most `bound_saving_us` |
| AI CPU operators, conversions | all of their device time, at most `bound_saving_us` |
| waiting, small kernels, shapes | idle time before the tasks, at most the free time of a step |
| communication, free time | the time in the step table |
| waits for the host (`host-*`), steps of optimizers | idle time of that cause by the timeline, at most the free time of a step |
| sequences that a fused operator replaces | from the first begin to the last end of each occurrence, without its longest task; at most what these tasks are of the critical path |
| operators by the roof (`far-from-roof`, `near-roof`) | T x (1 - R), with R the share of the roof that is certain; of calls shorter than 10 us all of T |
| contention | what calls beside communication would have taken less without, at most `bound_saving_us` |
| memory (`memory-*`) | no time: `evidence` has bytes. It comes after all advice with a bound, by the memory that it is about |

`bound_saving_us` (in `headlines`) is the limit for all tuning of operators: computing that is not overlapped by communication. Communication keeps its
measured duration; if one rank waits for another, see `slow-rank`.

The step breakdown comes from the first available source, which `source` in `headlines` names: `step_trace_time`; unions of the task intervals; a timeline, if the tasks contain no communication and other files
do; else the bounds are those of the operators' own time.

## What bounds an operator

| `bound_by` | condition |
|---|---|
| cube, vector, scalar, mte1, mte2, mte3, fixpipe | the unit with the highest ratio of cycles, if this ratio is above `bound_ratio` |
| `none` | no ratio is above `bound_ratio`, and transfers were also measured |
| `memory-bandwidth` | only bandwidths were measured (aic_metrics Memory) |
| `ai-cpu` | the operator runs on the AI CPU |
| `unknown` | otherwise |

- **Ratios** are means over the calls, weighted by their time. For a task on both kinds of cores, the core that works longer decides.
- **Blocks** run on the cores in rounds: U = blocks / (rounds x cores).
- **Cores** and their rated frequency come from `info.json`; without it, the number of cores is the largest number of blocks that the
  counters show at work at once, a lower limit.
- **Frequency** is cycles / time / cores at work.
- **Shapes** are dynamic according to `OP State`, else by the files that msprof writes only for models with dynamic shapes. Otherwise the state is unknown, never static.

## Advice from other questions

| advice | facts of | needs |
|---|---|---|
| `host-*` | [`host`](host.md) | a timeline, and `least_step_share` of a step in free time |
| `fused-optimizer`, `fusible-sequence` | [`host`](host.md), [`critical-path`](critical-path.md) | as above |
| `far-from-roof`, `near-roof` | [`roofline`](roofline.md) | a chip whose bandwidth is public, or `--chip`, `--peak-tflops` and `--peak-gb-per-s` |
| `contention` | [`communication --contention`](communication.md#packets) | `least_step_share` of a step is computing beside communication, and the table of tasks has communication |
| `memory-*` | [`memory`](memory.md) | recorded memory; for leaks and repeated allocations also steps of the host; for workspaces and activations a source that names kinds (msMemScope) |
| a caveat (`trimmed`) | [`quality`](quality.md) | a table of steps |

An operator that certainly reaches 80% of its roof is in no rule that sends it to a tuner. `evidence` names the file (`source`). `ingest`
stores advice without these rules: it reads no timeline for advice.

## Beside msprof-analyze

`msprof-analyze advisor all` (26.2.0) and `advise` on the same public captures (910B; one job of eight ranks of 2025-01, one of 2023-09):

| topic | msprof-analyze | here |
|---|---|---|
| parts of the step | the same from text; from a database 129.206 ms, free 30.225 | 124.220 ms, free 25.239, as `StepTraceTime` of the capture |
| why communication takes 75% | transfer 101.963 ms, waiting 0.000 ms | `awaited-rank`: the ranks wait for rank 5, up to 101.6 ms; transit is 3.7 ms |
| what bounds operators | a list without gains; from a database "no ratio is above 80%" | `mte2-bound` and others, each with the most that a step can gain; the file has mte2 ratios of 0.90 to 0.99 |
| idle device | 18.85% free, no advice | `host-launching` (16.578 of 25.7 ms), `wait-in-front` |
| distance from the peak | nothing | `far-from-roof` for three operators |
| dynamic shapes without `OP State`; environment variables | advice for every capture | nothing: the captures do not record it |
| a damaged row | not reported | named with its line and left out |

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
    """The first help, and a list of the pages of each group."""
    formats = ", ".join(f"`{name}`" for name in RENDERERS)
    forms = f"Reports are rendered as {formats}; rows also as `json` and `csv`. What else a command writes stands at its `--format`."
    groups = "\n".join(f"commands/{_slug(heading)}" for heading in ROOT.sections)
    groups = f"\n```{{toctree}}\n:maxdepth: 1\n\n{groups}\n```\n"
    return "".join((NOTE, f"# Commands\n\n{forms}\n", groups, _section(2, ""), _renamed(), COMPLETION))


def commands_of(heading: str) -> str:
    """What --help says of every command below one heading of the first help."""
    section = ROOT.sections[heading]
    helps = [_section(2, " ".join(words)) for words, _ in every_command(ROOT) if words[0] in section]
    return "".join((NOTE, f"# {heading}\n", *helps))


def _slug(heading: str) -> str:
    return heading.lower().replace(" ", "-")


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
    **{f"commands/{_slug(heading)}.md": partial(commands_of, heading) for heading in ROOT.sections},
    "advice.md": advice,
    "outputs.schema.json": outputs,
}


def main() -> int:
    """Write (or with --check compare) every page."""
    is_check = "--check" in sys.argv  # the helps of commands replace the arguments
    stale = []
    for name, page in PAGES.items():
        path, text = DOCS / name, page()
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not is_check:
                path.write_text(text, encoding="utf-8")
    sys.stdout.write("".join(f"{'stale' if is_check else 'written'}: docs/{name}\n" for name in stale))
    return int(bool(stale) and is_check)


if __name__ == "__main__":
    sys.exit(main())
