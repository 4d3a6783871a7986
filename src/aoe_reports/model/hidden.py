"""Libraries that other libraries load if they are there, and that no command needs."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec

_hidden: set[str] = set()


class _Hiding:
    @staticmethod
    def find_spec(fullname: str, _path: object, _target: object = None) -> ModuleSpec | None:
        if fullname in _hidden:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def hide(name: str) -> None:
    """From now on a library that is not loaded yet is not to be found in this process."""
    if not _hidden:
        sys.meta_path.insert(0, _Hiding())
    _hidden.add(name)


def show(name: str) -> None:
    """Let a library be found again."""
    _hidden.discard(name)
