"""Secrets in what a tuning job is given and prints: known by the names of variables and options, or by their shape.

Shapes are those that services document for their keys and that scanners of repositories look for (the rules of gitleaks, GitHub's
supported secret scanning patterns; Huawei Cloud, API signing guide: an AK has 20 capitals and digits, an SK 40 characters). What may be
anything else (a hash, the name of a chip, a number of tokens) is left alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, quote_plus, unquote

from aoe_reports.tuning.plan.plan import REDACTED

LONGEST_SHAPE = 1 << 14
"""How long a secret may be that is known by its shape (tokens of Huawei's IAM have some thousand characters)."""

_MIN_SECRET = 6
"""Shorter values of variables stand in too much else; they are found behind their names only."""

_NAME = re.compile(
    r"""TOKEN(?!IZ) | SECRET | PASSW | PASSPHRASE | PASS(?=_|$) | CREDENTIAL | KEYS?(?=_|$) | AUTH(?!OR) | COOKIE
    | WEBHOOK | SIGNATURE | BEARER | JWT | (?:^|_)(?:AK|SK|PAT|DSN|SAS)(?=_|$) | _PWD(?=_|$)""",
    re.VERBOSE | re.IGNORECASE,
)
"""Names of variables whose values are secret."""

_PLACE_NAME = re.compile(r"(?:FILE|PATH|DIR|SOCK|HOME|HOST|PORT|(?<!WEBHOOK_)URL|URI|ENDPOINT)$", re.IGNORECASE)
"""Names of variables that say where something is; what is secret in an address is found by its shape."""

_OPTION = re.compile(
    r"--?(?:[a-z0-9]+[-_])*(?:password|passwd|passphrase|secret|ak|sk|(?:api|access|secret|private)[-_]?key(?:[-_]id)?"
    r"|(?:access|auth|api|bearer|refresh|session|security|hf|hub|git(?:hub|lab|ee|code)?)[-_]token)|--?(?:token|auth|pwd)",
    re.IGNORECASE,
)
"""Options whose value is the next argument."""

_ASKS = r"(?:access|auth|api|bearer|refresh|session|security|identity|login|deploy|personal|subject|hf|hub|git(?:hub|lab|ee|code)?|bot)"
_KEY_OF = r"(?:api|access|secret|private|account|auth|signing|encryption|shared)"
_WORDS = (
    r"[\w.-]*(?:password|passwd|passphrase|secret)",
    rf"[\w.-]*{_KEY_OF}[_ -]?(?:access[_ -]?)?key(?:[_-]?id)?",
    rf"[\w.-]*{_ASKS}[_-]?token",
    r"[\w.-]*[_-](?:ak|sk|pat|pwd)",
)
_IS = r"[\"']?[ \t]{0,4}(?:=>|=|:)[ \t]{0,4}"
_HARMLESS_VALUE = r"(?:\d{1,5}|true|false|none|null|yes|no|\*+)"
"""What is no secret, though it stands behind a name or an option of one."""
_HARMLESS = rf"(?![\"']?{_HARMLESS_VALUE}(?![^\s\"',;&|)\]}}]))"

_SHAPES = (
    rf"(?<![\w.-])(?:{'|'.join(_WORDS)}){_IS}{_HARMLESS}(?P<secret>\"[^\"\r\n]+\"|'[^'\r\n]+'|[^\s\"',;&|)\]}}]+)",
    rf"(?<![\w.-])[\w.-]*token{_IS}[\"']?(?P<secret>(?=[^\s\"']{{0,99}}\d)(?=[^\s\"']{{0,99}}[a-z])[\w.~+/=-]{{20,}})",
    rf"(?<!\w)authorization{_IS}[\"']?(?P<secret>[^\r\n\"']+)",
    r"(?<!\w)cookie:[ \t]{0,4}(?P<secret>[^\r\n\"']+)",
    r"(?<!\w)(?:bearer|basic)[ \t]+(?P<secret>(?=[^\s\"']{0,99}[\d=])[\w.~+/=-]{16,})",
    # addresses: who:password@ or token@, signatures and keys in what is asked for, hooks
    r"[a-z][a-z0-9+.-]{1,20}://(?P<secret>[^\s/?#\"'<>:@]*:[^\s/?#\"'<>]+|[\w~.%-]{20,})@",
    (
        r"[?&](?:x-(?:amz|obs|goog)-)?(?:signature|security-token|credential|(?:aws)?accesskeyid|ak|sk|sig|(?:access_)?token"
        r"|(?:api_?)?key|password|secret)=(?P<secret>[^&\s\"'<>#]+)"
    ),
    r"https://hooks\.[\w.]+/(?P<secret>[\w/-]{8,})",
)
_EXACT_SHAPES = (
    # a key pair of Huawei Cloud: the access key and, close to it, the secret one; of AWS the access key alone, too
    (
        r"(?<![A-Za-z0-9])(?P<secret>(?=\d*[A-Z])(?=[A-Z]*\d)[A-Z0-9]{20})(?![A-Za-z0-9])[^\r\n]{1,80}?(?<![A-Za-z0-9/+])"
        r"(?P<other>(?=[^A-Z]{0,39}[A-Z])(?=[^a-z]{0,39}[a-z])(?=\D{0,39}\d)[A-Za-z0-9]{40})(?![A-Za-z0-9/+])"
    ),
    (
        r"(?<![A-Za-z0-9])(?P<secret>(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})(?![A-Za-z0-9])"
        r"(?:[^\r\n]{1,80}?(?<![A-Za-z0-9/+])(?P<other>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+]))?"
    ),
    r"\b(?P<secret>gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255}|gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas)-[\w-]{20,255})",
    r"\b(?P<secret>hf_[A-Za-z0-9]{34,64}|api_org_[A-Za-z]{34}|npm_[A-Za-z0-9]{36})\b",
    r"\b(?P<secret>ms-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|dop_v1_[0-9a-f]{64})\b",
    r"\b(?P<secret>AIza[\w-]{35}|ya29\.[\w-]{20,2048}|xox[abeoprs]-[A-Za-z0-9-]{10,255}|pypi-AgEI[\w-]{50,1000}|dckr_pat_[\w-]{27})",
    r"\b(?P<secret>sk-(?:proj|svcacct|admin|ant)-[\w-]{20,255}|sk-[A-Za-z0-9]{32,255})\b",
    r"\b(?P<secret>eyJ[\w-]{10,8192}\.eyJ[\w-]{10,8192}\.[\w-]{0,8192})",
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<secret>[^\r\n]+?)(?=-----END|[\r\n]|\Z)",
)
_PATTERNS = (
    *(re.compile(shape.encode(), re.IGNORECASE) for shape in _SHAPES),
    *(re.compile(shape.encode()) for shape in _EXACT_SHAPES),
)
_HINT = re.compile(
    rb"token|secret|pass[wp]|key|[_-](?:ak|sk|pat|pwd)|authorization|cookie|bearer|basic|://|[?&]|[A-Z0-9]{20}|gh[pousr]_|gl[a-z]{2,5}-"
    rb"|hf_|api_org_|npm_|ms-|dop_v1_|aiza|ya29|xox|pypi-|dckr_|sk-|eyj",
    re.IGNORECASE,
)
"""What every shape has in it: most of what a tuner prints has nothing of it."""

_IS_HARMLESS = re.compile(_HARMLESS_VALUE, re.IGNORECASE | re.ASCII)
_LINE_END = re.compile(rb"\r\n|\n|\r")
_PEM_BEGINS = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----\s*$")
_PEM_BODY = re.compile(rb"(?:[A-Za-z0-9+/=]{16,}|^[A-Za-z0-9+/=]+)(?=\s*$)")
_PEM_HEADER = re.compile(rb"^[A-Za-z-]+: [^\r\n]*\s*$|^\s*$")
_SECRET_ENDS = re.compile(rb"[\s\"'&,;]")
_MARK = REDACTED.encode()


@dataclass(frozen=True, slots=True)
class _Found:
    shown_from: int
    start: int
    end: int


class Redactor:
    """Replaces secrets: those of an environment, and what has the shape of one."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Take the values of variables whose names say that they are secret, and passwords in addresses."""
        values = {
            form.encode("utf-8", "surrogateescape") for text in _values_of(environment) for form in _forms_of(text)
        }
        self._values = sorted(values)
        secret = (item for item in environment.items() if _names_a_secret(item[0]))
        pairs = ((name, line) for name, text in secret for line in _lines_of(text) if 0 < len(line) < _MIN_SECRET)
        self._pairs = [f"{n}={v}".encode("utf-8", "surrogateescape") for n, v in pairs if not v.isdigit()]
        self.longest = max([LONGEST_SHAPE, *map(len, self._values)])

    def text(self, text: str) -> str:
        """A text without the secrets in it."""
        stream = Redacting(self)
        data = text.encode("utf-8", "surrogateescape")
        shown = b"".join(line.shown for line in (*stream.take(data), *stream.rest()))
        return shown.decode("utf-8", "surrogateescape")

    def arguments(self, arguments: Iterable[str]) -> list[str]:
        """The arguments of a command without the secrets in them; what follows an option that asks for one is one."""
        shown: list[str] = []
        before = ""
        for argument in arguments:
            secret = (
                _OPTION.fullmatch(before) and not argument.startswith("--") and not _IS_HARMLESS.fullmatch(argument)
            )
            shown.append(REDACTED if secret else self.text(argument))
            before = argument
        return shown

    def find(self, data: bytes) -> list[_Found]:
        """Where secrets stand, in order of their places; they may lie in each other."""
        found = [_Found(at, at, at + len(value)) for value in self._values for at in _places(value, data)]
        for pair in self._pairs:
            found += [_Found(at, at + pair.index(b"=") + 1, at + len(pair)) for at in _places(pair, data)]
        if _HINT.search(data):
            for pattern in _PATTERNS:
                for match in pattern.finditer(data):
                    spans = (match.span(name) for name in match.groupdict())
                    found += [_Found(match.start(), start, end) for start, end in spans if start >= 0]
        return sorted(found, key=lambda one: (one.start, one.end))

    def replace(self, data: bytes, found: Sequence[_Found]) -> bytes:
        """The data without what was found; where secrets lie in each other, nothing of any of them stays."""
        pieces, at = [], 0
        for one in found:
            if one.start >= at:
                pieces += [data[at : one.start], _MARK]
            at = max(at, one.end)
        return b"".join([*pieces, data[at:]])


@dataclass(frozen=True, slots=True)
class Line:
    """A line (or a piece of a very long one) with its end: as it was printed, and without secrets."""

    raw: bytes
    shown: bytes


class Redacting:
    """Takes in what is printed piece by piece, and hands it out in lines; no secret is cut apart."""

    def __init__(self, redactor: Redactor, longest_line: int = 1 << 16) -> None:
        """Lines that are longer than `longest_line` are handed out in pieces."""
        self._redactor, self._longest_line = redactor, longest_line
        self._waiting = b""
        self._in_key = False
        """Whether the lines of a private key go on."""
        self._in_secret = False
        """Whether a secret that is longer than all that are known goes on."""

    def take(self, data: bytes) -> Iterator[Line]:
        """Take in a piece; what is certain by now."""
        self._waiting += data
        ends = list(_LINE_END.finditer(self._waiting))
        if ends and ends[-1].group() == b"\r" and ends[-1].end() == len(self._waiting):
            ends.pop()  # its other half may follow
        if ends:
            whole, self._waiting = self._waiting[: ends[-1].end()], self._waiting[ends[-1].end() :]
            yield from self._lines(whole)
        while len(self._waiting) > self._longest_line + self._redactor.longest:
            yield self._piece()

    def rest(self) -> Iterator[Line]:
        """What waits, at the end."""
        if self._waiting:
            whole, self._waiting = self._waiting, b""
            yield from self._lines(whole)

    def _lines(self, data: bytes) -> Iterator[Line]:
        shown = self._redactor.replace(data, self._redactor.find(data))
        for raw, line in zip(data.splitlines(keepends=True), shown.splitlines(keepends=True), strict=True):
            yield Line(raw, self._without_key(self._without_rest(line)))

    def _piece(self) -> Line:
        """A piece of an endless line, cut outside of any secret."""
        data, cut = self._waiting, self._longest_line
        found = self._redactor.find(data)
        for one in found:
            if one.shown_from < cut < one.end:
                cut = one.shown_from or one.end
        self._waiting = data[cut:]
        shown = self._redactor.replace(data[:cut], [one for one in found if one.end <= cut])
        shown = self._without_rest(shown)
        self._in_secret = self._in_secret or any(one.end == cut == len(data) for one in found)
        return Line(data[:cut], self._without_key(shown))

    def _without_rest(self, shown: bytes) -> bytes:
        """A piece without the rest of a secret that began in the piece before."""
        if not self._in_secret:
            return shown
        end = _SECRET_ENDS.search(shown)
        self._in_secret = end is None
        return b"" if end is None else shown[end.start() :]

    def _without_key(self, line: bytes) -> bytes:
        """A line without its part of a private key (PEM) that began on an earlier line."""
        if self._in_key:
            without = _PEM_BODY.sub(_MARK, line)
            self._in_key = b"-----END" not in line and (without != line or bool(_PEM_HEADER.match(line)))
            return without
        self._in_key = _PEM_BEGINS.search(line) is not None
        return line


def _places(value: bytes, data: bytes) -> Iterator[int]:
    at = data.find(value)
    while at >= 0:
        yield at
        at = data.find(value, at + 1)


def _lines_of(text: str) -> list[str]:
    """The lines of a value: output is searched line by line."""
    return re.split(r"\r\n|\n|\r", text)


def _names_a_secret(name: str) -> bool:
    return _NAME.search(name) is not None and _PLACE_NAME.search(name) is None


_USER = re.compile(r"://[^\s/?#:@]*:([^\s/?#]+)@")


def _values_of(environment: Mapping[str, str]) -> Iterator[str]:
    for name, text in environment.items():
        if _names_a_secret(name):
            yield from (line for line in _lines_of(text) if len(line) >= _MIN_SECRET)
        for found in _USER.finditer(text):
            forms = (found[1], *_lines_of(unquote(found[1])))
            yield from (form for form in forms if len(form) >= _MIN_SECRET)


def _forms_of(value: str) -> set[str]:
    """A value as it is, and as it stands in addresses and in JSON."""
    data = value.encode("utf-8", "surrogateescape")
    return {value, quote(data, safe=""), quote_plus(data), quote(data), json.dumps(value)[1:-1]}
