"""Services that tools ask for with `Provided[...]`, as types; the bot implements them elsewhere."""
