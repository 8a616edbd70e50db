"""Fonts and glyphs: which characters a PDF or the image of a chart can show, with the fonts that come
with Matplotlib and Typst and those of the machine."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typst

_LAST_RESORT_RATIO = 20
"""Characters per glyph of a last-resort font; a font for reading has about one."""

_REGULAR = 400
"""The weight of a regular font."""

_INVISIBLE = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Me", "Cn", "Co", "Cs"})


@cache
def fonts() -> typst.Fonts:
    """Return all fonts for PDFs: Typst's own, Matplotlib's, and those of the machine."""
    import typst

    return typst.Fonts(font_paths=[_bundled_folder()])


def missing_glyphs(text: str) -> list[str]:
    """Return the characters that no font has, each once, in the order of `text`."""
    return fonts_for(text)[1]


def fonts_for(text: str, *, bitmaps: bool = True) -> tuple[list[Path], list[str]]:
    """Return the fonts that draw `text`, DejaVu Sans first, and the characters that no font has.
    Without `bitmaps`, only outline fonts count."""
    wanted = dict.fromkeys(c for c in text if unicodedata.category(c) not in _INVISIBLE)
    used: list[Path] = []
    for path in _paths():
        if used and not wanted:
            break
        known = _code_points(path, bitmaps)
        if not used or any(ord(each) in known for each in wanted):
            used.append(path)
        wanted = {each: None for each in wanted if ord(each) not in known}
    return used, list(wanted)


def _paths() -> Iterator[Path]:
    """Yield DejaVu first: it is nearly always enough, and reading all fonts of a machine is slow.

    Then regular fonts, before bold, slanted and narrow ones: a machine may have 18 of a family.
    """
    yield _bundled_folder() / "DejaVuSans.ttf"
    others = sorted(
        fonts().fonts(),
        key=lambda each: (each.weight != _REGULAR, each.style != "normal", each.stretch != 1.0),
    )
    yield from (Path(path) for path in dict.fromkeys(each.path for each in others) if path)


def _bundled_folder() -> Path:
    """Return Matplotlib's font folder: DejaVu has Latin, Greek, Cyrillic, Arabic, Hebrew, symbols."""
    import matplotlib as mpl

    return Path(mpl.get_data_path()) / "fonts" / "ttf"


@cache
def _code_points(path: Path, bitmaps: bool) -> frozenset[int]:
    """Return the code points that a font draws; none for a last-resort font (Matplotlib and macOS
    have one), which draws the same few boxes for all of Unicode."""
    from fontTools.ttLib import TTFont, TTLibError

    try:
        with TTFont(path, fontNumber=0, lazy=True) as font:
            glyphs = font.getBestCmap() or {}
            has_outlines = "glyf" in font or "CFF " in font or "CFF2" in font
    except (TTLibError, OSError):
        return frozenset()
    is_last_resort = len(glyphs) > _LAST_RESORT_RATIO * len(set(glyphs.values()))
    can_draw = not is_last_resort and (has_outlines or bitmaps)
    return frozenset(glyphs) if can_draw else frozenset()
