"""A question on one page: its options, its rows, what is read of one unit, and what is made of all of them.

What a question needs of readers it imports inside its functions, so that `--help` loads neither numpy nor pyarrow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from aoe_reports.model.classes import record
from aoe_reports.model.errors import ReadError, UsageError
from aoe_reports.model.findings import Finding, counts_of, has, in_order, reasons_of
from aoe_reports.model.options import option, options
from aoe_reports.model.report import Highlight, Pages, Section
from aoe_reports.model.texts import join, say

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from aoe_reports.formats.capture import Capture
    from aoe_reports.formats.sources.found import FoundFile
    from aoe_reports.model.pictures import Picture
    from aoe_reports.model.rows import Rows

MAX_ID = 2**31 - 1
"""The largest number of a rank, device or step that an option takes."""


@options
class StrictOptions:
    """What counts as bad: the option that every command has that finds anything."""

    strict: bool = option(
        default=False, help="Warnings also cause exit code 1.", flags=["--strict"], scope="run", shared=True
    )


@options
class ReadOptions(StrictOptions):
    """Options of whatever reads captures: how far, and what counts as bad."""

    max_expanded: int | None = option(
        default=None,
        minimum=1,
        help="Maximum expanded size of one .gz file or archive, in bytes (default: 1 GiB and 200 times its size, of an archive the larger).",
        scope="run",
        shared=True,
        protects=True,
    )


@options
class RunOptions(ReadOptions):
    """Options that every question has."""

    jobs: int | None = option(
        default=None,
        minimum=1,
        help="How many processes read captures (default: up to one per processor, where that is faster).",
        scope="run",
        shared=True,
        protects=True,
    )
    scheduler: str | None = option(
        default=None,
        help="Dask scheduler whose workers read captures, such as tcp://host:8786; dask://local starts one here.",
        scope="run",
        shared=True,
        names="nothing",
        protects=True,
    )


@options
class CaptureOptions(RunOptions):
    """Options of a question whose units are captures: what is read of them may be kept."""

    cache: str | None = option(
        default=None,
        help="Folder or URI that keeps what was read of each capture; asked again, only new and changed ones are read.",
        scope="run",
        only_here=say("where partial results are kept"),
    )


O = TypeVar("O", bound=RunOptions)  # noqa: E741 -- options
P = TypeVar("P")


def only(what: str) -> Any:
    """The option that chooses one rank, device or step."""
    return option(default=None, minimum=0, maximum=MAX_ID, help=f"Only this {what}.")


def trim() -> Any:
    """The option that leaves out steps which are not the usual ones."""
    return option(
        default=False, help="Leave out steps that `quality` calls warm-up or tear-down; says which.", flags=["--trim"]
    )


def all_tasks() -> Any:
    """The option that counts what is no computing, too."""
    return option(default=False, help="Include communication, events and copies.", flags=["--all-tasks"])


@dataclass(slots=True)
class Notes:
    """What was found on the way; it survives what stops a unit."""

    findings: list[Finding] = field(default_factory=list)
    unreadable: bool = False

    def add(self, findings: Iterable[Finding]) -> None:
        """Keep what was found."""
        self.findings += findings

    def failed(self, path: object, error: Exception) -> None:
        """Keep what could not be read, and why."""
        from aoe_reports.formats.sources.identify import unreadable_file  # noqa: PLC0415 -- pyarrow

        self.unreadable = True
        self.findings.append(unreadable_file(path, error))

    @contextmanager
    def where_unreadable(self, path: object) -> Iterator[None]:
        """Keep what could not be read as a finding, and go on."""
        try:
            yield
        except (ReadError, OSError) as error:
            self.failed(path, error)

    def take(self, other: Notes) -> None:
        """Keep what another one holds."""
        self.findings += other.findings
        self.unreadable = self.unreadable or other.unreadable


@record
class Request(Generic[O]):
    """What every part of a question is handed: the options, what `prepare` made, and where findings go."""

    options: O
    notes: Notes
    inputs: tuple[str, ...] = ()
    """The paths that it is asked of."""
    context: Any = None
    units: Sequence[Any] = ()
    """All units, those that could not be read among them; `finish` is handed them."""


@record
class Unit:
    """What is read at one time, by one process: a capture, and the run that it belongs to."""

    capture: Capture
    run: str
    number: int = 0
    """Which of the runs that is: two whose ranks lie in one folder are called alike."""
    alone: bool = True
    """Whether the run has no other capture."""

    @property
    def path(self) -> str:
        """Where it lies."""
        return str(self.capture.root)


@record
class FileUnit:
    """What is read at one time where a question is about files: one, and the run and rank of its capture, if it has any."""

    file: FoundFile
    run: str | None = None
    rank_id: int | None = None
    superseded: bool = False
    """Whether another form of the capture is read in its place."""

    @property
    def path(self) -> str:
        """Where it lies."""
        return str(self.file.path)


@dataclass(slots=True)
class Reading(Generic[P]):
    """Everything below some paths while it is read: what each unit hands on, without those that cannot be read.

    The notes of what was asked are whole once all parts have been taken.
    """

    asked: Request[Any]
    parts: Iterator[tuple[Any, P]]


@record
class Finished:
    """What `finish` makes of what the units handed on."""

    tables: tuple[Rows[Any], ...]
    """The first is what CSV holds."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the JSON form that are no tables."""
    run_above: bool = False
    """Whether the run is said once, above all tables, where all their rows are of one."""
    headline: str = ""
    """What people are told first."""
    verdict: str = ""
    """What people are told last on a terminal, where the end of a long report is what they see."""
    pages: Pages = Pages()
    highlights: Sequence[Highlight] = ()
    """What an annotation each tells, the most important first."""
    sections: Sequence[Section] | None = None
    """What people are shown, where it is more than one table after another."""
    sign_off: Sequence[Section] = ()
    """What they are shown above it on a page that is printed and signed."""
    spooled: Sequence[Finding] | None = None
    """All findings in order, where they may be too many to be put in order in memory."""
    details: Sequence[Any] = ()
    """What forms for people tell beside the tables."""
    pictures: Sequence[Picture] = ()
    """What forms that draw show: HTML and SVG."""


NOTEBOOK = "aoe_reports.present.notebook"
"""What shows an answer in a notebook. It is named as text, as `present` is above this package, and imported when it is first used."""


@record
class Answer(Finished):
    """What came of a question: what people are shown, programs read and the exit code tells is made of it."""

    command: str
    title: str
    inputs: tuple[str, ...]
    findings: Sequence[Finding]
    """In a stable order."""
    tells_findings: bool = False
    """Whether its sections list them, too."""
    unreadable: bool = False

    @property
    def rows(self) -> Sequence[Any]:
        """The rows of the first table."""
        return self.tables[0].rows

    def table(self, key: str) -> Sequence[Any]:
        """The rows of a table. Raises UsageError where there is none of this key."""
        return self.rows_of(key).rows

    def rows_of(self, key: str | None = None) -> Rows[Any]:
        """A table with what it declares, the first if none is named. Raises UsageError where there is none of this key."""
        for table in self.tables:
            if key in {None, table.key}:
                return table
        known = ", ".join(table.key for table in self.tables)
        raise UsageError(say("{command} has no table {key!r}: {known}", command=self.command, key=key, known=known))

    def to_arrow(self, key: str | None = None) -> pa.Table:
        """A table of Arrow, of the first table or of that with a key of the JSON form: times are whole nanoseconds (int64)."""
        return self.rows_of(key).to_arrow()

    def to_polars(self, key: str | None = None) -> pl.DataFrame:
        """The same as a DataFrame of polars."""
        return self.rows_of(key).to_polars()

    def to_pandas(self, key: str | None = None) -> pd.DataFrame:
        """The same as a DataFrame of pandas; whole numbers are `Int64`, which stay exact where some are missing."""
        return self.rows_of(key).to_pandas()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The first table for whoever reads Arrow's PyCapsule interface: polars, pandas, pyarrow, duckdb."""
        return self.rows_of().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        """One line: which question, how many rows each table has, how many findings there are."""
        missed = "; not all could be read" if self.unreadable else ""
        return f"<Answer {self.command}: {self.lengths()}; findings: {counts_of(self.findings)}{missed}>"

    def lengths(self) -> str:
        """How many rows the first table has, and the others that have any, by their keys."""
        first, *others = self.tables
        return ", ".join(f"{one.key} {len(one.rows):,}" for one in [first, *(other for other in others if other.rows)])

    def _repr_html_(self) -> str:
        """What notebooks show: the headline, the first rows, how many findings there are."""
        html: str = import_module(NOTEBOOK).as_html(self)
        return html

    def reasons(self, *, strict: bool = False) -> list[str]:
        """Why the exit code is 1; with `strict` warnings are a reason, too."""
        return reasons_of(self.findings, strict=strict)

    def exit_code(self, *, strict: bool = False) -> int:
        """3 where something could not be read, 1 where there is a reason, else 0."""
        return exit_code_of(self.findings, unreadable=self.unreadable, strict=strict)


def one_table(command: str, title: str, inputs: Sequence[object], table: Rows[Any], **more: Any) -> Answer:
    """An answer that is one table; `more` are further fields of it."""
    return Answer(
        **{"findings": (), **more}, command=command, title=title, inputs=tuple(map(str, inputs)), tables=(table,)
    )


@record
class Stream:
    """An answer of any length: batches of rows for a writer; `notes` are whole once all batches have been read."""

    command: str
    inputs: tuple[str, ...]
    batches: Iterator[pa.RecordBatch]
    notes: Notes
    schema: pa.Schema | None = None
    """The columns of a query, whose names and units are its own; null for a table of ours, whose durations leave in us."""

    def exit_code(self, *, strict: bool = False) -> int:
        """As that of an answer."""
        return exit_code_of(self.notes.findings, unreadable=self.notes.unreadable, strict=strict)


def exit_code_of(findings: Sequence[Finding], *, unreadable: bool, strict: bool) -> int:
    """3 where something could not be read, 1 where there is an error (with `strict` a warning, too), else 0."""
    if unreadable:
        return 3
    return int(has(findings, "error") or (strict and has(findings, "warning")))


@record
class Argument:
    """What a question is asked of: one path, or many."""

    name: str
    help: str
    many: bool = True
    needed: bool = True
    """Whether there has to be one; else an option may take its place."""


class Reader(ABC, Generic[O, P]):
    """What reads everything below some paths, unit by unit.

    O: its options. P: what is handed on of one unit (small, and fit for another process).
    """

    def discover(self, paths: Sequence[Path], asked: Request[O]) -> Any:
        """What lies below the paths."""
        from aoe_reports.formats.sources.discovery import discover  # noqa: PLC0415 -- pyarrow

        files = discover(paths, max_expanded=asked.options.max_expanded)
        asked.notes.take(Notes(list(files.findings), files.unreadable))
        return files

    def prepare(self, files: Any, asked: Request[O]) -> Any:
        """What all units need to know: small, and fit for another process."""
        del files, asked

    def units(self, files: Any, asked: Request[O]) -> Sequence[Any]:
        """What is read one by one: every capture of every run."""
        from aoe_reports.engine.runs import find_runs, label_of  # noqa: PLC0415 -- numpy

        del asked
        return [
            Unit(capture=capture, run=label_of(captures), number=number, alone=len(captures) == 1)
            for number, captures in enumerate(find_runs(files))
            for capture in captures
        ]

    @abstractmethod
    def map_unit(self, unit: Any, asked: Request[O]) -> P:
        """Read one unit; what is found goes into `asked.notes`. Raises ReadError or OSError where it cannot be read."""


class Question(Reader[O, P]):
    """Something that can be asked of captures; its docstring is what `--help` says of it."""

    name: ClassVar[str]
    """What its command is called: as its module, unless it says otherwise."""
    example: ClassVar[str] = ""
    """A command line that asks it, without the name of the program; `--help` shows it."""
    page: ClassVar[str] = ""
    """The page of docs/ that describes it, without its suffix."""
    title: ClassVar[str]
    options: ClassVar[type[Any]]
    tables: ClassVar[tuple[tuple[str, type[Any]], ...]]
    """(key in JSON, class of its rows) of each table; the first is what CSV holds."""
    more: ClassVar[tuple[str, ...]] = ()
    """The further keys of its JSON form, objects that are no tables."""
    arguments: ClassVar[tuple[Argument, ...]] = (
        Argument(name="paths", help="Files or folders (searched recursively)."),
    )
    form_help: ClassVar[str] = "Output format."
    has_highlights: ClassVar[bool] = False
    """Whether its answer can be shown as annotations."""
    has_picture: ClassVar[bool] = False
    """Whether its answer can be drawn."""
    for_picture: ClassVar[str | None] = None
    """The option without which nothing is read that can be drawn: a form that draws asks for it."""
    has_stacks: ClassVar[bool] = False
    """Whether its picture is one of stacks of calls."""
    nothing: ClassVar[str] = ""
    """What is said where nothing here answers it, if it does not say so itself."""
    every_rank: ClassVar[str] = ""
    """The key of a table that has rows (`run`, `rank_id`) of every rank that it answers for; empty where ranks are no rows of it."""
    every_step: ClassVar[bool] = True
    """Whether each of these ranks has rows of every step; a step may communicate nothing."""
    held: ClassVar[bool] = True
    """Whether `finish` is handed a sequence; else it is handed what the units hand on while they are read."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Name the question."""
        super().__init_subclass__(**options)
        if not hasattr(cls, "name"):
            cls.name = cls.__module__.rpartition(".")[2].replace("_", "-")

    @abstractmethod
    def finish(self, parts: Sequence[tuple[Any, P]], asked: Request[O]) -> Finished:
        """Make the tables of what the units handed on, in the order of the units."""

    def is_answered(self, finished: Finished) -> bool:
        """Whether anything here answers it."""
        return any(table.rows for table in finished.tables)

    def asked_for(self, chosen: O) -> dict[str, int | None]:
        """What is named where nothing answers: the rank, device and step that were asked for."""
        names = ("rank", "device", "step")
        return {name: getattr(chosen, name) for name in names if hasattr(chosen, name)}


def _doubted(headline: str, findings: Sequence[Finding]) -> str:
    """A headline that says first that its figures may stand on times of tasks that cannot be."""
    if not findings:
        return headline
    from aoe_reports.rules.tables.streams import contradict  # noqa: PLC0415 -- most answers have no findings

    rules = sorted({finding.rule for finding in findings if contradict(finding)})
    if not rules:
        return headline
    said = say("Times of tasks contradict each other ({rules}): figures here may be wrong.", rules=join(", ", rules))
    return join(" ", [said, headline]) if headline else said


def answer_of(question: Question[Any, Any], finished: Finished, asked: Request[Any]) -> Answer:
    """The answer made of what a question finished with."""
    return Answer(
        command=question.name,
        title=question.title,
        inputs=asked.inputs,
        findings=in_order(asked.notes.findings) if finished.spooled is None else finished.spooled,
        unreadable=asked.notes.unreadable,
        tables=finished.tables,
        more=finished.more,
        run_above=finished.run_above,
        headline=finished.headline
        if finished.spooled is not None
        else _doubted(finished.headline, asked.notes.findings),
        highlights=finished.highlights,
        sections=finished.sections,
        details=finished.details,
        pictures=finished.pictures,
    )
