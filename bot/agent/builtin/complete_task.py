"""`complete_task`: the return statement of a run, and results in text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json

from bot.core.answers import RESPONSE_TYPES, Answer, stored_name
from bot.core.request import Request
from bot.library.tracing.references import settled
from bot.services.given_schema import (
    GivenModel,
    given_model,
    text_field_of,
    validated,
    validated_at_once,
)
from bot.toolkit.schema import allows_null, strict_schema

NAME = "complete_task"
_DESCRIPTION = (
    "Return the finished result and end the task, in the same response as the last change (a post, a "
    "reminder): it counts if that worked, else you are told. Null for what it does not need."
)
_MOST_BRACES = 200  # of a text, that may begin an object
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class ResponseType:
    """The type of result that a run must return. `text_field` takes plain text when the model does
    not call the tool; None where other values would have to be invented."""

    model: type[BaseModel]
    text_field: str | None

    @classmethod
    async def of(cls, request: Request) -> ResponseType:
        """Return the type that `request` names or, as a JSON schema, brings with it."""
        schema = request.response_schema
        if schema is not None:
            return cls(await given_model(schema, owner="the schema"), text_field_of(schema))
        return _shipped(request.response_type)

    @cached_property
    def definition(self) -> dict[str, Any]:
        """The `complete_task` tool for this type."""
        return {
            "type": "function",
            "name": NAME,
            "description": _DESCRIPTION,
            "parameters": strict_schema(self.model, owner=f"response type {self.model.__name__}"),
            "strict": True,
        }

    async def parse(self, arguments: str) -> BaseModel:
        """Return the result in `arguments` (JSON). Raises pydantic's ValidationError without one."""
        if issubclass(self.model, GivenModel):
            return await validated(self.model, _json(arguments))
        return self.model.model_validate_json(arguments)

    def restored(self, name: str, result: str) -> BaseModel:
        """Return the result that was kept as JSON under the name of its class, which is this type
        or, for text that did not fit into it, `Answer`. It was checked when it was accepted."""
        model = self.model if name == stored_name(self.model) else Answer
        if issubclass(model, GivenModel):
            return model.model_construct(root=json.loads(result))
        return model.model_validate_json(result)

    def from_text(self, text: str) -> BaseModel:
        """Return plain text as a result: `text_field` holds it, every other field is empty. As an
        `Answer` of low confidence where it does not fit: nothing that the model said is lost."""
        if self.text_field and self.model is not Answer:
            with suppress(ValidationError):
                given = _emptiest(self.model) | {self.text_field: text}
                return validated_at_once(self.model, given)
        return Answer(summary=text, confidence="low")


@cache  # one for each of RESPONSE_TYPES: writing the schema costs more than a whole turn
def _shipped(name: str) -> ResponseType:
    model = RESPONSE_TYPES[name]
    return ResponseType(model, model.text_field)


def _json(arguments: str) -> Any:
    """Parse JSON. Raises pydantic's ValidationError."""
    return TypeAdapter(Any).validate_json(arguments)


def json_in(text: str) -> str:
    """Return the longest JSON object in a text, fenced or not; the text itself when there is none."""
    objects, begin = list[str](), text.find("{")
    for _ in range(_MOST_BRACES):
        if begin < 0:
            break
        try:
            _, end = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError):  # a brace of prose, or of an object that is cut
            end = begin + 1
        else:
            objects.append(text[begin:end])
        begin = text.find("{", end)
    return max(objects, key=len, default=text)


_LONGEST_DRAFT = 40_000  # characters of arguments; what is longer is shown when it is whole


class Draft:
    """The text of a result while the arguments of its call arrive."""

    def __init__(self, response_type: ResponseType, filled: Callable[[str], str] = str) -> None:
        self._field = response_type.text_field
        self._filled = filled
        self._arguments = ""
        self._unfilled = ""
        self._text = ""

    def more(self, arguments: str) -> str:
        """Return what more JSON adds to the text; "" before the text's field, and after it."""
        if not self._field or len(self._arguments) > _LONGEST_DRAFT:
            return ""
        self._arguments += arguments
        try:
            given = from_json(self._arguments, allow_partial="trailing-strings")
        except ValueError:  # the model is told when the call is whole
            return ""
        text = given.get(self._field) if isinstance(given, dict) else None
        if not isinstance(text, str):
            return ""
        if next(reversed(given)) != self._field:  # another field has begun: this one is whole
            self._field = None
        else:
            text = settled(text)
        if text == self._unfilled:  # a reference is still arriving
            return ""
        self._unfilled, text = text, self._filled(text)
        added, self._text = text[len(self._text) :], text
        return added


def _emptiest(model: type[BaseModel]) -> dict[str, Any]:
    """Return a value for each field: null, [], "" or the last value of an enumeration, by our
    convention the weakest (`confidence: low`). No number is invented."""
    properties = strict_schema(model, owner=model.__name__)["properties"]
    return {name: _empty_value(schema) for name, schema in properties.items()}


def _empty_value(schema: dict[str, Any]) -> Any:
    if allows_null(schema):
        return None
    if "enum" in schema:
        return schema["enum"][-1]
    return {"array": [], "string": ""}.get(schema.get("type", ""))


def describe_errors(error: ValidationError, limit: int = 8) -> str:
    """Return the errors as feedback for the model, a line for each field."""
    lines = [
        f"- {'.'.join(map(str, detail['loc'])) or 'arguments'}: {detail['msg']}"
        for detail in error.errors(include_url=False, include_input=False)[:limit]
    ]
    return "\n".join(lines)


_LONGEST = 240  # characters

_BEGINS = re.compile(
    r"""(?ix) ^\W* (?: (?:ok(?:ay)?|sure|of\ course|certainly|great|natürlich|gerne|klar|bien\ sûr|d'accord
        |claro|por\ supuesto|certo|はい|承知しました|かしこまりました|now|next|first|then|jetzt|nun|zuerst
        |maintenant|d'abord|ahora|primero|agora|primeiro|次に|まず)\W+ )? (?:
      let\ me\b(?!\ know) | i(?:'|’)?ll\b | i\ will\b | i(?:'|’)?m\ (?:going\ to|checking|looking)\b
      | i\ am\ going\ to\b | one\ moment | give\ me\ a
    | ich\ (?:werde|schaue|sehe\ (?:mir|nach)|prüfe|suche|lese|rechne) | lass(?:en\ sie)?\ mich
    | (?:schaue|sehe|prüfe|suche|lese|rechne)\ ich\b
      | (?:einen|ein)\ (?:moment|augenblick)
    | je\ (?:vais|regarde|vérifie|cherche|consulte) | laisse[zs]?[-\ ]moi | un\ (?:instant|moment)
    | voy\ a | d[ée]j(?:a|e)me | perm[ií]t(?:a|e)me | un\ momento
    | vou\b | deix(?:a|e)-?\ ?me | um\ (?:momento|instante)
    | 少々お待ち | (?:それでは|では)?[、\s]*(?:確認|調査|検索|計算)(?:します|いたします|してみます) | 調べます
    )"""
)


def announces_work(text: str) -> bool:
    """Return whether a text says what will be done and nothing else: short, without figures, a list or
    a question, and its first or last sentence begins in the first person. A wrong guess costs one more
    call."""
    words = text.strip()
    if len(words) > _LONGEST or "\n" in words or re.search(r"[0-9?？]", words):
        return False
    sentences = re.split(r"(?<=[.!:])\s+|(?<=。)", words.rstrip("。"))
    return any(map(_BEGINS.match, (sentences[0], sentences[-1]))) or bool(
        re.search(r"(?:確認|調査|検索|計算)(?:します|いたします)。?$|お待ちください。?$", words)
    )
