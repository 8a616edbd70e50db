"""Readers of untrusted files, which run in an isolated process only (`files.read` is its job).

The readers import little, so that the process starts quickly.
"""
