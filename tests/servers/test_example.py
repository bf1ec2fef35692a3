"""The example of captions goes from a folder of photographs to a page."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from PIL import Image

from examples.captions import noise
from qwf_agent.cli import definition_files
from support.harness import Database, agents, until
from support.llama import need_llama

EXAMPLE = Path(noise.__file__).parent
ASKED = "select spec -> 'source' as captions, job_id from qwf.pending_inputs"
ENDED = "select status::text, error from qwf.runs where finished_at is not null"
WRITTEN = "select output ->> 'primary_file' from qwf.jobs where node_id = 'page/write'"


def test_photographs_become_a_page(base: Database, dsn: str, tmp_path: Path) -> None:
    need_llama()
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("*.gguf", "__pycache__"))
    noise.make(folder / "noise.gguf")
    config = folder / "qwf.toml"
    config.write_text(config.read_text().replace('"python"', f'"{sys.executable}"'))
    photos = tmp_path / "photos"
    photos.mkdir()
    for name in ("bee", "cat"):
        Image.new("RGB", (8, 8), "red").save(photos / f"{name}.png")
    definition_files.register(base.conn, definition_files.load(folder / "definitions"))
    base.one(
        "select qwf.enqueue_run('captions', jsonb_build_object('folder', %s::text))", str(photos)
    )
    with agents(dsn, folder) as start:
        start("--host", "box")
        asked = until(lambda: base.conn.execute(ASKED).fetchone(), "the question")
        assert [caption["id"] for caption in asked["captions"]] == ["bee.png", "cat.png"]
        assert all(caption["help"].startswith("noise") for caption in asked["captions"])
        base.one("select qwf.answer_job(%s, '\"cat.png\"')", asked["job_id"])
        ended = until(lambda: base.conn.execute(ENDED).fetchone(), "the end of the run")
        assert ended == {"status": "completed", "error": None}
        servers = base.conn.execute("select queue, starts from qwf.server_overview").fetchall()
        assert servers == [{"queue": "llm", "starts": 1}], "one worker of three has the server"
    page = Path(base.one(WRITTEN)).read_text()
    assert page.index("<b>cat.png</b>") < page.index("<b>bee.png</b>"), "the chosen one is first"
