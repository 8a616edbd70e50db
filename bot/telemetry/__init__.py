"""Telemetry: logs, metrics, traces and health of a process."""
