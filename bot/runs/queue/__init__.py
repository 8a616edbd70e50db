"""The queue of requests: engine, limits per person, and requests that change."""
