"""Names that resemble each other: wrong letters do, names on purpose do not."""

import pytest

from aoe_reports.model.names import near_names, resembling


@pytest.mark.parametrize(
    ("name", "known", "resembles"),
    [
        ("nett", "net", True),
        ("Net", "net", True),
        ("resnet-nighly", "resnet-nightly", True),
        ("bert_large", "bert-large", True),
        ("bertlarge", "bert-large", True),
        ("llama-7b", "llama-70b", False),
        ("gpt-a", "gpt-b", False),
        ("resnet50-fp16", "resnet50-bf16", False),
        ("deepseek-v3", "deepseek-r1", False),
    ],
)
def test_a_wrong_letter_resembles_and_a_sibling_does_not(name: str, known: str, *, resembles: bool) -> None:
    assert resembling(name, [known]) == (known if resembles else None)


def test_names_that_a_misspelt_one_may_stand_for_come_nearest_first_in_their_own_letters() -> None:
    known = ["Ascend910B3", "Ascend910B4", "Ascend310"]
    assert near_names("ascend910b3", known, 2) == ["Ascend910B3", "Ascend910B4"]
    assert near_names("ascend910b3", known) == ["Ascend910B3"]
    assert near_names("gpu", known) == []
