"""Takes the pictures of docs/site.md from the example site, with Debian's chromium: python docs/snapshots.py."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "tests"))
from chromium import Chromium  # noqa: E402 -- it is there for the tests
from example import write_example  # noqa: E402

WIDTH, HEIGHT = 1280, 900
MAX_BYTES = 150_000


def main() -> None:
    """Build the site, look at it in light and in dark."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_example(folder / "pages")
        with Chromium(folder / "browser") as browser:
            tab = browser.open_tab()
            for scheme in ("light", "dark"):
                tab.look(WIDTH, HEIGHT, scheme)
                tab.go((folder / "pages" / "index.html").as_uri())
                picture = tab.screenshot("webp", quality=80)
                if len(picture) > MAX_BYTES:
                    raise SystemExit(f"the picture in {scheme} has {len(picture)} bytes, more than {MAX_BYTES}")
                (DOCS / f"site-{scheme}.webp").write_bytes(picture)


if __name__ == "__main__":
    main()
