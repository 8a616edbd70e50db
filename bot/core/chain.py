"""The server-side conversation of a thread and our own record of it (B1–B7)."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

Item = dict[str, Any]
"""One item of the Responses API, verbatim: opaque fields are neither inspected nor dropped."""


class Usage(BaseModel):
    """What one response took, as billed: tokens, of which cached and reasoning ones are subsets; the
    searches that the service made; the ids of the containers in which it ran programs."""

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
        """Without the containers that were paid for with `before`."""
        new = (each for each in self.containers if each not in before.containers)
        return self.model_copy(update={"containers": tuple(new)})


NO_USAGE = Usage()


class CallerState(BaseModel):
    """What a thread needs to go on (B7).

    `pending` are items that the next request must send first: the outputs of calls that the
    response `previous_response_id` made, and messages that never reached the model. So the pair
    never stands for unanswered calls. `links` are addresses that tools brought in, which may be
    posted as links. `hooks` is what hooks of the last run keep for the next, by their names.
    `bound_to` is the one person who may go on with a private chain, and in private only: the
    thread's own chain is another.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    previous_response_id: str | None = None
    pending: tuple[Item, ...] = ()
    acquired: tuple[str, ...] = ()
    model: str = ""
    last_usage: Usage = Usage()
    links: tuple[str, ...] = ()
    hooks: dict[str, Any] = {}
    bound_to: str | None = None


class LedgerEntry(BaseModel):
    """Items appended to a thread's conversation in one step, in order (B3, B4, B6).

    `response_id` and `usage` are set when the items are a model's output. An `abandoned` output
    is kept for the record only: it is on no chain and is never sent again. The items of a
    `checkpoint` stand for everything before it (B9). `bound_to` is the one
    person on whose private chain they are; they must get into no other chain.
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
