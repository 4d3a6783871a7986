"""Rules on the results of msOpTuner."""

from aoe_reports.model.rules import Scope
from aoe_reports.model.texts import say

OPTUNER_NOT_MEASURED = Scope("files of other tuners").rule(
    "optuner-not-measured",
    "info",
    "candidates with a time of 0: they could not be measured",
    say("CATLASS, tools/tuner"),
)
