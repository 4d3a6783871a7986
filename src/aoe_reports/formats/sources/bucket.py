"""The client of object stores: it lists, gets and puts, with credentials from the usual places, and fails as reading a file does.

Of what a server answers nothing but its status and code is repeated: the rest may hold what signed the request.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from configparser import ConfigParser
from configparser import Error as ConfigError
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from aoe_reports.model.errors import UsageError, reason
from aoe_reports.model.texts import say

if TYPE_CHECKING:
    from obstore.store import ObjectStore

RETRIES = 6
"""With longer and longer waits between them, 6 s in all."""
TIMEOUT_S = 30
"""So long one answer may take, with its body: the client's own limit."""
_TIMEOUT = re.compile(r"kind: Timeout\b|\bTimedOut\b")
MAX_RETRY_S = 30
"""So long a request is repeated: a server that stops in the middle of its answers costs a minute and a little at most, and not TIMEOUT_S for
each of the RETRIES."""
_MICROSECOND_NS = 1000
_OF_PROFILE = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token", "region", "endpoint_url")
_OF_MACHINE = ("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE")
"""Where one of these is set, no profile is looked for."""
_NOT_TAKEN = ("credential_process", "sso_session", "sso_start_url", "role_arn")
"""How a profile gets credentials from elsewhere, which the client cannot do."""


class Listed(NamedTuple):
    """An object as a server lists it."""

    key: str
    size: int
    version: str | None
    """The tag by which the server tells one content from another (etag)."""
    modified_ns: int


def objects_in(root: str, prefix: str, most: int) -> list[Listed]:
    """All objects of a bucket (`s3://bucket`) below a prefix that ends where a folder's name does, or the one of that name. Raises OSError."""
    import obstore  # noqa: PLC0415 -- only who names a bucket needs its client

    found: list[Listed] = []
    with _as_of_a_file(root, prefix):
        store = _store(root)
        for page in obstore.list(store, prefix=prefix or None, chunk_size=1000):
            found += map(_listed, page)
            if len(found) > most:
                what = say("more than {limit} objects; specify a longer prefix", limit=most)
                raise OSError(errno.E2BIG, what, uri_of(root, prefix))
        if not found and prefix:
            one = object_at(root, prefix)
            found = [] if one is None else [one]
    return found


def object_at(root: str, key: str) -> Listed | None:
    """An object; None where there is none. Raises OSError."""
    import obstore  # noqa: PLC0415

    with _as_of_a_file(root, key):
        try:
            return _listed(obstore.head(_store(root), key))
        except FileNotFoundError:
            return None


def folder_in(root: str, prefix: str) -> tuple[list[Listed], list[str]]:
    """(the objects, the prefixes of the folders) of one folder. Raises OSError."""
    import obstore  # noqa: PLC0415

    with _as_of_a_file(root, prefix):
        found = obstore.list_with_delimiter(_store(root), prefix or None)
        return list(map(_listed, found["objects"])), list(found["common_prefixes"])


def bytes_of(root: str, key: str, version: str | None, span: tuple[int, int]) -> memoryview:
    """Some bytes of an object; none where it has another version by now. Raises OSError."""
    import obstore  # noqa: PLC0415

    options: Any = {"range": span} if version is None else {"range": span, "if_match": version}
    with _as_of_a_file(root, key):
        answer = obstore.get(_store(root), key, options=options)
        if not _is_same(version, answer.meta["e_tag"]):  # some servers pass over If-Match
            raise _changed(root, key)
        data = memoryview(answer.bytes())
        if len(data) != span[1] - span[0]:
            raise _changed(root, key)
        return data


def _is_same(listed: str | None, answered: str | None) -> bool:
    """Whether an answer is of the listed version; of a server that names no versions nothing is known."""
    if listed is None or answered is None:
        return True
    return _bare_tag(listed) == _bare_tag(answered)


def _bare_tag(tag: str) -> str:
    """A tag as servers write it in lists and in headers: in quotes or not, called weak or not."""
    return tag.removeprefix("W/").strip('"')


def whole_of(root: str, key: str, most: int) -> bytes | None:
    """The bytes of an object; None where it has more than `most`. Raises OSError."""
    import obstore  # noqa: PLC0415

    with _as_of_a_file(root, key):
        found = obstore.get(_store(root), key)
        return bytes(found.bytes()) if found.meta["size"] <= most else None


def put(root: str, key: str, data: bytes) -> None:
    """Write an object, which is there once it is whole. Raises OSError."""
    import obstore  # noqa: PLC0415

    with _as_of_a_file(root, key):
        obstore.put(_store(root), key, data, use_multipart=False)


def refuse_credentials(uri: str) -> None:
    """UsageError for a URI with a password or a query that may sign: it stands in process lists, histories of shells and errors."""
    if _NOT_SHOWN.search(uri):
        raise UsageError(say("a URI here has a password or a query; expected credentials in the environment"))


_NOT_SHOWN = re.compile(r"://[^@]*:[^@]*@|\?")


def uri_of(root: str, key: str) -> str:
    return f"{root}/{key}"


def _listed(meta: Any) -> Listed:
    modified: datetime = meta["last_modified"]
    time_ns = int(modified.timestamp()) * 1_000_000_000 + modified.microsecond * _MICROSECOND_NS
    return Listed(meta["path"], meta["size"], meta["e_tag"], time_ns)


def _changed(root: str, key: str) -> OSError:
    return OSError(errno.ESTALE, say("has changed since it was listed"), uri_of(root, key))


@contextmanager
def _as_of_a_file(root: str, key: str) -> Iterator[None]:
    """What the client raises, as what reading a file may raise; not with its cause, which repeats what was answered."""
    from obstore.exceptions import BaseError, PermissionDeniedError, PreconditionError  # noqa: PLC0415

    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), uri_of(root, key)) from None
    except PreconditionError:
        raise _changed(root, key) from None
    except PermissionDeniedError as error:
        raise PermissionError(errno.EACCES, reason(error), uri_of(root, key)) from None
    except (BaseError, ValueError) as error:  # a name that is none is a ValueError
        if _TIMEOUT.search(str(error)):
            what = say("the server did not end its answer within {seconds} s", seconds=TIMEOUT_S)
            raise TimeoutError(errno.ETIMEDOUT, what, uri_of(root, key)) from None
        raise OSError(errno.EIO, reason(error), uri_of(root, key)) from None


def _store(root: str) -> ObjectStore:
    if root.endswith("//"):
        raise OSError(errno.EINVAL, say("no bucket; expected {uri}", uri="s3://BUCKET/PREFIX"), root)
    told = frozenset((name, value) for name, value in os.environ.items() if name.startswith("AWS_"))
    return _client(root, told, RETRIES)


@cache
def _client(root: str, _told: frozenset[tuple[str, str]], retries: int) -> ObjectStore:
    """One for each bucket, environment and number of retries."""
    from obstore.store import from_url  # noqa: PLC0415

    config: Any = {}
    if root.startswith("s3://"):
        config = _profile()
        in_environment = {name: os.environ[name] for name in _ENDPOINTS if os.environ.get(name)}
        in_profile = {name: value for name, value in config.items() if name == "endpoint_url"}
        _check_endpoints({**in_environment, **in_profile}, root)
    retrying: Any = {"max_retries": retries, "retry_timeout": timedelta(seconds=MAX_RETRY_S)}
    return from_url(root, retry_config=retrying, **config)


_ENDPOINTS = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT")
_ENDPOINT = re.compile(r"https?://[^/@\s?#]+(/[^@\s?#]*)?")


def _check_endpoints(named: dict[str, str], root: str) -> None:
    """OSError for the address of a server that the client would crash of, or repeat with a password, or refuse without a reason."""
    for variable, endpoint in named.items():
        if _ENDPOINT.fullmatch(endpoint) is None:
            what = say("{variable}: expected http://HOST or https://HOST, without user and password", variable=variable)
            raise OSError(errno.EINVAL, what, root)
        if endpoint.startswith("http://") and os.environ.get("AWS_ALLOW_HTTP", "").lower() not in _YES:
            what = say("{variable} is a server without TLS: set AWS_ALLOW_HTTP=true to use it", variable=variable)
            raise OSError(errno.EINVAL, what, root)


_YES = {"1", "true", "on", "yes", "y"}
"""What the client takes for a yes."""


def _profile() -> Any:
    """What the user's profile says where the environment names no credentials: the client reads no such files."""
    if any(os.environ.get(name) for name in _OF_MACHINE):
        return {}
    files = [
        os.environ.get("AWS_CONFIG_FILE") or Path.home() / ".aws" / "config",
        os.environ.get("AWS_SHARED_CREDENTIALS_FILE") or Path.home() / ".aws" / "credentials",
    ]
    name = os.environ.get("AWS_PROFILE") or "default"
    found = ConfigParser(interpolation=None, strict=False)
    try:
        found.read(files, encoding="utf-8")
    except (ConfigError, UnicodeDecodeError):
        raise OSError(errno.EINVAL, say("the profiles of credentials cannot be read"), str(files[-1])) from None
    sections = [found[section] for section in (f"profile {name}", name) if found.has_section(section)]
    _refuse_not_taken(name, {key for section in sections for key in section}, str(files[0]))
    told = {key: section[key] for section in sections for key in _OF_PROFILE if section.get(key)}
    given = {"AWS_REGION": "region", "AWS_DEFAULT_REGION": "region", "AWS_ENDPOINT_URL": "endpoint_url"}
    for variable, key in given.items():  # the environment comes first
        if os.environ.get(variable):
            told.pop(key, None)
    return {key.removeprefix("aws_"): value for key, value in told.items()}


def _refuse_not_taken(name: str, keys: set[str], file: str) -> None:
    """OSError for a profile without keys that says how to get some: other credentials than it means would be looked for."""
    wanted = [key for key in _NOT_TAKEN if key in keys]
    if wanted and "aws_access_key_id" not in keys:
        what = say(
            "the profile {name} gets its credentials by {key}, which is not supported; export them first: "
            "aws configure export-credentials --profile {name} --format env",
            name=name,
            key=wanted[0],
        )
        raise OSError(errno.EACCES, what, file)
