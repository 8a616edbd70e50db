"""Images: the stand-in is shown them as any model is, and can only say so."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..conversation import File
from ..findings import Findings
from ..view import View
from ..words import listed

IMAGE = re.compile(r"\.(?:png|jpe?g|gif|webp)$", re.IGNORECASE)


def is_asked(view: View) -> bool:
    """Whether a message brings images and nothing else."""
    files = view.turn.files
    return bool(files) and all(IMAGE.search(file.name) for file in files)


def answer(view: View, found: Findings) -> None:
    """Say that nothing can be told of them."""
    tell(found, view.turn.files)


def tell(found: Findings, images: Sequence[File]) -> None:
    """Name them, and say who could tell more."""
    names = listed([file.name for file in images])
    found.summary = f"I was shown {names}, but a stand-in model cannot tell what is in an image. A real one that sees images does."
