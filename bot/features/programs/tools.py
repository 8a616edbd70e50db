"""The tool that runs a program of the model."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from bot.toolkit import Artifacts, Programs, Provided, Reads, Text, ToolResult, tool

_RUN, _RUN_A_PROGRAM = Text("Compute: {purpose}"), Text("Run a program")


def _title(arguments: Any) -> str:
    return _RUN(purpose=arguments.purpose) if arguments.purpose else _RUN_A_PROGRAM()


@tool(
    group="data",
    summary="Python with pandas, scipy, sklearn: statistics, tests, models",
    safety=Reads(foreign=True),
    offered_with=("table",),
    timeout=700.0,
    title=_title,
)
async def run_python(
    program: Annotated[
        str,
        Field(
            min_length=1,
            max_length=20_000,
            description="The whole program. A handle in it is a variable: tbl_… a DataFrame, doc_… a "
            "str, another file its Path.",
        ),
    ],
    programs: Provided[Programs],
    artifacts: Provided[Artifacts],
    purpose: Annotated[  # noqa: ARG001 - the step shows it
        str | None, Field(description="What it finds out, in a few words for those who watch.")
    ] = None,
) -> ToolResult:
    """Run a Python program: statistical tests, regression, models, simulations, reshaping that SQL
    cannot do. pandas (pd), numpy (np), scipy, sklearn, statsmodels and matplotlib are there; no
    network, no other packages.

    End with the results as one expression: a dict such as {"p_value": p, "n": n}, or a DataFrame. It
    becomes a table with a handle, whose figures you refer to; so do DataFrames in the dict `tables`,
    and open figures become charts, files in ./out files. Each program starts afresh. Never type in a
    figure that a table holds; set random_state and state it. Prefer query_table where SQL does it.
    """
    return await programs.run(program, artifacts)
