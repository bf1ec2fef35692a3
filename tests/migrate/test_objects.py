"""Which object each statement of a source is about, and a check of all bodies."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import psycopg
import pytest

from qwf_agent import migrate
from qwf_agent.migrate import database, derived, objects

SOURCE = dedent("""\
    -- Boxes.

    create type qwf.colour as enum ('red;', 'blue');

    create unlogged table qwf.boxes (
      name text primary key  -- a comment; with a semicolon
    );
    create index boxes_colour on qwf.boxes (colour);
    comment on table qwf.boxes is 'Boxes; all of them.';
    insert into qwf.boxes values ('red');

    -- The colour of a box.
    create function _qwf.colour(p_box text) returns int
    begin atomic
      select case when p_box = 'x' then 1 else 2 end;
    end;

    create view qwf.box_overview as select 1 as one;
    comment on column qwf.box_overview.one is 'One.';

    create function qwf.tg_boxes__change() returns trigger language plpgsql as $$
    begin
      create table qwf.not_seen ();
      return null;
    end $$;
    call _qwf.allow('qwf.tg_boxes__change', 'qwf_viewer');
    create trigger tg_boxes__change
      after insert or update of colour on qwf.boxes
      for each statement execute function qwf.tg_boxes__change();
    do $$ begin null; end $$;
    """)


def test_each_statement_belongs_to_an_object() -> None:
    assert [(one.object, one.makes) for one in objects.statements(SOURCE)] == [
        ("type qwf.colour", True),
        ("table qwf.boxes", True),
        ("table qwf.boxes", False),
        ("table qwf.boxes", False),
        ("table qwf.boxes", False),
        ("function _qwf.colour", True),
        ("view qwf.box_overview", True),
        ("view qwf.box_overview", False),
        ("function qwf.tg_boxes__change", True),
        ("function qwf.tg_boxes__change", False),
        ("trigger qwf.boxes.tg_boxes__change", True),
        ("", False),
    ]


def test_an_object_has_its_statements_with_their_comments() -> None:
    found = objects.objects(derived.deploy("qwf:schema/boxes", SOURCE))
    assert [*found] == [
        "type qwf.colour", "table qwf.boxes", "function _qwf.colour", "view qwf.box_overview",
        "function qwf.tg_boxes__change", "trigger qwf.boxes.tg_boxes__change",
    ]  # fmt: skip
    assert found["function _qwf.colour"].startswith("-- The colour of a box.\ncreate function")
    assert found["trigger qwf.boxes.tg_boxes__change"].endswith("do $$ begin null; end $$;")


def test_the_reader_finds_what_the_engine_creates() -> None:
    """As the reader of scripts that follow from sources does, by other means."""
    texts = [change.deploy.read() for change in migrate.read_plan().sources.changes]
    made = [one for text in texts for one in objects.statements(text) if one.makes]
    created = [one for text in texts for one in derived.created(text)]
    assert [one.name.rpartition(".")[2] for one in made] == [
        one.name.rpartition(".")[2] for one in created
    ]


def test_the_line_of_an_error_is_that_of_the_source(
    db: psycopg.Connection[Any], tmp_path: Path
) -> None:
    file = tmp_path / "boxes.sql"
    file.write_text("select 1;\nselect wrong;\n", encoding="utf-8")
    script = migrate.Script(file, lambda: derived.deploy("qwf:boxes", file.read_text("utf-8")))
    with pytest.raises(migrate.MigrateError, match=r'boxes\.sql:2: column "wrong" does not exist'):
        database.execute(db, script, "select 2;")


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ("language plpgsql as $$ begin return 1 +; end $$", "syntax error"),
        ("language plpgsql as $$ begin return 1 end $$", 'missing ";"|syntax error'),
        ("language sql as $$ select nothing from qwf.jobs $$", 'column "nothing" does not exist'),
    ],
)
def test_a_deploy_names_the_function_whose_body_is_wrong(
    db: psycopg.Connection[Any], body: str, wrong: str
) -> None:
    db.execute("call _qwf.check_bodies()")
    db.execute("set check_function_bodies = off")
    db.execute(f"create function _qwf.broken(p_job bigint) returns int {body}".encode())
    with pytest.raises(psycopg.Error, match=rf"_qwf\.broken\(bigint\): .*({wrong})"):
        db.execute("call _qwf.check_bodies()")


def test_the_last_script_of_the_engine_checks_all_bodies() -> None:
    last = migrate.read_plan().sources.changes[-1].deploy.read()
    assert last.rstrip().endswith("call _qwf.check_bodies();\n\ncommit;")
