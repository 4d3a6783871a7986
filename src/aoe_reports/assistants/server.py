"""The server of the Model Context Protocol over standard input and output: the only module that knows the protocol."""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import anyio
from anyio import to_process
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from aoe_reports.assistants.documents import Document
from aoe_reports.assistants.pages import Page, page_of
from aoe_reports.assistants.places import Places
from aoe_reports.assistants.questions import Questions
from aoe_reports.assistants.refusal import RefusedError
from aoe_reports.assistants.tools import INSTRUCTIONS, Tool, tools_of
from aoe_reports.assistants.unread import given_id, id_of
from aoe_reports.assistants.words import neutral
from aoe_reports.assistants.work import Call, Refused, answered
from aoe_reports.model.version import __version__

AT_ONCE = 2
"""So many calls are answered at the same time; the others wait."""
MOST_KEPT = 8
"""So many answers are kept for their next pages."""
MOST_OF_ARGUMENTS = 100_000
"""Characters of what a call is given."""


class Desk:
    """Answers calls: checks what they are given, lets a process of its own work, hands on pages."""

    def __init__(self, questions: Questions, places: Places, store: str | None, seconds: float) -> None:
        """With what may be asked, and where it may be looked for."""
        self.questions, self.places, self.store, self.seconds = questions, places, store, seconds
        self.tools = tools_of(questions, has_store=store is not None)
        self._kept: OrderedDict[str, Document] = OrderedDict()
        self._limiter = anyio.CapacityLimiter(AT_ONCE)

    async def page(self, name: str, given: Mapping[str, Any]) -> Page:
        """The page that a call is answered with. Raises RefusedError."""
        tool = self.tools.get(name)
        if tool is None:
            raise RefusedError(f"no tool {neutral(name, 60)!r}; there are {', '.join(self.tools)}")
        tool.check(given)
        cursor = given.get("cursor")
        arguments = {key: value for key, value in given.items() if key != "cursor"}
        key = json.dumps([name, arguments], sort_keys=True)
        if len(key) > MOST_OF_ARGUMENTS:
            raise RefusedError(f"the arguments have more than {MOST_OF_ARGUMENTS:,} characters")
        document = self._kept.pop(key, None) if cursor is not None else None
        if document is None:
            document = await self._answer(name, arguments)
        self._kept[key] = document
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return page_of(document, cursor)

    async def _answer(self, name: str, arguments: Mapping[str, Any]) -> Document:
        call = Call(name, arguments, self.places, self.store, self.questions, os.getpid())
        found: Document | Refused | None = None
        async with self._limiter:
            with anyio.move_on_after(self.seconds):
                try:
                    found = await to_process.run_sync(
                        answered, call, cancellable=True, limiter=anyio.CapacityLimiter(1)
                    )
                except anyio.BrokenWorkerProcess:
                    found = Refused(
                        "the process that worked on it was ended: there may be too little memory; ask about less"
                    )
        if found is None:
            raise RefusedError(
                f"this takes longer than {self.seconds:g} s: ask about a folder below, one capture, or with "
                '{"rank": N} or {"step": N}; `steps` and `hotspots` read least'
            )
        if isinstance(found, Refused):
            raise RefusedError(found.words)
        return found


def serve(questions: Questions, places: Places, store: str | None, seconds: float) -> None:
    """Serve one client until its end of the pipe is closed."""
    anyio.run(_serve, questions, places, store, seconds)


async def _serve(questions: Questions, places: Places, store: str | None, seconds: float) -> None:
    desk = Desk(questions, places, store, seconds)

    async def list_tools(_: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_told(tool) for tool in desk.tools.values()])

    async def call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            page = await desk.page(params.name, params.arguments or {})
        except RefusedError as error:
            return types.CallToolResult(content=[types.TextContent(type="text", text=str(error))], is_error=True)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=page.text)], structured_content=page.content
        )

    server: Server[Any] = Server(
        "aoe-reports", version=__version__, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
    )
    heard, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)

    async def hear() -> None:
        """Hand on what is a message, and answer what is none: the SDK drops it, and its sender waits."""
        async with heard:
            async for item in read:
                if not isinstance(item, Exception):
                    await heard.send(item)
                elif (refusal := _refusal_of(item)) is not None:
                    await write.send(SessionMessage(refusal))

    async with stdio_server() as (read, write), anyio.create_task_group() as group:
        group.start_soon(hear)
        await server.run(messages, write, server.create_initialization_options())


def _refusal_of(error: Exception) -> types.JSONRPCError | None:
    """What a line that is no message is answered with; None for an empty one."""
    first = error.errors(include_url=False)[0] if isinstance(error, ValidationError) else None
    given = first["input"] if first else None
    if isinstance(given, str) and not given.strip():
        return None
    if first and first["type"] == "json_invalid":
        why = types.ErrorData(code=types.PARSE_ERROR, message=neutral(f"this is no message: {first['msg']}"))
        return types.JSONRPCError(jsonrpc="2.0", id=id_of(str(given)), error=why)
    why = types.ErrorData(code=types.INVALID_REQUEST, message="this is no message of JSON-RPC 2.0")
    return types.JSONRPCError(jsonrpc="2.0", id=given_id(given), error=why)


def _told(tool: Tool) -> types.Tool:
    """A tool as the protocol tells it: it only reads."""
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.schema,
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )
