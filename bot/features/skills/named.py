"""Skills that a person names in a question: `$refunds`."""

from __future__ import annotations

import re
from collections.abc import Collection

from bot.core.request import Entry, Request

_MOST = 8
_NAMED = re.compile(r"(?<![\w$/\\.-])\$([^\W_][\w.-]*)")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTE = re.compile(r"^[ \t]*(?:>|&gt;).*$", re.MULTILINE)


def named_skills(request: Request, names: Collection[str]) -> list[str]:
    """Return those of the skills `names` that the asker names, in their own words alone.

    A quoted line, code, what a button or a workflow asks, and other words with a $ name none.
    """
    if request.suggested or request.entry is Entry.WORKFLOW_STEP:
        return []
    text = _QUOTE.sub(" ", _CODE.sub(" ", request.text))
    known = {name.casefold(): name for name in names}
    words = (word.rstrip(".-_").casefold() for word in _NAMED.findall(text))
    named = dict.fromkeys(known[word] for word in words if word in known)
    return list(named)[:_MOST]
