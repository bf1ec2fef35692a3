"""Questions for tests of pages: runs that ask, jobs that failed, files, and the form of a page."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psycopg
from psycopg.types.json import Jsonb
from starlette.testclient import TestClient

from qwf_agent.app import folder_mark
from support.visitors import FORM

Db = psycopg.Connection[Any]
PNG = bytes.fromhex(  # 4 x 4 pixels
    "89504e470d0a1a0a0000000d4948445200000004000000040802000000269309290000001049444154789c6350"
    "093801470cc47100f78313c1909e805f0000000049454e44ae426082"
)


def ask(
    db: Db, name: str = "w", context: Any = None, project: str | None = None, **spec: Any
) -> int:
    """Start a run that asks this question, and then is over; returns the job that asks."""
    step = {"id": "ask", "kind": "input", "prompt": "Which one?", "widget": "choose_one"} | spec
    db.execute("select qwf.register_workflow(%s)", (Jsonb({"name": name, "steps": [step]}),))
    db.execute(
        "select qwf.enqueue_run(%s, %s, project => %s, out_dir => '/out')",
        (name, Jsonb(context or {}), project),
    )
    return one(db, "select max(job_id) from qwf.pending_inputs")


def fail(db: Db) -> int:
    """A standalone job that fails and asks what to do; call it again to let it fail again."""
    db.execute("select qwf.register_worker('box-a', 'default', '{}')")
    if not one(db, "select count(*) from qwf.jobs"):
        db.execute("select qwf.enqueue('mail', on_failure => 'ask')")
    return one(
        db,
        "with claimed as materialized ("
        "  select c.* from qwf.workers w cross join lateral qwf.claim('default', w.id, 1) c)"
        " select max(job_id) from ("
        "   select job_id, qwf.finish(job_id, token, 'fatal', null, 'no such mailbox')"
        "   from claimed) f",
    )  # fmt: skip


def list_file(
    db: Db, folder: Path, rel_path: str, content: bytes, job: int, number: int = 1
) -> str:
    """Write a file below the folder of the run of a job, and list it; returns its path."""
    run = one(db, "select run_id from qwf.jobs where id = %s", job)
    path = folder / str(run) / rel_path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    mark_run(db, folder / str(run), run)
    db.execute(
        "insert into qwf.run_files (job_id, file_no, rel_path, run_id, node_id, host, kind,"
        " size_bytes) values (%s, %s, %s, %s, 'ask', 'box-a', 'image', %s)",
        (job, number, rel_path, run, len(content)),
    )
    db.execute("update qwf.runs set out_dir = %s where id = %s", (str(folder), run))
    return str(path)


def mark_run(db: Db, folder: Path, run: int) -> None:
    """Mark the folder of a run as an agent does."""
    (found,) = db.execute(
        "select i.id::text, i.generation, r.created_at::text from qwf.instance i, qwf.runs r"
        " where r.id = %s", [run],
    ).fetchall()  # fmt: skip
    instance, generation, created_at = found
    mark = folder_mark.FolderMark(instance, generation, run, folder_mark.moment(created_at))
    (folder / folder_mark.NAME).write_text(mark.text())


def one(db: Db, query: Any, *parameters: Any) -> Any:
    """The value that a query returns."""
    (row,) = db.execute(query, parameters).fetchall()
    return row[0]


class _Controls(HTMLParser):
    """The forms of a page that send to one address, with what a browser would send of them."""

    def __init__(self, action: str) -> None:
        super().__init__()
        self._action, self._inside, self._area = action, False, ""
        self.is_there = False
        self.sent: dict[str, list[str]] = {}
        self.options: dict[str, str] = {}  # label of an option: its value
        self._option, self._hidden = "", 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._inside = given.get("action") == self._action
            self.is_there |= self._inside
        self._hidden += tag == "template"  # whose content no browser sends
        if not self._inside or self._hidden:
            return
        if tag == "textarea":
            self._area = given["name"]
            self.sent[self._area] = [""]
        if tag == "button" and given.get("name", "").startswith("value"):
            self._option = given["value"]
        if tag == "input" and "name" in given:
            choice = given.get("type") in ("radio", "checkbox")
            self._option = given["value"] if choice else self._option
            if not choice or "checked" in given:
                self.sent.setdefault(given["name"], []).append(given.get("value", ""))

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag == "template"
        if tag == "textarea":
            self._area = ""
        if tag == "form":
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._area:
            self.sent[self._area] = [data.removeprefix("\n")]
        elif self._option and data.strip():
            self.options[data.strip()] = self._option
            self._option = ""


def controls(html: str, action: str) -> _Controls:
    """Fields that a form of the page sends, and its options."""
    found = _Controls(action)
    found.feed(html)
    assert found.is_there, f"the page has no form for {action}"
    return found


def answer(
    client: TestClient, path: str, html: str | None = None, choose: str = "", **entered: str
) -> httpx.Response:
    """Fill in the form of a question as a browser without scripts does, and send it."""
    form = controls(html if html is not None else client.get(path).text, path)
    sent: dict[str, Any] = dict(form.sent)
    if choose:
        sent["value"] = form.options[choose]
    sent |= {name.replace("__", "/"): text for name, text in entered.items()}
    return client.post(path, data=sent, headers=FORM)
