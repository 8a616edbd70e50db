"""Streamed messages: what arrives, how it looks, and when it is over."""

from bot.local.workspace.core import Core
from bot.local.workspace.errors import CannotDo
from bot.local.workspace.state import Channel


def is_live(core: Core, channel: str, ts: str) -> bool:
    """Whether this message is being streamed."""
    stream = core.state.streams.get((channel, ts))
    return stream is not None and stream.state == "live"


def stop_by_user(core: Core, user: str, place: Channel, thread_ts: str | None) -> None:
    """The Stop button. Raises CannotDo when the app is not working there."""
    status = core.state.status(place.id, thread_ts)
    if status.session != "processing":
        raise CannotDo("there is nothing to stop here")
