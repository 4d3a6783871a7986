"""Draws the pictures of docs/grafana.md: our dashboards over a real Prometheus, with the panels of Grafana's own libraries: python docs/grafana/pictures.py.

It needs npm, which fetches these libraries, and Debian's prometheus and chromium; the server of Grafana it does not need.
"""

from __future__ import annotations

import http.server
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, time
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from chromium import Chromium  # noqa: E402 -- it is there for the tests

BOARDS = ROOT / "integrations" / "grafana"
SIZES = {"regressions-prometheus.json": (1256, 1460), "history-infinity.json": (1256, 1150)}
WRITTEN_AT = time(4, tzinfo=UTC)
"""When a night's metrics are there."""
PROMETHEUS_PORT = 19_090
WORDS = (
    "--workload",
    "simulated-convnet",
    "--hardware",
    "simulated-npu",
    "--engine-version",
    "simulated",
    "--tz",
    "UTC",
)
MAX_BYTES = 150_000


def run(*command: object, cwd: Path, allowed: Sequence[int] = (0,)) -> str:
    """What a command prints."""
    ended = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    if ended.returncode not in allowed:
        sys.exit(f"{' '.join(map(str, command))}\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def aoe_reports(*words: object, cwd: Path) -> str:
    """What a command of ours prints; an exit code of 1 is a finding, or a regression."""
    return run(sys.executable, "-m", "aoe_reports", *words, cwd=cwd, allowed=(0, 1))


def metrics_of(nights: Sequence[Path], folder: Path) -> str:
    """What `regressions` prints after each night, with its time: what Prometheus would have kept of that."""
    heads, samples = dict[str, list[str]](), defaultdict[str, list[str]](list)
    for night in nights:
        at = int(datetime.combine(datetime.fromisoformat(night.name), WRITTEN_AT).timestamp())
        aoe_reports("ingest", night, "--store", "store", *WORDS, cwd=folder)
        printed = aoe_reports(
            "regressions", "--store", "store", "--all", "--scope", "step", "--format", "openmetrics", cwd=folder
        )
        family = ""
        for line in printed.splitlines():
            if line.startswith("# TYPE "):
                family = line.split(" ")[2]
                heads[family] = []
            if line.startswith("#"):
                heads[family] += [line] if line != "# EOF" else []
            else:
                samples[family].append(f"{line} {at}")
    return "\n".join([*(line for family, mine in samples.items() for line in (*heads[family], *mine)), "# EOF", ""])


@contextmanager
def prometheus(folder: Path) -> Iterator[None]:
    """A Prometheus on the data of a folder; what a night writes is there until the next one."""
    (folder / "prometheus.yml").write_text("global: {}\n")
    options = ("--storage.tsdb.path=data", "--storage.tsdb.retention.time=50y", "--query.lookback-delta=25h")
    command = (
        "prometheus",
        "--config.file=prometheus.yml",
        f"--web.listen-address=127.0.0.1:{PROMETHEUS_PORT}",
        *options,
    )
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            while "Server is ready" not in process.stderr.readline():
                if process.poll() is not None:
                    sys.exit("prometheus ended")
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield
        finally:
            process.terminate()


@contextmanager
def pages(folder: Path) -> Iterator[str]:
    """The address at which the files of a folder are served."""
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def main() -> None:
    """Make nights, metrics and the page, and look at both dashboards in light and in dark."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for source in ("package.json", "build.mjs", "panels.html", "panels.jsx"):
            shutil.copy(HERE / source, folder)
        run("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)
        run("node", "build.mjs", cwd=folder)
        aoe_reports("demo", "-o", "demo", cwd=folder)
        nights = sorted((folder / "demo" / "nights").iterdir())
        (folder / "metrics.txt").write_text(metrics_of(nights, folder))
        run("promtool", "tsdb", "create-blocks-from", "openmetrics", "metrics.txt", "data", cwd=folder)
        (folder / "steps.json").write_text(
            aoe_reports("history", "records", "--store", "store", "--scope", "step", "--format", "json", cwd=folder)
        )
        (folder / "changes.json").write_text(
            aoe_reports("regressions", "--store", "store", "--format", "json", cwd=folder)
        )
        first, last = (
            int(datetime.combine(datetime.fromisoformat(night.name), hour).timestamp() * 1000)
            for night, hour in ((nights[0], time(tzinfo=UTC)), (nights[-1], time(12, tzinfo=UTC)))
        )
        with prometheus(folder), pages(folder) as address, Chromium(folder / "browser") as browser:
            tab = browser.open_tab()
            for board, (width, height) in SIZES.items():
                shutil.copy(BOARDS / board, folder)
                for dark, scheme in enumerate(("light", "dark")):
                    tab.look(width, height, scheme)
                    asked = {
                        "board": board,
                        "from": first,
                        "to": last,
                        "dark": dark,
                        "prometheus": f"http://127.0.0.1:{PROMETHEUS_PORT}",
                    }
                    tab.go(f"{address}/panels.html?{urlencode(asked)}")
                    tab.wait_for("document.title !== 'waits'")
                    if (told := tab.run("document.title")) != "ready":
                        sys.exit(f"{board}: {told}")
                    picture = tab.screenshot("webp", quality=80)
                    if len(picture) > MAX_BYTES:
                        sys.exit(f"{board} in {scheme} has {len(picture)} bytes, more than {MAX_BYTES}")
                    (HERE.parent / f"grafana-{Path(board).stem}-{scheme}.webp").write_bytes(picture)


if __name__ == "__main__":
    main()
