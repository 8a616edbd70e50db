"""Tests of the test tools."""
