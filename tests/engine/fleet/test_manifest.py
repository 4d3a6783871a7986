"""A question that is mapped in shares and reduced is answered as at once, and says what is missing or has changed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from captures import write_ranks
from commandline import FIXTURES, OF_CAPTURES, Cli

from aoe_reports.engine.fleet.manifest import Mapped, MapUnit, headline_of, manifest_of
from aoe_reports.engine.fleet.partials import Keys, Partials, UnitResult
from aoe_reports.engine.question import Notes
from aoe_reports.model.errors import AoeReportsError
from aoe_reports.model.version import __version__
from aoe_reports.topics.device_time.hotspots import HotspotOptions, Hotspots

VALID, INVALID = FIXTURES / "msprof" / "valid", FIXTURES / "msprof" / "invalid"


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    return write_ranks(tmp_path / "night", 5)


@pytest.mark.slow
@pytest.mark.parametrize("question", OF_CAPTURES)
def test_shares_in_any_order_come_to_the_same_bytes(cli: Cli, tmp_path: Path, question: str) -> None:
    paths = [*sorted(VALID.iterdir())[::2], *sorted(INVALID.iterdir())[::4]]
    plain = cli(question, *paths, "--format", "json")
    manifest, partials = tmp_path / "m.json", tmp_path / "partials"
    assert cli(question, *paths, "--manifest", manifest).code == 0
    for number in (2, 3, 1):
        assert cli("fleet", "map", manifest, "--partials", partials, "--shard", f"{number}/3").code == 0
    reduced = cli("fleet", "reduce", manifest, "--partials", partials, "--format", "json")
    assert (reduced.code, reduced.out, reduced.err) == (plain.code, plain.out, plain.err)


def test_two_runs_are_compared_by_their_shares(cli: Cli, ranks: Path, tmp_path: Path) -> None:
    pair = [ranks / "rank_1", ranks / "rank_2", "--force", "--format", "json"]
    plain = cli("compare", *pair)
    assert plain.json["rows"]
    assert cli("compare", *pair, "--manifest", tmp_path / "m.json").code == 0
    for number in (2, 1):
        cli("fleet", "map", tmp_path / "m.json", "--partials", tmp_path / "p", "--shard", f"{number}/2")
    reduced = cli("fleet", "reduce", tmp_path / "m.json", "--partials", tmp_path / "p", "--format", "json")
    assert (reduced.code, reduced.out) == (plain.code, plain.out)


def test_a_reduction_reads_no_capture(cli: Cli, ranks: Path, tmp_path: Path) -> None:
    plain = cli("hotspots", ranks, "--format", "json")
    cli("hotspots", ranks, "--manifest", tmp_path / "m.json")
    cli("fleet", "map", tmp_path / "m.json", "--partials", tmp_path / "p")
    ranks.rename(tmp_path / "away")
    assert (
        cli("fleet", "reduce", tmp_path / "m.json", "--partials", tmp_path / "p", "--format", "json").out == plain.out
    )


def test_what_is_not_mapped_is_named_and_only_that_is_read(cli: Cli, ranks: Path, tmp_path: Path) -> None:
    manifest, partials = tmp_path / "m.json", tmp_path / "p"
    cli("hotspots", ranks, "--manifest", manifest)
    first = cli("fleet", "map", manifest, "--partials", partials, "--shard", "1/2", "--format", "json").json
    assert [(Path(one["path"]).name, one["outcome"]) for one in first["rows"]] == [
        ("rank_0", "read"), ("rank_2", "read"), ("rank_4", "read"),
    ]  # fmt: skip
    missing = cli("fleet", "reduce", manifest, "--partials", partials)
    assert missing.code == 3
    assert missing.err.endswith(f"{partials}: 2 of 5 units are not mapped: {ranks / 'rank_1'}, {ranks / 'rank_3'}\n")
    rest = cli("fleet", "map", manifest, "--partials", partials, "--format", "json").json
    assert [one["outcome"] for one in rest["rows"]] == ["kept", "read", "kept", "read", "kept"]
    assert cli("fleet", "reduce", manifest, "--partials", partials).code == 0


def test_a_map_counts_what_it_took(cli: Cli, tmp_path: Path) -> None:
    manifest, partials = tmp_path / "m.json", tmp_path / "p"
    cli("hotspots", VALID / "torch_npu_two_ranks", "--manifest", manifest)
    rows = cli("fleet", "map", manifest, "--partials", partials, "--format", "json").json["rows"]
    assert [one["ranks"] for one in rows] == [[0], [1]]
    for one in rows:
        files = [file for file in Path(one["path"]).rglob("*") if file.is_file()]
        assert (one["files"], one["bytes"]) == (len(files), sum(file.stat().st_size for file in files))
    words = cli("fleet", "map", manifest, "--partials", partials).out.splitlines()[0]
    assert words.startswith("2 captures of 2 ranks mapped (")
    assert words.endswith("; 2 by an earlier job); left out: none.")


def test_what_is_left_out_is_counted_with_its_reason() -> None:
    def mapped(outcome: str, reason: str | None = None) -> Mapped:
        return Mapped(path="p", ranks=[], captures=1, files=2, bytes=900, key="", outcome=outcome, reason=reason)

    rows = [mapped("read"), mapped("unreadable", "damaged"), mapped("unreadable", "gone"), mapped("unreadable", "gone")]
    assert headline_of(rows) == "1 capture mapped (2 files, 900 bytes); left out: 3 (gone)."
    assert headline_of([]) == "0 captures mapped (0 files, 0 bytes); left out: none."


def test_captures_that_changed_since_are_not_mixed_with_others(cli: Cli, ranks: Path, tmp_path: Path) -> None:
    cli("hotspots", ranks, "--manifest", tmp_path / "m.json")
    os.utime(ranks / "rank_3" / "kernel_details.csv", (0, 0))
    ended = cli("fleet", "map", tmp_path / "m.json", "--partials", tmp_path / "p")
    assert ended.code == 3
    assert f"{ranks / 'rank_3'}: has changed since the manifest was written" in ended.err


def test_a_damaged_partial_result_is_said_and_made_again(cli: Cli, ranks: Path, tmp_path: Path) -> None:
    manifest, partials = tmp_path / "m.json", tmp_path / "p"
    cli("hotspots", ranks, "--manifest", manifest)
    rows = cli("fleet", "map", manifest, "--partials", partials, "--format", "json").json["rows"]
    broken = partials / rows[2]["key"][:2] / f"{rows[2]['key']}.json.gz"
    broken.write_bytes(broken.read_bytes()[:-4])
    ended = cli("fleet", "reduce", manifest, "--partials", partials)
    assert (ended.code, "its partial result is damaged: map it again" in ended.err) == (3, True)
    again = cli("fleet", "map", manifest, "--partials", partials, "--format", "json").json["rows"]
    assert [one["outcome"] for one in again] == ["kept", "kept", "read", "kept", "kept"]
    assert cli("fleet", "reduce", manifest, "--partials", partials).code == 0


@pytest.mark.parametrize(
    "shard", ["0/2", "3/2", "2", "1/", "/2", "a/b", "1/0", "-1/2", "1/2/3", "१/२", "1/" + "9" * 5000]
)
def test_a_shard_is_a_number_of_so_many(cli: Cli, ranks: Path, tmp_path: Path, shard: str) -> None:
    cli("hotspots", ranks, "--manifest", tmp_path / "m.json")
    ended = cli("fleet", "map", tmp_path / "m.json", "--partials", tmp_path / "p", f"--shard={shard}")
    assert ended.code == 2
    assert f"--shard {shard[:40]}: expected I/N with I from 1 to N" in ended.err
    assert len(ended.err) < 200


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "damaged, or no manifest"), ("{}", "no manifest"), ('{"$": "os:system"}', "damaged, or no manifest"),
        ("[1]", "no manifest"),
    ],
)  # fmt: skip
def test_what_is_no_manifest_is_an_error_in_one_line(cli: Cli, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "m.json").write_text(text)
    for command in ("map", "reduce"):
        ended = cli("fleet", command, tmp_path / "m.json", "--partials", tmp_path / "p")
        assert (ended.code, said in ended.err, ended.err.count("\n")) == (3, True, 1)
        assert cli("fleet", command, tmp_path / "nowhere", "--partials", tmp_path / "p").code == 3


def test_another_version_is_refused(cli: Cli, ranks: Path, tmp_path: Path) -> None:
    cli("hotspots", ranks, "--manifest", tmp_path / "m.json")
    found = json.loads((tmp_path / "m.json").read_text())
    assert (found["question"], found["version"], len(found["keys"]["of"])) == ("hotspots", __version__, 5)
    (tmp_path / "m.json").write_text(json.dumps({**found, "version": "0.0.1"}))
    ended = cli("fleet", "map", tmp_path / "m.json", "--partials", tmp_path / "p")
    assert (ended.code, f"of version 0.0.1, this is {__version__}" in ended.err) == (2, True)


@pytest.mark.parametrize("key", ["../../../etc/x", "A" * 64, "a" * 63, "a" * 64 + "\n", 3, None])
def test_a_key_names_no_other_file(cli: Cli, ranks: Path, tmp_path: Path, key: object) -> None:
    cli("hotspots", ranks, "--manifest", tmp_path / "m.json")
    found = json.loads((tmp_path / "m.json").read_text())
    found["keys"]["of"][2] = key
    (tmp_path / "m.json").write_text(json.dumps(found))
    for command in ("map", "reduce"):
        ended = cli("fleet", command, tmp_path / "m.json", "--partials", tmp_path / "p")
        assert (ended.code, "no manifest" in ended.err) == (3, True)
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("question",), ["hotspots"]), (("keys",), 3), (("keys", "of"), []), (("asked",), "x"), (("asked", "units"), None),
        (("asked", "units"), [1, 2, 3, 4, 5]), (("asked", "notes"), None), (("asked", "options"), {}),
    ],
)  # fmt: skip
def test_a_manifest_of_another_shape_is_none(
    cli: Cli, ranks: Path, tmp_path: Path, place: tuple[str, ...], value: object
) -> None:
    cli("hotspots", ranks, "--manifest", tmp_path / "m.json")
    found = json.loads((tmp_path / "m.json").read_text())
    inner = found
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    (tmp_path / "m.json").write_text(json.dumps(found))
    for command in ("map", "reduce"):
        ended = cli("fleet", command, tmp_path / "m.json", "--partials", tmp_path / "p")
        assert (ended.code, "no manifest" in ended.err) == (3, True)


def test_output_is_that_of_the_reduction(cli: Cli, ranks: Path, tmp_path: Path) -> None:
    ended = cli("hotspots", ranks, "--manifest", tmp_path / "m.json", "-o", tmp_path / "o")
    assert (ended.code, "give --output to `fleet reduce`" in ended.err) == (2, True)
    assert not (tmp_path / "m.json").exists()


def test_a_manifest_that_was_edited_is_refused(cli: Cli, ranks: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "m.json"
    cli("hotspots", ranks, "--manifest", manifest)
    text = manifest.read_text()
    found = json.loads(text)
    assert cli("fleet", "map", manifest, "--partials", tmp_path / "p").code == 0
    for kept in (found["keys"]["of"], found["asked"]["units"]):
        kept.pop()  # a rank that nobody would miss
    fewer = json.dumps(found, separators=(",", ":"))
    for edited in (fewer, text.replace("rank_1", "rank_2", 1), text.replace('"digest":"', '"digest":"0')):
        manifest.write_text(edited)
        for command in ("map", "reduce"):
            ended = cli("fleet", command, manifest, "--partials", tmp_path / "p")
            assert (ended.code, "has been changed since it was written" in ended.err) == (3, True)


def test_a_capture_that_changes_while_it_is_read_is_not_kept(ranks: Path, tmp_path: Path) -> None:
    question, file = Hotspots(), ranks / "rank_0" / "kernel_details.csv"
    manifest = manifest_of(question, [ranks / "rank_0"], HotspotOptions())

    def read(unit: object) -> UnitResult:
        os.utime(file, (0, 0))
        return (unit,), Notes()

    partials = Partials(tmp_path / "p")
    mapping = MapUnit(read=read, partials=partials, keys=Keys(manifest.question, manifest.asked))
    with pytest.raises(AoeReportsError, match="has changed since the manifest was written"):
        mapping((manifest.asked.units[0], manifest.keys[0]))
    assert partials.load(manifest.keys[0]) is None


def test_what_is_to_be_read_is_counted_and_what_is_wrong_with_it_told(cli: Cli, ranks: Path, tmp_path: Path) -> None:
    ended = cli("hotspots", ranks, tmp_path / "nowhere", "--manifest", tmp_path / "m.json")
    assert ended.code == 0
    assert f"{tmp_path / 'm.json'}: 5 captures to be read" in ended.err
    assert f"{tmp_path / 'nowhere'}: error: no such file or folder" in ended.err
    assert cli("hotspots", tmp_path / "nowhere", "--manifest", tmp_path / "m.json").code == 3


def test_strict_is_written_down(cli: Cli, tmp_path: Path) -> None:
    paths = (INVALID / "column-unknown", "--strict")
    plain = cli("hotspots", *paths, "--format", "json")
    cli("hotspots", *paths, "--manifest", tmp_path / "m.json")
    cli("fleet", "map", tmp_path / "m.json", "--partials", tmp_path / "p")
    assert cli("fleet", "reduce", tmp_path / "m.json", "--partials", tmp_path / "p").code == plain.code == 1
    assert cli("hotspots", INVALID / "column-unknown").code == 0


def test_shares_are_kept_where_they_say_and_nowhere_else(cli: Cli, ranks: Path, tmp_path: Path) -> None:
    cli("hotspots", ranks, "--manifest", tmp_path / "m.json", "--cache", tmp_path / "cache")
    cli("fleet", "map", tmp_path / "m.json", "--partials", tmp_path / "p")
    assert not (tmp_path / "cache").exists()
