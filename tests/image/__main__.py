"""The container image: `python -m tests.image` builds it without a container engine, and runs it.

Each step of the Dockerfile runs in a chroot made with debootstrap (as root, on Debian, with network). What
comes out runs as compose.yaml runs it: as user 10001, on a read-only root, with a `/tmp` and a `/data`. It
answers a question in the local workspace, its health check passes, and SIGTERM ends it cleanly. `--folder`
keeps base and packages (1 GB) for the next time.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from bot.dev.model import ResponsesServer, Script, call, finish
from bot.dev.workspace import ADA, Workspace
from tests.image.build import Stage, build
from tests.support.deployment import MODEL, Deployment
from tests.support.runs import answer

_SALES = "C0SALES001"
_CONTAINER = """
root=$1 data=$2 user=$3 workdir=$4 out=$5
mount --bind "$root" "$root"
mount --bind "$data" "$root/data"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
mount -t proc proc "$root/proc"
mount -t tmpfs dev "$root/dev"
for each in null zero random urandom; do touch "$root/dev/$each"; mount --bind "/dev/$each" "$root/dev/$each"; done
mkdir -m 1777 "$root/dev/shm"
mount -o remount,bind,ro "$root"
echo ready > "$out"
exec chroot --userspec="$user" "$root" /usr/bin/env -i "${@:6}"
"""


@asynccontextmanager
async def container(
    image: Stage, data: Path, settings: Mapping[str, str]
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """Run the image's command on a read-only root; `data` is its volume. Killed at the end."""
    variables = [f"{key}={value}" for key, value in {**image.env, **settings}.items()]
    command = (f"--chdir={image.workdir}", *variables, *image.command)
    arguments = map(str, (image.root, data, image.user, image.workdir, data.parent / "mounted"))
    process = await asyncio.create_subprocess_exec(
        *("unshare", "--mount", "bash", "-ec", _CONTAINER, "container", *arguments, *command)
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def healthy(image: Stage, process: asyncio.subprocess.Process) -> None:
    """Wait until the image's own health check passes inside the running container."""
    check = (*("nsenter", "--mount", "--root", "--target", str(process.pid)), *image.health)
    async with asyncio.timeout(90):
        while True:
            assert process.returncode is None, f"it ended with {process.returncode}"
            probe = await asyncio.create_subprocess_exec(
                *check, env=image.env, stderr=subprocess.DEVNULL
            )
            if await probe.wait() == 0:
                return
            await asyncio.sleep(1)


async def tried(image: Stage, folder: Path) -> None:
    """Run, ask, stop; an assertion fails with what was wrong."""
    data = folder / "data"
    data.mkdir(mode=0o700)
    uid, gid = map(int, image.user.split(":"))
    os.chown(data, uid, gid)
    brain = Script([call("calculate", {"expression": "1+1"}), finish(answer("Two."))])
    async with Workspace.open() as ws, ResponsesServer.open(brain=brain) as api:
        settings = {
            "SLACK_BOT_TOKEN": ws.bot_token,
            "SLACK_APP_TOKEN": ws.app_token,
            "SLACK_API_URL": ws.api_url,
            "OPENAI_API_KEY": api.api_key,
            "OPENAI_BASE_URL": api.url,
            "OPENAI_MODEL": MODEL,
        }
        async with container(image, data, settings) as process:
            await healthy(image, process)
            bot = Deployment(ws, api)
            asked = await bot.ask(ADA, _SALES, "How many?")
            await bot.answered(_SALES, asked, seconds=60)
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(30):
                assert await process.wait() == 0
    assert any((data / "redis").iterdir()), "nothing was kept in /data"


def main() -> None:
    """Build the image, then try it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        image = build(folder)
        size = subprocess.check_output(["du", "-sm", image.root], text=True).split()[0]
        print(f"built: {size} MB", flush=True)
        asyncio.run(tried(image, Path(temporary)))
    print("answered, healthy, stopped cleanly on a read-only root")


if __name__ == "__main__":
    main()
