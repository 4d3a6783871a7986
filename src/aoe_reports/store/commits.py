"""One commit of the table's log, as it lies there: what it adds, what it takes out, what it says of itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aoe_reports.model.documents import JsonObject
from aoe_reports.model.texts import say
from aoe_reports.store.digest import FORM, line_of

IN_FORCE, PREVIOUS = "in_force", "previous_sha256"
"""What a commit of ours says: the digest of the files in force after it, the hash of the commit before it."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit; `problem` says in words what is wrong with its text, if anything."""

    sha256: str
    adds: Sequence[JsonObject] = ()
    removes: Sequence[JsonObject] = ()
    facts: JsonObject = field(default_factory=dict)
    description: JsonObject | None = None
    """What it says of the table itself: its columns, partitions, properties."""
    problem: str | None = None

    @property
    def in_force(self) -> str | None:
        """The digest of what is in force after it; None where somebody else made it, or an older version."""
        told = self.facts.get(IN_FORCE)
        return told if isinstance(told, str) and told.startswith(FORM) else None

    @property
    def previous(self) -> str | None:
        """The hash of the commit before it, where it says one."""
        told = self.facts.get(PREVIOUS)
        return told if isinstance(told, str) else None

    def lines(self) -> dict[bytes, bytes]:
        """For the path of each file that it adds all that it says of it; ValueError where that makes no sense."""
        try:
            return {path_of(add): line_of(add, statistics_in(add)) for add in self.adds}
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(str(error)) from error


def path_of(action: JsonObject) -> bytes:
    """The file that an action adds or removes; TypeError or KeyError where it names none."""
    path = action["path"]
    if not isinstance(path, str):
        raise TypeError(path)
    return path.encode()


def statistics_in(add: JsonObject) -> JsonObject:
    """What an `add` says of the rows of its file."""
    told: Any = add.get("stats")
    return dict(json.loads(told)) if told else {}


def read_commit(content: bytes) -> Commit:
    """A commit of its text, whatever became of it."""
    sha256 = hashlib.sha256(content).hexdigest()
    if not content:
        return Commit(sha256, problem=say("this commit is an empty file: its content is lost"))
    found: dict[str, list[Any]] = {}
    try:
        for line in content.splitlines():
            for name, action in json.loads(line).items() if line.strip() else ():
                found.setdefault(name, []).append(action)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return Commit(sha256, problem=say("this commit is damaged or truncated: its content is lost"))
    facts = next(iter(found.get("commitInfo", ())), None)
    if not isinstance(facts, dict):
        return Commit(sha256, problem=say("this commit is truncated: its own description is missing"))
    adds, removes = found.get("add", []), found.get("remove", [])
    description = next(iter(found.get("metaData", ())), None)
    return Commit(sha256, adds, removes, facts, description, _miscounted(facts, {"adds": adds, "removes": removes}))


def _miscounted(facts: JsonObject, actions: Mapping[str, Sequence[Any]]) -> str | None:
    for name, held in actions.items():
        if name in facts and facts[name] != len(held):
            return say(
                "this commit is truncated: it states {told} {name} but has {found}",
                told=facts[name],
                name=name,
                found=len(held),
            )
    return None


def commit_path(version: int) -> str:
    """Where a commit lies."""
    return f"_delta_log/{version:020}.json"
