"""Uploads into a question that asks for a file: streamed into the inbox, with its size counted."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from qwf_agent.web.forms.choices import suffixes_of
from qwf_agent.web.pages import question as question_page
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site import access, inbox, render
from qwf_agent.web.site.access import Session
from qwf_agent.web.site.handlers import OUT_OF_DATE, Site
from qwf_agent.web.site.inbox import MOST_BYTES, Upload, UploadRefused
from qwf_agent.web.site.page import NotFoundError

log = logging.getLogger("qwf_agent.web")
ACTION = "answer_job"
AT_ONCE, LONGEST_S = 4, 600.0
LONGEST_FIELD, MOST_PARTS = 1000, 40
PATH = re.compile(r"/inputs/[0-9]+/upload")
MOST_BODY = MOST_BYTES + 3 * LONGEST_FIELD * MOST_PARTS  # a file, and the other parts of its form
_places = anyio.CapacityLimiter(AT_ONCE)


def routes(site: Site) -> tuple[Route, ...]:
    """Where uploads are sent to. A signed link has no such address."""
    path = "/inputs/{job:int}/upload"
    return (Route(path, site.person(partial(_take, site)), methods=["POST"]),)


class Form:
    """The parts of a form as they come: fields are kept, the file is written.

    Invariant: no byte of a file is written before the token of the form has come and was right.
    """

    def __init__(self, boundary: bytes, is_ours: Callable[[str], bool], open_: Any) -> None:
        self.fields: dict[str, list[str]] = {}
        self.upload: Upload | None = None
        self.filename = ""
        self._is_ours, self._open = is_ours, open_
        self._parts = 0
        self._name, self._header = "", (b"", b"")
        self._value: bytearray | None = None
        self.parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": lambda data, a, b: self._head(0, data[a:b]),
                "on_header_value": lambda data, a, b: self._head(1, data[a:b]),
                "on_header_end": self._head_end,
                "on_headers_finished": self._headers_end,
                "on_part_data": lambda data, a, b: self._data(data[a:b]),
                "on_part_end": self._end,
            },
        )

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise UploadRefused(400, "the form has too many parts")
        self._name, self._header, self._value = "", (b"", b""), None

    def _head(self, place: int, data: bytes) -> None:
        name, value = self._header
        self._header = (name + data, value) if place == 0 else (name, value + data)
        if len(self._header[0]) + len(self._header[1]) > LONGEST_FIELD:
            raise UploadRefused(400, "a header of the form is too long")

    def _head_end(self) -> None:
        name, value = self._header
        self._header = (b"", b"")
        if name.lower() == b"content-disposition":
            _, options = parse_options_header(value)
            self._name = options.get(b"name", b"").decode(errors="replace")
            if b"filename" in options:
                self.filename = options[b"filename"].decode(errors="replace")
                self._name = "file"

    def _headers_end(self) -> None:
        if self._name != "file":
            self._value = bytearray()
            return
        if not any(map(self._is_ours, self.fields.get("csrf", []))):
            raise UploadRefused(403, OUT_OF_DATE.strip())
        if self.upload is not None:
            raise UploadRefused(400, "send one file at a time")
        self.upload = self._open()

    def _data(self, data: bytes) -> None:
        if self._value is None:
            assert self.upload is not None  # noqa: S101 - see _headers_end
            self.upload.write(data)
            return
        self._value += data
        if len(self._value) > LONGEST_FIELD:
            raise UploadRefused(400, "a field of the form is too long")

    def _end(self) -> None:
        if self._value is not None:
            text = self._value.decode(errors="replace")
            self.fields.setdefault(self._name, []).append(text)


async def _take(site: Site, request: Request, session: Session) -> Response:
    """Take a file for the question of this job, and show its form with the path in it."""
    folder: Path | None = request.app.state.inbox
    job = request.path_params["job"]
    try:
        if folder is None:
            raise UploadRefused(404, "this page takes no files: start it with --inbox DIR")
        if ACTION not in session.person.may:
            raise UploadRefused(403, "your login may not answer questions")
        accepted = await _accepted(site, request)
        async with _places:
            with anyio.fail_after(LONGEST_S):
                name, before = await _receive(request, session, folder, accepted)
    except (UploadRefused, NotFoundError) as error:
        return PlainTextResponse(f"{error}\n", getattr(error, "status", 404))
    except (MultipartParseError, ClientDisconnect, TimeoutError, ValueError) as error:
        return PlainTextResponse(f"the file did not arrive whole: {error}\n", 400)
    client = request.client.host if request.client else "-"
    log.info("upload %s for the question of job %s by %s from %s", name, job,
             session.person.acting_for or session.person.name, client)  # fmt: skip
    to = render.url(request, f"/inputs/{job}", uploaded=[*before, name])
    return RedirectResponse(f"{to}#answer", status_code=303)


async def _accepted(site: Site, request: Request) -> tuple[str, ...] | None:
    """The suffixes that the question takes. Raises UploadRefused if it takes no file now."""
    found = await question_page.facts(request, Look(site.database, 0.0))
    question = found["question"]
    if question.form is None or question.form.kind not in ("file", "files"):
        raise UploadRefused(409, "this question does not wait for a file")
    return suffixes_of(question.spec.get("accept"))


async def _receive(
    request: Request, session: Session, folder: Path, accepted: tuple[str, ...] | None
) -> tuple[str, list[str]]:
    """Write the file while it comes; its name, and those of the files that came before it."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise UploadRefused(400, "send a form with a file")
    with ExitStack() as stack:
        form = Form(
            options[b"boundary"],
            lambda text: access.csrf_matches(session, text),
            lambda: stack.enter_context(Upload(folder)),
        )
        async for chunk in request.stream():
            if chunk:
                await anyio.to_thread.run_sync(form.parser.write, chunk)
        form.parser.finalize()
        if form.upload is None:
            raise UploadRefused(422, "choose a file first")
        suffix = inbox.suffix_for(form.filename, form.upload.start, accepted)
        name = await anyio.to_thread.run_sync(form.upload.keep, suffix)
    before = [one for one in form.fields.get("uploaded", []) if inbox.path_of(folder, one)]
    return name, before[:20]
