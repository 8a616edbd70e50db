"""The form in which an admin writes a skill, tries it, and brings an earlier version back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.agent.calls.outputs import without_marks
from bot.core.errors import MalformedPayload
from bot.features.skills import words
from bot.features.skills.skill_file import MOST_BODY, without_frontmatter
from bot.features.skills.written import WrittenSkill
from bot.runs.trials import TrialCase
from bot.slack.ui.blocks import (
    Block,
    FormErrors,
    actions,
    button,
    divider,
    field,
    modal,
    option,
    static_select,
    text_input,
    with_confirmation,
)
from bot.slack.ui.parts import context
from bot.slack.ui.trials import case_fields, case_of, written

FORM, TRY, MORE = "skill_form", "try_skill", "skill_more_room"
EARLIER, DELETE = "skill_version", "delete_skill"

_MOST_NAME, _MOST_DESCRIPTION = 64, 1_024  # characters
_PART = 3_000  # characters that one input of Slack takes
_MOST_PARTS = 1 + 2 * -(-MOST_BODY // _PART)  # two parts in a row have more than one takes
_JOINT, _LONGEST_JOINT = "\n\n", 50
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class Draft(BaseModel):
    """What is written in the form. Stored as the subject of a job.

    `number` is the version that was current as the form was opened, 0 for a new skill. `filled` is the
    version with which it was filled in last; `parts` is how many inputs its text has, and `joints` what
    is between the parts of the text with which these were filled in: spaces and line ends. `inputs` are
    the parts as somebody left them.
    """

    model_config = ConfigDict(frozen=True)

    name: str = ""
    description: str = ""
    text: str = ""
    number: int = 0
    filled: int = 0
    parts: int = 1
    joints: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    case: TrialCase = TrialCase()

    @classmethod
    def of(cls, skill: WrittenSkill, *, current: int) -> Draft:
        """Return the form with a version of a skill whose `current` version is this."""
        texts = {"name": skill.name, "description": skill.description}
        draft = cls.of_text(skill.text, TrialCase())
        return draft.model_copy(update={**texts, "number": current, "filled": skill.number})

    @classmethod
    def of_text(cls, text: str, case: TrialCase) -> Draft:
        """Return the form of a new skill with this text."""
        parts, joints = parts_of(text)
        return cls(text=text, parts=len(parts), joints=joints, case=case)

    @property
    def skill(self) -> WrittenSkill:
        """What would be saved."""
        return WrittenSkill(name=self.name, description=self.description, text=self.text)


class _Meta(BaseModel):
    """What the form carries."""

    model_config = ConfigDict(frozen=True)

    name: str
    number: int
    filled: int
    parts: int
    joints: tuple[str, ...] = ()


def skill_form(
    draft: Draft, *above: Block, versions: Sequence[WrittenSkill] = (), can_try: bool = True
) -> Block:
    """Return the form with `above`, such as the result of a trial, and a menu of the `versions`."""
    # Slack keeps what is written in an input as long as its id is the same.
    description = text_input(draft.description, lines=False, longest=_MOST_DESCRIPTION)
    hint = words.DESCRIPTION_HINT()
    meta = _Meta(**draft.model_dump(include=set(_Meta.model_fields)))
    return modal(
        draft.name if draft.number else words.NEW_SKILL(),
        [
            *above,
            *_head(draft, versions),
            field(
                _id("description", draft),
                words.DESCRIPTION(),
                description,
                hint=hint,
                optional=False,
            ),
            *_inputs(draft),
            *case_fields(draft.case, TRY, can_try=can_try),
            *_tail(draft, versions),
        ],
        callback=FORM,
        metadata=meta.model_dump_json(),
        submit=words.SAVE(),
        close=words.CLOSE(),
    )


def draft_of(view: Mapping[str, Any]) -> Draft:
    """Return what is written in a form, submitted or still open. Raises MalformedPayload."""
    try:
        meta = _Meta.model_validate_json(str(view.get("private_metadata") or ""))
    except ValidationError:
        raise MalformedPayload("a modal with metadata that is not ours") from None
    draft = Draft(**meta.model_dump(), case=case_of(view))
    name = draft.name if draft.number else written(view, "name", _MOST_NAME).strip()
    inputs = [written(view, _id(f"text{n}", draft), _PART).strip() for n in range(_MOST_PARTS)]
    text = inputs[0]
    for n, part in enumerate(inputs[1:]):
        joint = meta.joints[n] if n < len(meta.joints) else _JOINT
        text += f"{joint}{part}" if part and text else part
    description = " ".join(written(view, _id("description", draft), _MOST_DESCRIPTION).split())
    return draft.model_copy(
        update={
            "name": name,
            "description": without_marks(description),
            "text": without_marks(without_frontmatter(text)),
            "inputs": tuple(inputs[: draft.parts]),
        }
    )


def check(draft: Draft) -> None:
    """Raise FormErrors where something is missing, too long or not a name."""
    wrong = dict[str, str]()
    if not _NAME.fullmatch(draft.name):
        wrong["name"] = words.BAD_NAME()
    if not draft.description:
        wrong[_id("description", draft)] = words.IS_EMPTY()
    if not draft.text:
        wrong[_id("text0", draft)] = words.IS_EMPTY()
    if len(draft.text) > MOST_BODY:
        wrong[_id("text0", draft)] = words.TOO_LONG(count=f"{len(draft.text):,}")
    if wrong:
        raise FormErrors(wrong)


def parts_of(text: str) -> tuple[list[str], tuple[str, ...]]:
    """Return the text in as many parts as the inputs of the form, parted at blank lines where it has
    any, and the spaces and line ends between them."""
    parts, joints = list[str](), list[str]()
    text = text.strip()
    while len(text) > _PART:
        cut = next(at for mark in ("\n\n", "\n", " ", "") if (at := text.rfind(mark, 1, _PART)) > 0)
        part, rest = text[:cut].rstrip(), text[cut:].lstrip()
        joint = text[len(part) : len(text) - len(rest)]
        joints.append(joint if len(joint) <= _LONGEST_JOINT else _JOINT)
        parts.append(part)
        text = rest
    return [*parts, text], tuple(joints)


def _head(draft: Draft, versions: Sequence[WrittenSkill]) -> list[Block]:
    """Return the input of the name; for a skill that is stored, the version that is shown."""
    if not draft.number:
        name = text_input(draft.name, lines=False, longest=_MOST_NAME)
        return [field("name", words.NAME(), name, hint=words.NAME_HINT(), optional=False)]
    line = [context(_label(v)).block for v in versions if v.number == draft.filled]
    if draft.filled != draft.number:
        line = [context(words.BROUGHT_BACK(number=draft.filled)).block]
    return line


def _tail(draft: Draft, versions: Sequence[WrittenSkill]) -> list[Block]:
    """Return what else can be done with a skill that is stored."""
    if not draft.number:
        return []
    menu = [option(_label(version), str(version.number)) for version in versions[:100]]
    delete = with_confirmation(
        button(words.DELETE(), DELETE, draft.name),
        words.DELETE_TITLE(),
        words.DELETE_TEXT(name=draft.name),
        yes=words.DELETE_IT(),
        no=words.KEEP_IT(),
    )
    choose = [static_select(EARLIER, words.EARLIER(), menu)] if len(menu) > 1 else []
    return [divider(), actions(*choose, delete)]


def _label(version: WrittenSkill) -> str:
    return words.VERSION(number=version.number, when=f"{version.at:%Y-%m-%d %H:%M} UTC")


def _inputs(draft: Draft) -> list[Block]:
    """Return the inputs of the text, and the button that adds one."""
    texts = draft.inputs or parts_of(draft.text)[0]
    count = min(_MOST_PARTS, max(draft.parts, len(texts)))
    inputs = []
    for n in range(count):
        label = words.MORE_INSTRUCTIONS(number=n + 1) if n else words.INSTRUCTIONS()
        value = text_input(texts[n] if n < len(texts) else "", longest=_PART)
        hint = "" if n else words.INSTRUCTIONS_HINT()
        name = _id(f"text{n}", draft)
        inputs.append(field(name, label, value, hint=hint, optional=bool(n)))
    if count < _MOST_PARTS:
        inputs.append(actions(button(words.MORE_ROOM(), MORE, MORE)))
    return inputs


def _id(name: str, draft: Draft) -> str:
    """Return the id of an input: another one once the form is filled in with another version."""
    return f"{name}-{draft.filled}"
