"""The object store of tests of reading: empty for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from buckets import Server


@pytest.fixture(scope="module")
def running(object_server: Server) -> Iterator[Server]:
    """The server, which is in the environment."""
    with pytest.MonkeyPatch.context() as patched:
        for name, value in object_server.environment.items():
            if name.startswith("AWS_"):
                patched.setenv(name, value)
        yield object_server


@pytest.fixture
def server(running: Server) -> Server:
    running.empty()
    return running
