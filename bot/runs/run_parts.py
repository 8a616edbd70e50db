"""The door of a run: what a feature adds to one, without the run knowing which features there are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel

from bot.agent.events import RunEnded
from bot.agent.hooks.chain import Asker, Hooks
from bot.agent.loop_deps import Reported
from bot.core.chain import Item, LedgerEntry
from bot.core.outcome import Outcome
from bot.runs.watching import Listener
from bot.store.values import Command
from bot.toolkit.catalogue import Catalogue
from bot.toolkit.provided.file_readers import FileReader
from bot.toolkit.skill import Skill

if TYPE_CHECKING:
    from bot.runs.run import Run


class RunPart(Listener):
    """What a feature adds to one run: its hooks, if it has any, and the methods that it overrides.

    It listens to the run as any listener. If a part cannot be made, or its `begin` or a hook raises,
    the run fails with a sentence, as no call may miss a hook. If another method raises, the run goes
    on without what it would have added.

    What a part keeps is lost when another worker resumes the run: it follows again from what `begin`
    is given, and from the memory of its hooks. Its `file_reader` reads a kind of file for `read_file`. An `asking` hook may ask people before a call: it
    comes after all that forbid calls, and before approvals. Its `asker` asks for what calls turn out
    to need. `instructions` are added to those of every call of the model; the same text for every run
    keeps them cached. Tools and skills that are `withheld` (their names) make no sense in the run, and are not
    offered.
    """

    hook: Hooks | None = None
    asking: Hooks | None = None
    asker: Asker | None = None
    file_reader: FileReader | None = None
    instructions: str = ""
    withheld: Collection[str] = ()

    async def skills(self) -> Sequence[Skill]:
        """Return the skills that the model may acquire in the run; of two of one name the first."""
        return ()

    def acquired(self, catalogue: Catalogue) -> Mapping[str, str]:
        """Return the names of the skills in `catalogue` that code acquires with the request, and by
        whose wish: that of a "person" or of the "channel"."""
        return {}

    async def opening(self) -> Sequence[Item]:
        """Return what the model is told with the first request of a conversation. What others may
        have written is in a `data_message`."""
        return ()

    def begin(self, ledger: Sequence[LedgerEntry], is_cut: bool, run_id: str) -> None:
        """Begin with what the thread of the run has read before, and this run before it was resumed;
        with `is_cut` some of it belongs to one person and is left out."""

    def trace_report(
        self, report: BaseModel, conversation: Sequence[LedgerEntry]
    ) -> Reported | None:
        """Return the report of a sub-agent with its references filled in, traced to what it read in its
        conversation; None for a part that does not."""
        return None

    def complete(self, outcome: Outcome, ended: RunEnded) -> Outcome:
        """Return the outcome of the run with what the feature found. The part that is listed first
        is last, and sees what the others found."""
        return outcome

    def audit_facts(self, outcome: Outcome) -> Mapping[str, int]:
        """Return what the audit log's entry about the outcome says, by fields of `AuditEntry`."""
        return {}

    def saving(self, outcome: Outcome) -> Sequence[Command]:
        """Return commands for Redis that are carried out with the saving of the outcome, once. One that
        Redis refuses is logged."""
        return ()


RunPartFor = Callable[["Run"], RunPart]
"""Makes the part of one run."""
