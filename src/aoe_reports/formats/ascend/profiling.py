"""How profiles are taken: the options of the profiler, and what to write into a script or on the command line for a question.

Both are data: `profiling_options.toml` and `profiling_recipes.toml`, whose texts are translated as those of the code are.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say

Framework = Literal["tf1-estimator", "tf1-session", "tf2", "pytorch", "mindspore", "vllm", "msprof", "msprof-op"]
Question = Literal["hotspots", "steps", "timeline", "communication", "tuning"]

COLLECTOR = say("collector of CANN (hicann/runtime 681ef761)")
ADAPTER = say("TensorFlow adapter (Ascend/tensorflow 085a7b2e)")


@dataclass(frozen=True, slots=True)
class Option:
    """One key of profiling_options."""

    key: str
    kind: Literal["choice", "integer", "size", "metrics", "list", "text"] = "choice"
    default: str | None = None
    values: tuple[str, ...] = ("on", "off")
    least: int = 0
    most: int = 0
    files: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """One key or argument with the value that a question needs, and the files that it yields."""

    key: str
    value: str
    files: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a profile is taken in one framework."""

    framework: Framework
    question: Question
    language: Literal["python", "shell"]
    snippet: str
    settings: tuple[Setting, ...]
    after: tuple[str, ...]
    """Commands that turn what was collected into the files."""
    switch_off: str
    """How profiling is switched off again, as code or a sentence of the same language."""
    notes: tuple[str, ...]
    sources: tuple[str, ...]


def _read(name: str) -> Mapping[str, Any]:
    """The data of a file; notes and whatever has a blank are texts."""
    return {
        key: _said(entry) for key, entry in tomllib.loads(Path(__file__).with_name(name).read_text("utf-8")).items()
    }


def _said(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _said(part, name) for name, part in value.items()}
    if isinstance(value, list):
        return tuple(_said(part) for part in value)
    return say(value) if isinstance(value, str) and (key == "note" or " " in value) else value


OPTIONS = {key: Option(key, **entry) for key, entry in _read("profiling_options.toml").items()}
"""What the collector takes."""

ONLY_2022 = ("aiv_metrics", "biu_freq", "power")
"""Keys of the collector of 2022 that today's refuses."""

DEFAULTS = {
    "output": "./", "training_trace": "on", "task_trace": "on", "hccl": "on", "aicpu": "on",
    "aic_metrics": "PipeUtilization", "msproftx": "off",
}  # fmt: skip
"""What is collected where profiling is on and no option is given. One option given replaces all of it."""

MAX_BYTES = 2048
"""From this length on a string of options is read as an empty one."""

EXCLUSIVE_WITH_INSTR = ("task_time", "task_trace", "training_trace", "aicpu", "l2", "hccl", "runtime_api")
"""What may not be on beside instr_profiling_freq (a collector of 2023)."""


def recipe(framework: Framework, question: Question) -> Recipe:
    """How the profile that a question needs is taken; UsageError where it cannot be."""
    found = _read("profiling_recipes.toml")
    own = found[framework]
    general = found.get(own.get("like"), {})
    way = {**general, **own}
    if question not in way.get("answers", (question,)):
        text = say(
            "collect: msprof-op measures single kernels, which does not answer {question}; expected --for {those}",
            question=question,
            those=", ".join(way["answers"]),
        )
        raise UsageError(text)
    values = {**way["settings"], **way.get("settings_for", {}).get(question, {})}
    known = {
        "arguments": " ".join(f"{key}={value}" for key, value in values.items()),
        "json": json.dumps(values, separators=(",", ":")),
    }
    notes = [*general.get("notes", ()), *own.get("notes", ()), *way.get("notes_for", {}).get(question, ())]
    if question == "tuning":
        notes.append(say("Switch profiling off before AOE tunes: it distorts what AOE measures."))
        if framework.startswith("tf"):
            notes.append(say("Static memory allocation must also be off (static_memory_policy = 0)."))
    more = (say("AOE guide, restrictions of tuning"),) if question == "tuning" else ()
    return Recipe(
        framework=framework,
        question=question,
        language=way["language"],
        snippet=way["snippet"].strip().format(**known, **values, **way.get("names", {})),
        settings=tuple(_setting(way, key, value) for key, value in values.items()),
        after=way.get("after", ()),
        switch_off=way["switch_off"].strip(),
        notes=tuple(notes),
        sources=(*way["sources"], *more),
    )


def _setting(way: Mapping[str, Any], key: str, value: Any) -> Setting:
    listed, option = way.get("files", {}), OPTIONS.get(key.removeprefix("--").replace("-", "_"))
    files = listed.get(f"{key}={value}", listed.get(key, option.files if option else ()))
    source = way["sources"][-1 if key in way.get("not_in_first_source", ()) else 0]
    return Setting(key, value if isinstance(value, str) else json.dumps(value), files, source)
