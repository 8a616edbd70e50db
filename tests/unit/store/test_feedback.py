"""What people said of answers, kept and listed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from redis.asyncio import Redis

from bot.core.feedback import Feedback
from bot.store import Stores
from tests.unit.test_commands import bot

NOW = datetime.now(UTC)


def said(run: str, user: str = "U1", **more: object) -> Feedback:
    fields = {"run_id": run, "user": user, "verdict": "bad", "team": "T1", "channel": "C1"}
    return Feedback.model_validate(fields | more)


async def test_the_newest_comes_first_and_a_person_counts_once_per_run(stores: Stores) -> None:
    """Who changes their mind, or adds a comment, replaces what they said."""
    await stores.feedback.save(said("run_1", at=NOW - timedelta(minutes=5)))
    await stores.feedback.save(said("run_2", at=NOW - timedelta(minutes=4)))
    await stores.feedback.save(said("run_1", "U2", at=NOW - timedelta(minutes=3)))
    await stores.feedback.save(said("run_1", at=NOW, comment="Wrong year."))
    kept = await stores.feedback.latest(10)
    assert [(each.run_id, each.user) for each in kept] == [
        ("run_1", "U1"),
        ("run_1", "U2"),
        ("run_2", "U1"),
    ]
    assert kept[0].comment == "Wrong year."
    assert len(await stores.feedback.latest(2)) == 2


async def test_what_cannot_be_read_is_left_out(stores: Stores, redis: Redis) -> None:
    """Reliability 8: the others are still listed."""
    await stores.feedback.save(said("run_1"))
    await stores.feedback.save(said("run_2"))
    await redis.set("bot:v1:feedback:run_1:U1", "{half", ex=60)
    assert [each.run_id for each in await stores.feedback.latest(10)] == ["run_2"]


async def test_feedback_is_listed(tmp_path: Path, stores: Stores, redis_url: str) -> None:
    """What people said of answers, for whoever runs the bot: as a table, or as JSON."""
    await stores.feedback.save(said("run_1", verdict="good", at=NOW))
    await stores.feedback.save(
        said("run_2", comment="Old\nfigures.", at=NOW + timedelta(minutes=1))
    )
    listed = await bot(tmp_path, "feedback", REDIS_URL=redis_url)
    assert listed.code == 0, listed.err
    assert "run_2" in listed.out.splitlines()[1]
    assert "Old figures." in listed.out
    assert "1 good, 1 bad." in listed.out
    as_json = await bot(tmp_path, "feedback", "--json", "--limit", "1", REDIS_URL=redis_url)
    [line] = as_json.out.splitlines()
    assert json.loads(line)["comment"] == "Old\nfigures."
