"""The way back from what a button has done, for the notice that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import FormData

from qwf_agent.web.reads import connections
from qwf_agent.web.site.access import Person
from qwf_agent.web.site.page import Undo

if TYPE_CHECKING:
    from typing_extensions import LiteralString

# What of the names in the form was on before: only that is switched on again.
WAS_ON: dict[str, LiteralString] = {
    "pause_queue": """
select q.queue as name from qwf.queue_overview q
where q.queue = any (%(names)s) and not q.paused
""",
    "enable_schedule": """
select s.name from qwf.schedule_overview s where s.name = any (%(names)s) and s.enabled
""",
    "worker_control": """
select w.name from unnest(%(names)s::text[]) w (name)
where not exists (
  select from qwf.switched_off o where o.host = %(host)s and o.queue = w.name)
""",
}


async def before(action: str, form: FormData, person: Person) -> Undo | None:
    """The call that takes back what this form is about to do; None if there is none, or if nothing
    changes. Raises psycopg.Error."""
    off = {"enable_schedule": form.get("enabled") == "false", "pause_queue": True}
    off["worker_control"] = form.get("state") == "off"
    if not off.get(action):
        return None
    field = "queue" if action == "worker_control" else "name"
    host = str(form.get("host", ""))
    given = {"names": [str(name) for name in form.getlist(field)], "host": host}
    async with connections.connect(person.dsn) as conn:
        rows = await (await conn.execute(WAS_ON[action], given)).fetchall()
    if not rows:
        return None
    names = [(field, str(row["name"])) for row in rows]
    if action == "pause_queue":
        return "resume_queue", names
    if action == "enable_schedule":
        return action, [*names, ("enabled", "true")]
    return action, [*names, ("host", host), ("state", "on")]
