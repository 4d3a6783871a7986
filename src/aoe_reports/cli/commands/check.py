"""`check`: is what was read right?"""

import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from aoe_reports.cli.command import guided
from aoe_reports.cli.output import FORM, MAX_ROWS, MostRows, Output, notify, path_argument, reply
from aoe_reports.cli.progress import progress_line
from aoe_reports.engine.question import one_table
from aoe_reports.model.errors import UsageError
from aoe_reports.model.options import Option
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import say
from aoe_reports.present.forms import FORMS, forms_of
from aoe_reports.topics.files.check import Check, CheckOptions

if TYPE_CHECKING:
    from aoe_reports.model.rules import ListedRule

    CheckFormat = str
else:
    CheckFormat = Literal[tuple(forms_of("check"))]  # from which typer takes what may be given


@guided(example="check profile --format junit -o check.xml", page="results")
def check(
    paths: Annotated[list[Path] | None, path_argument("Files or folders.")] = None,
    *,
    chosen: CheckOptions,
    form: Annotated[CheckFormat, FORM] = "text",
    output: Output = None,
    rows: MostRows = MAX_ROWS,
    share: Annotated[
        Path | None,
        Option(
            help="Write copies of the AOE results into this folder, names replaced by hashes, to be shown to others.",
            flags=("--share",),
            only_here=say("where output is written"),
        ),
    ] = None,
) -> None:
    """Validate results, banks, records and tables. Checks AOE results, gradient banks and records against schemas and rules, and tables against their declarations."""
    from aoe_reports.engine.ask import ask
    from aoe_reports.engine.fleet.executors import executor_here
    from aoe_reports.present.reports.tuning import summarise

    is_named = chosen.rules or chosen.select or chosen.ignore or form == "sarif"
    rules = _rules() if is_named else []  # they are declared all over the package: importing that takes its time
    if chosen.rules:
        _list_rules(rules, form, output)
    if not paths:
        raise UsageError(say("check: expected a PATH, or --rules"))
    if share is not None:
        from aoe_reports.jobs.share import share_results

        if chosen.watch or chosen.select or chosen.ignore:
            raise UsageError(say("check: --share cannot be combined with --watch, --select or --ignore"))
        reply(share_results(paths, share, chosen.max_size), _of_answers(form, "--share"), output)
    known = {rule.rule for rule in rules}
    chosen = replace(chosen, select=_names(chosen.select, known), ignore=_names(chosen.ignore, known))
    if chosen.watch:
        _follow(paths, chosen.interval, chosen.max_size)
    with progress_line() as progress:
        answer = ask(
            Check(summarise if form in {"markdown", "html"} else None),
            paths,
            chosen,
            executor=executor_here(chosen),
            progress=progress,
        )
    reply(answer, form, output, strict=chosen.strict, forms=forms_of("check"), rules=rules, most=rows)


def _rules() -> "list[ListedRule]":
    from aoe_reports.jobs.rules import list_rules

    return list_rules()


def _list_rules(rules: "Sequence[ListedRule]", form: str, output: Path | None) -> None:
    """Answer with the rules themselves."""
    from aoe_reports.model.rules import ListedRule

    reply(one_table("check", "Rules", [], Rows(type=ListedRule, rows=rules)), _of_answers(form, "--rules"), output)


def _of_answers(form: str, option: str) -> str:
    """A form that every answer has. Raises UsageError."""
    if form not in FORMS:
        raise UsageError(
            say(
                "check: {option} has no format {form}; expected text, json, csv, markdown or html",
                option=option,
                form=form,
            )
        )
    return form


def _follow(paths: list[Path], interval: float, max_size: int | None) -> None:
    """Tell of each change of the results below some paths until all are there, or somebody says that it is enough."""
    import signal

    from aoe_reports.formats.sources.discovery import result_files
    from aoe_reports.formats.sources.objects import ObjectPath
    from aoe_reports.jobs.watch import watch as watch_results

    for path in paths:
        if isinstance(path, ObjectPath):
            raise UsageError(say("{uri}: expected a file or folder of this machine, not an object store", uri=path))
        if not path.exists():
            raise UsageError(say("check --watch: {path}: no such file or folder", path=path))
        if not path.is_dir() and not result_files([path]):
            raise UsageError(
                say("check --watch: {path}: neither the name nor the content is that of an AOE result", path=path)
            )

    def tell(path: Path, text: str) -> None:
        notify(say("{path}: {text}", path=path, text=text))
        sys.stderr.flush()

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        watch_results(paths, tell, interval_s=interval, max_size=max_size)
    except KeyboardInterrupt:
        notify(say("received a signal to end: the files present are checked"))
    finally:
        signal.signal(signal.SIGTERM, before)


def _names(given: Sequence[str], known: Collection[str]) -> tuple[str, ...]:
    """The rules that an option names."""
    names = tuple(name.strip() for part in given for name in part.split(",") if name.strip())
    for name in names:
        if name not in known:
            raise UsageError(say("check: no rule {name!r}; `aoe-reports check --rules` lists them", name=name))
    return names
