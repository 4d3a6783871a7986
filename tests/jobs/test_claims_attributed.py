"""`verify`: which shapes a claim is about, what it costs other operators, and headlines that say what the rows below them say."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from commandline import Cli, Ended

from aoe_reports.simulation.claims import write_kernel
from aoe_reports.simulation.tuning import BEFORE, write_loop, write_profile

HEADER = "operator,shapes,before_us,after_us"


def claims_file(folder: Path, *rows: str) -> Path:
    path = folder / "claims.csv"
    path.write_text("\n".join((HEADER, *rows)) + "\n")
    return path


def kernels(folder: Path, **factors: float) -> tuple[Path, Path]:
    """Six captures a side of kernels that take 100 us before, and their factor of that after."""
    drawn = random.Random(1)
    for side in ("before", "after"):
        for number, (name, factor) in enumerate(factors.items()):
            write_kernel(folder / side, name, 100 * (factor if side == "after" else 1), drawn, first=10 * number)
    return folder / "before", folder / "after"


def two_shapes(folder: Path, before: tuple[float, float], after: tuple[float, float]) -> tuple[Path, Path]:
    """Two profiles in which one operator is called with two shapes, beside operators that are as before."""
    sides = []
    for number, (side, times) in enumerate((("before", before), ("after", after))):
        profile = write_profile(folder / side, BEFORE.replace(hour=2 + 5 * number), random.Random(number))
        (path,) = profile.rglob("op_summary*.csv")
        lines = [_shaped(line, times) for line in path.read_text().splitlines()]
        path.write_text("\n".join(lines) + "\n")
        sides.append(profile)
    return sides[0], sides[1]


def _shaped(line: str, times: tuple[float, float]) -> str:
    """block1/conv and block2/conv as one operator; the time of each of its shapes is given."""
    cells = line.split(",")
    for name, us in zip(("block1/conv", "block2/conv"), times, strict=True):
        if cells[4] == name:
            cells[4] = "block1/conv"
            cells[9] = f"{us * (1 + 0.001 * (int(cells[2]) % 7)):.3f}"
    return ",".join(cells)


def checked(cli: Cli, *args: object) -> Ended:
    return cli("verify", *args, "--format", "json")


def operators(ended: Ended) -> list[dict[str, Any]]:
    return [row for row in ended.json["rows"] if row["scope"] == "operator"]


# A regressed operator


def test_an_operator_that_regressed_is_named_and_fails_unless_it_is_accepted(cli: Cli, tmp_path: Path) -> None:
    sides = kernels(tmp_path, fast=0.8, slow=1.1)
    path = claims_file(tmp_path, "fast,,100,70", "slow,,100,90")
    ended = checked(cli, "--claims", path, *sides)
    assert (ended.code, ended.json["verdict"], ended.json["regressed"]) == (1, "partly", ["slow"])
    assert ended.json["reasons"] == ["verification"]
    text = cli("verify", "--claims", path, *sides).out
    assert text.splitlines()[0].startswith("Partly: tuned operators take ")
    assert "; regressed: slow (+" in text.splitlines()[0]
    assert (
        "Tune again without the regressed operators, or accept that they are slower (--accept-regressed): slow." in text
    )
    for accept, code in (("partly", 1), ("step", 1), ("all", 1)):
        assert checked(cli, "--claims", path, *sides, "--accept", accept).code == code
    accepted = checked(cli, "--claims", path, *sides, "--accept", "partly", "--accept-regressed", "slow")
    assert (accepted.code, accepted.json["regressed"], accepted.json["accepted"]) == (0, [], True)
    other = checked(cli, "--claims", path, *sides, "--accept", "partly", "--accept-regressed", "fast")
    assert other.code == 1


def test_a_headline_counts_the_operators_that_it_does_not_name(cli: Cli, tmp_path: Path) -> None:
    names = {f"slow{number}": 1.1 + number / 100 for number in range(5)}
    sides = kernels(tmp_path, fast=0.3, **names)
    path = claims_file(tmp_path, "fast,,100,30", *(f"{name},,100,95" for name in names))
    (first, *_) = cli("verify", "--claims", path, *sides).out.splitlines()
    assert "; regressed: slow4 (" in first
    assert first.endswith("and 2 more.")


# One claim, several shapes


def test_a_claim_is_of_the_shape_whose_time_is_nearest(cli: Cli, tmp_path: Path) -> None:
    sides = two_shapes(tmp_path, (57, 115), (57, 92))
    ended = checked(cli, "--claims", claims_file(tmp_path, "block1/conv,,120,96"), *sides)
    rows = operators(ended)
    claimed = [(row["measured_before_us"] > 100, row["claimed_before_us"], row["verdict"]) for row in rows]
    assert claimed == [(True, 120, "confirmed"), (False, None, "not-comparable")]
    assert rows[1]["reason"] == "nothing is claimed of these shapes"
    (kind,) = (row for row in ended.json["rows"] if row["scope"] == "op_type")
    assert kind["measured_before_us"] == pytest.approx(115, rel=0.02)
    assert kind["claimed_before_us"] == pytest.approx(120)
    assert (ended.code, ended.json["regressed"]) == (0, [])
    assert checked(cli, "--claims", tmp_path / "claims.csv", *sides, "--accept", "all").code == 0


@pytest.mark.parametrize(
    ("times", "row", "why"),
    [
        ((57, 115), "345,300", "none of them about the claimed 345 us"),
        ((112, 115), "113.5,90", "several of them about the claimed 113.5 us"),
        ((57, 115), ",90", "only a time after tuning is claimed, and its shapes are not given"),
    ],
)
def test_a_claim_that_fits_no_shape_is_compared_with_none(
    cli: Cli, tmp_path: Path, times: tuple[float, float], row: str, why: str
) -> None:
    sides = two_shapes(tmp_path, times, (times[0], times[1] * 0.8))
    ended = checked(cli, "--claims", claims_file(tmp_path, f"block1/conv,,{row}"), *sides)
    claim, *shapes = operators(ended)
    assert why in claim["reason"]
    assert [one["claimed_after_us"] for one in shapes] == [None, None]
    assert "verify-claim-not-attributable" in ended.rules()
    assert not [one for one in ended.json["rows"] if one["scope"] == "op_type"]
    assert ended.json["reconciliation"]["claimed_us"] is None
    assert ended.code == 1


def test_a_shape_that_is_slower_is_named_though_the_claim_is_of_another(cli: Cli, tmp_path: Path) -> None:
    sides = two_shapes(tmp_path, (57, 115), (80, 92))
    ended = checked(cli, "--claims", claims_file(tmp_path, "block1/conv,,115,92"), *sides)
    assert (ended.code, ended.json["verdict"], ended.json["regressed"]) == (1, "confirmed", ["block1/conv"])


@pytest.mark.parametrize(("claimed", "found"), [(199, False), (201, True), (600, True), (51, False), (49, True)])
def test_a_claimed_time_far_from_the_measured_one_is_a_finding(
    cli: Cli, tmp_path: Path, claimed: float, found: bool
) -> None:
    sides = kernels(tmp_path, k=0.8)
    exact = checked(cli, "--claims", claims_file(tmp_path, "k,,100,80"), *sides)
    scale = operators(exact)[0]["measured_before_us"] / 100
    path = claims_file(tmp_path, f"k,,{claimed * scale},{claimed * scale * 0.8}")
    ended = checked(cli, "--claims", path, *sides)
    assert ("verify-claim-scale" in ended.rules()) == found
    if claimed == 600:
        (finding,) = (one for one in ended.json["findings"] if one["rule"] == "verify-claim-scale")
        assert finding["message"].endswith("(6 times)")


# Headlines


@pytest.mark.parametrize("name", ["not/there", "block1/conv"])
def test_a_claim_of_the_headline_is_one_of_the_rows(cli: Cli, tmp_path: Path, name: str) -> None:
    loop = write_loop(tmp_path / "loop", "faster", 1)
    path = claims_file(tmp_path, f"{name},,240,192")
    text = cli("verify", "--claims", path, loop.before, loop.after).out.splitlines()[0]
    rows = checked(cli, "--claims", path, loop.before, loop.after).json["rows"]
    step: Mapping[str, Any] = next(row for row in rows if row["scope"] == "step")
    if name == "not/there":
        assert text.startswith("Not comparable: no claimed operator can be compared; step takes ")
        assert "claims" not in text
        assert (step["claimed_change"], step["verdict"]) == (None, "not-comparable")
        assert step["reason"] == "no claim is about an operator of the profile before tuning"
    else:
        assert "CSV claims 20.0% less" in text
        assert step["claimed_change"] < 0


def test_a_claim_on_the_step_says_of_how_many_claims_it_is(cli: Cli, tmp_path: Path) -> None:
    loop = write_loop(tmp_path / "loop", "faster", 1)
    path = claims_file(tmp_path, "block1/conv,,240,192", "not/there,,409,379")
    rows = checked(cli, "--claims", path, loop.before, loop.after).json["rows"]
    told = "the claim on the step counts 1 of 2 claims: the others are unmeasured, claim no gain, did not use the bank, or match no operator of the profile"
    assert next(row for row in rows if row["scope"] == "step")["reason"] == told
