"""The catalogue of a deployed database, compared with scripts that repeat parts of it."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest

from qwf_agent import migrate

COLUMNS = """
    select c.relname, array_agg(a.attname::text order by a.attnum)
    from pg_catalog.pg_class c
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'qwf'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
    group by c.relname"""


def test_a_verify_script_names_every_column(db: psycopg.Connection[Any]) -> None:
    """A script that forgets one would pass on a database that lacks it."""
    scripts = [change.verify.read() for change in migrate.read_plan().changes]
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
