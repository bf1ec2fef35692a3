"""examples/streetview/definitions, written in Python."""

from __future__ import annotations

from qwf_agent.app.workflows import (
    Reference,
    Value,
    node,
    pipeline,
    question,
    ref,
    step,
    workflow,
)

SCHEMA = "../../../sql/definition.schema.json"


@pipeline(
    schema=SCHEMA,
    display_name="find interesting parts",
    inputs={
        "type": "object",
        "required": ["image"],
        "properties": {
            "image": {"type": "string"},
            "right": {"default": None},
            "min_score": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
        },
    },
)
def detect(image: Reference, right: Reference, min_score: Reference) -> dict[str, Value]:
    fetch = node("fetch", "sv_fetch", inputs={"src": image, "right": right})
    detect = node(
        "detect",
        "sv_detect",
        gpu=True,
        timeout="5 min",
        inputs={
            "image": fetch.primary_file,
            "right": ref(fetch.right_file, default=None),
            "min_score": min_score,
        },
    )
    annotate = node(
        "annotate", "sv_annotate", inputs={"image": fetch.primary_file, "boxes": detect.boxes}
    )
    return {
        "photo": fetch.primary_file,
        "depth": ref(detect.depth_file, default=None),
        "candidates": annotate.candidates,
        "annotated": annotate.primary_file,
    }


@pipeline(
    schema=SCHEMA,
    display_name="make a relief of the chosen part",
    inputs={
        "type": "object",
        "required": ["image", "candidates", "pick"],
        "properties": {
            "image": {"type": "string"},
            "depth": {"default": None},
            "candidates": {
                "type": "array",
                "items": {"type": "object", "required": ["id", "box"]},
            },
            "pick": {},
            "detail": {"type": "integer", "minimum": 20, "maximum": 800, "default": 200},
        },
    },
)
def reconstruct(
    image: Reference, depth: Reference, candidates: Reference, pick: Reference, detail: Reference
) -> dict[str, Value]:
    scene = node(
        "build_scene",
        "build_scene",
        gpu=True,
        timeout="5 min",
        inputs={
            "image": image,
            "depth": depth,
            "candidates": candidates,
            "pick": pick,
            "detail": detail,
        },
    )
    export = node(
        "export_glb",
        "export_glb",
        inputs={
            "scene": scene.primary_file,
            "crop": scene.crop_file,
            "cutout": scene.cutout_file,
        },
    )
    return {"made": export.made}


@workflow(schema=SCHEMA, display_name="inspect a photo")
def streetview_inspect(photo: Reference) -> None:
    found = step(
        "detect", detect, inputs={"image": photo.path, "right": ref(photo.right, default=None)}
    )
    best = question(
        "choose_best",
        "choose_one",
        prompt="Which of these should become a relief?",
        show=found.annotated,
        source=found.candidates,
        target="selection",
    )
    step(
        "reconstruct",
        reconstruct,
        inputs={
            "image": found.photo,
            "depth": ref(found.depth, default=None),
            "candidates": found.candidates,
            "pick": best.selection,
        },
        depends_on=[best],
    )
