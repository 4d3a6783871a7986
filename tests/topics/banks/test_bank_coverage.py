"""What a bank covers: by chip, cores, type, and every product that the shapes of a profile leave open."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats.aoe.operands import MatrixProduct
from aoe_reports.topics.banks.coverage import BankedOperator, BankIndex, CalledOperator, Coverage, readings_of

F16, ND = ("FLOAT16", "FLOAT16"), ("ND", "ND")
PRODUCT = MatrixProduct(
    m=512,
    k=1024,
    n=256,
    transposes=(False, False),
    bias=False,
    alone=True,
    data_types=F16,
    formats=ND,
    output_type="FLOAT16",
)
CALLED = CalledOperator("MatMulV3", "512,1024;1024,256", "FLOAT16;FLOAT16", "ND;ND")


def banked(product: MatrixProduct | None = PRODUCT, soc: str = "Ascend910B3", cores: int | None = 20) -> BankedOperator:
    return BankedOperator(soc, cores, "MatMulV3", product)


def told(called: CalledOperator, *entries: BankedOperator, cores: int | None = 20) -> tuple[Coverage, str]:
    found = BankIndex(entries, "Ascend910B3", cores).look_up(called)
    return found.status, found.reason


def test_an_entry_of_the_same_key_covers() -> None:
    assert told(CALLED, banked()) == ("covered", "")
    assert told(CALLED, banked(soc="ascend910b3")) == ("covered", "")
    assert told(CALLED, banked(), cores=None) == ("covered", "")


@pytest.mark.parametrize(
    ("called", "status", "reason"),
    [
        (replace(CALLED, data_types=None, formats=None), "covered", ""),
        (replace(CALLED, data_types="FLOAT;FLOAT"), "missing", "entries of these shapes have other data types, formats or bias"),
        (replace(CALLED, formats="FORMAT_ND;FORMAT_ND"), "covered", ""),
        (replace(CALLED, output_types="FLOAT"), "missing", "entries of these shapes have other data types, formats or bias"),
        (replace(CALLED, output_types="FLOAT16"), "covered", ""),
        (replace(CALLED, formats="NHWC;ND"), "missing", "entries of these shapes have other data types, formats or bias"),
        (replace(CALLED, input_shapes="512,1024;1024,256;256"), "missing", "entries of these shapes have other data types, formats or bias"),
        (replace(CALLED, input_shapes="512,1024;1024,256;"), "covered", ""),
        (replace(CALLED, input_shapes="512,1024;1024,257"), "missing", "no entry of these shapes"),
        (replace(CALLED, formats="FRACTAL_NZ;ND"), "unclear", "1 entries of this type; their keys cannot be compared with the profile"),
        (replace(CALLED, input_shapes=None), "unclear", "1 entries of this type; their keys cannot be compared with the profile"),
        (replace(CALLED, op_type="FFN"), "missing", "no entry of this type"),
        (replace(CALLED, op_type="Add"), "missing", "CANN does not tune this type with runtime_kb banks"),
        (replace(CALLED, op_type=None), "unclear", "the profile does not give its type"),
    ],
)  # fmt: skip
def test_what_is_not_the_same_is_not_covered(called: CalledOperator, status: Coverage, reason: str) -> None:
    assert told(called, banked()) == (status, reason)


@pytest.mark.parametrize("word", ["DT_BF16", "BF16"])
def test_a_type_is_the_same_with_and_without_the_prefix_of_the_enumeration(word: str) -> None:
    entry = banked(replace(PRODUCT, data_types=("DT_BF16", "DT_BF16"), output_type="DT_BF16"))
    called = replace(CALLED, data_types=f"{word};{word}", output_types=word)
    assert told(called, entry) == ("covered", "")


def test_an_entry_of_another_chip_is_stale() -> None:
    for other in (banked(soc="Ascend910B1"), banked(cores=24)):
        assert told(CALLED, other) == ("stale", f"its entry is for {other.soc} with {other.cores} AI Cores")
    conv = CalledOperator("Conv3D", "1,2,3,4,5;1,2,3,4,5", None, None)
    other = BankedOperator("Ascend910B1", 24, "Conv3D", None)
    assert told(conv, other) == ("missing", "entries of this type are only for Ascend910B1 with 24 AI Cores")


def test_a_square_product_is_covered_only_if_every_transposition_is() -> None:
    square = replace(PRODUCT, m=64, k=64, n=64)
    called = replace(CALLED, input_shapes="64,64;64,64")
    entries = [banked(replace(square, transposes=(a, b))) for a in (False, True) for b in (False, True)]
    reason = "the profile does not record which operand is transposed: {} of 4 possibilities have an entry"
    assert told(called, *entries[:1]) == ("unclear", reason.format(1))
    assert told(called, *entries[:3]) == ("unclear", reason.format(3))
    assert told(called, *entries) == ("covered", "")


def test_entries_with_batches_cover_no_single_product_and_unknown_keys_leave_it_open() -> None:
    assert told(CALLED, banked(replace(PRODUCT, alone=False))) == ("missing", "no entry of these shapes")
    assert told(CALLED, banked(None)) == ("unclear", "entries of this type have keys of an unknown form")


def test_an_auto_tune_bank_of_the_chip_leaves_it_open() -> None:
    graph = BankedOperator("Ascend910B3", 20, None, None)
    assert told(CALLED, graph) == (
        "unclear",
        "the Auto Tune bank has graphs that do not name their operators; one of them may be this",
    )
    assert told(CALLED, graph, banked()) == ("covered", "")
    assert told(CALLED, replace(graph, soc="Ascend310")) == ("missing", "no entry of this type")


def test_without_the_chip_nothing_is_covered() -> None:
    found = BankIndex([banked()], None, None).look_up(CALLED)
    assert (found.status, found.reason) == ("unclear", "the profile does not name its chip; specify it with --soc")


def test_older_names_are_looked_up_as_matmulv2() -> None:
    entry = replace(banked(), op_type="MatMulV2")
    for op_type in ("MatMul", "MatMulV2"):
        assert told(replace(CALLED, op_type=op_type), entry) == ("covered", "")
    assert told(CALLED, entry) == ("missing", "no entry of this type")


SIZES = st.integers(1, 5)


@given(SIZES, SIZES, SIZES, st.booleans(), st.booleans())
def test_every_product_is_among_the_readings_of_its_shapes(m: int, k: int, n: int, first: bool, second: bool) -> None:
    product = replace(PRODUCT, m=m, k=k, n=n, transposes=(first, second))
    shapes = ";".join(",".join(map(str, shape)) for shape in product.shapes)
    readings = readings_of(replace(CALLED, input_shapes=shapes))
    assert readings is not None
    assert (m, k, n, first, second) in readings
    assert len(set(readings)) == len(readings)


@pytest.mark.parametrize("shapes", ["", "3", "2,3;4,5", "2,3", "2,3;;3,4", "2,x;3,4", "1,2,3;3,4", "２,3;3,4"])
def test_what_is_no_matrix_product_has_no_reading(shapes: str) -> None:
    assert readings_of(replace(CALLED, input_shapes=shapes)) is None
