"""The demo: fixed plans in place of a model, so that `bot dev` shows the bot without a key.

It recognises a handful of kinds of question, calls the bot's real tools, and says in every answer
that it is a demo. It shows the bot, not a language model: any other question gets the examples.
"""

from .player import demo

__all__ = ["demo"]
