"""The egress guard: decides whether an outgoing call could leak private data that the run has read.

A fetched page learns its own address, a search provider the query, an MCP server all arguments. Once
a run has read private data, any of these may contain it. A person must then approve the call, unless
every text in it is known: the asker wrote it, or a tool quoted it from others. Choosing among known
texts can also spell out a secret, so choices are counted in bits over all calls of a run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
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
from bot.agent.hooks.chain import Addition, Hooks, Permission
from bot.agent.state import FOR_THREAD, LoopState
from bot.core.chain import Item, LedgerEntry
from bot.core.context import current_request
from bot.core.request import Request
from bot.runs.policy.access import Policy
from bot.text.invisible_text import exact
from bot.toolkit import Tool, ToolResult

_WEB, _THREAD = "web", "the thread"
_READING = frozenset(
    {"read_artifact", "search_artifact", "search_document", "outline_document", "check_quote"}
)
_READ_BEFORE = "doc_"
"""The prefix of handles of pages and files that were read. In outputs of other tools that do not
quote, an address may be the model's own: written to a file and read again, remembered, or built in
SQL."""

MOST_OF_A_SITE = 2
MOST_QUOTED = 6
MOST_OF_ONES_OWN = 12
"""Calls of a run without an approval, once it has read private data: to quoted addresses of one site,
to quoted addresses in total, and with the asker's own words to one destination."""
MOST_CHOSEN = 64
MOST_IN_WORDS = 160
"""Bits that a run's calls may reveal to one destination without an approval, once it has read private
data: by choosing among values (numbers, values in a schema, texts from the server itself, dates), and
among the asker's own words. A choice among n reveals log2(n) bits."""
_NUMBERS = frozenset({*range(11), 12, 15, 20, 25, 30, 40, 50, 100})
"""Numbers that are plausible as counts or pages; other numbers may encode letters."""
_FREE = ""  # the allowance of what may be sent without limit
_DAYS = 366  # around today, a date is a choice among twice as many
_MOST_CHOICES = 50  # values that a schema lists, such as an enum's
_MOST_SEGMENTS = 4  # pieces of the asker's words in a text that skips some of them
_MOST_EARLIER = 20
_LONGEST_EARLIER = 2_000
"""Earlier questions of each person that a thread keeps, and characters of each."""
_LONGEST_SENT_PIECE = 40  # characters that are kept of each word of an approved call
_MOST_REMEMBERED = 1_000_000  # characters of what one server returned
_MOST_QUOTING = 2_000  # addresses accepted from one output
_MOST_COMPARED = 1_000  # texts of a call, and words in them, that addresses are compared with
_MOST_SEARCHED = 10_000
"""Characters compared while a text is searched for. The author of both texts controls the number of
partial matches, and the search blocks the event loop."""

# The scheme's length is bounded: in a word of a million letters, each could begin a match.
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{0,20}://[^\s<>\"'`|“”„‘’«»]+")
_SEPARATORS = re.compile(r"[\s<>\"'`|“”„‘’«»()\[\]]+")
_WORD = re.compile(r"[^\W_]+(?:[-'’.@_][^\W_]+)*")
_TRAILING = ".,;:!?)]}*_~…"
_MOST_TRAILING = 4
_LONG_PIECE = 3
"""Characters: a shorter piece of an argument counts in an address only as a whole word."""


History = Callable[[], Awaitable[Sequence[LedgerEntry]]]
"""Returns the ledger entries of the thread's conversation."""


ToolOf = Callable[[str], Tool | None]
_NO_TOOLS: dict[str, Tool] = {}


class EgressGuard(Hooks):
    """The egress guard of one run, as a hook of the loop.

    `asked` returns the requests that the run answers. Data read by earlier runs of the thread counts
    too; where it is unknown what they read, it counts as private. `tool_of` finds the tools that
    the model acquires.
    """

    name = "egress"

    def __init__(
        self,
        asked: Callable[[], Sequence[Request]],
        policy: Policy,
        history: History | None = None,
        tool_of: ToolOf = _NO_TOOLS.get,
    ) -> None:
        self._asked = asked
        self._policy = policy
        self._history = history
        self._tool_of = tool_of
        self._quoted: set[str] = set()
        self._server_outputs: dict[str, str] = {}
        self._sources: set[str] = set()
        """The sources of what the conversation holds: people, groups of tools, servers, or "the
        thread" where the source is unknown."""
        self._began_clean: set[str] = set()
        self._used: Counter[str] = Counter()
        self._sent: set[tuple[str, str, str]] = set()
        self._earlier_questions: dict[str, list[str]] = {}
        self._sent_pieces: list[str] = []
        """Pieces of unknown texts that approved calls sent to servers: a server that stores them may
        return them as its own words."""
        self._is_begun = False
        self._normalised = cache(
            _normalised_question
        )  # every save point normalises the same questions

    def may_leak(self, tool: Tool, arguments: BaseModel) -> bool:
        """Return whether the call could reveal private data of the run to its destination."""
        if not self._guards(tool) or not self._knows_private_data(tool):
            return False
        uses = self._uses(tool, arguments)
        return uses is None or any(self._used[use] + n > most for use, n, most in uses)

    def count(self, tool: Tool, arguments: BaseModel) -> None:
        """Count a call that goes out without an approval."""
        if self._guards(tool) and self._knows_private_data(tool):
            for use, n, _ in self._uses(tool, arguments) or ():
                self._used[use] += n
            destination, outgoing = _destination(tool), _outgoing_arguments(tool, arguments)
            self._sent |= {(destination, path, repr(leaf)) for path, leaf in _leaves(outgoing)}

    @override
    async def on_run_start(self, state: LoopState) -> None:
        self._is_begun = True
        self._quoted |= set(map(_normalised_address, state.links))
        remembered = state.hooks.get(self.name, {})
        self._used.update(remembered.get("used", {}))
        before, from_question = _split_pending(state)
        goes_on = bool(state.parent or state.turn or state.open or before)
        thread = remembered.get(FOR_THREAD)
        if thread is not None:
            self._sources |= set(thread["read"])
            self._earlier_questions = {user: [*texts] for user, texts in thread["asked"].items()}
            self._sent_pieces = [*thread.get("handed", ())]
        elif goes_on:
            self._sources.add(_THREAD)
        user_messages = [item for item in before if item.get("role") == "user"]
        if any(map(_quotes_others, (*user_messages, *from_question))):
            self._sources.add(_THREAD)
        quotations = [_marked_content(item) for item in user_messages]
        quotations += [request.quoted for request in self._asked() if request.is_by_rule]
        for quotation in quotations:  # messages of the thread, as read_thread would quote them
            addresses = islice(_ADDRESS.finditer(quotation), _MOST_QUOTING)
            self._quoted.update(
                chain.from_iterable(_address_forms(match[0]) for match in addresses)
            )
        if goes_on and self._history:
            self._replay_history(await self._history())

    @override
    def memory(self, state: LoopState) -> dict[str, Any]:
        if not self._is_begun:
            return {}
        # Also of the response that ends the run: the next one may not be offered these tools.
        self._note_acquired(state)
        asked = self._asked()
        questions = {user: [*texts] for user, texts in self._earlier_questions.items()}
        for request in asked:
            texts = questions.setdefault(request.user, [])
            if not request.suggested and (text := self._normalised(request.text)) not in texts:
                texts.append(text)
        read = {*self._sources, *map(_person, asked)}
        if any(map(_has_more_than_words, asked)):
            read.add(_THREAD)
        thread = {
            "read": sorted(read),
            "asked": {user: texts[-_MOST_EARLIER:] for user, texts in questions.items()},
            "handed": self._sent_pieces,
        }
        return {"used": dict(self._used), FOR_THREAD: thread}

    @override
    async def on_turn_start(self, state: LoopState) -> Sequence[Item]:
        self._note_acquired(state)  # a sub-agent begins with tools that it was given
        return ()

    @override
    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        """Note, before anything is asked of the tool, that the model will read what comes of it."""
        if not self._knows_private_data(tool):
            self._began_clean.add(current_request().idempotency_key)
        self._note_exposure(tool)
        return None

    @override
    async def after_tool(self, tool: Tool, arguments: BaseModel, result: ToolResult) -> Addition:
        if tool.is_of_server:
            self._remember_output(tool.group, result.content)
            self._note_sent_pieces(tool, arguments)
        sources = {source.url for source in result.sources if source.url}
        if tool.quotes:  # also the address that was called
            self._quoted |= set(map(_normalised_address, sources))
        if not result.own and _quotes(tool, arguments):
            addresses = (match[0] for match in _ADDRESS.finditer(result.content))
            sources |= {*islice(addresses, _MOST_QUOTING)}
        if sources:
            is_made = self._repeats_arguments(tool, arguments)
            quoted = (address for address in sources if not is_made(address))
            self._quoted.update(chain.from_iterable(map(_address_forms, quoted)))
        if not tool.is_of_server or not result.sources:
            return Addition()
        is_made = self._repeats_arguments(tool, arguments)
        return Addition(unlinked=frozenset(filter(is_made, result.addresses)))

    def _note_acquired(self, state: LoopState) -> None:
        """Note the tools that the model has acquired: it reads the words of their servers, or what they
        say of their data."""
        for tool in filter(None, map(self._tool_of, state.acquired)):
            if tool.is_of_server or tool.on_acquired:
                self._note_exposure(tool)

    def _note_exposure(self, tool: Tool) -> None:
        if not tool.is_public:
            self._sources.add(_origin(tool))

    def _note_sent_pieces(self, tool: Tool, arguments: BaseModel) -> None:
        is_clean = current_request().idempotency_key in self._began_clean
        if not is_clean and self._knows_private_data(tool) and self._uses(tool, arguments) is None:
            names, sent = (
                _SchemaChoices.of(tool).names,
                _texts(_outgoing_arguments(tool, arguments)),
            )
            distinctive = chain.from_iterable(
                _distinctive_pieces(text) for text in sent if text not in names
            )
            pieces = dict.fromkeys(
                (*self._sent_pieces, *(piece[:_LONGEST_SENT_PIECE] for piece in distinctive))
            )
            # One more than is compared: with that many pieces, nothing counts as quoted.
            self._sent_pieces = [*islice(pieces, _MOST_COMPARED + 1)]

    def _remember_output(self, server: str, output: str) -> None:
        outputs = f"{self._server_outputs.get(server, '')}\n{output}"
        self._server_outputs[server] = outputs[-_MOST_REMEMBERED:]

    def _replay_history(self, entries: Sequence[LedgerEntry]) -> None:
        """Remember the servers' outputs in the conversation so far.

        Text outside the untrusted-content marks is the bot's own, may repeat a call, and is ignored.
        """
        items = [item for entry in entries if not entry.abandoned for item in entry.items]
        called = {
            item.get("call_id"): str(item.get("name"))
            for item in items
            if item.get("type") == "function_call"
        }
        for item in items:
            if item.get("type") == "function_call_output":
                server = _server_of(called.get(item.get("call_id"), ""))
                if server and (text := marked_text(str(item.get("output")))):
                    self._remember_output(server, text)

    def _guards(self, tool: Tool) -> bool:
        if tool.is_of_server:
            return not any(
                fnmatchcase(tool.group, pattern) for pattern in self._policy.open_servers
            )
        if tool.sends:
            return not self._policy.open_searches
        return tool.group == _WEB

    def _knows_private_data(self, tool: Tool) -> bool:
        """Return whether the run has read data that is private to the destination of the call.

        A server's own outputs are not private to that server.
        """
        asked = self._asked()
        others = self._sources.difference(map(_person, asked))
        others -= {_origin(tool)} if tool.is_of_server else set()
        return bool(others) or any(map(_has_more_than_words, asked))

    def _uses(self, tool: Tool, arguments: BaseModel) -> list[tuple[str, int, int]] | None:
        """Return the allowances that the call uses: for each its name, the amount and the limit.

        None if the call sends an unknown text or exceeds an allowance.
        """
        amounts: Counter[str] = Counter()
        destination, schema = _destination(tool), _SchemaChoices.of(tool)
        chosen, words, own = f"chosen:{destination}", f"words:{destination}", f"own:{destination}"
        for path, leaf in _leaves(_outgoing_arguments(tool, arguments)):
            if (allowance := self._allowance(tool, schema, path, leaf)) is None:
                return None
            use, n = allowance
            if use == _FREE:
                continue
            if use == words:
                amounts[own] += 1
            if use in (chosen, words) and (destination, path, repr(leaf)) in self._sent:
                use, n = chosen, min(n, 1)  # sending the same value again reveals little
            amounts[use] += n
            if self._used[use] + amounts[use] > _limit_of(use):
                return None  # the remaining arguments may be very long
        names_address = any(use.startswith(("own:", "quoted:")) for use in amounts)
        amounts[own] += not names_address  # the number of calls reveals something too
        amounts["all quoted"] = sum(n for use, n in amounts.items() if use.startswith("quoted:"))
        return [(use, n, _limit_of(use)) for use, n in amounts.items()]

    def _allowance(  # noqa: PLR0911 - a line for each kind
        self, tool: Tool, schema: _SchemaChoices, path: str, leaf: Any
    ) -> tuple[str, int] | None:
        """Return the allowance that sending one value uses, and how much; None for an unknown text."""
        destination, text = _destination(tool), str(leaf)
        url = _address_in(text) if isinstance(leaf, str) else None
        if (bits := schema.bits(path, leaf)) is not None:
            return f"chosen:{destination}", bits
        if "://" not in text and (bits := self._bits_of_own(text)) is not None:
            return f"words:{destination}", bits
        if url is not None and self._is_open(url):
            return _FREE, 0
        if url is not None and any(
            _normalised_address(url) in _written_addresses(request) for request in self._asked()
        ):
            return f"own:{_site(_host(url))}", 1
        if tool.is_of_server and (bits := self._bits_of_echo(tool, text)) is not None:
            return f"chosen:{destination}", bits
        if url is not None and _normalised_address(url) in self._quoted:
            return f"quoted:{_site(_host(url))}", 1
        return (f"chosen:{destination}", ceil(log2(2 * _DAYS))) if _is_date(text) else None

    def _bits_of_own(self, text: str) -> int | None:
        """Return the bits that sending the asker's words reveals; None if the words are not theirs."""
        known = [exact(request.text) for request in self._asked() if not request.suggested]
        known += [exact(request.author) for request in self._asked()]
        known += [
            text
            for request in self._asked()
            for text in self._earlier_questions.get(request.user, ())
        ]
        segments = [n for source in known if (n := _segments(text, source))]
        words = sum(len(_WORD.findall(source)) for source in known)
        return ceil(min(segments) * 2 * log2(words + 1)) if segments else None

    def _bits_of_echo(self, tool: Tool, text: str) -> int | None:
        """Return the bits that echoing a server's own text reveals to it; None for other texts."""
        output = self._server_outputs.get(tool.group, "")
        if not _occurs_in(text, output):
            return None
        ends = 2 if re.search(r"\s", text) else 1
        return ceil(ends * log2(output.count(" ") + output.count("\n") + 2))

    def _is_open(self, url: str) -> bool:
        return any(fnmatchcase(_host(url), pattern.lower()) for pattern in self._policy.open_hosts)

    def _repeats_arguments(self, tool: Tool, arguments: BaseModel) -> Callable[[str], bool]:
        """Return a predicate for addresses in an output that repeat arguments of the call.

        Such addresses quote nobody. A call that began before any private data was read cannot repeat
        private data, and a site that was called learns nothing from another of its own addresses.
        """
        dumped = arguments.model_dump(mode="json")
        whole = [_letters(text) for text in _texts(dumped)]
        clean = current_request().idempotency_key in self._began_clean
        sent = [] if clean else list(_texts(_outgoing_arguments(tool, arguments)))
        sites = {_site(_host(url)) for text in sent if (url := _address_in(text))}
        own = {
            word
            for request in self._asked()
            if not request.suggested
            for word in _pieces(request.text)
        }
        pieces = {piece for text in sent for piece in _pieces(text)} - own
        if tool.is_of_server or tool.name in _READING:  # which reads the files of servers too
            pieces |= {*self._sent_pieces} - own
        is_too_much = max(len(whole), len(pieces)) > _MOST_COMPARED

        def made(address: str) -> bool:
            if is_too_much:
                return True
            forms = {
                _letters(_normalised_address(address)),
                _letters(_normalised_address(address.rstrip(_TRAILING))),
            }
            if any(form in text for form in forms for text in whole):
                return True
            if _site(_host(address)) in sites and not tool.is_of_server:
                return False
            words, letters = _pieces(address), unquote(address).casefold()
            return any(p in words or (len(p) >= _LONG_PIECE and p in letters) for p in pieces)

        return made


def merged_memory(threads: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the guard knows of a conversation that quotes several threads.

    `threads` are `CallerState.hooks` of each. Empty, so that everything counts as private, if it is
    unknown what one of them read.
    """
    memories = [hooks.get(EgressGuard.name, {}).get(FOR_THREAD) for hooks in threads]
    if None in memories:
        return {}
    questions: dict[str, list[str]] = {}
    for memory in memories:
        for user, texts in memory["asked"].items():
            questions[user] = list(dict.fromkeys((*questions.get(user, ()), *texts)))[
                -_MOST_EARLIER:
            ]
    thread = {
        "read": sorted({source for memory in memories for source in memory["read"]}),
        "asked": questions,
        "handed": list(
            dict.fromkeys(piece for memory in memories for piece in memory.get("handed", ()))
        ),
    }
    return {EgressGuard.name: {FOR_THREAD: thread}}


def _origin(tool: Tool) -> str:
    return f"server {tool.group}" if tool.is_of_server else tool.group


def _quotes(tool: Tool, arguments: BaseModel) -> bool:
    """Return whether the call's output contains only text that other people wrote."""
    if tool.name in _READING:
        return str(getattr(arguments, "handle", "")).startswith(_READ_BEFORE)
    return tool.quotes or tool.is_of_server


def _has_more_than_words(request: Request) -> bool:
    """Return whether the model sees more of the request than the asker's words."""
    images = any(file.media_type.startswith("image/") for file in request.files)
    return images or bool(request.quoted)


def _destination(tool: Tool) -> str:
    return tool.group if tool.is_of_server else tool.name


def _server_of(name: str) -> str:
    """Return the server of the tool with that name; "" for the bot's own tools.

    Also "" for a shortened name that ends in a digest: another server's name may begin like it.
    """
    server, separator, _ = name.partition("__")
    return server if separator and "___" not in name else ""


def _normalised_question(text: str) -> str:
    """Return the normalised beginning of a question, as stored for later runs."""
    return exact(text[:_LONGEST_EARLIER])


def _person(request: Request) -> str:
    return f"user {request.user}"


def _split_pending(state: LoopState) -> tuple[list[Item], list[Item]]:
    """Return the pending items before the question, and those from the question on.

    The bot's own notes (developer messages) are left out.
    """
    items = [item for item in state.pending if item.get("role") != "developer"]
    at = next((n for n, item in enumerate(items) if item == state.task), len(items))
    return items[:at], items[at:]


def _quotes_others(item: Item) -> bool:
    """Return whether a message to the model contains more than the asker's words."""
    content = item.get("content")
    if not isinstance(content, str):
        return True
    return prompts.is_data(content) or _marked_content(item) != ""


def _marked_content(item: Item) -> str:
    """Return what a message to the model quotes of others; "" for one with images."""
    content = item.get("content")
    return marked_text(content, anywhere=True) if isinstance(content, str) else ""


def _outgoing_arguments(tool: Tool, arguments: BaseModel) -> dict[str, Any]:
    """Return the arguments that leave the process, without those that only narrow the output."""
    dumped = arguments.model_dump(mode="json")
    if tool.is_of_server or not isinstance(dumped, dict):
        return dumped if isinstance(dumped, dict) else {"": dumped}
    return {
        name: value
        for name, value in dumped.items()
        if value is not None and (name in tool.sends or name not in tool.narrowing)
    }


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts and numbers in a JSON value, including keys."""
    for _, leaf in _leaves(value):
        if not isinstance(leaf, bool | dict | list) and leaf not in (None, ""):
            yield str(leaf)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all keys and scalar values in a JSON value, each with the path of keys above it."""
    match value:
        case dict() if value:
            for key, inner in value.items():
                yield f"{path}.", key
                yield from _leaves(inner, f"{path}.{key}")
        case list() if value:
            for inner in value:
                yield from _leaves(inner, path)
        case _:
            if path or value:
                yield path, value


class _SchemaChoices(BaseModel):
    """The choices that a tool's schema lists: the names of arguments and their fixed values."""

    names: frozenset[str]
    required: frozenset[str]
    values: frozenset[str]

    @classmethod
    def of(cls, tool: Tool) -> _SchemaChoices:
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
                        values |= {str(choice) for choice in listed if choice is not None}
                    pending += [part for key, part in schema.items() if key != "properties"]
                case list() as several:
                    pending += several
                case _:
                    pass
        required = tool.parameters.get("required")
        always = [name for name in required if isinstance(name, str)] if required else []
        values = values if len(values) <= _MOST_CHOICES else set()
        return cls(names=names, required=always, values=values)

    def bits(self, path: str, leaf: Any) -> int | None:
        """Return the bits that choosing `leaf` reveals; None if the schema does not list it."""
        if path.endswith(".") and leaf in self.names:
            return 0 if path == "." and leaf in self.required else ceil(log2(len(self.names) + 1))
        if leaf is None or isinstance(leaf, bool | dict | list) or leaf == "":
            return 1
        if isinstance(leaf, int) and leaf in _NUMBERS:
            return ceil(log2(len(_NUMBERS)))
        return ceil(log2(len(self.values) + 1)) if str(leaf) in self.values else None


def _limit_of(use: str) -> int:
    kind = use.partition(":")[0]
    bounds = {"quoted": MOST_OF_A_SITE, "all quoted": MOST_QUOTED, "chosen": MOST_CHOSEN}
    return bounds.get(kind, MOST_IN_WORDS if kind == "words" else MOST_OF_ONES_OWN)


def _is_date(text: str) -> bool:
    """Return whether `text` is an ISO date at most a year away."""
    with suppress(ValueError):
        day = date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else date.min
        return abs((day - datetime.now(UTC).date()).days) <= _DAYS
    return False


def _segments(text: str, asked: str) -> int:
    """Return in how many pieces `text` occurs in the asker's text; 0 if it does not.

    The text occurs whole, or as words of the asker's text in order, each at most once, separated by
    one space, and as written or all in lower case. Other letters, signs, repeated words or spaces
    could spell something out.
    """
    if _occurs_in(text, asked):
        return 1
    for written, sent in (
        (asked, text),
        (asked.casefold(), text if text == text.casefold() else ""),
    ):
        words = enumerate(_WORD.findall(written))
        sent_words = sent.split(" ") if sent else []
        places = [
            next((n for n, word in words if word == sent_word), None) for sent_word in sent_words
        ]
        if places and places[-1] is not None:  # `words` is used up where one is missing
            breaks = (b != a + 1 for a, b in pairwise(n for n in places if n is not None))
            pieces = 1 + sum(breaks)
            return pieces if pieces <= _MOST_SEGMENTS else 0
    return 0


def _occurs_in(text: str, whole: str) -> bool:
    """Return whether `text` occurs in `whole` without cutting a word.

    False also if the search would take too long.
    """
    at = whole.find(text)
    for _ in range(1 + _MOST_SEARCHED // max(len(text), 1)):
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
    """Return `text` if the whole of it is one address; else None."""
    text = text.strip()
    return text if text and not re.search(r"\s", text) and re.search(r"[.:/]", text) else None


def _written_addresses(request: Request) -> set[str]:
    """Return the addresses that people wrote in a request, with or without a scheme.

    The text of an accepted suggestion is the model's, and does not count.
    """
    text = request.quoted if request.suggested else f"{request.text}\n{request.quoted}"
    if request.is_by_rule:  # whoever wrote the message chose it, and not the asker
        text = request.text
    words = (word for word in _SEPARATORS.split(text) if "." in word)
    candidates = (*_ADDRESS.findall(text), *words)
    return {form for word in candidates for form in _address_forms(word)}


def _address_forms(address: str) -> set[str]:
    """Return an address as written, and without trailing signs that may belong to the sentence."""
    forms = {_normalised_address(address), _normalised_address(address.rstrip(_TRAILING))}
    for _ in range(_MOST_TRAILING):
        if address[-1:] not in _TRAILING:
            break
        address = address[:-1]
        forms.add(_normalised_address(address))
    return forms


def _normalised_address(address: str) -> str:
    """Return an address normalised for comparison: no scheme or fragment, the host in lower case."""
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
    """Return roughly the registered domain of a host: its owner controls all names below it."""
    labels = host.split(".")
    if host.replace(".", "").isdigit() or ":" in host:
        return host
    is_below_country = len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3
    return ".".join(labels[-3 if is_below_country else -2 :])


def _letters(text: str) -> str:
    """Return the letters and digits of `text`, unescaped and in lower case."""
    return "".join(filter(str.isalnum, unquote(text).casefold()))


def _distinctive_pieces(text: str) -> set[str]:
    """Return the pieces of `text` without those that most addresses contain."""
    hosts = map(_host, (*_ADDRESS.findall(text), _address_in(text) or ""))
    return _pieces(text) - {"http", "https", "www", *(host.rpartition(".")[2] for host in hosts)}


def _pieces(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", unquote(text).casefold()))
