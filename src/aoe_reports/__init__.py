"""What msprof and the Ascend Optimization Engine leave behind: read, checked, stored, compared.

`__init__.pyi` lists the public names. Each is imported when it is first used, and the list itself is read then: importing the
package costs nothing.
"""

from functools import cache
from importlib import import_module
from typing import Any


@cache
def _modules() -> dict[str, str]:
    """The module of each public name: a line of the list is `from .module import name as name`."""
    from pathlib import Path  # noqa: PLC0415 -- it takes milliseconds

    lines = Path(__file__).with_name("__init__.pyi").read_text(encoding="utf-8").splitlines()
    return {name: module for _, module, _, name, *_ in map(str.split, lines)}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if name not in _modules():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_modules()[name], __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted(_modules())
