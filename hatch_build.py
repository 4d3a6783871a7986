"""Makes what a wheel has beside its sources: catalogues (`.mo`) of those that translators write (`.po`), and the compiled reader."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WITHOUT_READER = "AOE_REPORTS_WITHOUT_READER"
"""Set for a wheel that any platform can install, and for an editable install that reads without it, even where it was built before."""
BUILT_READER = "AOE_REPORTS_READER"
"""Set to the path of a reader that was built elsewhere, for this platform: then no Rust is needed here."""
READER = Path("aoe_reports", "formats", "libreader.so")


class MadeFiles(BuildHookInterface[Any]):
    """Puts a `.mo` for every `.po` and, where there is a Rust compiler, the reader into the wheel.

    An editable install reads the `.po` itself; its reader is put among the sources.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        built = self._built_reader()
        if version == "editable":
            place = Path(self.root, "src", READER)
            if built is not None or os.environ.get(WITHOUT_READER):
                place.unlink(missing_ok=True)  # a process that runs keeps the one that it has
            if built is not None:
                shutil.copyfile(built, place)
            return
        if built is not None:
            build_data["force_include"][str(built)] = str(READER)
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        folder = Path(self.root, "src", "aoe_reports", "locale")
        sys.path.insert(0, str(folder))
        from po import as_mo  # noqa: PLC0415 -- the package is not installed while it is built

        made = Path(self.directory, "locale")
        made.mkdir(parents=True, exist_ok=True)
        for source in sorted(folder.glob("*.po")):
            compiled = made / f"{source.stem}.mo"
            compiled.write_bytes(as_mo(source.read_text("utf-8")))
            build_data["force_include"][str(compiled)] = f"aoe_reports/locale/{compiled.name}"

    def _built_reader(self) -> Path | None:
        """The compiled reader; None where it cannot be built, or is not to be: large files are then read more slowly."""
        if os.environ.get(WITHOUT_READER):
            return None
        if built_elsewhere := os.environ.get(BUILT_READER):
            if not Path(built_elsewhere).is_file():
                raise FileNotFoundError(f"{BUILT_READER}: {built_elsewhere}")
            return Path(built_elsewhere).resolve()
        cargo = shutil.which("cargo")
        if cargo is None:
            self.app.display_info("no Rust compiler (cargo): built without the compiled reader")
            return None
        target = Path(self.root, "native", "target")
        command = [cargo, "build", "--release", "--offline", "--locked", "--target-dir", str(target)]
        command += ["--manifest-path", str(Path(self.root, "native", "Cargo.toml"))]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 -- our own
        built = target / "release" / READER.name
        if ended.returncode or not built.exists():
            self.app.display_warning(f"built without the compiled reader:\n{ended.stderr}")
            return None
        return built
