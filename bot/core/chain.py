"""A thread's conversation: the chain of responses at the model service, and our own ledger of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from bot.core.answers import Source
from bot.library.tracing.findings import Unreadable

Item = dict[str, Any]
"""An item of the Responses API, verbatim: fields that the bot does not know are kept."""

_MOST_KNOWN = (
    400  # as many messages as two runs can take in; the thread is read up to each question
)


class Usage(BaseModel):
    """The billed usage of one response.

    `cached_tokens` are part of the input tokens, `reasoning_tokens` of the output tokens.
    `containers` are the ids of the containers in which the service ran programs.
    """

    model_config = ConfigDict(frozen=True)

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    web_searches: int = 0
    file_searches: int = 0
    containers: tuple[str, ...] = ()

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            web_searches=self.web_searches + other.web_searches,
            file_searches=self.file_searches + other.file_searches,
            containers=tuple(dict.fromkeys((*self.containers, *other.containers))),
        )

    def beyond(self, before: Usage) -> Usage:
        """Return this usage without the containers that `before` has already paid for."""
        if not self.containers:
            return self
        new = (each for each in self.containers if each not in before.containers)
        return self.model_copy(update={"containers": tuple(new)})


NO_USAGE = Usage()


class CallerState(BaseModel):
    """The state that a thread's next run continues from.

    - `previous_response_id`: the last response of the chain.
    - `pending`: items that the next model request must send first: outputs of the calls in that
      response, and messages that never reached the model. The two fields are always consistent:
      every call in the chain has its output in the chain or in `pending`.
    - `acquired`: the names of what the model acquired. `noted`: of those whose text the chain has, the
      digest of it, "" if it had no room.
    - `links`: URLs that tools returned; the bot may post them as links.
    - `hooks`: state that hooks keep from one run to the next, by hook name.
    - `stateless`: the service stores no responses: each request carries the conversation.
    - `bound_to`: the only user who may continue a private chain, and only in private. The thread's
      shared chain is separate.
    - `seen`: ts up to which the conversation has what people wrote in the thread; "" before the
      bot has looked. `known`: ts of further messages that it has, such as those that joined a run.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    previous_response_id: str | None = None
    pending: tuple[Item, ...] = ()
    acquired: tuple[str, ...] = ()
    noted: dict[str, str] = {}
    model: str = ""
    last_usage: Usage = Usage()
    links: tuple[str, ...] = ()
    hooks: dict[str, Any] = {}
    stateless: bool = False
    bound_to: str | None = None
    seen: str = ""
    known: tuple[str, ...] = ()

    def with_known(self, ts: Iterable[str]) -> CallerState:
        """Return the state with further messages that the conversation has; "" is none."""
        known = dict.fromkeys((*self.known, *filter(None, ts)))
        return self.model_copy(update={"known": tuple(known)[-_MOST_KNOWN:]})


class SavedArtifact(BaseModel):
    """An artifact that a call saved: the hash of its content, and of the file that it was read from
    ("" if it was not read from one), both in hex."""

    model_config = ConfigDict(frozen=True)

    handle: str
    sha256: str
    raw_sha256: str = ""


CountsAs = Literal["read", "calculated", "none"]
"""What an output counts as when an answer is traced: something read, the result of arithmetic on
the call's arguments, or no evidence."""


class ReportCheck(BaseModel):
    """What tracing the report of a sub-agent found in the sub-agent's own conversation.

    - `untraced`: the claims that were not found, as the report writes them.
    - `unreadable`: why some could not be looked for; see `Findings`.
    """

    model_config = ConfigDict(frozen=True)

    untraced: tuple[str, ...] = ()
    unreadable: Unreadable = Unreadable.NOTHING


class CallRecord(BaseModel):
    """What a call returned besides its output. Answers are traced with it, and calls repeated.

    - `sources`: those of the tool's result. `used`: handles of the artifacts that the call read.
    - `saved`: the artifacts that the call saved, in order.
    - `report`: for the report of a sub-agent, what tracing it found; None if it was not traced.
    - `replaced`: the arguments with which the call was made, as JSON, if a hook replaced the model's.
    """

    model_config = ConfigDict(frozen=True)

    call_id: str
    counts_as: CountsAs = "none"
    sources: tuple[Source, ...] = ()
    used: tuple[str, ...] = ()
    saved: tuple[SavedArtifact, ...] = ()
    report: ReportCheck | None = None
    replaced: str = ""


class LedgerEntry(BaseModel):
    """Items appended to a thread's conversation in one step, in order.

    - `response_id`, `usage`: set when the items are output of the model.
    - `abandoned`: the output is kept for the record only; it is on no chain and never sent again.
    - `checkpoint`: the items replace everything before them in the context of later requests.
    - `bound_to`: the user whose private chain has the items; no other chain may contain them.
    - `abandons`: ids of responses, and of the run itself, whose entries before this one are on no
      chain: the conversation goes on without them.
    - `calls`: a record of each call whose output is among the items; empty in older entries.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    run_id: str
    items: tuple[Item, ...]
    response_id: str | None = None
    usage: Usage | None = None
    abandoned: bool = False
    checkpoint: bool = False
    bound_to: str | None = None
    abandons: tuple[str, ...] = ()
    calls: tuple[CallRecord, ...] = ()
