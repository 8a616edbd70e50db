"""Tracing an answer: each figure, date, id, address and quote to what its run has read.

Pure functions over text. They call no model, no service and no disk.
"""
