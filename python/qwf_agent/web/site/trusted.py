"""People of whom somebody else says who they are: a proxy in front, or the application around."""

from __future__ import annotations

import inspect
import ipaddress
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from qwf_agent.config import ConfigError, close_to
from qwf_agent.look.draw.visible import visible
from qwf_agent.web.site import render
from qwf_agent.web.site.access import LEVELS, Access, Person, Session, person_at

MOST_NAME = 200
EVERYBODY = "*"
# Says the name and the level of who sent a request, or None for a stranger.
Said: TypeAlias = "tuple[str, str] | None"
Says = Callable[[Request], "Said | Awaitable[Said]"]


class Trusted(Access):
    """Believes `says`. For each call, the login of `dsn` takes on the roles of the level."""

    def __init__(self, dsn: str, says: Says, read_only: bool = False) -> None:
        super().__init__()
        self._dsn, self._says, self._read_only = dsn, says, read_only

    async def session(self, request: Request) -> Session | Response:
        """The session of the person that the request names now, not of a cookie of another."""
        said = self._says(request)
        if inspect.isawaitable(said):
            said = await said
        if said is None:
            return PlainTextResponse("you may not see this page\n", 403)
        name, level = visible(said[0])[:MOST_NAME], said[1]
        session = self.sessions.find(request)
        if session is not None and session.said == (name, level):
            await session.renew(lambda: person_at(self._dsn, level, name, self._read_only))
            return session
        if request.method != "GET" or "hx-request" in request.headers:
            return PlainTextResponse("load the page again\n", 401)
        person = await person_at(self._dsn, level, name, self._read_only)
        return self.admit(request, person, render.address(request), (name, level))

    async def bearer(self, acting_for: str) -> Person:
        """The login of the page with the roles of an operator."""
        return await person_at(self._dsn, "operator", acting_for, self._read_only)


class Header:
    """Who a request is from by a header that a proxy sets: `ada` for `X-Remote-User: ada`.

    Only requests from the networks of the proxy are believed. `people` maps names to levels; the
    name * is everybody else.
    """

    def __init__(self, header: str, networks: Sequence[str], people: Mapping[str, Any]) -> None:
        try:
            self._networks = [ipaddress.ip_network(one) for one in networks]
        except ValueError as error:
            raise ConfigError(f"--from: {error}: write an address or a network in CIDR") from None
        if not self._networks:
            raise ConfigError("--trust-header needs --from: the address of the proxy")
        for name, level in people.items():
            if level not in LEVELS:
                meant = close_to(str(level), LEVELS)
                raise ConfigError(
                    f"people in qwf.toml: {name} has the unknown level {level!r}: "
                    + (f"did you mean {meant!r}?" if meant else f"use one of {', '.join(LEVELS)}")
                )
        self._header, self._people = header, people

    def __call__(self, request: Request) -> Said:
        """Name and level, or None."""
        address = request.client.host if request.client else ""
        names = request.headers.getlist(self._header)
        if not self._is_ours(address) or len(names) != 1 or not names[0].strip():
            return None
        name = names[0].strip()
        level = self._people.get(name, self._people.get(EVERYBODY))
        return None if level is None else (name, str(level))

    def _is_ours(self, address: str) -> bool:
        try:
            known = ipaddress.ip_address(address)
        except ValueError:  # a socket file
            return False
        return any(known in network for network in self._networks)
