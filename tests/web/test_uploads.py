"""Files that people upload to answer a question."""

from __future__ import annotations

import stat
import tracemalloc
from pathlib import Path
from typing import Any

import psycopg
import pytest

from qwf_agent.web.site import inbox
from support import asking
from support.visitors import FORM, Visit, Visitor

Db = psycopg.Connection[Any]
JPEG = b"\xff\xd8\xff\xe0" + bytes(100)


def upload(visitor: Visitor, job: int, content: bytes, name: str = "me.JPG", **fields: Any) -> Any:
    given = {"csrf": visitor.csrf(), **fields}
    return visitor.client.post(
        f"/inputs/{job}/upload", data=given, files={"file": (name, content)}, headers=FORM,
        follow_redirects=False,
    )  # fmt: skip


def test_a_photograph_answers_a_question(visit: Visit, db: Db, tmp_path: Path) -> None:
    """It gets a random name, and the answer has its path."""
    job = asking.ask(db, widget="file", accept="image/*")
    visitor = visit("operator", inbox=tmp_path)
    page = visitor.text(f"/inputs/{job}")
    assert 'type="file" name="file" required accept="image/*"' in page
    sent = upload(visitor, job, JPEG, "../../me.JPG")
    assert sent.status_code == 303, sent.text
    (file,) = tmp_path.iterdir()
    assert (file.read_bytes(), inbox.NAME.fullmatch(file.name) is not None) == (JPEG, True)
    assert stat.S_IMODE(file.stat().st_mode) & 0o137 == 0
    page = visitor.text(sent.headers["location"].partition("#")[0])
    assert f'value="{file}"' in page
    asked = page.partition('name="asked" value="')[2].partition('"')[0]
    answer = {"csrf": visitor.csrf(), "asked": asked, "value/*other": str(file)}
    visitor.client.post(f"/inputs/{job}", data=answer, headers=FORM)
    assert db.execute("select value from qwf.input_answers").fetchall() == [(str(file),)]
    assert upload(visitor, job, JPEG).status_code == 409, "it does not wait any more"


@pytest.mark.parametrize(
    ("content", "name", "status"),
    [
        (b"", "a.png", 422),
        (b"<html>", "a.png", 422),
        (JPEG, "a.png", 303),
        (b"%PDF-", "a.pdf", 422),
        (JPEG + bytes(60_000_000), "a.jpg", 303),
        (b"\xff\xd8\xff" + bytes(inbox.MOST_BYTES), "a.jpg", 413),
    ],
    ids=["empty", "no picture", "another picture", "not accepted", "60 MB", "too large"],
)
def test_what_is_no_picture_or_too_large_is_refused(
    visit: Visit, db: Db, tmp_path: Path, content: bytes, name: str, status: int
) -> None:
    """Nothing of it stays. A picture gets the suffix of its content."""
    job = asking.ask(db, widget="file", accept="image/*")
    answer = upload(visit("operator", inbox=tmp_path), job, content, name)
    assert answer.status_code == status
    assert status != 413 or answer.text == "a file has at most 64 MB\n"
    assert [file.suffix for file in tmp_path.iterdir()] == ([".jpg"] if status == 303 else [])


def test_only_who_may_answer_uploads_and_only_with_the_token_of_the_form(
    visit: Visit, db: Db, tmp_path: Path
) -> None:
    """No inbox, no right to answer, no token, no file question: nothing is written."""
    job = asking.ask(db, widget="file")
    other = asking.ask(db, name="other", widget="confirm")
    operator, viewer = visit("operator", inbox=tmp_path), visit("viewer", inbox=tmp_path)
    assert "/upload" not in viewer.text(f"/inputs/{job}")
    assert "/upload" not in operator.text(f"/inputs/{other}")
    assert upload(viewer, job, JPEG).status_code == 403
    assert upload(operator, job, JPEG, csrf="x").status_code == 403
    assert upload(operator, other, JPEG).status_code == 409
    assert upload(operator, 99, JPEG).status_code == 404
    assert upload(visit("operator"), job, JPEG).status_code == 404
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("file_first", [True, False])
def test_a_body_without_an_end_is_refused_while_it_comes(
    visit: Visit, db: Db, tmp_path: Path, file_first: bool
) -> None:
    """Through the whole application: it reads no further than a file may be long, keeps nothing of
    it in memory, and leaves nothing in the folder."""
    job = asking.ask(db, widget="file")
    client = (visitor := visit("operator", inbox=tmp_path)).client
    assert "accept=" not in visitor.text(f"/inputs/{job}"), "a file question need not say a kind"
    part = '--b\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n'
    token = "" if file_first else part.format("csrf", "") + visitor.csrf() + "\r\n"
    block, sent, answers = bytes(1 << 20), 0, []
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    headers = {"host": "127.0.0.1", "cookie": cookies, "sec-fetch-site": "same-origin",
               "content-type": "multipart/form-data; boundary=b"}  # fmt: skip

    async def receive() -> dict[str, Any]:
        nonlocal sent
        sent += 1
        start = (token + part.format("file", '; filename="a.bin"')).encode()
        return {"type": "http.request", "body": start if sent == 1 else block, "more_body": True}

    async def send(message: dict[str, Any]) -> None:
        answers.append(message)

    scope = {
        "type": "http", "method": "POST", "path": f"/inputs/{job}/upload", "root_path": "",
        "query_string": b"", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
        "scheme": "http", "http_version": "1.1", "raw_path": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip
    tracemalloc.start()
    client.portal.call(client.app, scope, receive, send)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (answers[0]["status"], sent <= 67) == (403 if file_first else 413, True)
    assert most < 16 << 20
    assert list(tmp_path.iterdir()) == []


def test_the_folder_is_one_that_others_cannot_write(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(ValueError, match="others may write"):
        inbox.check_folder(tmp_path)
    tmp_path.chmod(0o750)
    assert inbox.check_folder(tmp_path) == tmp_path.resolve()
    with pytest.raises(ValueError, match="not a folder"):
        inbox.check_folder(tmp_path / "none")
