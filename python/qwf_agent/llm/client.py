"""The handle of a model that a server serves: what a body gets as `model`."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from qwf_agent.llm.errors import CutOff, InvalidReply, ServerFailed, ServerLost, of_event
from qwf_agent.llm.events import Generation, counts, events, storable
from qwf_agent.llm.schema import problems
from qwf_agent.llm.transport import CancelSignal, Endpoint, post

REPORT_S = 1.0  # shortest time between two reports of progress
NO_KEY = "none"  # client libraries insist on a key
SHOWN = 500  # characters of an answer in an error
OWN_FIELDS = {"model", "messages", "stream", "stream_options", "n"}  # of a request
REPAIR = (
    "This does not fit the schema: {problem}. Answer again, with JSON that fits the schema and "
    "nothing else."
)

Message = Mapping[str, Any]
Progress = Callable[[float, str], object]


class Reply(NamedTuple):
    """The answer of a model. `json` is the value of the text, if a schema was given. `usage` counts
    tokens as the server does. `tokens_per_s` begins at the first token."""

    text: str
    json: Any
    usage: dict[str, Any]
    finish_reason: str | None
    seconds: float
    tokens_per_s: float


class ServedModel:
    """A model that a server serves. It may be used by several threads at once.

    `base_url`, `name` and `api_key` are what any client library for this protocol needs; `server`
    is the name of the server in qwf.toml.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        api_key: str | None = None,
        *,
        server: str | None = None,
        progress: Progress | None = None,
        cancel: CancelSignal | None = None,
    ) -> None:
        url = base_url.rstrip("/")
        self.name, self.server = name, server
        self.base_url = url if url.endswith("/v1") else f"{url}/v1"
        self.api_key = api_key or NO_KEY
        self.usage: dict[str, Any] = {}  # of all requests so far
        called = f"the server {server}" if server else f"the server at {url}"
        self._server = Endpoint(self.base_url, api_key, called)
        self._progress = progress
        self._cancel = cancel
        self._report_at = 0.0

    @classmethod
    def from_json(cls, text: str, progress: Progress, cancel: CancelSignal) -> ServedModel:
        """The model that the agent describes to its child."""
        given = json.loads(text)
        return cls(
            given["model"], given["base_url"], given["api_key"],
            server=given["server"], progress=progress, cancel=cancel,
        )  # fmt: skip

    def chat(
        self,
        messages: str | Sequence[Message],
        schema: Mapping[str, Any] | None = None,
        max_tokens: int | None = None,
        **sampling: Any,
    ) -> Reply:
        """Ask the model; a text is a single message of the user. The answer is printed to the log
        as it comes. With a schema, the answer is JSON that fits it.

        `sampling` are further fields of the request, such as `temperature`. Raises ServerLost,
        TemporaryError if the server is busy, Refused, ServerFailed, Cancelled; with a schema also
        CutOff and InvalidReply. Raises TypeError for a field that it sets itself.
        """
        if taken := OWN_FIELDS & sampling.keys():
            raise TypeError(f"chat() sets {', '.join(sorted(taken))} itself")
        turns = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        request = {**sampling, "messages": list(turns)}
        if max_tokens is not None:
            request["max_tokens"] = max_tokens
        if schema is None:
            return self._generate(request)
        called = {"name": "reply", "strict": True, "schema": schema}
        request["response_format"] = {"type": "json_schema", "json_schema": called}
        return self._generate_json(request, schema)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """The vector of each text. Raises what `chat` raises without a schema."""
        if isinstance(texts, str):
            raise TypeError("embed() takes a list of texts, not one text")
        if not texts:
            return []
        with closing(self._post("/embeddings", {"input": list(texts)})) as parts:
            text = b"".join(parts)
        try:
            answer = json.loads(text)
            rows = sorted(answer["data"], key=lambda row: int(row["index"]))
            vectors = [list(map(float, row["embedding"])) for row in rows]
        except (KeyError, TypeError, ValueError, RecursionError):
            vectors = []
        if len(vectors) != len(texts):
            raise ServerFailed(f"{self._server.name} sent no vector for each text")
        self._count(counts(answer.get("usage") or {}))
        return vectors

    def _generate_json(self, request: dict[str, Any], schema: Mapping[str, Any]) -> Reply:
        first = self._generate(request)
        value, problem = _value_of(first, schema, request.get("max_tokens"))
        if problem is None:
            return first._replace(json=value)
        repair = {"role": "user", "content": REPAIR.format(problem=problem)}
        answered = {"role": "assistant", "content": first.text}
        again = self._generate({**request, "messages": [*request["messages"], answered, repair]})
        value, problem = _value_of(again, schema, request.get("max_tokens"))
        if problem is not None:
            shown = again.text[:SHOWN]
            raise InvalidReply(f"the answer does not fit the schema: {problem}\n{shown}")
        usage, seconds = _sum(first.usage, again.usage), first.seconds + again.seconds
        return again._replace(json=value, usage=usage, seconds=seconds)

    def _generate(self, request: dict[str, Any]) -> Reply:
        generation, limit = Generation(), request.get("max_tokens")
        request = {**request, "stream": True, "stream_options": {"include_usage": True}}
        with closing(self._post("/chat/completions", request)) as parts:
            for event in events(parts):
                if "error" in event:
                    raise of_event(event["error"], self._server.name)
                new = generation.take(event)
                if new:
                    print(new, end="", flush=True)
                self._report(generation, limit)
        print(flush=True)
        if generation.events == 0:
            raise ServerFailed(f"{self._server.name} sent no stream of events")
        if generation.finish_reason is None:
            raise ServerLost(f"{self._server.name} closed the connection within an answer")
        self._count(generation.usage)
        return Reply(
            generation.text(), None, generation.usage, generation.finish_reason,
            round(generation.seconds(), 3), round(generation.tokens_per_s(), 1),
        )  # fmt: skip

    def _post(self, path: str, request: dict[str, Any]) -> Generator[bytes, None, None]:
        body = json.dumps({"model": self.name, **request}).encode()
        return post(self._server, path, body, self._cancel)

    def _report(self, generation: Generation, limit: int | None) -> None:
        """Report the progress of an answer, at most once a second."""
        now = time.monotonic()
        if self._progress is None or not generation.tokens or now < self._report_at:
            return
        self._report_at = now + REPORT_S
        count, rate = generation.tokens, generation.tokens_per_s()
        words = f"{count} token{'s' * (count != 1)}" + (f", {rate:.0f}/s" if rate else "")
        self._progress(min(1.0, count / limit) if limit else 0.0, words)

    def _count(self, usage: dict[str, Any]) -> None:
        self.usage = _sum(self.usage, usage)


def _value_of(reply: Reply, schema: Mapping[str, Any], limit: int | None) -> tuple[Any, str | None]:
    """The JSON value of an answer, and what is wrong with it. Raises CutOff."""
    if reply.finish_reason == "length":
        where = "where the context ends" if limit is None else f"at max_tokens, {limit}"
        raise CutOff(f"the answer was cut off {where}, before its JSON was complete")
    try:
        value = _storable_value(json.loads(reply.text, parse_float=_finite, parse_constant=_finite))
        return value, next(problems(value, schema), None)
    except (ValueError, RecursionError) as error:
        return None, f"it is not JSON: {error}"


def _finite(text: str) -> float:
    """A number that JSON can hold. Raises ValueError."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number")
    return number


def _storable_value(value: Any) -> Any:
    """The value without characters that Postgres cannot store: an escape may have hidden them."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable_value(one) for one in value]
    if isinstance(value, dict):
        return {storable(name): _storable_value(one) for name, one in value.items()}
    return value


def _sum(usage: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """The sum of two counts of tokens."""
    total = dict(usage)
    for name, value in more.items():
        if isinstance(value, dict):
            total[name] = _sum(total.get(name, {}), value)
        else:
            total[name] = total.get(name, 0) + value
    return total
