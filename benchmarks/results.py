"""Files per CPU second for AOE results: `validate` as a library call, and the whole `check` command.

usage: python benchmarks/results.py [FOLDER] [--files 10000] [--rounds 3]
FOLDER holds aoe_result_*.json; without it, files are made from the package's own fixtures, in every dialect, each with
some 35 operators. Prints the best of several rounds (what a busy machine adds is not ours) and the peak memory of the
command; quote the ratio to a bare `json.loads` of the same bytes, the figures alone are this machine's.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import aoe_reports

FIXTURES = Path(__file__).parents[1] / "fixtures" / "aoe" / "valid"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = arguments.folder or write_results(Path(made), arguments.files)
        paths = sorted(folder.rglob("aoe_result_*.json"))
        texts = [(path.read_bytes(), "sgat" if "_sgat_" in path.name else "opat") for path in paths]
        bare = best(arguments.rounds, lambda: [json.loads(text) and None for text, _ in texts])
        ours = best(arguments.rounds, lambda: [aoe_reports.validate(text, kind) and None for text, kind in texts])
        runs = [check(folder) for _ in range(arguments.rounds)]
    count, size = len(texts), sum(len(text) for text, _ in texts)
    print(f"{count} files of {size / count:,.0f} bytes, best of {arguments.rounds} rounds")
    whole = min(seconds for seconds, _ in runs)
    for name, seconds in (("json.loads", bare), ("validate (parse and schema)", ours), ("check (command)", whole)):
        print(f"  {name:28s} {count / seconds:10,.0f} files a CPU s  {seconds / bare:6.2f} x json.loads")
    print(f"  peak memory of the command   {max(memory for _, memory in runs):10,.0f} MB")


def best(rounds: int, call: Callable[[], object]) -> float:
    """The fewest CPU seconds that a call takes."""
    found = []
    for _ in range(rounds):
        before = time.process_time()
        call()
        found.append(time.process_time() - before)
    return min(found)


MEASURED = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=False)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def check(folder: Path) -> tuple[float, float]:
    """(CPU seconds, peak memory in MB) of the whole command, started by a process of no size."""
    command = [sys.executable, "-m", "aoe_reports", "check", str(folder), "-o", str(folder.parent / "checked.txt")]
    ended = subprocess.run([sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, check=True)
    seconds, memory = map(float, ended.stdout.split())
    return seconds, memory


def write_results(folder: Path, files: int) -> Path:
    """Write result files: those of the fixtures with operators of other names and times."""
    rng = random.Random(7)
    templates = [(path.name, path.read_text()) for path in sorted(FIXTURES.glob("*/aoe_result_*.json"))]
    for i in range(files):
        name, text = templates[i % len(templates)]
        document = json.loads(text)
        for segments in document.values() if isinstance(document, dict) else [document]:
            enlarge(segments[1], rng)
        path = folder / name.replace("20260101020304005", f"20260101{i:09d}")
        path.write_text(json.dumps(document, indent=rng.choice([None, 4])))
    return folder


def enlarge(segment: dict, rng: random.Random) -> None:
    """Give a segment some 35 operators (or subgraphs), its counts and the model's times to match."""
    ((kind, body),) = segment.items()
    unit, what = ("us", "operators") if kind == "OPAT" else ("ms", "subgraphs")
    entries, saved = [], 0.0
    for i in range(rng.randrange(5, 65)):
        before = round(rng.uniform(5, 900), 3)
        after = round(before / rng.uniform(1.01, 1.6), 3)
        saved += (before - after) / (1000 if unit == "us" else 1)
        times = {
            f"performance_before_tune({unit})": before,
            f"performance_after_tune({unit})": after,
            "performance_improvement": f"{(before / after - 1) * 100:.2f}%",
        }
        key = {"repo_key": str(10**18 + i)} if kind == "SGAT" else {"op_name": f"net/block{i}", "op_type": "conv2d"}
        entries.append({**key, **times})
    modified = f"repo_modified_{what}"
    if isinstance(body[modified], list):
        body[modified] = [
            {
                "op_name": e.pop("op_name"),
                "op_type": e.pop("op_type"),
                "tune_performance": {"Impl": {**e, "update_mode": "add"}},
            }
            for e in entries
        ]
    else:
        body[modified] = {f"add_repo_{what}": entries}
    counts = {"hit": 3, "reserved": 3, "update": 0, "add": len(entries), "unsatisfied": 1}
    body["repo_summary"] = {f"repo_{key}_num": n for key, n in counts.items()} | {"total_num": len(entries) + 4}
    if "model_baseline_performance(ms)" in body:
        baseline = round(saved * 10, 6)
        result = round(baseline - saved, 6)
        body["model_baseline_performance(ms)"], body["model_result_performance(ms)"] = baseline, result
        body["model_performance_improvement"] = f"{(baseline / result - 1) * 100:.2f}%"


if __name__ == "__main__":
    main()
