"""`nightly --notify`: what a chat is sent, and what becomes of the job where that fails. The receiver is a server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from commandline import Cli

from aoe_reports.jobs.notification import send, shape_of
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.present.notification import MAX_BYTES, Notice
from aoe_reports.simulation.nights import write_nights

SECRET = "/services/T0/B0/xoxb-secret"


@dataclass
class Receiver:
    """A webhook: what it answers, and what it was sent."""

    address: str
    code: int = 200
    answer: bytes = b"ok"
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, str, Any]] = field(default_factory=list)
    """(method and path, content type, the object)."""


@contextmanager
def receiver() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            known.requests.append((f"POST {self.path}", self.headers["Content-Type"], json.loads(body)))
            self.send_response(known.code)
            for name, value in known.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(known.answer)))
            self.end_headers()
            self.wfile.write(known.answer)

        def do_GET(self) -> None:
            known.requests.append((f"GET {self.path}", "", None))
            self.send_error(404)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        known = Receiver(f"http://127.0.0.1:{server.server_port}{SECRET}")
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield known
        finally:
            server.shutdown()


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as known:
        yield known


@pytest.fixture
def night(tmp_path: Path) -> Path:
    (path,) = write_nights(tmp_path / "nights", nights=1)
    return path


def test_a_service_gets_the_night_as_one_object(cli: Cli, hook: Receiver, night: Path, tmp_path: Path) -> None:
    asked = ("nightly", night, "--store", tmp_path / "s", "--workload", "net", "--site", tmp_path / "site")
    ended = cli(*asked, "--notify", hook.address)
    assert ended.code == 0, ended.err
    ((where, kind, sent),) = hook.requests
    assert (where, kind) == (f"POST {SECRET}", "application/json; charset=utf-8")
    lines = ended.out.splitlines()
    assert sent == {
        "command": "nightly",
        "night": night.name,
        "headline": lines[0],
        "verdict": lines[-1],
        "exit_code": 0,
        "reasons": [],
        "incidents": [],
    }
    assert str(tmp_path / "site" / "report.html") in sent["verdict"]
    assert (tmp_path / "site" / "index.html").exists(), "the link leads somewhere when the message comes"
    assert SECRET not in ended.out + ended.err


@pytest.mark.parametrize("shape", ["slack", "wecom", "dingtalk"])
def test_a_chat_gets_headline_and_verdict(cli: Cli, hook: Receiver, night: Path, tmp_path: Path, shape: str) -> None:
    asked = ("nightly", night, "--store", tmp_path / "s", "--workload", "a<b>&c")
    ended = cli(*asked, "--notify", hook.address, "--notify-as", shape)
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    text = f"aoe-reports: {lines[0]}\n{lines[-1]}"
    sent = hook.requests[0][2]
    if shape == "slack":
        assert sent == {"text": text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")}
    else:
        assert sent == {"msgtype": "text", "text": {"content": text}}


def test_damage_and_the_language_reach_the_message(cli: Cli, hook: Receiver, night: Path, tmp_path: Path) -> None:
    next(night.rglob("op_summary*.csv")).write_text("Op Name,OP Type\n")
    asked = ("nightly", night, "--store", tmp_path / "s", "--workload", "net", "--notify", hook.address)
    assert cli(*asked, "--lang", "zh").code == 1
    sent = hook.requests[0][2]
    assert (sent["exit_code"], sent["reasons"]) == (1, ["damage"])
    assert any("\u4e00" <= letter <= "\u9fff" for letter in sent["verdict"])


def test_the_address_may_stand_in_the_environment_and_in_no_file(
    cli: Cli, hook: Receiver, night: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("aoe-reports.toml").write_text(f'[nightly]\nnotify = "{hook.address}"\n')
    asked = ("nightly", night, "--store", tmp_path / "s", "--workload", "net")
    refused = cli(*asked)
    assert (refused.code, hook.requests) == (2, [])
    assert "where messages go" in refused.err
    Path("aoe-reports.toml").unlink()
    monkeypatch.setenv("AOE_REPORTS_NOTIFY", hook.address)
    assert cli(*asked).code == 0
    assert len(hook.requests) == 1
    assert SECRET not in cli("doctor", "--options", "--all").out


@pytest.mark.parametrize(
    ("code", "answer", "why"),
    [
        (500, b"", "the answer is 500"),
        (404, b"no_service", "the answer is 404"),
        (302, b"", "the answer is 302"),
        (
            200,
            b'{"errcode": 310000, "errmsg": "keywords not in content"}',
            "the receiver refused it with errcode 310000: the ",
        ),
        (
            200,
            b'{"errcode": 93000, "errmsg": "\\u001b[31minvalid"}',
            "the receiver refused it with errcode 93000: the key is ",
        ),
        (200, b'{"errcode": 7, "errmsg": "x"}', "the receiver refused it with errcode 7\n"),
        (200, b'{"errcode": [1, 2], "errmsg": "x"}', "the receiver refused it\n"),
        (200, b'{"errcode": 1, "errmsg": "' + b"x" * 100_000 + b'"}', "the receiver refused it with errcode 1\n"),
    ],
)
def test_a_message_that_nobody_took_ends_the_job_with_3(
    cli: Cli, hook: Receiver, night: Path, tmp_path: Path, code: int, answer: bytes, why: str
) -> None:
    hook.code, hook.answer = code, answer
    hook.headers = {"Location": hook.address} if code == 302 else {}
    asked = ("nightly", night, "--store", tmp_path / "s", "--workload", "net", "--notify", hook.address)
    ended = cli(*asked)
    assert ended.code == 3
    assert f"the notification to 127.0.0.1 failed: {why}" in ended.err
    assert SECRET not in ended.out + ended.err
    assert "\x1b" not in ended.err
    assert ended.out, "the report is shown nevertheless"
    assert len(hook.requests) == 1, "an address that leads elsewhere is not followed"
    assert len(cli("store", "history", "--store", tmp_path / "s", "--format", "json").json["rows"]) == 1


KEY = "S3cr-%2Fet 778899"
ECHOES = (
    b'{"errcode": 93000, "errmsg": "invalid webhook key {KEY}"}',
    b'{"errcode": 93000, "errmsg": "S3cr- then /et and 778899"}',
    b'{"errcode": "{KEY}", "errmsg": ""}',
    b'{"errcode": 778899, "errmsg": ""}',
    b'{"errcode": -7788, "errmsg": ""}',
    b'{"errcode": ["{KEY}"]}',
    b"{KEY}",
)


@pytest.mark.parametrize("code", [200, 400])
@pytest.mark.parametrize("echo", ECHOES)
def test_nothing_of_the_address_is_printed_whoever_repeats_it(hook: Receiver, echo: bytes, code: int) -> None:
    hook.code, hook.answer = code, echo.replace(b"{KEY}", KEY.encode())
    address = hook.address.replace(SECRET, "/hook?key=" + KEY.replace(" ", "%20"))
    taken = code == 200 and not echo.startswith(b'{"err')
    with nullcontext() if taken else pytest.raises(AoeReportsError) as failed:
        send(address, {"text": "x"})
    said = "" if taken else str(failed.value)
    assert not [part for part in ("S3cr", "et 7", "7788", "8899", "hook", "key=") if part in said]


@pytest.mark.parametrize(
    "line",
    [b"", b"S3cret\r\n\r\n", b"HTTP/1.1 S3cret\r\n\r\n"],
)
def test_an_answer_that_is_none_is_not_repeated(line: bytes) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.wfile.write(line)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        with pytest.raises(AoeReportsError, match="no answer that could be read") as failed:
            send(f"http://127.0.0.1:{server.server_port}/S3cret", {})
        assert "S3cret" not in str(failed.value)
        server.shutdown()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"ok",
        b"[]",
        b'{"errcode": 0, "errmsg": "ok"}',
        b'{"errcode": "0"}',
        b"[" * 60_000,
        b'{"ok": true}',
        b"\xff" * 100_000,
    ],
)
def test_any_other_answer_of_200_is_one_that_took_it(hook: Receiver, answer: bytes) -> None:
    hook.answer = answer
    send(hook.address, {"text": "x"})
    assert hook.requests[0][2] == {"text": "x"}


@pytest.mark.parametrize("taken", [True, False])
def test_a_site_that_cannot_be_written_is_told_beside_the_message(
    cli: Cli, hook: Receiver, night: Path, tmp_path: Path, taken: bool
) -> None:
    hook.code = 200 if taken else 500
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "manifest.json").write_text("{}")
    (tmp_path / "site" / "report.html").mkdir()  # where a file has to go
    asked = ("nightly", night, "--store", tmp_path / "s", "--workload", "net", "--site", tmp_path / "site")
    ended = cli(*asked, "--notify", hook.address)
    assert ended.code == 3
    assert len(hook.requests) == 1
    assert "cannot be written" in ended.err
    assert ("the notification to 127.0.0.1 failed: the answer is 500" in ended.err) == (not taken)


def test_a_receiver_that_is_away_or_silent_is_an_error() -> None:
    with receiver() as gone:
        address = gone.address
    with pytest.raises(AoeReportsError, match=r"the notification to 127\.0\.0\.1 failed: .+") as failed:
        send(address, {})
    assert SECRET not in str(failed.value)
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as silent,
        pytest.raises(AoeReportsError, match="timed out"),
    ):
        send(f"http://127.0.0.1:{silent.server_port}/", {}, timeout_s=0.05)


def test_a_receiver_that_never_ends_its_answer_is_waited_for_so_long() -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.end_headers()
            while not ended.wait(0.01):
                self.wfile.write(b" ")

        def log_message(self, *_: Any) -> None:
            pass

    ended = threading.Event()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        with pytest.raises(AoeReportsError, match="timed out"):
            send(f"http://127.0.0.1:{server.server_port}/", {}, timeout_s=0.3)
        ended.set()
        server.shutdown()


@pytest.mark.parametrize(
    ("address", "shape"),
    [
        ("https://hooks.slack.com/services/x", "slack"),
        ("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=x", "wecom"),
        ("https://oapi.dingtalk.com/robot/send?access_token=x", "dingtalk"),
        ("https://HOOKS.slack.com/services/x", "slack"),
        ("https://hooks.slack.com./services/x", "slack"),
        ("http://[::1]:8080/x", "generic"),
        ("https://hooks.slack.com.example.org/services/x", "generic"),
        ("http://127.0.0.1:8080/hook", "generic"),
    ],
)
def test_the_host_says_which_shape(address: str, shape: str) -> None:
    assert shape_of(address) == shape


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "ftp://host/x",
        "hooks.slack.com/x",
        "https://",
        "",
        "https:///x",
        "http://user:pass@host/x",
        "http://user@host/x",
        "http://host:SECRET/x",
        "http://host:0/x",
        "http://[::1/x",
        "http://[SECRET]/x",
        "http://host/SECRET TOKEN",
        "http://host/SECRET\n",
        "http://host/SECRET密",
    ],
)
def test_other_addresses_are_refused_before_anything_is_stored(
    cli: Cli, night: Path, tmp_path: Path, address: str
) -> None:
    with pytest.raises(UsageError):
        shape_of(address)
    ended = cli("nightly", night, "--store", tmp_path / "s", f"--notify={address}")
    assert (ended.code, (tmp_path / "s").exists()) == (2, False)
    assert "SECRET" not in ended.err


@pytest.mark.parametrize("shape", ["slack", "wecom", "dingtalk"])
def test_a_text_ends_where_a_receiver_would_refuse_it(shape: Any) -> None:
    notice = Notice(night=None, headline="算" * 50_000, verdict="", exit_code=0, reasons=(), incidents=())
    sent: Any = notice.as_json(shape)
    text = sent["text"] if shape == "slack" else sent["text"]["content"]
    assert MAX_BYTES - 3 < len(text.encode()) <= MAX_BYTES == 2048
    assert text.startswith("aoe-reports: 算")


def test_a_name_steers_no_chat() -> None:
    notice = Notice(
        night=None, headline="a\x1b[31m\u202e<!channel>\nb", verdict="", exit_code=0, reasons=(), incidents=()
    )
    sent: Any = notice.as_json("slack")
    assert sent["text"] == "aoe-reports: a\\x1b[31m\\x202e&lt;!channel&gt;\\x0ab"
