"""What a tool author writes, and what is told to one who slips."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, ValidationError

from bot.core.errors import ToolDefinitionError
from bot.testing.artifacts import MemoryArtifacts
from bot.toolkit import Artifacts, Changes, Provided, ToolResult, tool
from bot.toolkit.tool import Tool


class Point(BaseModel):
    x: int
    y: int = 0


def made(function: Callable[..., Any], **settings: Any) -> Tool:
    return tool(group="g", summary="s", **settings)(function).tool


async def run(of: Tool, **given: Any) -> ToolResult:
    return await of.run(of.arguments(**given), {})


async def test_a_typed_function_is_a_tool() -> None:
    """Name, description and arguments come from the function; it can still be called."""

    @tool(group="maths", summary="Adds", title="{a} + {b}")
    async def add(a: int, b: Annotated[int, Field(description="The other.")] = 1) -> int:
        """Adds two numbers.

        Slowly.
        """
        return a + b

    assert await add(1, 2) == 3
    definition = add.tool.definition()
    assert definition["name"] == "add"
    assert definition["description"] == "Adds two numbers.\n\nSlowly."
    assert definition["parameters"]["properties"]["b"]["description"] == "The other."
    assert add.tool.title(add.tool.arguments(a=1)) == "1 + 1"
    assert (await run(add.tool, a=2)).content == "3"


async def test_results_are_text_or_json() -> None:
    """A model as JSON, text as it is, a ToolResult with all it carries."""

    async def text() -> str:
        "Text."
        return "plain"

    async def point(x: int) -> Point:
        "A point."
        return Point(x=x)

    async def whole() -> ToolResult:
        "All."
        return ToolResult("c", handles=("art_1",))

    assert (await run(made(text))).content == "plain"
    assert (await run(made(point), x=1)).content == '{"x":1,"y":0}'
    assert (await run(made(whole))).handles == ("art_1",)


async def test_a_check_takes_call_and_services_whatever_it_calls_them() -> None:
    """S10: its answer is what the call is made with."""

    async def bound(arguments: Any, _: Any) -> Any:
        return arguments.model_copy(update={"a": 2})

    def act(a: int) -> str:
        "Acts."
        return str(a)

    of = made(act, safety=Changes(check=bound))
    assert (await of.checked(of.arguments(a=1), {})).model_dump() == {"a": 2}


async def test_a_blocking_function_runs_in_a_thread() -> None:
    """Reliability 6: other runs go on meanwhile."""
    entered = asyncio.Event()
    free = threading.Event()
    loop = asyncio.get_running_loop()

    def block() -> str:
        "Blocks."
        loop.call_soon_threadsafe(entered.set)
        return "freed" if free.wait(5) else "nobody came"

    running = asyncio.create_task(run(made(block)))
    await entered.wait()
    free.set()
    assert (await running).content == "freed"


async def test_a_result_that_its_own_annotation_refuses_is_the_tools_bug() -> None:
    """D3: it is raised, never passed off as an output."""

    async def count() -> int:
        "Counts."
        return "many"  # type: ignore[return-value]

    with pytest.raises(ValidationError):
        await run(made(count))


async def test_services_are_filled_in_and_hidden_from_the_model() -> None:
    """D8: the model can neither see nor set where artifacts are kept."""

    async def keep(name: str, artifacts: Provided[Artifacts]) -> str:
        "Keeps."
        return (await artifacts.save(b"x", name=name, media_type="text/plain")).handle

    keep.__annotations__["artifacts"] = Provided[Artifacts]
    of = made(keep)
    store = MemoryArtifacts()
    result = await of.run(of.arguments(name="n"), {Artifacts: store})
    assert list(store.kept) == [result.content]
    assert list(of.parameters["properties"]) == ["name"]
    with pytest.raises(ValidationError):
        of.arguments.model_validate({"name": "n", "artifacts": None})


def test_arguments_may_be_described_in_the_docstring() -> None:
    """22.3: in Google's style; the text before the section is the tool's description."""

    def find(
        query: str,
        artifacts: Provided[Artifacts],
        limit: Annotated[int, Field(ge=1)] = 5,
        kind: str = "open",
    ) -> str:
        """Find tickets.

        Example: "late invoices".

        Args:
            query: Words, as in "late: invoices";
                any order.
            limit (int, optional): At most so many.
            artifacts: What the model never sees.

        Returns:
            What only people read.
        """
        return f"{query} {limit} {kind}"

    of = made(find, title="{query}")
    assert of.description == 'Find tickets.\n\nExample: "late invoices".'
    properties = of.parameters["properties"]
    assert properties["query"]["description"] == 'Words, as in "late: invoices"; any order.'
    assert properties["limit"]["description"] == "At most so many."
    assert properties["limit"]["minimum"] == 1
    assert "description" not in properties["kind"]
    assert of.arguments(query="x").model_dump() == {"query": "x", "limit": 5, "kind": "open"}
    with pytest.raises(ValidationError):
        of.arguments(query="x", limit=0)


ARGS = "Do it.\n\nArgs:\n"


@pytest.mark.parametrize(
    ("docstring", "said"),
    [
        (f"{ARGS}    b: There.", "Args: b is none of its parameters"),
        (f"{ARGS}    *a: There.", r"Args: \*a is none of its parameters"),
        (f"{ARGS}    c: There.", "c is described twice, in Args and in its annotation"),
        (f"{ARGS}    a: There.\n    a: Here.", "Args: a is described twice"),
        (f"{ARGS}    a:\n", "Args: a has no description"),
        (f"{ARGS}    a There.", "Args: Expected a colon"),
        (ARGS, "Args: No specification"),
        ("\nArgs:\n    a: There.", "needs a return annotation and a docstring"),
    ],
)
def test_a_section_that_says_something_else_is_an_error(docstring: str, said: str) -> None:
    """22.3: at start, naming tool and argument; nothing is dropped without a word."""

    def act(a: int, c: Annotated[int, Field(description="Here.")] = 0) -> str:
        return f"{a} {c}"

    act.__doc__ = docstring
    with pytest.raises(ToolDefinitionError, match=f"^Tool act.*{said}") as caught:
        made(act)
    assert "\n" not in str(caught.value)


def test_a_docstring_without_the_section_is_the_description() -> None:
    """22.3: whatever sections of other kinds it has."""

    def act(a: int) -> str:
        """Do it. See Args: below.

        Example:
            act: once
        """
        return str(a)

    assert made(act).description == "Do it. See Args: below.\n\nExample:\n    act: once"


async def no_docstring(a: int) -> str:
    return str(a)


async def no_return(a: int):
    "Something."


async def no_annotation(a) -> str:
    "Something."
    return str(a)


async def starred(*names: str) -> str:
    "Something."
    return ""


async def keywords(**names: str) -> str:
    "Something."
    return ""


async def hidden(_name: str) -> str:
    "Something."
    return ""


async def positional(name: str, /) -> str:
    "Something."
    return ""


async def odd_result(name: str) -> threading.Event:
    "Something."
    return threading.Event()


async def fine(name: str) -> str:
    "Something."
    return name


@pytest.mark.parametrize(
    ("function", "settings", "said"),
    [
        (no_docstring, {}, "needs a return annotation and a docstring"),
        (no_return, {}, "needs a return annotation and a docstring"),
        (no_annotation, {}, "parameter a has no annotation"),
        (starred, {}, "the model cannot set *names"),
        (keywords, {}, "the model cannot set **names"),
        (hidden, {}, "the model cannot set _name"),
        (positional, {}, "the model cannot set name"),
        (odd_result, {}, "the result has a type that is not data"),
        (fine, {"title": "Read {file}"}, "name file, which is none of its parameters"),
        (fine, {"narrowing": ("limit",)}, "name limit, which is none of its parameters"),
    ],
)
def test_a_slip_is_one_line_with_the_tools_name(
    function: Callable[..., Any], settings: dict[str, Any], said: str
) -> None:
    """Found when the bot starts, not when somebody asks."""
    with pytest.raises(ToolDefinitionError) as caught:
        made(function, **settings)
    assert said in str(caught.value)
    assert function.__name__ in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("title", ["Read {name}", "Read {name!r:.9}", "Read it", "{{}} {name.x}"])
def test_titles_may_use_any_format(title: str) -> None:
    """A format string over the arguments, as Python knows it."""
    assert made(fine, title=title).name == "fine"
