"""An S3 server (moto) that is a process of its own, fails where it is told to, and writes down what was asked of it.

A process of its own, because Delta's clients hold the interpreter while they wait for an answer.

POST /_faults with a JSON list of faults replaces those that are left, and gives how often they were still to fail; GET /_requests gives what was asked since the last time.
"""

from __future__ import annotations

import json
import logging
import socket
import sys
import threading
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

KEY = "fixture"
"""The only access key that may do anything."""
logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
faults: list[dict[str, Any]] = []
requests: list[list[str]] = []
lock = threading.Lock()
s3 = DomainDispatcherApplication(create_backend_app)


def answer(environ: dict[str, Any], start: Any) -> Any:
    path = environ["PATH_INFO"]
    if path in {"/_faults", "/_requests"}:
        start("200 OK", [])
        return [told(environ) if path == "/_faults" else asked()]
    return s3(environ, start) if path.startswith("/moto-api") else answer_s3(environ, start)


def told(environ: dict[str, Any]) -> bytes:
    left = sum(fault["times"] for fault in faults)
    faults[:] = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
    return str(left).encode()


def asked() -> bytes:
    found = json.dumps(requests).encode()
    requests.clear()
    return found


def answer_s3(environ: dict[str, Any], start: Any) -> Any:
    method, query = environ["REQUEST_METHOD"], environ.get("QUERY_STRING", "")
    requests.append([method, environ["PATH_INFO"], query])
    if f"Credential={KEY}/" not in environ.get("HTTP_AUTHORIZATION", ""):
        return refuse(environ, start, "403 Forbidden", "InvalidAccessKeyId")
    fault = fault_of(method, f"{environ['PATH_INFO']}?{query}")
    if fault == "denied":
        return refuse(environ, start, "403 Forbidden", "AccessDenied")
    if fault == "throttled":
        return refuse(environ, start, "503 Slow Down", "SlowDown")
    answered = s3(environ, start)
    if fault == "lost":
        list(answered)
        environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
        return []
    return answered


def fault_of(method: str, asked: str) -> str | None:
    with lock:
        for fault in faults:
            if fault["method"] == method and fault["query"] in asked and fault["times"] > 0:
                fault["times"] -= 1
                return fault["kind"]
    return None


def refuse(environ: dict[str, Any], start: Any, status: str, code: str) -> list[bytes]:
    """An answer as those of S3, with what they repeat of the request."""
    environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    start(status, [("Content-Type", "application/xml")])
    signed = environ.get("HTTP_AUTHORIZATION", "")
    body = f"<?xml version='1.0'?>\n<Error><Code>{code}</Code><Message>m</Message><AWSAccessKeyId>{signed}</AWSAccessKeyId></Error>"
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [body.encode()]


if __name__ == "__main__":
    server = make_server("127.0.0.1", 0, answer, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)  # noqa: T201
    sys.stdin.read()
