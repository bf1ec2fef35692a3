"""Tasks that ask a model."""

from __future__ import annotations

from typing import Any

from qwf_agent import App, TemporaryError
from qwf_agent.llm.client import ServedModel

app = App()


@app.task()
def ask(model: Any, model_handle: Any, llm: Any, prompt: str) -> dict[str, Any]:
    assert model is model_handle is llm
    return {"text": model.chat(prompt, max_tokens=5).text, "name": model.name}


@app.task()
def embed(llm: ServedModel, texts: list[str]) -> dict[str, Any]:
    return {"sizes": [len(vector) for vector in llm.embed(texts)]}


@app.task()
def which(model: Any) -> dict[str, Any]:
    return {"model": model}


class Impolite(TemporaryError):
    def __init__(self) -> None:
        """It does not call that of its base."""


@app.task()
def wait(seconds: float | None) -> None:
    raise TemporaryError("come back", retry_after_s=seconds)


@app.task()
def wait_impolitely() -> None:
    raise Impolite


@app.task()
def wait_like_nothing() -> None:
    raise TemporaryError(retry_after_s=float("nan"))
