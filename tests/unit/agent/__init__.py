"""The loop, against the strict stand-in of the Responses API."""
