"""Right values from files: made ones, whose values are known, and those of installed packages, beside
other readers (V1-V12). `python -m tests.values` reads a thousand files more."""

from __future__ import annotations

from typing import Any

import pytest

from tests.values.checking import check
from tests.values.made import made
from tests.values.packages import installed
from tests.values.reading import ours


@pytest.mark.parametrize("seed", range(0, 36, 12))
def test_every_value_of_a_made_table_is_right_or_told(seed: int) -> None:
    """A cell has the value that it was written for, or its column is text and a note names it."""
    for each in map(made, range(seed, seed + 12)):
        reading = ours(each.data, each.name)
        [table] = reading.tables
        assert table.names == each.names, each
        told = " ".join(table.notes)
        for name, cells, written, meant in zip(
            table.names, table.columns, each.written, each.meant, strict=True
        ):
            is_right = all(map(_is_same, cells, meant))
            is_text = [cell or "" for cell in cells] == written
            assert is_right or (is_text and f"{name} (" in told), (each.name, name, cells, told)


def _is_same(cell: Any, meant: Any) -> bool:
    return bool(cell == meant or (isinstance(cell, float) and cell == float(meant)))


@pytest.mark.parametrize("package", ["matplotlib", "numpy"])
def test_files_of_others_are_read_as_other_readers_read_them(package: str) -> None:
    """Whatever differs is told in our notes, or listed with its reason."""
    small = [each for each in installed(package) if len(each[1]) < 60_000]
    silent = {each.file: each.silent for each in (check(*file) for file in small) if each.silent}
    assert len(small) > 3
    assert silent == {}
