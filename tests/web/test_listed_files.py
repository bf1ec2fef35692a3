"""Files that jobs have listed, and the pictures of questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg

from qwf_agent.web.site import files
from support import asking
from support.visitors import LEVELS, Visit

Db = psycopg.Connection[Any]


def pictured(db: Db, folder: Path) -> int:
    """A question that shows one picture, and whose first option has another."""
    job = asking.ask(
        db,
        context={"show": [], "options": [1]},
        show={"$from": "show"},
        source={"$from": "options"},
    )
    whole = asking.list_file(db, folder, "ask/whole.png", asking.PNG, job, 1)
    part = asking.list_file(db, folder, "ask/part.png", asking.PNG, job, 2)
    asking.list_file(db, folder, "ask/notes.txt", b"a <b> \x1b[31m", job, 3)
    spec = [whole, "/elsewhere/x.png", {"rel_path": "ask/notes.txt", "host": "box-a"}]
    options = [{"id": "a", "label": "the face", "picture": part}]
    db.execute(
        "update qwf.jobs set input_spec = input_spec"
        " || jsonb_build_object('show', %s::jsonb, 'source', %s::jsonb) where id = %s",
        (psycopg.types.json.Jsonb(spec), psycopg.types.json.Jsonb(options), job),
    )
    return job


def test_a_question_shows_its_pictures(visit: Visit, db: Db, tmp_path: Path) -> None:
    job = pictured(db, tmp_path)
    page = visit("viewer", files=[files.Root(tmp_path)]).text(f"/inputs/{job}")
    for number in (1, 2):
        assert f'<img src="/files/{job}/{number}"' in page
    assert f'<a href="/files/{job}/3">notes.txt</a>' in page
    assert "/elsewhere/x.png" in page
    hidden = "The picture is not shown: this page serves no folder that has it"
    assert hidden not in page
    page = visit("operator").text(f"/inputs/{job}")  # which serves no folder
    assert ("<img" in page, "whole.png" in page) == (False, True)
    assert page.count(hidden) == 1, "of the picture, not of the text"


def test_the_pages_of_a_run_and_of_a_job_show_its_pictures(
    visit: Visit, db: Db, tmp_path: Path
) -> None:
    job = pictured(db, tmp_path)
    run = db.execute("select run_id from qwf.jobs where id = %s", (job,)).fetchone()
    assert run is not None
    for path in (f"/jobs/{job}", f"/runs/{run[0]}?show=files"):
        page = visit("viewer", files=[files.Root(tmp_path)]).text(path)
        assert f'<img src="/files/{job}/1"' in page
        assert f"/files/{job}/3" not in page.partition("gallery")[2].partition("</ul>")[0]
        page = visit("operator").text(path)  # which serves no folder
        assert ("<img" in page, "whole.png" in page) == (False, True)


def test_a_file_is_sent_whole_in_part_or_as_text(visit: Visit, db: Db, tmp_path: Path) -> None:
    job = pictured(db, tmp_path)
    client = visit("viewer", files=[files.Root(tmp_path)]).client
    whole = client.get(f"/files/{job}/1")
    assert (whole.status_code, whole.content) == (200, asking.PNG)
    assert whole.headers["content-type"] == "image/png"
    assert "sandbox" in whole.headers["content-security-policy"]
    head = client.head(f"/files/{job}/1")
    assert (head.status_code, head.content) == (200, b"")
    part = client.get(f"/files/{job}/1", headers={"Range": "bytes=0-3"})
    assert (part.status_code, part.content) == (206, asking.PNG[:4])
    text = client.get(f"/files/{job}/3")
    assert text.headers["content-type"].startswith("text/plain")
    assert text.text == "a <b> \u241b[31m"
    saved = client.get(f"/files/{job}/3?download=1")
    assert saved.headers["content-disposition"].startswith("attachment")


def test_a_file_that_is_not_here_is_a_page_that_says_where(
    visit: Visit, db: Db, tmp_path: Path
) -> None:
    job = pictured(db, tmp_path)
    path = tmp_path / "1" / "ask" / "whole.png"
    answer = visit("viewer").get(f"/files/{job}/1")
    assert answer.status_code == 404
    for shown in ("Host box-a has it", f"scp box-a:{path} .", "qwf web --files"):
        assert shown in answer.text
    path.write_bytes(b"longer than it was" * 99)
    answer = visit("viewer", files=[files.Root(tmp_path)]).get(f"/files/{job}/1")
    assert (answer.status_code, "It has changed" in answer.text) == (409, True)
    for unknown in (f"/files/{job}/9", "/files/99/1", f"/files/{10**30}/{10**30}"):
        assert visit("viewer").get(unknown).status_code == 404


def test_a_stranger_gets_no_file(visit: Visit, db: Db, tmp_path: Path) -> None:
    job = pictured(db, tmp_path)
    for level in LEVELS:
        answer = visit(level, files=[files.Root(tmp_path)]).get(f"/files/{job}/1")
        assert answer.status_code == (401 if level == "stranger" else 200)


def test_a_question_for_a_file_offers_those_of_its_run(
    visit: Visit, db: Db, tmp_path: Path
) -> None:
    job = asking.ask(db, widget="file", accept=".png")
    path = asking.list_file(db, tmp_path, "ask/1.png", asking.PNG, job, 1)
    asking.list_file(db, tmp_path, "ask/1.txt", b"x", job, 2)
    operator = visit("operator", files=[files.Root(tmp_path)])
    page = operator.text(f"/inputs/{job}")
    assert ("ask/1.png" in page, "ask/1.txt" in page) == (True, False)
    asking.answer(operator.client, f"/inputs/{job}", choose="ask/1.png")
    assert asking.one(db, "select value from qwf.input_answers") == path
