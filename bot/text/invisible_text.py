"""Invisible text: characters that people cannot see but a model, a server or a page reads.

These are the characters that Unicode calls default-ignorable, bidirectional controls, and other
characters without a glyph. They are kept only where they change what is drawn: inside a well-formed
emoji, and between letters of the scripts that need them.
"""

from __future__ import annotations

import json
import re
import unicodedata

import regex

from bot.text.scanning import scanner

_INVISIBLE = (
    r"[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Noncharacter_Code_Point}\ufff9-\ufffb]"
)
_holds_invisible = scanner(_INVISIBLE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029\x85]")
_ODD_SPACES = regex.compile(r"[\p{Zs}\u2800--\ ]", flags=regex.V1)  # a Braille blank draws nothing
# A run is looked at from its beginning only: from each of its characters would take quadratic time.
_TRAILING_SPACES = re.compile(r"(?<![ \t])[ \t]+$", re.MULTILINE)
_LAST_LINES = re.compile(r"(?<!\n)\n{2,}\Z")
# No script stacks more than 30 marks (UAX #15, Stream-Safe Text); normalising takes quadratic time.
_MARKS = regex.compile(r"(?<=\p{M}{30})\p{M}+")

# Emoji sequences of Unicode 17 (emoji-sequences.txt, emoji-zwj-sequences.txt). A joiner between two
# emoji that do not join is invisible, so the pairs that do join are listed.
_TONE = r"\p{Emoji_Modifier}?+"
_ADULT = rf"[👨👩🧑]{_TONE}"
_OBJECT = "[🌾🍳🍼🎄🎓🎤🎨🏫🏭💻💼🔧🔬🚀🚒🦯🦰🦱🦲🦳🦼🦽🩰]"
_EMOJI = (
    r"[0-9#*]\ufe0f\u20e3",
    r"🏴\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    r"|\U000e0077\U000e006c\U000e0073)\U000e007f",  # England, Scotland, Wales
    rf"{_ADULT}\u200d(?:❤\ufe0f\u200d(?:💋\u200d)?{_ADULT}|🤝\u200d{_ADULT}"
    rf"|(?:{_OBJECT}|[⚕⚖✈]\ufe0f)(?:\u200d➡\ufe0f)?|👯\u200d{_ADULT}|🤼\u200d{_ADULT})",
    r"[👨👩](?:\u200d[👨👩])?(?:\u200d[👧👦]){1,2}",
    r"🧑(?:\u200d🧑)?(?:\u200d🧒){1,2}",
    rf"(?:[\p{{Emoji_Modifier_Base}}👯🤼🧞🧟]{_TONE}|[🕵🏌🏋⛹]\ufe0f)\u200d[♀♂]\ufe0f(?:\u200d➡\ufe0f)?",
    rf"[🚶🏃🧎]{_TONE}\u200d➡\ufe0f|🫱{_TONE}\u200d🫲{_TONE}",
    r"🏳\ufe0f\u200d(?:🌈|⚧\ufe0f)|🏴\u200d☠\ufe0f|❤\ufe0f\u200d[🔥🩹]|👁\ufe0f\u200d🗨\ufe0f",
    r"🐕\u200d🦺|🐈\u200d⬛|🐦\u200d[⬛🔥]|🐻\u200d❄\ufe0f|🍋\u200d🟩|🍄\u200d🟫|⛓\ufe0f\u200d💥",
    r"😮\u200d💨|😵\u200d💫|😶\u200d🌫\ufe0f|🙂\u200d[↔↕]\ufe0f",
    r"[\p{Extended_Pictographic}--\p{Emoji_Presentation}]\ufe0f",  # drawn in colour only with U+FE0F
)
# A joiner counts after a virama, and where it changes how letters join (RFC 5892, appendix A).
_JOINED = (
    r"(?<=\p{ccc=9})[\u200c\u200d](?=\p{L})",
    r"(?<=\p{InSC=Consonant})\u200d(?=\p{ccc=9}\p{L})",
    r"(?<=[\p{jt=D}\p{jt=L}]\p{jt=T}{0,8})\u200c(?=\p{jt=T}{0,8}[\p{jt=D}\p{jt=R}])",
    r"(?<=\p{jt=D}\p{jt=T}{0,8})\u200d(?!\p{jt=T}{0,8}[\p{jt=D}\p{jt=R}])(?=\P{L})",
    r"(?<=\p{Mongolian})[\u180b-\u180f](?=\p{Mongolian}|\b)",
)
_VISIBLE_OR_NOT = regex.compile(
    rf"(?P<visible>{'|'.join((*_EMOJI, *_JOINED))})|{_INVISIBLE}", flags=regex.V1
)


def without_invisible(text: str) -> str:
    """Return `text` without characters that are invisible or change the direction of writing.

    Half a surrogate pair, which nothing can encode, becomes U+FFFD.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if not _holds_invisible(text):
        return text
    return _VISIBLE_OR_NOT.sub(lambda found: found["visible"] or "", text)


def readable(text: str) -> str:
    r"""Return `text` in NFC, with "\n" as line end, without invisible text and control characters.

    Lone surrogates become U+FFFD. Spaces do not change.
    """
    if text.isascii() and not _CONTROL.search(text):
        return text
    text = _CONTROL.sub("", _LINE_ENDS.sub("\n", without_invisible(text)))
    return unicodedata.normalize("NFC", _MARKS.sub("", text))


def exact(text: str) -> str:
    """Return the canonical form of all texts that look like `text`.

    This is `readable` text with plain spaces only, without trailing spaces and empty last lines.
    """
    return _LAST_LINES.sub("\n", _TRAILING_SPACES.sub("", _ODD_SPACES.sub(" ", readable(text))))


def for_terminal(text: str) -> str:
    """Return multi-line `text` for a terminal, with control characters as escapes."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def escaped(text: str) -> str:
    """Return `text` for one line of a terminal, with unprintable characters as escapes.

    The text then cannot move the cursor, change colours, start a new line or be invisible.
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def escaped_json(text: str) -> str:
    """Return equivalent JSON `text` with unprintable characters as JSON escapes."""
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
