"""The links of a run as a map on its page: stored with the run, the slow one in a colour of its own."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from captures import QUIET, write_night
from commandline import Cli

from aoe_reports.model.topics.communication import Link
from aoe_reports.topics.communication.link_maps import MAX_LINKS, MAX_MAPS, link_maps

RANKS = 4
LINK = Link(
    group="g", source_rank=0, destination_rank=1, transport="HCCS", transit_bytes=10**6, transit_ns=100, transfers=1, compared=1,
    expected_ns=100, compared_ns=100,
)  # fmt: skip


def job(folder: Path, slow: tuple[int, int], group: str = "123") -> Path:
    """Ranks of a job with a matrix of links; one link has a fifth of the bandwidth."""
    for rank in range(RANKS):
        home = write_night(folder, 0, QUIET, rank=rank)
        links = {}
        for other in range(RANKS):
            took = 5.0 if (rank, other) == slow else 1.0
            links[f"{rank}-{other}"] = {
                "Transport Type": "LOCAL" if rank == other else "HCCS", "Transit Size(MB)": 20.0, "Transit Time(ms)": took,
                "Bandwidth(GB/s)": 20.0 / took,
            }  # fmt: skip
        matrix = {"step1": {"p2p": {}, "collective": {f"hcom_allReduce__586_0_1@{group}": links}}}
        (exports_of(home) / "communication_matrix.json").write_text(json.dumps(matrix))
    return folder


def exports_of(home: Path) -> Path:
    return home if home.name == "ASCEND_PROFILER_OUTPUT" else home / "ASCEND_PROFILER_OUTPUT"


def page_of(cli: Cli, folder: Path, at: Path) -> str:
    assert cli("ingest", folder, "--store", at / "store", "--workload", "net").code == 0
    assert cli("store", "verify", "--store", at / "store").code == 0
    assert cli("site", "--store", at / "store", "-o", at / "site").code == 0
    (page,) = (page for page in (at / "site" / "runs").glob("*.html") if page.stem != "index")
    return page.read_text("utf-8")


def cells(page: str) -> dict[str, int]:
    """How many areas of each colour the map of links has."""
    start = page.index('id="h-links"')
    drawn = page[start : page.index("</section>", start)]
    return {name: path.count("M") for name, path in re.findall(r'<path class="(heat\S*)" d="([^"]+)"', drawn)}


def test_the_slow_link_stands_out(cli: Cli, tmp_path: Path) -> None:
    page = page_of(cli, job(tmp_path / "job", (2, 1)), tmp_path)
    assert "Links of group 123 over HCCS" in page
    assert "4 ranks, 12 links" in page
    found = cells(page)
    assert (found["heat3"], found["heatless"]) == (1, RANKS)
    assert set(found) == {"heat3", "heat0", "heatless"}


def test_a_run_without_links_has_no_map(cli: Cli, tmp_path: Path) -> None:
    write_night(tmp_path / "job", 0, QUIET)
    assert 'id="h-links"' not in page_of(cli, tmp_path / "job", tmp_path)


def test_timelines_too_large_to_look_into_cost_no_map(cli: Cli, tmp_path: Path) -> None:
    folder = job(tmp_path / "job", (2, 1))
    timeline = next(folder.rglob("communication_matrix.json")).with_name("trace_view.json")
    timeline.write_bytes(b"[]")
    os.truncate(timeline, 80_000_000)
    page = page_of(cli, folder, tmp_path)
    assert "80 MB of timelines and databases were not examined" in page
    assert cells(page)["heat3"] == 1


def test_a_hostile_group_is_text(cli: Cli, tmp_path: Path) -> None:
    page = page_of(cli, job(tmp_path / "job", (2, 1), "<script>alert(1)</script>"), tmp_path)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_slowest_links_of_the_slowest_groups_are_kept() -> None:
    links = [replace(LINK, group=f"g{number}", compared_ns=100 + number) for number in range(MAX_MAPS + 2)]
    links += [replace(LINK, group="large", destination_rank=to, compared_ns=100 + to) for to in range(1, MAX_LINKS + 3)]
    links.append(replace(LINK, group="alone", compared=0, expected_ns=None, compared_ns=None))
    maps = link_maps(links)
    assert [one.group for one in maps] == ["large", "g5", "g4", "g3"]
    large = maps[0]
    assert (large.count, len(large.shares)) == (MAX_LINKS + 2, MAX_LINKS)
    assert large.shares[0][:2] == (0, MAX_LINKS + 2)
    assert (0, 1) not in {link[:2] for link in large.shares}


@pytest.mark.parametrize("cell", [[0, 1], [0, 1, -5], [0, True, 5], "0-1", [0, 1, 1 << 31], None])
def test_what_is_no_link_is_left_out_and_named(cell: Any) -> None:
    from aoe_reports.history.runs.stored_advice import _advice_of, unfit_names

    body = {"group": "g", "transport": "HCCS", "count": 1, "links": [[0, 1, 500], cell]}
    row = {"state": "links", "body": json.dumps(body)}
    (found,) = _advice_of([row]).links
    assert found.shares == [(0, 1, 0.5)]
    assert unfit_names(row) == ["links"]
    assert unfit_names({**row, "body": json.dumps({**body, "links": [[0, 1, 500]]})}) == []
