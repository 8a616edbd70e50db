"""Results that are plain data: as JSON in the message, or in a file if they are long."""

from __future__ import annotations

import json
from typing import Any

from bot.slack.ui import words
from bot.slack.ui.markdown import code_fence, code_span
from bot.slack.ui.parts import RenderedResult, Upload, written
from bot.text.locales import number
from bot.text.translation import reader_locale

FILE = "result.json"
_MAX_CHARS = 2_800  # shown in full: one block
_PREVIEW_LINES = 12  # of a longer result


def data_pieces(result: dict[str, Any]) -> RenderedResult:
    """Return the result as a code block, or a preview of it and the whole as a file."""
    text = json.dumps(result, ensure_ascii=False, indent=2)
    if len(text) <= _MAX_CHARS:
        return [written(code_fence(text, "json"))], []
    preview = "\n".join(line[:150] for line in text.split("\n")[:_PREVIEW_LINES])
    note = words.DATA_IN_FILE(size=number(len(text), reader_locale()), name=code_span(FILE))
    upload = Upload(FILE, text.encode("utf-8", errors="replace"))
    return [written(note), written(code_fence(f"{preview}\n…", "json"))], [upload]
