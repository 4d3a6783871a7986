"""FLOPs and bytes by type and shapes: each formula against a count by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.topics.roofline.flops import FORMULAS, Call, Work, call_of, origins_of, work_of
from aoe_reports.topics.roofline.tensors import Dim, tensors_of

SIZE = st.integers(1, 64)
ANY_SIZE = st.integers(0, 64)


def call(op_type: str, inputs: str, outputs: str, *, types: str = "", hf32: bool | None = None) -> Call:
    """`1,2 ND FLOAT; 3` stands for a tensor each; what is not told is ND and FLOAT16."""

    def told(side: str) -> tuple[str, str, str]:
        parts = [
            [*one.split(), *["ND", "FLOAT16"][len(one.split()) - 1 :]] if one.split() else ["", "ND", "FLOAT16"]
            for one in side.split(";")
        ]
        return (
            ";".join("" if one[0] == "-" else one[0] for one in parts),
            ";".join(one[2] for one in parts),
            ";".join(one[1] for one in parts),
        )

    made = call_of(op_type, told(inputs), told(outputs), hf32=hf32)
    assert isinstance(made, Call), made
    return made


def flops(op_type: str, inputs: str, outputs: str) -> object:
    work = work_of(call(op_type, inputs, outputs), {})
    return work.flops if isinstance(work, Work) else work


@pytest.mark.parametrize("left", ["2,3", "3,2"])
@pytest.mark.parametrize("right", ["3,5", "5,3"])
def test_a_product_counts_two_for_each_of_m_n_k_however_its_matrices_lie(left: str, right: str) -> None:
    assert flops("MatMulV2", f"{left};{right}", "2,5") == 2 * 2 * 5 * 3


def test_square_matrices_are_one_count_whichever_is_transposed() -> None:
    assert flops("MatMulV3", "4,4;4,4;4", "4,4") == 2 * 4**3


@pytest.mark.parametrize(("inputs", "output"), [("2,3;4,5", "2,5"), ("2,3;3,5", "7,5"), ("2,3;3,5", "2,9")])
def test_matrices_that_do_not_fit_are_unknown(inputs: str, output: str) -> None:
    assert flops("MatMul", inputs, output) == "shapes-disagree"


def test_batches_multiply_and_may_be_repeated() -> None:
    assert flops("BatchMatMulV2", "7,8,2,3;7,8,3,5", "7,8,2,5") == 7 * 8 * 60
    assert flops("BatchMatMul", "7,8,2,3;5,3", "7,8,2,5") == 7 * 8 * 60
    assert flops("BatchMatMul", "7,1,2,3;1,8,3,5", "7,8,2,5") == 7 * 8 * 60
    assert flops("BatchMatMul", "6,2,3;7,3,5", "7,2,5") == "shapes-disagree"
    assert flops("BatchMatMul", "1,2,3;3,5", "7,2,5") == "shapes-disagree"  # seven of one
    assert flops("BatchMatMul", "0,2,3;1,3,5", "0,2,5") == 0


SIZES = st.lists(st.integers(0, 3), max_size=3)


@given(SIZES, SIZES, SIZES)
def test_batches_are_repeated_as_numpy_does(left: list[int], right: list[int], out: list[int]) -> None:
    shapes = [
        ",".join(map(str, [*batch, *matrix])) for batch, matrix in ((left, (2, 3)), (right, (3, 5)), (out, (2, 5)))
    ]
    try:
        fits = np.broadcast_shapes(left, right) == tuple(out)
    except ValueError:
        fits = False
    expected = math.prod(out) * 60 if fits else "shapes-disagree"
    assert flops("BatchMatMul", f"{shapes[0]};{shapes[1]}", shapes[2]) == expected


@pytest.mark.parametrize(("inputs", "output"), [("4,8;8", "4"), ("8;8", "1"), ("4,8;;8,2", "4,2")])
def test_a_vector_is_no_matrix(inputs: str, output: str) -> None:
    assert flops("MatMul", inputs, output) == "shapes-disagree"


def test_blocks_of_fractal_nz_take_the_exact_size_from_what_is_not_padded() -> None:
    # [33, 40] in blocks of 16x16 is [3, 3, 16, 16]: 48 rows and 48 columns
    inputs, output = "3,3,16,16 FRACTAL_NZ;40,20", "33,20"
    work = work_of(call("MatMulV2", inputs, output), {})
    assert isinstance(work, Work)
    assert (work.flops, work.at_most) == (2 * 33 * 20 * 40, False)
    padded = work_of(call("MatMulV2", "3,3,16,16 FRACTAL_NZ;2,3,16,16 FRACTAL_NZ", "33,20"), {})
    assert isinstance(padded, Work)
    assert (padded.flops, padded.at_most) == (2 * 33 * 20 * 48, True)


def test_a_tensor_in_another_private_format_is_no_matrix() -> None:
    assert flops("MatMulV2", "1,2,3,4,16 NC1HWC0;40,20", "33,20") == "private-format"


@pytest.mark.parametrize(
    ("op_type", "inputs", "output"),
    [
        ("Conv2D", "2,3,8,8 NCHW;5,3,3,3 NCHW", "2,5,6,6 NCHW"),
        ("Conv2D", "2,8,8,3 NHWC;3,3,3,5 HWCN", "2,6,6,5 NHWC"),
        ("Conv2DBackpropInput", "4;5,3,3,3 NCHW;2,5,6,6 NCHW", "2,3,8,8 NCHW"),
        ("Conv2DBackpropFilter", "2,3,8,8 NCHW;4;2,5,6,6 NCHW", "5,3,3,3 NCHW"),
    ],
)
def test_a_convolution_and_both_of_its_gradients_count_alike(op_type: str, inputs: str, output: str) -> None:
    assert flops(op_type, inputs, output) == 2 * (2 * 6 * 6 * 5) * (3 * 3 * 3)


def test_groups_divide_the_products_and_three_dimensions_multiply_them() -> None:
    assert flops("Conv2D", "2,6,8,8 NCHW;4,3,3,3 NCHW", "2,4,6,6 NCHW") == 2 * (2 * 4 * 36) * 27
    assert flops("Conv3D", "2,3,4,8,8 NCDHW;5,3,2,3,3 NCDHW", "2,5,3,6,6 NCDHW") == 2 * (2 * 5 * 3 * 36) * (3 * 18)


@pytest.mark.parametrize(
    ("inputs", "output"),
    [
        ("2,3,8,8 NCHW;5,3,3,3 NCHW", "9,5,6,6 NCHW"),  # as many images before as behind
        ("2,6,8,8 NCHW;4,4,3,3 NCHW", "2,4,6,6 NCHW"),  # 6 channels are no groups of 4
        ("2,8,8,6 NHWC;3,3,2,4 HWCN", "2,6,6,4 NHWC"),  # 3 groups, but 4 outputs
    ],
)
def test_images_and_filters_that_do_not_fit_are_unknown(inputs: str, output: str) -> None:
    assert flops("Conv2D", inputs, output) == "shapes-disagree"


def test_a_depthwise_convolution_has_one_product_for_each_place_of_its_kernel() -> None:
    assert flops("Conv2D", "2,8,8,6 NHWC;3,3,1,6 HWCN", "2,6,6,6 NHWC") == 2 * (2 * 36 * 6) * 9


PRIVATE = "2,4,8,8,16 NC1HWC0;36,5,16,16 FRACTAL_Z"


def test_padded_channels_are_at_most_and_a_single_block_of_them_is_unknown() -> None:
    work = work_of(call("Conv2D", PRIVATE, "2,5,6,6,16 NC1HWC0"), {})
    assert isinstance(work, Work)
    assert (work.flops, work.at_most) == (2 * (2 * 36 * 80) * (64 * 9), True)
    assert flops("Conv2D", "2,1,8,8,16 NC1HWC0;9,5,16,16 FRACTAL_Z", "2,5,6,6,16 NC1HWC0") == "private-format"
    assert flops("Conv2D", PRIVATE.replace("_Z", "_Z:2"), "2,5,6,6,16 NC1HWC0") == "private-format"


def test_conversions_tell_the_logical_form_where_there_is_only_one() -> None:
    image = call("TransData", "2,50,8,8 NCHW", "2,4,8,8,16 NC1HWC0")
    kernel = call("TransData", "70,50,3,3 NCHW", "36,5,16,16 FRACTAL_Z")
    back = call("TransData", "2,5,6,6,16 NC1HWC0", "2,70,6,6 NCHW")
    work = work_of(call("Conv2D", PRIVATE, "2,5,6,6,16 NC1HWC0"), origins_of([image, kernel, back]))
    assert isinstance(work, Work)
    assert (work.flops, work.at_most) == (2 * (2 * 36 * 70) * (50 * 9), False)
    assert work.bytes_ == 2 * (2 * 4 * 64 * 16 + 36 * 5 * 256 + 2 * 5 * 36 * 16)  # as they are kept
    other = call("TransData", "2,51,8,8 NCHW", "2,4,8,8,16 NC1HWC0")
    assert image.outputs[0] not in origins_of([image, other])


B, N, S, D = 2, 3, 64, 16
STATISTICS = f"{B},{N},{S},8 ND FLOAT"
LAYOUTS = {
    "BSH": f"{B},{S},{N * D}",
    "SBH": f"{S},{B},{N * D}",
    "BNSD": f"{B},{N},{S},{D}",
    "BSND": f"{B},{S},{N},{D}",
}


@pytest.mark.parametrize("shape", LAYOUTS.values(), ids=LAYOUTS)
def test_attention_counts_two_products_forward_and_five_backward_in_every_layout(shape: str) -> None:
    forward = work_of(
        call("FlashAttentionScore", f"{shape};{shape};{shape}", f"{STATISTICS};{STATISTICS};-;{shape}"), {}
    )
    grad = work_of(
        call(
            "FlashAttentionScoreGrad",
            f"{shape};{shape};{shape};{shape};-;-;-;-;{STATISTICS};{STATISTICS};-;{shape}",
            f"{shape};{shape};{shape}",
        ),
        {},
    )
    assert isinstance(forward, Work)
    assert isinstance(grad, Work)
    assert (forward.flops, forward.at_most) == (4 * B * N * S * S * D, True)
    assert (grad.flops, grad.at_most) == (10 * B * N * S * S * D, True)


def test_the_heads_of_keys_may_be_fewer_and_those_of_values_narrower() -> None:
    statistics = "2,8,64,8 ND FLOAT"
    inputs = "2,8,64,24;2,2,128,24;2,2,128,16"
    assert flops("FlashAttentionScore", inputs, f"{statistics};{statistics};-;2,8,64,16") == 2 * 2 * 8 * 64 * 128 * (
        24 + 16
    )


@pytest.mark.parametrize(
    ("query", "key", "statistics"),
    [
        ("1,1,4096", "1,4096,1024", "1,32,1,8"),  # one token: a batch of one, too
        ("1,1,4096", "4096,1,1024", "1,32,1,8"),
        ("8,32,32,128", "8,4,4096,128", "8,32,32,8"),  # as many heads as rows
        ("8,32,32,128", "8,4096,4,128", "8,32,32,8"),
    ],
)
def test_the_key_tells_the_layout_where_the_query_does_not(query: str, key: str, statistics: str) -> None:
    batch, heads, rows, _ = map(int, statistics.split(","))
    told = f"{statistics} ND FLOAT;{statistics} ND FLOAT;-;{query}"
    assert flops("FlashAttentionScore", f"{query};{key};{key}", told) == 4 * batch * heads * rows * 4096 * 128


@pytest.mark.parametrize(
    ("query", "key", "value", "why"),
    [
        ("2,8,64,16", "3,8,64,16", "3,8,64,16", "sequences-unknown"),
        ("2,8,64,16", "2,3,64,16", "2,3,64,16", "sequences-unknown"),
        ("2,8,64,16", "2,8,64,24", "2,8,64,24", "sequences-unknown"),
        ("2,8,64,16", "2,8,64,16", "2,8,32,16", "shapes-disagree"),
        ("2,8,64,16", "2,8,64,16", "2,64,16", "shapes-disagree"),
        ("2,8,64,0", "2,8,64,0", "2,8,64,0", "sequences-unknown"),
    ],
)
def test_attention_whose_tensors_do_not_fit_is_unknown(query: str, key: str, value: str, why: str) -> None:
    statistics = "2,8,64,8 ND FLOAT"
    assert flops("FlashAttentionScore", f"{query};{key};{value}", f"{statistics};{statistics};-;{query}") == why


def test_the_mask_tells_the_sequence_where_the_statistics_are_flat() -> None:
    shape = "8192,2,640"  # as in a real capture: SBH, statistics without their sizes
    inputs = f"{shape};{shape};{shape};-;83886112;-;1,1,8192,8192"
    assert flops("FlashAttentionScore", inputs, "655360 ND FLOAT;655360 ND FLOAT;-;10485760") == 4 * 2 * 8192**2 * 640


@pytest.mark.parametrize("statistics", ["640 ND FLOAT", "128,3,8 ND FLOAT"], ids=["flat", "packed"])
def test_attention_over_unknown_sequences_is_unknown(statistics: str) -> None:
    shape = "128,3,16"
    assert flops("FlashAttentionScore", f"{shape};{shape};{shape}", f"{statistics};{statistics};-;{shape}") == (
        "sequences-unknown"
    )


@pytest.mark.parametrize("op_type", ["IncreFlashAttention", "FusedInferAttentionScore"])
@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("4,1,4096", "4,512,1024"),  # BSH, fewer heads of keys
        ("4,1,32,128", "4,512,8,128"),  # BSND
        ("4,32,1,128", "4,8,512,128"),  # BNSD
        ("1,1,1,4096", "1,512,1,4096"),  # one head
    ],
)
def test_attention_over_a_cache_counts_what_the_cache_has_room_for(op_type: str, query: str, key: str) -> None:
    work = work_of(call(op_type, f"{query};{key};{key};-;-", query), {})
    assert isinstance(work, Work)
    assert (work.flops, work.at_most) == (4 * math.prod(map(int, query.split(","))) * 512, True)


def test_attention_over_a_cache_of_long_queries_is_known_where_one_layout_fits() -> None:
    assert flops("FusedInferAttentionScore", "2,32,48,128;2,8,512,128;2,8,512,64", "2,32,48,64") == (
        2 * 2 * 32 * 48 * 512 * (128 + 64)
    )


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        ("2,32,48,128;2,32,48,128;2,32,48,128", "sequences-unknown"),  # BNSD or BSND
        ("64,32,128;64,32,128;64,32,128", "sequences-unknown"),  # packed
        ("4,32,1,128;4,8,512,128;4,8,512,128;4,16 ND INT32", "sequences-unknown"),  # pages
        ("4,32,1,128;4,8,512,128;4,8,512,128;4,32,1,64", "sequences-unknown"),  # a part of the query apart
        ("4,32,1,128;4,8,512,128;4,8,256,128", "shapes-disagree"),
        ("4,32,1,128;5,8,512,128;5,8,512,128", "sequences-unknown"),
        ("4,32,1,0;4,8,512,0;4,8,512,0", "sequences-unknown"),
        ("4,32,1,128;4,8,512,128", "no-shapes"),
    ],
)
def test_attention_over_a_cache_that_does_not_tell_its_sequences_is_unknown(inputs: str, why: str) -> None:
    assert flops("FusedInferAttentionScore", inputs, "4,32,1,128") == why


@pytest.mark.parametrize(
    "weight", ["64,4 ND INT32", "64,32 ND INT4", "32,8 ND INT32"], ids=["packed", "plain", "turned"]
)
def test_eight_packed_weights_count_as_eight(weight: str) -> None:
    assert flops("WeightQuantBatchMatmulV2", f"5,64;{weight}", "5,32") == 2 * 5 * 64 * 32


def test_packed_weights_of_experts_count_and_move_what_they_hold() -> None:
    work = work_of(call("GroupedMatmul", "100,64;4,64,4 ND INT32;4 ND INT64", "100,32"), {})
    assert isinstance(work, Work)
    assert work.flops == 2 * 100 * 64 * 32
    assert work.bytes_ == 2 * 100 * 64 + 4 * 64 * 4 * 4 + 4 * 8 + 2 * 100 * 32


def test_grouped_products_count_each_row_once_and_their_gradient_each_product() -> None:
    work = work_of(call("GroupedMatmul", "100,6;4,6,10;4 ND INT64", "100,10"), {})
    assert isinstance(work, Work)
    assert (work.flops, work.at_most) == (2 * 100 * 6 * 10, True)
    assert flops("GroupedMatmul", "100,6;4,10,6;4 ND INT64", "100,10") == 2 * 100 * 6 * 10
    assert flops("GroupedMatmul", "100,6;100,10;4 ND INT64", "4,6,10") == 2 * 100 * 6 * 10
    assert flops("GroupedMatmul", "100,6;100,6;6,10;6,10", "100,10;100,10") == "no-shapes"


@pytest.mark.parametrize(
    ("op_type", "inputs", "output", "count", "moved"),
    [
        ("Add", "4,5;4,5", "4,5", 20, 120),
        ("Mul", "4,5;", "4,5", 20, 82),
        ("ReluGrad", "4,5;4,5", "4,5", 40, 120),
        ("Addcdiv", "4,5;4,5;4,5;", "4,5", 60, 162),
        ("ForeachLerpScalar", "4,5;4,5;", "4,5", 60, 122),
        ("TanhGrad", "4,5;4,5", "4,5", 60, 120),
        ("DropOutDoMask", "4,5;16 ND UINT8;", "4,5", 40, 98),
        ("L2Loss", "4,5", "1", 40, 42),
        ("ScaledMaskedSoftmax", "4,5;4,5 ND BOOL", "4,5", 140, 100),
        ("AddRmsNorm", "4,5;4,5;5", "4,5;4,1;4,5", 100, 178),
        ("AddLayerNorm", "4,5;4,5;5;5", "4,5", 160, 140),
        ("ReduceSum", "4,5", "4", 20, 48),
        ("SoftmaxV2", "4,5", "4,5", 100, 80),
        ("SoftmaxGrad", "4,5;4,5", "4,5", 80, 120),
        ("LayerNormV3", "4,5;5;5", "4,5;4,1;4,1", 140, 116),
        ("LayerNormGrad", "4,5;4,5", "4,5", 260, 120),
        ("RmsNorm", "4,5;5", "4,5;4,1", 80, 98),
        ("RmsNormGrad", "4,5;4,5", "4,5", 220, 120),
        ("ApplyAdamWV2", "20;20;20;20", "20;20;20", 280, 280),
        ("Transpose", "4,5", "5,4", 0, 80),
        ("Slice", "400,5", "4,5", 0, 80),
        ("ZerosLike", "4,5", "4,5", 0, 40),
    ],
)
def test_the_vector_unit_and_what_only_moves(op_type: str, inputs: str, output: str, count: int, moved: int) -> None:
    work = work_of(call(op_type, inputs, output), {})
    assert isinstance(work, Work)
    assert (work.flops, work.bytes_) == (count, moved)


@pytest.mark.parametrize(
    ("op_type", "kind", "hf32", "precision"),
    [
        ("MatMul", "FLOAT16", None, "fp16"),
        ("MatMul", "DT_BF16", None, "bf16"),
        ("MatMul", "INT8", None, "int8"),
        ("MatMul", "FLOAT", False, "fp32"),
        ("MatMul", "FLOAT", True, "hf32"),
        ("MatMul", "FLOAT", None, "fp32"),
        ("Add", "FLOAT16", None, "fp16"),
        ("Add", "DT_BF16", None, "fp32"),
        ("Add", "FLOAT", None, "fp32"),
    ],
)
def test_the_precision_is_that_of_the_first_input(op_type: str, kind: str, hf32: bool | None, precision: str) -> None:
    work = work_of(call(op_type, f"4,4 ND {kind};4,4 ND {kind}", f"4,4 ND {kind}", hf32=hf32), {})
    assert isinstance(work, Work)
    assert work.precision == precision


def test_a_convolution_of_float_may_use_hf32_where_an_export_does_not_tell() -> None:
    work = work_of(call("Conv2D", "2,3,8,8 NCHW FLOAT;5,3,3,3 NCHW FLOAT", "2,5,6,6 NCHW FLOAT"), {})
    assert isinstance(work, Work)
    assert work.precision == "hf32"


@pytest.mark.parametrize(
    ("shapes", "types", "formats"),
    [
        (None, "FLOAT", "ND"),
        ("2,3", None, "ND"),
        ("2,-1", "FLOAT", "ND"),
        ("2,3;4", "FLOAT", "ND"),
        ("2,x", "FLOAT", "ND"),
        ("9" * 30, "FLOAT", "ND"),
        ("9" * 9999, "FLOAT", "ND"),
    ],
)
def test_what_is_not_told_of_tensors_is_unknown(shapes: str | None, types: str | None, formats: str | None) -> None:
    assert tensors_of(shapes, types, formats) is None
    assert call_of("Add", (shapes, types, formats), ("2,3", "FLOAT", "ND")) == "no-shapes"


def test_types_without_a_formula_and_types_that_are_not_told_are_unknown() -> None:
    assert call_of("TopK", ("2", "FLOAT", "ND"), ("2", "FLOAT", "ND")) == "no-formula"
    assert call_of(None, ("2", "FLOAT", "ND"), ("2", "FLOAT", "ND")) == "no-type"


@pytest.mark.parametrize("kind", ["UNDEFINED", "DT_UNDEFINED", "NULL", ""])
def test_an_optional_input_that_is_not_given_takes_no_memory(kind: str) -> None:
    made = call_of(
        "MatMulV2", ("2,3;3,5;", f"FLOAT16;FLOAT16;{kind}", "ND;ND;NULL"), ("2,5;", f"FLOAT16;{kind}", "ND;NULL")
    )
    assert isinstance(made, Call)
    work = work_of(made, {})
    assert isinstance(work, Work)
    assert (work.flops, work.bytes_) == (60, 2 * (6 + 15 + 10))


def test_bytes_need_the_size_of_each_type() -> None:
    assert work_of(call("Add", "4,5 ND STRING;4,5", "4,5"), {}) == "type-unknown"
    work = work_of(call("QuantMatmul", "4,8 ND INT4;8,2 ND INT4", "4,2"), {})
    assert isinstance(work, Work)
    assert (work.bytes_, work.precision) == (16 + 8 + 16, "int4")


@given(SIZE, SIZE, SIZE, st.integers(1, 5), st.booleans(), st.booleans())
def test_products_grow_with_each_of_their_sizes(
    m: int, n: int, k: int, factor: int, turn_a: bool, turn_b: bool
) -> None:
    def count(m: int, n: int, k: int) -> object:
        left = f"{k},{m}" if turn_a else f"{m},{k}"
        right = f"{n},{k}" if turn_b else f"{k},{n}"
        return flops("MatMulV2", f"{left};{right}", f"{m},{n}")

    one = count(m, n, k)
    assert one == 2 * m * n * k
    assert count(m * factor, n, k) == count(m, n * factor, k) == count(m, n, k * factor) == factor * 2 * m * n * k


@given(st.integers(1, 1000), st.sampled_from([8, 16, 32]))
def test_a_padded_size_stands_for_what_it_was_rounded_up_from_and_for_nothing_else(size: int, block: int) -> None:
    padded = Dim(math.ceil(size / block) * block, block)
    assert padded.matched(Dim(size)) == Dim(size)
    assert Dim(size).matched(padded) == Dim(size)
    assert padded.matched(Dim(padded.value + 1)) is None
    assert padded.matched(Dim(padded.value - block)) is None


def _each(word: str, shapes: str) -> str:
    return ";".join(word for _ in shapes.split(";"))


@given(
    st.sampled_from(sorted(FORMULAS)),
    st.lists(st.lists(ANY_SIZE, max_size=5), min_size=1, max_size=4),
    st.lists(st.lists(ANY_SIZE, max_size=5), min_size=1, max_size=2),
)
def test_no_shapes_make_a_formula_fail_or_count_below_zero(
    op_type: str, inputs: list[list[int]], outputs: list[list[int]]
) -> None:
    def side(shapes: list[list[int]]) -> str:
        return ";".join(",".join(map(str, shape)) for shape in shapes)

    for layout in ("ND", "NCHW", "NC1HWC0", "FRACTAL_NZ", "FRACTAL_Z"):
        made = call_of(
            op_type, *((text, _each("FLOAT16", text), _each(layout, text)) for text in (side(inputs), side(outputs)))
        )
        assert isinstance(made, Call)
        work = work_of(made, {})
        assert isinstance(work, str) or (work.flops >= 0 and work.bytes_ >= 0)
