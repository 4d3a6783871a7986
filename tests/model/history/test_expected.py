"""What is expected and absent is named, once each, with who expects it."""

from aoe_reports.model.findings import EXAMPLES_PER_RULE
from aoe_reports.model.history.expected import find_absent
from aoe_reports.model.texts import say


def test_each_name_that_is_absent_is_a_finding_with_its_reason() -> None:
    reason = say("rank 0 has it")
    found = find_absent("runs/after", "step", {"1": reason, "2": reason}, {"1"}, step=50)
    assert [str(one.message) for one in found] == ["step 50 of rank 2 is missing: rank 0 has it"]
    assert [(one.rule, one.severity, one.path) for one in found] == [("expected-absent", "error", "runs/after")]


def test_a_given_severity_and_the_cap_hold_for_all() -> None:
    expected = {str(rank): say("rank 0 has it") for rank in range(EXAMPLES_PER_RULE + 5)}
    found = find_absent("run", "rank", expected, (), severity="warning")
    assert len(found) == EXAMPLES_PER_RULE + 1
    assert {one.severity for one in found} == {"warning"}
    assert "5 more" in found[-1].message
