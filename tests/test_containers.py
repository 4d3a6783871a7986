"""The image and the services that run it: what `hadolint` and the schema of compose files (`make lint`) do not ask for."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from commandline import ROOT, Cli

from aoe_reports.formats.native import LIBRARY

DOCKERFILE = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text())
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "examples" / "containers" / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.*)$", DOCKERFILE, re.MULTILINE)


def test_the_image_installs_by_hash_or_what_was_just_built() -> None:
    installs = re.findall(r"install (.*?)(?= &&|$)", "\n".join(instructions("RUN")), re.MULTILINE)
    assert len(installs) == 3
    assert all("--require-hashes" in install or "--no-index --no-deps" in install for install in installs)
    assert "PIP_ONLY_BINARY=:all:" in DOCKERFILE


def test_the_reader_that_one_stage_builds_is_in_the_wheel_of_the_next() -> None:
    """It has the name under which the package looks for it, and which the build takes it from."""
    (built,) = re.findall(r"^COPY --from=reader (.*)$", DOCKERFILE, re.MULTILINE)
    source, folder = built.split()
    assert source == f"/build/native/target/release/{LIBRARY.name}"
    assert f"AOE_REPORTS_READER={folder}{LIBRARY.name} tools/bin/hatchling build" in DOCKERFILE
    assert "cargo build --release --offline --locked --manifest-path native/Cargo.toml" in DOCKERFILE


def test_the_image_runs_as_a_user_of_a_fixed_number_who_is_not_root() -> None:
    (user,) = instructions("USER")
    assert (user, f"--uid {user.split(':')[0]} " in DOCKERFILE) == ("10001:10001", True)
    assert instructions("ENTRYPOINT") == ['["aoe-reports"]']


def test_what_is_copied_into_the_build_is_let_in() -> None:
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = [source for line in instructions("COPY") if not line.startswith("--from") for source in line.split()[:-1]]
    assert set(copied) == let_in
    assert [source for source in copied if not (ROOT / source).exists()] == []


@pytest.mark.parametrize("name", ["nightly", "serve"])
def test_a_service_can_write_to_its_volumes_and_tmp_alone_and_gain_nothing(name: str) -> None:
    service = SERVICES[name]
    assert (service["read_only"], service["cap_drop"], service["security_opt"]) == (
        True,
        ["ALL"],
        ["no-new-privileges:true"],
    )
    assert [mount.split(":")[0] for mount in service["tmpfs"]] == ["/tmp"]
    assert "privileged" not in service
    assert "user" not in service
    written = {volume["target"] for volume in service["volumes"] if not volume.get("read_only")}
    assert written == ({"/history", "/pages"} if name == "nightly" else set())


def test_the_nightly_job_has_no_network_and_the_pages_are_served_where_only_the_host_reads_them() -> None:
    assert (SERVICES["nightly"]["network_mode"], SERVICES["serve"]["network_mode"]) == ("none", "host")
    assert [name for name, service in SERVICES.items() if "ports" in service] == []


@pytest.mark.parametrize("name", ["nightly", "serve"])
def test_a_service_gives_options_that_its_command_has(cli: Cli, name: str) -> None:
    command, *arguments = SERVICES[name]["command"]
    told = cli(command, "--help").out
    assert [option for option in arguments if option.startswith("--") and option not in told] == []


def test_the_health_check_asks_where_the_pages_are_served() -> None:
    serve = SERVICES["serve"]
    port = serve["command"][serve["command"].index("--port") + 1]
    assert f"http://127.0.0.1:{port}/" in serve["healthcheck"]["test"][-1]
