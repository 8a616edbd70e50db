"""A result that is data: as JSON in the message, or in a file when it is long."""

from __future__ import annotations

import json
from typing import Any

from bot.core.text.locales import number
from bot.slack.render import words
from bot.slack.render.markdown import code_fence, code_span
from bot.slack.render.parts import Drawn, Upload, written

FILE = "result.json"
_MOST = 2_800  # characters shown: one block
_BEGINNING = 12  # lines shown of more


def data_pieces(result: dict[str, Any], locale: str) -> Drawn:
    """All of it in a code block, or its beginning with the whole as a file."""
    text = json.dumps(result, ensure_ascii=False, indent=2)
    if len(text) <= _MOST:
        return [written(code_fence(text, "json"))], []
    beginning = "\n".join(line[:150] for line in text.split("\n")[:_BEGINNING])
    note = words.DATA_IN_FILE.format(size=number(len(text), locale), name=code_span(FILE))
    upload = Upload(FILE, text.encode("utf-8", errors="replace"))
    return [written(note), written(code_fence(f"{beginning}\n…", "json"))], [upload]
