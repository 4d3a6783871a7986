"""The one place where files leave: whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, data: str | bytes) -> None:
    """Write a file so that nobody ever sees half of it; a pipe or a device is written to, not replaced."""
    path = Path(os.path.realpath(path))
    content = data if isinstance(data, bytes) else data.encode("utf-8", "replace")
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("wb") as file:
            file.write(content)
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
