"""The local workspace, model server and demo, over real sockets, for `bot dev` and the tests."""
