"""A small workflow that asks a question, for the tests of the command line."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import Result

Cli = Callable[..., Result]

PIPELINE = {
    "name": "greet",
    "inputs": {"type": "object", "properties": {"name": {"type": "string", "default": "world"}}},
    "outputs": {"options": {"$from": "think.options"}},
    "nodes": [
        {"id": "think", "node": "think", "inputs": {"name": {"$from": "pipeline.name"}}},
        {"id": "say", "node": "say", "depends_on": ["think"], "gpu": True},
    ],
}
WORKFLOW = {
    "name": "welcome",
    "steps": [
        {
            "id": "greet",
            "kind": "pipeline",
            "pipeline": "greet",
            "inputs": {"name": {"$from": "who.name", "$default": "nobody"}},
        },
        {
            "id": "pick",
            "kind": "input",
            "widget": "choose_one",
            "target": "choice",
            "prompt": "Which one?",
            "depends_on": ["greet"],
            "source": {"$from": "greet.options"},
        },
    ],
}
OPTIONS = [{"id": "1", "label": "hello", "score": 0.9}, {"id": "2", "label": "bye", "score": 0.1}]
