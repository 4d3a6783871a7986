"""`ack`, `expect`, `tag`: people's word on changes."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import typer

from aoe_reports.cli.completion import completer
from aoe_reports.cli.guide import guided
from aoe_reports.cli.output import ChosenForm, Format, Output, reply
from aoe_reports.engine.question import one_table
from aoe_reports.history.options import AckOptions, ExpectOptions, ReasonOptions, StoreOptions, TagOptions
from aoe_reports.model.errors import UsageError
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import N_, say

_Reason = TypeVar("_Reason", bound=ReasonOptions)


@guided(example='ack SERIES --reason "larger batch" --store aoe-history', page="regressions")
def ack(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="SERIES|INCIDENT",
            help="Id of a series or an incident, as `regressions` shows it; with --revoke also of an acknowledgement.",
            show_default=False,
            autocompletion=completer("subjects"),
        ),
    ],
    chosen: AckOptions,
    place: StoreOptions,
    form: ChosenForm = "text",
    output: Output = None,
) -> None:
    """Accept a slow-down as the new level. The baseline moves to that level, and the slow-down no longer fails any gate."""
    from aoe_reports.history.changes.acknowledge import acknowledge

    done = acknowledge(place.store, subject, _with_reason(chosen))
    _reply("ack", N_("Acknowledgement"), place, done, form, output)


@guided(example='expect net --from 2026-03-01 --change 5% --reason "larger batch"', page="regressions")
def expect(
    workload: Annotated[
        str,
        typer.Argument(
            help="A model, a workload or the prefix of several workloads: net, net/step.",
            show_default=False,
            autocompletion=completer("workloads"),
        ),
    ],
    chosen: ExpectOptions,
    place: StoreOptions,
    form: ChosenForm = "text",
    output: Output = None,
) -> None:
    """Announce an expected change. A slow-down of the given size that begins on the given nights is reported as expected and fails no gate."""
    from aoe_reports.history.changes.acknowledge import expect as announce

    chosen = _with_reason(chosen)
    _refuse_empty(workload, "WORKLOAD")
    done = announce(place.store, _storable(workload).rstrip("/"), chosen)
    _reply("expect", N_("Expectation"), place, done, form, output)


@guided(example="tag release-1 --run RUN --store aoe-history", page="regressions")
def tag(
    name: Annotated[str, typer.Argument(help="The name.", show_default=False)],
    chosen: TagOptions,
    place: StoreOptions,
    form: ChosenForm = "text",
    output: Output = None,
) -> None:
    """Name a run. `--baseline tag:NAME` then finds its night."""
    from aoe_reports.history.changes.acknowledge import tag as name_run

    _refuse_empty(name, "NAME")
    done = name_run(place.store, _storable(name), replace(chosen, who=_storable(chosen.who)))
    _reply("tag", N_("Named run"), place, done, form, output)


def _storable(text: Any) -> Any:
    """A text, where there is one, that can be stored: the odd byte of a command line becomes a question mark."""
    return text if text is None else text.encode("utf-8", "replace").decode()


def _with_reason(chosen: _Reason) -> _Reason:
    _refuse_empty(chosen.reason, "--reason")
    return replace(chosen, reason=_storable(chosen.reason), who=_storable(chosen.who))


def _refuse_empty(text: str, what: str) -> None:
    if not text.strip():
        raise UsageError(say("{what}: expected text that is not empty", what=what))


def _reply(command: str, title: str, place: StoreOptions, done: Any, form: Format, output: Path | None) -> NoReturn:
    reply(one_table(command, title, [place.store], Rows(type=type(done), rows=[done])), form, output)
