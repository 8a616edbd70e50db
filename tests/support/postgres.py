"""A real PostgreSQL server for the tests that need one."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """Start a server on loopback, as a user of its own where the tests run as root, and yield the
    address for its superuser. Skips where there is none; with CI=true that is a failure."""
    initdb = shutil.which("initdb") or next(
        (str(path) for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")), None
    )
    if not initdb:
        _missing("PostgreSQL's server programs (Debian: postgresql)")
    user = "postgres" if os.geteuid() == 0 else None
    if user and user not in {each.pw_name for each in pwd.getpwall()}:
        _missing("a user postgres: the server refuses to run as root")
    programs = Path(initdb).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Not pytest's own folder: nobody but its owner gets in there, and the server is another user.
    with tempfile.TemporaryDirectory(prefix="bot-postgres-") as folder:
        if user:
            shutil.chown(folder, user)

        def run(*command: str | Path) -> None:
            subprocess.run(command, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL)

        data = Path(folder) / "data"
        run(programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync")
        control = (programs / "pg_ctl", "-D", data, "-w")
        options = f"-p {port} -k {folder} -h 127.0.0.1 -F"
        run(*control, "-o", options, "-l", f"{folder}/log", "start")
        try:
            yield f"postgresql+psycopg://postgres@127.0.0.1:{port}/postgres"
        finally:
            run(*control, "-m", "immediate", "stop")


def _missing(what: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(f"needs {what}")
    pytest.skip(f"needs {what}")
