"""Cases of the command line: `--show KEY...` prints what they print, `--update` writes down what all of them print."""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from goldens.cases import CASES, FULL
from goldens.harness import (
    WRITTEN_OUT,
    digest_of,
    new_place,
    read_digests,
    run_group,
    write_digests,
    write_out,
)


def update(group: str) -> dict[str, str]:
    """The digests of a group; its texts are written out where they have a file."""
    with new_place() as place:
        texts = run_group(group, place)
    write_out(texts)
    return {key: digest_of(text) for key, text in texts.items()}


def update_all(groups: list[str]) -> None:
    """Write those groups down anew; others, and cases whose inputs are not here, keep what they have."""
    WRITTEN_OUT.mkdir(exist_ok=True)
    for path in WRITTEN_OUT.iterdir():
        if path.name not in FULL:
            path.unlink()
    before = read_digests()
    digests = {key: before[key] for keys in CASES.values() for key in keys if key in before}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(update, sorted(groups, key=lambda group: -len(CASES[group]))):
            digests |= found
            write_digests(digests)  # each group at once: an interrupted update keeps what it has
    changed = sum(before.get(key) != digest for key, digest in digests.items())
    sys.stdout.write(f"{len(digests)} cases, {changed} new or changed, {len(before.keys() - digests.keys())} gone\n")


def main() -> None:
    """Do what was asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--show", nargs="+", metavar="KEY", help="print what cases print, masked")
    asked.add_argument("--update", nargs="*", metavar="GROUP", help="write down what cases print [default: all]")
    asked.add_argument("--list", action="store_true", help="list the cases")
    given = parser.parse_args()
    if given.list:
        sys.stdout.writelines(f"{key}\n" for keys in CASES.values() for key in keys)
    elif given.update is not None:
        update_all(given.update or list(CASES))
    else:
        with new_place() as place:
            sys.stdout.writelines(place.run(key) for key in given.show)


if __name__ == "__main__":
    main()
