"""No length of a text holds the bot: what reads one in its process takes time in proportion (A1)."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import ModuleType
from typing import Any

import pytest

import bot
import tools
from bot.text import locales

LENGTH, NOTICED, MOST_TIMES = 6_000, 0.05, 3.0
"""Characters of a text; seconds of CPU from which on a text of half the length is tried, too, and how
many times as long the whole one may take."""

FEW = (" ", "\t", "\n", "a ", "0", "[", "<", "\ufdfa")
MORE = (
    *("0,", "(", "*", "\ud800", "{{tbl_", "a", "-", "_", ".", ",", ":", "/", ">", "{", "|", "`", "~", "&", "@", "#", '"', "'", "\\", "="),
    *("%", "+", "é", "\u3000", "\u200d", "👩\u200d", "a.", "0 ", "<a", "<@", "<!", "[a", "](", "!["),
    *("||", "\n ", " \n", "a\n", "&#", "//", "http://", "https://a ", "www.", "sk-", "eyJ", "a=", "a: "),
    *("-----BEGIN ", "**", "__", "~~", "```", "```\n", "\u0301", "a\u0301", "&lt;", "<think>", '{"a":'),
    *("<tool_call>", "a@", "“", "”", "1,000", "- 1\n", "> ", "> > ", "* a\n", "|a|\n", "<b>", "a_b"),
    *("[^1]", "1. ", "\x1b[", "~a~ ", "[](", "<https://a|", "xoxb-", "=a", "(a", "\u202e", "\x00"),
)  # fmt: skip
PIECES = FEW + MORE if os.environ.get("BOT_ALL_BOMBS") else FEW
ENDS = ("", "x!") if PIECES != FEW else ("x!",)

READERS = ("agent", "core", "features", "model", "runs", "slack", "text", "toolkit")
ELSEWHERE = {"bot.library.isolated.confinement", "bot.core.secret_files", "bot.core.failpoints"}
"""Modules whose functions do something with what a text names."""


def functions() -> Iterator[tuple[str, Callable[[str], object]]]:
    """Every function of the bot's own process that takes one text, by its name."""
    names = [f"bot.{each}" for each in READERS]
    packages: list[ModuleType] = [*map(importlib.import_module, names), tools]
    for package in packages:
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name in ELSEWHERE:
                continue
            module = importlib.import_module(found.name)
            for name, function in vars(module).items():
                if takes_one_text(function) and function.__module__ == found.name:
                    yield f"{found.name}.{name}", function
    yield "figures", lambda text: locales.figures([["a", "b"], ["x", text]], "de-DE")
    yield "in_cents", lambda text: locales.in_cents([["a", "b"], ["x", text]])
    yield "rewritten", lambda text: locales.rewritten(text, "de-DE")


def takes_one_text(function: Any) -> bool:
    if not inspect.isfunction(function) or inspect.iscoroutinefunction(function):
        return False
    needed = [
        each
        for each in inspect.signature(function).parameters.values()
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    return (
        len(needed) == 1
        and needed[0].annotation == "str"
        and needed[0].kind is not needed[0].KEYWORD_ONLY
    )


FUNCTIONS = dict(functions())


def test_there_are_functions_to_try() -> None:
    assert len(FUNCTIONS) > 100
    assert bot.__name__ + ".text.invisible_text.exact" in FUNCTIONS


@pytest.mark.timeout(1200 if len(PIECES) > len(FEW) else 170)
def test_what_reads_a_text_is_done_in_proportion_to_its_length() -> None:
    """reliability 26: 40,000 blanks before a last letter, or a strange name of a time zone, held the
    interpreter, and with it everybody's answers. BOT_ALL_BOMBS=1 tries more pieces."""
    slow = dict[str, str]()
    for name, function in FUNCTIONS.items():
        seconds(function, "x")  # the first call imports and compiles
        for text in (piece * LENGTH for piece in PIECES):
            for end in ENDS:
                took = seconds(function, text[:LENGTH] + end)
                if took < NOTICED:
                    continue
                took = min(seconds(function, text[:LENGTH] + end) for _ in range(3))
                half = seconds(function, text[: LENGTH // 2] + end)
                if took > MOST_TIMES * half:
                    slow[name] = f"{took:.1f} s, and {half:.1f} s for half of {text[:20]!r}…{end}"
            if name in slow:
                break
    assert slow == {}


def seconds(function: Callable[[str], object], text: str) -> float:
    """The CPU time of a call; that it refuses such a text is fine."""
    began = time.thread_time()
    with suppress(Exception):
        result = function(text)
        if isinstance(result, Iterator):
            for _ in result:
                pass
    return time.thread_time() - began
