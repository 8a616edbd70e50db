"""The services of tools that work on artifacts."""

from __future__ import annotations

from bot.services.documents import ArtifactDocuments
from bot.services.exports import ArtifactExports
from bot.services.tables.tables import ArtifactTables
from bot.toolkit import Artifacts, Documents, Exports, Tables


def artifact_services(artifacts: Artifacts) -> dict[type, object]:
    """Return `artifacts`, and the services that read from it and save to it, by type."""
    return {
        Artifacts: artifacts,
        Tables: ArtifactTables(artifacts),
        Documents: ArtifactDocuments(artifacts),
        Exports: ArtifactExports(artifacts),
    }
