"""Who follows the skill, and knows nothing else, is led to what was planted: few calls, and the row where the skill says to stop names it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import planted_changes
import planted_host
import planted_pipelines
import planted_quality
import pytest
from commandline import FIXTURES, Cli
from planted_modules import Slow
from planted_nights import NIGHTS, SINCE, night, write_training
from planted_ranks import EVERY, write_job
from talking import Assistant, ToolAnswer, assistant

from aoe_reports.assistants.skill import SKILL

MAX_CALLS = 5
SEED = 4
CODE = re.compile("`([^`]*)`")


@dataclass(frozen=True)
class Line:
    """One line of the skill's table: where it applies, what it reads, and the question that follows; none where it says to stop."""

    after: str
    table: str
    column: str
    values: Sequence[str]
    question: str
    options: Mapping[str, Any]

    def fits(self, answer: ToolAnswer) -> bool:
        """Whether it applies to an answer."""
        if self.table not in answer.content["tables"]:
            return False
        if not self.column:
            return True
        value = next((row.get(self.column) for row in answer.rows(self.table)), None)
        return value is not None and any(fnmatchcase(_text(value), pattern) for pattern in self.values)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _cells(heading: str) -> Iterator[list[str]]:
    """The cells of the lines of the table below a heading."""
    section = SKILL.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    _, _, *lines = [line for line in section.splitlines() if line.startswith("|")]
    for line in lines:
        yield [cell.strip() for cell in line.strip("|").split("|")]


def _line(cells: Sequence[str]) -> Line:
    after, table, says, then = cells
    column, _, values = says.partition(": ")
    question, *options = CODE.findall(then) or [""]
    return Line(
        after=after.strip("`"),
        table=table.strip("`"),
        column=column.strip("`") if values else "",
        values=["*"] if values == "any" else values.split(", "),
        question=question,
        options=json.loads(options[0]) if options and options[0].startswith("{") else {},
    )


BEGIN = {to_know: CODE.findall(question)[0] for to_know, question in _cells("Where to begin")}
LINES = [_line(cells) for cells in _cells("Where to go on")]


@dataclass
class Reader:
    """Somebody who knows the skill alone."""

    server: Assistant
    calls: int = 0

    def ask(self, question: str, paths: Sequence[str], options: Mapping[str, Any]) -> ToolAnswer:
        self.calls += 1
        if question == "incident":
            return self.server("incident", **options)
        return self.server.ask(question, *map(Path, paths), options=options)

    def cause(self, to_know: str, folder: Path | None) -> str:
        """The headline and the row at which the skill says to stop."""
        self.calls += 1
        self.server("runs", path="" if folder is None else str(folder))
        question, options = BEGIN[to_know], dict[str, Any]()
        asked = [f"{folder}/{side}" for side in ("before", "after")] if question == "explain" else [str(folder)]
        said = ""
        while True:
            answer = self.ask(question, asked, options)
            assert not answer.is_error, answer.text
            line = next(line for line in LINES if line.after == question and line.fits(answer))
            rows = answer.rows(line.table)
            if rows:
                said = json.dumps([answer.content["headline"], rows[0]], ensure_ascii=False)
            if not line.question:
                return said
            question, options = line.question, dict(line.options)
            if question == "incident":
                options["id"] = rows[0]["incident"]
            if question == "explain":
                asked = [row["path"] for row in rows]


def _host(kind: str) -> Callable[[Path], object]:
    return lambda folder: planted_host.write_planted(folder, kind, SEED)


def _quality(kind: str) -> Callable[[Path], object]:
    return lambda folder: planted_quality.write_planted(folder, kind, SEED)


def _pair(change: planted_changes.Planted) -> Callable[[Path], object]:
    return lambda folder: planted_changes.write_pair(folder, change, SEED)


SLOW, SLOWER = "why a job is slow", "why run B is slower than run A"
PLANTED: dict[str, tuple[str, Callable[[Path], object], Sequence[str]]] = {
    **{
        f"host: {kind}": (SLOW, _host(kind), sorted(causes))
        for kind, (_, causes) in planted_host.KINDS.items()
        if causes
    },
    **{
        f"changed: {change.name}": (SLOWER, _pair(change), [f'"{change.area}"', f'"{change.cause}"'])
        for change in planted_changes.planted(SEED)
    },
    "a slower clock": (SLOW, _quality("slower clock"), ["frequency-drop"]),
    "another process": (SLOW, _quality("other process"), ["other-work"]),
    "a slow chip": (
        SLOW,
        lambda folder: write_job(folder, 4, {3: dict.fromkeys(EVERY, 1.06)}),
        ['"rank_id": 3', '"all operators"'],
    ),
    "an operator on one rank": (
        SLOW,
        lambda folder: write_job(folder, 4, {2: {"MatMulV2": 1.2}}),
        ['"rank_id": 2', '"one operator"', "MatMulV2"],
    ),
    "stages that wait": (
        SLOW,
        lambda folder: planted_pipelines.write(folder, [planted_pipelines.planted(5)] * 2),
        ["pipeline-step", "bubbles"],
    ),
}
"""By name: what somebody wants to know, what writes the captures, and what has to be named."""


@pytest.mark.slow
def test_the_skill_leads_to_what_is_planted(tmp_path: Path) -> None:
    for name, (_, write, _) in PLANTED.items():
        write(tmp_path / name)
    missed, calls = dict[str, str](), dict[str, int]()
    with assistant("--root", tmp_path) as server:
        for name, (to_know, _, expected) in PLANTED.items():
            reader = Reader(server)
            said = reader.cause(to_know, tmp_path / name)
            calls[name] = reader.calls
            if not all(word in said for word in expected):
                missed[name] = said
    assert len(PLANTED) > 30
    assert missed == {}
    assert max(calls.values()) <= MAX_CALLS, calls


def test_damaged_results_of_tuning_are_named() -> None:
    with assistant("--root", FIXTURES) as server:
        reader = Reader(server)
        said = reader.cause("whether files or tuning results are right", FIXTURES / "aoe" / "invalid")
    assert '"error"' in said
    assert reader.calls == 2


def test_the_store_leads_to_what_got_slower_and_to_the_nights_to_compare(cli: Cli, tmp_path: Path) -> None:
    write_training(tmp_path / "n", "slow", Slow(3, "Attention", 1.10))
    assert cli("ingest", tmp_path / "n", "--store", tmp_path / "s", "--workload", "net", "--by-module").code == 0
    with assistant("--root", tmp_path / "n", "--store", tmp_path / "s") as one:
        runs, incidents = one("runs"), one("incident")
        first = incidents.rows("incidents")[0]
        incident = one("incident", id=first["incident"])
        reader = Reader(one)
        why = reader.cause("what got slower in the stored nights", None)
        absent = one("incident", id="nothing")
    assert runs.content["tables"]["stored_runs"]["total"] == NIGHTS
    assert runs.rows("stored_runs")[0]["night"] == night(NIGHTS - 1)
    assert first["title"].startswith("layer DecoderLayer_3/Attention of net, rank 0 +")
    assert (first["since"], first["open"]) == (night(SINCE), True)
    assert [row["night"] for row in incident.rows("runs")] == [night(SINCE - 1), night(SINCE)]
    assert reader.calls == 4
    assert "A step on rank 0: +" in why
    assert absent.text.startswith("no incident 'nothing'")


def test_the_skill_names_every_question_and_only_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with assistant("--root", tmp_path) as server:
        tools = server.portal.call(server.client.list_tools).tools
    asked = next(tool for tool in tools if tool.name == "ask").input_schema["properties"]["question"]["enum"]
    named = {name for _, cell in _cells("Where to begin") for name in CODE.findall(cell)}
    named |= {line.after for line in LINES} | {line.question for line in LINES}
    assert set(asked) <= named
    assert {line.question for line in LINES} | {line.after for line in LINES} <= {*asked, "incident", ""}
