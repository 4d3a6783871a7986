"""Sends what is told of a night; the only place of the package that opens a connection by itself."""

from __future__ import annotations

import json
from http.client import HTTPException
from typing import IO, Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from aoe_reports.model.documents import JsonObject
from aoe_reports.model.errors import AoeReportsError, UsageError, of_the_system
from aoe_reports.model.texts import say
from aoe_reports.present.notification import HOSTS, Shape

TIMEOUT_S = 10.0
_MOST_BYTES = 65_536
"""Of an answer; receivers send a few words."""


def shape_of(url: str) -> Shape:
    """What the receiver at an address takes, by its host. Raises UsageError where nothing can be sent to an address."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError(say("--notify: expected an address that begins with https:// or http://"))
    return HOSTS.get(parts.hostname, "generic")


def send(url: str, message: JsonObject, timeout_s: float = TIMEOUT_S) -> None:
    """Post one JSON object. Raises AoeReportsError; it names the host only: the rest of an address is a secret."""
    body = json.dumps(message, ensure_ascii=False).encode()
    request = Request(url, body, {"Content-Type": "application/json; charset=utf-8"}, method="POST")  # noqa: S310 -- checked
    try:
        with build_opener(_NoRedirect).open(request, timeout=timeout_s) as answer:
            refused = _refusal(answer.read(_MOST_BYTES))
    except HTTPError as error:
        error.close()
        raise _failed(url, say("the answer is {code}", code=error.code)) from None
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        why = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        raise _failed(url, of_the_system(why)) from None
    if refused:
        raise _failed(url, refused)


class _NoRedirect(HTTPRedirectHandler):
    """An address that leads elsewhere is not followed: what is posted is for the one that was named."""

    def redirect_request(self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str) -> None:
        del req, fp, code, msg, headers, newurl


def _refusal(answer: bytes) -> str:
    """Why a receiver that answers 200 took nothing: WeCom and DingTalk say so by `errcode`."""
    try:
        said = json.loads(answer)
    except ValueError:
        return ""
    if not isinstance(said, dict) or said.get("errcode") in {None, 0}:
        return ""
    return say("{code}: {message}", code=str(said["errcode"])[:20], message=str(said.get("errmsg", ""))[:200])


def _failed(url: str, why: str) -> AoeReportsError:
    return AoeReportsError(say("the notification to {host} failed: {why}", host=urlsplit(url).hostname, why=why))
