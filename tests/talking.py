"""A real server for assistants as a process, and the SDK's own client that talks to it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


@dataclass(frozen=True)
class ToolAnswer:
    """What one call was answered with."""

    tool: str
    arguments: Mapping[str, Any]
    text: str
    content: dict[str, Any]
    is_error: bool

    def rows(self, key: str) -> list[dict[str, Any]]:
        """The rows of a table on this page."""
        table = self.content["tables"][key]
        columns, same = table.get("columns", []), table.get("same", {})
        return [{**same, **dict(zip(columns, row, strict=True))} for row in table.get("rows", [])]


@dataclass(frozen=True)
class Assistant:
    """A client of one server."""

    portal: BlockingPortal
    client: Client

    def __call__(self, tool: str, **arguments: Any) -> ToolAnswer:
        result = self.portal.call(self.client.call_tool, tool, arguments)
        return answer_of(tool, arguments, result)

    def ask(self, question: str, *paths: Path, **more: Any) -> ToolAnswer:
        """A question about paths."""
        return self("ask", question=question, paths=list(map(str, paths)), **more)


def answer_of(tool: str, arguments: Mapping[str, Any], result: Any) -> ToolAnswer:
    """A result of the SDK as tests see it."""
    return ToolAnswer(tool, arguments, result.content[0].text, result.structured_content or {}, bool(result.is_error))


def parameters(*arguments: object) -> StdioServerParameters:
    """The command that starts the server, as a client does."""
    return StdioServerParameters(command=sys.executable, args=["-m", "aoe_reports", "mcp", *map(str, arguments)])


@contextmanager
def assistant(*arguments: object, program: str | None = None) -> Iterator[Assistant]:
    """An assistant, and the server that it started; both are gone at the end. `program` starts it in another way."""
    server = parameters(*arguments)
    if program is not None:
        server = StdioServerParameters(command=sys.executable, args=["-c", program, *map(str, arguments)])
    with start_blocking_portal() as portal:
        client = Client(stdio_client(server))
        with portal.wrap_async_context_manager(client):
            yield Assistant(portal, client)
