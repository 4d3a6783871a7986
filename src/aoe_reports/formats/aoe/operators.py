"""The operator types that AOE is known to tune; the published lists are not complete."""

from __future__ import annotations

import re

# Of two lists: the 112 types whose graphs torch_npu dumps for AOE (Ascend/pytorch, AoeDumpGraphManager.h, 9e73e708),
# which is complete, and the Operator List of CANN 9.0 (AOE parameter reference), whose end was not to be seen.
TUNABLE = (
    "Abs", "AccumulateNV2", "Add", "AddN", "Adds", "AvgPool", "AvgPool3D", "AvgPool3DGrad", "AvgPoolV2",
    "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "BatchNorm3D", "BiasAdd", "BiasAddGrad", "BNInfer",
    "BNTrainingReduce", "BNTrainingReduceGrad", "BNTrainingUpdate", "BNTrainingUpdateGrad", "BNTrainingUpdateV2",
    "BNTrainingUpdateV3", "BroadcastToD", "ClipByNormNoDivSum", "ClipByValue", "Conv1D", "Conv2D",
    "Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv2DCompress", "Conv2DTranspose", "Conv3D",
    "Conv3DBackpropFilter", "Conv3DBackpropInput", "Conv3DTranspose", "Deconvolution", "DeformableConv2D",
    "DepthwiseConv2D", "DepthwiseConv2DBackpropFilter", "DepthwiseConv2DBackpropInput", "DiagPartD", "Div",
    "DivNoNan", "DynamicRNN", "Elu", "EluGrad", "Equal", "Exp", "ExpandD", "Floor", "FloorDiv", "FullyConnection",
    "FullyConnectionCompress", "Gelu", "GEMM", "Greater", "GreaterEqual", "InstanceNorm", "L2Loss",
    "LambUpdateWithLrV2", "LayerNormBetaGammaBackpropV2", "LeakyRelu", "Less", "LessEqual", "Log", "Log1p",
    "LogicalAnd", "LogicalNot", "LogicalOr", "LogSoftmaxGrad", "LogSoftmaxV2", "LpNorm", "MatMul", "MatMulV2",
    "MatMulV2Compress", "MatMulV3", "MatrixDiagD", "Maximum", "MaxPool", "MaxPool3D", "MaxPoolV3", "Minimum", "Mul",
    "Muls", "Neg", "NotEqual", "Pooling", "Pow", "PRelu", "RealDiv", "ReduceAllD", "ReduceMaxD", "ReduceMeanD",
    "ReduceMinD", "ReduceSumD", "Relu", "ReluGradV2", "ReluV2", "Round", "Rsqrt", "RsqrtGrad", "Sigmoid", "Sign",
    "SoftmaxCrossEntropyWithLogits", "SoftmaxGrad", "SoftmaxV2", "Softplus", "SplitVD", "SqrtGrad", "Square",
    "SquaredDifference", "SquareSumV1", "SquareSumV2", "StridedSliceD", "Sub", "Tanh", "TileD", "Unpack",
)  # fmt: skip
"""Operator types as they are written in the lists."""

_NOT_DUMPED = frozenset({
    "BNTrainingReduceGrad", "BatchMatMulV3", "MatMulV3", "MaxPool", "MaxPool3D", "MaxPoolV3",
})  # fmt: skip
DUMPED = tuple(name for name in TUNABLE if name not in _NOT_DUMPED)
"""The types whose graphs torch_npu dumps for AOE; that list is complete."""

_VERSION = re.compile(r"v\d+\Z")
_NAMES = frozenset(name.casefold() for name in TUNABLE)
_STEMS = frozenset(_VERSION.sub("", name) for name in _NAMES)
_DUMPED_STEMS = frozenset(_VERSION.sub("", name.casefold()) for name in DUMPED)


def is_tunable(op_type: str) -> bool:
    """Whether a type stands in the lists; letters' case and a version behind the name (`V2`) make no difference."""
    name = op_type.casefold()
    return name in _NAMES or _VERSION.sub("", name) in _STEMS


def is_dumped(op_type: str) -> bool:
    """Whether torch_npu dumps graphs of a type for AOE.

    A version behind the name makes no difference: the profile tells the type that was compiled, the list the one that was
    called.
    """
    return _VERSION.sub("", op_type.casefold()) in _DUMPED_STEMS
