"""CPU of `aoe-reports --help` against bare python, as whole processes, in turn; prints medians and the ratio."""

from __future__ import annotations

import argparse
import statistics
import sys

from hotspots import run


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    ours = [sys.executable, "-m", "aoe_reports", "--help"]
    bare = [sys.executable, "-c", "pass"]
    run(ours), run(bare)
    pairs = [(run(ours)[0], run(bare)[0]) for _ in range(rounds)]
    print(f"aoe-reports --help  {statistics.median(a for a, _ in pairs) * 1000:6.0f} ms CPU")
    print(f"bare python         {statistics.median(b for _, b in pairs) * 1000:6.0f} ms CPU")
    print(f"ratio               {statistics.median(a / b for a, b in pairs):6.1f}")


if __name__ == "__main__":
    main()
