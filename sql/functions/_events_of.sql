-- Deploy qwf:functions/_events_of
-- requires: schema/types
-- Purpose: What the runs of jobs whose attempt just ended have to be told.
-- Called by: _conclude.

begin;

create function qwf._events_of(p_ended qwf.ended[]) returns qwf.event[]
language sql immutable
as $$
  select coalesce(array_agg((e.run_id, e.id, case
      when e.status in ('queued', 'scheduled') then 'requeued'
      when e.status = 'awaiting_input' then 'asked'
      else e.status::text end)::qwf.event), '{}')
  from unnest(p_ended) e
  where e.run_id is not null
$$;
comment on function qwf._events_of(qwf.ended[]) is
  'Events for the runs of these jobs; standalone jobs have none.';
revoke all on function qwf._events_of(qwf.ended[]) from public;

commit;
