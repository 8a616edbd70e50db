"""Safety of a tool in one value: what it only reads, or what it changes and who must agree.

The loop, the approvals and the evidence check decide by these values, never by the model's words.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Check(Protocol):
    """A check of a call's validated arguments before the call is made. It changes nothing."""

    async def __call__(self, call: Any, services: Mapping[type, object], /) -> Any:
        """Return None, or the arguments with names resolved to ids.

        People approve the returned arguments, and the call is made with them. Raises ToolError for
        a call that cannot succeed.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Reads:
    """The safety of a tool that changes nothing but what the bot itself keeps.

    - `foreign`: other people wrote what it returns, so the model gets it marked as data.
    - `quotes`: it returns their text word for word and none of the model's, so that addresses in
      it may be opened.
    - `public`: anybody may read what it returns. Once a run has read anything else, what leaves
      the bot may need an approval.
    - `calculates`: the result is arithmetic on the arguments: evidence only as far as they are.
    - `evidence`: False if the output repeats what the model wrote (a file, a report). It then
      proves nothing, and there is nothing to repeat.
    - `repeatable`: code may make the same call again later, and gets the same kind of data as it is
      then. Not for what depends on who asks, when, or by chance (searches, the newest messages).
    - `sends`: arguments whose words leave the bot.
    - `asks`: it asks a person, and what comes after it in the same response is not done, because the
      model did not know the answer. Sub-agents do not have it.
    """

    foreign: bool = False
    quotes: bool = False
    public: bool = False
    calculates: bool = False
    evidence: bool = True
    repeatable: bool = True
    sends: tuple[str, ...] = ()
    asks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The safety of a tool that changes something outside the bot.

    It runs alone, in order, at most once, and not in a dry run.

    - `sensitive`: a person must approve each call, except calls that are `free_in_direct` where the
      asker writes to the bot alone, and those that are `for_asker`: whatever comes of them, only the
      asker sees it. Of these, too, a person must approve a call that is one of `too_many`.
    - `standing`: arguments that stay the same while one approval holds for further calls; None if
      each sensitive call needs an approval of its own.
    - `mentions`: the argument whose text can mention people whom the asker mentioned.
    - `check`: raises ToolError for a call that cannot succeed, before anybody is asked to approve
      it.
    - `destructive`: a call may delete or overwrite something; the approval card says so.
    - `for_everybody`: whether a call affects the whole workspace; only admins may make such a call.
    - `foreign`: as for `Reads`. `evidence`: True if the output tells more than the arguments do.
    """

    sensitive: bool = False
    standing: tuple[str, ...] | None = None
    mentions: str = ""
    check: Check | None = None
    destructive: bool = False
    for_everybody: Callable[[Any], bool] | None = None
    free_in_direct: Callable[[Any], bool] | None = None
    for_asker: Callable[[Any], bool] | None = None
    too_many: Callable[[Any, Mapping[type, object]], Awaitable[bool]] | None = None
    foreign: bool = False
    evidence: bool = False


Safety = Reads | Changes


def mistake_in(safety: object) -> str:
    """Return what is wrong with the value that a tool was given as `safety`, "" if nothing is."""
    match safety:
        case Reads(quotes=True, foreign=False):
            return "quotes says more of what others wrote: it needs foreign=True"
        case Reads(calculates=True) if safety.foreign or safety.sends or not safety.evidence:
            return (
                "what calculates works on its arguments alone: no foreign, sends or evidence=False"
            )
        case Changes(sensitive=False) if safety.free_in_direct or safety.for_asker:
            return "free_in_direct and for_asker are exceptions from sensitive=True"
        case Reads() | Changes():
            return ""
        case _:
            return "safety is Reads(...) or Changes(...)"


def named_arguments(safety: Safety) -> tuple[str, ...]:
    """Return the names of the tool's arguments that its safety refers to."""
    if isinstance(safety, Reads):
        return safety.sends
    return (*(safety.standing or ()), *filter(None, (safety.mentions,)))
