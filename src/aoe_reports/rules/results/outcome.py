"""Rules on what a task says of itself: its key, its status, and the counts and lists beside it."""

from __future__ import annotations

from collections.abc import Iterator

from aoe_reports.formats.aoe.results import (
    MODEL_KEYS,
    REPORT_KEY,
    STATUS_ALIASES,
    STATUSES,
    TuningResult,
    status_of,
)
from aoe_reports.formats.json.text import without_count
from aoe_reports.model.findings import EXAMPLES_PER_RULE
from aoe_reports.model.texts import join, say
from aoe_reports.rules.found import Found, listed
from aoe_reports.rules.results.document import DOCS, RESULTS, WRITER, status_at, summary_at


@RESULTS.rule("report-key", "warning", "the key contains the time at which the task was tuned", DOCS).checked_by
def report_key(task: TuningResult) -> Found:
    """The key of a task in a report is `report_<time>_<thread>`."""
    key = None if task.report_key is None else without_count(task.report_key)
    if key is not None and not REPORT_KEY.fullmatch(key):
        yield task.pointer, say("the key {key!r} does not have the form report_<time>_<thread>", key=key[:200])


@RESULTS.rule("status-unknown", "error", "only the documented statuses describe the result", DOCS).checked_by
def status_unknown(task: TuningResult) -> Found:
    """A status is one of those that AOE is documented to write."""
    if task.status is not None and status_of(task.status) is None:
        text = "{status!r} is not a known status; expected one of {names}"
        yield status_at(task), say(text, status=task.status[:200], names=join(", ", STATUSES))


@RESULTS.rule("status-alias", "warning", "the English page prints 'tune tuning incomplete'", DOCS).checked_by
def status_alias(task: TuningResult) -> Found:
    """A status is not one that stands in the documents by mistake."""
    if task.status in STATUS_ALIASES:
        text = "{status!r} is an error in the documents; read as {meant}"
        yield status_at(task), say(text, status=task.status, meant=STATUS_ALIASES[task.status])


@RESULTS.rule("tuning-failed", "error", "a failed tuning run must not be taken as a result", DOCS).checked_by
def tuning_failed(task: TuningResult) -> Found:
    """No tuning of operators failed."""
    if status_of(task.status) == "failed":
        shown = listed(task.failed_operators) or say("none named")
        text = "tuning of {name!r} failed; operators: {operators}"
        yield status_at(task), say(text, name=task.tuning_name, operators=shown)


@RESULTS.rule("tuning-incomplete", "warning", "an interrupted run proves nothing", DOCS).checked_by
def tuning_incomplete(task: TuningResult) -> Found:
    """No tuning was broken off: operators tell it by their status, subgraphs by the tuning time that is missing."""
    if status_of(task.status) == "incomplete":
        text = "tuning of {name!r} was interrupted; its numbers are not used"
        yield status_at(task), say(text, name=task.tuning_name)
    elif task.kind == "sgat" and task.has_segment and "tuning_time(s)" not in task.present:
        text = "no tuning_time(s), as in an interrupted run: is {name!r} complete?"
        yield task.pointer, say(text, name=task.tuning_name)


@RESULTS.rule(
    "interrupted-fields", "warning", "the fields that an interrupted run leaves out are documented", DOCS
).checked_by
def interrupted_fields(task: TuningResult) -> Found:
    """Tuning of operators that was broken off leaves out its time and the model's result, and no other does."""
    status = status_of(task.status)
    if task.kind == "opat" and task.has_segment and status is not None:
        yield from _too_many_fields(task) if status == "incomplete" else _missing_fields(task)


def _too_many_fields(task: TuningResult) -> Iterator[tuple[str, str]]:
    for key in ("tuning_time(s)", *MODEL_KEYS[1:]):
        if key in task.present:
            yield task.segment_pointer, say("{key} is present, but an interrupted run does not write it", key=key)


def _missing_fields(task: TuningResult) -> Iterator[tuple[str, str]]:
    baseline, *others = MODEL_KEYS
    if "tuning_time(s)" not in task.present:
        yield task.pointer, say("no tuning_time(s), although the status is {status!r}", status=task.status)
    for key in others if baseline in task.present else ():
        if key not in task.present:
            text = "there is a baseline but no {key}, although the status is {status!r}"
            yield task.segment_pointer, say(text, key=key, status=task.status)


@RESULTS.rule("subgraph-failed", "error", "SGAT has no status: failure is a missing segment", DOCS).checked_by
def subgraph_failed(task: TuningResult) -> Found:
    """No tuning of subgraphs failed: the segment is there."""
    if task.kind == "sgat" and not task.has_segment:
        yield task.pointer, say("no SGAT segment: subgraph tuning of {name!r} failed", name=task.tuning_name)


@RESULTS.rule("nothing-tunable", "info", "no OPAT segment means no operator to tune", DOCS).checked_by
def nothing_tunable(task: TuningResult) -> Found:
    """The model had an operator that can be tuned."""
    if task.kind == "opat" and not task.has_segment:
        text = "no OPAT segment: {name!r} has no operator that can be tuned"
        yield task.pointer, say(text, name=task.tuning_name)


@RESULTS.rule("nothing-improved", "info", "valid; no bank is written in this case", WRITER).checked_by
def nothing_improved(task: TuningResult) -> Found:
    """A tuning that went to its end found something better."""
    changed = task.summary.get("repo_add_num", 0) + task.summary.get("repo_update_num", 0)
    if task.has_segment and not changed and not task.failed and status_of(task.status) != "incomplete":
        total, text = task.summary.get("total_num", 0), "tuning of {name!r} found nothing better"
        if 0 < total == task.summary.get("repo_reserved_num"):
            text = "tuning of {name!r} changed nothing: all {count} cases were in the bank"
        yield summary_at(task), say(text, name=task.tuning_name, count=total)


@RESULTS.rule("failed-without-list", "warning", "operators whose tuning failed are listed", WRITER).checked_by
def failed_without_list(task: TuningResult) -> Found:
    """A tuning that failed names the operators that did."""
    if status_of(task.status) == "failed" and task.failed_key is None:
        yield status_at(task), say("failed, but no failed operator is named")


@RESULTS.rule("list-without-failure", "info", "the list is written whatever the status says", WRITER).checked_by
def list_without_failure(task: TuningResult) -> Found:
    """No operator failed in a tuning that did not fail as a whole."""
    if task.failed_key is not None and status_of(task.status) not in {"failed", None}:
        operators = join(", ", task.failed_operators[:EXAMPLES_PER_RULE])
        text = "failed operators are named ({operators}), but the status is {status!r}"
        yield f"{task.segment_pointer}/{task.failed_key}", say(text, operators=operators, status=task.status)


_UPDATES = ("add", "update")


@RESULTS.rule("hit-sum", "warning", "hit = reserved + update", WRITER).checked_by
def hit_sum(task: TuningResult) -> Found:
    """What was found in the bank was kept or replaced."""
    hit, reserved, update = (task.summary.get(f"repo_{name}_num") for name in ("hit", "reserved", "update"))
    if hit is not None and reserved is not None and update is not None and hit != reserved + update:
        text = "repo_hit_num {hit} does not equal reserved {reserved} + update {update}"
        yield f"{summary_at(task)}/repo_hit_num", say(text, hit=hit, reserved=reserved, update=update)


@RESULTS.rule("total-sum", "warning", "total = hit + add + unsatisfied", WRITER).checked_by
def total_sum(task: TuningResult) -> Found:
    """Every case was found in the bank, added to it, or not satisfied."""
    total = task.summary.get("total_num")
    hit, add, unsatisfied = (task.summary.get(f"repo_{name}_num") for name in ("hit", "add", "unsatisfied"))
    if total is None or hit is None or add is None or unsatisfied is None or total == hit + add + unsatisfied:
        return
    text = "total_num {total} does not equal hit {hit} + add {add} + unsatisfied {unsatisfied}"
    yield f"{summary_at(task)}/total_num", say(text, total=total, hit=hit, add=add, unsatisfied=unsatisfied)


@RESULTS.rule("list-length", "warning", "the counts match the lists", WRITER).checked_by
def list_length(task: TuningResult) -> Found:
    """As many cases are listed as were added and updated.

    An operator with several modes may count once or each time. AOE merges entries of one name, so operators without a name are
    one entry, however many they are.
    """
    if any(part.update_mode not in _UPDATES for part in task.modifications):
        return  # its count is not known
    for update in _UPDATES:
        names = [part.name for part in task.modifications if part.update_mode == update]
        said, listed_names = task.summary.get(f"repo_{update}_num"), len(names)
        if said is None or said == listed_names:
            continue
        is_merged = "" in names and said > listed_names
        if task.body != "flat" or not (said == len(set(names)) or is_merged):
            text = "repo_{mode}_num is {said}, but {count} entries are listed"
            yield f"{summary_at(task)}/repo_{update}_num", say(text, mode=update, said=said, count=listed_names)


@RESULTS.rule("update-mode", "warning", "only 'add' and 'update' are written", WRITER).checked_by
def update_mode(task: TuningResult) -> Found:
    """A modification was added to the bank or updated in it."""
    for part in task.modifications:
        if part.update_mode not in _UPDATES:
            text = "update_mode {mode!r} is neither 'add' nor 'update'; it counts as neither"
            yield f"{part.pointer}/update_mode", say(text, mode=part.update_mode[:60])


@RESULTS.rule("duplicate-operator", "warning", "one case has one outcome", DOCS).checked_by
def duplicate_operator(task: TuningResult) -> Found:
    """No operator (in one mode) or subgraph is listed twice, or as failed and as modified."""
    seen: dict[tuple[str, str | None], str] = {}
    for part in task.modifications:
        key = (part.name, part.mode)
        if key in seen:
            yield part.pointer, say("{name!r} appears here and at {place}", name=part.name[:200], place=seen[key])
        seen[key] = part.pointer
    failed = set(task.failed_operators)
    for (name, _), pointer in seen.items():
        if name in failed:
            yield pointer, say("{name!r} is listed as failed and as modified", name=name[:200])
