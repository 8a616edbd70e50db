"""The queue of requests: the engine, limits per person, steering and revisions."""
