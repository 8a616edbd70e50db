"""Speed and memory, as ratios to a bare loop on the SDK in the same run. `python -m tests.bench`
prints the table; `pytest -m bench` holds the goals."""
