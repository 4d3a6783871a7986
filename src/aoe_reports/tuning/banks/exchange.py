"""Replaces folders of a bank in use by complete new ones, so that a process that is killed on the way leaves no mixture.

One folder that holds all that differs is exchanged in one step (renameat2). Where there is none (the parts lie behind links or on
several file systems), or names cannot be exchanged, there are several steps. In either case a journal beside the folders says
what is about to happen, and the next run completes what was begun, or takes back what was not.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from aoe_reports.engine.locks import locked_at_once
from aoe_reports.engine.output import exchange_at_once
from aoe_reports.formats.aoe.result_files import read_bytes
from aoe_reports.model.errors import AoeReportsError, of_the_system
from aoe_reports.model.texts import join, say
from aoe_reports.tuning.banks.bank import BankLayout, copy_files

_MAX_JOURNAL_BYTES = 1 << 20
_HALF = say("the bank in use is half old and half new: run adopt again to complete it")


class AdoptError(AoeReportsError):
    """A bank was not put into use as it should; the message says which one is in use."""


@dataclass(frozen=True, slots=True)
class NewFolder:
    """A folder of the bank in use that is to be replaced, and what is to be in it."""

    target: Path
    files: Mapping[str, Path]
    """What comes from the private bank, by its path in the folder."""
    stays: Callable[[str], bool]
    """Whether what is there now under a path stays; what does not is replaced, or goes out of use."""


@dataclass(frozen=True, slots=True)
class Swap:
    """A folder of the bank in use, the complete new one that is to take its place, and the name that the old one gets."""

    target: Path
    fresh: Path
    kept: Path
    existed: bool
    inode: int
    """Of the new folder: it says which of the two has which name. (Not the device: its number may be another after a reboot.)"""

    def is_clear(self) -> bool:
        """Whether the new folder is in use, or lies beside, or was taken away; else nothing tells old from new."""
        places = [_inode(self.target), _inode(self.fresh)].count(self.inode)
        taken_away = not self.fresh.exists() and not self.kept.exists() and self.target.exists() == self.existed
        return places == 1 or (places == 0 and taken_away)

    def done(self) -> bool:
        """Whether the new folder is in use."""
        return _inode(self.target) == self.inode

    def begun(self) -> bool:
        """Whether anything has happened to the folder in use."""
        return self.done() or (self.existed and not self.target.exists() and self.kept.exists())

    def make(self) -> None:
        """Put the new folder into use."""
        if self.done():
            return
        if self.target.exists() and not exchange_at_once(self.fresh, self.target):
            self.target.rename(self.kept)
        if not self.done():
            self.fresh.rename(self.target)

    def take_back(self) -> None:
        """Put the old folder into use again."""
        if self.done() and not (self.existed and self.fresh.exists() and exchange_at_once(self.fresh, self.target)):
            self.target.rename(self.fresh)
        if self.existed and not self.target.exists():
            self.kept.rename(self.target)

    def keep(self) -> None:
        """Give the old folder its name, when the new one is in use."""
        if self.fresh.exists():
            self.fresh.rename(self.kept)

    def take_away(self) -> None:
        """Take away the new folder, which never came into use; what is not ours under its name stays."""
        if _inode(self.fresh) == self.inode:
            shutil.rmtree(self.fresh, ignore_errors=True)


def candidates(layout: BankLayout, soc: str) -> list[Path]:
    """The folders of a bank that may be replaced as a whole: the one that holds all, then its parts. Links to them stay."""
    places = [layout.operators_root]
    if layout.graphs_by_soc:
        places = [layout.operators_root.parent, layout.operators(soc), layout.graphs(soc)]
    return [Path(os.path.realpath(place)) for place in places]


def holds_all(layout: BankLayout, soc: str) -> bool:
    """Whether the first candidate holds both parts, and its name can be exchanged."""
    whole, *parts = candidates(layout, soc)
    roots = (layout.operators_root, layout.graphs_root)
    places = [whole / root.name / soc for root in roots]
    return (
        layout.operators_root.parent == layout.graphs_root.parent
        and places == parts
        and not _is_mounted(whole)
        and (not whole.exists() or os.access(whole.parent, os.W_OK | os.X_OK))
    )


def _is_mounted(folder: Path) -> bool:
    """Whether a file system is mounted at a folder or below it: it would go with the old folder."""
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return os.path.ismount(folder)
    places = [line.split()[4].replace("\\040", " ") for line in lines]  # proc(5): a space is written as \040
    return any(Path(place).is_relative_to(folder) for place in places)


def locked_bank(layout: BankLayout, soc: str) -> contextlib.AbstractContextManager[None]:
    """Be the only one who replaces folders of a bank; BusyError where somebody does. Nothing is written for it."""
    place = candidates(layout, soc)[0].parent
    while not place.is_dir():
        place = place.parent
    busy = say(
        "{operators_root}: another adopt is replacing this bank; only one is allowed at a time",
        operators_root=layout.operators_root,
    )
    return locked_at_once(place, busy)


def replace_folders(folders: Sequence[NewFolder], see: Callable[[], None]) -> list[Path]:
    """Put new folders into use, all or none; where the old ones are kept is returned. `see` looks a last time before.

    AdoptError where it does not come to its end: its message says which bank is in use.
    """
    swaps: list[Swap] = []
    target = folders[0].target
    journal = _journal_of(target)
    try:
        for folder in folders:
            swaps += [_stage(folder)]
        see()
        _write_journal(journal, swaps)
    except BaseException as error:
        _take_away(journal, swaps)
        if isinstance(error, OSError):
            raise _failure(error, target, say("the bank in use is unchanged")) from error
        raise
    try:
        for swap in swaps:
            swap.make()
    except BaseException as error:
        state = _taken_back(journal, swaps)
        if isinstance(error, OSError):
            raise _failure(error, target, state) from error
        raise
    return _named(journal, swaps)


def _named(journal: Path, swaps: Sequence[Swap]) -> list[Path]:
    try:
        for swap in swaps:
            swap.keep()
        journal.unlink()
        _synchronise(journal.parent)
    except OSError as error:
        old = [swap.kept if swap.kept.exists() else swap.fresh for swap in swaps if swap.existed]
        text = say("the new bank is in use; run adopt again")
        if old:
            paths = " ".join(map(str, old))
            text = say("the new bank is in use, the previous one is at {paths}; run adopt again", paths=paths)
        raise _failure(error, journal, text) from error
    return [swap.kept for swap in swaps if swap.existed]


def _taken_back(journal: Path, swaps: Sequence[Swap]) -> str:
    """Put the old folders into use again; which bank is in use then."""
    try:
        for swap in reversed(swaps):
            swap.take_back()
    except OSError:
        if any(swap.begun() for swap in swaps):
            return _HALF
    _take_away(journal, swaps)
    return say("the bank in use is unchanged")


def _take_away(journal: Path, swaps: Sequence[Swap]) -> None:
    with contextlib.suppress(OSError):
        for swap in swaps:
            swap.take_away()
        for path in (_part_of(journal), journal):
            path.unlink(missing_ok=True)


def _failure(error: OSError, where: Path, state: str) -> AdoptError:
    why = of_the_system(error.strerror) if error.strerror else str(error)
    if isinstance(error, shutil.Error):
        _, where, why = error.args[0][0]  # the first of the files that could not be copied
    return AdoptError(say("{where}: {why}; {state}", where=error.filename or where, why=why, state=state))


# What an earlier run left


@dataclass(frozen=True, slots=True)
class Left:
    """What earlier runs left: a replacement that was begun or only prepared, and folders that nothing uses."""

    journal: Path | None = None
    swaps: tuple[Swap, ...] = ()
    copies: tuple[Path, ...] = ()
    """Copies that never came into use."""

    @property
    def clear(self) -> bool:
        """Whether it can be told which folders are the old and which are the new ones; else nothing is moved or deleted."""
        return all(swap.is_clear() for swap in self.swaps)

    @property
    def begun(self) -> bool:
        """Whether the replacement was begun: then it is completed."""
        return any(swap.begun() for swap in self.swaps)


def look_for_left(layout: BankLayout, soc: str) -> Left:
    """What earlier runs left beside the folders of a bank."""
    places = candidates(layout, soc)
    journal = next((path for path in map(_journal_of, places) if path.exists()), None)
    swaps = _read_journal(journal, places) if journal is not None else ()
    copies: list[Path] = []
    for place in places:
        with contextlib.suppress(OSError):
            copies += sorted(path for path in place.parent.iterdir() if path.name.startswith(f".{place.name}.adopt-"))
    ours = {swap.fresh for swap in swaps}
    return Left(journal, swaps, tuple(path for path in copies if path not in ours))


def see_whole(layout: BankLayout, soc: str) -> None:
    """AdoptError where the bank in use may be half an old and half a new one."""
    left = look_for_left(layout, soc)
    if not left.clear:
        raise AdoptError(say("{path}: {text}", path=left.journal, text=describe_unclear(left)))
    if left.begun:
        raise AdoptError(say("{path}: an adopt was interrupted; run adopt again to complete it", path=left.journal))


def describe_unclear(left: Left) -> str:
    """What has to be looked at where nothing tells the old folders from the new ones."""
    names = [str(path) for swap in left.swaps for path in (swap.target, swap.fresh, swap.kept) if path.exists()]
    return say(
        "an adopt run was interrupted, and the folders differ from those that it recorded: the old folders "
        "cannot be identified, and nothing is moved or deleted; check {names}, then delete the journal",
        names=join(", ", names),
    )


def complete_left(left: Left) -> list[Path]:
    """Complete a replacement that was begun, take back one that was only prepared, take away copies; the old folders of the former."""
    for path in left.copies:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    if left.journal is None:
        return []
    if not left.begun:
        _take_away(left.journal, left.swaps)
        return []
    try:
        for swap in left.swaps:
            swap.make()
    except OSError as error:
        raise _failure(error, left.journal, _HALF) from error
    return _named(left.journal, left.swaps)


# The journal


def _journal_of(target: Path) -> Path:
    return target.with_name(f".{target.name}.adopt.json")


def _part_of(journal: Path) -> Path:
    """The journal while it is being written: named like a copy that never came into use."""
    return journal.with_name(f"{journal.name.removesuffix('.json')}-journal")


def _write_journal(journal: Path, swaps: Sequence[Swap]) -> None:
    """Record what is about to happen, for the next run."""
    text = json.dumps({"format_version": 1, "swaps": [asdict(swap) for swap in swaps]}, default=os.fspath)
    part = _part_of(journal)
    with part.open("w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.rename(journal)
    _synchronise(journal.parent)


def _read_journal(journal: Path, places: Sequence[Path]) -> tuple[Swap, ...]:
    """What a journal says; AdoptError for what is none: it names folders of this bank only."""
    try:
        swaps = tuple(
            Swap(Path(one["target"]), Path(one["fresh"]), Path(one["kept"]), one["existed"] is True, int(inode))
            for one in json.loads(read_bytes(journal, _MAX_JOURNAL_BYTES))["swaps"]
            # journals of older versions have the device before it
            for inode in [one["inode"][1] if isinstance(one["inode"], list) else one["inode"]]
        )
    except (ValueError, TypeError, LookupError, RecursionError):
        swaps = ()
    if not swaps or not all(_is_ours(swap, places) for swap in swaps):
        raise AdoptError(
            say("{path}: not the journal of an adopt; check the folders beside it, then delete it", path=journal)
        )
    return swaps


def _is_ours(swap: Swap, places: Sequence[Path]) -> bool:
    name = swap.target.name
    return (
        swap.target in places
        and swap.fresh == swap.target.with_name(swap.fresh.name)
        and swap.kept == swap.target.with_name(swap.kept.name)
        and swap.fresh.name.startswith(f".{name}.adopt-")
        and swap.kept.name.startswith(f"{name}.backup-")
    )


# Staging


def _stage(folder: NewFolder) -> Swap:
    """Make the complete new folder beside the one in use."""
    target = folder.target
    existed = target.is_dir()
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.adopt-"))

    def going(place: str, names: Sequence[str]) -> list[str]:
        below = PurePosixPath(place).relative_to(target)
        return [name for name in names if not folder.stays((below / name).as_posix())]

    try:
        if existed:
            shutil.copytree(target, fresh, symlinks=True, dirs_exist_ok=True, ignore=going)
        copy_files(folder.files, fresh)
        if existed:
            shutil.copystat(target, fresh)
        else:
            fresh.chmod(0o755)
        _synchronise_all(fresh)
        names = (target.with_name(f"{target.name}.backup-{number:03d}") for number in itertools.count(1))
        kept = next(name for name in names if not name.exists())
        return Swap(target, fresh, kept, existed, fresh.lstat().st_ino)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def _inode(path: Path) -> int | None:
    try:
        return path.lstat().st_ino
    except OSError:
        return None


def _synchronise_all(folder: Path) -> None:
    """Flush a folder and everything in it to the disk."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                _synchronise(path)
        _synchronise(Path(place))


def _synchronise(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
