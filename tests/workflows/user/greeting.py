"""The definition of examples/clients/psql/greet.sql, written in Python."""

from __future__ import annotations

from qwf_agent.app.workflows import Reference, node, workflow


@workflow()
def greet(who: Reference) -> None:
    hello = node("hello", "hello", inputs={"who": who})
    node("shout", "shout", inputs={"text": hello.text})
