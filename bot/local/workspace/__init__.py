"""A strict stand-in for Slack over real sockets: Web API, Socket Mode, signed HTTP, and the people
in it."""

from bot.local.workspace.errors import CannotDo, NotAnswered, SlackFault
from bot.local.workspace.record import Change, Effect
from bot.local.workspace.seed import ADA, BEN, CHLOE, EVE, GUS
from bot.local.workspace.server import Workspace
from bot.local.workspace.state import Channel, ExternalFile, FakeFile, File, Person, Status

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
