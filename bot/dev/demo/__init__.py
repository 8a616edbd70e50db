"""The demo: fixed plans in place of a model, so that `bot dev` shows the bot without a key.

It recognises a handful of kinds of question in six languages, calls the bot's real tools, and says in
the first answer of a conversation that it is a demo. It shows the bot, not a language model: any
other question gets the examples.
"""

from .player import demo

__all__ = ["demo"]
