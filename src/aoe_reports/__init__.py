"""What msprof and the Ascend Optimization Engine leave behind: read, checked, stored, compared.

`__init__.pyi` lists the public names. Each is imported when it is first used, and the list itself is read then: importing the
package costs nothing.
"""

from functools import cache
from typing import Any


@cache
def _public() -> Any:
    from lazy_loader import attach_stub  # noqa: PLC0415 -- it takes a millisecond, and so does the list

    return attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    find, _, names = _public()
    return list(names) if name == "__all__" else find(name)


def __dir__() -> list[str]:
    return list(_public()[2])
