"""The task `llm`, which every agent with model servers has: a prompt, and the answer as output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qwf_agent.app.values import suggestion
from qwf_agent.llm.client import Message, ServedModel
from qwf_agent.llm.errors import Refused

LLM = "llm"
INPUTS = ("prompt", "messages", "system", "schema", "max_tokens")
# What a request to a server may say about how it chooses tokens. Not every server knows all.
SAMPLING = (
    "temperature", "top_p", "top_k", "min_p", "typical_p", "seed", "stop", "logit_bias",
    "presence_penalty", "frequency_penalty", "repeat_penalty", "repetition_penalty",
    "ignore_eos", "min_tokens", "reasoning_effort", "chat_template_kwargs",
)  # fmt: skip


def llm(
    model: ServedModel | None,
    prompt: str | None = None,
    messages: list[Message] | None = None,
    system: str | None = None,
    schema: dict[str, Any] | None = None,
    max_tokens: int | None = None,
    **sampling: Any,
) -> dict[str, Any]:
    """Ask the model of the job. Raises Refused for inputs that are not for it, and what
    ServedModel.chat raises."""
    if not isinstance(model, ServedModel):
        raise Refused("the task llm needs a model of a server: enqueue it with model => its name")
    for name in sampling:
        if name not in SAMPLING:
            known = suggestion(name, (*INPUTS, *SAMPLING))
            raise Refused(f"the task llm does not take the input {name!r}; {known}")
    asked = {name: value for name, value in sampling.items() if value is not None}
    reply = model.chat(_turns(prompt, messages, system), schema, max_tokens, **asked)
    return {
        "text": reply.text,
        "json": reply.json,
        "usage": reply.usage,
        "finish_reason": reply.finish_reason,
        "model": model.name,
    }


def _turns(prompt: object, messages: object, system: object) -> Sequence[Message]:
    if (prompt is None) == (messages is None):
        raise Refused("the task llm needs either a prompt or messages")
    for name, text in (("prompt", prompt), ("system", system)):
        if text is not None and not isinstance(text, str):
            raise Refused(f"{name} must be a text, not {text!r}"[:200])
    turns = [{"role": "user", "content": prompt}] if messages is None else messages
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
        raise Refused("messages must be a list of objects with a role and a content")
    return turns if system is None else [{"role": "system", "content": system}, *turns]
