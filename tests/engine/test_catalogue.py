"""The catalogue of a deployed database, compared with scripts that repeat parts of it."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest

from qwf_agent import migrate
from qwf_agent.cli.queues import QUEUE_SETTINGS, create_queue
from qwf_agent.web.site import render
from qwf_agent.web.site.actions import ACTIONS

COLUMNS = """
    select c.relname, array_agg(a.attname::text order by a.attnum)
    from pg_catalog.pg_class c
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'qwf'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
    group by c.relname"""


def test_a_verify_script_names_every_column(db: psycopg.Connection[Any]) -> None:
    """A script that forgets one would pass on a database that lacks it."""
    scripts = [change.verify.read() for change in migrate.read_plan().sources.changes]
    read = dict(pair for text in scripts for pair in columns_read(text).items())
    missing = {
        relation: absent
        for relation, columns in db.execute(COLUMNS)
        if (absent := set(columns) - read.get(relation, set()))
    }
    assert not missing, missing


def columns_read(script: str) -> dict[str, set[str]]:
    """Names that each `select … from qwf.relation where false` of a script reads, by relation."""
    return {
        relation: set(re.findall(r"\w+", names))
        for names, relation in re.findall(
            r"select ((?:(?!select)[^;])*?)\s+from\s+qwf\.(\w+)\s+where false", script
        )
    }


@pytest.mark.parametrize(
    ("script", "read"),
    [
        ("select a, b from qwf.t where false;", {"t": {"a", "b"}}),
        ("select a,\n  b\nfrom qwf.t\nwhere false;", {"t": {"a", "b"}}),
        ("select 1; select a from qwf.t where false;", {"t": {"a"}}),
        ("select a from qwf.t;", {}),
    ],
)
def test_columns_are_read_from_a_script(script: str, read: dict[str, set[str]]) -> None:
    assert columns_read(script) == read


def test_every_setting_of_a_queue_can_be_set_and_unset_everywhere(
    db: psycopg.Connection[Any],
) -> None:
    """The columns of qwf.queues are the list; the function, its unset, the page and the command
    follow it."""
    settings = set(
        db.execute(
            "select array_agg(a.attname::text) from pg_attribute a"
            " where a.attrelid = 'qwf.queues'::regclass and a.attnum > 0 and not a.attisdropped"
        ).fetchall()[0][0]
    ) - {"name", "paused", "paused_at", "created_at", "effective_lease", "effective_timeout"}
    arguments = db.execute(
        "select p.proargnames from pg_proc p where p.oid = 'qwf.create_queue'::regproc"
    ).fetchall()[0][0]
    assert set(arguments) == settings | {"name", "unset"}
    db.execute("select qwf.create_queue('mail', unset => %s)", [sorted(settings)])
    assert set(ACTIONS["create_queue"].arguments) == settings | {"name", "unset"}
    macros = render._ENVIRONMENT.get_template("macros.html").make_module({"person": None})
    queue = dict.fromkeys(settings)
    for form in (macros.queue_fields(queue), macros.queue_fields()):
        fields = set(re.findall(r' name="([a-z_]+)"', form))
        assert fields - {"sure"} == settings
    for page in ("queue.html", "queues.html"):
        text = (render.TEMPLATES / page).read_text(encoding="utf-8")
        form = text.split('m.act("create_queue"')[1].split("{% endcall %}")[0]
        assert "m.queue_fields(" in form, page
    options = {option.name: option for option in create_queue.params}
    assert settings <= set(options)
    assert {text.replace("-", "_") for text in QUEUE_SETTINGS} == settings
