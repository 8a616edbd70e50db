"""Judges what the renderers make, as Slack would: slack_sdk's models and the stand-in's checks."""

from typing import Any

from slack_sdk.models.blocks import Block

from bot.dev.workspace.blocks import check_blocks, check_view
from bot.slack.ui.parts import Part, Rendered

RAW_ONLY = {"data_visualization"}
"""Blocks without a model in slack_sdk 3.47."""


def accept(part: Part) -> None:
    """Fails when Slack would refuse the message."""
    accept_blocks(part.blocks)
    assert part.text
    assert len(part.text) <= 4_000
    part.text.encode()
    markdown = sum(len(b["text"]) for b in part.blocks if b["type"] == "markdown")
    assert markdown <= 12_000
    kinds = [block["type"] for block in part.blocks]
    assert kinds.count("table") <= 1
    assert kinds.count("data_visualization") <= 2


def accept_blocks(blocks: list[dict[str, Any]]) -> None:
    assert 1 <= len(blocks) <= 50
    for block in blocks:
        if block["type"] in RAW_ONLY:
            continue
        model = Block.parse(block)
        assert model is not None, block["type"]
        model.validate_json()
    check_blocks(blocks)


def accept_view(view: dict[str, Any], kind: str) -> None:
    for block in view["blocks"]:
        model = Block.parse(block)
        assert model is not None, block["type"]
        model.validate_json()
    check_view(view, kind)


def accept_all(rendered: Rendered) -> None:
    assert 1 <= len(rendered.parts) <= 5
    for part in rendered.parts:
        accept(part)


def shown_text(rendered: Rendered) -> str:
    """Everything a person can read: in the blocks, or in an attached file."""
    pieces = [_texts(part.blocks) for part in rendered.parts]
    pieces += [upload.data.decode("utf-8-sig", "replace") for upload in rendered.uploads]
    return "\n".join(pieces)


def _texts(node: object) -> str:
    match node:
        case dict():
            return "\n".join(
                _texts(v) if not isinstance(v, str) else v
                for k, v in node.items()
                if k not in ("type", "value", "action_id")
            )
        case list():
            return "\n".join(_texts(item) for item in node)
        case _:
            return str(node)
