"""Thousands of runs with faults among them: nothing grows."""
