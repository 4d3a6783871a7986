"""Rules on tables of claims, whoever's they are."""

from aoe_reports.model.rules import Scope

_FILES = Scope("files of other tuners")

CLAIMS_FORM = _FILES.rule(
    "claims-form", "error", "not a table of claims in UTF-8 with the columns of its tuner: none of it is used"
)
CLAIMS_ROW = _FILES.rule("claims-row", "error", "a row of claims that cannot be used")
CLAIMS_DUPLICATE = _FILES.rule(
    "claims-duplicate", "warning", "two claims for one operator with the same shapes; the later one is used"
)
CLAIMS_NO_GAIN = _FILES.rule(
    "claims-no-gain", "warning", "a row whose time after is not below its time before: it claims no gain"
)
