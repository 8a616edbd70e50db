"""Sums, units, dates and times, and chance."""
