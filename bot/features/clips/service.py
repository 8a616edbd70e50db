"""Transcriptions by the model service: POST /audio/transcriptions."""

from __future__ import annotations

import asyncio
import io
import logging
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from bot.core.budgets import Spent
from bot.core.chain import Usage
from bot.core.errors import ModelErrorKind, ToolError
from bot.features.clips.settings import ClipSettings
from bot.features.clips.transcript import Said, Transcript
from bot.runs.policy.spending import Payment

if TYPE_CHECKING:
    from bot.model.sdk import APIStatusError

log = logging.getLogger(__name__)

_SECONDS = 150.0
_LACKS_SECONDS = 600.0
_TOKENS_A_SECOND = 10
"""What a second of sound counts in budgets of tokens, where the service bills by its length."""
_BYTES_A_SECOND = 8_000  # of a recording of speech whose length nobody says
_NO_SUCH_PATH = (404, 405, 501)
_FORM = ("response_format", "timestamp_granularities", "chunking_strategy")
_WHY = {
    ModelErrorKind.AUTHENTICATION: "the model service refuses the key for it",
    ModelErrorKind.QUOTA: "the account at the model service has no credit left",
    ModelErrorKind.OVERLOADED: "the model service is busy or does not answer now; try again later",
    ModelErrorKind.POLICY: "the model service refuses what is said in it",
}


class NotTranscribed(ToolError):
    """The service made no transcript; `kind` says why, and `lacks` that it has no transcription at all."""

    def __init__(self, text: str, kind: ModelErrorKind, *, lacks: bool = False) -> None:
        super().__init__(text)
        self.kind = kind
        self.lacks = lacks


class _Segment(BaseModel):
    start: float = 0.0
    text: str = ""
    speaker: str | None = None


class _Usage(BaseModel):
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int = 0


class _Reply(BaseModel):
    text: str
    segments: list[_Segment] | None = None
    duration: float | None = None
    usage: _Usage | None = None


class Transcriber:
    """The model service as one that listens."""

    def __init__(self, settings: ClipSettings, key: str, base_url: str | None) -> None:
        self.settings = settings
        self._lacks_until = 0.0
        self._key = key
        self._base_url = base_url
        self._takes_form = True  # that with times, which not all servers know

    @property
    def lacks(self) -> bool:
        """Whether the service has said within the last minutes that it offers no transcription."""
        return time.monotonic() < self._lacks_until

    def expected(self, size: int, seconds: float | None) -> Spent:
        """Return what a clip of so many bytes is expected to cost."""
        length = seconds if seconds is not None else size / _BYTES_A_SECOND
        usage = Usage(input_tokens=round(length * _TOKENS_A_SECOND))
        price = self.settings.known_price
        return Spent.of(usage, price.of(length, usage) if price else None)

    async def transcribe(
        self, data: bytes, ending: str, seconds: float | None, payment: Payment
    ) -> Transcript:
        """Return what is said in a clip, and note what it costs in `payment`.

        Raises NotTranscribed, with a sentence for the model.
        """
        try:
            async with asyncio.timeout(_SECONDS):
                raw = await self._post(data, ending)
        except NotTranscribed as error:
            payment.refuse(error.kind)
            raise
        except TimeoutError:
            text = f"Not transcribed: it took longer than {_SECONDS:.0f} s. A shorter clip may do."
            raise NotTranscribed(text, ModelErrorKind.OVERLOADED) from None
        try:
            reply = await asyncio.to_thread(_Reply.model_validate_json, raw)
        except ValidationError:
            log.warning("the model service answered a transcription with something else")
            text = "Not transcribed: the model service answered with something else."
            raise NotTranscribed(text, ModelErrorKind.BAD_REQUEST) from None
        length = self._bill(reply, len(data), seconds, payment)
        return await asyncio.to_thread(_written, reply, length)

    def _bill(
        self, reply: _Reply, size: int, seconds: float | None, payment: Payment
    ) -> float | None:
        """Note the cost of a reply. Return the length of the clip in seconds, None if nobody says it."""
        billed = reply.usage or _Usage()
        told = (billed.seconds, reply.duration, seconds)
        length = next((length for length in told if length is not None), None)
        paid = size / _BYTES_A_SECOND if length is None else length
        usage = Usage(input_tokens=round(paid * _TOKENS_A_SECOND))
        if billed.input_tokens is not None:
            usage = Usage(input_tokens=billed.input_tokens, output_tokens=billed.output_tokens)
        price = self.settings.known_price
        payment.take(usage, price.of(paid, usage) if price else None)
        return length

    async def _post(self, data: bytes, ending: str) -> bytes:
        # This part of OpenAI's SDK takes a tenth of a second to load, which would hold everything.
        await asyncio.to_thread(import_module, "openai.resources.audio.transcriptions")
        from bot.model import sdk
        from bot.model.client import sdk_client
        from bot.model.errors import from_exception

        form = _form_for(self.settings.model) if self._takes_form else {}
        try:
            async with sdk_client(self._key, self._base_url) as client:
                response = await client.audio.transcriptions.with_raw_response.create(
                    file=(f"clip.{ending}", io.BytesIO(data)), model=self.settings.model, **form
                )
                return bytes(response.content)
        except sdk.APIStatusError as error:
            if form and error.status_code in (400, 422) and _is_about_form(error):
                self._takes_form = False
                return await self._post(data, ending)
            raise self._refused(error) from None
        except sdk.OpenAIError as error:
            log.warning("a clip was not transcribed: %s", from_exception(error))
            raise _not_transcribed(ModelErrorKind.OVERLOADED) from None

    def _refused(self, error: APIStatusError) -> NotTranscribed:
        from bot.model.errors import from_exception, said_by_service

        refusal = from_exception(error)
        said = said_by_service(refusal, "")
        log.warning("a clip was not transcribed: %s", said)
        is_missing = refusal.kind is ModelErrorKind.MISSING_MODEL
        if error.status_code in _NO_SUCH_PATH and not is_missing:
            self._lacks_until = time.monotonic() + _LACKS_SECONDS
            return lacking()
        if is_missing:
            text = f"Not transcribed: the model service has no model {self.settings.model}."
            return NotTranscribed(text, refusal.kind)
        if error.status_code == 413:
            text = (
                "Not transcribed: it is larger than the model service takes. Ask for a part of it."
            )
            return NotTranscribed(text, ModelErrorKind.BAD_REQUEST)
        if refusal.kind in _WHY:
            return _not_transcribed(refusal.kind)
        return NotTranscribed(
            f"Not transcribed: the model service cannot hear it. It said: {said}", refusal.kind
        )


def lacking() -> NotTranscribed:
    """Return the error of a service without transcription."""
    return NotTranscribed(
        "Not transcribed: the model service here offers no transcription, so clips cannot be heard. Say "
        "so, and ask for it in writing.",
        ModelErrorKind.BAD_REQUEST,
        lacks=True,
    )


def _not_transcribed(kind: ModelErrorKind) -> NotTranscribed:
    return NotTranscribed(f"Not transcribed: {_WHY[kind]}.", kind)


def _written(reply: _Reply, seconds: float | None) -> Transcript:
    if not reply.segments:
        return Transcript.of([Said(start=0, text=reply.text)], seconds, has_times=False)
    lines = (
        Said(start=max(0.0, segment.start), text=segment.text, speaker=segment.speaker or "")
        for segment in reply.segments
    )
    return Transcript.of(lines, seconds)


def _form_for(model: str) -> dict[str, Any]:
    """Return the parameters with which a model tells times, if it can."""
    if "diarize" in model:
        return {"response_format": "diarized_json", "chunking_strategy": "auto"}
    if "whisper" in model:
        return {"response_format": "verbose_json", "timestamp_granularities": ["segment"]}
    return {"response_format": "json"}


def _is_about_form(error: APIStatusError) -> bool:
    return any(name in str(error.body) + error.message for name in _FORM)
