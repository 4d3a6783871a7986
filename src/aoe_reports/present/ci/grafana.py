"""What `regressions` found as annotations for Grafana: a JSON list, each element the body of one POST /api/annotations."""

from __future__ import annotations

import hashlib
import html
import json
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from aoe_reports.model.history.changes import SeriesChange
from aoe_reports.present.reports.changes import Changes, describe_attribution, describe_change
from aoe_reports.present.values import plain

LONGEST_TAG = 100
"""Characters that Grafana's table of tags has for the part before the colon of a tag, and for the one behind it."""
_TAGGED = ("state", "scope", "workload", "op_type", "op_name", "hardware", "rank_id", "series_id")
_RUN_ID = re.compile(r"(\d{8}T\d{6})-", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class _Annotation:
    """The body of a POST."""

    time: int
    """Unix time in ms."""
    tags: list[str]
    text: str
    """Grafana shows it as HTML."""


def render(changes: Changes) -> str:
    """An annotation a changed series, at the run since which it is changed; oldest first."""
    annotations = [
        _annotation(row, row.since) for row in changes.rows if row.state is not None and row.since is not None
    ]
    return (
        json.dumps(
            [asdict(annotation) for annotation in sorted(annotations)], ensure_ascii=False, indent=2, allow_nan=False
        )
        + "\n"
    )


def _annotation(row: SeriesChange, since: str) -> _Annotation:
    lines = [describe_change(row), *describe_attribution(row)]
    known = {name: value for name in _TAGGED if (value := getattr(row, name)) is not None}
    return _Annotation(
        time=_milliseconds(row.since_run or "", since),
        tags=["aoe-reports", *(f"{name}:{_tag(str(value))}" for name, value in known.items())],
        text="<br>".join(html.escape(plain(line)) for line in lines),
    )


def _milliseconds(run: str, night: str) -> int:
    """Unix time of a run, which its id begins with; of one without, the beginning of its night (UTC)."""
    stamp = _RUN_ID.match(run)
    when = datetime.strptime(stamp[1], "%Y%m%dT%H%M%S") if stamp else datetime.fromisoformat(night)  # noqa: DTZ007
    return int(when.replace(tzinfo=UTC).timestamp()) * 1000


def _tag(value: str) -> str:
    """The part of a tag behind the colon; too long a value ends with a hash, so that two names stay distinct."""
    text = plain(value)
    if len(text) <= LONGEST_TAG:
        return text
    return text[: LONGEST_TAG - 9] + "~" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
