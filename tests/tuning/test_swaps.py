"""A folder of a bank and the one that takes its place, step by step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from aoe_reports.tuning.banks import exchange as bank_exchange
from aoe_reports.tuning.banks.bank import BankLayout
from aoe_reports.tuning.banks.exchange import (
    AdoptError,
    Left,
    NewFolder,
    Swap,
    candidates,
    complete_left,
    describe_unclear,
    holds_all,
    replace_folders,
)


def swap_of(folder: Path, *, existed: bool = True) -> Swap:
    """A swap that is prepared: the new folder lies beside the old one, if there is one."""
    target, fresh, kept = (folder / name for name in ("bank", ".bank.adopt-1", "bank.before"))
    fresh.mkdir()
    (fresh / "new").touch()
    if existed:
        target.mkdir()
        (target / "old").touch()
    return Swap(target, fresh, kept, existed, fresh.stat().st_ino)


def contents(folder: Path) -> dict[str, str]:
    """The text of each file, of those behind links to folders as little as of links."""
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def seen(folder: Path) -> dict[str, list[str]]:
    """What lies in each folder."""
    return {path.name: sorted(file.name for file in path.iterdir()) for path in sorted(folder.iterdir()) if path.is_dir()}  # fmt: skip


OLD, NEW = ["old"], ["new"]


@pytest.fixture(params=[True, False], ids=["at once", "in steps"])
def at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the file system exchanges two names in one step."""
    if not request.param:
        monkeypatch.setattr(bank_exchange, "exchange_at_once", lambda *_: False)
    return bool(request.param)


def test_a_new_folder_comes_into_use_and_the_old_one_gets_its_name(tmp_path: Path, at_once: bool) -> None:
    swap = swap_of(tmp_path)
    assert (swap.done(), swap.begun(), swap.is_clear()) == (False, False, True)
    swap.make()
    assert (swap.done(), swap.begun(), swap.is_clear()) == (True, True, True)
    assert seen(tmp_path) == {"bank": NEW, ".bank.adopt-1" if at_once else "bank.before": OLD}
    swap.make()
    swap.keep()
    swap.keep()
    assert seen(tmp_path) == {"bank": NEW, "bank.before": OLD}


def test_a_new_folder_comes_into_use_where_there_was_none(tmp_path: Path, at_once: bool) -> None:
    swap = swap_of(tmp_path, existed=False)
    assert (swap.done(), swap.begun(), swap.is_clear()) == (False, False, True)
    swap.make()
    swap.keep()
    assert seen(tmp_path) == {"bank": NEW}
    assert (swap.done(), swap.begun(), swap.is_clear()) == (True, True, True)
    swap.take_back()
    assert seen(tmp_path) == {".bank.adopt-1": NEW}
    assert (swap.done(), swap.begun()) == (False, False)


@pytest.mark.parametrize("kept", [False, True])
def test_the_old_folder_is_put_into_use_again(tmp_path: Path, at_once: bool, kept: bool) -> None:
    swap = swap_of(tmp_path)
    swap.make()
    if kept:
        swap.keep()
    swap.take_back()
    assert seen(tmp_path) == {"bank": OLD, ".bank.adopt-1": NEW}
    swap.take_back()
    assert seen(tmp_path) == {"bank": OLD, ".bank.adopt-1": NEW}
    swap.take_away()
    assert seen(tmp_path) == {"bank": OLD}
    assert swap.is_clear(), "it was taken away"


def test_between_two_steps_the_exchange_has_begun(tmp_path: Path) -> None:
    swap = swap_of(tmp_path)
    swap.target.rename(swap.kept)
    assert (swap.done(), swap.begun(), swap.is_clear()) == (False, True, True)
    swap.take_back()
    assert seen(tmp_path) == {"bank": OLD, ".bank.adopt-1": NEW}
    swap.target.rename(swap.kept)
    swap.make()
    assert seen(tmp_path) == {"bank": NEW, "bank.before": OLD}


def test_a_name_that_is_taken_does_not_mean_that_anything_has_begun(tmp_path: Path) -> None:
    swap = swap_of(tmp_path)
    swap.kept.mkdir()
    assert (swap.done(), swap.begun(), swap.is_clear()) == (False, False, True)
    (tmp_path / "fresh").mkdir()
    new = swap_of(tmp_path / "fresh", existed=False)
    new.kept.mkdir()
    assert (new.done(), new.begun()) == (False, False)


def test_what_is_not_ours_is_neither_clear_nor_taken_away(tmp_path: Path) -> None:
    swap = replace(swap_of(tmp_path), inode=1)
    assert (swap.done(), swap.begun(), swap.is_clear()) == (False, False, False)
    swap.take_away()
    assert seen(tmp_path) == {"bank": OLD, ".bank.adopt-1": NEW}
    left = Left(tmp_path / "journal", (swap,))
    assert not left.clear
    assert describe_unclear(left) == (
        "an adopt run was interrupted, and the folders differ from those that it recorded: the old folders cannot be "
        f"identified, and nothing is moved or deleted; check {swap.target}, {swap.fresh}, then delete the journal"
    )


def test_what_was_begun_is_completed_and_what_was_prepared_is_taken_back(tmp_path: Path) -> None:
    for name in ("begun", "prepared"):
        (tmp_path / name).mkdir()
    copy, file = tmp_path / ".copy", tmp_path / ".file"
    copy.mkdir()
    file.touch()
    journal = tmp_path / "journal"
    journal.touch()
    swap = swap_of(tmp_path / "prepared")
    assert complete_left(Left(journal, (swap,), (copy, file))) == []
    assert seen(tmp_path / "prepared") == {"bank": OLD}
    assert [path.exists() for path in (copy, file, journal)] == [False, False, False]
    journal.touch()
    swap = swap_of(tmp_path / "begun")
    swap.target.rename(swap.kept)
    assert Left(journal, (swap,)).begun
    assert complete_left(Left(journal, (swap,))) == [swap.kept]
    assert seen(tmp_path / "begun") == {"bank": NEW, "bank.before": OLD}
    assert not journal.exists()
    assert complete_left(Left()) == []


@pytest.mark.parametrize(("operators", "graphs", "linked", "one"), [("bank/op", "bank/graph", "", True), ("bank/op", "other/graph", "", False), ("bank/op", "bank/graph", "bank/op", False), ("bank/op", "bank/graph", "bank/graph", False)])  # fmt: skip
def test_two_folders_are_replaced_as_one_where_one_holds_both(
    tmp_path: Path, operators: str, graphs: str, linked: str, one: bool
) -> None:
    """A link to a part leads elsewhere: what lies there is not in the folder that would be exchanged."""
    for part in (operators, graphs):
        (tmp_path / part / "Ascend910B").mkdir(parents=True)
    if linked:
        (tmp_path / linked).rename(tmp_path / "elsewhere")
        (tmp_path / linked).symlink_to(tmp_path / "elsewhere")
    layout = BankLayout(
        "given", PurePosixPath(tmp_path / operators), PurePosixPath(tmp_path / graphs), graphs_by_soc=True
    )
    assert holds_all(layout, "Ascend910B") is one
    whole, *parts = candidates(layout, "Ascend910B")
    assert whole == tmp_path / "bank"
    assert parts == [(tmp_path / part / "Ascend910B").resolve() for part in (operators, graphs)]


def test_a_bank_whose_graphs_are_of_all_chips_is_one_folder(tmp_path: Path) -> None:
    layout = BankLayout("given", PurePosixPath(tmp_path), PurePosixPath(tmp_path), graphs_by_soc=False)
    assert candidates(layout, "Ascend910B") == [tmp_path]


@pytest.fixture
def in_use(tmp_path: Path) -> Path:
    """A folder in use: a file, a folder, a link, a link to nothing; and the folders of two runs before."""
    target = tmp_path / "bank"
    (target / "other" / "deep").mkdir(parents=True)
    (target / "other" / "deep" / "a.json").write_text("a")
    (target / "old.json").write_text("old")
    (target / "linked").symlink_to("other")
    (target / "nothing").symlink_to("nowhere")
    target.chmod(0o750)
    for number in (1, 2):
        (tmp_path / f"bank.backup-00{number}").mkdir()
    (tmp_path / "new.json").write_text("new")
    return target


def test_a_new_folder_holds_what_is_new_and_what_stays(in_use: Path, at_once: bool) -> None:
    before = in_use.stat().st_ino
    folder = NewFolder(in_use, {"sub/new.json": in_use.parent / "new.json"}, lambda path: not path.startswith("old"))
    looked = []
    (kept,) = replace_folders([folder], lambda: looked.append(contents(in_use)))
    assert kept == in_use.with_name("bank.backup-003"), "the first name that is free"
    assert contents(in_use) == {"sub/new.json": "new", "other/deep/a.json": "a"}
    assert contents(kept) == {"old.json": "old", "other/deep/a.json": "a"}
    assert [contents(kept)] == looked, "the last look is before anything is replaced"
    assert {path.name: str(path.readlink()) for path in in_use.iterdir() if path.is_symlink()} == {
        "linked": "other",
        "nothing": "nowhere",
    }
    assert (in_use.stat().st_mode & 0o777, kept.stat().st_ino, in_use.stat().st_ino != before) == (0o750, before, True)
    assert sorted(path.name for path in in_use.parent.iterdir() if path.name.startswith(".")) == []


def test_a_folder_that_nobody_had_is_made_with_its_parents(tmp_path: Path) -> None:
    (tmp_path / "new.json").write_text("new")
    target = tmp_path / "a" / "b" / "bank"
    assert replace_folders([NewFolder(target, {"new.json": tmp_path / "new.json"}, lambda _: True)], lambda: None) == []
    assert (contents(target), target.stat().st_mode & 0o777) == ({"new.json": "new"}, 0o755)


@pytest.mark.parametrize("wrong", ["file", "look"])
def test_where_a_new_folder_cannot_be_made_nothing_is_left_of_it(in_use: Path, wrong: str) -> None:
    before, beside = contents(in_use), sorted(path.name for path in in_use.parent.iterdir())

    def see() -> None:
        if wrong == "look":
            raise AdoptError("it changed")

    files = {"new.json": in_use.parent / ("missing.json" if wrong == "file" else "new.json")}
    with pytest.raises(AdoptError, match="the bank in use is unchanged" if wrong == "file" else "it changed"):
        replace_folders([NewFolder(in_use, files, lambda _: True)], see)
    assert contents(in_use) == before
    assert sorted(path.name for path in in_use.parent.iterdir()) == beside
