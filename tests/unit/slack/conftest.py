import pytest

from bot.local.workspace import Workspace
from tests.unit.slack.rig import listening


@pytest.fixture
async def ws():
    async with Workspace.open() as workspace:
        yield workspace


@pytest.fixture
async def rig(ws):
    async with listening(ws) as connected:
        yield connected
