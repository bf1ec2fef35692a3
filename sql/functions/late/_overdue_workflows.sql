-- Deploy qwf:functions/late/_overdue_workflows
-- Purpose: Lists the workflows of which no run has completed for longer than expect.every.
-- Guarantees: Reads the current version of each workflow that expects it, and one row of
--   usual_times.
-- Called by: _doctor_late, _judge.

begin;

create function _qwf.overdue_workflows(p_now timestamptz)
returns table (name text, last_success timestamptz, every interval, since timestamptz)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select e.name, u.last_success, e.every, s.since
  from (
    select w.name, _qwf.as_interval(w.definition -> 'expect' -> 'every') as every
    from qwf.workflows w where w.current and w.definition -> 'expect' ? 'every') e
  left join qwf.usual_times u on u.kind = 'run' and u.name = e.name and u.node = ''
  cross join lateral (
    select coalesce(u.last_success, (
      select min(f.registered_at) from qwf.workflows f where f.name = e.name)) as since) s
  where s.since < p_now - e.every
$$;

commit;
