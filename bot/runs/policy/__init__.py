"""Policies of runs: who may ask, what may be spent, and what needs approval."""
