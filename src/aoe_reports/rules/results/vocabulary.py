"""The rule on the two vocabularies of AOE."""

from __future__ import annotations

from aoe_reports.model.texts import say
from aoe_reports.rules.found import Found
from aoe_reports.rules.results.document import Document
from aoe_reports.rules.results.task import DOCS, RESULTS


@RESULTS.rule("mixed-vocabulary", "warning", "one version of AOE uses one vocabulary", DOCS).checked_by
def mixed_vocabulary(document: Document) -> Found:
    """All tasks of a file use the words of one version of CANN, and each of them only those."""
    spoken: dict[str, str] = {}
    for task in document.tasks:
        facts = task.facts
        if facts.vocabulary == "mixed":
            yield (
                facts.segment_pointer,
                say("wording of CANN 6.0 ('tune ...') and of later versions ('tuning ...') in one task"),
            )
        elif facts.vocabulary is not None:
            spoken.setdefault(facts.vocabulary, facts.segment_pointer)
    if len(spoken) > 1:
        first, second = spoken.items()
        yield (
            second[1],
            say(
                "this task uses the wording '{words} ...', the one at {place} the wording '{other} ...'",
                words=second[0],
                place=first[1],
                other=first[0],
            ),
        )
