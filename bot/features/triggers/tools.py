"""Tools for rules: to propose one for this channel, and to list and remove one's own."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import Field

from bot.features.triggers.own import OwnRules, line_of, title_of
from bot.toolkit import Changes, Provided, Reads, Services, tool

_NONE = "The person has no rules here."

_ASKED = (
    r"\b(?:when(?:ever)?|as soon as|(?:each|every) time) "
    r"(?:some(?:one|body)|any(?:one|body)|people|an?\b|the\b).{0,60}?"
    r"\b(?:posts?|writes?|reports?|asks?|says?|mentions?)\b",
    r"\b(?:wenn|sobald|jedes ?mal,? wenn)\b.{0,40}\b(?:jemand|wer|eine?r?|die|der)\b.{0,60}"
    r"\b(?:postet|schreibt|meldet|fragt|sagt|erwähnt)\b",
    r"\b(?:quand|lorsque|lorsqu['’]|dès que|dès qu['’]|chaque fois que|chaque fois qu['’]) ?"
    r"(?:quelqu['’]un|on|une?)\b.{0,60}\b(?:poste|publie|écrit|signale|demande|mentionne)\b",
    r"\b(?:cuando|cada vez que|siempre que) (?:alguien|una?)\b.{0,60}"
    r"\b(?:publi\w+|escrib\w+|postee|avise|pregunt\w+|mencion\w+|report\w+)\b",
    r"\b(?:quando|sempre que|(?:cada|toda) vez que) (?:alguém|uma?)\b.{0,60}"
    r"\b(?:post\w+|public\w+|escrev\w+|avis\w+|pergunt\w+|mencion\w+|report\w+)\b",
    r"(?:誰か|だれか|アプリ).{0,40}(?:たら|たび|度に|時に|ときに|場合)",
)


async def _can_be_proposed(call: Any, services: Services) -> Any:
    """Return the call with people and apps by name and id, as people approve them."""
    rules = cast(OwnRules, services[OwnRules])
    people, apps = await rules.named(call.people or (), call.apps or ())
    checked = call.model_copy(update={"people": people or None, "apps": apps or None})
    await rules.check(**_fields(checked))
    return checked


def _fields(call: Any) -> dict[str, Any]:
    return {
        "instruction": call.instruction,
        "words": tuple(call.words or ()),
        "question": call.question or "",
        "people": tuple(call.people or ()),
        "apps": tuple(call.apps or ()),
    }


_Names = list[Annotated[str, Field(min_length=1, max_length=80)]]


@tool(
    group="triggers",
    summary="A standing rule: when somebody posts X in this channel, do Y",
    safety=Changes(sensitive=True, check=_can_be_proposed),
    asked_as=_ASKED,
    title=title_of,
)
async def propose_rule(
    instruction: Annotated[
        str,
        Field(
            min_length=3,
            max_length=3_000,
            title="Instruction",
            description="What you do then, whole: Look up the runbook and answer.",
        ),
    ],
    rules: Provided[OwnRules],
    words: Annotated[
        _Names | None,
        Field(
            max_length=20,
            description="One of these has to be in the message, as people there write it. Null: any.",
        ),
    ] = None,
    question: Annotated[
        str | None,
        Field(
            max_length=500,
            description="A yes-or-no question that a small model answers about each such message, which "
            "costs. Only where words cannot tell.",
        ),
    ] = None,
    people: Annotated[
        _Names | None,
        Field(
            max_length=20,
            description="Ids (U…) of the only people. Null: anybody, or nobody if apps are named.",
        ),
    ] = None,
    apps: Annotated[
        _Names | None,
        Field(
            max_length=20,
            description="Names of apps whose messages count: alerts come from apps. Null: none.",
        ),
    ] = None,
) -> str:
    """Have you answer by yourself, in the thread, whenever something is posted in this channel. Only when
    they want that. They approve it exactly so; then an admin does, unless they are one."""
    given = {"instruction": instruction, "words": tuple(words or ()), "question": question or ""}
    rule, asked = await rules.propose(**given, people=tuple(people or ()), apps=tuple(apps or ()))
    state = f"{asked} people were asked to approve it" if asked else "admins find it in Home"
    waits = f"It waits: {state}." if rule.approved_by == "" else "It is on."
    return (
        f"{line_of(rule)}\n{waits} Home shows it, and which of the last messages it would answer."
    )


@tool(
    group="triggers",
    summary="The asker's rules",
    safety=Reads(foreign=True, repeatable=False),
    title="List the rules",
)
async def list_rules(rules: Provided[OwnRules]) -> str:
    """List what you do by yourself when something is posted, as the asker wanted it, with ids."""
    return "\n".join(map(line_of, await rules.all())) or _NONE


@tool(
    group="triggers",
    summary="Remove one of the asker's rules",
    safety=Changes(),
    title="Remove a rule",
)
async def remove_rule(
    id: Annotated[str, Field(description="As list_rules gives it.")], rules: Provided[OwnRules]
) -> str:
    """Let it never answer again."""
    return f"removed: {line_of(await rules.remove(id))}"
