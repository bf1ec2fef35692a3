-- Deploy qwf:functions/read/_why_held
-- Purpose: Returns what keeps a queued job from being handed out to any worker.
-- Called by: _why_unclaimed.

begin;

create function _qwf.why_held(p_job qwf.jobs, p_now timestamptz) returns setof text
language sql stable
as $$
  select format('queue %s is paused: select qwf.resume_queue(%L)', q.name, q.name)
  from qwf.queues q
  where q.name = p_job.queue and q.paused
  union all
  select format('%s; mend it, then: qwf queue resume %s --task %s',
    _qwf.spell_hold(h, h.until::text), h.queue, h.task)
  from qwf.held_tasks h
  where h.queue = p_job.queue and h.task = p_job.task and h.until is not null and not p_job.run_next
  union all
  select format('it expired at %s, before it was started: the next tick() cancels it',
    p_job.expires_at)
  where p_job.attempt = 0 and p_job.expires_at <= p_now
  union all
  select format('it waits until job %s (%s) has ended, which has the same key', o.id, o.status)
  from qwf.jobs o
  where p_job.key_state <> 's' and p_job.key is not null
    and o.id = _qwf.started_with_key(p_job.project, p_job.task, p_job.key, false)
  union all
  select format('an open transaction holds it: process %s of %s, for %s s', a.pid, a.usename,
    round(extract(epoch from p_now - a.xact_start)))
  from qwf.jobs j
  join pg_stat_activity a on a.backend_xid in (select h from _qwf.holders(j.xmax) h)
  where j.id = p_job.id and j.xmax <> '0'::xid and a.datid = (
    select d.oid from pg_database d where d.datname = current_database())
  union all
  select format('limit %s is held until %s, by %s', h.name, h.until,
    coalesce('job ' || h.job_id, quote_ident(h.login)))
  from qwf.limit_holds h
  where h.until > p_now and h.name in (p_job.limit_by, 'queue:' || p_job.queue,
    case when p_job.limit_place is not null then split_part(p_job.limit_by, ':', 1) end)
  union all
  select format('queue %s is full, %s', p_job.queue, f.why)
  from _qwf.why_full('queue:' || p_job.queue) f (why)
  where f.why is not null
  union all
  select format('limit %s does not exist any more: select qwf.create_limit(%L, 2)',
    p_job.limit_by, p_job.limit_by)
  where not exists (select from qwf.limits l where l.name = p_job.limit_by)
    and p_job.limit_by is not null and not _qwf.names_key(p_job.limit_by)
  union all
  select * from _qwf.why_key_closed(p_job.limit_by, p_job.limit_place, p_now)
  union all
  select format('limit %s is full, %s', p_job.limit_by, f.why)
  from _qwf.why_full(p_job.limit_by) f (why)
  where f.why is not null
  union all
  select format('all that hold limit %s wait for a place of it: %s', p_job.limit_by, s.why)
  from _qwf.why_stuck(p_job.limit_by) s (why)
  where s.why is not null
  union all
  select format('limit %s allows %s in any %s, and all are used: the next is allowed at %s', l.name,
    case l.starts when 1 then '1 start' else format('%s starts', l.starts) end, l.per,
    min(t.used_at) + l.per)
  from qwf.limits l
  join qwf.limit_starts t on t.limit_name = l.name and t.place <= l.starts
  where l.name = p_job.limit_by
  group by l.name
  having min(t.used_at) > p_now - l.per
$$;

commit;
