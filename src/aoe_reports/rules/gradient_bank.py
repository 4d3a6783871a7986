"""Rules on gradient banks: is there something in them that gradients can be fused by?"""

from __future__ import annotations

from aoe_reports.formats.aoe.bank_file import BankFile
from aoe_reports.formats.aoe.gradients import PLACEHOLDER, GradientBank
from aoe_reports.model.findings import Finding
from aoe_reports.model.rules import Scope
from aoe_reports.model.texts import say
from aoe_reports.rules.found import Found, findings_of, with_places
from aoe_reports.rules.schema import check_schema

_BANKS = Scope("gradient banks")
_CODE = say("the code that writes banks (hcom_graph_adaptor of CANN's graph engine), and the banks that come with it")


def check_bank_file(file: BankFile) -> list[Finding]:
    """Everything that is to be said about one bank, reading included, with line and column where there is one."""
    path = str(file.path)
    found = check_schema("gdat", file.document, path) if file.parsed else []
    for checked in (gdat_length, gdat_not_tuned, gdat_soc):
        found += findings_of(checked.rule, path, list(checked.check(file.bank)))
    return [*file.findings, *with_places(found, file.text)]


@_BANKS.rule("gdat-length", "error", "each gradient has a size and a time", _CODE).checked_by
def gdat_length(bank: GradientBank) -> Found:
    """Every size has a time."""
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


@_BANKS.rule("gdat-not-tuned", "warning", "the list contains five zeros until the model is tuned", _CODE).checked_by
def gdat_not_tuned(bank: GradientBank) -> Found:
    """The lists are not those that stand there before tuning."""
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


@_BANKS.rule("gdat-soc", "warning", "a bank is found by the soc in its name", _CODE).checked_by
def gdat_soc(bank: GradientBank) -> Found:
    """The name tells the chip."""
    if bank.soc is None:
        yield None, say("the name does not contain a soc; a bank is searched for as <soc>_gradient_fusion.json")
