"""Rules on gradient banks: is there something in them that gradients can be fused by?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from aoe_reports.formats.aoe.bank_file import BankFile
from aoe_reports.formats.aoe.gradients import PLACEHOLDER, GradientBank
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding, Severity
from aoe_reports.model.texts import say
from aoe_reports.rules.rule import with_places
from aoe_reports.rules.schema import check_schema

Found = Iterator[tuple[str | None, str]]
"""(JSON Pointer, message) of each place where a rule fires."""


@dataclass(frozen=True, slots=True)
class BankRule:
    """One rule on a gradient bank: how bad, why, and where the fact comes from."""

    severity: Severity
    check: Callable[[GradientBank], Found]
    reason: str
    source: str


def check_bank_file(file: BankFile) -> list[Finding]:
    """Everything that is to be said about one bank, reading included, with line and column where there is one."""
    path = str(file.path)
    found = check_schema("gdat", file.document, path) if file.parsed else []
    for name, rule in BANK_RULES.items():
        told = [Finding(rule.severity, name, path, text, pointer=at) for at, text in rule.check(file.bank)]
        found += told[:EXAMPLES_PER_RULE]
        if len(told) > EXAMPLES_PER_RULE:
            more = say("and {count} more of this kind", count=len(told) - EXAMPLES_PER_RULE)
            found.append(Finding(rule.severity, name, path, more))
    return [*file.findings, *with_places(found, file.text)]


def _length(bank: GradientBank) -> Found:
    for model in bank.models:
        sizes = len(model.sizes_bytes)
        if sizes != model.times:
            yield (
                f"{model.pointer}/modelvalue",
                say(
                    "model {model}: {sizes} sizes and {times} times; it is not known which belong together",
                    model=model.modelhash[:40],
                    sizes=sizes,
                    times=model.times,
                ),
            )


def _not_tuned(bank: GradientBank) -> Found:
    for model in bank.models:
        if not model.tuned:
            yield (
                f"{model.pointer}/modelvalue",
                say(
                    "model {model}: {count} zeros in both lists, as they are written before tuning",
                    model=model.modelhash[:40],
                    count=len(PLACEHOLDER),
                ),
            )


def _soc(bank: GradientBank) -> Found:
    if bank.soc is None:
        yield None, say("the name does not contain a soc; a bank is searched for as <soc>_gradient_fusion.json")


_CODE = say("the code that writes banks (hcom_graph_adaptor of CANN's graph engine), and the banks that come with it")

BANK_RULES: dict[str, BankRule] = {
    "gdat-length": BankRule("error", _length, say("each gradient has a size and a time"), _CODE),
    "gdat-not-tuned": BankRule(
        "warning", _not_tuned, say("the list contains five zeros until the model is tuned"), _CODE
    ),
    "gdat-soc": BankRule("warning", _soc, say("a bank is found by the soc in its name"), _CODE),
}
