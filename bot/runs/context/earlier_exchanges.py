"""Earlier exchanges of a direct message, for the next question there.

Every direct message outside threads has a chain of its own, and so has a thread below one, but a person
who writes one after the other has one conversation. So the question is given the last exchanges as messages, in both modes of the model
service. It does not continue their chain: a chain cannot be cut to a size or an age, keeps what was
deleted since, and ends when an earlier thread is erased.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json

from bot.agent import prompts
from bot.agent.window import assistant_message
from bot.core.chain import CallerState, Item
from bot.core.errors import CorruptValue, ModelErrorKind
from bot.core.outcome import Outcome
from bot.core.request import Entry, Request
from bot.runs.policy.egress_guard import merged_memory
from bot.runs.results.result_markdown import result_text
from bot.runs.settings import DirectSettings
from bot.store import RunRecord, Stores
from bot.store.values import decode
from bot.text.token_estimate import estimated_tokens
from bot.toolkit.provided.artifacts import Artifact
from bot.toolkit.size import Room, shortened

_MOST = 10  # exchanges
_MOST_MESSAGES = 5  # that were answered together: the latest
_MOST_HANDLES = 10  # of one thread: the latest
_LONGEST_LINE = 400  # characters
_IMAGE_TOKENS = 1_000
_ANY_LENGTH = 10**9
_OPENING = frozenset({Entry.DIRECT_MESSAGE, Entry.COMMAND, Entry.GLOBAL_SHORTCUT})
"""How a person asks a new question in a direct message. A schedule asks its own."""


@dataclass(frozen=True, slots=True)
class EarlierExchanges:
    """What a new thread is given of the exchanges before it.

    `items` are messages to the model, `threads` the keys of the threads that they are from, and the
    other fields those of `CallerState`.
    """

    items: tuple[Item, ...] = ()
    threads: frozenset[str] = frozenset()
    acquired: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    hooks: dict[str, Any] | None = None

    def into(self, caller: CallerState) -> CallerState:
        """Return the state of the new thread with these exchanges."""
        if not self.items:
            return caller
        return caller.model_copy(
            update={
                "pending": (*caller.pending, *self.items),
                "acquired": tuple(dict.fromkeys((*self.acquired, *caller.acquired))),
                "links": tuple(dict.fromkeys((*self.links, *caller.links))),
                # What a failed question of this thread read is unknown.
                "hooks": {} if caller.pending else self.hooks or {},
            }
        )


@dataclass(frozen=True, slots=True)
class _Exchange:
    """One question with the messages that joined it, and how its run ended."""

    asked: Sequence[Request]
    outcome: Outcome

    @property
    def thread_key(self) -> str:
        return self.asked[0].thread_key


@dataclass(frozen=True, slots=True)
class DirectHistory:
    """A reader of the exchanges that a person and the bot have had in their direct message."""

    stores: Stores
    settings: DirectSettings
    images: bool

    async def before(self, request: Request, caller: CallerState) -> EarlierExchanges:
        """Return the last exchanges of the conversation; none unless `request` opens a thread of it.

        They are no older and no larger than the settings allow. Left out are questions that are still
        being answered, were edited, deleted or erased since, or were asked in private or elsewhere.
        """
        has_begun = caller.seen or caller.previous_response_id
        if has_begun or not (_begins_conversation(request) and self.settings.remembers(request)):
            return EarlierExchanges()
        exchanges = await self._exchanges(request)
        threads = list(dict.fromkeys(exchange.thread_key for exchange in exchanges))
        saved = {thread: await self._saved(thread) for thread in threads}
        items: list[Item] = []
        links: list[str] = []
        quoted: list[_Exchange] = []
        room = self.settings.remember_tokens
        for exchange in exchanges:
            told = self._told(
                exchange, saved.pop(exchange.thread_key, ()), room if not quoted else 0
            )
            room -= sum(map(_tokens, told))
            if room < 0 and quoted:
                break
            quoted.append(exchange)
            items[:0] = told
            links += [link for link in exchange.outcome.links if link in str(told[-1]["content"])]
        if not quoted:
            return EarlierExchanges()
        quoted_threads = {exchange.thread_key for exchange in quoted}
        states = [await self._state(thread) for thread in threads if thread in quoted_threads][::-1]
        places = [
            place
            for thread in quoted_threads
            for place in await self.stores.artifacts.places(thread)
        ]
        return EarlierExchanges(
            items=(prompts.note(prompts.EARLIER), *items),
            threads=frozenset(places),
            acquired=tuple(name for state in states for name in state.acquired),
            links=tuple(links),
            hooks=merged_memory([state.hooks for state in states]),
        )

    async def _exchanges(self, request: Request) -> list[_Exchange]:
        """Return the exchanges that may be handed on, the newest first."""
        runs = await self.stores.direct.recent(request, self.settings.remember_minutes * 60)
        records = await self.stores.runs.ended(runs)
        ids = [
            request_id for record in records for request_id in (record.request_id, *record.joined)
        ]
        requests = {
            request.id: request
            for request in await self.stores.mailbox.get_many(ids)
            if request.is_current
        }
        # Of an answer and its repetitions the last.
        exchanges: dict[tuple[str, str], _Exchange] = {}
        for record in records:
            exchange = _exchange(record, requests)
            if exchange is not None and all(
                _is_of_conversation(e, request) for e in exchange.asked
            ):
                exchanges.setdefault((exchange.thread_key, exchange.asked[0].text), exchange)
        return [*exchanges.values()][:_MOST]

    async def _saved(self, thread_key: str) -> list[Artifact]:
        """Return the latest artifacts of a thread, without those of private requests."""
        store, artifacts = self.stores.artifacts, list[Artifact]()
        for handle in await store.handles(thread_key):
            if (description := await store.description(thread_key, handle)) is not None:
                with suppress(CorruptValue):
                    artifacts.append(decode(Artifact, description))
        return sorted(artifacts, key=lambda each: each.created)[-_MOST_HANDLES:]

    async def _state(self, thread_key: str) -> CallerState:
        try:
            return await self.stores.caller_states.load(thread_key)
        except CorruptValue:
            return CallerState()

    def _told(self, exchange: _Exchange, saved: Sequence[Artifact], room: int) -> list[Item]:
        """Return an exchange as messages, shortened to about `room` tokens unless that is 0.

        Its images take half of it at most, or are left out.
        """
        parts = 4 * len(exchange.asked)  # half of the room is for the answer
        part = Room(_ANY_LENGTH, max(1, room // parts) if room else 0)
        images = sum(prompts.is_image(file) for request in exchange.asked for file in request.files)
        shows_images = self.images and (not room or images * _IMAGE_TOKENS <= room // 2)
        questions = [
            prompts.request_message(
                request.model_copy(
                    update={
                        "text": shortened(request.text, part),
                        "quoted": shortened(request.quoted, part),
                        "again": None,
                        "before_edit": "",
                    }
                ),
                images=shows_images,
            )
            for request in exchange.asked
        ]
        for_answer = max(1, room // 4, room - sum(map(_tokens, questions))) if room else 0
        answer = "\n".join((_answer(exchange.outcome), *map(_line, saved)))
        return [*questions, assistant_message(shortened(answer, Room(_ANY_LENGTH, for_answer)))]


def _begins_conversation(request: Request) -> bool:
    """Return whether a person begins a conversation with the bot in their direct message, perhaps in a
    thread below what was written there, or asks again."""
    return request.entry in _OPENING


def _is_of_conversation(asked: Request, request: Request) -> bool:
    """Return whether `asked` is an earlier message of the conversation in which `request` is asked."""
    is_same = (asked.team, asked.channel, asked.user) == (
        request.team,
        request.channel,
        request.user,
    )
    is_earlier = asked.received_at < request.received_at
    return is_same and is_earlier and not asked.private and asked.thread != request.thread


def _exchange(record: RunRecord, requests: Mapping[str, Request]) -> _Exchange | None:
    """Return the exchange of a run; None if its question is gone, or nothing was posted, or the model
    service would refuse to read it again. `requests` are those that count."""
    outcome = record.outcome
    if outcome is None or outcome.silent or outcome.error is ModelErrorKind.POLICY:
        return None
    if record.request_id not in requests:
        return None
    ids = (record.request_id, *record.joined)
    questions = [requests[request_id] for request_id in ids if request_id in requests]
    return _Exchange(questions[-_MOST_MESSAGES:], outcome)


def _answer(outcome: Outcome) -> str:
    """Return what people read of an outcome, as text: a model imitates the form of its answers."""
    text = ""
    if result := outcome.result:
        told = {**result, "follow_ups": []} if "follow_ups" in result else result
        text = result_text(outcome.model_copy(update={"result": told}))
    return "\n".join(filter(None, (text, outcome.draft, outcome.note)))


def _line(artifact: Artifact) -> str:
    """Return an artifact as the model reads it. Others may have chosen its names: they are quoted."""
    columns = [column.name for column in artifact.columns]
    facts = {"name": artifact.name, "rows": artifact.rows, "columns": columns}
    told = to_json({name: value for name, value in facts.items() if value}).decode()
    return f"Saved under {artifact.handle}: {told[:_LONGEST_LINE]}"


def _tokens(item: Item) -> int:
    images = str(item["content"]).count(prompts.IMAGE_REFERENCE)
    return estimated_tokens(str(item["content"])) + images * _IMAGE_TOKENS
