"""The page's own words in the languages that it offers."""

from pathlib import Path

import yaml

WORDS: dict[str, dict[str, str]] = yaml.safe_load(
    Path(__file__).with_name("words.yaml").read_text("utf-8")
)


def worded(text: str, locale: str, /, **values: object) -> str:
    """Return the page's `text` in the language of a locale, filled in; in English if that lacks it."""
    return WORDS.get(text, {}).get(locale[:2], text).format(**values)
