"""Composition: builds the running bot from its settings."""
