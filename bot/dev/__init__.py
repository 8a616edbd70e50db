"""The local workspace and model server, over real sockets, for `bot dev` and the tests."""
