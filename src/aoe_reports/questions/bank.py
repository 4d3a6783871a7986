"""What knowledge banks cover."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import FileUnit, Finished, Question, Request, RunOptions
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import say
from aoe_reports.questions.banked import BankedEntry, BankedFile, entries_of

if TYPE_CHECKING:
    from aoe_reports.formats.discovery import Discovery

_Part = tuple[BankedFile, list[BankedEntry]]


class Bank(Question[RunOptions, _Part]):
    """List what knowledge banks cover: entries by chip, operator type, shapes and version. Reads banks of operators (runtime_kb, Auto Tune) and of gradients."""

    name = "bank"
    title = "Banks"
    options = RunOptions
    tables = (("rows", BankedEntry), ("files", BankedFile))
    nothing = "no bank here that can be read"

    def units(self, files: Discovery, asked: Request[RunOptions]) -> list[FileUnit]:
        """Every bank."""
        from aoe_reports.engine.captures import bank_files, operator_bank_files

        del asked
        return [FileUnit(file=file) for file in (*operator_bank_files(files), *bank_files(files))]

    def map_unit(self, unit: FileUnit, asked: Request[RunOptions]) -> _Part:
        """What one bank holds."""
        return entries_of(unit.file, asked.notes)

    def finish(self, parts: Sequence[tuple[FileUnit, _Part]], asked: Request[RunOptions]) -> Finished:
        """The entries bank by bank; people see the banks first."""
        del asked
        files = [of_file for _, (of_file, _) in parts]
        entries = [entry for _, (_, some) in parts for entry in some]
        return Finished(
            tables=(
                Rows(type=BankedEntry, rows=entries, title=say("Entries"), place=1),
                Rows(type=BankedFile, rows=files, key="files"),
            )
        )


bank = asking(Bank(), RunOptions)
"""What the knowledge banks below some paths cover: `bank([path]).rows`."""
