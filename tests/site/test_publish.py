"""A site that is being replaced when it is killed: what somebody else put into the folder is still there afterwards."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from killing import COMPILER, KILLED, Fault, killer

from aoe_reports.simulation.nights import write_nights


@pytest.mark.torture
@pytest.mark.skipif(COMPILER is None, reason="no C compiler to put faults between site and the disk")
@pytest.mark.parametrize("in_steps", [False, True], ids=["at once", "in steps"])
def test_what_others_put_into_a_site_survives_a_kill_while_it_is_exchanged(tmp_path: Path, in_steps: bool) -> None:
    root = tmp_path.resolve() / "here"
    write_nights(root / "nights", 2)
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    with killer(environment, "aoe_reports.site.build") as killing:
        stored = killing.run(
            "ingest", root / "nights", "--store", root / "store", "--workload", "w", root=root, cwd=root
        )
        assert stored.code == 0, stored.err
        site = ("site", "--store", root / "store", "-o", root / "site")
        assert killing.run(*site, root=root, cwd=root).code == 0
        (root / "site" / "theirs.txt").write_text("somebody else's")
        changes = killing.run(*site, root=root, cwd=root, fault=Fault(in_steps=in_steps)).changes
        last = max(at for at, change in enumerate(changes, 1) if change == f"{_renaming(in_steps)} {root}/site")
        for at in (last - 1, last, last + 1, last + 2):
            killed = killing.run(*site, root=root, cwd=root, fault=Fault(at, in_steps=in_steps))
            assert killed.code == KILLED
            again = killing.run(*site, root=root, cwd=root, fault=Fault(in_steps=in_steps))
            assert again.code == 0, again.err
            assert (root / "site" / "theirs.txt").read_text() == "somebody else's", changes[at - 1]
            assert (root / "site" / "index.html").is_file()
            assert sorted(path.name for path in root.iterdir()) == ["nights", "site", "store"]


def _renaming(in_steps: bool) -> str:
    return "rename" if in_steps else "renameat2"
