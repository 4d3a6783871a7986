"""Documents in pages that an assistant's context has room for, and the cursors that lead from one to the next."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from typing import Any

from aoe_reports.assistants.documents import Document, Table
from aoe_reports.assistants.refusal import RefusedError
from aoe_reports.assistants.words import neutral, tokens_of
from aoe_reports.model.documents import Json, JsonObject

MOST_TOKENS = 8000
"""Of an answer: its text and its structured content together."""
_OF_TEXT = 800
_ROOMS = (6000, 4500, 3000, 1500, 500)
"""Tokens for rows: the first with which everything around them finds room, too."""
_OF_HINTS = 1200
_CUTS = (None, 60, 10)
"""So many characters of each cell of a row that is larger than a page."""
_CURSOR = re.compile(r"(\d{1,9})-([0-9a-f]{12})")


@dataclass(frozen=True, slots=True)
class Page:
    """What one call is answered with."""

    text: str
    content: JsonObject


def page_of(document: Document, cursor: str | None) -> Page:
    """The page at a cursor, the first one without. Raises RefusedError."""
    digest = _digest_of(document)
    first = 0 if cursor is None else _place_in(cursor, digest, document)
    for room in _ROOMS:
        content = _content_of(document, first, digest, room)
        page = Page(_text_of(content), content)
        if size_of(page) <= MOST_TOKENS:
            break
    return page


def size_of(page: Page) -> int:
    """At most so many tokens a page takes."""
    return tokens_of(page.text) + tokens_of(json.dumps(page.content, ensure_ascii=False))


def _content_of(document: Document, first: int, digest: str, room: int) -> JsonObject:
    """The rows from one on, as many as there is room for (one in any case), and what stands around them."""
    tables: JsonObject = {}
    whole, place, end = room, 0, first
    for table in document.tables:
        begin = min(max(first - place, 0), len(table.rows))
        shown, count, room = _shown(table, begin, room, whole, is_first=end == first)
        tables[table.key] = shown
        place, end = place + len(table.rows), end + count
    content: JsonObject = {"answers": document.answers, "headline": document.headline}
    content |= {key: value for key, value in document.more.items() if value not in (None, [], {})}
    if document.notes:
        content["notes"] = list(document.notes)
    content["tables"] = tables
    if end < place:
        content |= {"cursor": f"{end}-{digest}", "rows_left": place - end}
    content["next"] = _hints_of(document)
    return content


def _hints_of(document: Document) -> list[Json]:
    """The hints, as far as there is room: paths may be long."""
    told: list[Json] = []
    for hint in document.hints:
        told.append(hint.as_dict())
        if _size(told) > _OF_HINTS:
            return told[:-1]
    return told


def _shown(table: Table, begin: int, room: int, whole: int, *, is_first: bool) -> tuple[JsonObject, int, int]:
    """(a table on a page, how many of its rows, the room that is left: none where rows have to wait)."""
    shown: JsonObject = {"total": table.total}
    if len(table.rows) < table.total:
        shown["kept"] = len(table.rows)
    if begin == len(table.rows):
        return shown, 0, room
    head: JsonObject = {"from": begin + 1, "columns": [*table.columns]}
    same, _ = _fitting([*table.same.values()], whole // 4)
    head |= {"units": dict(table.units)} if table.units else {}
    head |= {"same": dict(zip(table.same, same, strict=True))} if same else {}
    told, room = _rows_of(table, begin, room - _size(head), whole, is_first=is_first)
    return {**shown, **head, "rows": [*told]} if told else shown, len(told), room


def _rows_of(table: Table, begin: int, room: int, whole: int, *, is_first: bool) -> tuple[list[list[Json]], int]:
    told: list[list[Json]] = []
    for row in table.rows[begin:]:
        fitting, size = _fitting(row, whole // 2)
        if size > room and not (is_first and not told):
            return told, 0
        told.append(fitting)
        room -= size
    return told, room


def _fitting(row: list[Json], most: int) -> tuple[list[Json], int]:
    """(cells, cut where together they are larger than they may be, their size)."""
    cells, size = row, most
    for cut in _CUTS:
        cells = row if cut is None else [_cut(cell, cut) for cell in row]
        size = _size(cells) + 1
        if size <= most:
            break
    return cells, size


def _size(value: Json) -> int:
    return tokens_of(json.dumps(value, ensure_ascii=False))


def _cut(cell: Json, most: int) -> Json:
    if isinstance(cell, str):
        return cell if len(cell) <= most else f"{cell[:most]}…"
    return "…" if isinstance(cell, list | dict) else cell


def _place_in(cursor: str, digest: str, document: Document) -> int:
    found = _CURSOR.fullmatch(cursor)
    if found is None or int(found[1]) >= sum(len(table.rows) for table in document.tables):
        raise RefusedError("this is no cursor of this answer: give `cursor` as the page before told it, or none")
    if found[2] != digest:
        raise RefusedError("the cursor is of another answer, or the data has changed since: ask again without it")
    return int(found[1])


def _digest_of(document: Document) -> str:
    told = json.dumps(asdict(document), ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:12]


def _text_of(content: Any) -> str:
    """The page in a few lines, for whoever looks at texts only."""
    lines = [content["headline"], *content.get("notes", [])]
    for key, table in content["tables"].items():
        if table.get("rows"):
            first = {**table.get("same", {}), **dict(zip(table["columns"], table["rows"][0], strict=True))}
            told = ", ".join(f"{name}={cell}" for name, cell in first.items() if cell is not None)
            lines.append(f"{key}: {table['total']:,} rows, from row {table['from']}: {neutral(told, 500)}")
        elif table["total"]:
            lines.append(f"{key}: {table['total']:,} rows, not on this page")
    lines += [
        f"next: {hint['tool']} {json.dumps(hint['arguments'], ensure_ascii=False)}: {hint['why']}"
        for hint in content["next"]
    ]
    if "cursor" in content:
        lines.append(f"{content['rows_left']:,} rows left: the same call with cursor {content['cursor']}")
    return _within(lines, _OF_TEXT)


def _within(lines: list[str], most: int) -> str:
    """As many lines as there is room for; the last ones, which lead on, before those in the middle."""
    kept = [line for line in lines if line]
    while len(kept) > 1 and tokens_of("\n".join(kept)) > most:
        del kept[max(1, len(kept) // 2)]
    return kept[0] if len(kept) == 1 else "\n".join(kept)
