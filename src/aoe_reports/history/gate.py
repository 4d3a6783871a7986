"""Gates: which changes fail a job. `scope=step,effect>=3%` is one; a change fails when it passes any of the gates."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoe_reports.model.changes import SCOPES
from aoe_reports.model.texts import join, say

if TYPE_CHECKING:
    from aoe_reports.history.series import SeriesLabels

LABELS = ("workload", "model", "scope", "op_type", "op_name", "metric", "hardware")
_CONDITION = re.compile(r"\s*(?P<name>[a-z_]+)\s*(?P<sign>!=|>=|=)\s*(?P<value>.*?)\s*")


@dataclass(frozen=True, slots=True)
class Gate:
    """What a change has to be to fail: labels that are (or are not) so, and how much slower at least."""

    labels: tuple[tuple[str, str, str], ...] = ()
    """(label, "=" or "!=", value), all of which hold."""
    least_effect: float = 0.0
    """`after / before - 1`."""

    def holds(self, labels: SeriesLabels, change: float) -> bool:
        """Whether a series with a change (`after / before - 1`) passes."""
        named = all((getattr(labels, name) == value) == (sign == "=") for name, sign, value in self.labels)
        return named and change >= self.least_effect


def parse_gate(text: str) -> Gate:
    """The gate that a text says; ValueError says what is wrong with it."""
    labels, least = [], 0.0
    for part in text.split(","):
        found = _CONDITION.fullmatch(part)
        if found is None:
            raise ValueError(say("{part!r}: expected FACT=VALUE, FACT!=VALUE or effect>=PERCENT%", part=part.strip()))
        name, sign, value = found["name"], found["sign"], found["value"]
        if name == "effect":
            least = max(least, _effect(sign, value))
        elif name not in LABELS:
            raise ValueError(
                say(
                    "{name!r}: expected effect, {names} or {last}",
                    name=name,
                    names=join(", ", LABELS[:-1]),
                    last=LABELS[-1],
                )
            )
        elif sign == ">=":
            raise ValueError(say("{part!r}: only effect takes >=", part=part.strip()))
        elif not value or value.startswith("="):  # would hold for no series, and let every change pass
            raise ValueError(say("{part!r}: expected {name}=VALUE or {name}!=VALUE", part=part.strip(), name=name))
        elif name == "scope" and value not in SCOPES:
            raise ValueError(say("{part!r}: expected one of {names}", part=part.strip(), names=join(", ", SCOPES)))
        else:
            labels.append((name, sign, value))
    return Gate(tuple(labels), least)


def _effect(sign: str, value: str) -> float:
    """3% as 0.03; a bare 3 is refused, since who writes it means 3 % and would get a gate that never fails."""
    number = value.removesuffix("%").strip()
    try:
        effect = float(number) / (100 if value.endswith("%") else 1)
    except ValueError:
        effect = math.nan
    bare = not value.endswith("%")
    if sign != ">=" or not math.isfinite(effect) or effect < 0 or (bare and effect >= 1):
        raise ValueError(say("effect{sign}{value}: expected effect>=3% or effect>=0.03", sign=sign, value=value))
    return effect
