"""Small parts of Block Kit: texts, options, images.

The limits are those of https://docs.slack.dev/reference/block-kit/composition-objects
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator


class Part(BaseModel):
    """A base that takes only declared properties: Slack refuses unknown ones."""

    model_config = ConfigDict(extra="forbid", strict=True)


def _at_most(limit: int) -> AfterValidator:
    def check(value: Any) -> Any:
        if len(value.text) > limit:
            raise ValueError(f"must be less than {limit + 1} characters")
        return value

    return AfterValidator(check)


class PlainText(Part):
    """Text without markup."""

    type: Literal["plain_text"]
    text: Annotated[str, Field(min_length=1, max_length=3_000)]
    emoji: bool | None = None


class Mrkdwn(Part):
    """Text in Slack's own markup."""

    type: Literal["mrkdwn"]
    text: Annotated[str, Field(min_length=1, max_length=3_000)]
    verbatim: bool | None = None


Text = Annotated[PlainText | Mrkdwn, Field(discriminator="type")]
Text2000 = Annotated[Text, _at_most(2000)]
Text75 = Annotated[Text, _at_most(75)]
Plain2000 = Annotated[PlainText, _at_most(2000)]
Plain150 = Annotated[PlainText, _at_most(150)]
Plain75 = Annotated[PlainText, _at_most(75)]
Plain30 = Annotated[PlainText, _at_most(30)]
Plain24 = Annotated[PlainText, _at_most(24)]
Id = Annotated[str, Field(min_length=1, max_length=255)]
Url = Annotated[str, Field(min_length=1, max_length=3000)]


class Confirm(Part):
    """A dialog that asks for confirmation before an action."""

    title: Annotated[PlainText, _at_most(100)]
    text: Annotated[Text, _at_most(300)]
    confirm: Plain30
    deny: Plain30
    style: Literal["primary", "danger"] | None = None


class Option(Part):
    """An option to choose."""

    text: Text75
    value: Annotated[str, Field(max_length=150)]
    description: Annotated[Text, _at_most(75)] | None = None
    url: Url | None = None


class PlainOption(Option):
    """An option of a menu, where nothing is formatted."""

    text: Plain75
    description: Plain75 | None = None


class OptionGroup(Part):
    """Options under a heading."""

    label: Plain75
    options: Annotated[list[PlainOption], Field(min_length=1, max_length=100)]


class SlackFile(Part):
    """A file in Slack, by id or URL."""

    id: str | None = None
    url: str | None = None


class Image(Part):
    """An image beside text."""

    type: Literal["image"]
    alt_text: Annotated[str, Field(min_length=1, max_length=2000)]
    image_url: Url | None = None
    slack_file: SlackFile | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "Image":
        if (self.image_url is None) == (self.slack_file is None):
            raise ValueError("must have either image_url or slack_file")
        return self
