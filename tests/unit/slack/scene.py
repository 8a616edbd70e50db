"""The surface of a run in its thread, in the stand-in workspace."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from bot.core.chain import CallerState
from bot.core.errors import ToolError
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.dev.workspace import Workspace
from bot.dev.workspace.store.record import Effect
from bot.runs.surface import OpenSurface, PostedMessages, Surface
from bot.slack.edge.people_and_channels import naming
from bot.slack.message.open_run_message import RunMessages
from bot.slack.message.streams import Streams
from bot.store import PostedMessageRecord
from tests.unit.slack.rig import Rig

GENERAL = "C0GENERAL1"


class Thread:
    """A question of Ada's, and a way to open the surface of its run."""

    def __init__(
        self, ws: Workspace, rig: Rig, request: Request, post: PostedMessageRecord
    ) -> None:
        self.ws, self.rig, self.request, self.post = ws, rig, request, post
        self.artifacts = {"art_png": b"\x89PNG"}
        self.stale: list[str] = []

    @property
    async def ts(self) -> str | None:
        """The ts of the run's message, as it is kept."""
        return await self.post.message()

    async def resume(
        self, run_id: str = "", *, message: str | None = None, parts: int = 0
    ) -> PostedMessageRecord:
        """Return what is kept of a run's messages, for a worker that takes the thread over.

        `message` and `parts` are what workers before it could save.
        """
        run_id = run_id or self.post.run_id
        await self.rig.stores.redis.call("DEL", self.rig.stores.redis.key("run", run_id))
        record = await posted(self.rig, self.request, run_id)
        if message is not None:
            await record.save_message(message)
        if parts:
            await record.save_part(parts)
        return record

    async def decide(self, outcome: Outcome) -> None:
        """End the run with this outcome, whoever works on it."""
        stores = self.rig.stores
        lease = await stores.leases.take(self.request.thread_key)
        await stores.runs.finish(self.post.run_id, outcome, CallerState(), lease)

    def open(
        self,
        *,
        stream_seconds: float = 240.0,
        edit_seconds: float = 300.0,
        pace: float = 0.02,
        is_quick: bool = False,
        **changes: Any,
    ) -> AbstractAsyncContextManager[Surface]:
        """The surface of a run that has its message already, unless it `is_quick`."""
        surfaces = self.surfaces(stream_seconds, edit_seconds, pace, is_quick=is_quick)
        return surfaces(self.request.model_copy(update=changes), self.post)

    def surfaces(
        self,
        stream_seconds: float = 240.0,
        edit_seconds: float = 300.0,
        pace: float = 0.02,
        *,
        is_quick: bool = False,
    ) -> OpenSurface:
        async def read(_: Request, handle: str) -> bytes:
            if handle not in self.artifacts:
                raise ToolError("gone")
            return self.artifacts[handle]

        clients, identity = self.rig.clients, self.rig.identity
        surfaces = RunMessages(
            clients=clients,
            identity=identity,
            status=self.rig.slack.status,
            people=self.rig.slack.people,
            streams=Streams(clients, identity, lifetime=stream_seconds),
            read_artifact=read,
            name_of=naming(self.rig.slack.people, self.rig.slack.access),
            note_stale=self._note_stale,
            questions_of=self._questions_of,
            waits=self.rig.app.waits,
            patience=60.0 if is_quick else 0.0,
            pace=pace,
            edit_seconds=edit_seconds,
        )

        @asynccontextmanager
        async def with_message(request: Request, post: PostedMessages) -> AsyncGenerator[Surface]:
            async with surfaces.open(request, post) as surface:
                await surface.begin()
                yield surface

        return surfaces.open if is_quick else with_message

    async def _questions_of(self, request: Request, _run_id: str) -> list[str]:
        return [request.ts]

    async def _note_stale(self, thread_key: str) -> None:
        self.stale.append(thread_key)

    def replies(self, viewer: str | None = None) -> list[dict[str, Any]]:
        return self.ws.messages(GENERAL, self.request.thread, viewer)[1:]

    def calls(self, method: str) -> list[Effect]:
        return [e for e in self.ws.effects if e.method == method]

    def file_names(self) -> list[str]:
        return [f["name"] for m in self.replies() for f in m.get("files", ())]


def refuse_streams(ws: Workspace) -> None:
    """As in a conversation where Slack streams nothing."""
    ws.faults.fail("chat.startStream", "method_not_supported_for_channel_type", times=99)


def button(message: dict[str, Any], action: str) -> dict[str, Any]:
    rows = [block["elements"] for block in message["blocks"] if block["type"] == "actions"]
    return next(each for row in rows for each in row if each["action_id"] == action)


async def posted(rig: Rig, request: Request, run_id: str = "run_1") -> PostedMessageRecord:
    """Return what is kept of a run's messages, for a worker that takes the thread over."""
    own = request.model_copy(update={"id": f"req_of_{run_id}"})  # each run is that of a request
    lease, _ = await rig.stores.runs.start(own, run_id)
    return rig.stores.runs.messages(run_id, lease)
