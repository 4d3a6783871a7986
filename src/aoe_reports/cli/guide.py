"""What `--help` says at its end: an example that runs as it stands, and the page of the documentation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from aoe_reports.model.classes import record
from aoe_reports.model.texts import N_

_KEY = "__guide__"
_EXAMPLE, _PAGE = HEADINGS = N_(("Example", "Documentation"))
F = TypeVar("F", bound=Callable[..., Any])


@record
class Guide:
    """Where to go on from the help of a command."""

    example: str
    """What stands behind `aoe-reports`; words in capitals are ids."""
    page: str
    """The name of a page in docs/, without its suffix."""

    @property
    def path(self) -> str:
        """Where the page lies in the project."""
        return f"docs/{self.page}.md"


def guided(*, example: str, page: str) -> Callable[[F], F]:
    """A command with an example and the page that describes it."""

    def keep(command: F) -> F:
        setattr(command, _KEY, Guide(example=example, page=page))
        return command

    return keep


def guide_of(command: Callable[..., Any]) -> Guide | None:
    """What a command is declared with."""
    found: Guide | None = getattr(command, _KEY, None)
    return found


def write_guide(formatter: Any, guide: Guide) -> None:
    """Write what stands at the end of a help; a command that is copied is never broken into lines."""
    for heading, line in ((_EXAMPLE, f"aoe-reports {guide.example}"), (_PAGE, guide.path)):
        formatter.write_paragraph()
        formatter.write_heading(heading)
        formatter.write(f"  {line}\n")
