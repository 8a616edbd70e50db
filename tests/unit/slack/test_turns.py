"""Whose turn it is: what was written first, whenever it came (reliability 2)."""

from __future__ import annotations

import asyncio

from bot.slack.edge.tasks import OrderedLocks


class Line:
    """Tasks that note their name once it is their turn, behind one that `release` ends."""

    def __init__(self) -> None:
        self.turns = OrderedLocks()
        self.served: list[str] = []
        self.release = asyncio.Event()

    async def join(self, name: str, when: float, key: str = "a") -> asyncio.Task[None]:
        async def wait() -> None:
            async with self.turns.of(key, when):
                self.served.append(name)
                await self.release.wait()

        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        return task


async def test_what_was_written_first_is_next_whenever_it_came() -> None:
    line = Line()
    tasks = [await line.join(name, when) for name, when in (("1", 1), ("3", 3), ("2", 2))]
    tasks += [await line.join("2 again", 2), await line.join("elsewhere", 9, key="b")]
    assert line.served == ["1", "elsewhere"]
    line.release.set()
    await asyncio.gather(*tasks)
    assert line.served == ["1", "elsewhere", "2", "2 again", "3"]


async def test_who_gives_up_holds_up_nobody() -> None:
    """While they wait, and in the instant in which their turn comes."""
    line = Line()
    line.release.set()
    async with line.turns.of("a"):
        waits, is_next, last = [await line.join(str(number), number) for number in range(3)]
        waits.cancel()
        await asyncio.sleep(0)
    is_next.cancel()
    async with asyncio.timeout(5):
        await last
    assert line.served == ["2"]


async def test_nothing_is_kept_of_a_line_that_is_over() -> None:
    line = Line()
    line.release.set()
    await asyncio.gather(*[await line.join(str(number), number) for number in range(3)])
    assert not vars(line.turns)["_waiters"]
