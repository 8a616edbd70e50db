"""Evaluation: questions with known answers, asked of any model with the real loop and tools.

cases.py → running.py → judging.py → results.py → report.py
"""
