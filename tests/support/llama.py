"""A real model server for tests: llama.cpp with a model of random weights that is made here.

Without the package xllamacpp these tests are skipped; with QWF_LLAMA=required they fail instead.
"""

from __future__ import annotations

import contextlib
import http.client
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pytest

SERVE = Path(__file__).with_name("llama_serve.py")
NEEDED = ("xllamacpp", "gguf", "numpy")
# The command of a [[server]]: `{path}`, `{port}`, `{parallel}` and `{model}` are filled in.
COMMAND = (sys.executable, str(SERVE), "{path}", "{port}", "{parallel}", "{model}")
READY_S = 30.0

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
    context: int = 2048


TINY = Shape(64, 2, 4, 128)  # 0.5 MB, thousands of tokens a second
SLOW = Shape(768, 6, 12, 2048)  # 170 MB, some hundred tokens a second


def need_llama() -> None:
    """Skip the test if the packages are missing; fail if they are required."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        reason = f"no model server: {', '.join(missing)} not installed"
        if os.environ.get("QWF_LLAMA") == "required":
            pytest.fail(reason)
        pytest.skip(reason)


def tiny_model(path: Path, shape: Shape = TINY, name: str = "tiny") -> Path:
    """Write a llama of random weights, with a vocabulary of bytes and a chat template. The same
    shape gives the same weights."""
    need_llama()
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


@dataclass
class LlamaServer:
    """A running server."""

    process: subprocess.Popen[bytes]
    port: int
    model: str

    @cached_property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str) -> tuple[int, str]:
        """The status and the text of an answer; status 0 if nobody listens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except OSError:
            return 0, ""
        finally:
            connection.close()

    def busy(self) -> int:
        """How many requests it works on."""
        return sum(bool(slot["is_processing"]) for slot in json.loads(self.get("/slots")[1]))

    def deferred(self) -> int:
        """How many requests wait for a place."""
        return self._metric("requests_deferred")

    def tokens(self) -> int:
        """How many tokens it has generated in answers that have ended."""
        return self._metric("tokens_predicted_total")

    def _metric(self, name: str) -> int:
        lines = self.get("/metrics")[1].splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(f"llamacpp:{name} "))

    def wait_until_ready(self) -> None:
        """Wait until it is healthy. Fails if it ends before."""
        end = time.monotonic() + READY_S
        while self.get("/health")[0] != 200:
            assert self.process.poll() is None, "the server has ended"
            assert time.monotonic() < end, "the server is not ready in time"
            time.sleep(0.02)

    def kill(self) -> None:
        """Kill it as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextlib.contextmanager
def served(
    path: Path, parallel: int = 2, model: str = "tiny", port: int = 0
) -> Iterator[LlamaServer]:
    """Serve a model until the end of the block, on this port or a free one."""
    need_llama()
    with socket.create_server(("127.0.0.1", port)) as listener:
        port = listener.getsockname()[1]
    values = {"path": str(path), "port": port, "parallel": parallel, "model": model}
    command = [part.format_map(values) for part in COMMAND]
    with path.with_suffix(f".{port}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    server = LlamaServer(process, port, model)
    try:
        server.wait_until_ready()
        yield server
    finally:
        server.kill()
