"""What a question can be about: one table of intents, of which the first that fits answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import tools
from .calculating import clock, days, figures, lots, sums, units
from .doing import amending, canvases, posting, schedules
from .figures import choosing, data, database
from .findings import Findings
from .talk import (
    above,
    again,
    chat,
    directory,
    languages,
    memory,
    message,
    overheard,
    refusing,
    search,
    talk,
    threads,
)
from .texts import images, page
from .view import View


@dataclass(frozen=True, slots=True)
class Intent:
    """Something people want: whether a question does, and how it is answered. Answering raises Need
    for the next call, Missing where there is no tool for it. One may be asked
    `beside_others`, in the same sentence."""

    is_asked: Callable[[View], bool]
    answer: Callable[[View, Findings], None]
    beside_others: bool = False


INTENTS = (
    # The type of the result says it.
    Intent(threads.is_asked, threads.answer),
    # The whole message says it.
    Intent(amending.is_asked, amending.answer),
    Intent(again.is_asked, again.answer),
    Intent(chat.is_asked, chat.answer),
    Intent(above.is_asked, above.answer),
    # What is to be done, before what is only to be told.
    Intent(memory.is_asked, memory.answer),
    Intent(schedules.is_asked, schedules.answer, beside_others=True),
    Intent(canvases.is_asked, canvases.answer),
    Intent(posting.is_asked, posting.answer, beside_others=True),
    Intent(page.is_asked, page.answer),
    Intent(refusing.is_asked, refusing.answer),
    Intent(talk.is_asked, talk.answer, beside_others=True),
    # What the message brings along, if it can be read.
    Intent(languages.is_asked, languages.answer),
    Intent(figures.is_asked, figures.answer),
    Intent(sums.is_asked, sums.answer, beside_others=True),
    Intent(images.is_asked, images.answer),
    Intent(data.is_attached, data.answer),
    Intent(choosing.is_named, data.answer),
    # What tools know of the world.
    Intent(lots.is_asked, lots.answer, beside_others=True),
    Intent(units.is_asked, units.answer, beside_others=True),
    Intent(days.is_asked, days.answer, beside_others=True),
    Intent(clock.is_asked, clock.answer, beside_others=True),
    Intent(search.is_asked, search.answer, beside_others=True),
    Intent(directory.is_asked, directory.answer, beside_others=True),
    Intent(database.is_asked, database.answer, beside_others=True),
    Intent(message.is_asked, message.answer),
    # What was read before, and what needs more than rules.
    Intent(database.is_meant, database.answer),
    Intent(data.is_spoken_of, data.answer),
    Intent(memory.is_known, memory.tell),
    Intent(tools.is_asked, tools.answer),
    Intent(amending.is_unclear, amending.tell_unclear),
    Intent(overheard.is_asked, overheard.answer),
)
