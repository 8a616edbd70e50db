"""The local workspace: a strict Slack over real sockets, and the people in it.

server.py   the workspace as a server; `Workspace.open` starts it
core.py     what every part works on
store/      what there is: people, channels, messages, and the record of all changes
api/        what the app calls: the Web API (`methods/`), files, response URLs, OAuth
events/     what the app is sent: events and interactions, over Socket Mode or signed HTTP
messaging/  what happens in a conversation: messages, streams, reactions, files, canvases
client/     what a person does in the Slack client: buttons, modals, Home, workflow steps
blocks/     Block Kit, checked as Slack checks it
"""

from bot.dev.workspace.errors import CannotDo, NotAnswered, SlackFault
from bot.dev.workspace.server import Workspace
from bot.dev.workspace.store.record import Change, Effect
from bot.dev.workspace.store.seed import ADA, BEN, CHLOE, EVE, GUS
from bot.dev.workspace.store.state import (
    Channel,
    ClipFile,
    ExternalFile,
    FakeFile,
    File,
    Person,
    Status,
    Transcript,
)

__all__ = [
    "ADA",
    "BEN",
    "CHLOE",
    "EVE",
    "GUS",
    "CannotDo",
    "Change",
    "Channel",
    "ClipFile",
    "Effect",
    "ExternalFile",
    "FakeFile",
    "File",
    "NotAnswered",
    "Person",
    "SlackFault",
    "Status",
    "Transcript",
    "Workspace",
]
