"""Reports as PDF, typeset by Typst, which needs no program and no font of the machine."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.library.documents import glyphs
from bot.library.documents.reports.blocks import Report
from bot.library.documents.results import Unwritable
from bot.library.isolated.scratch import scratch_folder

_TEMPLATE = Path(__file__).with_name("report.typ")
_LONG_WORD = re.compile(r"\S{40}(?=\S)")
_LINK_START = re.compile(r"(?:https?:|ftp:|file:)(?=//)|\bww(?=w\.)", re.IGNORECASE)
"""What viewers take for the beginning of a link; they stop at a place where a word may be broken."""


def pdf(report: Report) -> tuple[bytes, tuple[str, ...]]:
    """Return the PDF, and notes on what was left out. Takes long: call it in a thread.

    Symbols that no font has are left out. Raises Unwritable when no font has some of the letters.
    """
    import typst

    missing = glyphs.missing_glyphs(report.text_content)
    if letters := [each for each in missing if each.isalnum()]:
        raise Unwritable(
            f"No font on this machine has {' '.join(letters[:10])}, so a PDF cannot show them. Share "
            "the report as .docx, which its reader's own fonts show."
        )
    with scratch_folder("report-") as folder:
        template = str(shutil.copy(_TEMPLATE, folder))
        names = {handle: f"{n}.png" for n, handle in enumerate(report.images)}
        for handle, name in names.items():
            (folder / name).write_bytes(report.images[handle])
        data = json.dumps(_template_data(report, names, missing))
        try:
            file = typst.compile(
                template, root=str(folder), font_paths=glyphs.fonts(), sys_inputs={"report": data}
            )
        except typst.TypstError as error:
            if "decode image" not in str(error):
                raise
            raise Unwritable("An image of the report is damaged. Leave it out.") from None
    removed = f"left out, as no font here has them: {' '.join(missing)}"
    return file, (removed,) if missing else ()


def _template_data(report: Report, images: dict[str, str], dropped: list[str]) -> Any:
    """Return the data for the template. Endless words get places where they may be broken."""
    removed = str.maketrans(dict.fromkeys(dropped, ""))
    data = {
        "title": report.title,
        "language": report.language,
        "paper": "us-letter" if report.on_us_letter else "a4",
        "is_wide": report.is_wide,
        "images": images,
        "blocks": [_without_guessed_links(each.model_dump()) for each in report.blocks],
    }
    return _with_text(data, lambda text: _LONG_WORD.sub("\\g<0>\u200b", text.translate(removed)))


def _without_guessed_links(block: dict[str, Any]) -> Any:
    """Return a block in which viewers find no address but those that are links."""
    return _with_text(
        block, lambda text: _LINK_START.sub("\\g<0>\u200b", text), but={"is_link": True}
    )


def _with_text(
    data: Any, change: Callable[[str], str], but: dict[str, object] | None = None
) -> Any:
    """Return JSON with `change` made to all texts but keys, and those of objects with the items of
    `but`."""
    match data:
        case str():
            return change(data)
        case list() | tuple():
            return [_with_text(item, change, but) for item in data]
        case dict() if not but or not but.items() <= data.items():
            return {key: _with_text(item, change, but) for key, item in data.items()}
        case _:
            return data
