"""Secrets in files, as Docker, Podman and Kubernetes hand them to a container."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path


def odd_character(secret: str) -> str:
    """Return what the first character is that no key, token or header can have; "" if there is none.

    A key copied from a web page or a chat often has a shortening mark, a blank or a line break.
    """
    odd = next((each for each in secret if not " " <= each <= "~"), "")
    return odd and f"{unicodedata.name(odd, 'an unprintable character').lower()} (U+{ord(odd):04X})"


def secret_folder() -> Path | None:
    """Return the folder with a file for each secret, if there is one."""
    folder = Path(os.environ.get("BOT_SECRETS_DIR", "/run/secrets"))
    return folder if folder.is_dir() else None


def secret_from_file(name: str) -> str:
    """Return what the file of this name holds, in lower case too; "" without one. Raises OSError."""
    folder = secret_folder()
    files = [folder / each for each in (name, name.lower())] if folder else []
    return next((file.read_text().strip() for file in files if file.is_file()), "")
