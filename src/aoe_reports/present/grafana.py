"""What `regressions` found as annotations for Grafana: a JSON list, each element the body of one POST /api/annotations."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from aoe_reports.present.reports.changes import Changes, describe_attribution, describe_change
from aoe_reports.present.values import plain

LONGEST_TAG = 100
"""Characters that Grafana's table of tags has for the part before the colon of a tag, and for the one behind it."""
_TAGGED = ("state", "scope", "workload", "op_type", "op_name", "hardware", "rank_id", "series_id")
_RUN_ID = re.compile(r"(\d{8}T\d{6})-", re.ASCII)


def render(changes: Changes) -> str:
    """An annotation a changed series, at the run since which it is changed; oldest first."""
    found = [_annotation(row) for row in changes.rows if row["state"] is not None and row["since"] is not None]
    found.sort(key=lambda one: (one["time"], one["tags"]))
    return json.dumps(found, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _annotation(row: Mapping[str, Any]) -> dict[str, Any]:
    lines = [describe_change(row), *describe_attribution(row)]
    return {
        "time": _milliseconds(row),
        "tags": ["aoe-reports", *(f"{name}:{_tag(row[name])}" for name in _TAGGED if row[name] is not None)],
        # Grafana shows the text as HTML
        "text": "<br>".join(html.escape(plain(line)) for line in lines),
    }


def _milliseconds(row: Mapping[str, Any]) -> int:
    """Unix time of the run, which its id begins with; of one without, the beginning of its night (UTC)."""
    told = _RUN_ID.match(row["since_run"] or "")
    when = datetime.strptime(told[1], "%Y%m%dT%H%M%S") if told else datetime.fromisoformat(row["since"])  # noqa: DTZ007
    return int(when.replace(tzinfo=UTC).timestamp()) * 1000


def _tag(value: Any) -> str:
    """What stands behind the colon of a tag; the end of what is too long is a hash, so that two names stay two."""
    text = plain(str(value))
    if len(text) <= LONGEST_TAG:
        return text
    return text[: LONGEST_TAG - 9] + "~" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
