"""Which types of kernels stand in the place of others."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.topics.comparison.exchanges import exchanged


def found(**counts: tuple[float, float]) -> list[tuple[str, str, str]]:
    exact = {name: (Fraction(before), Fraction(after)) for name, (before, after) in counts.items()}
    return [(kind, "+".join(others), one) for kind, others, one in exchanged(exact)]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"Add": (6, 0), "Mul": (6, 0), "FusedMulAdd": (0, 6)}, [("fused", "Add+Mul", "FusedMulAdd")]),
        ({"Add": (6, 0), "Mul": (6, 0), "Cast": (6, 0), "FusedMulAdd": (0, 6)}, [("fused", "Add+Mul", "FusedMulAdd")]),
        ({"Add": (1, 0), "Mul": (1, 0), "FusedMulAdd": (0, 1)}, [("fused", "Add+Mul", "FusedMulAdd")]),
        ({"Soft": (3, 0), "Norm": (3, 0), "Attention": (0, 3)}, [("fused", "Soft+Norm", "Attention")]),
        ({"Soft": (2, 0), "Norm": (2, 0), "Attention": (0, 2)}, []),
        ({"A1": (3, 0), "B1": (3, 0), "C1": (3, 0), "D1": (3, 0), "Attention": (0, 3)}, []),
        ({"Softmax": (3, 0), "Exp": (0, 3), "Div": (0, 3)}, [("split", "Exp+Div", "Softmax")]),
        ({"MatMulV2": (7, 0), "MatMulV3": (0, 8)}, [("replaced", "MatMulV2", "MatMulV3")]),
        ({"Sort": (1, 0), "SortWithIndex": (0, 2)}, [("replaced", "Sort", "SortWithIndex")]),
        ({"Print": (1, 0), "AdamW": (0, 1)}, []),
        ({"Print": (1, 0), "Range": (1, 0), "Where": (1, 0), "AdamW": (0, 1)}, []),
        ({"MatMulV2": (7, 3), "MatMulV3": (0, 4)}, []),
        (
            {"Add": (6, 0), "Mul": (6, 0), "LayerNorm": (6, 0), "Softmax": (6, 0), "FusedMulAdd": (0, 6), "Other": (0, 6)},
            [("fused", "Add+Mul", "FusedMulAdd"), ("fused", "LayerNorm+Softmax", "Other")],
        ),
    ],
)  # fmt: skip
def test_types_are_exchanged(counts: dict[str, tuple[float, float]], expected: list[tuple[str, str, str]]) -> None:
    assert found(**counts) == expected


WRITTEN_OUT = {"Square": 6, "ReduceMean": 6, "Add": 6, "Rsqrt": 6, "Mul": 12, "Cast": 12}
"""The root mean square norm of six layers, written out in PyTorch."""


def test_a_norm_that_is_written_out_is_one_that_was_split_and_the_reverse() -> None:
    after = {name: (0, count) for name, count in WRITTEN_OUT.items()} | {"MatMulV2": (9, 9)}
    ((kind, many, one),) = found(RmsNorm=(6, 0), **after)
    assert (kind, {*many.split("+")}, one) == ("split", {*WRITTEN_OUT}, "RmsNorm")
    ((kind, many, one),) = found(RmsNorm=(0, 6), **{name: (count + 3, 3) for name, count in WRITTEN_OUT.items()})
    assert (kind, {*many.split("+")}, one) == ("fused", {*WRITTEN_OUT}, "RmsNorm")


@pytest.mark.parametrize("changed", [{"Mul": (0, 15)}, {"Rsqrt": (0, 0)}, {"Add": (0, 5)}])
def test_a_known_sequence_has_to_account_for_all_calls(changed: dict[str, tuple[float, float]]) -> None:
    after = {name: (0, count) for name, count in WRITTEN_OUT.items()}
    assert not [one for one in found(RmsNorm=(6, 0), **(after | changed)) if len(one[1].split("+")) > 3]


NAMES = st.tuples(
    st.sampled_from(["Sort", "sortWith", "Mat", "MatMul", "matmulBias", "AB"]), st.sampled_from(["", "V2", "v3", "12"])
)
GONE_OR_NEW = st.dictionaries(NAMES.map("".join), st.tuples(st.integers(1, 9), st.booleans()), max_size=8)


@given(GONE_OR_NEW)
def test_a_replaced_type_is_the_only_one_whose_stem_begins_like_its_own(made: dict[str, tuple[int, bool]]) -> None:
    counts = {name: (0, calls) if new else (calls, 0) for name, (calls, new) in made.items()}
    told = found(**counts)
    used = {name for kind, others, one in told if kind != "replaced" for name in (*others.split("+"), one)}
    gone = [name for name, (before, _) in counts.items() if before and name not in used]
    expected = []
    for name, (_, after) in counts.items():
        alike = [other for other in gone if _alike(name, other)] if after and name not in used else []
        if len(alike) == 1:
            gone.remove(alike[0])
            expected.append(("replaced", alike[0], name))
    assert [one for one in told if one[0] == "replaced"] == expected


def _alike(one: str, other: str) -> bool:
    stems = sorted((re.sub(r"(?:v?[0-9]+)?$", "", name.casefold(), count=1) for name in (one, other)), key=len)
    return len(stems[0]) >= 3 and stems[1].startswith(stems[0])
