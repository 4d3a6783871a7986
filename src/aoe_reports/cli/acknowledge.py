"""`ack`, `expect`, `tag`: people's word on changes."""

from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from aoe_reports.cli.output import DEFAULT_STORE, Format, Output, Store, reply
from aoe_reports.engine.question import one_table
from aoe_reports.model.errors import UsageError
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import say

Reason = Annotated[str, typer.Option(help="Why; it stands in the store, and in every report.", show_default=False)]
Who = Annotated[
    str | None,
    typer.Option(help="Who says so; unless told, whom the CI system or $AOE_REPORTS_USER names.", show_default=False),
]
Form = Annotated[Format, typer.Option("--format", help="Form of the output.")]


def ack(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="SERIES|INCIDENT",
            help="Id of a series or an incident, as `regressions` shows it; with --revoke also of an acknowledgement.",
            show_default=False,
        ),
    ],
    reason: Reason,
    store: Store = DEFAULT_STORE,
    who: Who = None,
    revoke: Annotated[
        bool, typer.Option("--revoke", help="Take back what was acknowledged or expected instead.")
    ] = False,
    form: Form = "text",
    output: Output = None,
) -> None:
    """Accept what got slower as the new level: the baseline moves there, and it fails no gate any more."""
    from aoe_reports.history import acknowledge

    _refuse_empty(reason, "--reason")
    work = acknowledge.revoke if revoke else acknowledge.acknowledge
    _reply("ack", store, work(store, subject, _text(reason), _text(who)), form, output)


def expect(
    workload: Annotated[
        str,
        typer.Argument(help="A model, a workload or what workloads are a part of: net, net/step.", show_default=False),
    ],
    since: Annotated[str, typer.Option("--from", help="First night at which it may begin.", show_default=False)],
    change: Annotated[
        str,
        typer.Option(help="How much slower or faster: 5% (either way), 0..5%, -3%..5%.", show_default=False),
    ],
    reason: Reason,
    until: Annotated[
        str | None, typer.Option(help="Last night at which it may begin [default: 7 days later].", show_default=False)
    ] = None,
    store: Store = DEFAULT_STORE,
    who: Who = None,
    form: Form = "text",
    output: Output = None,
) -> None:
    """Announce a change: a slow-down of such a size that begins there is told as expected, and fails no gate."""
    from aoe_reports.history.acknowledge import expect as announce

    _refuse_empty(reason, "--reason")
    _refuse_empty(workload, "WORKLOAD")
    announced = announce(
        store,
        (_text(workload) or "").rstrip("/"),
        since=since,
        until=until,
        change=change,
        reason=_text(reason) or "",
        who=_text(who),
    )
    _reply("expect", store, announced, form, output)


def tag(
    name: Annotated[str, typer.Argument(help="The name.", show_default=False)],
    run: Annotated[str, typer.Option(help="Id of a run, as `history runs` shows it.", show_default=False)],
    store: Store = DEFAULT_STORE,
    who: Who = None,
    form: Form = "text",
    output: Output = None,
) -> None:
    """Name a run, so that `--baseline tag:NAME` finds its night."""
    from aoe_reports.history.acknowledge import tag as name_run

    _refuse_empty(name, "NAME")
    _reply("tag", store, name_run(store, _text(name) or "", run, _text(who)), form, output)


def _text(text: str | None) -> Any:
    """A text that can be stored: the odd byte of a command line becomes a question mark."""
    return text if text is None else text.encode("utf-8", "replace").decode()


def _refuse_empty(text: str, what: str) -> None:
    if not text.strip():
        raise UsageError(say("{what}: expected a text", what=what))


def _reply(command: str, where: str, done: Any, form: Format, output: Path | None) -> NoReturn:
    titles = {"ack": "Acknowledgement", "expect": "Expectation", "tag": "Named run"}
    reply(one_table(command, titles[command], [where], Rows(type=type(done), rows=[done])), form, output)
