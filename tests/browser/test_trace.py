"""What `trace` writes, opened in a real browser by an importer with the rules of the viewers."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from chromium import Tab
from commandline import ROOT, Cli
from made_events import write

pytestmark = pytest.mark.browser

IMPORTER = Path(__file__).with_name("importer.js").read_text()
REAL = (
    Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data"))
    / "msprof"
    / "torch_npu_2025-01"
    / "text"
)
BEGIN = 1736405443862052


def event(ph: str, us: int, name: str, tid: int = 2, **more: Any) -> dict[str, Any]:
    return {"ph": ph, "name": name, "pid": 320, "tid": tid, "ts": f"{BEGIN + us}.130", **more}


def timeline(folder: Path) -> Path:
    """A capture with tasks, launches, flows between them, nested ranges and a counter, and one event that is damaged."""
    events = [
        {"name": "process_name", "pid": 320, "tid": 0, "ph": "M", "args": {"name": "算子 </script> \u2028"}},
        {"name": "process_sort_index", "pid": 320, "tid": 0, "ph": "M", "args": {"sort_index": 13000}},
        {"name": "thread_name", "pid": 320, "tid": 2, "ph": "M", "args": {"name": "Stream 2"}},
    ]
    events += [event("B", 0, "outer", 7), event("B", 0, "inner", 7), event("E", 990, "inner", 7)]
    for number in range(100):
        events += [
            event("X", number * 10, "launch", 3, dur=2),
            event("X", number * 10 + 5, f"MatMul_{number}", dur=4.5, args={"Task Type": "AI_CORE"}),
            event("s", number * 10, "HostToDevice", 3, id=str(number << 32), cat="HostToDevice"),
            event("f", number * 10 + 5, "HostToDevice", id=str(number << 32), cat="HostToDevice", bp="e"),
            event("C", number * 10, "HBM", args={"MB": number}),
        ]
    events += [event("E", 1000, "outer", 7), event("X", 505, "negative", dur=-1)]
    output = folder / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    return write(output, events).parents[1]


def seen(tab: Tab, path: Path) -> dict[str, Any]:
    """What the importer tells of a file that is chosen in a page as a user would."""
    tab.go("about:blank")
    tab.run("document.body.innerHTML = '<input type=file>'")
    root = tab.call("DOM.getDocument")["root"]["nodeId"]
    field = tab.call("DOM.querySelector", nodeId=root, selector="input")["nodeId"]
    tab.call("DOM.setFileInputFiles", nodeId=field, files=[str(path)])
    told: dict[str, Any] = tab.run(
        f"(() => {{ {IMPORTER}; return importTrace(document.querySelector('input').files[0]) }})()"
    )
    assert tab.complaints == []
    return told


@pytest.mark.parametrize("name", ["cut.json", "cut.json.gz"])
def test_a_cut_opens_with_names_nested_ranges_bound_flows_and_marks(
    tab: Tab, cli: Cli, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    ended = cli("trace", timeline(tmp_path), "--from", (BEGIN + 400) * 1000, "--to", (BEGIN + 600) * 1000, "-o", path)
    assert ended.code == 1
    told = seen(tab, path)
    assert (told["errors"], told["unbound"], told["unnamed"]) == ([], [], [])
    assert told["bound"] == 40
    assert told["slices"] == 2 + 20 + 20
    assert told["processes"]["320"] == "算子 </script> \u2028"
    assert told["sorted"] == {"320": 13000}
    (mark,) = told["marks"]
    assert (mark["name"], mark["process"], mark["args"]["severity"]) == ("timeline-event", "Findings", "error")


def test_runs_side_by_side_open_as_processes_of_their_own(tab: Tab, cli: Cli, tmp_path: Path) -> None:
    before, after = timeline(tmp_path / "before"), timeline(tmp_path / "after")
    cli("trace", before, after, "--from", "+400000", "--to", "+600000", "-o", tmp_path / "both.json")
    told = seen(tab, tmp_path / "both.json")
    assert (told["errors"], told["unbound"], told["unnamed"]) == ([], [], [])
    assert told["bound"] == 80
    names = sorted(told["processes"].values())
    assert names[0] == "Findings"
    assert [name.split("/")[0] for name in names[1:]] == ["after", "before"]


@pytest.mark.skipif(not REAL.is_dir(), reason=f"no real exports in {REAL}")
@pytest.mark.parametrize("level", ["level0", "level1", "level2"])
def test_a_step_of_real_ranks_opens(tab: Tab, cli: Cli, tmp_path: Path, level: str) -> None:
    path = tmp_path / "step.json"
    assert cli("trace", REAL / level, "--step", 50, "-o", path).code == 0
    told = seen(tab, path)
    assert (told["errors"], told["unnamed"]) == ([], [])
    assert told["events"] == len(json.loads(path.read_text()))
    assert {name.split(":")[0] for name in told["processes"].values()} == {"rank 0", "rank 1"}
    assert cli("trace", REAL / level, "--step", 50, "--rank", 0, "-o", path).code == 0
    (source,) = REAL.glob(f"{level}/rank0*/*/trace_view.json")
    mine, whole = seen(tab, path), seen(tab, source)
    assert mine["bound"] > 0
    assert set(mine["unbound"]) <= set(whole["unbound"])  # the exporter leaves out launches at level 0
