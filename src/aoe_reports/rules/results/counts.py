"""Rules on the counts of a task: they add up, and they are those of its lists."""

from __future__ import annotations

from aoe_reports.model.texts import say
from aoe_reports.rules.found import Found
from aoe_reports.rules.results.task import RESULTS, WRITER, Task

_UPDATES = ("add", "update")


@RESULTS.rule("hit-sum", "warning", "hit = reserved + update", WRITER).checked_by
def hit_sum(task: Task) -> Found:
    """What was found in the bank was kept or replaced."""
    count = task.facts.summary.get
    hit, reserved, update = count("repo_hit_num"), count("repo_reserved_num"), count("repo_update_num")
    if hit is not None and reserved is not None and update is not None and hit != reserved + update:
        yield (
            f"{task.summary_at}/repo_hit_num",
            say(
                "repo_hit_num {hit} does not equal reserved {reserved} + update {update}",
                hit=hit,
                reserved=reserved,
                update=update,
            ),
        )


@RESULTS.rule("total-sum", "warning", "total = hit + add + unsatisfied", WRITER).checked_by
def total_sum(task: Task) -> Found:
    """Every case was found in the bank, added to it, or not satisfied."""
    count = task.facts.summary.get
    hit, add, unsatisfied = count("repo_hit_num"), count("repo_add_num"), count("repo_unsatisfied_num")
    total = count("total_num")
    if total is None or hit is None or add is None or unsatisfied is None:
        return
    if total != hit + add + unsatisfied:
        yield (
            f"{task.summary_at}/total_num",
            say(
                "total_num {total} does not equal hit {hit} + add {add} + unsatisfied {unsatisfied}",
                total=total,
                hit=hit,
                add=add,
                unsatisfied=unsatisfied,
            ),
        )


@RESULTS.rule("list-length", "warning", "the counts match the lists", WRITER).checked_by
def list_length(task: Task) -> Found:
    """As many cases are listed as were added and updated.

    An operator with several modes may count once or each time. AOE merges entries of one name, so operators without a name are
    one entry, however many they are.
    """
    columns = task.columns
    if not columns.has_known_updates:
        return  # which count it belongs to cannot be told
    for update, listed in (("add", columns.added), ("update", columns.updated)):
        said = task.facts.summary.get(f"repo_{update}_num")
        if said is None or said == listed:
            continue
        names = {name for name, mode in zip(columns.names, columns.updates, strict=True) if mode == update}
        is_merged = "" in names and said > listed
        if task.facts.body != "flat" or not (said == len(names) or is_merged):
            yield (
                f"{task.summary_at}/repo_{update}_num",
                say("repo_{mode}_num is {said}, but {count} entries are listed", mode=update, said=said, count=listed),
            )


@RESULTS.rule("update-mode", "warning", "only 'add' and 'update' are written", WRITER).checked_by
def update_mode(task: Task) -> Found:
    """A modification was added to the bank or updated in it."""
    if task.columns.has_known_updates:
        return
    for part in task.exact.modifications:
        if part.update_mode not in _UPDATES:
            yield (
                f"{part.pointer}/update_mode",
                say(
                    "update_mode {mode!r} is neither 'add' nor 'update'; it counts as neither",
                    mode=part.update_mode[:60],
                ),
            )
