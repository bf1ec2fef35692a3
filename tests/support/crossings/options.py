"""Every option that a history may draw, one entry each. A new option of qwf is one entry here.

The first word of a name says where the value goes: `job.` and `run.` to an argument of `enqueue`
and `enqueue_run`, as SQL; `queue.` to one of `create_queue`; `node.`, `step.`, `inner.` and `flow.`
to a key of a definition, as JSON; `more.` is steps beside the others; `people.` is what operators
do meanwhile; `worker.` is how the bodies end.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

Choice = dict[str, Any]  # the value of each option that is given


@dataclass(frozen=True)
class Option:
    """The values of an option beside its default, what it needs, and what refuses it."""

    values: tuple[Any, ...]
    needs: tuple[str, ...] = ()
    never_with: tuple[str, ...] = ()


def waits(**more: Any) -> list[dict[str, Any]]:
    """A step that waits for a signal."""
    spec = {"id": "wait", "kind": "input", "signal": "go", "target": "went", "depends_on": ["b"]}
    return [{**spec, **more}]


def undo(**more: Any) -> list[dict[str, Any]]:
    """A node that takes back what `a` has done."""
    return [{"id": "undo", "node": "undo", "queue": "q", "compensates": ["a"], **more}]


def clean(**more: Any) -> list[dict[str, Any]]:
    """A node that runs at the end in any case."""
    named = {"id": "clean", "node": "clean", "queue": "q", "depends_on": ["a", "b"]}
    return [{**named, "run_if": "all_done", **more}]


TABLE: dict[str, Option] = {
    "job.key": Option(("'k'",)),
    "job.once": Option(("true",), ("job.key",)),
    "job.key_mode": Option(("'replace'", "'refuse'"), ("job.key",), ("job.once",)),
    "job.debounce": Option(("'5 s'",), ("job.key",), ("job.once",)),
    "job.expires": Option(("'10 min'",)),
    "job.run_at": Option(("qwf.now() + interval '90 s'",), (), ("job.debounce",)),
    "job.max_attempts": Option(("3",)),
    "job.max_losses": Option(("1",)),
    "job.backoff": Option(("'[0]'",)),
    "job.limit_by": Option(("'one'", "'each:a'", "'rate'", "'slow:a'")),
    "job.on_failure": Option(("'ask'",)),
    "job.at_most_once": Option(("true",)),
    "run.limit_by": Option(("'one'", "'two'", "'each:a'", "'rate'")),
    "run.max_attempts": Option(("3",)),
    "run.backoff": Option(("'[0]'",), ("run.max_attempts",)),
    "run.key": Option(("'k'",)),
    "run.once": Option(("true",), ("run.key",)),
    "run.run_at": Option(("qwf.now() + interval '90 s'",)),
    "flow.deadline": Option(("5 min",)),
    "node.map": Option(([1, 2, 3], [])),
    "node.max_parallel": Option((1,), ("node.map",)),
    "node.min_success": Option((1,), ("node.map",)),
    "node.stop_when_reached": Option((True,), ("node.map", "node.min_success")),
    "node.repeat": Option(
        ({"until": {"$from": "item.done"}, "max": 3, "every": "30 s"},), (), ("node.map",)
    ),
    "node.skip_if": Option((True,)),
    "node.delay": Option(("1 min",)),
    "node.retry": Option(({"max_attempts": 3, "backoff": [0]},)),
    "node.at_most_once": Option((True,)),
    "node.on_failure": Option(("continue", "ask")),
    "node.limit_by": Option(("one", "two", "each:a", "slow:a")),
    "more.undo": Option((undo(), undo(limit_by="one"))),
    "more.clean": Option((clean(), clean(limit_by="one"))),
    "more.wait": Option((waits(), waits(expires="5 min", default=None), waits(expires="5 min"))),
    "more.ask": Option(
        ([{"id": "ask", "kind": "input", "widget": "confirm", "depends_on": ["b"]}],)
    ),
    "step.display_name": Option(("a step that runs a workflow",)),
    "step.map": Option(([1, 2, 3],)),
    "step.max_parallel": Option((1,), ("step.map",)),
    "step.min_success": Option((1,), ("step.map",)),
    "step.repeat": Option(({"until": {"$from": "index", "$eq": 1}, "max": 3},), (), ("step.map",)),
    "step.limit_by": Option(("one", "two")),
    "step.on_failure": Option(("continue", "ask")),
    "step.retry": Option(({"max_attempts": 3, "backoff": [0]},)),
    "step.timeout": Option(("5 min",)),
    "inner.limit_by": Option(("one", "each:a")),
    "inner.retry": Option(({"max_attempts": 2, "backoff": [60]},)),
    "inner.compensates": Option((["p"],)),
    "queue.max_running": Option(("1",)),
    "queue.on_failure": Option(("'ask'",)),
    "queue.keep_completed": Option(("false",)),
    "people.cancel": Option(("run", "job", "below", "again")),
    "people.retry": Option(("run", "job", "from a", "then cancel")),
    "people.completed": Option(("compensate", "keep"), ("people.retry", "more.undo")),
    "people.change": Option(("next", "later", "limit", "no limit")),
    "people.pause": Option(("q", "qwf.runs")),
    "people.lower": Option(("two",)),
    "people.hold": Option(("two", "each")),
    "people.resume": Option(("work",), ("worker.ends",)),
    "people.signal": Option(("early", "twice", "wrong")),
    "people.answer": Option(("retry", "abort")),
    "people.schedule": Option(("run", "replace", "all")),
    "people.backfill": Option(("run",), ("people.schedule",)),
    "worker.ends": Option(
        ("completed", "error", "fatal", "tempfail", "released", "later", "lapsed", "crashed")
    ),
    "worker.reports": Option(("many", "and claims")),
}  # fmt: skip

# Limits that every history has: how many run, start in a minute, and whether by key.
LIMITS = {
    "one": (1, None, False),
    "two": (2, None, False),
    "each": (1, None, True),
    "rate": (5, 2, False),
    "slow": (5, 1, True),
}

# What several rules of the engine are about: these occur three at a time, too.
TOGETHER = {
    "job.key": ("'k'",),
    "job.expires": ("'10 min'",),
    "worker.ends": ("released", "error", "lapsed"),
    "run.limit_by": ("'one'",),
    "run.max_attempts": ("3",),
    "people.retry": ("run", "then cancel"),
    "more.undo": (undo(),),
}


# Whose run holds a place of its limit while the others go on: the same limit would wait for itself.
HOLDERS = {
    "run.limit_by": ("node.limit_by", "step.limit_by", "inner.limit_by", "more.undo", "more.clean"),
    "step.limit_by": ("inner.limit_by",),
}


def limit_of(value: Any) -> str:
    """The limit that the value of an option names; empty: none."""
    given = value[0].get("limit_by", "") if isinstance(value, list) else value
    return str(given).strip("'")


def is_refused(choice: Choice) -> bool:
    """True if a document says that some of this cannot be given together."""
    return any(other in choice for name in choice for other in TABLE[name].never_with) or any(
        limit_of(choice[holder]) == limit_of(choice[inside])
        for holder, others in HOLDERS.items()
        for inside in others
        if holder in choice and inside in choice
    )


def needed(name: str) -> list[str]:
    """The options that this one needs, those first that they need."""
    return [every for need in TABLE[name].needs for every in [*needed(need), need]]


def refused_choices() -> list[Choice]:
    """Every two values that cannot be given together, with what they need."""
    given = [(name, value) for name, option in TABLE.items() for value in option.values]
    found = []
    for first, second in itertools.combinations(given, 2):
        pair = dict([first, second])
        if len(pair) == 2 and is_refused(pair):
            needs = {need: TABLE[need].values[0] for name in pair for need in needed(name)}
            found.append({**needs, **pair})
    return found
