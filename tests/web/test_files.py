"""Files of jobs: which are served, how, and what a person reads about the others."""

from __future__ import annotations

import os
import shlex
import socket
import threading
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from qwf_agent.app import folder_mark
from qwf_agent.app.folder_mark import Mark, moment
from qwf_agent.child.out_folder import folder_of
from qwf_agent.web.site import files, open_file, send_file
from qwf_agent.web.site.files import FileRefused, Root

PNG = b"\x89PNG\r\n\x1a\n" + bytes(200)
PICTURES = {
    "a.png": (PNG, "image/png"),
    "a.PNG": (PNG, "image/png"),
    "a.jpg": (b"\xff\xd8\xff\xe0" + bytes(20), "image/jpeg"),
    "a.jpeg": (b"\xff\xd8\xff\xe0" + bytes(20), "image/jpeg"),
    "a.webp": (b"RIFF\x0a\x0d\x0a\x00WEBPVP8 ", "image/webp"),
    "a.gif": (b"GIF89a" + bytes(20), "image/gif"),
}
DOWNLOADS = {
    "page.html": b"<script>alert(1)</script>",
    "drawing.svg": b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
    "page.xhtml": b"<html/>",
    "mesh.glb": b"glTF",
    "cloud.ply": b"ply\n",
    "mesh.obj": b"v 0 0 0\n",
    "no suffix": b"<script>",
    "html.png": b"<html><script>alert(1)</script>",
    "gif.png": b"GIF89a" + bytes(20),
    "cut.png": b"\x89PN",
    "empty.png": b"",
    "binary.txt": b"a\0b",
    "a.png.html": PNG,
    ".png": PNG,
}


INSTANCE = "3f2a9c01-0000-4000-8000-000000000000"
CREATED_AT = datetime(2026, 11, 24, 12, tzinfo=timezone.utc)


def mark(folder: Path, **given: Any) -> None:
    """Mark a folder as an agent does."""
    known = {"run_id": None, "instance": INSTANCE, "generation": 1, **given}
    known.setdefault("created_at", moment(CREATED_AT.isoformat()))
    (folder / folder_mark.NAME).write_text(Mark(**known).text())


class Box:
    """A host that has written files of run 7 below a folder that is served."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "out"
        self.base = self.folder / "7"
        self.base.mkdir(parents=True)
        mark(self.base, run_id=7)
        self.roots = [Root(self.folder)]
        self.out_root: str | None = str(self.folder)
        self.out_dir: str | None = None

    def write(self, name: str, content: bytes) -> dict[str, Any]:
        file = self.base / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        return self.row(name, len(content))

    def row(self, name: str, size: int) -> dict[str, Any]:
        return {
            "job_id": 3, "file_no": 1, "rel_path": name, "run_id": 7, "node_id": "s/n",
            "host": "box-b", "kind": "file", "size_bytes": size, "instance": INSTANCE,
            "created_at": CREATED_AT, "attempt": 1,
        }  # fmt: skip

    async def serve(self, row: dict[str, Any], **more: Any) -> Response:
        known = {"out_dir": self.out_dir, "out_root": self.out_root}
        return await send_file.serve(self.roots, row | known, **more)

    def get(
        self, row: dict[str, Any], headers: dict[str, str] | None = None, *,
        method: str = "GET", download: bool = False,
    ) -> httpx.Response:  # fmt: skip
        """The answer, as a client gets it."""

        async def app(scope: Any, receive: Any, send: Any) -> None:
            request = Request(scope)
            try:
                answer = await self.serve(
                    row, method=request.method, headers=request.headers, download=download
                )
            except FileRefused as refused:
                lines = [str(refused), *([refused.scp] if refused.scp else [])]
                answer = PlainTextResponse("\n".join(lines), status_code=refused.status)
            await answer(scope, receive, send)

        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
                return await client.request(method, "/", headers=headers)

        return anyio.run(ask)

    def refusal(self, row: dict[str, Any]) -> FileRefused:
        with pytest.raises(FileRefused) as caught:
            anyio.run(self.serve, row)
        return caught.value


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


@pytest.fixture(autouse=True)
def no_descriptor_is_left() -> Any:
    """Every path through the module closes what it has opened."""
    before = len(list(Path("/dev/fd").iterdir()))
    yield
    assert len(list(Path("/dev/fd").iterdir())) <= before


# How a file is sent -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_shown(box: Box, name: str) -> None:
    content, media_type = PICTURES[name]
    answer = box.get(box.write(name, content))
    assert (answer.status_code, answer.content) == (200, content)
    assert answer.headers["content-type"] == media_type
    assert answer.headers["content-disposition"].startswith("inline; ")


@pytest.mark.parametrize("name", DOWNLOADS)
def test_anything_else_is_only_downloaded(box: Box, name: str) -> None:
    answer = box.get(box.write(name, DOWNLOADS[name]))
    assert (answer.status_code, answer.content) == (200, DOWNLOADS[name])
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment; ")


@pytest.mark.parametrize("name", ["a.png", "page.html", "a.txt", "gone.png"])
@pytest.mark.parametrize("more", [{}, {"Range": "bytes=0-3"}, {"Range": "bytes=900-"}])
def test_no_answer_can_run_as_a_page(box: Box, name: str, more: dict[str, str]) -> None:
    row = box.write(name, PNG if name.endswith("png") else b"text")
    if name.startswith("gone"):
        (box.base / name).unlink()
        assert box.refusal(row).status == 404
        return
    headers = box.get(row, more).headers
    assert headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "html" not in headers.get("content-type", "")


def test_a_picture_that_is_a_page_as_well_is_sent_as_a_picture(box: Box) -> None:
    content = PNG + b"<html><script>alert(1)</script></html>"
    answer = box.get(box.write("a.png", content))
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.txt", "a.md", "a.log", "A.TXT"])
def test_a_text_is_plain_text_in_which_everything_can_be_seen(box: Box, name: str) -> None:
    answer = box.get(box.write(name, "<b>\u202e\x1b[2J\r\nä".encode()))
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text == "<b>\ufffd\u241b[2J\nä"


def test_of_a_long_text_only_the_start_is_shown(box: Box) -> None:
    row = box.write("a.log", b"x" * (send_file.TEXT_BYTES + 10))
    shown = box.get(row).text
    left = "\n\n[10 more bytes: download the file to read them]\n"
    assert shown == "x" * send_file.TEXT_BYTES + left
    assert box.get(row, download=True).content == b"x" * (send_file.TEXT_BYTES + 10)


@pytest.mark.parametrize("download", [False, True])
def test_an_empty_file_is_sent_empty(box: Box, download: bool) -> None:
    answer = box.get(box.write("a.txt", b""), download=download)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == "0"


def test_a_text_that_is_not_utf_8_is_shown(box: Box) -> None:
    assert box.get(box.write("a.txt", b"caf\xe9")).text == "caf\ufffd"


@pytest.mark.parametrize("name", ["a.png", "a.txt"])
def test_head_has_the_headers_of_get_and_no_body(box: Box, name: str) -> None:
    row = box.write(name, PNG if name == "a.png" else b"text")
    got, head = box.get(row), box.get(row, method="HEAD")
    assert head.content == b""
    assert dict(head.headers) == dict(got.headers)


@pytest.mark.parametrize(
    ("asked", "first", "after"),
    [("0-0", 0, 1), ("2-5", 2, 6), ("10-", 10, 208), ("-4", 204, 208), ("200-900", 200, 208),
     ("-900", 0, 208)],
)  # fmt: skip
def test_a_part_can_be_asked_for(box: Box, asked: str, first: int, after: int) -> None:
    content = PNG[:8] + bytes(range(200))
    row = box.write("a.png", content)
    answer = box.get(row, {"Range": f"bytes={asked}"})
    assert (answer.status_code, answer.content) == (206, content[first:after])
    assert answer.headers["content-range"] == f"bytes {first}-{after - 1}/208"
    assert answer.headers["content-length"] == str(after - first)
    assert box.get(row, {"Range": f"bytes={asked}"}, method="HEAD").content == b""


@pytest.mark.parametrize("asked", ["208-", "9999999-", "-0"])
def test_a_part_that_does_not_exist_is_refused(box: Box, asked: str) -> None:
    answer = box.get(box.write("a.png", PNG), {"Range": f"bytes={asked}"})
    assert (answer.status_code, answer.content) == (416, b"")
    assert answer.headers["content-range"] == "bytes */208"


@pytest.mark.parametrize(
    "asked",
    ["", "x", "bytes=", "bytes=-", "bytes=5-2", "lines=1-2", "bytes=0-1,5-6", "bytes=1-x",
     "bytes=" + "9" * 400 + "-"],
)  # fmt: skip
def test_a_range_that_is_not_understood_gives_the_whole_file(box: Box, asked: str) -> None:
    answer = box.get(box.write("a.png", PNG), {"Range": asked})
    assert (answer.status_code, answer.content) == (200, PNG)


def test_a_part_of_another_version_gives_the_whole_file(box: Box) -> None:
    row = box.write("a.png", PNG)
    etag = box.get(row).headers["etag"]
    same = {"Range": "bytes=0-1", "If-Range": etag}
    other = {"Range": "bytes=0-1", "If-Range": '"other"'}
    assert box.get(row, same).status_code == 206
    assert box.get(row, other).status_code == 200


@pytest.mark.parametrize("name", ["a.png", "a.txt"])
def test_a_file_that_the_browser_has_is_not_sent_again(box: Box, name: str) -> None:
    row = box.write(name, PNG if name == "a.png" else b"text")
    etag = box.get(row).headers["etag"]
    for known in (etag, f'"x", W/{etag}', "*"):
        answer = box.get(row, {"If-None-Match": known})
        assert (answer.status_code, answer.content) == (304, b"")
    os.utime(box.base / name, ns=(1, 1))
    assert box.get(row, {"If-None-Match": etag}).status_code == 200


@pytest.mark.parametrize(
    "name",
    ['a"b.bin', "a\nb.bin", "a\r\nSet-Cookie: x=1.bin", "a\u202egpj.exe", "ü€😀.bin", "..bin",
     "a;b%41.bin", "a\\b.bin", " .bin ", "x" * 200 + ".bin", "-rf", "CON:.bin", "\u00a0"],
)  # fmt: skip
def test_a_name_cannot_break_the_headers(box: Box, name: str) -> None:
    answer = box.get(box.write(name, b"x"))
    assert answer.status_code == 200
    disposition = answer.headers["content-disposition"]
    assert disposition.startswith('attachment; filename="')
    assert disposition.count('"') == 2
    assert not set("\r\n\\") & set(disposition)
    assert disposition.isascii()
    assert "set-cookie" not in answer.headers
    assert "%E2%80%AE" not in disposition  # turns the letters after it round
    assert len(disposition) < 1200


def test_a_large_file_is_sent_in_chunks(box: Box) -> None:
    """A terabyte of nothing: it would not fit into memory."""
    size = 2**40
    file = box.base / "a.bin"
    with file.open("wb") as opened:
        opened.truncate(size)

    async def first_chunks() -> tuple[str, int]:
        answer: Any = await box.serve(box.row("a.bin", size))
        chunks = answer.body_iterator
        read = len(await anext(chunks)) + len(await anext(chunks))
        await chunks.aclose()
        return answer.headers["content-length"], read

    assert anyio.run(first_chunks) == (str(size), 2 * send_file.CHUNK_BYTES)
    end = box.get(box.row("a.bin", size), {"Range": f"bytes={size - 3}-"})
    assert (end.status_code, end.content) == (206, bytes(3))


def test_a_client_that_goes_away_ends_the_reading(box: Box) -> None:
    size = 2**40
    with (box.base / "a.bin").open("wb") as opened:
        opened.truncate(size)

    async def ask() -> int:
        answer = await box.serve(box.row("a.bin", size))
        sent = 0

        async def receive() -> dict[str, Any]:
            while sent < 3:
                await anyio.lowlevel.checkpoint()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            nonlocal sent
            sent += 1
            await anyio.lowlevel.checkpoint()

        await answer({"type": "http", "method": "GET", "asgi": {}}, receive, send)
        return sent

    assert anyio.run(ask) >= 3


def test_a_file_that_becomes_shorter_while_it_is_sent_breaks_the_answer(box: Box) -> None:
    size = send_file.CHUNK_BYTES * 3
    row = box.write("a.bin", bytes(size))

    async def ask() -> None:
        answer: Any = await box.serve(row)
        await anext(answer.body_iterator)
        os.truncate(box.base / "a.bin", 10)
        await anext(answer.body_iterator)

    with pytest.raises(OSError, match="has become shorter"):
        anyio.run(ask)


# What is not served -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["../secret.txt", "..", ".", "", "/etc/passwd", "a/../../secret.txt", "a//b", "./a", "a/",
     "a\0b", "a/./b"],
)  # fmt: skip
def test_a_path_that_leaves_its_folder_is_refused(box: Box, name: str) -> None:
    (box.folder / "secret.txt").write_bytes(b"x")
    refused = box.refusal(box.row(name, 1))
    assert refused.status == 404
    assert "secret" not in str(refused)


@pytest.mark.parametrize("out_dir", ["../x", "/../x", "a/../..", "/a/./../b"])
def test_an_out_dir_that_climbs_is_refused(box: Box, out_dir: str) -> None:
    box.out_dir = out_dir
    assert box.refusal(box.row("a.txt", 1)).status == 404


@pytest.mark.parametrize("out_dir", ["/etc", "/", "/proc/self"])
def test_an_out_dir_outside_the_served_folders_is_refused(box: Box, out_dir: str) -> None:
    box.out_dir = out_dir
    refused = box.refusal(box.row("a.txt", 1))
    assert "No folder that is served here (--files) has it" in str(refused)


def test_a_folder_with_a_longer_name_is_not_below_the_served_one(box: Box, tmp_path: Path) -> None:
    beside = tmp_path / "out-of-others" / "7"
    beside.mkdir(parents=True)
    (beside / "a.txt").write_bytes(b"x")
    box.out_dir = str(beside.parent)
    assert "No folder that is served" in str(box.refusal(box.row("a.txt", 1)))


def test_a_link_is_not_followed_wherever_it_stands(box: Box, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "a.txt").write_bytes(b"x")
    (box.base / "a.txt").symlink_to(secret / "a.txt")
    (box.base / "folder").symlink_to(secret)
    (box.folder / "8").symlink_to(secret)
    assert "It is not opened here" in str(box.refusal(box.row("a.txt", 1)))
    assert "is a link" in str(box.refusal(box.row("folder/a.txt", 1)))
    assert "is a link" in str(box.refusal({**box.row("a.txt", 1), "run_id": 8}))


def test_the_served_folder_itself_may_be_a_link(box: Box, tmp_path: Path) -> None:
    row = box.write("a.txt", b"x")
    (tmp_path / "link").symlink_to(box.folder)
    box.roots = [Root(tmp_path / "link")]
    assert box.get(row).text == "x"
    box.out_root = str(tmp_path / "link")
    assert box.get(row).text == "x"


@pytest.mark.parametrize("swapped", ["n", "a.txt"])
def test_what_is_swapped_for_a_link_just_before_it_is_opened_is_not_followed(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "a.txt").write_bytes(b"bad!")
    row = box.write("n/a.txt", b"good")
    there = box.base / "n" if swapped == "n" else box.base / "n" / "a.txt"
    target = secret if swapped == "n" else secret / "a.txt"
    really_open, swaps = os.open, []

    def swap_and_open(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if path == swapped:
            there.rename(tmp_path / "moved")
            there.symlink_to(target)
            swaps.append(path)
        return really_open(path, flags, *more, **named)

    assert box.get(row).text == "good"
    monkeypatch.setattr(os, "open", swap_and_open)
    assert "link" in str(box.refusal(row))
    assert swaps == [swapped]


@pytest.mark.parametrize("kind", ["pipe", "folder", "socket"])
def test_only_plain_files_are_opened(box: Box, kind: str) -> None:
    where = box.base / "a.txt"
    if kind == "pipe":
        os.mkfifo(where)
    elif kind == "folder":
        where.mkdir()
    else:
        made = socket.socket(socket.AF_UNIX)
        here = Path.cwd()
        os.chdir(box.base)  # a path of a socket has at most 107 bytes
        try:
            made.bind("a.txt")
        finally:
            os.chdir(here)
            made.close()
    assert "it is not a plain file" in str(box.refusal(box.row("a.txt", 0)))


def test_a_hard_link_to_a_file_of_the_same_user_is_served(box: Box, tmp_path: Path) -> None:
    row = box.write("a.txt", b"x")
    os.link(box.base / "a.txt", tmp_path / "backup")
    assert box.get(row).text == "x"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_hard_link_to_a_file_of_another_user_is_refused(box: Box, tmp_path: Path) -> None:
    (tmp_path / "theirs").write_bytes(b"x")
    os.chown(tmp_path / "theirs", 12345, 12345)
    os.link(tmp_path / "theirs", box.base / "a.txt")
    assert "hard link to a file of another user" in str(box.refusal(box.row("a.txt", 1)))


@pytest.mark.parametrize("size", [0, 3, 5])
def test_a_file_that_has_changed_is_refused(box: Box, size: int) -> None:
    row = {**box.write("a.txt", b"text"), "size_bytes": size}
    refused = box.refusal(row)
    assert refused.status == 409
    assert f"it had {size} bytes and has 4 now" in str(refused)


def test_a_name_that_is_too_long_is_refused(box: Box) -> None:
    row = box.row("b" * 300, 1)
    assert "It is not opened here: File name too long" in str(box.refusal(row))


# Where a file is --------------------------------------------------------------------------------


def test_a_missing_file_says_who_has_it_and_how_to_copy_it(box: Box) -> None:
    refused = box.refusal(box.row("s/n/my file.png", 1))
    path = f"{box.base}/s/n/my file.png"
    assert str(refused) == f"It is not on this machine, or is deleted. Host box-b has it: {path}"
    assert refused.scp is not None
    assert shlex.split(refused.scp) == ["scp", f"box-b:{path}", "."]


@pytest.mark.parametrize(
    ("host", "name"),
    [("-oProxyCommand=x", "a"), ("box;b", "a"), ("box-b", "a\nrm -rf"), ("box-b", "a\u202eb")],
)
def test_what_a_shell_could_misread_is_in_no_line_to_copy(box: Box, host: str, name: str) -> None:
    refused = box.refusal({**box.row(name, 1), "host": host})
    assert refused.scp is None
    assert "\u202e" not in str(refused)


def test_a_file_of_an_unknown_host_says_so(box: Box) -> None:
    refused = box.refusal({**box.row("a", 1), "host": None})
    assert "has not said which host" in str(refused)
    assert refused.scp is None


def test_a_file_of_another_host_is_not_looked_up_here(box: Box) -> None:
    row = box.write("a.txt", b"x")
    box.roots = [Root(box.folder, "box-c")]
    assert "No folder that is served here" in str(box.refusal(row))
    box.roots.append(Root(box.folder, "box-b"))
    assert box.get(row).text == "x"


@pytest.mark.parametrize("out_root", [None, "/home/worker/.qwf/out"])
def test_the_folder_of_a_host_stands_for_its_out_root(box: Box, out_root: str | None) -> None:
    row = box.write("a.txt", b"x")
    box.out_root, box.roots = out_root, [Root(box.folder, "box-b")]
    assert box.get(row).text == "x"


def test_without_an_out_root_the_served_folder_stands_for_it(box: Box) -> None:
    row = box.write("a.txt", b"x")
    box.out_root = None
    assert box.get(row).text == "x"
    (box.base / "a.txt").unlink()
    assert "below the --out-root of its agent: 7/a.txt" in str(box.refusal(row))


@pytest.mark.parametrize("relative", [True, False])
def test_the_out_dir_of_a_run_is_where_the_agent_writes(box: Box, relative: bool) -> None:
    box.out_dir = "pro/ject" if relative else str(box.folder / "pro/ject")
    folder = folder_of(3, 7, "s/n", box.out_dir, box.folder)
    folder.path.mkdir(parents=True)
    mark(folder.base, run_id=7)
    mark(folder.path, run_id=7, job_id=3, attempt=1)
    (folder.path / "a.txt").write_bytes(b"x")
    [listed] = folder.files()
    assert box.get(box.row(listed["rel_path"], listed["size_bytes"])).text == "x"


def test_a_standalone_job_has_its_own_folder(box: Box) -> None:
    folder = folder_of(3, None, None, None, box.folder)
    folder.path.mkdir(parents=True)
    mark(folder.path, job_id=3, attempt=1)
    (folder.path / "a.txt").write_bytes(b"x")
    assert box.get({**box.row("a.txt", 1), "run_id": None}).text == "x"


@pytest.mark.parametrize(
    "other",
    [
        {"instance": "99999999-0000-4000-8000-000000000000"},
        {"created_at": "2026-11-20T12:00:00.000000Z"},
        {"run_id": 8},
        {"run_id": 7, "job_id": 4},
        {"run_id": 7, "job_id": 3, "attempt": 2},
    ],
    ids=["another database", "another run 7", "another run", "another job", "a later attempt"],
)
@pytest.mark.parametrize("at", [".", "s", "s/n"])
def test_a_file_in_a_folder_of_another_job_is_not_sent(
    box: Box, other: dict[str, Any], at: str
) -> None:
    row = box.write("s/n/a.txt", b"x")
    mark(box.base / at, **{"run_id": 7, **other})
    refusal = box.refusal(row)
    assert refusal.status == 409
    assert "files of" in str(refusal)


def test_a_file_in_a_folder_without_a_mark_is_not_sent(box: Box) -> None:
    row = box.write("s/n/a.txt", b"x")
    (box.base / folder_mark.NAME).unlink()
    assert "no mark" in str(box.refusal(row))
    mark(box.base / "s" / "n", run_id=7, job_id=3, attempt=1)
    assert box.get(row).text == "x"


def test_a_home_of_another_user_is_not_guessed(box: Box) -> None:
    box.out_dir = "~/out"
    assert "only the agent can tell" in str(box.refusal(box.row("a.txt", 1)))


@pytest.mark.parametrize(("text", "host"), [("{}", None), ("box-b={}", "box-b"), ("{}/a=b", None)])
def test_a_root_is_read(tmp_path: Path, text: str, host: str | None) -> None:
    (tmp_path / "a=b").mkdir()
    folder = Path(text.format(tmp_path).removeprefix("box-b="))
    assert files.parse_root(text.format(tmp_path)) == Root(folder, host)


@pytest.mark.parametrize("text", ["", "box-b=", "/does/not/exist", "={}", "-x={}"])
def test_a_root_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match="is not"):
        files.parse_root(text.format(tmp_path))


def test_a_disk_that_does_not_answer_is_said(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    row = box.write("a.txt", b"x")
    answered = threading.Event()

    def hang(*_: Any) -> None:
        answered.wait(30)
        raise FileNotFoundError

    monkeypatch.setattr(send_file, "OPEN_S", 0.05)
    monkeypatch.setattr(open_file, "_open_below", hang)

    async def ask() -> None:
        try:
            await box.serve(row)
        finally:
            answered.set()

    with pytest.raises(FileRefused, match="did not answer in time") as caught:
        anyio.run(ask)
    assert caught.value.status == 504


# Lists of files ---------------------------------------------------------------------------------


def test_what_is_shown_small_in_a_list(box: Box) -> None:
    assert files.has_thumbnail(box.row("a.png", files.THUMBNAIL_BYTES))
    assert not files.has_thumbnail(box.row("a.png", files.THUMBNAIL_BYTES + 1))
    assert not files.has_thumbnail(box.row("a.png", 0))
    assert not files.has_thumbnail(box.row("a.svg", 10))
    shown = [files.show(box.row(name, 1)) for name in ("a.webp", "a.json", "a.html")]
    assert shown == ["picture", "text", "download"]


def test_a_mesh_is_shown_by_the_picture_beside_it(box: Box) -> None:
    names = ["s/a.glb", "s/a.png", "b.ply", "b.ply.png", "c.obj", "a.png", "d.txt", "d.png"]
    rows = [{**box.row(name, 9), "file_no": number} for number, name in enumerate(names)]
    assert files.previews(rows) == {0: 1, 2: 3}
