"""Names of what must never be typed into Slack, where others may read it later."""

from __future__ import annotations

import re
import unicodedata

_SECRET = re.compile(
    r"\b(pass ?(word|phrase|code)s?|passwort|kennwort|mot de passe|contraseña|senha|пароль"
    r"|api ?keys?|secrets?|pin|cvv2?|cvc2?|otp|credit card|card number|(six|6) digits?"
    r"|(one ?time|verification|recovery|login|security|access|2 ?fa) (code|key|token)s?)\b|\btoken$"
    r"|パスワード|暗証番号|密码"
)


def secret_named_in(text: str) -> str:
    """Return the word by which a name, a label or a question asks for a secret, or "".

    Who means harm finds other words.
    """
    found = _SECRET.search(_as_words(text))
    return found[0] if found else ""


def _as_words(name: str) -> str:
    """Return a name as lower-case words: `apiKey`, `api_key` and "API key" are the same."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", unicodedata.normalize("NFKC", name))
    return re.sub(r"[\W_]+", " ", spaced.casefold()).strip()
