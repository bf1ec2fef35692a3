"""Answers to questions: from the page of a question, and by signed links without a session."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from qwf_agent.look import links
from qwf_agent.web.forms import exact_json, filled, questions
from qwf_agent.web.forms.questions import AskedQuestion
from qwf_agent.web.pages import question as question_page
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site import access, listed_file, render
from qwf_agent.web.site.access import Person, Session
from qwf_agent.web.site.handlers import MOST_FIELDS, MOST_FORM, OUT_OF_DATE, Site
from qwf_agent.web.site.page import NotFoundError

log = logging.getLogger("qwf_agent.web")
ACTION = "answer_job"
STATUS_OF_LINK = {"broken": 404, "expired": 410, "answered": 200, "asked again": 409, "gone": 410}
AGAIN = "Not sent. The job asks again since you opened this page: look at what it asks now."
OVER = "Not sent. This question does not wait any more."
NO_STORE = {"Cache-Control": "no-store"}


def routes(site: Site) -> tuple[Route, ...]:
    """Where answers are sent to."""
    return (
        Route("/inputs/{job:int}", site.person(partial(_answer, site)), methods=["POST"]),
        Route("/inputs/{job:int}/link", site.person(partial(_make_link, site)), methods=["POST"]),
        Route("/answer/{token}", site.anybody(partial(_show_link, site))),
        Route("/answer/{token}", site.anybody(partial(_answer_link, site)), methods=["POST"]),
        Route(
            "/answer/{token}/files/{job:int}/{number:int}",
            site.anybody(partial(_send_picture, site)),
        ),
    )


@dataclass(frozen=True)
class Attempt:
    """The result of a sent form: `status` 303 if it is answered, else what the page shows."""

    status: int
    said: str = ""
    form: filled.Field | None = None  # with what was typed, and the problems at their fields
    unsent: str = ""  # what was meant, if there is no form to show it in

    def shown(self) -> dict[str, Any]:
        """The variables of the template that it changes."""
        changed: dict[str, Any] = {"said": self.said, "unsent": self.unsent}
        return changed | ({"form": self.form, "sent": True} if self.form is not None else {})


async def _attempt(
    site: Site,
    request: Request,
    question: AskedQuestion,
    given: FormData,
    person: Person,
    asked: str,
) -> Attempt:
    """Answer the question that was asked at `asked` with what a person has entered."""
    entered = filled.entries(given.multi_items())
    if question.form is None or asked != question.asked.isoformat():
        said = OVER if question.form is None else AGAIN
        return Attempt(409, said, unsent=_meant(question, entered))
    changed = filled.edited(question.form, entered)
    if changed is not None:
        return Attempt(200, form=changed)
    read = filled.parse(question.form, entered)
    if read.problems:
        return Attempt(422, form=read.field)
    value = exact_json.write(read.value)
    sent = FormData([("job_id", str(question.job["job_id"])), ("value", value), ("asked", asked)])
    outcome = await site.call(request, ACTION, sent, person)
    if outcome.done:
        return Attempt(303)
    if outcome.code == "QW005" and outcome.error is not None:
        return Attempt(422, form=filled.refused(read.field, outcome.error.diag.message_detail))
    if outcome.code in ("QW001", "QW002"):
        return Attempt(409, OVER, unsent=_meant(question, entered))
    return Attempt(outcome.status, f"Not sent: {outcome.said}.", read.field)


def _meant(question: AskedQuestion, entered: filled.Entries) -> str:
    """The entry in a form whose question is over."""
    field = question.form or filled.from_question(question.spec)
    try:
        value = filled.parse(field, entered).value
        return value if isinstance(value, str) else exact_json.pretty(value)
    except ValueError:
        return "\n".join(text for name in entered if name.startswith("value")
                         for text in entered[name])  # fmt: skip


async def _answer(site: Site, request: Request, session: Session) -> Response:
    """Take the form of the page of a question."""
    given = await request.form(max_part_size=MOST_FORM, max_fields=MOST_FIELDS)
    if not access.csrf_matches(session, given.get("csrf")):
        return PlainTextResponse(OUT_OF_DATE, 403)
    look, page = Look(site.database, 0.0), question_page.PAGES[0]
    try:
        found = await question_page.facts(request, look)
        asked = str(given.get("asked", ""))
        attempt = await _attempt(site, request, found["question"], given, session.person, asked)
        if attempt.status == 409:
            found = await question_page.facts(request, look)
    except NotFoundError as error:
        why = {"why": str(error)}
        return await site.page("not_found.html", request, session, look, why, page, 404)
    if attempt.status != 303:
        found |= attempt.shown()
        return await site.page(page.template, request, session, look, found, page, attempt.status)
    job = found["question"].job
    run = f": run {job['run_id']} goes on" if job["run_id"] is not None else ""
    session.notices.append(("done", f"answered{run}", None))
    to = render.url(request, f"/inputs/{job['job_id']}", asked=asked)
    return RedirectResponse(to, status_code=303)


# Signed links -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Made:
    """A link that was made, or why not."""

    link: str = ""
    name: str = ""
    expires: datetime | None = None
    problem: str = ""


async def _make_link(site: Site, request: Request, session: Session) -> Response:
    """Make a link to the question, and show it."""
    given = await request.form(max_part_size=10_000)
    if not access.csrf_matches(session, given.get("csrf")):
        return PlainTextResponse(OUT_OF_DATE, 403)
    look, page = Look(site.database, 0.0), question_page.PAGES[0]
    try:
        found = await question_page.facts(request, look)
    except NotFoundError as error:
        return PlainTextResponse(f"{error}\n", 404)
    made = _made(site, request, found["question"], given, session.person)
    made = (await _refusal(site) or made) if made.link else made
    status = 200 if made.link else 422
    if made.link:
        client = request.client.host if request.client else "-"
        log.info("link to the question of job %s for %s made by %s from %s",
                 request.path_params["job"], made.name,
                 session.person.acting_for or session.person.name, client)  # fmt: skip
    if "hx-request" in request.headers:
        html = render.standing("_made_link.html", request, made=made)
        return HTMLResponse(html, headers=NO_STORE)
    found |= {"made": made}
    return await site.page(page.template, request, session, look, found, page, status)


async def _refusal(site: Site) -> Made | None:
    """Why a link would open and could not answer: whoever has it acts as the login of the page."""
    try:
        bearer = await site.access.bearer("link")
    except access.StrangerError as error:
        return Made(problem=str(error))
    if ACTION in bearer.may:
        return None
    return Made(
        problem="the login of this page may not answer questions: grant qwf_producer to "
        + bearer.name
    )


def _made(
    site: Site, request: Request, question: AskedQuestion, given: Mapping[str, Any], person: Person
) -> Made:
    if site.link_secret is None:
        return Made(problem="this page has no signed links")
    if ACTION not in person.may:
        return Made(problem="your login may not answer questions")
    if not question.waits:
        return Made(problem="this question does not wait any more")
    name, text = str(given.get("name", "")).strip(), str(given.get("hours", ""))
    try:
        expires = datetime.now(timezone.utc) + timedelta(hours=_hours(text))
        token = links.sign(site.link_secret, question.job["job_id"], question.asked, expires, name)
    except ValueError as error:
        return Made(problem=str(error))
    path = render.url(request, f"/answer/{token}")
    return Made(str(request.url.replace(path=path, query="", fragment="")), name, expires)


def _hours(text: str) -> float:
    """Raises ValueError for what is not a number of hours that a link may last."""
    try:
        hours = float(text)
    except ValueError:
        raise ValueError("write the hours as a number") from None
    if not math.isfinite(hours) or not 0 < hours <= links.LONGEST_H:
        raise ValueError(f"a link lasts at most {links.LONGEST_H} hours")
    return hours


class ClosedError(Exception):
    """A link does not open its question. `question` is the one that it is for, if it is known."""

    def __init__(self, refused: links.LinkRefused, question: AskedQuestion | None = None) -> None:
        super().__init__(str(refused))
        self.reason, self.question = refused.reason, question


async def _open(
    site: Site, request: Request, look: Look
) -> tuple[links.QuestionLink, AskedQuestion]:
    """The content of a link, and its question, which waits. Raises ClosedError."""
    token = request.path_params["token"]
    try:
        if site.link_secret is None:
            raise links.LinkRefused("broken", "This page has no signed links.")
        link = links.check(site.link_secret, token, datetime.now(timezone.utc))
    except links.LinkRefused as error:
        raise ClosedError(error) from None
    files = render.url(request, f"/answer/{token}/files")
    reader = questions.Reader(look, site.files, files, pictures_only=True)
    await site.hide_secrets()
    try:
        question = await reader.read(link.job)
    except NotFoundError as error:
        raise ClosedError(links.LinkRefused("gone", str(error))) from None
    pending = {"since": question.asked} if question.waits else None
    try:
        links.open_question(link, pending, question.answer)
    except links.LinkRefused as error:
        raise ClosedError(error, question) from None
    return link, question


async def _show_link(site: Site, request: Request) -> Response:
    """The page of the question of a link."""
    look = Look(site.database, 0.0)
    try:
        link, question = await _open(site, request, look)
    except ClosedError as error:
        return await _closed(request, look, error)
    return _link_page(request, 200, link=link, question=question, form=question.form)


async def _answer_link(site: Site, request: Request) -> Response:
    """Take the form of the page of a link. The token is what proves that our page has sent it."""
    given = await request.form(max_part_size=MOST_FORM, max_fields=MOST_FIELDS)
    look = Look(site.database, 0.0)
    try:
        link, question = await _open(site, request, look)
        person = await site.access.bearer(link.by)
        asked = question.asked.isoformat()
        attempt = await _attempt(site, request, question, given, person, asked)
        if attempt.status == 303:
            to = render.url(request, f"/answer/{request.path_params['token']}")
            return RedirectResponse(to, status_code=303, headers=NO_STORE)
        if attempt.status == 409:
            await _open(site, request, look)
    except ClosedError as error:
        return await _closed(request, look, error, 409)
    shown = {"link": link, "question": question, "form": question.form} | attempt.shown()
    return _link_page(request, attempt.status, **shown)


async def _closed(
    request: Request, look: Look, error: ClosedError, answered: int = 200
) -> Response:
    """The page of a link that opens no question: why, and what was answered."""
    found: dict[str, Any] = {"why": str(error)}
    question = error.question
    if error.reason == "answered" and question is not None and question.answer is not None:
        found |= {
            "given": question.given,
            "draft": question.draft,
            "run": (await question_page.progress(look, question))["run"],
        }
    status = answered if error.reason == "answered" else STATUS_OF_LINK[error.reason]
    return _link_page(request, status, **found)


def _link_page(request: Request, status: int, **found: Any) -> Response:
    blank = {
        "why": "", "given": None, "draft": "", "run": None, "question": None, "form": None,
        "link": None, "said": "", "unsent": "", "sent": False,
    }  # fmt: skip
    html = render.standing("answer_link.html", request, **(blank | found))
    return HTMLResponse(html, status, NO_STORE)


async def _send_picture(site: Site, request: Request) -> Response:
    """A picture of the question of a link, and no other file."""
    look = Look(site.database)
    job, number = request.path_params["job"], request.path_params["number"]
    try:
        _, question = await _open(site, request, look)
    except ClosedError as error:
        return PlainTextResponse(f"{error}\n", 410)
    if (job, number) not in question.shown:
        return PlainTextResponse("this link does not show that file\n", 404)
    return await listed_file.picture(site.files, look, request, job, number)
