"""Templates: what they may use, and how a page becomes HTML."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit
from zoneinfo import ZoneInfo

from jinja2 import FileSystemLoader, StrictUndefined
from starlette.requests import Request

from qwf_agent import __version__
from qwf_agent.look import masking, query
from qwf_agent.look.draw import words
from qwf_agent.look.draw.visible import printed, without_escapes
from qwf_agent.web.drawings import log_lines
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site import buttons
from qwf_agent.web.site.access import Session
from qwf_agent.web.site.page import Page, Undo
from qwf_agent.web.site.templating import Templates, exact, finalized
from qwf_agent.web.site.terms import TERMS

TEMPLATES = Path(__file__).parents[1] / "templates"
LIVE, LIVE_END = "<!--live-->", "<!--/live-->"  # no text of a value can hold these: it is escaped
THEMES = ("auto", "light", "dark")
MOST_COUNTED = 10_000  # of jobs, by queue_overview, which estimates more
RUN_OR_JOB = re.compile(r"\b(run|job) ([0-9]{1,19})\b", re.ASCII)
MENU = (  # path, name, its key after g
    ("/", "Overview", "o"),
    ("/runs", "Runs", "r"),
    ("/jobs", "Jobs", "j"),
    ("/inputs", "Questions", "i"),
    ("/failures", "Failures", "x"),
    ("/fleet", "Fleet", "f"),
    ("/queues", "Queues", "q"),
    ("/schedules", "Schedules", "s"),
    ("/alerts", "Alerts", "a"),
    ("/events", "Events", "e"),
    ("/workflows", "Workflows", "w"),
    ("/doctor", "Doctor", "d"),
)


def page(
    template: str, request: Request, session: Session, look: Look, found: dict[str, Any],
    shown: Page, signs_out: bool, badges: dict[str, int],
) -> str:  # fmt: skip
    """The whole HTML of a page; for a refresh of an open tab, little more than its live part."""
    notices: list[tuple[str, str, Undo | None]] = []
    whole = "hx-request" not in request.headers
    if whole:  # a refresh of another tab would swallow them
        notices, session.notices = session.notices, []
    zone = zone_named(request.cookies.get("qwf_zone"))
    return _ENVIRONMENT.get_template(template).render(
        found,
        request=request,
        whole=whole,
        person=session.person,
        csrf=session.csrf,
        notices=notices,
        statements=look.statements,
        parts_left_out=look.left_out,
        called=[],
        signs_out=signs_out,
        secret_words=masking.secret_words(),
        badges=badges,
        page=shown,
        here=address(request),
        url=partial(url, request),
        theme=_choice(request.cookies.get("qwf_theme"), THEMES),
        clock=partial(clock, zone=zone),
        zone=str(zone),
        menu=MENU,
    )


def live_part(html: str) -> str:
    """The part of a page that is fetched again."""
    return html.partition(LIVE)[2].partition(LIVE_END)[0]


def notice(request: Request, kind: str, text: str, undo: Undo | None = None) -> str:
    """One line that says what an action did, with a button that takes it back."""
    return standing("_notice.html", request, kind=kind, text=text, undo=undo)


def with_paths(text: str) -> Iterator[tuple[str, str | None]]:
    """The parts of a text; those that name a run or a job come with the path of its page."""
    end = 0
    for named in RUN_OR_JOB.finditer(text):
        yield text[end : named.start()], None
        yield named[0], f"/{named[1]}s/{named[2]}"
        end = named.end()
    yield text[end:], None


def failure(request: Request, why: str, sent: Sequence[tuple[str, str]] | None = None) -> str:
    """The page instead of one that cannot be read; `why` is lost, slow, old, absent or wrong.

    `sent` are the fields of a form that may not have arrived; the page offers to send them again.
    """
    menu = () if "/answer/" in request.url.path else MENU  # a link opens one question only
    back = own_path(request, dict(sent or ()).get("back", request.url.path))
    return standing("failure.html", request, why=why, sent=sent, menu=menu, back=back)


def standing(template: str, request: Request, **found: Any) -> str:
    """A page that needs no person and no database."""
    return _ENVIRONMENT.get_template(template).render(
        found,
        request=request,
        secret_words=masking.secret_words(),
        url=partial(url, request),
        theme=_choice(request.cookies.get("qwf_theme"), THEMES),
        clock=partial(clock, zone=zone_named(request.cookies.get("qwf_zone"))),
    )


def url(request: Request, path: str, **query: Any) -> str:
    """The address of one of our paths, wherever the application is mounted."""
    root = str(request.scope.get("root_path", "")).rstrip("/")
    if not query:
        return root + path
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return root + path + ("?" + urlencode(given, doseq=True) if given else "")


def address(request: Request) -> str:
    """The address of a page as a browser sends it: names of workers hold any character."""
    query = request.url.query
    return quote(str(request.scope["path"]), safe="/") + ("?" + query if query else "")


def own_path(request: Request, given: str) -> str:
    """An address of ours that a form names, else the first page: never one of another site."""
    parts = urlsplit(given)
    ours = given.startswith("/") and not given.startswith(("//", "/\\"))
    root = str(request.scope.get("root_path", ""))
    if ours and not parts.scheme and not parts.netloc and given.startswith(root):
        return given
    return url(request, "/")


def clock(when: datetime, zone: ZoneInfo | timezone) -> str:
    """A time in the zone of the browser, without the date if it is today."""
    if isinstance(when, words.FarTime):
        return words.FOREVER.get(when.text, when.text)
    there, now = when.astimezone(zone), datetime.now(zone)
    form = "%H:%M:%S" if there.date() == now.date() else "%Y-%m-%d %H:%M"
    return there.strftime(form) + (" UTC" if zone is timezone.utc else "")


def capped(count: int, more: bool = False, most: int = MOST_COUNTED) -> str:
    """A count, exact up to `most`. Of more than is known it gives a round number."""
    if not more and count <= most:
        return f"{count:,}"
    least = min(count, most)
    round_to = 10 ** (len(str(least)) - 1)
    return f"> {least // round_to * round_to:,}"


def utc(when: datetime) -> str:
    """A time in UTC, exactly."""
    if isinstance(when, words.FarTime):
        return when.text
    return when.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def length(value: Any) -> str:
    """A length of time as a person writes it; nothing for none."""
    if value is None:
        return ""
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    return words.duration(max(0.0, seconds))


def as_json(value: Any) -> str:
    """A value as JSON to read, without texts that may be secret."""
    return json.dumps(masking.masked(value), indent=2, ensure_ascii=False, default=str)


def _choice(given: str | None, known: tuple[str, ...]) -> str:
    return given if given in known else known[0]


def zone_named(name: str | None) -> ZoneInfo | timezone:
    """The time zone of a browser, which a cookie names; UTC for any other name."""
    try:
        return ZoneInfo(unquote(name)) if name else timezone.utc
    except (OSError, ValueError, KeyError):  # no such zone, or no zones on this machine
        return timezone.utc


def _now() -> datetime:
    return datetime.now(timezone.utc)


_ENVIRONMENT = Templates(
    loader=FileSystemLoader(TEMPLATES),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=finalized,
    auto_reload=False,
    extensions=["jinja2.ext.do"],
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.globals |= {
    "version": __version__,
    "sql_of": buttons.statement_of,
    "button": buttons.act,
    "hidden_fields": buttons.hidden,
    "themes": THEMES,
    "who": words.who,
    "terms": TERMS,
    "now": _now,
}
_ENVIRONMENT.filters |= {
    "length": length,
    "as_json": as_json,
    "exact": exact,
    "log_lines": log_lines.read,
    "arguments": lambda value: query.in_words(masking.masked(value)),
    "size": words.size,
    "tokens": words.tokens,
    "served": words.served,
    "server_error": words.server_error,
    "spell": lambda seconds: words.spell(timedelta(seconds=seconds)),
    "gist": words.gist,
    "brief": words.brief,
    "changes": words.changed,
    "when_due": words.when_due,
    "capped": capped,
    "classname": buttons.classname,
    "shell": shlex.quote,
    "state_name": words.state_name,
    "sign": lambda status: words.LOOKS.get(status, ("●", ""))[0],
    "utc": utc,
    "with_paths": with_paths,
    "printed": printed,
    "without_escapes": without_escapes,
}
