"""The local workspace: a strict Slack over real sockets: Web API, Socket Mode, signed HTTP, and the people
in it."""

from bot.dev.workspace.errors import CannotDo, NotAnswered, SlackFault
from bot.dev.workspace.record import Change, Effect
from bot.dev.workspace.seed import ADA, BEN, CHLOE, EVE, GUS
from bot.dev.workspace.server import Workspace
from bot.dev.workspace.state import Channel, ExternalFile, FakeFile, File, Person, Status

__all__ = [
    "ADA",
    "BEN",
    "CHLOE",
    "EVE",
    "GUS",
    "CannotDo",
    "Change",
    "Channel",
    "Effect",
    "ExternalFile",
    "FakeFile",
    "File",
    "NotAnswered",
    "Person",
    "SlackFault",
    "Status",
    "Workspace",
]
