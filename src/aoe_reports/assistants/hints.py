"""Which call leads on from an answer: what its first rows say decides, never a name in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aoe_reports.assistants.documents import Document, Hint
from aoe_reports.model.documents import JsonObject

MOST_HINTS = 3
LARGE_SHARE = 0.1
"""Of a step, from which on a part of it is worth a question of its own."""


def ask(question: str, paths: Sequence[str], why: str, **options: Any) -> Hint:
    """A question about paths."""
    more = {"options": options} if options else {}
    return Hint("ask", {"question": question, "paths": list(paths), **more}, why)


def hints_of(question: str, paths: Sequence[str], options: Mapping[str, Any], document: Document) -> tuple[Hint, ...]:
    """What to ask after a question; nothing where the answer names the place itself, and never the same again."""
    after = _AFTER.get(question)
    found = [] if after is None else after(paths, document)
    same = ask(question, paths, "", **options).arguments
    found = [one for one in found if one.arguments != same]
    return tuple([*found, *_to_sources(document)][:MOST_HINTS])


def _to_sources(document: Document) -> list[Hint]:
    """The gravest finding with a line in a file."""
    placed = (one for one in document.table("findings") if one["severity"] != "info" and one.get("line"))
    return [
        Hint("source", {"path": one["path"], "line": one["line"]}, "the lines of the gravest finding") for one in placed
    ][:1]


def _list(row: Mapping[str, Any], key: str) -> list[Any]:
    value = row.get(key)
    return value if isinstance(value, list) else []


def _number(row: Mapping[str, Any], key: str) -> float:
    value = row.get(key)
    return float(value) if isinstance(value, int | float) else 0.0


def _after_quality(paths: Sequence[str], document: Document) -> list[Hint]:
    """Where the time goes, also of what is no baseline: what stands first is to be repaired before anything is compared with it."""
    ranks = {row.get("rank_id") for row in document.table("devices")}
    peers = [ask("stragglers", paths, "several ranks: whether all wait for one of them")] if len(ranks) > 1 else []
    if any("no-timeline" in _list(row, "notes") for row in document.table("runs")):
        return [*peers, ask("hotspots", paths, "no timeline here: which operators take the time")]
    trim = {"warm-up", "tear-down"} & {row["code"] for row in document.table("rows")}
    why = "where a step's time goes: computing, communication that it waits for, nothing"
    return [ask("breakdown", paths, why, **({"trim": True} if trim else {})), *peers]


def _after_breakdown(paths: Sequence[str], document: Document) -> list[Hint]:
    """What a step waits for comes before what it computes, which is what it is for."""
    rows = [row for row in document.table("rows") if row.get("step") is None] or document.table("rows")
    whole = sum(_number(row, "end_to_end_us") for row in rows)
    hotspots = ask("hotspots", paths, "which operators the computing is made of")
    if not whole:
        return [hotspots]
    parts = {
        "communication": sum(_number(row, "communication_not_overlapped_us") for row in rows) / whole,
        "host": sum(_number(row, "free_us") for row in rows) / whole,
    }
    found = [
        ask(question, paths, _WHY_OF_PARTS[question].format(share=share))
        for question, share in sorted(parts.items(), key=lambda pair: -pair[1])
        if share >= LARGE_SHARE
    ]
    if len({row.get("rank_id") for row in rows}) > 1:
        found.insert(1, ask("stragglers", paths, "several ranks: whether all wait for one of them"))
    return [*found, hotspots]


_WHY_OF_PARTS = {
    "communication": "{share:.0%} of the step waits for communication",
    "host": "the device has nothing to do in {share:.0%} of the step",
}


def _after_communication(paths: Sequence[str], document: Document) -> list[Hint]:
    types = {str(row.get("op_type")) for row in document.table("rows")}
    found = []
    if any("send" in one.lower() or "receive" in one.lower() for one in types):
        found.append(ask("communication", paths, "sends and receives: what stages wait for each other", pipeline=True))
    if document.table("awaited"):
        found.append(ask("stragglers", paths, "ranks wait for another one: what it is slow in"))
    if document.table("gradients") or any("reduce" in one.lower() for one in types):
        found.append(ask("communication", paths, "why gradients are reduced late", bucket_order=True))
    return found


def _after_hotspots(paths: Sequence[str], document: Document) -> list[Hint]:
    del document
    return [
        ask("advise", paths, "how much of it could be saved, and by what"),
        ask("roofline", paths, "how near the operators are to the chip's peaks"),
    ]


def _after_host(paths: Sequence[str], document: Document) -> list[Hint]:
    """The first cause names itself; where the program calls is what `stacks` tells."""
    if not document.table("causes"):
        return [ask("hotspots", paths, "the host holds nothing up: which operators take the time")]
    return []


def _after_stragglers(paths: Sequence[str], document: Document) -> list[Hint]:
    slow = [row for row in document.table("rows") if row.get("state") == "slow"]
    if not slow or slow[0].get("rank_id") is None:
        return [ask("hotspots", paths, "no rank is slower than its peers: which operators take the time")]
    if slow[0].get("cause") == "all operators":
        return []  # the chip, and no operator
    return [ask("hotspots", paths, "the operators of the slow rank", rank=slow[0]["rank_id"])]


def _after_explain(paths: Sequence[str], document: Document) -> list[Hint]:
    rows = document.table("rows")
    if not rows or len(paths) != 2:  # noqa: PLR2004 -- a baseline and a candidate
        return []
    area, candidate = rows[0].get("area"), paths[1:]
    if area == "communication":
        return [ask("communication", candidate, "the part that changed most is communication")]
    if area == "idle":
        return [ask("host", candidate, "the part that changed most is time without work")]
    if area == "computing":
        return [ask("compare", paths, "the operators that changed, with intervals", by="op_name")]
    return []


def _after_compare(paths: Sequence[str], document: Document) -> list[Hint]:
    if not document.table("rows"):
        return []
    return [ask("explain", paths, "why the step changed, part by part")]


_OF_RULES = (
    ("communication", "communication"),
    ("link", "communication"),
    ("host", "host"),
    ("free", "host"),
    ("rank", "stragglers"),
)


def _after_advise(paths: Sequence[str], document: Document) -> list[Hint]:
    for row in document.table("rows")[:1]:
        for word, question in _OF_RULES:
            if word in str(row.get("rule")):
                return [ask(question, paths, "what stands behind the first piece of advice")]
    return []


def _after_steps(paths: Sequence[str], document: Document) -> list[Hint]:
    return [ask("breakdown", paths, "where a step's time goes")] if document.table("rows") else []


_AFTER: Mapping[str, Callable[[Sequence[str], Document], list[Hint]]] = {
    "quality": _after_quality,
    "breakdown": _after_breakdown,
    "communication": _after_communication,
    "hotspots": _after_hotspots,
    "roofline": _after_steps,
    "host": _after_host,
    "stragglers": _after_stragglers,
    "explain": _after_explain,
    "compare": _after_compare,
    "advise": _after_advise,
    "steps": _after_steps,
}


def after_files(runs: Sequence[JsonObject], others: Sequence[JsonObject], path: str) -> list[Hint]:
    """What to ask first about what lies here."""
    names = list(dict.fromkeys(str(row["run"]) for row in runs))
    if len(names) == 2:  # noqa: PLR2004
        before, after = sorted(names, key=_is_later)
        return [
            ask(
                "explain",
                [before, after],
                "two runs: why a step of the second takes another time (turn them round if it is older)",
            ),
            ask("quality", names, "whether they are worth comparing"),
        ]
    found = []
    if names:
        found.append(ask("quality", names if len(names) == 1 else [path], "whether it is worth reading at all"))
    if others:
        found.append(ask("check", [path], "whether results, banks and records are right"))
    return found


def _is_later(name: str) -> tuple[bool, str]:
    """What is called before stands before."""
    return not any(word in name.lower() for word in ("before", "base", "old")), name
