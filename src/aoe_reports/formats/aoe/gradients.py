"""What AOE's gradient tuning (GDAT) leaves: a bank with the gradients of each model, their sizes and times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aoe_reports.model.topics.banks import BankSummary

PLACEHOLDER = (0, 0, 0, 0, 0)
"""Both lists of a model that is in the bank and not tuned yet."""

_LIMIT = 1 << 64


@dataclass(frozen=True, slots=True)
class GradientModel:
    """The gradients of one model, in the order of the bank."""

    modelhash: str
    """An unsigned 64-bit number in decimal digits."""
    sizes_bytes: tuple[int, ...]
    start: int | None
    """The first time: a point on the clock of the run. No document names the unit of times."""
    deltas: tuple[int, ...]
    """The times behind it: lengths, in the same unit."""
    pointer: str

    @property
    def times(self) -> int:
        return len(self.deltas) + (self.start is not None)

    @property
    def tuned(self) -> bool:
        """Whether it holds more than what stands there before tuning."""
        return self.sizes_bytes != PLACEHOLDER or (self.start, *self.deltas) != PLACEHOLDER


@dataclass(frozen=True, slots=True)
class GradientBank:
    """A gradient bank: the models in it, and the soc they were tuned on."""

    soc: str | None
    models: tuple[GradientModel, ...]

    def summary(self) -> BankSummary:
        """How much is in it: only of models that are tuned and whose lists are of one length."""
        good = [model for model in self.models if model.tuned and model.times == len(model.sizes_bytes)]
        sizes = [size for model in good for size in model.sizes_bytes]
        return BankSummary(
            soc=self.soc,
            models=len(self.models),
            used_models=len(good),
            gradients=len(sizes),
            size_bytes=sum(sizes),
            largest_bytes=max(sizes, default=None),
            time_after_start=sum(delta for model in good for delta in model.deltas),
            time_unit=None,
        )


def bank_of_document(document: Any, soc: str | None) -> GradientBank:
    """The models of a parsed bank; what has the wrong shape is left out here and found by the schema."""
    entries = document if isinstance(document, list) else []
    models = (_model(entry, f"/{i}") for i, entry in enumerate(entries))
    return GradientBank(soc, tuple(model for model in models if model is not None))


def _model(entry: Any, pointer: str) -> GradientModel | None:
    value = entry.get("modelvalue") if isinstance(entry, dict) else None
    if not isinstance(value, dict) or not isinstance(entry.get("modelhash"), str):
        return None
    sizes, times = _counts(value.get("gradientSize")), _counts(value.get("gradientTime"))
    if sizes is None or times is None:
        return None
    return GradientModel(entry["modelhash"], sizes, times[0] if times else None, times[1:], pointer)


def _counts(values: Any) -> tuple[int, ...] | None:
    if not isinstance(values, list) or not all(type(value) is int and 0 <= value < _LIMIT for value in values):
        return None
    return tuple(values)
