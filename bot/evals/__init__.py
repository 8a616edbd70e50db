"""Evaluation: questions with known answers, asked of any model with the real loop and tools.

cases.py (with material.py) → running.py → results.py
"""
