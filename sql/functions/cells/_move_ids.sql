-- Deploy qwf:functions/cells/_move_ids
-- Purpose: Moves every sequence of ids past what can have been given out since a backup.
-- Guarantees: The next id is at least a million, and as many as were ever given out, above the
--   last; it still names the cell. Sequences that no column owns are hints, or the order of queued
--   jobs: nothing outside the database knows their numbers, so they stay.
-- Called by: begin_generation.

begin;

create function _qwf.move_ids() returns jsonb
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_object_agg(
    moved.name, pg_catalog.setval(moved.sequence, moved.last) + moved.step)
  from (
    select t.relname as name, s.seqrelid::regclass as sequence, s.seqincrement as step,
      s.seqstart + s.seqincrement * (
        ((v.last * 2 / 1000000 + 2) * 1000000 - s.seqstart) / s.seqincrement) as last
    from pg_catalog.pg_sequence s
    join pg_catalog.pg_depend d on d.objid = s.seqrelid and d.deptype = 'i'
      and d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass
    join pg_catalog.pg_class t on t.oid = d.refobjid
      and t.relnamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
    cross join lateral (
      select coalesce(pg_catalog.pg_sequence_last_value(s.seqrelid), 0) as last) v
  ) moved
$$;

commit;
