"""Every page for every level, on an empty, a full and a hostile database."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

import psycopg
import pytest
from psycopg.types.json import Jsonb

from qwf_agent.web.app import HEADERS
from qwf_agent.web.pages import DATA, PAGES
from qwf_agent.web.site.actions import ACTIONS
from support import lively, poison, visitors
from support.addresses import addresses, real
from support.markup import Seen
from support.servers import Server
from support.thorough import THOROUGH
from support.visitors import Visit, Visitor

Db = psycopg.Connection[Any]
MOST_LINKS = 150
MOST_BYTES = 200_000
# Names of questions that pages understand, and some that none does.
NAMES = (
    "after", "against", "before", "follow", "form", "from", "further", "kind", "label", "node",
    "open", "order", "past", "pipeline", "project", "q", "queue", "run", "search", "show", "since",
    "state", "status", "step", "task", "verb", "version", "workflow",
)  # fmt: skip
VALUES = ("%00", "x", "-1", "9" * 25, "%F0%9F", "x" * 300)


@dataclass
class Full:
    """A database with what is in it."""

    content: str
    db: Db
    dsn: str


def _hostile(db: Db) -> None:
    lively.fill(db)
    poison.mark(db)
    poison.fill(db)


CONTENTS: dict[str, Callable[[Db], object]] = {
    "empty": lambda db: None,
    "full": lively.fill,
    "hostile": _hostile,
}


@pytest.fixture(scope="module", params=CONTENTS)
def full(request: pytest.FixtureRequest, server: Server, template: str) -> Iterator[Full]:
    """A database that no test here changes, with each of the contents."""
    with server.database(server.new_name(), template) as janitor:
        dsn = server.dsn(janitor.dbname)
        with psycopg.connect(dsn, autocommit=True) as db:
            CONTENTS[request.param](db)
            yield Full(request.param, db, dsn)


@pytest.fixture(scope="module")
def at(full: Full) -> Iterator[Visit]:
    """at("viewer") is the visitor of that level on that database, for all tests."""
    with contextlib.ExitStack() as stack:
        yield functools.cache(
            lambda level: stack.enter_context(visitors.visitor(full.db, full.dsn, level))
        )


def test_a_page_of_thousands_of_nodes_stays_small(visit: Visit, db: Db) -> None:
    """And says how many it does not show."""
    nodes = [{"id": f"node_{number}", "node": "task-of-it"} for number in range(1000)]
    db.execute("select qwf.register_workflow(%s)", (Jsonb({"name": "wide", "steps": nodes}),))
    db.execute("select qwf.enqueue_run('wide')")
    viewer = visit("viewer")
    answer = viewer.get("/runs/1")
    assert "and 500 more: the table has their nodes" in answer.text
    assert len(answer.content) < MOST_BYTES


def wrong(visitor: Visitor, path: str) -> list[str]:
    """Problems of the answer to a request for a page."""
    return looked_at(visitor, path)[0]


@functools.cache
def looked_at(visitor: Visitor, path: str) -> tuple[list[str], int | None, list[str]]:
    """The fault of an answer, its status and its links; no status if a handler raised. A page is
    asked for once, because no test here changes what is in its database."""
    try:
        answer = visitor.get(path)
    except Exception as error:  # whatever a handler raises is here, and a page of its own outside
        return [f"{path[:100]}: {error!r}"], None, []
    seen = Seen(answer.text)
    return problems_of(visitor, path, answer, seen), answer.status_code, seen.links


def problems_of(visitor: Visitor, path: str, answer: Any, seen: Seen) -> list[str]:
    if answer.status_code == 400 and ("%00" in path or "Tick the " in answer.text):
        return []  # no address holds it
    if answer.status_code not in (200, 404):
        return [f"{path[:100]}: {answer.status_code} {answer.text[:300]}"]
    if not answer.headers["content-type"].startswith("text/html"):
        return []  # no route has this address
    lacking = [
        name for name, value in HEADERS.items() if answer.headers.get(name) != value
    ]  # fmt: skip
    problems = seen.problems + [f"no header {name}" for name in lacking]
    problems += [f"may not {name}" for name in seen.actions if not visitor.may(name)]
    if len(answer.content) > MOST_BYTES:
        problems.append(f"{len(answer.content):,} bytes")
    if 'id="live"' not in answer.text:
        pass  # no route has this address
    elif "server-timing" not in answer.headers or answer.headers["cache-control"] != "no-store":
        problems.append(f"headers {answer.headers}")
    return [f"{path[:100]} {answer.status_code}: {problem}" for problem in problems]


@pytest.mark.parametrize("level", ["viewer", "operator", "admin"])
def test_every_page_is_whole_and_offers_what_its_reader_may_do(
    full: Full, at: Visit, level: str
) -> None:
    if level != "admin" and full.content != "full" and not THOROUGH:
        pytest.skip("the levels differ alike on each database: QWF_TEST_ALL=1 looks at all")
    visitor = at(level)
    problems = []
    find = addresses if level == "admin" or THOROUGH else real  # all are told alike what is not
    for page in PAGES:
        for path in find(full.db, page.path, 6):
            problems += wrong(visitor, path)
    assert not problems, "\n".join(problems[:50])


def test_no_page_ends_at_a_strange_question(full: Full, at: Visit) -> None:
    visitor = at("operator")
    problems = []
    for page in PAGES:
        path = addresses(full.db, page.path)[0]
        for value in VALUES:
            problems += wrong(visitor, path + "?" + "&".join(f"{n}={value}" for n in NAMES))
        if full.content == "full":
            problems += each_alone(visitor, path, NAMES)
    assert not problems, "\n".join(problems[:50])


def each_alone(visitor: Visitor, path: str, names: tuple[str, ...]) -> list[str]:
    """Problems of each name by itself. Names that a page takes together are not asked for apart."""
    query = "&".join(f"{name}=%00" for name in names)
    found, status, _ = looked_at(visitor, f"{path}?{query}")
    if status == 200 or len(names) == 1:
        return found
    half = len(names) // 2
    return each_alone(visitor, path, names[:half]) + each_alone(visitor, path, names[half:])


def test_a_stranger_sees_nothing(full: Full, at: Visit) -> None:
    visitor = at("stranger")
    for route in (*PAGES, *DATA):
        for path in addresses(full.db, route.path)[:3]:
            answer = visitor.get(path)
            assert answer.status_code in (401, 403), (path, answer.text)
            assert len(answer.text) < 300


def test_every_link_of_a_page_leads_to_a_page(full: Full, at: Visit) -> None:
    visitor = at("admin")
    left, known, problems = ["/"], {"/"}, []
    while left and len(known) < MOST_LINKS:
        path = left.pop(0)
        found, status, links = looked_at(visitor, path)
        problems += found
        if status != 200:
            problems.append(f"{path[:200]}: {status}")
        for link in links:
            there = urljoin(path, link).partition("#")[0]
            if not urlsplit(there).scheme and there not in known:
                known.add(there)
                left.append(there)
    problems += [problem for path in left for problem in wrong(visitor, path)]
    assert not problems, "\n".join(problems[:50])


def test_data_for_scripts_is_there_or_is_not(full: Full, at: Visit) -> None:
    visitor = at("viewer")
    for data in DATA:
        for path in addresses(full.db, data.path):
            answer = visitor.get(path)
            assert answer.status_code in (200, 400, 404, 422), (path[:100], answer.text[:300])
            assert answer.headers["x-content-type-options"] == "nosniff"


def test_hostile_texts_are_seen_as_they_are(visit: Visit, db: Db) -> None:
    lively.fill(db)
    poison.mark(db)
    viewer = visit("viewer")
    for path in ("/jobs", "/failures", "/fleet", "/runs", "/jobs/1"):
        assert "{{7*7}}" in "".join(Seen(viewer.text(path)).texts), path


SAMPLE_OF = {
    "bigint": "1", "bigint[]": "1", "text": "x", "jsonb": "{}", "int": "5", "interval": "1 h",
    "timestamptz": "2030-01-01 00:00Z", "boolean": "true", "text[]": "lease",
}  # fmt: skip


@pytest.mark.parametrize("level", ["viewer", "operator", "admin"])
def test_a_forged_action_ends_as_postgres_decides(visit: Visit, db: Db, level: str) -> None:
    lively.fill(db)
    visitor = visit(level)
    for name, action in ACTIONS.items():
        fields = {field: SAMPLE_OF[kind] for field, kind in action.arguments.items()}
        answer = visitor.do(name, **fields)
        refused = answer.status_code == 403 and "permission denied" in answer.text
        assert refused == (not visitor.may(name)), (name, answer.status_code, answer.text)
        assert answer.status_code in (200, 403, 409, 422), (name, answer.text)
