"""Rules on tuning: on plans, on jobs, and on what was verified."""

from aoe_reports.model.rules import Scope
from aoe_reports.model.texts import say

_PLANS = Scope("tuning plans")
_JOBS = Scope("tuning jobs")
_VERIFYING = Scope("verifying")
_GUIDE = say("AOE guide: viewing the result")

PLAN_EMPTY = _PLANS.rule("plan-empty", "info", "nothing is worth tuning or can be tuned: the plan has no candidate")
PLAN_DEVICE = _PLANS.rule(
    "plan-device", "info", "the plan is made for the device with the longest step if there are several devices"
)
PLAN_PATH_UNKNOWN = _PLANS.rule(
    "plan-path-unknown", "info", "the profile has a timeline, but the plan has no bounds by its critical path"
)
PLAN_STEP_UNKNOWN = _PLANS.rule(
    "plan-step-unknown", "warning", "the duration of a step is not known: shares and bounds refer to computing only"
)
PLAN_TYPE_UNDOCUMENTED = _PLANS.rule(
    "plan-type-undocumented", "info", "a candidate's type is not in the (incomplete) lists of what AOE tunes"
)
PLAN_BANK_HAS_TYPE = _PLANS.rule(
    "plan-bank-has-type",
    "info",
    "the bank has entries of a candidate's type; AOE skips operators that are already in the bank",
)
PLAN_OPTION = _PLANS.rule(
    "plan-option",
    "warning",
    "the documents of the CANN version of the plan, or of its chip, do not have an option that is given for aoe",
    "AOE reference: command line",
)
PLAN_TWO_ROUNDS = _PLANS.rule(
    "plan-two-rounds", "info", "subgraphs are tuned first; operators are chosen from the profile taken afterwards"
)
PLAN_NO_COMMUNICATION = _PLANS.rule(
    "plan-no-communication", "warning", "gradient tuning was requested, but no communication was measured"
)
BANK_ENTRY = _PLANS.rule("bank-entry", "warning", "a line of an operator bank is not a JSON object")

TUNE_NO_FINISH_LINE = _JOBS.rule(
    "tune-no-finish-line", "error", "the console did not report that tuning finished", _GUIDE
)
TUNE_ERROR_CODE = _JOBS.rule(
    "tune-error-code", "error", "the console reported an error code", "AOE errors (EG codes), API error codes"
)
TUNE_MEMORY = _JOBS.rule("tune-memory", "warning", "the console warned of too little memory (WG0000)", "AOE errors")
TUNE_NO_RESULT = _JOBS.rule("tune-no-result", "error", "no result file of this run", _GUIDE)
TUNE_NO_KERNEL = _JOBS.rule(
    "tune-no-kernel",
    "error",
    "kernels were requested (--op_tune_mode), and none was created",
    "AOE reference: command line",
)
TUNE_BAD_RESULT = _JOBS.rule("tune-bad-result", "error", "a result file of this run is truncated or not valid", _GUIDE)
TUNE_INCOMPLETE = _JOBS.rule(
    "tune-incomplete", "error", "a result file reports that a task was not tuned completely", _GUIDE
)
TUNE_BANK_NOT_TUNED = _JOBS.rule(
    "tune-bank-not-tuned", "error", "gradient tuning left no tuned bank", "the code that writes these banks"
)
TUNE_EXIT_CODE = _JOBS.rule(
    "tune-exit-code",
    "error",
    "the command ended with an error (a warning for aoe, whose exit codes are not documented)",
    _GUIDE,
)
TUNE_KILLED = _JOBS.rule(
    "tune-killed", "error", "a signal that this tool did not send ended the process: a crash, or too little memory"
)
TUNE_GUARDIAN_LOST = _JOBS.rule(
    "tune-guardian-lost",
    "error",
    "the process that monitors the command was killed; a daemon of the command may still run",
)
TUNE_TIMEOUT = _JOBS.rule("tune-timeout", "error", "it took longer than --timeout and was stopped")
TUNE_INTERRUPTED = _JOBS.rule("tune-interrupted", "error", "it received a signal to stop before it was complete")
TUNE_LEFT_RUNNING = _JOBS.rule(
    "tune-left-running", "warning", "processes were still running after the command had ended, and were terminated"
)
TUNE_CLAIM_MISMATCH = _JOBS.rule(
    "tune-claim-mismatch", "warning", "the console's percentage differs from the one in the result file", _GUIDE
)
TUNE_NOTHING_CHANGED = _JOBS.rule(
    "tune-nothing-changed", "warning", "tuning succeeded without changes: no measurement is needed"
)
TUNE_BANK_UNCHANGED = _JOBS.rule(
    "tune-bank-unchanged", "warning", "the result reports changes, but no file of the bank changed"
)
TUNE_OTHER_AOE = _JOBS.rule(
    "tune-other-aoe",
    "warning",
    "the job continues with a different aoe than the one it started with",
    "AOE reference: command line",
)
TUNE_OTHER_CHIP = _JOBS.rule(
    "tune-other-chip",
    "warning",
    "AOE wrote to the bank of a chip that differs from the chip in the plan",
    "AOE reference: environment variables",
)
TUNE_NOT_ENDED = _JOBS.rule(
    "tune-not-ended",
    "warning",
    "some processes of the job could not be terminated (they belong to another user or are waiting for a device)",
)
TUNE_LOG_CAPPED = _JOBS.rule("tune-log-capped", "info", "the middle of a long console log was left out")
TUNE_FILE_MISSING = _JOBS.rule("tune-file-missing", "warning", "a file that the plan expects is missing")
TUNE_OPS_EDITED = _JOBS.rule("tune-ops-edited", "warning", "tune_ops.json and plan.json make different requests")

VERIFY_NOTHING_CLAIMED = _VERIFYING.rule(
    "verify-nothing-claimed",
    "warning",
    "nothing is claimed: there is nothing to compare with the measurement",
)
VERIFY_CLAIMS_DIFFER = _VERIFYING.rule(
    "verify-claims-differ",
    "info",
    "AOE's times of the model and its times of operators lead to different claims for a step",
)
VERIFY_CLAIM_SCALE = _VERIFYING.rule(
    "verify-claim-scale",
    "warning",
    "a claimed time before tuning is more than twice the measured one, or less than half of it: the claim may be about "
    "another operator, other shapes or another unit",
)
VERIFY_CLAIM_NOT_ATTRIBUTABLE = _VERIFYING.rule(
    "verify-claim-not-attributable",
    "warning",
    "a claim does not name the shapes that it is about, and the measured times do not show which ones: nothing is compared with it",
)
VERIFY_SAME_PROFILE = _VERIFYING.rule("verify-same-profile", "error", "before and after are the same profile")
VERIFY_SAME_CAPTURES = _VERIFYING.rule(
    "verify-same-captures", "warning", "repeated captures of one side have the same content: nothing was measured again"
)
VERIFY_FREQUENCY = _VERIFYING.rule(
    "verify-frequency", "error", "kernels ran at another clock frequency before than after (a warning with --force)"
)
VERIFY_NOT_IN_TURNS = _VERIFYING.rule(
    "verify-not-in-turns",
    "info",
    "all repeated captures of one side were taken before those of the other: a change of the machine would look like a gain",
)
VERIFY_SLOWER_TAIL = _VERIFYING.rule(
    "verify-slower-tail",
    "warning",
    "the mean of an operator's calls is lower, but its P95 or P99 is higher than before",
)
VERIFY_OTHER_WORKLOAD = _VERIFYING.rule(
    "verify-other-workload", "error", "most operators of one profile are not in the other (a warning with --force)"
)
VERIFY_OTHER_BASELINE = _VERIFYING.rule(
    "verify-other-baseline", "warning", "the profile before tuning is not the one from which the plan was made"
)
VERIFY_KEPT = _VERIFYING.rule(
    "verify-kept",
    "warning",
    "verify.json contains a reliable verdict, and this run produced no usable measurement: verify.json is unchanged",
)
VERIFY_REPLACED = _VERIFYING.rule(
    "verify-replaced",
    "info",
    "verify.json contained another verdict, which is kept under a different name (a warning if that "
    "verdict was a gain and this one is not)",
)
VERIFY_ORDER = _VERIFYING.rule(
    "verify-order",
    "error",
    "the profile after tuning was taken earlier than the profile before tuning: they are swapped (a "
    "warning with --force)",
)
VERIFY_STEPS_DIFFER = _VERIFYING.rule(
    "verify-steps-differ", "info", "the profiles have different numbers of steps; mean values per step are compared"
)
VERIFY_OTHER_STEP = _VERIFYING.rule(
    "verify-other-step",
    "warning",
    "the steps of the two profiles contain different work: operators are compared, steps are not",
)
VERIFY_NOISE_UNKNOWN = _VERIFYING.rule(
    "verify-noise-unknown", "warning", "too few untuned operators to estimate how much two captures differ"
)
VERIFY_DRIFT = _VERIFYING.rule(
    "verify-drift", "warning", "operators that were not tuned also changed: the state of the machine was different"
)
VERIFY_BANK_NOT_USED = _VERIFYING.rule(
    "verify-bank-not-used",
    "warning",
    "the tuned bank, or a part of it, was not in use when the second profile was taken: a log says so, or signs of it",
)
VERIFY_BANK_CHANGED = _VERIFYING.rule(
    "verify-bank-changed", "warning", "the private bank differs from what `tune run` wrote"
)
VERIFY_DEVICE = _VERIFYING.rule(
    "verify-device", "info", "of several devices, the one with the longest step before tuning is verified"
)
VERIFY_OPERATOR_CHANGED = _VERIFYING.rule(
    "verify-operator-changed", "info", "a tuned operator is not in both profiles with the same shapes"
)
