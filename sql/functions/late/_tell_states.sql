-- Deploy qwf:functions/late/_tell_states
-- Purpose: Writes an event for each thing that is wrong now and was not wrong at the last look, and
--   one for each that is no longer wrong.
-- Guarantees: Each begin and each end is told once: open_states remembers what was told. p_begin
--   null: p_kind was told by another function, and only the end is told here; p_end null: the end
--   is no event. Returns how many events it wrote.
-- Locks: the rows of open_states of this kind; the caller has locked the row of _qwf.judged.
-- Called by: _judge.

begin;

create function _qwf.tell_states(
  p_kind text, p_begin text, p_end text, p_wrong _qwf.wrong_now[], p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_began int;
  v_ended int;
begin
  with wrong as materialized (
    select w.subject, w.names, w.detail from unnest(p_wrong) w
  ), began as (
    insert into _qwf.open_states as s (kind, subject, since, names)
    select p_kind, w.subject, p_now, w.names from wrong w
    on conflict (kind, subject) do nothing
    returning s.subject
  ), told as (
    insert into _qwf.event_log (at, kind, subject, names, detail)
    select p_now, p_begin, w.subject, w.names, w.detail
    from began b join wrong w on w.subject = b.subject
    where p_begin is not null
    returning id
  )
  select count(*) into v_began from told;
  with ended as (
    delete from _qwf.open_states s
    where s.kind = p_kind and s.subject not in (select w.subject from unnest(p_wrong) w)
    returning s.subject, s.since, s.names
  ), told as (
    insert into _qwf.event_log (at, kind, subject, names, detail)
    select p_now, p_end, e.subject, e.names, jsonb_build_object('since', e.since) from ended e
    where p_end is not null
    returning id
  )
  select count(*) into v_ended from told;
  return v_began + v_ended;
end $$;

commit;
