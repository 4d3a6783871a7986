"""The pages of a small store, whole: every kind of page and its JSON as a reader has them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from whole_texts import assert_recorded, rounded, rounded_text

from aoe_reports.site.build import build_site
from aoe_reports.store import History
from aoe_reports.store.layout import table_of

EXPECTED = Path(__file__).with_name("whole_pages")
PAGES = (
    "index",
    "tuning",
    "compare",
    "compare-net",
    "runs/index",
    "series/index",
    "runs/20260306T05*",
    "runs/20260306T02*",
    "runs/20260313T*",
)


def told(path: Path) -> str:
    """What a page shows, a tag a line, or what its JSON says."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return json.dumps(rounded(json.loads(text)), indent=1, ensure_ascii=False) + "\n"
    text = re.sub(r">(?=<)", ">\n", text[text.index("<body") :])
    return rounded_text(text).rstrip("\n") + "\n"


def pages_of(site: Path) -> dict[str, str]:
    """Every kind of page with its JSON."""
    series = json.loads((site / "series" / "index.json").read_text())["rows"]
    steps = [f"series/{row['series_id']}" for row in series if row["workload"] in {"net/step", "net/op/matmul"}]
    found = {}
    for name in (*PAGES, *steps):
        for path in sorted((*site.glob(f"{name}.html"), *site.glob(f"{name}.json"))):
            found[path.relative_to(site).as_posix().replace("/", "-")] = told(path)
    return found


def test_each_page_says_all_of_this(small_store: Path) -> None:
    build_site(str(small_store), Path("site"))
    assert_recorded(EXPECTED, pages_of(Path("site")), all_of_it=True)


ADVISED = "20260302T020000-05092c41"


def advice(state: str, position: int, **told: Any) -> dict[str, Any]:
    """A row of advice on a run, as it is stored."""
    columns: dict[str, Any] = {
        name: told.pop(name) for name in ("rule", "source", "op_type", "op_name", "rank_id", "count") if name in told
    }
    body = json.dumps({"position": position, **told})
    return {
        "kind": "advice", "month": "2026-03", "night": "2026-03-02", "timestamp_ns": 1_772_416_800 * 10**9, "run_id": ADVISED,
        "model": "net", "state": state, **columns, "body": body,
    }  # fmt: skip


ADVICE = [
    advice("advice", -4, rule="on-two", op_name="mul", op_type="Mul", input_shapes="8,8", count=5, rank_id=0, devices=2, bound_us=1234.5, bound_share=0.25, evidence="seen", advice="do this"),
    advice("advice", -3, rule="on-one", op_type="Add", count=1, rank_id=1, devices=1, bound_us=0.5, bound_share=1.5, evidence="", advice="do that"),
    advice("advice", -2, rule="of-the-step", rank_id=2, bound_share=-0.5, advice="do nothing"),
    advice("msprof", -2, rule="Model", op_name="a, b", rank_id=0, count=9, total_us=70.0, share=0.5, evidence="told", advice="msprof says"),
    advice("msprof", -1, rule="Bare", advice="msprof says nothing"),
    advice("candidate", -3, kind="operator", op_name="mul", op_type="Mul", input_shapes="8,8", count=5, total_us=900.0, share=0.3, bound_by="mte2", expected_saving_us=90.0, bound_saving_us=180.0, cost_s=26.0, reason="large"),
    advice("candidate", -2, kind="type", op_type="Add", count=1, total_us=9.0, expected_saving_us=45.0),
    advice("candidate", -1, kind="subgraph", expected_saving_us=-1.0),
    advice("left-out", -2, rule="dynamic-shape", meaning="shapes change", operators=12_345, total_us=99.5),
    advice("left-out", -1, rule="ai-cpu"),
]  # fmt: skip


def test_the_advice_on_a_run_is_shown_as_this(small_store: Path) -> None:
    History.open(str(small_store)).add_extra(table_of(ADVICE))
    build_site(str(small_store), Path("site"))
    texts = {}
    for path in (Path("site/runs") / f"{ADVISED}.html", Path("site/runs") / f"{ADVISED}.json"):
        texts[path.name] = told(path)
    assert_recorded(EXPECTED.with_name("whole_advice"), texts, all_of_it=True)
