import pytest

from bot.core.request import Entry, Request
from bot.dev.workspace import ADA, Workspace
from tests.unit.slack.rig import listening, wired
from tests.unit.slack.scene import GENERAL, Thread, posted


@pytest.fixture
async def ws(redis_url):
    async with Workspace.open() as workspace:
        yield workspace


@pytest.fixture
async def rig(ws):
    async with listening(ws) as connected:
        yield connected


@pytest.fixture
async def thread(ws):
    """A question of Ada's, and a way to open the surface of its run."""
    async with wired(ws) as rig:
        said = await ws.say(ADA, GENERAL, rig.mention("how did sales go?"))
        request = Request(
            entry=Entry.MENTION,
            team=ws.team_id,
            channel=GENERAL,
            thread=said["ts"],
            ts=said["ts"],
            user=ADA,
            text="how did sales go?",
        )
        yield Thread(ws, rig, request, await posted(rig, request))
