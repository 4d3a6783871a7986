"""Catalogues as translators see them, read by another program than ours, and what the source says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from commandline import ROOT

from aoe_reports import locale

FOLDER = Path(locale.__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.po"))
_specification = importlib.util.spec_from_file_location("extraction", ROOT / "docs" / "catalogues.py")
assert _specification is not None
assert _specification.loader is not None
extraction = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(extraction)


def catalogue(language: str) -> Catalog:
    with (FOLDER / f"{language}.po").open("rb") as file:
        return read_po(file, abort_invalid=True)


CHINESE = {
    str(message.id): str(message.string)
    for message in catalogue("zh")
    if message.id and not message.context and not message.pluralizable
}
"""Chinese by English, of what does not count."""
