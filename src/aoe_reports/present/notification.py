"""A night as one JSON object for a chat or a service, in the shape that it takes.

Shapes: Slack, incoming webhooks (api.slack.com/messaging/webhooks); WeCom, group bots
(developer.work.weixin.qq.com/document/path/91770); DingTalk, custom robots (open.dingtalk.com/document/group/custom-robot-access).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from aoe_reports.model.classes import record
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.history.changes import IncidentChange
from aoe_reports.model.rows import as_mapping
from aoe_reports.model.texts import Language, in_language
from aoe_reports.present.values import plain

Shape = Literal["generic", "slack", "wecom", "dingtalk"]
HOSTS: Mapping[str, Shape] = {
    "hooks.slack.com": "slack", "qyapi.weixin.qq.com": "wecom", "oapi.dingtalk.com": "dingtalk",
}  # fmt: skip
"""Who takes which shape."""
MAX_BYTES = 2_048
"""Of a text: WeCom takes no more; no other takes less."""


@record
class Notice:
    """The notification of a night."""

    night: str | None
    headline: str
    verdict: str
    exit_code: int
    reasons: Sequence[str]
    incidents: Sequence[IncidentChange]

    def as_json(self, shape: Shape, language: Language = "en") -> JsonObject:
        """The object that is sent; its keys and reasons are the same in every language."""
        if shape == "generic":
            return {
                "command": "nightly",
                "night": self.night,
                "headline": plain(in_language(self.headline, language)),
                "verdict": plain(in_language(self.verdict, language)),
                "exit_code": self.exit_code,
                "reasons": list(self.reasons),
                "incidents": [as_mapping(incident) for incident in self.incidents],
            }
        text = self._text(shape, language)
        return {"text": text} if shape == "slack" else {"msgtype": "text", "text": {"content": text}}

    def _text(self, shape: Shape, language: Language) -> str:
        """Headline and verdict; the name in front is a word by which a DingTalk robot can know its own messages."""
        lines = [plain(in_language(line, language)) for line in (self.headline, self.verdict) if line]
        text = "aoe-reports: " + "\n".join(lines)
        if shape == "slack":  # the three characters that steer Slack's texts
            text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return text.encode()[:MAX_BYTES].decode(errors="ignore")
