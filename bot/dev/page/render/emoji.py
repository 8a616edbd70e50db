"""The characters of emoji shortcodes, under Slack's names."""

import re

from emoji import EMOJI_DATA, STATUS

_OFTEN = (
    "+1 -1 tada heart eyes pray joy clap raised_hands fire rocket 100 white_check_mark x warning question "
    "thinking_face smile slightly_smiling_face wink sob sweat_smile sunglasses robot_face muscle ok_hand wave "
    "point_right handshake sparkles star bulb zap boom bug memo pushpin calendar hourglass bell lock key mag "
    "bar_chart chart_with_upwards_trend chart_with_downwards_trend moneybag package coffee pizza beers"
)
"""What a list of emoji begins with."""
_OF_SLACK = {
    "octagonal_sign": "🛑", "large_green_circle": "🟢", "large_yellow_circle": "🟡",
    "large_orange_circle": "🟠",
}  # fmt: skip
"""Names that only Slack has."""
_SHORT = re.compile(r":([a-z0-9_+-]+):")
_SKIN_TONES = {*"🏻🏼🏽🏾🏿"}


def _named() -> dict[str, str]:
    """Each by all of its names; a short name goes before the full name of another, as in Slack."""
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


def _often_used_first(named: dict[str, str]) -> dict[str, str]:
    """Also by their other names: "thumbsup" stands before "thumbsdown"."""
    often = {name: named[name] for name in _OFTEN.split()}
    places = {character: place for place, character in enumerate(often.values())}
    ranked = sorted(named.items(), key=lambda each: places.get(each[1], len(places)))
    return often | dict(ranked)


EMOJI: dict[str, str] = _often_used_first(_named() | _OF_SLACK)
