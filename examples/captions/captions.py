"""Describe the photographs of a folder, and write a page about them."""

from __future__ import annotations

import base64
import html
import io
from pathlib import Path
from typing import Any

from PIL import Image

from qwf_agent import FROM_AGENT, App, PermanentError
from qwf_agent.llm.client import ServedModel

app = App()

PHOTOS = {".jpg", ".jpeg", ".png", ".webp"}
SIDE = 768  # pixels of the longer side that the model sees
NOISE = "noise"  # the server of qwf.toml whose model has random weights, and sees nothing
ASKED = "Describe this photograph in one sentence, and name what is in it."
WORDS = "^[A-Za-z0-9 ,.'-]{1,120}$"  # plain words: bytes of a random model are no text
DESCRIPTION = {
    "type": "object",
    "properties": {
        "caption": {"type": "string", "pattern": WORDS},
        "things": {"type": "array", "items": {"type": "string", "pattern": WORDS}, "maxItems": 3},
    },
    "required": ["caption", "things"],
}


@app.task()
def find_photos(folder: Path, most: int = 12) -> dict[str, list[str]]:
    """List the photographs of a folder, by name."""
    found = sorted(str(file) for file in folder.iterdir() if file.suffix.lower() in PHOTOS)
    if not found:
        raise PermanentError(f"no photographs in {folder}")
    return {"photos": found[:most]}


@app.task()
def describe(photo: Path, llm: ServedModel = FROM_AGENT) -> dict[str, Any]:
    """Ask the model what is in a photograph."""
    is_noise = llm.server == NOISE
    question: Any = f"{ASKED} Its name is {photo.name}." if is_noise else question_about(photo)
    asked = [{"role": "user", "content": question}]
    reply = llm.chat(asked, schema=DESCRIPTION, max_tokens=2000, temperature=0.2, seed=1)
    things = ", ".join(reply.json["things"])
    return {
        "id": photo.name,
        "label": reply.json["caption"],
        "help": f"noise of a model with random weights: {things}" if is_noise else things,
        "picture": str(photo),
    }


@app.task()
def write_page(
    captions: list[dict[str, str]], best: dict[str, str], out: Path = FROM_AGENT
) -> dict[str, str]:
    """Write a page with all photographs and their captions, the chosen one first. An answer is the
    option or its id."""
    chosen = best["id"]
    ordered = sorted(captions, key=lambda one: one["id"] != chosen)
    parts = [figure(one, chosen=one["id"] == chosen) for one in ordered]
    page = out / "captions.html"
    page.write_text(PAGE.format(figures="\n".join(parts)), encoding="utf-8")
    return {"primary_file": str(page)}


PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Captions</title>
<style>
body {{
  display: grid; gap: 1.5rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr));
  font-family: sans-serif; margin: 1.5rem auto; max-width: 75rem; padding: 0 1rem;
}}
figure {{ margin: 0; overflow-wrap: anywhere }}
img {{ width: 100% }}
</style>
{figures}
"""


def question_about(photo: Path) -> list[dict[str, Any]]:
    """The question with the photograph, as an OpenAI-compatible server takes it."""
    with Image.open(photo) as image:
        small = image.convert("RGB")
    small.thumbnail((SIDE, SIDE))
    data = io.BytesIO()
    small.save(data, "JPEG", quality=85)
    url = f"data:image/jpeg;base64,{base64.b64encode(data.getvalue()).decode()}"
    return [{"type": "text", "text": ASKED}, {"type": "image_url", "image_url": {"url": url}}]


def figure(caption: dict[str, str], chosen: bool) -> str:
    """One photograph of the page."""
    text, more = html.escape(caption["label"]), html.escape(caption["help"])
    source = html.escape(Path(caption["picture"]).as_uri())
    mark = "<strong>Chosen.</strong> " if chosen else ""
    name = html.escape(caption["id"])
    words = f"<figcaption><b>{name}</b><br>{mark}{text}<br><small>{more}</small></figcaption>"
    return f'<figure><img src="{source}" alt="">{words}</figure>'
