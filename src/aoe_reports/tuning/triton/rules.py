"""Rules on the files of Triton's autotuner."""

from aoe_reports.model.rules import Scope
from aoe_reports.model.texts import say

_FILES = Scope("files of other tuners")
_SOURCE = say("Triton, python/triton/runtime/autotuner.py")

AUTOTUNE_FORM = _FILES.rule(
    "autotune-form", "error", "not the key and the timed configurations that Triton's autotuner saves", _SOURCE
)
AUTOTUNE_TIME = _FILES.rule("autotune-time", "error", "a configuration without valid times", _SOURCE)
AUTOTUNE_NOTHING_RAN = _FILES.rule(
    "autotune-nothing-ran", "warning", "none of the configurations could be run", _SOURCE
)
AUTOTUNE_DUPLICATE = _FILES.rule(
    "autotune-duplicate", "warning", "a configuration appears twice; Triton uses the later one", _SOURCE
)
AUTOTUNE_NO_CLAIM = _FILES.rule(
    "autotune-no-claim",
    "info",
    "printed lines from which no claim follows that could be checked: no time, or several keys (TRITON_CACHE_AUTOTUNING=1 keeps both)",
    _SOURCE,
)
