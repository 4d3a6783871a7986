"""Makes the catalogues that a wheel has (`.mo`) of those that translators write (`.po`)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CatalogueHook(BuildHookInterface[Any]):
    """Puts a `.mo` for every `.po` into the wheel; an editable install reads the `.po` itself."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        folder = Path(self.root, "src", "aoe_reports", "locale")
        sys.path.insert(0, str(folder))
        from po import as_mo  # noqa: PLC0415 -- the package is not installed while it is built

        made = Path(self.directory, "locale")
        made.mkdir(parents=True, exist_ok=True)
        for source in sorted(folder.glob("*.po")):
            compiled = made / f"{source.stem}.mo"
            compiled.write_bytes(as_mo(source.read_text("utf-8")))
            build_data["force_include"][str(compiled)] = f"aoe_reports/locale/{compiled.name}"
