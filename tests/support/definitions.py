"""A pipeline and a workflow that use most keys of definitions."""

from __future__ import annotations

from typing import Any

PIPELINE: dict[str, Any] = {
    "name": "detect",
    "inputs": {
        "type": "object",
        "required": ["image"],
        "properties": {
            "image": {"type": "string"},
            "score": {"type": ["number", "null"], "default": 0.5, "minimum": 0},
            "size": {"properties": {"w": {"default": 1}}, "items": {"enum": [1]}},
        },
    },
    "outputs": {"boxes": {"$from": "find.boxes"}, "doc": {"type": "file"}},
    "nodes": [
        {
            "id": "fetch",
            "inputs": {
                "src": {"$from": "pipeline.image"},
                "n": [{"$coalesce": [{"$from": "pipeline.score"}, 1], "$default": 2}],
            },
        },
        {
            "id": "find",
            "depends_on": ["fetch"],
            "gpu": True,
            "model": "m",
            "inputs": [{"name": "k", "from": "fetch.x"}],
            "retry": {"max_attempts": 3, "backoff": [1, 2]},
            "timeout": "10 min",
            "skip_if": {"$from": "fetch.x", "$filter": {"eq:k": 1}, "$eq": []},
        },
        {"id": "call", "command": ["x", {"$from": "fetch.y"}], "depends_on": ["find"]},
        {
            "id": "each",
            "depends_on": ["find"],
            "map": {"$from": "find.boxes", "$filter": {"eq:k": {"$from": "pipeline.score"}}},
            "max_parallel": 2,
            "min_success": "90%",
            "on_failure": "continue",
            "inputs": {
                "box": {"$from": "item.box", "$default": {"$from": "index"}},
                "of": {"$from": "find.boxes", "$filter": {"eq:id": {"$from": "item.id"}}},
            },
        },
        {"id": "last", "depends_on": ["each"], "run_if": "all_done", "map": [1, {"$from": "each"}]},
    ],
}
WORKFLOW: dict[str, Any] = {
    "name": "inspect",
    "deadline": "2 hours",
    "steps": [
        {
            "id": "first",
            "kind": "pipeline",
            "pipeline": "detect",
            "inputs": {"image": {"$from": "photo.path"}},
        },
        {
            "id": "ask",
            "kind": "input",
            "widget": "choose_one",
            "target": "best",
            "depends_on": ["first"],
            "source": {"$from": "first.boxes"},
            "schema": {"type": "string"},
            "expires": 90,
            "default": "none",
        },
        {
            "id": "second",
            "kind": "pipeline",
            "pipeline": "detect",
            "depends_on": ["ask", "first/fetch"],
            "inputs": {
                "image": {"$from": "ask.best"},
                "score": {"$from": "first/find.boxes.0", "$default": None},
            },
            "skip_if": {"$from": "ask.best", "$eq": "none"},
        },
    ],
}
