"""Hooks of a run: their chain, operators' commands, effort and self-evaluation."""
