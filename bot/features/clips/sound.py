"""Sound files by their bytes: what the model service can hear, told before it is paid for.

Only the first bytes and a few names in a container are looked at; nothing is decoded.
"""

from __future__ import annotations

from bot.core.request import FileRef
from bot.toolkit import ToolError

MAX_BYTES = 25_000_000
"""The largest file that OpenAI's API takes is 25 MiB with the form around it."""

_ENDINGS = (
    *(".aac", ".amr", ".flac", ".m4a", ".mp3", ".mpga", ".oga", ".ogg", ".opus", ".wav", ".wma"),
    *(".3gp", ".avi", ".mkv", ".mov", ".mp4", ".mpeg", ".webm"),
)
_TAKEN = "m4a, mp3, mp4, wav, webm, ogg and flac"


def is_clip(file: FileRef) -> bool:
    """Return whether a file is sound or video, by its media type or its name."""
    return file.media_type.startswith(("audio/", "video/")) or file.name.lower().endswith(_ENDINGS)


def ending_of(data: bytes, name: str) -> str:
    """Return the ending that names the format of a file: "m4a".

    Raises ToolError for one that the service cannot hear.
    """
    if not data:
        raise ToolError(f"{name} is empty (0 bytes): it is needed again.")
    if data[4:8] == b"ftyp":
        return _of_mp4(data, name)
    if data.startswith(b"\x1a\x45\xdf\xa3"):
        return _of_webm(data, name)
    for magic, ending in ((b"OggS", "ogg"), (b"fLaC", "flac"), (b"ID3", "mp3")):
        if data.startswith(magic):
            return ending
    if data.startswith(b"RIFF") and data[8:12] == b"WAVE":
        return "wav"
    if data[0] == 0xFF and data[1:2] >= b"\xe0" and data[1] & 0x06:  # a frame of MPEG audio
        return "mp3"
    raise ToolError(f"{name} is in a format that cannot be transcribed. These can: {_TAKEN}.")


def _of_mp4(data: bytes, name: str) -> str:
    if b"enca" in data or b"encv" in data:
        raise ToolError(f"{name} is encrypted, so that nobody can hear it without its key.")
    if b"soun" not in data:  # the handler of a track of sound
        raise ToolError(f"{name} has no sound: there is nothing to hear in it.")
    return "m4a" if data[8:11] == b"M4A" else "mp4"


def _of_webm(data: bytes, name: str) -> str:
    if b"A_" not in data:  # begins the name of each codec for sound
        raise ToolError(f"{name} has no sound: there is nothing to hear in it.")
    return "webm"
