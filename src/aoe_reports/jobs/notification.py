"""Sends what is told of a night; the only place of the package that opens a connection by itself."""

from __future__ import annotations

import json
import os
import socket
import ssl
from errno import errorcode
from threading import Thread
from typing import IO, Any
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from aoe_reports.model.documents import JsonObject
from aoe_reports.model.errors import AoeReportsError, UsageError, of_the_system
from aoe_reports.model.texts import say
from aoe_reports.present.notification import HOSTS, Shape

TIMEOUT_S = 10.0
_MAX_BYTES = 1 << 20
"""Of an answer; receivers send a few words."""


def shape_of(url: str) -> Shape:
    """What the receiver at an address takes, by its host. Raises UsageError where nothing can be sent to an address."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.username is None and parts.port != 0
    except ValueError:  # no port, no IPv6 address; its words would repeat the address
        usable = False
    if not usable or not url.isascii() or not url.isprintable() or " " in url:
        raise UsageError(say("--notify: expected an address like https://host/path, without user, password or blanks"))
    return HOSTS.get((parts.hostname or "").rstrip("."), "generic")


def send(url: str, message: JsonObject, timeout_s: float = TIMEOUT_S) -> None:
    """Post one JSON object. Raises AoeReportsError; it names the host only: the rest of an address is a secret."""
    ended: list[str] = []
    sender = Thread(target=lambda: ended.append(_sent(url, message, timeout_s)), daemon=True)
    sender.start()
    sender.join(timeout_s)  # a receiver may go on answering, byte by byte, for ever
    why = ended[0] if ended else of_the_system("timed out")
    if why:
        host = urlsplit(url).hostname
        raise AoeReportsError(say("the notification to {host} failed: {why}", host=host, why=why))


def _sent(url: str, message: JsonObject, timeout_s: float) -> str:
    body = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    request = Request(url, body, {"Content-Type": "application/json; charset=utf-8"}, method="POST")  # noqa: S310 -- checked
    try:
        with build_opener(_NoRedirect).open(request, timeout=timeout_s) as answer:
            return _refusal(answer.read(_MAX_BYTES), url)
    except HTTPError as error:
        error.close()
        return say("the answer is {code}", code=error.code)
    except Exception as error:  # noqa: BLE001 -- an error that nobody foresaw would be printed by the thread, with its words
        return _failure(error)


def _failure(error: Exception) -> str:
    """Why a message was not delivered. The text of an error is never shown: it may contain the address."""
    reason = getattr(error, "reason", error)
    if isinstance(reason, ssl.SSLError):  # an OSError whose numbers are not the system's, as those of the next
        return say("the connection is not secure: {kind}", kind=type(reason).__name__)
    if isinstance(reason, socket.gaierror):
        return say("the host is not known")
    if isinstance(reason, TimeoutError):
        return of_the_system("timed out")
    if isinstance(reason, OSError) and reason.errno is not None and reason.errno in errorcode:
        return of_the_system(os.strerror(reason.errno))
    return say("no answer that could be read: {kind}", kind=type(reason).__name__)


class _NoRedirect(HTTPRedirectHandler):
    """Do not follow redirects: the message is for the named address only."""

    def redirect_request(self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str) -> None:
        del req, fp, code, msg, headers, newurl


_CODES = {
    93000: say("the key is not valid"),
    45009: say("too many messages"),
    310000: say("the security settings of the robot do not allow it"),
    300001: say("the token is not valid"),
    130101: say("too many messages"),
}
"""What WeCom (93000, 45009) and DingTalk mean by their codes.

Sources: developer.work.weixin.qq.com/document/path/90313, open.dingtalk.com/document/robots/custom-robot-access.
"""
_MAX_CODE = 10_000_000


def _refusal(answer: bytes, url: str) -> str:
    """Why a receiver that answers 200 took nothing: WeCom and DingTalk say so by `errcode`.

    Nothing that the receiver wrote is repeated but a small number that stands nowhere in the address: its words may hold the key, whole, in
    parts or written otherwise.
    """
    try:
        said = json.loads(answer)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(said, dict) or said.get("errcode") in (None, 0, "0"):  # it may be anything, a list, too
        return ""
    code, parts = said["errcode"], urlsplit(url)
    hidden = unquote(f"{parts.path}/{parts.query}/{parts.fragment}")
    if type(code) is not int or not -_MAX_CODE < code < _MAX_CODE or str(abs(code)) in hidden:
        return say("the receiver refused it")
    meaning = _CODES.get(code)
    refused = say("the receiver refused it with errcode {code}", code=code)
    return refused if meaning is None else say("{refused}: {meaning}", refused=refused, meaning=meaning)
