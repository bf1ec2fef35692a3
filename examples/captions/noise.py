"""A language model of random weights, and llama.cpp's own HTTP server for it.

    python noise.py make MODEL.gguf
    python noise.py serve MODEL.gguf PORT PARALLEL NAME

What the model writes is noise, but it loads, answers and dies like any other. It serves under NAME
at 127.0.0.1:PORT, `PARALLEL` requests at once, until it is killed.
Needs: pip install xllamacpp gguf
"""

from __future__ import annotations

import argparse
import signal
from pathlib import Path
from typing import Any, NamedTuple

CONTEXT = 2048  # tokens of each request
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6  # kinds of tokens in a gguf file
FIRST_BYTE = 3  # the token of the byte 0; those of the other bytes follow
WORDS = ["the", "a", "cat", "dog", "red", "blue", "yes", "no", "one", "two", "says", "and", "is"]
LETTERS = 'abcdefghijklmnopqrstuvwxyz▁{}[]":,0123456789'
TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant: "


class Shape(NamedTuple):
    """The size of a model."""

    width: int
    layers: int
    heads: int
    inner: int
    context: int = CONTEXT


TINY = Shape(64, 2, 4, 128)  # 0.5 MB, thousands of tokens a second


def main() -> None:
    """Make the model or serve it."""
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("make").add_argument("path", type=Path)
    serving = verbs.add_parser("serve")
    serving.add_argument("path")
    serving.add_argument("port", type=int)
    serving.add_argument("parallel", type=int)
    serving.add_argument("name")
    given = parser.parse_args()
    make(given.path) if given.verb == "make" else serve(given)


def make(path: Path, shape: Shape = TINY, name: str = "tiny") -> Path:
    """Write a llama of random weights, with a vocabulary of bytes and a chat template. The same
    shape gives the same weights."""
    import gguf

    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name(name)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    _add_shape(writer, shape)
    _add_weights(writer, shape, _add_vocabulary(writer))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def serve(given: argparse.Namespace) -> None:
    """Serve the model until a signal."""
    import xllamacpp

    server = xllamacpp.Server(settings(given))
    print("serves", given.name, "at", server.listening_address, flush=True)
    while True:
        signal.pause()


def settings(given: argparse.Namespace) -> Any:
    """The settings of llama.cpp for these arguments: one thread, no card."""
    import xllamacpp

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


def _add_shape(writer: Any, shape: Shape) -> None:
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.inner)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(shape.width // shape.heads)


def _add_vocabulary(writer: Any) -> int:
    """Add the tokens; returns how many."""
    words = [f"▁{word}" for word in WORDS] + list(LETTERS)
    controls = ["<unk>", "<s>", "</s>"]
    tokens = [*controls, *(f"<0x{byte:02X}>" for byte in range(256)), *words]
    scores = [0.0] * (len(controls) + 256) + [-float(rank) for rank in range(len(words))]
    kinds = [UNKNOWN, CONTROL, CONTROL] + [BYTE] * 256 + [NORMAL] * len(words)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores(scores)
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_chat_template(TEMPLATE)
    return len(tokens)


def _add_weights(writer: Any, shape: Shape, tokens: int) -> None:
    import numpy as np

    random = np.random.default_rng(7)

    def matrix(rows: int, columns: int) -> Any:
        return random.standard_normal((rows, columns), dtype=np.float32) * np.float32(0.08)

    def ones() -> Any:
        return np.ones(shape.width, np.float32)

    writer.add_tensor("token_embd.weight", matrix(tokens, shape.width))
    writer.add_tensor("output_norm.weight", ones())
    writer.add_tensor("output.weight", matrix(tokens, shape.width))
    for layer in range(shape.layers):
        prefix = f"blk.{layer}."
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"{prefix}{norm}.weight", ones())
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            writer.add_tensor(f"{prefix}{part}.weight", matrix(shape.width, shape.width))
        writer.add_tensor(f"{prefix}ffn_gate.weight", matrix(shape.inner, shape.width))
        writer.add_tensor(f"{prefix}ffn_up.weight", matrix(shape.inner, shape.width))
        writer.add_tensor(f"{prefix}ffn_down.weight", matrix(shape.width, shape.inner))


if __name__ == "__main__":
    main()
