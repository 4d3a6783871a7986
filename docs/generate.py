"""Writes the generated parts of docs/ from the registries and from --help; `--check` only says what is out of date."""

from __future__ import annotations

import io
import os
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path

from aoe_reports.cli.main import COMMANDS, GROUPS, run_app
from aoe_reports.formats.ascend.tables import TIMELINES
from aoe_reports.formats.table import Table
from aoe_reports.formats.vendor import VENDORS
from aoe_reports.jobs.rules import list_rules
from aoe_reports.present import REGRESSION_RENDERERS, RENDERERS
from aoe_reports.present.forms import CHECK_FORMS, FORMS
from aoe_reports.questions.advice.registry import RULES
from aoe_reports.questions.advice.thresholds import list_thresholds

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
    writer = "msprof and torch_npu" if table.source == "both" else table.source
    files = ", ".join(f"`{name}`" for name in table.called or [f"{word}*" for word in table.file_kinds])
    parts = [
        f"\n## {table.name}\n\n{table.title}. Files {files}, written by {writer}; headers of {dates}.\n\n",
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


def rules() -> str:
    """Every rule with severity and reason."""
    parts = [NOTE, "# Rules\n\nEvery rule that a finding can name; `aoe-reports check --rules` prints the same.\n\n"]
    parts.append("| rule | severity | on | reason | source |\n|---|---|---|---|---|\n")
    parts += [f"| `{r.rule}` | {r.severity} | {r.on} | {r.reason} | {r.source} |\n" for r in list_rules()]
    return "".join(parts)


ADVICE = """# Advice

`aoe-reports advise PATH…` says of each device what its steps went on, where to look first, and what could be gained: a
ranked list, the largest bound first. It may say nothing.

## What a bound is

`bound_us` is the most by which following one piece of advice could make a step shorter: us of a step (a mean over the
steps of the capture; without steps the capture is taken as one). It is no forecast, and bounds do not add up: one
operator may have several. `bound_share` is its part of the step.

| advice on | bound |
|---|---|
| operators | T x (1 - A x U): device time T, without the part A in which cube or vector worked, on the part U of the cores that its blocks keep busy. Arithmetic stays, all else is hidden or gone, all cores work. Without counters A is 0: then it is the operator's own time (Amdahl). Never more than `bound_saving_us` |
| AI CPU operators, conversions | all of their device time, and never more than `bound_saving_us` |
| waiting, small kernels, shapes | idle time before the tasks, and never more than the free time of a step |
| communication, free time | what of it stands in the table of steps |

`bound_saving_us` (in `headlines`) is what no tuning of operators can exceed: computing that no communication runs beside. A
step cannot be shorter than its communication and free time, which operators do not change. It is not looked at what runs
beside a single operator: when one gets shorter, all behind it begin earlier. Communication is taken to be as long as it
was measured; where one rank waits for another, see `slow-rank`.

What steps went on is told by, in this order: `step_trace_time`; unions of the intervals of the tasks (on the real exports
the same to 0.02 us a step); a timeline, where tasks tell of no communication and other files do; else nothing, and bounds are
those of the operators' own time. `source` in `headlines` names which it was.

## What bounds an operator

`bound_by` is the unit (cube, vector, scalar, mte1, mte2, mte3, fixpipe) with the highest ratio of cycles, where that is above
`bound_ratio`; `none` where every ratio is at most that, and transfers were measured, too; `memory-bandwidth`, where only
bandwidths were measured (aic_metrics Memory); `ai-cpu`; else `unknown`. Ratios are means over the calls weighted by
their time; of a task on both kinds of cores the core that works longer decides. Columns with `aic_`, with `aiv_` and
without a prefix are read alike. `aic_metrics` ArithmeticUtilization tells cube and vector alone, so it never says `none`.

Blocks go over the cores in rounds: U = blocks / (rounds x cores). On real exports an operator of 256 blocks on 48 cores
kept 42.67 of them busy, which is that. Cores and their rated frequency are those of `info.json`; where it is not here, the most
blocks that the counters saw at work at once, so that there are at least so many cores; where there are no counters either, the
number of blocks that at least half of the time is run with (`usual_blocks`).

The frequency is cycles / time / cores at work (1800.0 MHz for every task of the real exports).

Shapes are dynamic by `OP State`; where the export has none, by files that msprof writes of models with dynamic shapes alone
(`thread_group_*`, `ge_op_execute_*`); else it is unknown, never static.

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


def commands() -> str:
    """What --help says of every command."""
    formats, of_check, of_regressions = (
        ", ".join(f"`{name}`" for name in names)
        for names in (RENDERERS, [name for name in CHECK_FORMS if name not in FORMS], REGRESSION_RENDERERS)
    )
    forms = (
        f"Reports are rendered as {formats}; rows also as `json` and `csv`; `check` also as {of_check}; `regressions` also as "
        f"{of_regressions}."
    )
    parts = [NOTE, f"# Commands\n\n{forms}\n"]
    for command in ("", *(function.__name__ for function in COMMANDS), *_of_groups()):
        title = f"aoe-reports {command}".strip()
        parts.append(f"\n## {title}\n\n```\n{_help(command)}```\n")
    return "".join(parts)


def _of_groups() -> list[str]:
    """Groups of commands, each followed by its commands."""
    groups = [(str(group.info.name), group.registered_commands) for group in GROUPS]
    return [
        name
        for group, commands in groups
        for name in (group, *(f"{group} {one.name or getattr(one.callback, '__name__', '')}" for one in commands))
    ]


def _help(command: str) -> str:
    os.environ.update({"COLUMNS": "100", "TERM": "dumb"})
    os.environ.pop("AOE_REPORTS_STORE", None)
    sys.argv = ["aoe-reports", *command.split(), "--help"]
    with redirect_stdout(io.StringIO()) as printed, suppress(SystemExit):
        run_app()
    return "".join(line.rstrip() + "\n" for line in printed.getvalue().splitlines())


PAGES = {"tables.md": tables, "rules.md": rules, "commands.md": commands, "advice.md": advice}


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
