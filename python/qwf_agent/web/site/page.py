"""The parts of a page: a path, a template, and a function that reads what the template shows;
perhaps one for a form that is sent to it. And data for its scripts: a path, and a function that
reads what is sent as JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from starlette.datastructures import FormData
from starlette.requests import Request

from qwf_agent.web.reads.database import Look


class NotFoundError(Exception):
    """There is nothing under this address. The text tells the person why."""


class IncompleteError(Exception):
    """The address does not say what it is about. The text tells the person what to do."""


class ElsewhereError(Exception):
    """The request is for something that has a page of its own. The text is its path."""


Undo = tuple[str, list[tuple[str, str]]]  # the action that takes something back, and its fields


@dataclass(frozen=True)
class ActionResult:
    """The result of a call of an action: its value, or why it was refused."""

    said: str
    status: int = 200  # of the answer to a form that does nothing else
    code: str = "ok"  # of a refusal: the SQLSTATE, or a word
    value: Any = None
    error: psycopg.Error | None = None
    undo: Undo | None = None

    @property
    def done(self) -> bool:
        """True if it was done."""
        return self.code == "ok"

    @property
    def detail(self) -> str | None:
        """The DETAIL of the refusal: a line for each problem."""
        return self.error.diag.message_detail if self.error else None


Call = Callable[[str, Mapping[str, str]], Awaitable[ActionResult]]


OVER_S = 10  # every_s of a job or run that is over: it changes only if somebody retries it


@dataclass(frozen=True)
class Page:
    """A page.

    `read` gets the request and a Look, and returns the variables of the template. The block `live`
    of the template is fetched again when one of `topics` changes (see snapshot.py), or every
    `every_s` seconds. `take` does the same with a form that the page has sent to its own address;
    it gets the form, and a function that calls an action for the person, and is for forms that
    must come back with what was entered. Both raise NotFoundError, IncompleteError and
    ElsewhereError. What they return under `cookies` is remembered by the browser: a choice of this
    person, never a secret. What they return under `every_s` holds in place of that of the page.
    """

    path: str
    template: str
    read: Callable[[Request, Look], Awaitable[dict[str, Any]]]
    topics: tuple[str, ...] = ()
    every_s: float | None = None
    take: Callable[[Request, Look, FormData, Call], Awaitable[dict[str, Any]]] | None = None


@dataclass(frozen=True)
class Data:
    """Data that a script of a page fetches, sent as JSON; a browser asks again after `fresh_s`.

    A text is sent as it is, for the browser to store.

    `read` raises NotFoundError.
    """

    path: str
    read: Callable[[Request, Look], Awaitable[dict[str, Any] | str]]
    fresh_s: int = 1
