"""`roofline`: what is printed, drawn and found; its times are those of `hotspots`."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from commandline import FIXTURES, Cli

from aoe_reports import hotspots, roofline
from aoe_reports.model.errors import UsageError

HEADER = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
    "Task Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,"
    "Output Shapes,Output Data Types,Output Formats,Context ID,aicore_time(us),aic_total_cycles,aic_mac_ratio,"
    "aic_mte2_ratio,aiv_time(us),aiv_total_cycles,aiv_vec_ratio,aiv_mte2_ratio,cube_utilization(%)"
)
MATMUL = ("MatMulV2", "AI_CORE", "4096,4096;4096,4096", "DT_BF16;DT_BF16", "ND;ND", "4096,4096", "DT_BF16", "ND")
RELU = ("Relu", "AI_VECTOR_CORE", "1073741824", "DT_BF16", "ND", "1073741824", "DT_BF16", "ND")
SORT = ("TopKV2", "AI_VECTOR_CORE", "4096,4096", "DT_BF16", "ND", "4096,16", "DT_BF16", "ND")
ALL_REDUCE = ("hcom_allReduce_", "COMMUNICATION", *("N/A",) * 6)


def line(place: int, start_us: float, duration_us: float, what: Sequence[str], mac: float, utilization: float) -> str:
    op_type, task_type, *tensors = what
    shapes = [f'"""{text}"""' if place in {0, 3} and text != "N/A" else text for place, text in enumerate(tensors)]
    cube = [f"{duration_us:.3f}", f"{duration_us * 24 * 1800:.0f}", f"{mac}", "0.2"]
    cells = [
        "0", "4294967295", str(place), "2", f"{op_type}_{place}", op_type, "static", task_type, f"{start_us:.3f}\t",
        f"{duration_us:.3f}", "0", "24", "0", "NO", *shapes, "N/A", *cube, "0", "0", "0.0", "0.0", f"{utilization}",
    ]  # fmt: skip
    return ",".join(cells)


def written(folder: Path, tasks: Sequence[tuple[Any, ...]]) -> Path:
    """A capture of tasks, one behind the other: (duration in us, what, mac ratio, cube utilization)."""
    lines, now = [HEADER], 1_700_000_000_000_000.0
    for place, (duration, what, mac, utilization) in enumerate(tasks):
        lines.append(line(place, now, duration, what, mac, utilization))
        now += duration
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "op_summary_20250101000000.csv").write_text("\n".join(lines) + "\n")
    return folder


AT_PEAK_US = 2 * 4096**3 / (24 * 8192 * 1.8e9) * 1e6
"""388.4: what the product takes at the peak of Ascend910B2."""


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    tasks = [
        (AT_PEAK_US * 2, MATMUL, 0.52, 100.0),
        (3000.0, RELU, 0, 0),
        (200.0, SORT, 0, 0),
        (1000.0, ALL_REDUCE, 0, 0),
    ]
    return written(tmp_path / "capture", tasks)


def test_it_is_told_in_words(cli: Cli, capture: Path) -> None:
    ended = cli("roofline", capture, "--chip", "ascend910b2")
    assert (ended.code, ended.err) == (0, "")
    # 388.4 us at the peak of 776.7 + 3000 + 200 + 1000 us; 2 * 4096**3 FLOP of them
    assert ended.out.splitlines()[0] == (
        "MFU 7.8% (27.6 TFLOP/s of the step); formulas are known for 95.0% of the computing time."
    )
    assert "Ascend910B2" in ended.out
    assert "no-formula" in ended.out
    assert "the MFU is a lower bound" not in ended.out  # what is not known computes no products


def test_the_mfu_is_a_lower_bound_where_the_work_of_cube_cores_is_not_known(cli: Cli, tmp_path: Path) -> None:
    odd = ("MyMatMul", "AI_CORE", *MATMUL[2:])
    folder = written(tmp_path, [(AT_PEAK_US * 2, MATMUL, 0.52, 100.0), (100.0, odd, 0.5, 100.0)])
    assert "the MFU is a lower bound" in cli("roofline", folder, "--chip", "Ascend910B2").out
    assert "MFU: the FLOPs" not in cli("roofline", written(tmp_path / "odd", [(100.0, odd, 0.5, 100.0)])).out


def test_more_than_a_chip_can_do_in_all_is_told(cli: Cli, tmp_path: Path) -> None:
    folder = written(tmp_path, [(AT_PEAK_US * 1.5, MATMUL, 0.7, 100.0)])
    (path,) = folder.glob("*.csv")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[1].replace(",0,2,MatMulV2_0,", ",1,3,MatMulV2_1,")]) + "\n")
    path.write_text(path.read_text().replace(",1700000000000000.000", ",1700000000000123.456"))
    found = cli("roofline", folder, "--chip", "Ascend910B2", "--format", "json").json
    (above,) = found["findings"]
    assert above["rule"] == "above-peak"
    assert above["message"] == "MFU 133%: above the peak; a formula, the peak or the length of the steps is wrong"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--peak-tflops", value) for value in ("0", "-1", "nan", "inf", "1e300", "1000001")),
        ("--peak-gb-per-s", "0"),
        ("--peak-gb-per-s", "nan"),
    ],
)
def test_a_peak_that_nothing_has_is_refused(cli: Cli, capture: Path, option: str, value: str) -> None:
    ended = cli("roofline", capture, option, value, "--format", "svg")
    assert ended.code == 2
    assert f"Invalid value for '{option}'" in ended.err


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0])
def test_python_refuses_the_same_peaks(capture: Path, value: float) -> None:
    with pytest.raises(UsageError, match="peak_tflops"):
        roofline([capture], peak_tflops=value)


def test_json_has_operators_devices_and_roofs(cli: Cli, capture: Path) -> None:
    found = cli("roofline", capture, "--chip", "Ascend910B2", "--format", "json").json
    relu, product, sort = found["rows"]
    assert (product["compute_share"], product["bound_by"], product["precision"]) == (
        pytest.approx(0.5, abs=1e-5),
        "compute",
        "bf16",
    )
    assert (product["flops"], product["bytes"]) == (2 * 4096**3, 3 * 4096**2 * 2)
    assert (relu["memory_share"], relu["bound_by"]) == (pytest.approx(4 * 2**30 / 3e-3 / 1.6e12, abs=1e-5), "memory")
    assert (sort["note"], sort["flops"], sort["bound_by"], sort["known_us"]) == ("no-formula", None, None, 0)
    (device,) = found["devices"]
    assert device["mfu"] == pytest.approx(AT_PEAK_US / (AT_PEAK_US * 2 + 4200), abs=1e-5)
    assert device["cube_known_share"] == 1
    assert device["near_share"] == pytest.approx(3000 / (AT_PEAK_US * 2 + 3200), abs=1e-5)
    assert {(one["engine"], one["precision"]) for one in found["roofs"]} >= {("cube", "fp32"), ("vector", "fp16")}


def test_counters_tell_the_peak_where_nothing_else_does(cli: Cli, capture: Path) -> None:
    found = cli("roofline", capture, "--format", "json").json
    (device,) = found["devices"]
    assert device["peaks_told_by"] == "24 cores at 1,800 MHz (the most that counters saw at work)"
    assert device["mfu"] == pytest.approx(AT_PEAK_US / (AT_PEAK_US * 2 + 4200), abs=1e-5)
    assert (device["peak_gb_per_s"], device["near_share"]) == (None, None)
    (finding,) = found["findings"]
    assert (finding["rule"], "memory bandwidth" in finding["message"]) == ("peak-unknown", True)
    given = cli("roofline", capture, "--peak-tflops", 400, "--peak-gb-per-s", 2000, "--format", "json").json
    assert given["findings"] == []
    assert (given["devices"][0]["peak_tflops"], given["devices"][0]["peak_gb_per_s"]) == (400, 2000)
    assert given["rows"][1]["compute_share"] == pytest.approx(2 * 4096**3 / (AT_PEAK_US * 2e-6) / 400e12, abs=1e-5)


def test_a_chip_that_is_in_no_table_is_refused(cli: Cli, capture: Path) -> None:
    ended = cli("roofline", capture, "--chip", "Ascend911")
    assert ended.code == 2
    assert "--chip: nothing is known of Ascend911; expected one of Ascend910A, " in ended.err


def test_what_exceeds_a_peak_is_a_warning(cli: Cli, tmp_path: Path) -> None:
    folder = written(tmp_path, [(AT_PEAK_US / 1.5, MATMUL, 0.9, 100.0)])
    found = cli("roofline", folder, "--chip", "Ascend910B2", "--format", "json").json
    above, apart = sorted(found["findings"], key=lambda one: one["rule"])
    assert (above["rule"], above["severity"]) == ("above-peak", "warning")
    assert above["message"] == "MatMulV2 [4096,4096;4096,4096] 150%: above the peak; the formula or the peak is wrong"
    assert apart["rule"] == "counters-disagree"
    assert "MatMulV2 [4096,4096;4096,4096] 150% (counters 90%): the formula gives more" in apart["message"]
    assert cli("roofline", folder, "--chip", "Ascend910B2", "--strict").code == 1


@pytest.mark.parametrize(
    ("mac", "utilization", "told"),
    [(0.52, 100.0, None), (0.9, 100.0, None), (0.99, 100.0, None), (0.44, 100.0, "more than"), (0.45, 100.0, None)],
)
def test_formula_and_counters_may_differ_by_what_padding_explains(
    cli: Cli, tmp_path: Path, mac: float, utilization: float, told: str | None
) -> None:
    folder = written(tmp_path, [(AT_PEAK_US * 2, MATMUL, mac, utilization)])
    messages = [
        one["message"] for one in cli("roofline", folder, "--chip", "Ascend910B2", "--format", "json").json["findings"]
    ]
    assert len(messages) == (0 if told is None else 1)
    assert told is None or told in messages[0]


def test_a_kernel_that_computes_twice_what_is_asked_is_told(cli: Cli, tmp_path: Path) -> None:
    folder = written(tmp_path, [(AT_PEAK_US * 4, MATMUL, 0.6, 100.0)])
    (finding,) = cli("roofline", folder, "--chip", "Ascend910B2", "--format", "json").json["findings"]
    assert "25% (counters 60%): the formula gives less than half" in finding["message"]
    assert finding["severity"] == "info"


def test_rows_by_type_and_of_some_ranks_only(cli: Cli, capture: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(cli("roofline", capture, "--by", "op_type", "--format", "csv").out)))
    assert [row["op_type"] for row in rows] == ["Relu", "MatMulV2", "TopKV2"]
    assert len(roofline([capture], top=1).rows) == 1
    assert cli("roofline", capture, "--device", 0).code == 0
    assert "no task to compare with the peaks here (device 7)" in cli("roofline", capture, "--device", 7).err


def test_the_picture_is_a_drawing_with_words_and_no_script(cli: Cli, capture: Path) -> None:
    ended = cli("roofline", capture, "--chip", "Ascend910B2", "--format", "svg")
    drawing = ET.fromstring(ended.out)
    svg = "{http://www.w3.org/2000/svg}"
    assert [child.tag for child in drawing][:2] == [f"{svg}title", f"{svg}desc"]
    assert drawing[0].text == "Roofline: MFU 7.8%"
    assert "Roofs: cube FP16/BF16 353.9 TFLOP/s, vector FP32 11.06 TFLOP/s, memory 1.6 TB/s." in str(drawing[1].text)
    circles = drawing.findall(f"{svg}circle")
    assert [circle.attrib["class"].split()[0] for circle in circles] == ["roof-memory", "roof-compute"]
    texts = " ".join(text.text or "" for text in drawing.iter(f"{svg}text"))
    assert "1 row without FLOPs is not drawn" in texts
    assert "bound by memory" in texts
    assert "script" not in ended.out
    assert "屋顶线" in cli("roofline", capture, "--format", "svg", "--lang", "zh").out


def test_places_in_the_picture_are_logarithmic(cli: Cli, capture: Path) -> None:
    drawing = ET.fromstring(cli("roofline", capture, "--chip", "Ascend910B2", "--format", "svg").out)
    relu, product = drawing.findall("{http://www.w3.org/2000/svg}circle")
    ticks = {text.text: text.attrib for text in drawing.iter("{http://www.w3.org/2000/svg}text")}
    width = float(ticks["10"]["x"]) - float(ticks["1"]["x"])
    # 0.25 FLOP per byte and 1365.3: 3.737 decades apart
    assert float(product.attrib["cx"]) - float(relu.attrib["cx"]) == pytest.approx(3.7374 * width, abs=0.1)
    assert float(product.attrib["cy"]) < float(relu.attrib["cy"])


VALID = sorted(path for path in (FIXTURES / "msprof" / "valid").iterdir() if path.is_dir())


@pytest.mark.parametrize("path", VALID, ids=[path.name for path in VALID])
def test_its_times_are_those_of_hotspots_to_the_nanosecond(path: Path) -> None:
    told = hotspots([path], by="shape", top=100_000)
    mine = roofline([path], top=100_000)
    sums: dict[int | None, int] = {}
    for row in told.rows:
        sums[row.rank_id] = sums.get(row.rank_id, 0) + row.total_ns
    own: dict[int | None, int] = {}
    for one in mine.rows:
        own[one.rank_id] = own.get(one.rank_id, 0) + one.total_ns
    assert own == sums
    assert sum(device.computing_ns for device in mine.table("devices")) == sum(sums.values())
    by_type = roofline([path], top=100_000, by="op_type")
    assert sum(one.total_ns for one in by_type.rows) == sum(sums.values())


def test_plan_leaves_out_what_is_near_the_roof(cli: Cli, tmp_path: Path) -> None:
    other = ("MatMulV2", "AI_CORE", "4096,4096;4096,2048", "DT_BF16;DT_BF16", "ND;ND", "4096,2048", "DT_BF16", "ND")
    profile = written(tmp_path / "p", [(AT_PEAK_US / 0.82, MATMUL, 0.85, 100.0), (AT_PEAK_US, other, 0.55, 100.0)])
    planned = cli("plan", profile, "-o", tmp_path / "plan", "--soc", "Ascend910B2", "--format", "json").json
    assert [one["op_name"] for one in planned["rows"]] == ["MatMulV2_1"]
    (left,) = planned["rejected"]
    assert left["op_name"] == "MatMulV2_0"
    assert left["reason"].startswith("near-roof: it reaches 80% or more of what the chip can do")
    slower = written(tmp_path / "q", [(AT_PEAK_US / 0.79, MATMUL, 0.85, 100.0)])
    again = cli("plan", slower, "-o", tmp_path / "again", "--soc", "Ascend910B2", "--format", "json").json
    assert [one["op_name"] for one in again["rows"]] == ["MatMulV2_0"]


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ((), None),
        (("--chip", "Ascend910B2"), "far-from-roof"),
        (("--peak-tflops", "180", "--peak-gb-per-s", "1600"), "near-roof"),
        (("--chip", "Ascend910B1"), None),  # its bandwidth is in no public source
        (("--chip", "Ascend910B1", "--peak-gb-per-s", "1600"), "far-from-roof"),
    ],
)
def test_advice_on_a_capture_that_names_no_chip_takes_the_peaks_that_are_given(
    cli: Cli, capture: Path, options: Sequence[str], rule: str | None
) -> None:
    rows = cli("advise", capture, *options, "--format", "json").json["rows"]
    found = [one["rule"] for one in rows if one["op_type"] == "MatMulV2" and one["rule"].endswith("-roof")]
    assert found == ([] if rule is None else [rule])


def test_advice_refuses_a_chip_that_is_in_no_table(cli: Cli, capture: Path) -> None:
    ended = cli("advise", capture, "--chip", "Ascend1")
    assert (ended.code, ended.out) == (2, "")
    assert "--chip: nothing is known of Ascend1" in ended.err
