"""The catalogues of the bot's own words: `python -m tests.catalogues` brings them up to date with the
code. A new text has an empty translation until somebody writes it; one that is gone is removed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "bot" / "locales"
LANGUAGES = ("de", "es", "fr", "ja", "pt")
_MARKED = "from bot.text.translation import", "from bot.toolkit import"
_TITLE_OF_MODAL = re.compile(
    r"(?:^|_)(?:TITLE|SUBMIT|CLOSE|CLOSE_ONLY|SKIP|SAVE|SEND|VISITED|ACCEPT)$"
)
_MOST_IN_TITLE = 24  # characters, Slack's limit for titles and buttons of modals
_DATE = datetime(2026, 11, 23, tzinfo=UTC)  # of all catalogues, so that only texts change


@dataclass(frozen=True, slots=True)
class Found:
    """A text in the code. `most` is the number of characters for which Slack has room, 0 for many."""

    english: str
    several: str
    path: str
    most: int

    @property
    def id(self) -> str | tuple[str, str]:
        return (self.english, self.several) if self.several else self.english


@cache
def texts() -> tuple[Found, ...]:
    """Return every text of the code once, in the order of the files."""
    files = [*sorted((ROOT / "bot").rglob("*.py")), *sorted((ROOT / "tools").rglob("*.py"))]
    found = dict[str | tuple[str, str], Found]()
    for file in files:
        source = file.read_text()
        if not any(each in source for each in _MARKED) and "@tool(" not in source:
            continue
        for each in _texts_in(ast.parse(source), str(file.relative_to(ROOT))):
            known = found.get(each.id)
            if known is None or (each.most and not known.most):
                found[each.id] = each
    return tuple(found.values())


def _texts_in(tree: ast.Module, path: str) -> Iterator[Found]:
    names = dict[ast.AST, str]()
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                pairs = (
                    zip(target.elts, statement.value.elts, strict=False)
                    if (isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple))
                    else [(target, statement.value)]
                )
                names |= {value: name.id for name, value in pairs if isinstance(name, ast.Name)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        given = [each.value for each in node.args if isinstance(each, ast.Constant)]
        if node.func.id == "Text" and len(given) == 1:
            is_short = path.startswith(("bot/slack", "bot/features")) and _TITLE_OF_MODAL.search(
                names.get(node, "")
            )
            yield Found(str(given[0]), "", path, _MOST_IN_TITLE if is_short else 0)
        elif node.func.id == "Plural" and len(given) == 2:
            yield Found(str(given[0]), str(given[1]), path, 0)
        elif node.func.id == "tool":
            for each in node.keywords:
                if each.arg == "title" and isinstance(each.value, ast.Constant):
                    yield Found(str(each.value.value), "", path, 0)


def catalogue(language: str) -> Catalog:
    """Return the catalogue as it is stored; an empty one if there is none."""
    file = FOLDER / f"{language}.po"
    if not file.exists():
        return Catalog(locale=language)
    with file.open("rb") as stored:
        return read_po(stored, locale=language)


def brought_up_to_date(language: str) -> Catalog:
    """Return the catalogue with exactly the texts of the code, each with its stored translation."""
    stored = catalogue(language)
    new = Catalog(
        locale=language,
        project="slack-answer-bot",
        version="",
        msgid_bugs_address="",
        charset="utf-8",
        creation_date=_DATE,
        revision_date=_DATE,
        last_translator="the project",
        language_team="the project",
        header_comment="",
        fuzzy=False,
    )
    # A newer Babel may know more forms than the stored translations have.
    new.mime_headers = [("Plural-Forms", stored.plural_forms)]
    for each in texts():
        known: Message | None = stored.get(each.id)
        limit = [f"at most {each.most} characters"] if each.most else []
        new.add(each.id, known.string if known else None, [(each.path, 0)], auto_comments=limit)
    return new


def main() -> None:
    for language in LANGUAGES:
        new = brought_up_to_date(language)  # read before the file is emptied
        with (FOLDER / f"{language}.po").open("wb") as file:
            write_po(file, new, width=100, include_lineno=False)
        missing = sum(not _is_whole(each) for each in catalogue(language) if each.id)
        print(f"{language}: {len(texts())} texts, {missing} not translated")  # noqa: T201 - what the command says


def _is_whole(message: Message) -> bool:
    strings = message.string if isinstance(message.string, tuple) else (message.string,)
    return all(strings)


if __name__ == "__main__":
    main()
