"""Fonts and colours of charts: Chinese where a font for it is installed, colours for colour-blind readers."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from matplotlib import font_manager

from aoe_reports.present.values import plain

BLUE, RED, GREY = "#0072B2", "#D55E00", "#555555"
ORANGE, GREEN, SKY, PINK = "#E69F00", "#009E73", "#56B4E9", "#CC79A7"
"""The palette of Okabe and Ito, safe for colour-blind readers."""

_CJK = ("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN",
        "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Microsoft YaHei", "SimHei", "PingFang SC", "Heiti SC",
        "Noto Serif CJK SC", "Noto Serif CJK JP", "Droid Sans Fallback", "Arial Unicode MS")  # fmt: skip
_CJK_FILE = re.compile(
    r"cjk|sourcehan|notosanssc|wqy|msyh|simhei|pingfang|heiti|droidsansfallback|arialuni", re.IGNORECASE
)


@cache
def fallbacks() -> tuple[str, ...]:
    """The first font for Chinese that is installed; matplotlib's own list may be older than the font."""
    known = {font.name for font in font_manager.fontManager.ttflist}
    if known.isdisjoint(_CJK):
        for path in sorted(font_manager.findSystemFonts()):
            if _CJK_FILE.search(Path(path).name):
                try:
                    font_manager.fontManager.addfont(path)
                except (OSError, RuntimeError, ValueError):  # a font file that is damaged is none
                    continue
        known = {font.name for font in font_manager.fontManager.ttflist}
    return tuple(name for name in _CJK if name in known)[:1]


@cache
def glyphs() -> frozenset[int]:
    """All characters that can be drawn."""
    names = ("DejaVu Sans", *fallbacks())
    fonts = (font_manager.get_font(font_manager.findfont(name)) for name in names)
    return frozenset(code for font in fonts for code in font.get_charmap())


def drawable(text: str) -> str:
    """Text without control characters; what no font can draw is spelled out as they are, not drawn as boxes."""
    known = glyphs()
    return "".join(char if ord(char) in known else f"\\x{ord(char):02x}" for char in plain(text))
