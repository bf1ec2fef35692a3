"""From a choice of options to a history: what is set up, what is enqueued, and what then happens.

What happens is a list of acts with a number each, which says whom it concerns among those who are
there at that moment. So a history goes on to make sense when acts or options are left out.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

from support.crossings.options import Choice

Act = tuple[str, int]
MOVES = ("claim", "claim", "end", "end", "end", "tick", "pass", "beat")
COUNT = 11  # moves before everything is served
OVER = [("until over", 0), ("tick", 0)]
DONE = [("until completed", 0), ("tick", 0)]

# What operators do, as acts in this order.
PEOPLE: dict[tuple[str, str], list[Act]] = {
    ("cancel", "run"): [("cancel run", 0)],
    ("cancel", "job"): [("cancel job", 0)],
    ("cancel", "below"): [("cancel below", 0)],
    ("cancel", "again"): [("cancel run", 0), ("claim", 1), ("cancel run", 0)],
    ("retry", "run"): [*OVER, ("retry run", 0)],
    ("retry", "job"): [*OVER, ("retry job", 0)],
    ("retry", "from a"): [*OVER, ("claim", 1), ("retry from", 0)],
    ("retry", "then cancel"): [*DONE, ("claim", 1), ("retry from", 1), ("cancel run", 0)],
    ("completed", "compensate"): [],  # an argument of the retries
    ("completed", "keep"): [],
    ("change", "next"): [("change next", 0)],
    ("change", "later"): [("change later", 0)],
    ("change", "limit"): [("change limit", 0)],
    ("change", "no limit"): [("change no limit", 0)],
    ("pause", "q"): [("pause", 0)],
    ("pause", "qwf.runs"): [("pause", 1)],
    ("lower", "two"): [("lower", 0)],
    ("hold", "two"): [("hold two", 0)],
    ("hold", "each"): [("hold each", 0)],
    ("resume", "work"): [("resume", 0)],
    ("signal", "early"): [("signal", 0)],
    ("signal", "twice"): [("signal", 0), ("tick", 0), ("signal", 1)],
    ("signal", "wrong"): [("signal wrong", 0), ("signal", 1)],
    ("answer", "retry"): [("answer retry", 0)],
    ("answer", "abort"): [("answer abort", 0)],
    ("schedule", "run"): [("pass", 61), ("tick", 0)],
    ("schedule", "replace"): [("pass", 61), ("tick", 0), ("pass", 61), ("tick", 0)],
    ("schedule", "all"): [("pass", 400), ("tick", 0)],
    ("backfill", "run"): [("backfill", 0)],
}
SCHEDULES = {
    "run": "workflow => 'w'",
    "replace": "workflow => 'w', overlap => 'replace'",
    "all": "task => 'work', queue => 'q', catch_up => 'all'",
}


@dataclass(frozen=True)
class History:
    """The statements that set it up, and the acts."""

    choice: Choice
    setup: tuple[str, ...]
    acts: tuple[Act, ...]


def given(choice: Choice, room: str) -> dict[str, Any]:
    """The options of a room, without its name."""
    return {
        name.partition(".")[2]: value for name, value in choice.items()
        if name.partition(".")[0] == room
    }  # fmt: skip


def arguments(choice: Choice, room: str) -> str:
    return "".join(f", {name} => {value}" for name, value in given(choice, room).items())


def registering(definition: dict[str, Any]) -> str:
    return f"select qwf.register_workflow('{json.dumps(definition)}')"


def node(name: str, *after: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "node": name, "queue": "q", "depends_on": list(after), **more}


def inner(choice: Choice) -> dict[str, Any]:
    """The workflow that a step runs."""
    keys = given(choice, "inner")
    undone = keys.pop("compensates", None)
    steps = [node("p", **keys), node("r", "p")]
    if undone:
        steps.append({"id": "unp", "node": "unp", "queue": "q", "compensates": undone})
    return {"name": "inner", "steps": steps}


def outer(choice: Choice) -> dict[str, Any]:
    """The workflow: `a` beside `b`, `c` after both, and what the choice adds."""
    steps = [node("a", **given(choice, "node")), node("b"), node("c", "a", "b")]
    for more in given(choice, "more").values():
        steps += more
    if given(choice, "step") or given(choice, "inner"):
        run = {"id": "s", "kind": "workflow", "workflow": "inner", "depends_on": ["b"]}
        steps.append({**run, **given(choice, "step")})
    return {"name": "w", "steps": steps, **given(choice, "flow")}


def setup(choice: Choice) -> list[str]:
    """The statements before anything happens."""
    made = []
    if given(choice, "queue"):
        made.append(f"select qwf.create_queue('q'{arguments(choice, 'queue')})")
    if given(choice, "step") or given(choice, "inner"):
        made.append(registering(inner(choice)))
    made.append(registering(outer(choice)))
    kind = given(choice, "people").get("schedule")
    if kind:
        made.append(f"select qwf.create_schedule('s', every => '1 min', {SCHEDULES[kind]})")
    jobs = given(choice, "job")
    made += [f"select qwf.enqueue('work', queue => 'q'{arguments(choice, 'job')})"] * 2
    made += [f"select qwf.enqueue_run('w'{arguments(choice, 'run')})"] * 2
    made.append("select qwf.enqueue('plain', queue => 'q')")
    if "key" in jobs:
        made.append(f"select qwf.enqueue('work', '{{\"x\": 1}}', 'q'{arguments(choice, 'job')})")
    return made


def history(choice: Choice, seed: str) -> History:
    """The history of a choice. The same seed gives the same one."""
    dice = random.Random(seed)
    acts = [(dice.choice(MOVES), dice.randrange(1000)) for _ in range(COUNT)]
    acts.insert(0, ("claim", dice.randrange(1000)))
    acts.insert(0, ("tick", 0))
    for what, how in given(choice, "people").items():
        at = dice.randrange(3, len(acts))
        # the numbers that OVER and its like give stay; the others are drawn, one for all
        whom = dice.randrange(1000)
        wanted = PEOPLE[what, how]
        acts[at:at] = [(name, number or whom) for name, number in wanted]
    return History(choice, tuple(setup(choice)), tuple(acts))
