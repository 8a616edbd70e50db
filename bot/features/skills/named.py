"""Skills that a person names in a question: `$refunds`."""

from __future__ import annotations

import re
from collections.abc import Collection

from bot.core.request import Entry, Request
from bot.text.code_blocks import FENCED

_MOST = 8
_NAMED = re.compile(r"(?<![\w$/\\.-])\$([^\W_][\w.-]*)")
_CODE = re.compile(rf"{FENCED}|`{{1,2}}[^`\n]+`{{1,2}}", re.DOTALL | re.MULTILINE)
_QUOTE = re.compile(
    r"^[ \t]*(?:(?:>|&gt;){3}[\s\S]*|(?:>|&gt;).*$)", re.MULTILINE
)  # >>> to the end
_ADDRESS = re.compile(r"https?://[^\s>|]*", re.IGNORECASE)


def named_skills(request: Request, names: Collection[str]) -> list[str]:
    """Return those of the skills `names` that the asker names, in their own words alone.

    A quotation, code, an address, what a button or a workflow asks, and other words with a $ name none.
    """
    if request.suggested or request.entry is Entry.WORKFLOW_STEP:
        return []
    text = request.text
    for others in (_CODE, _QUOTE, _ADDRESS):
        text = others.sub(" ", text)
    known = {name.casefold(): name for name in names}
    words = (word.rstrip(".-_").casefold() for word in _NAMED.findall(text))
    named = dict.fromkeys(known[word] for word in words if word in known)
    return list(named)[:_MOST]
