"""The services of tools that work on artifacts."""

from __future__ import annotations

from bot.services.artifact_documents import ArtifactDocuments
from bot.services.artifact_exports import ArtifactExports
from bot.services.artifact_tables import ArtifactTables
from bot.services.isolated_interpreters import IsolatedInterpreters
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
