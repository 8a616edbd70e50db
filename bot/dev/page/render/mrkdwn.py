"""Slack's mrkdwn to HTML.

The source has `&amp; &lt; &gt;` for literal characters and `<…>` for links and mentions
(https://docs.slack.dev/messaging/formatting-message-text). Finished pieces are put in a stash, and
`U+E000 n U+E001` replaces them in the text until the end, so that no later rule changes them.
"""

import re
from collections.abc import Callable

from markupsafe import Markup, escape

from bot.dev.page.render.scene import Scene
from bot.dev.page.render.text import clean, emoji, link, safe_url

_PRE = re.compile(r"```\n?(.+?)\n?```", re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_TOKEN = re.compile(r"<([^<>\n]+)>")
_BARE_URL = re.compile(r"https?://[^\s<>|\ue000\ue001]+")
_DATE = re.compile(r"date\^(\d{1,12})\^")
_TRAILING = ".,;:!?)]}'\"*_~"
_STASHED = re.compile("\ue000(\\d+)\ue001")
_STYLES = [
    (re.compile(rf"(?<![\w{m}]){m}(?=\S)([^{m}\n]+?)(?<=\S){m}(?![\w{m}])"), tag)
    for m, tag in ((r"\*", "strong"), ("_", "em"), ("~", "del"))
]
_QUOTE = re.compile(r"(?:^&gt; ?.*(?:\n|$))+", re.MULTILINE)
HIDDEN = "🔒 private channel"  # Slack's words for a channel that the viewer cannot see
_BROADCASTS = {"here": "@here", "channel": "@channel", "everyone": "@everyone"}


def mrkdwn(text: object, scene: Scene) -> Markup:
    """Return HTML for a mrkdwn text. Only http, https and mailto become links."""
    stash: list[str] = []

    def keep(html: str) -> str:
        stash.append(html)
        return f"\ue000{len(stash) - 1}\ue001"

    source = clean(text).replace("\r\n", "\n")
    source = _PRE.sub(lambda m: keep(Markup("<pre>{}</pre>").format(_literal(m[1]))), source)
    source = _CODE.sub(lambda m: keep(Markup("<code>{}</code>").format(_literal(m[1]))), source)
    source = _TOKEN.sub(lambda m: keep(_token(m[1], scene)), source)
    source = _BARE_URL.sub(lambda m: _bare_url(m[0], keep), source)
    html = _styled(str(escape(emoji(_literal(source)))))
    html = _QUOTE.sub(_quote, html).replace("\n", "<br>")
    while _STASHED.search(html):  # a label may hold code that was stashed before it
        html = _STASHED.sub(lambda m: stash[int(m[1])], html)
    html = html.replace("</pre><br>", "</pre>")  # a code block ends its line anyway
    return Markup(html)  # noqa: S704 - every piece above was escaped on its way in


def _literal(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _styled(html: str) -> str:
    for pattern, tag in _STYLES:
        html = pattern.sub(rf"<{tag}>\1</{tag}>", html)
    return html


def _quote(match: re.Match[str]) -> str:
    lines = [re.sub(r"^&gt; ?", "", line) for line in match[0].splitlines()]
    return "<blockquote>" + "<br>".join(lines) + "</blockquote>"


def _token(inner: str, scene: Scene) -> Markup:
    target, _, label = inner.partition("|")
    if target.startswith("@"):
        return _mention("@" + (scene.people.get(target[1:]) or label or target[1:]), "mention")
    if target.startswith("#"):
        name = scene.channels.get(target[1:])
        if name is not None:
            return _channel_link(target[1:], name)
        return _mention(f"#{label}" if label else HIDDEN, "channel")
    if target.startswith("!"):
        return _special(target[1:], label)
    if safe_url(_literal(target)) is None:
        return escape(_literal(label or f"<{inner}>"))
    shown = emoji(_literal(label)) if label else _literal(target).removeprefix("mailto:")
    return link(_literal(target), escape(shown))


def _special(command: str, label: str) -> Markup:
    if command in _BROADCASTS:
        return _mention(_BROADCASTS[command], "mention broadcast")
    if command.startswith("subteam^"):
        return _mention(label or "@group", "mention")
    if date := _DATE.match(command):  # the page's script fills in the reader's local time
        return Markup('<time data-ts="{}" data-day>{}</time>').format(date[1], _literal(label))
    return escape(_literal(label or command))


def _mention(text: str, kind: str) -> Markup:
    return Markup('<span class="{}">{}</span>').format(kind, _literal(text))


def _channel_link(channel: str, name: str) -> Markup:
    """Return a link to a channel that the viewer is in."""
    shown = (
        '<a class="channel" href="/?channel={0}" data-do="open" data-channel-link="{0}">#{1}</a>'
    )
    return Markup(shown).format(channel, _literal(name))  # noqa: S704 - format escapes


def _bare_url(url: str, keep: Callable[[str], str]) -> str:
    address = url.rstrip(_TRAILING)
    if "(" in address and url[len(address) :].startswith(")"):
        address += ")"
    shown = _literal(address)
    return keep(link(shown, escape(shown))) + url[len(address) :]
