"""Rules on statuses: which there are, and what has to stand beside each."""

from __future__ import annotations

from collections.abc import Iterator

from aoe_reports.formats.aoe.results import MODEL_KEYS, STATUS_ALIASES, STATUSES, status_of
from aoe_reports.model.findings import EXAMPLES_PER_RULE
from aoe_reports.model.texts import join, say
from aoe_reports.rules.found import Found, listed
from aoe_reports.rules.results.task import DOCS, RESULTS, WRITER, Task


@RESULTS.rule("status-unknown", "error", "only the documented statuses describe the result", DOCS).checked_by
def status_unknown(task: Task) -> Found:
    """A status is one of those that AOE is documented to write."""
    status = task.facts.status
    if status is not None and status_of(status) is None:
        yield (
            task.status_at,
            say(
                "{status!r} is not a known status; expected one of {names}",
                status=status[:200],
                names=join(", ", STATUSES),
            ),
        )


@RESULTS.rule("status-alias", "warning", "the English page prints 'tune tuning incomplete'", DOCS).checked_by
def status_alias(task: Task) -> Found:
    """A status is not one that stands in the documents by mistake."""
    status = task.facts.status
    if status in STATUS_ALIASES:
        yield (
            task.status_at,
            say(
                "{status!r} is an error in the documents; read as {meant}", status=status, meant=STATUS_ALIASES[status]
            ),
        )


@RESULTS.rule("tuning-failed", "error", "a failed tuning run must not be taken as a result", DOCS).checked_by
def tuning_failed(task: Task) -> Found:
    """No tuning of operators failed."""
    facts = task.facts
    if status_of(facts.status) == "failed":
        shown = listed(facts.failed_operators) or say("none named")
        yield (
            task.status_at,
            say("tuning of {name!r} failed; operators: {operators}", name=facts.tuning_name, operators=shown),
        )


@RESULTS.rule("tuning-incomplete", "warning", "an interrupted run proves nothing", DOCS).checked_by
def tuning_incomplete(task: Task) -> Found:
    """No tuning was broken off: operators tell it by their status, subgraphs by the tuning time that is missing."""
    facts = task.facts
    if status_of(facts.status) == "incomplete":
        yield (
            task.status_at,
            say("tuning of {name!r} was interrupted; its numbers are not used", name=facts.tuning_name),
        )
    elif facts.kind == "sgat" and facts.has_segment and "tuning_time(s)" not in facts.present:
        yield (
            facts.pointer,
            say("no tuning_time(s), as in an interrupted run: is {name!r} complete?", name=facts.tuning_name),
        )


@RESULTS.rule(
    "interrupted-fields", "warning", "the fields that an interrupted run leaves out are documented", DOCS
).checked_by
def interrupted_fields(task: Task) -> Found:
    """Tuning of operators that was broken off leaves out its time and the model's result, and no other does."""
    facts = task.facts
    status = status_of(facts.status)
    if facts.kind != "opat" or not facts.has_segment or status is None:
        return
    yield from _too_many_fields(task) if status == "incomplete" else _missing_fields(task)


def _too_many_fields(task: Task) -> Iterator[tuple[str, str]]:
    for key in ("tuning_time(s)", *MODEL_KEYS[1:]):
        if key in task.facts.present:
            yield (
                task.facts.segment_pointer,
                say("{key} is present, but an interrupted run does not write it", key=key),
            )


def _missing_fields(task: Task) -> Iterator[tuple[str, str]]:
    facts = task.facts
    baseline, *others = MODEL_KEYS
    if "tuning_time(s)" not in facts.present:
        yield facts.pointer, say("no tuning_time(s), although the status is {status!r}", status=facts.status)
    for key in others if baseline in facts.present else ():
        if key not in facts.present:
            yield (
                facts.segment_pointer,
                say(
                    "there is a baseline but no {key}, although the status is {status!r}", key=key, status=facts.status
                ),
            )


@RESULTS.rule("subgraph-failed", "error", "SGAT has no status: failure is a missing segment", DOCS).checked_by
def subgraph_failed(task: Task) -> Found:
    """No tuning of subgraphs failed: the segment is there."""
    facts = task.facts
    if facts.kind == "sgat" and not facts.has_segment:
        yield facts.pointer, say("no SGAT segment: subgraph tuning of {name!r} failed", name=facts.tuning_name)


@RESULTS.rule("nothing-tunable", "info", "no OPAT segment means no operator to tune", DOCS).checked_by
def nothing_tunable(task: Task) -> Found:
    """The model had an operator that can be tuned."""
    facts = task.facts
    if facts.kind == "opat" and not facts.has_segment:
        yield facts.pointer, say("no OPAT segment: {name!r} has no operator that can be tuned", name=facts.tuning_name)


@RESULTS.rule("nothing-improved", "info", "valid; no bank is written in this case", WRITER).checked_by
def nothing_improved(task: Task) -> Found:
    """A tuning that went to its end found something better."""
    facts = task.facts
    changed = facts.summary.get("repo_add_num", 0) + facts.summary.get("repo_update_num", 0)
    if facts.has_segment and not changed and not facts.failed and status_of(facts.status) != "incomplete":
        total = facts.summary.get("total_num", 0)
        is_banked = 0 < total == facts.summary.get("repo_reserved_num")
        text = (
            say(
                "tuning of {name!r} changed nothing: all {count} cases were in the bank",
                name=facts.tuning_name,
                count=total,
            )
            if is_banked
            else say("tuning of {name!r} found nothing better", name=facts.tuning_name)
        )
        yield task.summary_at, text


@RESULTS.rule("failed-without-list", "warning", "operators whose tuning failed are listed", WRITER).checked_by
def failed_without_list(task: Task) -> Found:
    """A tuning that failed names the operators that did."""
    if status_of(task.facts.status) == "failed" and task.facts.failed_key is None:
        yield task.status_at, say("failed, but no failed operator is named")


@RESULTS.rule("list-without-failure", "info", "the list is written whatever the status says", WRITER).checked_by
def list_without_failure(task: Task) -> Found:
    """No operator failed in a tuning that did not fail as a whole."""
    facts = task.facts
    if facts.failed_key is not None and status_of(facts.status) not in {"failed", None}:
        yield (
            f"{facts.segment_pointer}/{facts.failed_key}",
            say(
                "failed operators are named ({operators}), but the status is {status!r}",
                operators=join(", ", facts.failed_operators[:EXAMPLES_PER_RULE]),
                status=facts.status,
            ),
        )
