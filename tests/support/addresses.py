"""Addresses of pages: what may stand in the place of each parameter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psycopg

if TYPE_CHECKING:
    from typing_extensions import LiteralString

SAMPLES: dict[str, LiteralString] = {
    "job": "select id from (select distinct on (status, run_id is null) id from qwf.jobs) j",
    "attempt": "select attempt from qwf.job_attempts order by job_id limit 2",
    "run": "select id from qwf.runs",
    "node": "select distinct node_id from qwf.graph_nodes where map is not null limit 3",
    "host": "select distinct host from qwf.worker_overview",
    "queue": "select name from qwf.queues",
    "name": "select name from qwf.workflows limit 3",
    "schedule": "select name from qwf.schedules limit 3",
    "no": "select file_no from qwf.run_files limit 2",
}
WORDS = {"verb": ["retry", "cancel", "change", "burn"], "key": ["0" * 64, "x"]}
QUERIES = {"/jobs/all/{verb}": "?since=7d"}  # without one, the page has nothing to show
NUMBERS = ("0", "999999999999", "99999999999999999999")
STRANGE = ("no-such-thing", "%00", "%2e%2e%2fetc%2fpasswd", "%F0%9F", "<b>", "x" * 3000)


def addresses(db: psycopg.Connection[Any], path: str, most: int = 6) -> list[str]:
    """Addresses of a page: each parameter with what is in the database, and with what is not."""
    found = [path + QUERIES.get(path, "")]
    for parameter, kind in re.findall(r"\{(\w+)(:\w+)?\}", path):
        strange = NUMBERS if kind == ":int" else (*NUMBERS, *STRANGE)
        values = [*_real(db, parameter), *(strange if parameter in SAMPLES else ())]
        place = "{" + parameter + kind + "}"
        found = [begun.replace(place, value) for begun in found[:most] for value in values]
    return found


def real(db: psycopg.Connection[Any], path: str, most: int = 3) -> list[str]:
    """Addresses of a page, with what is in the database; at most `most` for each parameter."""
    found = [path + QUERIES.get(path, "")]
    for parameter, kind in re.findall(r"\{(\w+)(:\w+)?\}", path):
        place, values = "{" + parameter + kind + "}", _real(db, parameter)[:most]
        found = [begun.replace(place, value) for begun in found for value in values]
    return found


def _real(db: psycopg.Connection[Any], parameter: str) -> list[str]:
    query = SAMPLES.get(parameter)
    texts = [str(value) for (value,) in db.execute(query)] if query else WORDS[parameter]
    return [quote(text, safe="/") for text in texts[:8]]
