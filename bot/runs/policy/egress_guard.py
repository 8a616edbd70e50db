"""The guard on calls that leave: whether one could carry away what the run has read.

A page that is fetched learns its own address, a search provider the words, an MCP server all of its
arguments. Once something private was read, any of these may have been made of it; then a person has
to look at the call first, unless each text in it is known: the asker wrote it, or others did, where a
tool quoted it. Choosing among known texts can spell a secret too, so choices are counted in bits,
over all calls of a run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain, islice, pairwise
from math import ceil, log2
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel
from typing_extensions import override

from bot.agent import prompts
from bot.agent.calls.outputs import marked_text
from bot.agent.hooks.chain import Hooks
from bot.agent.state import FOR_THREAD, LoopState
from bot.core.chain import Item, LedgerEntry
from bot.core.context import current_request
from bot.core.request import Request
from bot.core.text.invisible_text import exact
from bot.runs.policy.access import Policy
from bot.toolkit import Tool, ToolResult

_WEB, _THREAD = "web", "the thread"
_PUBLIC = frozenset({_WEB, "math", "time", "units"})
"""Groups of tools that show nothing but what anybody may see."""

_QUOTING = frozenset({_WEB, "slack", "files"})
"""Groups of tools that show what others wrote, word for word. Elsewhere an address in an output may
be the model's own: written to a file and read again, remembered, or put together in SQL."""
_READING = frozenset(
    {"read_artifact", "search_artifact", "search_document", "outline_document", "check_quote"}
)
_READ_BEFORE = "doc_"
"""Handles of pages and files that were read: no tool makes one of what the model wrote."""

MOST_OF_A_SITE = 2
MOST_QUOTED = 6
MOST_OF_ONES_OWN = 12
"""Calls of a run without a yes, once it has read private data: to quoted addresses of a site, to
quoted addresses in all, and with the asker's own words to one place."""
MOST_CHOSEN = 64
MOST_IN_WORDS = 160
"""Bits that the calls of a run may tell one place without a yes, once it has read private data: by
choosing among values (numbers, what a schema lists, what a server has said itself, dates), and among
the asker's own words. A choice among n tells log2(n) bits."""
_NUMBERS = frozenset({*range(11), 12, 15, 20, 25, 30, 40, 50, 100})
"""Numbers that say how many, or which page; others may be letters."""
_DAYS = 366  # around today, a date is a choice among twice as many
_MOST_CHOICES = 50  # values that a schema lists, as those of an enum
_MOST_SEGMENTS = 4  # of a text that leaves out some of the asker's words
_MOST_EARLIER = 20
_LONGEST_EARLIER = 2_000
"""Earlier questions that a thread keeps of each person, and characters of each."""
_LONGEST_HANDED = 40  # characters that are kept of a word of an approved call
_MOST_REMEMBERED = 1_000_000  # characters of what one server returned
_MOST_QUOTING = 2_000  # addresses that one output brings in
_MOST_GIVEN = 1_000  # texts of a call, and words of them, that addresses are compared with
_MOST_LOOKED_AT = 10_000
"""Characters of places in which a text is looked for. Whoever wrote both chose how often one begins
in the other, and the event loop waits."""

# Bounded in front: outputs hold words of a million letters, and each letter might be the first.
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{0,20}://[^\s<>\"'`|“”„‘’«»]+")
_BETWEEN = re.compile(r"[\s<>\"'`|“”„‘’«»()\[\]]+")
_WORD = re.compile(r"[^\W_]+(?:[-'’.@_][^\W_]+)*")
_ENDS = ".,;:!?)]}*_~…"
_MOST_ENDS = 4
_LONG_PIECE = 3
"""Characters: a shorter piece of an argument counts in an address only as a whole word."""


History = Callable[[], Awaitable[Sequence[LedgerEntry]]]
"""What the thread's conversation holds."""


class EgressGuard(Hooks):
    """Guards one run, which answers `asked`. What earlier runs of the thread read counts as well;
    where nobody knows what that was, it counts as private."""

    name = "egress"

    def __init__(
        self, asked: Callable[[], Sequence[Request]], policy: Policy, history: History | None = None
    ) -> None:
        self._asked = asked
        self._policy = policy
        self._history = history
        self._quoted: set[str] = set()
        self._told: dict[str, str] = {}
        self._read: set[str] = set()
        """Where what the conversation holds came from: people, groups of tools, servers, and the
        thread where that is not known."""
        self._began_clean: set[str] = set()
        self._used: Counter[str] = Counter()
        self._sent: set[tuple[str, str, str]] = set()
        self._earlier: dict[str, list[str]] = {}
        self._handed: list[str] = []
        """Pieces of texts that nobody knew and that servers were told, with a person's yes: a server
        that keeps them may return them as its own."""
        self._is_begun = False
        self._exactly = cache(_earlier)  # every save point asks for the same

    def may_leak(self, tool: Tool, arguments: BaseModel) -> bool:
        """Whether the call could tell somebody outside what the run has read."""
        if not self._guards(tool) or not self._knows_private_data(tool):
            return False
        uses = self._uses(tool, arguments)
        return uses is None or any(self._used[use] + n > most for use, n, most in uses)

    def count(self, tool: Tool, arguments: BaseModel) -> None:
        """Count a call that goes out though nobody looked at it."""
        if self._guards(tool) and self._knows_private_data(tool):
            for use, n, _ in self._uses(tool, arguments) or ():
                self._used[use] += n
            place, given = _place(tool), _leaving(tool, arguments)
            self._sent |= {(place, path, repr(leaf)) for path, leaf in _leaves(given)}

    @override
    async def on_run_start(self, state: LoopState) -> None:
        self._is_begun = True
        self._quoted |= set(map(_same, state.links))
        kept = state.hooks.get(self.name, {})
        self._used.update(kept.get("used", {}))
        before, beside = _around(state)
        goes_on = bool(state.parent or state.turn or state.open or before)
        thread = kept.get(FOR_THREAD)
        if thread is not None:
            self._read |= set(thread["read"])
            self._earlier = {user: [*texts] for user, texts in thread["asked"].items()}
            self._handed = [*thread.get("handed", ())]
        elif goes_on:
            self._read.add(_THREAD)
        if any(map(_is_of_others, beside)):
            self._read.add(_THREAD)
        if goes_on and self._history:
            self._hear_again(await self._history())

    @override
    def memory(self) -> dict[str, Any]:
        if not self._is_begun:
            return {}
        asked = {user: [*texts] for user, texts in self._earlier.items()}
        for each in self._asked():
            texts = asked.setdefault(each.user, [])
            if not each.suggested and (text := self._exactly(each.text)) not in texts:
                texts.append(text)
        read = {*self._read, *(_person(each) for each in self._asked())}
        if any(map(_shows_more, self._asked())):
            read.add(_THREAD)
        thread = {
            "read": sorted(read),
            "asked": {user: texts[-_MOST_EARLIER:] for user, texts in asked.items()},
            "handed": self._handed,
        }
        return {"used": dict(self._used), FOR_THREAD: thread}

    @override
    def may_link(self, tool: Tool, arguments: BaseModel, url: str) -> bool:
        return not tool.is_of_server or not self._made_of(tool, arguments)(url)

    @override
    def on_exposure(self, tool: Tool) -> None:
        if not self._knows_private_data(tool):
            self._began_clean.add(current_request().idempotency_key)
        if tool.is_of_server or tool.group not in _PUBLIC:
            self._read.add(_origin(tool))

    @override
    async def after_tool(self, tool: Tool, arguments: BaseModel, result: ToolResult) -> str:
        if tool.is_of_server:
            self._hear(tool.group, result.content)
            self._hand(tool, arguments)
        sources = {source.url for source in result.sources if source.url}
        if not tool.is_of_server:
            self._quoted |= set(map(_same, sources))
        if not result.own and _quotes(tool, arguments):
            found = (each[0] for each in _ADDRESS.finditer(result.content))
            quoted = {*islice(found, _MOST_QUOTING), *(sources if tool.is_of_server else ())}
            is_made = self._made_of(tool, arguments)
            kept = (each for each in quoted if not is_made(each))
            self._quoted.update(chain.from_iterable(map(_forms, kept)))
        return ""

    def _hand(self, tool: Tool, arguments: BaseModel) -> None:
        is_clean = current_request().idempotency_key in self._began_clean
        if not is_clean and self._knows_private_data(tool) and self._uses(tool, arguments) is None:
            names, sent = _Listed.of(tool).names, _texts(_leaving(tool, arguments))
            told = chain.from_iterable(_telling(text) for text in sent if text not in names)
            pieces = dict.fromkeys((*self._handed, *(each[:_LONGEST_HANDED] for each in told)))
            self._handed = [
                *islice(pieces, _MOST_GIVEN + 1)
            ]  # with more than that nothing is quoted

    def _hear(self, server: str, said: str) -> None:
        told = f"{self._told.get(server, '')}\n{said}"
        self._told[server] = told[-_MOST_REMEMBERED:]

    def _hear_again(self, entries: Sequence[LedgerEntry]) -> None:
        """Take in what servers said in the conversation so far. What stands outside of the marks is
        ours, and may repeat a call."""
        items = [item for entry in entries if not entry.abandoned for item in entry.items]
        called = {
            item.get("call_id"): str(item.get("name"))
            for item in items
            if item.get("type") == "function_call"
        }
        for item in items:
            if item.get("type") == "function_call_output":
                server = _server_of(called.get(item.get("call_id"), ""))
                if server and (said := marked_text(str(item.get("output")))):
                    self._hear(server, said)

    def _guards(self, tool: Tool) -> bool:
        if tool.is_of_server:
            return not any(fnmatchcase(tool.group, each) for each in self._policy.open_servers)
        if tool.sends:
            return not self._policy.open_searches
        return tool.group == _WEB

    def _knows_private_data(self, tool: Tool) -> bool:
        """Whether the run knows what those whom the call reaches may not know. A server knows what
        it said itself."""
        others = self._read - set(map(_person, self._asked()))
        others -= {_origin(tool)} if tool.is_of_server else set()
        return bool(others) or any(map(_shows_more, self._asked()))

    def _uses(self, tool: Tool, arguments: BaseModel) -> list[tuple[str, int, int]] | None:
        """What the call uses up: of what, how much, and how much of it there is. None where the call
        sends a text that nobody knows, or more than there is."""
        found: Counter[str] = Counter()
        place, schema = _place(tool), _Listed.of(tool)
        chosen, words, own = f"chosen:{place}", f"words:{place}", f"own:{place}"
        for path, leaf in _leaves(_leaving(tool, arguments)):
            text = str(leaf)
            url = _address_in(text) if isinstance(leaf, str) else None
            if (bits := schema.bits(path, leaf)) is not None:
                use, n = chosen, bits
            elif "://" not in text and (bits := self._bits_of_own(text)) is not None:
                use, n = words, bits
                found[own] += 1
            elif url is not None and self._is_open(url):
                continue
            elif url is not None and any(_same(url) in _written(each) for each in self._asked()):
                use, n = f"own:{_site(_host(url))}", 1
            elif tool.is_of_server and (bits := self._bits_of_told(tool, text)) is not None:
                use, n = chosen, bits
            elif url is not None and _same(url) in self._quoted:
                use, n = f"quoted:{_site(_host(url))}", 1
            elif _is_date(text):
                use, n = chosen, ceil(log2(2 * _DAYS))
            else:
                return None
            if use in (chosen, words) and (place, path, repr(leaf)) in self._sent:
                use, n = chosen, min(n, 1)  # that it is sent again tells little
            found[use] += n
            if self._used[use] + found[use] > _most(use):
                return None  # the rest is not looked at: there may be very much of it
        names_address = any(each.startswith(("own:", "quoted:")) for each in found)
        found[own] += not names_address  # how often it is called says something too
        found["all quoted"] = sum(n for each, n in found.items() if each.startswith("quoted:"))
        return [(use, n, _most(use)) for use, n in found.items()]

    def _bits_of_own(self, text: str) -> int | None:
        """What it tells to send these words of the asker. None where they are not the asker's."""
        known = [exact(each.text) for each in self._asked() if not each.suggested]
        known += [exact(each.author) for each in self._asked()]
        known += [text for each in self._asked() for text in self._earlier.get(each.user, ())]
        segments = [n for each in known if (n := _segments(text, each))]
        words = sum(len(_WORD.findall(each)) for each in known)
        return ceil(min(segments) * 2 * log2(words + 1)) if segments else None

    def _bits_of_told(self, tool: Tool, text: str) -> int | None:
        """What it tells the server to send what it has said itself. None where it has not."""
        told = self._told.get(tool.group, "")
        if not _stands_in(text, told):
            return None
        ends = 2 if re.search(r"\s", text) else 1
        return ceil(ends * log2(told.count(" ") + told.count("\n") + 2))

    def _is_open(self, url: str) -> bool:
        return any(fnmatchcase(_host(url), each.lower()) for each in self._policy.open_hosts)

    def _made_of(self, tool: Tool, arguments: BaseModel) -> Callable[[str], bool]:
        """Tell addresses that quote nobody: they hold what the call was given. Nothing private can
        stand in a call that began before anything private was read; and who was called at an address
        learns nothing from another one there."""
        given = arguments.model_dump(mode="json")
        whole = [_letters(text) for text in _texts(given)]
        clean = current_request().idempotency_key in self._began_clean
        sent = [] if clean else list(_texts(_leaving(tool, arguments)))
        sites = {_site(_host(url)) for text in sent if (url := _address_in(text))}
        own = {word for each in self._asked() if not each.suggested for word in _pieces(each.text)}
        pieces = {piece for text in sent for piece in _pieces(text)} - own
        if tool.is_of_server:
            pieces |= {*self._handed} - own
        is_too_much = max(len(whole), len(pieces)) > _MOST_GIVEN

        def made(address: str) -> bool:
            if is_too_much:
                return True
            forms = {_letters(_same(address)), _letters(_same(address.rstrip(_ENDS)))}
            if any(form in text for form in forms for text in whole):
                return True
            if _site(_host(address)) in sites and not tool.is_of_server:
                return False
            words, letters = _pieces(address), unquote(address).casefold()
            return any(p in words or (len(p) >= _LONG_PIECE and p in letters) for p in pieces)

        return made


def _origin(tool: Tool) -> str:
    return f"server {tool.group}" if tool.is_of_server else tool.group


def _quotes(tool: Tool, arguments: BaseModel) -> bool:
    """Whether the call shows what others wrote, and nothing else."""
    if tool.name in _READING:
        return str(getattr(arguments, "handle", "")).startswith(_READ_BEFORE)
    return tool.group in _QUOTING or tool.is_of_server


def _shows_more(request: Request) -> bool:
    """Whether the model sees more of it than the words of who asks."""
    images = any(file.media_type.startswith("image/") for file in request.files)
    return images or bool(request.quoted)


def _place(tool: Tool) -> str:
    return tool.group if tool.is_of_server else tool.name


def _server_of(name: str) -> str:
    """The server whose tool has that name; "" for a tool of ours, and where the name is a digest of
    it, which another server's may begin with."""
    server, found, _ = name.partition("__")
    return server if found and "___" not in name else ""


def _earlier(text: str) -> str:
    """Return as much of a question as is kept for later runs, in its one form."""
    return exact(text[:_LONGEST_EARLIER])


def _person(request: Request) -> str:
    return f"user {request.user}"


def _around(state: LoopState) -> tuple[list[Item], list[Item]]:
    """What waits to be sent before the question, and the question with what stands beside it, but
    our own notes."""
    told = [item for item in state.pending if item.get("role") != "developer"]
    at = next((n for n, item in enumerate(told) if item == state.task), len(told))
    return told[:at], told[at:]


def _is_of_others(item: Item) -> bool:
    """Whether a message to the model holds more than the words of who asks."""
    said = item.get("content")
    if not isinstance(said, str):
        return True
    is_remembered = said.startswith(prompts.REMEMBERED)
    return is_remembered or marked_text(said, anywhere=True) != ""


def _leaving(tool: Tool, arguments: BaseModel) -> dict[str, Any]:
    """The arguments that leave. Those that only make an output smaller stay here."""
    given = arguments.model_dump(mode="json")
    if tool.is_of_server or not isinstance(given, dict):
        return given if isinstance(given, dict) else {"": given}
    return {
        name: value
        for name, value in given.items()
        if value is not None and (name in tool.sends or name not in tool.narrowing)
    }


def _texts(value: Any) -> Iterator[str]:
    """All texts and numbers in a JSON value, keys included."""
    for _, leaf in _leaves(value):
        if not isinstance(leaf, bool | dict | list) and leaf not in (None, ""):
            yield str(leaf)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """All keys and values in a JSON value that hold nothing else, with the keys above them."""
    match value:
        case dict() if value:
            for key, each in value.items():
                yield f"{path}.", key
                yield from _leaves(each, f"{path}.{key}")
        case list() if value:
            for each in value:
                yield from _leaves(each, path)
        case _:
            if path or value:
                yield path, value


class _Listed(BaseModel):
    """What the schema of a tool lists: how many names and values there are to choose among."""

    names: frozenset[str]
    required: frozenset[str]
    values: frozenset[str]

    @classmethod
    def of(cls, tool: Tool) -> _Listed:
        names: set[str] = set(tool.arguments.model_fields)
        values: set[str] = set()
        pending: list[Any] = [tool.parameters]
        while pending:
            match pending.pop():
                case dict() as schema:
                    if isinstance(properties := schema.get("properties"), dict):
                        names |= properties.keys()
                        pending += properties.values()
                    for key in ("enum", "const", "default"):
                        listed = schema.get(key)
                        listed = listed if isinstance(listed, list) else [listed]
                        values |= {str(each) for each in listed if each is not None}
                    pending += [each for key, each in schema.items() if key != "properties"]
                case list() as several:
                    pending += several
                case _:
                    pass
        required = tool.parameters.get("required")
        always = [each for each in required if isinstance(each, str)] if required else []
        values = values if len(values) <= _MOST_CHOICES else set()
        return cls(names=names, required=always, values=values)

    def bits(self, path: str, leaf: Any) -> int | None:
        """What choosing `leaf` tells; None for what the schema says nothing of."""
        if path.endswith(".") and leaf in self.names:
            return 0 if path == "." and leaf in self.required else ceil(log2(len(self.names) + 1))
        if leaf is None or isinstance(leaf, bool | dict | list) or leaf == "":
            return 1
        if isinstance(leaf, int) and leaf in _NUMBERS:
            return ceil(log2(len(_NUMBERS)))
        return ceil(log2(len(self.values) + 1)) if str(leaf) in self.values else None


def _most(use: str) -> int:
    kind = use.partition(":")[0]
    bounds = {"quoted": MOST_OF_A_SITE, "all quoted": MOST_QUOTED, "chosen": MOST_CHOSEN}
    return bounds.get(kind, MOST_IN_WORDS if kind == "words" else MOST_OF_ONES_OWN)


def _is_date(text: str) -> bool:
    """Whether `text` is a day of last year, this year or the next."""
    with suppress(ValueError):
        day = date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else date.min
        return abs((day - datetime.now(UTC).date()).days) <= _DAYS
    return False


def _segments(text: str, asked: str) -> int:
    """In how many pieces `text` stands in what the asker wrote: whole, or words of it in their order,
    each at most once, with a space between; as they were written, or all in small letters. 0 for
    anything else: other letters, signs, doubled words or spaces could spell something out."""
    if _stands_in(text, asked):
        return 1
    for written, sent in (
        (asked, text),
        (asked.casefold(), text if text == text.casefold() else ""),
    ):
        words = enumerate(_WORD.findall(written))
        wanted = sent.split(" ") if sent else []
        places = [next((n for n, word in words if word == each), None) for each in wanted]
        if places and places[-1] is not None:  # `words` is used up where one is missing
            breaks = (b != a + 1 for a, b in pairwise(n for n in places if n is not None))
            pieces = 1 + sum(breaks)
            return pieces if pieces <= _MOST_SEGMENTS else 0
    return 0


def _stands_in(text: str, whole: str) -> bool:
    """Whether `text`, letter by letter, stands in `whole` and does not cut a word; not where it would
    have to be looked for too often."""
    at = whole.find(text)
    for _ in range(1 + _MOST_LOOKED_AT // max(len(text), 1)):
        if at < 0:
            return False
        end = at + len(text)
        before, after = whole[at - 1 : at] if at else "", whole[end : end + 1]
        inside = (before + text[0]).isalnum() and before, (text[-1] + after).isalnum() and after
        if not any(inside):
            return True
        at = whole.find(text, at + 1)
    return False


def _address_in(text: str) -> str | None:
    """A text that is one address goes out as it is, whatever letters it has."""
    text = text.strip()
    return text if text and not re.search(r"\s", text) and re.search(r"[.:/]", text) else None


def _written(request: Request) -> set[str]:
    """The addresses in what a person wrote, who may leave out the scheme. The words of a suggestion
    that somebody took up are the model's."""
    text = request.quoted if request.suggested else f"{request.text}\n{request.quoted}"
    words = (word for word in _BETWEEN.split(text) if "." in word)
    found = (*_ADDRESS.findall(text), *words)
    return {form for word in found for form in _forms(word)}


def _forms(address: str) -> set[str]:
    """An address as it stands in a text, and without what may be the sentence's."""
    forms = {_same(address), _same(address.rstrip(_ENDS))}
    for _ in range(_MOST_ENDS):
        if address[-1:] not in _ENDS:
            break
        address = address[:-1]
        forms.add(_same(address))
    return forms


def _same(address: str) -> str:
    """An address as it is compared: without scheme and fragment, the host in small letters."""
    bare = (address.partition("://")[2] or address).partition("#")[0]
    host = re.match(r"[^/?]*", bare)
    assert host is not None  # noqa: S101 - it matches nothing too
    rest = bare[host.end() :]
    return host[0].lower() + rest.removesuffix("/")


def _host(url: str) -> str:
    try:
        return (urlsplit(url if "://" in url else f"//{url}").hostname or "").lower()
    except ValueError:
        return ""


def _site(host: str) -> str:
    """The part of a host that somebody registered, roughly: one who has a name has all below it."""
    labels = host.split(".")
    if host.replace(".", "").isdigit() or ":" in host:
        return host
    is_below_country = len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3
    return ".".join(labels[-3 if is_below_country else -2 :])


def _letters(text: str) -> str:
    """The letters and digits of `text`, however they are written: escaped or in capitals."""
    return "".join(filter(str.isalnum, unquote(text).casefold()))


def _telling(text: str) -> set[str]:
    """The pieces of `text` without those that most addresses have."""
    hosts = map(_host, (*_ADDRESS.findall(text), _address_in(text) or ""))
    return _pieces(text) - {"http", "https", "www", *(each.rpartition(".")[2] for each in hosts)}


def _pieces(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", unquote(text).casefold()))
