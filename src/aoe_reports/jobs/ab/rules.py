"""Rules on two sides of repeats."""

from aoe_reports.model.rules import Scope

SIDES = Scope("sides")

NOTHING_IN_COMMON = SIDES.rule("ab-nothing-in-common", "error", "no quantity was measured on both sides")
FEW_REPEATS = SIDES.rule(
    "ab-few-repeats",
    "warning",
    "too few repeats to know the noise: they prove nothing by themselves (see --store, --samples)",
)
GATE_NOT_JUDGED = SIDES.rule(
    "ab-gate-not-judged", "warning", "a gate watches no quantity that can be judged: it can fail nothing"
)
ONE_SIDE = SIDES.rule("ab-one-side", "warning", "quantities that were measured on one side only: they are not compared")
NO_REPEAT = SIDES.rule("ab-no-repeat", "warning", "not a measurement of its own: a copy, or a claim of a tuner")
GIVEN_TWICE = SIDES.rule(
    "ab-given-twice",
    "error",
    "one measurement is given for both sides, or for two builds: a file, or a copy with the same time and values",
)
VALUES_MISSING = SIDES.rule(
    "ab-values-missing",
    "warning",
    "quantities have no value in some repeats of their workload: the others are compared",
)
STORED_NOISE = SIDES.rule(
    "ab-stored-noise", "info", "the store whose nights show the noise (a warning where they ran on other hardware)"
)
DEAD_ROUNDS = SIDES.rule(
    "ab-dead-rounds",
    "error",
    "a value is 0, negative or out of range in some repeats and not in others: what is left is no fair sample",
)
REQUESTS_FAILED = SIDES.rule(
    "ab-requests-failed", "error", "more requests fail in the candidate: times of those that did not fail mean little"
)
NO_DIRECTION = SIDES.rule(
    "ab-no-direction",
    "info",
    "metrics that are not compared: their good direction is not known",
)
NAMES_IGNORED = SIDES.rule(
    "ab-names-ignored",
    "info",
    "names, arguments or configuration differ between repeats and are ignored, so that they have something in common",
)
ORDER_UNKNOWN = SIDES.rule(
    "ab-order-unknown",
    "warning",
    "nothing says in which order the repeats ran: a drift of the machine cannot be told from a difference",
)
NOT_IN_TURNS = SIDES.rule(
    "ab-not-in-turns",
    "warning",
    "the sides ran one after the other: the interval is wider, because a drift of the machine looks like a difference",
)
DRIFT = SIDES.rule("ab-drift", "warning", "values drift over the session; the drift is removed from the difference")
WARM_UP = SIDES.rule("ab-warm-up", "warning", "the first repeat of a session is far slower than its side: a warm-up")
CONDITIONS_DIFFER = SIDES.rule(
    "ab-conditions-differ", "warning", "the sides ran under different conditions: a difference may come from these"
)
RANKS_DIFFER = SIDES.rule(
    "ab-ranks-differ", "warning", "repeats have different ranks: their means are of different devices"
)
