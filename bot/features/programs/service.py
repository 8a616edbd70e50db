"""Programs of the model in isolated processes, and what is kept of what they leave."""

from __future__ import annotations

import ast
import asyncio
import io
import logging
import time
import zipfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

from bot.core.answers import Chart, Source
from bot.core.errors import ToolError
from bot.core.ids import HANDLE
from bot.features.programs.settings import ProgramSettings
from bot.library.documents.cells import clean
from bot.library.documents.reports.images import plain_png
from bot.library.documents.results import Unwritable
from bot.library.isolated import ComputingTimeout, ProcessLost, Refused
from bot.library.isolated.pool import Share
from bot.library.isolated.process import IsolatedLimits, IsolatedProcess, Reach
from bot.library.isolated.proof import ways_open_to
from bot.services.artifact_tables import ArtifactTables
from bot.services.children import asker_process
from bot.toolkit.provided.artifacts import CHART_TYPE, Artifact, Artifacts, gaps_of
from bot.toolkit.provided.tables import TABLE_TYPE
from bot.toolkit.tool import ToolResult

log = logging.getLogger(__name__)

MEMORY = 2 * 2**30
"""Bytes of address space of a program. With all packages imported 0.8 GiB are reserved, and a table of
a million rows with gradient boosting needs 0.9 GiB."""

_ENVIRONMENT = (("MPLBACKEND", "Agg"), ("JOBLIB_MULTIPROCESSING", "0"))
_JOBS = "bot.features.programs.program"
_MODULES = "modules.zip"
_PER_ASKER = 2
_WAIT_SECONDS = 60.0
_MOST_FILES = 20_000_000  # bytes together
_ROWS_SHOWN = 20
_DATA = 100
"""From this size on numbers in a list are data; smaller ones are shares, degrees and seeds."""
_KINDS = {TABLE_TYPE: "parquet", "text/csv": "csv", "application/json": "json"}


class IsolatedPrograms:
    """See `bot.toolkit.provided.programs.Programs`."""

    def __init__(self, settings: ProgramSettings) -> None:
        # Without a setting each counts for its memory, in places of 1 GiB.
        self._share = Share(
            "programs",
            total=settings.at_once,
            per_owner=_PER_ASKER,
            places=1 if settings.at_once else MEMORY // 2**30,
            wait=_WAIT_SECONDS,
        )
        self._limits = IsolatedLimits(
            memory=MEMORY, cpu=settings.seconds, seconds=settings.seconds, reply=1_000_000
        )

    async def run(
        self,
        program: str,
        artifacts: Artifacts,
        arguments: Sequence[str] | None = None,
        modules: Mapping[str, bytes] = MappingProxyType({}),
    ) -> ToolResult:
        """See `Programs.run`."""
        written = await asyncio.to_thread(Written.of, program, *modules.values())
        handles = (text for text in arguments or () if HANDLE.fullmatch(text))
        inputs = await _named(tuple(dict.fromkeys((*written.names, *handles))), artifacts)
        async with asker_process(
            _JOBS, self._limits, Reach(environment=_ENVIRONMENT), once=True, share=self._share
        ) as process:
            begun = time.monotonic()
            if modules:
                await asyncio.to_thread(process.write, _MODULES, _zipped(modules))
            job = {
                "code": program,
                "arguments": arguments,
                "modules": _MODULES if modules else "",
            }
            reply = await self._reply(process, job, inputs, artifacts)
            left = await asyncio.to_thread(_left, process, reply)
        seconds = time.monotonic() - begun
        keeping = _Keeping(artifacts, inputs)
        await keeping.save(reply, left)
        return _result(reply, keeping, inputs, seconds, written)

    async def _reply(
        self,
        process: IsolatedProcess,
        job: Mapping[str, Any],
        inputs: Sequence[Artifact],
        artifacts: Artifacts,
    ) -> dict[str, Any]:
        """Run a program in a process with the arguments `job`, and return its reply, which is the
        program's word. Raises ToolError."""
        await _prove(process)
        for artifact in inputs:
            data = await artifacts.read(artifact.handle)
            await asyncio.to_thread(process.write, artifact.handle, data)
        named = [[artifact.handle, artifact.handle, _kind(artifact)] for artifact in inputs]
        try:
            reply = await process.call("run", inputs=named, **job)
        except (TimeoutError, ComputingTimeout):
            raise ToolError(
                f"The program was ended after {self._limits.seconds:g} s. Take fewer rows or "
                "repetitions, or a simpler method."
            ) from None
        except ProcessLost:
            raise ToolError(
                "The program was ended: it needs more memory (2 GB), files (500 MB) or threads than "
                "a program may have, or it ended itself. Take fewer rows or columns."
            ) from None
        except Refused as error:
            raise ToolError(str(error)) from None
        except RuntimeError:
            raise ToolError("The program broke the process that ran it.") from None
        try:
            return _checked(reply)
        except (KeyError, TypeError, AttributeError):
            raise ToolError("The program broke the process that ran it.") from None


async def _prove(process: IsolatedProcess) -> None:
    """Have a process try what it must not do, before it gets any data. Raises ToolError if it can."""
    if ways := await ways_open_to(process):
        log.error("a process for programs is not closed: it can %s", ", ".join(ways))
        raise ToolError("Programs cannot run on this machine. Use query_table.")


@dataclass(frozen=True)
class Written:
    """What a program says by itself: the `names` that look like handles, and whether it `holds_data`,
    as numbers in a list: its results are then no better than these."""

    names: tuple[str, ...] = ()
    holds_data: bool = False

    @classmethod
    def of(cls, program: str, *modules: bytes) -> Written:
        """Read a program, and the data in `modules`. What cannot be parsed says nothing, and will not run."""
        nodes = _nodes(program)
        names = (node.id for node in nodes if isinstance(node, ast.Name))
        return cls(
            tuple(dict.fromkeys(name for name in names if HANDLE.fullmatch(name))),
            any(map(_is_data, chain(nodes, *map(_nodes, modules)))),
        )


def _nodes(code: str | bytes) -> list[ast.AST]:
    try:
        return list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _zipped(modules: Mapping[str, bytes]) -> bytes:
    """Return an archive from which Python imports the modules, with their folders, which it needs."""
    packed = io.BytesIO()
    folders = {f"{folder}/" for name in modules for folder in PurePosixPath(name).parents}
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in {**dict.fromkeys(sorted(folders - {"./"}), b""), **modules}.items():
            archive.writestr(name, data)
    return packed.getvalue()


def _is_data(node: ast.AST) -> bool:
    """Return whether a literal holds data: bytes, or several numbers that are no usual ones."""
    match node:
        case ast.Constant(value=bytes()):
            return True
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            pass
        case ast.Dict(values=items):
            pass
        case _:
            return False
    numbers = [item.value for item in items if isinstance(item, ast.Constant)]
    return sum(isinstance(number, int | float) and abs(number) >= _DATA for number in numbers) > 1


async def _named(names: Sequence[str], artifacts: Artifacts) -> list[Artifact]:
    """Return the artifacts of these names. Raises ToolError for a table that does not exist; other names
    that look like handles may be the program's own."""
    named = []
    for name in names:
        try:
            named.append(await artifacts.find(name))
        except ToolError:
            if name.startswith("tbl_"):
                raise
    return named


def _kind(artifact: Artifact) -> str:
    media_type = artifact.media_type.split(";")[0]
    if kind := _KINDS.get(media_type):
        return kind
    return "text" if media_type.startswith("text/") else "file"


def _checked(reply: Any) -> dict[str, Any]:
    """Return a reply with the types that it should have. Raises KeyError, TypeError, AttributeError."""
    return {
        **{name: clean(reply[name][:30_000]) for name in ("printed", "error", "value")},
        "tables": [(_line(made["name"]), str(made["file"])) for made in reply["tables"][:10]],
        "images": [(_line(made["title"]), str(made["file"])) for made in reply["images"][:10]],
        "files": [(_line(made["name"]), str(made["file"])) for made in reply["files"][:20]],
        "notes": [_line(note) for note in reply["notes"][:20]],
    }


def _line(text: str) -> str:
    """Return a name or note as one line, which cannot pose as one of ours."""
    return " ".join(clean(text[:1_000]).split())[:300]


def _left(process: IsolatedProcess, reply: dict[str, Any]) -> dict[str, bytes]:
    """Return the files that a program left, by their names. What cannot be read is noted."""
    left, room = dict[str, bytes](), _MOST_FILES
    for name, file in [*reply["tables"], *reply["images"], *reply["files"]]:
        try:
            is_table = (name, file) in reply["tables"]
            left[file] = process.read(file) if is_table else process.read(file, room)
            room -= 0 if is_table else len(left[file])
        except (Refused, OSError, ValueError, TypeError):
            reply["notes"].append(
                f"{name[:80]} could not be kept: it is too large, or no plain file"
            )
    return left


@dataclass
class _Keeping:
    """Saves what a program left. What is made of incomplete inputs is incomplete, too.

    `lines` are for the model; `handles` name what was saved.
    """

    artifacts: Artifacts
    inputs: Sequence[Artifact]
    lines: list[str] = field(default_factory=list)
    handles: list[str] = field(default_factory=list)

    async def save(self, reply: dict[str, Any], left: Mapping[str, bytes]) -> None:
        """Save the files `left` by the program as its reply names them; note what cannot be kept."""
        tables = ArtifactTables(self.artifacts)
        for name, file in reply["tables"]:
            if file in left:
                with self._noting(reply, f"table {name}"):
                    table = await tables.save_parquet(
                        left[file],
                        name=name,
                        title=self._title,
                        url=self._url,
                        left_out=gaps_of(*self.inputs),
                    )
                    self.lines.append(await tables.shown(table, limit=_ROWS_SHOWN))
                    self.handles.append(table.handle)
        for title, file in reply["images"]:
            with self._noting(reply, f"figure {title}"):
                await self._save_figure(title, left.get(file, b""))
        for name, file in reply["files"]:
            if file in left:
                with self._noting(reply, f"file {name}"):
                    saved = await self._saved(left[file], name, "application/octet-stream", "file")
                    self.lines.append(f"file: {saved.handle} · {name} · {saved.size:,} bytes")

    async def _save_figure(self, title: str, data: bytes) -> None:
        png, _ = await asyncio.to_thread(plain_png, data, title)
        image = await self._saved(png, f"{title}.png", "image/png", "img")
        chart = Chart(title=title, kind="image", labels=[], series=[], image=image.handle)
        saved = await self._saved(chart.model_dump_json().encode(), title, CHART_TYPE, "chart")
        self.lines.append(f"figure: {saved.handle} · {title} · put it into charts to show it")

    @staticmethod
    @contextmanager
    def _noting(reply: dict[str, Any], what: str) -> Generator[None]:
        """Note what cannot be saved: the rest is still useful."""
        try:
            yield
        except (ToolError, Unwritable) as error:
            reply["notes"].append(f"{what} could not be kept: {error}")

    async def _saved(self, data: bytes, name: str, media_type: str, prefix: str) -> Artifact:
        saved = await self.artifacts.save(
            data,
            name=name,
            media_type=media_type,
            prefix=prefix,
            source_title=self._title,
            source_url=self._url,
            left_out=gaps_of(*self.inputs),
        )
        self.handles.append(saved.handle)
        return saved

    @property
    def _title(self) -> str:
        titles = dict.fromkeys(made.source_title or made.name for made in self.inputs)
        return ", ".join(titles) or "a program of this conversation"

    @property
    def _url(self) -> str | None:
        urls = {made.source_url for made in self.inputs}
        return urls.pop() if len(urls) == 1 else None


def _result(
    reply: dict[str, Any],
    kept: _Keeping,
    inputs: Sequence[Artifact],
    seconds: float,
    written: Written,
) -> ToolResult:
    """Return what the model reads. The program's text is indented: none of it can pose as a line of
    ours, such as the head of a table."""
    parts = list(kept.lines)
    for heading in ("printed", "value", "error"):
        if text := reply[heading]:
            parts += [f"{heading}:", *(f"  {line}" for line in text.splitlines())]
    if not parts:
        parts.append("The program gave no result: end it with an expression, or print.")
    parts += [f"note: {note}" for note in reply["notes"]]
    if any(column.type.startswith("DECIMAL") for made in inputs for column in made.columns):
        parts.append("note: exact amounts are floats in a program; round sums of money")
    parts.append(f"ran {seconds:.1f} s")
    sources = [
        Source(
            title=made.source_title or made.name,
            url=made.source_url,
            supports="The figures that were computed from it.",
        )
        for made in inputs
    ]
    return ToolResult(
        "\n".join(parts),
        tuple(sources),
        tuple(kept.handles),
        own=written.holds_data and not inputs,
        calculated=written.holds_data or not inputs,
    )
