"""Workflows and pipelines written in Python: functions and calls become the JSON of `qwf apply`.

    @pipeline()
    def describe_photos(folder: Reference) -> dict[str, Value]:
        find = node("find", find_photos, inputs={"folder": folder})
        texts = node("describe", queue="llm", map=find.photos, inputs={"photo": item})
        return {"captions": texts}

`qwf compile` prints them, and `describe_photos.compile()` returns one. Every keyword argument is
the key of that name. Nothing here needs a database, or anything but the standard library.
"""

from __future__ import annotations

from qwf_agent.app.workflows.building import node, pipeline, question, run, step, workflow
from qwf_agent.app.workflows.definitions import Definition, Pipeline, Workflow
from qwf_agent.app.workflows.references import (
    Expression,
    Reference,
    Value,
    coalesce,
    index,
    item,
    ref,
    this_run,
    value,
)

__all__ = [
    "Definition",
    "Expression",
    "Pipeline",
    "Reference",
    "Value",
    "Workflow",
    "coalesce",
    "index",
    "item",
    "node",
    "pipeline",
    "question",
    "ref",
    "run",
    "step",
    "this_run",
    "value",
    "workflow",
]
