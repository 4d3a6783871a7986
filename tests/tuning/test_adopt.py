"""`adopt`: a proven bank takes the place of the one in use, all at once, and only then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tuning.jobs import NAMES, SOC, Bench, rules, write_bank


def tuned(bench: Bench, verdict: str | None = "confirmed", **more: object) -> Path:
    """A job that is through, on a copy of a bank in use; with the verdict of a verification."""
    bench.plan()
    in_use = bench.root / "in_use"
    write_bank(in_use, "MatMulV2", [NAMES[0]])
    (in_use / "graph.json").write_text("{}")
    (in_use / "Ascend310P").mkdir()
    (in_use / "Ascend310P" / "other.json").write_text("other")
    bench.environment["TUNE_BANK_PATH"] = str(in_use)
    assert bench.tune().code == 0
    if verdict is not None:
        digest = json.loads((bench.folder / "outcome.json").read_text())["bank"]["digest"]
        document = {"format_version": 1, "verdict": verdict, "bank_digest": digest, **more}
        (bench.folder / "verify.json").write_text(json.dumps(document))
    return in_use


def contents(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_proven_bank_is_put_into_use_and_the_old_one_kept(bench: Bench) -> None:
    in_use = tuned(bench)
    before = contents(in_use)
    in_use.chmod(0o750)
    (in_use / "linked").symlink_to("Ascend310P")
    ended = bench.run("adopt", bench.folder, "--format", "json")
    assert ended.code == 0, ended.err
    assert ended.json["adopted"] is True
    (row,) = ended.json["rows"]
    assert (row["change"], row["entries_added"], row["entries_lost"]) == ("changed", 2, 0)
    after = contents(in_use)
    assert after.keys() == before.keys()
    assert len(after[f"{SOC}/{SOC}_32_AiCore_MatMulV2_runtime_kb.json"].splitlines()) == 3
    assert after["Ascend310P/other.json"] == "other"
    assert (in_use / "linked").is_symlink()
    assert in_use.stat().st_mode & 0o777 == 0o750
    (backup,) = ended.json["backups"]
    assert contents(Path(backup)) == before
    assert sorted(path.name for path in bench.root.glob("*in_use*")) == ["in_use", "in_use.backup-001"]
    again = bench.run("adopt", bench.folder, "--format", "json")
    assert (again.code, again.json["rows"], again.json["backups"]) == (0, [], [])
    assert "adopt-nothing" in again.rules()


def test_the_default_bank_is_two_folders(bench: Bench) -> None:
    tuned(bench)
    del bench.environment["TUNE_BANK_PATH"]
    (bench.folder / "bank" / "graph_new.json").write_text("{}")
    ended = bench.run("adopt", bench.folder, "--force", "--format", "json")
    assert ended.code == 0, ended.err
    custom = bench.root / "home" / "Ascend/latest/data/aoe/custom"
    assert set(contents(custom)) == {
        f"op/{SOC}/{SOC}_32_AiCore_MatMulV2_runtime_kb.json",
        f"graph/{SOC}/graph.json",
        f"graph/{SOC}/graph_new.json",
    }
    assert ended.json["backups"] == []


def test_a_verdict_from_damaged_files_puts_nothing_into_use(bench: Bench) -> None:
    in_use = tuned(bench, damaged=True)
    before = contents(in_use)
    ended = bench.run("adopt", bench.folder, "--format", "json")
    assert (ended.code, ended.json["adopted"], ended.json["reasons"]) == (1, False, ["verification"])
    assert contents(in_use) == before
    assert bench.run("adopt", bench.folder, "--force", "--format", "json").json["adopted"] is True


@pytest.mark.parametrize("verdict", [None, "not-reproduced", "regressed", "not-comparable"])
def test_without_a_passed_verification_it_is_refused(bench: Bench, verdict: str | None) -> None:
    in_use = tuned(bench, verdict)
    before = contents(in_use)
    ended = bench.run("adopt", bench.folder, "--format", "json")
    assert ended.code == 1
    assert ended.json["reasons"] == ["verification"]
    assert rules(ended) == {"adopt-not-verified"}
    assert contents(in_use) == before
    assert [path.name for path in bench.root.glob("*in_use*")] == ["in_use"]
    forced = bench.run("adopt", bench.folder, "--force", "--format", "json")
    assert (forced.code, forced.json["adopted"]) == (0, True)
    assert contents(in_use) != before


def test_a_part_of_the_gain_is_a_gain_and_that_is_said(bench: Bench) -> None:
    tuned(bench, "partly")
    ended = bench.run("adopt", bench.folder, "--format", "json")
    assert (ended.code, rules(ended)) == (0, {"adopt-partly"})


def test_a_bank_that_changed_since_is_refused(bench: Bench) -> None:
    tuned(bench)
    write_bank(bench.folder / "bank", "Add", ["x"])
    ended = bench.run("adopt", bench.folder, "--format", "json")
    assert (ended.code, rules(ended)) == (1, {"adopt-changed-since"})


def test_a_job_that_is_not_through_is_refused(bench: Bench) -> None:
    bench.plan()
    assert bench.tune(STAND_IN="killed").code == 1
    (bench.folder / "verify.json").write_text('{"verdict": "confirmed"}')
    ended = bench.run("adopt", bench.folder, "--to", bench.root / "b", "--format", "json")
    assert (ended.code, rules(ended)) == (1, {"adopt-not-tuned"})


def test_what_goes_out_of_use_is_said(bench: Bench) -> None:
    in_use = tuned(bench)
    write_bank(in_use, "MatMulV2", [NAMES[0], "somebody/else"])
    write_bank(in_use, "Mul", ["new"])
    ended = bench.run("adopt", bench.folder, "--dry-run", "--format", "json")
    assert ended.code == 0
    assert ended.json["adopted"] is False
    said = " ".join(f["message"] for f in ended.json["findings"] if f["rule"] == "adopt-replaces")
    assert "1 entries of the file in use are not in the private one" in said
    assert "Mul_runtime_kb.json: is not in the private bank" in said
    assert bench.run("adopt", bench.folder, "--strict").code == 1


def test_a_link_to_the_bank_stays_one(bench: Bench) -> None:
    in_use = tuned(bench)
    real = bench.root / "real"
    in_use.rename(real)
    in_use.symlink_to(real)
    assert bench.run("adopt", bench.folder).code == 0
    assert in_use.is_symlink()
    assert len(contents(real)[f"{SOC}/{SOC}_32_AiCore_MatMulV2_runtime_kb.json"].splitlines()) == 3


def test_a_bank_that_is_not_there_yet_is_made(bench: Bench) -> None:
    tuned(bench)
    ended = bench.run("adopt", bench.folder, "--to", bench.root / "a" / "b", "--format", "json")
    assert (ended.code, ended.json["backups"]) == (0, [])
    assert f"{SOC}/{SOC}_32_AiCore_MatMulV2_runtime_kb.json" in contents(bench.root / "a" / "b")


def test_where_it_fails_the_bank_in_use_is_what_it_was(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    from aoe_reports.workflows import adopt as module

    tuned(bench)
    custom = bench.root / "home" / "Ascend/latest/data/aoe/custom"
    for name in (f"op/{SOC}/{SOC}_32_AiCore_MatMulV2_runtime_kb.json", f"graph/{SOC}/graph.json"):
        (custom / name).parent.mkdir(parents=True)
        (custom / name).write_text("old\n")
    before, calls, real = contents(custom), [], module.exchange_names

    def fail_the_second_time(one: Path, other: Path) -> None:
        calls.append(other)
        if len(calls) == 2:
            raise OSError(28, "No space left on device", str(other))
        real(one, other)

    monkeypatch.setattr(module, "exchange_names", fail_the_second_time)
    home = {"HOME": str(bench.root / "home")}
    with pytest.raises(module.AdoptError, match="the bank in use is what it was"):
        module.adopt(bench.folder, home, to=None, soc=None, force=False, dry_run=False)
    assert len(calls) == 3, "the first is taken back"
    assert contents(custom) == before
    assert sorted(path.name for path in custom.glob("*/*")) == [SOC, SOC]


def test_where_names_cannot_be_exchanged_it_takes_two_steps(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    from aoe_reports.workflows import adopt as module
    from aoe_reports.workflows import output

    in_use = tuned(bench)
    before = contents(in_use)
    monkeypatch.setattr(output.ctypes, "CDLL", lambda *_, **__: object())
    done = module.adopt(bench.folder, {"TUNE_BANK_PATH": str(in_use)}, to=None, soc=None, force=False, dry_run=False)
    assert contents(Path(done.more["backups"][0])) == before
    assert contents(in_use) != before


@pytest.mark.parametrize("text", ["{", "[]", '{"verdict": "fine"}', '{"verdict": null}'])
def test_a_verification_that_is_none_is_said_in_a_line(bench: Bench, text: str) -> None:
    tuned(bench)
    (bench.folder / "verify.json").write_text(text)
    ended = bench.run("adopt", bench.folder)
    assert ended.code == 3
    assert "verify.json" in ended.err
    assert "Traceback" not in ended.err


def test_without_a_bank_it_is_wrong_usage(bench: Bench) -> None:
    bench.plan()
    assert bench.run("adopt", bench.folder).code == 2
    assert bench.run("adopt", bench.root).code == 2


@pytest.mark.parametrize("form", ["text", "csv", "markdown", "html"])
def test_every_form(bench: Bench, form: str) -> None:
    tuned(bench)
    ended = bench.run("adopt", bench.folder, "--format", form)
    assert ended.code == 0
    assert "MatMulV2" in ended.out
    assert "kept: " in ended.err
