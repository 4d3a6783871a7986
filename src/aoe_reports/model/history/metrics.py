"""What a metric of a record means: its unit, and whether more of it is better. The one home of known names and of directions.

The detector knows one direction: what it is given is a cost, of which more is worse. A time is its own cost, and so is a metric
where lower is better; where higher is better the cost is 1 / value. People see the values themselves, with their own signs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final, Literal, get_args

Better = Literal["higher", "lower"]
"""Which direction of a metric is the good one."""
BETTER: Final[tuple[Better, ...]] = get_args(Better)

TIME_UNIT = "ms"
"""Of the mean run time of a record, where lower is better."""
PEAK_ALLOCATED: Final = "peak_allocated_bytes"
PEAK_RESERVED: Final = "peak_reserved_bytes"
MEDIAN_PEAK: Final = "median_rank_peak_allocated_bytes"
PEAK_PROCESS: Final = "peak_process_bytes"
GROWTH: Final = "growth_bytes_per_step"
_PEAK_COMPONENT = re.compile(r"peak_component_(?P<component>\w{1,64})_bytes", re.ASCII)
BYTE_UNIT, GROWTH_UNIT = "bytes", "bytes/step"
MIN_GROWTH = 4096
"""Bytes a step; a smaller growth is judged as this one. It takes a gigabyte in 240,000 steps."""
MIN_VALUE, MAX_VALUE = 1e-30, 1e30
"""Values beyond are none of a metric, but garbage; zero and less have no logarithm, so nothing can be said of their level."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """Unit and good direction of a metric; None where nobody has said so."""

    unit: str | None = None
    better: Better | None = None


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a mapping file declares for the metrics whose names match a pattern (`*` matches any part)."""

    pattern: str
    meaning: Meaning
    judged: bool = True
    """False: never, whatever the record or the known names say."""

    def fits(self, name: str) -> bool:
        """Whether the pattern matches a name."""
        return fnmatchcase(name.casefold(), self.pattern.casefold())


Declarations = tuple[Declaration, ...]
"""Those of a mapping file, in its order: the first that fits counts."""


def peak_of_component(component: str) -> str | None:
    """The metric that is the peak of a component of CANN; None where its name is none for a metric."""
    metric = f"peak_component_{component}_bytes"
    return metric if component_of(metric) == component else None


def component_of(metric: str) -> str | None:
    """The component whose peak a metric is."""
    found = _PEAK_COMPONENT.fullmatch(metric)
    return None if found is None else found["component"]


_STATISTIC = r"(?:mean|avg|average|median|min|max|p\d{1,3}(?:_\d{1,3})?)"
_LATENCY = (
    "ttft|time_to_first_token|tpot|time_per_output_token|itl|inter_token_latency|e2el|e2e_latency|end_to_end_latency"
    "|latency"
)
_PER_DEVICE = r"(?:_per_(?:gpu|npu|device|card|chip))?"
_SECOND = r"_per_(?:s|sec|secs|second)"
_MOST = r"(?:peak|max|maximum)"
_SIZE = r"(?:_(?:in_)?(?P<size>bytes|kb|mb|gb|kib|mib|gib))?"
_KNOWN: tuple[tuple[re.Pattern[str], str | None, Better], ...] = tuple(
    (re.compile(pattern, re.ASCII), unit, better)  # type: ignore[misc]
    for pattern, unit, better in (
        (rf"(?:{_STATISTIC}_)?(?:{_LATENCY})(?:_{_STATISTIC})?(?:_(?P<time>ns|us|ms|s))?", None, "lower"),
        (rf"(?:\w+_)?(?:tokens?|tok){_SECOND}{_PER_DEVICE}", "tokens/s", "higher"),
        (rf"(?:\w+_)?(?:requests?|req){_SECOND}{_PER_DEVICE}", "requests/s", "higher"),
        (rf"(?:\w+_)?(?:samples?){_SECOND}{_PER_DEVICE}", "samples/s", "higher"),
        (rf"(?:\w+_)?(?:images?){_SECOND}{_PER_DEVICE}", "images/s", "higher"),
        (rf"(?:\w+_)?(?:items?){_SECOND}{_PER_DEVICE}", "items/s", "higher"),
        (rf"(?:\w+_)?(?:bytes?){_SECOND}{_PER_DEVICE}", "B/s", "higher"),
        (r"(?:input|output|prompt|generation|total_token|token|tokens)_throughput", "tokens/s", "higher"),
        (r"(?:request|requests)_(?:throughput|goodput)|qps|rps", "requests/s", "higher"),
        (r"throughput", None, "higher"),
        (rf"(?:\w+_)?tflops?(?:_per_s)?{_PER_DEVICE}", "TFLOP/s", "higher"),
        (r"(?:\w+_)?(?:mfu|hfu)|model_flops_utili[sz]ation", None, "higher"),
        (r"(?:\w+_)?accuracy|acc|top_?\d+_acc", None, "higher"),
        (rf"{_MOST}_(?:\w+_)?(?:memory|mem)(?:_(?:allocated|reserved|used|usage))?{_SIZE}", None, "lower"),
        (r"(?:\w+_)?(?:peak|max)_(?:allocated|reserved)_bytes", BYTE_UNIT, "lower"),
        (r"(?:\w+_)?growth_bytes_per_step", GROWTH_UNIT, "lower"),
    )
)
"""Names that many programs use, as `normalised` gives them: unit, good direction."""


def meaning_of(name: str, recorded: Meaning, declarations: Declarations = ()) -> Meaning:
    """The meaning of a metric: from the mapping file, else from its record (`recorded`), else from its known name."""
    known = known_meaning(name)
    unit, better = recorded.unit or known.unit, recorded.better or known.better
    declared = next((declaration for declaration in declarations if declaration.fits(name)), None)
    if declared is None:
        return Meaning(unit, better)
    unit = declared.meaning.unit or unit
    return Meaning(unit, (declared.meaning.better or better) if declared.judged else None)


@lru_cache(maxsize=4096)
def known_meaning(name: str) -> Meaning:
    """What a name that many programs use means; nothing of any other."""
    words = normalised(name)
    for pattern, unit, better in _KNOWN:
        match = pattern.fullmatch(words)
        if match is not None:
            named = match.groupdict()
            return Meaning(named.get("time") or _SIZES.get(named.get("size") or "", unit), better)
    return Meaning()


_SIZES = {"bytes": BYTE_UNIT, "kb": "kB", "mb": "MB", "gb": "GB", "kib": "KiB", "mib": "MiB", "gib": "GiB"}


def normalised(name: str) -> str:
    """A name in small letters with `_` between its words: `P99 TTFT (ms)` is p99_ttft_ms, `tokens/s` tokens_per_s."""
    return re.sub(r"[^0-9a-z]+", "_", name.casefold().replace("/", "_per_")).strip("_")


def cost_of(value: float, meaning: Meaning) -> float:
    """What the detector is given of a value; 0, which is none, of what has no level."""
    if meaning.unit == GROWTH_UNIT:
        value = max(value, MIN_GROWTH)
    if not MIN_VALUE < value < MAX_VALUE:
        return 0.0
    return 1 / value if meaning.better == "higher" else value


def value_of(cost: float, better: str | None) -> float:
    """The value that a cost is of."""
    return 1 / cost if better == "higher" and cost else cost


def loss(change: float, better: str | None) -> float:
    """A change of a value (`after / before - 1`) as a loss: above 0 is worse."""
    return -change if better == "higher" else change


def value_change(change: float, better: str | None) -> float:
    """The change of a value, by that of its cost."""
    return 1 / (1 + change) - 1 if better == "higher" else change


def value_levels(one: object, better: str | None) -> dict[str, Any]:
    """before, after, change, ci_low and ci_high of a value, by those of its cost: the attributes that `one` has."""
    costs: dict[str, Any] = {name: getattr(one, name) for name in LEVELS}
    if better != "higher":
        return costs
    turned = {name: cost and value_of(cost, better) for name, cost in costs.items() if name in {"before", "after"}}
    for name, end in (("change", "change"), ("ci_low", "ci_high"), ("ci_high", "ci_low")):
        moved = costs[end]
        turned[name] = None if moved is None else value_change(moved, better)
    return turned


LEVELS = ("before", "after", "change", "ci_low", "ci_high")
