"""Which options name places, and what a configuration file may say of them: one that came with data only what lies beside it.

A project's file lies in the working directory or above, so it may have been downloaded together with the data. It names
folders inside its own folder only, and of those that are there already only the ones that this program wrote. What the
user wrote, the file of --config and the one in the user's configuration folder, names what it likes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
from typing import Any, get_origin

from typer.core import TyperOption

from aoe_reports.model.options import Option
from aoe_reports.model.texts import Text, say


def _is_store(folder: Path) -> bool:
    return (folder / "_delta_log").is_dir()


def _is_site(folder: Path) -> bool:
    """Whether `site` wrote the folder's manifest, or `nightly` the report that is all there is in it."""
    from aoe_reports.engine.locks import MANIFEST
    from aoe_reports.engine.output import REPORT_FILES

    made = _object(folder / MANIFEST)
    if isinstance(made.get("made"), dict) and isinstance(made.get("files"), dict):
        return True
    names = {path.name for path in folder.iterdir()}
    return names <= set(REPORT_FILES) and _object(folder / "report.json").get("command") == "nightly"


def _is_figures(folder: Path) -> bool:
    """Whether `report` listed the pictures in the folder."""
    from aoe_reports.jobs.report import INDEX

    return isinstance(_object(folder / INDEX).get("figures"), list)


def _object(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes()) if path.is_file() else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


_FOLDERS: Mapping[str | None, Callable[[Path], bool]] = {
    "store": _is_store,
    "site": _is_site,
    "figures": _is_figures,
}
"""How a folder that we wrote is known, by what an option names."""


def names_place(what: Option) -> bool:
    """Whether the value of an option is a folder, a file or a URI."""
    return what.names not in {None, "nothing"}


def is_classified(what: Option, option: TyperOption) -> bool:
    """Whether it is known what a value of this option can do: a number, a flag or a choice never names a place."""
    kind = option.type_descriptor.annotation
    closed = option.is_flag or kind in {int, float, bool} or (get_origin(kind) is not None and not option.multiple)
    return closed or what.names is not None


def why_not_in_project(what: Option, option: TyperOption, folder: Path, value: Any) -> Text | None:
    """Why a project's file in `folder` may not give this value to an option; None where it may."""
    if not is_classified(what, option):
        return say("can only be given on the command line")
    if what.protects:
        return say("a project file cannot set a limit (the file may have come with the data)")
    if not names_place(what):
        return None
    if "://" in value:
        return say("a project file cannot set a URI (the file may have come with the data)")
    if not _is_inside(folder, value):
        return say("a project file can only set locations inside its own folder (the file may have come with the data)")
    return None


def _is_inside(folder: Path, value: str) -> bool:
    """Whether a place is below a folder, wherever links on the way to it lead."""
    parts = PurePath(value).parts
    if not parts or value.startswith(("/", "~")) or ".." in parts or "\0" in value:
        return False
    return _is_below(os.path.realpath(folder / value), os.path.realpath(folder))


def _is_below(place: str, folder: str) -> bool:
    return place.startswith(folder.rstrip("/") + "/")


def why_not_to_write(what: Option, place: Path, folder: Path) -> Text | None:
    """Why nothing is written to a place that a project's file in `folder` names; None where it is new, empty or ours."""
    is_ours = _FOLDERS.get(what.names)
    if is_ours is None or not os.path.lexists(place):
        return None
    if not place.is_dir():
        return say("{place} is not a folder", place=place)
    if next(place.iterdir(), None) is None:
        return None
    if not is_ours(place):
        return say("{place} already exists and was not written by aoe-reports", place=place)
    link = _link_out(place, os.path.realpath(folder))
    return None if link is None else say("{link} is a link that leads out of the folder of the file", link=link)


def _link_out(place: Path, folder: str) -> str | None:
    """A link below a place that leads out of a folder: what is written there would be written elsewhere."""
    waiting = [str(place)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    if not _is_below(os.path.realpath(entry.path), folder):
                        return entry.path
                elif entry.is_dir():
                    waiting.append(entry.path)
    return None
