"""All checks of `doctor`, and what they come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from aoe_reports.engine.question import Answer
from aoe_reports.jobs.doctor.checkup import Checkup, DoctorOptions, State, each
from aoe_reports.jobs.doctor.installation import compiled_reader, installation, programs
from aoe_reports.jobs.doctor.machine import configuration, font, temporary_files, terminal, time_zone
from aoe_reports.jobs.doctor.stores import USUAL_STORE, site, store
from aoe_reports.model.classes import record
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import count_of, join


@record
class DoctorAnswer(Answer):
    """What was found; faults are the reasons, and with `strict` warnings, too."""

    def reasons(self, *, strict: bool = False) -> list[str]:
        """The names of the checks that fail."""
        failing: set[State] = {"fault", "warning"} if strict else {"fault"}
        return list(dict.fromkeys(str(row.name) for row in self.rows if row.state in failing))

    def exit_code(self, *, strict: bool = False) -> int:
        """1 where a check fails, else 0."""
        return int(bool(self.reasons(strict=strict)))


def examine(chosen: DoctorOptions, files: Sequence[tuple[str, int]]) -> DoctorAnswer:
    """Check this machine, and the store and the site that are named; `files` are configuration files with how much they set."""
    groups: dict[str, Sequence[Callable[[], Iterable[Checkup]]]] = {
        "installation": (installation, compiled_reader, programs),
        "machine": (temporary_files, font, terminal, time_zone, lambda: configuration(files)),
        "store": (lambda: store(chosen.store),),
    }
    if chosen.site is not None:
        where = chosen.site
        groups["site"] = (lambda: site(where, chosen.store or USUAL_STORE),)
    rows = [one for name, checks in groups.items() for one in each(name, checks)]
    return DoctorAnswer(
        command="doctor",
        title="Doctor",
        inputs=tuple(str(one) for one in (chosen.store, chosen.site) if one is not None),
        tables=(Rows(type=Checkup, rows=rows),),
        findings=(),
        headline=_headline(rows),
    )


def _headline(rows: Sequence[Checkup]) -> str:
    """How many checks came to what."""
    count = {state: sum(row.state == state for row in rows) for state in ("fault", "warning", "missing")}
    return join(
        ", ",
        (
            count_of(count["fault"], "{number} fault", "{number} faults"),
            count_of(count["warning"], "{number} warning", "{number} warnings"),
            count_of(count["missing"], "{number} optional part missing", "{number} optional parts missing"),
        ),
    )
