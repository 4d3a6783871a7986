"""An object store for tests: a real S3 server on loopback, which can be told to fail."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

SECRET = "fixtureSecretThatIsNeverShown"
BUCKET = "nights"
PAGE = 20
"""So many objects a page of a list holds."""
SERVER = Path(__file__).parent / "support" / "s3_server.py"


@dataclass(frozen=True)
class Server:
    """A running server; its environment is the one in which the standard chain of credentials finds it."""

    environment: dict[str, str]

    @property
    def url(self) -> str:
        return self.environment["AWS_ENDPOINT_URL"]

    @cached_property
    def client(self) -> Any:
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id="fixture",
            aws_secret_access_key=SECRET,
        )

    def empty(self) -> None:
        """An empty bucket, no faults, and nothing asked yet."""
        self._told("_empty", BUCKET)

    def fail(self, kind: str = "", method: str = "", query: str = "", *, times: int = 0) -> int:
        """Let the next requests of a method, with some words in path or query, be `throttled` or `denied`, or done while their answer is `lost`
        or one of another version, whatever If-Match says (`replaced`).

        How many of the failures of before have not come.
        """
        faults = [{"kind": kind, "method": method, "query": query, "times": times}] if times else []
        return int(self._told("_faults", faults))

    def requests(self) -> list[list[str]]:
        """[method, path, query] of what was asked since the last time."""
        import requests

        found: list[list[str]] = requests.get(f"{self.url}/_requests", timeout=30).json()
        return found

    def _told(self, what: str, words: object) -> str:
        import requests

        answered = requests.post(f"{self.url}/{what}", json=words, timeout=30)
        answered.raise_for_status()
        return answered.text

    def upload(self, folder: Path, prefix: str) -> str:
        """Put all files of a folder below a prefix; its URI."""
        self._told("_upload", {"bucket": BUCKET, "folder": str(folder), "prefix": prefix})
        return f"s3://{BUCKET}/{prefix}"

    def names(self) -> list[str]:
        """The names of all that is in the bucket."""
        found = self.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
        return [entry["Key"] for page in found for entry in page.get("Contents", [])]

    def objects(self) -> dict[str, bytes]:
        """All that is in the bucket."""
        return {key: self.client.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in self.names()}


@contextmanager
def s3_server() -> Iterator[Server]:
    """A server that ends with the block."""
    with subprocess.Popen(
        [sys.executable, str(SERVER)],
        env={**os.environ, "MOTO_S3_DEFAULT_MAX_KEYS": str(PAGE)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        yield Server(
            {
                **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
                "AWS_ALLOW_HTTP": "true",
                "AWS_ACCESS_KEY_ID": "fixture",
                "AWS_SECRET_ACCESS_KEY": SECRET,
                "AWS_REGION": "us-east-1",
            }
        )
        process.stdin.close()
