"""What all commands have in common: options, where output goes, exit codes."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from aoe_reports.cli.ending import until_reader_leaves
from aoe_reports.cli.language import spoken, translated
from aoe_reports.cli.terminal import screen_of, write_control
from aoe_reports.engine.question import exit_code_of
from aoe_reports.formats.sources.objects import asked_path
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding, in_order, listed
from aoe_reports.model.options import Option
from aoe_reports.model.texts import say
from aoe_reports.present.forms import FORMS, Shown, forms_of
from aoe_reports.present.screen import PAPER, Screen

if TYPE_CHECKING:
    from aoe_reports.engine.question import Answer, Stream
    from aoe_reports.model.rules import ListedRule
    from aoe_reports.present.forms import Form
    from aoe_reports.present.reports.changes import Changes


def path_argument(words: str) -> Any:
    """The argument that names what is read: a path, or a URI whose slashes stay."""
    return typer.Argument(help=words, show_default=False, parser=asked_path)


Paths = Annotated[list[Path], path_argument("Files or folders (searched recursively).")]
Output = Annotated[
    Path | None,
    Option(
        help="Write to this file instead of printing.",
        flags=("--output", "-o"),
        only_here=say("where output is written"),
    ),
]
FORM = Option(help="Output format.", flags=("--format",))
"""The option of every command that prints; which forms there are is the type that it stands beside."""

if TYPE_CHECKING:
    Format = str
    AnnotatedFormat = str
    AbFormat = str
    DrawnFormat = str
    StackFormat = str
    NightFormat = str
    StreamFormat = str
else:
    Format = Literal[tuple(FORMS)]  # from which typer takes what may be given
    AnnotatedFormat = Literal[tuple(forms_of("annotated"))]
    AbFormat = Literal[tuple(forms_of("annotated", "ab"))]
    DrawnFormat = Literal[tuple(forms_of("drawn"))]
    StackFormat = Literal[tuple(forms_of("stacks"))]
    NightFormat = Literal[tuple(name for name in FORMS if name != "csv")]
    StreamFormat = Literal[(*FORMS, "parquet")]
ChosenForm = Annotated[Format, FORM]
MostRows = Annotated[
    int,
    Option(
        help="Number of rows of each list in text, Markdown and HTML; JSON and CSV have all.",
        minimum=1,
        shared=True,
    ),
]
MAX_ROWS = 100


def exit_code(
    findings: Sequence[Finding], *, unreadable: bool = False, strict: bool = False, reasons: Sequence[str] = ()
) -> int:
    """The contract's code, which further reasons make 1: 3 before 1 before 0."""
    return exit_code_of(findings, unreadable=unreadable, strict=strict) or int(bool(reasons))


def write(text: str, output: Path | None) -> None:
    """Print, or write the whole file at once."""
    if output is None:
        with until_reader_leaves(sys.stdout):
            sys.stdout.write(text)
            sys.stdout.flush()
        return
    from aoe_reports.engine.output import write_whole
    from aoe_reports.model.errors import AoeReportsError

    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        write_whole(output, text)
    except OSError as error:
        raise AoeReportsError(
            say("{path}: cannot be written: {why}", path=output, why=error.strerror or error)
        ) from error


def write_pieces(pieces: Iterable[str], output: Path | None, screen: Screen = PAPER) -> None:
    """Print, or write the whole file at once, what is too much to be held."""
    if output is None:
        with until_reader_leaves(sys.stdout):
            for piece in pieces:
                if screen.colour:  # it is made of texts whose own control characters are spelled out
                    write_control(sys.stdout, piece)
                else:
                    sys.stdout.write(piece)
            sys.stdout.flush()
        return
    write_bytes((piece.encode("utf-8", "replace") for piece in pieces), output)


def write_bytes(pieces: Iterable[bytes], output: Path) -> None:
    """Write the whole file at once, what is too much to be held."""
    from aoe_reports.engine.output import whole_file
    from aoe_reports.model.errors import AoeReportsError

    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(output) as file:
            for piece in pieces:
                file.write(piece)
    except OSError as error:
        raise AoeReportsError(
            say("{path}: cannot be written: {why}", path=output, why=error.strerror or error)
        ) from error


def print_findings(findings: Sequence[Finding]) -> None:
    """Findings to stderr, where they do not mix with results."""
    from aoe_reports.present.text import finding_line

    screen = screen_of(sys.stderr)
    with until_reader_leaves(sys.stderr):
        for finding in listed(findings):
            write_control(sys.stderr, finding_line(finding, spoken(), screen) + "\n")


def notify(message: str) -> None:
    """A line to stderr, in the language of the command."""
    from aoe_reports.present.values import plain

    with until_reader_leaves(sys.stderr):
        sys.stderr.write(plain(translated(message)) + "\n")


def show(
    answer: "Answer",
    form: str,
    output: Path | None,
    *,
    strict: bool = False,
    forms: "Mapping[str, Form]" = FORMS,
    rules: "Sequence[ListedRule]" = (),
    changes: "Changes | None" = None,
    most: int | None = None,
) -> None:
    """Print or write an answer; one without a title has nothing for people but its findings."""
    if answer.title or form in {"json", "csv"}:
        screen = screen_of(sys.stdout) if output is None and form == "text" else PAPER
        shown = Shown(
            answer=answer, strict=strict, language=spoken(), rules=rules, changes=changes, screen=screen, most=most
        )
        write_pieces(forms[form].render(shown), output, screen)


def _is_read_here(form: str, output: Path | None) -> bool:
    """Whether a report and stderr go to one terminal."""
    return form == "text" and output is None and sys.stdout.isatty() and sys.stderr.isatty()


def reply(
    answer: "Answer",
    form: str,
    output: Path | None,
    *,
    strict: bool = False,
    forms: "Mapping[str, Form]" = FORMS,
    rules: "Sequence[ListedRule]" = (),
    changes: "Changes | None" = None,
    most: int | None = None,
) -> NoReturn:
    """Print or write an answer, findings to stderr where the form has none, and exit as the answer says."""
    show(answer, form, output, strict=strict, forms=forms, rules=rules, changes=changes, most=most)
    if not forms[form].has_findings and not (answer.tells_findings and _is_read_here(form, output)):
        print_findings(answer.findings)
    raise typer.Exit(answer.exit_code(strict=strict))


def refuse_printed_parquet(command: str, form: str, output: Path | None) -> None:
    """Raise UsageError where Parquet would be printed; it is said before anything is read."""
    if form == "parquet" and output is None:
        raise UsageError(
            say("{command} --format parquet: expected -o FILE (Parquet cannot be shown in a terminal)", command=command)
        )


def show_stream(stream: "Stream", form: str, output: Path | None, *, title: str, strict: bool, most: int) -> None:
    """Print or write rows of any number; people are shown the first of them."""
    from aoe_reports.engine.question import Answer
    from aoe_reports.present.streams import render_stream, report_of_stream, write_parquet

    if form == "parquet" and output is not None:
        write_parquet(stream, output)
    elif form in {"json", "csv"}:
        write_pieces(render_stream(stream, form, strict=strict), output)
    else:
        report = report_of_stream(stream, title, most)
        answer = Answer(
            command=stream.command,
            title=title,
            headline=report.headline,
            sections=report.sections,
            inputs=stream.inputs,
            findings=(),
            tables=(),
        )
        write_pieces(FORMS[form].render(Shown(answer=answer, strict=strict, language=spoken())), output)


def end_stream(stream: "Stream", form: str, *, strict: bool) -> NoReturn:
    """Print the findings where the form has none, and exit as they say."""
    if form == "parquet" or not FORMS[form].has_findings:
        print_findings(in_order(stream.notes.findings))
    raise typer.Exit(stream.exit_code(strict=strict))
