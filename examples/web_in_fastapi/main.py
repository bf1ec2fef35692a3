"""A FastAPI application with people of its own, and the page of qwf below /queues.

`person` says who sent a request and what they may do; qwf asks it for every request. The login of
QWF_DSN takes on the roles of that level for each call, so events name `page for ada`.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from typing import Annotated

from fastapi import FastAPI, Form, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.middleware.trustedhost import TrustedHostMiddleware

from qwf_agent.web.app import create_app

SALT = b"of this example"
# Name: level at the page (viewer, operator, admin, or None for nobody), hash of the password.
# These passwords are "ada" and so on. Yours are in your own table.
PEOPLE: dict[str, tuple[str | None, bytes]] = {
    name: (level, hashlib.scrypt(name.encode(), salt=SALT, n=2**14, r=8, p=1))
    for name, level in (("ada", "admin"), ("bob", "operator"), ("cyd", "viewer"), ("dan", None))
}
FORM = """<!doctype html><title>Sign in</title><form method="post" action="sign-in">
<label>Name <input name="name"></label>
<label>Password <input name="password" type="password"></label> <button>Sign in</button></form>"""
sessions: dict[str, str] = {}  # the secret of a cookie: the name

app = FastAPI()
# The page answers to every host when it is mounted: the application decides which are its own.
hosts = os.environ.get("HOSTS", "localhost 127.0.0.1").split()
app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts)


def person(request: Request) -> tuple[str, str] | None:
    """Name and level of who sent a request, or None for somebody who may not see the page."""
    name = sessions.get(request.cookies.get("session", ""))
    level = PEOPLE[name][0] if name else None
    return (name, level) if name and level else None


app.mount("/queues", create_app(os.environ["QWF_DSN"], person=person))


@app.get("/", response_class=HTMLResponse)
def home(request: Request) -> str:
    """The form, or the way to the page."""
    known = sessions.get(request.cookies.get("session", ""))
    return '<!doctype html><title>Home</title><a href="queues/">Queues</a>' if known else FORM


@app.post("/sign-in")
def sign_in(name: Annotated[str, Form()], password: Annotated[str, Form()]) -> Response:
    """Begin a session."""
    _, wanted = PEOPLE.get(name, (None, b""))
    given = hashlib.scrypt(password.encode(), salt=SALT, n=2**14, r=8, p=1)
    if not hmac.compare_digest(given, wanted):
        return PlainTextResponse("wrong name or password\n", 401)
    secret = secrets.token_urlsafe(32)
    sessions[secret] = name
    answer = RedirectResponse(".", status_code=303)
    answer.set_cookie("session", secret, httponly=True, samesite="lax")
    return answer
