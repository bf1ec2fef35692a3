-- Deploy qwf:functions/read/_why_not_started
-- Purpose: Says for which model server a job waits that its worker holds, and has not started yet.
-- Guarantees: Null unless the last heartbeat of the worker says that it waits. Of the error of the
--   server, the first line. Reads one row of workers. Never fails because of what it has reported.
-- Called by: why_not.

begin;

create function _qwf.why_not_started(p_job qwf.jobs, p_now timestamptz) returns text
language sql stable
as $$
  select format('it is claimed by %s, and waits there for its model server %s: %s', w.id,
    s.value ->> 'name', concat_ws(', ',
      (s.value ->> 'state') || coalesce(
        ': ' || left(split_part(s.value ->> 'error', E'\n', 1), 300), ''),
      case when s.value ->> 'state' = 'ready' then format('%s of %s requests in flight',
        s.value ->> 'inflight', s.value ->> 'parallel') end,
      'next start in ' || ceil(r.retry_s - least(r.retry_s, r.age_s)) || ' s'))
  from qwf.workers w
  cross join lateral jsonb_path_query(w.stats, '$.servers[*] ? (@.waiting[*] == $job)',
    jsonb_build_object('job', p_job.id)) s (value)
  cross join lateral (select _qwf.as_number(s.value -> 'retry_s', 1e6) as retry_s,
    extract(epoch from p_now - w.last_seen) as age_s) r
  where w.id = p_job.claimed_by
  limit 1
$$;

commit;
