"""Answers of jobs: what came of one, and why it did not go well."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aoe_reports.engine.question import Answer
from aoe_reports.model.classes import record
from aoe_reports.model.rows import Rows


@record
class JobAnswer(Answer):
    """An answer of a job, which says itself why its exit code is not 0."""

    why: Sequence[str]

    def reasons(self, *, strict: bool = False) -> list[str]:
        """Why the job did not go well; what `strict` does was known to it."""
        del strict
        return list(self.why)

    def exit_code(self, *, strict: bool = False) -> int:
        """As that of any answer, and 1 where there is a reason."""
        return super().exit_code(strict=strict) or int(bool(self.why))


def job_answer(command: str, title: str, folder: Path, table: Rows[Any], **more: Any) -> JobAnswer:
    """What came of the job of a plan's folder, one table; `more` are further fields of the answer."""
    return JobAnswer(command=command, title=title, inputs=(str(folder),), tables=(table,), **more)
