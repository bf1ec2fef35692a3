"""The definitions of examples/clients/psql/greet.sql, written in Python."""

from __future__ import annotations

from qwf_agent.app.workflows import Reference, node, pipeline, step, workflow


@pipeline("greet")
def greet_pipeline(who: Reference) -> None:
    hello = node("hello", "hello", inputs={"who": who})
    node("shout", "shout", inputs={"text": hello.text})


@workflow()
def greet(who: Reference) -> None:
    step("greet", greet_pipeline, inputs={"who": who})
