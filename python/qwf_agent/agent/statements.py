"""The text of calls as the server gets it. What is called often is prepared: the server need not
plan it again."""

from __future__ import annotations

import functools
import re
import secrets
from collections.abc import Sequence

from qwf_agent.agent.db import Query

# SQLSTATEs that say nothing about the call itself: the statement is not in this session, or one of
# its name is there already, or the function returns other columns by now.
MISSING, TAKEN, CHANGED = "26000", "42P05", "0A000"
FUNCTION = re.compile(r"qwf\.(\w+)")


class Statements:
    """The statements that one connection has prepared: those that it needed a second time.

    Invariant: nothing depends on a statement being there. A transaction pooler may send the call to
    another session: then the connection prepares nothing any more.
    """

    def __init__(self, prepare: bool) -> None:
        """With `prepare` false, every call is sent as it is."""
        self._seen: set[str] = set()
        self._names: dict[str, bytes] = {}
        self._mark = secrets.token_hex(4)  # other agents may share the session
        self._prepare = prepare

    def render(self, query: Query, literals: Sequence[bytes]) -> bytes:
        """The statement, with its parameters as literals."""
        text = query.text
        if not self._prepare or not literals or text not in self._seen:
            self._seen.add(text)
            return _filled(text, literals)
        prepare, name = b"", self._names.get(text)
        if name is None:
            found = FUNCTION.search(text)
            what = found.group(1) if found else "call"
            name = f"{what}_{self._mark}_{len(self._names)}".encode()
            self._names[text] = name
            numbered = [b"$%d" % (number + 1) for number in range(len(literals))]
            prepare = b"prepare %b as %b; " % (name, _filled(text, numbered))
        return b"%bexecute %b(%b)" % (prepare, name, b", ".join(literals))

    def take_failure(self, text: str, sqlstate: str | None) -> bool:
        """Return True if the call failed only because its statement was prepared: then it is sent
        again as it is. Nothing of it was executed."""
        if not self._prepare or text not in self._names:
            return False
        self._prepare = sqlstate not in (MISSING, TAKEN, CHANGED)
        return not self._prepare


def _filled(text: str, values: Sequence[bytes]) -> bytes:
    first, *rest = _parts(text)
    parts = [first]
    for value, part in zip(values, rest, strict=True):
        parts += value, part
    return b"".join(parts)


@functools.cache
def _parts(text: str) -> list[bytes]:
    """The text between the parameters."""
    return text.encode().split(b"{}")
