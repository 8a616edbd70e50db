"""Transcriptions: POST /audio/transcriptions, as strict as the service's document.

No model listens here: `spoken` makes a sound file that carries what is said in it, and that is what
a transcription of it returns. Any other file is silent.
"""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import BodyPartReader, web

from . import errors, items

FORMATS = ("flac", "m4a", "mp3", "mp4", "mpeg", "mpga", "oga", "ogg", "wav", "webm")
MAX_BYTES = 25 * 1024 * 1024
MODELS = ("gpt-transcribe", "gpt-4o-transcribe", "gpt-4o-mini-transcribe", "whisper-1", "gpt-4o-transcribe-diarize")  # fmt: skip
_BY_DURATION = ("gpt-transcribe", "whisper-1")
"""Models that are billed by the length of the sound; the others by tokens."""
_FIELDS = {
    "file", "model", "chunking_strategy", "include[]", "keywords[]", "known_speaker_names[]",
    "known_speaker_references[]", "language", "languages[]", "prompt", "response_format", "stream",
    "temperature", "timestamp_granularities[]",
}  # fmt: skip
_ALL_FORMATS = ("json", "text", "srt", "verbose_json", "vtt", "diarized_json")
_OFFERED = {
    "whisper-1": ("json", "text", "srt", "verbose_json", "vtt"),
    "gpt-4o-transcribe-diarize": ("json", "text", "diarized_json"),
}
_MAGIC = {
    "wav": (0, b"RIFF"),
    "flac": (0, b"fLaC"),
    "ogg": (0, b"OggS"),
    "webm": (0, b"\x1a\x45\xdf\xa3"),
    "mp4": (4, b"ftyp"),
}
_SAID, _RATE, _SHORTEST, _LONGEST_WHOLE = b"said", 8_000, 0.1, 30.0
_TOKENS_A_SECOND = 10

Line = tuple[float, float, str]
"""From when to when, in seconds, what is said."""


@dataclass(slots=True)
class Heard:
    """A transcription that was asked for: the fields and the file of the form, with the error, if any."""

    fields: dict[str, list[str]]
    name: str = ""
    content_type: str = ""
    size: int = 0
    at: float = field(default_factory=time.time)
    error: dict[str, Any] | None = None


def spoken(lines: Sequence[Line], *, seconds: float | None = None, kind: str = "wav") -> bytes:
    """Return a sound file in which `lines` are said: a "wav", or the shell of an "mp4" or a "webm"."""
    length = seconds if seconds is not None else max((end for _, end, _ in lines), default=1.0)
    said = json.dumps({"seconds": length, "lines": list(lines)}).encode()
    if kind == "mp4":
        handler = _box(b"hdlr", b"\0" * 8 + b"soun" + b"\0" * 13)
        movie = _box(b"moov", _box(b"trak", _box(b"mdia", handler)))
        return _box(b"ftyp", b"mp42\0\0\0\0mp42isom") + movie + _box(_SAID, said)
    if kind == "webm":
        return b"\x1a\x45\xdf\xa3\x84webm\x86A_OPUS" + _box(_SAID, said)
    samples = b"\x80" * round(length * _RATE)
    described = struct.pack("<HHIIHH", 1, 1, _RATE, _RATE, 1, 8)
    parts = ((b"fmt ", described), (_SAID, said), (b"data", samples))
    body = b"".join(
        name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2) for name, data in parts
    )
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WAVE" + body


def _box(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data) + 8) + name + data


def _heard(data: bytes) -> tuple[float, list[Line]]:
    """Return the length in seconds and what is said in a file of `spoken`."""
    start = data.find(b"{", data.find(_SAID)) if _SAID in data else -1
    if start < 0:
        return 1.0, []
    text = data[start:].decode("utf-8", "ignore")
    found = json.JSONDecoder().raw_decode(text)[0]
    return float(found["seconds"]), [(start, end, text) for start, end, text in found["lines"]]


async def read_form(http: web.Request) -> tuple[Heard, bytes]:
    """Return the form of a request, and the bytes of its file. Raises ApiError."""
    if http.content_type != "multipart/form-data":
        raise errors.ApiError(400, "Invalid content type: send multipart/form-data.")
    heard, data = Heard({}), b""
    async for part in await http.multipart():
        if not isinstance(part, BodyPartReader):
            raise errors.ApiError(400, "A part of the form is a form itself.")
        if part.name == "file":
            heard.name, data = part.filename or "", bytes(await part.read())
            heard.content_type, heard.size = part.headers.get("Content-Type", ""), len(data)
            heard.fields.setdefault("file", [])
        else:
            heard.fields.setdefault(part.name or "", []).append(await part.text())
    return heard, data


def transcribed(heard: Heard, data: bytes) -> web.Response:
    """Return the transcription that a form asks for. Raises ApiError."""
    model, form = _checked(heard)
    if len(data) > MAX_BYTES:
        raise errors.ApiError(
            413, f"Maximum content size limit ({MAX_BYTES}) exceeded ({len(data)} bytes read)"
        )
    _check_file(heard.name, data)
    seconds, lines = _heard(data)
    if seconds < _SHORTEST:
        raise errors.ApiError(
            400,
            "Audio file is too short. Minimum audio length is 0.1 seconds.",
            code="audio_too_short",
            param="file",
        )
    if form == "diarized_json" and seconds > _LONGEST_WHOLE and not heard.fields.get("chunking_strategy"):  # fmt: skip
        raise errors.ApiError(
            400, "chunking_strategy is required for diarization models", param="chunking_strategy"
        )
    text = " ".join(text for _, _, text in lines)
    if form in ("text", "srt", "vtt"):
        return web.Response(text=f"{text}\n", content_type="text/plain")
    return web.json_response(
        {"text": text, **_more(form, seconds, lines), "usage": _usage(model, seconds, text)},
        headers={"x-request-id": items.new_id("req")},
    )


def _checked(heard: Heard) -> tuple[str, str]:
    """Return the model and the format of the response that a form asks for."""
    for name in heard.fields:
        if name not in _FIELDS:
            raise errors.unknown_parameter(name)
    for name in ("file", "model"):
        if name not in heard.fields:
            raise errors.missing_parameter(name)
    one = {name: values[-1] for name, values in heard.fields.items() if values}
    model, form = one["model"], one.get("response_format", "json")
    if model not in MODELS:
        raise errors.ApiError(
            404,
            f"The model `{model}` does not exist or you do not have access to it.",
            code="model_not_found",
        )
    if form not in _ALL_FORMATS:
        raise errors.invalid_value("response_format", f"it must be one of {', '.join(_ALL_FORMATS)}.")  # fmt: skip
    if form not in _OFFERED.get(model, ("json", "text")):
        raise errors.ApiError(
            400,
            f"response_format '{form}' is not compatible with model '{model}'. Use 'json' or 'text' "
            "instead.",
            code="unsupported_value",
            param="response_format",
        )
    if "timestamp_granularities[]" in heard.fields and form != "verbose_json":
        raise errors.invalid_value(
            "timestamp_granularities", "response_format must be verbose_json to use it."
        )
    return model, form


def _check_file(name: str, data: bytes) -> None:
    ending = name.rpartition(".")[2].lower()
    at, magic = _MAGIC.get({"m4a": "mp4"}.get(ending, ending), (0, b""))
    if ending not in FORMATS:
        raise errors.ApiError(
            400,
            f"Unrecognized file format. Supported formats: {list(FORMATS)}",
            param="file",
        )
    if not data or data[at : at + len(magic)] != magic:
        raise errors.ApiError(
            400,
            "Audio file might be corrupted or unsupported",
            code="invalid_value",
            param="file",
        )


def _more(form: str, seconds: float, lines: Sequence[Line]) -> dict[str, Any]:
    if form == "verbose_json":
        rest = {"tokens": [], "temperature": 0.0, "avg_logprob": -0.2, "seek": 0}
        segments = [
            {"id": at, "start": start, "end": end, "text": f" {text}", **rest}
            | {"compression_ratio": 1.0, "no_speech_prob": 0.01}
            for at, (start, end, text) in enumerate(lines)
        ]
        return {
            "task": "transcribe",
            "language": "english",
            "duration": seconds,
            "segments": segments,
        }
    if form == "diarized_json":
        return {
            "task": "transcribe",
            "duration": seconds,
            "segments": [
                {"type": "transcript.text.segment", "id": f"seg_{at}", "speaker": "AB"[at % 2]}
                | {"start": start, "end": end, "text": text}
                for at, (start, end, text) in enumerate(lines)
            ],
        }
    return {}


def _usage(model: str, seconds: float, text: str) -> dict[str, Any]:
    if model in _BY_DURATION:
        return {"type": "duration", "seconds": seconds}
    heard, written = round(seconds * _TOKENS_A_SECOND), max(1, len(text) // 4)
    return {
        "type": "tokens",
        "input_tokens": heard,
        "input_token_details": {"text_tokens": 0, "audio_tokens": heard},
        "output_tokens": written,
        "total_tokens": heard + written,
    }
