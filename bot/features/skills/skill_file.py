"""The file SKILL.md of a skill: its frontmatter and its body.

Many published skills break the standard in small ways, so that it is read as leniently as other
programs do: what is wrong is a warning, unless nothing sensible is left.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Any

from bot.agent.calls.outputs import without_marks
from bot.text.invisible_text import readable

MOST_BODY = 20_000  # characters, about the 5,000 tokens of the standard
MOST_LINES = 500  # of a body, as the standard advises
_MOST_FRONTMATTER = 20_000  # characters
_MOST_NAME, _MOST_DESCRIPTION, _MOST_COMPATIBILITY = 64, 1_024, 500  # characters
_MOST_TOOLS = 50
_LONGEST_NAME = 128  # that can be used at all
_FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
_FRONTMATTER = re.compile(r"---[ \t]*\n(.*?\n)??---[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"([ ]*[A-Za-z][\w-]*):[ \t]+([^\s\"'|>\[{&*!].*)")
_NAME = re.compile(r"[^\W_][\w.-]*")
_STANDARD_NAME = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_TOOL = re.compile(r"[^\s,()]+(?:\([^)]*\))?")


class Unusable(Exception):
    """A skill is not loaded; its text says why, in words for the operator."""


@dataclass(frozen=True, slots=True)
class SkillText:
    """What a SKILL.md says. `tools` are its `allowed-tools`, without their arguments. `warnings` say
    where it breaks the standard."""

    name: str
    description: str
    body: str
    version: str = ""
    compatibility: str = ""
    tools: tuple[str, ...] = ()
    warnings: list[str] = field(default_factory=list)


def read_skill(content: str, folder: str) -> SkillText:
    """Read the content of a SKILL.md in a folder of this name. Raises Unusable.

    Texts have neither invisible characters nor marks of data.
    """
    warnings = list[str]()
    content = readable(content)
    match = _FRONTMATTER.match(content)
    if match is None:
        begins = content.startswith("---")
        raise Unusable(
            "its frontmatter has no closing line ---"
            if begins
            else "it does not begin with a frontmatter between lines of ---"
        )
    fields = _fields(match[1] or "", warnings)
    name = _name(fields, folder, warnings)
    description = _description(fields, warnings)
    body = without_marks(content[match.end() :]).strip()
    if len(body) > MOST_BODY:
        raise Unusable(
            f"its body has {len(body):,} characters, and may have {MOST_BODY:,}: move parts of it "
            "into files that it names"
        )
    if not body:
        warnings.append("its body is empty")
    elif body.count("\n") >= MOST_LINES:
        warnings.append(f"its body has more than {MOST_LINES} lines")
    if unknown := [key for key in fields if key not in _FIELDS]:
        warnings.append(f"fields that the standard does not have: {', '.join(unknown)}")
    compatibility = _line(fields.get("compatibility"))
    if len(compatibility) > _MOST_COMPATIBILITY:
        warnings.append(f"compatibility has more than {_MOST_COMPATIBILITY} characters")
    metadata = fields.get("metadata") or {}
    if not isinstance(metadata, dict):
        warnings.append("metadata is no map")
        metadata = {}
    version = _line(metadata.get("version", fields.get("version")))[:_MOST_NAME]
    tools = _tools(fields.get("allowed-tools"), warnings)
    return SkillText(name, description, body, version, compatibility, tools, warnings)


def without_frontmatter(content: str) -> str:
    """Return the body of a SKILL.md; of any other text all of it."""
    match = _FRONTMATTER.match(content)
    is_skill = match and re.search(r"^(?:name|description):", match[1] or "", re.MULTILINE)
    return content[match.end() :].strip() if match and is_skill else content


def same_name(name: str) -> str:
    """Return what two names have in common that people, or Slack, take for the same."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    letters = (letter for letter in folded if not unicodedata.combining(letter))
    return "".join(_LATIN.get(letter, letter) for letter in letters).replace("_", "-")


_ALIKE = (
    "аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw кk мm тt вb нh гr "
    "αa οo ρp νv ιi κk τt υu χx εe ıi ɑa ɡg"
)
_LATIN = {pair[0]: pair[1] for pair in _ALIKE.split()}
"""Letters that look like one of ours."""


def _fields(frontmatter: str, warnings: list[str]) -> dict[str, Any]:
    """Return the fields of a frontmatter. Raises Unusable."""
    if len(frontmatter) > _MOST_FRONTMATTER:
        raise Unusable(f"its frontmatter has more than {_MOST_FRONTMATTER:,} characters")
    from bot.features.skills.frontmatter import NotYaml, read_yaml  # for a bot that has skills

    try:
        fields = read_yaml(frontmatter)
    except NotYaml as error:
        try:
            fields = read_yaml(_with_quotes(frontmatter))
        except NotYaml:
            raise Unusable(f"its frontmatter is no YAML: {error}") from None
        warnings.append("a value with a bare colon was read as text: put it in quotes")
    if not isinstance(fields, dict):
        raise Unusable("its frontmatter has no fields")
    return fields


def _with_quotes(frontmatter: str) -> str:
    """Return a frontmatter with quotes around values that hold a bare colon, also in a second line."""
    lines = list[str]()
    for line in map(str.rstrip, frontmatter.split("\n")):
        goes_on = line.startswith(" ") and lines and lines[-1][:1] != " "
        if goes_on and _FIELD.fullmatch(lines[-1]):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return "\n".join(map(_quoted, lines))


def _quoted(line: str) -> str:
    match = _FIELD.fullmatch(line)
    if match is None or ": " not in match[2]:
        return line
    value = match[2].replace("\\", "\\\\").replace('"', '\\"')
    return f'{match[1]}: "{value}"'


def _name(fields: dict[str, Any], folder: str, warnings: list[str]) -> str:
    """Return the name of a skill, by default that of its folder. Raises Unusable."""
    name_in_file = unicodedata.normalize("NFKC", _line(fields.get("name")))
    name = name_in_file or unicodedata.normalize("NFKC", folder)
    if not name_in_file:
        warnings.append("it has no name: it has that of its folder")
    elif name != unicodedata.normalize("NFKC", folder):
        warnings.append(f"its name is not that of its folder, {folder}")
    name = re.sub(r"\s+", "-", name)
    if len(name) > _MOST_NAME:
        warnings.append(f"its name has more than {_MOST_NAME} characters")
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        raise Unusable(
            f"its name is {name[:_MOST_NAME]!r}: begin with a letter or digit, then letters, digits "
            f"and hyphens, up to {_MOST_NAME}"
        )
    if "__" in name:
        raise Unusable(f"its name is {name}: only tools of MCP servers have two underscores")
    if scripts := _mixed_scripts(name):
        raise Unusable(f"its name mixes letters of {' and '.join(scripts)}, which look alike")
    if (
        not _STANDARD_NAME.fullmatch(name)
        or name != name.lower()
        or (name_in_file and name != name_in_file)
    ):
        warnings.append("its name has more than lower-case letters, digits and single hyphens")
    return name


def _mixed_scripts(name: str) -> list[str]:
    """Return the scripts of a name that has letters of several which look alike."""
    words = {unicodedata.name(letter, "").partition(" ")[0] for letter in name if letter.isalpha()}
    alike = sorted(words & {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})
    return [word.title() for word in alike] if len(alike) > 1 else []


def _description(fields: dict[str, Any], warnings: list[str]) -> str:
    """Return the description. Raises Unusable without one: nobody would know what the skill is for."""
    value = fields.get("description")
    if isinstance(value, list | dict):
        raise Unusable("its description is no text")
    description = " ".join(without_marks(str(value or "")).split())
    if description in ("", "~", "null"):
        raise Unusable("it has no description")
    if len(description) > _MOST_DESCRIPTION:
        warnings.append(f"only the first {_MOST_DESCRIPTION:,} characters of its description count")
    return description[:_MOST_DESCRIPTION]


def _tools(value: Any, warnings: list[str]) -> tuple[str, ...]:
    """Return the names in `allowed-tools`, without the arguments that other programs allow."""
    if isinstance(value, list):
        warnings.append("allowed-tools is a list: the standard has names parted by spaces")
        value = " ".join(str(name) for name in value if isinstance(name, str))
    if isinstance(value, dict):
        warnings.append("allowed-tools is no text, and is left out")
        return ()
    names = (
        match[0].partition("(")[0] for match in _TOOL.finditer(without_marks(str(value or "")))
    )
    return tuple(dict.fromkeys(names))[:_MOST_TOOLS]


def _line(value: Any) -> str:
    """Return a value as one line; "" for what is no text."""
    return " ".join(without_marks(value).split()) if isinstance(value, str) else ""
