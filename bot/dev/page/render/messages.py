"""Small facts about people and files for the message templates."""

import zlib
from collections.abc import Mapping
from typing import Any

from bot.dev.page.render.text import clean

AVATARS = 8
_INLINE_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def initials(name: object) -> str:
    """Return one or two letters for an avatar."""
    words = [word for word in clean(name).split() if word[:1].isalnum()]
    return "".join(word[0] for word in words[:2]).upper() or "?"


def avatar(person_id: object) -> str:
    """Return the avatar's colour class, always the same for one id."""
    return f"av{zlib.crc32(clean(person_id).encode()) % AVATARS}"


def size(count: object) -> str:
    """Return a file size in bytes, for people."""
    if not isinstance(count, int | float):
        return ""
    for unit in ("B", "KB", "MB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 10 else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GB"


def file_view(file: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the file template needs of a Slack file object."""
    name = clean(file.get("name") or file.get("title") or "file")
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    return {
        "id": clean(file.get("id")),
        "name": name,
        "title": clean(file.get("title") or name),
        "kind": (clean(file.get("filetype")) or extension or "file").upper()[:5],
        "size": size(file.get("size")),
        "image": file.get("mimetype") in _INLINE_IMAGES,
    }
