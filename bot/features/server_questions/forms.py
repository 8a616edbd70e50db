"""Questions of servers to people, and the forms in which people answer them.

A form is what a small part of JSON Schema describes: one level of named fields, each a text, a
number, a yes or no, a date, or a choice. Whatever else a server asks for is refused, and so are
secrets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

from bot.text.invisible_text import without_invisible
from bot.text.secret_names import secret_named_in

MAX_FIELDS, MAX_OPTIONS, MAX_TICKS, MAX_TEXT = 20, 100, 10, 3_000
_MAX_BOUND = 1e15
_MAX_WORDS, _MAX_LABEL, _MAX_VALUE, _MAX_URL = 1_000, 150, 500, 2_000
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_HOST = re.compile(r"([a-z0-9-]+\.)+([a-z]{2,63}|xn--[a-z0-9-]+)", re.IGNORECASE)


class FormError(ValueError):
    """A form that people cannot be shown; the text says why, for the model."""


class AnswerError(ValueError):
    """An answer that does not fit the form. `fields` are the names of the fields that are wrong."""

    def __init__(self, *fields: str) -> None:
        super().__init__(", ".join(fields))
        self.fields = fields


class FieldKind(StrEnum):
    """What a person fills in."""

    TEXT = "text"
    EMAIL = "email"
    ADDRESS = "address"
    NUMBER = "number"
    INTEGER = "integer"
    YES_NO = "yes_no"
    CHOICE = "choice"
    CHOICES = "choices"
    DATE = "date"
    MOMENT = "moment"


_TYPED = frozenset(
    {FieldKind.TEXT, FieldKind.EMAIL, FieldKind.ADDRESS, FieldKind.NUMBER, FieldKind.INTEGER}
)
"""The kinds of fields into which people could type a secret."""


class Option(BaseModel):
    """One value that can be chosen, with the words for it."""

    model_config = ConfigDict(frozen=True)

    value: str
    label: str


class FormField(BaseModel):
    """One field.

    `least` and `most` bound a number, the length of a text, or the number of choices.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    label: str
    hint: str = ""
    kind: FieldKind
    required: bool = False
    options: tuple[Option, ...] = ()
    least: float | None = None
    most: float | None = None
    default: str | bool | int | float | tuple[str, ...] | None = None

    def value(self, given: object) -> Any:
        """Return what a person filled in as the server gets it. Raises ValueError.

        `given` is text, a list of texts for several choices, seconds since the epoch for a moment,
        and a truth value for yes or no.
        """
        value = _READERS[self.kind](given)
        if isinstance(value, list | str) and self.options:
            chosen = {value} if isinstance(value, str) else set(value)
            if not chosen <= {option.value for option in self.options}:
                raise ValueError("not an option")
        size = len(value) if isinstance(value, list | str) else value
        least = self.least if self.least is not None else -math.inf
        most = self.most if self.most is not None else math.inf
        if not least <= size <= most:
            raise ValueError("out of bounds")
        return value


class Form(BaseModel):
    """A form of up to 20 fields."""

    model_config = ConfigDict(frozen=True)

    fields: tuple[FormField, ...] = ()

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> Form:
        """Return the form that a server's `schema` describes.

        Raises FormError for a form that cannot be shown, and for one with a field for a secret.
        """
        properties, required = schema.get("properties") or {}, schema.get("required") or ()
        if not isinstance(properties, dict) or not isinstance(required, list | tuple):
            raise FormError("the form is damaged")
        if len(properties) > MAX_FIELDS:
            raise FormError(f"the form has more than {MAX_FIELDS} fields")
        form = cls(
            fields=tuple(
                _field(str(name), part, required=name in required)
                for name, part in properties.items()
            )
        )
        if secret := form.secret:
            raise FormError(f"it asks for a secret ({secret}), which nobody types into a chat")
        return form

    @property
    def is_yes_no(self) -> bool:
        """Whether two buttons are enough: nothing is to be filled in, or a yes or no."""
        return not self.fields or (
            len(self.fields) == 1 and self.fields[0].kind is FieldKind.YES_NO
        )

    @property
    def secret(self) -> str:
        """Return the word in the name of a field by which the form asks for a secret, or ""."""
        typed = [field for field in self.fields if field.kind in _TYPED]
        names = (word for each in typed for word in (each.name, each.label))
        return next(filter(None, map(secret_named_in, names)), "")

    def answer(self, given: Mapping[str, object]) -> dict[str, Any]:
        """Return the answer as the server gets it, without fields that were left empty.

        Raises AnswerError.
        """
        answer, wrong = dict[str, Any](), list[str]()
        for field in self.fields:
            filled_in = given.get(field.name)
            if filled_in is None or filled_in in ("", []):
                wrong += [field.name] * field.required
                continue
            try:
                answer[field.name] = field.value(filled_in)
            except (ValueError, OverflowError, OSError):
                wrong.append(field.name)
        if wrong:
            raise AnswerError(*wrong)
        return answer


class Question(BaseModel):
    """A question of a server to the asker: a form, or a page to open at `url`."""

    model_config = ConfigDict(frozen=True)

    server: str
    message: str
    form: Form = Form()
    url: str = ""

    @property
    def host(self) -> str:
        """The whole host of the page, with its port, in letters that cannot be mistaken."""
        return urlsplit(self.url).netloc


def words_of(given: object, most: int = _MAX_WORDS) -> str:
    """Return a server's words on one line, visible and cut to `most` characters."""
    words = " ".join(without_invisible(str(given or "")[: 20 * most]).split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


def page_address(url: str) -> str:
    """Return the address of a page that a person is sent to. Raises FormError.

    It is https on a host with a name: an address of a machine, or a name and password in front of
    the host, only serve to mislead.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host = host.encode("idna").decode()
    except (ValueError, UnicodeError):
        raise FormError("the address is not valid") from None
    is_plain = url.isascii() and url.isprintable() and " " not in url and len(url) <= _MAX_URL
    if parts.scheme != "https" or "@" in parts.netloc or "\\" in url or not is_plain:
        raise FormError("the address is not a plain https address")
    if not _HOST.fullmatch(host) or host.endswith((".localhost", ".local", ".internal")):
        raise FormError("the address has no public host")
    return parts._replace(netloc=f"{host}:{port}" if port else host).geturl()


def _text(given: object) -> str:
    if len(text := str(given)) > MAX_TEXT:
        raise ValueError("too long")
    return text


def _email(given: object) -> str:
    if not _EMAIL.fullmatch(text := _text(given)):
        raise ValueError("not an email address")
    return text


def _address(given: object) -> str:
    if not urlsplit(text := _text(given)).scheme:
        raise ValueError("not an address")
    return text


def _decimal(given: object) -> float:
    if not math.isfinite(number := float(str(given))):
        raise ValueError("not a number")
    return number


def _yes_no(given: object) -> bool:
    if given is not True and given is not False:
        raise ValueError("not a yes or no")
    return given


def _several(given: object) -> list[str]:
    return [str(each) for each in given] if isinstance(given, list | tuple) else []


_READERS: Mapping[FieldKind, Callable[[object], Any]] = {
    FieldKind.TEXT: _text,
    FieldKind.EMAIL: _email,
    FieldKind.ADDRESS: _address,
    FieldKind.NUMBER: _decimal,
    FieldKind.INTEGER: lambda given: int(str(given)),
    FieldKind.YES_NO: _yes_no,
    FieldKind.CHOICE: _text,
    FieldKind.CHOICES: _several,
    FieldKind.DATE: lambda given: date.fromisoformat(str(given)).isoformat(),
    FieldKind.MOMENT: lambda given: datetime.fromtimestamp(int(str(given)), UTC).isoformat(),
}
"""The value of each kind of field, from what a person filled in. Each raises ValueError."""

_BOUNDS = {
    FieldKind.NUMBER: ("minimum", "maximum"),
    FieldKind.INTEGER: ("minimum", "maximum"),
    FieldKind.CHOICES: ("minItems", "maxItems"),
}
_FORMATS = {
    "email": FieldKind.EMAIL,
    "uri": FieldKind.ADDRESS,
    "date": FieldKind.DATE,
    "date-time": FieldKind.MOMENT,
}


def _field(name: str, part: Any, *, required: bool) -> FormField:
    if not isinstance(part, dict):
        raise FormError("the form is damaged")
    of_any = part.get("anyOf")
    if isinstance(of_any, list) and len(of_any) == 2 and {"type": "null"} in of_any:
        [inner] = [each for each in of_any if each != {"type": "null"}] or [{}]
        part = {key: value for key, value in part.items() if key != "anyOf"} | inner
        required = False
    kind, options = _kind(part)
    least, most = _bounds(kind, options, part)
    field = FormField(
        name=name,
        label=words_of(part.get("title") or name.replace("_", " "), _MAX_LABEL) or "…",
        hint=words_of(part.get("description")),
        kind=kind,
        required=required,
        options=options,
        least=least,
        most=most,
    )
    return field.model_copy(update={"default": _default(field, part.get("default"))})


def _bounds(
    kind: FieldKind, options: Sequence[Option], part: Mapping[str, Any]
) -> tuple[float | None, float | None]:
    """Return the least and the most of a field; None for a bound that it does not have.

    Raises FormError when nothing that can be filled in is within them.
    """
    low, high = _BOUNDS.get(kind, ("minLength", "maxLength"))
    least, most = _number(part.get(low)), _number(part.get(high))
    lowest, highest = -math.inf, math.inf
    if kind is FieldKind.INTEGER:
        least = None if least is None else math.ceil(least)
        most = None if most is None else math.floor(most)
    elif kind is not FieldKind.NUMBER:
        least = least if least and least > 0 else None
        lowest, highest = 0, len(options) if kind is FieldKind.CHOICES else MAX_TEXT
    lowest = max(lowest, lowest if least is None else least)
    if lowest > min(highest, highest if most is None else most):
        raise FormError("the form has a field that no answer fits")
    return least, most


def _kind(part: Mapping[str, Any]) -> tuple[FieldKind, tuple[Option, ...]]:
    """Return the kind of a field and its options. Raises FormError for any other."""
    match part.get("type"):
        case "boolean":
            return FieldKind.YES_NO, ()
        case "integer":
            return FieldKind.INTEGER, ()
        case "number":
            return FieldKind.NUMBER, ()
        case "array":
            items = part.get("items")
            if isinstance(items, dict) and (options := _options(items)):
                if len(options) > MAX_TICKS:
                    raise FormError(f"a field has more than {MAX_TICKS} options to tick")
                return FieldKind.CHOICES, options
        case "string" if options := _options(part):
            return FieldKind.CHOICE, options
        case "string":
            if part.get("format") == "password":
                raise FormError("it asks for a password, which nobody types into a chat")
            return _FORMATS.get(str(part.get("format")), FieldKind.TEXT), ()
        case _:
            pass
    raise FormError("the form has a field of a kind that cannot be shown")


def _options(part: Mapping[str, Any]) -> tuple[Option, ...]:
    titled = part.get("oneOf") or part.get("anyOf") or ()
    values, names = part.get("enum") or (), part.get("enumNames") or ()
    pairs = [
        (choice.get("const"), choice.get("title")) for choice in titled if isinstance(choice, dict)
    ]
    pairs += [(each, names[i] if i < len(names) else each) for i, each in enumerate(values)]
    if len(pairs) > MAX_OPTIONS or any(
        not isinstance(value, str) or not 0 < len(value) <= _MAX_VALUE for value, _ in pairs
    ):
        raise FormError(f"a field has more than {MAX_OPTIONS} options, or too long ones")
    return tuple(
        Option(value=str(value), label=words_of(label or value, _MAX_LABEL) or "–")
        for value, label in pairs
    )


def _default(field: FormField, given: Any) -> Any:
    """Return the value that is filled in already; None without one that can be shown."""
    if given is None or field.kind is FieldKind.MOMENT:
        return None
    try:
        value = field.value(given)
    except (ValueError, OverflowError):
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_odd = field.kind is FieldKind.ADDRESS and not value.startswith(("https://", "http://"))
    if value in ("", []) or is_odd or (is_number and not abs(value) < _MAX_BOUND):
        return None
    return tuple(value) if isinstance(value, list) else value


def _number(given: Any) -> float | None:
    if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) < _MAX_BOUND:
        return None  # not a number, or one that bounds nothing
    return given
