"""Makes what a release is made of in dist/: wheel, sdist, SBOM, sums. Any step that fails ends it with that step's output.

Everything is made of the last commit, with its time in place of the clock's, so the same commit gives the same bytes; the
environments are installed from the lock files.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
TOOLS = Path(sys.executable).parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
VALID, DAMAGED = ROOT / "fixtures" / "msprof" / "valid", ROOT / "fixtures" / "msprof" / "invalid"


def say(text: str) -> None:
    """One line of progress."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def run(*command: object, cwd: Path = ROOT, code: int = 0, **environment: str) -> str:
    """What a command prints. Ends this program where its exit code is another one."""
    ended = subprocess.run(
        list(map(str, command)), cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if ended.returncode != code:
        sys.exit(
            f"{' '.join(map(str, command))}\n{ended.stdout}{ended.stderr}exit code {ended.returncode}, expected {code}"
        )
    return ended.stdout


def build(source: Path, made: Path) -> dict[str, bytes]:
    """Sdist and wheels of a folder, one for any platform and, with cargo, one with the compiled reader: their names and bytes."""
    times = {"SOURCE_DATE_EPOCH": run("git", "log", "-1", "--format=%ct").strip()}
    hatchling = (TOOLS / "hatchling", "build", "--directory")
    run(*hatchling, made, "--target", "sdist", cwd=source, **times)
    run(*hatchling, made, "--target", "wheel", cwd=source, AOE_REPORTS_WITHOUT_READER="1", **times)
    of_here = source / "wheel-of-this-machine"
    run(*hatchling, of_here, "--target", "wheel", cwd=source, **times)
    for wheel in of_here.glob("*-linux_*.whl"):  # a tag that says nothing of the C library is taken by no index
        tools = f"{TOOLS}{os.pathsep}{os.environ['PATH']}"
        run(TOOLS / "auditwheel", "repair", "--plat", "auto", "--wheel-dir", made, wheel, PATH=tools, **times)
    return {path.name: path.read_bytes() for path in made.iterdir() if path.is_file()}


def build_repeatably(folder: Path) -> list[Path]:
    """Build of the commit in two places, and the wheel of the sdist: the same bytes, or an error."""
    if changed := run("git", "status", "--porcelain"):
        sys.exit(f"a release is made of a commit; these differ from the last one:\n{changed}")
    for place in ("first", "second/deeper"):
        (folder / place).mkdir(parents=True)
        run("git", "archive", "--output", folder / "commit.tar", "HEAD")
        unpack(folder / "commit.tar", folder / place)
    first, second = (build(folder / place, folder / f"{place}-made") for place in ("first", "second/deeper"))
    sdist = next(name for name in first if name.endswith(".tar.gz"))
    unpack(folder / "first-made" / sdist, folder)
    third = build(folder / sdist.removesuffix(".tar.gz"), folder / "third")
    if not first == second == third:
        sys.exit(
            f"not the same bytes twice: {[name for name in first if not first[name] == second[name] == third.get(name)]}"
        )
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    for name, content in first.items():
        (DIST / name).write_bytes(content)
    return [DIST / name for name in sorted(first)]


def unpack(archive: Path, folder: Path) -> None:
    """Take an archive apart that was made here."""
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")


def install(package: Path, python: str, folder: Path) -> Path:
    """The folder of programs of a fresh environment with a package in it, and what the lock file has."""
    uv = (TOOLS / "uv", "--quiet", "--system-certs")
    run(*uv, "venv", "--no-python-downloads", "--python", python, folder)
    into = ("--python", folder / "bin" / "python")
    run(*uv, "pip", "install", *into, "--require-hashes", "--only-binary", ":all:", "-r", "requirements/runtime.txt")
    run(*uv, "pip", "install", *into, "--no-deps", "--build-constraints", "requirements/build.txt", package)
    run(*uv, "pip", "check", *into)
    return folder / "bin"


def try_out(programs: Path, version: str, folder: Path) -> None:
    """What somebody does first: the version, a check of good and of bad data, the demo."""
    folder.mkdir()
    told = run(programs / "aoe-reports", "--version", cwd=folder)
    if told != f"aoe-reports {version}\n":
        sys.exit(f"--version tells {told!r}, expected {version}")
    run(programs / "aoe-reports", "check", VALID, cwd=folder)
    run(programs / "aoe-reports", "check", DAMAGED, cwd=folder, code=1)
    run(programs / "aoe-reports", "demo", "-o", folder / "demo", cwd=folder)


def write_sbom(python: Path, version: str, folder: Path) -> Path:
    """All that an installation has in it, as CycloneDX, held against the schema by its own validator."""
    sbom = DIST / f"aoe-reports-{version}.cdx.json"
    described = folder / "pyproject.toml"  # the tool takes no version that the build works out
    described.write_text(
        (ROOT / "pyproject.toml").read_text().replace('dynamic = ["version"]', f'version = "{version}"')
    )
    run(
        TOOLS / "cyclonedx-py", "environment", "--pyproject", described, "--mc-type", "application",
        "--output-reproducible", "--validate", "--spec-version", "1.6", "--output-file", sbom, python,
    )  # fmt: skip
    return sbom


def main() -> None:
    """Build, check, install, try, write down."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        packages = build_repeatably(folder)
        say(
            f"built twice, and the wheel of the sdist, with the same bytes: {', '.join(path.name for path in packages)}"
        )
        run(TOOLS / "twine", "check", "--strict", *packages)
        wheels = [path for path in packages if path.suffix == ".whl"]
        version = wheels[0].name.split("-")[1]
        if len(wheels) == 1:
            say("no wheel with the compiled reader: no cargo here")
        run(TOOLS / "check-wheel-contents", *wheels)
        run(TOOLS / "validate-pyproject", "pyproject.toml")
        say("descriptions, contents and pyproject.toml are as they should be")
        tried: list[Path] = []
        for python in PYTHONS:
            if subprocess.run(
                [TOOLS / "uv", "python", "find", "--no-python-downloads", python], capture_output=True, check=False
            ).returncode:
                say(f"Python {python} is not on this machine: nothing was installed for it")
                continue
            for package in packages:
                place = folder / f"{python}-{package.name}"
                tried.append(install(package, python, place))
                try_out(tried[-1], version, folder / f"{place.name}-tried")
                say(f"Python {python}: {package.name} is installed and works")
        if not tried:
            sys.exit("no Python was found to try the packages with")
        sbom = write_sbom(tried[0] / "python", version, folder)
        sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in [*packages, sbom]]
        (DIST / "SHA256SUMS").write_text("".join(sums))
        say("".join(sums).rstrip())


if __name__ == "__main__":
    main()
