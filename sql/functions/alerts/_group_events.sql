-- Deploy qwf:functions/alerts/_group_events
-- Purpose: Returns the events with a number above p_from in groups that mean the same to a rule.
-- Guarantees: Events of a group have the same kind, names, subject and status, and what was asked
--   or given up the same job; p_single: each event is a group, with its labels. Of a group, the
--   last 1,001 times are kept. Without a rule it reads only events whose producer has named a
--   receiver. What fails in a job or run that an alert made counts as alert_failed, unless the rule
--   of that alert is itself about alert_failed: so no message leads to another one without end.
--   Null as kind of a group: it opens nothing.
-- Called by: _number_and_match.

begin;

create function _qwf.group_events(p_from bigint, p_single boolean) returns setof _qwf.event_group
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
  return query
  with heard as materialized (
    select e.seq, e.at, e.kind, e.names, e.subject, e.detail ->> 'status' as status,
      e.detail ? 'parent' as child, case
        when p_single then e.seq
        when e.kind in ('question_asked', 'question_answered', 'expired', 'cancelled')
          then coalesce(e.job_id, -e.run_id) end as one
    from _qwf.event_log e
    where e.seq > p_from and (e.names ? 'notify' or exists (select from qwf.alerts))
  ), grouped as materialized (
    select h.kind, h.names, h.subject, h.status, h.child, count(*) as events,
      min(h.at) as first_at, max(h.at) as last_at, min(h.seq) as first_seq, max(h.seq) as last_seq,
      array_agg(h.at) as times
    from heard h
    group by h.kind, h.names, h.subject, h.status, h.child, h.one
  )
  select g.kind, case
      when g.names ->> 'alert' is null then g.kind
      when (g.kind in ('job_failed', 'alert_failed') or g.status = 'failed') and not exists (
        select from qwf.alerts a
        where a.name = g.names ->> 'alert' and 'alert_failed' = any (a.kinds))
        then 'alert_failed' end,
    g.names, g.subject,
    g.status, g.child, l.labels, e.run_id, e.job_id, g.events, g.first_at, g.last_at, g.first_seq,
    g.last_seq, array(select t from unnest(g.times) t order by t desc limit 1001)
  from grouped g
  join _qwf.event_log e on e.seq = g.last_seq
  left join lateral (
    select coalesce((select r.labels from qwf.runs r where r.id = e.run_id),
      (select j.labels from qwf.jobs j where j.id = e.job_id)) as labels
    where p_single) l on true;
end $$;

commit;
