"""The tools for the files of skills; they come with skills that have files."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated

from pydantic import Field

from bot.toolkit import (
    Artifacts,
    Documents,
    Programs,
    Provided,
    Query,
    Reads,
    SkillFiles,
    Source,
    ToolError,
    ToolResult,
    tool,
)

_DOCUMENTS = frozenset(
    {".csv", ".tsv", ".xlsx", ".xlsm", ".parquet", ".pdf", ".docx", ".eml", ".html", ".htm"}
)
_MOST_ARGUMENTS = 40

Name = Annotated[str, Field(max_length=200, description="The skill, such as refunds.")]
Path = Annotated[
    str, Field(max_length=500, description='The file, as the skill names it: "references/a.md".')
]


@tool(
    group="skills",
    summary="Read a file of a skill",
    safety=Reads(),
    timeout=150.0,
    title="Read {path} of {skill}",
    narrowing=("query",),
)
async def read_skill_file(
    skill: Name,
    path: Path,
    skills: Provided[SkillFiles],
    documents: Provided[Documents],
    query: Annotated[
        Query, Field(description="For a document: only the passages with the most of these words.")
    ] = None,
) -> ToolResult:
    """Read a file that belongs to a skill which you have. A table gives a handle tbl_… and its first
    rows, a document its text; scripts are read as text."""
    name = f"{skill}/{path}"
    if PurePosixPath(path).suffix.lower() in _DOCUMENTS:
        data = await skills.read(skill, path)
        kind = documents.kind_of(name, "application/octet-stream", data)
        read = await documents.read(data, kind, name=name)
        return await documents.save(read, name=name, query=query)
    text = await skills.text(skill, path)
    source = Source(title=name, url=None, supports="What the file says.")
    return ToolResult(text or "(the file is empty)", (source,))


@tool(
    group="skills",
    summary="Run a Python script of a skill",
    safety=Reads(foreign=True),
    timeout=700.0,
    title="Run {path} of {skill}",
)
async def run_skill_script(
    skill: Name,
    path: Path,
    arguments: Annotated[
        list[Annotated[str, Field(max_length=2_000)]],
        Field(
            max_length=_MOST_ARGUMENTS,
            description="Its arguments in order, may be []. A handle stands for a file: tbl_… for a "
            "CSV file, doc_… for a text file.",
        ),
    ],
    skills: Provided[SkillFiles],
    programs: Provided[Programs],
    artifacts: Provided[Artifacts],
) -> ToolResult:
    """Run a Python script of a skill which you have, as run_python runs a program: alone, without
    network and other files; it may import the skill's other Python files. What it prints comes back;
    files that it leaves in ./out are saved."""
    if PurePosixPath(path).suffix != ".py":
        raise ToolError(f"{path} cannot be run here: only Python scripts can. Read it instead.")
    try:
        code = (await skills.read(skill, path)).decode()
    except UnicodeDecodeError:
        raise ToolError(f"{path} is no Python script in UTF-8.") from None
    modules = await skills.modules(skill, path)
    return await programs.run(code, artifacts, arguments, modules)
