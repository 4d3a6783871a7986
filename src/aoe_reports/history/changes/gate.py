"""Gates: which changes fail a job. `scope=step,effect>=3%,alarms<=2/year` is one; a change fails when it passes any of the gates."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Protocol

from aoe_reports.model.history.changes import MIN_STEP_SHARE, NOTICED, SCOPES
from aoe_reports.model.size_units import parse_size, size_in_bytes
from aoe_reports.model.texts import join, say

LABELS = ("workload", "model", "scope", "op_type", "op_name", "metric", "hardware")
MIN_ALARMS, MAX_ALARMS = 1e-6, 1e9
"""False alarms a year that a gate may allow, as `--max-false-alarms-per-year` may."""
_CONDITION = re.compile(r"\s*(?P<name>[a-z_]+)\s*(?P<sign>!=|>=|<=|=)\s*(?P<value>.*?)\s*")


class Labelled(Protocol):
    """What has the LABELS: a series, or a quantity."""

    @property
    def scope(self) -> str:
        """What is measured."""

    @property
    def unit(self) -> str | None:
        """Of its values."""


@dataclass(frozen=True, slots=True)
class Gate:
    """What a change has to be to fail: labels that are (or are not) so, and how much slower at least."""

    labels: tuple[tuple[str, str, str], ...] = ()
    """(label, "=" or "!=", value), all of which hold."""
    least_effect: float = 0.0
    """Of a loss: 0.03 is 3 % more time, or 3 % less of a metric where higher is better."""
    least_bytes: float = 0.0
    """Of a loss of what is a size, or of growth per step; nothing else passes a gate that demands bytes."""
    least_share: float = 0.0
    """What it adds to a step, as a share of it; a step, a metric or a phase passes whatever it is, as does what nobody can relate to a step."""
    alarms_per_year: float | None = None
    """False alarms that all series that it watches may raise together; None: they share those of the store."""

    def watches(self, labels: Labelled) -> bool:
        """Whether a series is one of those that it names."""
        is_size = not self.least_bytes or size_in_bytes(0.0, labels.unit) is not None
        return is_size and all((getattr(labels, name) == value) == (sign == "=") for name, sign, value in self.labels)

    def holds(self, labels: Labelled, loss: float, before: float | None, step_share: float | None) -> bool:
        """Whether a series with a loss (`after / before - 1`, of what is better when higher the negative of that) passes.

        `before` is the value that the loss is a share of.
        """
        has_share = labels.scope in NOTICED or step_share is None or abs(step_share) >= self.least_share
        lost_bytes = size_in_bytes(loss * (before or 0.0), labels.unit) or 0.0
        is_enough = loss >= self.least_effect and lost_bytes >= self.least_bytes
        return self.watches(labels) and is_enough and has_share


DEFAULT_GATE = Gate(least_share=MIN_STEP_SHARE)
"""The floor of the default gate: a smaller change is reported and fails no job."""


def parse_gate(text: str) -> Gate:
    """The gate that a text says; ValueError says what is wrong with it."""
    labels, least, least_bytes, alarms = [], {"effect": 0.0, "share": 0.0}, 0.0, None
    for part in text.split(","):
        found = _CONDITION.fullmatch(part)
        if found is None:
            raise ValueError(
                say(
                    "{part!r}: expected FACT=VALUE, FACT!=VALUE, effect>=PERCENT%, effect>=SIZE, share>=PERCENT% or alarms<=N/year",
                    part=part.strip(),
                )
            )
        name, sign, value = found["name"], found["sign"], found["value"]
        size = parse_size(value) if (name, sign) == ("effect", ">=") else None
        if size is not None:
            least_bytes = max(least_bytes, size)
        elif name in least:
            least[name] = max(least[name], _fraction(name, sign, value))
        elif name == "alarms":
            alarms = min(_alarms(sign, value), math.inf if alarms is None else alarms)
        elif name not in LABELS:
            raise ValueError(
                say(
                    "{name!r}: expected effect, share, alarms, {names} or {last}",
                    name=name,
                    names=join(", ", LABELS[:-1]),
                    last=LABELS[-1],
                )
            )
        elif sign in {">=", "<="}:
            raise ValueError(say("{part!r}: only effect and share take >=, and only alarms <=", part=part.strip()))
        elif not value or value.startswith("="):  # would hold for no series, and let every change pass
            raise ValueError(say("{part!r}: expected {name}=VALUE or {name}!=VALUE", part=part.strip(), name=name))
        elif name == "scope" and value not in SCOPES:
            raise ValueError(say("{part!r}: expected one of {names}", part=part.strip(), names=join(", ", SCOPES)))
        else:
            labels.append((name, sign, value))
    return Gate(tuple(labels), least["effect"], least_bytes, least["share"], alarms)


def _fraction(name: str, sign: str, value: str) -> float:
    """3% as 0.03. A bare 3 is refused: it means 3 %, and the gate would never fail."""
    number = value.removesuffix("%").strip()
    try:
        effect = float(number) / (100 if value.endswith("%") else 1)
    except ValueError:
        effect = math.nan
    bare = not value.endswith("%")
    if sign != ">=" or not math.isfinite(effect) or effect < 0 or (bare and effect >= 1):
        expected = (
            say("effect>=3%, effect>=0.03 or, for memory, effect>=500MiB")
            if name == "effect"
            else say("share>=3% or share>=0.03")
        )
        raise ValueError(
            say("{name}{sign}{value}: expected {expected}", name=name, sign=sign, value=value, expected=expected)
        )
    return effect


def _alarms(sign: str, value: str) -> float:
    """2/year as 2; a number without the year is refused."""
    number, _, unit = value.partition("/")
    try:
        alarms = float(number)
    except ValueError:
        alarms = math.nan
    if sign != "<=" or unit.strip() != "year" or not MIN_ALARMS <= alarms <= MAX_ALARMS:
        raise ValueError(
            say(
                "alarms{sign}{value}: expected alarms<=2/year, a number of false alarms from {least:g} to {most:g}",
                sign=sign,
                value=value,
                least=MIN_ALARMS,
                most=MAX_ALARMS,
            )
        )
    return alarms
