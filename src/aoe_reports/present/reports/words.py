"""The words that data use for what they say (a state, a verdict, a cause), and that people read in their own language."""

from __future__ import annotations

from aoe_reports.model.texts import N_

N_((
    # how something ended, what a row says of itself
    "pass", "warn", "fail", "error", "warning", "info", "ok", "confirmed", "suspect", "drift", "recovered", "improved",
    "withdrawn",
    # what is observed of a series that is no change of its level
    "scatter-change", "episode", "mode-switch", "warm-up", "unchanged", "changed", "slower", "faster", "damaged",
    "invalid", "incomplete", "partly", "not-reproduced", "regressed", "not-comparable", "not-used",
    # tuning
    "hit", "missed", "not-counted", "format", "already-banked", "not-better", "not-seen", "unclear", "added", "updated", "removed", "done", "running",
    # what a row of stored advice is
    "summary", "advice", "candidate", "left-out",
    # causes of gaps
    "host launched late", "synchronisation", "data loading", "compilation", "garbage collection",
    "waiting for communication", "waiting for an event",
    # what a run is, and what became of it
    "profile", "tuning", "foreign", "superseded", "renewed", "less-complete", "undone", "acknowledged", "expected",
    "revoked", "tag", "complete", "tuning successful", "tune success", "tuning failed", "tuning incomplete",
    # scopes, phases, parts of a step
    "step", "op", "op_type", "module", "layer", "phase", "operator", "communication", "communication_not_overlapped",
    "overlapped", "subgraph", "metric", "before", "after", "file", "default", "overview", "series", "run", "comparison",
    "asset",
    # why a series is not judged
    "no-times", "no-direction", "too-few-nights",
    # why something takes another time
    "both", "same", "slower-calls", "faster-calls", "more-calls", "fewer-calls", "changed-shapes", "changed-formats",
    "changed-data-types", "changed-inputs", "changed-repository", "fp_bp", "iteration_refresh", "data_aug_bound",
    # what bounds an operator, how its shapes are
    "memory-bandwidth", "ai-cpu", "static", "dynamic", "mixed",
    # what bounds an operator at its roof, why its work is not known
    "compute", "memory", "cache", "small", "not-ai-core", "no-type", "no-formula", "no-shapes", "shapes-disagree",
    "private-format", "sequences-unknown", "type-unknown", "at-most",
    # how a run of AOE ended, why a series is not compared with a baseline
    "nothing tunable", "not tuned", "no-baseline",
    # what rules are on, where they are listed
    "gradient banks", "preflight", "tuning jobs", "tuning plans", "verifying", "adopting banks",
    # what two captures have in common if they compare
    "device type", "CANN version", "profiler level", "set of AI Core metrics", "number of steps", "shape recording",
    # points of a step that tables may lack
    "head (FP Start)", "tail (BP End)",
    # what is drawn of a verification
    "Claimed and measured", "claimed by AOE", "measured",
    # whose choice the place of a bank is
    "given",
))  # fmt: skip
