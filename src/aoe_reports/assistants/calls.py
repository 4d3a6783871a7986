"""The tools, by what each takes; a call is answered in a process of its own, which may be ended at any time."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any

from msgspec import Meta, Struct

from aoe_reports.assistants.documents import Document, RefusedError, neutral
from aoe_reports.assistants.places import Places
from aoe_reports.engine.question import Question
from aoe_reports.model.errors import AoeReportsError, LeftOutWarning

MAX_NOTES = 3


@dataclass(frozen=True, slots=True)
class Access:
    """What assistants may ask, and where it is looked for."""

    questions: Mapping[str, Question[Any, Any]]
    places: Places
    store: str | None


class Call(Struct, forbid_unknown_fields=True, kw_only=True):
    """What every tool takes."""

    cursor: Annotated[str, Meta(description="From the page before.")] = ""


class Runs(Call):
    """What may be read: without `path` the roots and the stored runs; with it the runs and other files below. Start here."""

    path: str = ""


class Ask(Call):
    """Ask a question about runs; without `paths` get its options and columns. compare and explain take two paths: baseline, candidate."""

    question: str
    paths: Annotated[tuple[str, ...], Meta(max_length=20, description="Files or folders.")] = ()
    options: Annotated[dict[str, Any], Meta(description='Such as {"rank": 0}.')] = {}
    table: Annotated[str, Meta(description="Only this table of the answer.")] = ""


class Tables(Call):
    """The tables that `sql` queries, or with `name` the columns of one."""

    name: str = ""


class Sql(Call):
    """One SELECT (DuckDB) over the tables of the captures below a path, or without `path` of the store, for what no question answers."""

    query: str
    path: str = ""


class Incident(Call):
    """What got slower or faster in the stored nights; with `id` one incident: what changed, its causes, the runs to compare."""

    id: str = ""


TOOLS: Mapping[str, type[Call]] = {kind.__name__.lower(): kind for kind in (Runs, Ask, Tables, Sql, Incident)}


def answered(call: Call, access: Access, server: int) -> Document | str:
    """The answer to a call, or why there is none; raises nothing. Ends with the process `server`."""
    _end_with(server)
    try:
        from aoe_reports.assistants.answers import answer  # noqa: PLC0415 -- pyarrow, which the server does not need

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", LeftOutWarning)
            document = answer(call, access)
        left_out = [neutral(str(one.message)) for one in caught if issubclass(one.category, LeftOutWarning)]
        return replace(document, notes=[*document.notes, *left_out][:MAX_NOTES])
    except (RefusedError, AoeReportsError) as error:
        return neutral(str(error), 1000)
    except MemoryError:
        return "there is not enough memory for this: ask about one rank, or a folder below"
    except OSError as error:
        return f"this cannot be read: {error.strerror or type(error).__name__}"
    except BaseException as error:  # noqa: BLE001 -- a panic of a library is no Exception, and ends no server
        return f"an internal error ({type(error).__name__}): please report it, with what was asked"


@cache
def _end_with(server: int) -> None:
    """End this process once the server is gone, however it went."""

    def look() -> None:
        while os.getppid() == server:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()
