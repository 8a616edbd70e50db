"""The job of a program's process: it runs the program, and writes down what came of it.

It knows nothing but its folder. What it replies is the program's word: native code may forge it.
"""

from __future__ import annotations

import ast
import linecache
import math
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb

from bot.library.documents.cells import quoted_name
from bot.library.documents.reading.tabular import column_names, write_parquet
from bot.library.documents.results import Sheet
from bot.library.isolated.proof import possible as possible

_PROGRAM = "<program>"
_PRINTED = "printed"
_OUT = "out"

_MOST_PRINTED = 20_000  # characters
_MOST_ERROR = 3_000
_MOST_TABLES, _MOST_IMAGES, _MOST_FILES = 10, 10, 20
_MOST_PIXELS = 3_000  # of one side of an image
_DOTS = 110  # per inch
_SINGLE = (bool, int, float, str, Decimal, date, time, timedelta, UUID, type(None))

Reply = dict[str, Any]
_READERS: dict[str, str] = {"parquet": "read_parquet", "csv": "read_csv", "json": "read_json"}
_PACKAGES = "pandas, numpy, scipy, sklearn, statsmodels, matplotlib, duckdb"
_MODULES = {"pd": "pandas", "np": "numpy"}


def run(
    code: str, inputs: list[list[str]], arguments: list[str] | None = None, modules: str = ""
) -> Reply:
    """Run a program. `inputs` are [variable, file, kind], where kind is parquet, csv, json (each a
    DataFrame), text (a str) or file (a Path). A script finds `arguments` in `sys.argv`; of an input
    among them the name of its file. It may import from the archive `modules`.

    Return {printed, error, value, tables, images, files, notes}: what was printed, the program's own
    lines and message if it failed, and what it left. A table is {name, file}, an image {title, file},
    a file {name, file}; `value` is the text of a last expression that is no table.
    """
    restore = _redirect_output()
    warnings.showwarning = _show_warning
    reply: Reply = {"error": "", "value": "", "tables": [], "images": [], "files": [], "notes": []}
    names: dict[str, Any] = {"__name__": "__main__", "tables": {}}
    try:
        Path(_OUT).mkdir()
        names |= {variable: _input(file, kind) for variable, file, kind in inputs}
        if modules:
            sys.path.insert(0, str(Path.cwd() / modules))
        if arguments is not None:
            sys.argv = [_PROGRAM, *(_argument(text, names) for text in arguments)]
        reply["value"] = _save_results(_run(code, names), names, reply)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the program raises
        if not isinstance(error, SystemExit) or error.code not in (None, 0):
            reply["error"] = _without_places(_described(error, names, modules))
    finally:
        restore()
    reply["printed"] = _printed()
    return reply


def _run(code: str, names: dict[str, Any]) -> Any:
    """Run the program, and return the value of a last expression."""
    lines = code.splitlines(keepends=True)
    linecache.cache[_PROGRAM] = (len(code), None, lines, _PROGRAM)
    tree = ast.parse(code, _PROGRAM)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for name in used & _MODULES.keys():
        names[name] = __import__(_MODULES[name])
    if numpy := sys.modules.get("numpy"):
        numpy.set_printoptions(legacy="1.25")  # 0.5 rather than np.float64(0.5)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(tree, _PROGRAM, "exec"), names)  # noqa: S102 - what this process is for
        return None
    del tree.body[-1]
    exec(compile(tree, _PROGRAM, "exec"), names)  # noqa: S102
    return eval(compile(ast.Expression(last.value), _PROGRAM, "eval"), names)  # noqa: S307


def _input(file: str, kind: str) -> Any:
    if kind == "text":
        return Path(file).read_text("utf-8", "surrogatepass")
    if kind == "file":
        return Path(file)
    with duckdb.connect() as connection:
        source = f"{_READERS[kind]}('{Path.cwd() / file}')"
        return connection.execute(f"SELECT * FROM {source}").df()  # noqa: S608 - our own name


def _argument(text: str, names: Mapping[str, Any]) -> str:
    """Return an argument of a script: of a table the name of a CSV file, into which it is written."""
    if not _is_table(names.get(text)):
        return text
    names[text].to_csv(f"{text}.csv", index=False)
    return f"{text}.csv"


def _redirect_output() -> Callable[[], None]:
    """Let all that is printed, by native code too, go to a file. Return what flushes it."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # there is nobody to ask
    descriptor = os.open(_PRINTED, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    stream = os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", buffering=1)
    sys.stdout = sys.stderr = stream

    def flush() -> None:
        with suppress(OSError, ValueError):
            stream.flush()

    return flush


def _printed() -> str:
    """Return what was printed; of a long text the beginning and the end."""
    text = _without_places(Path(_PRINTED).read_text("utf-8", "replace").rstrip("\n"))
    if len(text) <= _MOST_PRINTED:
        return text
    half = _MOST_PRINTED // 2
    missing = len(text) - 2 * half
    return f"{text[:half]}\n[{missing:,} characters left out]\n{text[-half:]}"


def _without_places(text: str) -> str:
    """Return a text without the folders of this machine."""
    for folder in (str(Path.cwd()), sys.prefix, sys.base_prefix):
        text = text.replace(folder, "[python]" if folder != str(Path.cwd()) else ".")
    return text


def _show_warning(
    message: Warning | str, category: type[Warning], *_: object, **__: object
) -> None:
    sys.stdout.write(f"{category.__name__}: {str(message)[:300]}\n")


def _save_results(value: Any, names: Mapping[str, Any], reply: Reply) -> str:
    """Save what the program left as files for the bot, and name it in `reply`. Return the text of
    what in a last expression is no table."""
    own = names.get("tables")
    made, text = _tables_of(value)
    made += [(str(name), table) for name, table in own.items()] if isinstance(own, dict) else []
    for number, (name, table) in enumerate(made[:_MOST_TABLES]):
        try:
            reply["tables"].append(_saved_table(name[:80], table, f"table-{number}.parquet"))
        except Exception as error:  # noqa: BLE001 - of libraries, about any table
            message = str(error).partition("\n")[0][:200]
            reply["notes"].append(f"table {name[:80]} could not be kept: {message}")
    if len(made) > _MOST_TABLES:
        reply["notes"].append(f"only {_MOST_TABLES} of {len(made)} tables are kept")
    _save_images(reply)
    _save_files(reply)
    return text


def _tables_of(value: Any) -> tuple[list[tuple[str, Any]], str]:
    """Return the tables in a value with their names, and the text of the rest.

    What holds single values, such as the result of a test, is a table of one row, so that each figure
    has a name.
    """
    value = _fields_of(value)
    if _is_table(value):
        return [("result", value)], ""
    if isinstance(value, dict):
        frames = {str(name): item for name, item in value.items() if _is_table(item)}
        row = {str(name): item for name, item in value.items() if _is_single(item)}
        rest = {name: item for name, item in value.items() if str(name) not in frames | row}
        result = [("result", [row])] if row else []
        return [*result, *frames.items()], _text_of(rest) if rest else ""
    if isinstance(value, list) and value and all(map(_is_row, value)):
        return [("result", value)], ""
    single = _plain(value)
    if isinstance(single, int | float | Decimal) and not isinstance(single, bool):
        return [("result", [{"value": single}])], ""
    return [], _text_of(value)


def _fields_of(value: Any) -> Any:
    """Return the public fields of a record, such as scipy's results; other values as they are."""
    if is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclass_fields(value)}
    elif callable(to_fields := getattr(value, "_asdict", None)):
        fields = to_fields()
    else:
        return value
    return {name: item for name, item in fields.items() if not name.startswith("_")}


def _is_table(value: Any) -> bool:
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    if library == "pandas":
        return kind.__name__ in ("DataFrame", "Series")
    return library == "numpy" and kind.__name__ == "ndarray" and value.ndim in (1, 2)


def _text_of(value: Any) -> str:
    if value is None or type(value).__module__.partition(".")[0] == "matplotlib":
        return ""
    text = str(value)
    return text if len(text) <= _MOST_PRINTED else f"{text[:_MOST_PRINTED]}…"


def _is_row(row: Any) -> bool:
    return isinstance(row, dict) and all(map(_is_single, row.values()))


def _is_single(cell: Any) -> bool:
    return isinstance(_plain(cell), _SINGLE)


def _plain(cell: Any) -> Any:
    """Return numpy's and pandas' single values as Python's; an array of one as that one."""
    item = getattr(cell, "item", None)
    if callable(item) and getattr(cell, "size", 1) == 1:
        cell = item()
    to_python = getattr(cell, "to_pydatetime", None)
    if callable(to_python):
        cell = to_python()
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def _saved_table(name: str, table: Any, file: str) -> Reply:
    if isinstance(table, list | dict):
        rows = table if isinstance(table, list) else [table]
        columns = list(dict.fromkeys(column for row in rows for column in row))
        cells = [[_plain(row.get(column)) for column in columns] for row in rows]
        headings = column_names([str(column) for column in columns], len(columns))
        write_parquet(Sheet(name, headings, cells, typed=True), Path(file))
        return {"name": name, "file": file}
    _write(_frame(table), file)
    return {"name": name, "file": file}


def _frame(table: Any) -> Any:
    """Return a DataFrame without an index, with a name for each column and types that tables have."""
    import pandas as pd

    if type(table).__name__ == "ndarray":
        table = pd.DataFrame(table)
    if isinstance(table, pd.Series):
        table = table.to_frame("value" if table.name is None else table.name)
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"it is {type(table).__name__}; put DataFrames into tables")
    if not len(table.columns):
        raise ValueError("it has no columns")
    columns = _with_index(table).items()
    headings, cells = zip(
        *((_heading(name), _plain_column(cells)) for name, cells in columns), strict=True
    )
    return pd.concat(cells, axis=1, keys=column_names(headings, len(headings)))


def _with_index(table: Any) -> Any:
    """Return a DataFrame with its index as columns, if that says anything."""
    index = table.index
    if type(index).__name__ == "RangeIndex" and index.name is None:
        return table
    taken = {*map(str, table.columns)}
    names = [
        (f"index_{at}" if at else "index") if name is None or str(name) in taken else str(name)
        for at, name in enumerate(index.names)
    ]
    return table.reset_index(names=names, allow_duplicates=True)


def _heading(name: Any) -> str:
    return " ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _plain_column(column: Any) -> Any:
    """Return a column with a type that tables have; others, and mixed ones, become text."""
    from pandas.api import types

    if column.dtype.name == "category":
        column = column.astype(column.cat.categories.dtype)
    if types.is_complex_dtype(column):
        return column.map(str)
    if (
        types.is_numeric_dtype(column)
        or types.is_datetime64_any_dtype(column)
        or types.is_string_dtype(column)
    ):
        return column
    kinds = {type(cell) for cell in column.dropna()}
    is_plain = len(kinds) <= 1 and kinds <= {bool, int, float, Decimal, date, datetime}
    return column if is_plain else column.map(str, na_action="ignore")


def _write(frame: Any, file: str) -> None:
    """Write a DataFrame as Parquet; times that are all midnight become dates again."""
    import pandas as pd

    selected = []
    for name in frame.columns:
        column = frame[name]
        text = quoted_name(name)
        if pd.api.types.is_datetime64_any_dtype(column) and column.dt.tz is None:
            present = column.dropna()
            if len(present) and (present == present.dt.normalize()).all():
                text = f"CAST({text} AS DATE) AS {text}"
        selected.append(text)
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        columns = ", ".join(selected)
        target = Path.cwd() / file
        connection.execute(
            f"COPY (SELECT {columns} FROM frame) TO '{target}' (FORMAT parquet)"  # noqa: S608
        )


def _save_images(reply: Reply) -> None:
    """Save the open figures of matplotlib."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    numbers = pyplot.get_fignums()
    for number in numbers[:_MOST_IMAGES]:
        figure = pyplot.figure(number)
        side = max(*figure.get_size_inches(), 0.1)
        file = f"image-{number}.png"
        figure.savefig(file, dpi=min(_DOTS, _MOST_PIXELS / side), bbox_inches="tight")
        titles = [figure.get_suptitle(), *(axes.get_title() for axes in figure.axes)]
        title = next(filter(None, titles), "") or f"Figure {number}"
        reply["images"].append({"title": " ".join(title.split())[:80], "file": file})
    if len(numbers) > _MOST_IMAGES:
        reply["notes"].append(f"only {_MOST_IMAGES} of {len(numbers)} figures are kept")


def _save_files(reply: Reply) -> None:
    """Move the files that the program wrote to ./out to where the bot reads them."""
    files = sorted(
        file for file in Path(_OUT).iterdir() if file.is_file() and not file.is_symlink()
    )
    for number, file in enumerate(files[:_MOST_FILES]):
        name = f"file-{number}"
        file.rename(name)
        reply["files"].append({"name": file.name[:100], "file": name})
    if len(files) > _MOST_FILES:
        reply["notes"].append(f"only {_MOST_FILES} of {len(files)} files are kept")


def _described(error: BaseException, names: Mapping[str, Any], modules: str) -> str:
    """Return the program's own lines and the message, without those of libraries."""
    if isinstance(error, SyntaxError) and error.filename == _PROGRAM:
        return "".join(traceback.format_exception_only(error))[:_MOST_ERROR].strip()
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"line {frame.lineno}: {frame.line}" for frame in frames if frame.filename == _PROGRAM]
    archive = str(Path.cwd() / modules) if modules else _PROGRAM
    if frames and (inside := frames[-1]).filename.startswith(f"{archive}/"):
        name = inside.filename.removeprefix(f"{archive}/")
        lines.append(f"{name}, line {inside.lineno}: {inside.line}")
    message = "".join(traceback.format_exception_only(error)).strip()
    if isinstance(error, MemoryError):
        message = "MemoryError: it needs more memory than a program may have"
    return "\n".join(filter(None, [*lines[-5:], message[:_MOST_ERROR], _hint(error, names)]))


def _hint(error: BaseException, names: Mapping[str, Any]) -> str:
    """Return what there is, for a program that asked for something else."""
    if isinstance(error, KeyError) or (
        isinstance(error, AttributeError) and type(error.obj).__name__ == "DataFrame"
    ):
        return _columns_of(names)
    if isinstance(error, ModuleNotFoundError):
        return f"there are Python's own modules and {_PACKAGES}"
    if isinstance(error, FileNotFoundError):
        return "a program has no files but those whose handles it names: each is a variable"
    return ""


def _columns_of(names: Mapping[str, Any]) -> str:
    """Return the columns of the DataFrames that the program has, for one that asked for another."""
    frames = [
        f"{name} has: {', '.join(map(str, list(value.columns)[:50]))}"
        for name, value in names.items()
        if type(value).__name__ == "DataFrame" and not name.startswith("_")
    ]
    return "\n".join(frames[:5])
