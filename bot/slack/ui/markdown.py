"""Rewriting of a model's Markdown: links pass the gate, images are dropped, HTML becomes text.

The text is parsed and written again from its tree, so no notation reaches Slack unchecked. Slack's
`markdown` block honours backslash escapes. A reader that does not is still safe, because addresses
that may not be links are written as code.

While a run works, the part of its text is shown that will never be taken back, without any link: a
word once it is complete, so that an address that arrives in pieces cannot pass the gate; code and
links once their line cannot end them any more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from bot.library.documents.commonmark import MAX_NESTING, parser
from bot.slack.edge.text import clean
from bot.slack.ui.links import Code, Link, LinkGate, Piece, Text, display_address
from bot.text.mentions import Mention
from bot.text.redaction import redacted

_SPECIAL = re.compile(
    r"[\\`*\[\]~|]"  # always
    r"|(?<!\w)_|_(?!\w)"  # not inside a word
    r"|<(?=[A-Za-z/!?@#])"  # would open a tag, an autolink or one of Slack's own entities
    r"|&(?=#?\w+;)"  # would be read as an entity
)
_BACKTICKS = re.compile(r"^(?:%60)+|(?:%60)+$")
_LINE_START = re.compile(r"^(\s*)(#{1,6}(?=\s|$)|[-+=>](?=\s|$)|-{3,}|={2,}|\d{1,9}[.)](?=\s|$))")


# Autolinks stay text: the gate finds them in Markdown's notation and in Slack's.
_PARSER = parser().disable("autolink")


def safe_blocks(text: str, gate: LinkGate) -> list[str]:
    """Return the top-level blocks of a Markdown text, each rewritten and safe to post."""
    tokens = _PARSER.parse(text)
    if any(token.level >= MAX_NESTING for token in tokens):
        return [_text(line, gate) for line in text.split("\n") if line.strip()]
    writer = _Writer(gate)
    written = [writer.write(node) for node in SyntaxTreeNode(tokens).children]
    return [block for block in written if block.strip()]


def safe_markdown(text: str, gate: LinkGate) -> str:
    """Return the whole text, rewritten and safe to post."""
    return "\n\n".join(safe_blocks(text, gate))


def linked(markdown: str) -> frozenset[str]:
    """Return the addresses that a Markdown text links to."""
    inline = (child for token in _PARSER.parse(markdown) for child in token.children or ())
    return frozenset(str(link.attrs["href"]) for link in inline if "href" in link.attrs)


def blocks_of(markdown: str) -> list[str]:
    """Return the blocks of a canvas that can be edited on their own.

    These are list items at any depth, and paragraphs, headings, tables, quotes and code outside
    lists.
    """
    lines = markdown.split("\n")
    spans = [token.map for token in _PARSER.parse(markdown) if token.map and _is_block(token)]
    ends = [*(start for start, _ in spans[1:]), len(lines)]
    pairs = zip(spans, ends, strict=False)  # one end too many for an empty text
    return ["\n".join(lines[start : min(end, next_)]).strip() for (start, end), next_ in pairs]


def _is_block(token: Token) -> bool:
    if token.type == "list_item_open":
        return True
    return token.level == 0 and token.nesting >= 0 and not token.type.endswith("list_open")


def plain_text(markdown: str) -> str:
    """Return a Markdown text without markup, one line per block."""
    blocks = SyntaxTreeNode(_PARSER.parse(markdown)).walk()
    return "\n".join(
        _plain(block) for block in blocks if block.type in ("inline", "fence", "code_block")
    )


def safe_text(text: str, gate: LinkGate) -> str:
    """Return plain text as Markdown: markup is escaped, addresses pass the gate."""
    return _text(" ".join(text.split()), gate)


def escaped(text: str) -> str:
    """Return plain text that contains no addresses as Markdown."""
    text = _SPECIAL.sub(lambda found: f"\\{found[0]}", text)
    return "\n".join(_escape_start(line) for line in text.split("\n"))


def _escape_start(line: str) -> str:
    start = _LINE_START.match(line)
    if not start:
        return line
    mark = start[2]
    safe = f"{mark[:-1]}\\{mark[-1]}" if mark[0].isdigit() else f"\\{mark}"
    return start[1] + safe + line[start.end() :]


def _text(text: str, gate: LinkGate) -> str:
    return join_spans(_piece(piece) for piece in gate.pieces(text))


def join_spans(written: Iterable[str]) -> str:
    """Join inline spans.

    A space separates two code spans: otherwise they would merge into one with other ends, and
    their content, addresses included, would become text.
    """
    whole = ""
    for span in written:
        whole += f" {span}" if whole.endswith("`") and span.startswith("`") else span
    return whole


def _piece(piece: Piece) -> str:
    match piece:
        case Text(text):
            return escaped(text)
        case Code(text):
            return code_span(text)
        case Link(url, label):
            return f"[{escaped(_one_line_label(label))}]({url})"
        case Mention():
            return piece.markup


def _one_line_label(label: str) -> str:
    """Return a label on one line."""
    return " ".join(label.split())


def code_span(text: str) -> str:
    """Return `text` as inline code, with a fence longer than any backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""


def code_fence(text: str, language: str = "") -> str:
    """Return `text` as a code block, with a fence longer than any backticks in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    language = language if re.fullmatch(r"[\w+#.-]{1,30}", language) else ""
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


class _Writer:
    """A writer that turns the nodes of a parsed text back into Markdown."""

    def __init__(self, gate: LinkGate) -> None:
        self._gate = gate
        self._writers: dict[str, Callable[[SyntaxTreeNode], str]] = {
            "paragraph": self._inline,
            "heading": self._heading,
            "bullet_list": self._list,
            "ordered_list": self._list,
            "blockquote": self._quote,
            "fence": lambda node: code_fence(node.content, node.info.partition(" ")[0]),
            "code_block": lambda node: code_fence(node.content),
            "hr": lambda _: "---",
            "table": self._table,
            "inline": lambda node: self._run(node.children),
            "strong": lambda node: _wrapped("**", self._run(node.children)),
            "em": lambda node: _wrapped("_", self._run(node.children)),
            "s": lambda node: _wrapped("~~", self._run(node.children)),
            "code_inline": lambda node: code_span(node.content),
            "softbreak": lambda _: "\n",
            "hardbreak": lambda _: "\n",
            "link": lambda node: self._link(_target(node, "href"), _plain(node)),
            "image": lambda node: self._link(_target(node, "src"), _plain(node)),
        }

    def write(self, node: SyntaxTreeNode) -> str:
        """Return a node as Markdown without surrounding line feeds; unknown kinds as text."""
        writer = self._writers.get(node.type)
        return writer(node) if writer else _text(_plain(node), self._gate)

    def _heading(self, node: SyntaxTreeNode) -> str:
        return f"{'#' * int(node.tag[1:])} {self._one_line(node)}"

    def _quote(self, node: SyntaxTreeNode) -> str:
        return _indented("\n\n".join(map(self.write, node.children)), "> ", "> ")

    def _list(self, node: SyntaxTreeNode) -> str:
        first = int(node.attrs.get("start", 1))
        ordered = node.type == "ordered_list"
        items = []
        for number, item in enumerate(node.children, first):
            mark = f"{number}. " if ordered else "- "
            tight = all(child.type in _TIGHT for child in item.children)
            body = ("\n" if tight else "\n\n").join(map(self.write, item.children))
            items.append(_indented(body, mark, " " * len(mark)))
        return "\n".join(items)

    def _table(self, node: SyntaxTreeNode) -> str:
        rows = [row for part in node.children for row in part.children]
        head, *body = [[self._one_line(cell) for cell in row.children] for row in rows]
        rule = f"|{' --- |' * len(head)}"
        lines = [f"| {' | '.join(row)} |" for row in (head, *body)]
        return "\n".join([lines[0], rule, *lines[1:]])

    def _one_line(self, node: SyntaxTreeNode) -> str:
        return " ".join(self._inline(node).split("\n"))

    def _inline(self, node: SyntaxTreeNode) -> str:
        return join_spans(map(self.write, node.children))

    def _run(self, nodes: list[SyntaxTreeNode]) -> str:
        """Return inline nodes; neighbouring texts are joined so that no address hides at a seam."""
        written: list[str] = []
        pending = ""
        for node in nodes:
            if node.type in ("text", "text_special"):
                pending += node.content
                continue
            written += [_text(pending, self._gate), self.write(node)]
            pending = ""
        return join_spans([*written, _text(pending, self._gate)])

    def _link(self, url: str, label: str) -> str:
        return join_spans(map(_piece, self._gate.link(url, label)))


def _target(node: SyntaxTreeNode, name: str) -> str:
    """Return a link's address without backticks, which models add and the parser percent-encodes."""
    target = str(node.attrs.get(name, ""))
    return _BACKTICKS.sub("", target) or target


_TIGHT = {"paragraph", "bullet_list", "ordered_list"}


def _plain(node: SyntaxTreeNode) -> str:
    """Return the text of an inline node without its formatting."""
    if node.children:
        return "".join(_plain(child) for child in node.children)
    if node.type in ("softbreak", "hardbreak"):
        return " "
    return node.content


def _wrapped(mark: str, text: str) -> str:
    """Return emphasised text; spaces go outside, because emphasis needs marks that touch the text."""
    inner = text.strip()
    if not inner:
        return text
    before, _, after = text.partition(inner)
    return f"{before}{mark}{inner}{mark}{after}"


def _indented(text: str, first: str, others: str) -> str:
    lines = text.split("\n")
    rest = [f"{others}{line}".rstrip() for line in lines[1:]]
    return "\n".join([f"{first}{lines[0]}".rstrip(), *rest])


_HALF_WORD = re.compile(r"\S+\Z")
_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_FENCE = re.compile(r"[ \t]*(?P<marks>```|~~~)[`~]*[ \t]*(?P<language>[\w+#.-]{0,30})")
_SPAN = r"(?<!`)(?P<ticks>`{1,2})(?!`)(?P<code>[^\n]{1,300}?)(?<!`)(?P=ticks)(?!`)"
_LINK = r"!?\[(?P<label>[^\[\]\n]{0,300})\]\(\s*<?(?P<url>[^\s()<>]{1,2000})>?[^()\n]{0,300}\)"
_CLOSED = re.compile(f"{_SPAN}|{_LINK}")
_OPEN = (re.compile(r"`[^\n]{0,310}\Z"), re.compile(r"!?\[[^\[\]\n]{0,300}\Z"))
# 2*3*4 and x**2 emphasise nothing (`bot.text.markdown`).
_SIGNS = r"(?<=[0-9A-Za-z])\*(?=[0-9A-Za-z]|\*[0-9])|(?<=[0-9A-Za-z]\*)\*(?=[0-9])"
# Emphasis, lists and headings are harmless; these open code, links, images, tags and entities.
_INLINE = re.compile(r"[\\`\[\]]|<(?=[A-Za-z/!?@#])|&(?=#?\w+;)|" + _SIGNS)


def streamable(text: str) -> str:
    """Return the part of `text` that is certain, as Markdown without links.

    The result for a longer text always begins with the result for a shorter one.
    """
    # The full stop keeps `clean` from stripping the space that says the last word is whole.
    whole = redacted(_HALF_WORD.sub("", clean(f"{text}.")))
    return join_spans(_blocks(whole))


def _blocks(text: str) -> Iterator[str]:
    """Yield prose, and fenced code line by line."""
    prose, fence = "", ""
    for line in _LINE.findall(text):
        found, is_whole = _FENCE.match(line), line.endswith("\n")
        if not is_whole and (found or not line.strip(" \t`~")):
            break  # the line may become the start or the end of a fence
        if found and fence in ("", found["marks"]):
            yield from _prose(prose)
            yield "```\n" if fence else f"```{found['language']}\n"
            prose, fence = "", "" if fence else found["marks"]
        elif fence:
            yield line.replace("```", "'''")
        else:
            prose += line
    yield from _prose(prose)


def _prose(text: str) -> Iterator[str]:
    """Yield all but the end of the last line that may still become code or a link."""
    last_line = _CLOSED.sub(_masked, text[text.rfind("\n") + 1 :])
    sure = last_line
    for opening in _OPEN:
        start = opening.search(sure)
        sure = sure[: start.start()] if start else sure
    return _inline(text[: len(text) - len(last_line) + len(sure)])


def _masked(found: re.Match[str]) -> str:
    """Mask a complete span in the search for open ones; a label may contain code but no link."""
    return ("x" if found["code"] else "]") * len(found[0])


def _inline(text: str) -> Iterator[str]:
    last = 0
    for span in _CLOSED.finditer(text):
        yield from _words(text[last : span.start()])
        if span["code"]:
            yield code_span(span["code"].strip())
        else:
            yield from _inline(span["label"])
            yield " ("
            yield code_span(display_address(span["url"]))
            yield ")"
        last = span.end()
    yield from _words(text[last:])


def _words(text: str) -> Iterator[str]:
    return map(_written, LinkGate().pieces(text))


def _written(piece: Piece) -> str:
    match piece:
        case Text(text):
            return _INLINE.sub(lambda found: f"\\{found[0]}", text)
        case Code(text):
            return code_span(text)
        case Link() | Mention():  # an empty gate permits none
            return ""
