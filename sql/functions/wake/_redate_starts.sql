-- Deploy qwf:functions/wake/_redate_starts
-- Purpose: Dates what lies in the future because the clock was set back since, from now on: starts
--   under a rate, leases, signs of life, tasks that are held back.
-- Guarantees: Such a start may be used again one period from now: never too early. A start that was
--   used by a claim at this moment keeps its time. A lease lasts as long as when it was given or
--   renewed, and at least settings.lease; the first tick after the step sees to leases.
-- Locks: these starts, jobs, workers and held tasks, if nobody else has locked them.
-- Called by: _tick_part.

begin;

create function _qwf.redate_starts() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_count int;
begin
  with ahead as materialized (
    select t.limit_name, t.place
    from qwf.limits l
    join qwf.limit_starts t on t.limit_name = l.name
    where l.starts is not null and t.used_at > v_now + interval '1 s'
    for no key update of t skip locked
  )
  update qwf.limit_starts t set used_at = qwf.now()
  from ahead a
  where t.limit_name = a.limit_name and t.place = a.place and t.used_at > qwf.now();
  get diagnostics v_count = row_count;
  v_count := v_count + _qwf.redate_keys(v_now);
  if (select l.last_value from qwf.last_tick l) > extract(epoch from v_now) * 1000 + 1000 then
    with ahead as materialized (
      select j.id, j.token, v_now + greatest(j.lease_expires_at - a.alive_at, s.lease) as until
      from qwf.settings s
      cross join qwf.jobs j
      left join qwf.workers w on w.id = j.claimed_by
      cross join lateral (select greatest(j.claimed_at, w.last_seen)) a (alive_at)
      where j.status = 'running' and not starts_with(j.queue, 'qwf.')
        and a.alive_at > v_now + interval '1 s' and j.lease_expires_at > a.alive_at
      order by j.id
      for no key update of j skip locked
    )
    update qwf.jobs j set lease_expires_at = least(j.lease_expires_at, a.until)
    from ahead a
    where j.id = a.id and j.token = a.token;
    update qwf.workers w set last_seen = v_now
    from (
      select l.id from qwf.workers l where l.last_seen > v_now for no key update skip locked
    ) ahead
    where w.id = ahead.id;
    update qwf.held_tasks h set until = v_now + (h.until - h.crashed_at), crashed_at = v_now
    from (
      select l.queue, l.task from qwf.held_tasks l
      where l.crashed_at > v_now for no key update skip locked
    ) ahead
    where (h.queue, h.task) = (ahead.queue, ahead.task);
  end if;
  return least(v_count, 99);
end $$;

commit;
