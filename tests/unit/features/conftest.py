"""A local workspace, and the Slack side on it."""

from tests.unit.slack.conftest import rig, ws

__all__ = ["rig", "ws"]
