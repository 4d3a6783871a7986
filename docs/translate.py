"""Puts what the pages say now into the catalogue of their translations (`make docs-catalogue`); `--check` only says what it lacks."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po

from aoe_reports.locale import is_ours, translated

DOCS = Path(__file__).parent
TEMPLATE = DOCS / "_build" / "gettext" / "docs.pot"
CATALOGUE = DOCS / "locale" / "zh_CN" / "LC_MESSAGES" / "docs.po"
WHOLE = (
    "index.md",
    "tutorial.md",
    "gallery.md",
    "howto/",
    "overview.md",
    "input.md",
    "output.md",
    "sql.md",
    "sql-tables.md",
    "results.md",
    "report.md",
    "quality.md",
    "doctor.md",
    "explain.md",
    "upgrading.md",
    "security.md",
    "metrics.md",
    "python.md",
    "notebooks.md",
    "grafana.md",
    "languages.md",
    "ci.md",
    "device-time.md",
    "critical-path.md",
    "trace.md",
    "modules.md",
    "site.md",
    "store.md",
    "regressions.md",
    "configuration.md",
    "containers.md",
    "fleet.md",
    "assistants.md",
    "banks.md",
    "host.md",
    "serving.md",
    "roofline.md",
    "memory.md",
    "communication.md",
    "records.md",
    "regressions-formats.md",
    "tuning.md",
    "advice.md",
    "detection.md",
    "rules.md",
    "commands.md",
    "commands/",
    "tables.md",
    "ab.md",
)
"""Pages that are translated as a whole; of the others, the title, for the navigation."""
DATED = ('"POT-', '"PO-Rev', '"Report-', '"Last-T', '"Language-T', '"Generated')
FROM_CODE = ("rules.md", "tables.md")
"""Pages that consist of what the program says: its own translation of a text is that of the page."""
COMMAND = re.compile(r"aoe-reports(?: [a-z-]+)*")
KIND = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
"""Names that are the same in every language: of commands, and of kinds of tables."""
UP = "../../"
"""From the template to the pages."""
RUNTIME = DOCS.parent / "requirements" / "runtime.txt"
LOCKED = set(re.findall(r"^([^#\s=]+)==", RUNTIME.read_text("utf-8"), re.MULTILINE))
TAG = re.compile(r"any|(?:(?:abi3|cp) \w+(?:, )?)+")
"""The table of wheels, which `make lock` writes, has names and tags that are the same in every language."""
HEADER = "# Chinese texts of the documentation. Written by docs/translate.py (`make docs-catalogue`); only msgstr is to be edited.\n"


def wanted() -> list[Message]:
    """The messages that want a translation, in the order of the pages."""
    with TEMPLATE.open("rb") as file:
        messages = [message for message in read_po(file) if message.id]
    titles: dict[str, tuple[int, Message]] = {}
    for message in messages:
        for page, line in message.locations:
            if page not in titles or (line or 1) < titles[page][0]:
                titles[page] = (line or 1, message)
    named = {message.id for _, message in titles.values()}
    return [message for message in messages if message.id in named or (_is_whole(message) and _has_words(message))]


def _is_whole(message: Message) -> bool:
    return any(page.removeprefix(UP).startswith(WHOLE) for page, _ in message.locations)


def _has_words(message: Message) -> bool:
    text = re.sub("`[^`]*`", "", str(message.id))
    named = COMMAND.fullmatch(text) or KIND.fullmatch(text)
    return (
        re.search("[a-z]", text) is not None
        and not named
        and not (_is_of_wheels(message) and _is_name(text.strip("*")))
    )


def _is_of_wheels(message: Message) -> bool:
    return {page.removeprefix(UP) for page, _ in message.locations} == {"containers.md"}


def _is_name(text: str) -> bool:
    return text in LOCKED or TAG.fullmatch(text) is not None


def _said(message: Message) -> str:
    """What the program says for a text, where all pages that have it are made of what the program says."""
    from_code = all(page.removeprefix(UP) in FROM_CODE for page, _ in message.locations)
    return translated(str(message.id), "zh") if from_code and is_ours(str(message.id)) else ""


def main() -> int:
    """Write (or with --check compare) the catalogue."""
    old = Catalog()
    if CATALOGUE.is_file():
        with CATALOGUE.open("rb") as file:
            old = read_po(file, locale="zh_CN")
    new = Catalog(locale="zh_CN", project="aoe-reports", version="docs", fuzzy=False, header_comment=HEADER.rstrip())
    for message in wanted():
        known = old.get(message.id)
        new.add(message.id, _said(message) or (known.string if known else ""))
    missing = [str(message.id) for message in new if message.id and not message.string]
    written = io.BytesIO()
    write_po(written, new, width=0, no_location=True)
    lines = [line for line in written.getvalue().decode().splitlines() if not line.startswith(DATED)]
    text = "\n".join(lines).rstrip() + "\n"
    stale = not CATALOGUE.is_file() or CATALOGUE.read_text("utf-8") != text
    if "--check" not in sys.argv:
        CATALOGUE.parent.mkdir(parents=True, exist_ok=True)
        CATALOGUE.write_text(text, encoding="utf-8")
    sys.stdout.write("".join(f"not translated: {one}\n" for one in missing))
    if stale and "--check" in sys.argv:
        sys.stdout.write("stale: run `make docs-catalogue`\n")
    return int("--check" in sys.argv and bool(missing or stale))


if __name__ == "__main__":
    sys.exit(main())
