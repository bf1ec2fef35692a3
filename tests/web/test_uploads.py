"""Files that people upload to answer a question."""

from __future__ import annotations

import stat
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
        (b"\xff\xd8\xff" + bytes(inbox.MOST_BYTES), "a.jpg", 413),
    ],
    ids=["empty", "no picture", "another picture", "not accepted", "too large"],
)
def test_what_is_no_picture_or_too_large_is_refused(
    visit: Visit, db: Db, tmp_path: Path, content: bytes, name: str, status: int
) -> None:
    """Nothing of it stays. A picture gets the suffix of its content."""
    job = asking.ask(db, widget="file", accept="image/*")
    assert upload(visit("operator", inbox=tmp_path), job, content, name).status_code == status
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


def test_the_folder_is_one_that_others_cannot_write(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(ValueError, match="others may write"):
        inbox.check_folder(tmp_path)
    tmp_path.chmod(0o750)
    assert inbox.check_folder(tmp_path) == tmp_path.resolve()
    with pytest.raises(ValueError, match="not a folder"):
        inbox.check_folder(tmp_path / "none")
