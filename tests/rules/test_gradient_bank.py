"""Rules on gradient banks, on each side of what they allow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aoe_reports.formats.aoe.bank_file import read_bank
from aoe_reports.formats.aoe.gradients import PLACEHOLDER
from aoe_reports.formats.ascend.names import parse_name
from aoe_reports.rules.gradient_bank import check_bank_file

ZEROS = list(PLACEHOLDER)


def said(
    tmp_path: Path, *lists: tuple[list[Any], list[Any]], name: str = "Ascend910B_gradient_fusion.json"
) -> list[tuple[str, str, str | None]]:
    """(rule, severity, pointer) of what is said of a bank of models with these sizes and times."""
    models = [
        {"modelhash": str(n), "modelvalue": {"gradientSize": sizes, "gradientTime": times}}
        for n, (sizes, times) in enumerate(lists, 1)
    ]
    (tmp_path / name).write_text(json.dumps(models))
    file = read_bank(tmp_path / name, parse_name(name))
    return [(finding.rule, finding.severity, finding.pointer) for finding in check_bank_file(file)]


@pytest.mark.parametrize(
    ("sizes", "times", "rule"),
    [
        ([1, 2], [7, 8], None),
        ([1, 2], [7], "gdat-length"),
        ([1], [7, 8], "gdat-length"),
        ([1], [7], None),
        ([1], [], "gdat-length"),
        ([0], [7], None),
        ([0] * 5, [0] * 5, "gdat-not-tuned"),
        ([0] * 5, [0, 0, 0, 0, 1], None),
        ([1, 0, 0, 0, 0], [0] * 5, None),
        ([0] * 4, [0] * 4, None),
    ],
)
def test_a_model_has_a_time_for_each_size(tmp_path: Path, sizes: list[int], times: list[int], rule: str | None) -> None:
    severity = "error" if rule == "gdat-length" else "warning"
    told = [] if rule is None else [(rule, severity, "/1/modelvalue")]
    assert said(tmp_path, ([4, 5], [6, 7]), (sizes, times)) == told


def test_the_placeholder_is_five_zeros() -> None:
    assert ZEROS == [0] * 5


def test_the_name_tells_the_chip(tmp_path: Path) -> None:
    assert said(tmp_path, ([4], [6]), name="gradient_fusion.json") == [("gdat-soc", "warning", None)]


def test_a_bank_of_the_wrong_shape(tmp_path: Path) -> None:
    assert [(rule, pointer) for rule, _, pointer in said(tmp_path, ([-1], [6]))] == [
        ("schema", "/0/modelvalue/gradientSize/0")
    ]
