"""A web server for one folder of static pages, on the loopback address alone."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import warnings
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from aoe_reports.model.errors import AoeReportsError, NoticeWarning, UsageError
from aoe_reports.model.texts import say
from aoe_reports.site.render import POLICY

HOST = "127.0.0.1"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
}
"""What is served; a file of another kind is none of the site's."""

REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Of report.html, whose styles and pictures lie in the page itself."""


def serve_folder(folder: Path, port: int, ready: Callable[[str], None]) -> None:
    """Serve a folder until Ctrl-C; `ready` is called with the address."""
    root = Path(os.path.abspath(folder))
    if not (root / "index.html").is_file():
        raise UsageError(say("{folder}: no index.html; expected a folder that `aoe-reports site` wrote", folder=folder))
    try:
        server = _Server((HOST, port), _handler(root))
    except OSError as error:
        raise AoeReportsError(
            say("{host}:{port}: cannot be served: {why}", host=HOST, port=port, why=error.strerror or error)
        ) from error
    with server, contextlib.suppress(KeyboardInterrupt):
        ready(f"http://{HOST}:{server.server_address[1]}/")
        server.serve_forever(poll_interval=0.1)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 -- socketserver's own name for it
        """Say nothing of a reader who went away, and a line of anything else: one request is not the server."""
        error = sys.exception()
        if error is None or isinstance(error, ConnectionError | TimeoutError):
            return
        message = say("a request could not be answered: {why}", why=str(error) or type(error).__name__)
        warnings.warn(NoticeWarning(message), stacklevel=2)


def _handler(root: Path) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        server_version = "aoe-reports"
        sys_version = ""
        timeout = 30

        def do_GET(self) -> None:
            self._answer(body=True)

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def _answer(self, *, body: bool) -> None:
            # another page's name for this address (DNS rebinding) is not ours
            host = (self.headers.get("Host") or "").rpartition(":")[0] or self.headers.get("Host")
            opened = None if host not in {HOST, "localhost"} else open_below(root, self.path)
            if opened is None:
                self.send_error(HTTPStatus.NOT_FOUND)
                return
            handle, name = opened
            with os.fdopen(handle, "rb") as file:
                content = file.read()
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", TYPES[Path(name).suffix])
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Content-Security-Policy", REPORT_POLICY if name == "report.html" else POLICY)
            self.send_header("Cache-Control", "no-cache")
            self.end_headers()
            if body:
                self.wfile.write(content)

        def end_headers(self) -> None:
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("X-Frame-Options", "DENY")
            self.send_header("Referrer-Policy", "no-referrer")
            self.send_header("Cross-Origin-Resource-Policy", "same-origin")
            super().end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing: a server for one reader needs no log."""

    return Handler


def open_below(root: Path, target: str) -> tuple[int, str] | None:
    """Open what a request asks for, if it is a file of ours inside the folder: step by step, and through no link."""
    parts = _asked_for(target)
    if parts is None:
        return None
    with contextlib.suppress(OSError):
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in parts[:-1]:
                inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
                os.close(folder)
                folder = inner
            handle = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        finally:
            os.close(folder)
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return handle, "/".join(parts)
        os.close(handle)
    return None


def _asked_for(target: str) -> list[str] | None:
    """The names that lead to what a request asks for; None where it is no file that we have."""
    parts = unquote(re.split("[?#]", target)[0]).split("/")[1:] if target.startswith("/") else []
    if not parts:
        return None
    parts[-1] = parts[-1] or "index.html"
    odd = any(part in {"", ".", ".."} or part.startswith(".") or "\0" in part or "\\" in part for part in parts)
    return None if odd or Path(parts[-1]).suffix not in TYPES else parts
