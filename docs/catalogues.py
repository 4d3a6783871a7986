"""Brings the catalogues of `src/aoe_reports/locale` up to what the source says; `--check` only says what is out of date.

New texts come in without a translation, those that nobody says any more go out. A new language is an empty file with a
head (copy that of another), brought up to date.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import typer
from babel.messages.catalog import Catalog
from babel.messages.pofile import normalize, read_po, write_po
from typer.core import TyperGroup

import aoe_reports
from aoe_reports.cli.main import app
from aoe_reports.locale.po import words_before
from aoe_reports.site.texts import CONTEXT

SOURCE = Path(aoe_reports.__file__).parent
LOCALE = SOURCE / "locale"
MAKERS = {
    "say": (0,),
    "Column": (1,),
    "column": (0,),
    "derived": (0,),
    "one_table": (1,),
    "job_answer": (1,),
    "Section": (0,),
    "Report": (0,),
    "rows_report": (1,),
    "render": (2,),
    "Scope": (0,),
    "rule": (2, 3),
}
"""Calls that make texts, or take words that are looked up as they are, and where in them those stand."""
TABLES = {
    "rules._SAID": (),
    "advice.EVIDENCE": (),
    "reports.COUNTS": (),
    "reports._SECTIONS": (1,),
}
"""Constants (by their folder) whose values are said elsewhere; of rows the places of texts. Whatever is not such a table is marked by `N_`."""
CODE = {"snippet", "switch_off", "after"}
"""What stands beside texts in data (TOML) and is not translated."""
_ON_A_PAGE = re.compile(r'\btext\("((?:[^"\\]|\\.)*)"[,)]')


Said = tuple[str | None, str | tuple[str, str]]
"""(context, English) of a text; of one that counts the English for one and for more."""


@cache
def said() -> frozenset[Said]:
    """Whatever people read."""
    found = {one for path in SOURCE.rglob("*.py") for one in _Module(path).said()}
    found |= {(None, text) for path in SOURCE.rglob("*.j2") for text in _ON_A_PAGE.findall(path.read_text("utf-8"))}
    found |= {
        (None, text) for path in SOURCE.rglob("*.toml") for text in _in_data(tomllib.loads(path.read_text("utf-8")))
    }
    found |= {(None, text) for text in _helps(typer.main.get_command(app))}
    return frozenset((context, text) for context, text in found if "{}" in text or any(map(str.isalpha, "".join(text))))


def _helps(command: Any) -> Iterator[str]:
    """What a command and all below it say in --help."""
    yield from filter(None, (command.help, *(getattr(option, "help", None) for option in command.params)))
    if isinstance(command, TyperGroup):
        for one in command.commands.values():
            yield from _helps(one)


def _in_data(value: Any, key: str = "") -> Iterator[str]:
    """The texts of a file of data: notes, and whatever has a blank."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _in_data(part, name) if name not in CODE else ()
    elif isinstance(value, list):
        for part in value:
            yield from _in_data(part)
    elif isinstance(value, str) and (key == "note" or " " in value):
        yield value


class _Module:
    """What a module says; names are followed inside of a function, and to what stands outside of all."""

    def __init__(self, path: Path) -> None:
        self.tree = ast.parse(path.read_text("utf-8"))
        self.room = path.parent.name
        self.of_site = "site" in path.parts[-3:-1]
        self.makers = MAKERS if "aoe_reports.model.rows import" in path.read_text("utf-8") else MAKERS | {"column": ()}
        self.outside: dict[str, list[ast.expr]] = {}
        self.values = self.outside
        """What names may stand for."""
        self._learn(node for statement in self.tree.body if not _is_code(statement) for node in ast.walk(statement))

    def said(self) -> Iterator[Said]:
        """Its texts."""
        for statement in self.tree.body:
            for part in filter(_is_code, ast.walk(statement)) if _is_code(statement) else (statement,):
                self.values = dict(self.outside)
                if isinstance(part, ast.FunctionDef):
                    self.values = {}
                    self._learn(ast.walk(part))
                    self.values = self.outside | self.values
                for node in ast.walk(part):
                    if isinstance(node, ast.Call) and node.args:
                        yield from self._of_call(node)
                    yield from ((None, text) for text in _declared(node))
        for name, values in self.outside.items():
            places = TABLES.get(f"{self.room}.{name}")
            for value in values if places is not None else ():
                yield from ((None, text) for text in _in_table(value, places or ()))

    def _learn(self, nodes: Iterable[ast.AST]) -> None:
        """Follow what is given names, loops over rows last: the rows may have one."""
        loops = []
        for node in nodes:
            if isinstance(node, ast.Assign):
                self._keep(node.targets[0], node.value)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                self._keep(node.target, node.value)
            elif isinstance(node, ast.For | ast.comprehension):
                loops.append(node)
        for loop in loops:
            rows = self.values.get(loop.iter.id, ()) if isinstance(loop.iter, ast.Name) else (loop.iter,)
            for some in tuple(rows):
                for row in some.elts if isinstance(some, ast.Tuple | ast.List) else ():
                    self._keep(loop.target, row)

    def _keep(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.values.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, part in zip(target.elts, value.elts, strict=False):
                self._keep(one, part)

    def _of_call(self, node: ast.Call) -> Iterator[Said]:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        first, *_ = texts = [one.value for one in node.args if isinstance(one, ast.Constant)] or [None]
        if name == "N_":
            yield from ((None, text) for text in _in_table(node.args[0], ()))
        elif name == "count_of":
            yield from ((None, pair) for pair in self._pairs(node.args[1:]))
        elif name == "sense":
            yield first, texts[1]
        elif name in {"join", "joined"} and len(node.args) > 1 and isinstance(first, str):
            yield None, f"{{}}{first}{{}}"
        else:
            places = (0,) if name == "text" and self.of_site else self.makers.get(name, ())
            for place in places:
                if place < len(node.args):
                    yield from ((None, text) for text in self._texts(node.args[place]))

    def _pairs(self, nodes: list[ast.expr]) -> Iterator[tuple[str, str]]:
        """The texts for one and for more that a count may have: two arguments, or a pair of a table."""
        match nodes:
            case [ast.Constant(value=str(one)), ast.Constant(value=str(more))]:
                yield one, more
            case [ast.Starred(value=ast.Subscript(value=ast.Name(id=name)))]:
                found = [text for value in self.values.get(name, ()) for text in _in_table(value, ())]
                yield from zip(found[::2], found[1::2], strict=True)

    def _texts(self, node: ast.expr) -> Iterator[str]:
        """The texts that an argument may be."""
        match node:
            case ast.Constant(value=str(text)):
                yield text
            case ast.IfExp():
                yield from self._texts(node.body)
                yield from self._texts(node.orelse)
            case ast.Name():
                for value in self.values.get(node.id, ()):
                    if not isinstance(value, ast.Name):
                        yield from self._texts(value)
            case ast.Starred():
                yield from self._texts(node.value)
            case ast.Subscript(value=ast.Name(id=name)):
                for value in self.values.get(name, ()):
                    yield from _in_table(value, ())


def _declared(node: ast.AST) -> Iterator[str]:
    """What a question says of itself, and titles of tables."""
    if isinstance(node, ast.ClassDef):
        for line in node.body:
            match line:
                case ast.Assign(targets=[ast.Name(id="title" | "nothing")], value=ast.Constant(value=str(text))):
                    yield text
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"Rows", "Answer"}:
        titles = [one.value for one in node.keywords if one.arg == "title"]
        yield from (str(title.value) for title in titles if isinstance(title, ast.Constant))


def _is_code(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.ClassDef)


def _in_table(node: ast.AST, places: tuple[int, ...]) -> Iterator[str]:
    """The texts of a table: values of dictionaries, parts of rows."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.Dict():
            for value in node.values:
                yield from _in_table(value, places)
        case ast.Tuple() | ast.List() | ast.Set():
            row = places and isinstance(node.elts[0], ast.Constant)
            for part in [node.elts[place] for place in places] if row else node.elts:
                yield from _in_table(part, places)
        case ast.Call():
            for part in node.args:
                yield from _in_table(part, places)


def updated(path: Path) -> str:
    """A catalogue with what is said, all of it and nothing else."""
    text = path.read_text("utf-8")
    lines = (line for line in text.splitlines(keepends=True) if not line.startswith("#|"))  # to Babel they are comments
    catalogue = read_po(io.BytesIO("".join(lines).encode()), abort_invalid=True)
    found = said()
    template = Catalog()
    for context, english in found:
        template.add(english, context=context)
    for message in catalogue:
        if message.context == CONTEXT and (None, message.id) in found:
            template.add(message.id, context=CONTEXT)
    before = words_before(text)
    catalogue.update(template, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    for message in catalogue:
        message.flags.clear()  # as for Python's other ways of formatting
    written = io.BytesIO()
    write_po(written, catalogue, width=0, no_location=True, omit_header=True, sort_output=True)
    head, _, _ = text.partition("\n\n")
    entries = "\n".join(_with_words_before(written.getvalue().decode().strip().splitlines(), before))
    return f"{head.rstrip()}\n\n{entries}\n"


def _with_words_before(lines: Iterable[str], before: Mapping[str, str]) -> Iterator[str]:
    """The lines of a catalogue, each text that was reworded after what it was (Babel drops that, and breaks it where it is long)."""
    known = {f"msgid {normalize(text, width=0)}": f"#| msgid {normalize(was, width=0)}" for text, was in before.items()}
    for line in lines:
        if line in known:
            yield known[line]
        yield line


def main() -> None:
    """Bring all catalogues up to date, or say which are not."""
    stale = [path for path in sorted(LOCALE.glob("*.po")) if updated(path) != path.read_text("utf-8")]
    for path in stale:
        if "--check" not in sys.argv[1:]:
            path.write_text(updated(path), "utf-8")
        sys.stdout.write(f"{path.name}\n")
    sys.exit(1 if stale and "--check" in sys.argv[1:] else 0)


if __name__ == "__main__":
    main()
