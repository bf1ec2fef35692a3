"""llama.cpp's own HTTP server, from the wheel xllamacpp, as a program of its own:

    python llama_serve.py MODEL.gguf PORT PARALLEL NAME

It serves the model under NAME at 127.0.0.1:PORT, `PARALLEL` requests at once, until it is killed.
"""

from __future__ import annotations

import argparse
import signal

import xllamacpp

CONTEXT = 2048  # tokens of each request


def main() -> None:
    """Start the server and wait for a signal."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path")
    parser.add_argument("port", type=int)
    parser.add_argument("parallel", type=int)
    parser.add_argument("name")
    given = parser.parse_args()
    server = xllamacpp.Server(settings(given))
    print("serves", given.name, "at", server.listening_address, flush=True)
    while True:
        signal.pause()


def settings(given: argparse.Namespace) -> xllamacpp.CommonParams:
    """The settings of llama.cpp for these arguments: one thread, no card."""
    params = xllamacpp.CommonParams()
    params.model.path = given.path
    params.model_alias = {given.name}
    params.hostnames, params.port = ["127.0.0.1"], given.port
    params.n_parallel, params.n_ctx = given.parallel, CONTEXT * given.parallel
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_gpu_layers = 0
    params.warmup = False
    params.endpoint_slots = params.endpoint_metrics = True
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    return params


if __name__ == "__main__":
    main()
