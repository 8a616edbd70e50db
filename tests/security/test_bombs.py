"""Files made to harm whoever opens them: a clear sentence for each, and nothing of the host (13)."""

from __future__ import annotations

import json
from pathlib import Path

from bot.dev.workspace import ADA
from tests.security.bombs import document, hostile_files, workbook
from tests.security.model import question, won_over
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer

SALES, CANARY = "C0SALES001", "CANARY-OF-THE-HOST"
SAID = {
    **dict.fromkeys(("laughs.xlsx", "outside.xlsx", "laughs.docx", "lying.docx"), "is damaged"),
    "zip.xlsx": "unpacks",
    "pages.pdf": "holds no text",
    "outside.docx": "holds no text",
    "outside.html": "&l9;",
    **dict.fromkeys(("good.xlsx", "good.docx"), "WORD"),  # what the others are made of
}
READ = ("read_file", {"file_id": "$file", "sheet": None, "pages": None})


async def read_by_bot(bot: Deployment, files: dict[str, bytes]) -> dict[str, str]:
    """What a model is told of each file, all of them attached at once."""
    threads = {}
    for name, data in files.items():
        asked = question(READ, say=answer("$output"))
        threads[name] = await bot.ask(ADA, SALES, asked, files=[(name, data)])
    for thread in threads.values():
        await bot.answered(SALES, thread, seconds=60)
    told = {}
    for request in bot.api.requests:
        outputs = [i["output"] for i in request.body["input"] if "output" in i]
        for name in threads:
            if outputs and name in str(outputs[-1]):
                told[name] = str(outputs[-1])
    return told


async def test_bombs_and_files_that_reach_outside(redis_url: str, tmp_path: Path) -> None:
    """Entities that grow, archives that unpack to far too much or lie about it, and entities that
    name a file of the host: refused with a sentence, or read without what they asked for."""
    canary = tmp_path / "passwd"
    canary.write_text(CANARY)
    hostile = hostile_files(canary)
    harmless = {"good.xlsx": workbook(), "good.docx": document()}
    async with deployed(won_over, redis_url) as bot:
        told = await read_by_bot(bot, hostile | harmless)
        sent = json.dumps(list(bot.sent()))
    assert {name: text for name, text in told.items() if SAID[name] not in text} == {}
    assert max(map(len, told.values())) < 500
    assert "ha ha" not in str(told)
    assert CANARY not in str(told) + sent
