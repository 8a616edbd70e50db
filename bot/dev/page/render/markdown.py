"""Standard markdown, from `markdown` blocks and streamed text, to HTML."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup, escape

from bot.dev.page.render.mrkdwn import mrkdwn
from bot.dev.page.render.scene import Scene
from bot.dev.page.render.text import clean, emoji, safe_url

_MENTION = re.compile(r"<[@#!][^<>\n]+>")
_ESCAPED = "\ue000"  # a "<" after a backslash, which starts no mention


def markdown(text: object, scene: Scene) -> Markup:
    """Return HTML for a markdown text: CommonMark with tables and strikethrough.

    Raw HTML is shown as text, and images become links: the page loads nothing from outside.
    """
    html = _PARSER.render(clean(text), {"scene": scene})
    return Markup(html)  # noqa: S704 - markdown-it escapes text and refuses raw HTML


Rule = Callable[[RendererHTML, Sequence[Token], int, Any, dict[str, Any]], str]


def _text(_: RendererHTML, tokens: Sequence[Token], i: int, __: Any, env: dict[str, Any]) -> str:
    parts, last = [], 0
    content = tokens[i].content
    for found in _MENTION.finditer(content):
        parts += [_words(content[last : found.start()]), mrkdwn(found[0], env["scene"])]
        last = found.end()
    return "".join([*parts, _words(content[last:])])


def _words(text: str) -> Markup:
    return escape(emoji(text.replace(_ESCAPED, "<")))


def _mark_escaped(state: StateCore) -> None:
    """Mark escaped "<" characters, before markdown-it turns them into ordinary text."""
    for token in (each for block in state.tokens for each in block.children or ()):
        if token.type == "text_special" and token.content == "<":
            token.content = _ESCAPED


def _link_open(
    renderer: RendererHTML, tokens: Sequence[Token], i: int, options: Any, env: dict[str, Any]
) -> str:
    token = tokens[i]
    if safe_url(token.attrs.get("href")) is None:
        token.attrs.pop("href", None)  # relative and unusual URLs lead nowhere
    else:
        token.attrSet("target", "_blank")
        token.attrSet("rel", "noopener noreferrer")
    return renderer.renderToken(tokens, i, options, env)


def _image(_: RendererHTML, tokens: Sequence[Token], i: int, __: Any, ___: dict[str, Any]) -> str:
    token = tokens[i]
    label = token.content or "image"
    url = safe_url(token.attrs.get("src"))
    if url is None:
        return str(escape(label))
    return Markup('<a href="{}" target="_blank" rel="noopener noreferrer">{}</a>').format(
        url, label
    )


def _table_open(*_: Any) -> str:
    return '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>'


def _table_close(*_: Any) -> str:
    return "</table></div>"


def _cell_open(
    renderer: RendererHTML, tokens: Sequence[Token], i: int, options: Any, env: dict[str, Any]
) -> str:
    """Align cells by class: markdown-it uses a style attribute, which the page's policy refuses."""
    style = str(tokens[i].attrs.pop("style", ""))
    if style:
        tokens[i].attrSet("class", style.replace("text-align:", "align-"))
    return renderer.renderToken(tokens, i, options, env)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    parser.enable(["table", "strikethrough"])
    rules: dict[str, Rule] = {
        "text": _text, "link_open": _link_open, "image": _image, "table_open": _table_open,
        "table_close": _table_close, "th_open": _cell_open, "td_open": _cell_open,
    }  # fmt: skip
    for name, rule in rules.items():
        parser.add_render_rule(name, rule)
    parser.core.ruler.before("text_join", "mark_escaped", _mark_escaped)
    return parser


_PARSER = _parser()
