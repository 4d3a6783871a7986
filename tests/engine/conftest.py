"""The object store of tests of reading: one server a module, empty for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from buckets import Server, s3_server


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    with s3_server() as server, pytest.MonkeyPatch.context() as patched:
        for name, value in server.environment.items():
            if name.startswith("AWS_"):
                patched.setenv(name, value)
        yield server


@pytest.fixture
def server(running: Server) -> Server:
    running.empty()
    return running
