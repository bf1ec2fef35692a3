"""Files of sql/tests as scripts: what every one of them needs is around it only here."""

from __future__ import annotations

import re

_HEAD = re.compile(r"-- (?:(\d+) tests|any number of tests)\n")


def framed(text: str) -> str:
    """The script of a file: a transaction that is rolled back, with as many tests as its first line
    says, or one."""
    if re.match(r"(--.*\n|\n)*begin;", text):
        return text
    head = _HEAD.match(text)
    plan = f"plan({head[1] or ''})".replace("plan()", "no_plan()") if head else "plan(1)"
    return f"begin; select * from {plan};\n{text}\nselect * from finish();\nrollback;\n"
