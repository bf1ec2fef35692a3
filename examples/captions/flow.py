"""The definitions of the folder `definitions` in Python: `qwf compile flow` prints them."""

from __future__ import annotations

from captions import describe, find_photos, write_page

from qwf_agent.app.workflows import (
    Reference,
    Value,
    item,
    node,
    pipeline,
    question,
    step,
    workflow,
)

SCHEMA = "../../../sql/definition.schema.json"


@pipeline(
    schema=SCHEMA,
    display_name="describe photographs",
    inputs={
        "type": "object",
        "required": ["folder"],
        "properties": {"folder": {"type": "string"}},
    },
)
def describe_photos(folder: Reference) -> dict[str, Value]:
    find = node("find", find_photos, inputs={"folder": folder})
    captions = node(
        "describe",
        describe,
        map=find.photos,
        inputs={"photo": item},
        queue="llm",
        model="captioner",
    )
    return {"captions": captions}


@pipeline(
    schema=SCHEMA,
    display_name="write the page",
    inputs={
        "type": "object",
        "required": ["captions", "best"],
        "properties": {"captions": {"type": "array"}, "best": {"type": "object"}},
    },
)
def write_captions(captions: Reference, best: Reference) -> dict[str, Value]:
    write = node("write", write_page, inputs={"captions": captions, "best": best})
    return {"page": write.primary_file}


@workflow(schema=SCHEMA, display_name="caption a folder of photographs")
def captions(folder: Reference) -> None:
    photos = step("photos", describe_photos, inputs={"folder": folder})
    choose = question(
        "choose",
        "choose_one",
        prompt="Which photograph has the best caption?",
        source=photos.captions,
        target="best",
    )
    step(
        "page",
        write_captions,
        inputs={"captions": photos.captions, "best": choose.best},
        depends_on=[choose],
    )
