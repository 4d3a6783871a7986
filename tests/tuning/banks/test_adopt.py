"""`adopt`: a proven bank takes the place of the one in use, all at once, and only then."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from killing import COMPILER, NO_FAULT, Fault, killer
from tuning.adoption import MODULES, Adoption, fail_everywhere, kill_everywhere
from tuning.jobs import NAMES, SOC, Bench, rules, write_bank, write_tuned


def tuned(bench: Bench, verdict: str | None = "confirmed", **more: object) -> Path:
    """A job that is through, on a copy of a bank in use; with the verdict of a verification."""
    bench.plan()
    in_use = bench.root / "in_use"
    write_tuned(in_use, [NAMES[0]])
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
    ended = bench.run("tune", "adopt", bench.folder, "--format", "json")
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
    again = bench.run("tune", "adopt", bench.folder, "--format", "json")
    assert (again.code, again.json["rows"], again.json["backups"]) == (0, [], [])
    assert "adopt-nothing" in again.rules()


def test_the_default_bank_is_two_folders(bench: Bench) -> None:
    tuned(bench)
    del bench.environment["TUNE_BANK_PATH"]
    (bench.folder / "bank" / "graph_new.json").write_text("{}")
    ended = bench.run("tune", "adopt", bench.folder, "--force", "--format", "json")
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
    ended = bench.run("tune", "adopt", bench.folder, "--format", "json")
    assert (ended.code, ended.json["adopted"], ended.json["reasons"]) == (1, False, ["verification"])
    assert contents(in_use) == before
    assert bench.run("tune", "adopt", bench.folder, "--force", "--format", "json").json["adopted"] is True


@pytest.mark.parametrize("verdict", [None, "not-reproduced", "regressed", "not-comparable"])
def test_without_a_passed_verification_it_is_refused(bench: Bench, verdict: str | None) -> None:
    in_use = tuned(bench, verdict)
    before = contents(in_use)
    ended = bench.run("tune", "adopt", bench.folder, "--format", "json")
    assert ended.code == 1
    assert ended.json["reasons"] == ["verification"]
    assert rules(ended) == {"adopt-not-verified"}
    assert contents(in_use) == before
    assert [path.name for path in bench.root.glob("*in_use*")] == ["in_use"]
    forced = bench.run("tune", "adopt", bench.folder, "--force", "--format", "json")
    assert (forced.code, forced.json["adopted"]) == (0, True)
    assert contents(in_use) != before


def test_a_part_of_the_gain_is_a_gain_and_that_is_said(bench: Bench) -> None:
    tuned(bench, "partly")
    ended = bench.run("tune", "adopt", bench.folder, "--format", "json")
    assert (ended.code, rules(ended)) == (0, {"adopt-partly"})


def test_a_gain_for_which_an_operator_pays_is_refused(bench: Bench) -> None:
    tuned(bench, "partly")
    path = bench.folder / "verify.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "regressed": ["block2/conv"]}))
    ended = bench.run("tune", "adopt", bench.folder, "--format", "json")
    assert (ended.code, rules(ended)) == (1, {"adopt-not-verified"})
    assert "operators are slower than before: block2/conv" in ended.json["findings"][0]["message"]


def test_a_bank_that_changed_since_is_refused(bench: Bench) -> None:
    tuned(bench)
    write_bank(bench.folder / "bank", "Add", ["x"])
    ended = bench.run("tune", "adopt", bench.folder, "--format", "json")
    assert (ended.code, rules(ended)) == (1, {"adopt-changed-since"})


def test_a_bank_that_lies_under_another_chip_is_not_called_equal(bench: Bench) -> None:
    """AOE calls the chip Ascend910B, the plan Ascend910B4: nothing would be put into use."""
    in_use = tuned(bench)
    path = bench.folder / "plan.json"
    path.write_text(path.read_text().replace(f'"soc": "{SOC}"', f'"soc": "{SOC}4"'))
    before = contents(in_use)
    for options in ((), ("--dry-run",), ("--force",)):
        ended = bench.run("tune", "adopt", bench.folder, *options, "--format", "json")
        assert (ended.code, rules(ended), ended.json["adopted"]) == (1, {"adopt-other-chip"}, False), options
        (finding,) = ended.json["findings"]
        assert f"entries for {SOC} and none for {SOC}4" in finding["message"]
    assert contents(in_use) == before
    ended = bench.run("tune", "adopt", bench.folder, "--soc", SOC, "--format", "json")
    assert (ended.code, ended.json["adopted"], rules(ended)) == (0, True, set())


def test_entries_of_a_second_chip_stay_out_of_use_aloud(bench: Bench) -> None:
    in_use = tuned(bench)
    other = bench.folder / "bank" / f"{SOC}4" / f"{SOC}4_20_AiCore_Add_runtime_kb.json"
    other.parent.mkdir()
    other.write_text('{"op": "x"}\n')
    ended = bench.run("tune", "adopt", bench.folder, "--force", "--format", "json")
    assert (ended.code, ended.json["adopted"], rules(ended)) == (0, True, {"adopt-changed-since", "adopt-other-chip"})
    assert not (in_use / f"{SOC}4").exists()


@pytest.mark.parametrize(("chip", "code"), [(SOC, 0), (f"{SOC}4", 1)])
def test_gradients_of_another_chip_are_not_put_where_nobody_looks(bench: Bench, chip: str, code: int) -> None:
    tuned(bench)
    shutil.rmtree(bench.folder / "bank" / SOC)
    (bench.folder / "bank" / f"{chip}_gradient_fusion.json").write_text("[]")
    ended = bench.run("tune", "adopt", bench.folder, "--to", bench.root / "b", "--force", "--format", "json")
    assert (ended.code, "adopt-other-chip" in rules(ended)) == (code, bool(code))
    (bench.root / "b").mkdir(exist_ok=True)
    (bench.root / "b" / f"{SOC}4_gradient_fusion.json").write_text("[]")  # of a bank that serves several chips
    ended = bench.run("tune", "adopt", bench.folder, "--to", bench.root / "b", "--force", "--format", "json")
    assert (ended.code, "adopt-other-chip" in rules(ended)) == (0, False)


def test_a_job_that_is_not_through_is_refused(bench: Bench) -> None:
    bench.plan()
    assert bench.tune(STAND_IN="killed").code == 1
    (bench.folder / "verify.json").write_text('{"verdict": "confirmed"}')
    ended = bench.run("tune", "adopt", bench.folder, "--to", bench.root / "b", "--format", "json")
    assert (ended.code, rules(ended)) == (1, {"adopt-not-tuned"})


def test_what_goes_out_of_use_is_said(bench: Bench) -> None:
    in_use = tuned(bench)
    write_tuned(in_use, [NAMES[0], "somebody/else"])
    write_bank(in_use, "Mul", ["new"])
    ended = bench.run("tune", "adopt", bench.folder, "--dry-run", "--format", "json")
    assert ended.code == 0
    assert ended.json["adopted"] is False
    said = " ".join(f["message"] for f in ended.json["findings"] if f["rule"] == "adopt-replaces")
    assert "1 entries of the file in use are not in the private one" in said
    assert "Mul_runtime_kb.json: is not in the private bank" in said
    assert bench.run("tune", "adopt", bench.folder, "--strict").code == 1


def test_a_link_to_the_bank_stays_one(bench: Bench) -> None:
    in_use = tuned(bench)
    real = bench.root / "real"
    in_use.rename(real)
    in_use.symlink_to(real)
    assert bench.run("tune", "adopt", bench.folder).code == 0
    assert in_use.is_symlink()
    assert len(contents(real)[f"{SOC}/{SOC}_32_AiCore_MatMulV2_runtime_kb.json"].splitlines()) == 3


def test_a_bank_that_is_not_there_yet_is_made(bench: Bench) -> None:
    tuned(bench)
    ended = bench.run("tune", "adopt", bench.folder, "--to", bench.root / "a" / "b", "--format", "json")
    assert (ended.code, ended.json["backups"]) == (0, [])
    assert f"{SOC}/{SOC}_32_AiCore_MatMulV2_runtime_kb.json" in contents(bench.root / "a" / "b")


needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler to put faults between adopt and the disk")


@pytest.fixture
def adoption(bench: Bench, request: pytest.FixtureRequest) -> Iterator[Adoption]:
    with killer(bench.environment, *MODULES) as one:
        yield Adoption(bench, request.param, one)


@pytest.mark.torture
@needs_compiler
@pytest.mark.parametrize("adoption", ["default", "one-folder", "nothing-yet"], indirect=True)
def test_killed_anywhere_the_bank_in_use_is_the_old_or_the_new_one_and_the_next_run_completes_it(
    adoption: Adoption,
) -> None:
    assert kill_everywhere(adoption, last=14) == 14


@pytest.mark.torture
@needs_compiler
@pytest.mark.parametrize("adoption", ["default"], indirect=True)
def test_killed_in_the_middle_of_a_write_the_next_run_completes_it(adoption: Adoption) -> None:
    assert kill_everywhere(adoption, last=8, half=True) == 8


@pytest.mark.torture
@needs_compiler
@pytest.mark.parametrize(("adoption", "in_steps"), [("default", True), ("linked", False)], indirect=["adoption"])
def test_killed_where_it_takes_several_steps_the_next_run_completes_it(adoption: Adoption, in_steps: bool) -> None:
    assert kill_everywhere(adoption, in_steps=in_steps, last=9) == 9


@pytest.mark.torture
@needs_compiler
@pytest.mark.parametrize("adoption", ["default", "linked"], indirect=True)
def test_where_a_change_fails_it_says_which_bank_is_in_use(adoption: Adoption) -> None:
    assert fail_everywhere(adoption, [errno.ENOSPC], last=9) == 18


def stopped_between_two_folders(adoption: Adoption) -> Path:
    """A bank whose operators are the new ones and whose graphs the old ones; the journal of that."""
    adoption.again()
    changes = adoption.adopt().changes
    (second,) = [at for at, change in enumerate(changes, 1) if change.endswith(f"elsewhere/graph/{SOC}")]
    adoption.again()
    adoption.adopt(Fault(second))
    assert adoption.state() == "mixed"
    (journal,) = adoption.bench.root.rglob(".*.adopt.json")
    return journal


def rewrite_inodes(journal: Path, write: Callable[[int], object]) -> None:
    document = json.loads(journal.read_text())
    for swap in document["swaps"]:
        swap["inode"] = write(swap["inode"])
    journal.write_text(json.dumps(document))


def tree(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.lstat().st_ino) for path in folder.rglob("*"))


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("adoption", ["linked"], indirect=True)
def test_half_of_a_bank_is_not_copied_for_another_job(adoption: Adoption) -> None:
    stopped_between_two_folders(adoption)
    told = adoption.adopt(NO_FAULT, "--dry-run")
    assert "half of the bank in use may be the new one" in told.out
    assert adoption.state() == "mixed", "a dry run changes nothing"
    other = adoption.bench.tune("--restart")
    assert (other.code, "an adopt was interrupted; run adopt again" in other.err) == (3, True)
    (adoption.bench.folder / "old-001" / "bank").rename(adoption.bench.folder / "bank")
    for name in ("state.json", "verify.json"):
        (adoption.bench.folder / "old-001" / name).rename(adoption.bench.folder / name)
    adoption.see_completed(adoption.adopt())


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("adoption", ["linked"], indirect=True)
def test_the_journal_of_an_older_version_is_completed_though_the_device_has_another_number_now(
    adoption: Adoption,
) -> None:
    journal = stopped_between_two_folders(adoption)
    rewrite_inodes(journal, lambda inode: [987_654, inode])
    adoption.see_completed(adoption.adopt())


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("adoption", ["linked"], indirect=True)
def test_where_nothing_tells_old_from_new_it_is_named_and_nothing_is_moved_or_deleted(adoption: Adoption) -> None:
    journal = stopped_between_two_folders(adoption)
    rewrite_inodes(journal, lambda _: 0)
    bank = adoption.custom, adoption.bench.root / "elsewhere"
    before = [tree(folder) for folder in bank]
    for options in (("--dry-run",), (), ("--force",)):
        ended = adoption.adopt(NO_FAULT, *options)
        found = [one for one in json.loads(ended.out)["findings"] if one["severity"] == "error"]
        assert (ended.code, [one["rule"] for one in found]) == (1, ["adopt-unclear"]), ended.err
        assert found[0]["path"] == str(journal)
        assert str(adoption.folders[0]) in found[0]["message"]
        assert [tree(folder) for folder in bank] == before, options
    other = adoption.bench.tune("--restart")
    assert (other.code, "the old folders cannot be identified" in other.err) == (3, True)


@pytest.mark.parametrize("text", ["", "{}", "[" * 100_000, '{"swaps": [{"target": "/etc"}]}'])
def test_a_journal_that_is_none_moves_nothing(bench: Bench, text: str) -> None:
    in_use = tuned(bench)
    before = contents(in_use)
    in_use.with_name(".in_use.adopt.json").write_text(text)
    ended = bench.run("tune", "adopt", bench.folder)
    assert (ended.code, ".in_use.adopt.json" in ended.err) == (3, True)
    assert contents(in_use) == before


def test_a_journal_moves_nothing_but_folders_of_the_bank(bench: Bench) -> None:
    in_use = tuned(bench)
    victim = bench.root / "victim"
    victim.mkdir()
    swap = {"existed": True, "inode": 1, "kept": str(bench.root / "victim.backup-001")}
    swap |= {"target": str(victim), "fresh": str(bench.root / ".victim.adopt-1")}
    in_use.with_name(".in_use.adopt.json").write_text(json.dumps({"format_version": 1, "swaps": [swap]}))
    assert bench.run("tune", "adopt", bench.folder).code == 3
    assert victim.is_dir()


def test_an_answer_that_cannot_be_written_does_not_hide_that_the_new_bank_is_in_use(bench: Bench) -> None:
    tuned(bench)
    (bench.root / "file").write_text("")
    ended = bench.run("tune", "adopt", bench.folder, "--format", "json", "-o", bench.root / "file" / "below")
    assert ended.code == 3
    assert "now in use: the tuned bank" in ended.err
    assert "in_use.backup-001" in ended.err


def test_two_jobs_do_not_replace_the_same_bank_at_once(bench: Bench) -> None:
    in_use = tuned(bench)
    handle = os.open(in_use.parent, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        ended = bench.run("tune", "adopt", bench.folder)
    finally:
        os.close(handle)
    assert (ended.code, "another adopt" in ended.err) == (3, True)


def test_on_a_file_system_without_locks_it_goes_on_and_says_so(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    tuned(bench)
    monkeypatch.setattr("fcntl.flock", refuse)
    ended = bench.run("tune", "adopt", bench.folder)
    assert (ended.code, ended.err.count("does not support locks")) == (0, 2), ended.err


@pytest.mark.parametrize("text", ["{", "[]", '{"verdict": "fine"}', '{"verdict": null}'])
def test_a_verification_that_is_none_is_said_in_a_line(bench: Bench, text: str) -> None:
    tuned(bench)
    (bench.folder / "verify.json").write_text(text)
    ended = bench.run("tune", "adopt", bench.folder)
    assert ended.code == 3
    assert "verify.json" in ended.err
    assert "Traceback" not in ended.err


def test_without_a_bank_it_is_wrong_usage(bench: Bench) -> None:
    bench.plan()
    assert bench.run("tune", "adopt", bench.folder).code == 2
    assert bench.run("tune", "adopt", bench.root).code == 2


@pytest.mark.parametrize("form", ["text", "csv", "markdown", "html"])
def test_every_form(bench: Bench, form: str) -> None:
    tuned(bench)
    ended = bench.run("tune", "adopt", bench.folder, "--format", form)
    assert ended.code == 0
    assert "MatMulV2" in ended.out
    assert "kept: " in ended.err


def without_chip(bench: Bench, of_state: str | None = None) -> None:
    """The plan does not name the chip, and the job neither or as said: the bank may."""
    path = bench.folder / "plan.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "soc": None}))
    state = bench.state()
    state["bank"]["soc"] = of_state
    (bench.folder / "state.json").write_text(json.dumps(state))


def test_the_only_chip_of_a_bank_is_the_one(bench: Bench) -> None:
    tuned(bench)
    shutil.rmtree(bench.folder / "bank" / "Ascend310P", ignore_errors=True)
    without_chip(bench)
    ended = bench.run("tune", "adopt", bench.folder, "--dry-run", "--format", "json")
    assert (ended.code, ended.json["soc"]) == (0, SOC)


def test_the_chip_of_a_job_is_no_path(bench: Bench) -> None:
    tuned(bench)
    without_chip(bench, "../x")
    ended = bench.run("tune", "adopt", bench.folder, "--dry-run")
    assert (ended.code, "not the state of a tuning job" in ended.err) == (3, True)


@pytest.mark.parametrize("others", [0, 2])
def test_of_several_chips_or_none_it_has_to_be_said_which(bench: Bench, others: int) -> None:
    tuned(bench)
    without_chip(bench)
    for place in (bench.folder / "bank").iterdir():
        if place.is_dir() and not others:
            shutil.rmtree(place)
    for number in range(others):
        (bench.folder / "bank" / f"Ascend{number}").mkdir()
    ended = bench.run("tune", "adopt", bench.folder, "--dry-run", "--format", "json")
    assert ended.code == 2
    assert ended.err.strip().endswith(f"{bench.folder / 'bank'}: the chip cannot be determined; expected --soc")


@pytest.mark.parametrize("options", [("--dry-run",), ()])
def test_a_copy_that_never_came_into_use_is_taken_away_and_said(bench: Bench, options: tuple[str, ...]) -> None:
    in_use = tuned(bench)
    copy = in_use.with_name(".in_use.adopt-abcdef")
    copy.mkdir()
    (copy / "graph.json").touch()
    ended = bench.run("tune", "adopt", bench.folder, *options, "--format", "json")
    found = [(one["rule"], one["path"], one["message"]) for one in ended.json["findings"]]
    assert found == [("adopt-leftover", str(copy), "a copy that an adopt run made and never used; it is removed")]
    assert copy.exists() is bool(options)


def test_what_lies_in_folders_beside_subgraphs_stays_in_use(bench: Bench) -> None:
    tuned(bench)
    del bench.environment["TUNE_BANK_PATH"]
    graphs = bench.root / "home" / "Ascend/latest/data/aoe/custom/graph" / SOC
    (graphs / "old" / "deep").mkdir(parents=True)
    for place in ("old/a.json", "old/deep/b.json", "old.json"):
        (graphs / place).write_text("{}")
    ended = bench.run("tune", "adopt", bench.folder, "--force", "--format", "json")
    assert ended.code == 0, ended.err
    assert set(contents(graphs)) == {"old/a.json", "old/deep/b.json", "graph.json"}, "only subgraphs are replaced"


def said(bench: Bench, *options: object) -> list[tuple[str, str, str]]:
    """(rule, severity, message) of what adopt says."""
    ended = bench.run("tune", "adopt", bench.folder, *options, "--format", "json")
    return [(one["rule"], one["severity"], one["message"]) for one in ended.json["findings"]]


@pytest.mark.parametrize(
    ("verdict", "more", "rule", "message"),
    [
        (None, {}, "adopt-not-verified", "not verified: measure again (remeasure.md), then `aoe-reports verify`"),
        ("not-reproduced", {}, "adopt-not-verified", "the verdict is not-reproduced"),
        ("regressed", {}, "adopt-not-verified", "the verdict is regressed"),
        ("confirmed", {"damaged": True}, "adopt-not-verified", "the verdict (confirmed) is based on damaged files; verify again with intact files"),
        ("confirmed", {"bank_digest": "0" * 64}, "adopt-changed-since", "the private bank has changed since it was verified"),
        ("partly", {}, "adopt-partly", "the measured gain is smaller than claimed, but it is still a gain"),
        ("confirmed", {}, None, ""),
        ("confirmed", {"bank_digest": None}, None, ""),
    ],
)  # fmt: skip
def test_what_speaks_against_a_bank_is_said(
    bench: Bench, verdict: str | None, more: dict[str, object], rule: str | None, message: str
) -> None:
    tuned(bench, verdict, **more)
    severity = "warning" if rule == "adopt-partly" else "error"
    told = [] if rule is None else [(rule, severity, message)]
    assert said(bench, "--dry-run") == told
    assert said(bench, "--dry-run", "--force") == [(name, "warning", words) for name, _, words in told]


@pytest.mark.parametrize("status", ["failed", "interrupted", None])
def test_a_job_that_did_not_end_well_is_said_with_its_status(bench: Bench, status: str | None) -> None:
    tuned(bench)
    if status is None:
        (bench.folder / "state.json").unlink()
    else:
        (bench.folder / "state.json").write_text(json.dumps({**bench.state(), "status": status}))
    message = "the job was never run by `tune run`" if status is None else f"the job is {status}"
    assert said(bench, "--dry-run") == [("adopt-not-tuned", "error", message)]


def test_what_the_bank_in_use_has_and_the_private_one_has_not_is_said(bench: Bench) -> None:
    in_use = tuned(bench)
    (in_use / "graph_old.json").write_text("{}")
    (in_use / "graph.json").write_text('{"other": 1}')
    write_tuned(in_use, [NAMES[0], "net/gone"])
    found = sorted(message for rule, _, message in said(bench, "--dry-run") if rule == "adopt-replaces")
    runtime = f"{SOC}/{SOC}_32_AiCore_MatMulV2_runtime_kb.json"
    assert found == [
        f"{runtime}: 1 entries of the file in use are not in the private one, which replaces it",
        "graph.json: is replaced; its content cannot be compared entry by entry",
        "graph_old.json: is not in the private bank; it will no longer be used (it stays in the backup)",
    ]


@pytest.mark.parametrize(
    ("begun", "options", "message"),
    [
        (False, ("--dry-run",), "an adopt run was interrupted before it replaced anything; its prepared files are removed"),
        (False, (), "an adopt run was interrupted before it replaced anything; its prepared files are removed"),
        (True, ("--dry-run",), "an adopt run was interrupted: half of the bank in use may be the new one; adopt completes the replacement"),
        (True, (), "an interrupted adopt run is now completed: the new bank is in use, the previous one is kept"),
    ],
)  # fmt: skip
def test_what_an_interrupted_run_left_is_completed_or_taken_back_and_said(
    bench: Bench, begun: bool, options: tuple[str, ...], message: str
) -> None:
    in_use = tuned(bench)
    fresh, kept = in_use.with_name(".in_use.adopt-1"), in_use.with_name("in_use.backup-001")
    shutil.copytree(bench.folder / "bank", fresh)
    swap = {
        "target": str(in_use),
        "fresh": str(fresh),
        "kept": str(kept),
        "existed": True,
        "inode": fresh.stat().st_ino,
    }
    journal = in_use.with_name(".in_use.adopt.json")
    journal.write_text(json.dumps({"format_version": 1, "swaps": [swap]}))
    old = contents(in_use)
    if begun:
        in_use.rename(kept)
    ended = bench.run("tune", "adopt", bench.folder, *options, "--format", "json")
    completed = [(one["path"], one["message"]) for one in ended.json["findings"] if one["rule"] == "adopt-completed"]
    assert completed == [(str(journal), message)]
    assert journal.exists() is fresh.exists() is bool(options)
    if not options:
        assert contents(kept) == old
        assert (ended.code, ended.json["backups"][0]) == (0, str(kept))
