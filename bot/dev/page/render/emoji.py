"""Emoji by their Slack shortcodes."""

import re

from emoji import EMOJI_DATA, STATUS

_SLACK_ONLY = {
    "octagonal_sign": "🛑", "large_green_circle": "🟢", "large_yellow_circle": "🟡",
    "large_orange_circle": "🟠",
}  # fmt: skip
"""Emoji whose names only Slack has."""
_SHORT = re.compile(r":([a-z0-9_+-]+):")
_SKIN_TONES = {*"🏻🏼🏽🏾🏿"}


def _by_name() -> dict[str, str]:
    """Return every emoji by all of its names; as in Slack, a short name wins over a full one."""
    plain = {
        character: about
        for character, about in EMOJI_DATA.items()
        if about["status"] <= STATUS["fully_qualified"] and not _SKIN_TONES & {*character}
    }
    full = ((about["en"], character) for character, about in plain.items())
    short = ((n, character) for character, about in plain.items() for n in about.get("alias", ()))
    return {
        name[1]: character
        for each, character in (*full, *short)
        if (name := _SHORT.fullmatch(each))
    }


EMOJI: dict[str, str] = _by_name() | _SLACK_ONLY
