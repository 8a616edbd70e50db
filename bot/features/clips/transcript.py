"""Transcripts: what is said in a clip, and when."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

_CUE = re.compile(r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,]\d{1,3}[ \t]+-->")
_TAG = re.compile(r"<[^<>\n]{0,200}>")


class Said(BaseModel):
    """What is said from `start` on, in seconds; `speaker` is a label, "" if speakers are not told apart."""

    model_config = ConfigDict(frozen=True)

    start: float
    text: str
    speaker: str = ""

    @property
    def line(self) -> str:
        """The words after their time: `[0:12] A: Good morning`."""
        words = f"{self.speaker}: {self.text}" if self.speaker else self.text
        return f"[{clock(self.start)}] {words}"


class Transcript(BaseModel):
    """All that is said in a clip of so many `seconds`, in order; without `has_times` as one line."""

    model_config = ConfigDict(frozen=True)

    lines: tuple[Said, ...]
    seconds: float | None = None
    has_times: bool = True
    version: int = 1

    @classmethod
    def of(
        cls, lines: Iterable[Said], seconds: float | None, *, has_times: bool = True
    ) -> Transcript:
        """Return a transcript without empty lines, each in one line."""
        flat = (line.model_copy(update={"text": " ".join(line.text.split())}) for line in lines)
        said = tuple(line for line in flat if line.text)
        return cls(lines=said, seconds=seconds, has_times=has_times)

    @classmethod
    def of_captions(cls, captions: str, seconds: float | None) -> Transcript:
        """Return the transcript that WebVTT or a plain text holds."""
        if not captions.lstrip("\ufeff").startswith("WEBVTT"):
            return cls.of([Said(start=0, text=captions)], seconds, has_times=False)
        lines, start, words = list[Said](), -1.0, list[str]()
        for line in (*captions.splitlines(), ""):
            if cue := _CUE.match(line):
                hours, minutes, rest = (int(part or 0) for part in cue.groups())
                start, words = hours * 3600 + minutes * 60 + rest, []
            elif line.strip() and start >= 0:
                words.append(_TAG.sub("", line).strip().removeprefix("- "))
            elif start >= 0:
                lines.append(Said(start=start, text=" ".join(words)))
                start = -1.0
        return cls.of(lines, seconds)

    @property
    def text(self) -> str:
        """One line for each piece, with its time."""
        return "\n".join(line.line for line in self.lines)


def clock(seconds: float) -> str:
    """Return a time in a clip: 0:07, 1:02:03."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
