"""Which types of kernels stand in the place of others."""

from __future__ import annotations

from fractions import Fraction

import pytest

from aoe_reports.facts.exchanges import exchanged


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
