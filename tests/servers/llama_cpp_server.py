"""llama.cpp's server with one model, in an environment that has xllamacpp and nothing of the bot."""

import sys
import threading

import xllamacpp


def serve(weights: str, port: int, window: int) -> None:
    """Serve until the process is killed."""
    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.model_alias = {"small-model"}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = window
    params.n_parallel = 1
    params.warmup = False
    params.use_jinja = True
    server = xllamacpp.Server(params)
    threading.Event().wait()
    del server


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
