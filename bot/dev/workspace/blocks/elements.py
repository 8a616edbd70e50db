"""Interactive elements, with the limits of https://docs.slack.dev/reference/block-kit/block-elements"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from bot.dev.workspace.blocks.parts import (
    Confirm,
    Id,
    Image,
    Option,
    OptionGroup,
    Part,
    Plain75,
    Plain150,
    PlainOption,
    Url,
)


class _Element(Part):
    action_id: Id | None = None


class _Confirmed(_Element):
    confirm: Confirm | None = None
    focus_on_load: bool | None = None


class Button(_Element):
    """A button."""

    type: Literal["button"]
    text: Plain75
    value: Annotated[str, Field(max_length=2000)] | None = None
    url: Url | None = None
    style: Literal["primary", "danger"] | None = None
    confirm: Confirm | None = None
    accessibility_label: Annotated[str, Field(max_length=75)] | None = None
    agent_prompt: Annotated[str, Field(max_length=4000)] | None = None


class Overflow(_Element):
    """A menu behind an ellipsis."""

    type: Literal["overflow"]
    options: Annotated[list[PlainOption], Field(min_length=1, max_length=5)]
    confirm: Confirm | None = None


class FeedbackButton(Part):
    """One of the two feedback buttons."""

    text: Plain75
    value: Annotated[str, Field(min_length=1, max_length=2000)]
    accessibility_label: Annotated[str, Field(max_length=75)] | None = None


class FeedbackButtons(_Element):
    """Thumbs up and thumbs down."""

    type: Literal["feedback_buttons"]
    positive_button: FeedbackButton
    negative_button: FeedbackButton


class _Choice(_Confirmed):
    placeholder: Plain150 | None = None


class StaticSelect(_Choice):
    """A menu of given options."""

    type: Literal["static_select"]
    options: Annotated[list[PlainOption], Field(min_length=1, max_length=100)] | None = None
    option_groups: Annotated[list[OptionGroup], Field(min_length=1, max_length=100)] | None = None
    initial_option: Option | None = None

    @model_validator(mode="after")
    def _options_or_groups(self) -> "StaticSelect":
        _check_one_of(self.options, self.option_groups)
        _check_offered([self.initial_option], self.options, self.option_groups)
        return self


class UsersSelect(_Choice):
    """A menu of people or public channels."""

    type: Literal["users_select", "channels_select"]
    initial_user: str | None = None
    initial_channel: str | None = None
    response_url_enabled: bool | None = None


class MultiUsersSelect(_Choice):
    """A menu of people or channels, several at once."""

    type: Literal["multi_users_select", "multi_channels_select"]
    initial_users: list[str] | None = None
    initial_channels: list[str] | None = None
    max_selected_items: Annotated[int, Field(ge=1)] | None = None


class ConversationsSelect(_Choice):
    """A menu of conversations."""

    type: Literal["conversations_select", "multi_conversations_select"]
    initial_conversation: str | None = None
    initial_conversations: list[str] | None = None
    default_to_current_conversation: bool | None = None
    response_url_enabled: bool | None = None
    max_selected_items: Annotated[int, Field(ge=1)] | None = None
    filter: dict[str, Any] | None = None


class Picker(_Choice):
    """A date, a time, or both."""

    type: Literal["datepicker", "timepicker", "datetimepicker"]
    initial_date: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")] | None = None
    initial_time: Annotated[str, Field(pattern=r"^\d{2}:\d{2}$")] | None = None
    initial_date_time: Annotated[int, Field(ge=1_000_000_000, le=9_999_999_999)] | None = None
    timezone: str | None = None


class Checks(_Confirmed):
    """Checkboxes or radio buttons."""

    type: Literal["checkboxes", "radio_buttons"]
    options: Annotated[list[Option], Field(min_length=1, max_length=10)]
    initial_options: Annotated[list[Option], Field(min_length=1)] | None = None
    initial_option: Option | None = None

    @model_validator(mode="after")
    def _choice_is_check_offered(self) -> "Checks":
        wrong = self.initial_option if self.type == "checkboxes" else self.initial_options
        if wrong is not None:
            raise ValueError("radio buttons have an initial_option, checkboxes initial_options")
        _check_offered([self.initial_option, *(self.initial_options or [])], self.options)
        return self


class PlainInput(_Choice):
    """A line or a box of text."""

    type: Literal["plain_text_input", "email_text_input", "url_text_input"]
    initial_value: Annotated[str, Field(max_length=3000)] | None = None
    multiline: bool | None = None
    min_length: Annotated[int, Field(ge=0, le=3000)] | None = None
    max_length: Annotated[int, Field(ge=1, le=3000)] | None = None

    @model_validator(mode="after")
    def _initial_value_fits(self) -> "PlainInput":
        longest = 3000 if self.max_length is None else self.max_length
        if (self.min_length or 0) > longest or len(self.initial_value or "") > longest:
            raise ValueError("min_length and initial_value must fit into max_length")
        is_address = self.type == "url_text_input"
        if is_address and self.initial_value and not self.initial_value.startswith("http"):
            raise ValueError("initial_value must be a valid URL")
        return self

    dispatch_action_config: dict[str, Any] | None = None


class NumberInput(_Choice):
    """A number."""

    type: Literal["number_input"]
    is_decimal_allowed: bool
    initial_value: str | None = None
    min_value: str | None = None
    max_value: str | None = None

    @model_validator(mode="after")
    def _are_numbers(self) -> "NumberInput":
        kind = float if self.is_decimal_allowed else int
        least, value, most = (  # raises ValueError
            None if given is None else kind(given)
            for given in (self.min_value, self.initial_value, self.max_value)
        )
        known = [each for each in (least, value, most) if each is not None]
        if known != sorted(known):
            raise ValueError("min_value, initial_value and max_value must be in this order")
        return self

    dispatch_action_config: dict[str, Any] | None = None


Menu = StaticSelect | UsersSelect | MultiUsersSelect | ConversationsSelect
ActionElement = Annotated[Button | Overflow | Menu | Picker | Checks, Field(discriminator="type")]
Accessory = Annotated[
    Button | Overflow | Menu | Picker | Checks | Image, Field(discriminator="type")
]
InputElement = Annotated[
    Menu | Picker | Checks | PlainInput | NumberInput, Field(discriminator="type")
]


def _check_offered(
    chosen: Sequence[Option | None],
    options: Sequence[Option] | None,
    groups: Sequence[OptionGroup] | None = None,
) -> None:
    """Check that each initial option equals one of the options in every field."""
    given = [*(options or []), *(each for group in groups or [] for each in group.options)]
    offered = [each.model_dump() for each in given]
    if any(each is not None and each.model_dump() not in offered for each in chosen):
        raise ValueError("the initial option must exactly match one of the options")


def _check_one_of(options: object, groups: object) -> None:
    if (options is None) == (groups is None):
        raise ValueError("must have either options or option_groups")
