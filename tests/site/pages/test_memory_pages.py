"""Memory on pages: what a run held at its peaks, and the history of a series in a unit that people read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from captures import QUIET, write_night
from memory_nights import MIB, write_memory_night
from stores import store_at_once

from aoe_reports.history.stored_memory import memory_in
from aoe_reports.site.build import build_site
from aoe_reports.topics.records.options import RecordOptions

NIGHTS, SINCE = 22, 16
HOSTILE = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nights of one rank; from one of them on a cache takes 1000 MiB more, and HCCL 1024 MiB."""
    folder = tmp_path_factory.mktemp("memory")
    for number in range(NIGHTS):
        owners = [("cache", (3000 if number >= SINCE else 2000) * MIB), (HOSTILE, 512), ("aten::mm", 64 * MIB)]
        held = {"HCCL": (5 if number >= SINCE else 4) * 1024 * MIB}
        write_memory_night(folder / "nights" / f"{number:02}", number, owners, components=held)
    store_at_once([folder / "nights"], folder / "store", RecordOptions(workload="llm", hardware="910B"))
    build_site(str(folder / "store"), folder / "site", false_alarms_per_year=12.0, language="en")
    return folder / "site"


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def newest_run(site: Path) -> Path:
    return max(path for path in (site / "runs").glob("*.html") if path.stem != "index")


def test_a_run_names_its_peak_and_all_who_held_it(site: Path) -> None:
    page = newest_run(site)
    (memory,) = read(page.with_suffix(".json"))["memory"]
    assert memory["peak_bytes"] == 3164 * MIB + 512
    assert sum(owner["size_bytes"] for owner in memory["owners"]) == memory["peak_bytes"]
    text = page.read_text(encoding="utf-8")
    section = text.partition('id="h-memory"')[2].partition("</section>")[0]
    assert "Rank 0 has the highest peak: 3.090 GiB allocated (PTA)." in section
    assert HOSTILE not in section
    widths = [float(width) for width in re.findall(r'<rect class="part-[\w-]+" x="[\d.]+" width="([\d.]+)"', section)]
    assert sum(widths) == pytest.approx(1000, abs=3)
    links = re.findall(r'href="\.\./series/([\w-]+)\.html"', section)
    assert len(links) == 3
    assert "8.090 GiB" in section  # what the process held
    assert all((site / "series" / f"{link}.html").is_file() for link in links)


def test_a_run_without_memory_says_nothing_of_it(tmp_path: Path) -> None:
    write_night(tmp_path / "nights", 0, QUIET)
    store_at_once([tmp_path / "nights"], tmp_path / "store", RecordOptions(workload="llm"))
    build_site(str(tmp_path / "store"), tmp_path / "site", false_alarms_per_year=12.0, language="en")
    page = newest_run(tmp_path / "site")
    assert "h-memory" not in page.read_text(encoding="utf-8")
    assert "memory" not in read(page.with_suffix(".json"))


def series_of(site: Path, metric: str) -> Path:
    """The page of a series of memory."""
    (path,) = (
        path
        for path in (site / "series").glob("*.json")
        if path.stem != "index" and read(path)["row"].get("metric") == metric
    )
    return path.with_suffix(".html")


def test_a_component_has_a_page_and_its_change_is_of_the_same_incident(site: Path) -> None:
    page = series_of(site, "peak_component_HCCL_bytes")
    assert "<title>peak memory of HCCL of llm, rank 0" in page.read_text(encoding="utf-8")
    assert read(page.with_suffix(".json"))["row"]["unit"] == "bytes"
    (incident,) = read(site / "index.json")["incidents"]
    assert incident["title"] == "peak memory of llm, rank 0 +1,000 MiB (+46%): cache +1,000 MiB"
    metrics = {member["metric"] for member in incident["members"]}
    assert metrics >= {"peak_allocated_bytes", "peak_process_bytes", "peak_component_HCCL_bytes"}


def test_the_history_of_a_peak_is_drawn_in_gibibytes(site: Path) -> None:
    page = series_of(site, "peak_allocated_bytes")
    text = page.read_text(encoding="utf-8")
    data = json.loads(text.partition('<script type="application/json">')[2].partition("</script>")[0])
    assert data["unit"] == "GiB"
    assert len(data["values"]) == NIGHTS
    assert data["values"][-1] == pytest.approx((3164 * MIB + 512) / 2**30, rel=1e-6)
    assert data["baseline"] == pytest.approx((2164 * MIB + 512) / 2**30, rel=1e-3)
    assert '<span class="state confirmed">worse</span>' in text
    assert "2.113 GiB became 3.090 GiB" in text


def test_the_page_of_a_model_draws_its_memory(site: Path) -> None:
    text = (site / "models" / "llm.html").read_text(encoding="utf-8")
    titles = re.findall(r"<figcaption>(.*?)</figcaption>", text)
    assert any("peak memory of llm" in title for title in titles)
    assert any("peak reserved memory of llm" in title for title in titles)


PEAK = {"value": 10, "unit": "bytes", "better": "lower"}


@pytest.mark.parametrize(
    ("metrics", "owners"),
    [
        ({"peak_allocated_bytes": PEAK, "peak_owners": "none"}, 0),
        ({"peak_allocated_bytes": PEAK, "peak_owners": [1, {"bytes": "x"}, {"bytes": True}, {"bytes": 10}]}, 1),
        (
            {
                "peak_allocated_bytes": PEAK,
                "peak_pool": 7,
                "peak_owners": [{"name": ["a"], "bytes": 10, "others": "x"}],
            },
            1,
        ),
    ],
)
def test_a_record_that_somebody_changed_breaks_no_page(metrics: dict[str, Any], owners: int) -> None:
    row = {"rank_id": 0, "device_id": 0, "series_id": "s", "metrics": json.dumps(metrics)}
    memory = memory_in(row)
    assert memory is not None
    assert (memory.peak_bytes, len(memory.owners)) == (10, owners)


def test_of_many_ranks_the_highest_is_named() -> None:
    metrics = {"peak_allocated_bytes": PEAK, "ranks": 64, "largest_rank": 7, "peak_owners": []}
    memory = memory_in({"rank_id": None, "device_id": None, "series_id": "s", "metrics": json.dumps(metrics)})
    assert memory is not None
    assert (memory.rank_id, memory.ranks) == (7, 64)
