"""What the bot loads when it starts, loaded once for all processes that are forked from this one."""

import gc

import httpcore2  # noqa: F401

import bot.app.process
import bot.app.run_setup
import bot.evals.trials  # noqa: F401
from bot.app.tool_loading import load_tools
from bot.model.prices import PriceList
from tests.support.deployment import MODEL

load_tools()
PriceList().knows(MODEL)
gc.collect()
gc.freeze()  # each process that looks through it for garbage has to copy it
