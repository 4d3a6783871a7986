"""A site is served to its reader alone: files of ours inside the folder, and nothing else."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest

from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.site import serve
from aoe_reports.site.serve import HOST, REPORT_POLICY, TYPES, open_below, serve_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "site"
    for name in ("index.html", "report.html", "a b.html", "runs/index.html", "runs/one.json", "notes.exe", ".hidden.html", "runs/.x/y.html"):  # fmt: skip
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content of {name}")
    (tmp_path / "secret.html").write_text("secret")
    (root / "link.html").symlink_to(tmp_path / "secret.html")
    (root / "linked").symlink_to(tmp_path)
    (root / "folder.html").mkdir()
    os.mkfifo(root / "pipe.html")
    return root


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("/", "index.html"), ("/index.html", "index.html"), ("/index.html?a=1#b", "index.html"), ("/#b", "index.html"),
        ("/a%20b.html", "a b.html"), ("/runs/", "runs/index.html"), ("/runs/one.json", "runs/one.json"),
        ("", None), ("index.html", None), ("//index.html", None), ("/runs//one.json", None), ("/./index.html", None),
        ("/../secret.html", None), ("/runs/../index.html", None), ("/%2e%2e/secret.html", None), ("/.hidden.html", None),
        ("/runs/.x/y.html", None), ("/notes.exe", None), ("/absent.html", None), ("/runs", None), ("/link.html", None),
        ("/linked/secret.html", None), ("/folder.html", None), ("/pipe.html", None), ("/index.html/", None), ("/a%00.html", None), ("/a\\b.html", None),
    ],
)  # fmt: skip
def test_only_files_of_ours_below_the_folder_are_opened(folder: Path, target: str, name: str | None) -> None:
    before = len([*Path("/proc/self/fd").iterdir()])
    found = open_below(folder, target)
    assert (found is None) is (name is None)
    if found is not None:
        with os.fdopen(found[0]) as file:
            assert file.read() == f"content of {name}"
        assert found[1] == name
    assert len([*Path("/proc/self/fd").iterdir()]) == before, "nothing stays open"


@pytest.fixture
def address(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a server that runs until the test has ended."""
    made: list[serve._Server] = []
    start = serve._Server.__init__
    monkeypatch.setattr(serve._Server, "__init__", lambda self, *given: (made.append(self), start(self, *given))[1])
    told: list[str] = []
    ready = threading.Event()
    thread = threading.Thread(target=serve_folder, args=(folder, 0, lambda at: (told.append(at), ready.set())))
    thread.start()
    ready.wait()
    assert told[0] == f"http://{HOST}:{made[0].server_address[1]}/"
    yield made[0].server_address[1]
    made[0].shutdown()
    thread.join()


def asked(port: int, target: str, method: str = "GET", host: str | None = None) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection(HOST, port, timeout=30)
    connection.putrequest(method, target, skip_host=True)
    if host != "":
        connection.putheader("Host", host or f"{HOST}:{port}")
    connection.endheaders()
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer, content


def test_a_page_comes_with_what_keeps_it_from_others(address: int) -> None:
    answer, content = asked(address, "/")
    assert (answer.status, content) == (200, b"content of index.html")
    assert answer.getheader("Content-Type") == "text/html; charset=utf-8"
    assert answer.getheader("Content-Length") == str(len(content))
    assert answer.getheader("Cache-Control") == "no-cache"
    assert answer.getheader("Server") == "aoe-reports "
    guards = {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin"}  # fmt: skip
    assert {name: answer.getheader(name) for name in guards} == guards
    policy = answer.getheader("Content-Security-Policy")
    assert policy != REPORT_POLICY
    assert asked(address, "/report.html")[0].getheader("Content-Security-Policy") == REPORT_POLICY
    assert asked(address, "/runs/one.json")[0].getheader("Content-Type") == TYPES[".json"] == "application/json"


def test_a_head_is_all_but_the_content(address: int) -> None:
    answer, content = asked(address, "/", "HEAD")
    assert (answer.status, answer.getheader("Content-Length"), content) == (200, "21", b"")


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost", 200), ("localhost:1", 200), (HOST, 200), ("evil.example", 404), ("evil.example:80", 404), ("", 404)],
)
def test_another_name_of_the_address_is_not_ours(address: int, host: str, status: int) -> None:
    answer, _ = asked(address, "/", host=host)
    assert answer.status == status
    assert answer.getheader("X-Frame-Options") == "DENY"


def test_what_is_not_there_is_not_found(address: int) -> None:
    assert asked(address, "/absent.html")[0].status == 404
    assert asked(address, "/", "POST")[0].status == 501


def test_a_folder_without_a_first_page_is_no_site(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no index\.html"):
        serve_folder(tmp_path, 0, lambda _: None)


def test_a_port_that_is_taken_is_said(folder: Path) -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        with pytest.raises(AoeReportsError, match="cannot be served"):
            serve_folder(folder, other.getsockname()[1], lambda _: None)
