"""Evaluation cases: a question, the material to answer it, the expected result, and their files in YAML."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from typing_extensions import override

from bot.core.answers import RESPONSE_TYPES
from bot.core.errors import ConfigurationError
from bot.core.outcome import RunStatus

_NUMBER = re.compile(
    r"(?<![\w.\-−])[-−]?[$€£]?\d{1,3}(?:[,\u202f\u00a0]\d{3})+(?:\.\d+)?(?!\d)"
    r"|(?<![\w.\-−])[-−]?[$€£]?\d+(?:\.\d+)?"
)
_SHARE = re.compile(r"\d+(\.\d+)? ?%")
_SCALE = re.compile(r"\s?(k|thousand|m|mn|million|bn|billion)\b", re.IGNORECASE)
_SCALES = {"k": 1e3, "t": 1e3, "m": 1e6, "b": 1e9}
_ROUNDING = 1e-9  # relative: what floats lose


class Fact(BaseModel):
    """A fact that a result states: exactly one of `text`, `regex`, `number` and `any_of`.

    `text` matches in any case and spacing, `number` in any notation; `within` is a distance from it
    or a share ("1%"). `any_of` is one of several facts. A bare text in a case file is `text`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str | None = Field(default=None, min_length=1)
    regex: re.Pattern[str] | None = None
    number: float | None = None
    within: float | str = 0.0
    any_of: tuple[AnyFact, ...] = ()

    @field_validator("within", mode="plain")
    @classmethod
    def _is_distance_or_share(cls, value: Any) -> float | str:
        if isinstance(value, str) and _SHARE.fullmatch(value):
            return value
        if isinstance(value, int | float) and value >= 0:
            return value
        raise ValueError('this is a distance such as 0.5, or a share such as "5%"')

    @model_validator(mode="after")
    def _is_one(self) -> Fact:
        ways = (self.text, self.regex, self.number, self.any_of or None)
        if sum(way is not None for way in ways) != 1:
            raise ValueError("a fact is one of text, regex, number and any_of")
        return self

    def is_in(self, words: str) -> bool:
        """Return whether `words` state the fact."""
        if self.any_of:
            return any(fact.is_in(words) for fact in self.any_of)
        if self.regex is not None:
            return self.regex.search(words) is not None
        if self.number is not None:
            return any(abs(number - self.number) <= self._tolerance for number in _numbers(words))
        return _plain(self.text or "") in _plain(words)

    @property
    def _tolerance(self) -> float:
        number = abs(self.number or 0.0)
        if isinstance(self.within, str):
            return number * float(self.within.rstrip(" %")) / 100
        return self.within + number * _ROUNDING

    @override
    def __str__(self) -> str:
        """Return the fact as the table of results shows it."""
        if self.any_of:
            return " or ".join(map(str, self.any_of))
        if self.regex is not None:
            return f"/{self.regex.pattern}/"
        if self.number is not None:
            return f"{self.number:,.10g}" + (f" ± {self.within}" if self.within else "")
        return f"“{self.text}”"


def _from_text(value: Any) -> Any:
    if isinstance(value, int | float | date):
        raise ValueError("a fact is a text, in quotes where it looks like a number or a date")  # noqa: TRY004 - pydantic's way to refuse
    return {"text": value} if isinstance(value, str) else value


AnyFact = Annotated[Fact, BeforeValidator(_from_text)]
"""A fact, or its text alone."""

Fact.model_rebuild()


def _plain(words: str) -> str:
    """Return `words` without differences in case, spacing and emphasis."""
    return " ".join(words.casefold().replace("*", "").replace("’", "'").split())


def _numbers(words: str) -> Iterator[float]:
    """Yield every number in the text, alone and multiplied by its unit ("1.2 million")."""
    for match in _NUMBER.finditer(words):
        value = float(re.sub(r"[^\d.]", "", match[0]))
        value = -value if match[0][0] in "-−" else value
        yield value
        if scale := _SCALE.match(words, match.end()):
            yield value * _SCALES[scale[1][0].lower()]


def _in_case_folder(path: Path, info: ValidationInfo) -> Path:
    """Return `path` within the folder of the case, which is the context of the validation."""
    assert isinstance(info.context, Path)  # noqa: S101 - `read_cases` passes it
    file = info.context / path
    if not file.is_file():
        raise ValueError(f"there is no file {path}")
    return file


def _response_type(name: str) -> str:
    if name not in RESPONSE_TYPES:
        raise ValueError(f"must be one of {', '.join(RESPONSE_TYPES)}")
    return name


CaseFile = Annotated[Path, AfterValidator(_in_case_folder)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Said(_Part):
    """An earlier message; without `at`, sent a minute after the message before it."""

    author: str = Field(min_length=1)
    text: str
    at: datetime | None = None
    files: tuple[CaseFile, ...] = ()


class Expect(_Part):
    """What a good run does.

    `used` and `not_used` are names or patterns of tools ("read_*") or skills ("skill refunds"); a list
    within `used` means any of them. `cites` are parts of the titles or addresses of the result's sources.
    """

    status: RunStatus = RunStatus.SUCCESS
    facts: tuple[AnyFact, ...] = ()
    absent: tuple[AnyFact, ...] = ()
    cites: tuple[str, ...] = ()
    used: tuple[str | tuple[str, ...], ...] = ()
    not_used: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _expects_something(self) -> Expect:
        if not (self.facts or self.absent or self.cites or self.used or self.not_used):
            raise ValueError("expects nothing: give facts, absent, cites, used or not_used")
        return self


class CaseLimits(_Part):
    """Limits of a run, which ends and fails beyond them; `cost` is in dollars."""

    turns: int = Field(default=12, ge=1)
    seconds: float = Field(default=180, gt=0)
    cost: float | None = Field(default=None, gt=0)


class Walkthrough(_Part):
    """One way to the answer, played instead of a model to test files, tools and checks.

    Each call is {tool: {argument: value}}; "$1" in a value is the first handle or id that a tool
    returned. `answer` is the text of the result, or its fields by name; without it the result is
    what the tools returned. `bot dev --script` plays walkthroughs, too.
    """

    calls: tuple[dict[str, dict[str, Any]], ...] = ()
    answer: str | dict[str, Any] | None = None


class Case(_Part):
    """One question with its expected answer.

    The questions of `before` are asked first in the same thread; only the last answer is judged.
    Paths of files are relative to the file of the case. With `bounded`, the run stops after the
    first turn in which tools ran: cheap, and enough to see which tools a model chooses. `canvases`
    are Markdown by channel; `web` are excerpts of pages by address, which every search finds.
    `instructions` are those of the channel, and its threads begin with `skills`. A `live` case asks the
    databases of bot.toml instead of its own. A case runs at least `repeat` times, and passes if a `share`
    of its runs does: so one asks whether a question triggers a skill.
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    question: str = Field(min_length=1)
    before: tuple[str, ...] = ()
    files: tuple[CaseFile, ...] = ()
    databases: dict[str, CaseFile] = {}
    thread: tuple[Said, ...] = ()
    channels: dict[str, tuple[Said, ...]] = {}
    canvases: dict[str, str] = {}
    web: dict[str, str] = {}
    response: Annotated[str, AfterValidator(_response_type)] = "Answer"
    response_schema: dict[str, Any] | None = Field(default=None, alias="schema")
    instructions: str = ""
    skills: tuple[str, ...] = ()
    repeat: int = Field(default=1, ge=1)
    share: float = Field(default=1.0, gt=0, le=1)
    live: bool = False
    bounded: bool = False
    expect: Expect
    limits: CaseLimits = CaseLimits()
    walkthrough: Walkthrough = Walkthrough()

    def without(self, name: str) -> Case:
        """Return the case for a run without this tool or skill: it is neither loaded nor expected."""
        names = (name, f"{SKILL}{name}")
        used = tuple(wanted for wanted in self.expect.used if wanted not in names)
        expect = self.expect.model_copy(update={"used": used})
        skills = tuple(skill for skill in self.skills if skill != name)
        return self.model_copy(update={"expect": expect, "skills": skills})


SKILL = "skill "
"""Begins the name of a skill in `used` and `not_used`."""

_CASES = TypeAdapter(list[Case])
_PARTS: dict[str, type[BaseModel]] = {
    "expect": Expect,
    "limits": CaseLimits,
    "walkthrough": Walkthrough,
    "thread": Said,
    "channels": Said,
    "facts": Fact,
    "absent": Fact,
    "any_of": Fact,
}


def read_cases(places: Iterable[Path]) -> list[Case]:
    """Return the cases of files and folders.

    Raises ConfigurationError for a missing or wrong file, and for two cases of the same name or
    question.
    """
    cases = [case for place in places for file in _files(place) for case in _read(file)]
    names = [case.name for case in cases]
    questions = [text for case in cases for text in (*case.before, case.question)]
    for kind, values in (("name", names), ("question", questions)):
        if twice := next((value for value in values if values.count(value) > 1), None):
            raise ConfigurationError(f"Two cases have the {kind} {twice!r}; each needs its own.")
    return cases


def _files(place: Path) -> list[Path]:
    files = sorted(place.glob("*.y*ml")) if place.is_dir() else [place]
    if not files or not all(file.is_file() for file in files):
        raise ConfigurationError(f"{place}: there are no cases. Cases are YAML files.")
    return files


def _read(file: Path) -> list[Case]:
    try:
        text = file.read_text("utf-8")
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        return _CASES.validate_python(yaml.safe_load(text), context=file.parent)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigurationError(f"{file}:{line}: this is not YAML: {error.problem}.") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise ConfigurationError(f"{file}:1: this is not YAML: it is not text.") from None
    except RecursionError:
        raise ConfigurationError(f"{file}:1: this is nested too deeply.") from None
    except ValidationError as error:
        raise ConfigurationError(_error_text(file, root, error)) from None


def _error_text(file: Path, root: yaml.Node | None, error: ValidationError) -> str:
    """Return the first error as text; a misspelt key before the key that is missing because of it."""
    errors = error.errors()
    first = next((error for error in errors if error["type"] == "extra_forbidden"), errors[0])
    where = first["loc"]
    field = ".".join(str(key) for key in where[1:]) or "the file"
    problem = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        keys = _keys(where[:-1])
        near = difflib.get_close_matches(str(where[-1]), keys, n=1)
        hint = f"did you mean {near[0]}?" if near else f"keys: {', '.join(keys)}"
        problem = f"there is no such key; {hint}"
    return f"{file}:{_line(root, where)}: {field}: {problem}"


def _keys(where: Sequence[Any]) -> list[str]:
    """Return the keys that are allowed at a location."""
    part = next((_PARTS[key] for key in reversed(where) if key in _PARTS), Case)
    return [field.alias or name for name, field in part.model_fields.items()]


def _line(node: yaml.Node | None, where: Sequence[Any]) -> int:
    """Return the line of the innermost node of the location that exists."""
    line = 1
    for step in where:
        if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node = node.value[step]
            line = node.start_mark.line + 1
        elif isinstance(node, yaml.MappingNode):
            pair = next((pair for pair in node.value if pair[0].value == step), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
    return line
