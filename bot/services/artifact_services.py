"""The services of tools that work on artifacts."""

from __future__ import annotations

from bot.services.documents import ArtifactDocuments
from bot.services.exports import ArtifactExports
from bot.services.interpreters import IsolatedInterpreters
from bot.services.tables.tables import ArtifactTables
from bot.toolkit import Artifacts, Documents, Exports, Interpreters, Tables


def artifact_services(artifacts: Artifacts) -> dict[type, object]:
    """Return `artifacts`, the services that read from it and save to it, and the interpreters of what
    tools do with it, by type."""
    return {
        Artifacts: artifacts,
        Tables: ArtifactTables(artifacts),
        Documents: ArtifactDocuments(artifacts),
        Exports: ArtifactExports(artifacts),
        Interpreters: IsolatedInterpreters(),
    }
