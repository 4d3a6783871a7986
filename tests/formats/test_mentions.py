"""The quick look for a word in a file finds it wherever it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from aoe_reports.formats.trace import mentions

WORD = b"python_function"


@pytest.mark.parametrize("before", [0, 1, 63 - len(WORD), 64 - len(WORD), 65 - len(WORD), 55, 63, 64, 65, 120, 127])
def test_a_word_across_two_blocks_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int) -> None:
    monkeypatch.setattr(mentions, "_BLOCK", 64)
    file = tmp_path / "trace_view.json"
    file.write_bytes(b"p" * before + WORD + b"n" * 70)
    assert mentions.mentions(file, WORD)
    file.write_bytes(b"p" * before + WORD[:-1] + b"N" * 70)
    assert not mentions.mentions(file, WORD)
