"""What a file is: its name where nobody else has such names, else its content."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import tarfile
import zipfile
from pathlib import Path

import pytest

from aoe_reports.formats.sources.discovery import discover
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.sources.identify import SPARSE_FROM_BYTES, identify, is_sparse
from aoe_reports.model.findings import Finding

SUMMARY = "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"
EVENTS = json.dumps([{"name": "a", "ph": "X", "ts": 1, "dur": 2}])
ACL = "Name,Type,Start Time,Duration(us),Process ID,Thread ID\naclrtMalloc,ACL_RTS,5,1,1,1\n"


def told(path: Path, content: str | bytes, *, explicit: bool = False) -> tuple[FoundFile | None, list[Finding]]:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    findings: list[Finding] = []
    return identify(path, explicit=explicit, findings=findings), findings


def kind(path: Path, content: str | bytes) -> str | None:
    found, findings = told(path, content)
    assert findings == []
    return found.name.kind if found else None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("acl.json", json.dumps({"profiler": {"switch": "on", "output": "/tmp"}})),
        ("acl.json", "{"),
        ("event.json", json.dumps([{"name": "meeting"}])),
        ("api.json", json.dumps({"openapi": "3.0"})),
        ("ge.json", "[]"),
        ("nic.csv", "name,speed\neth0,25\n"),
        ("event.csv", "when,what\n1,2\n"),
        ("acl.csv", "user,right\n"),
        ("hbm.csv", ""),
        ("ub.json", "{}"),
        ("acl_rules.csv", "a,b\n"),
        ("event_log.json", EVENTS),
        ("notes.csv", "a,b,c\n1,2,3\n"),
        ("notes.json", "[1, 2]"),
        ("model.json", "{"),
        ("op_summaryX.csv", "a,b\n"),
    ],
)
def test_what_is_somebody_elses_is_left_alone(tmp_path: Path, name: str, content: str) -> None:
    found, findings = told(tmp_path / name, content)
    assert findings == []
    assert found is None or found.size == 0


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("acl.csv", ACL, "acl"),
        ("acl.json", EVENTS, "acl"),
        ("acl_of_last_night.csv", ACL, "acl"),
        ("device_0/summary/nic_0_1_1.csv", "whatever\n", "nic"),
        ("host/timeline/acl.json", "[]", "acl"),
        ("mindstudio_profiler_output/nic_20260605155140.csv", "", "nic"),
        ("event_20260605155140.json", "[]", "event"),
        ("ddr.csv", "Metric,Read(MB/s),Write(MB/s)\nx,1,2\n", "ddr"),
        ("op_statistic.csv", "damaged\n", "op_statistic"),
        ("l2_cache.csv", "Read,Write,Victim,Allocate\n1,2,3,4\n", "l2_cache_counts"),
        ("l2_cache.csv", "read, write, allocate, victim\n1,2,3,4\n", "l2_cache_counts"),
        ("l2_cache.csv", "Stream Id,Task Id,Hit Rate,Victim Rate,Op Name\n", "l2_cache"),
        ("l2_cache.csv", "damaged\n", "l2_cache"),
        ("task_time.csv", "Time(%),Time(us),Count,Avg(us),Min(us),Max(us),Waiting(us),Running(us),Pending(us),Type,API,Task ID,Op Name,Stream ID\n", "task_time_statistic"),
        ("task_time.csv", "kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n", "task_time"),
        ("my_export.csv", SUMMARY, "op_summary"),
        ("my_export.csv", "\ufeff" + SUMMARY, "op_summary"),
        ("my_export.csv", SUMMARY.replace(",", " ,"), "op_summary"),
        ("renamed.csv", "Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n", "api_statistic"),
    ],
)  # fmt: skip
def test_what_is_ours_is_told(tmp_path: Path, name: str, content: str, expected: str) -> None:
    assert kind(tmp_path / name, content) == expected


@pytest.mark.parametrize(
    "name", ["op_summary_001.csv", "op_summary_01.csv", "op_summary_1e3.csv", "op_summary_copy.csv"]
)
def test_a_number_that_no_exporter_writes_is_no_device(tmp_path: Path, name: str) -> None:
    found, _ = told(tmp_path / name, SUMMARY)
    assert found is not None
    assert (found.name.kind, found.name.device_id) == ("op_summary", None)


def test_a_table_and_a_timeline_of_one_name_are_told_apart(tmp_path: Path) -> None:
    timeline, _ = told(tmp_path / "task_time_0_1_1.json", json.dumps([{"name": "a", "ph": "X"}]))
    rows = '[{"kernel_name": "a", "kernel_type": "b", "stream_id": 1, "task_id": 1, "task_time(us)": 1, "task_start(us)": 1, "task_stop(us)": 2}]'
    table, _ = told(tmp_path / "task_time_0_1_2.json", rows)
    assert timeline is not None
    assert table is not None
    assert (timeline.name.timeline, timeline.holds) == (True, ("task_time",))
    assert (table.name.timeline, table.holds) == (False, ("task_time",))
    empty, _ = told(tmp_path / "task_time_0_1_3.json", "[]")
    assert empty is not None
    assert empty.name.timeline


def test_a_timeline_without_a_table_holds_none(tmp_path: Path) -> None:
    found, _ = told(tmp_path / "msprof_0_1_1.json", EVENTS)
    assert found is not None
    assert (found.name.kind, found.holds) == ("msprof", ())


def test_documents_hold_their_tables(tmp_path: Path) -> None:
    found, _ = told(tmp_path / "communication.json", "{}")
    assert found is None or found.holds == ("communication", "communication_bandwidth")
    found, _ = told(tmp_path / "ASCEND_PROFILER_OUTPUT" / "communication.json", "{}")
    assert found is not None
    assert found.holds == ("communication", "communication_bandwidth")


def test_mindspore_is_told_by_its_folder(tmp_path: Path) -> None:
    found, _ = told(tmp_path / "x_ascend_ms" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv", "")
    assert found is not None
    assert found.name.source == "mindspore"


def test_an_aoe_result_is_told_by_its_words(tmp_path: Path) -> None:
    text = '[{"basic": {"tuning_name": "x"}}, {"%s": {}}]'
    assert kind(tmp_path / "copy.json", text % "OPAT") == "opat"
    assert kind(tmp_path / "copy.json", text % "SGAT") == "sgat"


@pytest.mark.parametrize(
    "name", ["night.zip", "night.tar", "night.tar.gz", "night.tgz", "x.7z", "night.tar.xz", "NIGHT.ZIP"]
)
def test_archives_are_said_and_not_read(tmp_path: Path, name: str) -> None:
    found, findings = told(tmp_path / name, b"x")
    assert found is None
    assert [(f.severity, f.rule) for f in findings] == [("warning", "archive")]
    found, findings = told(tmp_path / name, b"x", explicit=True)
    assert found is None
    assert [(f.severity, f.rule) for f in findings] == [("error", "unreadable")]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("cluster_communication.json", "the analysis of a cluster repeats"),
        ("cluster_communication_matrix.json", "the analysis of a cluster repeats"),
        ("fusion_result.json", "which fusion rules of graphs took effect"),
        ("communicator_group.json", "groups of ranks as a simulator of networks takes them"),
    ],
)
def test_what_is_recognised_and_not_read_is_named_with_the_reason(tmp_path: Path, name: str, why: str) -> None:
    for explicit, said in ((False, ("info", "not-read")), (True, ("error", "unknown-file"))):
        found, findings = told(tmp_path / name, "{}", explicit=explicit)
        assert found is None
        assert [(finding.severity, finding.rule) for finding in findings] == [said]
        assert findings[0].message.startswith(f"recognised, but not read: {why}")
    _, findings = told(tmp_path / f"my_{name}", "{}")
    assert findings == []


class _Raises:
    """Whoever unpickles it fails."""

    def __reduce__(self) -> tuple[object, ...]:
        return pytest.fail, ("a pickle was read",)


def _of_torch(pickled: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("times/data.pkl", pickled)
        file.writestr("times/version", "3\n")
    return packed.getvalue()


def test_a_pickle_is_refused_by_its_first_bytes_and_never_read(tmp_path: Path) -> None:
    pickled = pickle.dumps(_Raises())
    for name, content in (("times.pkl", pickled), ("times.out", pickled), ("times.pt", _of_torch(pickled))):
        found, findings = told(tmp_path / name, content, explicit=True)
        assert found is None
        assert [(finding.severity, finding.rule) for finding in findings] == [("error", "unknown-file")]
        assert "no memory snapshot of PyTorch" in findings[0].message
        assert "Measurement.times" in findings[0].message


def test_a_folder_names_pickles_by_their_ending_and_passes_over_weights(tmp_path: Path) -> None:
    for name in ("times.pkl", "times.pickle"):
        _, findings = told(tmp_path / name, pickle.dumps([1.0]))
        assert [(finding.severity, finding.rule) for finding in findings] == [("info", "not-read")]
    for name, content in (
        ("weights.pt", _of_torch(b"\x80\x02.")),
        ("weights.bin", b"\x80\x02."),
        ("text.pkl", b"not one"),
    ):
        assert told(tmp_path / name, content) == (None, [])


def test_a_real_archive_below_a_folder_does_not_hide_what_lies_beside_it(tmp_path: Path) -> None:
    table = tmp_path / "kernel_details.csv"
    table.write_text("x\n")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.write(table)
    with tarfile.open(tmp_path / "b.tar.gz", "w:gz") as file:
        file.add(table)
    found = discover([tmp_path])
    assert [file.path.name for file in found.files] == ["kernel_details.csv"]
    assert [finding.rule for finding in found.findings] == ["archive", "archive"]
    assert not found.unreadable


def test_other_compressed_files_are_none_of_ours(tmp_path: Path) -> None:
    assert kind(tmp_path / "notes.csv.gz", gzip.compress(b"a,b\n")) is None
    assert kind(tmp_path / "notes.gz", gzip.compress(SUMMARY.encode())) is None


def test_a_named_file_of_no_kind_is_said(tmp_path: Path) -> None:
    found, findings = told(tmp_path / "notes.csv", "a,b\n", explicit=True)
    assert found is None
    assert [finding.rule for finding in findings] == ["unknown-file"]


@pytest.mark.parametrize(
    "content", [b"\0" * 100, b"\xff" * 100, b'"' * 100, b"\r" * 100, b"x" * 200_000, "\u2028".encode()]
)
def test_odd_heads_neither_hurt_nor_count(tmp_path: Path, content: bytes) -> None:
    for name in ("notes.csv", "notes.json", "acl.csv", "acl.json", "event.json"):
        assert kind(tmp_path / name, content) is None
    for name in ("l2_cache.csv", "task_time.csv"):
        assert kind(tmp_path / name, content) in {"l2_cache", "task_time"}


@pytest.mark.parametrize(
    ("name", "explicit", "is_told"),
    [("op_summary.csv", False, True), ("op_summary.csv", True, True), ("notes.csv", True, True), ("notes.csv", False, False)],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_told_where_it_is_asked_for(
    tmp_path: Path, name: str, explicit: bool, is_told: bool
) -> None:
    (tmp_path / name).symlink_to(tmp_path / "gone")
    findings: list[Finding] = []
    assert identify(tmp_path / name, explicit=explicit, findings=findings) is None
    told = [(finding.rule, finding.path, finding.message) for finding in findings]
    said = ("unreadable", str(tmp_path / name), "the file cannot be read: No such file or directory")
    assert told == ([said] if is_told else [])


@pytest.mark.parametrize("explicit", [True, False])
def test_an_archive_is_an_error_where_it_is_asked_for_by_its_ending(tmp_path: Path, explicit: bool) -> None:
    found, findings = told(tmp_path / "night.tar.gz", b"", explicit=explicit)
    assert found is None
    assert [finding.rule for finding in findings] == ["unreadable" if explicit else "archive"]
    assert findings[0].message.endswith("only files and folders are read" if explicit else "skipped")


def test_what_nobody_knows_is_told_where_it_is_asked_for(tmp_path: Path) -> None:
    found, findings = told(tmp_path / "notes.csv", "a,b,c\n1,2,3\n", explicit=True)
    assert found is None
    assert [finding.message for finding in findings] == [
        "neither its name nor its content matches a known kind; see `aoe-reports table --list`"
    ]
    found, findings = told(tmp_path / "notes.csv", "a,b,c\n1,2,3\n")
    assert (found, findings) == (None, [])


def test_a_part_of_a_file_that_was_never_written_is_seen_where_the_file_system_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x")
    assert not is_sparse(path, 1)
    assert not is_sparse(path, SPARSE_FROM_BYTES - 1)
    assert is_sparse(path, SPARSE_FROM_BYTES), "it ends before its size"

    def untold(*_: object) -> int:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "lseek", untold)
    assert not is_sparse(path, SPARSE_FROM_BYTES)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('[{"basic": {"tuning_name": "x"}}, {"OPAT": {}}]', "opat"),
        ('[{"basic": {"tuning_name": "x"}}, {"SGAT": {}}]', "sgat"),
        ('"basic": {"tuning_name": "x"}}, {"SGAT": {}}]', "sgat"),
        ('[{"basic": {}}]', None),
        ('[{"tuning_name": "x"}]', None),
        ('[{"modelhash": "1", "modelvalue": {"gradientSize": [1]}}]', "gdat"),
        ('[{"modelhash": "1"}]', None),
        ('[{"gradientSize": [1]}]', None),
        ('"modelhash": "1", "gradientSize": [1]', None),
        ("{}", None),
    ],
)
def test_a_file_of_any_name_is_told_by_its_words(tmp_path: Path, content: str, expected: str | None) -> None:
    found, _ = told(tmp_path / "anything.json", content)
    assert (None if found is None else found.name.kind) == expected
