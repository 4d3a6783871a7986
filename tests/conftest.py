"""What tests share: the fixtures folder, and the command line as a function."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from commandline import FIXTURES, Cli, Ended
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # no test depends on how busy the machine is
settings.load_profile("untimed")


@pytest.fixture(autouse=True, scope="session")
def without_configuration_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What whoever runs the tests has configured for himself changes none of them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("configuration")))
        yield


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run `aoe-reports` as a user would, in this process."""
    from aoe_reports.cli.main import main

    def run(*args: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["aoe-reports", *map(str, args)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        code = ended.value.code
        return Ended(int(code or 0), out, err)

    return run


@pytest.fixture
def msprof() -> Path:
    return FIXTURES / "msprof" / "valid"


@pytest.fixture
def aoe() -> Path:
    return FIXTURES / "aoe" / "valid"
