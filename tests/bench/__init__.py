"""Speed and memory. `python -m tests.bench` prints them, first of all the CPU of a run as a share of
that of a bare loop on the SDK; `pytest -m bench` holds the goals.

Every contender has a process of its own, which counts its own CPU: the bare loop (`contenders/bare.py`),
the bot's loop with all that it has by default, the same with runner and Redis, and three frameworks of
others. All make the same runs against the same server, in turns: nine calls of the model, and 24 of a
tool. A share is the median of what was compared within a round. `python -m tests.bench.where` shows which
functions take the CPU of a run.
"""
