"""What a page is: a path, a template, and a function that reads what the template shows. And data
for its scripts: a path, and a function that reads what is sent as JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from qwf_agent.web.database import Look


class NotFoundError(Exception):
    """There is nothing under this address. The text tells the person why."""


class ElsewhereError(Exception):
    """What was asked for has a page of its own. The text is its path."""


@dataclass(frozen=True)
class Page:
    """A page.

    `read` gets the request and a Look, and returns the variables of the template. The block `live`
    of the template is fetched again when one of `topics` changes (see snapshot.py), or every
    `every_s` seconds. `read` raises NotFoundError and ElsewhereError. What it returns under
    `cookies` is remembered by the browser: a choice of this person, never a secret.
    """

    path: str
    template: str
    read: Callable[[Request, Look], Awaitable[dict[str, Any]]]
    topics: tuple[str, ...] = ()
    every_s: float | None = None


@dataclass(frozen=True)
class Data:
    """What a script of a page fetches, sent as JSON; a browser asks again after `fresh_s`.

    `read` raises NotFoundError.
    """

    path: str
    read: Callable[[Request, Look], Awaitable[dict[str, Any]]]
    fresh_s: int = 1
