"""Calls of tools that use several services on the same artifacts."""

from __future__ import annotations

from typing import Any

from bot.services.artifact_exports import ArtifactExports
from bot.services.artifact_tables import ArtifactTables
from bot.testing.artifacts import MemoryArtifacts
from bot.testing.conversation import MemoryConversation
from bot.toolkit import ToolResult
from tools.charts import make_chart
from tools.sharing import share_file


async def share(
    name: str, conversation: MemoryConversation, artifacts: MemoryArtifacts, **arguments: Any
) -> ToolResult:
    """Call `share_file`."""
    tables, exports = ArtifactTables(artifacts), ArtifactExports(artifacts)
    return await share_file(name, conversation, artifacts, tables, exports, **arguments)


async def draw(
    handle: str,
    kind: str,
    title: str,
    label: str,
    values: list[str],
    artifacts: MemoryArtifacts,
    **arguments: Any,
) -> ToolResult:
    """Call `make_chart`."""
    tables, exports = ArtifactTables(artifacts), ArtifactExports(artifacts)
    return await make_chart(
        handle, kind, title, label, values, artifacts, tables, exports, **arguments
    )
