"""What banks hold, as rows: an entry each, a file each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from aoe_reports.model.documents import Json
from aoe_reports.model.rows import column, row, row_from
from aoe_reports.model.texts import Text, say

if TYPE_CHECKING:
    from aoe_reports.engine.question import Notes
    from aoe_reports.formats.aoe.gradients import GradientModel
    from aoe_reports.formats.aoe.operator_bank_file import OperatorBankFile
    from aoe_reports.formats.aoe.operator_banks import OperatorEntry
    from aoe_reports.formats.sources.found import FoundFile

BankKind = Literal["runtime_kb", "auto_tune", "gdat"]
_MAX_KEY = 400
"""How much of a key people are shown that is not told in a profile's words."""


@row
class BankedEntry:
    """One entry of a bank: an operator, a graph of operators, a model's gradients; null is what the bank does not tell.

    `key` and `value` are hashes: of what the entry is looked up by, and of what is kept for it.
    """

    path: str = column()
    kind: BankKind = column("Kind")
    soc: str | None = column("Chip", default=None)
    cores: int | None = column("AI Cores", "integer", default=None)
    op_type: str | None = column("Operator type", default=None)
    shapes: str | None = column("Shapes", default=None)
    data_types: str | None = column("Data types", default=None)
    formats: str | None = column("Formats", default=None)
    attributes: str | None = column("Attributes", default=None)
    version: int | None = column("Version", "integer", default=None)
    nodes: int | None = column("Nodes", "integer", default=None)
    model: str | None = column("Model", default=None)
    gradients: int | None = column("Gradients", "integer", default=None)
    looked_up_by: str | None = column("Looked up by", detail=True, default=None)
    line: int | None = column("Line", "integer", detail=True, default=None)
    info: Mapping[str, Json] | None = column(default=None)
    knowledge: Mapping[str, Json] | None = column(default=None)
    key: str = column()
    value: str = column()

    @property
    def identity(self) -> tuple[str, str, int, str, str]:
        """What makes two entries of two banks the same: kind, chip, cores, operator, key."""
        return (self.kind, self.soc or "", self.cores or 0, self.op_type or "", self.key)


@row
class BankedFile:
    """One bank: where it lies, what its name tells, how much is in it, and where its form is known from."""

    path: str = column("Path")
    kind: BankKind = column("Kind")
    soc: str | None = column("Chip", default=None)
    cores: int | None = column("AI Cores", "integer", default=None)
    op_type: str | None = column("Operator type", default=None)
    version: int | None = column("Version in the name", "integer", detail=True, default=None)
    written: str | None = column("Written (local time)", detail=True, default=None)
    entries: int = column("Entries", "integer")
    form_known_from: str = column("Form known from", "sentence", detail=True)


def entries_of(file: FoundFile, notes: Notes) -> tuple[BankedFile, list[BankedEntry]]:
    """What one bank holds. Raises ReadError or OSError where it cannot be read."""
    if file.name.kind == "gdat":
        return _of_gradients(file, notes)
    from aoe_reports.formats.aoe.operator_bank_file import read_operator_bank
    from aoe_reports.rules.operator_bank import check_operator_bank

    bank = read_operator_bank(file.path)
    notes.add(check_operator_bank(bank))
    of_file = row_from(
        BankedFile,
        bank.name,
        path=str(file.path),
        kind=bank.name.form,
        written=bank.name.time,
        entries=len(bank.entries),
        form_known_from=_known_from(bank.name.form),
    )
    return of_file, [_entry(bank, entry) for entry in bank.entries]


def _of_gradients(file: FoundFile, notes: Notes) -> tuple[BankedFile, list[BankedEntry]]:
    from aoe_reports.formats.aoe.bank_file import read_bank
    from aoe_reports.rules.gradient_bank import check_bank_file

    read = read_bank(file.path, file.name)
    notes.add(check_bank_file(read))
    of_file = BankedFile(
        path=str(file.path),
        kind="gdat",
        soc=read.bank.soc,
        entries=len(read.bank.models),
        form_known_from=_known_from("gdat"),
    )
    return of_file, [_model(of_file, model) for model in read.bank.models]


def _known_from(kind: BankKind) -> Text:
    if kind == "runtime_kb":
        return say("the open code of CANN that reads and writes it, and banks that come with its operators")
    if kind == "auto_tune":
        return say(
            "a bank of 2021 and those of CANN 8.1.RC1; no document describes it, and its operator types are numbers of Auto Tune's code"
        )
    return say("the open code of CANN that writes it, and banks that come with it")


def _entry(bank: OperatorBankFile, entry: OperatorEntry) -> BankedEntry:
    from aoe_reports.formats.aoe.operands import product_of

    product = product_of(entry.info)
    if product is not None and not product.alone:
        product = None
    shapes: Sequence[Sequence[int]] = entry.shapes if product is None else product.shapes
    return row_from(
        BankedEntry,
        entry,
        path=str(bank.path),
        kind=bank.name.form,
        soc=bank.name.soc,
        cores=bank.name.cores,
        shapes=";".join(",".join(map(str, shape)) for shape in shapes) or None,
        data_types=None if product is None else _named(product.data_types),
        formats=None if product is None else _named(product.formats),
        attributes=None if product is None else _attributes(product.transposes, bias=product.bias),
        looked_up_by=None if product is not None or entry.info is None else _fields(entry.info),
    )


def _model(of_file: BankedFile, model: GradientModel) -> BankedEntry:
    from aoe_reports.formats.aoe.operator_banks import digest_of

    return BankedEntry(
        path=of_file.path,
        kind="gdat",
        soc=of_file.soc,
        model=model.modelhash,
        gradients=len(model.sizes_bytes) if model.tuned else 0,
        key=digest_of(model.modelhash),
        value=digest_of([list(model.sizes_bytes), model.start, list(model.deltas)]),
    )


def _named(names: Sequence[str | None]) -> str | None:
    return None if None in names else ";".join(map(str, names))


def _attributes(transposes: tuple[bool, bool], *, bias: bool) -> str | None:
    told = zip((*transposes, bias), ("trans_a", "trans_b", "bias"), strict=True)
    return ", ".join(name for is_set, name in told if is_set) or None


def _fields(info: Mapping[str, Json]) -> str:
    text = ", ".join(f"{name}={value}" for name, value in info.items() if not name.startswith("reserved"))
    return text if len(text) <= _MAX_KEY else f"{text[:_MAX_KEY]}…"
