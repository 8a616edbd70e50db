"""Test tools for tool authors, evals and our own tests.

Here are the services of a tool in memory and calls of one tool. Whole runs with a scripted model are
in `bot.testing.scripted`, which takes longer to import.
"""

from bot.testing.artifacts import MemoryArtifacts
from bot.testing.conversation import MemoryConversation, asked
from bot.testing.tools import assert_schema, run_tool

__all__ = [
    "MemoryArtifacts",
    "MemoryConversation",
    "asked",
    "assert_schema",
    "run_tool",
]
