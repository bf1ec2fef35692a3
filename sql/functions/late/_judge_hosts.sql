-- Deploy qwf:functions/late/_judge_hosts
-- Purpose: Tells of boxes whose workers are gone without a word, and of those that are back; and of
--   model servers that work again after an event server_broken.
-- Guarantees: A box that is gone for more than a day is told as back only if a worker of it lives;
--   otherwise its state ends without an event.
-- Locks: rows of open_states; the caller has locked the row of _qwf.judged.
-- Called by: _judge.

begin;

create function _qwf.judge_hosts(p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count int;
begin
  with dead as materialized (
    select w.host, sum(w.running) as holds, array_agg(distinct w.queue) as queues
    from qwf.worker_overview w where w.state = 'dead' group by w.host
  ), began as (
    insert into _qwf.open_states as o (kind, subject, since)
    select 'worker_dead', d.host, p_now from dead d
    on conflict (kind, subject) do nothing
    returning o.subject
  ), told as (
    insert into _qwf.event_log (at, kind, subject, names, detail)
    select p_now, 'worker_dead', d.host, jsonb_build_object('host', d.host),
      jsonb_build_object('holds', d.holds, 'queues', d.queues)
    from began b join dead d on d.host = b.subject
  ), over as (
    delete from _qwf.open_states o
    where o.kind = 'worker_dead' and o.subject not in (select d.host from dead d)
    returning o.subject, o.since
  )
  insert into _qwf.event_log (at, kind, subject, names, detail)
  select p_now, 'worker_back', v.subject, jsonb_build_object('host', v.subject),
    jsonb_build_object('since', v.since)
  from over v
  where exists (select from qwf.worker_overview w where w.host = v.subject and w.live);
  get diagnostics v_count = row_count;
  with ready as (
    select o.subject, o.since, o.names
    from _qwf.open_states o
    where o.kind = 'server_broken' and exists (
      select from qwf.server_overview s
      where s.host = o.names ->> 'host' and s.server = o.names ->> 'server' and s.state = 'ready')
  ), over as (
    delete from _qwf.open_states o using ready r
    where o.kind = 'server_broken' and o.subject = r.subject
  )
  insert into _qwf.event_log (at, kind, subject, names, detail)
  select p_now, 'server_back', r.names ->> 'host', r.names, jsonb_build_object('since', r.since)
  from ready r;
  return v_count;
end $$;

commit;
