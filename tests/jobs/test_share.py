"""`check --share`: copies of AOE results that hold no name, and in which `check` finds what it finds in the originals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES, Cli
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats.aoe.redaction import Redaction

RESULTS = sorted(path for path in (FIXTURES / "aoe").rglob("*.json") if path.name.startswith("aoe_result_"))
SECRET = "Zyx-Corp/secret_layer.7/矩阵"
DOCUMENT = {
    "report_20260101020304005_140012345678901": [
        {"basic": {"tuning_name": SECRET, "tuning_time(s)": 12.50}},
        {
            "OPAT": {
                "opat_tuning_result": "tuning successful",
                "owner_of_zyx": SECRET,
                "model_total_num": 3,
                "repo_modified_operators": {
                    "add_repo_operators": [
                        {"op_name": "Zyx/attention/qkv", "op_type": "MatMulV2", "performance_improvement": "50.00%"},
                        {"op_name": "Zyx/attention/out", "op_type": "ZyxSparse", "repo_key": "15294858920613849201"},
                    ]
                },
            }
        },
    ]
}


def redacted(text: str | bytes) -> str:
    return Redaction(b"salt").redact(text.encode() if isinstance(text, str) else text).decode()


def skeleton(document: Any) -> Any:
    """A document without its texts."""
    if isinstance(document, dict):
        return [skeleton(value) for value in document.values()]
    if isinstance(document, list):
        return [skeleton(value) for value in document]
    return "text" if isinstance(document, str) else document


def test_names_go_and_structure_and_numbers_stay() -> None:
    text = json.dumps(DOCUMENT, ensure_ascii=False, indent=1)
    shown = redacted(text)
    assert "zyx" not in shown.lower()
    assert "矩阵" not in shown
    assert "attention" not in shown
    assert skeleton(json.loads(shown)) == skeleton(DOCUMENT)
    for word in (
        "report_20260101020304005_140012345678901",
        "tuning successful",
        "MatMulV2",
        "50.00%",
        "12.5",
        "model_total_num",
    ):
        assert word in shown
    names = re.findall(r'"op_name": "([^"]+)"', shown)
    assert all(re.fullmatch(r"n[0-9a-f]{8}(/n[0-9a-f]{8}){2}", name) for name in names)
    assert names[0].split("/")[:2] == names[1].split("/")[:2], "what lies in one block still does"
    key = re.search(r'"repo_key": "([0-9]+)"', shown)
    assert key is not None
    assert (len(key[1]), key[1] != "15294858920613849201", int(key[1]) < 2**64) == (20, True, True)
    assert shown.splitlines() != text.splitlines()
    assert [re.match(r" *", line) for line in shown.splitlines()]
    assert [len(line) - len(line.lstrip()) for line in shown.splitlines()] == [
        len(line) - len(line.lstrip()) for line in text.splitlines()
    ]


def test_one_name_is_one_hash_in_all_files_and_another_the_next_time() -> None:
    one = Redaction(b"salt")
    first, second = (one.redact(b'{"op_name": "secret"}') for _ in range(2))
    assert first == second
    assert Redaction(b"other").redact(b'{"op_name": "secret"}') != first


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"op_name": "sec', r'\{"op_name": "n[0-9a-f]{8}'),
        ('{"op_name": "sec\\', r'\{"op_name": "n[0-9a-f]{8}\\q'),
        ('{"op_name": secret, "a": 1}', r'\{"op_name": \?{6}, "n[0-9a-f]{8}": 1\}'),
        ("[1.50e3, -Infinity, NaN, true, null, 0x1f]", r"\[1\.50e3, -Infinity, NaN, true, null, 0\?1\?\]"),
        ('{"report_20230101_120102123_1400": [], "report_x_1": 1}', r'\{"report_20230101_120102123_1400": \[\], "n[0-9a-f]{8}": 1\}'),
        ("secret", r"\?{6}"),
        ('{"op_name": "a", "op_name": "b"}', r'\{"op_name": "n[0-9a-f]{8}", "op_name": "n[0-9a-f]{8}"\}'),
        ('{"op_type": ["matmul", "relu"]}', r'\{"op_type": \["matmul", "relu"\]\}'),
        ('["192.168.1.10", "+8613800138000", "138,0013,8000"]', r'\["n[0-9a-f]{8}", "n[0-9a-f]{8}", "n[0-9a-f]{8}"\]'),
        ('["秘密模型opat", "\\u73b0opat", "tuning 138001", "model_2026_1"]', r'\[("n[0-9a-f]{8}"(, )?){4}\]'),
        ('["C:\\secret"]', r'\["n[0-9a-f]{8}\\q"\]'),
        ('["sec\nret"]', '\\["n[0-9a-f]{8}\n"\\]'),
        ('["x\\ud83d"]', r'\["n[0-9a-f]{8}\\ud800"\]'),
        ('["", "12.5", "-3e5 us", "8.77%", "tune success"]', r'\["", "12\.5", "-3e5 us", "8\.77%", "tune success"\]'),
    ],
)  # fmt: skip
def test_damage_stays_and_holds_no_name(text: str, shown: str) -> None:
    assert re.fullmatch(shown, redacted(text))


@given(st.binary(max_size=200))
def test_no_bytes_are_too_odd(data: bytes) -> None:
    Redaction(b"salt").redact(data)


@given(st.text(alphabet=st.characters(blacklist_categories=("Cs",)), min_size=9, max_size=40), st.booleans())
def test_no_name_gets_through(name: str, escaped: bool) -> None:
    shown = redacted(json.dumps([f"zzq{name}"], ensure_ascii=escaped))
    assert "zzq" not in shown
    (told,) = json.loads(shown)
    assert set(told) <= set("n/0123456789abcdef")


SECRETS = st.one_of(
    st.sampled_from(
        [
            "/home/zqadmin/zqmodels/zqllm_v3.onnx",
            "C:\\Users\\zqadmin\\zqllm.om",
            "s3://zqbucket/zqnight?zqkey=1",
            "ghp_zq5uT0kenZq5uT0kenZq5uT0kenZq5uT0ken",
            "zqname@zqcorp.example",
            "zqhost-17.zqcorp.internal:8080",
            "138001380001234567",
            "model/zqlayers.7/attention",
        ]
    ),
    st.from_regex(r"zq[a-z0-9_./ \\\\:@-]{2,30}", fullmatch=True),
    st.text(alphabet="矩阵乘法层", min_size=2, max_size=6),
)
WORDS = st.sampled_from(["basic", "op_name", "tuning successful", "MatMulV2", "50.00%", "repo_add_num", ""])


@given(st.data(), SECRETS, st.booleans(), st.integers(0, 400))
def test_no_secret_remains_wherever_it_is(data: st.DataObject, secret: str, escaped: bool, cut: int) -> None:
    texts = st.one_of(st.just(secret), st.builds("{}/{}".format, WORDS, st.just(secret)), WORDS)
    values = st.one_of(texts, st.integers(0, 10**6), st.booleans(), st.none())
    document = data.draw(
        st.recursive(values, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)))
    )  # fmt: skip
    text = json.dumps([secret, document], ensure_ascii=escaped, indent=data.draw(st.sampled_from([None, 1])))
    shown = redacted(text[:-cut] if cut else text)
    everything = shown + "".join(json.loads(f'"{inner}"') for inner in re.findall(r'"((?:[^"\\]|\\[^q])*)"', shown))
    assert secret not in everything
    assert not re.search("zq|home|Users|corp|attention|[矩阵乘法层]", everything, re.IGNORECASE)


def test_no_secret_remains_in_names_of_copies(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "zqcorp" / "zqmodel_pid7"
    folder.mkdir(parents=True)
    for name in (
        "aoe_result_opat_zqcorp_20260101020304005_pid7.json",
        "aoe_result_opat_20260101020304005_pid7.json",
        "zqcorp.json",
    ):
        (folder / name).write_text(json.dumps(DOCUMENT))
    rows = cli("check", *folder.iterdir(), "--share", tmp_path / "copies", "--format", "json").json["rows"]
    assert len(rows) == 3
    assert not [path for path in (tmp_path / "copies").rglob("*") if "zq" in str(path.relative_to(tmp_path))]


def test_check_finds_the_same_in_the_copies(cli: Cli, tmp_path: Path) -> None:
    ended = cli("check", *RESULTS, "--share", tmp_path / "copies", "--format", "json")
    assert ended.code == 0, ended.err
    rows = ended.json["rows"]
    assert [row["path"] for row in rows] == sorted(map(str, RESULTS))
    assert [row["path"] for row in rows if not row["alike"]] == []
    assert sum(row["renamed"] for row in rows) > 0
    kept = b"\n".join(Path(row["copy"]).read_bytes() for row in rows)
    assert b"fixture" not in kept
    assert b"block1/conv" not in kept


@pytest.mark.parametrize("name", ["C:\\secret", "sec\nret", "sec\tret", "x\\ud83d", "x\\u12", "secret\udcff"])
def test_a_copy_of_a_damaged_name_is_as_damaged(cli: Cli, tmp_path: Path, name: str) -> None:
    source = tmp_path / "aoe_result_opat_20260101020304005_pid7.json"
    source.write_text(json.dumps(DOCUMENT).replace("Zyx/attention/qkv", name), errors="surrogateescape")
    (row,) = cli("check", source, "--share", tmp_path / "copies", "--format", "json").json["rows"]
    assert row["alike"]
    assert "secret" not in Path(row["copy"]).read_text(errors="replace")


def test_what_a_person_is_told_before_copies_leave_the_house(cli: Cli, tmp_path: Path) -> None:
    source = tmp_path / "aoe_result_opat_20260101020304005_pid7.json"
    source.write_text(json.dumps(DOCUMENT))
    ended = cli("check", source, "--share", tmp_path / "copies")
    copy = tmp_path / "copies" / "1" / source.name
    assert ended.code == 0
    assert "Read the copies before you send them: names are hashes, numbers and times are as they were." in ended.out
    assert "MatMulV2" in ended.out
    assert "Zyx" not in copy.read_text()
    again = cli("check", source, "--share", tmp_path / "copies")
    assert (again.code, "expected a new or an empty folder" in again.err) == (2, True)
    nothing = cli("check", tmp_path / "copies" / "none", "--share", tmp_path / "other")
    assert (nothing.code, (tmp_path / "other").exists()) == (2, False)
    for option in (["--watch"], ["--select", "schema"], ["--ignore", "schema"]):
        both = cli("check", source, "--share", tmp_path / "both", *option)
        assert (both.code, (tmp_path / "both").exists()) == (2, False)
    assert cli("check", source, "--share", tmp_path / "json", "--format", "json").json["kept"] == ["MatMulV2", "model_total_num", "report_20260101020304005_140012345678901"]  # fmt: skip
    refused = cli("check", source, "--share", tmp_path / "third", "--max-size", "10")
    assert (refused.code, "json-too-large" in refused.err) == (3, True)
