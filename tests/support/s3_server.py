"""An S3 server (moto) that is a process of its own, fails where it is told to, and writes down what was asked of it.

A process of its own, because Delta's clients hold the interpreter while they wait for an answer.

POST /_faults with a JSON list of faults replaces those that are left, and gives how often they were still to fail; GET /_requests gives what was asked since the last time.
POST /_empty with the name of a bucket leaves that one, empty, no faults, and nothing asked; POST /_upload with {bucket, folder, prefix} puts all files of a folder
there, which takes a hundredth of what a client takes for each.
"""

from __future__ import annotations

import json
import logging
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from moto.core import DEFAULT_ACCOUNT_ID
from moto.moto_api._internal.models import moto_api_backend
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.s3.models import s3_backends
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
    if path in OURS:
        said = OURS[path](environ)
        start("200 OK", [])
        return [said]
    return answer_s3(environ, start)


def told(environ: dict[str, Any]) -> bytes:
    left = sum(fault["times"] for fault in faults)
    faults[:] = body_of(environ)
    return str(left).encode()


def asked(environ: dict[str, Any]) -> bytes:
    found = json.dumps(requests).encode()
    requests.clear()
    return found


def empty(environ: dict[str, Any]) -> bytes:
    moto_api_backend.reset()
    backend().create_bucket(body_of(environ), "us-east-1")
    faults.clear()
    requests.clear()
    return b""


def upload(environ: dict[str, Any]) -> bytes:
    wanted = body_of(environ)
    folder = Path(wanted["folder"])
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            backend().put_object(wanted["bucket"], f"{wanted['prefix']}/{file.relative_to(folder)}", file.read_bytes())
    return b""


def backend() -> Any:
    return s3_backends[DEFAULT_ACCOUNT_ID]["aws"]


def body_of(environ: dict[str, Any]) -> Any:
    return json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))


OURS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "/_faults": told,
    "/_requests": asked,
    "/_empty": empty,
    "/_upload": upload,
}
"""What is asked by tests, and by no client of S3."""


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
    if fault == "replaced":
        environ.pop("HTTP_IF_MATCH", None)
        answered = s3(environ, lambda status, headers, *more: start(status, with_tag(headers, '"another"'), *more))
    else:
        answered = s3(environ, start)
    if fault == "lost":
        list(answered)
        environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
        return []
    return answered


def with_tag(headers: list[tuple[str, str]], tag: str) -> list[tuple[str, str]]:
    """The headers of an answer of another version."""
    return [*((name, value) for name, value in headers if name.lower() != "etag"), ("ETag", tag)]


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
