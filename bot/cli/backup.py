"""`bot backup` and `bot restore`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.output import print_lines
from bot.cli.start import configured, configured_beside_dev, run
from bot.core.errors import ConfigurationError
from bot.text.counting import counted

if TYPE_CHECKING:
    from bot.settings import Settings

_File = Annotated[Path, typer.Argument(help="The file of the backup; - for stdout, or for stdin.")]


def backup(
    file: _File,
    files: Annotated[
        bool, typer.Option("--files", help="Include the files and tables that tools saved.")
    ] = False,
) -> None:
    """Write what must not be lost to a file.

    It is sealed with BOT_ENCRYPTION_KEYS.
    """
    lines = run(back_up(configured_beside_dev(), file, with_files=files))
    print_lines(lines, to_stderr=file == Path("-"))


def restore(
    file: _File,
    replace: Annotated[
        bool, typer.Option("--replace", help="First delete what Redis holds.")
    ] = False,
    unsealed: Annotated[
        bool,
        typer.Option("--unsealed", help="Take a file that is not sealed, although keys are set."),
    ] = False,
) -> None:
    """Write a backup back, to an empty Redis.

    No worker may run meanwhile; start them afterwards.
    """
    settings = configured()
    with stdin_as_file() if file == Path("-") else nullcontext(file) as path:
        print_lines(run(put_back(settings, path, replace=replace, unsealed=unsealed)))


@contextmanager
def stdin_as_file() -> Generator[Path]:
    """Keep stdin in a file meanwhile: a backup is read to its end before anything is written."""
    if sys.stdin.isatty():
        raise ConfigurationError(
            "Nothing comes in: give a file, or pipe a backup into this command."
        )
    with tempfile.NamedTemporaryFile() as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
        file.flush()
        yield Path(file.name)


async def back_up(settings: Settings, file: Path, *, with_files: bool) -> list[str]:
    """Write a backup, with an entry in the audit log after. Return the lines to print."""
    from bot.app.features import families_of
    from bot.cli.operator import open_stored, record, where
    from bot.ops.backup.making import make_backup, sealing_of

    sealing = sealing_of(settings)
    async with open_stored(settings) as stores:
        _, count = await make_backup(
            stores.redis, file, sealing, families_of(settings), with_files=with_files
        )
    await record(settings, "backed up")
    lines = [f"Wrote {counted(count, 'key')} of {where(settings)} to {file}."]
    if not sealing.is_sealed:
        lines.append(
            "! The file is not sealed: whoever reads it reads what people asked. Set BOT_ENCRYPTION_KEYS."
        )
    return lines


async def put_back(
    settings: Settings, file: Path, *, replace: bool, unsealed: bool = False
) -> list[str]:
    """Restore a backup, with an entry in the audit log after. Return the lines to print."""
    from bot.app.features import families_of
    from bot.app.run_setup import redis_and_stores
    from bot.cli.operator import record, where
    from bot.ops.backup.making import sealing_of
    from bot.ops.backup.restoring import check_backup, restore_backup

    sealing, families = sealing_of(settings), families_of(settings)
    check_backup(
        file, sealing, families, unsealed=unsealed
    )  # before an embedded Redis makes its folder
    async with redis_and_stores(settings, data_dir=settings.bot_data_dir / "redis") as (_, stores):
        done = await restore_backup(
            stores, file, sealing, families, replace=replace, unsealed=unsealed
        )
    await record(settings, f"restored a backup of {done.header.made_at:%Y-%m-%d %H:%M} UTC")
    lines = [
        f"Wrote {counted(done.keys, 'key')} of {done.header.made_at:%Y-%m-%d %H:%M} UTC to "
        f"{where(settings)}; {done.expired:,} had expired since.",
    ]
    if done.requests:
        lines.append(
            f"{counted(done.requests, 'question')} will continue. Whatever they want to change "
            "needs an approval, as it may have been done since."
        )
    if done.approvals:
        lines.append(f"{counted(done.approvals, 'approval')} will be asked for again.")
    lines += [f"! Not asked, as its time has passed: {request}" for request in done.missed]
    lines.append("People who were erased since then are back: run `bot erase` for them again.")
    return lines
