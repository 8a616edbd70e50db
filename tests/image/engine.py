"""The container engine of this machine: Docker, or podman with podman-compose.

Where podman is used, it gets settings of its own: no systemd, no rights to raise limits, and a store
beside the user's. Where no registry can be reached, base images are made with debootstrap.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHON = "python:3.13-slim-trixie"
VALKEY = "valkey/valkey:9-alpine"
IMAGE = "slack-answer-bot"
LIBRARIES = "slack-answer-bot-libraries"
_INSIDE = "ca-certificates,python3.13,python3-pip,python3-venv,valkey-server,valkey-tools"
_CONTAINERS = """
[containers]
default_ulimits = ["nofile={files}:{files}", "nproc=20000:20000"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
[network]
network_backend = "netavark"
"""
_STORAGE = """
[storage]
driver = "overlay"
graphroot = "{store}/images"
runroot = "{store}/run"
"""


@dataclass(frozen=True)
class Engine:
    """Commands of a container engine; `build_flags` let a build reach the package registries."""

    command: str
    compose: tuple[str, ...]
    environment: Mapping[str, str]
    build_flags: tuple[str, ...] = ()

    async def run(self, *arguments: str, check: bool = True) -> str:
        """Return what the engine prints. Raises AssertionError with its errors if it fails."""
        out = await run(self.command, *arguments, environment=self.environment, check=check)
        return out.decode().strip()

    async def build(self, image: str, *options: str) -> None:
        """Build the Dockerfile."""
        await self.run("build", *self.build_flags, *options, "--tag", image, str(ROOT))

    async def has(self, *images: str) -> bool:
        """Return whether the engine's store has the images."""
        try:
            await self.run("image", "inspect", *images)
        except AssertionError:
            return False
        return True

    async def size(self, image: str) -> int:
        """Return the size of an image in bytes."""
        return int(await self.run("image", "inspect", "--format", "{{.Size}}", image))


def libraries_image() -> str:
    """Return the name of the Dockerfile's first stage, made of the files that decide what is in it."""
    files = (ROOT / "Dockerfile", ROOT / "requirements.txt")
    made_of = hashlib.sha256(b"".join(path.read_bytes() for path in files))
    return f"{LIBRARIES}:{made_of.hexdigest()[:12]}"


def find_engine() -> Engine | None:
    """Return the engine of this machine, or None."""
    if _works("docker", "info") and _works("docker", "compose", "version"):
        return Engine("docker", ("docker", "compose"), os.environ)
    if os.geteuid() == 0 and all(map(shutil.which, ("podman", "podman-compose", "runc"))):
        flags = (
            *("--pull=never", "--network", "host"),
            *("--format", "docker"),  # podman's own has no health check
            *("--volume", "/etc/ssl/certs:/etc/ssl/certs:ro"),
        )
        return Engine("podman", ("podman-compose",), _podman_settings(), flags)
    return None


async def provide_bases(engine: Engine) -> None:
    """Have the base images in the engine's store: pulled, or else made of Debian's packages."""
    for image in (PYTHON, VALKEY):
        if not await engine.has(image):
            try:
                await engine.run("pull", "--quiet", image)
            except AssertionError:
                await asyncio.to_thread(_make_stand_ins, engine)


async def run(
    *command: str,
    environment: Mapping[str, str],
    folder: Path = ROOT,
    given: bytes = b"",
    check: bool = True,
) -> bytes:
    """Return what a command prints, with `given` on its input. Raises AssertionError if it fails."""
    process = await asyncio.create_subprocess_exec(
        *command,
        env=dict(environment),
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = await process.communicate(given)
    assert not check or process.returncode == 0, (
        f"{' '.join(command)}: {(out + err).decode(errors='replace')[-4_000:]}"
    )
    return out


def _works(*command: str) -> bool:
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, timeout=30).returncode == 0


def _podman_settings() -> Mapping[str, str]:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    store = Path(cache, "slack-answer-bot", "containers")
    store.mkdir(parents=True, exist_ok=True)
    files = min(65_536, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    (store / "containers.conf").write_text(_CONTAINERS.format(files=files))
    (store / "storage.conf").write_text(_STORAGE.format(store=store))
    return {
        **os.environ,
        "CONTAINERS_CONF": str(store / "containers.conf"),
        "CONTAINERS_STORAGE_CONF": str(store / "storage.conf"),
    }


def _make_stand_ins(engine: Engine) -> None:
    """Make one Debian with Python and Valkey, which stands in for both base images."""
    assert shutil.which("debootstrap"), "no registry can be reached, and debootstrap is missing"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "root")
        command = ["debootstrap", "--variant=minbase", f"--include={_INSIDE}", "trixie", str(root)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (root / "usr/local/bin/python").symlink_to("/usr/bin/python3.13")
        server = root / "usr/local/bin/valkey-server"
        server.write_text('#!/bin/sh\nexec /usr/bin/valkey-server "$@" --protected-mode no\n')
        server.chmod(0o755)  # the images of both projects leave it to the network, too
        (root / "data").mkdir()
        os.chown(root / "data", 999, 1000)  # of Valkey in its own image
        packed = Path(folder, "root.tar")
        left_out = ("--exclude=./var/cache/apt/*", "--exclude=./var/lib/apt/lists/*")
        subprocess.run(["tar", "-C", root, *left_out, "-cf", packed, "."], check=True)
        for image, folder_inside in ((PYTHON, "/"), (VALKEY, "/data")):
            change = f"--change=WORKDIR {folder_inside}"
            importing = [engine.command, "import", change, str(packed), image]
            subprocess.run(importing, check=True, env=engine.environment, capture_output=True)
