"""What banks hold, as rows: an entry each, a file each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from aoe_reports.model.classes import record
from aoe_reports.model.documents import Json
from aoe_reports.model.rows import US, column, row, row_from
from aoe_reports.model.texts import Text, say
from aoe_reports.topics.banks.coverage import BankedOperator, banked_operator
from aoe_reports.topics.banks.subgraphs import BankedSubgraph

if TYPE_CHECKING:
    from aoe_reports.engine.question import Notes
    from aoe_reports.formats.aoe.gradients import GradientModel
    from aoe_reports.formats.aoe.operands import MatrixProduct
    from aoe_reports.formats.aoe.operator_bank_file import OperatorBankFile
    from aoe_reports.formats.aoe.operator_banks import OperatorEntry, Part
    from aoe_reports.formats.sources.found import FoundFile

BankKind = Literal["runtime_kb", "auto_tune", "unified_bank", "repository_bank", "subgraph_bank", "mdat_bank", "gdat"]
MAX_TEXT = 400
"""How much of a key, or of a change, people are shown that has no words of a profile."""


@row
class BankedEntry:
    """One entry of a bank: an operator, a graph of operators, a model's gradients; null is what the bank does not tell.

    `cost` is the tuner's own measurement of a single operator, `raw_time` a time in a unit that no document names. `key` and `value` are hashes: of what the entry is looked up by, and of what is kept for it.
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
    operators: str | None = column("Operators", default=None)
    nodes: int | None = column("Nodes", "integer", default=None)
    cut: str | None = column("Cut into", default=None)
    kernel: str | None = column("Kernel or model", default=None)
    cost_ns: int | None = column("Time when tuned", unit=US, default=None)
    raw_time: int | None = column("Time (unit not documented)", "integer", default=None)
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
    form_version: str | None = column("Version of the form", detail=True, default=None)
    entries: int = column("Entries", "integer")
    form_known_from: str = column("Form known from", "sentence", detail=True)


@record
class BankContent:
    """What one bank holds: as rows, and as a profile is compared with it."""

    file: BankedFile
    entries: list[BankedEntry]
    operators: list[BankedOperator]
    subgraphs: list[BankedSubgraph]


def content_of(file: FoundFile, notes: Notes) -> BankContent:
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
        form_version=bank.form_version,
        entries=len(bank.entries),
        form_known_from=_known_from(bank.name.form),
    )
    name = bank.name
    compared = name.form not in {"subgraph_bank", "mdat_bank"}
    return BankContent(
        file=of_file,
        entries=[_entry(bank, entry) for entry in bank.entries],
        operators=[banked_operator(e, name.form, name.soc, name.cores) for e in bank.entries if compared],
        subgraphs=[
            BankedSubgraph(name.soc, entry.named_key or "", entry.kernel, entry.parts)
            for entry in bank.entries
            if entry.parts
        ],
    )


def _of_gradients(file: FoundFile, notes: Notes) -> BankContent:
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
    entries = [_model(of_file, model) for model in read.bank.models]
    return BankContent(file=of_file, entries=entries, operators=[], subgraphs=[])


def _known_from(kind: BankKind) -> Text:
    return {
        "runtime_kb": say("the open code of CANN that reads and writes it, and banks that come with its operators"),
        "auto_tune": say(
            "the code of CANN 8.1.RC1 that reads it and numbers its nodes and data types, and banks of 2021 and of 8.1.RC1"
        ),
        "unified_bank": say("the code of CANN 8.1.RC1 that reads and writes it, and a bank that comes with it"),
        "repository_bank": say("a bank that comes with CANN 8.1.RC1, and the code that makes what it is looked up by"),
        "subgraph_bank": say("a bank that comes with CANN 8.1.RC1; no document describes it"),
        "mdat_bank": say(
            "a bank that comes with CANN 8.1.RC1: hashes and times, and nothing that says what they are of; no document describes it"
        ),
        "gdat": say("the open code of CANN that writes it, and banks that come with it"),
    }[kind]


def _entry(bank: OperatorBankFile, entry: OperatorEntry) -> BankedEntry:
    from aoe_reports.formats.aoe.operands import product_of

    product = product_of(entry.info)
    if product is not None and not product.alone:
        product = None
    shapes: Sequence[Sequence[int]] = entry.shapes if product is None else product.shapes
    data_types = entry.data_types if product is None or product.blocks else product.data_types
    return row_from(
        BankedEntry,
        entry,
        path=str(bank.path),
        kind=bank.name.form,
        soc=bank.name.soc,
        cores=bank.name.cores,
        shapes=";".join(",".join(map(str, shape)) for shape in shapes) or None,
        data_types=_named(data_types) or None,
        formats=_formats(entry, product),
        attributes=None if product is None else _attributes(product),
        cut=_capped(";".join(",".join(map(str, part.cut)) for part in entry.parts)) or None,
        looked_up_by=_looked_up_by(entry, product),
    )


def _formats(entry: OperatorEntry, product: MatrixProduct | None) -> str | None:
    if product is not None:
        return None if product.formats is None else _named(product.formats)
    return None if entry.inputs is None else ";".join(entry.inputs.formats) or None


def _looked_up_by(entry: OperatorEntry, product: MatrixProduct | None) -> str | None:
    """The key in the bank's words, where a profile's do not say all of it."""
    if entry.parts:
        return _capped(" | ".join(map(_chain, entry.parts)))
    if entry.info is None:
        return entry.named_key
    return None if product is not None and not product.blocks else _fields(entry.info)


def _chain(part: Part) -> str:
    """The operators of a part with the shapes of their inputs."""
    return " → ".join(
        f"{name}({';'.join(','.join(map(str, shape)) for shape in shapes)})" for name, shapes in part.operators
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


def _attributes(product: MatrixProduct) -> str | None:
    flags = zip((*product.transposes, product.bias), ("trans_a", "trans_b", "bias"), strict=True)
    words = [name for is_set, name in flags if is_set]
    if product.blocks is not None:
        words.append(say("m x k x n in blocks of {blocks}", blocks=" x ".join(map(str, product.blocks))))
    return ", ".join(words) or None


def _fields(info: Mapping[str, Json]) -> str:
    return _capped(", ".join(f"{name}={value}" for name, value in info.items() if not name.startswith("reserved")))


def _capped(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"
