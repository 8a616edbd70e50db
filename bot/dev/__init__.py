"""Strict stand-ins of the outside services over real sockets, for `bot dev` and the tests."""
