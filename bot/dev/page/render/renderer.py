"""The jinja2 environment of the page, and the object that renders with it.

Every value that a template prints passes `clean` and is escaped; only the renderers in this package
make Markup. The template of a block or element is named after its type; a type without a template
is shown as unsupported.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from bot.dev.page.compose import as_typed
from bot.dev.page.render import charts, forms, tables
from bot.dev.page.render.axes import full
from bot.dev.page.render.chart_data import read_chart
from bot.dev.page.render.markdown import markdown
from bot.dev.page.render.messages import avatar, file_view, initials
from bot.dev.page.render.mrkdwn import mrkdwn
from bot.dev.page.render.rich_text import rich_text
from bot.dev.page.render.scene import Scene
from bot.dev.page.render.text import clean, plain, safe_url, text_of
from bot.dev.workspace.store.messages import SERVICE_SUBTYPES, link_to

_TEMPLATES = Path(__file__).parent.parent / "templates"


class Renderer:
    """Renders the page's templates. It holds no state: each call passes its Scene."""

    def __init__(self) -> None:
        self._jinja = _environment()

    def render(self, template: str, scene: Scene, **values: Any) -> str:
        """Return the template as HTML."""
        return self._jinja.get_template(template).render(scene=scene, **values)

    def blocks(self, blocks: Sequence[object], scene: Scene) -> str:
        """Return a list of Slack blocks as HTML."""
        return self.render("blocks.html", scene, blocks=list(blocks))


def _environment() -> Environment:
    jinja = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters |= {
        "mrkdwn": _mrkdwn, "markdown": _markdown, "rich": _rich, "text": _text, "plain": plain,
        "words": text_of, "attr_json": json.dumps, "safe_url": safe_url, "chart": read_chart,
        "draw": charts.draw, "colour": charts.colour, "number": full, "table": tables.read_table,
        "choices": forms.choices, "chosen": forms.chosen, "conversations": forms.conversations,
        "initials": initials, "avatar": avatar, "file_view": file_view, "from_slack": _is_from_slack,
        "typed": _typed, "person": _person, "link": _link, "as_list": forms.as_list, "as_dict": forms.as_dict,
    }  # fmt: skip
    jinja.globals |= {
        "block_template": _named("blocks", "unsupported"),
        "element_template": _named("elements", "unsupported"),
    }
    return jinja


def _finalize(value: object) -> object:
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _named(folder: str, otherwise: str) -> Any:
    known = {path.stem for path in (_TEMPLATES / folder).glob("*.html")}

    def template(thing: object) -> str:
        kind = thing.get("type") if isinstance(thing, Mapping) else None
        return f"{folder}/{kind if isinstance(kind, str) and kind in known else otherwise}.html"

    return template


@pass_context
def _mrkdwn(context: Context, value: object) -> Markup:
    return mrkdwn(value, context["scene"])


@pass_context
def _markdown(context: Context, value: object) -> Markup:
    return markdown(value, context["scene"])


@pass_context
def _rich(context: Context, value: object) -> Markup:
    return rich_text(value, context["scene"])


@pass_context
def _text(context: Context, value: object) -> Markup:
    """Return a text object as HTML by its type; anything else as plain text."""
    if isinstance(value, Mapping) and value.get("type") == "mrkdwn":
        return mrkdwn(value.get("text"), context["scene"])
    return plain(value)


@pass_context
def _typed(context: Context, value: object) -> str:
    scene: Scene = context["scene"]
    return as_typed(str(value or ""), scene.people, scene.channels)


def _is_from_slack(message: Mapping[str, Any]) -> bool:
    """Whether Slack wrote the message itself, as when somebody joins."""
    return message.get("subtype") in SERVICE_SUBTYPES


def _link(message: Mapping[str, Any], channel: str) -> str:
    """Return the page's link to the message."""
    return link_to("/", channel, message)


@pass_context
def _person(context: Context, user_id: object) -> str:
    name: str = context["scene"].person(str(user_id))
    return name
