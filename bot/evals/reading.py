"""Reader of cases in YAML; an error is one line that names the file, the line and the field."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, TypeAdapter, ValidationError

from bot.core.errors import ConfigurationError
from bot.evals.cases import Case, CaseLimits, Expect, Said, Walkthrough
from bot.evals.facts import Fact

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
    found = [each for place in places for file in _files(place) for each in _read(file)]
    names = [case.name for case in found]
    questions = [text for case in found for text in (*case.before, case.question)]
    for kind, values in (("name", names), ("question", questions)):
        if twice := next((each for each in values if values.count(each) > 1), None):
            raise ConfigurationError(f"Two cases have the {kind} {twice!r}; each needs its own.")
    return found


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
    first = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
    where = first["loc"]
    field = ".".join(str(each) for each in where[1:]) or "the file"
    problem = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        keys = _keys(where[:-1])
        near = difflib.get_close_matches(str(where[-1]), keys, n=1)
        hint = f"did you mean {near[0]}?" if near else f"keys: {', '.join(keys)}"
        problem = f"there is no such key; {hint}"
    return f"{file}:{_line(root, where)}: {field}: {problem}"


def _keys(where: Sequence[Any]) -> list[str]:
    """Return the keys that are allowed at a location."""
    part = next((_PARTS[each] for each in reversed(where) if each in _PARTS), Case)
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
