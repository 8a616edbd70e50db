"""The forms in which admins make, change and delete profiles, and choose who answers where."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pydantic import BaseModel, ValidationError

from bot.core.errors import MalformedPayload
from bot.features.profiles import words
from bot.features.profiles.versions import ProfileVersion
from bot.model import ModelChoices
from bot.runs.policy.channels import MAX_TITLE, PROFILE_NAME, Profile, TeamProfiles
from bot.runs.policy.preferences import MAX_STYLE
from bot.slack.edge.payloads import chosen, element
from bot.slack.ui.blocks import (
    MOST_OPTIONS,
    Block,
    FormErrors,
    actions,
    button,
    field,
    menu_input,
    modal,
    plain_section,
    text_input,
    with_confirmation,
)
from bot.slack.ui.parts import context
from bot.slack.ui.words import CLOSE, CLOSE_ONLY, LABELLED
from bot.text.invisible_text import readable

FORM, CHOICE_FORM = "profile_form", "profile_choice_form"
DELETE = "profile_delete"

_NAME, _TITLE, _INSTRUCTIONS, _STYLE, _TOOLS = "name", "title", "instructions", "style", "tools"
_LOAD, _MODEL, _EARLIER, _CHANNELS, _DIRECT = "load", "model", "earlier", "channels", "direct"
_MAX_NAME, _MAX_TEXT, _MAX_INSTRUCTIONS, _MAX_TOOLS = 30, 60, 3_000, 1_000
_KEEP, _IN_FILE = "keep", "file"  # values of options
_NAMED = "profile:"


@dataclass(frozen=True, slots=True)
class ProfileConfig:
    """What the forms check and offer: whether there is a tool, group or pattern, and the models."""

    is_tool: Callable[[str], bool]
    models: ModelChoices


class ProfileTarget(BaseModel):
    """The profile of a modal, stored in its metadata: its name, "" for a new one, and its hash as the
    modal shows it."""

    name: str = ""
    shown: str = ""

    @classmethod
    def of(cls, view: Mapping[str, Any]) -> ProfileTarget:
        """Return that of a modal. Raises MalformedPayload for metadata of another origin."""
        try:
            target = cls.model_validate_json(view.get("private_metadata") or "")
        except ValidationError:
            raise MalformedPayload("a modal with metadata that is not ours") from None
        if target.name and not PROFILE_NAME.fullmatch(target.name):
            raise MalformedPayload("a modal of a profile with a name that is none")
        return target


def digest(profile: Profile) -> str:
    """Return a short hash of what a profile says."""
    text = profile.model_dump_json(exclude_unset=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def profile_form(
    name: str, profile: Profile, models: ModelChoices, earlier: Sequence[ProfileVersion]
) -> Block:
    """Return the modal of a profile, filled in; of a new one if `name` is ""."""
    title = text_input(profile.title, lines=False, longest=MAX_TITLE)
    instructions = text_input(profile.instructions, longest=_MAX_INSTRUCTIONS)
    style = text_input(profile.style, longest=MAX_STYLE)
    tools = text_input(", ".join(profile.tools or ()), lines=False, longest=_MAX_TOOLS)
    new = field(
        _NAME,
        words.NAME(),
        text_input(lines=False, longest=_MAX_NAME),
        hint=words.NAME_HINT(),
        optional=False,
    )
    return modal(
        name or words.NEW(),
        [
            *([] if name else [new]),
            field(_TITLE, words.SHOWN_AS(), title, hint=words.SHOWN_AS_HINT()),
            field(_INSTRUCTIONS, words.INSTRUCTIONS(), instructions),
            field(_STYLE, words.STYLE(), style),
            field(_TOOLS, words.TOOLS(), tools, hint=words.TOOLS_HINT()),
            *_skills_field(profile),
            *_model_field(models, profile.model),
            *_earlier_field(earlier),
            context(words.PERMITS_NOTHING()).block,
            *([actions(_delete_button())] if name else []),
        ],
        callback=FORM,
        metadata=ProfileTarget(name=name, shown=digest(profile)).model_dump_json(),
        submit=words.SAVE(),
        close=CLOSE(),
    )


def new_name(view: Mapping[str, Any]) -> str:
    """Return the name of a new profile. Raises FormErrors for one that cannot be."""
    name = _typed(view, _NAME)
    if not PROFILE_NAME.fullmatch(name):
        raise FormErrors({_NAME: words.NAME_WRONG()})
    return name


def fields_of(
    view: Mapping[str, Any],
    before: Profile,
    config: ProfileConfig,
    earlier: Sequence[ProfileVersion],
) -> dict[str, Any]:
    """Return the fields of a profile as the form has them, or those of the chosen earlier version.

    Fields that the form omits are as `before`. Raises FormErrors for a tool that does not exist, and
    MalformedPayload for values that the form does not offer.
    """
    if _EARLIER in view["state"]["values"] and (at := chosen(view, _EARLIER)) != _KEEP:
        version = next((each for each in earlier if each.at.isoformat() == at), None)
        if version is None:
            raise MalformedPayload("a version that the form does not offer")
        return version.fields
    tools = _names(_typed(view, _TOOLS))
    known = before.tools or ()
    if unknown := [name for name in tools if name not in known and not config.is_tool(name)]:
        raise FormErrors({_TOOLS: words.NO_SUCH_TOOL(names=", ".join(unknown))})
    typed: dict[str, Any] = {
        _TITLE: _typed(view, _TITLE),
        _INSTRUCTIONS: _typed(view, _INSTRUCTIONS),
        _STYLE: _typed(view, _STYLE),
        _TOOLS: tools or None,
        _MODEL: _chosen_model(view, config.models, before.model),
    }
    if _LOAD in view["state"]["values"]:
        typed[_LOAD] = _names(_typed(view, _LOAD))
    others = before.model_dump(mode="json", exclude_unset=True, exclude={*typed})
    return others | {name: value for name, value in typed.items() if value}


def choice_form(own: TeamProfiles, profiles: Mapping[str, Profile]) -> Block:
    """Return the modal in which an admin chooses the profile of channels without one, and that of
    direct messages."""

    def menu(name: str, label: str, current: str | None) -> Block:
        titles = {name: profile.titled(name) for name, profile in profiles.items()}
        first = {name: title for name, title in titles.items() if name == current}
        options = {_IN_FILE: words.AS_IN_FILE(), _NAMED: words.NO_PROFILE()}
        options |= {f"{_NAMED}{name}": title for name, title in (first | titles).items()}
        offered = dict(islice(options.items(), MOST_OPTIONS))
        value = _IN_FILE if current is None else f"{_NAMED}{current}"
        return field(
            name,
            label,
            menu_input(offered, value if value in offered else _IN_FILE),
            optional=False,
        )

    return modal(
        words.CHOOSE_TITLE(),
        [
            menu(_CHANNELS, words.CHANNELS(), own.channels),
            menu(_DIRECT, words.DIRECT(), own.direct),
        ],
        callback=CHOICE_FORM,
        submit=words.SAVE(),
        close=CLOSE(),
    )


def choices_of(
    view: Mapping[str, Any], profiles: Mapping[str, Profile]
) -> tuple[str | None, str | None]:
    """Return the names of the profiles for channels and for direct messages: "" for none, None for
    what bot.toml says. Raises MalformedPayload for one that the form does not offer."""

    def name_of(block: str) -> str | None:
        value = chosen(view, block)
        name = value.removeprefix(_NAMED)
        if value == _IN_FILE:
            return None
        if value == name or not (name == "" or name in profiles):
            raise MalformedPayload("a profile that the form does not offer")
        return name

    return name_of(_CHANNELS), name_of(_DIRECT)


def deleted(title: str) -> Block:
    """Return the modal that says that a profile is deleted."""
    return modal(words.TITLE(), [plain_section(words.DELETED(name=title))], close=CLOSE_ONLY())


def name_taken() -> FormErrors:
    """Return the error for the name of a profile that exists."""
    return FormErrors({_NAME: words.NAME_TAKEN()})


def changed_meanwhile() -> FormErrors:
    """Return the error for a profile that another admin has changed since the form was opened."""
    return FormErrors({_INSTRUCTIONS: words.CHANGED_MEANWHILE()})


def too_many(count: int) -> FormErrors:
    """Return the error for a new profile beyond what a workspace may have."""
    return FormErrors({_NAME: words.TOO_MANY(count=count)})


def _skills_field(profile: Profile) -> list[Block]:
    """Return the field of the skills that conversations begin with, where profiles may have some."""
    if _LOAD not in type(profile).model_fields:
        return []
    names = text_input(", ".join(getattr(profile, _LOAD)), lines=False)
    return [field(_LOAD, words.SKILLS(), names, hint=words.SKILLS_HINT())]


def _model_field(models: ModelChoices, current: str) -> list[Block]:
    if not models.choices:
        return []
    options: dict[str, Block | str] = {_KEEP: words.MODEL_USUAL()}
    options |= {_NAMED + choice.name: choice.label for choice in models.choices}
    first = models.first_of(current)
    menu = menu_input(options, _NAMED + first if first else _KEEP)
    return [field(_MODEL, words.MODEL(), menu, optional=False)]


def _chosen_model(view: Mapping[str, Any], models: ModelChoices, before: str) -> str:
    if _MODEL not in view["state"]["values"]:
        return before
    value = chosen(view, _MODEL)
    name = value.removeprefix(_NAMED)
    if value == _KEEP:
        return ""
    if value == name or not models.first_of(name):
        raise MalformedPayload("a model that the form does not offer")
    return name


def _earlier_field(earlier: Sequence[ProfileVersion]) -> list[Block]:
    if not earlier:
        return []
    options: dict[str, Block | str] = {_KEEP: words.AS_ABOVE()}
    for version in earlier:
        text = " ".join(str(version.fields.get("instructions") or words.VERSION_EMPTY()).split())
        when = f"{version.at:%Y-%m-%d %H:%M} UTC"
        options[version.at.isoformat()] = LABELLED(label=when, value=text[:_MAX_TEXT])
    return [field(_EARLIER, words.EARLIER(), menu_input(options, _KEEP), optional=False)]


def _delete_button() -> Block:
    return with_confirmation(
        button(words.DELETE(), DELETE, DELETE, style="danger"),
        words.DELETE_TITLE(),
        words.DELETE_SURE(),
        yes=words.DELETE(),
        no=CLOSE(),
    )


def _names(typed: str) -> list[str]:
    return [name.strip() for name in typed.split(",") if name.strip()]


def _typed(view: Mapping[str, Any], name: str) -> str:
    return readable(str(element(view, name).get("value") or "")).strip()
