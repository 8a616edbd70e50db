"""The shapes that stores are made of: a value, a hash of models, names by time, a set of names."""

from __future__ import annotations

import pytest
from pydantic import BaseModel
from redis.asyncio import Redis

from bot.core.errors import CorruptValue
from bot.store import Stores
from bot.store.values import Hash, Names, TimedSet, Value, get_many


class Note(BaseModel):
    version: int = 1
    text: str


ONE, TWO = Note(text="one"), Note(text="two")


async def test_a_value_is_stored_changed_and_deleted(stores: Stores, redis: Redis) -> None:
    key = stores.redis.key("note", "a")
    value = Value(stores.redis, key, Note, 60)
    assert await value.get() is None
    assert await value.change(lambda before: before and TWO) is None
    await value.set(ONE)
    await redis.expire(key, 10)
    assert await value.get() == ONE
    assert await redis.ttl(key) == 10
    assert await value.get(renew=True) == ONE
    assert await redis.ttl(key) == 60
    assert await value.change(lambda before: TWO if before == ONE else None) == TWO
    assert await value.get() == TWO
    await value.delete()
    assert await value.get_readable() is None


async def test_a_change_is_made_of_what_another_process_has_just_stored(stores: Stores) -> None:
    """Nothing is overwritten unseen: the change is made once more."""
    value, seen = Value(stores.redis, stores.redis.key("note", "a"), Note, 60), list[str]()
    await value.set(ONE)
    raw = TWO.model_dump_json()

    def change(before: Note | None) -> Note | None:
        assert before
        seen.append(before.text)
        return Note(text=f"{before.text}, more")

    script = stores.redis.script
    calls = 0

    async def after_another(name: str, keys: list[str], *args: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 1:
            await stores.redis.call("SET", keys[0], raw, "EX", 60)
        return await script(name, keys, *args)

    vars(stores.redis)["script"] = after_another
    changed = await value.change(change)
    assert changed == await value.get() == Note(text="two, more")
    assert seen == ["one", "two"]


async def test_what_cannot_be_read_is_set_aside_or_skipped(stores: Stores, redis: Redis) -> None:
    """A value says so once; of many, the others are returned."""
    keys = [stores.redis.key("note", name) for name in ("a", "b", "gone")]
    value = Value(stores.redis, keys[0], Note, 60)
    await redis.set(keys[0], "{", ex=60)
    await Value(stores.redis, keys[1], Note, 60).set(TWO)
    assert await get_many(stores.redis, Note, keys) == [TWO]
    assert await get_many(stores.redis, Note, []) == []
    with pytest.raises(CorruptValue):
        await value.get()
    assert await value.get() is None
    assert await redis.get("bot:quarantine:v1:note:a") == "{"


async def test_models_of_a_hash_are_limited_in_number(stores: Stores, redis: Redis) -> None:
    notes = Hash(stores.redis, stores.redis.key("notes"), Note, 60)
    assert await notes.add("1", ONE, most=1)
    assert not await notes.add("2", TWO, most=1)
    await notes.put("2", TWO)
    await redis.hset(notes.key, "3", "damaged")
    await redis.expire(notes.key, 10)
    assert await notes.all() == {"1": ONE, "2": TWO}
    assert await redis.ttl(notes.key) == 10
    assert await notes.all(renew=True)
    assert await redis.ttl(notes.key) == 60
    assert await notes.get("1") == ONE
    assert await notes.get("3") is None
    assert await notes.remove("1")
    assert not await notes.remove("1")
    assert not await notes.remove()


async def test_names_by_time_go_when_their_time_is_over(stores: Stores, redis: Redis) -> None:
    names = TimedSet(stores.redis, stores.redis.key("times"), 60)
    for name, at in (("old", 900.0), ("middle", 950.0), ("new", 1_000.0)):
        await names.add(name, at)
    assert await redis.zrange(names.key, 0, -1) == ["middle", "new"]
    assert await redis.ttl(names.key) == 60
    assert await names.between(940, 960) == ["middle"]
    assert await names.between(0, most=1) == ["middle"]
    assert await names.newest(1) == ["new"]
    await stores.redis.together(*names.adding("middle", 2_000.0, keep_first=True))
    assert await redis.zscore(names.key, "middle") is None  # it kept its time, which was over
    await names.remove("new")
    await names.remove()
    assert await names.newest(5) == []


async def test_a_set_of_names_is_kept_while_it_is_read(stores: Stores, redis: Redis) -> None:
    names = Names(stores.redis, stores.redis.key("names"), 60)
    await names.add(["b", "a"])
    await names.add([])
    await redis.expire(names.key, 10)
    assert await names.all() == ["a", "b"]
    assert await redis.ttl(names.key) == 60
    await names.remove(["a"])
    await names.remove([])
    assert await names.all() == ["b"]
