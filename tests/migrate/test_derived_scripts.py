"""Revert and verify scripts that follow from deploy scripts."""

from __future__ import annotations

from textwrap import dedent

from qwf_agent.migrate import derived

TITLE = "qwf:schema/boxes"
DEPLOY = dedent("""\
    -- Deploy qwf:schema/boxes

    begin;

    create type qwf.colour as enum ('red', 'blue');
    create unlogged table qwf.boxes (
      name text primary key,
      colour qwf.colour
    );
    create index boxes_colour on qwf.boxes (colour);
    comment on table qwf.boxes is 'Boxes.';
    comment on column qwf.boxes.name is 'Name.';
    comment on column qwf.boxes.colour is 'Colour.';

    create function qwf.tg_boxes__change() returns trigger language plpgsql as $$
    begin
      create table qwf.not_seen ();
      return null;
    end $$;
    create trigger tg_boxes__change
      after insert or update of colour on qwf.boxes
      for each statement execute function qwf.tg_boxes__change();

    commit;
    """)


def test_a_source_becomes_a_script_of_one_transaction() -> None:
    """One that has a transaction of its own stays as it is."""
    source = "create table qwf.boxes ();\n"
    script = derived.deploy(TITLE, source)
    assert script == dedent("""\
        -- Deploy qwf:schema/boxes

        begin;

        set local check_function_bodies = off;

        create table qwf.boxes ();

        commit;
        """)
    assert derived.deploy(TITLE, script) == script
    assert derived.deploy(TITLE, "") == ""


def test_a_revert_drops_what_was_created_and_the_last_first() -> None:
    assert derived.revert(TITLE, DEPLOY) == dedent("""\
        -- Revert qwf:schema/boxes

        begin;

        drop trigger tg_boxes__change on qwf.boxes;
        drop function qwf.tg_boxes__change;
        drop table qwf.boxes;
        drop type qwf.colour;

        commit;
        """)


def test_a_verify_names_each_object_and_each_column() -> None:
    assert derived.verify(TITLE, DEPLOY) == dedent("""\
        -- Verify qwf:schema/boxes

        begin;

        select 'qwf.colour'::regtype;
        select 'qwf.tg_boxes__change'::regproc;
        select 1 / count(*) from pg_catalog.pg_trigger t
        where t.tgname = 'tg_boxes__change' and t.tgrelid = 'qwf.boxes'::regclass;
        select name, colour from qwf.boxes where false;

        rollback;
        """)


def test_a_column_that_is_added_later_is_dropped_and_verified() -> None:
    added = (
        "alter table qwf.boxes add column size int;\n"
        "comment on column qwf.boxes.size is 'In litres.';\n"
    )
    assert "alter table qwf.boxes drop column size;" in derived.revert(TITLE, added)
    assert "select size from qwf.boxes where false;" in derived.verify(TITLE, added)


def test_a_script_that_creates_nothing_needs_written_ones() -> None:
    grants = "grant select on qwf.boxes to qwf_viewer;\n"
    assert derived.revert(TITLE, grants) == derived.verify(TITLE, grants) == ""
